/* SPDX-License-Identifier: Apache-2.0
 *
 * One statement a rule. Each gives a row a place: six columns that say where, the value, what it is compared with (NULL:
 * the rule's own limit) and a note. Whatever the database holds in its tables is read as numbers and text: nothing in it is
 * trusted.
 */
#include "tool/check/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "drain/state.h"
#include "store/database.h"
#include "store/foreign.h"

/* ?1: the rank, or NULL; ?2: name or level of a heap, or NULL. */
#define IS_CHOSEN(table)                                                                                               \
    "(?1 IS NULL OR " table "rank IS ?1) AND (?2 IS NULL OR " table "heap IS ?2 OR " table "level IS ?2)"
#define IS_DEVICE(table) "(?2 IS NOT NULL OR (" table "device IS NOT NULL AND " table "level IN ('driver', 'pool')))"

/* All driver memory of a device; where none was recorded, each of its pools. With a filter, each heap by itself. */
static const char max_peak_sql[] =
    "SELECT host, rank, pid, device, heap, level, peak_bytes, NULL, NULL FROM device_peak WHERE ?1 IS NULL AND ?2 IS "
    "NULL"
    " UNION ALL SELECT k.host, k.rank, k.pid, k.device, k.heap, k.level, k.peak_bytes, NULL, NULL FROM peak AS k"
    " WHERE CASE WHEN ?1 IS NULL AND ?2 IS NULL THEN k.level = 'pool' AND k.device IS NOT NULL AND NOT EXISTS"
    " (SELECT 1 FROM device_peak AS d WHERE d.host IS k.host AND d.device IS k.device)"
    " ELSE " IS_CHOSEN("k.") " AND " IS_DEVICE("k.") " END";

static const char max_reserved_sql[] =
    "SELECT host, rank, pid, device, heap, level, peak_reserved_bytes, NULL, CASE reserved_source WHEN 'stated' THEN"
    " 'by the word of the pool' END FROM peak WHERE peak_reserved_bytes > 0 AND " IS_CHOSEN("");

/* Where it hurt most, and as much as is sure. Below a floor that is set, ?3, it passes whatever the limit is. */
static const char max_fragmentation_sql[] =
    "SELECT host, rank, pid, device, heap, level, max(CASE WHEN min_unused_bytes < floor THEN 0.0 ELSE min_ratio END),"
    " NULL, CASE WHEN min_unused_bytes < floor"
    " THEN printf('less than the floor of %.1f MiB is unused', floor / 1048576.0)"
    " ELSE CASE moment WHEN 'peak' THEN 'at the peak' WHEN 'growth' THEN 'when the pool grew'"
    " ELSE 'when an allocation failed' END END"
    " || CASE reason WHEN 'other streams may use it' THEN '; at least: what other streams still used is not known'"
    " WHEN 'sizes as requested alone' THEN '; at least: only requested sizes are known'"
    " WHEN 'not all was recorded' THEN '; as far as is known'"
    " ELSE CASE WHEN min_ratio < max_ratio THEN '; at least: what is not sure is left out' ELSE '' END END"
    " FROM (SELECT *, coalesce(?3, 0) AS floor FROM _fragmentation_verdict) WHERE " IS_CHOSEN("") " GROUP BY heap_id";

static const char min_hit_rate_sql[] =
    "SELECT host, rank, pid, device, heap, level, CASE WHEN amount < ?3 THEN 1.0 ELSE value END, NULL,"
    " CASE WHEN amount < ?3 THEN 'only ' || amount || ' requests came after the warm-up' END"
    " FROM health WHERE measure = 'pool hit rate' AND value IS NOT NULL AND " IS_CHOSEN("");

