/* SPDX-License-Identifier: Apache-2.0. Made of device_peaks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_DEVICE_PEAKS_SQL_H
#define NM_SCREEN_DEVICE_PEAKS_SQL_H

#include "store/question.h"

#define NM_DEVICE_PEAKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(moment_id) INTEGER(device) TEXT(device_kind) \
    INTEGER(used_bytes) INTEGER(total_bytes) INTEGER(ns) FLAG(is_stale) TEXT(host) INTEGER(rank) INTEGER(pid)
#define NM_DEVICE_PEAKS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(device_peaks, NM_DEVICE_PEAKS_COLUMNS, NM_DEVICE_PEAKS_PARAMETERS)

#endif
