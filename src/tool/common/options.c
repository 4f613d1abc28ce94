/* SPDX-License-Identifier: Apache-2.0
 *
 * A command line, read by the table of its program. getopt_long finds the words; what they mean is the table's. Its own
 * messages are off, so that every program says what is wrong in one line and in the same way, and what was meant instead.
 */
#include "tool/common/options.h"

#include <assert.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/spoken.h"
#include "tool/common/nearest.h"
#include "tool/common/options_describe.h"
#include "tool/common/options_help.h"

#define LONG_FIRST    256 /* value of the first row's long name, as getopt gives it; a letter is its own */
#define NAME_MAX_READ 31  /* of a name in what is said */
#define SHOWN_BYTES   120
#define SIZE_BYTES    32
#define SECOND_NS     UINT64_C(1000000000)

/* ---- What is wrong ------------------------------------------------------------------------------------------------- */

static options_outcome refuse_list(const options_program *program, const char *format, va_list values)
{
    fprintf(stderr, "%s: ", program->name);
    vfprintf(stderr, nm_spoken(format), values);
    fputs(nm_spoken(" (--help says more)\n"), stderr);
    return OPTIONS_WRONG;
}

options_outcome options_refuse(const options_program *program, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    refuse_list(program, format, values);
    va_end(values);
    return OPTIONS_WRONG;
}

/* The option that is written nearly so; NULL: none. */
static const char *find_nearest(const options_program *program, const char *word, size_t length)
{
    nearest search = nearest_begin(word, length);

    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].name != NULL && !program->rows[i].is_hidden)
            nearest_offer(&search, program->rows[i].name);
    return search.found;
}

/* "--stacks, --stack-depth or --start-paused", of the rows that begin with the word; how many there are. */
static size_t write_meant(const options_program *program, const char *word, size_t length, char *out, size_t out_bytes)
{
    const option_row *rows[OPTIONS_ROWS_MAX];
    size_t count = 0, at = 0;

    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].name != NULL && !program->rows[i].is_hidden &&
            strncmp(program->rows[i].name, word, length) == 0)
            rows[count++] = &program->rows[i];
    out[0] = 0;
    for (size_t i = 0; i < count && at < out_bytes; i++)
        at += (size_t)snprintf(out + at, out_bytes - at, "%s--%s",
                               i == 0           ? ""
                               : i + 1 == count ? nm_spoken(" or ")
                                                : nm_spoken(", "),
                               rows[i]->name);
    return count;
}

/* A word that getopt does not know, as it stands on the command line. */
static options_outcome refuse_unknown(const options_program *program, const char *word)
{
    char shown[SHOWN_BYTES], meant[1024];
    const char *name = word + strspn(word, "-");
    size_t length = strcspn(name, "=");

    nm_shown_text(shown, sizeof shown, word);
    if (length > 0 && write_meant(program, name, length, meant, sizeof meant) > 0)
        return options_refuse(program, "%s: may be %s", shown, meant);
    const char *best = find_nearest(program, name, length);
    return best == NULL ? options_refuse(program, "%s: no such option", shown)
                        : options_refuse(program, "%s: no such option; did you mean --%s?", shown, best);
}

/* "--csvnm_spoken(" or ")-o" */
static const char *write_name(const option_row *row, char out[NAME_MAX_READ + 3])
{
    if (row->name != NULL)
        snprintf(out, NAME_MAX_READ + 3, "--%s", row->name);
    else
        snprintf(out, NAME_MAX_READ + 3, "-%c", row->letter);
    return out;
}

static options_outcome refuse_value(const options_program *program, const option_row *row, const char *argument,
                                    const nm_error *err)
{
    char shown[SHOWN_BYTES], name[NAME_MAX_READ + 3];

    write_name(row, name);
    if (err->status == NM_ERR_MEMORY) {
        fprintf(stderr, "%s: %s\n", program->name, nm_spoken("out of memory"));
        return OPTIONS_NO_MEMORY;
    }
    if (argument == NULL)
        return options_refuse(program, "%s: %s", name, err->text);
    nm_shown_text(shown, sizeof shown, argument);
    return options_refuse(program, "%s %s: %s", name, shown[0] == 0 ? "''" : shown, err->text);
}

/* ---- Values -------------------------------------------------------------------------------------------------------- */

static void store(option_field field, const void *value, void *into)
{
    memcpy((char *)into + field.offset, value, field.bytes);
}

