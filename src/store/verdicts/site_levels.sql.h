/* SPDX-License-Identifier: Apache-2.0. Made of site_levels.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_SITE_LEVELS_SQL_H
#define NM_STORE_VERDICTS_SITE_LEVELS_SQL_H

#include "store/question.h"

#define NM_SITE_LEVELS_SQL \
    "SELECT heap_id, coalesce(site_frame_id, 0) AS site_id, generation, live_bytes, live_count FROM z_site_step " \
    "ORDER BY heap_id, site_frame_id, generation;"
#define NM_SITE_LEVELS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(site_id) INTEGER(generation) \
    INTEGER(live_bytes) INTEGER(live_count)
NM_QUESTION(site_levels, NM_SITE_LEVELS_SQL, NM_SITE_LEVELS_COLUMNS, NM_QUESTION_NONE)

#endif
