/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines are gathered first and shown last, so that it is known what there is before it is decided what fits. What is foreign in
 * them is made safe as it is shown, and nowhere before.
 */
#include "screen/screen.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cells.h"
#include "base/human.h"
#include "base/shown.h"
#include "base/text.h"
#include "report/rank_list.h"
#include "screen/groups.h"
#include "screen/screen_facts.sql.h"

#define TEXT_CELLS (NM_SCREEN_CELLS - NM_SCREEN_LABEL_CELLS - 1)
#define VIEWS_MAX  4 /* named of lines that did not fit */

/* ---- Lines ---- */

static nm_screen_line *last_line(nm_screen *s)
{
    return s->line_count == 0 ? NULL : &s->lines[s->line_count - 1];
}

void nm_screen_begin(nm_screen *s, nm_sentence label, nm_screen_kind kind, nm_screen_rank rank, const char *view)
{
    nm_error ignored;
    nm_screen_line *line;

    if (nm_array_grow(&s->lines, &s->line_capacity, s->line_count + 1, sizeof *s->lines, &ignored) != NM_OK) {
        s->is_out_of_memory = true;
        return;
    }
    line = &s->lines[s->line_count++];
    *line = (nm_screen_line){.kind = kind, .rank = rank, .view = view, .rows_max = 1};
    nm_sentence_put(label, s->language, NULL, line->label, sizeof line->label);
}

void nm_screen_rows(nm_screen *s, int rows_max)
{
    if (s->line_count > 0)
        last_line(s)->rows_max = rows_max;
}

void nm_screen_number(nm_screen *s)
{
    if (s->line_count == 0)
        return;
    last_line(s)->is_numbered = true;
    s->fault_count++;
}

void nm_screen_add(nm_screen *s, const char *text)
{
    nm_screen_line *line = last_line(s);
    size_t len, room, text_len = strlen(text);

    if (line == NULL)
        return;
    len = strlen(line->text);
    room = sizeof line->text - len - 1;
    if (text_len > room)
        for (text_len = room; text_len > 0 && ((unsigned char)text[text_len] & 0xc0) == 0x80;)
            text_len--;
    memcpy(line->text + len, text, text_len);
    line->text[len + text_len] = 0;
}

void nm_screen_say(nm_screen *s, nm_sentence code, const nm_word *words)
{
    char text[NM_SENTENCE_BYTES];

    nm_screen_add(s, nm_sentence_put(code, s->language, words, text, sizeof text));
}

/* ---- Words ---- */

bool nm_screen_is_shared(const nm_screen *s)
{
    return s->holder_count > 1;
}

const char *nm_screen_device_kind(const nm_screen *s, const char *kind)
{
    return nm_say_device_kind(s->language, kind);
}

const char *nm_screen_place(const nm_screen *s, const nm_say_owner *owner, char out[NM_SAY_PLACE_BYTES])
{
    return nm_say_place(s->language, nm_screen_is_shared(s), owner, out);
}

const char *nm_screen_site(const nm_screen *s, const char *site, size_t columns, char *out, size_t size)
{
    return nm_say_site(s->language, site, columns, out, size);
}

/* ---- Showing ---- */

/* A figure stands before the space, and its unit behind it: they stay together. */
static bool is_figure(const char *text, size_t at)
{
    return at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9';
}

/* A command stays together, so that it can be copied: no row ends behind its name or before one of its options. */
static bool is_command(const char *text, size_t at)
{
    static const char name[] = "npumem";
    const size_t len = sizeof name - 1;

    return text[at + 1] == '-' || (at >= len && memcmp(text + at - len, name, len) == 0);
}

static bool is_break(const char *text, size_t at)
{
    return text[at] == ' ' && !is_figure(text, at) && !is_command(text, at);
}

/* Chinese has no spaces: a row ends well behind a punctuation mark of full width. */
static bool is_pause(uint32_t character)
{
    return character == 0xff0c || character == 0xff1b || character == 0xff1a || character == 0xff09 ||
           character == 0x3001;
}

/* Where the text, which is longer than `cells`, is broken: behind the last space or pause that fits; where that leaves a third of
 * the row empty, behind a wide character; in the middle of a word only where one fills more than half of the row. */
static size_t break_at(const char *text, size_t len, size_t cells)
{
    size_t fit = nm_cells_fit(text, len, cells), best = 0, wide = 0, at = 0;

    while (at < fit) {
        uint32_t character;
        size_t bytes = nm_shown_next(text + at, len - at, &character);

        at += bytes;
        if (at > fit)
            break;
        if (is_pause(character) || is_break(text, at - bytes))
            best = at;
        if (nm_cells_of(character) == 2)
            wide = at;
    }
    if (fit < len && is_break(text, fit))
        return fit;
    if (best < fit / 3 * 2 && wide > best)
        best = wide;
    return best > fit / 2 ? best : fit;
}

