/* SPDX-License-Identifier: Apache-2.0
 *
 * explain: what one thing rests on: of a finding its evidence, of a site what it leaked and held, of a block its life and who lies
 * beside it, of a moment what was live then; and the stack.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "report/findings_json.h"
#include "report/moment.h"
#include "store/question.h"
#include "tool/mcp/block_lives.sql.h"
#include "tool/mcp/files.h"
#include "tool/mcp/finding_place.sql.h"
#include "tool/mcp/moment_sites.sql.h"
#include "tool/mcp/site_leaks.sql.h"
#include "tool/mcp/site_peaks.sql.h"
#include "tool/mcp/site_stacks.sql.h"
#include "tool/mcp/stack_lines.sql.h"
#include "tool/mcp/tools.h"

#define FRAMES_MAX   60
#define ROWS_MAX     10 /* of a table beside others */
#define NEIGHBOURS   5  /* on each side */
#define FEW_COLUMNS  60 /* of a text of a finding whose names are long */
#define NUMBER_BYTES 24

typedef struct asked {
    sqlite3 *db;
    const mcp_run *run;
    const mcp_arguments *arguments;
    nm_json *json;
    int64_t from, rank; /* NM_NULL: of all */
} asked;

/* ---- A stack ---------------------------------------------------------------------------------------------------------------- */

/* The member `stack`, a text a frame. NM_ERR_USAGE: there is none. */
static nm_status put_stack(const asked *a, int64_t stack_id, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_stack_lines_row row;
    nm_status status = nm_stack_lines_ask(a->db, stack_id, &rows, err);

    if (status == NM_OK && !nm_stack_lines_next(rows, &row)) {
        status = nm_question_end(rows, status, err);
        return status == NM_OK ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "there is no stack of that number") : status;
    }
    char *text = status == NM_OK ? strdup(row.text) : NULL;
    if (status == NM_OK && text == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    int frame_count = 0;
    nm_json_int(a->json, "stack_id", stack_id);
    nm_json_begin(a->json, "stack", '[');
    for (char *rest = text, *line; rest != NULL && frame_count < FRAMES_MAX && mcp_has_room(a->json); frame_count++) {
        line = strsep(&rest, "\n");
        mcp_put_text(a->json, NULL, line, MCP_TEXT_COLUMNS);
    }
    nm_json_end(a->json, ']');
    if (status == NM_OK && row.frame_count > frame_count)
        nm_json_int(a->json, "stack_depth", row.frame_count);
    free(text);
    return nm_question_end(rows, status, err);
}

/* ---- A finding -------------------------------------------------------------------------------------------------------------- */

/* The member `finding`, as npumem.findings/1 has it, but for the codes of its sentences. Where that would fill the answer long names
 * are cut once more, and then its figures left out. */
static nm_status put_finding(const asked *a, int64_t finding_id, nm_error *err)
{
    static const struct {
        const char *skipped;
        size_t columns;
    } tries[] = {{"said", MCP_SENTENCE_COLUMNS}, {"said", FEW_COLUMNS}, {"figures", FEW_COLUMNS}};
    const nm_findings_json_options options = {.database = a->run->database, .finding_id = finding_id};
    nm_buffer all = {0};
    nm_json whole = {.out = &all, .err = err};
    mcp_mark mark = mcp_mark_here(a->json);
    nm_json_kind kind;
    nm_bytes list = {0};

    nm_json_begin(&whole, NULL, '{');
    nm_status status = nm_findings_json(a->db, &options, &whole, err);
    nm_json_end(&whole, '}');
    if (status == NM_OK)
        status = whole.status;
    for (size_t i = 0; status == NM_OK && list.len <= 2 && i < 2; i++)
        mcp_json_member((nm_bytes){all.data, all.len}, i == 0 ? "findings" : "not_judged", &kind, &list);
    if (status == NM_OK && list.len <= 2)
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "there is no finding of that number");
    for (size_t i = 0; status == NM_OK && i < sizeof tries / sizeof *tries; i++) {
        mcp_go_back(a->json, mark);
        status = mcp_put_json(a->json, "finding", list, tries[i].skipped, tries[i].columns, err);
        if (mcp_has_room(a->json))
            break;
    }
    nm_buffer_free(&all);
    return status;
}

