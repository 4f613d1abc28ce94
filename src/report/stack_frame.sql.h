/* SPDX-License-Identifier: Apache-2.0. Made of stack_frame.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_STACK_FRAME_SQL_H
#define NM_REPORT_STACK_FRAME_SQL_H

#include "store/question.h"

#define NM_STACK_FRAME_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(parent_id) TEXT(label)
#define NM_STACK_FRAME_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id)
NM_QUESTION_OF_TEXTS(stack_frame, NM_STACK_FRAME_COLUMNS, NM_STACK_FRAME_PARAMETERS)

#endif
