/* SPDX-License-Identifier: Apache-2.0. Made of fleet_curve.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FLEET_CURVE_SQL_H
#define NM_EXPORT_FLEET_CURVE_SQL_H

#include "store/question.h"

#define NM_FLEET_CURVE_SQL \
    "WITH numbered AS ( SELECT usage.heap_id, usage.last_seq, usage.last_ns, usage.live_bytes, " \
    "usage.max_live_bytes, usage.reserved_bytes, usage.live_count, usage.max_seq, usage.max_ns, (row_number() OVER " \
    "(PARTITION BY usage.heap_id ORDER BY usage.last_seq) - 1) / ((count(*) OVER (PARTITION BY usage.heap_id) + " \
    ":point_count - 1) / :point_count) AS point FROM usage ), ranked AS ( SELECT numbered.*, row_number() OVER ( " \
    "PARTITION BY numbered.heap_id, numbered.point ORDER BY numbered.max_live_bytes DESC, numbered.last_seq ) AS " \
    "place FROM numbered ) SELECT p.host, p.rank, p.pid, p.device, p.heap, p.level, r.last_ns AS ns, r.live_bytes, " \
    "r.max_live_bytes, r.reserved_bytes, r.live_count, r.last_seq, r.max_seq, r.max_ns FROM ranked AS r JOIN " \
    "z_heap_place AS p ON p.heap_id = r.heap_id WHERE r.place = 1 ORDER BY r.heap_id, r.last_seq;"
#define NM_FLEET_CURVE_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) INTEGER(ns) INTEGER(live_bytes) INTEGER(max_live_bytes) INTEGER(reserved_bytes) \
    INTEGER(live_count) INTEGER(last_seq) INTEGER(max_seq) INTEGER(max_ns)
#define NM_FLEET_CURVE_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(point_count)
NM_QUESTION_OF_TEXTS(fleet_curve, NM_FLEET_CURVE_SQL, NM_FLEET_CURVE_COLUMNS, NM_FLEET_CURVE_PARAMETERS)

#endif
