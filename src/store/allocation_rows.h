/* SPDX-License-Identifier: Apache-2.0
 *
 * All rows of view allocation, or of a part of it, for who goes through millions of them: out of the pages of the file where these are
 * as npumem-ingest writes them (store/bulk/table_pages.h), which takes a tenth of what SQLite's machine takes, else from that.
 */
#ifndef NM_STORE_ALLOCATION_ROWS_H
#define NM_STORE_ALLOCATION_ROWS_H

#include <sqlite3.h>
#include <stdint.h>

#include "base/error.h"

/* KEPT(name): a column of the table that the view shows as it is; MADE(name, of, beside): of two of the table (schema/allocation.sql). */
#define NM_ALLOCATION_COLUMNS(KEPT, MADE)                                                                              \
    KEPT(allocation_id)                                                                                                \
    KEPT(heap_id)                                                                                                      \
    KEPT(stack_id)                                                                                                     \
    KEPT(size_bytes)                                                                                                   \
    KEPT(alloc_seq)                                                                                                    \
    KEPT(free_seq)                                                                                                     \
    KEPT(is_segment)                                                                                                   \
    KEPT(end_kind)                                                                                                     \
    KEPT(live_bytes)                                                                                                   \
    KEPT(address)                                                                                                      \
    KEPT(alloc_ns)                                                                                                     \
    MADE(free_ns, lived_ns, alloc_ns)                                                                                  \
    KEPT(segment_id)                                                                                                   \
    MADE(stream, stream_number, heap_id)                                                                               \
    MADE(requested_bytes, requested_bytes, size_bytes)                                                                 \
    MADE(block_bytes, block_bytes, size_bytes)                                                                         \
    KEPT(is_miss)                                                                                                      \
    KEPT(category_id)                                                                                                  \
    KEPT(free_stack_id)                                                                                                \
    KEPT(thread_id)                                                                                                    \
    KEPT(free_thread_id)                                                                                               \
    KEPT(operation_id)                                                                                                 \
    KEPT(operation_source)                                                                                             \
    KEPT(free_requested_seq)                                                                                           \
    KEPT(cost_ns)                                                                                                      \
    KEPT(generation)                                                                                                   \
    KEPT(policy)                                                                                                       \
    KEPT(private_pool)                                                                                                 \
    KEPT(graph_id)                                                                                                     \
    KEPT(split_from_id)                                                                                                \
    KEPT(is_mapped)                                                                                                    \
    KEPT(is_doubtful)                                                                                                  \
    KEPT(is_exported)

#define NM_ALLOCATION_KEPT(name)             int64_t name;
#define NM_ALLOCATION_MADE(name, of, beside) int64_t name;

/* A row as the view shows it; NM_NULL for NULL. */
typedef struct nm_allocation_values {
    NM_ALLOCATION_COLUMNS(NM_ALLOCATION_KEPT, NM_ALLOCATION_MADE)
} nm_allocation_values;

#undef NM_ALLOCATION_KEPT
#undef NM_ALLOCATION_MADE

typedef nm_status nm_allocation_take(void *context, const nm_allocation_values *row, nm_error *err);

typedef struct nm_allocation_request {
    int64_t first_id, last_id; /* of rows: NM_ALLOCATIONS_ALL for all */
    const char *names;         /* of the columns that are wanted, a space after each: what others have is not said */
} nm_allocation_request;

#define NM_ALLOCATIONS_ALL INT64_MIN + 1, INT64_MAX

/* Gives the rows of `main` in the order of their ids. NM_END from `take` ends it, and is no error. */
nm_status nm_allocation_rows_each(sqlite3 *db, const nm_allocation_request *request, nm_allocation_take *take,
                                  void *context, nm_error *err);

#endif
