/* SPDX-License-Identifier: Apache-2.0. Made of json_groups.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_JSON_GROUPS_SQL_H
#define NM_REPORT_JSON_GROUPS_SQL_H

#include "store/question.h"

#define NM_JSON_GROUPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_group_id) TEXT(severity) TEXT(kind) \
    TEXT(site) TEXT(verdict) INTEGER(holder_count) INTEGER(member_count) INTEGER(total_bytes) INTEGER(total_count) \
    REAL(least_value) REAL(median_value) REAL(most_value) INTEGER(rank) INTEGER(pid) TEXT(host) TEXT(sentence) \
    TEXT(unit)
#define NM_JSON_GROUPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(severity) TEXT(site)
NM_QUESTION_OF_TEXTS(json_groups, NM_JSON_GROUPS_COLUMNS, NM_JSON_GROUPS_PARAMETERS)

#endif
