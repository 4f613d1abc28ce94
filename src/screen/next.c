/* SPDX-License-Identifier: Apache-2.0
 *
 * The last line: commands that fit this run, by what the lines before have told. File names stand as they were given, whole, and
 * quoted where a shell would take them for more than a word: a command that is cut or broken cannot be copied.
 */
#include <stdlib.h>
#include <string.h>

#include "base/cells.h"
#include "say/command.h"
#include "screen/groups.h"
#include "screen/next_facts.sql.h"

#define GAP "    "

typedef struct files {
    const char *database, *input;
} files;

/* Adds it to the row of the one before where both fit. */
static void add_text(nm_screen *s, const char *text)
{
    char row[NM_SENTENCE_BYTES * 2];
    nm_screen_line *last = s->line_count == 0 ? NULL : &s->lines[s->line_count - 1];
    bool is_first = last == NULL || !last->is_next;
    size_t len = (size_t)snprintf(row, sizeof row, "%s" GAP "%s", is_first ? "" : last->text, text);

    if (!is_first && len < sizeof row && nm_cells_fit(row, len, NM_SCREEN_CELLS - NM_SCREEN_LABEL_CELLS - 1) == len) {
        free(last->whole);
        last->whole = NULL;
        nm_screen_add(s, GAP);
        nm_screen_add(s, text);
        return;
    }
    nm_screen_begin(s, is_first ? NM_SAY_LABEL_NEXT : NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_HEAD, NULL);
    nm_screen_add(s, text);
    if (s->is_out_of_memory)
        return;
    last = &s->lines[s->line_count - 1];
    last->is_next = true;
    last->whole = strdup(text);
    s->is_out_of_memory = last->whole == NULL;
}

/* As findings have it. */
static void add_command(nm_screen *s, const char *command, const files *f)
{
    char *text = nm_command_make(command, f->database, f->input);

    if (text != NULL)
        add_text(s, text);
    s->is_out_of_memory = s->is_out_of_memory || text == NULL;
    free(text);
}

static void add_sentence(nm_screen *s, nm_sentence code, const files *f)
{
    char text[NM_SENTENCE_BYTES / 2];

    nm_sentence_put(code, s->language, NM_WORDS({"database", NM_COMMAND_DATABASE}, {"input", NM_COMMAND_INPUT}), text,
                    sizeof text);
    add_command(s, text, f);
}

/* f->input is "" when whatif cannot run on it. Who died of it asks first where the memory was. */
static void add_commands(nm_screen *s, const nm_next_facts_row *row, const files *f)
{
    const char *fault = row->fault_command;
    bool has_memory = s->holder_count > 0 || fault[0] != 0;

    if (row->is_fatal)
        add_command(s, fault, f);
    add_sentence(s,
                 has_memory            ? NM_SAY_NEXT_REPORT
                 : row->lost_count > 0 ? NM_SAY_NEXT_COMPLETENESS
                                       : NM_SAY_NEXT_HELP,
                 f);
    if (fault[0] != 0 && !row->is_fatal)
        add_command(s, fault, f);
    if (row->pool_count > 0 && f->input[0] != 0)
        add_sentence(s, NM_SAY_NEXT_WHATIF, f);
    else if (fault[0] == 0)
        add_sentence(s, NM_SAY_NEXT_CATALOG, f);
}

nm_status nm_screen_next_lines(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_next_facts_row row;
    char text[NM_SENTENCE_BYTES];
    nm_status status = nm_next_facts_ask(s->db, &rows, err);

    if (status == NM_OK && nm_next_facts_next(rows, &row))
        add_commands(s, &row, &(files){s->names->database_path, row.input_path});
    status = nm_question_end(rows, status, err);
    if (status != NM_OK || s->names->csv_folder == NULL)
        return status;
    nm_sentence_put(NM_SAY_NEXT_CSV, s->language, NM_WORDS({"folder", s->names->csv_folder}), text, sizeof text);
    add_text(s, text);
    return NM_OK;
}
