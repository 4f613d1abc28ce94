/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of measure_findings.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_MEASURE_FINDINGS_SQL_H
#define NM_SCREEN_MEASURE_FINDINGS_SQL_H

#include "store/question.h"

#define NM_MEASURE_FINDINGS_SQL \
    "SELECT finding_id, severity, kind, rank, pid, device, (SELECT upper(max(kind)) FROM device) AS device_kind, " \
    "heap, site, bytes, sentence, evidence, remedy, count(*) OVER () AS all_count, sum(severity = 'warning') OVER " \
    "() AS warning_count, sum(bytes) OVER () AS all_bytes FROM finding WHERE source_view = 'health' AND severity " \
    "IN ('fault', 'warning', 'minor') AND (severity = 'minor') = :is_minor ORDER BY finding_id LIMIT :most_count;"
#define NM_MEASURE_FINDINGS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_minor) INTEGER(most_count)
NM_QUESTION_ASK(measure_findings, NM_MEASURE_FINDINGS_SQL, NM_MEASURE_FINDINGS_PARAMETERS)

#endif
