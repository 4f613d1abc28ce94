/* SPDX-License-Identifier: Apache-2.0
 *
 * The last line: commands that fit this run, by what the lines before have told. File names stand as they were given where they are
 * short, else without their folder, and quoted where a shell would take them for more than a word.
 */
#include <string.h>

#include "base/cells.h"
#include "base/human.h"
#include "say/command.h"
#include "screen/groups.h"
#include "screen/next_facts.sql.h"

#define PATH_COLUMNS 56
#define GAP          "    "
#define TEXT_BYTES   256

static const char *short_path(const char *path, char out[TEXT_BYTES])
{
    const char *slash = strrchr(path, '/');

    if (strlen(path) > PATH_COLUMNS && slash != NULL)
        path = slash + 1;
    return nm_human_text(out, TEXT_BYTES, path, PATH_COLUMNS * 2);
}

typedef struct files {
    char database[TEXT_BYTES], input[TEXT_BYTES];
} files;

/* Adds it to the row of the one before where both fit: a command that is cut or broken cannot be copied. */
static void add_text(nm_screen *s, const char *text)
{
    char row[NM_SENTENCE_BYTES * 2];
    const nm_screen_line *last = s->line_count == 0 ? NULL : &s->lines[s->line_count - 1];
    bool is_first = last == NULL || !last->is_next;
    size_t len;

    snprintf(row, sizeof row, "%s" GAP "%s", is_first ? "" : last->text, text);
    len = strlen(row);
    if (!is_first && nm_cells_fit(row, len, NM_SCREEN_CELLS - NM_SCREEN_LABEL_CELLS - 1) == len) {
        nm_screen_add(s, GAP);
        nm_screen_add(s, text);
        return;
    }
    nm_screen_begin(s, is_first ? NM_SAY_LABEL_NEXT : NM_SAY_NOTHING, NM_LINE_PLAIN, NM_RANK_HEAD, NULL);
    if (s->line_count > 0)
        s->lines[s->line_count - 1].is_next = true;
    nm_screen_add(s, text);
}

/* As findings have it. */
static void add_command(nm_screen *s, const char *command, const files *f)
{
    char text[NM_SENTENCE_BYTES / 2];

    nm_command_put(command, f->database, f->input, text, sizeof text);
    add_text(s, text);
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
    char folder[TEXT_BYTES], text[NM_SENTENCE_BYTES / 2];
    sqlite3_stmt *rows = NULL;
    nm_next_facts_row row;
    files f;
    nm_status status = nm_next_facts_ask(s->db, &rows, err);

    if (status == NM_OK && nm_next_facts_next(rows, &row)) {
        short_path(s->names->database_path, f.database);
        short_path(row.input_path, f.input);
        add_commands(s, &row, &f);
    }
    status = nm_question_end(rows, status, err);
    if (status != NM_OK || s->names->csv_folder == NULL)
        return status;
    nm_sentence_put(NM_SAY_NEXT_CSV, s->language, NM_WORDS({"folder", short_path(s->names->csv_folder, folder)}), text,
                    sizeof text);
    add_text(s, text);
    return NM_OK;
}
