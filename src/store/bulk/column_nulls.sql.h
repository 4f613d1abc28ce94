/* SPDX-License-Identifier: Apache-2.0. Made of column_nulls.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_BULK_COLUMN_NULLS_SQL_H
#define NM_STORE_BULK_COLUMN_NULLS_SQL_H

#include "store/question.h"

#define NM_COLUMN_NULLS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(place_number) FLAG(is_nullable) \
    FLAG(is_else_zero)
#define NM_COLUMN_NULLS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(table_name)
NM_QUESTION(column_nulls, NM_COLUMN_NULLS_COLUMNS, NM_COLUMN_NULLS_PARAMETERS)

#endif
