/* SPDX-License-Identifier: Apache-2.0. Made of heap_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_HEAP_PEAKS_SQL_H
#define NM_SCREEN_HEAP_PEAKS_SQL_H

#include "store/question.h"

#define NM_HEAP_PEAKS_SQL \
    "SELECT k.rank AS rank, k.pid AS pid, k.device AS device, (SELECT upper(max(kind)) FROM device) AS " \
    "device_kind, k.host AS host, k.heap AS heap, k.level AS level, k.peak_bytes AS peak_bytes, k.peak_ns AS " \
    "peak_ns, k.peak_seq AS peak_seq, k.peak_reserved_bytes AS peak_reserved_bytes, ( SELECT count(*) FROM " \
    "z_heap_place AS p WHERE p.host IS k.host AND p.rank IS k.rank AND p.pid IS k.pid AND p.device IS k.device AND " \
    "p.heap IS k.heap AND p.level IS k.level ) AS namesake_count FROM peak AS k WHERE k.peak_bytes > 0 AND NOT ( " \
    "k.level IN ('driver', 'physical') AND EXISTS ( SELECT 1 FROM peak AS pool WHERE pool.host IS k.host AND " \
    "pool.pid IS k.pid AND pool.device IS k.device AND pool.level = 'pool' AND pool.peak_reserved_bytes * 1.1 >= " \
    "k.peak_bytes ) AND NOT EXISTS ( SELECT 1 FROM leak_by_site AS l WHERE l.host IS k.host AND l.pid IS k.pid AND " \
    "l.device IS k.device AND l.level = k.level ) ) ORDER BY k.level <> 'pool', k.peak_bytes DESC, k.rank, k.pid, " \
    "k.device, k.heap LIMIT :most_count;"
#define NM_HEAP_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(device_kind) TEXT(host) TEXT(heap) TEXT(level) INTEGER(peak_bytes) INTEGER(peak_ns) INTEGER(peak_seq) \
    INTEGER(peak_reserved_bytes) INTEGER(namesake_count)
#define NM_HEAP_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(heap_peaks, NM_HEAP_PEAKS_SQL, NM_HEAP_PEAKS_COLUMNS, NM_HEAP_PEAKS_PARAMETERS)

#endif
