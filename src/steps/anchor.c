/* SPDX-License-Identifier: Apache-2.0
 *
 * Both passes. The first one keeps for each process what it allocated so far (by lane), and for each place that allocates
 * what that was when the place was met: the difference from one time to the next says what lies between, whatever it is.
 * The second one meets the chosen place again.
 */
#include "steps/anchor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "steps/anchor_state.h"

#define LOOK_EVENTS    65536 /* are all processes marked? */
#define DEVICES_MAX    UINT64_C(0xfffff)
#define OVER_RATIO_MIN 0.25 /* of all allocations, and */
#define OVER_STEPS_MIN 4    /* steps: so much in the last one is said */

/* ---- Who ---- */

static size_t *find(const nm_map *map, uint64_t id, size_t *out)
{
    const uint64_t *known = id == 0 ? NULL : nm_map_get(map, (nm_key){0, id});

    if (known == NULL)
        return NULL;
    *out = (size_t)*known;
    return out;
}

static nm_status add_process(nm_anchor *anchor, uint64_t id, size_t *out, nm_error *err)
{
    const uint64_t *known = nm_map_get(&anchor->process_of, (nm_key){0, id});
    nm_status status;

    *out = known == NULL ? anchor->processes.count : (size_t)*known;
    if (known != NULL)
        return NM_OK;
    status = nm_array_grow(&anchor->processes.items, &anchor->processes.capacity, anchor->processes.count + 1,
                           sizeof *anchor->processes.items, err);
    if (status == NM_OK)
        status = nm_map_put(&anchor->process_of, (nm_key){0, id}, *out, err);
    if (status == NM_OK)
        anchor->processes.items[anchor->processes.count++] = (nm_anchor_process){.id = id};
    return status;
}

static nm_anchor_lane lane_of(uint64_t level)
{
    return level == NM_LEVEL_POOL || level == NM_LEVEL_WORKSPACE    ? NM_ANCHOR_LANE_POOL
           : level == NM_LEVEL_DRIVER || level == NM_LEVEL_PHYSICAL ? NM_ANCHOR_LANE_DRIVER
                                                                    : NM_ANCHOR_LANE_COUNT;
}

static nm_status add_heap(nm_anchor *anchor, const nm_definition *definition, nm_error *err)
{
    nm_anchor_heap heap = {.lane = lane_of(definition->heap.level), .device = definition->heap.device_id};
    nm_key key = {0, definition->id};
    nm_status status = add_process(anchor, definition->heap.process_id, &heap.process, err);

    if (status != NM_OK || nm_map_get(&anchor->heap_of, key) != NULL)
        return status;
    status = nm_map_number(&anchor->device_of, (nm_key){0, heap.device}, &heap.device_number, err);
    if (status != NM_OK)
        return status;
    heap.device_number++;
    if (anchor->options.given != NULL && anchor->options.device_id == 0)
        heap.device_number = NM_ANCHOR_ANY_DEVICE;
    if (anchor->options.given == NULL && anchor->options.device_id != 0 && heap.device != anchor->options.device_id)
        heap.lane = NM_ANCHOR_LANE_COUNT;
    status = nm_array_grow(&anchor->heaps.items, &anchor->heaps.capacity, anchor->heaps.count + 1, sizeof heap, err);
    if (status == NM_OK)
        status = nm_map_put(&anchor->heap_of, key, anchor->heaps.count, err);
    if (status == NM_OK)
        anchor->heaps.items[anchor->heaps.count++] = heap;
    return status;
}

static nm_status take_definition(nm_anchor *anchor, const nm_definition *definition, nm_error *err)
{
    size_t process = 0;
    nm_status status;

    switch (definition->kind) {
    case NM_DEFINE_PROCESS:
        return add_process(anchor, definition->id, &process, err);
    case NM_DEFINE_THREAD:
        status = add_process(anchor, definition->thread.process_id, &process, err);
        return status == NM_OK ? nm_map_put(&anchor->thread_of, (nm_key){0, definition->id}, process, err) : status;
    case NM_DEFINE_HEAP:
        return add_heap(anchor, definition, err);
    default:
        return anchor->is_frugal ? NM_OK : nm_anchor_names_add(&anchor->names, definition, err);
    }
}

