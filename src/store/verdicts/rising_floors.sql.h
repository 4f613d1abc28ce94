/* SPDX-License-Identifier: Apache-2.0. Made of rising_floors.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_RISING_FLOORS_SQL_H
#define NM_STORE_VERDICTS_RISING_FLOORS_SQL_H

#include "store/question.h"

#define NM_RISING_FLOORS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(verdict_id) INTEGER(heap_id) \
    INTEGER(begin_minute) INTEGER(end_minute) INTEGER(minute) INTEGER(floor_bytes)
NM_QUESTION(rising_floors, NM_RISING_FLOORS_COLUMNS, NM_QUESTION_NONE)

#endif
