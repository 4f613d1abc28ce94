/* SPDX-License-Identifier: Apache-2.0
 *
 * What many ranks have in common and what sets them apart: leaks summed up by site, verdicts of view health counted, and sites of
 * which one rank holds far more than the others. One query each over all ranks: of 512 none may look at pairs.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "screen/ranks.h"
#include "store/database.h"

#define SITES_MAX    3
#define SITE_COLUMNS 36
#define TEXT_BYTES   512

/* "rank 3", "pid 300" or, of neither, "?": columns of a row */
static const char *who_of(const nm_screen *s, sqlite3_stmt *row, int rank_column, char out[64])
{
    char number[32];
    bool is_rank = !nm_db_is_null(row, rank_column);

    snprintf(number, sizeof number, "%lld", (long long)sqlite3_column_int64(row, rank_column + !is_rank));
    return nm_sentence_put(is_rank ? NM_SAY_RANKS_RANK : NM_SAY_RANKS_PID, s->language, NM_WORDS({"n", number}), out,
                           64);
}

/* What they are counted of: ranks, or processes where there are none. */
static const char *all_of(const nm_screen *s, char out[NM_HUMAN_BYTES])
{
    return nm_human_count(out, s->ranks->rank_count > 0 ? s->ranks->rank_count : (int64_t)s->ranks->count);
}

/* ---- Leaks ---- */

/* By site over all processes; rank and pid are of the one that leaks most there. */
#define LEAKS                                                                                                          \
    "SELECT g.site, g.verdict, g.bytes, g.blocks, CASE WHEN ?1 THEN g.rank_count ELSE g.process_count END, g.rank,"    \
    " g.pid, v.rate,"                                                                                                  \
    " count(*) OVER () FROM (SELECT p.site, p.verdict, sum(p.bytes) AS bytes, sum(p.blocks) AS blocks,"                \
    " count(DISTINCT p.rank) AS rank_count, count(*) AS process_count, max(p.bytes), p.rank, p.pid FROM"               \
    " (SELECT coalesce(f.label, '(no stack)') AS site, l.verdict, sum(l.size_bytes) AS bytes,"                         \
    " sum(l.allocation_count) AS blocks, q.rank, q.pid FROM _leak_sum AS l JOIN heap AS h ON h.heap_id = l.heap_id"    \
    " JOIN process AS q ON q.process_id = h.process_id LEFT JOIN frame AS f ON f.frame_id = l.site_frame_id"           \
    " GROUP BY 1, 2, q.process_id ORDER BY q.rank, q.process_id) AS p GROUP BY p.site, p.verdict) AS g LEFT JOIN"      \
    " (SELECT site, verdict, max(late_bytes_per_step) AS rate FROM leak_by_site GROUP BY site, verdict) AS v"          \
    " ON v.site = g.site AND v.verdict = g.verdict"                                                                    \
    " ORDER BY g.verdict = 'unreleased', g.bytes DESC, g.site, g.verdict LIMIT ?2"

static void add_leak(nm_screen *s, sqlite3_stmt *row, bool is_first)
{
    char bytes[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES], rate[NM_HUMAN_BYTES], who[64];
    char site[TEXT_BYTES];

    nm_screen_begin(s, NM_SAY_RANKS_LABEL_LEAK, NM_LINE_BAD, is_first ? NM_RANK_WORST : NM_RANK_FAULT, "leak_by_site");
    nm_screen_rows(s, 2);
    nm_screen_number(s);
    nm_screen_say(s, NM_SAY_RANKS_LEAK,
                  NM_WORDS({"bytes", nm_human_bytes(bytes, sqlite3_column_int64(row, 2))},
                           {"site", nm_screen_site(s, nm_db_text(row, 0), SITE_COLUMNS, site, sizeof site)}));
    nm_screen_say(s, NM_SAY_RANKS_LEAK_ON,
                  NM_WORDS({"n", nm_human_count(count, sqlite3_column_int64(row, 4))}, {"all", all_of(s, all)},
                           {"who", who_of(s, row, 5, who)}));
    if (!nm_db_is_null(row, 7) && sqlite3_column_double(row, 7) > 0)
        nm_screen_say(s, NM_SAY_RANKS_LEAK_RATE,
                      NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)sqlite3_column_double(row, 7))}));
    nm_screen_say(s, NM_SAY_RANKS_LEAK_BLOCKS, NM_WORDS({"n", nm_human_count(count, sqlite3_column_int64(row, 3))}));
}

