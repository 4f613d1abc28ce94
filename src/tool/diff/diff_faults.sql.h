/* SPDX-License-Identifier: Apache-2.0. Made of diff_faults.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_DIFF_FAULTS_SQL_H
#define NM_TOOL_DIFF_DIFF_FAULTS_SQL_H

#include "store/question.h"

#define NM_DIFF_FAULTS_SQL \
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'none') THEN 0 WHEN NOT :is_kept AND EXISTS " \
    "(SELECT 1 FROM input WHERE detail <> 'all') THEN 1 WHEN EXISTS ( SELECT 1 FROM input WHERE CASE WHEN :moment " \
    "GLOB 'seq:*' THEN CAST(substr(:moment, 5) AS INTEGER) < detail_begin_seq WHEN :moment GLOB 'ns:*' THEN " \
    "CAST(substr(:moment, 4) AS INTEGER) < detail_begin_ns WHEN :moment = 'peak' THEN EXISTS ( SELECT 1 FROM " \
    "z_heap_sum WHERE coalesce(peak_seq, -1) < input.detail_begin_seq AND peak_bytes > 0 ) END ) THEN 2 END AS " \
    "fault_number;"
#define NM_DIFF_FAULTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(fault_number)
#define NM_DIFF_FAULTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_kept) TEXT(moment)
NM_QUESTION(diff_faults, NM_DIFF_FAULTS_SQL, NM_DIFF_FAULTS_COLUMNS, NM_DIFF_FAULTS_PARAMETERS)

#endif
