/* SPDX-License-Identifier: Apache-2.0
 *
 * While a recording is paused the trace says nothing of births and ends, but the watch follows them. What the trace knew is
 * kept at the beginning of a pause, in order of allocation, and compared with what is live at its end: ends of what is gone
 * and births of what is new are then written as of that moment. Where there was no memory for the list, the caller learns
 * that nobody knows.
 */
#include "tool/record/live.h"

#include <stdlib.h>

#include "base/buffer.h"

typedef struct known_memory { /* as the trace knows it; enough to end it there */
    uint64_t allocation_id;   /* of the watch's replay: the same memory, the same number */
    uint64_t heap_id, address, size_bytes;
    bool is_mapped, is_pool;
} known_memory;

typedef struct live_memory { /* as it is */
    uint64_t allocation_id;
    nm_live_now now;
    bool is_new;
} live_memory;

typedef struct paused_process {
    uint64_t number;
    known_memory *known; /* owned; by allocation_id */
    size_t count;
    bool has_history; /* the trace holds something of its memory: what is put now did not come before all else */
} paused_process;

typedef struct live_list {
    live_memory *items; /* owned */
    size_t count, capacity;
    nm_status status;
} live_list;

struct record_live {
    nm_watch *watch;
    nm_pauser pauser;
    paused_process *processes; /* owned; those that are paused now */
    size_t count, capacity;
    bool is_putting;
};

static paused_process *find(record_live *live, uint64_t process)
{
    for (size_t i = 0; i < live->count; i++)
        if (live->processes[i].number == process)
            return &live->processes[i];
    return NULL;
}

/* ---- What is live -------------------------------------------------------------------------------------------------- */

static void add_live(void *context, const nm_live_now *now)
{
    live_list *list = context;

    if (list->status == NM_OK)
        list->status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items, NULL);
    if (list->status == NM_OK)
        list->items[list->count++] = (live_memory){.allocation_id = now->allocation_id, .now = *now};
}

static int compare_live(const void *a, const void *b)
{
    uint64_t left = ((const live_memory *)a)->allocation_id, right = ((const live_memory *)b)->allocation_id;

    return left < right ? -1 : left > right;
}

/* By allocation_id. NM_END: nobody knows. */
static nm_status list_live(const record_live *live, uint64_t process, live_list *out)
{
    *out = (live_list){0};
    if (nm_watch_has_failed(live->watch))
        return NM_END;
    nm_replay_each_live_of(nm_watch_replay(live->watch), process, add_live, out);
    if (out->count > 0)
        qsort(out->items, out->count, sizeof *out->items, compare_live);
    return out->status == NM_OK ? NM_OK : NM_END;
}

/* The trace knows it all now. */
static nm_status remember(paused_process *process, const live_list *list)
{
    known_memory *known = calloc(list->count + 1, sizeof *known);

    if (known == NULL)
        return NM_END;
    for (size_t i = 0; i < list->count; i++) {
        const nm_live_now *now = &list->items[i].now;
        nm_allocation_row row;

        nm_live_row_of(now->live, &row);
        known[i] = (known_memory){.allocation_id = row.allocation_id,
                                  .heap_id = row.heap_id,
                                  .address = row.address,
                                  .size_bytes = row.size_bytes,
                                  .is_mapped = now->is_mapped,
                                  .is_pool = now->is_pool};
    }
    free(process->known);
    process->known = known;
    process->count = list->count;
    return NM_OK;
}

/* ---- A pause begins and ends --------------------------------------------------------------------------------------- */

typedef struct heap_question {
    uint64_t process_id;
    bool is_answered;
} heap_question;

static void note_heap(void *context, const nm_heap_gauge *heap)
{
    heap_question *question = context;

    if (heap->process_id == question->process_id && (heap->allocation_count > 0 || heap->peak_bytes > 0))
        question->is_answered = true;
}

static nm_status begin(void *context, uint64_t number, nm_error *err)
{
    record_live *live = context;
    paused_process *process = find(live, number);
    heap_question question = {.process_id = number};
    live_list list;

    if (process == NULL) {
        if (nm_array_grow(&live->processes, &live->capacity, live->count + 1, sizeof *live->processes, err) != NM_OK)
            return NM_ERR_MEMORY;
        process = &live->processes[live->count++];
        *process = (paused_process){.number = number};
    }
    nm_replay_each_heap(nm_watch_replay(live->watch), note_heap, &question);
    process->has_history = question.is_answered;
    if (list_live(live, number, &list) == NM_OK)
        remember(process, &list);
    free(list.items);
    return NM_OK;
}

static void end(void *context, uint64_t number)
{
    record_live *live = context;
    paused_process *process = find(live, number);

    if (process == NULL)
        return;
    free(process->known);
    *process = live->processes[--live->count];
}

/* ---- The difference ------------------------------------------------------------------------------------------------ */

typedef struct put_order {
    nm_pause_put *put;
    void *context;
    nm_error *err;
} put_order;

