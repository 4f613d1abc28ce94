/* SPDX-License-Identifier: Apache-2.0
 *
 * What graphs hold. A capture begins and ends on a stream; what is born meanwhile is the graph's: memory that the capturing
 * thread allocates, that any thread allocates for that stream, and what a thread allocates that runs operators for others,
 * where there is but one capture. The addresses are written into the graph, so that all of it has to stay as long as the
 * program may execute the graph, and none of it is a leak before the graph is destroyed; from then on it is like any other.
 * Sums that tell growth (growth.c, floors.c, trends) leave out what graphs hold. A snapshot knows no graphs, but private pools:
 * what is in one is left out as well, for captured graphs have them.
 *
 * Where events were lost while a capture went on, its end may be among them: what comes then belongs to no graph.
 */
#include "replay/graph.h"

#include <stdlib.h>

#include "replay/live.h"
#include "replay/lookup.h"
#include "replay/pass.h"

#define STREAM_NOT_CAPTURED 107029 /* the end of a capture that never was */
#define CAPTURES_MAX        64     /* of a process at once: more are not followed */

struct nm_member {
    nm_live *live;
    nm_graph *graph;
    nm_member *previous, *next;
};

struct nm_graph { /* that lives, or whose capture goes on */
    nm_graph_row row;
    const nm_device *device; /* NULL: not known */
    uint64_t handle;         /* 0: not known yet */
    bool is_open;            /* its capture goes on, */
    bool is_cut;             /* and events were lost meanwhile */
    nm_member *first;
    nm_graph *previous, *next; /* of the process */
};

/* ---- Members ----------------------------------------------------------------------------------------------------- */

static bool is_captured(uint64_t level)
{
    return level == NM_LEVEL_DRIVER || level == NM_LEVEL_POOL || level == NM_LEVEL_WORKSPACE ||
           level == NM_LEVEL_PINNED || level == NM_LEVEL_PHYSICAL;
}

static bool is_of_capture(const nm_graph *graph, const nm_live *live, const nm_thread *thread, bool is_only)
{
    const nm_device *device = live->heap->device;
    bool is_of_thread = thread != NULL && (thread->id == graph->row.thread_id || (thread->is_queue && is_only));
    bool is_on_stream = live->row.has_stream && live->row.stream == graph->row.stream;

    if (graph->is_cut || (device != NULL && graph->device != NULL && device != graph->device))
        return false;
    return is_of_thread || is_on_stream;
}

nm_status nm_graph_claim(nm_replay *replay, nm_live *live, const nm_context *context, nm_error *err)
{
    const nm_process *process = context->process;
    const nm_thread *thread = context->thread;

    if (live->is_baseline || live->is_unseen || !is_captured(live->heap->level))
        return NM_OK;
    uint64_t left = process->capture_count;
    for (const nm_graph *graph = process->graphs; left > 0; graph = graph->next) {
        if (!graph->is_open)
            continue;
        left--;
        if (is_of_capture(graph, live, thread, process->capture_count == 1)) {
            nm_status status = nm_live_make_more(replay, live, err);
            if (status == NM_OK)
                live->more->graph_id = graph->row.graph_id;
            return status;
        }
    }
    return NM_OK;
}

nm_status nm_graph_hold(nm_replay *replay, nm_live *live, nm_error *err)
{
    uint64_t graph_id = nm_live_more_of(live)->graph_id;
    const uint64_t *known = graph_id == 0 ? NULL : nm_map_get(&replay->graphs, (nm_key){0, graph_id});
    nm_graph *graph = known == NULL ? NULL : (nm_graph *)(uintptr_t)*known;
    nm_member *member;

    if (graph == NULL)
        return NM_OK;
    member = nm_replay_allocate(sizeof *member, err);
    if (member == NULL)
        return NM_ERR_MEMORY;
    *member = (nm_member){.live = live, .graph = graph, .next = graph->first};
    if (graph->first != NULL)
        graph->first->previous = member;
    graph->first = member;
    live->more->member = member;
    return NM_OK;
}

