/* SPDX-License-Identifier: Apache-2.0
 *
 * What is fine, on one line, and what cannot be judged, with the reason and what is still needed. Where nothing is wrong, nothing is
 * lost and nothing is left unjudged, the first line says so.
 */
#include <string.h>

#include "base/human.h"
#include "report/rank_list.h"
#include "screen/good_measures.sql.h"
#include "screen/groups.h"
#include "screen/judged.sql.h"
#include "screen/unjudged_measures.sql.h"
#include "store/verdicts/verdict.h"

#define TEXT_BYTES 256

static void say_part(nm_screen *s, int *count, nm_sentence code, const nm_word *words)
{
    if ((*count)++ > 0)
        nm_screen_say(s, NM_SAY_COMMA, NULL);
    nm_screen_say(s, code, words);
}

/* ---- What is known of faults ---- */

static bool are_leaks_judged(const nm_judged_row *l)
{
    return l->stepless_count == 0 && l->early_count == 0 && l->cut_bytes * 2 <= l->outstanding_bytes;
}

/* ---- What cannot be judged ---- */

/* Names that have a reason in common stand before it: "leaks, misuse: not all was recorded". */
typedef struct unjudged {
    int count;
    nm_sentence reason; /* of the names said last; NM_SAY_NOTHING: it is said, or there are none */
} unjudged;

static void close_reason(nm_screen *s, unjudged *u)
{
    char reason[TEXT_BYTES];

    if (u->reason == NM_SAY_NOTHING)
        return;
    nm_sentence_put(u->reason, s->language, NULL, reason, sizeof reason);
    nm_screen_say(s, NM_SAY_UNJUDGED_REASON, NM_WORDS({"reason", reason}));
    u->reason = NM_SAY_NOTHING;
}

static void say_unjudged(nm_screen *s, unjudged *u, nm_sentence name, nm_sentence reason)
{
    bool is_same = u->reason == reason;

    if (!is_same)
        close_reason(s, u);
    if (u->count++ > 0)
        nm_screen_say(s, is_same ? NM_SAY_COMMA : NM_SAY_SEMICOLON, NULL);
    nm_screen_say(s, name, NULL);
    u->reason = reason;
}

static void say_unjudged_as(nm_screen *s, unjudged *u, nm_sentence code, const nm_word *words)
{
    close_reason(s, u);
    if (u->count++ > 0)
        nm_screen_say(s, NM_SAY_SEMICOLON, NULL);
    nm_screen_say(s, code, words);
}

static void say_unjudged_leaks(nm_screen *s, const nm_judged_row *l, unjudged *u)
{
    char seen[NM_HUMAN_BYTES], needed[NM_HUMAN_BYTES], more[NM_HUMAN_BYTES], part[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];
    int64_t more_count = NM_VERDICT_STEPS_MIN > s->step_count ? NM_VERDICT_STEPS_MIN - s->step_count : 0;

    nm_human_count(needed, NM_VERDICT_STEPS_MIN);
    if (l->early_count > 0)
        say_unjudged_as(s, u, NM_SAY_UNJUDGED_EARLY,
                        NM_WORDS({"seen", nm_human_count(seen, s->step_count)}, {"needed", needed},
                                 {"more", nm_human_count(more, more_count)}));
    else if (l->stepless_count > 0)
        say_unjudged_as(s, u, NM_SAY_UNJUDGED_STEPLESS, NM_WORDS({"needed", needed}));
    if (l->cut_bytes > 0)
        say_unjudged_as(
            s, u, NM_SAY_UNJUDGED_CUT,
            NM_WORDS({"part", nm_human_bytes(part, l->cut_bytes)}, {"all", nm_human_bytes(all, l->outstanding_bytes)}));
}

/* ---- Measures ---- */

nm_sentence nm_screen_measure_of(const char *measure)
{
    static const struct {
        const char *measure;
        nm_sentence code;
    } names[] = {{"fragmentation", NM_SAY_MEASURE_FRAGMENTATION},
                 {"pool hit rate", NM_SAY_MEASURE_HIT_RATE},
                 {"allocation cost", NM_SAY_MEASURE_COST}};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i].measure, measure) == 0)
            return names[i].code;
    return NM_SAY_MEASURE_ZERO_COPY;
}

static nm_sentence reason_of(const char *reason)
{
    static const struct {
        const char *reason;
        nm_sentence code;
    } reasons[] = {{"not all was recorded", NM_SAY_REASON_PARTIAL},
                   {"sizes as requested alone", NM_SAY_REASON_REQUESTED},
                   {"other streams may use it", NM_SAY_REASON_STREAMS},
                   {"reserved bytes not known", NM_SAY_REASON_RESERVED}};

    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (strcmp(reasons[i].reason, reason) == 0)
            return reasons[i].code;
    return NM_SAY_REASON_WARM_UP;
}

