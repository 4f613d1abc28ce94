/* SPDX-License-Identifier: Apache-2.0
 *
 * Misuse; then what is in danger and what is not good, by view health: a line each, of its columns; then, on one line, what is not
 * good but less than matters. Views keep the advice as a sentence of their own: here it is made again, in both languages.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "store/database.h"

#define LINES_MAX    6
#define MINOR_MAX    3
#define NAME_COLUMNS 24
#define SITE_COLUMNS 44
#define TEXT_BYTES   256

enum { RANK, MEASURE = RANK + 4, VERDICT, HEAP, VALUE, AMOUNT, MOMENT, RESERVED, IS_MAPPED, LEVEL, IS_BOUND };

/* Verdicts of a kind, the worst first; of fragmentation how much was reserved, whether segments grow already, and whether the
 * share is a bound by more than is shown: the least where it is too much, the most where it is not. */
#define SAME_PLACE                                                                                                     \
    "v.host IS h.host AND v.rank IS h.rank AND v.pid IS h.pid AND v.device IS h.device AND v.heap IS h.heap"           \
    " AND v.level IS h.level AND v.moment = h.moment"
#define VERDICTS                                                                                                       \
    "SELECT h.rank, h.pid, h.device, (SELECT upper(max(kind)) FROM device), h.measure, h.verdict, h.heap, h.value,"    \
    " h.amount, h.moment, CASE h.measure WHEN 'fragmentation' THEN (SELECT max(v.reserved_bytes) FROM"                 \
    " _fragmentation_verdict AS v WHERE " SAME_PLACE ") END,"                                                          \
    " " NM_SCREEN_IS_MAPPED ", h.level,"                                                                               \
    " h.measure = 'fragmentation' AND EXISTS (SELECT 1 FROM _fragmentation_verdict AS v WHERE " SAME_PLACE             \
    " AND v.max_ratio - v.min_ratio > 0.001) FROM health AS h"

#define ORDER                                                                                                          \
    " ORDER BY h.verdict = 'warning', CASE h.measure WHEN 'fragmentation' THEN 0 WHEN 'pool hit rate' THEN 1"          \
    " WHEN 'allocation cost' THEN 2 ELSE 3 END, abs(h.value - CASE h.measure WHEN 'pool hit rate' THEN 1"              \
    " WHEN 'zero copy' THEN 1 ELSE 0 END) DESC, h.rank, h.pid, h.heap LIMIT ?1"

static nm_sentence moment_of(const char *moment)
{
    return strcmp(moment, "growth") == 0    ? NM_SAY_FRAGMENTED_GROWTH
           : strcmp(moment, "failure") == 0 ? NM_SAY_FRAGMENTED_FAILURE
                                            : NM_SAY_FRAGMENTED_PEAK;
}

/* "26 %" or, of a bound, "at least 26 %". */
static const char *bounded_share(const nm_screen *s, sqlite3_stmt *row, nm_sentence bound, char out[NM_SENTENCE_BYTES])
{
    char share[NM_HUMAN_BYTES];

    nm_human_percent(share, sqlite3_column_double(row, VALUE));
    if (sqlite3_column_int(row, IS_BOUND) == 0)
        return memcpy(out, share, sizeof share);
    nm_sentence_put(bound, s->language, NM_WORDS({"percent", share}), out, NM_SENTENCE_BYTES);
    return out;
}

/* "26 % of 77 MiB reserved unused at the peak, 20 MiB" */
static void say_fragmentation(nm_screen *s, sqlite3_stmt *row, const char *where)
{
    char share[NM_SENTENCE_BYTES], unused[NM_HUMAN_BYTES], reserved[NM_HUMAN_BYTES];

    nm_screen_say(s, moment_of(nm_db_text(row, MOMENT)),
                  NM_WORDS({"percent", bounded_share(s, row, NM_SAY_AT_LEAST, share)},
                           {"bytes", nm_human_bytes(unused, sqlite3_column_int64(row, AMOUNT))},
                           {"reserved", nm_human_bytes(reserved, sqlite3_column_int64(row, RESERVED))},
                           {"where", where}));
    nm_screen_say(s, sqlite3_column_int(row, IS_MAPPED) != 0 ? NM_SAY_FRAGMENTED_MAPPED : NM_SAY_FRAGMENTED_TRY, NULL);
}

static void say_hit_rate(nm_screen *s, sqlite3_stmt *row, const char *where)
{
    char share[NM_HUMAN_BYTES], missed[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];
    int64_t count = sqlite3_column_int64(row, AMOUNT);
    double rate = sqlite3_column_double(row, VALUE);

    nm_screen_say(s, NM_SAY_MISSES,
                  NM_WORDS({"percent", nm_human_percent(share, rate)},
                           {"n", nm_human_count(missed, (int64_t)((1 - rate) * (double)count + 0.5))},
                           {"all", nm_human_count(all, count)}, {"where", where}));
}

static void say_cost(nm_screen *s, sqlite3_stmt *row, const char *where)
{
    char each[NM_HUMAN_BYTES], all[NM_HUMAN_BYTES];

    nm_screen_say(s, NM_SAY_COST,
                  NM_WORDS({"time", nm_human_cost(each, (int64_t)sqlite3_column_double(row, VALUE))},
                           {"all", nm_human_cost(all, sqlite3_column_int64(row, AMOUNT))}, {"where", where}));
}