/* The length of the next row of the text: all that is left where it fits. */
static size_t row_bytes(const char *text, size_t len)
{
    return nm_cells_fit(text, len, TEXT_CELLS) == len ? len : break_at(text, len, TEXT_CELLS);
}

static size_t skip_spaces(const char *text, size_t len)
{
    size_t count = 0;

    while (count < len && text[count] == ' ')
        count++;
    return count;
}

static int rows_of(const nm_screen_line *line)
{
    const char *text = line->text;
    size_t len = strlen(text);
    int count = 1;

    for (size_t used; (used = row_bytes(text, len)) < len && count < line->rows_max; count++) {
        used += skip_spaces(text + used, len - used);
        text += used;
        len -= used;
        if (len == 0)
            break;
    }
    return count;
}

static const char *colour_of(const nm_screen *s, nm_screen_kind kind)
{
    static const char *const codes[] = {[NM_LINE_PLAIN] = "",
                                        [NM_LINE_BAD] = "\033[1;31m",
                                        [NM_LINE_WARNING] = "\033[33m",
                                        [NM_LINE_FINE] = "\033[32m",
                                        [NM_LINE_HEAD] = "\033[1m"};

    return s->has_colour ? codes[kind] : "";
}

/* The label, aligned; one that is longer than its column is followed by two spaces. The cells that it takes. */
static size_t write_label(const nm_screen *s, const nm_screen_line *line, const char *label, FILE *out)
{
    char shown[sizeof line->label * 3];
    const char *colour = colour_of(s, line->kind);
    size_t len, cells = 0;

    nm_cells_text(shown, sizeof shown, label, strlen(label), NM_SCREEN_CELLS / 3);
    len = strlen(shown);
    while (nm_cells_fit(shown, len, cells) < len)
        cells++;
    fprintf(out, "%s%s%s", colour, shown, colour[0] == 0 ? "" : "\033[0m");
    if (cells <= NM_SCREEN_LABEL_CELLS) {
        fprintf(out, "%*s", (int)(NM_SCREEN_LABEL_CELLS + 1 - cells), "");
        return NM_SCREEN_LABEL_CELLS + 1;
    }
    fputs("  ", out);
    return cells + 2;
}

static void write_text(const char *text, size_t len, size_t cells, FILE *out)
{
    char shown[NM_SENTENCE_BYTES + 4];

    while (len > 0 && text[len - 1] == ' ')
        len--;
    fprintf(out, "%s\n", nm_cells_text(shown, sizeof shown, text, len, cells));
}

/* Its last row, which may have to be cut: at a word, and marked. */
static void write_last_row(const char *text, size_t len, size_t cells, FILE *out)
{
    char cut[NM_SENTENCE_BYTES + 4];
    size_t used;

    if (nm_cells_fit(text, len, cells) == len) {
        write_text(text, len, cells, out);
        return;
    }
    used = break_at(text, len, cells - 4);
    while (used > 0 && (text[used - 1] == ' ' || text[used - 1] == ','))
        used--;
    memcpy(cut, text, used);
    memcpy(cut + used, " ...", 5);
    write_text(cut, used + 4, cells, out);
}

static void write_line(const nm_screen *s, const nm_screen_line *line, int number, FILE *out)
{
    char label[sizeof line->label + 16];
    const char *text = line->text;
    size_t len = strlen(text), cells;

    if (line->is_numbered)
        snprintf(label, sizeof label, "%d %s", number, line->label);
    else
        snprintf(label, sizeof label, "%s", line->label);
    cells = NM_SCREEN_CELLS - write_label(s, line, label, out);
    if (line->whole != NULL) {
        nm_shown_print(out, "%s\n", line->whole);
        return;
    }
    for (int row = 1; row < line->rows_max && nm_cells_fit(text, len, cells) < len; row++) {
        size_t used = break_at(text, len, cells);

        write_text(text, used, cells, out);
        used += skip_spaces(text + used, len - used);
        text += used;
        len -= used;
        if (len == 0)
            return;
        fprintf(out, "%*s", NM_SCREEN_LABEL_CELLS + 1, "");
        cells = TEXT_CELLS;
    }
    write_last_row(text, len, cells, out);
}

/* ---- What fits ---- */

/* Drops the least important line of all, of those the last one; false: none is left that may be. */
static bool drop_one(nm_screen *s)
{
    nm_screen_line *worst = NULL;

    for (size_t i = 0; i < s->line_count; i++) {
        nm_screen_line *line = &s->lines[i];

        if (!line->is_dropped && line->text[0] != 0 && line->rank > NM_RANK_HEAD &&
            (worst == NULL || line->rank >= worst->rank))
            worst = line;
    }
    if (worst != NULL)
        worst->is_dropped = true;
    return worst != NULL;
}

