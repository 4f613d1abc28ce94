/* SPDX-License-Identifier: Apache-2.0
 *
 * What rows of allocations are asked about, read once: so that reading them is a pass over one table. Memory: that of heaps,
 * of segments that say no stream, of what was cut, and of driver memory under workspaces.
 */
#ifndef NM_EXPORT_SNAPSHOT_TABLES_H
#define NM_EXPORT_SNAPSHOT_TABLES_H

#include <sqlite3.h>

#include "base/map.h"

typedef struct nm_snapshot_heap {
    int64_t device, level, start_ns;
} nm_snapshot_heap;

typedef struct nm_snapshot_cut {
    int64_t size_bytes, left_bytes; /* of what was left, and of that at the allocation's begin */
} nm_snapshot_cut;

typedef struct nm_snapshot_tables {
    struct {
        nm_snapshot_heap *items; /* owned */
        size_t count, capacity;
    } heaps;
    struct {
        nm_snapshot_cut *items; /* owned */
        size_t count, capacity;
    } cuts;
    nm_map heap_of, cut_of; /* heap_id, allocation_id -> index */
    nm_map stream_of;       /* allocation_id of a segment -> the stream of what lies in it */
    nm_map used;            /* allocation_id of driver memory in which workspaces lie -> 1 */
} nm_snapshot_tables;

nm_status nm_snapshot_tables_read(sqlite3 *db, nm_snapshot_tables *tables, nm_error *err);
void nm_snapshot_tables_free(nm_snapshot_tables *tables);

/* NULL: it is of no device of the snapshot; it was not cut. */
const nm_snapshot_heap *nm_snapshot_heap_of(const nm_snapshot_tables *tables, int64_t heap_id);
const nm_snapshot_cut *nm_snapshot_cut_of(const nm_snapshot_tables *tables, int64_t allocation_id);

/* The stream of what lies in that segment (NM_NULL: in none that is known); 0: it is not known. */
int64_t nm_snapshot_stream_of(const nm_snapshot_tables *tables, int64_t segment_id);

#endif
