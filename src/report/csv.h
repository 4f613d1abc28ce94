/* SPDX-License-Identifier: Apache-2.0
 *
 * Views as CSV files (RFC 4180, by libcsv): a header line, NULL as an empty cell, numbers as numbers. A text cell that a
 * spreadsheet would take for a formula gets a leading apostrophe. A view with a stack_id or top_stack_id gets a column more,
 * `stack`: that stack in one line (report/stack_line.h). A view without rows is a file with its header. The files are written
 * into a folder beside their place and moved when all are whole.
 *
 *     nm_csv_open("out", &options, &csv, err);
 *     nm_csv_write_views(csv, db, err);          out.PID.tmp/leak.csv, ...
 *     nm_csv_publish(csv, err);                  out/leak.csv, ...
 *     nm_csv_close(csv);                         without publish: nothing is left
 */
#ifndef NM_REPORT_CSV_H
#define NM_REPORT_CSV_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"

typedef struct nm_csv nm_csv;

typedef struct nm_csv_options {
    bool is_forced;    /* replace files of the same names */
    bool has_all;      /* every public view, but for the two that are many times as large as all others */
    bool has_internal; /* and those whose names begin with z_ */
    bool has_bom;      /* begin each file with a byte order mark, which some spreadsheets need to read UTF-8 */
} nm_csv_options;

/* NM_ERR_EXISTS: the folder holds a file of a view's name and is_forced is not set, or `folder` is no folder. Nothing is
 * made on the disk yet. */
nm_status nm_csv_open(const char *folder, const nm_csv_options *options, nm_csv **out, nm_error *err);

/* The same for files of other names: NAME.csv of each. */
nm_status nm_csv_open_named(const char *folder, const char *const *names, size_t name_count,
                            const nm_csv_options *options, nm_csv **out, nm_error *err);

nm_status nm_csv_write_views(nm_csv *csv, sqlite3 *db, nm_error *err);

/* In place of it, for each of those names: a statement that has not been stepped. */
nm_status nm_csv_write_named(nm_csv *csv, const char *name, sqlite3_stmt *statement, nm_error *err);
nm_status nm_csv_publish(nm_csv *csv, nm_error *err);

/* Then: syncs the folder. On failure the files stand all the same, as the error says. */
nm_status nm_csv_settle(const nm_csv *csv, nm_error *err);
void nm_csv_close(nm_csv *csv); /* NULL is fine */

/* Writes the result of one statement, header line first. The caller owns both. NM_ERR_WRITE when `file` cannot take it. */
nm_status nm_csv_write(sqlite3_stmt *statement, bool has_bom, FILE *file, nm_error *err);

#endif
