/* SPDX-License-Identifier: Apache-2.0. Made of trend_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_PROCESSES_SQL_H
#define NM_STORE_VERDICTS_TREND_PROCESSES_SQL_H

#include "store/question.h"

#define NM_TREND_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(step_count) FLAG(is_lost) \
    FLAG(is_late)
NM_QUESTION(trend_processes, NM_TREND_PROCESSES_COLUMNS, NM_QUESTION_NONE)

#endif
