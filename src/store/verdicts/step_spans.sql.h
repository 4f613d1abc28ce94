/* SPDX-License-Identifier: Apache-2.0. Made of step_spans.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_STEP_SPANS_SQL_H
#define NM_STORE_VERDICTS_STEP_SPANS_SQL_H

#include "store/question.h"

#define NM_STEP_SPANS_SQL \
    "CREATE TEMP TABLE step_span ( heap_id INTEGER PRIMARY KEY, first_generation INTEGER, step_count INTEGER ); " \
    "INSERT INTO step_span SELECT h.heap_id, p.first_generation, p.step_count FROM heap AS h JOIN ( SELECT " \
    "process_id, min(generation) AS first_generation, max(generation) - min(generation) AS step_count FROM step " \
    "GROUP BY process_id ) AS p ON p.process_id = h.process_id WHERE p.step_count >= 2;"
NM_QUESTION_SCRIPT(step_spans, NM_STEP_SPANS_SQL)

#endif
