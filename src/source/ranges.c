/* SPDX-License-Identifier: Apache-2.0
 *
 * A balanced tree of disjoint ranges by where they begin. A new range swallows each one that it touches; what of it lay
 * between those is new. No two ranges in the tree ever touch.
 */
#include "source/ranges.h"

#include <assert.h>
#include <stdlib.h>

#include "base/buffer.h"

static nm_status add_new(nm_range_list *news, uint64_t begin, uint64_t end, nm_error *err)
{
    if (begin >= end)
        return NM_OK;
    nm_status status = nm_array_grow(&news->items, &news->capacity, news->count + 1, sizeof *news->items, err);

    if (status == NM_OK)
        news->items[news->count++] = (nm_range){begin, end};
    return status;
}

/* The first member that touches a range from `begin` on: the one that begins at or before it, if it reaches so far. */
static nm_tree_node *first_touching(const nm_ranges *set, uint64_t begin)
{
    nm_tree_node *node = nm_tree_floor(&set->tree, begin);

    if (node == NULL)
        return nm_tree_first(&set->tree);
    return node->value >= begin ? node : nm_tree_next(node);
}

nm_status nm_ranges_add(nm_ranges *set, nm_range range, nm_range_list *news, nm_error *err)
{
    uint64_t covered = range.begin; /* up to here it is known what is new */
    nm_status status = NM_OK;

    news->count = 0;
    if (range.begin >= range.end)
        return NM_OK;
    nm_tree_node *merged = calloc(1, sizeof *merged);
    if (merged == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at %zu ranges of addresses", set->tree.count);
    merged->key = range.begin;
    merged->value = range.end;

    nm_tree_node *node = first_touching(set, range.begin);
    while (node != NULL && node->key <= range.end && status == NM_OK) {
        nm_tree_node *next = nm_tree_next(node);
        status = add_new(news, covered, node->key, err);
        covered = node->value > covered ? node->value : covered;
        merged->key = node->key < merged->key ? node->key : merged->key;
        merged->value = node->value > merged->value ? node->value : merged->value;
        nm_tree_remove(&set->tree, node);
        free(node);
        node = next;
    }
    if (status == NM_OK)
        status = add_new(news, covered, range.end, err);
    nm_tree_insert(&set->tree, merged);
    assert(status != NM_OK || nm_tree_previous(merged) == NULL || nm_tree_previous(merged)->value < merged->key);
    assert(status != NM_OK || nm_tree_next(merged) == NULL || nm_tree_next(merged)->key > merged->value);
    return status;
}

bool nm_ranges_hold(const nm_ranges *set, uint64_t address)
{
    const nm_tree_node *node = nm_tree_floor(&set->tree, address);

    return node != NULL && address < node->value;
}

void nm_ranges_free(nm_ranges *set)
{
    for (nm_tree_node *node; (node = nm_tree_first(&set->tree)) != NULL;) {
        nm_tree_remove(&set->tree, node);
        free(node);
    }
}
