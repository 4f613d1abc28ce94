/* SPDX-License-Identifier: Apache-2.0
 *
 * Two lines a site: how much, how fast and where; then the evidence. Those that grow come before those that were never released.
 */
#include "base/human.h"
#include "screen/findings.h"
#include "screen/groups.h"

#define SITES_MAX 4 /* of sites with lines of their own */

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
    char place[NM_SAY_PLACE_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_findings_row row = {0};
    nm_status status = nm_findings_ask(s->db, "leak", false, NM_NULL, SITES_MAX, &rows, err);
    nm_screen_rank rank = NM_RANK_WORST;

    for (; status == NM_OK && nm_findings_next(rows, &row); rank = NM_RANK_FAULT) {
        nm_screen_begin_finding(s, &row, rank);
        if (nm_screen_is_shared(s) || s->device_count > 1)
            nm_screen_say(s, NM_SAY_LEAK_PLACE, NM_WORDS({"place", nm_screen_place(s, NM_SCREEN_OWNER(&row), place)}));
        nm_screen_end_finding(s, &row, rank);
    }
    if (row.all_count > SITES_MAX)
        add_total(s, row.all_count, row.all_bytes);
    return nm_question_end(rows, status, err);
}
