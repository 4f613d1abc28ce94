/* SPDX-License-Identifier: Apache-2.0
 *
 * The same recording in several of the databases that are merged: it counts once. input.recording_id says which it is. Of two,
 * the one that knows of more events stays, then the one that has read more of them, is complete, has more detail, is not redacted,
 * is among more inputs in its database, and of equal ones that whose name comes first: so it does not matter in which order they
 * come. What came first and has less goes again, with all of its rows, from a database of many inputs too.
 */
#ifndef NM_STORE_REPEATS_H
#define NM_STORE_REPEATS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct nm_repeat {
    int64_t number;          /* of the database (nm_merge_origin) of which something is left out */
    int64_t kept_number;     /* of the one in which it stays */
    int64_t recording_count; /* so many recordings of it, */
    int64_t of_count;        /* of so many that it holds */
} nm_repeat;

typedef void nm_repeat_say(void *context, const nm_repeat *repeat);

/* One of the databases that are merged. */
typedef struct nm_merge_origin {
    int64_t number;     /* they come in ascending order, from 0 */
    const char *name;   /* borrowed */
    nm_repeat_say *say; /* is told what is left out, once; NULL: nobody */
    void *context;
} nm_merge_origin;

/* Temporary tables of the connection that has `main`, for the functions below. */
nm_status nm_repeats_plan(sqlite3 *db, nm_error *err);

/* Notes the inputs of a database, which `from` has open as `schema`. That may be done for several before the first is merged;
 * a second time it does nothing. */
nm_status nm_repeats_add(sqlite3 *db, const nm_merge_origin *origin, sqlite3 *from, const char *schema, nm_error *err);

/* Of that database and those before it: says what is left out. *is_all: everything of it, so that it is not to be merged. */
nm_status nm_repeats_find(sqlite3 *db, const nm_merge_origin *origin, bool *is_all, nm_error *err);

/* How many inputs stay of what has been copied. */
nm_status nm_repeats_count_kept(sqlite3 *db, int64_t *count, nm_error *err);

/* Before its rows are copied, when merge_table (store/merge.h) has the last numbers. */
nm_status nm_repeats_begin(sqlite3 *db, int64_t number, nm_error *err);

/* Is something of what has been copied left out? Then nm_repeats_remove takes it out of `main`. */
nm_status nm_repeats_are_there(sqlite3 *db, bool *are_there, nm_error *err);
nm_status nm_repeats_remove(sqlite3 *db, nm_error *err);

/* Is the input of a database that has been noted kept, among all that have been? */
nm_status nm_repeats_keep(sqlite3 *db, int64_t number, int64_t input_id, bool *is_kept, nm_error *err);

#endif
