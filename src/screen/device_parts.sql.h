/* SPDX-License-Identifier: Apache-2.0. Made of device_parts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_DEVICE_PARTS_SQL_H
#define NM_SCREEN_DEVICE_PARTS_SQL_H

#include "store/question.h"

#define NM_DEVICE_PARTS_SQL \
    "WITH c AS ( SELECT component, heap, part, bytes FROM device_part WHERE moment_id = :moment_id AND host IS " \
    ":host AND device IS :device ), own AS ( SELECT component, CASE WHEN component IN ('POOL', 'WORKSPACE') THEN " \
    "heap END AS heap, CASE part WHEN 'new' THEN 'used' ELSE part END AS part, sum(bytes) AS bytes FROM c WHERE " \
    "component NOT IN ('RECORDED PROCESSES', 'OTHER PROCESSES', 'UNEXPLAINED', 'DEVICE USED') GROUP BY 1, 2, 3 ), " \
    "other AS (SELECT coalesce(max(bytes), 0) AS bytes FROM c WHERE component = 'OTHER PROCESSES'), every AS ( " \
    "SELECT component, heap, part, bytes FROM own UNION ALL SELECT 'OTHER PROCESSES', NULL, 'whole', bytes FROM " \
    "other UNION ALL SELECT 'UNEXPLAINED', NULL, 'whole', :used_bytes - (SELECT coalesce(sum(bytes), 0) FROM own) " \
    "- (SELECT bytes FROM other) ), largest AS ( SELECT component, heap, part, bytes, row_number() OVER (ORDER BY " \
    "abs(bytes) DESC, component, heap, part) AS place, count(*) OVER () > :most_count + 1 AS has_rest FROM every " \
    "WHERE abs(bytes) > :used_bytes / 100 ) SELECT component, heap, part, bytes FROM ( SELECT component, heap, " \
    "part, bytes, place FROM largest WHERE place <= :most_count OR NOT has_rest UNION ALL SELECT 'REST', NULL, " \
    "'whole', sum(bytes), NULL FROM largest WHERE place > :most_count AND has_rest ) WHERE bytes <> 0 ORDER BY " \
    "place IS NULL, bytes < 0, place;"
#define NM_DEVICE_PARTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(component) TEXT(heap) TEXT(part) INTEGER(bytes)
#define NM_DEVICE_PARTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(moment_id) TEXT(host) INTEGER(device) \
    INTEGER(used_bytes) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(device_parts, NM_DEVICE_PARTS_SQL, NM_DEVICE_PARTS_COLUMNS, NM_DEVICE_PARTS_PARAMETERS)

#endif
