/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables whose names begin with `against_`: those that a question of npumem diff answers, and those of the other run that the page has of
 * its own, too.
 */
#include "page/against.h"

#include "page/against_heaps.sql.h"
#include "page/against_runs.sql.h"
#include "page/against_steps.sql.h"
#include "page/curves.h"
#include "page/tables.h"
#include "report/compare.h"

#define SITES_MAX 200 /* of each moment: sums over all sites, and sites */

static const struct {
    const char *name, *sql;
} tables[] = {{"against_heap", nm_against_heaps_sql}, {"against_step", nm_against_steps_sql}};

typedef struct asked {
    nm_page *page;
    const char *name;
} asked;

static nm_status take_answer(void *context, sqlite3_stmt *rows, nm_error *err)
{
    const asked *what = context;

    return nm_page_table_write(what->page, what->name, rows, err);
}

static nm_status write_runs(nm_page *page, const nm_page_against *against, const char *own_name, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_against_runs_ask(against->db, own_name, against->name, &rows, err);

    if (status == NM_OK)
        status = nm_page_table_write(page, "against_run", rows, err);
    sqlite3_finalize(rows);
    return status;
}

nm_status nm_page_against_write(nm_page *page, const nm_page_against *against, const char *own_name, nm_error *err)
{
    const nm_compare_choice choice = {.row_count_max = SITES_MAX};
    asked figures = {page, "against_figure"}, sites = {page, "against_site"};
    nm_status status = write_runs(page, against, own_name, err);

    if (status == NM_OK)
        status = nm_compare_ask(against->db, NM_COMPARE_FIGURES, &choice, take_answer, &figures, err);
    if (status == NM_OK)
        status = nm_compare_ask(against->db, NM_COMPARE_SITES, &choice, take_answer, &sites, err);
    for (size_t i = 0; i < sizeof tables / sizeof *tables && status == NM_OK; i++)
        status = nm_page_question_write(page, against->db, tables[i].name, tables[i].sql, err);
    return status == NM_OK ? nm_page_usage_write(page, against->db, "against_usage", err) : status;
}
