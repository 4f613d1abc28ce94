/* SPDX-License-Identifier: Apache-2.0. Made of untold_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_UNTOLD_PEAKS_SQL_H
#define NM_SCREEN_UNTOLD_PEAKS_SQL_H

#include "store/question.h"

#define NM_UNTOLD_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device) TEXT(device_kind) INTEGER(peak_bytes) \
    INTEGER(capacity_bytes) INTEGER(peak_ns) INTEGER(peak_seq) TEXT(host) INTEGER(rank) INTEGER(pid) \
    INTEGER(moment_id)
#define NM_UNTOLD_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(untold_peaks, NM_UNTOLD_PEAKS_COLUMNS, NM_UNTOLD_PEAKS_PARAMETERS)

#endif
