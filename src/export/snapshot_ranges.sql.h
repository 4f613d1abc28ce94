/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_ranges.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_RANGES_SQL_H
#define NM_EXPORT_SNAPSHOT_RANGES_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_RANGES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) TEXT(name) INTEGER(time_us) \
    FLAG(is_end)
NM_QUESTION_OF_TEXTS(snapshot_ranges, NM_SNAPSHOT_RANGES_COLUMNS, NM_QUESTION_NONE)

#endif
