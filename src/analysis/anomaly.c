/* SPDX-License-Identifier: Apache-2.0
 *
 * Invalid frees, requests of nothing, addresses handed out twice, and what rows of misuse of all kinds share. Where the stream has holes, or an
 * event's place in it is not certain, what looks like misuse may be none, so nothing is said; and neither of what may
 * have changed in a pause of which nothing is known.
 */
#include "analysis/anomaly.h"

#include "analysis/free_history.h"
#include "analysis/passes.h"
#include "replay/doubt.h"
#include "replay/lookup.h"

enum { NEED_FREE_HISTORY };

typedef struct replay_room {
    uint64_t anomaly_count;     /* rows of all passes */
    uint64_t unseen_free_count; /* frees of what may have been allocated unseen */
} replay_room;

nm_status nm_anomaly_write(nm_run *run, nm_anomaly_row *row, nm_error *err)
{
    replay_room *room = nm_replay_room(run);

    row->anomaly_id = ++room->anomaly_count;
    return nm_give_anomaly(&run->replay->sink, row, err);
}

nm_anomaly_row nm_anomaly_row_for(nm_anomaly_kind kind, const nm_context *context)
{
    return (nm_anomaly_row){
        .kind = kind,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .seq = context->seq,
        .ns = context->event->time_ns,
        .heap_id = context->heap == NULL ? 0 : context->heap->id,
        .address = context->event->address,
        .stack_id = context->stack_id,
    };
}

/* ---- Frees ------------------------------------------------------------------------------------------------------- */

/* Is what ended at the place last what this free would have meant? */
static bool was_freed(const nm_replay *replay, const nm_context *context, const nm_place *place)
{
    const nm_heap *heap;

    if (place == NULL || place->past == NULL || place->past->allocation_id == 0 ||
        nm_doubt_may_have_changed(context->process, place->freed_seq))
        return false;
    if (context->heap != NULL)
        return place->past->heap_id == context->heap->id;
    heap = nm_replay_heap(replay, place->past->heap_id);
    return heap != NULL && nm_free_misfit(heap->level, context->event->detail) < NM_MISFIT_NEVER;
}

static const nm_live *holder_in(const nm_tree *space, uint64_t address)
{
    const nm_tree_node *node = nm_tree_holding(space, address);

    return node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
}

/* The live memory around the address that the call would free if it began there. */
static const nm_live *find_around(const nm_context *context, uint64_t free_call)
{
    const nm_process *process = context->process;
    uint64_t address = context->event->address;
    const nm_live *live = NULL;

    if (context->heap != NULL)
        return holder_in(context->heap->space, address);
    if (free_call == NM_FREE_REGISTERED)
        return holder_in(&process->registered_ranges, address);
    if (free_call == NM_FREE_POOL)
        for (const nm_heap *heap = process->heaps; heap != NULL && live == NULL; heap = heap->next_of_process)
            live = nm_is_pool(heap) ? holder_in(&heap->blocks, address) : NULL;
    if (free_call == NM_FREE_ANY || free_call == NM_FREE_DEVICE)
        for (const nm_arena *arena = process->arenas; arena != NULL && live == NULL; arena = arena->next)
            live = holder_in(&arena->ranges, address);
    return live != NULL || (free_call != NM_FREE_ANY && free_call != NM_FREE_HOST)
               ? live
               : holder_in(&process->host_ranges, address);
}

static void set_other(nm_anomaly_row *row, const nm_live *live, const char *detail)
{
    row->heap_id = live->heap->id;
    row->allocation_id = live->row.allocation_id;
    row->other_stack_id = nm_live_stack(live);
    row->detail = detail;
}

static void set_freed(nm_anomaly_row *row, const nm_freed *freed, const char *detail)
{
    row->heap_id = freed->heap_id;
    row->allocation_id = freed->allocation_id;
    row->other_stack_id = freed->stack_id;
    row->detail = detail;
}

