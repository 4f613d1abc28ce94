/* SPDX-License-Identifier: Apache-2.0. Made of json_groups.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_JSON_GROUPS_SQL_H
#define NM_REPORT_JSON_GROUPS_SQL_H

#include "store/question.h"

#define NM_JSON_GROUPS_SQL \
    "SELECT finding_group_id, severity, kind, site, verdict, holder_count, all_count AS member_count, total_bytes, " \
    "total_count, least_amount AS least_value, median_amount AS median_value, most_amount AS most_value, " \
    "worst_rank AS rank, worst_pid AS pid, worst_host AS host, sentence, CASE WHEN kind = 'leak' THEN 'bytes' WHEN " \
    "kind IN ('misuse', 'out of memory', 'object leak') THEN 'count' ELSE (SELECT min(f.unit) FROM finding AS f " \
    "WHERE f.kind = finding_group.kind) END AS unit FROM finding_group WHERE (:kind IS NULL OR kind = :kind) AND " \
    "(:severity IS NULL OR severity = :severity) AND (:site IS NULL OR instr(site, :site) > 0) ORDER BY " \
    "finding_group_id;"
#define NM_JSON_GROUPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_group_id) TEXT(severity) TEXT(kind) \
    TEXT(site) TEXT(verdict) INTEGER(holder_count) INTEGER(member_count) INTEGER(total_bytes) INTEGER(total_count) \
    REAL(least_value) REAL(median_value) REAL(most_value) INTEGER(rank) INTEGER(pid) TEXT(host) TEXT(sentence) \
    TEXT(unit)
#define NM_JSON_GROUPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(severity) TEXT(site)
NM_QUESTION_OF_TEXTS(json_groups, NM_JSON_GROUPS_SQL, NM_JSON_GROUPS_COLUMNS, NM_JSON_GROUPS_PARAMETERS)

#endif
