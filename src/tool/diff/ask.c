/* SPDX-License-Identifier: Apache-2.0
 *
 * A parameter that a question has and the command line has not is left unbound, which is NULL: its default.
 */
#include "tool/diff/ask.h"

#include <stdio.h>
#include <string.h>

#include "store/database.h"

static void bind_parameter(const diff_options *options, sqlite3_stmt *statement, int index)
{
    const char *name = sqlite3_bind_parameter_name(statement, index);

    if (name == NULL)
        return;
    if (strcmp(name, ":base") == 0)
        sqlite3_bind_text(statement, index, options->base_path, -1, SQLITE_STATIC);
    else if (strcmp(name, ":rank") == 0 && options->has_rank)
        sqlite3_bind_int64(statement, index, options->rank);
    else if (strcmp(name, ":by_rank") == 0)
        sqlite3_bind_int(statement, index, options->is_by_rank);
    else if (strcmp(name, ":level") == 0 && options->level != NULL)
        sqlite3_bind_text(statement, index, options->level, -1, SQLITE_STATIC);
    else if (strcmp(name, ":at") == 0 && options->at != NULL)
        sqlite3_bind_text(statement, index, options->at, -1, SQLITE_STATIC);
    else if (strcmp(name, ":from") == 0)
        sqlite3_bind_text(statement, index, options->from, -1, SQLITE_STATIC);
    else if (strcmp(name, ":to") == 0)
        sqlite3_bind_text(statement, index, options->to, -1, SQLITE_STATIC);
    else if (strcmp(name, ":threshold") == 0)
        sqlite3_bind_int64(statement, index, (int64_t)options->threshold_bytes);
    else if (strcmp(name, ":top") == 0)
        sqlite3_bind_int64(statement, index, INT64_MAX);
}

/* The statement that answers: to its CSV file, if one is wanted, and as text. */
static nm_status answer(diff_run *run, int query, sqlite3_stmt *rows, diff_write *write, nm_error *err)
{
    const char *name = diff_queries[query].name;
    char csv_name[64];
    nm_status status = NM_OK;

    snprintf(csv_name, sizeof csv_name, "%.*s", (int)strcspn(name, "."), name);
    if (run->csv != NULL) {
        const char *asked = run->subject;

        run->subject = run->options->csv_folder;
        status = nm_csv_write_named(run->csv, csv_name, rows, err);
        run->subject = status == NM_OK ? asked : run->subject;
    }
    if (status == NM_OK && run->csv != NULL)
        sqlite3_reset(rows);
    if (status == NM_OK) {
        write(run, rows);
        if (sqlite3_errcode(run->db) != SQLITE_DONE && sqlite3_errcode(run->db) != SQLITE_OK)
            status = nm_db_fail(run->db, err);
    }
    return status;
}

nm_status diff_ask(diff_run *run, int query, diff_write *write, nm_error *err)
{
    const char *text = diff_queries[query].text;
    nm_status status = NM_OK;

    while (status == NM_OK && *text != 0) {
        sqlite3_stmt *statement = NULL;

        if (sqlite3_prepare_v2(run->db, text, -1, &statement, &text) != SQLITE_OK)
            status = nm_db_fail(run->db, err);
        for (int index = 1; statement != NULL && index <= sqlite3_bind_parameter_count(statement); index++)
            bind_parameter(run->options, statement, index);
        if (status == NM_OK && statement != NULL && sqlite3_column_count(statement) > 0)
            status = answer(run, query, statement, write, err);
        else if (status == NM_OK && statement != NULL && sqlite3_step(statement) != SQLITE_DONE)
            status = nm_db_fail(run->db, err);
        sqlite3_finalize(statement);
    }
    return status;
}

const char *diff_signed_bytes(char out[NM_HUMAN_BYTES + 1], int64_t bytes)
{
    out[0] = bytes < 0 ? '-' : '+';
    nm_human_bytes(out + 1, bytes < 0 && bytes != INT64_MIN ? -bytes : bytes);
    return out;
}

void diff_write_more(int64_t left_count)
{
    if (left_count > 0)
        printf("  and %lld more (--top, --csv)\n", (long long)left_count);
}

nm_status diff_publish(diff_run *run, nm_error *err)
{
    nm_status status;

    if (run->csv == NULL)
        return NM_OK;
    run->subject = run->options->csv_folder;
    status = nm_csv_publish(run->csv, err);
    return status == NM_OK ? nm_csv_settle(run->csv, err) : status;
}
