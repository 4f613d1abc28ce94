/* SPDX-License-Identifier: Apache-2.0. Made of shared_devices.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_SHARED_DEVICES_SQL_H
#define NM_SCREEN_SHARED_DEVICES_SQL_H

#include "store/question.h"

#define NM_SHARED_DEVICES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(device) INTEGER(peak_bytes) \
    INTEGER(capacity_bytes) INTEGER(holder_count) INTEGER(all_count)
#define NM_SHARED_DEVICES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(shared_devices, NM_SHARED_DEVICES_COLUMNS, NM_SHARED_DEVICES_PARAMETERS)

#endif
