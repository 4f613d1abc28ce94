/* SPDX-License-Identifier: Apache-2.0. Made of fleet_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FLEET_STEPS_SQL_H
#define NM_EXPORT_FLEET_STEPS_SQL_H

#include "store/question.h"

#define NM_FLEET_STEPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(row_count)
NM_QUESTION(fleet_steps, NM_FLEET_STEPS_COLUMNS, NM_QUESTION_NONE)

#endif
