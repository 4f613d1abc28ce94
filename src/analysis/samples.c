/* SPDX-License-Identifier: Apache-2.0
 *
 * What heaps and devices held at each moment. Every heap has its present state in its scope's array; a peak copies that
 * array, a mark gives those states to the sink that have changed since they were given last. A state stands for all the
 * time from its event to the heap's next change, so that a moment finds it without a row of its own.
 *
 * A device says how much of it is free only when it is asked. What it said belongs to every moment from which on (or up to
 * which) no memory of it came or went; so peaks stay open, and rows of marks wait, until the next change.
 */
#include "analysis/samples.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/moments.h"
#include "analysis/passes.h"
#include "base/buffer.h"
#include "base/number.h"
#include "replay/lookup.h"

enum { NEED_MOMENTS };

#define PEAK_HEAPS_MAX   512 /* heaps of one scope that a peak keeps */
#define OPEN_MOMENTS_MAX 4096

/* What a heap held right after an event. */
typedef struct heap_state {
    const nm_heap *heap;
    nm_heap_sample_row row;
} heap_state;

/* Heaps whose states belong together: of one piece of hardware, or of one process without a device. */
typedef struct sample_scope {
    heap_state *states; /* owned; of heaps that ever held something, until their process ends */
    size_t count, capacity;
    const nm_heap *first_dirty; /* whose states have not been written */
} sample_scope;

/* What a device said of itself. */
typedef struct device_figures {
    bool is_known;
    uint64_t kind; /* nm_memory_kind */
    uint64_t free_bytes, total_bytes;
    int64_t seq, ns;
    int64_t recorded_bytes; /* what was recorded of it then, of all processes */
} device_figures;

/* All heaps of a scope, at a peak of one of them or of the device. It is open while no memory of the hardware came or went
 * since then: what the device says of itself then still counts. */
typedef struct peak_states {
    heap_state *states; /* owned */
    size_t count, capacity;
    bool is_whole; /* all heaps are in it; else the peaking one alone */
    bool is_open;  /* is in the hardware's list */
    device_figures figures;
    bool is_stale;
    int64_t at_seq, until_seq;
    struct peak_states *previous_open, *next_open;
} peak_states;

typedef struct event_time {
    bool is_known; /* it has happened */
    int64_t seq;
} event_time;

typedef struct hardware_room {
    sample_scope scope;
    uint64_t kept_epoch; /* peak_epoch that at_peak is of */
    peak_states at_peak;
    peak_states *first_open;
    bool has_changed; /* by this event: is in the replay's list */
    const nm_device_group *next_changed;
    uint64_t moment_id; /* the last one that it has rows of */
    device_figures figures;
    event_time changed, gone; /* memory last came or went; or went with a process */
    struct {                  /* rows of marks and failures that are open */
        nm_device_sample_row *items;
        size_t count, capacity;
    } open;
} hardware_room;

typedef struct process_room {
    sample_scope scope; /* of its heaps without a device */
    bool has_ended;
    int64_t end_seq;
} process_room;

/* What a process's heaps take of a device, summed up heap by heap. */
typedef struct device_tally {
    uint64_t number; /* whose sums these are */
    bool is_written;
    uint64_t pool_bytes, stated_bytes, program_bytes, module_bytes, physical_bytes, mapped_bytes;
    int64_t rounding_bytes;
} device_tally;

typedef struct heap_room {
    size_t slot;       /* its state in the scope, plus 1; 0: none */
    bool has_state;    /* held something, ever */
    bool is_unsettled; /* changed by this event: is in the replay's list */
    bool is_dirty;     /* is in the scope's list */
    const nm_heap *next_unsettled, *next_dirty;
    uint64_t kept_epoch; /* peak_epoch that at_peak is of */
    peak_states at_peak;
} heap_room;

typedef struct replay_room {
    uint64_t tally_count;
    const nm_heap *first_unsettled;
    const nm_device_group *first_changed;
} replay_room;

static heap_room *room_of_heap(const nm_run *run, const nm_heap *heap)
{
    return nm_heap_room(run, heap);
}

static hardware_room *room_of_hardware(const nm_run *run, const nm_device_group *hardware)
{
    return nm_hardware_room(run, hardware);
}

