/* SPDX-License-Identifier: Apache-2.0. Made of shown_frames.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_SHOWN_FRAMES_SQL_H
#define NM_TOOL_STACK_SHOWN_FRAMES_SQL_H

#include "store/question.h"

#define NM_SHOWN_FRAMES_SQL \
    "SELECT s.parent_id AS parent_id, f.label AS label, f.is_plumbing = 1 AS is_plumbing, x.frame_id IS NOT NULL " \
    "AND f.function IS x.function AND f.file IS x.file AND f.line IS x.line AND f.label IS x.label AS is_site, " \
    "s.is_cut = 1 AS is_cut FROM stack AS s LEFT JOIN frame AS f ON f.frame_id = s.frame_id LEFT JOIN frame AS x " \
    "ON x.frame_id = (SELECT site_frame_id FROM stack WHERE stack_id = :of_id) WHERE s.stack_id = :stack_id;"
#define NM_SHOWN_FRAMES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(parent_id) TEXT(label) FLAG(is_plumbing) \
    FLAG(is_site) FLAG(is_cut)
#define NM_SHOWN_FRAMES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(of_id) INTEGER(stack_id)
NM_QUESTION_OF_TEXTS(shown_frames, NM_SHOWN_FRAMES_SQL, NM_SHOWN_FRAMES_COLUMNS, NM_SHOWN_FRAMES_PARAMETERS)

#endif
