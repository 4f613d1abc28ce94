/* SPDX-License-Identifier: Apache-2.0
 *
 * --help: the options of a table in two columns, of the terms and of what they do. Lines are broken here, so that no text
 * of a table knows how wide a screen is.
 */
#include "tool/common/options_help.h"

#include <assert.h>
#include <string.h>

#include "base/shown.h"
#include "base/spoken.h"

#define LINE_COLUMNS 100
#define TERM_COLUMNS 27 /* a longer term has a line of its own */
#define TERM_BYTES   128
#define WORDS_BYTES  2048

void options_print_words(const option_row *row, FILE *out)
{
    fputs(nm_spoken(row->help), out);
    if (row->is_repeatable)
        fputs(nm_spoken("; may be given several times"), out);
    if (row->fallback != NULL)
        fprintf(out, nm_spoken(" (default %s)"), row->fallback);
}

/* How long the word is that the text begins with: up to a space or, of Chinese, a character and the marks behind it, which stand
 * at no line's begin. */
static size_t next_word(const char *text, size_t *columns)
{
    size_t length = 0;
    bool is_open = false;

    for (*columns = 0; text[length] != 0 && text[length] != ' ' && text[length] != '\n';) {
        uint32_t character;
        size_t bytes = nm_shown_next(text + length, strlen(text + length), &character);
        bool is_wide = character >= 0x2e80,
             is_mark = (character >= 0x3001 && character <= 0x3011) || character >= 0xff00;

        if (length > 0 && is_wide && !is_mark && !is_open)
            break;
        length += bytes;
        *columns += is_wide ? 2 : 1;
        is_open = character == 0xff08;
        if (is_wide && !is_open && (text[length] & 0x80) == 0)
            break;
    }
    return length;
}

/* Prints the text from `column` on, where the line stands already; further lines are indented as far. */
static void print_wrapped(const char *text, size_t indent, FILE *out)
{
    size_t column = indent;
    bool has_space = false;

    while (*text != 0) {
        size_t columns, length = next_word(text, &columns);

        if (column > indent && column + has_space + columns > LINE_COLUMNS) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        }
        if (column > indent && has_space)
            column += (size_t)fprintf(out, " ");
        fwrite(text, 1, length, out);
        column += columns;
        text += length;
        has_space = *text == ' ' || *text == '\n';
        for (; *text == ' ' || *text == '\n'; text++)
            if (*text == '\n') {
                fprintf(out, "\n%*s", (int)(text[1] == '\n' ? 0 : indent), "");
                column = indent;
            }
    }
    fputc('\n', out);
}

/* "-o, --output FILE"; `has_letters`: long names stand below those that have a letter before. */
static size_t write_term(const option_row *row, bool has_letters, char out[TERM_BYTES])
{
    int length = 0;

    out[0] = 0;
    if (row->letter != 0)
        length = snprintf(out, TERM_BYTES, "-%c%s", row->letter, row->name == NULL ? "" : ", ");
    else if (has_letters)
        length = snprintf(out, TERM_BYTES, "    ");
    length += snprintf(out + length, TERM_BYTES - (size_t)length, "%s%s%s%s", row->name == NULL ? "" : "--",
                       row->name == NULL ? "" : row->name, row->argument == NULL ? "" : " ",
                       row->argument == NULL ? "" : row->argument);
    return (size_t)length;
}

static bool has_letters(const options_program *program)
{
    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].letter != 0 && program->rows[i].name != NULL)
            return true;
    return false;
}

static size_t text_column(const options_program *program)
{
    char term[TERM_BYTES];
    size_t widest = 0;

    for (size_t i = 0; i < program->row_count; i++) {
        size_t length = write_term(&program->rows[i], has_letters(program), term);

        if (length <= TERM_COLUMNS && length > widest && !program->rows[i].is_hidden)
            widest = length;
    }
    return 2 + widest + 2;
}

