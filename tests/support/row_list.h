/* SPDX-License-Identifier: Apache-2.0
 *
 * A sink that keeps every row, so that a test can look at them after a replay.
 */
#ifndef NM_TESTS_ROW_LIST_H
#define NM_TESTS_ROW_LIST_H

#include <stddef.h>

#include "rows/sink.h"

typedef struct nm_row_list { /* by kind */
#define LIST(name)                                                                                                     \
    struct {                                                                                                           \
        nm_##name##_row *items;                                                                                        \
        size_t count, capacity;                                                                                        \
    } name;
#define ROW(name, NAME, table, writer) LIST(name)
#define RECORD(name, NAME)             LIST(name)
#include "rows/rows.def"
#undef LIST
} nm_row_list;

nm_sink nm_row_list_sink(nm_row_list *list); /* the list, zeroed at first, outlives the sink */
void nm_row_list_free(nm_row_list *list);    /* leaves it empty and usable */

/* Replays a text trace (text_trace.h) into the list, with nm_replay_finish. */
nm_status nm_row_list_replay(nm_row_list *list, const char *text, nm_error *err);

/* The one row there is; NULL when it is missing. */
const nm_allocation_row *nm_row_list_allocation(const nm_row_list *list, uint64_t allocation_id);
const nm_heap_total_row *nm_row_list_total(const nm_row_list *list, uint64_t heap_id);
const nm_hit_row *nm_row_list_hit(const nm_row_list *list, uint64_t heap_id, int bucket);
/* The figures of a heap at the n-th moment (from 0) of a kind. */
const nm_fragmentation_row *nm_row_list_figures(const nm_row_list *list, nm_moment_kind kind, size_t n,
                                                uint64_t heap_id);
const nm_peak_stack_row *nm_row_list_peak_stack(const nm_row_list *list, uint64_t heap_id, uint64_t stack_id,
                                                bool is_baseline);

#endif
