/* SPDX-License-Identifier: Apache-2.0
 *
 * One line of view _graph_memory, where graphs were captured.
 */
#include "report/summary_graphs.h"

#include "base/human.h"
#include "store/database.h"

static const char graphs_sql[] =
    "SELECT count(*), sum(end_kind = 'destroyed'), sum(CASE WHEN end_kind <> 'destroyed' THEN driver_bytes ELSE 0 END),"
    " sum(CASE WHEN end_kind <> 'destroyed' THEN block_bytes ELSE 0 END) FROM _graph_memory";

static void write_line(sqlite3_stmt *row, FILE *out)
{
    char captured[NM_HUMAN_BYTES], destroyed[NM_HUMAN_BYTES], driver[NM_HUMAN_BYTES], blocks[NM_HUMAN_BYTES];

    fprintf(out, "Graphs: %s captured, %s destroyed", nm_human_count(captured, sqlite3_column_int64(row, 0)),
            nm_human_count(destroyed, sqlite3_column_int64(row, 1)));
    if (sqlite3_column_int64(row, 1) < sqlite3_column_int64(row, 0))
        fprintf(out, "; the others hold %s of driver memory", nm_human_bytes(driver, sqlite3_column_int64(row, 2)));
    if (sqlite3_column_int64(row, 3) > 0)
        fprintf(out, ", and blocks of %s", nm_human_bytes(blocks, sqlite3_column_int64(row, 3)));
    fprintf(out, " (view _graph_memory)\n");
}

nm_status nm_summary_write_graphs(sqlite3 *db, FILE *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, graphs_sql, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        if (sqlite3_column_int64(rows, 0) > 0)
            write_line(rows, out);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}
