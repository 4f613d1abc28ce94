/* SPDX-License-Identifier: Apache-2.0
 *
 * A stream is read twice where its steps are not marked, first for the anchor and then through a replay whose rows are
 * gathered; a database gives the rows themselves. Both fill the same tables (whatif/gather.h), so that nothing behind this
 * knows which it was.
 */
#include "tool/whatif/load.h"

#include <stdio.h>

#include "analysis/passes.h"
#include "base/io.h"
#include "base/spoken.h"
#include "replay/replay.h"
#include "source/source.h"
#include "tool/common/inputs.h"
#include "tool/common/steps.h"
#include "tool/whatif/database.h"

#define ROWS_BETWEEN_LOOKS 4096

/* The gather's sink, and a look at the clock now and then. */
typedef struct counting {
    nm_sink sink; /* of this */
    const nm_sink *to;
    nm_progress *progress;
    uint64_t row_count;
} counting;

static nm_status count_row(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    counting *rows = context;

    if (++rows->row_count % ROWS_BETWEEN_LOOKS == 0)
        nm_progress_say(rows->progress, nm_spoken("reading the requests"));
    return nm_give(rows->to, kind, row, err);
}

static void begin_counting(counting *rows, nm_gather *gather, nm_progress *progress)
{
    *rows = (counting){.to = nm_gather_sink(gather), .progress = progress};
    rows->sink = *rows->to;
    rows->sink.context = rows;
    rows->sink.row = count_row;
}

typedef struct reading {
    int fd;
    nm_trace_files files;
    nm_source *source;
    nm_replay *replay;
    nm_anchor *anchor; /* where steps begin that are not marked */
} reading;

static nm_status read_records(reading *state, nm_error *err)
{
    nm_record record;
    nm_status status = NM_OK;

    while (status == NM_OK) {
        bool begins = false;

        status = nm_source_next(state->source, &record, err);
        if (status == NM_OK)
            status = nm_anchor_begins(state->anchor, &record, &begins, err);
        if (begins)
            nm_replay_begin_step(state->replay);
        if (status == NM_OK)
            status = nm_replay_record(state->replay, &record, err);
    }
    return status == NM_END ? nm_replay_finish(state->replay, err) : status;
}

/* All processes are of the one input. */
static void take_basis(nm_gather *gather, const nm_carries *carries)
{
    for (size_t i = 0; i < gather->processes.count; i++) {
        nm_gather_process *process = &gather->processes.items[i];

        process->is_hit_estimated = carries->hits < NM_GRADE_EXACT;
        process->is_peak_estimated = carries->peak == NM_GRADE_ESTIMATE;
        process->is_peak_untold = carries->peak < NM_GRADE_ESTIMATE;
    }
}

static nm_status open_source(reading *state, nm_progress *progress, nm_error *err)
{
    nm_status status;

    tool_inputs_show(progress);
    status = tool_steps_needs_copy(NULL, state->fd) ? tool_steps_open_pipe(&state->fd, &state->source, err)
                                                    : tool_input_source(state->fd, &state->files, &state->source, err);
    tool_inputs_show(NULL);
    return status;
}

static nm_status read_stream(const tool_input *input, counting *rows, whatif_input *out, nm_error *err)
{
    reading state = {.fd = -1};
    bool is_new;
    nm_source_summary_data summary;
    nm_status status = tool_input_open(input, &state.fd, &state.files, err);

    if (status == NM_OK)
        status = open_source(&state, rows->progress, err);
    if (status == NM_OK)
        status = tool_steps_find(NULL, state.source, &state.anchor, err);
    if (status == NM_OK)
        status = tool_input_again(state.fd, &state.files, &state.source, &is_new, err);
    if (status == NM_OK)
        status = nm_replay_new(&rows->sink, nm_passes, &state.replay, err);
    if (status == NM_OK)
        status = read_records(&state, err);
    if (status == NM_OK) {
        nm_source_summary(state.source, &summary);
        snprintf(out->kind, sizeof out->kind, "%s", summary.kind);
        out->is_complete = summary.is_complete && summary.events_late == 0;
        out->is_kept = summary.events_unkept > 0;
        take_basis(out->gather, &summary.carries);
    }
    nm_replay_free(state.replay);
    nm_anchor_free(state.anchor);
    nm_source_close(state.source);
    nm_io_close(state.fd);
    nm_trace_files_close(&state.files);
    return status;
}

nm_status whatif_load(const char *const *paths, size_t path_count, nm_progress *progress, whatif_input *out,
                      const char **subject, nm_error *err)
{
    tool_inputs inputs = {0};
    counting rows;
    nm_status status;

    *out = (whatif_input){0};
    status = tool_inputs_find(paths, path_count, &inputs, subject, err);
    if (status == NM_OK && inputs.count != 1)
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "names %zu recordings; one at a time", inputs.count);
    if (status == NM_OK)
        tool_inputs_say_repeats(&inputs, "npumem-whatif", stderr);
    if (status == NM_OK)
        status = nm_gather_new(&out->gather, err);
    if (status == NM_OK)
        begin_counting(&rows, out->gather, progress);
    if (status == NM_OK && inputs.items[0].is_database) {
        snprintf(out->kind, sizeof out->kind, "database");
        out->is_complete = true; /* or not: each process knows of its own input */
        status = whatif_database_read(inputs.items[0].paths[0], out->gather, &rows.sink, err);
    } else if (status == NM_OK) {
        status = read_stream(&inputs.items[0], &rows, out, err);
    }
    tool_inputs_free(&inputs);
    return status;
}

void whatif_input_free(whatif_input *input)
{
    nm_gather_free(input->gather);
    *input = (whatif_input){0};
}