static sample_scope *scope_of_process(const nm_run *run, const nm_process *process)
{
    return &((process_room *)nm_process_room(run, process))->scope;
}

static device_tally *tally_of(const nm_run *run, const nm_device *device)
{
    return nm_device_room(run, device);
}

/* The place in the order of events that has been reached; -1: before the first. */
static int64_t position(const nm_run *run)
{
    return run->replay->has_events ? run->replay->last_seq : -1;
}

static sample_scope *scope_of(const nm_run *run, const nm_heap *heap)
{
    return heap->device == NULL ? scope_of_process(run, heap->process)
                                : &room_of_hardware(run, heap->device->group)->scope;
}

static uint64_t limit(uint64_t bytes)
{
    return bytes < NM_SIZE_BYTES_MAX ? bytes : NM_SIZE_BYTES_MAX; /* so that no sum of rows overflows soon */
}

static nm_heap_sample_row row_of(const nm_heap *heap, int64_t since_seq)
{
    return (nm_heap_sample_row){
        .heap_id = heap->id,
        .since_seq = since_seq,
        .live_bytes = limit(heap->total.live_bytes),
        .live_count = heap->live_count,
        .page_bytes = limit(heap->page_bytes),
        .mapped_bytes = limit(heap->mapped_bytes),
        .segment_bytes = limit(heap->segment_bytes),
        .reserved_bytes = limit(nm_pool_reserved_bytes(heap)),
        .is_stated = nm_pool_is_stated(heap),
        .is_at_least = nm_pool_is_unseen(heap) && heap->total.live_bytes > 0,
    };
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static nm_status write_state(const nm_run *run, const heap_state *state, nm_error *err)
{
    return nm_give_heap_sample(&run->replay->sink, &state->row, err);
}

static nm_status write_device(const nm_run *run, const nm_device_sample_row *row, nm_error *err)
{
    return nm_give_device_sample(&run->replay->sink, row, err);
}

static nm_status write_dirty(const nm_run *run, sample_scope *scope, nm_error *err)
{
    nm_status status = NM_OK;

    while (scope->first_dirty != NULL && status == NM_OK) {
        heap_room *room = room_of_heap(run, scope->first_dirty);

        scope->first_dirty = room->next_dirty;
        room->is_dirty = false;
        status = write_state(run, &scope->states[room->slot - 1], err);
    }
    return status;
}

/* ---- What a process takes of a device ---------------------------------------------------------------------------- */

static void tally_driver(device_tally *tally, const heap_state *state)
{
    const nm_heap_sample_row *row = &state->row;
    uint64_t own_bytes = nm_subtract_saturated(row->live_bytes, row->segment_bytes);
    bool is_program = state->heap->module_id == 0 || state->heap->module_id == NM_MODULE_APP;
    uint64_t *sum = is_program ? &tally->program_bytes : &tally->module_bytes;

    nm_sum_add(sum, own_bytes);
    nm_sum_add(&tally->mapped_bytes, row->mapped_bytes);
    tally->rounding_bytes += (int64_t)row->page_bytes - (int64_t)row->live_bytes;
}

static uint64_t begin_tally(const nm_run *run)
{
    return ++((replay_room *)nm_replay_room(run))->tally_count;
}

static void tally_state(const nm_run *run, const heap_state *state, uint64_t number)
{
    const nm_heap_sample_row *row = &state->row;
    device_tally *tally = tally_of(run, state->heap->device);

    if (tally->number != number)
        *tally = (device_tally){.number = number};
    if (state->heap->level == NM_LEVEL_DRIVER) {
        tally_driver(tally, state);
    } else if (state->heap->level == NM_LEVEL_PHYSICAL) {
        nm_sum_add(&tally->physical_bytes, row->live_bytes);
        tally->rounding_bytes += (int64_t)row->page_bytes - (int64_t)row->live_bytes;
    } else if (nm_is_pool(state->heap)) {
        nm_sum_add(&tally->pool_bytes, row->reserved_bytes);
        if (row->is_stated)
            nm_sum_add(&tally->stated_bytes, row->reserved_bytes);
    }
}

/* Stays where no sum of such overflows soon. */
static int64_t add_limited(int64_t a, int64_t b)
{
    const int64_t most = INT64_MAX / 4;
    int64_t sum = (a > most ? most : a) + (b > most ? most : b);

    return sum > most ? most : sum;
}

/* Mapped memory is physical memory, and what a pool states is likely to be memory that the driver gave to the program:
 * each is counted once. */
static int64_t tally_sum(const device_tally *tally)
{
    uint64_t sum = nm_add_saturated(tally->pool_bytes, tally->module_bytes);

    nm_sum_add(&sum, nm_subtract_saturated(tally->program_bytes, tally->stated_bytes));
    nm_sum_add(&sum, nm_subtract_saturated(tally->physical_bytes, tally->mapped_bytes));
    return add_limited((int64_t)sum, tally->rounding_bytes);
}

nm_device_share nm_samples_share(const nm_run *run, const nm_device *device)
{
    const sample_scope *scope = &room_of_hardware(run, device->group)->scope;
    const device_tally *tally = tally_of(run, device);
    uint64_t number = begin_tally(run);

    for (size_t i = 0; i < scope->count; i++)
        if (scope->states[i].heap->device == device)
            tally_state(run, &scope->states[i], number);
    return tally->number != number ? (nm_device_share){0} : (nm_device_share){tally_sum(tally), tally->module_bytes};
}

static int64_t recorded_of_all(const nm_run *run, const sample_scope *scope)
{
    uint64_t number = begin_tally(run);
    int64_t sum = 0;

    for (size_t i = 0; i < scope->count; i++)
        tally_state(run, &scope->states[i], number);
    for (size_t i = 0; i < scope->count; i++) {
        device_tally *tally = tally_of(run, scope->states[i].heap->device);

        if (!tally->is_written)
            sum = add_limited(sum, tally_sum(tally));
        tally->is_written = true;
    }
    return sum;
}

/* Of a device with a tally, once a tally. */
static nm_device_sample_row device_row(const nm_run *run, const nm_device *device, uint64_t moment_id,
                                       const device_figures *figures, bool is_stale, int64_t at_seq)
{
    device_tally *tally = tally_of(run, device);

    tally->is_written = true;
    return (nm_device_sample_row){
        .moment_id = moment_id,
        .device_id = device->id,
        .hardware_id = device->group->peak.device_id,
        .recorded_bytes = tally_sum(tally),
        .has_sample = figures->is_known,
        .free_bytes = figures->free_bytes,
        .total_bytes = figures->total_bytes,
        .sample_seq = figures->is_known ? figures->seq : NM_NO_SEQ,
        .sample_ns = figures->is_known ? figures->ns : NM_NO_TIME,
        .sample_recorded_bytes = figures->recorded_bytes,
        .is_stale = is_stale,
        .at_seq = at_seq,
        .until_seq = at_seq,
    };
}

/* ---- Open moments ------------------------------------------------------------------------------------------------ */

static nm_status write_open(const nm_run *run, hardware_room *hardware, int64_t until_seq, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < hardware->open.count && status == NM_OK; i++) {
        nm_device_sample_row *row = &hardware->open.items[i];

        if (until_seq > row->until_seq)
            row->until_seq = until_seq;
        status = write_device(run, row, err);
    }
    hardware->open.count = 0;
    return status;
}