/* Steps after the warm-up, of pools whose misses are known. Joined steps of a long recording count as so many. */
static const char max_misses_sql[] =
    "SELECT p.host, p.rank, p.pid, p.device, p.heap, p.level, coalesce(max(CAST(s.miss_count AS REAL)"
    " / (s.last_generation - s.generation + 1)), 0), NULL,"
    " CASE WHEN s.miss_count > 0 THEN 'in step ' || s.number END"
    " FROM _heap_place AS p JOIN _warm_up AS w ON w.process_id = p.process_id"
    " LEFT JOIN _step_sum AS s ON s.heap_id = p.heap_id AND s.generation > w.warm_up_count"
    " WHERE p.level = 'pool' AND w.step_count > w.warm_up_count AND " IS_CHOSEN(
        "p.") " GROUP BY p.heap_id"
              " HAVING count(s.heap_id) = count(s.miss_count)";

static const char no_growth_sql[] = "SELECT host, rank, pid, device, heap, level, leak_bytes, NULL, site"
                                    " FROM leak_by_site WHERE verdict = 'growing' AND " IS_CHOSEN("");
static const char no_rising_sql[] = "SELECT host, rank, pid, device, heap, level, bytes_per_hour, NULL, site"
                                    " FROM leak_by_site WHERE verdict = 'rising' AND " IS_CHOSEN("");
static const char no_leak_sql[] = "SELECT host, rank, pid, device, heap, level, leak_bytes, NULL, site"
                                  " FROM leak_by_site WHERE " IS_CHOSEN("");
static const char no_anomaly_sql[] = "SELECT host, rank, pid, device, heap, level, 1, NULL,"
                                     " kind || ', ' || site FROM misuse"
                                     " WHERE kind <> 'stream never destroyed' AND " IS_CHOSEN("");
static const char no_oom_sql[] =
    "SELECT host, rank, pid, device, heap, level, 1, NULL, verdict || ', ' || site FROM out_of_memory"
    " WHERE outcome IS NOT 'recovered' AND " IS_CHOSEN("");

/* Peaks of device memory by rank and heap, against those of the same name in the other database. */
#define PEAKS_OF(schema)                                                                                               \
    "(SELECT p.host, p.rank, p.pid, p.device, p.heap, p.level, p.size_basis, max(s.peak_bytes) AS peak_bytes "         \
    "FROM " schema                                                                                                     \
    "._heap_sum AS s JOIN " NM_FOREIGN_PLACES(schema) " AS p ON p.heap_id = s.heap_id WHERE " IS_CHOSEN(               \
        "p.") " AND " IS_DEVICE("p.") " GROUP BY p.rank, p.device, p.heap, p.level)"
static const char baseline_sql[] =
    "SELECT n.host, n.rank, n.pid, n.device, n.heap, n.level, n.peak_bytes,"
    " CASE WHEN n.size_basis IS o.size_basis THEN o.peak_bytes ELSE 0 END,"
    " CASE WHEN o.peak_bytes IS NULL THEN 'not in the baseline'"
    " WHEN n.size_basis IS NOT o.size_basis THEN 'the baseline counts other sizes (' || o.size_basis || ')' END"
    " FROM " PEAKS_OF("main") " AS n LEFT JOIN " PEAKS_OF(
        "base") " AS o"
                " ON o.rank IS n.rank AND o.device IS n.device AND o.heap IS n.heap AND o.level IS n.level"
                " WHERE n.peak_bytes > 0";

