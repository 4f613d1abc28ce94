/* SPDX-License-Identifier: Apache-2.0
 *
 * What a recording is at, and how that differs from a minute before: a watch that takes the records, and sums over what is
 * live, by site. A look costs a walk over all that is live.
 */
#ifndef NM_TOOL_TOP_MODEL_H
#define NM_TOOL_TOP_MODEL_H

#include "watch/watch.h"

typedef struct top_model top_model;

typedef struct top_heap {
    nm_watch_heap heap; /* its name is borrowed */
    int64_t rank;       /* or NM_UNKNOWN_NUMBER */
    int64_t growth_bytes;
    bool is_over; /* its process has ended */
} top_heap;

typedef struct top_site {
    nm_bytes name;  /* borrowed */
    uint64_t level; /* nm_heap_level */
    uint64_t live_bytes, live_count;
    int64_t growth_bytes;
} top_site;

typedef struct top_look {
    int64_t time_ns;   /* of the latest event; NM_NO_TIME: there is none */
    int64_t growth_ns; /* how long growth took; 0: not known yet */
    uint64_t process_count, over_count;
    const top_heap *heaps; /* that have held something, as they were defined */
    size_t heap_count;
    const top_site
        *sites; /* that hold something, or have shrunk to nothing; no segment of a pool is in them; in no order */
    size_t site_count;
    uint64_t host_bytes; /* anonymous host memory of the processes that run, or of all where none does; 0: not told */
    int64_t host_growth_bytes;
    const nm_watch *watch;
} top_look;

nm_status top_model_new(top_model **out, nm_error *err);
void top_model_free(top_model *model); /* NULL is fine */

/* `native_depth`: as in nm_source_summary_data. */
nm_status top_model_take(top_model *model, const nm_record *record, uint64_t native_depth, nm_error *err);

/* Valid until the next record. */
nm_status top_model_look(top_model *model, uint64_t native_depth, top_look *out, nm_error *err);

#endif
