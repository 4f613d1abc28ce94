/* SPDX-License-Identifier: Apache-2.0
 *
 * page_tables.sql: the tables of a database, by name.
 * Made of that file by the target `sql`; a test compares them. store/question.h says how it is used.
 */
/* clang-format off */
#ifndef NM_REPORT_PAGE_TABLES_SQL_H
#define NM_REPORT_PAGE_TABLES_SQL_H

#include "store/question.h"

#define NM_PAGE_TABLES_SQL \
    "SELECT name FROM main.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name;"
#define NM_PAGE_TABLES_COLUMNS(INTEGER, FLAG, REAL, TEXT) \
    TEXT(name)
NM_QUESTION_ROW(page_tables, NM_PAGE_TABLES_COLUMNS)
NM_QUESTION_ASK(page_tables, NM_PAGE_TABLES_SQL, NM_QUESTION_NONE)

#endif
