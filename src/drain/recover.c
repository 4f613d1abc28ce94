/* SPDX-License-Identifier: Apache-2.0
 *
 * The same merge as the drain's, over copies of the rings, begun behind what the trace holds already (known.c). What
 * can no longer be had is stated as a loss, exactly where a ring's header still says how much it was, else as a lower
 * bound. It writes whole blocks into memory and changes neither trace nor rings: whoever calls it decides what becomes
 * of them.
 */
#include "drain/recover.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "drain/clock.h"
#include "drain/known.h"
#include "drain/process.h"
#include "drain/ring_merge.h"
#include "drain/state.h"

#define BLOCK_EVENTS 65536

typedef struct recovery_work {
    nm_known known;
    nm_folder folder;
    nm_trace_writer *writer;
    nm_ring_merge merge;
    nm_processes processes;
    bool has_merge;
    uint64_t trace_ticks; /* of the trace's last event; 0: none */
    nm_recovery *out;     /* borrowed */
} recovery_work;

/* ---- Going on where the trace ends --------------------------------------------------------------------------------- */

static nm_status recall(void *context, nm_definition_kind kind, uint64_t id, nm_error *err)
{
    recovery_work *work = context;

    return nm_known_recall(&work->known, work->writer, kind, id, err);
}

static nm_status learn_aliases(recovery_work *work, nm_error *err)
{
    nm_unify *unify = &work->merge.unify;
    nm_status status = NM_OK;

    for (size_t i = 0; i < work->known.alias_count && status == NM_OK; i++) {
        const nm_definition *alias = &work->known.aliases[i];
        uint64_t process = alias->alias.thread_id, kind = alias->alias.local_id & ~(uint64_t)UINT32_MAX;
        nm_key key = {process, alias->alias.local_id & UINT32_MAX};

        if (kind == NM_ALIAS_HEAP)
            status = nm_map_put(&unify->heaps, key, alias->id, err);
        else if (kind == NM_ALIAS_DEVICE)
            status = nm_map_put(&unify->devices, key, alias->id, err);
    }
    return status;
}

static nm_status learn_modules(recovery_work *work, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < work->known.count && status == NM_OK; i++) {
        const nm_definition *definition = &work->known.items[i].definition;

        if (definition->kind != NM_DEFINE_MODULE)
            continue;
        nm_module_range range = {.base = definition->module.base,
                                 .end = definition->module.base + definition->module.bytes,
                                 .module_id = definition->id};
        status = nm_unify_learn_module(&work->merge.unify, definition->module.process_id, &range,
                                       nm_known_text(&work->known, definition->module.path), err);
    }
    return status;
}

/* An event of the rings that is older than the trace's last is late, as it would have been for the drain. */
static uint64_t ticks_at(const nm_ring_session *session, int64_t ns)
{
    uint32_t which = atomic_load_explicit(&session->which, memory_order_relaxed) & 1; /* a copy: nobody writes it */
    const nm_calibration *line = &session->calibration[which];
    int64_t span_ns = ns - line->anchor_ns;
    uint64_t span = nm_clock_span_ticks(session, (uint64_t)(span_ns < 0 ? -span_ns : span_ns));

    return span_ns < 0 ? line->anchor_ticks - span : line->anchor_ticks + span;
}

static nm_status set_up(recovery_work *work, nm_error *err)
{
    nm_known *known = &work->known;
    nm_unify *unify = &work->merge.unify;
    nm_status status = nm_trace_writer_new(&known->session, &work->writer, err);

    if (status != NM_OK)
        return status;
    nm_trace_writer_resume(work->writer, known->block_count, known->next_seq);
    nm_ring_merge_init(&work->merge, &work->folder, work->writer, NULL);
    nm_processes_init(&work->processes, &work->merge);
    work->merge.pause.is_recovery = true;
    work->merge.pause.is_used = true;
    work->has_merge = true;
    if (known->last_ns != NM_NO_TIME)
        work->trace_ticks = work->merge.last_ticks = ticks_at(work->folder.session, known->last_ns);
    unify->string_base = known->last_ids[NM_DEFINE_STRING];
    unify->heap_count = known->last_ids[NM_DEFINE_HEAP];
    unify->device_count = known->last_ids[NM_DEFINE_DEVICE];
    unify->module_count = known->last_ids[NM_DEFINE_MODULE];
    unify->attribute_count = known->last_ids[NM_DEFINE_ATTRIBUTE];
    unify->frame_count = known->last_ids[NM_DEFINE_FRAME];
    unify->stack_count = known->last_ids[NM_DEFINE_STACK];
    unify->recall = recall;
    unify->recall_context = work;
    status = learn_aliases(work, err);
    return status == NM_OK ? learn_modules(work, err) : status;
}

