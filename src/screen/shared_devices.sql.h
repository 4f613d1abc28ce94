/* SPDX-License-Identifier: Apache-2.0. Made of shared_devices.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_SHARED_DEVICES_SQL_H
#define NM_SCREEN_SHARED_DEVICES_SQL_H

#include "store/question.h"

#define NM_SHARED_DEVICES_SQL \
    "SELECT host, device, peak_bytes, capacity_bytes, holder_count, all_count FROM ( SELECT host, device, " \
    "peak_bytes, coalesce(capacity_bytes, -1) AS capacity_bytes, holder_count, count(*) OVER () AS all_count, " \
    "max(holder_count) OVER () AS most_holder_count, min(coalesce(capacity_bytes, -1)) OVER () AS " \
    "least_capacity_bytes, max(coalesce(capacity_bytes, -1)) OVER () AS most_capacity_bytes FROM device_peak ) " \
    "WHERE most_holder_count > 1 OR least_capacity_bytes <> most_capacity_bytes ORDER BY CAST(peak_bytes AS REAL) " \
    "/ nullif(max(capacity_bytes, 0), 0) DESC, peak_bytes DESC, host, device LIMIT :most_count;"
#define NM_SHARED_DEVICES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) INTEGER(device) INTEGER(peak_bytes) \
    INTEGER(capacity_bytes) INTEGER(holder_count) INTEGER(all_count)
#define NM_SHARED_DEVICES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(shared_devices, NM_SHARED_DEVICES_SQL, NM_SHARED_DEVICES_COLUMNS, NM_SHARED_DEVICES_PARAMETERS)

#endif
