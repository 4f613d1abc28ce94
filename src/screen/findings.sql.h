/* SPDX-License-Identifier: Apache-2.0. Made of findings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_FINDINGS_SQL_H
#define NM_SCREEN_FINDINGS_SQL_H

#include "store/question.h"

#define NM_FINDINGS_SQL \
    "SELECT finding_id, severity, kind, rank, pid, device, (SELECT upper(max(kind)) FROM device) AS device_kind, " \
    "heap, site, bytes, sentence, evidence, remedy, count(*) OVER () AS all_count, sum(severity = 'warning') OVER " \
    "() AS warning_count, sum(bytes) OVER () AS all_bytes FROM finding WHERE CASE WHEN :kind IS NULL THEN kind NOT " \
    "IN ('leak', 'suspect', 'misuse', 'out of memory') ELSE kind = :kind END AND (severity IN ('fault', 'warning', " \
    "'minor') OR kind = 'suspect') AND (severity = 'minor') = :is_minor ORDER BY source_id IS NOT :first_id, " \
    "finding_id LIMIT :most_count;"
#define NM_FINDINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id) TEXT(severity) TEXT(kind) INTEGER(rank) \
    INTEGER(pid) INTEGER(device) TEXT(device_kind) TEXT(heap) TEXT(site) INTEGER(bytes) TEXT(sentence) \
    TEXT(evidence) TEXT(remedy) INTEGER(all_count) INTEGER(warning_count) INTEGER(all_bytes)
#define NM_FINDINGS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) FLAG(is_minor) INTEGER(first_id) \
    INTEGER(most_count)
NM_QUESTION_OF_TEXTS(findings, NM_FINDINGS_SQL, NM_FINDINGS_COLUMNS, NM_FINDINGS_PARAMETERS)

#endif
