/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of stacks that are put in the order of their sites, once these are known (verdicts/site_steps.h, verdicts/site_lifetimes.h).
 */
#ifndef NM_STORE_KEPT_ROWS_H
#define NM_STORE_KEPT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NM_KEPT_ROWS_CHUNK 4096

/* Rows of one kind. In pieces, which stay where they are: they may be many, and grow beside everything else that a load keeps. */
typedef struct nm_kept_rows {
    size_t row_bytes; /* the rest zeroed: an empty one */
    uint8_t **chunks; /* owned, each of NM_KEPT_ROWS_CHUNK rows; in the order in which they came */
    size_t chunk_count, chunk_capacity, count;
} nm_kept_rows;

static inline void *nm_kept_rows_at(const nm_kept_rows *list, size_t index)
{
    return list->chunks[index / NM_KEPT_ROWS_CHUNK] + index % NM_KEPT_ROWS_CHUNK * list->row_bytes;
}

nm_status nm_kept_rows_add(nm_kept_rows *list, const void *row, nm_error *err);

/* The places 0 to count - 1 in the order of the rows, for free(); `compare` is given two places (uint32_t) and the list. */
nm_status nm_kept_rows_order(nm_kept_rows *list, int (*compare)(const void *left, const void *right, void *list),
                             uint32_t **order, nm_error *err);

void nm_kept_rows_free(nm_kept_rows *list); /* leaves it empty and usable */

#endif
