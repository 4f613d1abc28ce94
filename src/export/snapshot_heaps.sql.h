/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_HEAPS_SQL_H
#define NM_EXPORT_SNAPSHOT_HEAPS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(device) INTEGER(level_code) \
    INTEGER(start_ns)
NM_QUESTION(snapshot_heaps, NM_SNAPSHOT_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
