/* SPDX-License-Identifier: Apache-2.0
 *
 * Why memory ran out: of the last request that failed for good, since it is what ended the program, else of the last. What was
 * asked for, why it was not had, what held the device, who had that, and what would help; each is made of columns of view
 * out_of_memory, whose verdict is a code.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "screen/ranks.h"
#include "store/database.h"

#define SITE_COLUMNS   44
#define SITES_MAX      3
#define COMPONENTS_MAX 7
#define TEXT_BYTES     512

enum {
    CASE_COUNT,
    RECOVERED_COUNT,
    ASKED_BYTES,
    FIRST_NS,
    FIRST_SEQ,
    OUTCOME,
    VERDICT,
    SITE,
    TRIED_BYTES,
    CASE_ID,
    CALL,
    RANK,
    NEEDED_BYTES = RANK + 4,
    FREE_BYTES,
    TOTAL_BYTES,
    OWN_BYTES,
    OTHER_BYTES,
    POOL_FREE_BYTES,
    POOL_LARGEST_BYTES,
    RESERVED_BYTES,
    LEAKED_BYTES,
    LEAKED_SITE,
    IS_PARTIAL
};

#define CASES                                                                                                          \
    "SELECT count(*) OVER (), sum(outcome = 'recovered') OVER (), coalesce(tried_bytes, at_least_tried_bytes),"        \
    " first_ns, first_seq, outcome, verdict, site, tried_bytes, out_of_memory_id,"                                     \
    " substr(message, 10, instr(message, ' (') - 10), rank, pid, device,"                                              \
    " (SELECT upper(max(kind)) FROM device), needed_bytes, free_bytes, total_bytes, own_bytes, other_bytes,"           \
    " pool_free_bytes, pool_largest_free_bytes, reserved_bytes, leaked_bytes, leaked_site, is_partial"                 \
    " FROM out_of_memory ORDER BY out_of_memory_id <> ?1, outcome IS 'recovered', device IS NULL, out_of_memory_id "   \
    "DESC LIMIT 1"

/* What each verdict says, and what helps. NM_SAY_NOTHING: nothing is known to. */
typedef struct cause {
    const char *verdict;
    nm_sentence why, remedy;
} cause;

static const cause *find_cause(const char *verdict)
{
    static const cause causes[] = {
        {"leak", NM_SAY_WHY_LEAK, NM_SAY_REMEDY_LEAK},
        {"capacity", NM_SAY_WHY_CAPACITY, NM_SAY_REMEDY_CAPACITY},
        {"fragmentation", NM_SAY_WHY_FRAGMENTATION, NM_SAY_REMEDY_FRAGMENTATION},
        {"other-stream", NM_SAY_WHY_STREAM, NM_SAY_REMEDY_STREAM},
        {"other-process-or-module", NM_SAY_WHY_OTHERS, NM_SAY_REMEDY_OTHERS},
        {"limit", NM_SAY_WHY_LIMIT, NM_SAY_REMEDY_LIMIT},
        {"driver", NM_SAY_WHY_DRIVER, NM_SAY_REMEDY_DRIVER},
        {"resources", NM_SAY_WHY_RESOURCES, NM_SAY_REMEDY_RESOURCES},
        {"host", NM_SAY_WHY_HOST, NM_SAY_REMEDY_HOST},
        {"unknown", NM_SAY_WHY_UNKNOWN, NM_SAY_NOTHING},
    };
    const size_t last = sizeof causes / sizeof causes[0] - 1;

    for (size_t i = 0; i < last; i++)
        if (strcmp(causes[i].verdict, verdict) == 0)
            return &causes[i];
    return &causes[last];
}

/* A size, or "?" where it is not known. */
static const char *size_of(sqlite3_stmt *row, int column, char out[NM_HUMAN_BYTES])
{
    if (nm_db_is_null(row, column))
        return "?";
    return nm_human_bytes(out, sqlite3_column_int64(row, column));
}

