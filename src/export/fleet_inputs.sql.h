/* SPDX-License-Identifier: Apache-2.0. Made of fleet_inputs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_FLEET_INPUTS_SQL_H
#define NM_EXPORT_FLEET_INPUTS_SQL_H

#include "store/question.h"

#define NM_FLEET_INPUTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(recording_text) INTEGER(ingested_count)
NM_QUESTION_OF_TEXTS(fleet_inputs, NM_FLEET_INPUTS_COLUMNS, NM_QUESTION_NONE)

#endif
