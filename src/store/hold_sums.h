/* SPDX-License-Identifier: Apache-2.0
 *
 * How long blocks of workspaces were held and used: sums by heap and stream, taken while the spans of each block come.
 */
#ifndef NM_STORE_HOLD_SUMS_H
#define NM_STORE_HOLD_SUMS_H

#include "base/map.h"
#include "rows/rows.h"

typedef struct nm_hold_sum { /* table workspace_hold_sum */
    uint64_t heap_id;
    bool has_stream;
    uint64_t stream;
    uint64_t block_count, use_count, reuse_count, untimed_count;
    unsigned __int128 byte_ns[NM_HOLD_AT_END + 1]; /* by nm_hold_span */
    uint64_t max_between_ns;
    uint64_t idle_count_at_end, idle_bytes_at_end;
} nm_hold_sum;

typedef struct nm_hold_sums { /* a zeroed one is empty */
    nm_hold_sum *items;       /* owned */
    size_t count, capacity;
    nm_map place_of; /* (has_stream, heap) -> number, from 0 */
    nm_map index_of; /* (that number, stream) -> index into items */
} nm_hold_sums;

nm_status nm_hold_sums_span(nm_hold_sums *sums, const nm_workspace_span_row *row, nm_error *err);
void nm_hold_sums_free(nm_hold_sums *sums);

#endif