static void print_row(const option_row *row, bool with_letters, size_t column, FILE *out)
{
    char term[TERM_BYTES], words[WORDS_BYTES] = "";
    FILE *memory = fmemopen(words, sizeof words, "w");
    size_t length = write_term(row, with_letters, term);

    if (memory != NULL) {
        options_print_words(row, memory);
        fclose(memory);
    }
    fprintf(out, "  %s", term);
    if (2 + length + 2 > column) {
        fputc('\n', out);
        length = 0;
        fputs("  ", out);
    }
    fprintf(out, "%*s", (int)(column - 2 - length), "");
    print_wrapped(words, column, out);
}

static void print_commands(const options_program *program, FILE *out)
{
    size_t widest = 0;

    for (const option_command *command = program->commands; command->name != NULL; command++)
        if (strlen(command->name) > widest)
            widest = strlen(command->name);
    fputc('\n', out);
    for (const option_command *command = program->commands; command->name != NULL; command++) {
        fprintf(out, "  %-*s  ", (int)widest, command->name);
        print_wrapped(nm_spoken(command->help), 2 + widest + 2, out);
    }
}

static void print_ends(const options_program *program, FILE *out)
{
    char words[WORDS_BYTES] = "";
    size_t at = 0;

    for (int code = 0; code < EXIT_CODE_COUNT && at + 2 < sizeof words; code++)
        if (program->ends[code] != NULL)
            at += (size_t)snprintf(words + at, sizeof words - at - 1, "%s%d %s",
                                   nm_spoken(at == 0 ? "Exit status: " : "; "), code, nm_spoken(program->ends[code]));
    if (at > 0) {
        fputc('\n', out);
        print_wrapped(strcat(words, nm_spoken(".")), 0, out);
    }
}

static bool is_other_section(const option_row *row, const option_row *before)
{
    const char *section = before == NULL || before->section == NULL ? "" : before->section;

    return before == NULL || strcmp(section, row->section == NULL ? "" : row->section) != 0;
}

static bool takes(const options_program *program, const char *placeholder)
{
    if (program->commands != NULL)
        return true; /* what its commands take */
    for (size_t i = 0; i < program->row_count; i++)
        if (!program->rows[i].is_hidden && program->rows[i].argument != NULL &&
            strstr(program->rows[i].argument, placeholder) != NULL)
            return true;
    return false;
}

void options_say_quantities(const options_program *program, char out[OPTIONS_QUANTITIES_BYTES])
{
    static const struct {
        const char *placeholder, *text;
    } all[] = {
        {"SIZE", "A SIZE is a number with B, K, M, G, T or P; KB and KiB are the same as K: all are powers of 1024. "
                 "A number alone is bytes, and has to be 1M or more."},
        {"RATIO", "A RATIO is a number from 0 to 1, or a percentage: 0.15, 15%."},
        {"TIME", "A TIME is a number with ns, us, ms, s, m, h or d; without one it is seconds, where nothing else is "
                 "said."},
    };
    size_t length = 0;

    out[0] = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (takes(program, all[i].placeholder)) {
            length += (size_t)snprintf(out + length, OPTIONS_QUANTITIES_BYTES - length, "%s%s", length == 0 ? "" : " ",
                                       nm_spoken(all[i].text));
            assert(length < OPTIONS_QUANTITIES_BYTES);
        }
}

static void print_wrapped_quantities(const options_program *program, FILE *out)
{
    char words[OPTIONS_QUANTITIES_BYTES];

    options_say_quantities(program, words);
    if (words[0] != 0) {
        fputc('\n', out);
        print_wrapped(words, 0, out);
    }
}

void options_print_help(const options_program *program, FILE *out)
{
    size_t column = text_column(program);
    const option_row *before = NULL;

    fprintf(out, nm_spoken("usage: %s\n\n"), program->usage);
    print_wrapped(nm_spoken(program->about), 0, out);
    if (program->commands != NULL)
        print_commands(program, out);
    for (size_t i = 0; i < program->row_count; i++) {
        const option_row *row = &program->rows[i];

        if (row->is_hidden)
            continue;
        if (is_other_section(row, before))
            fputc('\n', out);
        print_row(row, has_letters(program), column, out);
        before = row;
    }
    print_wrapped_quantities(program, out);
    print_ends(program, out);
    if (program->ending != NULL) {
        fputc('\n', out);
        print_wrapped(nm_spoken(program->ending), 0, out);
    }
}
