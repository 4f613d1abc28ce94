/* SPDX-License-Identifier: Apache-2.0. Made of seen_inputs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_SEEN_INPUTS_SQL_H
#define NM_SCREEN_SEEN_INPUTS_SQL_H

#include "store/question.h"

#define NM_SEEN_INPUTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(cut_count) INTEGER(event_count) FLAG(is_untouched) \
    FLAG(is_peak_told)
NM_QUESTION(seen_inputs, NM_SEEN_INPUTS_COLUMNS, NM_QUESTION_NONE)

#endif
