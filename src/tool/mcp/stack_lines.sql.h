/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of stack_lines.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_MCP_STACK_LINES_SQL_H
#define NM_TOOL_MCP_STACK_LINES_SQL_H

#include "store/question.h"

#define NM_STACK_LINES_SQL \
    "SELECT depth AS frame_count, text FROM stack_text WHERE stack_id = :stack_id;"
#define NM_STACK_LINES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(frame_count) TEXT(text)
#define NM_STACK_LINES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id)
NM_QUESTION_ROW(stack_lines, NM_STACK_LINES_COLUMNS)
NM_QUESTION_ASK(stack_lines, NM_STACK_LINES_SQL, NM_STACK_LINES_PARAMETERS)

#endif
