/* SPDX-License-Identifier: Apache-2.0
 *
 * A set of addresses as disjoint ranges: ranges that touch become one, so its size is the number of gaps and not of
 * calls. Adding tells what of a range is new, in logarithmic time.
 */
#ifndef NM_SOURCE_RANGES_H
#define NM_SOURCE_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/tree.h"

typedef struct nm_range {
    uint64_t begin, end; /* end is the first address behind it */
} nm_range;

typedef struct nm_range_list {
    nm_range *items; /* owned; free() it */
    size_t count, capacity;
} nm_range_list;

typedef struct nm_ranges { /* a zeroed one is empty */
    nm_tree tree;          /* key: begin, value: end */
} nm_ranges;

/* Adds the range. *news gets the parts that were not in the set before, in order; its room is used again. */
nm_status nm_ranges_add(nm_ranges *set, nm_range range, nm_range_list *news, nm_error *err);
bool nm_ranges_hold(const nm_ranges *set, uint64_t address);
void nm_ranges_free(nm_ranges *set); /* leaves it empty and usable */

#endif
