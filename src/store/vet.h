/* SPDX-License-Identifier: Apache-2.0
 *
 * Is a database that somebody names one that npumem-ingest made, whole and of this version? It comes from anywhere: nothing
 * of it is believed before.
 */
#ifndef NM_STORE_VET_H
#define NM_STORE_VET_H

#include <sqlite3.h>

#include "base/error.h"

#define NM_APPLICATION_ID 0x4e50554d /* NPUM: PRAGMA application_id of every database */

/*
 * Attaches the database at `path` as `schema`, for reading alone: an ATTACH that neither creates nor recovers a file. `db`
 * must have been opened by nm_db_open.
 */
nm_status nm_vet_attach(sqlite3 *db, const char *path, const char *schema, nm_error *err);

/* The attached database is one of this program and of NM_SCHEMA_VERSION, and its pages are sound. NM_ERR_FORMAT. */
nm_status nm_vet_pages(sqlite3 *db, const char *schema, nm_error *err);

/*
 * Its tables are those of `main`, word for word, it has the same words for codes, and every number of a row in it names
 * a row that may be there. Needs the plan of store/merge.h. NM_ERR_FORMAT.
 */
nm_status nm_vet_rows(sqlite3 *db, const char *schema, nm_error *err);

#endif
