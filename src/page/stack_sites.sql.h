/* SPDX-License-Identifier: Apache-2.0. Made of stack_sites.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_STACK_SITES_SQL_H
#define NM_PAGE_STACK_SITES_SQL_H

#include "store/question.h"

#define NM_STACK_SITES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(site_frame_id)
NM_QUESTION(stack_sites, NM_STACK_SITES_COLUMNS, NM_QUESTION_NONE)

#endif
