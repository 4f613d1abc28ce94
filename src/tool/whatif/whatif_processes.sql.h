/* SPDX-License-Identifier: Apache-2.0. Made of whatif_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_WHATIF_PROCESSES_SQL_H
#define NM_TOOL_WHATIF_WHATIF_PROCESSES_SQL_H

#include "store/question.h"

#define NM_WHATIF_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(pid) INTEGER(rank) \
    TEXT(host) FLAG(is_late) FLAG(is_whole) FLAG(is_kept) FLAG(is_hit_estimated) FLAG(is_peak_estimated) \
    FLAG(is_peak_untold)
NM_QUESTION_OF_TEXTS(whatif_processes, NM_WHATIF_PROCESSES_COLUMNS, NM_QUESTION_NONE)

#endif
