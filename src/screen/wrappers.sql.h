/* SPDX-License-Identifier: Apache-2.0. Made of wrappers.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_WRAPPERS_SQL_H
#define NM_SCREEN_WRAPPERS_SQL_H

#include "store/question.h"

#define NM_WRAPPERS_SQL \
    "SELECT w.function AS function, h.heap AS heap, ( SELECT CAST(sum(CASE WHEN f.function GLOB w.function AND " \
    "coalesce(f.file, '') NOT GLOB '*.py' THEN k.live_bytes ELSE 0 END) AS REAL) / nullif(sum(k.live_bytes), 0) " \
    "FROM z_peak_stack AS k LEFT JOIN stack AS s ON s.stack_id = k.stack_id LEFT JOIN frame AS f ON f.frame_id = " \
    "s.site_frame_id WHERE k.heap_id = w.heap_id ) AS share_ratio FROM z_wrapper AS w JOIN z_heap_place AS h ON " \
    "h.heap_id = w.heap_id WHERE share_ratio >= 0.5 ORDER BY share_ratio DESC, w.heap_id, w.function LIMIT 1;"
#define NM_WRAPPERS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(function) TEXT(heap) REAL(share_ratio)
NM_QUESTION_OF_TEXTS(wrappers, NM_WRAPPERS_SQL, NM_WRAPPERS_COLUMNS, NM_QUESTION_NONE)

#endif