nm_status nm_screen_rank_leak_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_read_ranks(s, err);
    int64_t site_count = 0, shown_count = 0;
    char number[NM_HUMAN_BYTES];
    int code = SQLITE_DONE;

    if (status == NM_OK)
        status = nm_screen_ask(s, LEAKS, &rows, err);
    if (status == NM_OK) {
        sqlite3_bind_int(rows, 1, s->ranks->rank_count > 0);
        sqlite3_bind_int(rows, 2, SITES_MAX);
    }
    for (; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; shown_count++) {
        site_count = sqlite3_column_int64(rows, 8);
        add_leak(s, rows, shown_count == 0);
    }
    if (site_count > shown_count) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_FAULT, "leak_by_site");
        nm_screen_say(s, NM_SAY_RANKS_LEAK_MORE, NM_WORDS({"n", nm_human_count(number, site_count - shown_count)}));
    }
    return nm_screen_end(s, rows, status, code, err);
}

/* ---- Health ---- */

/* Of each measure that is not good on some, how many these are and which is the worst: of shares that should be high, the lowest. */
#define VERDICTS                                                                                                       \
    "SELECT measure, verdict, count(DISTINCT coalesce('r' || rank, coalesce(host, '') || ' ' || pid)),"                \
    " max(CASE WHEN measure IN ('pool hit rate', 'zero copy') THEN -value ELSE value END), rank, pid, value"           \
    " FROM (SELECT * FROM health WHERE verdict IN ('danger', 'warning') ORDER BY rank, pid) AS h"                      \
    " GROUP BY measure, verdict ORDER BY verdict, measure"

static void add_verdict(nm_screen *s, sqlite3_stmt *row)
{
    bool is_danger = strcmp(nm_db_text(row, 1), "danger") == 0;
    nm_sentence measure = nm_screen_measure_of(nm_db_text(row, 0));
    char count[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES], value[NM_HUMAN_BYTES], name[TEXT_BYTES], who[64];

    nm_screen_begin(s, is_danger ? NM_SAY_RANKS_LABEL_DANGER : NM_SAY_RANKS_LABEL_WARNING,
                    is_danger ? NM_LINE_BAD : NM_LINE_WARNING, is_danger ? NM_RANK_FAULT : NM_RANK_WARNING, "health");
    if (measure == NM_SAY_MEASURE_COST)
        nm_human_cost(value, (int64_t)sqlite3_column_double(row, 6));
    else
        nm_human_percent(value, sqlite3_column_double(row, 6));
    nm_screen_say(s, NM_SAY_RANKS_VERDICT,
                  NM_WORDS({"measure", nm_sentence_put(measure, s->language, NULL, name, sizeof name)},
                           {"n", nm_human_count(count, sqlite3_column_int64(row, 2))}, {"all", all_of(s, all)},
                           {"who", who_of(s, row, 4, who)}, {"value", value}));
    s->fault_count++;
}

nm_status nm_screen_rank_health_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_read_ranks(s, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        status = nm_screen_ask(s, VERDICTS, &rows, err);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        add_verdict(s, rows);
    return nm_screen_end(s, rows, status, code, err);
}

/* ---- Ranks that differ ---- */

/* A quarter more than the mean, by more than a twentieth of the highest peak of the heap: less is how jobs are. Nothing is said where a part
 * of a recording is missing. */
#define UNEVEN                                                                                                         \
    "SELECT i.max_rank, NULL, i.max_bytes, i.site, i.mean_bytes, i.rank_count FROM rank_imbalance AS i JOIN"           \
    " (SELECT w.heap, w.level, w.max_bytes FROM rank_imbalance AS w WHERE w.site = '(whole heap)') AS h"               \
    " ON h.heap IS i.heap AND h.level IS i.level WHERE i.site NOT IN ('(whole heap)', '(stack cut)') AND"              \
    " i.is_partial = 0 AND i.imbalance_ratio > 1.25 AND (i.max_bytes - i.mean_bytes) * 20 > h.max_bytes"               \
    " ORDER BY i.level = 'driver', i.max_bytes - i.mean_bytes DESC, i.site LIMIT ?1"

nm_status nm_screen_rank_uneven_lines(nm_screen *s, nm_error *err)
{
    char who[64], bytes[NM_HUMAN_BYTES], mean[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, UNEVEN, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, SITES_MAX);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        nm_screen_begin(s, NM_SAY_RANKS_LABEL_UNEVEN, NM_LINE_WARNING, NM_RANK_WARNING, "rank_imbalance");
        nm_screen_say(s, NM_SAY_RANKS_UNEVEN,
                      NM_WORDS({"who", who_of(s, rows, 0, who)},
                               {"bytes", nm_human_bytes(bytes, sqlite3_column_int64(rows, 2))},
                               {"site", nm_screen_site(s, nm_db_text(rows, 3), SITE_COLUMNS, site, sizeof site)},
                               {"mean", nm_human_bytes(mean, sqlite3_column_int64(rows, 4))},
                               {"n", nm_human_count(count, sqlite3_column_int64(rows, 5))}));
        s->fault_count++;
    }
    return nm_screen_end(s, rows, status, code, err);
}
