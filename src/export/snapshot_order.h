/* SPDX-License-Identifier: Apache-2.0
 *
 * What happened to memory, entry by entry, device after device, as a snapshot tells it.
 */
#ifndef NM_EXPORT_SNAPSHOT_ORDER_H
#define NM_EXPORT_SNAPSHOT_ORDER_H

#include <sqlite3.h>

#include "base/error.h"
#include "export/snapshot_tables.h"

/* Numbers of snapshot_entries.sql. In the order in which they go where they are of one event: what ends, then what begins, segments around their blocks. */
typedef enum nm_snapshot_action {
    NM_SNAPSHOT_FREE_BOTH, /* requested and completed by two events that follow each other, as they mostly are */
    NM_SNAPSHOT_FREE_REQUESTED,
    NM_SNAPSHOT_FREE_COMPLETED,
    NM_SNAPSHOT_SEGMENT_FREE,
    NM_SNAPSHOT_SEGMENT_UNMAP,
    NM_SNAPSHOT_SEGMENT_ALLOC,
    NM_SNAPSHOT_SEGMENT_MAP,
    NM_SNAPSHOT_ALLOC,
    NM_SNAPSHOT_OOM,
    NM_SNAPSHOT_MARK,
    NM_SNAPSHOT_ACTIONS
} nm_snapshot_action;

typedef struct nm_snapshot_entry {
    nm_snapshot_action action;
    int64_t seq, size_bytes, stream, stack_id, pool, ns; /* ns: NM_NULL: not known */
    uint64_t address;                                    /* of OOM what the device had left; NM_NULL: not known */
} nm_snapshot_entry;

typedef nm_status nm_snapshot_take(void *context, int64_t device, const nm_snapshot_entry *entry, nm_error *err);

/* Gives each entry to `take`, which ends it by NM_END. */
nm_status nm_snapshot_each_entry(sqlite3 *db, const nm_snapshot_tables *tables, int64_t device_count,
                                 nm_snapshot_take *take, void *context, nm_error *err);

#endif
