/* SPDX-License-Identifier: Apache-2.0. Made of check_reserved.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_RESERVED_SQL_H
#define NM_TOOL_CHECK_CHECK_RESERVED_SQL_H

#include "store/question.h"

#define NM_CHECK_RESERVED_SQL \
    "SELECT host, rank, pid, device, heap, level, peak_reserved_bytes AS measured_value, NULL AS limit_value, CASE " \
    "reserved_source WHEN 'stated' THEN 'by the word of the pool' END AS note FROM peak WHERE peak_reserved_bytes " \
    "> 0 AND (:rank IS NULL OR rank IS :rank) AND (:heap IS NULL OR heap IS :heap OR level IS :heap);"
#define NM_CHECK_RESERVED_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) REAL(measured_value) REAL(limit_value) TEXT(note)
#define NM_CHECK_RESERVED_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(heap)
NM_QUESTION_OF_TEXTS(check_reserved, NM_CHECK_RESERVED_SQL, NM_CHECK_RESERVED_COLUMNS, NM_CHECK_RESERVED_PARAMETERS)

#endif
