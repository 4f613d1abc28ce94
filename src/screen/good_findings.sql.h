/* SPDX-License-Identifier: Apache-2.0. Made of good_findings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_GOOD_FINDINGS_SQL_H
#define NM_SCREEN_GOOD_FINDINGS_SQL_H

#include "store/question.h"

#define NM_GOOD_FINDINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(sentence) REAL(worst_value)
NM_QUESTION_OF_TEXTS(good_findings, NM_GOOD_FINDINGS_COLUMNS, NM_QUESTION_NONE)

#endif
