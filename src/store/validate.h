/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a database that somebody names one that npumem-ingest made, whole and of this version? It comes from anywhere: nothing
 * of it is believed before. In this order: version, tables, pages, rows. What else the file holds (views, triggers, tables,
 * indexes of a user) is never looked at.
 */
#ifndef NM_STORE_VALIDATE_H
#define NM_STORE_VALIDATE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

#define NM_APPLICATION_ID 0x4e50554d /* NPUM: PRAGMA application_id of every database */

/*
 * Attaches the database at `path` as `schema`, for reading alone: an ATTACH that neither creates nor recovers a file. `db`
 * must have been opened by nm_db_open.
 */
nm_status nm_validate_attach(sqlite3 *db, const char *path, const char *schema, nm_error *err);

/*
 * Begins to read: until *out is finalized, what was looked at stays as it is, whoever writes to the file. A file that cannot
 * be read is told by the next question.
 */
nm_status nm_validate_hold(sqlite3 *db, const char *schema, sqlite3_stmt **out, nm_error *err);

/*
 * Is the database of this schema version? NM_ERR_FORMAT: not one of npumem-ingest. NM_ERR_VERSION: of another version; the
 * error names the file to ingest again. Reads nothing of the file but columns that are stored in it.
 */
nm_status nm_validate_version(sqlite3 *db, const char *schema, nm_error *err);

/*
 * Its tables are those of this program, word for word. Then what has a name of ours is a table of ours, without a column or a
 * rule that is not. NM_ERR_FORMAT.
 */
nm_status nm_validate_tables(sqlite3 *db, const char *schema, nm_error *err);

/* The pages of our tables are sound; without `has_large` those of tables with a row an event are left out. Reads all of them.
 * NM_ERR_FORMAT. */
nm_status nm_validate_pages(sqlite3 *db, const char *schema, bool has_large, nm_error *err);

/*
 * It has the same words for codes as `main`, and every number of a row in it names a row that may be there. Needs the plan of
 * store/merge.h. NM_ERR_FORMAT.
 */
nm_status nm_validate_rows(sqlite3 *db, const char *schema, nm_error *err);

/* The first half of that. */
nm_status nm_validate_words(sqlite3 *db, const char *schema, nm_error *err);

#endif
