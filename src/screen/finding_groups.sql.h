/* SPDX-License-Identifier: Apache-2.0. Made of finding_groups.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_FINDING_GROUPS_SQL_H
#define NM_SCREEN_FINDING_GROUPS_SQL_H

#include "store/question.h"

#define NM_FINDING_GROUPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_group_id) TEXT(severity) TEXT(site) \
    TEXT(sentence) INTEGER(all_count)
#define NM_FINDING_GROUPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(finding_groups, NM_FINDING_GROUPS_COLUMNS, NM_FINDING_GROUPS_PARAMETERS)

#endif