static void open_peak(hardware_room *hardware, peak_states *peak)
{
    if (peak->is_open)
        return;
    peak->is_open = true;
    peak->previous_open = NULL;
    peak->next_open = hardware->first_open;
    if (hardware->first_open != NULL)
        hardware->first_open->previous_open = peak;
    hardware->first_open = peak;
}

static void close_peak(hardware_room *hardware, peak_states *peak, int64_t until_seq)
{
    if (!peak->is_open)
        return;
    if (peak->previous_open != NULL)
        peak->previous_open->next_open = peak->next_open;
    else
        hardware->first_open = peak->next_open;
    if (peak->next_open != NULL)
        peak->next_open->previous_open = peak->previous_open;
    peak->is_open = false;
    if (until_seq > peak->until_seq)
        peak->until_seq = until_seq;
}

/* Memory of the hardware came or went: what it says from now on does not belong to earlier moments. */
static nm_status close_all(const nm_run *run, hardware_room *hardware, int64_t until_seq, nm_error *err)
{
    while (hardware->first_open != NULL)
        close_peak(hardware, hardware->first_open, until_seq);
    return write_open(run, hardware, until_seq, err);
}

static bool is_before(const device_figures *figures, event_time time)
{
    return figures->is_known && time.is_known && figures->seq < time.seq;
}

