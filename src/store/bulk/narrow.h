/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that a table keeps in fewer bytes than they come in, and that a view of their name shows as they came
 * (schema/allocation.sql says how). What differs is said in narrow.c; all else has the same name in both.
 *
 *     if (nm_narrow_is(&columns))
 *         status = nm_narrow_new(db, &columns, &narrow, err);      the table is there, and empty
 *     nm_narrow_row(narrow, values, err); ...
 *     nm_narrow_finish(narrow, err);                               what its rows name is there, too
 */
#ifndef NM_STORE_BULK_NARROW_H
#define NM_STORE_BULK_NARROW_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "store/database.h"

typedef struct nm_narrow nm_narrow;

bool nm_narrow_is(const nm_columns *columns); /* are rows of these columns kept in a table of another name? */

/* `db` is borrowed. That the table has these columns is for who opens it to check (nm_columns_check). */
nm_status nm_narrow_new(sqlite3 *db, const nm_columns *columns, nm_narrow **out, nm_error *err);

const nm_columns *nm_narrow_kept(const nm_narrow *narrow); /* the table; owned by `narrow` */

/* `values` is a row as it came, and becomes as the table has it; NM_NULL is NULL. A time of an end that is 292 years or more from
 * that of the birth becomes NULL. */
nm_status nm_narrow_row(nm_narrow *narrow, int64_t *values, nm_error *err);

nm_status nm_narrow_finish(nm_narrow *narrow, nm_error *err); /* once, inside a transaction */
void nm_narrow_free(nm_narrow *narrow);                       /* NULL is fine */

#endif