/* The event's process, as the replay finds it; NULL: not known. */
static nm_anchor_process *process_of(const nm_anchor *anchor, const nm_event *event, const nm_anchor_heap *heap)
{
    size_t index = 0;

    if (heap != NULL)
        return &anchor->processes.items[heap->process];
    if (find(&anchor->thread_of, event->thread_id, &index) != NULL)
        return &anchor->processes.items[index];
    return anchor->processes.count == 1 ? &anchor->processes.items[0] : NULL;
}

/* ---- What an event is ---- */

typedef struct sight {
    nm_anchor_process *process; /* NULL: the event is of no use */
    nm_anchor_lane lane;        /* of an allocation or a free; NM_ANCHOR_LANE_COUNT: neither */
    bool is_allocation;
    bool is_again;    /* the allocation before it in the lane was of the same stack and device: one visit */
    bool is_captured; /* no lane then */
    uint64_t device_number;
} sight;

static bool is_of_use(const nm_event *event)
{
    return (event->flags & (NM_FLAG_BASELINE | NM_FLAG_PAUSED)) == 0 && !nm_event_is_repeat(event) &&
           event->kind != NM_EVENT_STATE_SEGMENT && event->kind != NM_EVENT_STATE_BLOCK;
}

/* A free that names no heap says by its call which kind of memory it is. */
static nm_anchor_lane lane_of_free(const nm_event *event, const nm_anchor_heap *heap)
{
    if (heap != NULL)
        return heap->lane;
    if (event->kind == NM_EVENT_UNMAP || event->detail == NM_FREE_ANY || event->detail == NM_FREE_DEVICE ||
        event->detail == NM_FREE_PHYSICAL)
        return NM_ANCHOR_LANE_DRIVER;
    return event->detail == NM_FREE_POOL ? NM_ANCHOR_LANE_POOL : NM_ANCHOR_LANE_COUNT;
}

/* Most events are of the heap of the one before. */
static const nm_anchor_heap *heap_of(nm_anchor *anchor, uint64_t id)
{
    if (anchor->recent_heap_id != id && find(&anchor->heap_of, id, &anchor->recent_heap) == NULL)
        return NULL;
    anchor->recent_heap_id = id;
    return &anchor->heaps.items[anchor->recent_heap];
}

static sight look_at(nm_anchor *anchor, const nm_event *event)
{
    const nm_anchor_heap *heap = NULL;
    sight seen = {.lane = NM_ANCHOR_LANE_COUNT};

    if (!is_of_use(event))
        return seen;
    heap = event->heap_id == 0 ? NULL : heap_of(anchor, event->heap_id);
    seen.process = process_of(anchor, event, heap);
    if (seen.process == NULL)
        return seen;
    seen.is_captured = nm_anchor_graph_holds(seen.process, event);
    if (seen.is_captured)
        return seen;
    if (event->kind == NM_EVENT_FREE || event->kind == NM_EVENT_UNMAP)
        seen.lane = lane_of_free(event, heap);
    if ((event->kind != NM_EVENT_ALLOC && event->kind != NM_EVENT_MAP) || heap == NULL)
        return seen;
    seen.is_allocation = true;
    seen.lane = heap->lane;
    seen.device_number = heap->device_number;
    seen.is_again = seen.lane != NM_ANCHOR_LANE_COUNT && seen.process->last_stack[seen.lane] == event->stack_id &&
                    seen.process->last_device[seen.lane] == seen.device_number;
    return seen;
}

/* ---- First pass ---- */

static uint64_t mix(uint64_t value)
{
    value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
    return value ^ value >> 31;
}

static void add_to(nm_lane_sums *sums, const nm_event *event, bool is_allocation)
{
    if (!is_allocation) {
        sums->frees++;
        return;
    }
    sums->allocations++;
    sums->bytes += event->block_bytes != 0 ? event->block_bytes : event->requested_bytes;
    sums->sites += mix(event->stack_id + 1);
}

