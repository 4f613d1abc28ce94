/* SPDX-License-Identifier: Apache-2.0. Made of origins.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_ORIGINS_SQL_H
#define NM_SCREEN_ORIGINS_SQL_H

#include "store/question.h"

#define NM_ORIGINS_SQL \
    "WITH l AS ( SELECT source, kind, is_given, anchor, min(step_count) AS fewest_count, max(step_count) AS " \
    "most_count, count(*) AS process_count FROM step_origin WHERE source <> 'marked' GROUP BY source, anchor ) " \
    "SELECT source, kind, is_given, anchor, fewest_count, most_count, max(process_count) AS process_count FROM l " \
    "GROUP BY source ORDER BY source;"
#define NM_ORIGINS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(source) TEXT(kind) FLAG(is_given) TEXT(anchor) \
    INTEGER(fewest_count) INTEGER(most_count) INTEGER(process_count)
NM_QUESTION_OF_TEXTS(origins, NM_ORIGINS_SQL, NM_ORIGINS_COLUMNS, NM_QUESTION_NONE)

#endif