static const struct {
    const char *name;
    const char *sql; /* NULL: completeness */
    check_unit unit;
    bool is_minimum;
    bool is_count; /* rows are what is wrong: none of them is good news */
    bool has_limit;
    const char *nothing; /* what it means when there is no row */
} questions[CHECK_KIND_COUNT] = {
    [CHECK_COMPLETE] = {"complete", NULL, CHECK_COUNT, false, true, false, ""},
    [CHECK_MAX_PEAK] = {"max-peak", max_peak_sql, CHECK_BYTES, false, false, true, "no device memory was recorded"},
    [CHECK_MAX_RESERVED] = {"max-reserved", max_reserved_sql, CHECK_BYTES, false, false, true,
                            "no pool is known to hold anything"},
    [CHECK_MAX_FRAGMENTATION] = {"max-fragmentation", max_fragmentation_sql, CHECK_RATIO, false, false, true,
                                 "no pool is known to hold anything"},
    [CHECK_MIN_HIT_RATE] = {"min-hit-rate", min_hit_rate_sql, CHECK_RATIO, true, false, true,
                            "no pool served anything"},
    [CHECK_MAX_MISSES_PER_STEP] = {"max-misses-per-step", max_misses_sql, CHECK_COUNT, false, false, true,
                                   "no step after the warm-up is known of a process with a pool"},
    [CHECK_NO_GROWTH] = {"no-growth", no_growth_sql, CHECK_BYTES, false, true, false, ""},
    [CHECK_NO_RISING] = {"no-rising", no_rising_sql, CHECK_BYTES, false, true, false, ""},
    [CHECK_NO_LEAK] = {"no-leak", no_leak_sql, CHECK_BYTES, false, true, false, ""},
    [CHECK_NO_ANOMALY] = {"no-anomaly", no_anomaly_sql, CHECK_COUNT, false, true, false, ""},
    [CHECK_NO_OOM] = {"no-oom", no_oom_sql, CHECK_COUNT, false, true, false, ""},
    [CHECK_BASELINE] = {"baseline", baseline_sql, CHECK_BYTES, false, false, true, "no device memory was recorded"},
};

/* ---- Measuring ----------------------------------------------------------------------------------------------------- */

/* "host rank 3 device 2 caching pool": what is known of it. */
static void describe_place(sqlite3_stmt *row, char out[CHECK_TEXT_BYTES])
{
    char host[64], heap[96], raw[CHECK_TEXT_BYTES];
    int len;

    nm_human_text(host, sizeof host, nm_db_text(row, 0), 40);
    nm_human_text(heap, sizeof heap, nm_db_is_null(row, 4) ? nm_db_text(row, 5) : nm_db_text(row, 4), 40);
    len = snprintf(raw, sizeof raw, "%s", host);
    if (!nm_db_is_null(row, 1))
        len += snprintf(raw + len, sizeof raw - (size_t)len, " rank %" PRId64, (int64_t)sqlite3_column_int64(row, 1));
    else if (!nm_db_is_null(row, 2))
        len += snprintf(raw + len, sizeof raw - (size_t)len, " pid %" PRId64, (int64_t)sqlite3_column_int64(row, 2));
    if (!nm_db_is_null(row, 3))
        len += snprintf(raw + len, sizeof raw - (size_t)len, " device %" PRId64, (int64_t)sqlite3_column_int64(row, 3));
    snprintf(raw + len, sizeof raw - (size_t)len, "%s%s", heap[0] == 0 ? "" : " ", heap);
    snprintf(out, CHECK_TEXT_BYTES, "%s", raw[0] == ' ' ? raw + 1 : raw);
}

static double limit_of(const check_rule *rule, sqlite3_stmt *row)
{
    return nm_db_is_null(row, 7) && rule->kind != CHECK_BASELINE
               ? rule->limit
               : sqlite3_column_double(row, 7) * (1 + rule->more_ratio) + rule->more_bytes;
}

/* How far a value is on the wrong side of its limit. */
static double excess_of(double value, double limit, bool is_minimum)
{
    return is_minimum ? limit - value : value - limit;
}

/* A row of what is wrong: they are counted, and the largest is shown. */
static void take_wrong(sqlite3_stmt *row, check_result *out)
{
    double value = sqlite3_column_double(row, 6);

    if (out->place_count == 1 || value > out->limit) { /* `limit` is not used otherwise */
        describe_place(row, out->place);
        nm_human_text(out->note, sizeof out->note, nm_db_text(row, 8), 100);
        out->limit = value;
    }
    out->value += value;
    out->is_ok = false;
    out->failed_count++;
}