static void add_asked(nm_screen *s, sqlite3_stmt *row, nm_screen_kind kind, nm_screen_rank rank)
{
    char bytes[NM_HUMAN_BYTES], when[NM_HUMAN_BYTES], place[64], site[TEXT_BYTES];
    const char *outcome = nm_db_text(row, OUTCOME);

    nm_screen_begin(s, NM_SAY_LABEL_ASKED, kind, rank, "out_of_memory");
    nm_screen_rows(s, 2);
    nm_screen_number(s);
    nm_screen_site(s, nm_db_text(row, SITE), SITE_COLUMNS, site, sizeof site);
    if (nm_db_is_null(row, ASKED_BYTES)) {
        char call[TEXT_BYTES];

        nm_screen_say(
            s, NM_SAY_ASKED_CALL,
            NM_WORDS({"call", nm_human_text(call, sizeof call, nm_db_text(row, CALL), SITE_COLUMNS)}, {"site", site}));
    } else {
        nm_screen_say(s, nm_db_is_null(row, TRIED_BYTES) ? NM_SAY_ASKED_AT_LEAST : NM_SAY_ASKED,
                      NM_WORDS({"bytes", size_of(row, ASKED_BYTES, bytes)}, {"site", site}));
    }
    nm_screen_say(s, NM_SAY_ASKED_PLACE, NM_WORDS({"place", nm_screen_place(s, row, RANK, place)}));
    if (!nm_db_is_null(row, FIRST_NS))
        nm_screen_say(s, NM_SAY_ASKED_TIME,
                      NM_WORDS({"time", nm_human_time(when, sqlite3_column_int64(row, FIRST_NS))}));
    nm_screen_say(s,
                  strcmp(outcome, "recovered") == 0 ? NM_SAY_ASKED_RECOVERED
                  : outcome[0] == 0                 ? NM_SAY_ASKED_OPEN
                                                    : NM_SAY_ASKED_FATAL,
                  NULL);
}

static void say_more(nm_screen *s, sqlite3_stmt *row)
{
    char more[NM_HUMAN_BYTES], served[NM_HUMAN_BYTES];
    int64_t more_count = sqlite3_column_int64(row, CASE_COUNT) - 1;

    if (more_count <= 0)
        return;
    nm_screen_say(s, NM_SAY_ASKED_MORE, NM_WORDS({"n", nm_human_count(more, more_count)}));
    if (sqlite3_column_int64(row, RECOVERED_COUNT) > 0)
        nm_screen_say(s, NM_SAY_ASKED_SERVED,
                      NM_WORDS({"n", nm_human_count(served, sqlite3_column_int64(row, RECOVERED_COUNT))}));
}

/* The figures that sentences on causes are made of: each takes those that it has a place for. */
static void say_cause(nm_screen *s, sqlite3_stmt *row, nm_sentence code)
{
    char needed[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], own[NM_HUMAN_BYTES],
        other[NM_HUMAN_BYTES], pool_free[NM_HUMAN_BYTES], largest[NM_HUMAN_BYTES], reserved[NM_HUMAN_BYTES],
        leaked[NM_HUMAN_BYTES], without[NM_HUMAN_BYTES], site[TEXT_BYTES];
    int64_t own_bytes = sqlite3_column_int64(row, OWN_BYTES), leaked_bytes = sqlite3_column_int64(row, LEAKED_BYTES);

    nm_human_bytes(without, own_bytes > leaked_bytes ? own_bytes - leaked_bytes : 0);
    nm_screen_say(
        s, code,
        NM_WORDS({"needed", size_of(row, nm_db_is_null(row, NEEDED_BYTES) ? ASKED_BYTES : NEEDED_BYTES, needed)},
                 {"free", size_of(row, FREE_BYTES, left)}, {"total", size_of(row, TOTAL_BYTES, total)},
                 {"own", size_of(row, OWN_BYTES, own)}, {"other", size_of(row, OTHER_BYTES, other)},
                 {"pool_free", size_of(row, POOL_FREE_BYTES, pool_free)},
                 {"largest", size_of(row, POOL_LARGEST_BYTES, largest)},
                 {"reserved", size_of(row, RESERVED_BYTES, reserved)}, {"leaked", size_of(row, LEAKED_BYTES, leaked)},
                 {"without", without},
                 {"leaked_site", nm_screen_site(s, nm_db_text(row, LEAKED_SITE), SITE_COLUMNS, site, sizeof site)}));
}

/* ---- What held the device ---- */

/* Its components, the largest first; pools say what of them is in use and what is free. */
#define HELD                                                                                                           \
    "SELECT c.component, c.heap, c.bytes, c.active_bytes, c.free_bytes FROM out_of_memory AS o"                        \
    " JOIN _out_of_memory_component AS c ON c.out_of_memory_id = o.out_of_memory_id WHERE o.out_of_memory_id = ?1"     \
    " AND c.component <> 'DEVICE USED' AND c.bytes <> 0"                                                               \
    " AND abs(c.bytes) * 200 >= o.own_bytes + coalesce(o.other_bytes, 0)"                                              \
    " ORDER BY c.bytes DESC, c.component, c.heap LIMIT ?2"

