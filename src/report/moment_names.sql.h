/* SPDX-License-Identifier: Apache-2.0. Made of moment_names.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_MOMENT_NAMES_SQL_H
#define NM_REPORT_MOMENT_NAMES_SQL_H

#include "store/question.h"

#define NM_MOMENT_NAMES_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_named) FLAG(is_mark) TEXT(mark_names)
#define NM_MOMENT_NAMES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment)
NM_QUESTION_OF_TEXTS(moment_names, NM_MOMENT_NAMES_COLUMNS, NM_MOMENT_NAMES_PARAMETERS)

#endif