static bool is_stale_now(const hardware_room *hardware)
{
    return is_before(&hardware->figures, hardware->changed) || is_before(&hardware->figures, hardware->gone);
}

/* The hardware says how much of it is free. */
static void take_figures(const nm_run *run, hardware_room *hardware, const device_figures *figures)
{
    device_figures *last = &hardware->figures;
    bool is_lesser = last->is_known && last->kind == NM_MEMORY_HBM && figures->kind == NM_MEMORY_DDR;

    if (figures->total_bytes == 0 || (figures->kind != NM_MEMORY_HBM && figures->kind != NM_MEMORY_DDR) || is_lesser)
        return;
    *last = *figures;
    last->is_known = true;
    last->free_bytes = limit(figures->free_bytes);
    last->total_bytes = limit(figures->total_bytes);
    last->recorded_bytes = recorded_of_all(run, &hardware->scope);
    for (peak_states *peak = hardware->first_open; peak != NULL; peak = peak->next_open)
        if (!peak->figures.is_known || peak->is_stale) {
            peak->figures = *last;
            peak->is_stale = false;
        }
    for (size_t i = 0; i < hardware->open.count; i++) {
        nm_device_sample_row *row = &hardware->open.items[i];

        if (row->has_sample && !row->is_stale)
            continue;
        row->has_sample = true;
        row->is_stale = false;
        row->free_bytes = last->free_bytes;
        row->total_bytes = last->total_bytes;
        row->sample_seq = last->seq;
        row->sample_ns = last->ns;
        row->sample_recorded_bytes = last->recorded_bytes;
    }
}

static device_figures figures_in(const nm_context *context, uint64_t kind)
{
    return (device_figures){
        .kind = kind,
        .free_bytes = context->event->free_bytes,
        .total_bytes = context->event->total_bytes,
        .seq = context->seq,
        .ns = context->event->time_ns,
    };
}

static void take_sample(const nm_run *run, const nm_context *context)
{
    const nm_device *device = nm_replay_device(run->replay, context->event->device_id);
    device_figures figures = figures_in(context, context->event->detail);

    if (context->event->kind == NM_EVENT_MEMORY_SAMPLE && device != NULL)
        take_figures(run, room_of_hardware(run, device->group), &figures);
}

/* A driver that fails to give memory says how much it has. */
static void take_failure(const nm_run *run, const nm_context *context)
{
    hardware_room *hardware;
    device_figures figures;

    if (context->heap == NULL || context->heap->device == NULL)
        return;
    hardware = room_of_hardware(run, context->heap->device->group);
    figures = figures_in(context, hardware->figures.kind);
    take_figures(run, hardware, &figures);
}

/* ---- States ------------------------------------------------------------------------------------------------------ */

static void add_unsettled(const nm_run *run, const nm_heap *heap)
{
    replay_room *all = nm_replay_room(run);
    heap_room *room = room_of_heap(run, heap);

    if (room->is_unsettled)
        return;
    room->is_unsettled = true;
    room->next_unsettled = all->first_unsettled;
    all->first_unsettled = heap;
}

/* An ended process that still changes had not ended: what it held is there again. */
static void revive(const nm_run *run, const nm_process *process)
{
    process_room *room = nm_process_room(run, process);

    room->has_ended = false;
    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process)
        if (room_of_heap(run, heap)->has_state)
            add_unsettled(run, heap);
}

static void touch(const nm_run *run, const nm_heap *heap)
{
    if (((const process_room *)nm_process_room(run, heap->process))->has_ended)
        revive(run, heap->process);
    add_unsettled(run, heap);
}

/* What the event has touched so far, and is not known to be. */
static void take_touched(const nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_touched; heap != NULL; heap = heap->next_touched)
        if (!room_of_heap(run, heap)->is_unsettled)
            touch(run, heap);
}

static void note_change(const nm_run *run, const nm_device_group *group)
{
    replay_room *all = nm_replay_room(run);
    hardware_room *hardware = room_of_hardware(run, group);

    if (hardware->has_changed)
        return;
    hardware->has_changed = true;
    hardware->next_changed = all->first_changed;
    all->first_changed = group;
}

