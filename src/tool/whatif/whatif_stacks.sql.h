/* SPDX-License-Identifier: Apache-2.0. Made of whatif_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_WHATIF_STACKS_SQL_H
#define NM_TOOL_WHATIF_WHATIF_STACKS_SQL_H

#include "store/question.h"

#define NM_WHATIF_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(parent_id) INTEGER(frame_id)
NM_QUESTION(whatif_stacks, NM_WHATIF_STACKS_COLUMNS, NM_QUESTION_NONE)

#endif
