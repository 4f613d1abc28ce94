/* SPDX-License-Identifier: Apache-2.0. Made of flaws.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_FLAWS_SQL_H
#define NM_SCREEN_FLAWS_SQL_H

#include "store/question.h"

#define NM_FLAWS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(flaw_count)
NM_QUESTION(flaws, NM_FLAWS_COLUMNS, NM_QUESTION_NONE)

#endif
