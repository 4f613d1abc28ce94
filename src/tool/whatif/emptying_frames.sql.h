/* SPDX-License-Identifier: Apache-2.0. Made of emptying_frames.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_EMPTYING_FRAMES_SQL_H
#define NM_TOOL_WHATIF_EMPTYING_FRAMES_SQL_H

#include "store/question.h"

#define NM_EMPTYING_FRAMES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(frame_id) TEXT(function)
NM_QUESTION_OF_TEXTS(emptying_frames, NM_EMPTYING_FRAMES_COLUMNS, NM_QUESTION_NONE)

#endif
