/* SPDX-License-Identifier: Apache-2.0
 *
 * Questions are sorted as the spans want them: by chain, then by thread and time.
 */
#include "source/ascend_profiler_stacks.h"

#include <stdlib.h>

#include "base/buffer.h"

#define CALLS_BACK_MAX 256 /* of one name that may have begun behind the one that is open, and ended */

typedef struct nm_ascend_call {
    uint64_t name; /* string */
    int64_t begin_ns, end_ns;
    uint32_t thread, chain; /* 0: it has none; else its number + 1 */
} call;

typedef struct nm_ascend_request {
    int64_t ns;
    uint64_t name, number, stack;
    uint32_t thread, chain;
} request;

static uint32_t number_of_chain(int64_t chain)
{
    return chain < 0 || chain >= UINT32_MAX ? 0 : (uint32_t)chain + 1;
}

nm_status nm_ascend_stacks_call(nm_ascend_stacks *stacks, uint32_t thread, int64_t begin_ns, int64_t end_ns,
                                nm_bytes name, int64_t chain, nm_error *err)
{
    call row = {.begin_ns = begin_ns, .end_ns = end_ns, .thread = thread, .chain = number_of_chain(chain)};
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

nm_status nm_ascend_stacks_chain(nm_ascend_stacks *stacks, int64_t chain, int64_t depth, nm_bytes name, nm_error *err)
{
    uint32_t number = number_of_chain(chain);

    return number == 0 || depth < 0 || depth >= NM_KINETO_DEPTH_MAX || name.len == 0
               ? NM_OK
               : nm_kineto_spans_add(&stacks->chains, number, -depth, depth, name, err);
}

nm_status nm_ascend_stacks_ask(nm_ascend_stacks *stacks, uint64_t name, int64_t ns, uint64_t number, nm_error *err)
{
    nm_status status = nm_array_grow(&stacks->requests.items, &stacks->requests.capacity, stacks->requests.count + 1,
                                     sizeof *stacks->requests.items, err);

    if (status == NM_OK)
        stacks->requests.items[stacks->requests.count++] = (request){.ns = ns, .name = name, .number = number};
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

static int compare_chains(const void *left, const void *right)
{
    const request *a = left, *b = right;

    return (a->chain > b->chain) - (a->chain < b->chain);
}

/* The last call of the name that is open; NULL: none. */
static const call *call_of(const nm_ascend_stacks *stacks, uint64_t name, int64_t ns)
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
            return NULL;
        if (one->end_ns >= ns)
            return one;
    }
    return NULL;
}

/* The chain of a call, and the call. */
static nm_status follow_chains(nm_ascend_stacks *stacks, nm_error *err)
{
    nm_gathered *gathered = stacks->spans.gathered;
    nm_status status = NM_OK;

    nm_kineto_spans_sort(&stacks->chains);
    qsort(stacks->requests.items, stacks->requests.count, sizeof *stacks->requests.items, compare_chains);
    for (size_t i = 0; i < stacks->requests.count && status == NM_OK; i++) {
        request *one = &stacks->requests.items[i];
        uint64_t frame = 0;

        if (one->chain != 0)
            status = nm_kineto_spans_stack(&stacks->chains, one->chain, 0, &one->stack, err);
        if (status != NM_OK || one->stack == 0)
            continue;
        status = nm_gathered_frame(gathered, one->name, 0, 0, &frame, err);
        if (status == NM_OK)
            status = nm_gathered_stack(gathered, one->stack, frame, &one->stack, err);
    }
    return status;
}

nm_status nm_ascend_stacks_answer(nm_ascend_stacks *stacks, nm_ascend_answer *answer, void *context, nm_error *err)
{
    nm_status status;

    if (stacks->calls.count == 0 || stacks->requests.count == 0)
        return NM_OK;
    qsort(stacks->calls.items, stacks->calls.count, sizeof *stacks->calls.items, compare_calls);
    for (size_t i = 0; i < stacks->requests.count; i++) {
        request *one = &stacks->requests.items[i];
        const call *found = call_of(stacks, one->name, one->ns);

        one->thread = found == NULL ? 0 : found->thread;
        one->chain = found == NULL ? 0 : found->chain;
    }
    status = follow_chains(stacks, err);
    qsort(stacks->requests.items, stacks->requests.count, sizeof *stacks->requests.items, compare_requests);
    nm_kineto_spans_sort(&stacks->spans);
    for (size_t i = 0; i < stacks->requests.count && status == NM_OK; i++) {
        request *one = &stacks->requests.items[i];

        if (one->thread != 0 && one->stack == 0)
            status = nm_kineto_spans_stack(&stacks->spans, one->thread, one->ns, &one->stack, err);
        if (status == NM_OK)
            answer(context, one->number, one->stack);
    }
    return status;
}

void nm_ascend_stacks_free(nm_ascend_stacks *stacks)
{
    nm_kineto_spans_free(&stacks->spans);
    nm_kineto_spans_free(&stacks->chains);
    free(stacks->calls.items);
    free(stacks->requests.items);
    stacks->calls.items = NULL;
    stacks->requests.items = NULL;
    stacks->calls.count = stacks->calls.capacity = stacks->requests.count = stacks->requests.capacity = 0;
}
