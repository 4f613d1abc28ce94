/* SPDX-License-Identifier: Apache-2.0
 *
 * Two lines a site: how much, how fast and where; then the evidence. Those that grow come before those that were never released.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "store/database.h"

#define SITES_MAX    4 /* of sites with lines of their own */
#define SITE_COLUMNS 48
#define TEXT_BYTES   512

/* The most that speaks for a site's growth, the device's own trend, how many steps the process has, and
 * whether memory ran out. */
#define LEAKS                                                                                                          \
    "SELECT l.rank, l.pid, l.device, (SELECT upper(max(d.kind)) FROM device AS d), l.site, l.verdict, l.leak_count,"   \
    " l.leak_bytes, l.generation_count, l.late_bytes_per_step, l.freed_count, l.bytes_per_hour, l.hours_left,"         \
    " (SELECT min(f.steps_left) FROM forecast AS f WHERE f.measure = 'device' AND f.host IS l.host"                    \
    " AND f.rank IS l.rank AND f.pid IS l.pid AND f.device IS l.device),"                                              \
    " (SELECT count(*) FROM step AS t JOIN process AS q ON q.process_id = t.process_id WHERE q.pid IS l.pid"           \
    " AND q.host IS l.host AND q.rank IS l.rank), count(*) OVER (), sum(l.leak_bytes) OVER (), (SELECT count(*) FROM " \
    "_out_of_memory_chain WHERE outcome = 'fatal') FROM leak_by_site AS l"                                             \
    " ORDER BY l.verdict = 'unreleased', l.leak_bytes DESC, l.site, l.rank, l.pid LIMIT ?1"

/* "NPU 0 full in about 348,000 steps" */
static void say_full(nm_screen *s, sqlite3_stmt *row, const char *place)
{
    char number[NM_HUMAN_BYTES];

    if (nm_db_is_null(row, 2) || sqlite3_column_int64(row, 17) > 0) /* it ran out of memory: it was full */
        return;
    if (!nm_db_is_null(row, 9) && !nm_db_is_null(row, 13))
        nm_screen_say(s, NM_SAY_LEAK_FULL_STEPS,
                      NM_WORDS({"place", place}, {"n", nm_human_count(number, sqlite3_column_int64(row, 13))}));
    else if (!nm_db_is_null(row, 12)) {
        snprintf(number, sizeof number, "%.3g", sqlite3_column_double(row, 12));
        nm_screen_say(s, NM_SAY_LEAK_FULL_HOURS, NM_WORDS({"place", place}, {"n", number}));
    }
}

static void add_leak(nm_screen *s, sqlite3_stmt *row, bool is_first)
{
    char bytes[NM_HUMAN_BYTES], rate[NM_HUMAN_BYTES], place[64], site[TEXT_BYTES];
    bool is_growing = !nm_db_is_null(row, 9), is_rising = !nm_db_is_null(row, 11);

    nm_screen_place(s, row, 0, place);
    nm_screen_begin(s, NM_SAY_LABEL_LEAK, NM_LINE_BAD, is_first ? NM_RANK_WORST : NM_RANK_FAULT, "leak_by_site");
    nm_screen_number(s);
    nm_screen_rows(s, 2);
    nm_screen_say(s, NM_SAY_LEAK_BYTES, NM_WORDS({"bytes", nm_human_bytes(bytes, sqlite3_column_int64(row, 7))}));
    if (is_growing)
        nm_screen_say(s, NM_SAY_LEAK_STEP,
                      NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)sqlite3_column_double(row, 9))}));
    else if (is_rising)
        nm_screen_say(s, NM_SAY_LEAK_HOUR,
                      NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)sqlite3_column_double(row, 11))}));
    else
        nm_screen_say(s, NM_SAY_LEAK_UNRELEASED, NULL);
    say_full(s, row, place);
    nm_screen_say(s, NM_SAY_LEAK_SITE,
                  NM_WORDS({"site", nm_screen_site(s, nm_db_text(row, 4), SITE_COLUMNS, site, sizeof site)}));
    if (nm_screen_is_shared(s) || s->device_count > 1)
        nm_screen_say(s, NM_SAY_LEAK_PLACE, NM_WORDS({"place", place}));
}

static void add_evidence(nm_screen *s, sqlite3_stmt *row)
{
    char count[NM_HUMAN_BYTES], born[NM_HUMAN_BYTES], steps[NM_HUMAN_BYTES], freed[NM_HUMAN_BYTES];
    bool has_steps = sqlite3_column_int64(row, 14) > 0;

    nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_NOTE, "leak_by_site");
    nm_human_count(count, sqlite3_column_int64(row, 6));
    if (has_steps && !nm_db_is_null(row, 9))
        nm_screen_say(s, NM_SAY_LEAK_BORN,
                      NM_WORDS({"n", count}, {"born", nm_human_count(born, sqlite3_column_int64(row, 8))},
                               {"steps", nm_human_count(steps, sqlite3_column_int64(row, 14))}));
    else
        nm_screen_say(s, NM_SAY_LEAK_BLOCKS, NM_WORDS({"n", count}));
    if (nm_db_is_null(row, 10))
        return;
    if (sqlite3_column_int64(row, 10) == 0)
        nm_screen_say(s, NM_SAY_LEAK_NONE_FREED, NULL);
    else
        nm_screen_say(s, NM_SAY_LEAK_FREED, NM_WORDS({"n", nm_human_count(freed, sqlite3_column_int64(row, 10))}));
}

/* "12 sites in all, 1.2 GiB" */
static void add_total(nm_screen *s, int64_t site_count, int64_t bytes_all)
{
    char count[NM_HUMAN_BYTES], bytes[NM_HUMAN_BYTES];

    nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_FAULT, "leak_by_site");
    nm_screen_say(s, NM_SAY_LEAK_MORE,
                  NM_WORDS({"n", nm_human_count(count, site_count)}, {"bytes", nm_human_bytes(bytes, bytes_all)}));
}

nm_status nm_screen_leak_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_screen_ask(s, LEAKS, &rows, err);
    int64_t site_count = 0, bytes_all = 0;
    int code = SQLITE_DONE;

    if (status == NM_OK)
        sqlite3_bind_int(rows, 1, SITES_MAX);
    for (bool is_first = true; status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW; is_first = false) {
        site_count = sqlite3_column_int64(rows, 15);
        bytes_all = sqlite3_column_int64(rows, 16);
        add_leak(s, rows, is_first);
        add_evidence(s, rows);
    }
    if (site_count > SITES_MAX)
        add_total(s, site_count, bytes_all);
    return nm_screen_end(s, rows, status, code, err);
}
