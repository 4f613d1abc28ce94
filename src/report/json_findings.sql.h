/* SPDX-License-Identifier: Apache-2.0. Made of json_findings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_JSON_FINDINGS_SQL_H
#define NM_REPORT_JSON_FINDINGS_SQL_H

#include "store/question.h"

#define NM_JSON_FINDINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id) TEXT(severity) TEXT(kind) \
    TEXT(reason) TEXT(host) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(heap) TEXT(level) TEXT(site) \
    TEXT(verdict) TEXT(basis) REAL(found_value) TEXT(unit) INTEGER(bytes) INTEGER(count) TEXT(moment) TEXT(sentence) \
    TEXT(evidence) TEXT(remedy) TEXT(next_command) TEXT(source_view) INTEGER(source_id)
#define NM_JSON_FINDINGS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_judged) TEXT(kind) TEXT(severity) TEXT(site) \
    INTEGER(finding_id)
NM_QUESTION_OF_TEXTS(json_findings, NM_JSON_FINDINGS_COLUMNS, NM_JSON_FINDINGS_PARAMETERS)

#endif
