/* SPDX-License-Identifier: Apache-2.0. Made of check_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_PEAKS_SQL_H
#define NM_TOOL_CHECK_CHECK_PEAKS_SQL_H

#include "store/question.h"

#define NM_CHECK_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(heap) TEXT(level) REAL(measured_value) REAL(limit_value) TEXT(note)
#define NM_CHECK_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(heap)
NM_QUESTION_OF_TEXTS(check_peaks, NM_CHECK_PEAKS_COLUMNS, NM_CHECK_PEAKS_PARAMETERS)

#endif
