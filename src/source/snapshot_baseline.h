/* SPDX-License-Identifier: Apache-2.0
 *
 * What was live before a snapshot's trace began. The file does not say; it follows from the trace and from the state at
 * the end: what the trace gives back without ever having taken it was there before, and so was what is there at the end
 * and appears nowhere in the trace. Memory: the baseline, the touched ranges of driver memory, and one bit for each
 * place (of 512 bytes) where a block of the trace began.
 */
#ifndef NM_SOURCE_SNAPSHOT_BASELINE_H
#define NM_SOURCE_SNAPSHOT_BASELINE_H

#include "source/ranges.h"
#include "source/snapshot_reader.h"

typedef enum nm_baseline_kind { /* in the order of delivery: driver memory before what lies in it */
                                NM_BASELINE_SEGMENT = 1,
                                NM_BASELINE_MAPPED, /* a mapped range of an expandable segment */
                                NM_BASELINE_WORKSPACE_SEGMENT,
                                NM_BASELINE_WORKSPACE,
                                NM_BASELINE_BLOCK,
} nm_baseline_kind;

typedef struct nm_baseline_item {
    nm_baseline_kind kind;
    uint32_t device, stack;
    uint64_t address;
    uint64_t size_bytes;  /* requested where that is known */
    uint64_t block_bytes; /* 0: unknown */
    uint64_t stream, pool;
    bool has_stream, is_pending;
} nm_baseline_item;

typedef struct nm_baseline_device {
    bool is_used, has_workspace, has_baseline;
    bool has_untimed;     /* an entry without a time */
    uint64_t entry_count; /* of its trace */
    bool has_first;       /* a time is known */
    int64_t first_us;     /* time of the first entry that has one */
    nm_ranges touched;    /* driver memory that the file speaks of */
    /* It speaks of driver memory, and of blocks that lie in none of it at any time: what it says of that is not believed. */
    bool is_contradictory;
} nm_baseline_device;

typedef struct nm_snapshot_baseline { /* a zeroed one is empty */
    struct {
        nm_baseline_item *items;
        size_t count, capacity;
    } items;
    struct {
        nm_baseline_device *items; /* by device number; NM_SNAPSHOT_HOST is one */
        size_t count, capacity;
    } devices;
    nm_map seen;       /* (device, place) -> bits: where blocks of the trace began */
    nm_map workspaces; /* (device, address) -> 1 */
    nm_map requested; /* (device, address) -> index into items: blocks whose free was requested, and has not come yet */
    nm_range_list news;
} nm_snapshot_baseline;

/* Takes the entries of the trace, all and in order. */
nm_status nm_snapshot_baseline_entry(nm_snapshot_baseline *baseline, const nm_snapshot_entry *entry, nm_error *err);

/* Takes the state at the end. Afterwards the items are complete and in the order of delivery, and the segments that are
 * workspaces are marked in *list, their blocks active: torch_npu writes them as if they were unused. */
nm_status nm_snapshot_baseline_finish(nm_snapshot_baseline *baseline, nm_snapshot_state_list *list, nm_error *err);

/* Does a block lie outside of all driver memory that the file speaks of, though it speaks of some? Once it is finished. */
bool nm_snapshot_baseline_is_outside(const nm_snapshot_baseline *baseline, uint32_t device, uint64_t address);

void nm_snapshot_baseline_free(nm_snapshot_baseline *baseline);

#endif
