/* SPDX-License-Identifier: Apache-2.0. Made of made_of.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_MADE_OF_SQL_H
#define NM_TOOL_MCP_MADE_OF_SQL_H

#include "store/question.h"

#define NM_MADE_OF_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(recording)
NM_QUESTION_OF_TEXTS(made_of, NM_MADE_OF_COLUMNS, NM_QUESTION_NONE)

#endif
