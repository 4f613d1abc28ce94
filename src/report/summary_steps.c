/* SPDX-License-Identifier: Apache-2.0
 *
 * One line a source of steps, of the anchor that most processes have: of a job with many ranks it stays one screen.
 */
#include "report/summary_steps.h"

#include <string.h>

#include "base/human.h"
#include "store/database.h"

#define PLACE_COLUMNS  48
#define REASON_COLUMNS 96
#define TEXT_BYTES     400
#define NO_PLACE       "(no stack)"

/* Of each source the anchor or reason that most processes have. */
#define LINES                                                                                                          \
    "WITH l AS (SELECT source, kind, is_given, coalesce(anchor, '" NO_PLACE "') AS anchor, min(step_count) AS fewest," \
    " max(step_count) AS most, reason, count(*) AS process_count FROM step_origin WHERE source <> 'marked'"            \
    " GROUP BY source, CASE source WHEN 'none' THEN '' ELSE anchor END)"                                               \
    " SELECT source, kind, is_given, anchor, fewest, most, reason, max(process_count),"                                \
    " (SELECT count(*) FROM step_origin) FROM l GROUP BY source ORDER BY source"

static void write_inferred(sqlite3_stmt *row, FILE *out)
{
    char fewest[NM_HUMAN_BYTES], most[NM_HUMAN_BYTES], place[TEXT_BYTES];
    const char *kind = (const char *)sqlite3_column_text(row, 1);
    bool is_after = kind != NULL && kind[0] == 'o';

    fprintf(out, "Steps: %s", nm_human_count(fewest, sqlite3_column_int64(row, 4)));
    if (sqlite3_column_int64(row, 5) != sqlite3_column_int64(row, 4))
        fprintf(out, " to %s", nm_human_count(most, sqlite3_column_int64(row, 5)));
    fprintf(out, " %s, %s %s (%s)\n", sqlite3_column_int(row, 2) != 0 ? "as --step-at says" : "inferred",
            is_after ? "each up to the optimizer's at" : "each from",
            nm_human_text(place, sizeof place, (const char *)sqlite3_column_text(row, 3), PLACE_COLUMNS),
            sqlite3_column_int(row, 2) != 0 ? "view step_origin" : "--step-at names another place");
}

static void write_none(sqlite3_stmt *row, FILE *out)
{
    char count[NM_HUMAN_BYTES], reason[TEXT_BYTES], place[TEXT_BYTES];
    const char *nearest = (const char *)sqlite3_column_text(row, 3);

    fprintf(out, "Steps: none found");
    if (sqlite3_column_int64(row, 8) > 1)
        fprintf(out, " in %s process%s", nm_human_count(count, sqlite3_column_int64(row, 7)),
                sqlite3_column_int64(row, 7) == 1 ? "" : "es");
    fprintf(out, ", %s",
            nm_human_text(reason, sizeof reason, (const char *)sqlite3_column_text(row, 6), REASON_COLUMNS));
    if (sqlite3_column_int64(row, 7) == 1 && strcmp(nearest, NO_PLACE) != 0)
        fprintf(out, ": %s", nm_human_text(place, sizeof place, nearest, PLACE_COLUMNS));
    fprintf(out, " (--step-at names a place)\n");
}

nm_status nm_summary_write_steps(sqlite3 *db, FILE *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, LINES, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        if (sqlite3_column_text(rows, 0)[0] == 'i')
            write_inferred(rows, out);
        else
            write_none(rows, out);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}
