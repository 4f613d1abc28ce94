/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures of --selfcheck: what the recorded program says of itself, what the views say of it, and whether that is the
 * same. The views are read as CSV files, since npumem-record has no SQLite in it.
 */
#ifndef NM_TOOL_SELFCHECK_FIGURES_H
#define NM_TOOL_SELFCHECK_FIGURES_H

#include "tool/selfcheck/run.h"

#define SELFCHECK_UNKNOWN    UINT64_MAX
#define SELFCHECK_TEXT_BYTES 256

/* Keys of the program's lines `npumem-selfcheck KEY VALUE`; beside them `version TEXT`, `library PATH`, `why TEXT`. */
typedef enum selfcheck_key {
    SELFCHECK_ALLOCATED,    /* allocated_peak_bytes: most that its pool had handed out at once */
    SELFCHECK_RESERVED,     /* reserved_peak_bytes: most that its pool held of the device */
    SELFCHECK_COUNT,        /* allocation_count: blocks that its pool handed out */
    SELFCHECK_DEVICE_BEGIN, /* device_begin_free_bytes: by aclrtGetMemInfo, before the pool holds anything */
    SELFCHECK_DEVICE_PEAK,  /* device_peak_free_bytes: the same while it holds most */
    SELFCHECK_LOOP_NS,      /* loop_ns: what its loop took */
    SELFCHECK_STEPS,        /* step_count: of the loop */
    SELFCHECK_KEYS,
} selfcheck_key;

typedef struct selfcheck_said {
    uint64_t values[SELFCHECK_KEYS]; /* or SELFCHECK_UNKNOWN */
    char why[SELFCHECK_TEXT_BYTES];  /* what is missing; empty: nothing */
} selfcheck_said;

void selfcheck_listen(const char *output, selfcheck_said *said);

/* The rest of the next line `npumem-selfcheck KEY ...` from *at on, without its newline, into `text`; false at the end. */
bool selfcheck_next(const char **at, const char *key, char text[SELFCHECK_TEXT_BYTES]);

/* ---- Views --------------------------------------------------------------------------------------------------------- */

typedef struct selfcheck_table {
    nm_buffer text; /* owned; the cells are in it */
    char **cells;   /* owned; row 0 has the names of the columns */
    size_t row_count, column_count;
} selfcheck_table;

/* The CSV file of a view, from the folder `csv`. One that is not there, or is none, has no rows. */
void selfcheck_table_read(const selfcheck_place *place, const char *view, selfcheck_table *table);
void selfcheck_table_free(selfcheck_table *table);

/* A cell of row 1 to row_count - 1; "" for NULL and for a column that is not there. */
const char *selfcheck_cell(const selfcheck_table *table, size_t row, const char *column);
uint64_t selfcheck_number(const selfcheck_table *table, size_t row, const char *column); /* or SELFCHECK_UNKNOWN */

/* ---- Comparing ----------------------------------------------------------------------------------------------------- */

typedef struct selfcheck_line {
    const char *what;
    const char *said_by;
    uint64_t said, seen;    /* or SELFCHECK_UNKNOWN */
    uint64_t allowed_bytes; /* difference that is none: pages are rounded, and a device may be shared */
} selfcheck_line;

#define SELFCHECK_LINES 4

typedef struct selfcheck_comparison {
    selfcheck_line lines[SELFCHECK_LINES];
    char pool[SELFCHECK_TEXT_BYTES]; /* the heap that is compared; empty: the recorder saw none */
} selfcheck_comparison;

/* From the folder's CSV files. `is_torch` says whose words they are. */
void selfcheck_compare(const selfcheck_place *place, const selfcheck_said *said, bool is_torch,
                       selfcheck_comparison *out);

bool selfcheck_agrees(const selfcheck_line *line); /* also where the program does not say */

/* 1234567 -> "1,234,567"; unknown -> "-". */
void selfcheck_digits(uint64_t number, char text[32]);

#endif
