/* SPDX-License-Identifier: Apache-2.0. Made of fleet_curve.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FLEET_CURVE_SQL_H
#define NM_EXPORT_FLEET_CURVE_SQL_H

#include "store/question.h"

#define NM_FLEET_CURVE_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) INTEGER(ns) INTEGER(live_bytes) INTEGER(max_live_bytes) INTEGER(reserved_bytes) \
    INTEGER(live_count) INTEGER(last_seq) INTEGER(max_seq) INTEGER(max_ns)
#define NM_FLEET_CURVE_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(point_count)
NM_QUESTION_OF_TEXTS(fleet_curve, NM_FLEET_CURVE_COLUMNS, NM_FLEET_CURVE_PARAMETERS)

#endif