/* A number, in the width of its field. */
static void store_number(option_field field, uint64_t number, void *into)
{
    uint8_t one = (uint8_t)number;
    uint32_t four = (uint32_t)number;

    assert(field.bytes == 0 || field.bytes == sizeof one || field.bytes == sizeof four || field.bytes == sizeof number);
    store(field,
          field.bytes == sizeof one    ? (const void *)&one
          : field.bytes == sizeof four ? (const void *)&four
                                       : (const void *)&number,
          into);
}

static nm_status read_choice(const option_row *row, const char *argument, uint64_t *number, nm_error *err)
{
    char words[NM_ERROR_TEXT_BYTES] = "";
    size_t at = 0;

    for (*number = 0; row->words[*number] != NULL; (*number)++)
        if (strcmp(argument, row->words[*number]) == 0)
            return NM_OK;
    for (size_t i = 0; i < *number && at < sizeof words; i++)
        at += (size_t)snprintf(words + at, sizeof words - at, "%s%s",
                               i == 0             ? ""
                               : i + 1 == *number ? nm_spoken(" or ")
                                                  : nm_spoken(", "),
                               row->words[i]);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be %s", words);
}

static nm_status read_count(const option_row *row, const char *argument, uint64_t *number, nm_error *err)
{
    if (nm_number_read(argument, row->max == 0 ? INT64_MAX : row->max, number) && *number >= row->min)
        return NM_OK;
    if (row->max == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be a number");
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be a number, %llu to %llu", (unsigned long long)row->min,
                   (unsigned long long)row->max);
}

/* "64KiB": as short as it is exact. */
static void write_size(char out[SIZE_BYTES], uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    size_t unit = 0;

    for (; bytes > 0 && bytes % 1024 == 0 && unit + 1 < sizeof units / sizeof *units; bytes /= 1024)
        unit++;
    snprintf(out, SIZE_BYTES, "%llu%s", (unsigned long long)bytes, units[unit]);
}

static nm_status read_size(const option_row *row, const char *argument, uint64_t *bytes, nm_error *err)
{
    char min[SIZE_BYTES], max[SIZE_BYTES];
    nm_status status = nm_quantity_size(argument, bytes, err);

    if (status != NM_OK || (*bytes >= row->min && (row->max == 0 || *bytes <= row->max)))
        return status;
    write_size(min, row->min);
    write_size(max, row->max == 0 ? NM_QUANTITY_BYTES_MAX : row->max);
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be a size, %s to %s", min, max);
}

static nm_status read_time(const option_row *row, const char *argument, uint64_t *ns, nm_error *err)
{
    uint64_t max = row->max == 0 ? NM_QUANTITY_NS_MAX / SECOND_NS : row->max;
    nm_status status = nm_quantity_time(argument, SECOND_NS, ns, err);

    if (status != NM_OK || (*ns >= row->min * SECOND_NS && *ns <= max * SECOND_NS))
        return status;
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be a time, %llus to %llus", (unsigned long long)row->min,
                   (unsigned long long)max);
}

static nm_status read_number(const option_row *row, const char *argument, uint64_t *number, nm_error *err)
{
    switch (row->kind) {
    case OPTION_CHOICE:
        return read_choice(row, argument, number, err);
    case OPTION_COUNT:
        return read_count(row, argument, number, err);
    case OPTION_TIME:
        return read_time(row, argument, number, err);
    case OPTION_SIZE:
        return read_size(row, argument, number, err);
    default:
        *number = row->code == 0 ? 1 : (uint64_t)row->code;
        return NM_OK;
    }
}

static nm_status take_value(const option_row *row, const char *argument, void *into, nm_error *err)
{
    uint64_t number = 0;
    double ratio = 0;
    nm_status status = NM_OK;

    if (row->take != NULL)
        return row->take(row, argument, into, err);
    if (row->kind == OPTION_TEXT || row->kind == OPTION_FILE || row->kind == OPTION_FOLDER) {
        assert(row->field.bytes == sizeof argument);
        store(row->field, &argument, into);
        return NM_OK;
    }
    if (row->kind == OPTION_RATIO) {
        assert(row->field.bytes == sizeof ratio);
        status = nm_quantity_ratio(argument, 1, &ratio, err);
        if (status == NM_OK)
            store(row->field, &ratio, into);
        return status;
    }
    status = read_number(row, argument, &number, err);
    if (status == NM_OK)
        store_number(row->field, number, into);
    return status;
}

/* ---- A command line ------------------------------------------------------------------------------------------------ */

