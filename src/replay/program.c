/* SPDX-License-Identifier: Apache-2.0
 *
 * What the program says of itself: operations (ranges), steps, marks, failures, calls about streams and its end; and what
 * the recorder says that it could not see. Only what is open is kept.
 */
#include "replay/program.h"

#include <stdlib.h>

#include "replay/graph.h"
#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/totals.h"
#include "replay/workspace.h"

/* ---- Operations -------------------------------------------------------------------------------------------------- */

static bool is_call(const nm_operation *operation)
{
    return operation->row.kind == NM_RANGE_OPERATOR || operation->row.kind == NM_RANGE_MODEL ||
           operation->row.kind == NM_RANGE_MODEL_LOAD || operation->row.kind == NM_RANGE_MODEL_UNLOAD;
}

static nm_key operation_key(const nm_operation *operation)
{
    return (nm_key){operation->row.process_id, (uint64_t)operation->number};
}

static void unlink_operation(nm_replay *replay, nm_operation *operation)
{
    const uint64_t *known = nm_map_get(&replay->operations, operation_key(operation));

    if (known != NULL && (nm_operation *)(uintptr_t)*known == operation)
        nm_map_remove(&replay->operations, operation_key(operation), NULL);
    if (operation->inner != NULL)
        operation->inner->outer = operation->outer;
    else
        operation->thread->operations = operation->outer;
    if (operation->outer != NULL)
        operation->outer->inner = operation->inner;
}

static nm_status write_operation(nm_replay *replay, nm_operation *operation, nm_error *err)
{
    nm_operation_row row = operation->row;
    nm_status status = NM_TELL(replay, NM_CHANGE_OPERATION_ENDED, err, .operation = operation);

    unlink_operation(replay, operation);
    free(operation);
    return status == NM_OK ? nm_give_operation(&replay->sink, &row, err) : status;
}

nm_status nm_program_range_begin(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_operation *operation = nm_replay_allocate(nm_runs_bytes_of(replay, NM_OWNER_OPERATION), err);

    if (operation == NULL)
        return NM_ERR_MEMORY;
    operation->number = event->number;
    operation->thread = context->thread != NULL ? context->thread : replay->nobody;
    operation->row = (nm_operation_row){
        .operation_id = ++replay->operation_count,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .thread_id = operation->thread->id,
        .kind = event->detail <= NM_RANGE_KIND_MAX ? (nm_range_kind)event->detail : NM_RANGE_USER,
        .name = event->name_id,
        .has_stream = (event->flags & NM_FLAG_STREAM) != 0,
        .stream = event->stream,
        .begin_seq = context->seq,
        .end_seq = NM_NO_SEQ,
        .begin_ns = event->time_ns,
        .end_ns = NM_NO_TIME,
        .parent_id = nm_replay_operation(replay, context->thread),
        .model_id = event->model_id,
        .error_code = NM_UNKNOWN_NUMBER,
    };
    if (operation->number != 0 &&
        nm_map_put(&replay->operations, operation_key(operation), (uintptr_t)operation, err) != NM_OK) {
        free(operation);
        return NM_ERR_MEMORY;
    }
    operation->outer = operation->thread->operations;
    if (operation->outer != NULL)
        operation->outer->inner = operation;
    operation->thread->operations = operation;
    nm_status status = NM_TELL(replay, NM_CHANGE_OPERATION_BEGUN, err, .context = context, .operation = operation);
    return status != NM_OK || event->requested_bytes == 0 ? status : nm_workspace_use(replay, context, operation, err);
}

