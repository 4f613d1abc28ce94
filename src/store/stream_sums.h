/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over calls about streams, taken while the rows come: table stream_call_sum. Memory grows with distinct streams.
 */
#ifndef NM_STORE_STREAM_SUMS_H
#define NM_STORE_STREAM_SUMS_H

#include "base/map.h"
#include "rows/rows.h"

typedef struct nm_stream_sum { /* of a process, a device, a kind and a stream */
    uint64_t process_id, device_id;
    nm_stream_call kind;
    bool has_stream;
    uint64_t stream;
    uint64_t call_count, cost_ns, error_count; /* cost 0: not known of any */
} nm_stream_sum;

typedef struct nm_stream_sums { /* a zeroed one is empty */
    nm_stream_sum *items;       /* owned */
    size_t count, capacity;
    nm_map place_of; /* (process, device) -> number of the pair, from 0 */
    nm_map index_of; /* (that number and kind, stream) -> index into items */
} nm_stream_sums;

nm_status nm_stream_sums_call(nm_stream_sums *sums, const nm_stream_call_row *row, nm_error *err);
void nm_stream_sums_free(nm_stream_sums *sums);

#endif
