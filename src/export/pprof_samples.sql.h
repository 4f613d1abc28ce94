/* SPDX-License-Identifier: Apache-2.0. Made of pprof_samples.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PPROF_SAMPLES_SQL_H
#define NM_EXPORT_PPROF_SAMPLES_SQL_H

#include "store/question.h"

#define NM_PPROF_SAMPLES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) FLAG(is_baseline) INTEGER(alloc_count) \
    INTEGER(alloc_bytes) INTEGER(live_count) INTEGER(live_bytes) INTEGER(peak_bytes) INTEGER(leak_bytes) TEXT(heap) \
    TEXT(level) TEXT(device_name) TEXT(rank_name) TEXT(pid_name) TEXT(stream_name) TEXT(category)
#define NM_PPROF_SAMPLES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) FLAG(has_rows)
NM_QUESTION_OF_TEXTS(pprof_samples, NM_PPROF_SAMPLES_COLUMNS, NM_PPROF_SAMPLES_PARAMETERS)

#endif