static nm_status explain_finding(const asked *a, nm_error *err)
{
    int64_t finding_id = 0;
    sqlite3_stmt *rows = NULL;
    nm_finding_place_row row;

    mcp_argument_number(a->arguments, "finding", &finding_id);
    nm_status status = finding_id <= 0 ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "there is no finding of that number")
                                       : put_finding(a, finding_id, err);
    if (status == NM_OK)
        status = nm_finding_place_ask(a->db, finding_id, &rows, err);
    if (status == NM_OK && nm_finding_place_next(rows, &row)) {
        if (row.has.stack_id)
            status = put_stack(a, row.stack_id, err);
        nm_json_begin(a->json, "next", '[');
        if (row.has.site)
            mcp_put_next(a->json, "explain", "handle", a->run->handle, "site", row.site, NULL);
        mcp_put_next(a->json, "query", "handle", a->run->handle, "topic", row.source_view, NULL);
        nm_json_end(a->json, ']');
    }
    return nm_question_end(rows, status, err);
}

/* ---- A site ------------------------------------------------------------------------------------------------------------------ */

static nm_status ask_stacks(sqlite3 *db, const char *site, int64_t rank, sqlite3_stmt **rows, nm_error *err)
{
    return nm_site_stacks_ask(db, site, rank, ROWS_MAX, rows, err);
}

typedef struct site_table {
    const char *name;
    nm_status (*ask)(sqlite3 *db, const char *site, int64_t rank, sqlite3_stmt **rows, nm_error *err);
} site_table;

static const site_table site_tables[] = {
    {"leaks", nm_site_leaks_ask}, {"peaks", nm_site_peaks_ask}, {"stacks", ask_stacks}};

static nm_status put_table(const asked *a, const site_table *table, const char *site, int64_t *row_count, nm_error *err)
{
    mcp_rows some = {.count_max = ROWS_MAX};
    sqlite3_stmt *rows = NULL;
    nm_status status = table->ask(a->db, site, a->rank, &rows, err);

    if (status == NM_OK)
        mcp_put_rows(a->json, table->name, rows, &some);
    *row_count += some.count;
    return nm_question_end(rows, status, err);
}

/* The stack of it by which most was allocated; what stands for no site has none. */
static nm_status put_site_stack(const asked *a, const char *site, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_site_stacks_row first = {0};
    nm_status status = nm_site_stacks_ask(a->db, site, a->rank, 1, &rows, err);
    bool is_known = status == NM_OK && nm_site_stacks_next(rows, &first);

    status = nm_question_end(rows, status, err);
    return status == NM_OK && is_known ? put_stack(a, first.stack_id, err) : status;
}

static nm_status explain_site(const asked *a, nm_error *err)
{
    const char *site = mcp_argument_text(a->arguments, "site");
    int64_t row_count = 0;
    nm_status status = put_site_stack(a, site, err);

    for (size_t i = 0; status == NM_OK && i < sizeof site_tables / sizeof *site_tables; i++)
        status = put_table(a, &site_tables[i], site, &row_count, err);
    if (status == NM_OK && row_count == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "nothing was allocated at a site with that in its name");
    nm_json_begin(a->json, "next", '[');
    mcp_put_next(a->json, "query", "handle", a->run->handle, "topic", "leak_by_site", NULL);
    nm_json_end(a->json, ']');
    return status;
}

/* ---- A block ---------------------------------------------------------------------------------------------------------------- */

static bool is_error(const char *text)
{
    return strncmp(text, "error:", 6) == 0;
}

static nm_status prepare_file(const asked *a, mcp_file file, sqlite3_stmt **rows, nm_error *err)
{
    return nm_db_prepare(a->db, mcp_files[file].text, rows, err);
}

/* Who lies beside it in its segment when it was made. */
static nm_status put_neighbours(const asked *a, const nm_block_lives_row *block, nm_error *err)
{
    char at[NUMBER_BYTES] = "end";
    sqlite3_stmt *rows = NULL;
    int64_t place = 0;
    bool is_there = false;
    nm_status status = prepare_file(a, MCP_FILE_SEGMENT_OF_BLOCK, &rows, err);

    if (status != NM_OK)
        return status;
    if (block->has.alloc_seq)
        snprintf(at, sizeof at, "seq:%" PRId64, block->alloc_seq);
    nm_question_bind_integer(rows, ":block", block->allocation_id);
    nm_question_bind_text(rows, ":at", at);
    nm_question_bind_integer(rows, ":top", INT64_MAX);
    while (!is_there && sqlite3_step(rows) == SQLITE_ROW && !is_error(nm_named_text(rows, "heap"))) {
        is_there = nm_named_integer(rows, "is_asked") != 0;
        place += !is_there;
    }
    sqlite3_reset(rows);
    mcp_rows around = {.from = place > NEIGHBOURS ? place - NEIGHBOURS : 0, .count_max = 2 * NEIGHBOURS + 1};
    if (is_there)
        mcp_put_rows(a->json, "neighbours", rows, &around);
    return nm_question_end(rows, status, err);
}