/* The thread that the ring's records are of, before its first THREAD record that is not in the trace yet. */
static nm_status take_up_thread(recovery_work *work, nm_ring_merge_ring *ring, uint64_t thread_id, nm_error *err)
{
    const nm_known_definition *thread = nm_known_find(&work->known, NM_DEFINE_THREAD, thread_id);
    uint64_t *table = nm_map_get(&work->known.tables, (nm_key){0, thread_id});

    if (thread == NULL)
        return NM_OK;
    ring->thread_id = thread_id;
    if (table != NULL) {
        ring->stacks = work->known.stack_tables[*table].stacks;
        ring->python_frames = work->known.stack_tables[*table].python_frames;
        work->known.stack_tables[*table] = (nm_known_table){0};
    }
    return nm_unify_thread(&work->merge.unify, thread->definition.thread.process_id, thread_id,
                           thread->definition.thread.tid, ring->view.ring_id,
                           nm_known_text(&work->known, thread->definition.thread.name), err);
}

static nm_status begin_ring(void *context, nm_ring_merge_ring *ring, nm_error *err)
{
    recovery_work *work = context;
    nm_known_ring *known = nm_known_find_ring(&work->known, ring->view.ring_id);
    uint64_t thread_id = 0;

    ring->cursor = nm_view_tail(&ring->view);
    /* relaxed: a copy; the drain is dead or moves it on only over what stands in the trace */
    ring->said_drops = atomic_load_explicit(&ring->view.ring->lost_count, memory_order_relaxed);
    if (known == NULL)
        return NM_OK;
    known->is_found = true;
    const nm_block_pending *pending = nm_known_pending(&work->known, known);
    if (pending != NULL && ring->cursor <= pending->tail_position) {
        ring->known_end = pending->read_position;
        ring->known_left = pending->event_count;
    }
    if (ring->said_drops < known->said_drops) /* else a note has them: the trace's disk was full */
        ring->said_drops = known->said_drops;
    ring->skips = known->ranges;
    ring->skip_count = known->range_count;
    known->ranges = NULL;
    known->range_count = 0;
    /* Up to the first gap all stands in the trace; who was the last there, goes on. */
    uint64_t next = ring->cursor;
    for (size_t i = 0; i < ring->skip_count && ring->skips[i].first_position <= next; i++) {
        thread_id = ring->skips[i].thread_id;
        if (ring->skips[i].last_position >= next)
            next = ring->skips[i].last_position + 1;
    }
    return take_up_thread(work, ring, thread_id, err);
}

/* ---- What is lost -------------------------------------------------------------------------------------------------- */

static nm_status say_lost(recovery_work *work, uint64_t thread_id, uint64_t count, bool is_at_least, nm_error *err)
{
    uint64_t now_ticks = nm_clock_ticks(work->folder.session->clock_kind);
    uint64_t since_ticks = work->trace_ticks != 0 ? work->trace_ticks : now_ticks;

    return nm_ring_merge_say_unreadable(&work->merge, thread_id, since_ticks, now_ticks, count, is_at_least, err);
}

static uint64_t process_of(const recovery_work *work, const nm_known_ring *ring)
{
    const nm_known_definition *thread = nm_known_find(&work->known, NM_DEFINE_THREAD, ring->thread_id);

    return thread == NULL ? 0 : thread->definition.thread.process_id;
}

/* Slots that the drain has let go though they stand in no block: the trace's disk was full, and then it was killed. Where
 * processes were paused that is as it should be. */
