/* SPDX-License-Identifier: Apache-2.0. Made of findings.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_FINDINGS_SQL_H
#define NM_SCREEN_FINDINGS_SQL_H

#include "store/question.h"

#define NM_FINDINGS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(finding_id) TEXT(severity) TEXT(kind) INTEGER(rank) \
    INTEGER(pid) INTEGER(device) TEXT(device_kind) TEXT(heap) TEXT(site) INTEGER(bytes) TEXT(sentence) \
    TEXT(evidence) TEXT(remedy) INTEGER(all_count) INTEGER(warning_count) INTEGER(all_bytes)
#define NM_FINDINGS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) FLAG(is_minor) INTEGER(first_id) \
    INTEGER(most_count)
NM_QUESTION_OF_TEXTS(findings, NM_FINDINGS_COLUMNS, NM_FINDINGS_PARAMETERS)

#endif
