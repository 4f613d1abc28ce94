/* SPDX-License-Identifier: Apache-2.0. Made of against_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_AGAINST_HEAPS_SQL_H
#define NM_PAGE_AGAINST_HEAPS_SQL_H

#include "store/question.h"

#define NM_AGAINST_HEAPS_SQL \
    "SELECT p.host AS host, p.rank AS rank, p.pid AS pid, p.device AS device, p.heap AS heap, p.level AS level, " \
    "p.heap_id AS heap_id, p.process_id AS process_id, p.input_id AS input_id, s.peak_bytes AS peak_bytes, " \
    "s.peak_seq AS peak_seq FROM z_heap_place AS p LEFT JOIN z_heap_sum AS s ON s.heap_id = p.heap_id ORDER BY " \
    "p.heap_id LIMIT 16384;"
#define NM_AGAINST_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) INTEGER(heap_id) INTEGER(process_id) INTEGER(input_id) INTEGER(peak_bytes) \
    INTEGER(peak_seq)
NM_QUESTION_OF_TEXTS(against_heaps, NM_AGAINST_HEAPS_SQL, NM_AGAINST_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
