/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_PROCESSES_SQL_H
#define NM_EXPORT_PERFETTO_PROCESSES_SQL_H

#include "store/question.h"

#define NM_PERFETTO_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(pid) TEXT(name)
NM_QUESTION_OF_TEXTS(perfetto_processes, NM_PERFETTO_PROCESSES_COLUMNS, NM_QUESTION_NONE)

#endif
