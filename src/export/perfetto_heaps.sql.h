/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_HEAPS_SQL_H
#define NM_EXPORT_PERFETTO_HEAPS_SQL_H

#include "store/question.h"

#define NM_PERFETTO_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(process_id) TEXT(live_name) \
    TEXT(reserved_name) FLAG(is_reserved)
NM_QUESTION_OF_TEXTS(perfetto_heaps, NM_PERFETTO_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
