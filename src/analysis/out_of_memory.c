/* SPDX-License-Identifier: Apache-2.0
 *
 * Failed allocations that belong together. A pool whose request the driver refuses gives its cache back and asks again,
 * maybe in pieces (expandable segments ask for 20 MiB at a time); what a thread fails to get on one device is one episode as
 * long as nothing comes between but driver memory that goes or comes, blocks whose end other streams had held up, and calls
 * that wait. The episode is recovered when the pool then serves a block, or the thread goes on after the driver has given what
 * it had refused. When the thread does something else it is left: recovered if the thread is served at least as much later
 * on as it had asked for (the program went on, in smaller pieces), else fatal. The state of device and heaps is taken before
 * the first failure, once an episode, in time proportional to their stacks and driver ranges, and not more often than the
 * stream is long. A stream or an event that could not be made is an episode of its own kind: it is served when one can.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "analysis/moments.h"
#include "analysis/pool_pending.h"
#include "analysis/sample_tally.h"
#include "analysis/stream_leaks.h"
#include "base/buffer.h"
#include "base/number.h"
#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/places.h"
#include "replay/pool.h"

enum { NEED_MOMENTS, NEED_SAMPLES, NEED_POOL_LEDGER, NEED_STREAM_LEAKS };

#define STACKS_MAX         64 /* of an episode; the rest is summed up heap by heap */
#define LOOKS_FREE         1000000
#define ROUNDING_BYTES_MAX 1024 /* by which pools round a request up that is small beside it: steps and padding */
#define LEFT_MAX           32   /* episodes of a thread that it has left, and may still be served for */

typedef struct nm_episode {
    nm_out_of_memory_row row;
    const nm_process *process;
    const nm_device *device; /* NULL: host memory, or not known */
    uint64_t wanted_bytes;
    uint64_t served_bytes;   /* since it was left */
    bool has_pool;           /* the device had one: its blocks count, else the driver's memory */
    bool is_driver_last;     /* the last failure was the driver's, of wanted_bytes; else a pool's */
    bool is_granted;         /* it has given that since */
    bool is_left;            /* the thread did something else */
    struct nm_episode *next; /* of its thread */
} nm_episode;

typedef struct replay_room {
    uint64_t count;        /* episodes that have begun */
    size_t open_count;     /* of all threads */
    uint64_t look_count;   /* stacks and ranges that their states have looked at */
    nm_map segment_stacks; /* owned: (pool, stack) that have asked the driver */
} replay_room;

typedef struct thread_room {
    nm_episode *first; /* owned: those that may go on */
} thread_room;

typedef enum episode_turn { TURN_GOES_ON, TURN_SERVED, TURN_LEFT } episode_turn;

typedef struct stack_list {
    nm_out_of_memory_stack_row *items;
    size_t count, capacity;
    nm_map by_stack; /* of driver memory: (heap, stack) -> index + 1; the baseline without one has stack UINT64_MAX */
} stack_list;

