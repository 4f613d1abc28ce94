/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables whose names begin with `against_`: those that a question of npumem diff answers, and those of the other run that the page has of
 * its own, too.
 */
#include "page/against.h"

#include "page/curves.h"
#include "page/tables.h"
#include "report/compare.h"
#include "store/database.h"

#define SITES_MAX 200 /* of each moment: sums over all sites, and sites */

/* Both names, and whether figures may be of what is missing. */
static const char runs_sql[] =
    "SELECT 'A' AS letter, ?1 AS name, (SELECT count(*) FROM base.process) AS process_count,"
    " (SELECT count(DISTINCT rank) FROM base.process) AS rank_count, (SELECT max(generation) FROM base.step) AS "
    "step_count,"
    " (SELECT sum(is_complete = 0 OR baseline = 'unknown') FROM base.input) AS lossy_count UNION ALL"
    " SELECT 'B', ?2, (SELECT count(*) FROM process), (SELECT count(DISTINCT rank) FROM process),"
    " (SELECT max(generation) FROM step), (SELECT sum(is_complete = 0 OR baseline = 'unknown') FROM input)";

static const struct {
    const char *name, *sql;
} tables[] = {
    {"against_heap", "SELECT p.host, p.rank, p.pid, p.device, p.heap, p.level, p.heap_id, p.process_id, p.input_id,"
                     " s.peak_bytes, s.peak_seq FROM _heap_place AS p LEFT JOIN _heap_sum AS s ON s.heap_id = p.heap_id"
                     " ORDER BY p.heap_id LIMIT 16384"},
    {"against_step", "SELECT process_id, number, begin_seq FROM step WHERE begin_seq IS NOT NULL"
                     " ORDER BY process_id, begin_seq, step_id LIMIT 100000"},
};

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
    nm_status status = nm_db_prepare(against->db, runs_sql, &rows, err);

    if (status == NM_OK) {
        sqlite3_bind_text(rows, 1, own_name, -1, SQLITE_STATIC);
        sqlite3_bind_text(rows, 2, against->name, -1, SQLITE_STATIC);
        status = nm_page_table_write(page, "against_run", rows, err);
    }
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
        status = nm_page_question_write(page, against->db, tables[i].name, tables[i].sql, 0, err);
    return status == NM_OK ? nm_page_usage_write(page, against->db, "against_usage", err) : status;
}