void nm_graph_leave(nm_live *live)
{
    nm_member *member = nm_live_more_of(live)->member;

    if (member == NULL)
        return;
    if (member->previous != NULL)
        member->previous->next = member->next;
    else
        member->graph->first = member->next;
    if (member->next != NULL)
        member->next->previous = member->previous;
    live->more->member = NULL;
    free(member);
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

static uint64_t *sum_of(nm_graph *graph, const nm_heap *heap)
{
    return nm_is_pool(heap)                   ? &graph->row.block_bytes
           : heap->level == NM_LEVEL_DRIVER   ? &graph->row.driver_bytes
           : heap->level == NM_LEVEL_PHYSICAL ? NULL /* counted where it is mapped */
                                              : &graph->row.host_bytes;
}

void nm_graph_add(nm_live *live)
{
    nm_heap *heap = live->heap;
    const nm_member *member = nm_live_more_of(live)->member;
    uint64_t *sum = member == NULL ? NULL : sum_of(member->graph, heap);

    live->is_held = member != NULL || (nm_live_private_pool(live) != 0 && heap->replay->first_thread == NULL);
    if (!live->is_held)
        return;
    if (sum != NULL)
        nm_sum_add(sum, live->row.size_bytes);
    nm_sum_add(&live->site->graph_bytes, live->row.size_bytes);
    live->site->graph_count++;
    nm_sum_add(&heap->graph_bytes, live->row.size_bytes);
    if (heap->graph_bytes > heap->step_base.graph_bytes)
        heap->step_base.graph_bytes = heap->graph_bytes;
}

void nm_graph_subtract(nm_live *live)
{
    nm_heap *heap = live->heap;
    const nm_member *member = nm_live_more_of(live)->member;
    uint64_t *sum = member == NULL ? NULL : sum_of(member->graph, heap);

    if (!live->is_held)
        return;
    live->is_held = false;
    if (sum != NULL)
        *sum = nm_subtract_saturated(*sum, live->row.size_bytes);
    live->site->graph_bytes = nm_subtract_saturated(live->site->graph_bytes, live->row.size_bytes);
    live->site->graph_count--;
    heap->graph_bytes = nm_subtract_saturated(heap->graph_bytes, live->row.size_bytes);
}

void nm_graph_reserve(const nm_live *range, uint64_t more_bytes, uint64_t less_bytes)
{
    nm_heap *pool = nm_live_owner(range);

    if (nm_live_more_of(range)->member == NULL || pool == NULL)
        return;
    pool->graph_reserved_bytes =
        nm_subtract_saturated(nm_add_saturated(pool->graph_reserved_bytes, more_bytes), less_bytes);
    if (pool->graph_reserved_bytes > pool->step_base.graph_reserved_bytes)
        pool->step_base.graph_reserved_bytes = pool->graph_reserved_bytes;
}

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

static nm_graph *find_by_handle(const nm_replay *replay, const nm_process *process, uint64_t handle)
{
    const uint64_t *known = handle == 0 ? NULL : nm_map_get(&replay->graphs, (nm_key){process->id, handle});

    return known == NULL ? NULL : (nm_graph *)(uintptr_t)*known;
}

static nm_graph *find_capture(const nm_process *process, uint64_t stream)
{
    uint64_t left = process->capture_count;

    for (nm_graph *graph = process->graphs; left > 0; graph = graph->next) {
        if (graph->is_open && graph->row.stream == stream)
            return graph;
        left -= graph->is_open;
    }
    return NULL;
}

/* What it holds is like any other from now on. */
static nm_status let_go(nm_replay *replay, nm_graph *graph, nm_error *err)
{
    nm_status status = NM_OK;

    while (graph->first != NULL && status == NM_OK) {
        nm_live *live = graph->first->live;
        nm_site *site = live->site;
        uint64_t before_bytes = nm_site_own_bytes(site);

        nm_graph_reserve(live, 0, live->node.value - live->node.key);
        nm_graph_subtract(live);
        nm_graph_leave(live);
        status = NM_TELL(replay, NM_CHANGE_SITE, err, .heap = live->heap, .site = site, .before_bytes = before_bytes);
    }
    return status;
}

static void close_capture(nm_process *process, nm_graph *graph)
{
    process->capture_count -= graph->is_open;
    graph->is_open = false;
}

static void forget(nm_replay *replay, nm_process *process, nm_graph *graph)
{
    close_capture(process, graph);
    nm_map_remove(&replay->graphs, (nm_key){0, graph->row.graph_id}, NULL);
    if (graph->handle != 0)
        nm_map_remove(&replay->graphs, (nm_key){process->id, graph->handle}, NULL);
    if (graph->previous != NULL)
        graph->previous->next = graph->next;
    else
        process->graphs = graph->next;
    if (graph->next != NULL)
        graph->next->previous = graph->previous;
    free(graph);
}

static nm_status end_graph(nm_replay *replay, nm_process *process, nm_graph *graph, nm_graph_end end_kind,
                           const nm_context *context, nm_error *err)
{
    nm_graph_row row = graph->row;

    row.end_kind = end_kind;
    row.destroyed_seq = context->seq;
    row.destroyed_ns = context->event->time_ns;
    nm_status status = let_go(replay, graph, err);
    if (status != NM_OK)
        return status;
    forget(replay, process, graph);
    return nm_give_graph(&replay->sink, &row, err);
}

/* One that had the handle before was destroyed, and that was not seen. */
static nm_status name_graph(nm_replay *replay, nm_graph *graph, const nm_context *context, nm_error *err)
{
    uint64_t handle = (uint64_t)context->event->number;
    nm_graph *old = find_by_handle(replay, context->process, handle);
    nm_status status = NM_OK;

    if (handle == 0 || old == graph)
        return NM_OK;
    if (old != NULL)
        status = end_graph(replay, context->process, old, NM_GRAPH_DESTROYED, context, err);
    if (status == NM_OK)
        status = nm_map_put(&replay->graphs, (nm_key){context->process->id, handle}, (uintptr_t)graph, err);
    if (status == NM_OK)
        graph->handle = handle;
    return status;
}

static nm_status add_graph(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_process *process = context->process;
    nm_graph *graph = nm_replay_allocate(sizeof *graph, err);

    if (graph == NULL)
        return NM_ERR_MEMORY;
    graph->device = nm_replay_device(replay, event->device_id);
    graph->row = (nm_graph_row){
        .graph_id = ++replay->graph_count,
        .process_id = process->id,
        .device_id = graph->device == NULL ? 0 : event->device_id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .stack_id = context->stack_id,
        .begin_seq = context->seq,
        .begin_ns = event->time_ns,
        .end_seq = NM_NO_SEQ,
        .end_ns = NM_NO_TIME,
        .destroyed_seq = NM_NO_SEQ,
        .destroyed_ns = NM_NO_TIME,
        .last_execute_seq = NM_NO_SEQ,
    };
    if (nm_map_put(&replay->graphs, (nm_key){0, graph->row.graph_id}, (uintptr_t)graph, err) != NM_OK) {
        free(graph);
        return NM_ERR_MEMORY;
    }
    graph->next = process->graphs;
    if (graph->next != NULL)
        graph->next->previous = graph;
    process->graphs = graph;
    return name_graph(replay, graph, context, err);
}

/* ---- Calls ------------------------------------------------------------------------------------------------------- */

static nm_status begin_capture(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_process *process = context->process;
    nm_graph *lost = find_capture(process, context->event->stream);
    nm_graph *graph = find_by_handle(replay, process, (uint64_t)context->event->number);
    nm_status status = NM_OK;

    if (lost != NULL) /* its end was not seen, so that nobody knows by what name it lives on */
        close_capture(process, lost);
    if (process->capture_count >= CAPTURES_MAX)
        return NM_OK;
    if (graph == NULL) {
        status = add_graph(replay, context, err);
        graph = process->graphs;
    }
    if (status != NM_OK)
        return status;
    graph->row.stream = context->event->stream;
    graph->row.thread_id = context->thread == NULL ? 0 : context->thread->id;
    process->capture_count += !graph->is_open;
    graph->is_open = true;
    graph->is_cut = false;
    return NM_OK;
}

static nm_status end_capture(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_graph *graph = find_capture(context->process, event->stream);

    if (graph == NULL || event->error_code == STREAM_NOT_CAPTURED)
        return NM_OK;
    close_capture(context->process, graph);
    graph->row.end_seq = context->seq;
    graph->row.end_ns = event->time_ns;
    if (event->error_code != 0 && graph->handle == 0)
        return end_graph(replay, context->process, graph, NM_GRAPH_FAILED, context, err);
    return name_graph(replay, graph, context, err);
}

nm_status nm_graph_call(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_graph *graph;

    if (context->process == NULL || event->detail < NM_STREAM_CAPTURE_BEGIN ||
        (event->error_code != 0 && event->detail != NM_STREAM_CAPTURE_END))
        return NM_OK;
    if (event->detail == NM_STREAM_CAPTURE_BEGIN)
        return begin_capture(replay, context, err);
    if (event->detail == NM_STREAM_CAPTURE_END)
        return end_capture(replay, context, err);
    graph = find_by_handle(replay, context->process, (uint64_t)event->number);
    if (graph == NULL)
        return NM_OK;
    if (event->detail == NM_STREAM_GRAPH_DESTROY)
        return end_graph(replay, context->process, graph, NM_GRAPH_DESTROYED, context, err);
    if (event->detail == NM_STREAM_GRAPH_EXECUTE) {
        graph->row.execute_count++;
        graph->row.last_execute_seq = context->seq;
    }
    return NM_OK;
}

/* ---- Ends -------------------------------------------------------------------------------------------------------- */

void nm_graphs_lose(const nm_process *process)
{
    uint64_t left = process->capture_count;

    for (nm_graph *graph = process->graphs; left > 0; graph = graph->next) {
        graph->is_cut |= graph->is_open;
        left -= graph->is_open;
    }
}

nm_status nm_graphs_reset(nm_replay *replay, nm_process *process, const nm_device *device, const nm_context *context,
                          nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_graph *graph = process->graphs, *next; graph != NULL && status == NM_OK; graph = next) {
        next = graph->next;
        if (device == NULL || graph->device == NULL || graph->device == device)
            status = end_graph(replay, process, graph, NM_GRAPH_RESET, context, err);
    }
    return status;
}

nm_status nm_graphs_finish(nm_replay *replay, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_process *process = replay->first_process; process != NULL; process = process->next)
        for (nm_graph *graph = process->graphs; graph != NULL && status == NM_OK; graph = graph->next)
            status = nm_give_graph(&replay->sink, &graph->row, err);
    return status;
}

void nm_graphs_discard(nm_replay *replay)
{
    for (nm_process *process = replay->first_process; process != NULL; process = process->next)
        while (process->graphs != NULL) {
            nm_graph *graph = process->graphs;

            while (graph->first != NULL) {
                nm_member *member = graph->first;

                graph->first = member->next;
                free(member);
            }
            forget(replay, process, graph);
        }
}
