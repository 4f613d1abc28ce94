/* SPDX-License-Identifier: Apache-2.0
 *
 * One question a rule, all with the rows of check_peaks.sql: where, the value, what it is compared with (NULL: the rule's
 * own limit) and a note. Whatever the database holds in its tables is read as numbers and text: nothing in it is
 * trusted.
 */
#include "tool/check/rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "base/spoken.h"
#include "drain/state.h"
#include "say/said.h"
#include "say/spoken.h"
#include "store/foreign.h"
#include "tool/check/check_anomalies.sql.h"
#include "tool/check/check_base_partial.sql.h"
#include "tool/check/check_baseline.sql.h"
#include "tool/check/check_basis.sql.h"
#include "tool/check/check_chosen.sql.h"
#include "tool/check/check_failures.sql.h"
#include "tool/check/check_fragmentation.sql.h"
#include "tool/check/check_gaps.sql.h"
#include "tool/check/check_hit_rates.sql.h"
#include "tool/check/check_host_growth.sql.h"
#include "tool/check/check_leaks.sql.h"
#include "tool/check/check_misses.sql.h"
#include "tool/check/check_partial.sql.h"
#include "tool/check/check_peaks.sql.h"
#include "tool/check/check_reserved.sql.h"
#include "tool/check/check_unjudged.sql.h"

static const struct {
    const char *name;
    const char *sql;     /* with the rows of check_peaks.sql; NULL: completeness */
    const char *verdict; /* of check_leaks.sql; NULL: any */
    const char *finding; /* kind of those that say why it is not judged; NULL: it is, where anything is measured */
    check_unit unit;
    bool is_minimum;
    bool is_count; /* rows are what is wrong: none of them is good news */
    bool has_limit;
    const char *nothing; /* what it means when there is no row */
    const char *part;    /* :part of check_basis.sql; NULL: its findings say how far inputs go, or none does */
} questions[CHECK_KIND_COUNT] = {
    [CHECK_COMPLETE] = {"complete", .unit = CHECK_COUNT, .is_count = true},
    [CHECK_MAX_PEAK] = {"max-peak", nm_check_peaks_sql, .unit = CHECK_BYTES, .has_limit = true,
                        .nothing = "no device memory was recorded", .part = "peak"},
    [CHECK_MAX_RESERVED] = {"max-reserved", nm_check_reserved_sql, .unit = CHECK_BYTES, .has_limit = true,
                            .nothing = "no pool is known to hold anything", .part = "reserved"},
    [CHECK_MAX_FRAGMENTATION] = {"max-fragmentation", nm_check_fragmentation_sql, .unit = CHECK_RATIO,
                                 .has_limit = true, .nothing = "no pool is known to hold anything",
                                 .part = "fragmentation"},
    [CHECK_MIN_HIT_RATE] = {"min-hit-rate", nm_check_hit_rates_sql, .unit = CHECK_RATIO, .is_minimum = true,
                            .has_limit = true, .nothing = "no pool served anything after the warm-up", .part = "hits"},
    [CHECK_MAX_MISSES_PER_STEP] = {"max-misses-per-step", nm_check_misses_sql, .unit = CHECK_COUNT, .has_limit = true,
                                   .nothing = "no step after the warm-up is known of a process with a pool",
                                   .part = "hits"},
    [CHECK_MAX_HOST_GROWTH] = {"max-host-growth", nm_check_host_growth_sql, .unit = CHECK_BYTES_PER_HOUR,
                               .has_limit = true,
                               .nothing = "no host memory was recorded: npumem-record --sample-interval"},
    [CHECK_NO_GROWTH] = {"no-growth", nm_check_leaks_sql, "growing", "leak", CHECK_BYTES, .is_count = true},
    [CHECK_NO_RISING] = {"no-rising", nm_check_leaks_sql, "rising", "leak", CHECK_BYTES, .is_count = true},
    [CHECK_NO_LEAK] = {"no-leak", nm_check_leaks_sql, NULL, "leak", CHECK_BYTES, .is_count = true},
    [CHECK_NO_ANOMALY] = {"no-anomaly", nm_check_anomalies_sql, NULL, "misuse", CHECK_COUNT, .is_count = true},
    [CHECK_NO_OOM] = {"no-oom", nm_check_failures_sql, NULL, "out of memory", CHECK_COUNT, .is_count = true},
    [CHECK_BASELINE] = {"baseline", nm_check_baseline_sql, .unit = CHECK_BYTES, .has_limit = true,
                        .nothing = "no device memory was recorded"},
};