/* Devices from DEVICES_MAX on are taken for one. */
static nm_key place_key(const nm_anchor *anchor, const nm_anchor_process *process, nm_anchor_lane lane, uint64_t device,
                        uint64_t id)
{
    uint64_t index = (uint64_t)(process - anchor->processes.items);

    return (nm_key){
        (index * NM_ANCHOR_LANE_COUNT + lane) * (DEVICES_MAX + 1) + (device < DEVICES_MAX ? device : DEVICES_MAX), id};
}

/* A range's lane is NM_ANCHOR_LANE_BOTH, its device any. *out is NULL where there are too many. */
static nm_status find_place(nm_anchor *anchor, nm_anchor_process *process, nm_anchor_lane lane, uint64_t device,
                            uint64_t id, nm_anchor_place **out, nm_error *err)
{
    nm_key key = place_key(anchor, process, lane, device, id);
    const uint64_t *known = nm_map_get(&anchor->place_of, key);
    nm_status status;

    *out = known == NULL ? NULL : &anchor->places.items[*known];
    if (known != NULL || process->place_count >= NM_ANCHOR_PLACES_MAX)
        return NM_OK;
    status =
        nm_array_grow(&anchor->places.items, &anchor->places.capacity, anchor->places.count + 1, sizeof **out, err);
    if (status == NM_OK)
        status = nm_map_put(&anchor->place_of, key, anchor->places.count, err);
    if (status != NM_OK)
        return status;
    process->place_count++;
    *out = &anchor->places.items[anchor->places.count++];
    **out = (nm_anchor_place){
        .process = (size_t)(process - anchor->processes.items),
        .is_range = lane == NM_ANCHOR_LANE_BOTH,
        .id = id,
        .device = device,
        .words = lane == NM_ANCHOR_LANE_BOTH ? nm_anchor_names_of_range(&anchor->names, id)
                                             : nm_anchor_names_of_stack(&anchor->names, id),
        .lane = lane,
        .order = ++anchor->order,
        .stride = 1,
    };
    if ((*out)->words & NM_WORD_OPTIMIZER)
        (*out)->caller = nm_anchor_names_caller(&anchor->names, id);
    return NM_OK;
}

/* Every second gap is enough. */
static void thin_out(nm_anchor_place *place)
{
    for (size_t i = 0; i < place->gap_count / 2; i++)
        place->gaps[i] = place->gaps[2 * i];
    place->gap_count /= 2;
    place->stride *= 2;
}

/* In how regular turns less is live than the time before. */
static void note_fall(nm_anchor_place *place, int64_t more)
{
    place->since_fall++;
    if (more > -NM_ANCHOR_UNEVEN_LITTLE)
        return;
    place->fall_count++;
    if (place->fall_count > 2) {
        place->fall_gaps += place->since_fall;
        place->fall_alike += place->since_fall == place->before_fall ? place->since_fall : 0;
    }
    place->before_fall = place->since_fall;
    place->since_fall = 0;
}

static nm_status add_gap(nm_anchor_place *place, const nm_lane_sums *now, nm_error *err)
{
    nm_lane_sums gap = {
        .allocations = now->allocations - place->last.allocations,
        .frees = now->frees - place->last.frees,
        .bytes = now->bytes - place->last.bytes,
        .operators = now->operators - place->last.operators,
        .sites = now->sites - place->last.sites,
        .work = now->work - place->last.work,
    };
    nm_status status;

    int64_t more = (int64_t)(gap.allocations - gap.frees);
    for (int least = NM_ANCHOR_UNEVEN_LITTLE; least <= NM_ANCHOR_UNEVEN; least++) {
        place->more_counts[least] += more >= least;
        place->less_counts[least] += more <= -least;
    }
    note_fall(place, more);
    place->idle_count += gap.work == 0;
    if (place->count == 1)
        place->first_gap = gap;
    if (place->count == 1 || (place->count - 2) % place->stride != 0)
        return NM_OK;
    status = nm_array_grow(&place->gaps, &place->gap_capacity, place->gap_count + 1, sizeof gap, err);
    if (status != NM_OK)
        return status;
    place->gaps[place->gap_count++] = gap;
    if (place->gap_count == NM_ANCHOR_GAPS_MAX)
        thin_out(place);
    return NM_OK;
}

