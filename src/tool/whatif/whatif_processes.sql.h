/* SPDX-License-Identifier: Apache-2.0. Made of whatif_processes.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_WHATIF_PROCESSES_SQL_H
#define NM_TOOL_WHATIF_WHATIF_PROCESSES_SQL_H

#include "store/question.h"

#define NM_WHATIF_PROCESSES_SQL \
    "SELECT process_id, pid, rank, host, baseline = 'unknown' AS is_late, is_complete AND events_late = 0 AS " \
    "is_whole, events_unkept > 0 AS is_kept, hit_basis <> 'exact' AS is_hit_estimated, peak_basis = 'estimate' AS " \
    "is_peak_estimated, peak_basis IN ('none', 'curve') AS is_peak_untold FROM process JOIN input USING (input_id);"
#define NM_WHATIF_PROCESSES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(pid) INTEGER(rank) \
    TEXT(host) FLAG(is_late) FLAG(is_whole) FLAG(is_kept) FLAG(is_hit_estimated) FLAG(is_peak_estimated) \
    FLAG(is_peak_untold)
NM_QUESTION_OF_TEXTS(whatif_processes, NM_WHATIF_PROCESSES_SQL, NM_WHATIF_PROCESSES_COLUMNS, NM_QUESTION_NONE)

#endif