static thread_room *room_of(const nm_run *run, const nm_context *context)
{
    return nm_thread_room(run, context->thread != NULL ? context->thread : run->replay->nobody);
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static bool is_driver_level(const nm_heap *heap)
{
    return heap->level == NM_LEVEL_DRIVER || heap->level == NM_LEVEL_PHYSICAL;
}

static bool is_module(const nm_heap *heap)
{
    return heap->module_id != 0 && heap->module_id != NM_MODULE_APP;
}

/* Was it memory that it lacked, or what the runtime needs for it, and not a wrong argument? A pool has codes of its own. */
static bool is_lack(const nm_context *context)
{
    const nm_event *event = context->event;

    if (context->heap != NULL && nm_is_pool(context->heap))
        return true;
    return nm_event_is_lack(event) || (event->total_bytes != 0 && event->requested_bytes > event->free_bytes);
}

/* ---- The state before the first failure -------------------------------------------------------------------------- */

static uint64_t *look_count(const nm_run *run)
{
    return &((replay_room *)nm_replay_room(run))->look_count;
}

static bool may_look(const nm_run *run)
{
    return *look_count(run) <= LOOKS_FREE + 2 * run->replay->next_seq;
}

static void sum_heaps(const nm_run *run, nm_episode *episode)
{
    nm_out_of_memory_row *row = &episode->row;
    uint64_t program_bytes = 0;

    for (const nm_heap *heap = episode->process->heaps; heap != NULL; heap = heap->next_of_process) {
        if (heap->device != episode->device)
            continue;
        if (heap->level == NM_LEVEL_DRIVER && !is_module(heap))
            nm_sum_add(&program_bytes, heap->total.live_bytes);
        if (!nm_is_pool(heap))
            continue;
        episode->has_pool = true;
        nm_sum_add(&row->active_bytes, heap->total.live_bytes);
        nm_sum_add(&row->allocated_bytes, nm_subtract_saturated(heap->total.live_bytes, heap->pending_bytes));
        nm_sum_add(&row->reserved_bytes, nm_pool_reserved_bytes(heap));
        if (may_look(run))
            row->max_pending_bytes =
                larger(row->max_pending_bytes, nm_pending_largest(run->needs[NEED_POOL_LEDGER], heap, look_count(run)));
    }
    if (!episode->has_pool)
        row->allocated_bytes = row->active_bytes = program_bytes;
}

static void take_state(const nm_run *run, nm_episode *episode)
{
    nm_out_of_memory_row *row = &episode->row;
    nm_device_share share;

    row->is_partial = nm_doubt_has_loss(run->replay, episode->process) || episode->process->is_late ||
                      episode->process->has_unknown_pause || episode->process->is_paused ||
                      (run->replay->has_keyframe && !run->replay->has_whole_keyframe);
    if (episode->device == NULL)
        return;
    sum_heaps(run, episode);
    share = nm_sample_share(run->needs[NEED_SAMPLES], episode->device);
    row->module_bytes = share.module_bytes;
    row->own_bytes =
        nm_subtract_saturated(share.recorded_bytes < 0 ? 0 : (uint64_t)share.recorded_bytes, share.module_bytes);
}

/* ---- And what was live then, by stack ---------------------------------------------------------------------------- */

static nm_status add_stack(stack_list *list, const nm_out_of_memory_stack_row *row, nm_error *err)
{
    nm_status status = nm_array_grow(&list->items, &list->capacity, list->count + 1, sizeof *row, err);

    if (status == NM_OK)
        list->items[list->count++] = *row;
    return status;
}

static nm_status add_pool(stack_list *list, const nm_episode *episode, const nm_heap *heap, nm_error *err)
{
    const nm_site *sites[] = {heap->baseline_site, heap->sites};
    nm_status status = NM_OK;

    for (int part = 0; part < 2; part++)
        for (const nm_site *site = sites[part]; site != NULL && status == NM_OK; site = site->next) {
            nm_out_of_memory_stack_row row = {
                .out_of_memory_id = episode->row.out_of_memory_id,
                .heap_id = heap->id,
                .stack_id = site->stack_id,
                .is_baseline = part == 0,
                .live_count = site->live_count,
                .live_bytes = site->live_bytes,
            };

            if (site->live_count > 0)
                status = add_stack(list, &row, err);
        }
    return status;
}

static nm_status add_range(stack_list *list, const nm_episode *episode, const nm_live *range, nm_error *err)
{
    bool is_baseline = range->is_baseline && nm_live_stack(range) == 0;
    nm_key key = {range->heap->id, is_baseline ? UINT64_MAX : nm_live_stack(range)};
    const uint64_t *known = nm_map_get(&list->by_stack, key);
    nm_out_of_memory_stack_row row = {
        .out_of_memory_id = episode->row.out_of_memory_id,
        .heap_id = range->heap->id,
        .stack_id = nm_live_stack(range),
        .is_baseline = is_baseline,
    };
    nm_status status = NM_OK;
    nm_out_of_memory_stack_row *sum;

    if (known == NULL) {
        status = add_stack(list, &row, err);
        if (status == NM_OK)
            status = nm_map_put(&list->by_stack, key, list->count, err);
        if (status != NM_OK)
            return status;
    }
    sum = &list->items[(known == NULL ? list->count : *known) - 1];
    sum->live_count++;
    nm_sum_add(&sum->live_bytes, range->row.size_bytes);
    return NM_OK;
}

/* Driver memory that is no pool's. */
static nm_status add_ranges(const nm_run *run, stack_list *list, const nm_episode *episode, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_arena *arena = episode->process->arenas; arena != NULL; arena = arena->next) {
        if (arena->device_id != episode->device->id)
            continue;
        for (nm_tree_node *node = nm_tree_first(&arena->ranges); node != NULL && status == NM_OK;
             node = nm_tree_next(node)) {
            const nm_live *range = NM_TREE_ITEM(node, nm_live, node);

            ++*look_count(run);
            if (range->owner == NULL)
                status = add_range(list, episode, range, err);
        }
    }
    return status;
}

