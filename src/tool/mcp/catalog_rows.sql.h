/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of catalog_rows.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_MCP_CATALOG_ROWS_SQL_H
#define NM_TOOL_MCP_CATALOG_ROWS_SQL_H

#include "store/question.h"

#define NM_CATALOG_ROWS_SQL \
    "SELECT name, question, rows, is_large FROM catalog;"
#define NM_CATALOG_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name) TEXT(question) TEXT(rows) FLAG(is_large)
NM_QUESTION_ROW(catalog_rows, NM_CATALOG_ROWS_COLUMNS)
NM_QUESTION_ASK(catalog_rows, NM_CATALOG_ROWS_SQL, NM_QUESTION_NONE)

#endif
