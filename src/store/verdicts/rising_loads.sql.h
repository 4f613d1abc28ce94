/* SPDX-License-Identifier: Apache-2.0. Made of rising_loads.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_RISING_LOADS_SQL_H
#define NM_STORE_VERDICTS_RISING_LOADS_SQL_H

#include "store/question.h"

#define NM_RISING_LOADS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(max_live_bytes) INTEGER(live_bytes) \
    INTEGER(peak_bytes)
#define NM_RISING_LOADS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id)
NM_QUESTION(rising_loads, NM_RISING_LOADS_COLUMNS, NM_RISING_LOADS_PARAMETERS)

#endif
