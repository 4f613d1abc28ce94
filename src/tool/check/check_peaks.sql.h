/* SPDX-License-Identifier: Apache-2.0. Made of check_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_PEAKS_SQL_H
#define NM_TOOL_CHECK_CHECK_PEAKS_SQL_H

#include "store/question.h"

#define NM_CHECK_PEAKS_SQL \
    "SELECT host, rank, pid, device, heap, level, peak_bytes AS measured_value, NULL AS limit_value, NULL AS note " \
    "FROM device_peak WHERE :rank IS NULL AND :heap IS NULL AND peak_bytes > 0 UNION ALL SELECT k.host, k.rank, " \
    "k.pid, k.device, k.heap, k.level, k.peak_bytes, NULL, NULL FROM peak AS k WHERE CASE WHEN :rank IS NULL AND " \
    ":heap IS NULL THEN k.level = 'pool' AND k.device IS NOT NULL AND NOT EXISTS ( SELECT 1 FROM device_peak AS d " \
    "WHERE d.host IS k.host AND d.device IS k.device AND d.peak_bytes > 0 ) ELSE (:rank IS NULL OR k.rank IS " \
    ":rank) AND (:heap IS NULL OR k.heap IS :heap OR k.level IS :heap) AND (:heap IS NOT NULL OR (k.device IS NOT " \
    "NULL AND k.level IN ('driver', 'pool'))) END;"
#define NM_CHECK_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) REAL(measured_value) REAL(limit_value) TEXT(note)
#define NM_CHECK_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(heap)
NM_QUESTION_OF_TEXTS(check_peaks, NM_CHECK_PEAKS_SQL, NM_CHECK_PEAKS_COLUMNS, NM_CHECK_PEAKS_PARAMETERS)

#endif
