/* SPDX-License-Identifier: Apache-2.0
 *
 * At a birth it is noted in which part of an iteration it lies, and what its thread was told to be making; at its end, or the
 * end of the stream, that is judged. What is told goes before what is known by the heap, and that before what is inferred.
 * Of what was there before the recording nothing but the stack tells of the birth; of what is read from a keyframe nothing.
 */
#include "analysis/category_rules.h"
#include "analysis/passes.h"
#include "analysis/peak_sums.h"
#include "replay/lookup.h"
#include "replay/pass.h"

#define MODULE_HCCL 3 /* of CANN */

typedef struct replay_room {
    nm_category_names *names; /* owned */
    nm_map early;             /* (process, size) -> early ones that live */
    nm_map in_backward;       /* (process, size) -> made in backward passes that live */
    nm_map workspaces;        /* (process, size) -> those of libraries that live */
    nm_map of_pass;   /* (process, size) -> number of a backward pass * 2^32 + gradients of it that have ended */
    nm_map gradients; /* (process, size) -> most gradients that a pass left */
} replay_room;

typedef struct process_room {
    nm_category_clock clock;
    nm_largest_cache_row cache; /* process_id 0: it has none */
} process_room;

typedef struct thread_room {
    bool is_autograd; /* by its name */
} thread_room;

typedef struct site_room {
    nm_category_site site;
} site_room;

typedef struct live_room {       /* of each that lives: in few bytes */
    uint64_t init_file;          /* as nm_category_stack */
    uint64_t told;               /* string; 0: nothing */
    nm_category_place end_place; /* where it is given up, or ends */
    nm_category_birth birth;
    uint8_t end_phase; /* nm_phase */
    bool is_workspace; /* an operator worked in it */
    bool is_counted;   /* its birth was seen */
    bool is_end_known;
} live_room;

typedef struct operation_room { /* its own, else that of the operation around it */
    nm_phase phase;
    uint64_t told;
} operation_room;

/* ---- Counts by size ------------------------------------------------------------------------------------------------ */

static nm_key size_key(const nm_live *live)
{
    return (nm_key){live->heap->process->id, live->row.size_bytes};
}

static uint64_t count_of(const nm_map *map, const nm_live *live)
{
    const uint64_t *known = nm_map_get(map, size_key(live));

    return known == NULL ? 0 : *known;
}

static nm_status count_up(nm_map *map, const nm_live *live, nm_error *err)
{
    uint64_t *known = nm_map_get(map, size_key(live));

    if (known == NULL)
        return nm_map_put(map, size_key(live), 1, err);
    ++*known;
    return NM_OK;
}

static void count_down(nm_map *map, const nm_live *live)
{
    uint64_t *known = nm_map_get(map, size_key(live));

    if (known != NULL && --*known == 0)
        nm_map_remove(map, size_key(live), NULL);
}

/* A gradient has ended: how many of its size did one backward pass leave? */
static nm_status count_gradient(replay_room *own, const nm_live *live, const nm_category_birth *birth, nm_error *err)
{
    uint64_t known = count_of(&own->of_pass, live);
    uint64_t count = known >> 32 == birth->place.backwards ? (known & UINT32_MAX) + 1 : 1;
    nm_status status =
        nm_map_put(&own->of_pass, size_key(live), (uint64_t)birth->place.backwards << 32 | (count & UINT32_MAX), err);

    return status == NM_OK && count > count_of(&own->gradients, live)
               ? nm_map_put(&own->gradients, size_key(live), count, err)
               : status;
}

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

static const operation_room *room_around(const nm_run *run, const nm_context *context)
{
    static const operation_room nothing;
    const nm_operation *operation = nm_replay_innermost(run->replay, context->thread);

    return operation == NULL ? &nothing : nm_operation_room(run, operation);
}

