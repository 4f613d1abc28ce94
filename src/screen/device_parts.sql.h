/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of device_parts.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_DEVICE_PARTS_SQL_H
#define NM_SCREEN_DEVICE_PARTS_SQL_H

#include "store/question.h"

#define NM_DEVICE_PARTS_SQL \
    "WITH c AS ( SELECT component, heap, bytes FROM device_memory WHERE moment_id = :moment_id AND host IS :host " \
    "AND device IS :device ), own AS ( SELECT component, CASE WHEN component IN ('POOL', 'WORKSPACE') THEN heap " \
    "END AS heap, sum(bytes) AS bytes FROM c WHERE component NOT IN ('RECORDED PROCESSES', 'OTHER PROCESSES', " \
    "'UNEXPLAINED', 'DEVICE USED') GROUP BY 1, 2 ), other AS (SELECT coalesce(max(bytes), 0) AS bytes FROM c WHERE " \
    "component = 'OTHER PROCESSES') SELECT component, heap, bytes FROM ( SELECT component, heap, bytes, 0 AS place " \
    "FROM own UNION ALL SELECT 'OTHER PROCESSES', NULL, bytes, 1 FROM other UNION ALL SELECT 'UNEXPLAINED', NULL, " \
    ":used_bytes - (SELECT sum(bytes) FROM own) - (SELECT bytes FROM other), 2 ) WHERE abs(bytes) > :used_bytes / " \
    "100 ORDER BY place, bytes DESC, component, heap LIMIT :most_count;"
#define NM_DEVICE_PARTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(component) TEXT(heap) INTEGER(bytes)
#define NM_DEVICE_PARTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(moment_id) TEXT(host) INTEGER(device) \
    INTEGER(used_bytes) INTEGER(most_count)
NM_QUESTION_ROW(device_parts, NM_DEVICE_PARTS_COLUMNS)
NM_QUESTION_ASK(device_parts, NM_DEVICE_PARTS_SQL, NM_DEVICE_PARTS_PARAMETERS)

#endif
