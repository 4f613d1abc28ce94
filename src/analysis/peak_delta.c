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
#include "analysis/peak_delta.h"

#include <stdlib.h>

#include "analysis/passes.h"
#include "base/buffer.h"
#include "replay/lookup.h"

#define HEAPS_MAX 64 /* that one run of an operation may touch: of a run that touches more nothing is claimed */
#define DEPTH_MAX 64

typedef struct delta {
    const nm_heap *heap;
    int64_t net_bytes;
    int64_t max_bytes; /* of net_bytes, 0 at the least */
} delta;

typedef struct
    deltas {      /* of one open operation, by heap: while it was the innermost; and of what has ended within it */
    delta *items; /* owned */
    size_t count, capacity;
    bool is_cut; /* there were more heaps */
    struct deltas *previous, *next;
} deltas;

typedef struct replay_room {
    deltas *first; /* owned: of all open operations that have some */
    struct {
        nm_operation_rise_row *items; /* owned */
        size_t count, capacity;
    } told; /* of the operation that ended last */
} replay_room;

typedef struct operation_room {
    deltas *of; /* NULL: it has touched no heap */
} operation_room;

static int64_t add_clamped(int64_t a, int64_t b)
{
    int64_t sum = 0;

    if (__builtin_add_overflow(a, b, &sum))
        return a < 0 ? INT64_MIN : INT64_MAX;
    return sum;
}

/* The heap's delta, made where it is missing; NULL: there are too many, or memory is out and *status says so. */
static delta *find_delta(deltas *of, const nm_heap *heap, nm_status *status, nm_error *err)
{
    for (size_t i = of->count; i > 0; i--)
        if (of->items[i - 1].heap == heap)
            return &of->items[i - 1];
    if (of->count == HEAPS_MAX) {
        of->is_cut = true;
        return NULL;
    }
    *status = nm_array_grow(&of->items, &of->capacity, of->count + 1, sizeof *of->items, err);
    if (*status != NM_OK)
        return NULL;
    of->items[of->count] = (delta){.heap = heap};
    return &of->items[of->count++];
}

/* `later` goes on where `into` stands. */
static nm_status fold(deltas *into, const deltas *later, nm_error *err)
{
    nm_status status = NM_OK;

    into->is_cut |= later->is_cut;
    for (size_t i = 0; i < later->count && status == NM_OK; i++) {
        const delta *from = &later->items[i];
        delta *to = find_delta(into, from->heap, &status, err);

        if (to == NULL)
            continue;
        int64_t max_bytes = add_clamped(to->net_bytes, from->max_bytes);
        to->max_bytes = max_bytes > to->max_bytes ? max_bytes : to->max_bytes;
        to->net_bytes = add_clamped(to->net_bytes, from->net_bytes);
    }
    return status;
}

/* Those of the operation, made where they are missing; NULL with *err filled when memory is out. */
static deltas *deltas_of(const nm_run *run, const nm_operation *operation, nm_error *err)
{
    replay_room *all = nm_replay_room(run);
    operation_room *room = nm_operation_room(run, operation);

    if (room->of != NULL)
        return room->of;
    room->of = nm_replay_allocate(sizeof *room->of, err);
    if (room->of == NULL)
        return NULL;
    room->of->next = all->first;
    if (all->first != NULL)
        all->first->previous = room->of;
    all->first = room->of;
    return room->of;
}

static void free_deltas(replay_room *all, deltas *of)
{
    if (of->previous != NULL)
        of->previous->next = of->next;
    else
        all->first = of->next;
    if (of->next != NULL)
        of->next->previous = of->previous;
    free(of->items);
    free(of);
}

