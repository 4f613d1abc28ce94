/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tables of the Ascend PyTorch Profiler and of msprof say, of one process, gathered row by row in any order: whoever reads
 * a table (CSV or a database) gives its rows here, in bytes and nanoseconds since 1970. When all is there it becomes the stream of
 * source/source.h.
 */
#ifndef NM_SOURCE_ASCEND_PROFILER_H
#define NM_SOURCE_ASCEND_PROFILER_H

#include "base/map.h"
#include "base/strings.h"
#include "source/ascend_profiler_pool.h"
#include "source/ascend_profiler_stacks.h"
#include "source/cell.h"
#include "source/source.h"

#define NM_ASCEND_PROFILER_NO_MEMORY                                                                                   \
    "this is of the Ascend PyTorch Profiler, and memory was not profiled: profile_memory was off"

typedef struct nm_ascend_profiler {
    nm_gathered *gathered;
    int64_t pid, rank;   /* NM_UNKNOWN_NUMBER: not known. The caller sets these three */
    uint64_t host, chip; /* strings of `gathered`; 0: not known */
    bool is_msprof;

    nm_map pool_of; /* (component, device and level) -> index */
    struct {
        nm_ascend_pool *items;
        size_t count, capacity;
    } pools;
    nm_map device_of; /* ordinal -> index */
    struct {
        int64_t *items;
        size_t count, capacity;
    } devices;
    nm_map thread_of; /* tid -> index */
    struct {
        int64_t *items;
        size_t count, capacity;
    } threads;
    struct {
        struct nm_ascend_sample *items;
        size_t count, capacity;
    } samples;
    struct {
        struct nm_ascend_step *items;
        size_t count, capacity;
    } steps;
    nm_map pool_at; /* (ns, allocated) -> index of the pool of which a record says that, + 1 */
    struct {
        struct nm_ascend_operator *items;
        size_t count, capacity;
    } operators;
    nm_ascend_stacks stacks;
    int64_t first_ns, last_ns;            /* of all that is told */
    int64_t spans_begin_ns, spans_end_ns; /* of steps of trace_view.json */
    uint64_t next_address, place;
    uint64_t uncertain_count; /* rows whose time has no digits left */
    uint64_t damaged_count;   /* rows that say nothing */
    bool has_record, has_operator, has_address, has_reserved, has_device;
    bool is_beside; /* a table was read that tells nothing by itself */
    bool is_cut;    /* a table ends within a row */
} nm_ascend_profiler;

/* Bytes, or NM_UNKNOWN_NUMBER. */
typedef struct nm_ascend_sums {
    int64_t allocated, reserved;
    bool is_rounded; /* the time has no digits left */
} nm_ascend_sums;

typedef struct nm_ascend_operator {
    uint64_t name; /* string of `gathered` */
    int64_t device;
    int64_t bytes;
    int64_t begin_ns, end_ns; /* NM_NO_TIME: live before, or after */
    nm_ascend_sums at_begin, at_end;
    int64_t at_end_ns; /* when at_end was so */
    uint64_t stack_id; /* set when all is there */
    bool is_graph;     /* of GE and not of PyTorch's pool, where no record tells */
} nm_ascend_operator;

/* When the pool counts a block no more: at the earlier of its release, and of the release of its memory. Each may be NM_NO_TIME. */
static inline int64_t nm_ascend_profiler_end(int64_t release_ns, int64_t active_ns)
{
    return release_ns == NM_NO_TIME || (active_ns != NM_NO_TIME && active_ns < release_ns) ? active_ns : release_ns;
}

typedef struct nm_ascend_block {
    nm_bytes component;
    uint64_t name, address;
    int64_t device, bytes, ns, tid;
    nm_ascend_sums after;
    bool is_end;
} nm_ascend_block;

nm_status nm_ascend_profiler_new(nm_ascend_profiler **out, nm_error *err);
void nm_ascend_profiler_free(nm_ascend_profiler *profiler); /* NULL is fine */

/* A pool's sums; of the component APP: what the process holds of the device. A sum of components (PTA+GE) is left out. */
nm_status nm_ascend_profiler_record(nm_ascend_profiler *profiler, nm_bytes component, int64_t device, int64_t ns,
                                    nm_ascend_sums sums, nm_error *err);
nm_status nm_ascend_profiler_operator(nm_ascend_profiler *profiler, const nm_ascend_operator *row, nm_error *err);

/* With an address. Operators of its component are the same blocks: they are left out. */
nm_status nm_ascend_profiler_block(nm_ascend_profiler *profiler, const nm_ascend_block *row, nm_error *err);
nm_status nm_ascend_profiler_module(nm_ascend_profiler *profiler, nm_bytes name, int64_t device, int64_t ns,
                                    int64_t bytes, nm_error *err);

/* What everybody holds of the device. */
nm_status nm_ascend_profiler_device(nm_ascend_profiler *profiler, int64_t device, int64_t ns, int64_t bytes,
                                    nm_error *err);
nm_status nm_ascend_profiler_call(nm_ascend_profiler *profiler, int64_t tid, int64_t begin_ns, int64_t end_ns,
                                  nm_bytes name, int64_t chain, nm_error *err);
nm_status nm_ascend_profiler_step(nm_ascend_profiler *profiler, int64_t number, int64_t ns, nm_error *err);

/* A step of trace_view.json. Where none of them lies within the times of the tables their clock is another: none is told, and that is noted.
 * `duration_ns` may be NM_NO_TIME. */
nm_status nm_ascend_profiler_span(nm_ascend_profiler *profiler, int64_t number, int64_t ns, int64_t duration_ns,
                                  nm_error *err);
nm_status nm_ascend_profiler_environment(nm_ascend_profiler *profiler, nm_bytes name, nm_bytes value, nm_error *err);

/* NM_ERR_FORMAT: nothing of memory is told. */
nm_status nm_ascend_profiler_finish(nm_ascend_profiler *profiler, nm_error *err);
nm_carries nm_ascend_profiler_carries(const nm_ascend_profiler *profiler); /* after it */

/* ---- Readers ---- */

/* trace_view.json of the same run: it says when steps began, and is of no use by itself. */
#define NM_ASCEND_TRACE_NAME "trace_view.json"
#define NM_ASCEND_PART_TRACE (NM_SOURCE_PART_BESIDE + 16)

/* nm_source_type.part. Of a file that is packed: what is inside. */
unsigned nm_ascend_csv_table(nm_bytes head);

/* `input` is at its start, and begins with `head`. */
nm_status nm_ascend_csv_read(nm_ascend_profiler *profiler, nm_input *input, nm_bytes head, nm_error *err);

extern const char *const nm_ascend_db_tables[]; /* that such a database has at least one of */
nm_status nm_ascend_db_read(nm_ascend_profiler *profiler, nm_foreign_tables *tables, nm_error *err);

#endif
