/* SPDX-License-Identifier: Apache-2.0
 *
 * As tool/ingest/load.c goes, which is a program's own. What comes out is held to what the headers say of it.
 */
#include "fuzz/load.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analysis/passes.h"
#include "fuzz/target.h"
#include "replay/replay.h"
#include "screen/screen.h"
#include "source/claims.h"
#include "steps/anchor.h"
#include "store/database.h"
#include "store/store.h"
#include "tool/common/steps.h"
#include "tool/ingest/input_row.h"

#define NAME "input"

typedef struct load {
    nm_source *source;
    nm_anchor *anchor;
    nm_claims *claims;
    nm_replay *replay;
    nm_store *store;
    nm_sink nowhere; /* where nothing is stored */
    uint64_t row_count;
    int64_t first_seq, last_seq;
} load;

static nm_status count_row(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    load *run = context;

    (void)row;
    (void)err;
    FUZZ_REQUIRE(kind < NM_ROW_KINDS);
    run->row_count++;
    return NM_OK;
}

/* ---- Reading ---- */

static nm_status open_again(load *run, const int *fds, size_t fd_count, nm_error *err)
{
    for (size_t i = 0; i < fd_count; i++)
        FUZZ_REQUIRE(lseek(fds[i], 0, SEEK_SET) == 0);
    nm_source_close(run->source);
    run->source = NULL;
    return nm_source_open_parts(fds, fd_count, &run->source, err);
}

static nm_status add_tail(load *run, nm_bytes tail, nm_error *err)
{
    return tail.len == 0 ? NM_OK : nm_trace_source_add_tail(run->source, tail, 0, err);
}

static nm_status find_steps(load *run, const int *fds, size_t fd_count, nm_bytes tail, nm_error *err)
{
    bool is_done = false;
    nm_status status = tool_steps_find(NULL, run->source, &run->anchor, err);

    if (status != NM_OK || run->anchor == NULL)
        return status;
    status = nm_source_rewind(run->source, &is_done, err);
    if (status == NM_OK && !is_done)
        status = open_again(run, fds, fd_count, err);
    return status == NM_OK && !is_done ? add_tail(run, tail, err) : status;
}

static nm_status open_store(load *run, nm_error *err)
{
    nm_store_options options = {.is_scratch = true, .is_forced = true, .input_fd = -1};
    char path[512];

    snprintf(path, sizeof path, "%s/run.db", fuzz_folder());
    return nm_store_open(path, &options, &run->store, err);
}

static void note_event(load *run, const nm_event *event)
{
    int64_t seq = (int64_t)event->seq;

    if ((event->flags & NM_FLAG_BASELINE) != 0 || nm_event_is_repeat(event))
        return;
    if (run->first_seq == NM_NO_SEQ || seq < run->first_seq)
        run->first_seq = seq;
    if (run->last_seq == NM_NO_SEQ || seq > run->last_seq)
        run->last_seq = seq;
}

static nm_status read_records(load *run, nm_error *err)
{
    nm_record record;
    nm_status status = NM_OK;

    while (status == NM_OK && (status = nm_claims_next(run->claims, &record, err)) == NM_OK) {
        bool begins = false;

        if (record.kind == NM_RECORD_EVENT)
            note_event(run, &record.event);
        if (run->anchor != NULL)
            status = nm_anchor_begins(run->anchor, &record, &begins, err);
        if (begins)
            nm_replay_begin_step(run->replay);
        if (status == NM_OK)
            status = nm_replay_record(run->replay, &record, err);
    }
    if (status == NM_END)
        status = nm_replay_finish(run->replay, err);
    return status == NM_OK && run->anchor != NULL
               ? nm_anchor_write(run->anchor, run->store == NULL ? &run->nowhere : nm_store_sink(run->store), err)
               : status;
}

/* ---- Finishing ---- */

static void check_summary(const nm_source_summary_data *summary)
{
    const nm_grade grades[] = {summary->carries.leak,  summary->carries.peak,   summary->carries.fragmentation,
                               summary->carries.hits,  summary->carries.device, summary->carries.failure,
                               summary->carries.misuse};

    for (size_t i = 0; i < sizeof grades / sizeof grades[0]; i++)
        FUZZ_REQUIRE(grades[i] < NM_GRADE_COUNT);
    FUZZ_REQUIRE(summary->kind != NULL && memchr(summary->recording_id, 0, sizeof summary->recording_id) != NULL);
    FUZZ_REQUIRE(summary->events_seen == summary->events_ingested + summary->events_dropped + summary->events_damaged +
                                             summary->events_unrecovered + summary->events_unkept);
    FUZZ_REQUIRE(!summary->is_complete || (summary->is_finished && summary->events_damaged == 0));
}

static nm_status show(load *run, nm_error *err)
{
    const nm_screen_names names = {.database_path = NAME};
    nm_screen_options options = {0};
    FILE *out = fopen("/dev/null", "we");

    FUZZ_REQUIRE(out != NULL);
    nm_status status = nm_screen_write(nm_store_db(run->store), &names, &options, out, err);
    fclose(out);
    return status;
}

/* What the input says is one thing; that our own tables take it is another: no input may make SQLite refuse. */
static nm_status finish(load *run, nm_error *err)
{
    nm_source_summary_data summary = {0};
    nm_input_row row;
    nm_status status = NM_OK;

    nm_source_summary(run->source, &summary);
    check_summary(&summary);
    if (run->store == NULL)
        return NM_OK;
    row = ingest_input_row(&summary, NAME, run->first_seq, run->last_seq);
    row.state = "ended";
    status = nm_store_finish(run->store, &row, err);
    if (status == NM_OK)
        status = show(run, err);
    if (status == NM_ERR_DATABASE)
        fuzz_fail("the store refuses", __FILE__, __LINE__, err->text);
    return status;
}

void fuzz_load(const int *fds, size_t fd_count, bool is_stored, nm_bytes tail)
{
    load run = {.first_seq = NM_NO_SEQ, .last_seq = NM_NO_SEQ};
    nm_error err = {0};
    nm_status status = nm_source_open_parts(fds, fd_count, &run.source, &err);

    run.nowhere = nm_sink_of_all(&run, count_row);
    if (status == NM_OK)
        status = add_tail(&run, tail, &err);
    if (status == NM_OK)
        status = find_steps(&run, fds, fd_count, tail, &err);
    if (status == NM_OK && is_stored)
        status = open_store(&run, &err);
    if (status == NM_OK)
        status = nm_replay_new(is_stored ? nm_store_sink(run.store) : &run.nowhere, nm_passes, &run.replay, &err);
    if (status == NM_OK)
        status = nm_claims_new(run.source, &run.claims, &err);
    if (status == NM_OK)
        status = read_records(&run, &err);
    if (status == NM_OK)
        status = finish(&run, &err);
    fuzz_check_status(status, &err);
    nm_replay_free(run.replay);
    nm_anchor_free(run.anchor);
    nm_claims_free(run.claims);
    nm_source_close(run.source);
    nm_store_close(run.store);
}

void fuzz_load_bytes(nm_bytes input, const nm_source_type *type)
{
    nm_bytes head = {input.data, input.len < NM_SOURCE_HEAD_BYTES ? input.len : NM_SOURCE_HEAD_BYTES};
    int fd = -1;

    if (type != NULL && !type->matches(head))
        return;
    fd = fuzz_file_of(input, 0);
    fuzz_load(&fd, 1, fuzz_is_one_of(input, FUZZ_STORED_OF), (nm_bytes){0});
}
