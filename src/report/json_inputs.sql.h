/* SPDX-License-Identifier: Apache-2.0. Made of json_inputs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_JSON_INPUTS_SQL_H
#define NM_REPORT_JSON_INPUTS_SQL_H

#include "store/question.h"

#define NM_JSON_INPUTS_SQL \
    "SELECT host, path, kind, verdict, detail, events_seen AS seen_count, events_ingested AS ingested_count, " \
    "events_dropped AS dropped_count, events_damaged AS damaged_count, events_unrecovered AS unrecovered_count, " \
    "bytes_cut AS cut_bytes FROM completeness ORDER BY path, host;"
#define NM_JSON_INPUTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(host) TEXT(path) TEXT(kind) TEXT(verdict) \
    TEXT(detail) INTEGER(seen_count) INTEGER(ingested_count) INTEGER(dropped_count) INTEGER(damaged_count) \
    INTEGER(unrecovered_count) INTEGER(cut_bytes)
NM_QUESTION_OF_TEXTS(json_inputs, NM_JSON_INPUTS_SQL, NM_JSON_INPUTS_COLUMNS, NM_QUESTION_NONE)

#endif
