/* SPDX-License-Identifier: Apache-2.0
 *
 * Misuse; then what is in danger and what is not good, by view health: a line each, of its columns; then, on one line, what is not
 * good but less than matters. Views keep the advice as a sentence of their own: here it is made again, in both languages.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "screen/measures.sql.h"
#include "screen/misuses.sql.h"

#define LINES_MAX    6
#define MINOR_MAX    3
#define NAME_COLUMNS 24
#define SITE_COLUMNS 44
#define TEXT_BYTES   256

static nm_sentence moment_of(const char *moment)
{
    return strcmp(moment, "growth") == 0    ? NM_SAY_FRAGMENTED_GROWTH
           : strcmp(moment, "failure") == 0 ? NM_SAY_FRAGMENTED_FAILURE
                                            : NM_SAY_FRAGMENTED_PEAK;
}

/* "26 %" or, of a bound, "at least 26 %". */
static const char *bounded_share(const nm_screen *s, const nm_measures_row *row, nm_sentence bound,
                                 char out[NM_SENTENCE_BYTES])
{
    char share[NM_HUMAN_BYTES];

    nm_human_percent(share, row->measured_value);
    if (!row->is_bound)
        return memcpy(out, share, sizeof share);
    nm_sentence_put(bound, s->language, NM_WORDS({"percent", share}), out, NM_SENTENCE_BYTES);
    return out;
}

/* "26 % of 77 MiB reserved unused at the peak, 20 MiB" */
static void say_fragmentation(nm_screen *s, const nm_measures_row *row, const char *where)
{
    char share[NM_SENTENCE_BYTES], unused[NM_HUMAN_BYTES], reserved[NM_HUMAN_BYTES];

    nm_screen_say(s, moment_of(row->moment),
                  NM_WORDS({"percent", bounded_share(s, row, NM_SAY_AT_LEAST, share)},
                           {"bytes", nm_human_bytes(unused, row->amount)},
                           {"reserved", nm_human_bytes(reserved, row->reserved_bytes)}, {"where", where}));
    nm_screen_say(s, row->is_mapped ? NM_SAY_FRAGMENTED_MAPPED : NM_SAY_FRAGMENTED_TRY, NULL);
}

static void say_hit_rate(nm_screen *s, const nm_measures_row *row, const char *where)
{
    char share[NM_HUMAN_BYTES], missed[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];
    int64_t count = row->amount;
    double rate = row->measured_value;

    nm_screen_say(s, NM_SAY_MISSES,
                  NM_WORDS({"percent", nm_human_percent(share, rate)},
                           {"n", nm_human_count(missed, (int64_t)((1 - rate) * (double)count + 0.5))},
                           {"all", nm_human_count(all, count)}, {"where", where}));
}

static void say_cost(nm_screen *s, const nm_measures_row *row, const char *where)
{
    char each[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];

    nm_screen_say(s, NM_SAY_COST,
                  NM_WORDS({"time", nm_human_cost(each, (int64_t)row->measured_value)},
                           {"all", nm_human_cost(all, row->amount)}, {"where", where}));
}

static void say_zero_copy(nm_screen *s, const nm_measures_row *row, const char *where)
{
    char share[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES];

    nm_screen_say(s, NM_SAY_ZERO_COPY,
                  NM_WORDS({"percent", nm_human_percent(share, row->measured_value)},
                           {"bytes", nm_human_bytes(bytes, row->amount)}, {"where", where}));
}

/* A measure's label, and who says its line. */
static void add_verdict(nm_screen *s, const nm_measures_row *row)
{
    static const struct {
        const char *measure;
        nm_sentence label;
        void (*say)(nm_screen *s, const nm_measures_row *row, const char *where);
    } measures[] = {{"fragmentation", NM_SAY_LABEL_FRAGMENTED, say_fragmentation},
                    {"pool hit rate", NM_SAY_LABEL_MISSES, say_hit_rate},
                    {"allocation cost", NM_SAY_LABEL_COST, say_cost},
                    {"zero copy", NM_SAY_LABEL_COPIES, say_zero_copy}};
    bool is_danger = strcmp(row->verdict, "danger") == 0;
    char place[64], where[TEXT_BYTES], heap[TEXT_BYTES];

    nm_screen_place(s, NM_SCREEN_OWNER(row), place);
    nm_human_text(heap, sizeof heap, row->heap, NAME_COLUMNS);
    snprintf(where, sizeof where, "%s%s%.100s", place, heap[0] == 0 ? "" : " ", heap);
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++) {
        if (strcmp(measures[i].measure, row->measure) != 0)
            continue;
        nm_screen_begin(s, measures[i].label, is_danger ? NM_LINE_BAD : NM_LINE_WARNING,
                        s->fault_count == 0 ? NM_RANK_WORST : NM_RANK_WARNING, "health");
        nm_screen_number(s);
        nm_screen_rows(s, 2);
        measures[i].say(s, row, where);
    }
}

