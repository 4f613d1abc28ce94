/* SPDX-License-Identifier: Apache-2.0
 *
 * The answers on one screen: at most NM_SCREEN_ROWS_MAX rows of NM_SCREEN_CELLS cells, verdict first, in English or Chinese. This
 * is the frame, which knows lines; each group of lines has a file of its own, screen_*.c, and asks the views.
 *
 *     nm_screen_begin(s, NM_SAY_LABEL_PEAK, NM_LINE_PLAIN, NM_RANK_PEAK, "peak");
 *     nm_screen_say(s, NM_SAY_PEAK_OF, NM_WORDS({"bytes", bytes}, {"total", total}));
 */
#ifndef NM_SCREEN_SCREEN_H
#define NM_SCREEN_SCREEN_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"
#include "base/error.h"
#include "say/names.h"

#define NM_SCREEN_ROWS_MAX      25
#define NM_SCREEN_CELLS         100
#define NM_SCREEN_LABEL_CELLS   8 /* a space follows */
#define NM_SCREEN_PROCESSES_MAX 8 /* with memory; of more a table */

typedef struct nm_screen_names {
    const char *database_path;
    const char *csv_folder; /* NULL: none was written */
} nm_screen_names;

typedef struct nm_screen_options {
    nm_language language;
    bool has_colour;
} nm_screen_options;

/* Writes the screen of a finished database. `names` are borrowed. */
nm_status nm_screen_write(sqlite3 *db, const nm_screen_names *names, const nm_screen_options *options, FILE *out,
                          nm_error *err);

/* The same without colour, behind what stands in *out. `database_path` is borrowed; its folder is not shown. */
nm_status nm_screen_append(sqlite3 *db, const char *database_path, nm_language language, nm_buffer *out, nm_error *err);

/* The same in each language, by nm_language, with a 0 behind it. The buffers are empty; nm_buffer_free them even where it fails. */
nm_status nm_screen_texts(sqlite3 *db, const char *database_path, nm_buffer texts[2], nm_error *err);

/* ---- What the groups of lines use ---- */

typedef enum nm_screen_kind { NM_LINE_PLAIN, NM_LINE_BAD, NM_LINE_WARNING, NM_LINE_FINE, NM_LINE_HEAD } nm_screen_kind;

/* What stays when not all fits: the lowest ranks last; of one rank the first lines. */
typedef enum nm_screen_rank {
    NM_RANK_HEAD,    /* the first line, what is lost, the next command */
    NM_RANK_WORST,   /* the first fault */
    NM_RANK_PEAK,    /* the first peak, and what is fine or cannot be judged */
    NM_RANK_FAULT,   /* further faults */
    NM_RANK_WARNING, /* what is not good */
    NM_RANK_NOTE,    /* what limits the answers */
    NM_RANK_DETAIL,  /* evidence, further peaks, small print */
} nm_screen_rank;

typedef struct nm_screen_line {
    nm_screen_kind kind;
    nm_screen_rank rank;
    bool is_numbered; /* a fault: its number stands before its label */
    bool is_dropped;
    bool is_next;     /* a command: what did not fit is told before the first of them */
    int rows_max;     /* it may be broken into so many */
    const char *view; /* that has it, too; a literal. NULL: none */
    char label[64];
    char text[NM_SENTENCE_BYTES];
    char *whole; /* owned: stands in place of `text`, in one row however long it is; or NULL */
} nm_screen_line;

typedef struct nm_screen {
    sqlite3 *db; /* borrowed */
    const nm_screen_names *names;
    nm_language language;
    bool has_colour;
    bool is_out_of_memory; /* a line is missing: nm_screen_write fails */
    bool is_unreadable;    /* a finding is, and it fails too */
    nm_screen_line *lines; /* owned */
    size_t line_count, line_capacity;
    /* What several groups need to know: filled by the frame before the first of them. */
    int64_t process_count, holder_count, device_holder_count; /* of these with memory; of these with a device's */
    int64_t device_count, step_count; /* step_count: the most that a process has; 0: none are known */
    int64_t fault_count;              /* lines that tell of a fault or of what is not good, so far */
    bool has_ranks;                   /* more than one */
    bool is_listed;                   /* what was there is known, and nothing that happened to it */
    char device_kind[16];             /* "NPU" */
    struct nm_rank_list *ranks;       /* owned; read when the first of their groups asks. NULL: not yet */
} nm_screen;

/* Begins a line; what is said next is its text. One row, unless nm_screen_rows allows more. A line to which nothing is said is not
 * shown. `label` NM_SAY_NOTHING: the line goes on with what the one above says. */
void nm_screen_begin(nm_screen *s, nm_sentence label, nm_screen_kind kind, nm_screen_rank rank, const char *view);
void nm_screen_rows(nm_screen *s, int rows_max);
void nm_screen_number(nm_screen *s); /* the line tells of a fault, which gets a number */
void nm_screen_say(nm_screen *s, nm_sentence code, const nm_word *words);
void nm_screen_add(nm_screen *s, const char *text); /* a name or a figure: the same in all languages */

/* Of a row with these columns (store/question.h). */
#define NM_SCREEN_OWNER(row)                                                                                           \
    (&(nm_say_owner){(row)->has.rank, (row)->has.pid, (row)->has.device, (row)->rank, (row)->pid, (row)->device,       \
                     (row)->device_kind})

/* "NPU 0", "host", and of several processes "rank 3 NPU 0" or "pid 100 NPU 0". */
const char *nm_screen_place(const nm_screen *s, const nm_say_owner *owner, char out[NM_SAY_PLACE_BYTES]);

/* "NPU", of the device's kind in capitals; where it is not known the word for a device. */
const char *nm_screen_device_kind(const nm_screen *s, const char *kind);

/* A site as it is shown, cut behind so many columns: what stands for no site, such as "(no stack)", in the language of the screen. */
const char *nm_screen_site(const nm_screen *s, const char *site, size_t columns, char *out, size_t size);

/* Whether several processes have memory, so that each line says which. */
bool nm_screen_is_shared(const nm_screen *s);

#endif