/* ---- Measuring ----------------------------------------------------------------------------------------------------- */

/* "host rank 3 device 2 caching pool": what is known of it. */
static void describe_place(const nm_check_peaks_row *row, char out[CHECK_TEXT_BYTES])
{
    char host[64], heap[96], raw[CHECK_TEXT_BYTES];
    int len;

    nm_human_text(host, sizeof host, row->host, 40);
    nm_human_text(heap, sizeof heap, row->has.heap ? row->heap : row->level, 40);
    len = snprintf(raw, sizeof raw, "%s", host);
    if (row->has.rank)
        len += snprintf(raw + len, sizeof raw - (size_t)len, " rank %" PRId64, row->rank);
    else if (row->has.pid)
        len += snprintf(raw + len, sizeof raw - (size_t)len, " pid %" PRId64, row->pid);
    if (row->has.device)
        len += snprintf(raw + len, sizeof raw - (size_t)len, nm_spoken(" device %" PRId64), row->device);
    snprintf(raw + len, sizeof raw - (size_t)len, "%s%s", heap[0] == 0 ? "" : " ", heap);
    snprintf(out, CHECK_TEXT_BYTES, "%s", raw[0] == ' ' ? raw + 1 : raw);
}

static double limit_of(const check_rule *rule, const nm_check_peaks_row *row)
{
    return !row->has.limit_value && rule->kind != CHECK_BASELINE
               ? rule->limit
               : row->limit_value * (1 + rule->more_ratio) + rule->more_bytes;
}

/* How far a value is on the wrong side of its limit. */
static double excess_of(double value, double limit, bool is_minimum)
{
    return is_minimum ? limit - value : value - limit;
}

/* A row of what is wrong: they are counted, and the largest is shown. */
static void take_wrong(const nm_check_peaks_row *row, check_result *out)
{
    double value = row->measured_value;

    if (out->place_count == 1 || value > out->limit) { /* `limit` is not used otherwise */
        describe_place(row, out->place);
        nm_human_text(out->note, sizeof out->note, row->note, 100);
        out->limit = value;
    }
    out->value += value;
    out->is_ok = false;
    out->failed_count++;
}

/* A row to compare. What has no counterpart in a baseline fails, whatever is allowed. */
static void take_place(const check_rule *rule, const nm_check_peaks_row *row, check_result *out)
{
    bool has_nothing = rule->kind == CHECK_BASELINE && row->has.note;
    double value = row->measured_value;
    double limit = has_nothing ? 0 : limit_of(rule, row);
    double excess = excess_of(value, limit, out->is_minimum);
    bool is_worse = out->place_count == 1 || excess > excess_of(out->value, out->limit, out->is_minimum);

    if (is_worse) {
        out->value = value;
        out->limit = limit;
        out->is_limit_known = !has_nothing;
        describe_place(row, out->place);
        nm_human_text(out->note, sizeof out->note, row->note, 100);
    }
    if (!(excess <= 0)) {
        out->is_ok = false;
        out->failed_count++;
    }
}

static int64_t floor_of(check_kind kind, const nm_thresholds *thresholds)
{
    nm_measure measure = kind == CHECK_MAX_FRAGMENTATION ? NM_MEASURE_FRAGMENTATION : NM_MEASURE_HIT_RATE;

    return thresholds->items[measure].is_set ? thresholds->items[measure].floor : NM_NULL;
}

static int64_t rank_of(const check_filter *filter)
{
    return filter->has_rank ? filter->rank : NM_NULL;
}

