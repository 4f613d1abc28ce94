/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks of blocks, from the calls that were open when they were taken. A row of an operator names no thread: it is that in which a call
 * of its name is open. Of a call whose own chain of callers is told, that is it, for it has whole paths.
 */
#ifndef NM_SOURCE_ASCEND_PROFILER_STACKS_H
#define NM_SOURCE_ASCEND_PROFILER_STACKS_H

#include "source/kineto_spans.h"

typedef struct nm_ascend_stacks { /* a zeroed one is empty, but for `gathered` of both */
    nm_kineto_spans spans;
    nm_kineto_spans chains; /* a thread is a chain, a time is a depth in it: all are open at 0 */
    struct {
        struct nm_ascend_call *items;
        size_t count, capacity;
    } calls;
    struct {
        struct nm_ascend_request *items;
        size_t count, capacity;
    } requests;
} nm_ascend_stacks;

/* `chain`: its callers, or -1: not told. */
nm_status nm_ascend_stacks_call(nm_ascend_stacks *stacks, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                                nm_bytes name, int64_t chain, nm_error *err);

/* One of a chain's frames; the innermost has depth 0. What is too deep is in no stack. */
nm_status nm_ascend_stacks_chain(nm_ascend_stacks *stacks, int64_t chain, int64_t depth, nm_bytes name, nm_error *err);

/* What was open when the operator `name` (string) took a block? `number` is the caller's. */
nm_status nm_ascend_stacks_ask(nm_ascend_stacks *stacks, uint64_t name, int64_t ns, uint64_t number, nm_error *err);

/* All calls and questions are there. *stack: what was open; 0: nothing, or the thread is not known. */
typedef void nm_ascend_answer(void *context, uint64_t number, uint64_t stack);
nm_status nm_ascend_stacks_answer(nm_ascend_stacks *stacks, nm_ascend_answer *answer, void *context, nm_error *err);
void nm_ascend_stacks_free(nm_ascend_stacks *stacks); /* leaves it empty */

#endif
