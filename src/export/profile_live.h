/* SPDX-License-Identifier: Apache-2.0
 *
 * What was live at several moments, by heap and stack, from one pass over the allocations: what profile_stacks.sql says of one
 * moment. Memory: a sum for each heap and stack that was live at a moment.
 *
 *     nm_profile_live_add(&live, db, "peak", 0, err); ... each moment of which single allocations tell
 *     nm_profile_live_read(&live, db, err);
 *     live.sums.items[0 .. live.sums.count)
 *     nm_profile_live_free(&live);
 */
#ifndef NM_EXPORT_PROFILE_LIVE_H
#define NM_EXPORT_PROFILE_LIVE_H

#include <sqlite3.h>

#include "base/map.h"

typedef struct nm_profile_span {
    int64_t heap_id, seq, ns; /* seq NM_NULL: it is told by its time */
    int64_t shown_ns;
    uint32_t moment; /* as it was added */
} nm_profile_span;

typedef struct nm_profile_sum {
    int64_t heap_id, stack_id; /* NM_NULL: none */
    int64_t shown_ns;          /* of the moment, in that heap */
    int64_t live_count, live_bytes;
    uint32_t moment;
    bool is_baseline; /* of what was there at the beginning, without a stack */
} nm_profile_sum;

typedef struct nm_profile_live { /* a zeroed one is empty */
    struct {
        nm_profile_span *items; /* owned; by heap, when they are read */
        size_t count, capacity;
    } spans;
    struct {
        nm_profile_sum *items; /* owned; by moment, heap, stack and is_baseline, when they are read */
        size_t count, capacity;
    } sums;
    nm_map span_of; /* heap_id -> index of its first span */
    nm_map sum_of;  /* (span and is_baseline, stack_id) -> index */
} nm_profile_live;

nm_status nm_profile_live_add(nm_profile_live *live, sqlite3 *db, const char *word, uint32_t moment, nm_error *err);
nm_status nm_profile_live_read(nm_profile_live *live, sqlite3 *db, nm_error *err);
void nm_profile_live_free(nm_profile_live *live);

#endif