static int compare_stacks(const void *a, const void *b)
{
    const nm_out_of_memory_stack_row *one = a;
    const nm_out_of_memory_stack_row *other = b;

    if (one->live_bytes != other->live_bytes)
        return one->live_bytes > other->live_bytes ? -1 : 1;
    if (one->heap_id != other->heap_id)
        return one->heap_id < other->heap_id ? -1 : 1;
    return one->stack_id < other->stack_id ? -1 : one->stack_id > other->stack_id;
}

static int compare_heaps(const void *a, const void *b)
{
    const nm_out_of_memory_stack_row *one = a;
    const nm_out_of_memory_stack_row *other = b;

    return one->heap_id < other->heap_id ? -1 : one->heap_id > other->heap_id;
}

/* The rows from `from` on become one a heap. */
static void sum_rest(stack_list *list, size_t from)
{
    size_t to = from;

    qsort(list->items + from, list->count - from, sizeof *list->items, compare_heaps);
    for (size_t i = from; i < list->count; i++) {
        nm_out_of_memory_stack_row *rest = to == from ? NULL : &list->items[to - 1];

        if (rest != NULL && rest->heap_id == list->items[i].heap_id) {
            rest->live_count += list->items[i].live_count;
            nm_sum_add(&rest->live_bytes, list->items[i].live_bytes);
            continue;
        }
        list->items[to] = list->items[i];
        list->items[to].is_rest = true;
        list->items[to].is_baseline = false;
        list->items[to++].stack_id = 0;
    }
    list->count = to;
}

static nm_status write_stacks(const nm_run *run, stack_list *list, nm_error *err)
{
    nm_status status = NM_OK;

    if (list->count > 1)
        qsort(list->items, list->count, sizeof *list->items, compare_stacks);
    if (list->count > STACKS_MAX)
        sum_rest(list, STACKS_MAX);
    for (size_t i = 0; i < list->count && status == NM_OK; i++)
        status = nm_give_out_of_memory_stack(&run->replay->sink, &list->items[i], err);
    return status;
}

static nm_status take_stacks(const nm_run *run, const nm_episode *episode, nm_error *err)
{
    stack_list list = {0};
    nm_status status = NM_OK;

    if (!run->replay->sink.wants[NM_ROW_OUT_OF_MEMORY_STACK] || episode->device == NULL || !may_look(run))
        return NM_OK;
    for (const nm_heap *heap = episode->process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process)
        if (heap->device == episode->device && nm_is_pool(heap))
            status = add_pool(&list, episode, heap, err);
    *look_count(run) += list.count;
    if (status == NM_OK)
        status = add_ranges(run, &list, episode, err);
    if (status == NM_OK)
        status = write_stacks(run, &list, err);
    nm_map_free(&list.by_stack);
    free(list.items);
    return status;
}

/* ---- Episodes ------------------------------------------------------------------------------------------------------ */

/* What served it may be among what was lost; but not once it is known that it was left. */
static bool is_in_doubt(const nm_run *run, const nm_episode *episode)
{
    return !episode->is_left && run->replay->has_loss && run->replay->loss_seq >= episode->row.first_seq;
}

/* Takes the episode at *link out of its thread and writes it. */
static nm_status close_episode(nm_run *run, nm_episode **link, nm_out_of_memory_outcome outcome, nm_error *err)
{
    nm_episode *episode = *link;
    nm_status status;

    *link = episode->next;
    if (--((replay_room *)nm_replay_room(run))->open_count == 0)
        nm_run_hear(run, NM_CHANGE_EVENT, false);
    if (is_in_doubt(run, episode))
        outcome = NM_OUTCOME_UNKNOWN;
    episode->row.outcome = outcome;
    episode->row.is_partial |= outcome == NM_OUTCOME_UNKNOWN;
    status = nm_give_out_of_memory(&run->replay->sink, &episode->row, err);
    free(episode);
    return status;
}

static nm_out_of_memory_outcome outcome_of(const nm_episode *episode)
{
    return episode->is_granted ? NM_OUTCOME_RECOVERED : NM_OUTCOME_FATAL;
}