/* Is it memory of the device itself, and not a part or a second view of such? */
static bool is_of_device(const nm_heap *heap)
{
    return heap->device != NULL &&
           (heap->level == NM_LEVEL_DRIVER || heap->level == NM_LEVEL_PHYSICAL || nm_pool_is_unseen(heap));
}

static nm_status settle_heap(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    sample_scope *scope = scope_of(run, heap);
    heap_room *room = room_of_heap(run, heap);
    nm_heap_sample_row row = row_of(heap, position(run));
    nm_heap_sample_row *old;
    nm_status status = NM_OK;

    if (room->slot == 0) {
        status = nm_array_grow(&scope->states, &scope->capacity, scope->count + 1, sizeof *scope->states, err);
        if (status != NM_OK)
            return status;
        scope->states[scope->count] = (heap_state){.heap = heap};
        room->slot = ++scope->count;
        room->has_state = true;
    }
    old = &scope->states[room->slot - 1].row;
    if (is_of_device(heap) && (old->live_bytes != row.live_bytes || old->page_bytes != row.page_bytes ||
                               old->mapped_bytes != row.mapped_bytes))
        note_change(run, heap->device->group);
    *old = row;
    if (!room->is_dirty) {
        room->is_dirty = true;
        room->next_dirty = scope->first_dirty;
        scope->first_dirty = heap;
    }
    return NM_OK;
}

/* Of more heaps than a peak keeps it keeps one: that of slot `own`, or none (0). */
static nm_status copy_states(peak_states *peak, const sample_scope *scope, size_t own, nm_error *err)
{
    nm_status status;

    peak->is_whole = scope->count <= PEAK_HEAPS_MAX;
    peak->count = peak->is_whole ? scope->count : own != 0;
    status = nm_array_grow(&peak->states, &peak->capacity, peak->count, sizeof *peak->states, err);
    if (status != NM_OK)
        peak->count = 0;
    else if (peak->is_whole)
        memcpy(peak->states, scope->states, peak->count * sizeof *peak->states);
    else if (own != 0)
        peak->states[0] = scope->states[own - 1];
    return status;
}

static nm_status keep_peak(peak_states *peak, const sample_scope *scope, size_t own, hardware_room *hardware,
                           int64_t at_seq, nm_error *err)
{
    nm_status status = copy_states(peak, scope, own, err);

    if (hardware == NULL || status != NM_OK)
        return status;
    peak->figures = hardware->figures;
    peak->is_stale = is_stale_now(hardware);
    peak->at_seq = at_seq;
    peak->until_seq = at_seq;
    open_peak(hardware, peak);
    return NM_OK;
}

/* The heap's and its hardware's, where they have peaked since they were kept last. */
static nm_status keep_peaks(const nm_run *run, const nm_heap *heap, nm_error *err)
{
    const nm_device_group *group = heap->device == NULL ? NULL : heap->device->group;
    hardware_room *hardware = group == NULL ? NULL : room_of_hardware(run, group);
    heap_room *room = room_of_heap(run, heap);
    nm_status status = NM_OK;

    if (room->kept_epoch != heap->peak_epoch && !heap->is_peak_kept)
        status = keep_peak(&room->at_peak, scope_of(run, heap), room->slot, hardware, position(run), err);
    room->kept_epoch = heap->peak_epoch;
    if (hardware != NULL && hardware->kept_epoch != group->peak_epoch && status == NM_OK) {
        hardware->kept_epoch = group->peak_epoch;
        if (!group->is_peak_kept)
            status = keep_peak(&hardware->at_peak, &hardware->scope, 0, hardware, position(run), err);
    }
    return status;
}

static nm_status close_changed(const nm_run *run, nm_error *err)
{
    replay_room *all = nm_replay_room(run);
    nm_status status = NM_OK;

    while (all->first_changed != NULL) {
        hardware_room *hardware = room_of_hardware(run, all->first_changed);

        all->first_changed = hardware->next_changed;
        hardware->has_changed = false;
        hardware->changed = (event_time){true, position(run)};
        if (status == NM_OK)
            status = close_all(run, hardware, position(run) - 1, err);
    }
    return status;
}

