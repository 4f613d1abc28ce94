/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of column_nulls.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_STORE_BULK_COLUMN_NULLS_SQL_H
#define NM_STORE_BULK_COLUMN_NULLS_SQL_H

#include "store/question.h"

#define NM_COLUMN_NULLS_SQL \
    "SELECT cid AS place_number, \"notnull\" = 0 AS is_nullable FROM pragma_table_info(:table_name) ORDER BY cid;"
#define NM_COLUMN_NULLS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(place_number) FLAG(is_nullable)
#define NM_COLUMN_NULLS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(table_name)
NM_QUESTION_ROW(column_nulls, NM_COLUMN_NULLS_COLUMNS)
NM_QUESTION_ASK(column_nulls, NM_COLUMN_NULLS_SQL, NM_COLUMN_NULLS_PARAMETERS)
NM_QUESTION_GET(column_nulls, NM_COLUMN_NULLS_PARAMETERS)

#endif
