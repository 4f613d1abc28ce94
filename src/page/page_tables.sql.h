/* SPDX-License-Identifier: Apache-2.0. Made of page_tables.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_PAGE_TABLES_SQL_H
#define NM_PAGE_PAGE_TABLES_SQL_H

#include "store/question.h"

#define NM_PAGE_TABLES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name)
NM_QUESTION_OF_TEXTS(page_tables, NM_PAGE_TABLES_COLUMNS, NM_QUESTION_NONE)

#endif
