/* SPDX-License-Identifier: Apache-2.0. Made of unjudged_findings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_UNJUDGED_FINDINGS_SQL_H
#define NM_SCREEN_UNJUDGED_FINDINGS_SQL_H

#include "store/question.h"

#define NM_UNJUDGED_FINDINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(sentence) TEXT(evidence)
NM_QUESTION_OF_TEXTS(unjudged_findings, NM_UNJUDGED_FINDINGS_COLUMNS, NM_QUESTION_NONE)

#endif
