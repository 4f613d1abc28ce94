/* SPDX-License-Identifier: Apache-2.0. Made of json_inputs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_JSON_INPUTS_SQL_H
#define NM_REPORT_JSON_INPUTS_SQL_H

#include "store/question.h"

#define NM_JSON_INPUTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) TEXT(path) TEXT(kind) TEXT(verdict) \
    TEXT(detail) INTEGER(seen_count) INTEGER(ingested_count) INTEGER(dropped_count) INTEGER(damaged_count) \
    INTEGER(unrecovered_count) INTEGER(cut_bytes)
NM_QUESTION_OF_TEXTS(json_inputs, NM_JSON_INPUTS_COLUMNS, NM_QUESTION_NONE)

#endif
