/* SPDX-License-Identifier: Apache-2.0
 *
 * How each program declares its options: a table, from which come the reading of a command line, --help, the entries of the
 * man page and the completion of shells. So an option is written once, and each of them knows it.
 *
 *     static const option_row rows[] = {
 *         {.name = "top", .kind = OPTION_COUNT, .argument = "N", .help = "rows to print; 0: all", .fallback = "20",
 *          .max = INT32_MAX, .field = OPTION_FIELD(my_options, top)},
 *         {.name = "csv", .kind = OPTION_FOLDER, .argument = "DIR", .help = "also write CSV files into DIR",
 *          .field = OPTION_FIELD(my_options, csv_folder)},
 *         OPTIONS_HELP_AND_VERSION,
 *     };
 *     static const options_program program = {.name = "npumem-my", ..., OPTIONS_ROWS(rows)};
 *
 * Sizes, shares and times are read as base/quantity.h says.
 *
 * The man page has a place for each row, between the two comments that `--describe man` prints around it; what is said
 * beyond the row's own words stands behind them. `cmake --build build/dev --target update_man` renews the places.
 */
#ifndef NM_TOOL_COMMON_OPTION_TABLE_H
#define NM_TOOL_COMMON_OPTION_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "tool/common/exit_status.h"

#define OPTIONS_ROWS_MAX 64 /* of one program */

typedef enum option_kind {
    OPTION_FLAG,   /* no argument: the field becomes `code`, or 1 where that is 0 */
    OPTION_TEXT,   /* a `const char *`, borrowed from the command line */
    OPTION_FILE,   /* the same: a file's name */
    OPTION_FOLDER, /* the same: a folder's */
    OPTION_CHOICE, /* one of `words`: its place among them */
    OPTION_COUNT,  /* a number, `min` to `max` */
    OPTION_SIZE,   /* 60GiB: bytes, `min` to `max` */
    OPTION_RATIO,  /* 0.15 or 15%: a double, 0 to 1 */
    OPTION_TIME,   /* 10s: nanoseconds, `min` to `max` in seconds; a number without a unit is seconds */
    OPTION_HELP,
    OPTION_VERSION,
    OPTION_DESCRIBE, /* what options_describe writes; hidden */
} option_kind;

/* Where a value goes: into a field of the structure that options_read is given. No bytes: nowhere. */
typedef struct option_field {
    size_t offset, bytes;
} option_field;

#define OPTION_FIELD(type, member)                                                                                     \
    {                                                                                                                  \
        offsetof(type, member), sizeof(((type *)0)->member)                                                            \
    }

struct option_row;

/* Takes the argument (NULL: a flag) into the structure. NM_ERR_USAGE: *err says what it must be. NM_ERR_MEMORY. */
typedef nm_status option_take(const struct option_row *row, const char *argument, void *into, nm_error *err);

typedef struct option_row {
    const char *name; /* --NAME; NULL: it has a letter alone */
    char letter;      /* -L; 0: none */
    option_kind kind;
    const char *argument; /* its placeholder; NULL: a flag */
    const char *help;     /* lower case, without a full stop; what follows from the row is added: default, repeats */
    const char *fallback; /* the argument it has when it is not given; NULL: its field is left as it is */
    const char *const *words; /* of a choice; NULL at the end */
    uint64_t min, max;        /* of a count, a size and a time; a `max` of 0: the largest there is */
    option_field field;
    option_field given;  /* a bool that becomes true when the option is given */
    option_take *take;   /* in place of `field` */
    int code;            /* for `take`, or the value of a flag */
    const char *section; /* of the man page; NULL: OPTIONS. Rows of one stand together */
    bool is_repeatable, is_hidden;
} option_row;

/* A program that runs others by a word of its command line has a table of them too; a NULL name ends it. */
typedef struct option_command {
    const char *name; /* NAME of "PROGRAM NAME ...", which is the program PROGRAM-NAME */
    const char *help; /* as of a row */
} option_command;

typedef struct options_program {
    const char *name;
    const char *usage;                 /* lines of the synopsis, behind "usage: " */
    const char *about;                 /* what it is for: paragraphs */
    const char *ends[EXIT_CODE_COUNT]; /* what each exit status means, as `help` of a row; NULL: it never ends so */
    const char *ending;                /* below them; NULL: nothing */
    const option_row *rows;
    size_t row_count;
    const option_command *commands; /* NULL: none */
    bool takes_command;             /* options end at the first operand: from there on it is another's command line */
    option_take *seen;              /* called for each row that was taken, in their order; or NULL */
} options_program;

#define OPTIONS_ROWS(table) .rows = (table), .row_count = sizeof(table) / sizeof *(table)

/* -o and --force of programs that print an answer; tool/common/answer.h does it. */
#define OPTIONS_OUTPUT(type, path_member, forced_member)                                                               \
    {.name = "output",                                                                                                 \
     .letter = 'o',                                                                                                    \
     .kind = OPTION_FILE,                                                                                              \
     .argument = "FILE",                                                                                               \
     .help = "print into FILE, which is there whole or not at all; - is standard output",                              \
     .field = OPTION_FIELD(type, path_member)},                                                                        \
    {                                                                                                                  \
        .name = "force", .kind = OPTION_FLAG, .help = "replace outputs that exist",                                    \
        .field = OPTION_FIELD(type, forced_member)                                                                     \
    }

/* For who starts the program and shows how far it is; `member` is an nm_progress_form (tool/common/progress.h). */
#define OPTIONS_PROGRESS(type, member)                                                                                 \
    {                                                                                                                  \
        .name = "progress", .kind = OPTION_FLAG, .help = "tell who started this program how far it is",                \
        .field = OPTION_FIELD(type, member), .code = NM_PROGRESS_LINES, .is_hidden = true                              \
    }

/* The last rows of each table. */
#define OPTIONS_HELP_AND_VERSION                                                                                       \
    {.name = "help", .letter = 'h', .kind = OPTION_HELP, .help = "print this help, and end"},                          \
        {.name = "version", .letter = 'V', .kind = OPTION_VERSION, .help = "print the version, and end"},              \
    {                                                                                                                  \
        .name = "describe", .kind = OPTION_DESCRIBE, .argument = "WHAT",                                               \
        .help = "the options, for a man page or a shell", .is_hidden = true                                            \
    }

#endif
