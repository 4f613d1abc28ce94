/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of frames.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_REPORT_FRAMES_SQL_H
#define NM_REPORT_FRAMES_SQL_H

#include "store/question.h"

#define NM_FRAMES_SQL \
    "SELECT frame_id, label, function, file, module, line, offset, module_id, is_plumbing FROM frame ORDER BY " \
    "frame_id;"
#define NM_FRAMES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(frame_id) TEXT(label) TEXT(function) TEXT(file) \
    TEXT(module) INTEGER(line) INTEGER(offset) INTEGER(module_id) FLAG(is_plumbing)
NM_QUESTION_ROW(frames, NM_FRAMES_COLUMNS)
NM_QUESTION_ASK(frames, NM_FRAMES_SQL, NM_QUESTION_NONE)

#endif
