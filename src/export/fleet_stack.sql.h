/* SPDX-License-Identifier: Apache-2.0. Made of fleet_stack.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FLEET_STACK_SQL_H
#define NM_EXPORT_FLEET_STACK_SQL_H

#include "store/question.h"

#define NM_FLEET_STACK_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(text)
#define NM_FLEET_STACK_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id)
NM_QUESTION_OF_TEXTS(fleet_stack, NM_FLEET_STACK_COLUMNS, NM_FLEET_STACK_PARAMETERS)

#endif
