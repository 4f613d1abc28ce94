/* SPDX-License-Identifier: Apache-2.0. Made of ranks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_RANKS_SQL_H
#define NM_REPORT_RANKS_SQL_H

#include "store/question.h"

#define NM_RANKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device_count) \
    INTEGER(device) INTEGER(peak_bytes) INTEGER(reserved_bytes) INTEGER(leak_bytes) TEXT(end_kind) \
    INTEGER(end_status) TEXT(failure) TEXT(failure_order) INTEGER(job_number) INTEGER(failed_step) \
    INTEGER(out_of_memory_id) INTEGER(failed_ns) INTEGER(since_first_ns) INTEGER(doubt_ns) TEXT(failed_at) \
    INTEGER(failed_realtime_ns) INTEGER(input_id) FLAG(is_snapshot) FLAG(is_other)
NM_QUESTION_OF_TEXTS(ranks, NM_RANKS_COLUMNS, NM_QUESTION_NONE)

#endif
