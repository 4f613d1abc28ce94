/* SPDX-License-Identifier: Apache-2.0
 *
 * What a load knows, for the files that make it, and what a row refers to, as its columns want it.
 */
#ifndef NM_STORE_LOADER_STATE_H
#define NM_STORE_LOADER_STATE_H

#include "sites/attribution.h"
#include "sites/definitions.h"
#include "sites/frame_names.h"
#include "sites/wrapper.h"
#include "store/bulk/bulk.h"
#include "store/database.h"
#include "store/retention.h"
#include "store/verdicts/verdicts.h"
#include "sums/sums.h"

#define NM_INPUT_ID 1 /* the one input that is loaded: of several each has a database of its own (merge.h) */

typedef struct nm_loader {
    sqlite3 *db;             /* borrowed */
    const char *output_path; /* of what is made, for errors; borrowed */
    nm_definitions definitions;
    nm_sink sink;                                  /* takes what the end of the load gives: the loader itself */
    nm_insert inserts[NM_ROW_KINDS];               /* of rows */
    nm_bulks *bulks;                               /* the large tables, */
    nm_bulk *bulk_of[NM_ROW_KINDS];                /* by their rows */
    nm_id_set allocation_ids, operation_ids;       /* written */
    nm_id_set named_allocations, named_operations; /* named by other rows */
    nm_heap_stacks heap_stacks;                    /* of all allocations */
    nm_sums *sums;                                 /* told each row */
    nm_retention_rows retained;
    nm_left_out_row left_out; /* of the rows that came, written or not; all allocations of them are counted */
    struct {
        nm_process_end_row *items;
        size_t count, capacity;
    } process_ends;
    nm_map process_end_of; /* process_id -> index into process_ends */
    nm_verdict_rows verdict_rows;
    const nm_frame_namer *namer; /* borrowed; NULL: nobody */
    nm_frame_name_counts name_counts;
    uint64_t unknown_reference_count;
    nm_baseline_row baseline;
    nm_category_row category; /* of the allocation whose row comes next, if it is known */
} nm_loader;

/* ---- What a row refers to ---------------------------------------------------------------------------------------- */

/* The id, or 0 and one more unknown reference when it is not in the set. 0 stays 0. */
static inline uint64_t nm_loader_known(nm_loader *loader, const nm_id_set *ids, uint64_t id)
{
    if (id == 0 || nm_id_set_has(ids, id))
        return id;
    loader->unknown_reference_count++;
    return 0;
}

static inline uint64_t nm_loader_heap(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.heaps.ids, id);
}
static inline uint64_t nm_loader_thread(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.threads.ids, id);
}
static inline uint64_t nm_loader_stack(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.stacks.ids, id);
}
static inline uint64_t nm_loader_process(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.processes.ids, id);
}
static inline uint64_t nm_loader_device(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.devices.ids, id);
}

static inline uint64_t nm_loader_frame(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.frames.ids, id);
}
static inline uint64_t nm_loader_module(nm_loader *loader, uint64_t id)
{
    return nm_loader_known(loader, &loader->definitions.modules.ids, id);
}

static inline int64_t nm_policy_or_null(uint64_t policy)
{
    return policy == NM_POLICY_UNKNOWN ? NM_NULL : (int64_t)policy;
}

/* A string of the stream: its number in the definitions of the loader, and its text (borrowed). */
static inline uint32_t nm_loader_number(const nm_loader *loader, uint64_t string)
{
    return nm_definitions_number(&loader->definitions, string);
}
static inline nm_bytes nm_loader_text(const nm_loader *loader, uint64_t string)
{
    return nm_definitions_text(&loader->definitions, nm_loader_number(loader, string));
}

/* A row names another one, which must be written in the end; 0 is none. */
static inline nm_status nm_loader_name_operation(nm_loader *loader, uint64_t operation_id, nm_error *err)
{
    return operation_id == 0 ? NM_OK : nm_id_set_add(&loader->named_operations, operation_id, err);
}
static inline nm_status nm_loader_name_allocation(nm_loader *loader, uint64_t allocation_id, nm_error *err)
{
    return allocation_id == 0 ? NM_OK : nm_id_set_add(&loader->named_allocations, allocation_id, err);
}

static inline void nm_loader_note_last(uint64_t *last, uint64_t id) /* the largest one so far */
{
    if (id > *last)
        *last = id;
}

/* The heap's level, as nm_heap_level; 0 when the heap is not known. */
static inline uint64_t nm_loader_level(const nm_loader *loader, uint64_t heap_id)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap == NULL ? 0 : heap->heap.level;
}

/* Reserved bytes are a pool's: of another heap they are unknown, and not 0. */
static inline int64_t nm_loader_pool_bytes(const nm_loader *loader, uint64_t heap_id, uint64_t bytes)
{
    return bytes != 0 || nm_loader_level(loader, heap_id) == NM_LEVEL_POOL ? (int64_t)bytes : NM_NULL;
}

/* Calls of a device's driver: of a heap without a device there are none to count. */
static inline int64_t nm_loader_device_count(const nm_loader *loader, uint64_t heap_id, uint64_t count)
{
    const nm_definition *heap = nm_definition_find(&loader->definitions.heaps, heap_id);

    return heap != NULL && heap->heap.device_id != 0 ? (int64_t)count : NM_NULL;
}

/* What the driver was asked for is a policy of its own memory, physical or registered. */
static inline bool nm_loader_has_policy(const nm_loader *loader, uint64_t heap_id)
{
    uint64_t level = nm_loader_level(loader, heap_id);

    return level == NM_LEVEL_DRIVER || level == NM_LEVEL_PHYSICAL || level == NM_LEVEL_REGISTERED;
}
static inline int64_t nm_loader_policy(const nm_loader *loader, uint64_t heap_id, uint64_t policy)
{
    return nm_loader_has_policy(loader, heap_id) ? nm_policy_or_null(policy) : NM_NULL;
}

#endif
