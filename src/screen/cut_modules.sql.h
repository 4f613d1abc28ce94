/* SPDX-License-Identifier: Apache-2.0. Made of cut_modules.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_CUT_MODULES_SQL_H
#define NM_SCREEN_CUT_MODULES_SQL_H

#include "store/question.h"

#define NM_CUT_MODULES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(module) INTEGER(bytes)
NM_QUESTION_OF_TEXTS(cut_modules, NM_CUT_MODULES_COLUMNS, NM_QUESTION_NONE)

#endif