/* "1234" is a number of an allocation, "0x12c0.." an address. */
static bool read_block(const char *text, int64_t *allocation_id, int64_t *address)
{
    uint64_t number = 0;
    char *end = NULL;

    *allocation_id = *address = NM_NULL;
    if (nm_number_read(text, INT64_MAX, &number)) {
        *allocation_id = (int64_t)number;
        return true;
    }
    if (strncmp(text, "0x", 2) != 0 || strlen(text) > 18)
        return false;
    *address = (int64_t)strtoull(text + 2, &end, 16);
    return end != text + 2 && *end == 0;
}

static nm_status explain_block(const asked *a, nm_error *err)
{
    int64_t allocation_id, address;
    mcp_rows some = {.count_max = ROWS_MAX};
    sqlite3_stmt *rows = NULL;
    nm_block_lives_row row;

    if (!read_block(mcp_argument_text(a->arguments, "block"), &allocation_id, &address))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                       "block must be the allocation_id of view allocation_detail, or an address as 0x12c0");
    nm_status status = nm_block_lives_ask(a->db, allocation_id, address, a->rank, &rows, err);
    if (status != NM_OK)
        return status;
    mcp_put_objects(a->json, "blocks", rows, &some);
    sqlite3_reset(rows);
    if (!nm_block_lives_next(rows, &row)) {
        status = nm_question_end(rows, status, err);
        return status == NM_OK ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "there is no such block among the rows kept")
                               : status;
    }
    if (row.has.stack_id)
        status = put_stack(a, row.stack_id, err);
    if (status == NM_OK)
        status = put_neighbours(a, &row, err);
    nm_json_begin(a->json, "next", '[');
    mcp_put_next(a->json, "explain", "handle", a->run->handle, "site", row.site, NULL);
    nm_json_end(a->json, ']');
    return nm_question_end(rows, status, err);
}

/* ---- A moment ---------------------------------------------------------------------------------------------------------------- */

static nm_status explain_moment(const asked *a, nm_error *err)
{
    mcp_rows live = {.from = a->from};
    sqlite3_stmt *rows = NULL;
    nm_named_moment moment;
    nm_status status = nm_moment_find(a->db, mcp_argument_text(a->arguments, "moment"), &moment, err);

    if (status == NM_OK)
        status = nm_moment_sites_ask(a->db, moment.word, moment.has_rows, a->rank, &rows, err);
    if (status != NM_OK)
        return status;
    mcp_put_rows(a->json, "live", rows, &live);
    if (live.is_cut)
        mcp_put_more(a->json, live.from + live.count);
    nm_json_begin(a->json, "next", '[');
    mcp_put_next(a->json, "explain", "handle", a->run->handle, "site", "a site of these", NULL);
    nm_json_end(a->json, ']');
    return nm_question_end(rows, status, err);
}

/* ---- All of it --------------------------------------------------------------------------------------------------------------- */

static nm_status explain_stack(const asked *a, nm_error *err)
{
    int64_t stack_id = 0;

    mcp_argument_number(a->arguments, "stack", &stack_id);
    nm_status status = put_stack(a, stack_id, err);
    nm_json_begin(a->json, "next", '[');
    nm_json_end(a->json, ']');
    return status;
}

typedef nm_status explain_one(const asked *a, nm_error *err);

/* NULL: none was asked for, or several. */
static explain_one *find_asked(const mcp_arguments *arguments)
{
    static const struct {
        const char *name;
        explain_one *run;
    } all[] = {{"finding", explain_finding},
               {"site", explain_site},
               {"block", explain_block},
               {"moment", explain_moment},
               {"stack", explain_stack}};
    explain_one *found = NULL;
    int64_t number;

    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!mcp_argument_number(arguments, all[i].name, &number))
            continue;
        if (found != NULL)
            return NULL;
        found = all[i].run;
    }
    return found;
}

nm_status mcp_explain(mcp_server *server, const mcp_arguments *arguments, nm_json *json, nm_error *err)
{
    explain_one *run = find_asked(arguments);
    asked a = {.arguments = arguments, .json = json, .rank = NM_NULL};
    nm_foreign *database = NULL;
    mcp_run *opened = NULL;
    nm_status status = mcp_read_more(mcp_argument_text(arguments, "more"), &a.from, err);

    if (status == NM_OK && run == NULL)
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs one of: finding, site, block, moment, stack");
    if (status == NM_OK && mcp_argument_number(arguments, "rank", &a.rank) &&
        (run == explain_finding || run == explain_stack))
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "rank goes with one of: site, block, moment");
    if (status == NM_OK)
        status = mcp_runs_ask(&server->runs, mcp_argument_text(arguments, "handle"), &opened, &database, err);
    if (status == NM_OK) {
        a.db = nm_foreign_db(database);
        a.run = opened;
        mcp_put_origin(json);
        status = run(&a, err);
    }
    mcp_run_close(database);
    return status;
}
