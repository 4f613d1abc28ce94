/* SPDX-License-Identifier: Apache-2.0. Made of check_host_growth.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_HOST_GROWTH_SQL_H
#define NM_TOOL_CHECK_CHECK_HOST_GROWTH_SQL_H

#include "store/question.h"

#define NM_CHECK_HOST_GROWTH_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank)
NM_QUESTION_ASK(check_host_growth, NM_CHECK_HOST_GROWTH_PARAMETERS)

#endif
