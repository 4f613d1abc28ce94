/* SPDX-License-Identifier: Apache-2.0. Made of merge_plan.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_MERGE_PLAN_SQL_H
#define NM_STORE_MERGE_PLAN_SQL_H

#include "store/question.h"

NM_QUESTION_SCRIPT(merge_plan)

#endif