/* The thread has gone on: it may still be served for what it had asked for. The episode stays where it is, or is closed. */
static nm_status leave_episode(nm_run *run, nm_episode **link, nm_error *err)
{
    if ((*link)->is_granted || (*link)->device == NULL || is_in_doubt(run, *link))
        return close_episode(run, link, outcome_of(*link), err);
    (*link)->is_left = true;
    return NM_OK;
}

/* Before another one begins: too many that were left are none of which much is to be expected. */
static nm_status trim_episodes(nm_run *run, thread_room *thread, nm_error *err)
{
    nm_episode **oldest = NULL;
    size_t left_count = 0;

    for (nm_episode **link = &thread->first; *link != NULL; link = &(*link)->next) {
        left_count += (*link)->is_left;
        if (oldest == NULL && (*link)->is_left)
            oldest = link;
    }
    return left_count < LEFT_MAX ? NM_OK : close_episode(run, oldest, NM_OUTCOME_FATAL, err);
}

/* The device of a failure: of an allocation, or of a call that makes a stream or an event. */
static const nm_device *device_of(const nm_run *run, const nm_context *context)
{
    if (context->event->kind == NM_EVENT_STREAM_CALL)
        return nm_replay_device(run->replay, context->event->device_id);
    return context->heap == NULL ? NULL : context->heap->device;
}

/* The call about streams that failed; 0: it was an allocation. */
static uint64_t call_of(const nm_context *context)
{
    return context->event->kind == NM_EVENT_STREAM_CALL ? context->event->detail : 0;
}

static nm_episode **find_episode(const nm_run *run, thread_room *thread, const nm_context *context)
{
    const nm_device *device = device_of(run, context);
    nm_episode **link = &thread->first;

    while (*link != NULL && ((*link)->is_left || (*link)->process != context->process || (*link)->device != device ||
                             (*link)->row.stream_call != call_of(context)))
        link = &(*link)->next;
    return link;
}

static nm_status open_episode(nm_run *run, const nm_context *context, nm_episode **link, nm_error *err)
{
    replay_room *all = nm_replay_room(run);
    nm_episode *episode = nm_replay_allocate(sizeof *episode, err);

    if (episode == NULL)
        return NM_ERR_MEMORY;
    episode->process = context->process;
    episode->device = device_of(run, context);
    episode->row = (nm_out_of_memory_row){
        .out_of_memory_id = ++all->count,
        .process_id = context->process->id,
        .device_id = episode->device == NULL ? 0 : episode->device->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .operation_id = nm_replay_operation(run->replay, context->thread),
        .stack_id = context->stack_id,
        .heap_id = context->heap == NULL ? 0 : context->heap->id,
        .moment_id = nm_moments_last(run->needs[NEED_MOMENTS]),
        .first_seq = context->seq,
        .first_ns = context->event->time_ns,
        .error_code = context->event->error_code,
        .stream_call = call_of(context),
        .stream_count = nm_stream_leaks_stream_count(run->needs[NEED_STREAM_LEAKS], episode->device),
        .event_count = nm_stream_leaks_event_count(run->needs[NEED_STREAM_LEAKS], episode->device),
    };
    *link = episode;
    if (all->open_count++ == 0)
        nm_run_hear(run, NM_CHANGE_EVENT, true);
    take_state(run, episode);
    return take_stacks(run, episode, err);
}

/* A request for physical memory is one for a piece of what the pool was asked for: the pieces before it are mapped already. */
static uint64_t found_for_it(const nm_context *context)
{
    uint64_t bytes = 0;

    if (context->heap == NULL || context->heap->level != NM_LEVEL_PHYSICAL)
        return 0;
    for (const nm_heap *heap = context->process->heaps; heap != NULL; heap = heap->next_of_process)
        if (nm_is_pool(heap) && heap->device == context->heap->device)
            nm_sum_add(&bytes, nm_pool_found_bytes(heap));
    return bytes < NM_SIZE_BYTES_MAX ? bytes : NM_SIZE_BYTES_MAX;
}

