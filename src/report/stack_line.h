/* SPDX-License-Identifier: Apache-2.0
 *
 * A call stack in one line, for a cell of a table: its frames as views show them, the innermost first, with ` < ` between
 * (` < ...` behind what is cut off). One line, so that a row of a spreadsheet stays one line high and grep finds a row; what
 * stands between frames is in no name of a function but operator<, and there without blanks on both sides.
 *
 * Each stack is put together once: many rows have few stacks.
 */
#ifndef NM_REPORT_STACK_LINE_H
#define NM_REPORT_STACK_LINE_H

#include <sqlite3.h>

#include "base/buffer.h"
#include "base/map.h"

#define NM_STACK_LINE_BYTES_MAX 8192 /* a cell of a spreadsheet takes 32767 characters */

typedef struct nm_stack_lines { /* zeroed it is empty */
    sqlite3_stmt *frame;        /* owned */
    nm_buffer text;             /* of the stacks seen, each behind its length */
    nm_map places;              /* stack_id -> where in it */
} nm_stack_lines;

/* Of a database that stays open until nm_stack_lines_fini. */
nm_status nm_stack_lines_init(nm_stack_lines *lines, sqlite3 *db, nm_error *err);

/* The line, until the next call. One that is not in the database has none: *len is 0. */
nm_status nm_stack_lines_get(nm_stack_lines *lines, sqlite3_int64 stack_id, const char **text, size_t *len,
                             nm_error *err);
void nm_stack_lines_fini(nm_stack_lines *lines);

#endif