/* A row to compare. What has no counterpart in a baseline fails, whatever is allowed. */
static void take_place(const check_rule *rule, sqlite3_stmt *row, check_result *out)
{
    bool has_nothing = rule->kind == CHECK_BASELINE && !nm_db_is_null(row, 8);
    double value = sqlite3_column_double(row, 6);
    double limit = has_nothing ? 0 : limit_of(rule, row);
    double excess = excess_of(value, limit, out->is_minimum);
    bool is_worse = out->place_count == 1 || excess > excess_of(out->value, out->limit, out->is_minimum);

    if (is_worse) {
        out->value = value;
        out->limit = limit;
        out->is_limit_known = !has_nothing;
        describe_place(row, out->place);
        nm_human_text(out->note, sizeof out->note, nm_db_text(row, 8), 100);
    }
    if (!(excess <= 0)) {
        out->is_ok = false;
        out->failed_count++;
    }
}

static void bind_floor(sqlite3_stmt *rows, check_kind kind, const nm_thresholds *thresholds)
{
    nm_measure measure = kind == CHECK_MAX_FRAGMENTATION ? NM_MEASURE_FRAGMENTATION : NM_MEASURE_HIT_RATE;

    if ((kind == CHECK_MAX_FRAGMENTATION || kind == CHECK_MIN_HIT_RATE) && thresholds->items[measure].is_set)
        sqlite3_bind_int64(rows, 3, thresholds->items[measure].floor);
}