/* What is at an address that cannot be freed, or was: whose site is the other half. */
static nm_status explain(nm_run *run, const nm_context *context, nm_anomaly_row *row, nm_error *err)
{
    uint64_t free_call = context->event->detail;
    bool is_unregister = row->kind == NM_ANOMALY_UNREGISTER_UNKNOWN;
    const nm_live *live = find_around(context, free_call);
    bool is_pool = free_call == NM_FREE_POOL || (context->heap != NULL && nm_is_pool(context->heap));
    const nm_freed *freed = NULL;
    nm_status status = NM_OK;

    if (live != NULL) {
        set_other(row, live,
                  is_unregister ? "inside a registered range, not at its begin"
                                : "inside an allocation, not at its begin");
        return NM_OK;
    }
    live = is_unregister ? holder_in(&context->process->host_ranges, context->event->address) : NULL;
    if (live != NULL)
        set_other(row, live, "allocated, but not registered");
    else if (is_pool || free_call == NM_FREE_ANY || free_call == NM_FREE_DEVICE)
        status =
            nm_free_history_find(run->needs[NEED_FREE_HISTORY], context->process,
                                 is_pool ? NM_FREED_IN_POOL : NM_FREED_IN_DRIVER, context->event->address, &freed, err);
    if (freed != NULL && (context->heap == NULL || context->heap->id == freed->heap_id)) {
        set_freed(row, freed, "inside memory that is freed");
        if (freed->address == context->event->address) { /* something else has ended there since */
            row->kind = NM_ANOMALY_DOUBLE_FREE;
            row->detail = NULL;
        }
    }
    return status;
}

static nm_status check_unknown_free(nm_run *run, const nm_context *context, const nm_place *place, nm_error *err)
{
    nm_anomaly_row row = nm_anomaly_row_for(NM_ANOMALY_FREE_UNKNOWN, context);
    nm_status status = NM_OK;

    if (nm_doubt_of_event(run->replay, context) || (context->event->flags & NM_FLAG_DRIVER) != 0)
        return NM_OK;
    if (was_freed(run->replay, context, place)) {
        row.kind = NM_ANOMALY_DOUBLE_FREE;
        row.heap_id = place->past->heap_id;
        row.allocation_id = place->past->allocation_id;
        row.other_stack_id = place->past->stack_id;
    } else if (nm_doubt_has_unseen_memory(context->process)) {
        ((replay_room *)nm_replay_room(run))->unseen_free_count++;
        return NM_OK;
    } else if (context->event->detail == NM_FREE_REGISTERED) {
        row.kind = NM_ANOMALY_UNREGISTER_UNKNOWN;
    }
    if (row.kind != NM_ANOMALY_DOUBLE_FREE)
        status = explain(run, context, &row, err);
    return status == NM_OK ? nm_anomaly_write(run, &row, err) : status;
}

/* Is memory of the host freed by a call for that of the device, or the other way round? */
static nm_status check_wrong_free(nm_run *run, const nm_context *context, const nm_live *live, nm_error *err)
{
    nm_anomaly_row row;
    bool is_host = live->heap->level == NM_LEVEL_PINNED || live->heap->level == NM_LEVEL_HOST ||
                   live->heap->level == NM_LEVEL_REGISTERED;
    bool is_wrong = (context->event->detail == NM_FREE_DEVICE && is_host) ||
                    (context->event->detail == NM_FREE_HOST && live->heap->level == NM_LEVEL_DRIVER);

    if (!is_wrong || nm_doubt_of_event(run->replay, context) || nm_doubt_may_have_gone(live))
        return NM_OK;
    row = nm_anomaly_row_for(NM_ANOMALY_WRONG_FREE, context);
    row.size_bytes = live->row.size_bytes;
    set_other(&row, live, is_host ? "host memory freed as device memory" : "device memory freed as host memory");
    return nm_anomaly_write(run, &row, err);
}

/* Memory that is there and cannot be unmapped by this address, or who unmapped it before. */
static nm_status explain_unmap(nm_run *run, const nm_context *context, nm_anomaly_row *row, nm_error *err)
{
    const nm_live *live = context->process == NULL ? NULL : find_around(context, NM_FREE_DEVICE);
    const nm_freed *freed = NULL;
    nm_status status = NM_OK;

    if (live != NULL)
        set_other(row, live, live->is_mapped ? "inside a mapping, not at its begin" : "allocated, but not mapped");
    else if (context->process != NULL)
        status = nm_free_history_find(run->needs[NEED_FREE_HISTORY], context->process, NM_FREED_IN_DRIVER,
                                      context->event->address, &freed, err);
    if (freed != NULL)
        set_freed(row, freed, "unmapped or freed before");
    return status;
}

static nm_status check_unknown_unmap(nm_run *run, const nm_context *context, nm_error *err)
{
    nm_anomaly_row row = nm_anomaly_row_for(NM_ANOMALY_UNMAP_UNKNOWN, context);
    nm_status status;

    if (nm_doubt_of_event(run->replay, context) || (context->event->flags & NM_FLAG_DRIVER) != 0)
        return NM_OK;
    if (nm_doubt_has_unseen_memory(context->process)) {
        ((replay_room *)nm_replay_room(run))->unseen_free_count++;
        return NM_OK;
    }
    row.size_bytes = context->event->block_bytes;
    status = explain_unmap(run, context, &row, err);
    return status == NM_OK ? nm_anomaly_write(run, &row, err) : status;
}