static void add_failure(nm_episode *episode, const nm_context *context)
{
    bool is_pool = context->heap != NULL && nm_is_pool(context->heap);
    uint64_t bytes = context->event->requested_bytes;

    if (bytes > NM_SIZE_BYTES_MAX)
        bytes = NM_SIZE_BYTES_MAX;
    episode->row.failure_count++;
    episode->row.last_seq = context->seq;
    episode->row.last_ns = context->event->time_ns;
    episode->is_granted = false;
    episode->is_driver_last = !is_pool;
    if (!is_pool) {
        episode->row.driver_failure_count++;
        episode->row.at_least_tried_bytes = larger(episode->row.at_least_tried_bytes, bytes + found_for_it(context));
        episode->wanted_bytes = bytes;
        return;
    }
    episode->row.tried_bytes = bytes;
    episode->row.pool_heap_id = context->heap->id;
    episode->row.pool_live_count = context->heap->live_count;
    episode->row.has_segments = context->heap->has_segments;
}

/* A pool that asks for another size than before has another request. */
static bool is_other_request(const nm_episode *episode, const nm_context *context)
{
    return episode != NULL && context->heap != NULL && nm_is_pool(context->heap) && episode->row.tried_bytes != 0 &&
           episode->row.tried_bytes != context->event->requested_bytes;
}

static nm_status take_failure(nm_run *run, const nm_context *context, nm_error *err)
{
    thread_room *thread = room_of(run, context);
    nm_episode **link;
    nm_status status = NM_OK;

    if (context->process == NULL || !is_lack(context))
        return NM_OK;
    link = find_episode(run, thread, context);
    if (is_other_request(*link, context)) {
        status = leave_episode(run, link, err);
        link = find_episode(run, thread, context);
    }
    if (status == NM_OK && *link == NULL)
        status = trim_episodes(run, thread, err);
    link = find_episode(run, thread, context);
    if (status == NM_OK && *link == NULL)
        status = open_episode(run, context, link, err);
    if (status == NM_OK)
        add_failure(*link, context);
    return status;
}

/* ---- What comes between ------------------------------------------------------------------------------------------ */

static uint64_t asked_bytes(const nm_episode *episode)
{
    return episode->row.tried_bytes != 0 ? episode->row.tried_bytes : episode->wanted_bytes;
}

/* A block: with new driver memory under it, or as large as what had failed, it is what was asked for. */
static episode_turn turn_of_block(const nm_episode *episode, const nm_event *event)
{
    uint64_t bytes = larger(event->requested_bytes, event->block_bytes);

    if (episode->is_granted)
        return TURN_SERVED;
    return nm_add_saturated(bytes, ROUNDING_BYTES_MAX) >= asked_bytes(episode) ? TURN_SERVED : TURN_LEFT;
}

/* After it was left: what the thread is served adds up. */
static episode_turn turn_after(nm_episode *episode, const nm_context *context)
{
    const nm_event *event = context->event;
    const nm_heap *heap = context->heap;

    if (event->kind != NM_EVENT_ALLOC || heap == NULL || heap->device != episode->device || episode->device == NULL ||
        (event->flags & (NM_FLAG_BASELINE | NM_FLAG_PAUSED)) != 0 || is_module(heap) ||
        (episode->has_pool ? !nm_is_pool(heap) : !nm_is_pool(heap) && !is_driver_level(heap)))
        return TURN_GOES_ON;
    nm_sum_add(&episode->served_bytes, larger(event->requested_bytes, event->block_bytes));
    return episode->served_bytes >= asked_bytes(episode) ? TURN_SERVED : TURN_GOES_ON;
}

/* Of a stream or an event that could not be made: one of its kind can be, sooner or later. */
static episode_turn turn_of_call(const nm_episode *episode, const nm_context *context)
{
    bool is_same = context->event->kind == NM_EVENT_STREAM_CALL && context->event->detail == episode->row.stream_call;

    return is_same && context->event->error_code == 0 ? TURN_SERVED : TURN_GOES_ON;
}

static episode_turn turn_of_alloc(nm_episode *episode, const nm_context *context)
{
    const nm_event *event = context->event;
    const nm_heap *heap = context->heap;

    if (heap == NULL || heap->device != episode->device || (event->flags & (NM_FLAG_BASELINE | NM_FLAG_PAUSED)) != 0)
        return TURN_GOES_ON;
    if (nm_is_pool(heap))
        return turn_of_block(episode, event);
    if (is_module(heap) || event->kind == NM_EVENT_MAP || !episode->is_driver_last)
        return TURN_GOES_ON; /* physical memory has told it; or the pool asks again for what it had failed to give */
    if ((event->requested_bytes != 0 ? event->requested_bytes : event->block_bytes) < episode->wanted_bytes)
        return TURN_LEFT;
    episode->is_granted = true;
    return episode->device == NULL ? TURN_SERVED : TURN_GOES_ON;
}