nm_status nm_program_range_end(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_operation *operation = (context->thread != NULL ? context->thread : replay->nobody)->operations;

    if (context->event->number != 0) {
        uint64_t process_id = context->process == NULL ? 0 : context->process->id;
        const uint64_t *known = nm_map_get(&replay->operations, (nm_key){process_id, (uint64_t)context->event->number});

        operation = known == NULL ? NULL : (nm_operation *)(uintptr_t)*known;
    }
    if (operation == NULL)
        return NM_OK;
    operation->row.end_seq = context->seq;
    operation->row.end_ns = context->event->time_ns;
    if (is_call(operation))
        operation->row.error_code = context->event->error_code;
    if (operation->row.kind == NM_RANGE_MODEL_LOAD)
        operation->row.model_id = context->event->model_id;
    return write_operation(replay, operation, err);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static nm_status write_step(nm_replay *replay, nm_process *process, int64_t end_seq, int64_t end_ns, bool is_last,
                            nm_error *err)
{
    nm_step_row row = process->step;

    if (row.step_id == 0)
        return NM_OK;
    nm_status status = nm_totals_end_step(replay, process, end_seq, end_ns, is_last, err);
    process->step.step_id = 0;
    row.end_seq = end_seq;
    row.end_ns = end_ns;
    if (status != NM_OK)
        return status;
    return nm_give_step(&replay->sink, &row, err);
}

/* The step before it, or what was before any step, ends here. */
static nm_status begin_step(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_process *process = context->process;
    nm_status status = process->step_count == 0
                           ? nm_totals_end_step(replay, process, context->seq, context->event->time_ns, false, err)
                           : write_step(replay, process, context->seq, context->event->time_ns, false, err);

    process->step_count++;
    process->step = (nm_step_row){
        .step_id = ++replay->step_count,
        .process_id = process->id,
        .begin_seq = context->seq,
        .begin_ns = context->event->time_ns,
        .generation = (int64_t)process->step_count,
    };
    return status;
}

/* It has its number. */
static nm_status give_begun(nm_replay *replay, const nm_process *process, nm_error *err)
{
    return nm_give_step_begin(&replay->sink, &(nm_step_begin_row){process->id, process->step.number}, err);
}

nm_status nm_program_step(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_status status;

    if (context->process == NULL)
        return NM_OK;
    status = begin_step(replay, context, err);
    context->process->step.device_id = nm_replay_device(replay, event->device_id) == NULL ? 0 : event->device_id;
    context->process->step.number = event->number;
    context->process->step.source = NM_STEP_MARKED;
    return status == NM_OK ? give_begun(replay, context->process, err) : status;
}

nm_status nm_program_infer_step(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_status status;

    replay->begins_step = false;
    if (context->process == NULL)
        return NM_OK;
    status = begin_step(replay, context, err);
    context->process->step.number = (int64_t)context->process->step_count;
    context->process->step.source = NM_STEP_INFERRED;
    return status == NM_OK ? give_begun(replay, context->process, err) : status;
}

/* ---- Marks and failures ------------------------------------------------------------------------------------------ */

static void note_moment(nm_replay *replay, const nm_context *context)
{
    *(context->process == NULL ? &replay->moment_seq : &context->process->moment_seq) = context->seq;
}

nm_status nm_program_mark(nm_replay *replay, const nm_context *context, nm_error *err)
{
    note_moment(replay, context);
    return NM_TELL(replay, NM_CHANGE_MARKED, err, .context = context);
}

nm_status nm_program_failure(nm_replay *replay, const nm_context *context, nm_error *err)
{
    note_moment(replay, context);
    if (context->heap != NULL)
        context->heap->arena->failure_count++;
    return NM_TELL(replay, NM_CHANGE_FAILED, err, .context = context);
}

/* ---- Stream calls and notes -------------------------------------------------------------------------------------- */

nm_status nm_program_stream_call(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_stream_call_row row = {
        .stream_call_id = ++replay->stream_call_count,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .operation_id = nm_replay_operation(replay, context->thread),
        .stack_id = context->stack_id,
        .device_id = nm_replay_device(replay, event->device_id) == NULL ? 0 : event->device_id,
        .kind = event->detail <= NM_STREAM_CALL_MAX ? (nm_stream_call)event->detail : 0,
        .has_stream = (event->flags & NM_FLAG_STREAM) != 0,
        .stream = event->stream,
        .event = (uint64_t)event->number,
        .seq = context->seq,
        .ns = event->time_ns,
        .cost_ns = event->cost_ns < NM_SIZE_BYTES_MAX ? event->cost_ns : NM_SIZE_BYTES_MAX,
        .error_code = event->error_code,
    };

    bool is_failure = row.kind != 0 && nm_event_is_lack(event);
    nm_status status = is_failure ? nm_program_failure(replay, context, err) : NM_OK;

    if (status == NM_OK)
        status = NM_TELL(replay, NM_CHANGE_STREAM_CALL, err, .context = context);
    if (status == NM_OK)
        status = nm_graph_call(replay, context, err);
    return status == NM_OK ? nm_give_stream_call(&replay->sink, &row, err) : status;
}

nm_status nm_program_note(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_note_row row = {
        .note_id = ++replay->note_count,
        .process_id = context->process == NULL ? 0 : context->process->id,
        .thread_id = context->thread == NULL ? 0 : context->thread->id,
        .seq = context->seq,
        .ns = event->time_ns,
        .kind = event->detail <= NM_NOTE_MAX ? (nm_note)event->detail : 0,
        .text = event->name_id,
        .count = event->number < 0            ? 0
                 : event->number > UINT32_MAX ? UINT32_MAX /* no sum of them overflows */
                                              : (uint64_t)event->number,
    };

    if (context->process != NULL && row.kind == NM_NOTE_UNSEEN_LIBRARY)
        context->process->has_unseen_calls = true;
    return nm_give_note(&replay->sink, &row, err);
}

/* ---- Pauses ------------------------------------------------------------------------------------------------------ */

/* Their ends will not be told, so nothing that comes later may be taken to be inside of them. */
static nm_status leave_operations(nm_replay *replay, const nm_process *process, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_thread *thread = replay->first_thread; thread != NULL; thread = thread->next)
        while (thread->process == process && thread->operations != NULL && status == NM_OK)
            status = write_operation(replay, thread->operations, err);
    return status;
}

