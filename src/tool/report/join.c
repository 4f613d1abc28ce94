/* SPDX-License-Identifier: Apache-2.0
 *
 * Which ranks have a map is known when all of them have been asked. So each database is opened by itself first, which also says
 * what cannot be read in the words that are used of one alone, and then they are put together, most of them without rows of events.
 * A recording that several of them hold counts once: of which that is known then, too.
 */
#include "tool/report/join.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/shown.h"
#include "report/rank_list.h"
#include "store/database.h"
#include "store/foreign.h"
#include "tool/common/answer.h"
#include "tool/common/inputs.h"

#define NAME_BYTES 100

typedef struct join {
    const report_options *options;
    const char *path; /* of the scratch */
    const char **subject;
    int64_t *last_inputs; /* owned: the last number of an input when that database was merged */
    bool *has_rows;       /* owned: of each database: its rows of allocations are wanted */
} join;

static void say_repeat(void *context, const nm_repeat *repeat)
{
    const join *work = context;

    tool_say_repeat("npumem-report", work->options->databases[repeat->number],
                    work->options->databases[repeat->kept_number], repeat->recording_count, repeat->of_count, stderr);
}

static nm_merge_origin origin_of(join *work, size_t index)
{
    return (nm_merge_origin){(int64_t)index, work->options->databases[index], say_repeat, work};
}

/* Those of recordings that are left out of the database are not asked. */
static nm_status drop_repeats(nm_rank_list *ranks, sqlite3 *db, nm_error *err)
{
    nm_status status = NM_OK;
    size_t count = 0;

    for (size_t i = 0; i < ranks->count && status == NM_OK; i++) {
        bool is_kept = false;

        status = nm_repeats_keep(db, ranks->ranks[i].database, ranks->ranks[i].input_id, &is_kept, err);
        if (is_kept)
            ranks->ranks[count++] = ranks->ranks[i];
    }
    ranks->count = count;
    return status;
}

static nm_status ask_ranks(join *work, nm_rank_list *ranks, sqlite3 *db, nm_error *err)
{
    const report_options *options = work->options;
    nm_status status = NM_OK;

    for (size_t i = 0; i < options->database_count && status == NM_OK; i++) {
        nm_foreign *database = NULL;

        *work->subject = options->databases[i];
        status = nm_foreign_open(options->databases[i], false, &database, err);
        const nm_merge_origin origin = origin_of(work, i);
        if (status == NM_OK)
            status = nm_rank_list_add(ranks, nm_foreign_db(database), (int64_t)i, err);
        if (status == NM_OK)
            status = nm_repeats_add(db, &origin, nm_foreign_db(database), "main", err);
        nm_foreign_close(database);
    }
    if (status == NM_OK)
        status = drop_repeats(ranks, db, err);
    return status == NM_OK ? nm_rank_list_choose(ranks, err) : status;
}

static nm_status choose(join *work, sqlite3 *db, nm_error *err)
{
    nm_rank_list *ranks = calloc(1, sizeof *ranks);
    nm_status status =
        ranks == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : ask_ranks(work, ranks, db, err);

    if (status == NM_OK) {
        const nm_rank *const chosen[] = {ranks->first, ranks->worst, ranks->median};

        for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
            if (chosen[i] != NULL)
                work->has_rows[chosen[i]->database] = true;
    }
    nm_rank_list_free(ranks);
    return status;
}

/* Heaps are told apart by host, rank and number of their process. */
static nm_status check_apart(const join *work, size_t index, sqlite3 *db, nm_error *err)
{
    char name[NAME_BYTES], sql[400];
    int64_t before = index == 0 ? 0 : work->last_inputs[index - 1], input_id = 0;
    size_t other = 0;
    nm_status status;

    snprintf(sql, sizeof sql,
             "SELECT coalesce(min(p.input_id), 0) FROM process AS p JOIN process AS q ON q.host IS p.host"
             " AND q.rank IS p.rank AND q.pid IS p.pid WHERE p.input_id <= %" PRId64 " AND q.input_id > %" PRId64,
             before, before);
    status = nm_db_get_int(db, sql, &input_id, err);
    if (status != NM_OK || input_id == 0)
        return status;
    while (work->last_inputs[other] < input_id)
        other++;
    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "has a process of the same host, rank and number as %s",
                   nm_shown_text(name, sizeof name, work->options->databases[other]));
}

static nm_status merge(join *work, size_t index, nm_store *store, nm_error *err)
{
    const nm_merge_origin origin = origin_of(work, index);
    const nm_merge_options options = {.adopts_thresholds = index == 0,
                                      .retention = work->has_rows[index] ? NM_RETENTION_ALL : NM_RETENTION_NONE,
                                      .origin = &origin};
    sqlite3 *db = nm_store_db(store);
    nm_status status;

    *work->subject = work->options->databases[index];
    status = nm_store_merge_with(store, work->options->databases[index], &options, err);
    if (status == NM_OK)
        status = check_apart(work, index, db, err);
    return status != NM_OK
               ? status
               : nm_db_get_int(db, "SELECT coalesce(max(input_id), 0) FROM input", &work->last_inputs[index], err);
}

static nm_status merge_all(join *work, nm_store **out, nm_error *err)
{
    const nm_store_options options = {.role = NM_STORE_MERGED, .is_scratch = true, .input_fd = -1};
    nm_status status;

    *work->subject = answer_name();
    status = nm_store_open(work->path, &options, out, err);
    if (status == NM_OK)
        status = choose(work, nm_store_db(*out), err);
    for (size_t i = 0; i < work->options->database_count && status == NM_OK; i++)
        status = merge(work, i, *out, err);
    if (status == NM_OK) {
        *work->subject = answer_name();
        status = nm_store_finish_merged(*out, err);
    }
    if (status == NM_OK)
        return NM_OK;
    nm_store_close(*out);
    *out = NULL;
    return status;
}

nm_status report_join(const report_options *options, const char **subject, nm_store **out, nm_error *err)
{
    char *path = answer_scratch(options->output, REPORT_SCRATCH);
    join work = {.options = options,
                 .path = path,
                 .subject = subject,
                 .last_inputs = calloc(options->database_count, sizeof *work.last_inputs),
                 .has_rows = calloc(options->database_count, sizeof *work.has_rows)};
    nm_status status = path == NULL || work.last_inputs == NULL || work.has_rows == NULL
                           ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                           : NM_OK;

    *out = NULL;
    if (status == NM_OK)
        status = merge_all(&work, out, err);
    free(work.last_inputs);
    free(work.has_rows);
    free(path);
    return nm_name_written(status, answer_written(options->output), err);
}
