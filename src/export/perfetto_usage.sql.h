/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_usage.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_USAGE_SQL_H
#define NM_EXPORT_PERFETTO_USAGE_SQL_H

#include "store/question.h"

#define NM_PERFETTO_USAGE_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) FLAG(is_max_before) INTEGER(max_ns) \
    INTEGER(max_live_bytes) INTEGER(last_ns) INTEGER(live_bytes) INTEGER(reserved_bytes)
NM_QUESTION(perfetto_usage, NM_PERFETTO_USAGE_COLUMNS, NM_QUESTION_NONE)

#endif
