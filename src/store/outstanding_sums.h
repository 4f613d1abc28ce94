/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over what is outstanding, taken while the rows come: table outstanding_sum. Memory grows with distinct sizes and
 * generations of each stack.
 */
#ifndef NM_STORE_OUTSTANDING_SUMS_H
#define NM_STORE_OUTSTANDING_SUMS_H

#include "base/map.h"
#include "replay/rows.h"

typedef struct nm_outstanding_sum { /* of a heap, a stack, a size, a generation and is_doubtful */
    uint64_t heap_id, stack_id, size_bytes;
    int64_t generation;
    bool is_doubtful;
    uint64_t allocation_count;
    int64_t first_seq, last_seq; /* NM_NO_SEQ: of before what was kept */
} nm_outstanding_sum;

typedef struct nm_outstanding_sums { /* a zeroed one is empty */
    nm_outstanding_sum *items;       /* owned */
    size_t count, capacity;
    nm_map place_of; /* (heap, stack) -> number of the pair, from 0 */
    nm_map index_of; /* (that number and generation, size and is_doubtful) -> index into items */
} nm_outstanding_sums;

/* Adds the row if it is one that view outstanding shows. */
nm_status nm_outstanding_sums_allocation(nm_outstanding_sums *sums, const nm_allocation_row *row, nm_error *err);
void nm_outstanding_sums_free(nm_outstanding_sums *sums);

#endif
