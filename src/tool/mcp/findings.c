/* SPDX-License-Identifier: Apache-2.0
 *
 * findings: what table finding says, groups over processes first, what is good last. That there is what was not judged stands on
 * every page.
 */
#include "store/question.h"
#include "tool/mcp/listed_findings.sql.h"
#include "tool/mcp/listed_groups.sql.h"
#include "tool/mcp/opened_facts.sql.h"
#include "tool/mcp/tools.h"
#include "tool/mcp/unjudged.sql.h"

typedef struct listing {
    sqlite3 *db;
    const char *kind, *severity; /* NULL: all */
    int64_t rank;                /* NM_NULL: all */
    nm_json *json;
    mcp_place place;
} listing;

static nm_status ask_part(const listing *l, sqlite3_stmt **rows, nm_error *err)
{
    switch (l->place.parts[0]) {
    case 'g':
        return nm_listed_groups_ask(l->db, l->kind, l->severity, rows, err);
    case 'n':
        return nm_unjudged_ask(l->db, l->kind, l->severity, l->rank, rows, err);
    default:
        return nm_listed_findings_ask(l->db, l->place.parts[0] == 'z', l->kind, l->severity, l->rank, rows, err);
    }
}

static const char *name_of(char part)
{
    return part == 'g' ? "groups" : part == 'f' ? "findings" : part == 'n' ? "not_judged" : "good";
}

/* *is_full: the page is, and its cursor is written. */
static nm_status put_part(listing *l, bool *is_full, nm_error *err)
{
    mcp_rows rows = {.from = l->place.from};
    sqlite3_stmt *statement = NULL;
    nm_status status = ask_part(l, &statement, err);

    if (status == NM_OK)
        mcp_put_objects(l->json, name_of(l->place.parts[0]), statement, &rows);
    *is_full = rows.is_cut;
    mcp_put_place(l->json, &l->place, &rows);
    l->place.from = 0;
    l->place.parts++;
    return nm_question_end(statement, status, err);
}

static nm_status put_counts(const listing *l, nm_error *err)
{
    nm_opened_facts_row facts;
    nm_status status = nm_opened_facts_get(l->db, &facts, err);

    nm_json_int(l->json, "faults", facts.fault_count);
    nm_json_int(l->json, "warnings", facts.warning_count);
    nm_json_int(l->json, "not_judged_count", facts.not_judged_count);
    if (facts.not_judged_count > 0)
        nm_json_text(l->json, "do_not_claim",
                     "what is not judged was not looked at, or too little was recorded: do not call it good or bad");
    mcp_put_origin(l->json);
    return status;
}

static nm_status put_page(listing *l, nm_error *err)
{
    bool is_full = false;
    nm_status status = put_counts(l, err);

    while (status == NM_OK && !is_full && l->place.parts[0] != 0)
        status = put_part(l, &is_full, err);
    return status;
}

nm_status mcp_findings(mcp_server *server, const mcp_arguments *arguments, nm_json *json, nm_error *err)
{
    const char *handle = mcp_argument_text(arguments, "handle");
    listing l = {.kind = mcp_argument_text(arguments, "kind"),
                 .severity = mcp_argument_text(arguments, "severity"),
                 .rank = NM_NULL,
                 .json = json};
    nm_foreign *database = NULL;
    mcp_run *run;
    bool has_rank = mcp_argument_number(arguments, "rank", &l.rank);
    l.place.parts = has_rank ? "fnz" : "gfnz"; /* groups are of all */
    nm_status status = mcp_read_place(mcp_argument_text(arguments, "more"), &l.place, err);

    if (status == NM_OK)
        status = mcp_tools_check("severity", l.severity, err);
    if (status == NM_OK)
        status = mcp_tools_check("kind", l.kind, err);
    if (status == NM_OK)
        status = mcp_runs_ask(&server->runs, handle, &run, &database, err);
    if (status == NM_OK) {
        l.db = nm_foreign_db(database);
        status = put_page(&l, err);
    }
    mcp_run_close(database);
    nm_json_begin(json, "next", '[');
    mcp_put_next(json, "explain", "handle", handle, "finding", "a finding_id of these", NULL);
    nm_json_end(json, ']');
    return status;
}