static nm_status walk(sqlite3 *db, const check_rule *rule, const check_filter *filter, check_result *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, questions[rule->kind].sql, &rows, err);
    int code = SQLITE_DONE;

    if (status != NM_OK)
        return status;
    if (filter->has_rank)
        sqlite3_bind_int64(rows, 1, filter->rank);
    if (filter->heap != NULL)
        sqlite3_bind_text(rows, 2, filter->heap, -1, SQLITE_STATIC);
    bind_floor(rows, rule->kind, &filter->thresholds);
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        out->place_count++;
        if (questions[rule->kind].is_count)
            take_wrong(rows, out);
        else
            take_place(rule, rows, out);
    }
    if (code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

/* Is there a heap at all that the filter chooses? Else nothing wrong is no good news. */
static nm_status find_chosen(sqlite3 *db, const check_filter *filter, int64_t *count, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, "SELECT count(*) FROM _heap_place WHERE " IS_CHOSEN(""), &row, err);

    if (status != NM_OK)
        return status;
    if (filter->has_rank)
        sqlite3_bind_int64(row, 1, filter->rank);
    if (filter->heap != NULL)
        sqlite3_bind_text(row, 2, filter->heap, -1, SQLITE_STATIC);
    if (sqlite3_step(row) == SQLITE_ROW)
        *count = sqlite3_column_int64(row, 0);
    else
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

static void fail_with(check_result *out, const char *why)
{
    out->is_ok = false;
    snprintf(out->note, sizeof out->note, "%s", why);
}

/* ---- Completeness -------------------------------------------------------------------------------------------------- */

#define PARTIAL_SQL(schema)                                                                                            \
    "SELECT (SELECT count(*) FROM " schema                                                                             \
    ".input), (SELECT total(events_seen - events_ingested - events_unkept) FROM " schema                               \
    ".input), (SELECT count(*) FROM " schema ".input WHERE is_complete <> 1 OR events_dropped > 0"                     \
    " OR events_damaged > 0 OR events_unrecovered > 0 OR bytes_cut > 0 OR unknown_reference_count > 0),"               \
    " (SELECT state FROM " schema ".input WHERE state NOT IN ('ended', 'recovered') ORDER BY state <> 'running',"      \
    " input_id LIMIT 1), (SELECT count(*) FROM " schema ".input WHERE"                                                 \
    " baseline = 'unknown'), (SELECT count(*) FROM " schema "._heap_sum WHERE is_whole_run <> 1)"

/* Why the database does not hold all of what happened; "" when it does. */
static nm_status say_partial(sqlite3 *db, const char *sql, check_result *out, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_db_prepare(db, sql, &row, err);
    char number[NM_HUMAN_BYTES];
    const char *why = "";

    if (status != NM_OK)
        return status;
    if (sqlite3_step(row) != SQLITE_ROW) {
        status = nm_db_fail(db, err);
    } else {
        double missing = sqlite3_column_double(row, 1);

        out->value = missing > 0 && missing < 1e18 ? missing : 0;
        if (sqlite3_column_int64(row, 0) == 0)
            why = "no input is in the database";
        else if (nm_state_reason_of(nm_db_text(row, 3)) != NULL)
            why = nm_state_reason_of(nm_db_text(row, 3));
        else if (out->value > 0)
            snprintf(out->note, sizeof out->note, "%s events are missing", nm_human_count(number, (int64_t)out->value));
        else if (sqlite3_column_int64(row, 2) > 0 || !nm_db_is_null(row, 3))
            why = "part of the recording is missing";
        else if (sqlite3_column_int64(row, 4) > 0)
            why = "a process ran before its recording began";
        else if (sqlite3_column_int64(row, 5) > 0)
            why = "sums of the beginning were not kept";
        if (why[0] != 0)
            snprintf(out->note, sizeof out->note, "%s", why);
    }
    sqlite3_finalize(row);
    return status;
}

/* What came and went while it was paused: only what was left of it at the end of the pause. */
static nm_status find_paused(sqlite3 *db, int64_t *count, nm_error *err)
{
    return nm_db_get_int(db, "SELECT count(DISTINCT process_id) FROM main._pause WHERE is_memory_told IS NOT 1", count,
                         err);
}

/* A pause was asked for, and so was --keep: they are no failure; but figures are of the rest. */
static nm_status measure_complete(sqlite3 *db, const check_filter *filter, check_result *out, nm_error *err)
{
    int64_t paused_count = 0, unkept_count = 0;
    nm_status status = say_partial(db, PARTIAL_SQL("main"), out, err);

    out->has_value = true;
    out->is_ok = out->note[0] == 0 || filter->allows_partial;
    out->failed_count = out->note[0] != 0;
    if (status == NM_OK)
        status = find_paused(db, &paused_count, err);
    if (status == NM_OK && paused_count > 0 && out->note[0] == 0)
        snprintf(out->note, sizeof out->note, "but for pauses: what came and went in them is in no figure");
    if (status == NM_OK)
        status = nm_db_get_int(db, "SELECT total(events_unkept) FROM main.input", &unkept_count, err);
    if (status == NM_OK && unkept_count > 0 && out->note[0] == 0)
        snprintf(out->note, sizeof out->note,
                 "but for what was not kept: misuse, failures and fragmentation of then are in no figure");
    return status;
}

/* ---- A baseline ---------------------------------------------------------------------------------------------------- */

/* By a connection of its own, so that the next rule may name another one. */
static nm_status measure_baseline(const check_rule *rule, const check_filter *filter, check_result *out,
                                  const char **subject, nm_error *err)
{
    const char *own = *subject;
    nm_foreign *both = NULL;
    check_result partial = {0};
    nm_status status = nm_foreign_open(own, false, &both, err);

    if (status != NM_OK)
        return status;
    *subject = rule->baseline;
    status = nm_foreign_attach(both, rule->baseline, "base", false, err);
    if (status == NM_OK)
        status = say_partial(nm_foreign_db(both), PARTIAL_SQL("base"), &partial, err);
    if (status == NM_OK)
        status = walk(nm_foreign_db(both), rule, filter, out, err);
    nm_foreign_close(both);
    if (status != NM_OK)
        return status;
    *subject = own;
    if (partial.note[0] != 0 && !filter->allows_partial) {
        snprintf(out->note, sizeof out->note, "the baseline: %.200s", partial.note);
        out->is_ok = false;
    }
    return NM_OK;
}

/* Where too little is known for anything to be called so, that nothing is means little: it is said. */
static nm_status say_unjudged(sqlite3 *db, bool goes_by_steps, check_result *out, nm_error *err)
{
    int64_t few_steps = 0, no_steps = 0, cut_count = 0;
    int64_t paused_count = 0;
    check_result partial = {0};
    nm_status status = say_partial(db, PARTIAL_SQL("main"), &partial, err);

    if (status == NM_OK && goes_by_steps)
        status = nm_db_get_int(db,
                               "SELECT count(*) FROM (SELECT process_id FROM step GROUP BY process_id HAVING"
                               " max(generation) < 3)",
                               &few_steps, err);
    if (status == NM_OK && goes_by_steps)
        status = nm_db_get_int(db, "SELECT count(*) FROM suspect_by_site WHERE reason = 'no steps'", &no_steps, err);
    if (status == NM_OK && goes_by_steps)
        status = nm_db_get_int(db, "SELECT count(*) FROM suspect_by_site WHERE reason = 'stack cut'", &cut_count, err);
    if (status == NM_OK)
        status = find_paused(db, &paused_count, err);
    if (status == NM_OK && partial.note[0] != 0)
        snprintf(out->note, sizeof out->note, "%.200s, so that less may be called so", partial.note);
    else if (status == NM_OK && few_steps > 0)
        snprintf(out->note, sizeof out->note, "nothing is called so in fewer than 3 steps");
    else if (status == NM_OK && no_steps > 0)
        snprintf(out->note, sizeof out->note, "without steps nothing is called growing");
    else if (status == NM_OK && cut_count > 0)
        snprintf(out->note, sizeof out->note, "what has no site, for its stack is cut, is not called so");
    else if (status == NM_OK && paused_count > 0)
        snprintf(out->note, sizeof out->note, "what was born in a pause is not called so");
    return status;
}

nm_status check_measure(sqlite3 *db, const check_rule *rule, const check_filter *filter, check_result *out,
                        const char **subject, nm_error *err)
{
    bool is_count = questions[rule->kind].is_count;
    int64_t chosen_count = 0;
    nm_status status;

    *out = (check_result){
        .name = questions[rule->kind].name,
        .unit = questions[rule->kind].unit,
        .is_minimum = questions[rule->kind].is_minimum,
        .has_limit = questions[rule->kind].has_limit,
        .is_ok = true,
    };
    if (rule->kind == CHECK_COMPLETE)
        return measure_complete(db, filter, out, err);
    status = find_chosen(db, filter, &chosen_count, err);
    if (status == NM_OK)
        status = rule->kind == CHECK_BASELINE ? measure_baseline(rule, filter, out, subject, err)
                                              : walk(db, rule, filter, out, err);
    if (status != NM_OK)
        return status;
    out->has_value = is_count || out->place_count > 0;
    if (out->has_limit && out->place_count == 0 && rule->kind != CHECK_BASELINE) {
        out->limit = rule->limit;
        out->is_limit_known = true;
    }
    if ((rule->kind == CHECK_NO_GROWTH || rule->kind == CHECK_NO_LEAK || rule->kind == CHECK_NO_ANOMALY) &&
        out->place_count == 0)
        status = say_unjudged(db, rule->kind != CHECK_NO_ANOMALY, out, err);
    if (status != NM_OK)
        return status;
    if (chosen_count == 0 && (filter->heap != NULL || filter->has_rank))
        fail_with(out, "no heap is of this rank and name");
    else if (out->place_count == 0 && !is_count)
        fail_with(out, questions[rule->kind].nothing);
    return NM_OK;
}