static bool has_let_go(const recovery_work *work, const nm_ring_merge_ring *ring, const nm_known_ring *known)
{
    uint64_t tail = nm_view_tail(&ring->view);
    const nm_ring_session *session = work->folder.session;
    uint32_t reasons = atomic_load_explicit(&session->is_paused, memory_order_relaxed) & ~(uint32_t)NM_PAUSED_FOR_GOOD;

    if (work->known.has_gap || work->known.has_pause || reasons != 0 || session->from_step > INT64_MIN ||
        session->to_step < INT64_MAX)
        return false;
    return tail > (known == NULL ? 0 : known->end);
}

/* Of a ring that was read: what the trace knows of it and what has been let go. */
static nm_status say_rest(recovery_work *work, const nm_ring_merge_ring *ring, nm_error *err)
{
    const nm_known_ring *known = nm_known_find_ring(&work->known, ring->view.ring_id);
    nm_status status = NM_OK;

    if (ring->known_left > ring->known_runs)
        status = say_lost(work, ring->thread_id, ring->known_left - ring->known_runs, false, err);
    if (status == NM_OK && !ring->is_broken && has_let_go(work, ring, known))
        status = say_lost(work, ring->thread_id, 1, true, err);
    return status;
}

/* A ring that the trace knows and that is not there, or is nonsense, though its process has not ended. */
static nm_status say_gone(recovery_work *work, const nm_known_ring *ring, nm_error *err)
{
    const nm_block_pending *pending = nm_known_pending(&work->known, ring);
    uint64_t process = process_of(work, ring);

    if (ring->is_found || nm_map_get(&work->known.ended, (nm_key){0, process}) != NULL)
        return NM_OK;
    for (size_t i = 0; i < work->processes.count; i++)
        work->processes.items[i].lost_ring_count += work->processes.items[i].number == process;
    return say_lost(work, ring->thread_id, pending == NULL ? 0 : pending->event_count + pending->dropped_count, true,
                    err);
}

/* While it is recorded rings come and go; and what is there then is not all anyway. */
static nm_status say_losses(recovery_work *work, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < work->merge.ring_count && status == NM_OK && !work->out->is_running; i++)
        status = say_rest(work, work->merge.rings[i], err);
    for (size_t i = 0; i < work->known.ring_count && status == NM_OK && !work->out->is_running; i++)
        status = say_gone(work, &work->known.rings[i], err);
    return status;
}

/* ---- Reading the rings --------------------------------------------------------------------------------------------- */

/* The files of processes that have ended are gone, as they should be. */
static void forget_ended(recovery_work *work)
{
    nm_processes *processes = &work->processes;
    size_t kept = 0;

    for (size_t i = 0; i < processes->missing_count; i++)
        if (nm_map_get(&work->known.ended, (nm_key){0, processes->missing[i]}) == NULL)
            processes->missing[kept++] = processes->missing[i];
    processes->missing_count = kept;
}

/* Nobody says whether they live: what they left open stays so. */
static void mark_rings_of_nobody(recovery_work *work)
{
    const nm_processes *processes = &work->processes;

    for (size_t i = 0; i < work->merge.ring_count; i++) {
        nm_ring_merge_ring *ring = work->merge.rings[i];
        bool has_process = false;

        for (size_t j = 0; j < processes->count; j++)
            has_process |= processes->items[j].number == ring->view.process_number;
        ring->is_dead |= !has_process;
    }
}

/* The new definition of a process cannot know a parent whose file is gone: the trace's own holds, with the run mode. */
static nm_status keep_old_processes(recovery_work *work, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < work->processes.count && status == NM_OK; i++) {
        nm_tracked *tracked = &work->processes.items[i];
        nm_known_definition *old = nm_known_find(&work->known, NM_DEFINE_PROCESS, tracked->number);

        if (nm_map_get(&work->known.ended, (nm_key){0, tracked->number}) != NULL)
            tracked->is_ended = true;
        if (old == NULL)
            continue;
        old->definition.process.run_mode = tracked->run_mode;
        old->is_recalled = false;
        status = nm_known_recall(&work->known, work->writer, NM_DEFINE_PROCESS, tracked->number, err);
    }
    return status;
}