static nm_status meet(nm_anchor_place *place, const nm_anchor_process *process, nm_error *err)
{
    const nm_lane_sums *now = &process->lanes[place->lane];
    nm_status status = place->count == 0 ? NM_OK : add_gap(place, now, err);

    if (place->count == 0) {
        place->first = *now;
        place->first_live = nm_anchor_live_of(process);
    }
    place->last = *now;
    place->last_live = nm_anchor_live_of(process);
    place->live_sum += place->last_live;
    place->count++;
    return status;
}

static void note_work(nm_anchor_process *process, nm_anchor_lane lane, unsigned words)
{
    bool is_work = (words & (NM_WORD_FORWARD | NM_WORD_BACKWARD)) != 0;

    process->lanes[lane].work += is_work;
    process->lanes[NM_ANCHOR_LANE_BOTH].work += is_work;
}

static nm_status see_allocation(nm_anchor *anchor, const nm_event *event, const sight *seen, nm_error *err)
{
    nm_anchor_process *process = seen->process;
    nm_anchor_place *place = NULL;
    nm_status status = NM_OK;

    if (event->stack_id != 0 && !seen->is_again)
        status = find_place(anchor, process, seen->lane, seen->device_number, event->stack_id, &place, err);
    if (status == NM_OK && place != NULL) {
        status = meet(place, process, err);
        process->has_python |= (place->words & NM_WORD_PYTHON) != 0;
        note_work(process, seen->lane, place->words);
        nm_anchor_optimizer_note(process, place->words, place->caller, event->stack_id);
    }
    process->seen_count++;
    if (process->in_optimizer != 0)
        process->optimizers[process->in_optimizer - 1].last_allocation = process->seen_count;
    process->last_stack[seen->lane] = event->stack_id;
    process->last_device[seen->lane] = seen->device_number;
    return status;
}

static nm_status see_range(nm_anchor *anchor, const nm_event *event, nm_anchor_process *process, nm_error *err)
{
    uint64_t id = nm_anchor_names_range_id(&anchor->names, event->name_id);
    nm_lane_sums *sums = &process->lanes[NM_ANCHOR_LANE_BOTH];
    nm_anchor_place *place = NULL;
    nm_status status;

    if (event->name_id == 0)
        return NM_OK;
    nm_anchor_optimizer_note(process, nm_anchor_names_of_range(&anchor->names, event->name_id), 0, 0);
    status = find_place(anchor, process, NM_ANCHOR_LANE_BOTH, NM_ANCHOR_ANY_DEVICE, id, &place, err);
    if (status == NM_OK && place != NULL)
        status = meet(place, process, err);
    if (event->detail == NM_RANGE_OPERATOR) {
        sums->operators++;
        sums->sites += mix(~id);
    }
    return status;
}

static unsigned words_of(const nm_anchor *anchor, const nm_event *event)
{
    if (event->kind == NM_EVENT_RANGE_BEGIN)
        return event->name_id == 0 ? 0 : nm_anchor_names_of_range(&anchor->names, event->name_id);
    return event->stack_id == 0 ? 0 : nm_anchor_names_of_stack(&anchor->names, event->stack_id);
}

static bool is_of_graphs(const nm_event *event)
{
    return event->kind == NM_EVENT_STREAM_CALL || event->kind == NM_EVENT_COPY;
}

static nm_status see_graphs(nm_anchor *anchor, const nm_event *event, nm_anchor_process *process, nm_error *err)
{
    bool begins;
    nm_status status = nm_anchor_graph_note(anchor, process, event, &begins, err);

    if (process->graphs.group_count == 1 && begins)
        for (int lane = 0; lane < NM_ANCHOR_LANE_COUNT; lane++)
            process->graphs.seen[lane] = process->lanes[lane].allocations;
    return status;
}