static nm_status walk(sqlite3 *db, const check_rule *rule, const check_filter *filter, check_result *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_check_peaks_row row;
    nm_status status = nm_db_prepare(db, questions[rule->kind].sql, &rows, err);

    if (status != NM_OK)
        return status;
    /* What a question does not have is bound to nothing. */
    nm_question_bind_integer(rows, ":rank", rank_of(filter));
    nm_question_bind_text(rows, ":heap", filter->heap);
    nm_question_bind_text(rows, ":verdict", questions[rule->kind].verdict);
    nm_question_bind_integer(rows, ":floor_number", floor_of(rule->kind, &filter->thresholds));
    while (nm_check_peaks_next(rows, &row)) {
        out->place_count++;
        if (questions[rule->kind].is_count)
            take_wrong(&row, out);
        else
            take_place(rule, &row, out);
    }
    return nm_question_end(rows, status, err);
}

static void fail_with(check_result *out, const char *why)
{
    out->is_ok = out->is_unjudged = false;
    snprintf(out->note, sizeof out->note, "%s", nm_spoken(why));
}

/* ---- Completeness -------------------------------------------------------------------------------------------------- */

/* Why the database does not hold all of what happened; "" when it does. `sql` has the rows of check_partial.sql. */
static nm_status say_partial(sqlite3 *db, const char *sql, check_result *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_check_partial_row row = {0};
    nm_status status = nm_db_prepare(db, sql, &rows, err);
    char number[NM_HUMAN_BYTES];
    const char *why = "";

    if (status != NM_OK || !nm_check_partial_next(rows, &row))
        return nm_question_end(rows, status, err);
    out->value = row.missing_value > 0 && row.missing_value < 1e18 ? row.missing_value : 0;
    if (row.input_count == 0)
        why = "no input is in the database";
    else if (nm_state_reason_of(row.state) != NULL)
        why = nm_state_reason_of(row.state);
    else if (out->value > 0)
        snprintf(out->note, sizeof out->note, nm_spoken("%s events are missing"),
                 nm_human_count(number, (int64_t)out->value));
    else if (row.lossy_count > 0 || row.has.state)
        why = "part of the recording is missing";
    else if (row.late_count > 0)
        why = "a process ran before its recording began";
    else if (row.thinned_count > 0)
        why = "sums of the beginning were not kept";
    if (why[0] != 0)
        snprintf(out->note, sizeof out->note, "%s", nm_spoken(why));
    return nm_question_end(rows, status, err);
}

/* A pause was asked for, and so was --keep: they are no failure; but figures are of the rest. */
static nm_status measure_complete(sqlite3 *db, const check_filter *filter, check_result *out, nm_error *err)
{
    nm_check_gaps_row gaps = {0};
    nm_status status = say_partial(db, nm_check_partial_sql, out, err);

    out->has_value = true;
    out->is_ok = out->note[0] == 0 || filter->allows_partial;
    out->failed_count = out->note[0] != 0;
    if (status == NM_OK)
        status = nm_check_gaps_get(db, &gaps, err);
    if (gaps.paused_count > 0 && out->note[0] == 0)
        snprintf(out->note, sizeof out->note, nm_spoken("but for pauses: what came and went in them is in no figure"));
    if (gaps.unkept_count > 0 && out->note[0] == 0)
        snprintf(out->note, sizeof out->note,
                 nm_spoken("but for what was not kept: misuse, failures and fragmentation of then are in no figure"));
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
        status = say_partial(nm_foreign_db(both), nm_check_base_partial_sql, &partial, err);
    if (status == NM_OK)
        status = walk(nm_foreign_db(both), rule, filter, out, err);
    nm_foreign_close(both);
    if (status != NM_OK)
        return status;
    *subject = own;
    if (partial.note[0] != 0 && !filter->allows_partial) {
        snprintf(out->note, sizeof out->note, nm_spoken("the baseline: %.200s"), partial.note);
        out->is_ok = false;
    }
    return NM_OK;
}

/* A finding of no place: its words have their figures with them. */
static void say_finding(const nm_check_unjudged_row *row, check_result *out)
{
    const nm_listener to = {nm_spoken_language(), false, 40, 40};
    const nm_said_of of = {{.device_kind = ""}, "", ""};
    const char *json = row->sentence;
    char text[NM_SENTENCE_BYTES];

    if (to.language == NM_ENGLISH || !nm_said_put(&to, &of, &json, text, sizeof text))
        snprintf(text, sizeof text, "%s", row->text);
    nm_human_text(out->note, sizeof out->note, text, 200);
}

