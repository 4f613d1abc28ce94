/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows into tables. The large tables of integers go through store/bulk.h, the others through a prepared statement each. A
 * reference to what the input never defined becomes NULL and is counted; one to a row that was never written is a defect
 * of the replay and fails the load.
 */
#ifndef NM_STORE_LOADER_H
#define NM_STORE_LOADER_H

#include "sites/attribution.h"
#include "sites/definitions.h"
#include "sites/frame_names.h"
#include "store/bulk.h"
#include "store/database.h"
#include "store/retention.h"
#include "store/store.h"
#include "sums/sums.h"

#define NM_INPUT_ID 1 /* the one input that is loaded: of several each has a database of its own (merge.h) */

typedef enum nm_loader_table { /* of what no row of the replay is */
#define TABLE(name, table, names) NM_TABLE_##name,
#include "store/columns.def"
#undef TABLE
                               NM_TABLE_COUNT
} nm_loader_table;

typedef struct nm_loader {
    sqlite3 *db; /* borrowed */
    nm_definitions definitions;
    nm_insert inserts[NM_ROW_KINDS]; /* of rows */
    nm_bulk *bulks[NM_ROW_KINDS];    /* of rows of large tables */
    nm_insert tables[NM_TABLE_COUNT];
    nm_id_set allocation_ids, operation_ids;       /* written */
    nm_id_set named_allocations, named_operations; /* named by other rows */
    nm_stack_uses stack_uses;                      /* of all allocations */
    nm_sums *sums;                                 /* told each row */
    nm_retention retention;
    nm_retention_rows retained;
    nm_last_numbers last;         /* of the rows that came, written or not */
    nm_id_set stepping_processes; /* have steps */
    bool has_early_misses;        /* see nm_loader_settle_misses */
    struct {
        nm_process_end_row *items;
        size_t count, capacity;
    } process_ends;
    nm_map process_end_of;       /* process_id -> index into process_ends */
    const nm_frame_namer *namer; /* borrowed; NULL: nobody */
    nm_frame_name_counts name_counts;
    uint64_t unknown_reference_count;
    nm_baseline_row baseline;
    nm_category_row category; /* of the allocation whose row comes next, if it is known */
} nm_loader;

/* The tables must be there. On failure *out can be closed. */
nm_status nm_loader_open(sqlite3 *db, nm_retention retention, nm_loader *out, nm_error *err);

/* Takes a row of any kind: as of an nm_sink whose context is the loader. */
nm_status nm_loader_take(void *context, nm_row_kind kind, const void *row, nm_error *err);

/* Where the values of the next row of a large table go: into the table, or among the rows that wait. Leaves *values as it
 * is where the row is not to be kept; then its values are still made, for what they refer to. */
nm_status nm_loader_next_values(nm_loader *loader, nm_row_kind kind, const void *row, int64_t **values, nm_error *err);

/* Parts of these for allocations: loader_allocations.c. */
nm_status nm_loader_place_allocation(nm_loader *loader, const nm_allocation_row *row, int64_t **values, nm_error *err);
nm_status nm_loader_note_allocation(nm_loader *loader, const nm_allocation_row *row, nm_error *err);

/* A stack of which only sums are left. */
nm_status nm_loader_note_summed_stack(nm_loader *loader, const nm_site_total_row *row, nm_error *err);

/* Flushes the rows and writes input, processes, threads, devices, heaps, frames and stacks with their sites. */
nm_status nm_loader_finish(nm_loader *loader, const nm_store_input *input, nm_error *err);
nm_status nm_loader_write_names(nm_loader *loader, const nm_store_input *input, nm_error *err); /* a part of it */
nm_status nm_loader_write_waiting(nm_loader *loader, nm_error *err); /* another: rows that the last peaks met */

/* The id, or 0 and one more unknown reference when it is not in the set. 0 stays 0. */
static inline uint64_t nm_loader_known(nm_loader *loader, const nm_id_set *ids, uint64_t id)
{
    if (id == 0 || nm_id_set_has(ids, id))
        return id;
    loader->unknown_reference_count++;
    return 0;
}

void nm_loader_close(nm_loader *loader);

#endif