static void say_zero_copy(nm_screen *s, sqlite3_stmt *row, const char *where)
{
    char share[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES];

    nm_screen_say(s, NM_SAY_ZERO_COPY,
                  NM_WORDS({"percent", nm_human_percent(share, sqlite3_column_double(row, VALUE))},
                           {"bytes", nm_human_bytes(bytes, sqlite3_column_int64(row, AMOUNT))}, {"where", where}));
}

/* A measure's label, and who says its line. */
static void add_verdict(nm_screen *s, sqlite3_stmt *row)
{
    static const struct {
        const char *measure;
        nm_sentence label;
        void (*say)(nm_screen *s, sqlite3_stmt *row, const char *where);
    } measures[] = {{"fragmentation", NM_SAY_LABEL_FRAGMENTED, say_fragmentation},
                    {"pool hit rate", NM_SAY_LABEL_MISSES, say_hit_rate},
                    {"allocation cost", NM_SAY_LABEL_COST, say_cost},
                    {"zero copy", NM_SAY_LABEL_COPIES, say_zero_copy}};
    bool is_danger = strcmp(nm_db_text(row, VERDICT), "danger") == 0;
    char place[64], where[TEXT_BYTES], heap[TEXT_BYTES];

    nm_screen_place(s, row, RANK, place);
    nm_human_text(heap, sizeof heap, nm_db_text(row, HEAP), NAME_COLUMNS);
    snprintf(where, sizeof where, "%s%s%.100s", place, heap[0] == 0 ? "" : " ", heap);
    for (size_t i = 0; i < sizeof measures / sizeof measures[0]; i++) {
        if (strcmp(measures[i].measure, nm_db_text(row, MEASURE)) != 0)
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
    static const char sql[] = VERDICTS " WHERE h.verdict IN ('warning', 'danger')" ORDER;
    char number[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    int64_t bad_count = 0;
    nm_status status =
        nm_db_get_int(s->db, "SELECT count(*) FROM health WHERE verdict IN ('warning', 'danger')", &bad_count, err);
    int code = SQLITE_DONE;

    if (status == NM_OK)
        status = nm_screen_ask(s, sql, &rows, err);
    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, LINES_MAX);
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        add_verdict(s, rows);
    if (bad_count > LINES_MAX) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_WARNING, "health");
        nm_screen_say(s, NM_SAY_HEALTH_MORE, NM_WORDS({"n", nm_human_count(number, bad_count - LINES_MAX)}));
    }
    return nm_screen_end(s, rows, status, code, err);
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
    static const char sql[] = "SELECT kind, count(*), min(anomaly_id), site, pid FROM misuse GROUP BY kind"
                              " ORDER BY count(*) DESC, kind LIMIT 4";
    char count[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, sql, &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        nm_screen_begin(s, NM_SAY_LABEL_MISUSE, NM_LINE_BAD, s->fault_count == 0 ? NM_RANK_WORST : NM_RANK_FAULT,
                        "misuse");
        nm_screen_number(s);
        nm_screen_say(s, misuse_of(nm_db_text(rows, 0)),
                      NM_WORDS({"n", nm_human_count(count, sqlite3_column_int64(rows, 1))}));
        nm_screen_say(s, NM_SAY_MISUSE_FIRST,
                      NM_WORDS({"site", nm_screen_site(s, nm_db_text(rows, 3), SITE_COLUMNS, site, sizeof site)}));
    }
    return nm_screen_end(s, rows, status, code, err);
}

/* ---- What is too little to matter ---- */

static void say_minor_fragmentation(nm_screen *s, sqlite3_stmt *row)
{
    char share[NM_SENTENCE_BYTES], reserved[NM_HUMAN_BYTES];

    nm_screen_say(s, NM_SAY_MINOR_FRAGMENTED,
                  NM_WORDS({"percent", bounded_share(s, row, NM_SAY_AT_MOST, share)},
                           {"reserved", nm_human_bytes(reserved, sqlite3_column_int64(row, RESERVED))}));
}

static void say_minor(nm_screen *s, sqlite3_stmt *row)
{
    char value[NM_HUMAN_BYTES];
    const char *name = nm_db_text(row, MEASURE);
    double number = sqlite3_column_double(row, VALUE);

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
    static const char sql[] = VERDICTS " WHERE h.verdict = 'minor'" ORDER;
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, sql, &rows, err);
    int code = SQLITE_DONE, count = 0;

    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, MINOR_MAX);
    nm_screen_begin(s, NM_SAY_LABEL_MINOR, NM_LINE_PLAIN, NM_RANK_NOTE, "health");
    nm_screen_rows(s, 2);
    for (; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; count++) {
        if (count > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        say_minor(s, rows);
    }
    if (count > 0)
        nm_screen_say(s, NM_SAY_MINOR, NULL);
    return nm_screen_end(s, rows, status, code, err);
}

nm_status nm_screen_health_lines(nm_screen *s, nm_error *err)
{
    nm_status status = add_verdicts(s, err);

    return status == NM_OK ? add_minor(s, err) : status;
}
