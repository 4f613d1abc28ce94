/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of schema/, embedded. Their numbers say when they are applied: below 200 before the rows come, the others
 * after.
 */
#ifndef NM_STORE_SCHEMA_H
#define NM_STORE_SCHEMA_H

#include <sqlite3.h>

#include "base/embedded.h"
#include "base/error.h"

#define NM_SCHEMA_VERSION 8

extern const nm_embedded_text nm_schema_files[]; /* in the order of their numbers */

typedef enum nm_schema_part {
    NM_SCHEMA_TABLES = 1, /* tables and their constant rows: below 200 */
    NM_SCHEMA_VIEWS = 2,  /* indexes and views */
} nm_schema_part;

#define NM_LARGE_TABLES_SQL "'allocation', 'copy', 'workspace', '_stream_call'" /* a row an event, for IN (...) */

nm_status nm_schema_apply(sqlite3 *db, nm_schema_part part, nm_error *err);

#endif
