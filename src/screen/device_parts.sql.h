/* SPDX-License-Identifier: Apache-2.0. Made of device_parts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_DEVICE_PARTS_SQL_H
#define NM_SCREEN_DEVICE_PARTS_SQL_H

#include "store/question.h"

#define NM_DEVICE_PARTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(component) TEXT(heap) TEXT(part) INTEGER(bytes)
#define NM_DEVICE_PARTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(moment_id) TEXT(host) INTEGER(device) \
    INTEGER(used_bytes) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(device_parts, NM_DEVICE_PARTS_COLUMNS, NM_DEVICE_PARTS_PARAMETERS)

#endif