static nm_status add_held(nm_screen *s, int64_t case_id, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], used[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], name[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, HELD, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK) {
        sqlite3_bind_int64(rows, 1, case_id);
        sqlite3_bind_int(rows, 2, COMPONENTS_MAX);
    }
    nm_screen_begin(s, NM_SAY_LABEL_HELD, NM_LINE_PLAIN, NM_RANK_PEAK, "out_of_memory");
    nm_screen_rows(s, 2);
    for (int i = 0; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; i++) {
        if (i > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        nm_screen_component(s, nm_db_text(rows, 0), nm_db_text(rows, 1), name, sizeof name);
        nm_screen_say(s, NM_SAY_HELD_PART,
                      NM_WORDS({"name", name}, {"bytes", nm_human_bytes(bytes, sqlite3_column_int64(rows, 2))}));
        if (!nm_db_is_null(rows, 3))
            nm_screen_say(s, NM_SAY_HELD_POOL,
                          NM_WORDS({"used", nm_human_bytes(used, sqlite3_column_int64(rows, 3))},
                                   {"free", nm_human_bytes(left, sqlite3_column_int64(rows, 4))}));
    }
    return nm_screen_end(s, rows, status, code, err);
}

static nm_status add_who(nm_screen *s, int64_t case_id, nm_error *err)
{
    static const char sql[] =
        "SELECT w.live_bytes, w.site, w.live_count, (SELECT max(l.late_bytes_per_step) FROM leak_by_site AS l"
        " WHERE l.site = w.site AND l.pid IS w.pid AND l.heap IS w.heap), EXISTS (SELECT 1 FROM leak_by_site AS l"
        " WHERE l.site = w.site AND l.pid IS w.pid AND l.heap IS w.heap) FROM _out_of_memory_site AS w"
        " WHERE w.out_of_memory_id = ?1 AND w.live_bytes > 0 ORDER BY w.live_bytes DESC, w.site LIMIT ?2";
    char bytes[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], rate[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, sql, &rows, err);
    int code = SQLITE_DONE;

    if (status == NM_OK) {
        sqlite3_bind_int64(rows, 1, case_id);
        sqlite3_bind_int(rows, 2, SITES_MAX);
    }
    for (int i = 0; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; i++) {
        nm_screen_begin(s, i == 0 ? NM_SAY_LABEL_WHO : NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_NOTE, "out_of_memory");
        nm_screen_say(s, NM_SAY_WHO_SITE,
                      NM_WORDS({"bytes", nm_human_bytes(bytes, sqlite3_column_int64(rows, 0))},
                               {"site", nm_screen_site(s, nm_db_text(rows, 1), SITE_COLUMNS, site, sizeof site)},
                               {"n", nm_human_count(count, sqlite3_column_int64(rows, 2))}));
        if (sqlite3_column_int(rows, 4) != 0)
            nm_screen_say(s, NM_SAY_WHO_LEAK, NULL);
        if (!nm_db_is_null(rows, 3))
            nm_screen_say(s, NM_SAY_LEAK_STEP,
                          NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)sqlite3_column_double(rows, 3))}));
    }
    return nm_screen_end(s, rows, status, code, err);
}

static nm_sentence why_of(sqlite3_stmt *row, const cause *known)
{
    if (sqlite3_column_int(row, IS_PARTIAL) != 0)
        return NM_SAY_WHY_PARTIAL;
    return known->why == NM_SAY_WHY_UNKNOWN && nm_db_is_null(row, FREE_BYTES) ? NM_SAY_WHY_UNKNOWN_FREE : known->why;
}

static nm_status add_case(nm_screen *s, sqlite3_stmt *row, nm_error *err)
{
    bool is_recovered = strcmp(nm_db_text(row, OUTCOME), "recovered") == 0;
    nm_screen_kind kind = is_recovered ? NM_LINE_WARNING : NM_LINE_BAD;
    nm_screen_rank rank = is_recovered ? NM_RANK_WARNING : NM_RANK_WORST;
    const cause *why = find_cause(nm_db_text(row, VERDICT));
    nm_status status = NM_OK;

    add_asked(s, row, kind, rank);
    say_more(s, row);
    nm_screen_begin(s, NM_SAY_LABEL_WHY, kind, rank, "out_of_memory");
    nm_screen_rows(s, 2);
    say_cause(s, row, why_of(row, why));
    if (!is_recovered)
        status = add_held(s, sqlite3_column_int64(row, CASE_ID), err);
    if (status == NM_OK && !is_recovered)
        status = add_who(s, sqlite3_column_int64(row, CASE_ID), err);
    if (why->remedy != NM_SAY_NOTHING) {
        nm_screen_begin(s, NM_SAY_LABEL_REMEDY, NM_LINE_PLAIN, rank, "out_of_memory");
        nm_screen_rows(s, 2);
        say_cause(s, row, why->remedy);
    }
    return status;
}

nm_status nm_screen_failure_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    nm_status status = nm_screen_ask(s, CASES, &row, err);

    if (status == NM_OK)
        sqlite3_bind_int64(row, 1, nm_screen_first_out_of_memory(s));
    int code = status == NM_OK ? sqlite3_step(row) : SQLITE_DONE;

    if (code == SQLITE_ROW)
        status = add_case(s, row, err);
    return nm_screen_end(s, row, status, code, err);
}
