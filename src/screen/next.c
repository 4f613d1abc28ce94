/* SPDX-License-Identifier: Apache-2.0
 *
 * The last line: commands that fit this run, by what the lines before have told. File names stand as they were given where they are
 * short, else without their folder.
 */
#include <string.h>

#include "base/cells.h"
#include "base/human.h"
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

/* Adds it to the row of the one before where both fit: a command that is cut or broken cannot be copied. */
static void add_command(nm_screen *s, nm_sentence code, const nm_word *words)
{
    char text[NM_SENTENCE_BYTES / 2], row[NM_SENTENCE_BYTES * 2];
    const nm_screen_line *last = s->line_count == 0 ? NULL : &s->lines[s->line_count - 1];
    bool is_first = last == NULL || !last->is_next;
    size_t len;

    nm_sentence_put(code, s->language, words, text, sizeof text);
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

/* What shows the worst of it; NM_SAY_NOTHING: there is nothing bad. */
static nm_sentence command_for_fault(const nm_next_facts_row *f)
{
    if (f->fatal_count > 0)
        return NM_SAY_NEXT_FAILURE;
    if (f->leak_count > 0)
        return NM_SAY_NEXT_LEAK;
    return f->misuse_count > 0 ? NM_SAY_NEXT_MISUSE : NM_SAY_NOTHING;
}

/* `input`: "" when whatif cannot run on it. Who died of it asks first where the memory was. */
static void add_commands(nm_screen *s, const nm_next_facts_row *f, const char *database, const char *input)
{
    nm_sentence fault = s->holder_count > 0 ? command_for_fault(f) : NM_SAY_NOTHING;
    nm_sentence first = s->holder_count > 0 ? NM_SAY_NEXT_REPORT
                        : f->lost_count > 0 ? NM_SAY_NEXT_COMPLETENESS
                                            : NM_SAY_NEXT_HELP;

    if (fault == NM_SAY_NEXT_FAILURE)
        add_command(s, fault, NM_WORDS({"database", database}));
    add_command(s, first, NM_WORDS({"database", database}));
    if (fault != NM_SAY_NOTHING && fault != NM_SAY_NEXT_FAILURE)
        add_command(s, fault, NM_WORDS({"database", database}));
    if (f->pool_count > 0 && input[0] != 0)
        add_command(s, NM_SAY_NEXT_WHATIF, NM_WORDS({"input", input}));
    else if (fault == NM_SAY_NOTHING)
        add_command(s, NM_SAY_NEXT_CATALOG, NM_WORDS({"database", database}));
}

nm_status nm_screen_next_lines(nm_screen *s, nm_error *err)
{
    char database[TEXT_BYTES], input[TEXT_BYTES], folder[TEXT_BYTES];
    sqlite3_stmt *rows = NULL;
    nm_next_facts_row row;
    nm_status status = nm_next_facts_ask(s->db, &rows, err);

    if (status == NM_OK && nm_next_facts_next(rows, &row))
        add_commands(s, &row, short_path(s->names->database_path, database), short_path(row.input_path, input));
    status = nm_question_end(rows, status, err);
    if (status != NM_OK)
        return status;
    if (s->names->csv_folder != NULL)
        add_command(s, NM_SAY_NEXT_CSV, NM_WORDS({"folder", short_path(s->names->csv_folder, folder)}));
    return NM_OK;
}
