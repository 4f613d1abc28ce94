/* SPDX-License-Identifier: Apache-2.0. Made of page_views.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_PAGE_VIEWS_SQL_H
#define NM_PAGE_PAGE_VIEWS_SQL_H

#include "store/question.h"

#define NM_PAGE_VIEWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(name) TEXT(question)
NM_QUESTION_OF_TEXTS(page_views, NM_PAGE_VIEWS_COLUMNS, NM_QUESTION_NONE)

#endif