static nm_status seal(recovery_work *work, uint32_t flags, nm_error *err)
{
    nm_bytes block;
    nm_status status = nm_ring_merge_state_positions(&work->merge, err);

    if (status == NM_OK)
        status = nm_trace_writer_seal(work->writer, flags | NM_BLOCK_RECOVERED, &block, err);
    return status == NM_OK ? nm_buffer_append(&work->out->blocks, block.data, block.len, err) : status;
}

static nm_status release_all(recovery_work *work, nm_error *err)
{
    nm_status status;
    bool is_full;

    do {
        status = nm_ring_merge_release(&work->merge, UINT64_MAX, BLOCK_EVENTS, &is_full, err);
        if (status == NM_OK && is_full)
            status = seal(work, 0, err);
    } while (status == NM_OK && is_full);
    return status;
}

static nm_status read_rings(recovery_work *work, nm_error *err)
{
    uint64_t watermark;
    bool is_busy = false;
    nm_status status;

    nm_ring_merge_count_rings(&work->merge);
    status = nm_processes_find(&work->processes, err);
    if (status == NM_OK)
        status = keep_old_processes(work, err);
    if (status == NM_OK)
        status = nm_processes_check(&work->processes, err);
    if (status == NM_OK)
        status = nm_ring_merge_find_rings(&work->merge, begin_ring, work, err);
    work->out->is_running = work->processes.live_count > 0;
    forget_ended(work);
    nm_processes_mark_rings(&work->processes);
    mark_rings_of_nobody(work);
    if (status == NM_OK)
        status = nm_ring_merge_look(&work->merge, &watermark, &is_busy, err);
    if (status == NM_OK)
        status = release_all(work, err);
    return status == NM_OK ? say_losses(work, err) : status;
}

/* What still runs is not ended, and its drain may still write: the trace gets its last block only when all is quiet. */
static nm_status end_trace(recovery_work *work, nm_error *err)
{
    nm_status status = NM_OK;

    if (!work->out->is_running)
        status = nm_processes_leave(&work->processes, err);
    if (status == NM_OK && (!work->out->is_running || nm_trace_writer_event_count(work->writer) > 0))
        status = seal(work, work->out->is_running ? 0 : NM_BLOCK_FINAL, err);
    work->out->events_recovered = work->merge.event_count;
    work->out->events_unrecovered = work->merge.unreadable_count;
    work->out->events_dropped = work->merge.dropped_count;
    work->out->is_at_least = work->merge.is_at_least;
    work->out->processes_unjoined = work->processes.missing_count + work->processes.refused_count;
    return status;
}

nm_status nm_recover_rings(nm_bytes trace, nm_recovery *out, nm_error *err)
{
    recovery_work *work = calloc(1, sizeof *work);
    nm_status status = NM_OK;

    *out = (nm_recovery){0};
    if (work == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory at a recovery");
    work->out = out;
    nm_known_scan(&work->known, trace);
    out->trace_bytes = work->known.trace_bytes;
    out->is_needed = work->known.has_block && !work->known.is_final;
    if (out->is_needed)
        status = nm_known_read(&work->known, trace, err);
    if (status == NM_OK && out->is_needed) {
        snprintf(out->ring_folder, sizeof out->ring_folder, "%s", work->known.session.ring_folder);
        out->has_rings = nm_state_open_rings(&work->known.session, &work->folder) == NM_STATE_KILLED;
    }
    if (status == NM_OK && out->has_rings) {
        status = set_up(work, err);
        if (status == NM_OK)
            status = read_rings(work, err);
        if (status == NM_OK)
            status = end_trace(work, err);
    }
    if (work->has_merge) {
        nm_processes_fini(&work->processes);
        nm_ring_merge_fini(&work->merge);
    }
    nm_trace_writer_free(work->writer);
    nm_folder_close(&work->folder);
    nm_known_fini(&work->known);
    free(work);
    return status;
}

void nm_recovery_free(nm_recovery *recovery)
{
    nm_buffer_free(&recovery->blocks);
}
