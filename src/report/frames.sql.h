/* SPDX-License-Identifier: Apache-2.0. Made of frames.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_FRAMES_SQL_H
#define NM_REPORT_FRAMES_SQL_H

#include "store/question.h"

#define NM_FRAMES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(frame_id) TEXT(label) TEXT(function) TEXT(file) \
    TEXT(module) INTEGER(line) INTEGER(offset) INTEGER(module_id) FLAG(is_plumbing)
NM_QUESTION_OF_TEXTS(frames, NM_FRAMES_COLUMNS, NM_QUESTION_NONE)

#endif
