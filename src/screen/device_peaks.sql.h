/* SPDX-License-Identifier: Apache-2.0. Made of device_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_DEVICE_PEAKS_SQL_H
#define NM_SCREEN_DEVICE_PEAKS_SQL_H

#include "store/question.h"

#define NM_DEVICE_PEAKS_SQL \
    "WITH c AS ( SELECT t.hardware_id, m.moment_id, m.ns, row_number() OVER (PARTITION BY t.hardware_id ORDER BY " \
    "m.moment_id, t.device_id) AS place FROM moment AS m JOIN z_device_sample AS t ON t.moment_id = m.moment_id " \
    "WHERE m.kind = 5 AND t.total_bytes IS NOT NULL ) SELECT c.moment_id AS moment_id, " \
    "coalesce(device.physical_ordinal, device.ordinal) AS device, upper(device.kind) AS device_kind, ( SELECT " \
    "max(d.used_bytes) FROM z_device_moment AS d WHERE d.moment_id = c.moment_id AND d.device_id = s.device_id ) " \
    "AS used_bytes, s.total_bytes AS total_bytes, c.ns AS ns, s.is_stale AS is_stale, process.host AS host FROM c " \
    "JOIN z_device_sample AS s ON s.moment_id = c.moment_id AND s.hardware_id = c.hardware_id JOIN device ON " \
    "device.device_id = c.hardware_id LEFT JOIN process ON process.process_id = device.process_id WHERE c.place = " \
    "1 GROUP BY c.hardware_id ORDER BY process.host, coalesce(device.physical_ordinal, device.ordinal), " \
    "c.hardware_id LIMIT :most_count;"
#define NM_DEVICE_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(moment_id) INTEGER(device) TEXT(device_kind) \
    INTEGER(used_bytes) INTEGER(total_bytes) INTEGER(ns) FLAG(is_stale) TEXT(host)
#define NM_DEVICE_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(device_peaks, NM_DEVICE_PEAKS_SQL, NM_DEVICE_PEAKS_COLUMNS, NM_DEVICE_PEAKS_PARAMETERS)

#endif
