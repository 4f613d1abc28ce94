/* SPDX-License-Identifier: Apache-2.0. Made of trend_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_PROCESSES_SQL_H
#define NM_STORE_VERDICTS_TREND_PROCESSES_SQL_H

#include "store/question.h"

#define NM_TREND_PROCESSES_SQL \
    "SELECT heap.process_id AS process_id, coalesce(max(CASE WHEN t.end_seq IS NOT NULL THEN t.last_generation " \
    "END), 0) AS step_count, max(input.events_dropped + input.events_damaged + input.events_unrecovered + " \
    "(input.is_loss_exact = 0)) > 0 AS is_lost, max(input.baseline = 'unknown') AS is_late FROM z_step_sum AS t " \
    "JOIN heap ON heap.heap_id = t.heap_id JOIN process ON process.process_id = heap.process_id JOIN input ON " \
    "input.input_id = process.input_id GROUP BY heap.process_id ORDER BY heap.process_id;"
#define NM_TREND_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(step_count) FLAG(is_lost) \
    FLAG(is_late)
NM_QUESTION(trend_processes, NM_TREND_PROCESSES_SQL, NM_TREND_PROCESSES_COLUMNS, NM_QUESTION_NONE)

#endif