/* A file of a model may have any name. */
static nm_phase phase_of(nm_category_names *names, const nm_operation_row *row)
{
    if (row->kind == NM_RANGE_MODEL_LOAD || row->kind == NM_RANGE_MODEL_UNLOAD)
        return NM_PHASE_NONE;
    return row->kind == NM_RANGE_MODULE ? NM_PHASE_FORWARD : nm_category_names_range(names, row->name);
}

static nm_status take_operation(nm_run *run, const nm_change *change, nm_error *err)
{
    const replay_room *own = nm_replay_room(run);
    const nm_operation *operation = change->operation;
    operation_room *room = nm_operation_room(run, operation);
    nm_phase phase = phase_of(own->names, &operation->row);
    static const nm_category_stack none;

    (void)err;
    if (operation->outer != NULL)
        *room = *(const operation_room *)nm_operation_room(run, operation->outer);
    if (operation->row.kind == NM_RANGE_CATEGORY)
        room->told = operation->row.name;
    if (phase == NM_PHASE_NONE)
        return NM_OK;
    room->phase = phase;
    if (change->context->process != NULL)
        nm_category_tick(&((process_room *)nm_process_room(run, change->context->process))->clock, &none, phase);
    return NM_OK;
}

/* ---- Birth --------------------------------------------------------------------------------------------------------- */

static bool is_autograd(const nm_run *run, const nm_thread *thread)
{
    return thread != NULL && ((const thread_room *)nm_thread_room(run, thread))->is_autograd;
}

/* The part of an iteration that the event is in, and the clock moved on to it. */
static nm_status see_event(nm_run *run, const nm_context *context, const nm_category_stack **stack, nm_phase *phase,
                           nm_error *err)
{
    const replay_room *own = nm_replay_room(run);
    nm_category_clock *clock = &((process_room *)nm_process_room(run, context->process))->clock;
    nm_status status = nm_category_names_stack(own->names, context->stack_id, stack, err);

    if (status != NM_OK)
        return status;
    *phase = nm_category_phase(clock, *stack, room_around(run, context)->phase, is_autograd(run, context->thread));
    nm_category_tick(clock, *stack, *phase);
    return NM_OK;
}

static void enter_site(nm_category_clock *clock, nm_category_site *site, nm_phase phase)
{
    if (phase == NM_PHASE_FORWARD && !site->is_forward) {
        site->is_forward = true;
        clock->forward_sites++;
        clock->forward_live_sites += site->live > 0;
    }
    clock->forward_live_sites += site->live++ == 0 && site->is_forward;
}

static void leave_site(nm_category_clock *clock, nm_category_site *site)
{
    clock->forward_live_sites -= --site->live == 0 && site->is_forward;
}

static nm_status count_birth(nm_run *run, const nm_live *live, live_room *room, nm_error *err)
{
    replay_room *own = nm_replay_room(run);
    nm_status status = NM_OK;

    room->is_counted = true;
    if (!live->is_baseline)
        enter_site(&((process_room *)nm_process_room(run, live->heap->process))->clock,
                   &((site_room *)nm_site_room(run, live->site))->site, room->birth.phase);
    if (room->birth.is_early)
        status = count_up(&own->early, live, err);
    if (status == NM_OK && room->birth.phase == NM_PHASE_BACKWARD)
        status = count_up(&own->in_backward, live, err);
    if (status == NM_OK && room->birth.makes_workspace)
        status = count_up(&own->workspaces, live, err);
    return status;
}

/* What the stack, or the thread, says of a birth that was not seen. */
static nm_status be_known(nm_run *run, const nm_context *context, const nm_live *live, nm_error *err)
{
    static const nm_category_clock unknown;
    const replay_room *own = nm_replay_room(run);
    live_room *room = nm_live_room(run, live);
    const nm_category_stack *stack;
    nm_status status = nm_category_names_stack(own->names, context->stack_id, &stack, err);

    if (status != NM_OK)
        return status;
    nm_phase phase = nm_category_phase(&unknown, stack, NM_PHASE_NONE, is_autograd(run, context->thread));
    room->init_file = stack->init_file;
    room->birth = (nm_category_birth){
        .phase = phase,
        .is_early = phase == NM_PHASE_NONE,
        .is_baseline = true,
        .makes_weights = stack->makes_weights,
        .makes_cache = stack->makes_cache,
        .communicates = stack->communicates,
        .makes_workspace = stack->makes_workspace,
    };
    return count_birth(run, live, room, err);
}

