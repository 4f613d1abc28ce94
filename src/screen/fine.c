/* SPDX-License-Identifier: Apache-2.0
 *
 * What is suspected, what is fine, on one line, and what cannot be judged, with the reason and what is still needed. Where
 * nothing is wrong, nothing is lost and all is judged, the first line says so.
 */
#include <stdlib.h>
#include <string.h>

#include "base/human.h"
#include "report/rank_list.h"
#include "say/said.h"
#include "screen/findings.h"
#include "screen/flaws.sql.h"
#include "screen/good_findings.sql.h"
#include "screen/groups.h"
#include "screen/unjudged_findings.sql.h"

#define TEXT_BYTES 256

/* ---- What cannot be judged ---- */

/* Names that have a reason in common stand before it: "leaks, misuse: not all was recorded". */
typedef struct unjudged {
    int count;
    char *reason; /* of the names said last, owned; NULL: it is said, or there are none */
} unjudged;

static const nm_findings_row of_nobody = {.kind = "", .heap = "", .site = "", .device_kind = ""};

static void say_plain(nm_screen *s, const char *json)
{
    nm_screen_say_json(s, &of_nobody, &json);
}

static void close_reason(nm_screen *s, unjudged *u)
{
    const char *json = u->reason;
    char reason[NM_SENTENCE_BYTES] = "";
    nm_sentence label;

    if (json == NULL)
        return;
    if (nm_said_next_line(&json, &label))
        nm_screen_put_json(s, &of_nobody, &json, reason);
    nm_screen_say(s, NM_SAY_UNJUDGED_REASON, NM_WORDS({"reason", reason}));
    free(u->reason);
    u->reason = NULL;
}

static void say_unjudged(nm_screen *s, unjudged *u, const nm_unjudged_findings_row *row)
{
    bool is_same = u->reason != NULL && row->has.evidence && strcmp(u->reason, row->evidence) == 0;

    if (!is_same)
        close_reason(s, u);
    if (u->count++ > 0)
        nm_screen_say(s, is_same ? NM_SAY_COMMA : NM_SAY_SEMICOLON, NULL);
    say_plain(s, row->sentence);
    if (is_same || !row->has.evidence)
        return;
    u->reason = strdup(row->evidence);
    s->is_out_of_memory |= u->reason == NULL;
}

static nm_status add_unjudged(nm_screen *s, unjudged *u, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_unjudged_findings_row row;
    nm_status status = nm_unjudged_findings_ask(s->db, &rows, err);

    nm_screen_begin(s, NM_SAY_LABEL_UNJUDGED, NM_LINE_PLAIN, NM_RANK_PEAK, "suspect_by_site");
    nm_screen_rows(s, 3);
    while (status == NM_OK && nm_unjudged_findings_next(rows, &row))
        say_unjudged(s, u, &row);
    close_reason(s, u);
    return nm_question_end(rows, status, err);
}

/* At most one line: what would be judged if the iterations were known. */
static nm_status add_suspect(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_findings_row row;
    char count[NM_HUMAN_BYTES];
    nm_status status = nm_findings_ask(s->db, "suspect", false, NM_NULL, 1, &rows, err);

    if (status == NM_OK && nm_findings_next(rows, &row)) {
        const char *json = row.sentence;

        nm_screen_begin(s, NM_SAY_LABEL_SUSPECT, NM_LINE_PLAIN, NM_RANK_NOTE, "suspect_by_site");
        nm_screen_rows(s, 2);
        nm_screen_say_json(s, &row, &json);
        if (row.all_count > 1)
            nm_screen_say(s, NM_SAY_SUSPECT_MORE, NM_WORDS({"n", nm_human_count(count, row.all_count - 1)}));
    }
    return nm_question_end(rows, status, err);
}

/* ---- What is fine ---- */

static nm_status add_fine(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_good_findings_row row;
    nm_status status = nm_good_findings_ask(s->db, &rows, err);
    bool has_failed = s->ranks != NULL && s->ranks->failed_count > 0;
    int count = 0;

    nm_screen_begin(s, NM_SAY_LABEL_FINE, NM_LINE_FINE, NM_RANK_PEAK, "health");
    nm_screen_rows(s, 2);
    while (status == NM_OK && nm_good_findings_next(rows, &row)) {
        if (has_failed && strcmp(row.kind, "out of memory") == 0)
            continue;
        if (count++ > 0)
            nm_screen_say(s, NM_SAY_COMMA, NULL);
        say_plain(s, row.sentence);
    }
    return nm_question_end(rows, status, err);
}

/* The first line, where there is nothing to say against the run. */
static nm_status say_no_fault(nm_screen *s, nm_error *err)
{
    char text[TEXT_BYTES];
    nm_flaws_row flaws;
    nm_status status = nm_flaws_get(s->db, &flaws, err);

    if (status != NM_OK || flaws.flaw_count > 0 || s->fault_count > 0 || s->line_count == 0)
        return status;
    nm_screen_line *head = &s->lines[0];
    size_t len = strlen(head->text);
    snprintf(head->text + len, sizeof head->text - len, "%s",
             nm_sentence_put(NM_SAY_NO_FAULT, s->language, NULL, text, sizeof text));
    return NM_OK;
}

nm_status nm_screen_fine_lines(nm_screen *s, nm_error *err)
{
    unjudged u = {0};
    nm_status status;

    if (s->holder_count == 0)
        return NM_OK;
    status = add_suspect(s, err);
    if (status == NM_OK)
        status = add_fine(s, err);
    if (status == NM_OK)
        status = add_unjudged(s, &u, err);
    return status == NM_OK && u.count == 0 ? say_no_fault(s, err) : status;
}
