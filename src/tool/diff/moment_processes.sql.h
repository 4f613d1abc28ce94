/* SPDX-License-Identifier: Apache-2.0. Made of moment_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_DIFF_MOMENT_PROCESSES_SQL_H
#define NM_TOOL_DIFF_MOMENT_PROCESSES_SQL_H

#include "store/question.h"

#define NM_MOMENT_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(all_count) INTEGER(both_count)
#define NM_MOMENT_PROCESSES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(from) TEXT(to) INTEGER(rank)
NM_QUESTION(moment_processes, NM_MOMENT_PROCESSES_COLUMNS, NM_MOMENT_PROCESSES_PARAMETERS)

#endif