static nm_status observe_event(nm_anchor *anchor, const nm_event *event, nm_error *err)
{
    sight seen = look_at(anchor, event);
    nm_status status = NM_OK;

    if (seen.process == NULL)
        return NM_OK;
    anchor->event_count++;
    if (event->kind == NM_EVENT_STEP)
        seen.process->marked_count++;
    if (is_of_graphs(event))
        return see_graphs(anchor, event, seen.process, err);
    if (seen.is_captured) {
        seen.process->graphs.words |= words_of(anchor, event);
        return NM_OK;
    }
    if (event->kind == NM_EVENT_RANGE_BEGIN)
        return see_range(anchor, event, seen.process, err);
    if (seen.lane == NM_ANCHOR_LANE_COUNT)
        return NM_OK;
    if (seen.is_allocation)
        status = see_allocation(anchor, event, &seen, err);
    add_to(&seen.process->lanes[seen.lane], event, seen.is_allocation);
    add_to(&seen.process->lanes[NM_ANCHOR_LANE_BOTH], event, seen.is_allocation);
    return status;
}

/* Steps are marked, or there is an anchor, in every process that allocates. */
static nm_status look_for_end(nm_anchor *anchor, bool *is_enough, nm_error *err)
{
    bool judges = anchor->event_count >= NM_ANCHOR_EVENTS_MAX;
    bool is_used = false;
    nm_status status = NM_OK;

    anchor->next_look = judges ? anchor->event_count * 2 : anchor->event_count + LOOK_EVENTS;
    *is_enough = true;
    for (size_t i = 0; i < anchor->processes.count && *is_enough && status == NM_OK; i++) {
        const nm_anchor_process *process = &anchor->processes.items[i];

        if (process->lanes[NM_ANCHOR_LANE_BOTH].allocations == 0)
            continue;
        is_used = true;
        if (process->marked_count == 0 && judges)
            status = nm_anchor_judge(anchor, i, err);
        *is_enough = process->marked_count > 0 || (judges && process->is_chosen);
    }
    *is_enough &= is_used;
    return status;
}

nm_status nm_anchor_observe(nm_anchor *anchor, const nm_record *record, bool *is_enough, nm_error *err)
{
    nm_status status;

    *is_enough = false;
    if (record->kind == NM_RECORD_DEFINITION)
        return take_definition(anchor, &record->definition, err);
    status = observe_event(anchor, &record->event, err);
    if (status == NM_OK && anchor->event_count >= anchor->next_look) {
        status = look_for_end(anchor, is_enough, err);
        anchor->is_whole = !*is_enough;
    }
    return status;
}

/* ---- Between ---- */

static void begin_second(nm_anchor *anchor)
{
    for (size_t i = 0; i < anchor->processes.count; i++) {
        nm_anchor_process *process = &anchor->processes.items[i];

        memset(process->last_stack, 0, sizeof process->last_stack);
        memset(process->last_device, 0, sizeof process->last_device);
        nm_anchor_optimizer_restart(process);
        process->graphs = (nm_anchor_graphs){0};
        process->choice.step_count = 0;
        process->marked_count = 0;
        process->net_count = 0;
        anchor->has_falls |= process->is_chosen && process->is_choice_after_fall;
    }
}

static void free_places(nm_anchor *anchor)
{
    for (size_t i = 0; i < anchor->places.count; i++)
        free(anchor->places.items[i].gaps);
    free(anchor->places.items);
    memset(&anchor->places, 0, sizeof anchor->places);
    nm_map_free(&anchor->place_of);
}

/* There may be many: where the second pass does not ask for them, they go. */
static void forget(nm_anchor *anchor)
{
    anchor->is_frugal = true;
    for (size_t i = 0; i < anchor->processes.count; i++) {
        const nm_anchor_process *process = &anchor->processes.items[i];

        anchor->is_frugal &= !process->is_chosen || process->choice.kind == NM_ANCHOR_SITE;
    }
    if (!anchor->is_frugal)
        return;
    free_places(anchor);
    nm_anchor_names_forget(&anchor->names);
}

