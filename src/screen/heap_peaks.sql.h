/* SPDX-License-Identifier: Apache-2.0. Made of heap_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_HEAP_PEAKS_SQL_H
#define NM_SCREEN_HEAP_PEAKS_SQL_H

#include "store/question.h"

#define NM_HEAP_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(device_kind) TEXT(host) TEXT(heap) TEXT(level) INTEGER(peak_bytes) INTEGER(peak_ns) INTEGER(peak_seq) \
    INTEGER(peak_reserved_bytes) INTEGER(namesake_count)
#define NM_HEAP_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(heap_peaks, NM_HEAP_PEAKS_COLUMNS, NM_HEAP_PEAKS_PARAMETERS)

#endif