static nm_status take_birth(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_context *context = change->context;
    nm_category_clock *clock = &((process_room *)nm_process_room(run, context->process))->clock;
    live_room *room = nm_live_room(run, change->live);
    const nm_category_stack *stack;
    nm_phase phase = NM_PHASE_NONE;
    nm_status status;

    room->told = context->event->kind == NM_EVENT_ALLOC ? context->event->name_id : 0;
    if (room->told == 0)
        room->told = room_around(run, context)->told;
    if (change->live->is_baseline)
        return be_known(run, context, change->live, err);
    if (context->event->kind == NM_EVENT_KEYFRAME || change->live->is_unseen)
        return NM_OK;
    status = see_event(run, context, &stack, &phase, err);
    if (status != NM_OK)
        return status;
    room->init_file = stack->init_file;
    room->birth = (nm_category_birth){
        .place = clock->place,
        .phase = phase,
        .is_early = phase == NM_PHASE_NONE && clock->place.backwards == 0,
        .makes_weights = stack->makes_weights,
        .makes_cache = stack->makes_cache,
        .communicates = stack->communicates,
        .makes_workspace = stack->makes_workspace,
    };
    return count_birth(run, change->live, room, err);
}

/* ---- End ----------------------------------------------------------------------------------------------------------- */

/* Else it ends because of something else, of which nothing is known. */
static bool is_free(const nm_context *context)
{
    return context != NULL && context->process != NULL &&
           (context->event->kind == NM_EVENT_FREE || context->event->kind == NM_EVENT_FREE_REQUESTED ||
            context->event->kind == NM_EVENT_UNMAP);
}

/* The program gives it up, or it ends. */
static nm_status take_giving_up(nm_run *run, const nm_change *change, nm_error *err)
{
    live_room *room = nm_live_room(run, change->live);
    const nm_category_stack *stack;
    nm_phase phase = NM_PHASE_NONE;
    nm_status status = NM_OK;

    if (room->is_end_known)
        return NM_OK;
    if (is_free(change->context))
        status = see_event(run, change->context, &stack, &phase, err);
    room->is_end_known = true;
    room->end_phase = phase;
    room->end_place = ((process_room *)nm_process_room(run, change->live->heap->process))->clock.place;
    return status;
}

/* By where it comes from; NM_CATEGORY_UNKNOWN: it may be anything. */
static nm_category known_by_place(const nm_live *live, const live_room *room)
{
    const nm_live_row *row = &live->row;

    if (row->is_segment)
        return NM_CATEGORY_SEGMENT;
    if (live->heap->level == NM_LEVEL_WORKSPACE || room->is_workspace)
        return NM_CATEGORY_WORKSPACE;
    if (live->heap->module_id == MODULE_HCCL)
        return NM_CATEGORY_COMMUNICATION;
    return nm_live_more_of(live)->graph_id != 0 ? NM_CATEGORY_GRAPH : NM_CATEGORY_UNKNOWN;
}

/* What is made early may be known by its size; of others the rules do not ask. */
static void count_like_it(const replay_room *own, const nm_category_clock *clock, const nm_live *live,
                          nm_category_end *end)
{
    uint64_t in_backward = end->is_live && clock->last != NM_PHASE_BACKWARD ? count_of(&own->in_backward, live) : 0;

    end->like_it = count_of(&own->early, live);
    end->gradients = count_of(&own->gradients, live);
    end->workspaces = count_of(&own->workspaces, live);
    if (in_backward > end->gradients)
        end->gradients = in_backward;
}