/* The good ones, each with the worst of its values. */
static nm_status say_good(nm_screen *s, int *count, nm_error *err)
{
    char value[NM_HUMAN_BYTES], name[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_good_measures_row row;
    nm_status status = nm_good_measures_ask(s->db, &rows, err);

    while (status == NM_OK && nm_good_measures_next(rows, &row)) {
        nm_sentence measure = nm_screen_measure_of(row.measure);

        if (measure == NM_SAY_MEASURE_COST)
            nm_human_cost(value, (int64_t)row.worst_value);
        else
            nm_human_percent(value, row.worst_value);
        nm_sentence_put(measure, s->language, NULL, name, sizeof name);
        say_part(s, count, NM_SAY_FINE_MEASURE, NM_WORDS({"measure", name}, {"value", value}));
    }
    return nm_question_end(rows, status, err);
}

/* What would have been told of an event that is missing comes first, then the measures that were not for the same reason. */
static nm_status say_unjudged_measures(nm_screen *s, const nm_judged_row *l, unjudged *u, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_unjudged_measures_row row;
    nm_status status = nm_unjudged_measures_ask(s->db, &rows, err);
    nm_sentence partial = l->running_count > 0 ? NM_SAY_REASON_RUNNING : NM_SAY_REASON_PARTIAL;

    if (l->partial_count > 0 && l->leak_count == 0)
        say_unjudged(s, u, NM_SAY_UNJUDGED_LEAKS, partial);
    if (l->partial_count > 0 && l->failure_count == 0)
        say_unjudged(s, u, NM_SAY_UNJUDGED_FAILURES, partial);
    if (l->partial_count > 0 && l->misuse_count == 0)
        say_unjudged(s, u, NM_SAY_UNJUDGED_MISUSE, partial);
    while (status == NM_OK && nm_unjudged_measures_next(rows, &row))
        say_unjudged(s, u, nm_screen_measure_of(row.measure), reason_of(row.reason));
    close_reason(s, u);
    return nm_question_end(rows, status, err);
}

/* ---- Both lines ---- */

static nm_status add_fine(nm_screen *s, const nm_judged_row *l, nm_error *err)
{
    char count_text[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES];
    int count = 0;
    nm_status status;

    nm_screen_begin(s, NM_SAY_LABEL_FINE, NM_LINE_FINE, NM_RANK_PEAK, "health");
    nm_screen_rows(s, 2);
    if (l->leak_count == 0 && are_leaks_judged(l) && l->partial_count == 0)
        say_part(s, &count, l->outstanding_count == 0 ? NM_SAY_FINE_LEAKS : NM_SAY_FINE_LEAKS_OF,
                 NM_WORDS({"n", nm_human_count(count_text, l->outstanding_count)},
                          {"bytes", nm_human_bytes(bytes, l->outstanding_bytes)}));
    status = say_good(s, &count, err);
    if (l->failure_count == 0 && l->partial_count == 0 && (s->ranks == NULL || s->ranks->failed_count == 0))
        say_part(s, &count, NM_SAY_FINE_FAILURES, NULL);
    if (l->misuse_count == 0 && l->partial_count == 0)
        say_part(s, &count, NM_SAY_FINE_MISUSE, NULL);
    return status;
}

/* The first line, where there is nothing to say against the run. */
static void say_no_fault(nm_screen *s, const nm_judged_row *l, int unjudged_count)
{
    char text[TEXT_BYTES];

    if (l->limit_count > 0 || unjudged_count > 0 || s->fault_count > 0 || s->line_count == 0)
        return;
    nm_screen_line *head = &s->lines[0];
    size_t len = strlen(head->text);
    snprintf(head->text + len, sizeof head->text - len, "%s",
             nm_sentence_put(NM_SAY_NO_FAULT, s->language, NULL, text, sizeof text));
}

nm_status nm_screen_fine_lines(nm_screen *s, nm_error *err)
{
    nm_judged_row l = {0};
    unjudged u = {0};
    nm_status status;

    if (s->holder_count == 0)
        return NM_OK;
    status = nm_judged_get(s->db, &l, err);
    if (status == NM_OK)
        status = add_fine(s, &l, err);
    nm_screen_begin(s, NM_SAY_LABEL_UNJUDGED, NM_LINE_PLAIN, NM_RANK_PEAK, "suspect_by_site");
    nm_screen_rows(s, 3);
    if (l.leak_count == 0 && l.partial_count == 0)
        say_unjudged_leaks(s, &l, &u);
    if (status == NM_OK)
        status = say_unjudged_measures(s, &l, &u, err);
    if (status == NM_OK)
        say_no_fault(s, &l, u.count);
    return status;
}
