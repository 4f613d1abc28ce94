/* SPDX-License-Identifier: Apache-2.0. Made of whatif_devices.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_WHATIF_DEVICES_SQL_H
#define NM_TOOL_WHATIF_WHATIF_DEVICES_SQL_H

#include "store/question.h"

#define NM_WHATIF_DEVICES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device_id) INTEGER(ordinal) \
    INTEGER(physical_ordinal) TEXT(kind) INTEGER(capacity_bytes)
NM_QUESTION_OF_TEXTS(whatif_devices, NM_WHATIF_DEVICES_COLUMNS, NM_QUESTION_NONE)

#endif
