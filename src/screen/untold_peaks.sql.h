/* SPDX-License-Identifier: Apache-2.0. Made of untold_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_UNTOLD_PEAKS_SQL_H
#define NM_SCREEN_UNTOLD_PEAKS_SQL_H

#include "store/question.h"

#define NM_UNTOLD_PEAKS_SQL \
    "SELECT d.device AS device, (SELECT upper(max(kind)) FROM device) AS device_kind, d.peak_bytes AS peak_bytes, " \
    "d.capacity_bytes AS capacity_bytes, d.peak_ns AS peak_ns, d.peak_seq AS peak_seq, d.host AS host, ( SELECT " \
    "max(m.moment_id) FROM z_device_moment AS m WHERE m.moment_kind = 'device peak' AND m.device IS d.device AND " \
    "m.host IS d.host AND m.seq IS d.peak_seq ) AS moment_id FROM device_peak AS d WHERE d.peak_bytes > 0 AND NOT " \
    "EXISTS ( SELECT 1 FROM z_device_moment AS m WHERE m.moment_kind = 'device peak' AND m.total_bytes IS NOT NULL " \
    "AND m.used_bytes > 0 AND m.device IS d.device AND m.host IS d.host ) ORDER BY d.host, d.device, d.peak_bytes " \
    "DESC LIMIT :most_count;"
#define NM_UNTOLD_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) TEXT(device_kind) INTEGER(peak_bytes) \
    INTEGER(capacity_bytes) INTEGER(peak_ns) INTEGER(peak_seq) TEXT(host) INTEGER(moment_id)
#define NM_UNTOLD_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(untold_peaks, NM_UNTOLD_PEAKS_SQL, NM_UNTOLD_PEAKS_COLUMNS, NM_UNTOLD_PEAKS_PARAMETERS)

#endif