static nm_category infer(nm_run *run, const nm_live *live, bool is_live)
{
    replay_room *own = nm_replay_room(run);
    const live_room *room = nm_live_room(run, live);
    const nm_category_clock *clock = &((process_room *)nm_process_room(run, live->heap->process))->clock;
    nm_category_birth birth = room->birth;
    nm_category_end end = {.place = room->end_place, .phase = room->end_phase};

    if (!room->is_counted || (live->heap->level != NM_LEVEL_POOL && live->heap->level != NM_LEVEL_DRIVER))
        return NM_CATEGORY_UNKNOWN;
    if (is_live)
        end = (nm_category_end){.place = clock->place, .is_live = true};
    if (birth.is_early)
        count_like_it(own, clock, live, &end);
    birth.makes_weights |= nm_category_names_has_forward(own->names, room->init_file);
    return nm_category_judge(clock, &((site_room *)nm_site_room(run, live->site))->site, &birth, &end);
}

static void note_cache(const nm_run *run, const nm_live *live)
{
    const nm_process *process = live->heap->process;
    nm_largest_cache_row *largest = &((process_room *)nm_process_room(run, process))->cache;

    if (live->row.is_segment || live->heap->device == NULL)
        return;
    if (largest->process_id == 0 || live->row.size_bytes > largest->size_bytes ||
        (live->row.size_bytes == largest->size_bytes && live->row.alloc_seq > largest->seq))
        *largest = (nm_largest_cache_row){process->id, live->row.alloc_seq, live->row.size_bytes};
}

static nm_status give(nm_run *run, const nm_live *live, nm_category category, bool is_estimate, bool is_live,
                      nm_error *err)
{
    const live_room *room = nm_live_room(run, live);
    nm_category_row row = {.allocation_id = live->row.allocation_id,
                           .category_id = nm_category_id(category, is_estimate)};
    nm_key key = {row.category_id, category == NM_CATEGORY_OWN ? room->told : 0};

    if (category == NM_CATEGORY_UNKNOWN)
        return NM_OK;
    if (category == NM_CATEGORY_KV_CACHE)
        note_cache(run, live);
    nm_status status = nm_peak_sums_add(nm_heap_room(run, live->heap), &live->row,
                                        is_live ? live->heap->total.peak_seq : live->more->peak_seq, key, err);
    return status == NM_OK ? nm_give_category(&run->replay->sink, &row, err) : status;
}

static nm_status judge(nm_run *run, const nm_live *live, bool is_live, nm_category *inferred, nm_error *err)
{
    const replay_room *own = nm_replay_room(run);
    const live_room *room = nm_live_room(run, live);
    bool is_told = room->told != 0 && !live->row.is_segment; /* of a segment what is in it is told */
    nm_category told = is_told ? nm_category_names_word(own->names, room->told) : NM_CATEGORY_UNKNOWN;
    nm_category known = told != NM_CATEGORY_UNKNOWN ? told : known_by_place(live, room);

    *inferred = infer(run, live, is_live);
    return known != NM_CATEGORY_UNKNOWN ? give(run, live, known, false, is_live, err)
                                        : give(run, live, *inferred, true, is_live, err);
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *live = change->live;
    replay_room *own = nm_replay_room(run);
    const live_room *room = nm_live_room(run, live);
    nm_category_site *site = &((site_room *)nm_site_room(run, live->site))->site;
    nm_category category;
    nm_status status = judge(run, live, false, &category, err);

    if (!room->is_counted)
        return status;
    if (!live->is_baseline) {
        site->activations += category == NM_CATEGORY_ACTIVATION;
        site->others += category != NM_CATEGORY_ACTIVATION;
        leave_site(&((process_room *)nm_process_room(run, live->heap->process))->clock, site);
    }
    if (room->birth.is_early)
        count_down(&own->early, live);
    if (room->birth.phase == NM_PHASE_BACKWARD)
        count_down(&own->in_backward, live);
    if (room->birth.makes_workspace)
        count_down(&own->workspaces, live);
    return status == NM_OK && category == NM_CATEGORY_GRADIENT ? count_gradient(own, live, &room->birth, err) : status;
}

