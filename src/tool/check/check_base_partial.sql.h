/* SPDX-License-Identifier: Apache-2.0. Made of check_base_partial.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_BASE_PARTIAL_SQL_H
#define NM_TOOL_CHECK_CHECK_BASE_PARTIAL_SQL_H

#include "store/question.h"

NM_QUESTION_ASK(check_base_partial, NM_QUESTION_NONE)

#endif
