/* SPDX-License-Identifier: Apache-2.0. Made of stack_links.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_STACK_LINKS_SQL_H
#define NM_REPORT_STACK_LINKS_SQL_H

#include "store/question.h"

#define NM_STACK_LINKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(parent_id) INTEGER(frame_id) \
    INTEGER(site_frame_id) FLAG(is_cut)
NM_QUESTION(stack_links, NM_STACK_LINKS_COLUMNS, NM_QUESTION_NONE)

#endif