/* The event that is being taken makes the heap so much larger, or smaller. */
static nm_status add(const nm_run *run, const nm_heap *heap, int64_t bytes, nm_error *err)
{
    const nm_operation *operation = run->replay->acting == NULL ? NULL : run->replay->acting->operations;
    nm_status status = NM_OK;
    deltas *of;
    delta *sum;

    if (operation == NULL)
        return NM_OK;
    of = deltas_of(run, operation, err);
    if (of == NULL)
        return NM_ERR_MEMORY;
    sum = find_delta(of, heap, &status, err);
    if (sum == NULL)
        return status;
    sum->net_bytes = add_clamped(sum->net_bytes, bytes);
    sum->max_bytes = sum->net_bytes > sum->max_bytes ? sum->net_bytes : sum->max_bytes;
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

static nm_status tell(const nm_run *run, const nm_operation *operation, const deltas *of, nm_error *err)
{
    replay_room *all = nm_replay_room(run);
    nm_status status = nm_array_grow(&all->told.items, &all->told.capacity, of->count, sizeof *all->told.items, err);

    for (size_t i = 0; i < of->count && status == NM_OK; i++) {
        const nm_heap *heap = of->items[i].heap;
        nm_operation_rise_row *row = &all->told.items[all->told.count++];

        *row = (nm_operation_rise_row){
            .heap_id = heap->id,
            .kind = operation->row.kind,
            .name = operation->row.name,
            .begin_seq = operation->row.begin_seq,
            .rise_bytes = (uint64_t)of->items[i].max_bytes,
            .is_doubtful = of->is_cut || is_doubtful(run->replay, heap->process, &operation->row),
        };
        status = nm_give_operation_rise(&run->replay->sink, row, err);
    }
    return status;
}

/* Those within it are open: what they have counted so far is its, too. */
static nm_status tell_around(const nm_run *run, const nm_operation *operation, nm_error *err)
{
    const nm_operation *inner = operation;
    deltas all = {0};
    nm_status status = NM_OK;

    for (int depth = 0; inner != NULL && depth <= DEPTH_MAX && status == NM_OK; depth++, inner = inner->inner) {
        const deltas *of = ((const operation_room *)nm_operation_room(run, inner))->of;

        if (of != NULL)
            status = fold(&all, of, err);
    }
    all.is_cut |= inner != NULL;
    if (status == NM_OK)
        status = tell(run, operation, &all, err);
    free(all.items);
    return status;
}

static nm_status end_operation(const nm_run *run, const nm_operation *operation, nm_error *err)
{
    replay_room *all = nm_replay_room(run);
    operation_room *room = nm_operation_room(run, operation);
    nm_status status = NM_OK;

    all->told.count = 0;
    if (operation->inner != NULL)
        status = tell_around(run, operation, err);
    else if (room->of != NULL)
        status = tell(run, operation, room->of, err);
    if (room->of == NULL)
        return status;
    if (status == NM_OK && operation->outer != NULL) {
        deltas *outer = deltas_of(run, operation->outer, err);

        status = outer == NULL ? NM_ERR_MEMORY : fold(outer, room->of, err);
    }
    free_deltas(all, room->of);
    room->of = NULL;
    return status;
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

const nm_operation_rise_row *nm_peak_delta_rows(const nm_run *run, size_t *count)
{
    const replay_room *all = nm_replay_room(run);

    *count = all->told.count;
    return all->told.items;
}

static nm_status take_operation(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)change;
    (void)err;
    nm_run_hear(run, NM_CHANGE_BORN, true);
    nm_run_hear(run, NM_CHANGE_REMAINED, true);
    nm_run_hear(run, NM_CHANGE_REFUSED, true);
    nm_run_hear(run, NM_CHANGE_ENDING, true);
    return NM_OK;
}

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *live = change->live;

    return live->is_baseline || live->is_kept ? NM_OK : add(run, live->heap, (int64_t)live->row.size_bytes, err);
}

static nm_status take_return(nm_run *run, const nm_change *change, nm_error *err)
{
    return add(run, change->live->heap, (int64_t)change->live->row.size_bytes, err);
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    return add(run, change->live->heap, -(int64_t)change->live->row.size_bytes, err);
}

static nm_status take_operation_end(nm_run *run, const nm_change *change, nm_error *err)
{
    return end_operation(run, change->operation, err);
}

static void release(nm_run *run)
{
    replay_room *all = nm_replay_room(run);

    while (all->first != NULL)
        free_deltas(all, all->first);
    free(all->told.items);
}

const nm_pass nm_peak_delta_pass = {
    .name = "peak delta",
    .gives = {[NM_ROW_OPERATION_RISE] = true},
    .wants = {[NM_CHANGE_OPERATION_BEGUN] = take_operation,
              [NM_CHANGE_BORN] = take_birth,
              [NM_CHANGE_REMAINED] = take_return,
              [NM_CHANGE_REFUSED] = take_return,
              [NM_CHANGE_ENDING] = take_end,
              [NM_CHANGE_OPERATION_ENDED] = take_operation_end},
    .at_times = {[NM_CHANGE_BORN] = true, /* since there was an operation */
                 [NM_CHANGE_REMAINED] = true,
                 [NM_CHANGE_REFUSED] = true,
                 [NM_CHANGE_ENDING] = true},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room), [NM_OWNER_OPERATION] = sizeof(operation_room)},
    .release = release,
};