nm_status nm_anchor_decide(nm_anchor *anchor, nm_error *err)
{
    bool is_found = anchor->options.given == NULL;
    bool is_asked = false; /* some process does not mark its steps */
    nm_status status = NM_OK;

    for (size_t i = 0; i < anchor->processes.count && status == NM_OK; i++) {
        nm_anchor_process *process = &anchor->processes.items[i];

        status = nm_anchor_judge(anchor, i, err);
        is_found |= process->is_chosen;
        anchor->is_any_chosen |= process->is_chosen;
        is_asked |= process->marked_count == 0 && process->lanes[NM_ANCHOR_LANE_BOTH].allocations > 0;
    }
    if (status == NM_OK && !is_found && !is_asked)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "--step-at: the program marks its steps, or allocates nothing");
    if (status == NM_OK && !is_found)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "--step-at %.80s: no recorded stack has such a function or file:line, and no range that name",
                       anchor->options.given);
    begin_second(anchor);
    forget(anchor);
    return status;
}

/* ---- Second pass ---- */

static bool is_chosen_stack(const nm_anchor_process *process, uint64_t stack_id)
{
    for (size_t i = 0; i < process->choice_stack_count; i++)
        if (process->choice_stacks[i] == stack_id)
            return true;
    return false;
}

static bool is_site(nm_anchor_process *process, const nm_event *event, const sight *seen)
{
    bool is_met = seen->is_allocation && seen->lane == process->choice_lane && !seen->is_again &&
                  is_chosen_stack(process, event->stack_id) && seen->device_number == process->choice_device;

    if (seen->is_allocation && seen->lane != NM_ANCHOR_LANE_COUNT) {
        process->last_stack[seen->lane] = event->stack_id;
        process->last_device[seen->lane] = seen->device_number;
    }
    if (is_met && process->is_choice_after_fall) {
        is_met = process->choice.step_count == 0 || process->net_count <= -NM_ANCHOR_UNEVEN_LITTLE;
        process->net_count = 0;
    }
    if (seen->lane == process->choice_lane)
        process->net_count += seen->is_allocation ? 1 : -1;
    return is_met;
}

static void note_again(const nm_anchor *anchor, nm_anchor_process *process, const sight *seen, uint64_t stack_id)
{
    const uint64_t *known =
        nm_map_get(&anchor->place_of, place_key(anchor, process, seen->lane, seen->device_number, stack_id));
    unsigned words =
        known == NULL ? nm_anchor_names_of_stack(&anchor->names, stack_id) : anchor->places.items[*known].words;
    uint64_t caller = (words & NM_WORD_OPTIMIZER) == 0 ? 0
                      : known == NULL                  ? nm_anchor_names_caller(&anchor->names, stack_id)
                                                       : anchor->places.items[*known].caller;

    nm_anchor_optimizer_note(process, words, caller, stack_id);
}

/* The first allocation that is no longer the optimizer's, if another run follows; and the process's first one. */
static bool is_after_optimizer(const nm_anchor *anchor, nm_anchor_process *process, const nm_event *event,
                               const sight *seen)
{
    size_t was_in = process->in_optimizer;
    unsigned words;

    if (process->choice.step_count == 0)
        return true;
    if (event->kind == NM_EVENT_RANGE_BEGIN) {
        words = nm_anchor_names_of_range(&anchor->names, event->name_id);
        if (words & (NM_WORD_OPTIMIZER | NM_WORD_BACKWARD))
            nm_anchor_optimizer_note(process, words, 0, 0);
        return false;
    }
    if (!seen->is_allocation || seen->lane == NM_ANCHOR_LANE_COUNT || event->stack_id == 0)
        return false;
    note_again(anchor, process, seen, event->stack_id);
    return was_in != 0 && process->in_optimizer != was_in && process->optimizers[was_in - 1].is_chosen &&
           (!anchor->is_whole || process->choice.step_count < process->choice.recur_count);
}

static bool begins_here(const nm_anchor *anchor, const nm_event *event, const sight *seen)
{
    switch (seen->process->choice.kind) {
    case NM_ANCHOR_SITE:
        return is_site(seen->process, event, seen);
    case NM_ANCHOR_RANGE:
        return event->kind == NM_EVENT_RANGE_BEGIN && event->name_id != 0 &&
               nm_anchor_names_range_id(&anchor->names, event->name_id) == seen->process->choice.name;
    case NM_ANCHOR_OPTIMIZER:
        return is_after_optimizer(anchor, seen->process, event, seen);
    default:
        return false;
    }
}