/* What lives at the address and the event frees; NULL: not known. */
static const nm_live *freed_by(const nm_run *run, const nm_context *context)
{
    const nm_place *place = nm_place_find(run->replay, context->process->id, context->event->address);

    if (context->heap != NULL)
        return nm_place_live_of(place, context->heap);
    for (const nm_live *live = place == NULL ? NULL : place->live; live != NULL; live = live->next_here)
        if (nm_free_misfit(live->heap->level, context->event->detail) == 0)
            return live;
    return NULL;
}

/* A block that is freed was in use: the program has gone on. But for one that waited for other streams. */
static episode_turn turn_of_free(const nm_run *run, nm_episode *episode, const nm_context *context)
{
    const nm_live *live = freed_by(run, context);

    if (live == NULL || live->heap->device != episode->device)
        return TURN_GOES_ON;
    if (nm_is_pool(live->heap))
        return nm_live_more_of(live)->free_requested_seq == NM_NO_SEQ ? TURN_LEFT : TURN_GOES_ON;
    if (context->event->kind == NM_EVENT_FREE && is_driver_level(live->heap))
        nm_sum_add(&episode->row.released_bytes, live->row.size_bytes);
    return TURN_GOES_ON;
}

static episode_turn turn_of(const nm_run *run, nm_episode *episode, const nm_context *context)
{
    if (episode->row.stream_call != 0)
        return turn_of_call(episode, context);
    if (episode->is_left)
        return turn_after(episode, context);
    switch (context->event->kind) {
    case NM_EVENT_ALLOC:
    case NM_EVENT_MAP:
        return turn_of_alloc(episode, context);
    case NM_EVENT_FREE:
    case NM_EVENT_FREE_REQUESTED:
        return turn_of_free(run, episode, context);
    case NM_EVENT_RESET:
    case NM_EVENT_COPY:
    case NM_EVENT_MARK:
    case NM_EVENT_STEP:
    case NM_EVENT_RANGE_BEGIN:
    case NM_EVENT_RANGE_END:
    case NM_EVENT_PAUSE:
        return TURN_LEFT;
    default:
        return TURN_GOES_ON;
    }
}

static nm_status close_all_of(nm_run *run, thread_room *thread, const nm_process *process, bool is_lost, nm_error *err)
{
    nm_episode **link = &thread->first;
    nm_status status = NM_OK;

    while (*link != NULL && status == NM_OK) {
        if (process == NULL || (*link)->process == process)
            status =
                close_episode(run, link, is_lost && !(*link)->is_left ? NM_OUTCOME_UNKNOWN : outcome_of(*link), err);
        else
            link = &(*link)->next;
    }
    return status;
}

/* The process ends (NULL: events of anybody are lost). */
static nm_status close_everywhere(nm_run *run, const nm_process *process, bool is_lost, nm_error *err)
{
    nm_status status = close_all_of(run, nm_thread_room(run, run->replay->nobody), process, is_lost, err);

    for (const nm_thread *thread = run->replay->first_thread; thread != NULL && status == NM_OK; thread = thread->next)
        status = close_all_of(run, nm_thread_room(run, thread), process, is_lost, err);
    return status;
}

static nm_status take_loss(nm_run *run, const nm_context *context, nm_error *err)
{
    if (context->event->number <= 0)
        return NM_OK;
    return context->thread == NULL ? close_everywhere(run, NULL, true, err)
                                   : close_all_of(run, nm_thread_room(run, context->thread), NULL, true, err);
}

/* Does the event go on with what has failed, serve it or leave it? Before it takes effect. */
static nm_status take_event(nm_run *run, const nm_context *context, nm_error *err)
{
    thread_room *thread = room_of(run, context);
    nm_status status = NM_OK;

    if (context->event->kind == NM_EVENT_LOSS)
        return take_loss(run, context, err);
    if (context->event->kind == NM_EVENT_PROCESS_END) {
        const nm_process *process = nm_replay_process(run->replay, (uint64_t)context->event->number);

        if (context->event->detail == NM_PROCESS_RUNNING)
            return NM_OK;
        return process == NULL ? NM_OK : close_everywhere(run, process, false, err);
    }
    for (nm_episode **link = &thread->first, *episode; (episode = *link) != NULL && status == NM_OK;) {
        episode_turn turn = episode->process == context->process ? turn_of(run, episode, context) : TURN_GOES_ON;

        if (turn == TURN_SERVED)
            status = close_episode(run, link, NM_OUTCOME_RECOVERED, err);
        else if (turn == TURN_LEFT)
            status = leave_episode(run, link, err);
        else
            link = &episode->next;
    }
    return status;
}

