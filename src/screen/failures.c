/* SPDX-License-Identifier: Apache-2.0
 *
 * Why memory ran out: of the last request that failed for good, since it is what ended the program, else of the last. What was
 * asked for, why it was not had, what held the device, who had that, and what would help; each is made of columns of view
 * out_of_memory, whose verdict is a code.
 */
#include <string.h>

#include "base/human.h"
#include "screen/cases.sql.h"
#include "screen/groups.h"
#include "screen/held.sql.h"
#include "screen/holders.sql.h"
#include "screen/ranks.h"
#include "store/database.h"

#define SITE_COLUMNS   44
#define SITES_MAX      3
#define COMPONENTS_MAX 7
#define TEXT_BYTES     512

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
static const char *size_of(bool has, int64_t bytes, char out[NM_HUMAN_BYTES])
{
    return has ? nm_human_bytes(out, bytes) : "?";
}

#define SIZE_OF(row, name, out) size_of((row)->has.name, (row)->name, out)

static void add_asked(nm_screen *s, const nm_cases_row *row, nm_screen_kind kind, nm_screen_rank rank)
{
    char bytes[NM_HUMAN_BYTES], when[NM_HUMAN_BYTES], place[64], site[TEXT_BYTES];

    nm_screen_begin(s, NM_SAY_LABEL_ASKED, kind, rank, "out_of_memory");
    nm_screen_rows(s, 2);
    nm_screen_number(s);
    nm_screen_site(s, row->site, SITE_COLUMNS, site, sizeof site);
    if (!row->has.asked_bytes) {
        char call[TEXT_BYTES];

        nm_screen_say(s, NM_SAY_ASKED_CALL,
                      NM_WORDS({"call", nm_human_text(call, sizeof call, row->call, SITE_COLUMNS)}, {"site", site}));
    } else {
        nm_screen_say(s, row->has.tried_bytes ? NM_SAY_ASKED : NM_SAY_ASKED_AT_LEAST,
                      NM_WORDS({"bytes", nm_human_bytes(bytes, row->asked_bytes)}, {"site", site}));
    }
    nm_screen_say(s, NM_SAY_ASKED_PLACE, NM_WORDS({"place", nm_screen_place(s, NM_SCREEN_OWNER(row), place)}));
    if (row->has.first_ns)
        nm_screen_say(s, NM_SAY_ASKED_TIME, NM_WORDS({"time", nm_human_time(when, row->first_ns)}));
    nm_screen_say(s,
                  strcmp(row->outcome, "recovered") == 0 ? NM_SAY_ASKED_RECOVERED
                  : row->outcome[0] == 0                 ? NM_SAY_ASKED_OPEN
                                                         : NM_SAY_ASKED_FATAL,
                  NULL);
}

static void say_more(nm_screen *s, const nm_cases_row *row)
{
    char more[NM_HUMAN_BYTES], served[NM_HUMAN_BYTES];
    int64_t more_count = row->case_count - 1;

    if (more_count <= 0)
        return;
    nm_screen_say(s, NM_SAY_ASKED_MORE, NM_WORDS({"n", nm_human_count(more, more_count)}));
    if (row->recovered_count > 0)
        nm_screen_say(s, NM_SAY_ASKED_SERVED, NM_WORDS({"n", nm_human_count(served, row->recovered_count)}));
}

/* The figures that sentences on causes are made of: each takes those that it has a place for. */
static void say_cause(nm_screen *s, const nm_cases_row *row, nm_sentence code)
{
    char needed[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], total[NM_HUMAN_BYTES], own[NM_HUMAN_BYTES],
        other[NM_HUMAN_BYTES], pool_free[NM_HUMAN_BYTES], largest[NM_HUMAN_BYTES], reserved[NM_HUMAN_BYTES],
        leaked[NM_HUMAN_BYTES], without[NM_HUMAN_BYTES], site[TEXT_BYTES];

    nm_human_bytes(without, row->own_bytes > row->leaked_bytes ? row->own_bytes - row->leaked_bytes : 0);
    nm_screen_say(s, code,
                  NM_WORDS({"needed", row->has.needed_bytes ? nm_human_bytes(needed, row->needed_bytes)
                                                            : SIZE_OF(row, asked_bytes, needed)},
                           {"free", SIZE_OF(row, free_bytes, left)}, {"total", SIZE_OF(row, total_bytes, total)},
                           {"own", SIZE_OF(row, own_bytes, own)}, {"other", SIZE_OF(row, other_bytes, other)},
                           {"pool_free", SIZE_OF(row, pool_free_bytes, pool_free)},
                           {"largest", SIZE_OF(row, pool_largest_free_bytes, largest)},
                           {"reserved", SIZE_OF(row, reserved_bytes, reserved)},
                           {"leaked", SIZE_OF(row, leaked_bytes, leaked)}, {"without", without},
                           {"leaked_site", nm_screen_site(s, row->leaked_site, SITE_COLUMNS, site, sizeof site)}));
}

