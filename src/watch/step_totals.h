/* SPDX-License-Identifier: Apache-2.0
 *
 * What each heap did in each step, of a whole recording, in bounded memory: when there are too many rows, two steps next to
 * each other become one row, then four, and so on.
 */
#ifndef NM_WATCH_STEP_TOTALS_H
#define NM_WATCH_STEP_TOTALS_H

#include "base/map.h"
#include "rows/rows.h"

typedef struct nm_step_totals { /* a zeroed one is empty, and has no limit */
    nm_step_total_row *items;   /* owned; in the order in which they began */
    size_t count, capacity;
    size_t limit;   /* of rows; 0: none */
    unsigned shift; /* a row is of 2^shift steps */
    nm_map index;   /* (heap, step >> shift) -> index in items */
} nm_step_totals;

nm_status nm_step_totals_add(nm_step_totals *totals, const nm_step_total_row *row, nm_error *err);
void nm_step_totals_free(nm_step_totals *totals);

#endif
