/* SPDX-License-Identifier: Apache-2.0
 *
 * Misuse; then what is in danger and what is not good, a line each; then, on one line, what is not good but less than matters.
 */
#include "base/human.h"
#include "screen/finding_groups.sql.h"
#include "screen/findings.h"
#include "screen/groups.h"

#define LINES_MAX  6
#define MINOR_MAX  3
#define MISUSE_MAX 4

static nm_status add_verdicts(nm_screen *s, nm_error *err)
{
    char number[NM_HUMAN_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_findings_row row = {0};
    nm_status status = nm_findings_ask(s->db, NULL, false, NM_NULL, LINES_MAX, &rows, err);

    while (status == NM_OK && nm_findings_next(rows, &row)) {
        nm_screen_rank rank = s->fault_count == 0 ? NM_RANK_WORST : NM_RANK_WARNING;

        nm_screen_begin_finding(s, &row, rank);
        nm_screen_end_finding(s, &row, rank);
    }
    if (row.all_count > LINES_MAX) {
        nm_screen_begin(s, NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_WARNING, "health");
        nm_screen_say(s, NM_SAY_HEALTH_MORE, NM_WORDS({"n", nm_human_count(number, row.all_count - LINES_MAX)}));
    }
    return nm_question_end(rows, status, err);
}

/* " and 2 more", where some are left. */
static void say_more(nm_screen *s, int64_t left_count)
{
    char number[NM_HUMAN_BYTES];

    if (left_count > 0)
        nm_screen_say(s, NM_SAY_RANKS_AND_MORE, NM_WORDS({"n", nm_human_count(number, left_count)}));
}

static nm_status add_minor(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_findings_row row;
    nm_status status = nm_findings_ask(s->db, NULL, true, NM_NULL, MINOR_MAX, &rows, err);
    int64_t count = 0, all_count = 0;

    nm_screen_begin(s, NM_SAY_LABEL_MINOR, NM_LINE_PLAIN, NM_RANK_NOTE, "health");
    nm_screen_rows(s, 2);
    for (; status == NM_OK && nm_findings_next(rows, &row); count++) {
        const char *json = row.sentence;

        all_count = row.all_count;
        if (count > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        nm_screen_say_json(s, &row, &json);
    }
    say_more(s, all_count - count);
    if (count > 0)
        nm_screen_say(s, NM_SAY_MINOR, NULL);
    return nm_question_end(rows, status, err);
}

nm_status nm_screen_misuse_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_finding_groups_row row;
    nm_status status = nm_finding_groups_ask(s->db, "misuse", MISUSE_MAX, &rows, err);

    for (int count = 1; status == NM_OK && nm_finding_groups_next(rows, &row); count++) {
        const nm_findings_row shown = {.kind = "misuse",
                                       .severity = row.severity,
                                       .sentence = row.sentence,
                                       .site = row.site,
                                       .heap = "",
                                       .device_kind = ""};

        nm_screen_begin_finding(s, &shown, s->fault_count == 0 ? NM_RANK_WORST : NM_RANK_FAULT);
        if (count == MISUSE_MAX)
            say_more(s, row.all_count - count);
    }
    return nm_question_end(rows, status, err);
}

nm_status nm_screen_health_lines(nm_screen *s, nm_error *err)
{
    nm_status status = add_verdicts(s, err);

    return status == NM_OK ? add_minor(s, err) : status;
}
