/* SPDX-License-Identifier: Apache-2.0
 *
 * A question is one SQL statement in a file of its own, NAME.sql beside the C that asks it, with a header NAME.sql.h that is made
 * of it (sql_header.c): a struct with a member for each column, and functions that ask it and read its rows. So a column is
 * named where it is read, and its type follows from its name; the text is nm_NAME_sql, built in (cmake/Questions.cmake):
 *
 *     nm_cases_row row;
 *     sqlite3_stmt *rows = NULL;
 *     nm_status status = nm_cases_ask(db, out_of_memory_id, &rows, err);
 *
 *     while (status == NM_OK && nm_cases_next(rows, &row))
 *         status = take(row.site, row.has.tried_bytes ? row.tried_bytes : row.at_least_tried_bytes, err);
 *     return nm_question_end(rows, status, err);
 *
 * nm_NAME_get asks for one row of a statement without texts, nm_NAME_run runs one without rows, or all of several, nm_NAME_bind
 * gives a prepared one other parameters. Lines behind the first comment of the SQL say more: "-- Rows as: FILE.sql" (its rows are read by the
 * functions of that one), "-- With: FILE.part.sql" (tables of a WITH that several statements have), "-- After: FILE.sql" (what
 * it reads is made by that one).
 *
 * This is what those functions share, and how rows are read that have no such file: what is put together from names of tables
 * or columns, and the files of queries/ that npumem diff runs. They are read by the names of their columns (nm_named_integer);
 * a page and a CSV file take all columns as they come (page/columns.c, page/sql.c, report/csv.c).
 */
#ifndef NM_STORE_QUESTION_H
#define NM_STORE_QUESTION_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/error.h"
#include "store/database.h"

typedef enum nm_column_type {
    NM_COLUMN_INTEGER, /* int64_t; 0 for NULL */
    NM_COLUMN_FLAG,    /* bool; false for NULL */
    NM_COLUMN_REAL,    /* double; 0 for NULL */
    NM_COLUMN_TEXT,    /* const char *, borrowed until the next row; "" for NULL */
} nm_column_type;

typedef struct nm_column { /* of a struct for rows, in the order of the columns */
    nm_column_type type;
    uint32_t offset;     /* bytes */
    uint32_t has_offset; /* of a bool: it is not NULL */
} nm_column;

/* Fills `row` with the next row; false: there is none, or it failed, which nm_question_end tells. */
bool nm_question_next(sqlite3_stmt *rows, const nm_column *fields, size_t count, void *row);

/* For a statement whose parameters are bound anew, each by its name with the colon. NM_NULL (store/database.h), NaN and a text
 * that is NULL are NULL; texts are borrowed until they are bound anew or the statement ends. */
void nm_question_again(sqlite3_stmt *rows);
void nm_question_bind_integer(sqlite3_stmt *rows, const char *name, int64_t value);
void nm_question_bind_real(sqlite3_stmt *rows, const char *name, double value);
void nm_question_bind_text(sqlite3_stmt *rows, const char *name, const char *value);
void nm_question_bind_bytes(sqlite3_stmt *rows, const char *name, nm_bytes value); /* a text of its length */

/* Finalizes it (NULL is fine). The status of what was before; where that is NM_OK, how reading its rows went. */
nm_status nm_question_end(sqlite3_stmt *rows, nm_status status, nm_error *err);

/* The same of one that is bound anew later: it is reset, and gives up the database until then. */
nm_status nm_question_pause(sqlite3_stmt *rows, nm_status status, nm_error *err);

/* The same as nm_question_end of one that gives no rows, which it runs if `status` is NM_OK. */
nm_status nm_question_run(sqlite3_stmt *rows, nm_status status, nm_error *err);

/* The same of one that is bound anew later. */
nm_status nm_question_step(sqlite3_stmt *rows, nm_error *err);