/* Only such events begin a step, or say where one may begin. */
static bool may_begin(const nm_anchor *anchor, const nm_event *event)
{
    return event->kind == NM_EVENT_STEP ||
           (anchor->is_any_chosen && (event->kind == NM_EVENT_ALLOC || event->kind == NM_EVENT_MAP ||
                                      event->kind == NM_EVENT_RANGE_BEGIN || is_of_graphs(event))) ||
           (anchor->has_falls && (event->kind == NM_EVENT_FREE || event->kind == NM_EVENT_UNMAP));
}

nm_status nm_anchor_begins(nm_anchor *anchor, const nm_record *record, bool *begins, nm_error *err)
{
    sight seen;
    bool begins_group = false;
    nm_status status = NM_OK;

    *begins = false;
    if (record->kind == NM_RECORD_DEFINITION)
        return anchor->is_whole ? NM_OK : take_definition(anchor, &record->definition, err);
    if (!may_begin(anchor, &record->event))
        return NM_OK;
    seen = look_at(anchor, &record->event);
    if (seen.process == NULL)
        return NM_OK;
    if (record->event.kind == NM_EVENT_STEP)
        seen.process->marked_count++;
    if (is_of_graphs(&record->event))
        status = nm_anchor_graph_note(anchor, seen.process, &record->event, &begins_group, err);
    if (seen.process->is_chosen && seen.process->marked_count == 0 && !seen.is_captured)
        *begins =
            seen.process->choice.kind == NM_ANCHOR_GRAPH ? begins_group : begins_here(anchor, &record->event, &seen);
    seen.process->choice.step_count += *begins;
    if (*begins)
        seen.process->after_count = 0;
    seen.process->after_count += seen.is_allocation;
    seen.process->seen_count += seen.is_allocation;
    seen.process->allocation_count += seen.is_allocation;
    return status;
}

/* Iterations that have ended long before the program did: the last step is all that came then. */
static void say_if_over(nm_anchor_process *process)
{
    size_t len = strlen(process->reason);
    double part = (double)process->after_count / (double)process->allocation_count;

    if (process->is_chosen && process->choice.allocation_count != NM_UNKNOWN_NUMBER && part > OVER_RATIO_MIN &&
        process->after_count > OVER_STEPS_MIN * (uint64_t)process->choice.allocation_count)
        snprintf(process->reason + len, sizeof process->reason - len,
                 "; %.0f %% of all allocations come after it was met last, and are in the last step", 100 * part);
}

nm_status nm_anchor_write(nm_anchor *anchor, const nm_sink *sink, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < anchor->processes.count && status == NM_OK && sink->wants[NM_ROW_STEP_ANCHOR]; i++) {
        nm_anchor_process *process = &anchor->processes.items[i];

        if (process->lanes[NM_ANCHOR_LANE_BOTH].allocations == 0 || process->id == 0)
            continue;
        process->choice.process_id = process->id;
        say_if_over(process);
        snprintf(process->choice.reason.text, sizeof process->choice.reason.text, "%s", process->reason);
        if (process->choice.kind == NM_ANCHOR_MARKED)
            process->choice.step_count = process->marked_count;
        status = nm_give_step_anchor(sink, &process->choice, err);
    }
    return status;
}

/* ---- Life ---- */

nm_status nm_anchor_new(const nm_anchor_options *options, nm_anchor **out, nm_error *err)
{
    nm_anchor *anchor = calloc(1, sizeof *anchor);
    nm_status status;

    *out = anchor;
    if (anchor == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    anchor->is_whole = true;
    anchor->next_look = LOOK_EVENTS;
    status = nm_anchor_names_open(&anchor->names, options->given, err);
    anchor->options = *options;
    anchor->options.given = anchor->names.given;
    return status;
}

void nm_anchor_free(nm_anchor *anchor)
{
    if (anchor == NULL)
        return;
    free_places(anchor);
    nm_map_free(&anchor->process_of);
    nm_map_free(&anchor->thread_of);
    nm_map_free(&anchor->heap_of);
    nm_map_free(&anchor->device_of);
    nm_map_free(&anchor->captured_at);
    free(anchor->processes.items);
    free(anchor->heaps.items);
    nm_anchor_names_close(&anchor->names);
    free(anchor);
}
