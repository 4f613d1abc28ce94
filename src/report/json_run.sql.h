/* SPDX-License-Identifier: Apache-2.0. Made of json_run.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_JSON_RUN_SQL_H
#define NM_REPORT_JSON_RUN_SQL_H

#include "store/question.h"

#define NM_JSON_RUN_COLUMNS(INTEGER, FLAG, REAL, TEXT) FLAG(is_shared) TEXT(device_kind) TEXT(input_path)
NM_QUESTION_OF_TEXTS(json_run, NM_JSON_RUN_COLUMNS, NM_QUESTION_NONE)

#endif