/* A value of the row at hand by the name of its column: 0 or "" for NULL. The name is one of its columns. */
bool nm_named_has(sqlite3_stmt *rows, const char *name); /* it is not NULL */
int64_t nm_named_integer(sqlite3_stmt *rows, const char *name);
double nm_named_real(sqlite3_stmt *rows, const char *name);
const char *nm_named_text(sqlite3_stmt *rows, const char *name); /* borrowed until the next row */

/* A member of a row as a parameter of another question: NULL stays NULL. */
#define NM_NUMBER_OF(row, member)                   ((row)->has.member ? (row)->member : NM_NULL)
#define NM_TEXT_OF(row, member)                     ((row)->has.member ? (row)->member : NULL)

/* ---- What a header is made of ------------------------------------------------------------------------------------------ */

/* COLUMNS(INTEGER, FLAG, REAL, TEXT) names each column with what it is, PARAMETERS each parameter. */
#define NM_QUESTION_NONE(INTEGER, FLAG, REAL, TEXT) /* no parameters */
#define NM_QUESTION_INTEGER(name)                   int64_t name;
#define NM_QUESTION_FLAG(name)                      bool name;
#define NM_QUESTION_REAL(name)                      double name;
#define NM_QUESTION_TEXT(name)                      const char *name;
#define NM_QUESTION_IS_INTEGER(name)                {NM_COLUMN_INTEGER, offsetof(row_type, name), offsetof(row_type, has.name)},
#define NM_QUESTION_IS_FLAG(name)                   {NM_COLUMN_FLAG, offsetof(row_type, name), offsetof(row_type, has.name)},
#define NM_QUESTION_IS_REAL(name)                   {NM_COLUMN_REAL, offsetof(row_type, name), offsetof(row_type, has.name)},
#define NM_QUESTION_IS_TEXT(name)                   {NM_COLUMN_TEXT, offsetof(row_type, name), offsetof(row_type, has.name)},
#define NM_QUESTION_TAKE_INTEGER(name)              , int64_t name
#define NM_QUESTION_TAKE_FLAG(name)                 , bool name
#define NM_QUESTION_TAKE_REAL(name)                 , double name
#define NM_QUESTION_TAKE_TEXT(name)                 , const char *name
#define NM_QUESTION_BIND_INTEGER(name)              nm_question_bind_integer(rows, ":" #name, name);
#define NM_QUESTION_BIND_REAL(name)                 nm_question_bind_real(rows, ":" #name, name);
#define NM_QUESTION_BIND_TEXT(name)                 nm_question_bind_text(rows, ":" #name, name);
#define NM_QUESTION_GIVE(name)                      , name
#define NM_QUESTION_TAKEN(PARAMETERS)                                                                                  \
    PARAMETERS(NM_QUESTION_TAKE_INTEGER, NM_QUESTION_TAKE_FLAG, NM_QUESTION_TAKE_REAL, NM_QUESTION_TAKE_TEXT)
#define NM_QUESTION_GIVEN(PARAMETERS) PARAMETERS(NM_QUESTION_GIVE, NM_QUESTION_GIVE, NM_QUESTION_GIVE, NM_QUESTION_GIVE)

/* The struct of a row, and what fills it with the next. */
#define NM_QUESTION_ROW(name, COLUMNS)                                                                                 \
    typedef struct nm_##name##_row {                                                                                   \
        COLUMNS(NM_QUESTION_INTEGER, NM_QUESTION_FLAG, NM_QUESTION_REAL, NM_QUESTION_TEXT)                             \
        struct {                                                                                                       \
            COLUMNS(NM_QUESTION_FLAG, NM_QUESTION_FLAG, NM_QUESTION_FLAG, NM_QUESTION_FLAG)                            \
        } has;                                                                                                         \
    } nm_##name##_row;                                                                                                 \
    static inline bool nm_##name##_next(sqlite3_stmt *rows, nm_##name##_row *row)                                      \
    {                                                                                                                  \
        typedef nm_##name##_row row_type;                                                                              \
        static const nm_column fields[] = {                                                                            \
            COLUMNS(NM_QUESTION_IS_INTEGER, NM_QUESTION_IS_FLAG, NM_QUESTION_IS_REAL, NM_QUESTION_IS_TEXT)};           \
        return nm_question_next(rows, fields, sizeof fields / sizeof fields[0], row);                                  \
    }

