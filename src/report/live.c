/* SPDX-License-Identifier: Apache-2.0
 *
 * A moment means what it means to queries/live_by_site.sql. At peaks the sums that the load has kept say it; rows of single
 * allocations, where they are there, know streams and categories too. Nothing here holds an allocation: SQLite sums them up.
 */
#include "report/live.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "base/quantity.h"
#include "store/database.h"

#define SHOWN_COLUMNS 30
#define SHOWN_BYTES   (4 * 60 + 4)

/* ---- The moment ---------------------------------------------------------------------------------------------------- */

/* The first column of the first row of `sql`, whose ?1 is the text. *is_there is false where there is none, or it is NULL. */
static nm_status ask(sqlite3 *db, const char *sql, const char *text, bool *is_there, char shown[SHOWN_BYTES],
                     nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, sql, &row, err);

    *is_there = false;
    if (status != NM_OK)
        return status;
    sqlite3_bind_text(row, 1, text, -1, SQLITE_STATIC);
    int code = sqlite3_step(row);
    *is_there = code == SQLITE_ROW && !nm_db_is_null(row, 0);
    if (*is_there && shown != NULL)
        nm_human_text(shown, SHOWN_BYTES, nm_db_text(row, 0), 60);
    if (code != SQLITE_ROW && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

static bool is_digits(const char *text)
{
    size_t length = strspn(text, "0123456789");

    return length > 0 && length <= 18 && text[length] == 0;
}

static nm_status refuse_unknown(sqlite3 *db, const char *asked, nm_error *err)
{
    static const char marks[] = "SELECT group_concat(name, ', ') FROM (SELECT DISTINCT name FROM moment"
                                " WHERE kind = 3 AND ?1 IS NOT NULL LIMIT 8)";
    char names[SHOWN_BYTES], shown[SHOWN_BYTES];
    bool has_marks = false;
    nm_status status = ask(db, marks, asked, &has_marks, names, err);

    if (status != NM_OK)
        return status;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                   "has no moment %s: peak, end, seq:N, a time as 10s, or a mark: %.60s",
                   nm_human_text(shown, sizeof shown, asked, SHOWN_COLUMNS), has_marks ? names : "none");
}

/* Sets the word. A mark goes before what else its text could mean. */
static nm_status find_word(sqlite3 *db, const char *asked, nm_live_moment *out, nm_error *err)
{
    static const char named[] = "SELECT 1 FROM _named_moment WHERE moment = ?1 LIMIT 1";
    bool is_named = false;
    uint64_t ns = 0;
    nm_status status = ask(db, named, asked, &is_named, NULL, err);

    out->word = asked;
    out->is_peak = strcmp(asked, "peak") == 0;
    if (status != NM_OK || is_named || out->is_peak || strcmp(asked, "end") == 0 || strcmp(asked, "begin") == 0)
        return status; /* of a database without heaps nothing is named */
    if (strncmp(asked, "seq:", 4) == 0 && is_digits(asked + 4))
        ns = strtoull(asked + 4, NULL, 10);
    else if (nm_quantity_time(asked, 1, &ns, NULL) != NM_OK)
        return refuse_unknown(db, asked, err);
    snprintf(out->own_word, sizeof out->own_word, "%s%" PRIu64, asked[0] == 's' ? "seq:" : "", ns);
    out->word = out->own_word;
    return NM_OK;
}

/* What rows there are, and whether they reach back to the moment. ?1: the word. */
static const char no_rows_sql[] = "SELECT 1 FROM input WHERE detail = 'none' AND ?1 IS NOT NULL LIMIT 1";
static const char few_rows_sql[] =
    "SELECT 1 FROM input WHERE detail <> 'all' AND NOT EXISTS (SELECT 1 FROM _named_moment WHERE moment = ?1) LIMIT 1";
static const char begins_late_sql[] =
    "SELECT 1 FROM input JOIN _heap_place AS p ON p.input_id = input.input_id JOIN _heap_sum AS s ON s.heap_id = "
    "p.heap_id"
    " LEFT JOIN _named_moment AS n ON n.heap_id = p.heap_id AND n.moment = ?1"
    " WHERE s.peak_bytes > 0 AND CASE WHEN n.moment IS NOT NULL THEN n.seq < input.detail_begin_seq"
    " WHEN ?1 GLOB 'seq:*' THEN CAST(substr(?1, 5) AS INTEGER) < input.detail_begin_seq"
    " ELSE CAST(?1 AS INTEGER) < input.detail_begin_ns END LIMIT 1";
static const char timeless_sql[] =
    "SELECT 1 FROM allocation WHERE NOT EXISTS (SELECT 1 FROM _named_moment WHERE moment = ?1) AND ?1 NOT GLOB 'seq:*'"
    " AND ((alloc_seq IS NOT NULL AND alloc_ns IS NULL) OR (free_seq IS NOT NULL AND free_ns IS NULL)) LIMIT 1";