static int count_rows(const nm_screen *s)
{
    int count = 0;

    for (size_t i = 0; i < s->line_count; i++)
        if (!s->lines[i].is_dropped && s->lines[i].text[0] != 0)
            count += rows_of(&s->lines[i]);
    return count;
}

/* "5 lines did not fit: views peak, health". */
static void write_more(nm_screen *s, FILE *out)
{
    char number[NM_HUMAN_BYTES], views[256] = "";
    const char *named[VIEWS_MAX] = {NULL};
    int view_count = 0;
    int64_t dropped_count = 0;

    for (size_t i = 0; i < s->line_count; i++) {
        const char *view = s->lines[i].is_dropped ? s->lines[i].view : NULL;
        int at = 0;

        dropped_count += s->lines[i].is_dropped;
        while (view != NULL && at < view_count && strcmp(named[at], view) != 0)
            at++;
        if (view == NULL || at < view_count || view_count == VIEWS_MAX)
            continue;
        named[view_count++] = view;
        snprintf(views + strlen(views), sizeof views - strlen(views), "%s%s", view_count == 1 ? "" : ", ", view);
    }
    if (dropped_count == 0)
        return;
    nm_human_count(number, dropped_count);
    nm_screen_line line = {.kind = NM_LINE_PLAIN, .rows_max = 1};
    nm_sentence_put(NM_SAY_LABEL_MORE, s->language, NULL, line.label, sizeof line.label);
    nm_sentence_put(NM_SAY_MORE, s->language, NM_WORDS({"n", number}, {"views", views}), line.text, sizeof line.text);
    write_line(s, &line, 0, out);
}

static void show(nm_screen *s, FILE *out)
{
    int number = 0;
    bool is_told = false, is_all = count_rows(s) <= NM_SCREEN_ROWS_MAX;

    while (!is_all && count_rows(s) > NM_SCREEN_ROWS_MAX - 1 && drop_one(s))
        ;
    for (size_t i = 0; i < s->line_count; i++) {
        const nm_screen_line *line = &s->lines[i];

        if (line->is_dropped || line->text[0] == 0)
            continue;
        number += line->is_numbered;
        if (line->is_next && !is_told) {
            write_more(s, out);
            is_told = true;
        }
        write_line(s, line, number, out);
    }
}

/* ---- All ---- */

static nm_status fill_facts(nm_screen *s, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_screen_facts_row row;
    nm_status status = nm_screen_facts_ask(s->db, &rows, err);

    if (status == NM_OK && nm_screen_facts_next(rows, &row)) {
        s->process_count = row.process_count;
        s->holder_count = row.holder_count;
        s->device_holder_count = row.device_holder_count;
        s->device_count = row.device_count;
        s->step_count = row.step_count;
        s->has_ranks = row.has_ranks;
        s->is_listed = row.is_listed;
        snprintf(s->device_kind, sizeof s->device_kind, "%.12s", nm_screen_device_kind(s, row.device_kind));
    }
    return nm_question_end(rows, status, err);
}

nm_status nm_screen_write(sqlite3 *db, const nm_screen_names *names, const nm_screen_options *options, FILE *out,
                          nm_error *err)
{
    nm_screen s = {.db = db, .names = names, .language = options->language, .has_colour = options->has_colour};
    nm_status status = fill_facts(&s, err);

    for (nm_screen_group *const *group = nm_screen_groups_of(&s); status == NM_OK && *group != NULL; group++)
        status = (*group)(&s, err);
    if (status == NM_OK && s.is_out_of_memory)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK && s.is_unreadable)
        status = nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "what a finding says cannot be read: table finding");
    if (status == NM_OK)
        show(&s, out);
    nm_rank_list_free(s.ranks);
    for (size_t i = 0; i < s.line_count; i++)
        free(s.lines[i].whole);
    free(s.lines);
    return status;
}

nm_status nm_screen_append(sqlite3 *db, const char *database_path, nm_language language, nm_buffer *out, nm_error *err)
{
    const nm_screen_names names = {.database_path = nm_path_name(database_path)};
    const nm_screen_options look = {.language = language};
    char *text = NULL;
    size_t len = 0;
    FILE *file = open_memstream(&text, &len);
    nm_status status;

    if (file == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = nm_screen_write(db, &names, &look, file, err);
    if (fclose(file) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = nm_buffer_append(out, text, len, err);
    free(text);
    return status;
}

nm_status nm_screen_texts(sqlite3 *db, const char *database_path, nm_buffer texts[2], nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < 2 && status == NM_OK; i++) {
        status = nm_screen_append(db, database_path, (nm_language)i, &texts[i], err);
        if (status == NM_OK)
            status = nm_buffer_append(&texts[i], "", 1, err);
    }
    return status;
}