/* ---- Who asks the driver --------------------------------------------------------------------------------------------- */

static nm_status take_segment(const nm_run *run, const nm_live *range, nm_error *err)
{
    replay_room *all = nm_replay_room(run);
    nm_key key = {range->owner->id, nm_live_stack(range)};

    if (nm_live_stack(range) == 0 || nm_map_get(&all->segment_stacks, key) != NULL)
        return NM_OK;
    return nm_map_put(&all->segment_stacks, key, 1, err);
}

static nm_status write_segments(const nm_run *run, nm_error *err)
{
    const replay_room *all = nm_replay_room(run);
    nm_status status = NM_OK;
    nm_key key;

    for (size_t at = 0; all->count > 0 && status == NM_OK && nm_map_next(&all->segment_stacks, &at, &key, NULL);)
        status = nm_give_segment_stack(&run->replay->sink,
                                       &(nm_segment_stack_row){.heap_id = key.high, .stack_id = key.low}, err);
    return status;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_out_of_memory_outcome outcome_at_end(const nm_episode *episode)
{
    return episode->is_granted ? NM_OUTCOME_RECOVERED : episode->is_left ? NM_OUTCOME_FATAL : NM_OUTCOME_OPEN;
}

static nm_status close_open(nm_run *run, thread_room *thread, nm_error *err)
{
    nm_status status = NM_OK;

    while (thread->first != NULL && status == NM_OK)
        status = close_episode(run, &thread->first, outcome_at_end(thread->first), err);
    return status;
}

static nm_status end_stream(nm_run *run, nm_error *err)
{
    nm_status status = close_open(run, nm_thread_room(run, run->replay->nobody), err);

    for (const nm_thread *thread = run->replay->first_thread; thread != NULL && status == NM_OK; thread = thread->next)
        status = close_open(run, nm_thread_room(run, thread), err);
    return status == NM_OK ? write_segments(run, err) : status;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    if (change->kind == NM_CHANGE_SEGMENT_IN)
        return change->is_first ? take_segment(run, change->live, err) : NM_OK;
    if (change->kind == NM_CHANGE_FAILED)
        return take_failure(run, change->context, err);
    if (change->kind == NM_CHANGE_END)
        return end_stream(run, err);
    return take_event(run, change->context, err);
}

static void discard_episodes(thread_room *thread)
{
    while (thread->first != NULL) {
        nm_episode *episode = thread->first;

        thread->first = episode->next;
        free(episode);
    }
}

static void release(nm_run *run)
{
    nm_map_free(&((replay_room *)nm_replay_room(run))->segment_stacks);
    if (run->replay->nobody != NULL)
        discard_episodes(nm_thread_room(run, run->replay->nobody));
    for (const nm_thread *thread = run->replay->first_thread; thread != NULL; thread = thread->next)
        discard_episodes(nm_thread_room(run, thread));
}

static const nm_pass *const needs[] = {[NEED_MOMENTS] = &nm_moments_pass,
                                       [NEED_SAMPLES] = &nm_samples_pass,
                                       [NEED_POOL_LEDGER] = &nm_pool_ledger_pass,
                                       [NEED_STREAM_LEAKS] = &nm_stream_leaks_pass,
                                       NULL};

const nm_pass nm_out_of_memory_pass = {
    .name = "out-of-memory episodes",
    .gives = {[NM_ROW_OUT_OF_MEMORY] = true, [NM_ROW_OUT_OF_MEMORY_STACK] = true, [NM_ROW_SEGMENT_STACK] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_EVENT] = change,
              [NM_CHANGE_FAILED] = change,
              [NM_CHANGE_SEGMENT_IN] = change,
              [NM_CHANGE_END] = change},
    .at_times = {[NM_CHANGE_EVENT] = true}, /* while an episode is open */
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room), [NM_OWNER_THREAD] = sizeof(thread_room)},
    .release = release,
};