nm_status nm_live_find(sqlite3 *db, const char *asked, nm_live_moment *out, nm_error *err)
{
    static const struct {
        const char *sql, *text;
    } faults[] = {
        {no_rows_sql, "has no rows of allocations (--detail none): it tells of --at peak alone"},
        {few_rows_sql, "has rows of peaks, marks and the end alone (--detail live): it does not tell of --at"},
        {begins_late_sql, "does not tell of --at: that lies before the part of the recording that was kept"},
        {timeless_sql, "does not know the times of its events: --at seq:N"},
    };
    nm_status status;
    bool is_fault = false;

    *out = (nm_live_moment){0};
    status = find_word(db, asked, out, err);
    for (size_t i = 0; status == NM_OK && !is_fault && i < sizeof faults / sizeof *faults; i++) {
        status = ask(db, faults[i].sql, out->word, &is_fault, NULL, err);
        if (status == NM_OK && is_fault && !out->is_peak)
            return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s", faults[i].text);
    }
    out->has_rows = !is_fault;
    return status;
}

/* ---- Its rows ------------------------------------------------------------------------------------------------------ */

#define PLACE                                                                                                          \
    "WITH place (heap_id, rank, pid, device, heap, level, text) AS (SELECT heap_id, rank, pid, device, heap, level,"   \
    " words || CASE WHEN count(*) OVER (PARTITION BY words) > 1 THEN coalesce(', ' || host, '')"                       \
    " || coalesce(', pid ' || pid, '') || ', heap ' || heap_id ELSE '' END FROM (SELECT p.heap_id, p.host, p.rank,"    \
    " p.pid, p.device, p.heap, p.level, coalesce('rank ' || p.rank || ', ', 'pid ' || p.pid || ', ', '')"              \
    " || coalesce(CASE WHEN d.kind = 'gpu' THEN 'GPU ' ELSE 'NPU ' END || p.device || ', ', '')"                       \
    " || coalesce(p.heap, p.level, 'heap') AS words FROM _heap_place AS p"                                             \
    " LEFT JOIN device AS d ON d.device_id = p.device_id)), "
#define LIVE "live (heap_id, stack_id, is_baseline, stream, category_id, live_count, live_bytes) AS ("

static const char with_sums[] =
    PLACE LIVE "SELECT heap_id, stack_id, is_baseline, NULL, NULL, sum(live_count), sum(live_bytes) FROM _peak_stack"
               " WHERE ?1 IS NOT NULL GROUP BY heap_id, stack_id, is_baseline) ";

/* CROSS and the + keep SQLite from an index of its own over all allocations: one pass over them is enough. */
static const char with_rows[] = PLACE
    "point (heap_id, seq, ns) AS (SELECT h.heap_id, CASE WHEN n.moment IS NOT NULL THEN n.seq WHEN ?1 GLOB 'seq:*' THEN"
    " CAST(substr(?1, 5) AS INTEGER) END, CASE WHEN n.moment IS NULL AND ?1 NOT GLOB '*[^0-9]*' THEN CAST(?1 AS "
    "INTEGER)"
    " END FROM heap AS h LEFT JOIN _named_moment AS n ON n.heap_id = h.heap_id AND n.moment = ?1),"
    " span (heap_id, seq, ns) AS (SELECT DISTINCT heap_id, seq, ns FROM point WHERE coalesce(seq, ns) IS NOT "
    "NULL), " LIVE
    "SELECT a.heap_id, a.stack_id, a.alloc_seq IS NULL AND a.stack_id IS NULL, a.stream, a.category_id, count(*),"
    " sum(a.size_bytes) FROM allocation AS a CROSS JOIN span AS s ON s.heap_id = a.heap_id WHERE (a.alloc_seq IS NULL "
    "OR"
    " CASE WHEN s.seq IS NULL THEN a.alloc_ns <= s.ns ELSE a.alloc_seq <= s.seq END) AND (a.end_kind = 0 OR CASE WHEN"
    " s.seq IS NULL THEN a.free_ns > s.ns ELSE a.free_seq > s.seq END) GROUP BY 1, 2, 3, 4, 5) ";

nm_status nm_live_prepare(sqlite3 *db, const nm_live_moment *moment, const char *select, sqlite3_stmt **out,
                          nm_error *err)
{
    const char *with = moment->has_rows ? with_rows : with_sums;
    size_t size = strlen(with) + strlen(select) + 1;
    char *sql = malloc(size);
    nm_status status;

    *out = NULL;
    if (sql == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    snprintf(sql, size, "%s%s", with, select);
    status = nm_db_prepare(db, sql, out, err);
    free(sql);
    if (status == NM_OK)
        sqlite3_bind_text(*out, 1, moment->word, -1, SQLITE_STATIC);
    return status;
}