static nm_status add_verdicts(nm_screen *s, nm_error *err)
{
    char number[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_measures_row row = {0};
    nm_status status = nm_measures_ask(s->db, false, LINES_MAX, &rows, err);

    while (status == NM_OK && nm_measures_next(rows, &row))
        add_verdict(s, &row);
    if (row.all_count > LINES_MAX) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_WARNING, "health");
        nm_screen_say(s, NM_SAY_HEALTH_MORE, NM_WORDS({"n", nm_human_count(number, row.all_count - LINES_MAX)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- Misuse ---- */

static nm_sentence misuse_of(const char *kind)
{
    static const struct {
        const char *kind;
        nm_sentence code;
    } kinds[] = {{"free of unknown memory", NM_SAY_MISUSE_UNKNOWN},
                 {"double free", NM_SAY_MISUSE_DOUBLE},
                 {"wrong free call", NM_SAY_MISUSE_WRONG},
                 {"copy past the end", NM_SAY_MISUSE_COPY},
                 {"use after free", NM_SAY_MISUSE_USE},
                 {"overlapping allocation", NM_SAY_MISUSE_OVERLAP},
                 {"unmap of unknown memory", NM_SAY_MISUSE_UNMAP},
                 {"zero size allocation", NM_SAY_MISUSE_ZERO},
                 {"unregister of unknown memory", NM_SAY_MISUSE_UNREGISTER},
                 {"stream never destroyed", NM_SAY_MISUSE_STREAM}};

    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].kind, kind) == 0)
            return kinds[i].code;
    return NM_SAY_MISUSE_UNALLOCATED;
}

nm_status nm_screen_misuse_lines(nm_screen *s, nm_error *err)
{
    char count[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_misuses_row row;
    nm_status status = nm_misuses_ask(s->db, &rows, err);

    while (status == NM_OK && nm_misuses_next(rows, &row)) {
        nm_screen_begin(s, NM_SAY_LABEL_MISUSE, NM_LINE_BAD, s->fault_count == 0 ? NM_RANK_WORST : NM_RANK_FAULT,
                        "misuse");
        nm_screen_number(s);
        nm_screen_say(s, misuse_of(row.kind), NM_WORDS({"n", nm_human_count(count, row.misuse_count)}));
        nm_screen_say(s, NM_SAY_MISUSE_FIRST,
                      NM_WORDS({"site", nm_screen_site(s, row.site, SITE_COLUMNS, site, sizeof site)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- What is too little to matter ---- */

static void say_minor_fragmentation(nm_screen *s, const nm_measures_row *row)
{
    char share[NM_SENTENCE_BYTES], reserved[NM_HUMAN_BYTES];

    nm_screen_say(s, NM_SAY_MINOR_FRAGMENTED,
                  NM_WORDS({"percent", bounded_share(s, row, NM_SAY_AT_MOST, share)},
                           {"reserved", nm_human_bytes(reserved, row->reserved_bytes)}));
}

static void say_minor(nm_screen *s, const nm_measures_row *row)
{
    char value[NM_HUMAN_BYTES];
    const char *name = row->measure;
    double number = row->measured_value;

    if (strcmp(name, "fragmentation") == 0)
        say_minor_fragmentation(s, row);
    else if (strcmp(name, "allocation cost") == 0)
        nm_screen_say(s, NM_SAY_MINOR_COST, NM_WORDS({"time", nm_human_cost(value, (int64_t)number)}));
    else
        nm_screen_say(s, strcmp(name, "zero copy") == 0 ? NM_SAY_MINOR_ZERO_COPY : NM_SAY_MINOR_MISSES,
                      NM_WORDS({"percent", nm_human_percent(value, number)}));
}

static nm_status add_minor(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_measures_row row;
    nm_status status = nm_measures_ask(s->db, true, MINOR_MAX, &rows, err);
    int count = 0;

    nm_screen_begin(s, NM_SAY_LABEL_MINOR, NM_LINE_PLAIN, NM_RANK_NOTE, "health");
    nm_screen_rows(s, 2);
    for (; status == NM_OK && nm_measures_next(rows, &row); count++) {
        if (count > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        say_minor(s, &row);
    }
    if (count > 0)
        nm_screen_say(s, NM_SAY_MINOR, NULL);
    return nm_question_end(rows, status, err);
}

nm_status nm_screen_health_lines(nm_screen *s, nm_error *err)
{
    nm_status status = add_verdicts(s, err);

    return status == NM_OK ? add_minor(s, err) : status;
}