static nm_status write_pause(nm_replay *replay, nm_process *process, nm_error *err)
{
    if (!process->has_pause)
        return NM_OK;
    process->has_pause = false;
    return nm_give_pause(&replay->sink, &process->pause, err);
}

static nm_status end_pause(nm_replay *replay, nm_process *process, const nm_context *context, nm_error *err)
{
    process->is_paused = false;
    process->pause.end_seq = context->seq;
    process->pause.end_ns = context->event->time_ns;
    process->pause.is_end_known = context->event->detail != NM_PAUSE_END_UNKNOWN;
    if (!process->pause.is_end_known) {
        process->has_unknown_pause = true;
        process->unknown_pause_seq = context->seq;
    }
    return write_pause(replay, process, err);
}

nm_status nm_program_pause(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_process *process = nm_replay_process(replay, (uint64_t)event->number);
    nm_status status;

    if (process == NULL)
        return NM_OK;
    if (event->detail != NM_PAUSE_BEGIN && event->detail != NM_PAUSE_BEGIN_MEMORY)
        return end_pause(replay, process, context, err);
    status = NM_TELL(replay, NM_CHANGE_PAUSED, err, .context = context, .process = process);
    if (status == NM_OK)
        status = write_pause(replay, process, err);
    process->is_paused = event->detail == NM_PAUSE_BEGIN;
    process->has_pause = true;
    process->pause = (nm_pause_row){.process_id = process->id,
                                    .begin_seq = context->seq,
                                    .begin_ns = event->time_ns,
                                    .end_seq = NM_NO_SEQ,
                                    .end_ns = NM_NO_TIME,
                                    .is_memory_told = !process->is_paused};
    replay->has_pause |= process->is_paused;
    return status == NM_OK ? leave_operations(replay, process, err) : status;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

nm_status nm_program_process_end(nm_replay *replay, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    nm_process_end_row row = {
        .process_id = (uint64_t)event->number,
        .end_ns = event->detail == NM_PROCESS_RUNNING ? NM_NO_TIME : event->time_ns,
        .end_kind = (nm_process_end)event->detail,
        .end_status =
            event->detail == NM_PROCESS_RUNNING || event->error_code < 0 ? NM_UNKNOWN_NUMBER : event->error_code,
    };
    nm_process *process = nm_replay_process(replay, row.process_id);
    nm_status status;

    if (process == NULL)
        return NM_OK;
    status = write_step(replay, process, context->seq, event->time_ns, true, err);
    if (status == NM_OK)
        status = NM_TELL(replay, NM_CHANGE_PROCESS_ENDED, err, .context = context, .process = process);
    if (status == NM_OK)
        status = nm_give_process_end(&replay->sink, &row, err);
    return status;
}

nm_status nm_program_finish(nm_replay *replay, nm_error *err)
{
    nm_status status = NM_OK;

    while (replay->nobody->operations != NULL && status == NM_OK)
        status = write_operation(replay, replay->nobody->operations, err);
    for (nm_thread *thread = replay->first_thread; thread != NULL; thread = thread->next)
        while (thread->operations != NULL && status == NM_OK)
            status = write_operation(replay, thread->operations, err);
    for (nm_process *process = replay->first_process; process != NULL && status == NM_OK; process = process->next) {
        status = write_step(replay, process, NM_NO_SEQ, NM_NO_TIME, true, err);
        if (status == NM_OK)
            status = write_pause(replay, process, err);
    }
    return status;
}

static void discard_operations(nm_replay *replay, nm_thread *thread)
{
    while (thread->operations != NULL) {
        nm_operation *operation = thread->operations;

        unlink_operation(replay, operation);
        free(operation);
    }
}

void nm_program_discard(nm_replay *replay)
{
    if (replay->nobody != NULL) /* there was no memory for it */
        discard_operations(replay, replay->nobody);
    for (nm_thread *thread = replay->first_thread; thread != NULL; thread = thread->next)
        discard_operations(replay, thread);
}
