/* SPDX-License-Identifier: Apache-2.0. Made of head_line.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_HEAD_LINE_SQL_H
#define NM_SCREEN_HEAD_LINE_SQL_H

#include "store/question.h"

#define NM_HEAD_LINE_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(only_path) INTEGER(input_count) TEXT(verdict) \
    TEXT(command) TEXT(end_kind) INTEGER(end_status) FLAG(is_going_on) TEXT(input_kind) INTEGER(dropped_count) \
    INTEGER(damaged_count) INTEGER(unrecovered_count) INTEGER(late_count) INTEGER(stackless_count) \
    INTEGER(unjoined_count) INTEGER(cut_bytes) FLAG(is_loss_exact) INTEGER(unkept_count) INTEGER(detail_begin_ns) \
    INTEGER(detail_begin_seq) INTEGER(window_begin_seq) INTEGER(window_end_seq)
NM_QUESTION_OF_TEXTS(head_line, NM_HEAD_LINE_COLUMNS, NM_QUESTION_NONE)

#endif
