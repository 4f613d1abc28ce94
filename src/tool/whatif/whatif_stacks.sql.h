/* SPDX-License-Identifier: Apache-2.0. Made of whatif_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_WHATIF_STACKS_SQL_H
#define NM_TOOL_WHATIF_WHATIF_STACKS_SQL_H

#include "store/question.h"

#define NM_WHATIF_STACKS_SQL \
    "WITH RECURSIVE emptying (stack_id, parent_id, frame_id) AS ( SELECT stack_id, parent_id, frame_id FROM stack " \
    "WHERE frame_id IN ( SELECT frame_id FROM frame WHERE instr(function, 'empty_cache') OR instr(function, " \
    "'emptyCache') ) UNION SELECT s.stack_id, s.parent_id, s.frame_id FROM stack AS s JOIN emptying ON s.parent_id " \
    "= emptying.stack_id ), asking (stack_id, parent_id, frame_id) AS ( SELECT stack_id, parent_id, frame_id FROM " \
    "stack WHERE frame_id IN (SELECT s.frame_id FROM failure AS f JOIN stack AS s ON s.stack_id = f.stack_id) ) " \
    "SELECT stack_id, parent_id, frame_id FROM emptying UNION SELECT stack_id, parent_id, frame_id FROM asking " \
    "UNION SELECT stack_id, parent_id, frame_id FROM stack WHERE stack_id IN (SELECT a.parent_id FROM asking AS a);"
#define NM_WHATIF_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(parent_id) INTEGER(frame_id)
NM_QUESTION(whatif_stacks, NM_WHATIF_STACKS_SQL, NM_WHATIF_STACKS_COLUMNS, NM_QUESTION_NONE)

#endif
