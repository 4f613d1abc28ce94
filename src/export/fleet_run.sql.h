/* SPDX-License-Identifier: Apache-2.0. Made of fleet_run.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FLEET_RUN_SQL_H
#define NM_EXPORT_FLEET_RUN_SQL_H

#include "store/question.h"

#define NM_FLEET_RUN_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(job) INTEGER(start_realtime_ns) TEXT(host) \
    INTEGER(host_count) INTEGER(first_rank_number) INTEGER(last_rank_number) INTEGER(pid)
NM_QUESTION_OF_TEXTS(fleet_run, NM_FLEET_RUN_COLUMNS, NM_QUESTION_NONE)

#endif
