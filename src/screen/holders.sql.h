/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of holders.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_HOLDERS_SQL_H
#define NM_SCREEN_HOLDERS_SQL_H

#include "store/question.h"

#define NM_HOLDERS_SQL \
    "SELECT w.live_bytes AS live_bytes, w.site AS site, w.live_count AS live_count, ( SELECT " \
    "max(l.late_bytes_per_step) FROM leak_by_site AS l WHERE l.site = w.site AND l.pid IS w.pid AND l.heap IS " \
    "w.heap ) AS late_bytes_per_step, EXISTS ( SELECT 1 FROM leak_by_site AS l WHERE l.site = w.site AND l.pid IS " \
    "w.pid AND l.heap IS w.heap ) AS is_leak FROM z_out_of_memory_site AS w WHERE w.out_of_memory_id = :case_id " \
    "AND w.live_bytes > 0 ORDER BY w.live_bytes DESC, w.site LIMIT :most_count;"
#define NM_HOLDERS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(live_bytes) TEXT(site) INTEGER(live_count) \
    REAL(late_bytes_per_step) FLAG(is_leak)
#define NM_HOLDERS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(case_id) INTEGER(most_count)
NM_QUESTION_ROW(holders, NM_HOLDERS_COLUMNS)
NM_QUESTION_ASK(holders, NM_HOLDERS_SQL, NM_HOLDERS_PARAMETERS)

#endif
