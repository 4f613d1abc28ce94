/* SPDX-License-Identifier: Apache-2.0. Made of profile_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_STACKS_SQL_H
#define NM_EXPORT_PROFILE_STACKS_SQL_H

#include "store/question.h"

#define NM_PROFILE_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(stack_id) FLAG(is_baseline) \
    INTEGER(live_count) INTEGER(live_bytes) INTEGER(ns)
#define NM_PROFILE_STACKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows)
NM_QUESTION(profile_stacks, NM_PROFILE_STACKS_COLUMNS, NM_PROFILE_STACKS_PARAMETERS)

#endif
