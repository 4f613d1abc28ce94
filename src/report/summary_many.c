/* SPDX-License-Identifier: Apache-2.0
 *
 * Each measure is one query that gives, for every process, a value and who it is. SQL orders them; the table is filled by
 * their place in that order.
 */
#include "report/summary_many.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/human.h"
#include "store/database.h"

#define OUTLIERS_MAX 4

typedef struct measure {
    const char *title;
    const char *values; /* SELECT value, who: one row a process */
    bool is_ratio;
} measure;

/* Who a process is: its rank where it has one. */
#define WHO                                                                                                            \
    "CASE WHEN max(rank) IS NOT NULL THEN 'rank ' || max(rank) ELSE coalesce(host || ' ', '') || 'pid ' || pid END"

/* Of a process, not of its host, rank and number: runs in containers may have all of these in common. */
#define PEAKS_OF(level)                                                                                                \
    " AS value, " WHO                                                                                                  \
    " AS who FROM _heap_sum JOIN _heap_place USING (heap_id) WHERE peak_bytes > 0 AND level = '" level                 \
    "' GROUP BY process_id"

static const measure measures[] = {
    {"pool peak", "SELECT max(peak_bytes)" PEAKS_OF("pool"), false},
    {"driver peak", "SELECT sum(peak_bytes)" PEAKS_OF("driver"), false},
    {"pinned peak", "SELECT sum(peak_bytes)" PEAKS_OF("pinned"), false},
    {"leaks",
     "SELECT sum(bytes) AS value, " WHO " AS who FROM (SELECT host, rank, pid, 0 AS bytes FROM _heap_place UNION ALL"
     " SELECT host, rank, pid, leak_bytes FROM leak_by_site) GROUP BY host, rank, pid",
     false},
    {"fragmentation",
     "SELECT max(min_ratio) AS value, " WHO " AS who FROM _fragmentation_verdict GROUP BY host, rank, pid", true},
    {"pool hit rate",
     "SELECT min(hit_rate) AS value, " WHO
     " AS who FROM pool_hit_rate WHERE bucket = 'all' AND hit_rate IS NOT NULL GROUP BY host, rank, pid",
     true},
};

static const char *value_text(const measure *m, sqlite3_stmt *row, int column, char out[NM_HUMAN_BYTES])
{
    if (m->is_ratio)
        return nm_human_percent(out, sqlite3_column_double(row, column));
    return nm_human_bytes(out, sqlite3_column_int64(row, column));
}

/* Far off: more than a quarter (of a ratio: five hundredths) from the median. */
static nm_status write_outliers(sqlite3 *db, const measure *m, FILE *out, nm_error *err)
{
    char sql[2048];
    char number[NM_HUMAN_BYTES];
    char who[128];
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;

    snprintf(
        sql, sizeof sql,
        "WITH v AS (%s), n AS (SELECT value, who, row_number() OVER (ORDER BY value, who) AS place,"
        " count(*) OVER () AS process_count FROM v),"
        " middle AS (SELECT value AS median FROM n WHERE place = (process_count + 1) / 2)"
        " SELECT value, who FROM n, middle WHERE abs(value - median) > CASE WHEN %d THEN 0.05 ELSE median / 4.0 END"
        " ORDER BY abs(value - median) DESC, who LIMIT %d",
        m->values, m->is_ratio, OUTLIERS_MAX);
    nm_status status = nm_db_prepare(db, sql, &rows, err);
    for (int index = 0; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; index++)
        fprintf(out, "%s%s %s", index == 0 ? "   far off: " : ", ",
                nm_human_text(who, sizeof who, (const char *)sqlite3_column_text(rows, 1), 40),
                value_text(m, rows, 0, number));
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

/* Its line, under the title if it is the first; none where no process has a value. */
static nm_status write_measure(sqlite3 *db, const measure *m, bool *has_title, FILE *out, nm_error *err)
{
    char sql[2048];
    char low[NM_HUMAN_BYTES], middle[NM_HUMAN_BYTES], high[NM_HUMAN_BYTES];
    sqlite3_stmt *row = NULL;

    snprintf(sql, sizeof sql,
             "WITH v AS (%s), n AS (SELECT value, row_number() OVER (ORDER BY value) AS place,"
             " count(*) OVER () AS process_count FROM v)"
             " SELECT min(value), max(CASE WHEN place = (process_count + 1) / 2 THEN value END), max(value) FROM n",
             m->values);
    nm_status status = nm_db_prepare(db, sql, &row, err);
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;
    bool has_values = code == SQLITE_ROW && !nm_db_is_null(row, 0);
    if (has_values && !*has_title)
        fprintf(out, "  %-15s %10s %10s %10s\n", "over processes", "min", "median", "max");
    *has_title |= has_values;
    if (has_values)
        fprintf(out, "  %-15s %10s %10s %10s", m->title, value_text(m, row, 0, low), value_text(m, row, 1, middle),
                value_text(m, row, 2, high));
    if (status == NM_OK && code != SQLITE_ROW)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    if (status == NM_OK && has_values)
        status = write_outliers(db, m, out, err);
    if (has_values)
        fprintf(out, "\n");
    return status;
}

static nm_status write_leak_site(sqlite3 *db, FILE *out, nm_error *err)
{
    static const char sql[] = "SELECT coalesce(f.label, '(no stack)'), sum(l.allocation_count), sum(l.size_bytes),"
                              " count(DISTINCT h.process_id), l.verdict"
                              " FROM _leak_sum AS l JOIN heap AS h ON h.heap_id = l.heap_id"
                              " LEFT JOIN frame AS f ON f.frame_id = l.site_frame_id"
                              " GROUP BY 1, 5 ORDER BY l.verdict = 'unreleased', 3 DESC, 1, 5 LIMIT 3";
    char site[256], count[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, sql, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        int64_t leak_count = sqlite3_column_int64(rows, 1);
        int64_t process_count = sqlite3_column_int64(rows, 3);

        fprintf(out, "  leak  %10s  %-40s %s allocation%s, in %lld process%s, %s\n",
                nm_human_bytes(bytes, sqlite3_column_int64(rows, 2)),
                nm_human_text(site, sizeof site, (const char *)sqlite3_column_text(rows, 0), 40),
                nm_human_count(count, leak_count), leak_count == 1 ? "" : "s", (long long)process_count,
                process_count == 1 ? "" : "es", (const char *)sqlite3_column_text(rows, 4));
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

nm_status nm_summary_write_many(sqlite3 *db, FILE *out, nm_error *err)
{
    nm_status status = NM_OK;
    bool has_title = false;

    for (size_t index = 0; status == NM_OK && index < sizeof measures / sizeof measures[0]; index++)
        status = write_measure(db, &measures[index], &has_title, out, err);
    return status == NM_OK ? write_leak_site(db, out, err) : status;
}
