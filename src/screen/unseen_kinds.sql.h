/* SPDX-License-Identifier: Apache-2.0. Made of unseen_kinds.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_UNSEEN_KINDS_SQL_H
#define NM_SCREEN_UNSEEN_KINDS_SQL_H

#include "store/question.h"

#define NM_UNSEEN_KINDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(kind_code) TEXT(text) INTEGER(unseen_count)
NM_QUESTION_OF_TEXTS(unseen_kinds, NM_UNSEEN_KINDS_COLUMNS, NM_QUESTION_NONE)

#endif
