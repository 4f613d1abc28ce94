/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_HEAPS_SQL_H
#define NM_EXPORT_PERFETTO_HEAPS_SQL_H

#include "store/question.h"

#define NM_PERFETTO_HEAPS_SQL \
    "WITH place (heap_id, rank, pid, device, heap, level, text) AS ( SELECT heap_id, rank, pid, device, heap, " \
    "level, words || CASE WHEN count(*) OVER (PARTITION BY words) > 1 THEN coalesce(', ' || host, '') || " \
    "coalesce(', pid ' || pid, '') || ', heap ' || heap_id ELSE '' END FROM ( SELECT p.heap_id, p.host, p.rank, " \
    "p.pid, p.device, p.heap, p.level, coalesce('rank ' || p.rank || ', ', 'pid ' || p.pid || ', ', '') || " \
    "coalesce( coalesce(nullif(upper(d.kind), 'DEVICE'), 'device') || ' ' || p.device || ', ', '' ) || " \
    "coalesce(p.heap, p.level, 'heap') AS words FROM z_heap_place AS p LEFT JOIN device AS d ON d.device_id = " \
    "p.device_id ) ) SELECT h.heap_id AS heap_id, h.process_id AS process_id, p.text || ' live' AS live_name, " \
    "p.text || ' reserved' AS reserved_name, EXISTS ( SELECT 1 FROM usage AS u WHERE u.heap_id = h.heap_id AND " \
    "u.reserved_bytes IS NOT NULL ) AS is_reserved FROM heap AS h JOIN place AS p ON p.heap_id = h.heap_id WHERE " \
    "EXISTS (SELECT 1 FROM usage AS u WHERE u.heap_id = h.heap_id) ORDER BY h.heap_id;"
#define NM_PERFETTO_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(process_id) TEXT(live_name) \
    TEXT(reserved_name) FLAG(is_reserved)
NM_QUESTION_OF_TEXTS(perfetto_heaps, NM_PERFETTO_HEAPS_SQL, NM_PERFETTO_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