/* Binds the parameters, all anew. */
#define NM_QUESTION_BIND(name, PARAMETERS)                                                                             \
    static inline void nm_##name##_bind(sqlite3_stmt *rows NM_QUESTION_TAKEN(PARAMETERS))                              \
    {                                                                                                                  \
        nm_question_again(rows);                                                                                       \
        PARAMETERS(NM_QUESTION_BIND_INTEGER, NM_QUESTION_BIND_INTEGER, NM_QUESTION_BIND_REAL, NM_QUESTION_BIND_TEXT)   \
    }

/* Of a statement with rows: asks it. */
#define NM_QUESTION_ASK(name, PARAMETERS)                                                                              \
    extern const char nm_##name##_sql[];                                                                               \
    NM_QUESTION_BIND(name, PARAMETERS)                                                                                 \
    static inline nm_status nm_##name##_ask(sqlite3 *db NM_QUESTION_TAKEN(PARAMETERS), sqlite3_stmt **rows,            \
                                            nm_error *err)                                                             \
    {                                                                                                                  \
        nm_status status = nm_db_prepare(db, nm_##name##_sql, rows, err);                                              \
        if (status == NM_OK)                                                                                           \
            nm_##name##_bind(*rows NM_QUESTION_GIVEN(PARAMETERS));                                                     \
        return status;                                                                                                 \
    }

/* Of one whose rows have no texts: gets the first row; one of zeros and no `has` where there is none. */
#define NM_QUESTION_GET(name, PARAMETERS)                                                                              \
    static inline nm_status nm_##name##_get(sqlite3 *db NM_QUESTION_TAKEN(PARAMETERS), nm_##name##_row *row,           \
                                            nm_error *err)                                                             \
    {                                                                                                                  \
        sqlite3_stmt *rows = NULL;                                                                                     \
        nm_status status = nm_##name##_ask(db NM_QUESTION_GIVEN(PARAMETERS), &rows, err);                              \
        if (status != NM_OK || !nm_##name##_next(rows, row))                                                           \
            *row = (nm_##name##_row){0};                                                                               \
        return nm_question_end(rows, status, err);                                                                     \
    }

/* All three; without texts, and with them. */
#define NM_QUESTION(name, COLUMNS, PARAMETERS)                                                                         \
    NM_QUESTION_OF_TEXTS(name, COLUMNS, PARAMETERS)                                                                    \
    NM_QUESTION_GET(name, PARAMETERS)
#define NM_QUESTION_OF_TEXTS(name, COLUMNS, PARAMETERS)                                                                \
    NM_QUESTION_ROW(name, COLUMNS)                                                                                     \
    NM_QUESTION_ASK(name, PARAMETERS)

/* Of one without rows: runs it. */
#define NM_QUESTION_RUN(name, PARAMETERS)                                                                              \
    extern const char nm_##name##_sql[];                                                                               \
    NM_QUESTION_BIND(name, PARAMETERS)                                                                                 \
    static inline nm_status nm_##name##_run(sqlite3 *db NM_QUESTION_TAKEN(PARAMETERS), nm_error *err)                  \
    {                                                                                                                  \
        sqlite3_stmt *rows = NULL;                                                                                     \
        nm_status status = nm_db_prepare(db, nm_##name##_sql, &rows, err);                                             \
        if (status == NM_OK)                                                                                           \
            nm_##name##_bind(rows NM_QUESTION_GIVEN(PARAMETERS));                                                      \
        return nm_question_run(rows, status, err);                                                                     \
    }

/* Of several without rows and parameters: runs them. */
#define NM_QUESTION_SCRIPT(name)                                                                                       \
    extern const char nm_##name##_sql[];                                                                               \
    static inline nm_status nm_##name##_run(sqlite3 *db, nm_error *err)                                                \
    {                                                                                                                  \
        return nm_db_exec(db, nm_##name##_sql, err);                                                                   \
    }

#endif
