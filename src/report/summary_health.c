/* SPDX-License-Identifier: Apache-2.0
 *
 * A line a verdict, with its advice, which says the figures: view health has them all.
 */
#include "report/summary_health.h"

#include "base/human.h"
#include "store/database.h"

#define SHOWN_MAX      (NM_SUMMARY_HEALTH_LINES_MAX - 1)
#define ADVICE_COLUMNS 300
#define TEXT_BYTES     512

static const char count_sql[] = "SELECT count(CASE WHEN verdict IN ('warning', 'danger') THEN 1 END),"
                                " count(CASE WHEN verdict = 'good' THEN 1 END), (SELECT group_concat(DISTINCT measure)"
                                " FROM health WHERE verdict = 'unknown' AND reason NOT IN ('nothing after the warm-up',"
                                " 'reserved bytes not known'))"
                                " FROM health";

static const char worst_sql[] =
    "SELECT measure, verdict, heap, device, rank, advice, (SELECT upper(max(kind)) FROM device),"
    " CASE WHEN (SELECT count(DISTINCT pid) FROM health) > 1 THEN pid END FROM health"
    " WHERE verdict IN ('warning', 'danger') ORDER BY verdict = 'warning',"
    " CASE measure WHEN 'fragmentation' THEN 0 WHEN 'pool hit rate' THEN 1 WHEN 'allocation cost' THEN 2 ELSE 3 END,"
    " abs(value - CASE measure WHEN 'pool hit rate' THEN 1 WHEN 'zero copy' THEN 1 ELSE 0 END) DESC, rank, pid, heap"
    " LIMIT ?1";

/* `unjudged`: the measures that cannot be judged somewhere; "": all can. */
static nm_status count_verdicts(sqlite3 *db, int64_t *bad_count, int64_t *good_count, char unjudged[TEXT_BYTES],
                                nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, count_sql, &row, err);

    if (status != NM_OK)
        return status;
    if (sqlite3_step(row) == SQLITE_ROW) {
        *bad_count = sqlite3_column_int64(row, 0);
        *good_count = sqlite3_column_int64(row, 1);
        nm_human_text(unjudged, TEXT_BYTES, (const char *)sqlite3_column_text(row, 2), 100);
    } else {
        status = nm_db_fail(db, err);
    }
    sqlite3_finalize(row);
    return status;
}

nm_status nm_summary_health_lines(sqlite3 *db, int64_t *line_count, nm_error *err)
{
    int64_t bad_count = 0;
    int64_t good_count = 0;
    char unjudged[TEXT_BYTES] = "";
    nm_status status = count_verdicts(db, &bad_count, &good_count, unjudged, err);

    *line_count = bad_count > SHOWN_MAX ? SHOWN_MAX + 1
                  : bad_count > 0       ? bad_count
                                        : good_count > 0 || unjudged[0] != 0;
    return status;
}

/* "rank 3 NPU 2 caching pool": the heap, or the device of what is not of one heap; without ranks which of several
 * processes. */
static const char *describe(sqlite3_stmt *row, char out[TEXT_BYTES])
{
    char heap[TEXT_BYTES];
    const char *kind = (const char *)sqlite3_column_text(row, 6);
    size_t len = 0;

    out[0] = 0;
    if (!nm_db_is_null(row, 4))
        len += (size_t)snprintf(out, TEXT_BYTES, " rank %lld", (long long)sqlite3_column_int64(row, 4));
    else if (!nm_db_is_null(row, 7))
        len += (size_t)snprintf(out, TEXT_BYTES, " pid %lld", (long long)sqlite3_column_int64(row, 7));
    if (!nm_db_is_null(row, 3))
        len += (size_t)snprintf(out + len, TEXT_BYTES - len, " %.8s %lld", kind == NULL ? "device" : kind,
                                (long long)sqlite3_column_int64(row, 3));
    nm_human_text(heap, sizeof heap, (const char *)sqlite3_column_text(row, 2), 24);
    if (heap[0] != 0)
        snprintf(out + len, TEXT_BYTES - len, " %.200s", heap);
    return out;
}

static nm_status write_worst(sqlite3 *db, FILE *out, nm_error *err)
{
    char place[TEXT_BYTES], advice[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, worst_sql, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, SHOWN_MAX);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        describe(rows, place);
        fprintf(out, "%s: %s of%s: %s\n", sqlite3_column_text(rows, 1)[0] == 'd' ? "Danger" : "Warning",
                (const char *)sqlite3_column_text(rows, 0), place,
                nm_human_text(advice, sizeof advice, (const char *)sqlite3_column_text(rows, 5), ADVICE_COLUMNS));
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

nm_status nm_summary_write_health(sqlite3 *db, FILE *out, nm_error *err)
{
    char number[NM_HUMAN_BYTES];
    int64_t bad_count = 0;
    int64_t good_count = 0;
    char unjudged[TEXT_BYTES] = "";
    nm_status status = count_verdicts(db, &bad_count, &good_count, unjudged, err);

    if (status != NM_OK)
        return status;
    if (bad_count == 0 && good_count > 0)
        fprintf(out, "Health: good in %s measure%s%s%s (view health)\n", nm_human_count(number, good_count),
                good_count == 1 ? "" : "s", unjudged[0] == 0 ? "" : "; not judged: ", unjudged);
    else if (bad_count == 0 && unjudged[0] != 0)
        fprintf(out, "Health: not judged: %s (view health)\n", unjudged);
    if (bad_count > 0)
        status = write_worst(db, out, err);
    if (bad_count > SHOWN_MAX)
        fprintf(out, "and %s more verdict%s that %s not good: see view health\n",
                nm_human_count(number, bad_count - SHOWN_MAX), bad_count - SHOWN_MAX == 1 ? "" : "s",
                bad_count - SHOWN_MAX == 1 ? "is" : "are");
    return status;
}
