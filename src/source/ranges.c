/* SPDX-License-Identifier: Apache-2.0
 *
 * Nodes are numbered, 0 stands for the head and for "no node". As the ranges are disjoint, they are in order by their
 * begin and by their end alike.
 */
#include "source/ranges.h"

#include <stdlib.h>

#include "base/buffer.h"

struct nm_range_node {
    nm_range range;
    uint32_t next[NM_RANGES_LEVELS]; /* 0: none */
};

static nm_status take_node(nm_ranges *set, uint32_t *number, nm_error *err)
{
    if (set->unused != 0) {
        *number = set->unused;
        set->unused = set->nodes[*number].next[0];
        set->nodes[*number] = (nm_range_node){0};
        return NM_OK;
    }
    if (set->count >= UINT32_MAX - 1)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than 4 billion ranges of addresses");
    if (set->count == 0)
        set->count = 1; /* the head */

    nm_status status = nm_array_grow(&set->nodes, &set->capacity, set->count + 1, sizeof *set->nodes, err);
    if (status == NM_OK)
        *number = (uint32_t)set->count++;
    return status;
}

/* One level for three nodes in four, two for three in the remaining, and so on. */
static int draw_level(nm_ranges *set)
{
    int level = 1;

    set->random = set->random * 6364136223846793005u + 1442695040888963407u;
    for (uint64_t bits = set->random >> 32; (bits & 3) == 0 && level < NM_RANGES_LEVELS; bits >>= 2)
        level++;
    return level;
}

/* before[level]: the last node at that level that ends in front of `begin`. */
static void find_before(const nm_ranges *set, uint64_t begin, uint32_t before[NM_RANGES_LEVELS])
{
    uint32_t at = 0;

    for (int level = NM_RANGES_LEVELS - 1; level >= 0; level--) {
        for (uint32_t next; (next = set->nodes[at].next[level]) != 0 && set->nodes[next].range.end < begin;)
            at = next;
        before[level] = at;
    }
}

static void unlink_node(nm_ranges *set, uint32_t number, const uint32_t before[NM_RANGES_LEVELS])
{
    nm_range_node *node = &set->nodes[number];

    for (int level = 0; level < NM_RANGES_LEVELS; level++)
        if (set->nodes[before[level]].next[level] == number)
            set->nodes[before[level]].next[level] = node->next[level];
    node->next[0] = set->unused;
    set->unused = number;
}

static nm_status add_new(nm_range_list *news, uint64_t begin, uint64_t end, nm_error *err)
{
    if (begin >= end)
        return NM_OK;
    nm_status status = nm_array_grow(&news->items, &news->capacity, news->count + 1, sizeof *news->items, err);

    if (status == NM_OK)
        news->items[news->count++] = (nm_range){begin, end};
    return status;
}

nm_status nm_ranges_add(nm_ranges *set, nm_range range, nm_range_list *news, nm_error *err)
{
    uint32_t before[NM_RANGES_LEVELS];
    uint32_t number;
    uint64_t covered = range.begin; /* up to here it is known what is new */
    nm_range merged = range;

    news->count = 0;
    if (range.begin >= range.end)
        return NM_OK;
    nm_status status = take_node(set, &number, err);
    if (status != NM_OK)
        return status;

    find_before(set, range.begin, before);
    for (uint32_t next; (next = set->nodes[before[0]].next[0]) != 0 && status == NM_OK;) {
        nm_range there = set->nodes[next].range;
        if (there.begin > range.end)
            break;
        status = add_new(news, covered, there.begin, err);
        covered = there.end > covered ? there.end : covered;
        merged.begin = there.begin < merged.begin ? there.begin : merged.begin;
        merged.end = there.end > merged.end ? there.end : merged.end;
        unlink_node(set, next, before);
    }
    if (status == NM_OK)
        status = add_new(news, covered, range.end, err);

    set->nodes[number].range = merged;
    for (int level = draw_level(set) - 1; level >= 0; level--) {
        set->nodes[number].next[level] = set->nodes[before[level]].next[level];
        set->nodes[before[level]].next[level] = number;
    }
    return status;
}

void nm_ranges_free(nm_ranges *set)
{
    free(set->nodes);
    *set = (nm_ranges){0};
}
