/* SPDX-License-Identifier: Apache-2.0. Made of profile_places.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_PLACES_SQL_H
#define NM_EXPORT_PROFILE_PLACES_SQL_H

#include "store/question.h"

#define NM_PROFILE_PLACES_SQL \
    "WITH place (heap_id, rank, pid, device, heap, level, text) AS ( SELECT heap_id, rank, pid, device, heap, " \
    "level, words || CASE WHEN count(*) OVER (PARTITION BY words) > 1 THEN coalesce(', ' || host, '') || " \
    "coalesce(', pid ' || pid, '') || ', heap ' || heap_id ELSE '' END FROM ( SELECT p.heap_id, p.host, p.rank, " \
    "p.pid, p.device, p.heap, p.level, coalesce('rank ' || p.rank || ', ', 'pid ' || p.pid || ', ', '') || " \
    "coalesce( coalesce(nullif(upper(d.kind), 'DEVICE'), 'device') || ' ' || p.device || ', ', '' ) || " \
    "coalesce(p.heap, p.level, 'heap') AS words FROM z_heap_place AS p LEFT JOIN device AS d ON d.device_id = " \
    "p.device_id ) ) SELECT CASE WHEN process.pid BETWEEN 1 AND 1000000000 AND (SELECT count(*) FROM process AS " \
    "other WHERE other.pid = process.pid) = 1 THEN process.pid ELSE 1000000000 + process.process_id END AS pid, " \
    "place.text AS name FROM place JOIN heap ON heap.heap_id = place.heap_id JOIN process ON process.process_id = " \
    "heap.process_id WHERE place.heap_id = :heap_id;"
#define NM_PROFILE_PLACES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(pid) TEXT(name)
#define NM_PROFILE_PLACES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id)
NM_QUESTION_OF_TEXTS(profile_places, NM_PROFILE_PLACES_SQL, NM_PROFILE_PLACES_COLUMNS, NM_PROFILE_PLACES_PARAMETERS)

#endif
