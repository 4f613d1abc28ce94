/* SPDX-License-Identifier: Apache-2.0. Made of catalog_rows.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_CATALOG_ROWS_SQL_H
#define NM_TOOL_MCP_CATALOG_ROWS_SQL_H

#include "store/question.h"

#define NM_CATALOG_ROWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name) TEXT(question) TEXT(rows) FLAG(is_large)
NM_QUESTION_OF_TEXTS(catalog_rows, NM_CATALOG_ROWS_COLUMNS, NM_QUESTION_NONE)

#endif
