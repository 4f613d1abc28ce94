/* SPDX-License-Identifier: Apache-2.0. Made of bundle_lines.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_BUNDLE_BUNDLE_LINES_SQL_H
#define NM_TOOL_BUNDLE_BUNDLE_LINES_SQL_H

#include "store/question.h"

#define NM_BUNDLE_LINES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(text)
#define NM_BUNDLE_LINES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(section_number)
NM_QUESTION_OF_TEXTS(bundle_lines, NM_BUNDLE_LINES_COLUMNS, NM_BUNDLE_LINES_PARAMETERS)

#endif
