/* SPDX-License-Identifier: Apache-2.0
 *
 * Notes on stacks: none were recorded, they hold the caller alone, callers are missing, or lines of Python are. Weighed by what was
 * live at the peaks, since a stack that holds nothing matters to nobody.
 */
#include "screen/notes.h"

#include <string.h>

#include "base/human.h"
#include "base/text.h"
#include "screen/cut_modules.sql.h"
#include "screen/stack_facts.sql.h"

#define MODULE_COLUMNS 40
#define TEXT_BYTES     256

static void begin_note(nm_screen *s)
{
    nm_screen_begin(s, NM_SAY_LABEL_NOTE, NM_LINE_PLAIN, NM_RANK_NOTE, "peak_by_site");
    nm_screen_rows(s, 2);
}

/* ", most in libtorch_npu.so" */
static nm_status say_cut_module(nm_screen *s, int64_t cut_bytes, nm_error *err)
{
    char module[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_cut_modules_row row;
    nm_status status = nm_cut_modules_ask(s->db, &rows, err);

    if (status == NM_OK && nm_cut_modules_next(rows, &row) && row.bytes > cut_bytes / 2)
        nm_screen_say(
            s, NM_SAY_STACKS_CUT_IN,
            NM_WORDS({"library", nm_human_text(module, sizeof module, nm_path_name(row.module), MODULE_COLUMNS)}));
    return nm_question_end(rows, status, err);
}

/* Of what share of the peaks callers are missing, where it matters. */
static nm_status add_cut(nm_screen *s, const nm_stack_facts_row *facts, nm_error *err)
{
    char cut[NM_HUMAN_BYTES], whole[NM_HUMAN_BYTES], unplaced[NM_HUMAN_BYTES], share[NM_HUMAN_BYTES];
    nm_status status;

    if (facts->cut_bytes == 0 ||
        (facts->cut_bytes < facts->live_bytes / 20 && facts->unplaced_bytes < facts->live_bytes / 100))
        return NM_OK;
    begin_note(s);
    nm_screen_say(s, NM_SAY_STACKS_CUT,
                  NM_WORDS({"bytes", nm_human_bytes(cut, facts->cut_bytes)},
                           {"percent", nm_human_percent(share, (double)facts->cut_bytes / (double)facts->live_bytes)},
                           {"all", nm_human_bytes(whole, facts->live_bytes)}));
    status = say_cut_module(s, facts->cut_bytes, err);
    if (facts->unplaced_bytes > 0)
        nm_screen_say(s, NM_SAY_STACKS_NO_SITE, NM_WORDS({"bytes", nm_human_bytes(unplaced, facts->unplaced_bytes)}));
    nm_screen_say(s, NM_SAY_STACKS_REMEDY, NULL);
    return status;
}

nm_status nm_screen_stack_notes(nm_screen *s, nm_error *err)
{
    char part[NM_HUMAN_BYTES], whole[NM_HUMAN_BYTES];
    nm_stack_facts_row facts;
    nm_status status = nm_stack_facts_get(s->db, &facts, err);

    begin_note(s);
    if (facts.stack_count == 0 && facts.site_count > 0)
        nm_screen_say(s, NM_SAY_STACKS_NONE, NULL);
    else if (facts.stack_count > 0 && facts.caller_count == 0)
        nm_screen_say(s, NM_SAY_STACKS_CALLERS, NULL);
    if (status == NM_OK)
        status = add_cut(s, &facts, err);
    if (facts.no_python_bytes > 0) { /* in a program that runs Python */
        begin_note(s);
        nm_screen_say(s, NM_SAY_STACKS_PYTHON,
                      NM_WORDS({"bytes", nm_human_bytes(part, facts.no_python_bytes)},
                               {"all", nm_human_bytes(whole, facts.live_bytes)}));
    }
    return status;
}
