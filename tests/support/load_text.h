/* SPDX-License-Identifier: Apache-2.0
 *
 * A database from a text trace (store_text.h), for tests of what is read from it.
 */
#ifndef NM_TESTS_SUPPORT_LOAD_TEXT_H
#define NM_TESTS_SUPPORT_LOAD_TEXT_H

#include <sqlite3.h>

#include "support/store_text.h"

/* Loads `text` into a database at `path`, published, with the given row of table `input`. Ends the test on failure. */
void load_text(const char *text, const nm_input_row *input, const char *path);

/* The same, with these floors of measures. */
void load_text_above(const char *text, const nm_input_row *input, const nm_thresholds *thresholds, const char *path);

/* Floors of 0: figures are judged however small they are. */
extern const nm_thresholds load_no_floors;

/* The database at `path`, opened for reading. */
sqlite3 *load_open(const char *path);

/* The first column of the first row; ends the test when there is none. */
int64_t load_int(sqlite3 *db, const char *sql);

/* All rows of the statement: cells joined by '|', rows by newline, NULL as "-". Owned by the caller. */
char *load_rows(sqlite3 *db, const char *sql);

#endif
