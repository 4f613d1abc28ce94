/* SPDX-License-Identifier: Apache-2.0. Made of site_labels.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_STACK_SITE_LABELS_SQL_H
#define NM_TOOL_STACK_SITE_LABELS_SQL_H

#include "store/question.h"

#define NM_SITE_LABELS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(label)
#define NM_SITE_LABELS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id)
NM_QUESTION_OF_TEXTS(site_labels, NM_SITE_LABELS_COLUMNS, NM_SITE_LABELS_PARAMETERS)

#endif
