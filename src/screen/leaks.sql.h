/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of leaks.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_LEAKS_SQL_H
#define NM_SCREEN_LEAKS_SQL_H

#include "store/question.h"

#define NM_LEAKS_SQL \
    "SELECT l.rank AS rank, l.pid AS pid, l.device AS device, (SELECT upper(max(d.kind)) FROM device AS d) AS " \
    "device_kind, l.site AS site, l.leak_count AS leak_count, l.leak_bytes AS leak_bytes, l.generation_count AS " \
    "generation_count, l.late_bytes_per_step AS late_bytes_per_step, l.freed_count AS freed_count, " \
    "l.bytes_per_hour AS bytes_per_hour, l.hours_left AS left_hours, ( SELECT min(f.steps_left) FROM forecast AS f " \
    "WHERE f.measure = 'device' AND f.host IS l.host AND f.rank IS l.rank AND f.pid IS l.pid AND f.device IS " \
    "l.device ) AS left_step_count, ( SELECT count(*) FROM step AS t JOIN process AS q ON q.process_id = " \
    "t.process_id WHERE q.pid IS l.pid AND q.host IS l.host AND q.rank IS l.rank ) AS step_count, count(*) OVER () " \
    "AS site_count, sum(l.leak_bytes) OVER () AS all_bytes, (SELECT count(*) FROM z_out_of_memory_chain WHERE " \
    "outcome = 'fatal') AS fatal_count FROM leak_by_site AS l ORDER BY l.verdict = 'unreleased', l.leak_bytes " \
    "DESC, l.site, l.rank, l.pid LIMIT :most_count;"
#define NM_LEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(device_kind) \
    TEXT(site) INTEGER(leak_count) INTEGER(leak_bytes) INTEGER(generation_count) REAL(late_bytes_per_step) \
    INTEGER(freed_count) REAL(bytes_per_hour) REAL(left_hours) INTEGER(left_step_count) INTEGER(step_count) \
    INTEGER(site_count) INTEGER(all_bytes) INTEGER(fatal_count)
#define NM_LEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_ROW(leaks, NM_LEAKS_COLUMNS)
NM_QUESTION_ASK(leaks, NM_LEAKS_SQL, NM_LEAKS_PARAMETERS)

#endif
