/* SPDX-License-Identifier: Apache-2.0. Made of judged_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_JUDGED_STEPS_SQL_H
#define NM_STORE_VERDICTS_JUDGED_STEPS_SQL_H

#include "store/question.h"

#define NM_JUDGED_STEPS_SQL \
    "CREATE TEMP TABLE judged_steps ( process_id INTEGER PRIMARY KEY, steps, unseen ); CREATE TEMP TABLE " \
    "judged_part ( process_id INTEGER PRIMARY KEY, steps, before ); INSERT INTO judged_steps SELECT x.process_id, " \
    "x.steps, coalesce( ( SELECT max(f.generation) FROM step AS f JOIN z_pause AS g ON g.process_id = f.process_id " \
    "WHERE f.process_id = x.process_id AND f.begin_seq < g.end_seq AND coalesce(g.begin_seq, -1) <= x.first_seq ), " \
    "0 ) FROM ( SELECT step.process_id, max(step.generation) AS steps, min(step.begin_seq) AS first_seq FROM step " \
    "LEFT JOIN ( SELECT process_id, min(coalesce(begin_seq, -1)) AS seq FROM z_pause WHERE end_seq IS NULL GROUP " \
    "BY process_id ) AS q ON q.process_id = step.process_id WHERE step.process_id IS NOT NULL AND (q.seq IS NULL " \
    "OR step.begin_seq <= q.seq) GROUP BY step.process_id ) AS x;"
NM_QUESTION_SCRIPT(judged_steps, NM_JUDGED_STEPS_SQL)

#endif
