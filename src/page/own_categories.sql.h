/* SPDX-License-Identifier: Apache-2.0. Made of own_categories.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_OWN_CATEGORIES_SQL_H
#define NM_PAGE_OWN_CATEGORIES_SQL_H

#include "store/question.h"

#define NM_OWN_CATEGORIES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(category_id)
NM_QUESTION(own_categories, NM_OWN_CATEGORIES_COLUMNS, NM_QUESTION_NONE)

#endif
