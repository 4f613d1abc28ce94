/* SPDX-License-Identifier: Apache-2.0
 *
 * Why memory ran out: of the last request that failed for good, since it is what ended the program, else of the last.
 */
#include <string.h>

#include "base/human.h"
#include "screen/findings.h"
#include "screen/groups.h"
#include "screen/ranks.h"

static void say_more(nm_screen *s, const nm_findings_row *row)
{
    char more[NM_HUMAN_BYTES], served[NM_HUMAN_BYTES];

    if (row->all_count <= 1)
        return;
    nm_screen_say(s, NM_SAY_ASKED_MORE, NM_WORDS({"n", nm_human_count(more, row->all_count - 1)}));
    if (row->warning_count > 0)
        nm_screen_say(s, NM_SAY_ASKED_SERVED, NM_WORDS({"n", nm_human_count(served, row->warning_count)}));
}

nm_status nm_screen_failure_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_findings_row row;
    nm_status status = nm_findings_ask(s->db, "out of memory", false, nm_screen_first_out_of_memory(s), 1, &rows, err);

    if (status == NM_OK && nm_findings_next(rows, &row)) {
        nm_screen_rank rank = strcmp(row.severity, "fault") == 0 ? NM_RANK_WORST : NM_RANK_WARNING;

        nm_screen_begin_finding(s, &row, rank);
        say_more(s, &row);
        nm_screen_end_finding(s, &row, rank);
    }
    return nm_question_end(rows, status, err);
}
