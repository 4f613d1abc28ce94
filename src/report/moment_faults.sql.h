/* SPDX-License-Identifier: Apache-2.0. Made of moment_faults.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_MOMENT_FAULTS_SQL_H
#define NM_REPORT_MOMENT_FAULTS_SQL_H

#include "store/question.h"

#define NM_MOMENT_FAULTS_SQL \
    "SELECT CASE WHEN EXISTS (SELECT 1 FROM input WHERE detail = 'none') THEN 0 WHEN EXISTS ( SELECT 1 FROM input " \
    "WHERE detail <> 'all' AND NOT EXISTS (SELECT 1 FROM z_named_moment WHERE moment = :moment) ) THEN 1 WHEN " \
    "EXISTS ( SELECT 1 FROM input JOIN z_heap_place AS p ON p.input_id = input.input_id JOIN z_heap_sum AS s ON " \
    "s.heap_id = p.heap_id LEFT JOIN z_named_moment AS n ON n.heap_id = p.heap_id AND n.moment = :moment WHERE " \
    "s.peak_bytes > 0 AND CASE WHEN n.moment IS NOT NULL THEN n.seq < input.detail_begin_seq WHEN :moment GLOB " \
    "'seq:*' THEN CAST(substr(:moment, 5) AS INTEGER) < input.detail_begin_seq ELSE CAST(:moment AS INTEGER) < " \
    "input.detail_begin_ns END ) THEN 2 WHEN EXISTS ( SELECT 1 FROM allocation WHERE NOT EXISTS (SELECT 1 FROM " \
    "z_named_moment WHERE moment = :moment) AND :moment NOT GLOB 'seq:*' AND ((alloc_seq IS NOT NULL AND alloc_ns " \
    "IS NULL) OR (free_seq IS NOT NULL AND free_ns IS NULL)) ) THEN 3 END AS fault_number;"
#define NM_MOMENT_FAULTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(fault_number)
#define NM_MOMENT_FAULTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment)
NM_QUESTION(moment_faults, NM_MOMENT_FAULTS_SQL, NM_MOMENT_FAULTS_COLUMNS, NM_MOMENT_FAULTS_PARAMETERS)

#endif
