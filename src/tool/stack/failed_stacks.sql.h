/* SPDX-License-Identifier: Apache-2.0. Made of failed_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_FAILED_STACKS_SQL_H
#define NM_TOOL_STACK_FAILED_STACKS_SQL_H

#include "store/question.h"

#define NM_FAILED_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank)
NM_QUESTION_ASK(failed_stacks, NM_FAILED_STACKS_PARAMETERS)

#endif
