/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over copies, taken while the rows come: table copy_sum. Memory grows with distinct stacks and streams.
 */
#ifndef NM_STORE_COPY_SUMS_H
#define NM_STORE_COPY_SUMS_H

#include "base/map.h"
#include "rows/rows.h"

typedef struct nm_copy_sum { /* of a process, a device, a kind, a stream and a stack */
    uint64_t process_id, device_id, stack_id;
    nm_copy_kind kind;
    bool is_async, has_stream;
    uint64_t stream;
    uint64_t copy_count, failed_count, size_bytes;
    uint64_t cost_ns; /* 0: not known of any */
    uint64_t timed_bytes, timed_ns;
    uint64_t host_count, host_bytes, registered_count, registered_bytes;
    uint64_t repeated_count, repeated_bytes;
    uint64_t longest_count, longest_address, longest_bytes; /* of the source that was repeated most */
    int64_t longest_seq;
} nm_copy_sum;

typedef struct nm_copy_sums { /* a zeroed one is empty */
    nm_copy_sum *items;       /* owned */
    size_t count, capacity;
    size_t recent;    /* index of the last one used */
    nm_map place_of;  /* (process, device) -> number of the pair, from 0 */
    nm_map stream_of; /* (that number and kind, stream) -> number, from 0 */
    nm_map index_of;  /* (that number, stack) -> index into items */
} nm_copy_sums;

nm_status nm_copy_sums_copy(nm_copy_sums *sums, const nm_copy_row *row, nm_error *err);
void nm_copy_sums_free(nm_copy_sums *sums);

#endif
