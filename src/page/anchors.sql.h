/* SPDX-License-Identifier: Apache-2.0. Made of anchors.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_ANCHORS_SQL_H
#define NM_PAGE_ANCHORS_SQL_H

#include "store/question.h"

#define NM_ANCHORS_SQL \
    "SELECT heap_id, 0 AS kind_code, peak_seq AS seq FROM z_heap_sum WHERE peak_seq IS NOT NULL UNION SELECT " \
    "p.heap_id, 1, t.last_seq FROM z_heap_place AS p JOIN ( SELECT q.input_id, max(u.last_seq) AS last_seq FROM " \
    "usage AS u JOIN z_heap_place AS q ON q.heap_id = u.heap_id GROUP BY q.input_id ) AS t ON t.input_id = " \
    "p.input_id WHERE t.last_seq IS NOT NULL UNION SELECT h.heap_id, 2, m.seq FROM ( SELECT process_id, seq, " \
    "row_number() OVER (PARTITION BY process_id ORDER BY seq) AS number FROM moment WHERE kind = 4 AND seq IS NOT " \
    "NULL ) AS m JOIN heap AS h ON h.process_id = m.process_id WHERE m.number <= 8 UNION SELECT p.heap_id, 3, CASE " \
    "e.number WHEN 1 THEN l.first_seq ELSE l.last_seq END FROM ( SELECT * FROM leak_by_site ORDER BY leak_bytes " \
    "DESC, host, rank, pid, device, heap, level, site, verdict LIMIT 32 ) AS l JOIN z_heap_place AS p ON p.host IS " \
    "l.host AND p.rank IS l.rank AND p.pid IS l.pid AND p.device IS l.device AND p.heap IS l.heap AND p.level IS " \
    "l.level JOIN (SELECT 1 AS number UNION SELECT 2) AS e WHERE l.first_seq IS NOT NULL AND l.last_seq IS NOT " \
    "NULL ORDER BY 1, 2, 3;"
#define NM_ANCHORS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(kind_code) INTEGER(seq)
NM_QUESTION(anchors, NM_ANCHORS_SQL, NM_ANCHORS_COLUMNS, NM_QUESTION_NONE)

#endif
