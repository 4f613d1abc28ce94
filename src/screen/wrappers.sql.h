/* SPDX-License-Identifier: Apache-2.0. Made of wrappers.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_WRAPPERS_SQL_H
#define NM_SCREEN_WRAPPERS_SQL_H

#include "store/question.h"

#define NM_WRAPPERS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(function) TEXT(heap) REAL(share_ratio)
NM_QUESTION_OF_TEXTS(wrappers, NM_WRAPPERS_COLUMNS, NM_QUESTION_NONE)

#endif
