/* SPDX-License-Identifier: Apache-2.0. Made of against_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_AGAINST_STEPS_SQL_H
#define NM_PAGE_AGAINST_STEPS_SQL_H

#include "store/question.h"

#define NM_AGAINST_STEPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(number) INTEGER(begin_seq)
NM_QUESTION(against_steps, NM_AGAINST_STEPS_COLUMNS, NM_QUESTION_NONE)

#endif
