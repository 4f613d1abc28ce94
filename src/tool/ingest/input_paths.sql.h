/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of input_paths.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_TOOL_INGEST_INPUT_PATHS_SQL_H
#define NM_TOOL_INGEST_INPUT_PATHS_SQL_H

#include "store/question.h"

#define NM_INPUT_PATHS_SQL \
    "SELECT path FROM input ORDER BY input_id LIMIT :most_count;"
#define NM_INPUT_PATHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(path)
#define NM_INPUT_PATHS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_ROW(input_paths, NM_INPUT_PATHS_COLUMNS)
NM_QUESTION_ASK(input_paths, NM_INPUT_PATHS_SQL, NM_INPUT_PATHS_PARAMETERS)

#endif
