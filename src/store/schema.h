/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of schema/, embedded, and the three ways in which they come to stand in a database. Their numbers say when: below
 * 200 before the rows come, the others after.
 *
 * By its SQL, SQLite takes some 300 million instructions for it. So an empty database is made when the program is built
 * (schema_image.c), and views are put into its list of what there is as they stand here. All ways give the same rows in
 * the same order; where SQLite is not to be helped (--safe-load), or a build could not run what it had built, it is the SQL.
 */
#ifndef NM_STORE_SCHEMA_H
#define NM_STORE_SCHEMA_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/bytes.h"
#include "base/embedded.h"
#include "base/error.h"
#include "schema_lists.h"

#define NM_SCHEMA_VERSION 8
#define NM_SCHEMA_OLDEST  6 /* that is read: store/older.h */

extern const nm_embedded_text nm_schema_files[]; /* in the order of their names */

typedef enum nm_schema_part {
    NM_SCHEMA_TABLES = 1, /* tables and their constant rows */
    NM_SCHEMA_VIEWS = 2,  /* indexes and views */
} nm_schema_part;

/* Tables that may have a row for each event. */
#define NM_LARGE_TABLE(name) "'" #name "', "
#define NM_LARGE_TABLES_SQL  NM_SCHEMA_ROW_AN_EVENT(NM_LARGE_TABLE) "''" /* for IN (...) */

bool nm_schema_is_large(nm_bytes table); /* is it the name of one? */

/* ---- By its SQL --------------------------------------------------------------------------------------------------- */

nm_status nm_schema_apply(sqlite3 *db, nm_schema_part part, nm_error *err);
nm_status nm_schema_apply_table(sqlite3 *db, const char *table, nm_error *err); /* one, with its words */

/* A database without tables becomes an empty one of ours: the form of the file, its tables and words, its facts in meta. */
nm_status nm_schema_create(sqlite3 *db, nm_error *err);
/* The tables, words and version alone, in a database that is attached. */
nm_status nm_schema_create_in(sqlite3 *db, const char *schema, nm_error *err);

/* ---- Faster -------------------------------------------------------------------------------------------------------- */

extern const nm_embedded_text nm_schema_images[]; /* of what nm_schema_create makes, compressed by zstd: one, or none */

/* Writes it into an empty file. *is_written is false where the program was built without it. */
nm_status nm_schema_write_image(int fd, bool *is_written, nm_error *err);

/* Makes the indexes and lists the views, in the order of nm_schema_apply. The connection itself does not know the views before
 * nm_schema_read_views, which costs as much as to open the database anew. */
nm_status nm_schema_add_views(sqlite3 *db, nm_error *err);
nm_status nm_schema_read_views(sqlite3 *db, nm_error *err);

/* ---- What stands in it --------------------------------------------------------------------------------------------- */

typedef enum nm_schema_kind {
    NM_SCHEMA_TABLE = 1,
    NM_SCHEMA_INDEX,
    NM_SCHEMA_VIEW,
    NM_SCHEMA_WORDS, /* rows of a table */
} nm_schema_kind;

typedef struct nm_schema_statement {
    nm_schema_kind kind;
    nm_schema_part part;
    nm_bytes name; /* of what it makes; of words: of their table */
    nm_bytes text; /* without the semicolon: as SQLite keeps it in sqlite_master. Both point into nm_schema_files */
} nm_schema_statement;

typedef struct nm_schema_place { /* zero: before the first statement */
    size_t file;
    const char *at;
} nm_schema_place;

bool nm_schema_next(nm_schema_place *place, nm_schema_statement *out); /* false: there is no other */

#endif