/* All that the event has touched is as it leaves it: the states are taken over. */
static nm_status settle(const nm_run *run, nm_error *err)
{
    replay_room *all = nm_replay_room(run);
    nm_status status = NM_OK;

    for (const nm_heap *heap = all->first_unsettled; heap != NULL && status == NM_OK;
         heap = room_of_heap(run, heap)->next_unsettled)
        status = settle_heap(run, heap, err);
    if (status == NM_OK)
        status = close_changed(run, err);
    while (all->first_unsettled != NULL) {
        const nm_heap *heap = all->first_unsettled;
        heap_room *room = room_of_heap(run, heap);

        all->first_unsettled = room->next_unsettled;
        room->is_unsettled = false;
        if (status == NM_OK && run->replay->has_events)
            status = keep_peaks(run, heap, err);
    }
    return status;
}

/* What the baseline made is one moment, however many peaks it passed through. */
static nm_status keep_all_peaks(const nm_run *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        status = keep_peaks(run, heap, err);
    return status;
}

/* Takes the heap's state out of its scope; the last one moves to its place. */
static void drop_state(const nm_run *run, sample_scope *scope, const nm_heap *heap)
{
    heap_room *room = room_of_heap(run, heap);
    const nm_heap **link = &scope->first_dirty;

    if (room->slot == 0)
        return;
    while (room->is_dirty && *link != heap)
        link = &room_of_heap(run, *link)->next_dirty;
    if (room->is_dirty)
        *link = room->next_dirty;
    room->is_dirty = false;
    scope->states[room->slot - 1] = scope->states[--scope->count];
    room_of_heap(run, scope->states[room->slot - 1].heap)->slot = room->slot;
    room->slot = 0;
}

/* ---- Marks and failures -------------------------------------------------------------------------------------------- */

static nm_status add_open(const nm_run *run, hardware_room *hardware, const nm_device_sample_row *row, nm_error *err)
{
    nm_status status = NM_OK;

    if (hardware->open.count == OPEN_MOMENTS_MAX)
        status = write_open(run, hardware, position(run), err);
    if (status == NM_OK)
        status =
            nm_array_grow(&hardware->open.items, &hardware->open.capacity, hardware->open.count + 1, sizeof *row, err);
    if (status == NM_OK)
        hardware->open.items[hardware->open.count++] = *row;
    return status;
}

static nm_status sample_hardware(const nm_run *run, hardware_room *hardware, uint64_t moment_id, nm_error *err)
{
    const sample_scope *scope = &hardware->scope;
    uint64_t number = begin_tally(run);
    nm_status status = write_dirty(run, &hardware->scope, err);

    hardware->moment_id = moment_id;
    for (size_t i = 0; i < scope->count; i++)
        tally_state(run, &scope->states[i], number);
    for (size_t i = 0; i < scope->count && status == NM_OK; i++) {
        const nm_device *device = scope->states[i].heap->device;
        nm_device_sample_row row;

        if (tally_of(run, device)->is_written)
            continue;
        row = device_row(run, device, moment_id, &hardware->figures, is_stale_now(hardware), position(run));
        status = add_open(run, hardware, &row, err);
    }
    return status;
}

static nm_status sample_process(const nm_run *run, const nm_process *process, uint64_t moment_id, nm_error *err)
{
    nm_status status = write_dirty(run, scope_of_process(run, process), err);

    for (const nm_arena *arena = process->arenas; arena != NULL && status == NM_OK; arena = arena->next) {
        const nm_device *device = nm_replay_device(run->replay, arena->device_id);
        hardware_room *hardware = device == NULL ? NULL : room_of_hardware(run, device->group);

        if (hardware != NULL && hardware->moment_id != moment_id)
            status = sample_hardware(run, hardware, moment_id, err);
    }
    return status;
}

