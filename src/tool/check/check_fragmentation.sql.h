/* SPDX-License-Identifier: Apache-2.0. Made of check_fragmentation.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_FRAGMENTATION_SQL_H
#define NM_TOOL_CHECK_CHECK_FRAGMENTATION_SQL_H

#include "store/question.h"

#define NM_CHECK_FRAGMENTATION_SQL \
    "SELECT host, rank, pid, device, heap, level, max(CASE WHEN min_unused_bytes < floor THEN 0.0 ELSE min_ratio " \
    "END) AS measured_value, NULL AS limit_value, CASE WHEN min_unused_bytes < floor THEN " \
    "printf('less than the floor of %.1f MiB is unused', floor / 1048576.0) ELSE CASE moment WHEN 'peak' THEN " \
    "'at the peak' WHEN 'growth' THEN 'when the pool grew' WHEN 'end' THEN 'at the end' ELSE " \
    "'when an allocation failed' END END || CASE reason WHEN 'other streams may use it' THEN " \
    "'; at least: what other streams still used is not known' WHEN 'sizes as requested alone' THEN " \
    "'; at least: only requested sizes are known' WHEN 'not all was recorded' THEN '; as far as is known' ELSE " \
    "CASE WHEN min_ratio < max_ratio THEN '; at least: what is not sure is left out' ELSE '' END END AS note FROM " \
    "(SELECT *, coalesce(:floor_number, 0) AS floor FROM z_fragmentation_verdict WHERE moment <> 'reserve') WHERE " \
    "(:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR heap IS :heap OR level IS :heap) GROUP BY heap_id;"
#define NM_CHECK_FRAGMENTATION_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) \
    INTEGER(device) TEXT(heap) TEXT(level) REAL(measured_value) REAL(limit_value) TEXT(note)
#define NM_CHECK_FRAGMENTATION_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(floor_number) INTEGER(rank) TEXT(heap)
NM_QUESTION_OF_TEXTS(check_fragmentation, NM_CHECK_FRAGMENTATION_SQL, NM_CHECK_FRAGMENTATION_COLUMNS, NM_CHECK_FRAGMENTATION_PARAMETERS)

#endif
