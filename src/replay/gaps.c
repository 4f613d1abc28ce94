/* SPDX-License-Identifier: Apache-2.0
 *
 * The free ranges of a pool, in a tree by address that knows the largest. The ranges are disjoint; two that touch are
 * separate where a segment ends between them. Taking what is taken already, or giving what is free already, changes
 * nothing: a stream that contradicts itself cannot break the sums.
 */
#include "replay/gaps.h"

typedef struct gap {
    nm_tree_node node; /* key: address; value: bytes */
} gap;

static uint64_t end_of(const nm_tree_node *node)
{
    return node->key + node->value;
}

static nm_status add_gap(nm_gaps *gaps, uint64_t from, uint64_t to, nm_error *err)
{
    gap *added = nm_slab_take(gaps->slab, err);

    if (added == NULL)
        return NM_ERR_MEMORY;
    added->node.key = from;
    added->node.value = to - from;
    nm_tree_insert(&gaps->tree, &added->node);
    gaps->free_bytes += to - from;
    return NM_OK;
}

static void drop_gap(nm_gaps *gaps, nm_tree_node *node)
{
    gaps->free_bytes -= node->value;
    nm_tree_remove(&gaps->tree, node);
    nm_slab_give(gaps->slab, NM_TREE_ITEM(node, gap, node));
}

static void resize_gap(nm_gaps *gaps, nm_tree_node *node, uint64_t from, uint64_t to)
{
    gaps->free_bytes += (to - from) - node->value;
    nm_tree_change(node, from, to - from);
}

/* The first gap that ends behind `from`. */
static nm_tree_node *first_behind(const nm_gaps *gaps, uint64_t from)
{
    nm_tree_node *node = nm_tree_floor(&gaps->tree, from);

    if (node == NULL)
        return nm_tree_first(&gaps->tree);
    return end_of(node) > from ? node : nm_tree_next(node);
}

nm_status nm_gaps_take(nm_gaps *gaps, uint64_t from, uint64_t to, uint64_t *taken_bytes, nm_error *err)
{
    uint64_t free_bytes = gaps->free_bytes;
    nm_tree_node *node = first_behind(gaps, from);
    nm_status status = NM_OK;

    while (node != NULL && node->key < to && from < to && status == NM_OK) {
        nm_tree_node *next = nm_tree_next(node);
        uint64_t start = node->key;
        uint64_t end = end_of(node);

        if (start < from) {
            resize_gap(gaps, node, start, from);
            if (end > to)
                status = add_gap(gaps, to, end, err);
        } else if (end > to) {
            resize_gap(gaps, node, to, end);
        } else {
            drop_gap(gaps, node);
        }
        node = next;
    }
    *taken_bytes = free_bytes - gaps->free_bytes;
    return status;
}

nm_status nm_gaps_give(nm_gaps *gaps, uint64_t from, uint64_t to, bool joins_left, bool joins_right,
                       uint64_t *given_bytes, nm_error *err)
{
    uint64_t taken_bytes = 0;
    nm_tree_node *left;
    nm_tree_node *right;
    nm_status status = NM_OK;

    *given_bytes = 0;
    if (from >= to)
        return NM_OK;
    right = first_behind(gaps, from);
    if (right != NULL && right->key < to) {
        status = nm_gaps_take(gaps, from, to, &taken_bytes, err);
        right = first_behind(gaps, from);
    }
    left = right == NULL ? nm_tree_floor(&gaps->tree, from) : nm_tree_previous(right);
    if (left != NULL && (!joins_left || end_of(left) != from))
        left = NULL;
    if (right != NULL && (!joins_right || right->key != to))
        right = NULL;

    if (left != NULL && right != NULL) {
        uint64_t end = end_of(right);

        drop_gap(gaps, right);
        resize_gap(gaps, left, left->key, end);
    } else if (left != NULL) {
        resize_gap(gaps, left, left->key, to);
    } else if (right != NULL) {
        resize_gap(gaps, right, from, end_of(right));
    } else if (status == NM_OK) {
        status = add_gap(gaps, from, to, err);
    }
    *given_bytes = to - from - taken_bytes;
    return status;
}

uint64_t nm_gaps_before(const nm_gaps *gaps, uint64_t to)
{
    const nm_tree_node *node = nm_tree_floor(&gaps->tree, to - 1);

    return node == NULL || end_of(node) < to ? 0 : to - node->key;
}

uint64_t nm_gaps_free_bytes_in(const nm_gaps *gaps, uint64_t from, uint64_t to)
{
    uint64_t free_bytes = 0;

    for (const nm_tree_node *node = first_behind(gaps, from); node != NULL && node->key < to;
         node = nm_tree_next(node)) {
        uint64_t start = node->key > from ? node->key : from;
        uint64_t end = end_of(node) < to ? end_of(node) : to;

        free_bytes += end - start;
    }
    return free_bytes;
}

void nm_gaps_free(nm_gaps *gaps)
{
    while (gaps->tree.root != NULL)
        drop_gap(gaps, gaps->tree.root);
}

size_t nm_gaps_item_bytes(void)
{
    return sizeof(gap);
}
