/* SPDX-License-Identifier: Apache-2.0
 *
 * Thin helpers over SQLite: run, prepare, and fill one row of a table value by value. Failures become NM_ERR_DATABASE
 * with SQLite's own message, unless a disk was full.
 */
#ifndef NM_STORE_DATABASE_H
#define NM_STORE_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/error.h"

#define NM_NULL INT64_MIN /* NULL, in a row of integers: the same as NM_NO_SEQ, NM_NO_TIME and NM_UNKNOWN_NUMBER */

static inline int64_t nm_id_or_null(uint64_t id) /* a reference in such a row; 0: to nothing */
{
    return id == 0 ? NM_NULL : (int64_t)id;
}

/* What SQLite says of its last failure. Borrowed until the next call. */
const char *nm_db_words(sqlite3 *db);

/* Fills *err with SQLite's last message. NM_ERR_WRITE: it could not write its file, which whoever opened it knows by name. */
nm_status nm_db_fail(sqlite3 *db, nm_error *err);

/* For programs of which one thread uses databases: before anything else of SQLite's, which then takes no locks. */
void nm_db_use_one_thread(void);

/* Opens (and creates) a database whose connection may attach others by nm_db_uri. *out is to be closed on failure too. */
nm_status nm_db_open(const char *path, sqlite3 **out, nm_error *err);

/* "file:" and the path in a form that SQLite takes for nothing but that path, then '?' and `query`; with a zero byte. */
nm_status nm_db_uri(const char *path, const char *query, nm_buffer *out, nm_error *err);

nm_status nm_db_exec(sqlite3 *db, const char *sql, nm_error *err);

/* Runs every text that `sql` answers with. */
nm_status nm_db_exec_each(sqlite3 *db, const char *sql, nm_error *err);
nm_status nm_db_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, nm_error *err);

/* The number of columns of a table or view. */
nm_status nm_db_column_count(sqlite3 *db, const char *table, int *count, nm_error *err);

typedef struct nm_columns { /* of a table, as who writes it has them */
    const char *table;
    const char *names; /* in order, a space after each */
} nm_columns;

/* Where a name stands in such a list, from 0 on; false: it is not there. `place` may be NULL. */
bool nm_columns_place(const char *names, const char *name, size_t *place);

/* Compares them with those of the table in `db`; *count is how many they are. A name that is missing, too many or in
 * another place is NM_ERR_DATABASE, and the error names the table and the first column that differs. */
nm_status nm_columns_check(sqlite3 *db, const nm_columns *columns, int *count, nm_error *err);

/* The first column of the first row of `sql`; NM_NULL when there is no row or it is NULL. */
nm_status nm_db_get_int(sqlite3 *db, const char *sql, int64_t *value, nm_error *err);

/* The same as a text, "" for NULL, which sqlite3_free frees; *text is NULL when there is no row. */
nm_status nm_db_get_text(sqlite3 *db, const char *sql, char **text, nm_error *err);

/* A column of the row at hand: is it NULL, and its text, "" for NULL (borrowed until the next step). */
bool nm_db_is_null(sqlite3_stmt *row, int column);
const char *nm_db_text(sqlite3_stmt *row, int column);
const char *nm_db_value_text(sqlite3_value *value); /* the same of what a function is called with */

/*
 * A row on its way into a table: values in the order of the columns.
 *
 *     nm_insert_int(&insert, row->seq);
 *     nm_insert_text(&insert, name);
 *     return nm_insert_end(&insert, err);
 *
 * A value that cannot be bound (no memory) fails nm_insert_end, as does a wrong number of values. Of a table that may get many rows,
 * nm_insert_gather has those behind the first hundreds gathered (insert_rows.h): what SQLite says against one comes later, and they
 * are there after nm_insert_flush.
 */
typedef struct nm_insert {
    sqlite3_stmt *statement; /* owned; NULL before the first use */
    int column_count;
    int at;                      /* values given so far */
    int bind_code;               /* the first SQLite error of a value */
    const char *table;           /* borrowed, if its rows may be gathered */
    int single_count;            /* rows of it that were not, */
    struct nm_insert_rows *rows; /* and those that are; owned; NULL: none yet */
} nm_insert;

/* Without `is_known` the columns are compared with those of the table. */
nm_status nm_insert_open(sqlite3 *db, const nm_columns *columns, bool is_known, nm_insert *out, nm_error *err);
void nm_insert_int(nm_insert *insert, int64_t value);     /* NM_NULL becomes NULL */
void nm_insert_real(nm_insert *insert, double value);     /* NaN becomes NULL */
void nm_insert_text(nm_insert *insert, const char *text); /* NULL becomes NULL; borrowed until _end */
void nm_insert_bytes(nm_insert *insert, nm_bytes text);   /* the same */
nm_status nm_insert_end(nm_insert *insert, nm_error *err);
void nm_insert_gather(nm_insert *insert, const char *table); /* the same, which outlives it */
nm_status nm_insert_flush(nm_insert *insert, nm_error *err); /* also of one that is not open, or gathers none */
void nm_insert_close(nm_insert *insert);

#endif