static nm_status check_replaced(nm_run *run, const nm_replaced *replaced, nm_error *err)
{
    const nm_live *old = replaced->old;
    nm_anomaly_row row = {
        .kind = NM_ANOMALY_OVERLAP,
        .process_id = old->heap->process->id,
        .thread_id = replaced->new_thread_id,
        .seq = replaced->seq,
        .ns = replaced->ns,
        .heap_id = old->heap->id,
        .address = nm_live_address(old),
        .size_bytes = old->row.size_bytes,
        .allocation_id = replaced->new_allocation_id,
        .stack_id = replaced->new_stack_id,
        .other_stack_id = nm_live_stack(old),
        .detail = "begins where a live allocation does",
    };

    if (replaced->is_late || old->is_late || nm_doubt_has_loss(run->replay, old->heap->process))
        return NM_OK;
    return nm_anomaly_write(run, &row, err);
}

static nm_status check_zero_size(nm_run *run, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_anomaly_row row = nm_anomaly_row_for(NM_ANOMALY_ZERO_SIZE, context);
    bool is_told =
        context->heap != NULL && (context->heap->level == NM_LEVEL_DRIVER || context->heap->level == NM_LEVEL_PINNED);

    /* Pools and modules may not say what was asked of them, and what is left unsaid is 0, too. */
    if (!is_told || context->heap->module_id != 0 || event->requested_bytes != 0 || event->block_bytes != 0 ||
        event->kind == NM_EVENT_MAP || nm_doubt_of_event(run->replay, context) ||
        (event->flags & (NM_FLAG_BASELINE | NM_FLAG_PAUSED | NM_FLAG_TOTAL | NM_FLAG_SEGMENT | NM_FLAG_DRIVER)) != 0)
        return NM_OK;
    row.detail = event->kind == NM_EVENT_ALLOC_FAILED ? "the request was refused" : NULL;
    return nm_anomaly_write(run, &row, err);
}

/* ---- The pass ---------------------------------------------------------------------------------------------------- */

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *live = change->live;

    return live->row.size_bytes == 0 && !live->is_kept ? check_zero_size(run, change->context, err) : NM_OK;
}

static nm_status take_failure(nm_run *run, const nm_change *change, nm_error *err)
{
    bool is_request = change->context->event->kind == NM_EVENT_ALLOC_FAILED;

    return is_request ? check_zero_size(run, change->context, err) : NM_OK;
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    bool is_free = change->context->event->kind == NM_EVENT_FREE;

    return is_free ? check_wrong_free(run, change->context, change->live, err) : NM_OK;
}

static nm_status take_unknown_free(nm_run *run, const nm_change *change, nm_error *err)
{
    return check_unknown_free(run, change->context, change->place, err);
}

static nm_status take_unknown_unmap(nm_run *run, const nm_change *change, nm_error *err)
{
    return check_unknown_unmap(run, change->context, err);
}

static nm_status take_unexplained(nm_run *run, const nm_change *change, nm_error *err)
{
    return check_replaced(run, change->replaced, err);
}

static nm_status finish(nm_run *run, nm_error *err)
{
    const nm_replay *replay = run->replay;
    const replay_room *room = nm_replay_room(run);
    nm_baseline_row row = {.kind = replay->has_pause ? NM_BASELINE_KNOWN : NM_BASELINE_NONE,
                           .unseen_free_count = room->unseen_free_count};

    for (const nm_heap *heap = replay->first_heap; heap != NULL; heap = heap->next)
        if (heap->total.baseline_count > 0)
            row.kind = NM_BASELINE_KNOWN;
    for (const nm_process *process = replay->first_process; process != NULL; process = process->next)
        if (process->is_late || process->has_unknown_pause)
            row.kind = NM_BASELINE_UNKNOWN;
    return nm_give_baseline(&replay->sink, &row, err);
}

static const nm_pass *const needs[] = {[NEED_FREE_HISTORY] = &nm_free_history_pass, NULL};

const nm_pass nm_anomaly_pass = {
    .name = "anomalies",
    .gives = {[NM_ROW_ANOMALY] = true, [NM_ROW_BASELINE] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_BORN] = take_birth,
              [NM_CHANGE_FAILED] = take_failure,
              [NM_CHANGE_ENDING] = take_end,
              [NM_CHANGE_UNKNOWN_FREED] = take_unknown_free,
              [NM_CHANGE_UNKNOWN_UNMAPPED] = take_unknown_unmap,
              [NM_CHANGE_UNEXPLAINED] = take_unexplained},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room)},
    .finish = finish,
};
