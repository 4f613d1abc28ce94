/* SPDX-License-Identifier: Apache-2.0. Made of shown_frames.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_SHOWN_FRAMES_SQL_H
#define NM_TOOL_STACK_SHOWN_FRAMES_SQL_H

#include "store/question.h"

#define NM_SHOWN_FRAMES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(parent_id) TEXT(label) FLAG(is_plumbing) \
    FLAG(is_site) FLAG(is_cut)
#define NM_SHOWN_FRAMES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(of_id) INTEGER(stack_id)
NM_QUESTION_OF_TEXTS(shown_frames, NM_SHOWN_FRAMES_COLUMNS, NM_SHOWN_FRAMES_PARAMETERS)

#endif
