/* SPDX-License-Identifier: Apache-2.0. Made of worlds.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_WORLDS_SQL_H
#define NM_REPORT_WORLDS_SQL_H

#include "store/question.h"

#define NM_WORLDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(host_count) INTEGER(input_count) INTEGER(world_count) \
    INTEGER(rank_count) INTEGER(capacity_bytes)
NM_QUESTION(worlds, NM_WORLDS_COLUMNS, NM_QUESTION_NONE)

#endif
