/* SPDX-License-Identifier: Apache-2.0
 *
 * The three parts of a load meet here: a source gives records, a replay follows them, the store gets its rows. Where the
 * recording was killed, what is left in its rings is given to the source first. Nothing is printed while records are read
 * but progress; what was lost is kept as lines until the output is in its place.
 */
#include "tool/ingest/load.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analysis/passes.h"
#include "base/door.h"
#include "base/human.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "drain/recover.h"
#include "tool/common/steps.h"
#include "tool/common/trace_map.h"
#include "tool/ingest/input_row.h"

#define EVENTS_BETWEEN_PROGRESS 4096

/* ---- Opening ---- */

char *ingest_part_path(const ingest *run, size_t index)
{
    char *path = NULL;

    return asprintf(&path, "%s.%zu", run->output_path, index + 1) < 0 ? NULL : path;
}

const char *ingest_input_name(const tool_input *input)
{
    return input->path_count == 1 && !nm_door_is_handed(input->paths[0]) ? input->paths[0] : input->name;
}

nm_status ingest_open_input(ingest *run, nm_error *err)
{
    run->subject = ingest_input_name(run->input);
    return tool_input_open(run->input, &run->input_fd, &run->files, err);
}

static uint64_t input_bytes(const ingest *run)
{
    struct stat info;
    uint64_t bytes = 0;

    for (size_t i = 0; i < run->files.count; i++)
        bytes += run->files.items[i].bytes;
    if (run->files.count > 0)
        return bytes;
    return fstat(run->input_fd, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
}

/* ---- Reading ---- */

/* What the rings of a dead recorder hold. Rings that cannot be read lose only their own events: the trace is loaded without
 * them. */
static nm_status add_recovered(ingest *run, const nm_trace_files *files, nm_error *err)
{
    nm_recovery recovery = {0};
    trace_map map;
    nm_status status = NM_OK;

    if (trace_map_open(files, &map, NULL) != NM_OK)
        return NM_OK;
    if (nm_recover_rings(map.bytes, &recovery, NULL) == NM_OK && recovery.blocks.len > 0)
        status = nm_trace_source_add_tail(run->source, (nm_bytes){recovery.blocks.data, recovery.blocks.len}, 0, err);
    nm_recovery_free(&recovery);
    trace_map_close(&map);
    return status;
}

/* Gives the source what stands behind the end of a trace that has none; if it has one after all, the source will meet it. */
static nm_status look_behind(ingest *run, nm_error *err)
{
    nm_trace_file single = {.fd = run->input_fd, .bytes = input_bytes(run)};
    nm_trace_files files =
        run->files.count > 0 ? run->files : (nm_trace_files){.items = &single, .count = 1, .capacity = 1};
    nm_source_summary_data summary;

    nm_source_summary(run->source, &summary);
    if (strcmp(summary.kind, "trace") != 0)
        return NM_OK;
    run->state = nm_state_look(nm_trace_source_session(run->source), files.items[files.count - 1].fd);
    if (run->state == NM_STATE_RUNNING)
        return nm_trace_source_add_tail(run->source, (nm_bytes){0}, 0, err);
    return run->state == NM_STATE_KILLED ? add_recovered(run, &files, err) : NM_OK;
}

static void note_record(ingest *run, const nm_record *record)
{
    if (record->kind == NM_RECORD_EVENT && (record->event.flags & NM_FLAG_BASELINE) == 0 &&
        !nm_event_is_repeat(&record->event)) {
        int64_t seq = (int64_t)record->event.seq;

        if (run->first_seq == NM_NO_SEQ || seq < run->first_seq)
            run->first_seq = seq;
        if (run->last_seq == NM_NO_SEQ || seq > run->last_seq)
            run->last_seq = seq;
    }
    if (++run->record_count % EVENTS_BETWEEN_PROGRESS == 0)
        nm_progress_update(&run->progress, nm_source_position(run->source), run->record_count);
}

static nm_status tell_window(const ingest *run, const nm_record *record, nm_error *err)
{
    const nm_event *event = &record->event;

    if (run->options->detail != NM_RETENTION_WINDOW || record->kind != NM_RECORD_EVENT ||
        (event->flags & NM_FLAG_BASELINE) != 0 || nm_event_is_repeat(event))
        return NM_OK;
    return nm_store_event(run->part, (int64_t)event->seq, event->time_ns, err);
}

static nm_status begin_step(ingest *run, const nm_record *record, nm_error *err)
{
    bool begins = false;
    nm_status status = run->anchor == NULL ? NM_OK : nm_anchor_begins(run->anchor, record, &begins, err);

    if (begins)
        nm_replay_begin_step(run->replay);
    return status;
}

static nm_status read_records(ingest *run, nm_error *err)
{
    nm_record record;
    nm_status status = NM_OK;

    run->subject = run->input->name;
    while (status == NM_OK) {
        status = nm_claims_next(run->claims, &record, err);
        if (status != NM_OK)
            break;
        note_record(run, &record);
        status = tell_window(run, &record, err);
        if (status == NM_OK)
            status = begin_step(run, &record, err);
        if (status == NM_OK)
            status = nm_replay_record(run->replay, &record, err);
    }
    if (status == NM_END)
        status = nm_replay_finish(run->replay, err);
    if (status == NM_OK && run->anchor != NULL)
        status = nm_anchor_write(run->anchor, nm_store_sink(run->part), err);
    if (status == NM_ERR_DATABASE)
        run->subject = run->output_path;
    return status;
}

static nm_status begin_source(ingest *run, nm_error *err)
{
    nm_status status;

    tool_inputs_show(&run->progress);
    status = tool_input_source(run->input_fd, &run->files, &run->source, err);
    tool_inputs_show(NULL);
    return status == NM_OK ? look_behind(run, err) : status;
}

nm_status ingest_begin_input(ingest *run, const tool_input *input, nm_error *err)
{
    nm_status status;

    run->input = input;
    run->first_seq = run->last_seq = NM_NO_SEQ;
    run->state = NM_STATE_UNSEEN;
    status = ingest_open_input(run, err);
    nm_progress_begin(&run->progress, run->options->progress, input_bytes(run));
    run->progress.slot = run->slot;
    return status == NM_OK && !tool_steps_needs_copy(run->options->step_at, run->input_fd) ? begin_source(run, err)
                                                                                           : status;
}

/* What comes through a pipe: only now, when it is known that there is a place for the output. */
static nm_status open_pipe(ingest *run, nm_error *err)
{
    nm_status status;

    run->subject = run->input->name;
    tool_inputs_show(&run->progress);
    status = tool_steps_open_pipe(&run->input_fd, &run->source, err);
    tool_inputs_show(NULL);
    return status == NM_OK ? look_behind(run, err) : status;
}

/* Reads the input once to find out where steps begin, and goes back to its first record. */
static nm_status find_steps(ingest *run, nm_error *err)
{
    bool is_new = false;
    nm_status status;

    nm_progress_say(&run->progress, "looking for steps");
    run->subject = run->input->name;
    status = tool_steps_find(run->options->step_at, run->source, &run->anchor, err);
    if (status == NM_OK && run->anchor != NULL)
        status = tool_input_again(run->input_fd, &run->files, &run->source, &is_new, err);
    return status == NM_OK && is_new ? look_behind(run, err) : status;
}

/* What reading it took: before the end of the load takes memory of its own. */
static void end_reading(ingest *run)
{
    nm_replay_free(run->replay);
    nm_anchor_free(run->anchor);
    nm_claims_free(run->claims);
    nm_source_close(run->source);
    run->replay = NULL;
    run->anchor = NULL;
    run->claims = NULL;
    run->source = NULL;
}

void ingest_end_input(ingest *run)
{
    end_reading(run);
    nm_io_close(run->input_fd);
    nm_trace_files_close(&run->files);
    if (run->part != run->store)
        nm_store_close(run->part);
    run->input_fd = -1;
    run->part = NULL;
}

/* ---- Finishing ---- */

static void say_count(FILE *out, const char **separator, uint64_t count, const char *what)
{
    char number[NM_HUMAN_BYTES];

    if (count == 0)
        return;
    fprintf(out, "%s%s %s", *separator, nm_human_count(number, (int64_t)count), nm_spoken(what));
    *separator = nm_spoken(", ");
}

/* How many were in a ring that cannot be read may not be known. */
static void say_unrecovered(FILE *out, const char **separator, const nm_source_summary_data *summary)
{
    if (!summary->is_loss_exact) {
        fprintf(out, "%s%s", *separator,
                nm_spoken(summary->events_unrecovered == 0 ? "events not recovered from rings" : "at least"));
        *separator = summary->events_unrecovered == 0 ? nm_spoken(", ") : " ";
    }
    say_count(out, separator, summary->events_unrecovered, "events not recovered from rings");
}

/* Of processes that were to be recorded, and were not. */
static void say_unjoined(FILE *out, const char **separator, const nm_source_summary_data *summary)
{
    if (strcmp(summary->kind, "log") == 0)
        say_count(out, separator, summary->processes_unjoined,
                  summary->processes_unjoined == 1 ? "more process, whose lines the launcher has left out"
                                                   : "more processes, whose lines the launcher has left out");
    else
        say_count(out, separator, summary->processes_unjoined,
                  summary->processes_unjoined == 1 ? "process could not join the recording"
                                                   : "processes could not join the recording");
    if (!summary->has_unseen || summary->processes_unjoined > 0)
        return;
    fprintf(out, "%s%s", *separator, nm_spoken("processes may have run unrecorded"));
    *separator = nm_spoken(", ");
}

static void report_loss(const ingest *run, const nm_source_summary_data *summary)
{
    const char *separator = " ";
    FILE *out = run->losses_file;
    char name[PATH_MAX];

    fprintf(out, nm_spoken("npumem-ingest: %s: not complete:"), nm_shown_text(name, sizeof name, run->input->name));
    say_count(out, &separator, summary->events_dropped, "events dropped while recording");
    say_count(out, &separator, summary->events_damaged, "events in damaged blocks");
    say_count(out, &separator, summary->bytes_damaged, "bytes damaged");
    say_unrecovered(out, &separator, summary);
    say_unjoined(out, &separator, summary);
    say_count(out, &separator, summary->events_without_stack, "events lost their stack");
    say_count(out, &separator, summary->bytes_cut, "bytes cut at the end");
    say_count(out, &separator, summary->blocks_outside, "blocks in no segment: it contradicts itself");
    say_count(out, &separator, nm_store_unknown_references(run->part), "references to what was never defined");
    if (!summary->is_finished)
        fprintf(out, "%s%s", separator, nm_spoken(nm_state_reason(run->state)));
    fprintf(out, "\n");
}

static nm_status finish_input(ingest *run, const nm_source_summary_data *summary, nm_error *err)
{
    nm_input_row input = ingest_input_row(summary, run->input->name, run->first_seq, run->last_seq);

    input.state = nm_state_word(!summary->is_finished   ? run->state
                                : summary->is_recovered ? NM_STATE_RECOVERED
                                                        : NM_STATE_ENDED);
    if (summary->recording_id[0] != 0)
        input.recording_id = (nm_bytes){(const uint8_t *)summary->recording_id, strlen(summary->recording_id)};

    input.has_rank = tool_input_rank(run->input->name, &input.rank);
    run->subject = run->output_path;
    nm_progress_say(&run->progress, run->part == run->store ? "making indexes and views" : "finishing the input");
    nm_status status = nm_store_finish(run->part, &input, err);
    const nm_frame_name_counts *counts = nm_store_name_counts(run->part);
    run->name_counts.named_frames += counts->named_frames;
    run->name_counts.unnamed_modules += counts->unnamed_modules;
    if (!summary->is_complete || nm_store_unknown_references(run->part) > 0)
        report_loss(run, summary);
    return status;
}

nm_status ingest_load_input(ingest *run, nm_error *err)
{
    nm_source_summary_data summary = {0};
    nm_status status = NM_OK;

    if (run->source == NULL)
        status = open_pipe(run, err);
    if (status == NM_OK)
        status = find_steps(run, err);
    if (status == NM_OK)
        status = nm_replay_new(nm_store_sink(run->part), nm_passes, &run->replay, err);
    if (status == NM_OK)
        status = nm_claims_new(run->source, &run->claims, err);
    if (status == NM_OK)
        status = read_records(run, err);
    if (status == NM_OK) {
        nm_source_summary(run->source, &summary);
        end_reading(run);
        status = finish_input(run, &summary, err);
    }
    return status;
}
