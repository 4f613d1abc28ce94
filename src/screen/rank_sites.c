/* SPDX-License-Identifier: Apache-2.0
 *
 * What many ranks have in common and what sets them apart: leaks summed up by site, verdicts of view health counted, and ranks
 * that hold more than others of their group. One query each over all ranks: of 512 none may look at pairs.
 */
#include <string.h>

#include "base/human.h"
#include "screen/finding_groups.sql.h"
#include "screen/findings.h"
#include "screen/groups.h"
#include "screen/ranks.h"

#define SITES_MAX    3
#define MEASURES_MAX 16
#define DEVICES_MAX  3

/* What several have in common. */
static void say_group(nm_screen *s, const nm_finding_groups_row *row)
{
    const nm_findings_row shown = {.kind = "", .site = row->site, .heap = "", .device_kind = ""};
    const char *json = row->sentence;

    nm_screen_say_json(s, &shown, &json);
}

/* ---- Leaks ---- */

nm_status nm_screen_rank_leak_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_finding_groups_row row = {0};
    nm_status status = nm_finding_groups_ask(s->db, "leak", SITES_MAX, &rows, err);
    int64_t shown_count = 0;
    char number[NM_HUMAN_BYTES];

    for (; status == NM_OK && nm_finding_groups_next(rows, &row); shown_count++) {
        nm_screen_begin(s, NM_SAY_RANKS_LABEL_LEAK, NM_LINE_BAD, shown_count == 0 ? NM_RANK_WORST : NM_RANK_FAULT,
                        "leak_by_site");
        nm_screen_rows(s, 2);
        nm_screen_number(s);
        say_group(s, &row);
    }
    if (row.all_count > shown_count) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_FAULT, "leak_by_site");
        nm_screen_say(s, NM_SAY_RANKS_LEAK_MORE, NM_WORDS({"n", nm_human_count(number, row.all_count - shown_count)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- Devices that several ranks share ---- */

static nm_status add_shared(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_findings_row row = {0};
    nm_status status = nm_findings_ask(s->db, "shared device", false, NM_NULL, DEVICES_MAX, &rows, err);

    while (status == NM_OK && nm_findings_next(rows, &row)) {
        nm_screen_rank rank = s->fault_count == 0 ? NM_RANK_WORST : NM_RANK_FAULT;

        nm_screen_begin_finding(s, &row, rank);
        nm_screen_end_finding(s, &row, rank);
    }
    return nm_question_end(rows, status, err);
}

/* ---- Health ---- */

nm_status nm_screen_rank_health_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_finding_groups_row row;
    nm_status status = add_shared(s, err);

    if (status == NM_OK)
        status = nm_finding_groups_ask(s->db, NULL, MEASURES_MAX, &rows, err);

    while (status == NM_OK && nm_finding_groups_next(rows, &row)) {
        bool is_fault = strcmp(row.severity, "fault") == 0;

        nm_screen_begin(s, is_fault ? NM_SAY_RANKS_LABEL_DANGER : NM_SAY_RANKS_LABEL_WARNING,
                        is_fault ? NM_LINE_BAD : NM_LINE_WARNING, is_fault ? NM_RANK_FAULT : NM_RANK_WARNING, "health");
        say_group(s, &row);
        s->fault_count++;
    }
    return nm_question_end(rows, status, err);
}

/* ---- Ranks that differ ---- */

nm_status nm_screen_rank_uneven_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_findings_row row = {0};
    int64_t shown_count = 0;
    char number[NM_HUMAN_BYTES];
    nm_status status = nm_findings_ask(s->db, "uneven rank", false, NM_NULL, SITES_MAX, &rows, err);

    while (status == NM_OK && nm_findings_next(rows, &row)) {
        nm_screen_begin_finding(s, &row, NM_RANK_WARNING);
        if (++shown_count == SITES_MAX && row.all_count > shown_count)
            nm_screen_say(s, NM_SAY_RANKS_AND_MORE,
                          NM_WORDS({"n", nm_human_count(number, row.all_count - shown_count)}));
        nm_screen_end_finding(s, &row, NM_RANK_WARNING);
    }
    return nm_question_end(rows, status, err);
}