/* ---- The pass ------------------------------------------------------------------------------------------------------ */

static nm_status take_definition(nm_run *run, const nm_change *change, nm_error *err)
{
    replay_room *own = nm_replay_room(run);
    const nm_definition *definition = change->definition;
    nm_status status = own->names == NULL ? nm_category_names_new(&own->names, err) : NM_OK;
    const nm_thread *thread =
        definition->kind == NM_DEFINE_THREAD ? nm_replay_thread(run->replay, definition->id) : NULL;

    if (status == NM_OK && thread != NULL)
        ((thread_room *)nm_thread_room(run, thread))->is_autograd |=
            nm_category_names_is_autograd(own->names, definition->thread.name);
    return status == NM_OK ? nm_category_names_add(own->names, definition, err) : status;
}

static nm_status take_workspace(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    if (change->live != NULL)
        ((live_room *)nm_live_room(run, change->live))->is_workspace = true;
    return NM_OK;
}

static nm_status take_refusal(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    ((live_room *)nm_live_room(run, change->live))->is_end_known = false;
    return NM_OK;
}

static nm_status take_outstanding(nm_run *run, const nm_change *change, nm_error *err)
{
    nm_category unused;

    return judge(run, change->live, true, &unused, err);
}

static nm_status finish(nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next) {
        nm_peak_sums *sums = nm_heap_room(run, heap);

        nm_peak_sums_settle(sums, heap->total.peak_seq);
        for (size_t i = 0; i < sums->count && status == NM_OK; i++) {
            const nm_peak_sum *sum = &sums->items[i];

            status = nm_give_peak_category(&run->replay->sink,
                                           &(nm_peak_category_row){.heap_id = heap->id,
                                                                   .category_id = sum->key.high,
                                                                   .own_name = sum->key.low,
                                                                   .live_count = sum->live_count,
                                                                   .live_bytes = sum->live_bytes},
                                           err);
        }
    }
    for (const nm_process *process = run->replay->first_process; process != NULL && status == NM_OK;
         process = process->next) {
        const process_room *room = nm_process_room(run, process);

        if (room->cache.process_id != 0)
            status = nm_give_largest_cache(&run->replay->sink, &room->cache, err);
    }
    return status;
}

static void release(nm_run *run)
{
    replay_room *own = nm_replay_room(run);

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        nm_peak_sums_free(nm_heap_room(run, heap));
    nm_category_names_free(own->names);
    nm_map_free(&own->early);
    nm_map_free(&own->in_backward);
    nm_map_free(&own->workspaces);
    nm_map_free(&own->of_pass);
    nm_map_free(&own->gradients);
}

const nm_pass nm_category_pass = {
    .name = "category",
    .gives = {[NM_ROW_CATEGORY] = true, [NM_ROW_PEAK_CATEGORY] = true, [NM_ROW_LARGEST_CACHE] = true},
    .wants = {[NM_CHANGE_DEFINED] = take_definition,
              [NM_CHANGE_OPERATION_BEGUN] = take_operation,
              [NM_CHANGE_BORN] = take_birth,
              [NM_CHANGE_WORKSPACE] = take_workspace,
              [NM_CHANGE_GIVEN_UP] = take_giving_up,
              [NM_CHANGE_ENDING] = take_giving_up,
              [NM_CHANGE_REFUSED] = take_refusal,
              [NM_CHANGE_ENDED] = take_end,
              [NM_CHANGE_OUTSTANDING] = take_outstanding},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room),
             [NM_OWNER_PROCESS] = sizeof(process_room),
             [NM_OWNER_THREAD] = sizeof(thread_room),
             [NM_OWNER_SITE] = sizeof(site_room),
             [NM_OWNER_HEAP] = sizeof(nm_peak_sums),
             [NM_OWNER_LIVE] = sizeof(live_room),
             [NM_OWNER_OPERATION] = sizeof(operation_room)},
    .finish = finish,
    .release = release,
};
