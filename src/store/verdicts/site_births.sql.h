/* SPDX-License-Identifier: Apache-2.0. Made of site_births.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_SITE_BIRTHS_SQL_H
#define NM_STORE_VERDICTS_SITE_BIRTHS_SQL_H

#include "store/question.h"

#define NM_SITE_BIRTHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(site_id) INTEGER(generation) \
    INTEGER(born_bytes) INTEGER(born_count) INTEGER(step_count) INTEGER(longest_step_count) FLAG(is_by_births) \
    FLAG(is_lost) INTEGER(unseen_count) FLAG(is_cut) FLAG(is_served) FLAG(is_from_middle) FLAG(is_anchor)
NM_QUESTION(site_births, NM_SITE_BIRTHS_COLUMNS, NM_QUESTION_NONE)

#endif