static nm_status put_end(const put_order *order, const known_memory *known)
{
    nm_event event = {.kind = known->is_mapped ? NM_EVENT_UNMAP : NM_EVENT_FREE,
                      .flags = NM_FLAG_PAUSED,
                      .heap_id = known->heap_id,
                      .address = known->address,
                      .block_bytes = known->is_mapped ? known->size_bytes : 0};

    return order->put(order->context, &event, order->err);
}

static nm_status put_export(const put_order *order, const nm_allocation_row *row)
{
    nm_event event = {
        .kind = NM_EVENT_EXPORT, .flags = NM_FLAG_PAUSED, .thread_id = row->thread_id, .address = row->address};

    return order->put(order->context, &event, order->err);
}

static nm_status put_begin(const put_order *order, const nm_live_now *now, bool is_baseline)
{
    nm_allocation_row row;

    nm_live_row_of(now->live, &row);
    nm_event event = {.kind = now->is_mapped ? NM_EVENT_MAP : NM_EVENT_ALLOC,
                      .flags = is_baseline ? NM_FLAG_BASELINE : NM_FLAG_PAUSED,
                      .heap_id = row.heap_id,
                      .address = row.address,
                      .requested_bytes = now->is_mapped ? 0 : row.requested_bytes,
                      .block_bytes = now->is_mapped ? row.size_bytes : row.block_bytes,
                      .policy = now->is_pool ? row.private_pool : row.policy,
                      .stream = row.stream};
    nm_status status;

    if (row.has_stream)
        event.flags |= NM_FLAG_STREAM;
    if (row.is_segment && now->is_first_pools)
        event.flags |= NM_FLAG_SEGMENT;
    if (row.free_requested_seq != NM_NO_SEQ)
        event.flags |= NM_FLAG_PENDING;
    status = order->put(order->context, &event, order->err);
    return status == NM_OK && row.is_exported ? put_export(order, &row) : status;
}

/* What is in the list and was not known is new; of what is known, the dead are put in front of their array. Both are by
 * allocation_id. */
static size_t sort_out(paused_process *process, live_list *list)
{
    size_t at = 0, dead_count = 0;

    for (size_t i = 0; i < process->count; i++) {
        while (at < list->count && list->items[at].allocation_id < process->known[i].allocation_id)
            list->items[at++].is_new = true;
        if (at < list->count && list->items[at].allocation_id == process->known[i].allocation_id)
            at++;
        else
            process->known[dead_count++] = process->known[i];
    }
    while (at < list->count)
        list->items[at++].is_new = true;
    return dead_count;
}

/* Blocks die before the segment around them, and are born after it. */
static nm_status put_difference(const put_order *order, paused_process *process, live_list *list)
{
    size_t dead_count = sort_out(process, list);
    nm_status status = NM_OK;

    for (int is_pool = 1; is_pool >= 0; is_pool--)
        for (size_t i = 0; i < dead_count && status == NM_OK; i++)
            if (process->known[i].is_pool == (is_pool != 0))
                status = put_end(order, &process->known[i]);
    for (int is_pool = 0; is_pool <= 1; is_pool++)
        for (size_t i = 0; i < list->count && status == NM_OK; i++)
            if (list->items[i].is_new && list->items[i].now.is_pool == (is_pool != 0))
                status = put_begin(order, &list->items[i].now, !process->has_history);
    return status;
}

static nm_status catch_up(void *context, uint64_t number, nm_pause_put *put, void *put_context, nm_error *err)
{
    record_live *live = context;
    paused_process *process = find(live, number);
    put_order order = {put, put_context, err};
    live_list list = {0};
    nm_status status = process == NULL ? NM_END : list_live(live, number, &list);

    if (status == NM_OK && process->known == NULL) /* the memory for it was not there when the pause began */
        status = NM_END;
    if (status == NM_OK) {
        live->is_putting = true;
        status = put_difference(&order, process, &list);
        live->is_putting = false;
        process->has_history = true;
    }
    if (status == NM_OK)
        status = remember(process, &list);
    free(list.items);
    return status;
}

/* ---- All ----------------------------------------------------------------------------------------------------------- */

static void pass_on(void *context, const nm_record *record)
{
    nm_watch_take(((record_live *)context)->watch, record);
}

nm_status record_live_new(nm_watch *watch, record_live **out, nm_error *err)
{
    record_live *live = calloc(1, sizeof *live);

    *out = live;
    if (live == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    live->watch = watch;
    live->pauser = (nm_pauser){.context = live, .unwritten = pass_on, .begin = begin, .catch_up = catch_up, .end = end};
    return NM_OK;
}

void record_live_free(record_live *live)
{
    if (live == NULL)
        return;
    for (size_t i = 0; i < live->count; i++)
        free(live->processes[i].known);
    free(live->processes);
    free(live);
}

const nm_pauser *record_live_pauser(const record_live *live)
{
    return &live->pauser;
}

bool record_live_is_putting(const record_live *live)
{
    return live->is_putting;
}