/* The present moment of a process (NULL: of all). Rows of devices are given when their memory changes, or at the end. */
static nm_status sample_now(const nm_run *run, const nm_process *process, nm_error *err)
{
    uint64_t moment_id = nm_moments_last(run->needs[NEED_MOMENTS]);
    nm_status status = NM_OK;

    if (process != NULL)
        return sample_process(run, process, moment_id, err);
    for (process = run->replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = sample_process(run, process, moment_id, err);
    return status;
}

/* ---- Ends and moves ---------------------------------------------------------------------------------------------- */

/* Its memory is gone with it. */
static nm_status end_process(const nm_run *run, const nm_process *process, nm_error *err)
{
    process_room *room = nm_process_room(run, process);
    nm_status status = NM_OK;

    take_touched(run); /* what the event touched before was of a process that goes on */
    room->has_ended = true;
    room->end_seq = position(run);
    for (const nm_heap *heap = process->heaps; heap != NULL && status == NM_OK; heap = heap->next_of_process) {
        status = write_dirty(run, scope_of(run, heap), err);
        if (status == NM_OK && is_of_device(heap) && heap->total.live_bytes > 0) {
            hardware_room *hardware = room_of_hardware(run, heap->device->group);

            hardware->gone = (event_time){true, position(run)};
            status = close_all(run, hardware, position(run) - 1, err);
        }
        drop_state(run, scope_of(run, heap), heap);
    }
    return status;
}

static nm_status leave_hardware(const nm_run *run, hardware_room *old, const nm_heap *heap, nm_error *err)
{
    heap_room *room = room_of_heap(run, heap);
    nm_status status = write_dirty(run, &old->scope, err);

    if (status != NM_OK)
        return status;
    close_peak(old, &room->at_peak, position(run));
    if (room->slot != 0)
        touch(run, heap);
    drop_state(run, &old->scope, heap);
    return NM_OK;
}

static nm_status move_device(const nm_run *run, const nm_device *device, const nm_device_group *from, nm_error *err)
{
    hardware_room *old = room_of_hardware(run, from);
    hardware_room *hardware = room_of_hardware(run, device->group);
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (heap->device == device)
            status = leave_hardware(run, old, heap, err);
    if (!hardware->figures.is_known)
        hardware->figures = old->figures;
    if (from->peak.device_id == 0 && old->at_peak.count > 0 && hardware->at_peak.count == 0) { /* it was left by all */
        close_peak(old, &old->at_peak, position(run));
        hardware->at_peak = old->at_peak;
        old->at_peak = (peak_states){0};
    }
    return status == NM_OK ? settle(run, err) : status;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_status sample_peak(const nm_run *run, uint64_t moment_id, const peak_states *peak, nm_error *err)
{
    uint64_t number = begin_tally(run);
    nm_status status = NM_OK;

    for (size_t i = 0; i < peak->count && status == NM_OK; i++) {
        status = write_state(run, &peak->states[i], err);
        if (peak->is_whole && peak->states[i].heap->device != NULL)
            tally_state(run, &peak->states[i], number);
    }
    for (size_t i = 0; i < peak->count && peak->is_whole && status == NM_OK; i++) {
        const nm_device *device = peak->states[i].heap->device;
        nm_device_sample_row row;

        if (device == NULL || tally_of(run, device)->is_written)
            continue;
        row = device_row(run, device, moment_id, &peak->figures, peak->is_stale, peak->at_seq);
        row.until_seq = peak->until_seq;
        status = write_device(run, &row, err);
    }
    return status;
}

/* Did the process still hold its memory when the device was asked last? */
static bool is_part_of_end(const nm_run *run, const nm_device *device)
{
    const process_room *process = nm_process_room(run, device->process);
    const device_figures *figures = &room_of_hardware(run, device->group)->figures;

    return !process->has_ended || !figures->is_known || process->end_seq > figures->seq;
}

static nm_status sample_devices_at_end(const nm_run *run, nm_error *err)
{
    uint64_t number = begin_tally(run);
    nm_status status = NM_OK;

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        if (heap->device != NULL && room_of_heap(run, heap)->has_state)
            tally_state(run, &(heap_state){.heap = heap, .row = row_of(heap, position(run))}, number);
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next) {
        const nm_device *device = heap->device;
        const hardware_room *hardware;
        nm_device_sample_row row;

        if (device == NULL || !room_of_heap(run, heap)->has_state || tally_of(run, device)->is_written ||
            !is_part_of_end(run, device))
            continue;
        hardware = room_of_hardware(run, device->group);
        row = device_row(run, device, nm_moments_end(run->needs[NEED_MOMENTS]), &hardware->figures,
                         is_before(&hardware->figures, hardware->changed), position(run));
        status = write_device(run, &row, err);
    }
    return status;
}

static nm_status sample_end(const nm_run *run, nm_error *err)
{
    const nm_replay *replay = run->replay;
    nm_status status = NM_OK;

    for (const nm_process *process = replay->first_process; process != NULL && status == NM_OK; process = process->next)
        status = write_dirty(run, scope_of_process(run, process), err);
    for (const nm_device_group *group = replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = write_dirty(run, &room_of_hardware(run, group)->scope, err);
    return status == NM_OK ? sample_devices_at_end(run, err) : status;
}

static nm_status close(const nm_run *run, nm_error *err)
{
    nm_status status = run->replay->has_events ? NM_OK : keep_all_peaks(run, err);

    for (const nm_device_group *group = run->replay->first_group; group != NULL && status == NM_OK; group = group->next)
        status = close_all(run, room_of_hardware(run, group), position(run), err);
    return status;
}

/* Peaks of heaps, the end and peaks of hardware, in the order of their moments. */
static nm_status end(const nm_run *run, nm_error *err)
{
    const nm_run *moments = run->needs[NEED_MOMENTS];
    nm_status status = close(run, err);

    for (const nm_heap *heap = run->replay->first_heap; heap != NULL && status == NM_OK; heap = heap->next)
        if (nm_moments_peak_of(moments, heap) != 0)
            status = sample_peak(run, nm_moments_peak_of(moments, heap), &room_of_heap(run, heap)->at_peak, err);
    if (status == NM_OK)
        status = sample_end(run, err);
    for (const nm_device_group *group = run->replay->first_group; group != NULL && status == NM_OK; group = group->next)
        if (nm_moments_hardware_peak_of(moments, group) != 0)
            status = sample_peak(run, nm_moments_hardware_peak_of(moments, group),
                                 &room_of_hardware(run, group)->at_peak, err);
    return status;
}

/* ---- The pass ------------------------------------------------------------------------------------------------------ */

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    switch (change->kind) {
    case NM_CHANGE_DONE:
        take_touched(run);
        return settle(run, err);
    case NM_CHANGE_BEGUN:
        return keep_all_peaks(run, err);
    case NM_CHANGE_DEVICE_MOVED:
        return move_device(run, change->device, change->hardware, err);
    case NM_CHANGE_FAILED:
        take_failure(run, change->context);
        return sample_now(run, change->context->process, err);
    case NM_CHANGE_MARKED:
        return sample_now(run, change->context->process, err);
    case NM_CHANGE_SAMPLED:
        take_sample(run, change->context);
        return NM_OK;
    case NM_CHANGE_PROCESS_ENDED:
        return change->context->event->detail == NM_PROCESS_RUNNING ? NM_OK : end_process(run, change->process, err);
    default:
        return end(run, err);
    }
}

static void release(nm_run *run)
{
    for (const nm_heap *heap = run->replay->first_heap; heap != NULL; heap = heap->next)
        free(room_of_heap(run, heap)->at_peak.states);
    for (const nm_device_group *group = run->replay->first_group; group != NULL; group = group->next) {
        hardware_room *hardware = room_of_hardware(run, group);

        free(hardware->scope.states);
        free(hardware->at_peak.states);
        free(hardware->open.items);
    }
    for (const nm_process *process = run->replay->first_process; process != NULL; process = process->next)
        free(scope_of_process(run, process)->states);
}

static const nm_pass *const needs[] = {[NEED_MOMENTS] = &nm_moments_pass, NULL};

const nm_pass nm_samples_pass = {
    .name = "samples",
    .gives = {[NM_ROW_HEAP_SAMPLE] = true, [NM_ROW_DEVICE_SAMPLE] = true},
    .needs = needs,
    .wants = {[NM_CHANGE_BEGUN] = true,
              [NM_CHANGE_DONE] = true,
              [NM_CHANGE_DEVICE_MOVED] = true,
              [NM_CHANGE_MARKED] = true,
              [NM_CHANGE_FAILED] = true,
              [NM_CHANGE_SAMPLED] = true,
              [NM_CHANGE_PROCESS_ENDED] = true,
              [NM_CHANGE_END] = true},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room),
             [NM_OWNER_PROCESS] = sizeof(process_room),
             [NM_OWNER_DEVICE] = sizeof(device_tally),
             [NM_OWNER_HARDWARE] = sizeof(hardware_room),
             [NM_OWNER_HEAP] = sizeof(heap_room)},
    .change = change,
    .release = release,
};