/* What keeps a rule about what is wrong from being judged, where nothing wrong was found. What is missing may pass. */
static nm_status say_unjudged(sqlite3 *db, const check_rule *rule, const check_filter *filter, check_result *out,
                              nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_check_unjudged_row unjudged = {0};
    nm_check_gaps_row gaps = {0};
    check_result partial = {0};
    nm_status status = say_partial(db, nm_check_partial_sql, &partial, err);

    if (status == NM_OK)
        status = nm_db_prepare(db, nm_check_unjudged_sql, &rows, err);
    if (status != NM_OK)
        return status;
    nm_question_bind_integer(rows, ":rank", rank_of(filter));
    nm_question_bind_text(rows, ":heap", filter->heap);
    nm_question_bind_text(rows, ":kind", questions[rule->kind].finding);
    nm_question_bind_integer(rows, ":of_rising", rule->kind == CHECK_NO_RISING);
    nm_question_bind_integer(rows, ":allows_partial", filter->allows_partial);
    if (nm_check_unjudged_next(rows, &unjudged)) {
        check_not_judged said = rule->not_judged == CHECK_NOT_SAID ? filter->not_judged : rule->not_judged;

        out->is_unjudged = true;
        out->is_ok = said == CHECK_PASSES;
        say_finding(&unjudged, out);
    }
    status = nm_question_end(rows, status, err);
    if (status == NM_OK)
        status = nm_check_gaps_get(db, &gaps, err);
    if (out->note[0] == 0 && partial.note[0] != 0)
        snprintf(out->note, sizeof out->note, nm_spoken("%.200s, so that less may be called so"), partial.note);
    else if (out->note[0] == 0 && gaps.paused_count > 0)
        snprintf(out->note, sizeof out->note, nm_spoken("what was born in a pause is not called so"));
    return status;
}

/* What is measured of inputs that go only part of the way is never firm; what others break is. */
static nm_status judge_basis(sqlite3 *db, const check_rule *rule, const check_filter *filter, check_result *out,
                             nm_error *err)
{
    check_not_judged said = rule->not_judged == CHECK_NOT_SAID ? filter->not_judged : rule->not_judged;
    nm_check_basis_row row = {0};
    nm_status status = nm_check_basis_get(db, questions[rule->kind].part, rank_of(filter), &row, err);

    if (status != NM_OK || (!row.has_estimate && !row.has_untold) || (row.has_exact && !out->is_ok))
        return status;
    out->is_unjudged = true;
    out->is_ok = said == CHECK_PASSES;
    out->failed_count = 0;
    out->place[0] = 0;
    nm_sentence_put(row.has_untold ? NM_SAY_REASON_UNTOLD : NM_SAY_REASON_ESTIMATE, nm_spoken_language(), NULL,
                    out->note, sizeof out->note);
    return NM_OK;
}

nm_status check_count_heaps(sqlite3 *db, const check_filter *filter, int64_t *chosen_count, int64_t *all_count,
                            nm_error *err)
{
    nm_check_chosen_row row;
    nm_status status = nm_check_chosen_get(db, rank_of(filter), filter->heap, &row, err);

    *chosen_count = status == NM_OK ? row.heap_count : 0;
    *all_count = status == NM_OK ? row.all_count : 0;
    return status;
}

nm_status check_measure(sqlite3 *db, const check_rule *rule, const check_filter *filter, check_result *out,
                        const char **subject, nm_error *err)
{
    bool is_count = questions[rule->kind].is_count;
    int64_t chosen_count, all_count;
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
    /* Is there a heap at all that the filter chooses? Else nothing wrong is no good news. */
    status = check_count_heaps(db, filter, &chosen_count, &all_count, err);
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
    if (questions[rule->kind].finding != NULL && out->place_count == 0)
        status = say_unjudged(db, rule, filter, out, err);
    else if (questions[rule->kind].part != NULL)
        status = judge_basis(db, rule, filter, out, err);
    if (status != NM_OK)
        return status;
    if (chosen_count == 0 && (filter->heap != NULL || filter->has_rank))
        fail_with(out, nm_spoken("no heap is of this rank and name"));
    else if (out->place_count == 0 && !is_count && !out->is_unjudged)
        fail_with(out, nm_spoken(questions[rule->kind].nothing));
    return NM_OK;
}
