/* SPDX-License-Identifier: Apache-2.0. Made of largest_sites.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_LARGEST_SITES_SQL_H
#define NM_TOOL_STACK_LARGEST_SITES_SQL_H

#include "store/question.h"

#define NM_LARGEST_SITES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(site)
NM_QUESTION_OF_TEXTS(largest_sites, NM_LARGEST_SITES_COLUMNS, NM_QUESTION_NONE)

#endif
