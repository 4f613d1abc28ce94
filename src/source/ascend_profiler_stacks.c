/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions are sorted by thread and time, as the spans want them.
 */
#include "source/ascend_profiler_stacks.h"

#include <stdlib.h>

#include "base/buffer.h"

#define CALLS_BACK_MAX 256 /* of one name that may have begun behind the one that is open, and ended */

typedef struct nm_ascend_call {
    uint64_t name; /* string */
    int64_t begin_ns, end_ns;
    uint32_t thread;
} call;

typedef struct nm_ascend_request {
    int64_t ns;
    uint64_t name, number;
    uint32_t thread;
} request;

nm_status nm_ascend_stacks_call(nm_ascend_stacks *stacks, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                                nm_bytes name, nm_error *err)
{
    call row = {.begin_ns = begin_ns, .end_ns = end_ns, .thread = thread};
    nm_status status = nm_kineto_spans_add(&stacks->spans, thread, begin_ns, end_ns, name, err);

    if (status == NM_OK)
        status = nm_gathered_string(stacks->spans.gathered, name, &row.name, err);
    if (status == NM_OK)
        status = nm_array_grow(&stacks->calls.items, &stacks->calls.capacity, stacks->calls.count + 1,
                               sizeof *stacks->calls.items, err);
    if (status == NM_OK)
        stacks->calls.items[stacks->calls.count++] = row;
    return status;
}

nm_status nm_ascend_stacks_ask(nm_ascend_stacks *stacks, uint64_t name, int64_t ns, uint64_t number, nm_error *err)
{
    nm_status status = nm_array_grow(&stacks->requests.items, &stacks->requests.capacity, stacks->requests.count + 1,
                                     sizeof *stacks->requests.items, err);

    if (status == NM_OK)
        stacks->requests.items[stacks->requests.count++] = (request){ns, name, number, 0};
    return status;
}

static int compare_calls(const void *left, const void *right)
{
    const call *a = left, *b = right;

    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    return (a->begin_ns > b->begin_ns) - (a->begin_ns < b->begin_ns);
}

static int compare_requests(const void *left, const void *right)
{
    const request *a = left, *b = right;

    if (a->thread != b->thread)
        return a->thread < b->thread ? -1 : 1;
    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* The last call of the name that is open; 0: none. */
static uint32_t thread_of(const nm_ascend_stacks *stacks, uint64_t name, int64_t ns)
{
    const call wanted = {.name = name, .begin_ns = ns};
    size_t low = 0, high = stacks->calls.count;

    while (low < high) { /* the first behind the time */
        size_t middle = low + (high - low) / 2;

        if (compare_calls(&stacks->calls.items[middle], &wanted) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t back = 0; back < CALLS_BACK_MAX && low > 0; back++) {
        const call *one = &stacks->calls.items[--low];

        if (one->name != name)
            return 0;
        if (one->end_ns >= ns)
            return one->thread;
    }
    return 0;
}

nm_status nm_ascend_stacks_answer(nm_ascend_stacks *stacks, nm_ascend_answer *answer, void *context, nm_error *err)
{
    nm_status status = NM_OK;

    if (stacks->calls.count == 0 || stacks->requests.count == 0)
        return NM_OK;
    qsort(stacks->calls.items, stacks->calls.count, sizeof *stacks->calls.items, compare_calls);
    for (size_t i = 0; i < stacks->requests.count; i++)
        stacks->requests.items[i].thread =
            thread_of(stacks, stacks->requests.items[i].name, stacks->requests.items[i].ns);
    qsort(stacks->requests.items, stacks->requests.count, sizeof *stacks->requests.items, compare_requests);
    nm_kineto_spans_sort(&stacks->spans);
    for (size_t i = 0; i < stacks->requests.count && status == NM_OK; i++) {
        const request *one = &stacks->requests.items[i];
        uint64_t stack = 0;

        if (one->thread != 0)
            status = nm_kineto_spans_stack(&stacks->spans, one->thread, one->ns, &stack, err);
        if (status == NM_OK)
            answer(context, one->number, stack);
    }
    return status;
}

void nm_ascend_stacks_free(nm_ascend_stacks *stacks)
{
    nm_kineto_spans_free(&stacks->spans);
    free(stacks->calls.items);
    free(stacks->requests.items);
    stacks->calls.items = NULL;
    stacks->requests.items = NULL;
    stacks->calls.count = stacks->calls.capacity = stacks->requests.count = stacks->requests.capacity = 0;
}
