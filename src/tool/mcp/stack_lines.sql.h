/* SPDX-License-Identifier: Apache-2.0. Made of stack_lines.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_STACK_LINES_SQL_H
#define NM_TOOL_MCP_STACK_LINES_SQL_H

#include "store/question.h"

#define NM_STACK_LINES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(frame_count) TEXT(text)
#define NM_STACK_LINES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id)
NM_QUESTION_OF_TEXTS(stack_lines, NM_STACK_LINES_COLUMNS, NM_STACK_LINES_PARAMETERS)

#endif
