/* SPDX-License-Identifier: Apache-2.0. Made of whatif_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_WHATIF_HEAPS_SQL_H
#define NM_TOOL_WHATIF_WHATIF_HEAPS_SQL_H

#include "store/question.h"

#define NM_WHATIF_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(process_id) INTEGER(device_id) \
    INTEGER(level_code) TEXT(name)
NM_QUESTION_OF_TEXTS(whatif_heaps, NM_WHATIF_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
