/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks from spans: a thread's spans (a function of Python, an operator) that are open at a time, the outermost first.
 */
#ifndef NM_SOURCE_KINETO_SPANS_H
#define NM_SOURCE_KINETO_SPANS_H

#include "source/gathered.h"

#define NM_KINETO_DEPTH_MAX 1024 /* spans in spans: what is deeper is in no stack */

typedef struct nm_kineto_span {
    int64_t begin_ns, end_ns; /* inclusive */
    uint32_t thread, frame;   /* the caller's number; of `gathered` */
    uint32_t place;           /* in the file */
} nm_kineto_span;

typedef struct nm_kineto_open {
    int64_t end_ns;
    uint64_t stack;
} nm_kineto_open;

typedef struct nm_kineto_spans { /* a zeroed one is empty */
    nm_gathered *gathered;       /* borrowed: frames and stacks go there */
    struct {
        nm_kineto_span *items;
        size_t count, capacity;
    } list;
    size_t at; /* the next that opens */
    uint32_t thread;
    nm_kineto_open open[NM_KINETO_DEPTH_MAX];
    size_t open_count;
} nm_kineto_spans;

/* `name` is torch.profiler's: "file(line): function", or what an operator is called. */
nm_status nm_kineto_spans_add(nm_kineto_spans *spans, uint32_t thread, int64_t begin_ns, int64_t end_ns, nm_bytes name,
                              nm_error *err);

/* All are there. */
void nm_kineto_spans_sort(nm_kineto_spans *spans);

/* The stack of what is open; 0: nothing. Asked after the sort, in order of thread and time. */
nm_status nm_kineto_spans_stack(nm_kineto_spans *spans, uint32_t thread, int64_t time_ns, uint64_t *stack,
                                nm_error *err);

void nm_kineto_spans_free(nm_kineto_spans *spans); /* leaves it empty */

#endif
