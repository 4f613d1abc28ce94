/* SPDX-License-Identifier: Apache-2.0
 *
 * Several inputs in one database. Each is loaded into a database of its own, or is one already; its rows are copied behind
 * those that are there, and every number of a row is moved up by the largest that its table had. Which columns hold such
 * numbers stands in the schema (PRIMARY KEY, REFERENCES) and nowhere else, so that a new table needs no code here. Tables
 * from which no references lead to `input` are words for codes, the same everywhere.
 *
 * A recording that is there again is left out (repeats.h).
 *
 * Not moved: places in the order of events and times. Both are those of their own input.
 */
#ifndef NM_STORE_MERGE_H
#define NM_STORE_MERGE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"
#include "store/live_rule.h"
#include "store/repeats.h"
#include "store/retention.h"

#define NM_MERGE_ID_MAX (INT64_C(1) << 48) /* more rows than that are a damaged database */

/*
 * Temporary tables of the connection, from the schema of `main`:
 *     merge_column  owner, place, name, target, is_key: every column in order; target is the table whose rows it numbers,
 *                   or NULL; is_key: those of the owner itself, as its key
 *     merge_table   name, last_id: the tables that are copied, and the largest number of a row in `main` (0: none, or the
 *                   rows have no number of their own)
 */
nm_status nm_merge_plan(sqlite3 *db, nm_error *err);

typedef struct nm_merge_options {
    bool is_own;            /* this program has just written it, so that nothing needs to be checked */
    bool is_vetted;         /* the caller has vetted all of its pages: those rows are checked that are added */
    bool adopts_thresholds; /* its floors (z_threshold) become those of `main`; otherwise they have to be the same */
    nm_retention retention; /* what is added of its large tables: no more than that */
    const nm_live_ids *live_ids;   /* borrowed; with NM_RETENTION_LIVE: see less_detail.h */
    const nm_merge_origin *origin; /* borrowed: which of several it is; NULL: the only one, of which all is taken */
} nm_merge_options;

/* Adds the rows of the database at `path` to `main`, in one transaction. NM_ERR_FORMAT: it is none that can be added. */
nm_status nm_merge_database(sqlite3 *db, const char *path, const nm_merge_options *options, nm_error *err);

#endif
