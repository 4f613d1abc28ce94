/* SPDX-License-Identifier: Apache-2.0. Made of site_levels.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_SITE_LEVELS_SQL_H
#define NM_STORE_VERDICTS_SITE_LEVELS_SQL_H

#include "store/question.h"

#define NM_SITE_LEVELS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(site_id) INTEGER(generation) \
    INTEGER(live_bytes) INTEGER(live_count)
NM_QUESTION(site_levels, NM_SITE_LEVELS_COLUMNS, NM_QUESTION_NONE)

#endif
