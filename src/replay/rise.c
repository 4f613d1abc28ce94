/* SPDX-License-Identifier: Apache-2.0
 *
 * How far the live bytes of each heap rose above what they were when an operation began. Counted is what the operation's
 * own thread does while it is open, in ranges within it too: its allocations, less all that it frees. So two threads do not
 * count each other's memory, and with one thread it is the rise of the heap itself.
 *
 * Only the innermost open operation of a thread counts; what it counted goes to the one around it when it ends. So an event
 * costs the same however deep ranges lie in each other. An operation that ends before those within it takes in what they
 * have counted so far, of the nearest DEPTH_MAX.
 */
#include "replay/rise.h"

#include <stdlib.h>

#include "replay/names.h"

#define HEAPS_MAX 64 /* that one run of an operation may touch: of a run that touches more nothing is claimed */
#define DEPTH_MAX 64

struct nm_rise {
    nm_heap *heap;
    int64_t net_bytes;
    int64_t max_bytes; /* of net_bytes, 0 at the least */
};

static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum = 0;

    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* The heap's rise, made where it is missing; NULL: there are too many, or memory is out and *status says so. */
static nm_rise *find_rise(nm_rises *rises, nm_heap *heap, nm_status *status, nm_error *err)
{
    for (size_t i = rises->count; i > 0; i--)
        if (rises->items[i - 1].heap == heap)
            return &rises->items[i - 1];
    if (rises->count == HEAPS_MAX) {
        rises->is_cut = true;
        return NULL;
    }
    *status = nm_array_grow(&rises->items, &rises->capacity, rises->count + 1, sizeof *rises->items, err);
    if (*status != NM_OK)
        return NULL;
    rises->items[rises->count] = (nm_rise){.heap = heap};
    return &rises->items[rises->count++];
}

/* `later` goes on where `into` stands. */
static nm_status fold(nm_rises *into, const nm_rises *later, nm_error *err)
{
    nm_status status = NM_OK;

    into->is_cut |= later->is_cut;
    for (size_t i = 0; i < later->count && status == NM_OK; i++) {
        const nm_rise *from = &later->items[i];
        nm_rise *to = find_rise(into, from->heap, &status, err);

        if (to == NULL)
            continue;
        int64_t max_bytes = add_clamped(to->net_bytes, from->max_bytes);
        to->max_bytes = max_bytes > to->max_bytes ? max_bytes : to->max_bytes;
        to->net_bytes = add_clamped(to->net_bytes, from->net_bytes);
    }
    return status;
}

nm_status nm_rise_change(nm_replay *replay, nm_heap *heap, int64_t bytes, nm_error *err)
{
    nm_operation *operation = replay->acting == NULL ? NULL : replay->acting->operations;
    nm_status status = NM_OK;

    if (operation == NULL)
        return NM_OK;
    nm_rise *rise = find_rise(&operation->rises, heap, &status, err);
    if (rise == NULL)
        return status;
    rise->net_bytes = add_clamped(rise->net_bytes, bytes);
    rise->max_bytes = rise->net_bytes > rise->max_bytes ? rise->net_bytes : rise->max_bytes;
    return NM_OK;
}

/* May events of the run be missing? */
static bool is_doubtful(const nm_replay *replay, const nm_process *process, const nm_operation_row *row)
{
    bool has_time = row->begin_ns != NM_NO_TIME;

    if (process->has_loss &&
        (process->loss_seq >= row->begin_seq || (has_time && process->loss_until_ns >= row->begin_ns)))
        return true;
    return replay->has_loss &&
           (replay->loss_seq >= row->begin_seq || (has_time && replay->loss_until_ns >= row->begin_ns));
}

static nm_status tell(nm_replay *replay, const nm_operation *operation, const nm_rises *rises, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < rises->count && status == NM_OK; i++) {
        nm_heap *heap = rises->items[i].heap;
        nm_operation_rise_row row = {
            .heap_id = heap->id,
            .kind = operation->row.kind,
            .name = operation->row.name,
            .begin_seq = operation->row.begin_seq,
            .rise_bytes = (uint64_t)rises->items[i].max_bytes,
            .is_doubtful = rises->is_cut || is_doubtful(replay, heap->process, &operation->row),
        };

        status = nm_names_rise(heap, &row, err);
        if (status == NM_OK)
            status = nm_give_operation_rise(&replay->sink, &row, err);
    }
    return status;
}

/* Those within it are open: what they have counted so far is its, too. */
static nm_status tell_around(nm_replay *replay, const nm_operation *operation, nm_error *err)
{
    const nm_operation *inner = operation->inner;
    nm_rises all = {0};
    nm_status status = fold(&all, &operation->rises, err);

    for (int depth = 0; inner != NULL && depth < DEPTH_MAX && status == NM_OK; depth++, inner = inner->inner)
        status = fold(&all, &inner->rises, err);
    all.is_cut |= inner != NULL;
    if (status == NM_OK)
        status = tell(replay, operation, &all, err);
    free(all.items);
    return status;
}

nm_status nm_rise_end(nm_replay *replay, nm_operation *operation, nm_error *err)
{
    nm_status status = operation->inner == NULL ? tell(replay, operation, &operation->rises, err)
                                                : tell_around(replay, operation, err);

    if (status == NM_OK && operation->outer != NULL)
        status = fold(&operation->outer->rises, &operation->rises, err);
    return status;
}

void nm_rise_free(nm_operation *operation)
{
    free(operation->rises.items);
    operation->rises = (nm_rises){0};
}
