/* SPDX-License-Identifier: Apache-2.0. Made of chart_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_CHART_STEPS_SQL_H
#define NM_EXPORT_CHART_STEPS_SQL_H

#include "store/question.h"

#define NM_CHART_STEPS_SQL \
    "SELECT coalesce(CASE WHEN :has_times THEN begin_ns ELSE begin_seq END, 0) AS begin_number FROM step WHERE " \
    "process_id = :process_id AND (device_id IS NULL OR :device_id IS NULL OR device_id = :device_id) AND (SELECT " \
    "count(*) FROM step AS all_of WHERE all_of.process_id = :process_id) <= :most_count ORDER BY begin_seq, " \
    "step_id;"
#define NM_CHART_STEPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(begin_number)
#define NM_CHART_STEPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(has_times) INTEGER(process_id) INTEGER(device_id) \
    INTEGER(most_count)
NM_QUESTION(chart_steps, NM_CHART_STEPS_SQL, NM_CHART_STEPS_COLUMNS, NM_CHART_STEPS_PARAMETERS)

#endif
