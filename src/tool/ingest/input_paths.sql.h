/* SPDX-License-Identifier: Apache-2.0. Made of input_paths.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_INGEST_INPUT_PATHS_SQL_H
#define NM_TOOL_INGEST_INPUT_PATHS_SQL_H

#include "store/question.h"

#define NM_INPUT_PATHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(path)
#define NM_INPUT_PATHS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(input_paths, NM_INPUT_PATHS_COLUMNS, NM_INPUT_PATHS_PARAMETERS)

#endif
