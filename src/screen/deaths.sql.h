/* SPDX-License-Identifier: Apache-2.0. Made of deaths.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_DEATHS_SQL_H
#define NM_SCREEN_DEATHS_SQL_H

#include "store/question.h"

#define NM_DEATHS_SQL \
    "SELECT 1 AS is_dead, o.error_code AS error_code, ( SELECT max(t.number) FROM step AS t JOIN process AS q ON " \
    "q.process_id = t.process_id WHERE q.pid = o.pid AND t.begin_seq <= o.first_seq ) AS step FROM out_of_memory " \
    "AS o JOIN process AS p ON p.pid = o.pid AND p.host IS o.host WHERE o.outcome = 'fatal' AND (p.end_kind = " \
    "'signal' OR (p.end_kind = 'exit' AND p.end_status <> 0)) ORDER BY o.first_seq LIMIT 1;"
#define NM_DEATHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_dead) INTEGER(error_code) INTEGER(step)
NM_QUESTION(deaths, NM_DEATHS_SQL, NM_DEATHS_COLUMNS, NM_QUESTION_NONE)

#endif