/* ---- What held the device ---- */

static nm_status add_held(nm_screen *s, int64_t case_id, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], used[NM_HUMAN_BYTES], left[NM_HUMAN_BYTES], name[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_held_row row;
    nm_status status = nm_held_ask(s->db, case_id, COMPONENTS_MAX, &rows, err);

    nm_screen_begin(s, NM_SAY_LABEL_HELD, NM_LINE_PLAIN, NM_RANK_PEAK, "out_of_memory");
    nm_screen_rows(s, 2);
    for (int i = 0; status == NM_OK && nm_held_next(rows, &row); i++) {
        if (i > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        nm_screen_component(s, row.component, row.heap, name, sizeof name);
        nm_screen_say(s, NM_SAY_HELD_PART, NM_WORDS({"name", name}, {"bytes", nm_human_bytes(bytes, row.bytes)}));
        if (row.has.active_bytes)
            nm_screen_say(s, NM_SAY_HELD_POOL,
                          NM_WORDS({"used", nm_human_bytes(used, row.active_bytes)},
                                   {"free", nm_human_bytes(left, row.free_bytes)}));
    }
    return nm_question_end(rows, status, err);
}

static nm_status add_who(nm_screen *s, int64_t case_id, nm_error *err)
{
    char bytes[NM_HUMAN_BYTES], count[NM_HUMAN_BYTES], rate[NM_HUMAN_BYTES], site[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_holders_row row;
    nm_status status = nm_holders_ask(s->db, case_id, SITES_MAX, &rows, err);

    for (int i = 0; status == NM_OK && nm_holders_next(rows, &row); i++) {
        nm_screen_begin(s, i == 0 ? NM_SAY_LABEL_WHO : NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_NOTE, "out_of_memory");
        nm_screen_say(s, NM_SAY_WHO_SITE,
                      NM_WORDS({"bytes", nm_human_bytes(bytes, row.live_bytes)},
                               {"site", nm_screen_site(s, row.site, SITE_COLUMNS, site, sizeof site)},
                               {"n", nm_human_count(count, row.live_count)}));
        if (row.is_leak)
            nm_screen_say(s, NM_SAY_WHO_LEAK, NULL);
        if (row.has.late_bytes_per_step)
            nm_screen_say(s, NM_SAY_LEAK_STEP,
                          NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)row.late_bytes_per_step)}));
    }
    return nm_question_end(rows, status, err);
}

static nm_sentence why_of(const nm_cases_row *row, const cause *known)
{
    if (row->is_partial)
        return NM_SAY_WHY_PARTIAL;
    return known->why == NM_SAY_WHY_UNKNOWN && !row->has.free_bytes ? NM_SAY_WHY_UNKNOWN_FREE : known->why;
}

static nm_status add_case(nm_screen *s, const nm_cases_row *row, nm_error *err)
{
    bool is_recovered = strcmp(row->outcome, "recovered") == 0;
    nm_screen_kind kind = is_recovered ? NM_LINE_WARNING : NM_LINE_BAD;
    nm_screen_rank rank = is_recovered ? NM_RANK_WARNING : NM_RANK_WORST;
    const cause *why = find_cause(row->verdict);
    nm_status status = NM_OK;

    add_asked(s, row, kind, rank);
    say_more(s, row);
    nm_screen_begin(s, NM_SAY_LABEL_WHY, kind, rank, "out_of_memory");
    nm_screen_rows(s, 2);
    say_cause(s, row, why_of(row, why));
    if (!is_recovered)
        status = add_held(s, row->out_of_memory_id, err);
    if (status == NM_OK && !is_recovered)
        status = add_who(s, row->out_of_memory_id, err);
    if (why->remedy != NM_SAY_NOTHING) {
        nm_screen_begin(s, NM_SAY_LABEL_REMEDY, NM_LINE_PLAIN, rank, "out_of_memory");
        nm_screen_rows(s, 2);
        say_cause(s, row, why->remedy);
    }
    return status;
}

nm_status nm_screen_failure_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_cases_row row;
    nm_status status = nm_cases_ask(s->db, nm_screen_first_out_of_memory(s), &rows, err);

    if (status == NM_OK && nm_cases_next(rows, &row))
        status = add_case(s, &row, err);
    return nm_question_end(rows, status, err);
}
