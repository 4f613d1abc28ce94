/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures out of a database, for tests: a statement that fails, or has no row, fails the test.
 */
#ifndef NM_TESTS_ASK_H
#define NM_TESTS_ASK_H

#include <sqlite3.h>

/* The first figure of the answer. */
long long ask(sqlite3 *db, const char *sql);

/* The same; ?1 in the statement is `text`. */
long long ask_text(sqlite3 *db, const char *sql, const char *text);

/* The database of that name in the folder, for reading. */
sqlite3 *ask_open(const char *folder, const char *name);

#endif
