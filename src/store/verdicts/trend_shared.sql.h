/* SPDX-License-Identifier: Apache-2.0. Made of trend_shared.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_SHARED_SQL_H
#define NM_STORE_VERDICTS_TREND_SHARED_SQL_H

#include "store/question.h"

#define NM_TREND_SHARED_SQL \
    "CREATE TEMP TABLE shared_device ( device_id INTEGER PRIMARY KEY, process_id, hardware ); CREATE TEMP TABLE " \
    "hardware_change ( hardware, process_id, seq, change ); INSERT INTO shared_device SELECT d.device_id, " \
    "d.process_id, g.hardware FROM device AS d JOIN process AS p ON p.process_id = d.process_id JOIN ( SELECT " \
    "w.input_id, w.host, v.physical_ordinal AS number, min(v.device_id) AS hardware FROM device AS v JOIN process " \
    "AS w ON w.process_id = v.process_id WHERE v.physical_ordinal IS NOT NULL GROUP BY w.input_id, w.host, " \
    "v.physical_ordinal HAVING count(DISTINCT w.process_id) > 1 ) AS g ON g.input_id = p.input_id AND g.host IS " \
    "p.host AND g.number = d.physical_ordinal; INSERT INTO hardware_change SELECT s.hardware, s.process_id, " \
    "coalesce(u.last_seq, -1), u.live_bytes - lag(u.live_bytes, 1, 0) OVER (PARTITION BY u.heap_id ORDER BY " \
    "u.last_seq) FROM usage AS u JOIN heap AS h ON h.heap_id = u.heap_id AND h.level = 1 JOIN shared_device AS s " \
    "ON s.device_id = h.device_id; INSERT INTO hardware_change SELECT e.hardware, e.process_id, e.seq, -e.held " \
    "FROM ( SELECT c.hardware, c.process_id, ( SELECT min(t.begin_seq) FROM step AS t JOIN process AS q ON " \
    "q.process_id = t.process_id WHERE q.input_id = p.input_id AND t.begin_ns >= p.end_ns ) AS seq, sum(c.change) " \
    "AS held FROM hardware_change AS c JOIN process AS p ON p.process_id = c.process_id WHERE p.end_ns IS NOT NULL " \
    "GROUP BY c.hardware, c.process_id ) AS e WHERE e.seq IS NOT NULL; CREATE INDEX temp.hardware_change_order ON " \
    "hardware_change (hardware, seq);"
NM_QUESTION_SCRIPT(trend_shared, NM_TREND_SHARED_SQL)

#endif