typedef struct words {
    struct option names[OPTIONS_ROWS_MAX + 1];
    char letters[2 * OPTIONS_ROWS_MAX + 3];
} words;

/* The table as getopt wants it: a ':' in front so that it tells a missing argument from an unknown word. */
static void write_words(const options_program *program, words *out)
{
    struct option *name = out->names;
    char *letter = out->letters;

    assert(program->row_count <= OPTIONS_ROWS_MAX);
    if (program->takes_command)
        *letter++ = '+';
    *letter++ = ':';
    for (size_t i = 0; i < program->row_count; i++) {
        const option_row *row = &program->rows[i];

        if (row->name != NULL)
            *name++ = (struct option){row->name, row->argument == NULL ? no_argument : required_argument, NULL,
                                      LONG_FIRST + (int)i};
        if (row->letter != 0) {
            *letter++ = row->letter;
            if (row->argument != NULL)
                *letter++ = ':';
        }
    }
    *name = (struct option){0};
    *letter = 0;
}

static const option_row *find_row(const options_program *program, int value)
{
    if (value >= LONG_FIRST)
        return &program->rows[value - LONG_FIRST];
    for (size_t i = 0; i < program->row_count; i++)
        if (program->rows[i].letter == value && value != 0)
            return &program->rows[i];
    return NULL;
}

/* getopt has found no option: '?', or ':' where an argument is missing. */
static options_outcome refuse_word(const options_program *program, int found, char **argv)
{
    const option_row *row = find_row(program, optopt);
    char name[NAME_MAX_READ + 3];

    if (row == NULL && optopt != 0) {
        snprintf(name, sizeof name, "-%c", optopt);
        return refuse_unknown(program, name);
    }
    if (row == NULL)
        return refuse_unknown(program, argv[optind - 1]);
    write_name(row, name);
    return found == ':' ? options_refuse(program, "%s: needs %s", name, row->argument)
                        : options_refuse(program, "%s: takes no argument", name);
}

/* Help goes out as it is asked for, whatever stands behind it. */
static options_outcome print_asked(const options_program *program, const option_row *row, const char *argument)
{
    nm_error err = {0};

    if (row->kind == OPTION_HELP)
        options_print_help(program, stdout);
    else if (row->kind == OPTION_VERSION)
        printf("%s %s\n", program->name, NPUMEM_PROJECT_VERSION);
    else if (!options_describe(program, argument, stdout)) {
        nm_fail(&err, NM_ERR_USAGE, NM_NO_OFFSET, "must be man, bash, zsh or fish");
        return refuse_value(program, row, argument, &err);
    }
    return OPTIONS_DONE;
}

static options_outcome take_row(const options_program *program, const option_row *row, const char *argument, void *into)
{
    static const uint64_t is_given = true;
    nm_error err = {0};

    if (row->kind >= OPTION_HELP)
        return print_asked(program, row, argument);
    nm_status status = take_value(row, argument, into, &err);
    if (status == NM_OK && program->seen != NULL)
        status = program->seen(row, argument, into, &err);
    if (status == NM_OK && row->given.bytes > 0)
        store_number(row->given, is_given, into);
    return status == NM_OK ? OPTIONS_READ : refuse_value(program, row, argument, &err);
}

static void take_fallbacks(const options_program *program, void *into)
{
    for (size_t i = 0; i < program->row_count; i++) {
        const option_row *row = &program->rows[i];

        if (row->fallback != NULL) {
            nm_status status = take_value(row, row->fallback, into, NULL);

            assert(status == NM_OK);
            (void)status;
        }
    }
}

options_outcome options_read(const options_program *program, int argc, char **argv, void *into, char ***operands)
{
    options_outcome outcome = OPTIONS_READ;
    words known;
    int found;

    nm_spoken_in(nm_language_of_environment());
    write_words(program, &known);
    take_fallbacks(program, into);
    optind = 0; /* from the beginning, for a program that reads a second line */
    opterr = 0;
    while (outcome == OPTIONS_READ && (found = getopt_long(argc, argv, known.letters, known.names, NULL)) != -1)
        outcome = found == '?' || found == ':' ? refuse_word(program, found, argv)
                                               : take_row(program, find_row(program, found), optarg, into);
    *operands = argv + optind;
    return outcome;
}

int options_end(options_outcome outcome, exit_code no_memory)
{
    return outcome == OPTIONS_WRONG ? EXIT_USAGE : outcome == OPTIONS_NO_MEMORY ? no_memory : EXIT_DONE;
}
