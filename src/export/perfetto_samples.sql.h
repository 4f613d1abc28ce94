/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_samples.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_SAMPLES_SQL_H
#define NM_EXPORT_PERFETTO_SAMPLES_SQL_H

#include "store/question.h"

#define NM_PERFETTO_SAMPLES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(device_id) \
    INTEGER(kind_code) TEXT(name) INTEGER(ns) INTEGER(used_bytes)
NM_QUESTION_OF_TEXTS(perfetto_samples, NM_PERFETTO_SAMPLES_COLUMNS, NM_QUESTION_NONE)

#endif
