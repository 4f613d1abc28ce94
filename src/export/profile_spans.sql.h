/* SPDX-License-Identifier: Apache-2.0. Made of profile_spans.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_SPANS_SQL_H
#define NM_EXPORT_PROFILE_SPANS_SQL_H

#include "store/question.h"

#define NM_PROFILE_SPANS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(seq) INTEGER(ns) \
    INTEGER(shown_ns)
#define NM_PROFILE_SPANS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows)
NM_QUESTION(profile_spans, NM_PROFILE_SPANS_COLUMNS, NM_PROFILE_SPANS_PARAMETERS)

#endif
