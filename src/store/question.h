/* SPDX-License-Identifier: Apache-2.0
 *
 * A question is one SQL statement in a file of its own, NAME.sql beside the C that asks it, with a header NAME.sql.h that is made
 * of it (sql_header.c): its text, a struct with a member for each column, and functions that ask it and read its rows. So a
 * column is named where it is read, and its type follows from its name:
 *
 *     nm_cases_row row;
 *     sqlite3_stmt *rows = NULL;
 *     nm_status status = nm_cases_ask(db, out_of_memory_id, &rows, err);
 *
 *     while (status == NM_OK && nm_cases_next(rows, &row))
 *         status = take(row.site, row.has.tried_bytes ? row.tried_bytes : row.at_least_tried_bytes, err);
 *     return nm_question_end(rows, status, err);
 *
 * This is what those functions share.
 */
#ifndef NM_STORE_QUESTION_H
#define NM_STORE_QUESTION_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef enum nm_field_type {
    NM_FIELD_INTEGER, /* int64_t; 0 for NULL */
    NM_FIELD_FLAG,    /* bool; false for NULL */
    NM_FIELD_REAL,    /* double; 0 for NULL */
    NM_FIELD_TEXT,    /* const char *, borrowed until the next row; "" for NULL */
} nm_field_type;

typedef struct nm_field { /* of a struct for rows, in the order of the columns */
    nm_field_type type;
    uint32_t offset;     /* bytes */
    uint32_t has_offset; /* of a bool: it is not NULL */
} nm_field;

nm_status nm_question_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out, nm_error *err);

/* Fills `row` with the next row; false: there is none, or it failed, which nm_question_end tells. */
bool nm_question_next(sqlite3_stmt *rows, const nm_field *fields, size_t count, void *row);

/* For a statement whose parameters are bound anew, each by its name with the colon. NM_NULL (store/database.h), NaN and a text
 * that is NULL are NULL; texts are borrowed until they are bound anew or the statement ends. */
void nm_question_again(sqlite3_stmt *rows);
void nm_question_bind_integer(sqlite3_stmt *rows, const char *name, int64_t value);
void nm_question_bind_real(sqlite3_stmt *rows, const char *name, double value);
void nm_question_bind_text(sqlite3_stmt *rows, const char *name, const char *value);

/* Finalizes it (NULL is fine). The status of what was before; where that is NM_OK, how reading its rows went. */
nm_status nm_question_end(sqlite3_stmt *rows, nm_status status, nm_error *err);

/* The same of one that gives no rows, which it runs if `status` is NM_OK. */
nm_status nm_question_run(sqlite3_stmt *rows, nm_status status, nm_error *err);

/* ---- What a header is made of ------------------------------------------------------------------------------------------ */

/* COLUMNS(INTEGER, FLAG, REAL, TEXT) names each column with what it is. */
#define NM_QUESTION_INTEGER(name)    int64_t name;
#define NM_QUESTION_FLAG(name)       bool name;
#define NM_QUESTION_REAL(name)       double name;
#define NM_QUESTION_TEXT(name)       const char *name;
#define NM_QUESTION_IS_INTEGER(name) {NM_FIELD_INTEGER, offsetof(row_type, name), offsetof(row_type, has.name)},
#define NM_QUESTION_IS_FLAG(name)    {NM_FIELD_FLAG, offsetof(row_type, name), offsetof(row_type, has.name)},
#define NM_QUESTION_IS_REAL(name)    {NM_FIELD_REAL, offsetof(row_type, name), offsetof(row_type, has.name)},
#define NM_QUESTION_IS_TEXT(name)    {NM_FIELD_TEXT, offsetof(row_type, name), offsetof(row_type, has.name)},

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
        static const nm_field fields[] = {                                                                             \
            COLUMNS(NM_QUESTION_IS_INTEGER, NM_QUESTION_IS_FLAG, NM_QUESTION_IS_REAL, NM_QUESTION_IS_TEXT)};           \
        return nm_question_next(rows, fields, sizeof fields / sizeof fields[0], row);                                  \
    }

/* Of a statement without parameters: with rows, and without. */
#define NM_QUESTION_ASK(name, sql)                                                                                     \
    static inline nm_status nm_##name##_ask(sqlite3 *db, sqlite3_stmt **rows, nm_error *err)                           \
    {                                                                                                                  \
        return nm_question_prepare(db, sql, rows, err);                                                                \
    }
#define NM_QUESTION_RUN(name, sql)                                                                                     \
    static inline nm_status nm_##name##_run(sqlite3 *db, nm_error *err)                                                \
    {                                                                                                                  \
        sqlite3_stmt *rows = NULL;                                                                                     \
        nm_status status = nm_question_prepare(db, sql, &rows, err);                                                   \
        return nm_question_run(rows, status, err);                                                                     \
    }

#endif
