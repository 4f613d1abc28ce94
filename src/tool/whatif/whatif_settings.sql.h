/* SPDX-License-Identifier: Apache-2.0. Made of whatif_settings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_WHATIF_WHATIF_SETTINGS_SQL_H
#define NM_TOOL_WHATIF_WHATIF_SETTINGS_SQL_H

#include "store/question.h"

#define NM_WHATIF_SETTINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) TEXT(name) TEXT(value)
NM_QUESTION_OF_TEXTS(whatif_settings, NM_WHATIF_SETTINGS_COLUMNS, NM_QUESTION_NONE)

#endif
