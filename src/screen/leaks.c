/* SPDX-License-Identifier: Apache-2.0
 *
 * Two lines a site: how much, how fast and where; then the evidence. Those that grow come before those that were never released.
 */
#include <string.h>

#include "base/human.h"
#include "screen/groups.h"
#include "screen/leaks.sql.h"

#define SITES_MAX    4 /* of sites with lines of their own */
#define SITE_COLUMNS 48
#define TEXT_BYTES   512

/* "NPU 0 full in about 348,000 steps" */
static void say_full(nm_screen *s, const nm_leaks_row *row, const char *place)
{
    char number[NM_HUMAN_BYTES];

    if (!row->has.device || row->fatal_count > 0) /* it ran out of memory: it was full */
        return;
    if (row->has.late_bytes_per_step && row->has.left_step_count)
        nm_screen_say(s, NM_SAY_LEAK_FULL_STEPS,
                      NM_WORDS({"place", place}, {"n", nm_human_count(number, row->left_step_count)}));
    else if (row->has.left_hours) {
        snprintf(number, sizeof number, "%.3g", row->left_hours);
        nm_screen_say(s, NM_SAY_LEAK_FULL_HOURS, NM_WORDS({"place", place}, {"n", number}));
    }
}

static void add_leak(nm_screen *s, const nm_leaks_row *row, bool is_first)
{
    char bytes[NM_HUMAN_BYTES], rate[NM_HUMAN_BYTES], place[64], site[TEXT_BYTES];

    nm_screen_place(s, NM_SCREEN_OWNER(row), place);
    nm_screen_begin(s, NM_SAY_LABEL_LEAK, NM_LINE_BAD, is_first ? NM_RANK_WORST : NM_RANK_FAULT, "leak_by_site");
    nm_screen_number(s);
    nm_screen_rows(s, 2);
    nm_screen_say(s, NM_SAY_LEAK_BYTES, NM_WORDS({"bytes", nm_human_bytes(bytes, row->leak_bytes)}));
    if (row->has.late_bytes_per_step)
        nm_screen_say(s, NM_SAY_LEAK_STEP, NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)row->late_bytes_per_step)}));
    else if (row->has.bytes_per_hour)
        nm_screen_say(s, NM_SAY_LEAK_HOUR, NM_WORDS({"rate", nm_human_bytes(rate, (int64_t)row->bytes_per_hour)}));
    else
        nm_screen_say(s, NM_SAY_LEAK_UNRELEASED, NULL);
    say_full(s, row, place);
    nm_screen_say(s, NM_SAY_LEAK_SITE,
                  NM_WORDS({"site", nm_screen_site(s, row->site, SITE_COLUMNS, site, sizeof site)}));
    if (nm_screen_is_shared(s) || s->device_count > 1)
        nm_screen_say(s, NM_SAY_LEAK_PLACE, NM_WORDS({"place", place}));
}

static void add_evidence(nm_screen *s, const nm_leaks_row *row)
{
    char count[NM_HUMAN_BYTES], born[NM_HUMAN_BYTES], steps[NM_HUMAN_BYTES], freed[NM_HUMAN_BYTES];

    nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_NOTE, "leak_by_site");
    nm_human_count(count, row->leak_count);
    if (row->step_count > 0 && row->has.late_bytes_per_step)
        nm_screen_say(s, NM_SAY_LEAK_BORN,
                      NM_WORDS({"n", count}, {"born", nm_human_count(born, row->generation_count)},
                               {"steps", nm_human_count(steps, row->step_count)}));
    else
        nm_screen_say(s, NM_SAY_LEAK_BLOCKS, NM_WORDS({"n", count}));
    if (!row->has.freed_count)
        return;
    if (row->freed_count == 0)
        nm_screen_say(s, NM_SAY_LEAK_NONE_FREED, NULL);
    else
        nm_screen_say(s, NM_SAY_LEAK_FREED, NM_WORDS({"n", nm_human_count(freed, row->freed_count)}));
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
    nm_leaks_row row = {0};
    nm_status status = nm_leaks_ask(s->db, SITES_MAX, &rows, err);

    for (bool is_first = true; status == NM_OK && nm_leaks_next(rows, &row); is_first = false) {
        add_leak(s, &row, is_first);
        add_evidence(s, &row);
    }
    if (row.site_count > SITES_MAX)
        add_total(s, row.site_count, row.all_bytes);
    return nm_question_end(rows, status, err);
}
