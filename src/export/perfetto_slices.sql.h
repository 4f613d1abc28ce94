/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_slices.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_SLICES_SQL_H
#define NM_EXPORT_PERFETTO_SLICES_SQL_H

#include "store/question.h"

#define NM_PERFETTO_SLICES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(track_number) \
    TEXT(track_name) TEXT(category) TEXT(name) INTEGER(begin_ns) INTEGER(end_ns)
NM_QUESTION_OF_TEXTS(perfetto_slices, NM_PERFETTO_SLICES_COLUMNS, NM_QUESTION_NONE)

#endif
