/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of measures.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_MEASURES_SQL_H
#define NM_SCREEN_MEASURES_SQL_H

#include "store/question.h"

#define NM_MEASURES_SQL \
    "SELECT h.rank AS rank, h.pid AS pid, h.device AS device, (SELECT upper(max(kind)) FROM device) AS " \
    "device_kind, h.measure AS measure, h.verdict AS verdict, h.heap AS heap, h.value AS measured_value, h.amount " \
    "AS amount, h.moment AS moment, CASE h.measure WHEN 'fragmentation' THEN ( SELECT max(v.reserved_bytes) FROM " \
    "z_fragmentation_verdict AS v WHERE v.host IS h.host AND v.rank IS h.rank AND v.pid IS h.pid AND v.device IS " \
    "h.device AND v.heap IS h.heap AND v.level IS h.level AND v.moment = h.moment ) END AS reserved_bytes, EXISTS " \
    "( SELECT 1 FROM z_heap_place AS p JOIN z_pool_effort AS e ON e.heap_id = p.heap_id WHERE e.mapped_count > 0 " \
    "AND p.pid IS h.pid AND p.host IS h.host AND p.device IS h.device AND p.heap IS h.heap ) AS is_mapped, " \
    "h.measure = 'fragmentation' AND EXISTS ( SELECT 1 FROM z_fragmentation_verdict AS v WHERE v.host IS h.host " \
    "AND v.rank IS h.rank AND v.pid IS h.pid AND v.device IS h.device AND v.heap IS h.heap AND v.level IS h.level " \
    "AND v.moment = h.moment AND v.max_ratio - v.min_ratio > 0.001 ) AS is_bound, count(*) OVER () AS all_count " \
    "FROM health AS h WHERE h.verdict IN ('minor', 'warning', 'danger') AND (h.verdict = 'minor') = :is_minor " \
    "ORDER BY h.verdict = 'warning', CASE h.measure WHEN 'fragmentation' THEN 0 WHEN 'pool hit rate' THEN 1 WHEN " \
    "'allocation cost' THEN 2 ELSE 3 END, abs(h.value - CASE h.measure WHEN 'pool hit rate' THEN 1 WHEN " \
    "'zero copy' THEN 1 ELSE 0 END) DESC, h.rank, h.pid, h.heap LIMIT :most_count;"
#define NM_MEASURES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(device_kind) \
    TEXT(measure) TEXT(verdict) TEXT(heap) REAL(measured_value) INTEGER(amount) TEXT(moment) INTEGER(reserved_bytes) \
    FLAG(is_mapped) FLAG(is_bound) INTEGER(all_count)
#define NM_MEASURES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_minor) INTEGER(most_count)
NM_QUESTION_ROW(measures, NM_MEASURES_COLUMNS)
NM_QUESTION_ASK(measures, NM_MEASURES_SQL, NM_MEASURES_PARAMETERS)

#endif
