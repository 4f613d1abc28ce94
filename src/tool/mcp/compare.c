/* SPDX-License-Identifier: Apache-2.0
 *
 * compare: two runs by the questions of npumem diff, two moments of one run, or its ranks. The tables of a comparison are one list
 * for its cursor.
 */
#include "report/compare.h"

#include "base/io.h"
#include "store/question.h"
#include "tool/mcp/files.h"
#include "tool/mcp/tools.h"

typedef struct comparison {
    const mcp_runs *runs;
    sqlite3 *db;
    nm_compare_choice choice;
    nm_json *json;
    mcp_place place;
    bool is_full; /* the page is, and its cursor is written */
    int64_t row_count;
} comparison;

static const struct {
    char part;
    const char *name;
    nm_compare_question question;
} tables[] = {{'f', "figures", NM_COMPARE_FIGURES},
              {'s', "sites", NM_COMPARE_SITES},
              {'l', "leaks", NM_COMPARE_LEAKS},
              {'e', "environment", NM_COMPARE_ENVIRONMENT},
              {'m', "moments", NM_COMPARE_MOMENTS}};

/* ---- Tables ------------------------------------------------------------------------------------------------------------------ */

static void put_table(comparison *c, const char *name, sqlite3_stmt *rows)
{
    mcp_rows some = {.from = c->place.from};

    mcp_put_rows(c->json, name, rows, &some);
    c->row_count += some.count;
    c->is_full = some.is_cut;
    mcp_put_place(c->json, &c->place, &some);
}

static const char *name_of(char part)
{
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].part == part)
            return tables[i].name;
    return "ranks";
}

static nm_status take(void *context, sqlite3_stmt *rows, nm_error *err)
{
    comparison *c = context;

    put_table(c, name_of(c->place.parts[0]), rows);
    int code = sqlite3_errcode(c->db);
    return code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE ? NM_OK : nm_db_fail(c->db, err);
}

static nm_status put_tables(comparison *c, nm_error *err)
{
    nm_status status = NM_OK;

    for (; status == NM_OK && !c->is_full && c->place.parts[0] != 0; c->place.parts++) {
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            if (tables[i].part == c->place.parts[0])
                status = nm_compare_ask(c->db, tables[i].question, &c->choice, take, c, err);
        c->place.from = 0;
    }
    return status;
}

/* ---- The three ways ----------------------------------------------------------------------------------------------------------- */

static nm_status attach_base(const mcp_runs *runs, nm_foreign *run, const mcp_run *base, nm_error *err)
{
    char handed[NM_DOOR_HANDED_BYTES];
    int held;
    nm_status status = mcp_run_hold(runs, base, &held, handed, err);

    if (status == NM_OK)
        status = nm_foreign_attach(run, handed, "base", false, err);
    nm_io_close(held);
    return status;
}

static nm_status compare_runs(comparison *c, nm_foreign *run, const mcp_run *base, const char *cursor, nm_error *err)
{
    nm_compare_rules rules;
    nm_status status;

    c->place.parts = "fsle";
    c->choice.base_path = base->database;
    status = attach_base(c->runs, run, base, err);
    if (status == NM_OK)
        status = nm_compare_check(c->db, &c->choice, &rules, err);
    if (status == NM_OK && rules.base_version != rules.run_version) {
        nm_json_text(c->json, "note",
                     "sites and leaks are not compared: a and b name sites by rules of different versions");
        c->place.parts = "fe";
    }
    if (status == NM_OK)
        status = mcp_read_place(cursor, &c->place, err);
    return status == NM_OK ? put_tables(c, err) : status;
}

static nm_status compare_moments(comparison *c, const mcp_arguments *arguments, nm_error *err)
{
    c->place.parts = "m";
    c->choice.from = mcp_argument_text(arguments, "from");
    c->choice.to = mcp_argument_text(arguments, "to");
    nm_status status = mcp_read_place(mcp_argument_text(arguments, "more"), &c->place, err);
    if (status == NM_OK)
        status = put_tables(c, err);
    if (status == NM_OK && c->row_count == 0 && !c->is_full)
        nm_json_text(c->json, "note",
                     "no row: no process has both moments, or nothing was live at either; view moment has the marks");
    return status;
}

static nm_status compare_ranks(comparison *c, const char *cursor, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status;

    c->place.parts = "r";
    status = mcp_read_place(cursor, &c->place, err);
    if (status == NM_OK)
        status = nm_db_prepare(c->db, mcp_files[MCP_FILE_RANK_SUMMARY].text, &rows, err);
    if (status != NM_OK)
        return status;
    nm_question_bind_integer(rows, ":top", INT64_MAX);
    put_table(c, "ranks", rows);
    return nm_question_end(rows, status, err);
}

/* ---- All of it --------------------------------------------------------------------------------------------------------------- */

/* b, and a where there is no b. */
static nm_status open_run(mcp_server *server, const mcp_arguments *arguments, nm_foreign **database, mcp_run **base,
                          nm_error *err)
{
    const char *b = mcp_argument_text(arguments, "b");
    mcp_run *run;
    nm_foreign *first = NULL;
    nm_status status = mcp_runs_ask(&server->runs, mcp_argument_text(arguments, "a"), base, &first, err);

    if (status != NM_OK || b == NULL) {
        *database = first;
        return status;
    }
    mcp_run_close(first);
    return mcp_runs_ask(&server->runs, b, &run, database, err);
}

static nm_status compare(comparison *c, const mcp_arguments *arguments, nm_foreign *database, const mcp_run *base,
                         nm_error *err)
{
    const char *more = mcp_argument_text(arguments, "more");
    bool has_moments = mcp_argument_text(arguments, "from") != NULL || mcp_argument_text(arguments, "to") != NULL;
    int64_t has_ranks = 0;

    mcp_argument_number(arguments, "ranks", &has_ranks);
    if ((mcp_argument_text(arguments, "b") != NULL) + has_moments + (has_ranks != 0) != 1)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "needs one of: b, another handle; from and to, moments; ranks, true");
    if (has_ranks != 0)
        return compare_ranks(c, more, err);
    return has_moments ? compare_moments(c, arguments, err) : compare_runs(c, database, base, more, err);
}

nm_status mcp_compare(mcp_server *server, const mcp_arguments *arguments, nm_json *json, nm_error *err)
{
    comparison c = {.runs = &server->runs, .json = json};
    nm_foreign *database = NULL;
    mcp_run *base = NULL;
    nm_status status = open_run(server, arguments, &database, &base, err);

    c.choice.has_rank = mcp_argument_number(arguments, "rank", &c.choice.rank);
    if (status == NM_OK) {
        c.db = nm_foreign_db(database);
        mcp_put_origin(json);
        status = compare(&c, arguments, database, base, err);
    }
    mcp_run_close(database);
    if (status != NM_OK)
        return status;
    nm_json_begin(json, "next", '[');
    mcp_put_next(json, "findings", "handle", base->handle, NULL);
    nm_json_end(json, ']');
    return NM_OK;
}
