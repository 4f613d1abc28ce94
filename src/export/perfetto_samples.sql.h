/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_samples.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_SAMPLES_SQL_H
#define NM_EXPORT_PERFETTO_SAMPLES_SQL_H

#include "store/question.h"

#define NM_PERFETTO_SAMPLES_SQL \
    "SELECT s.process_id AS process_id, coalesce(s.device_id, 0) AS device_id, s.kind AS kind_code, " \
    "coalesce('device ' || coalesce(d.physical_ordinal, d.ordinal) || ' ', '') || coalesce(k.name, 'memory') || " \
    "' used' AS name, max(coalesce(s.ns, s.seq * 1000, 0), 0) AS ns, s.used_bytes AS used_bytes FROM memory_sample " \
    "AS s LEFT JOIN device AS d ON d.device_id = s.device_id LEFT JOIN z_memory_kind AS k ON k.kind = s.kind ORDER " \
    "BY 1, 2, 3, s.seq, s.ns;"
#define NM_PERFETTO_SAMPLES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) INTEGER(device_id) \
    INTEGER(kind_code) TEXT(name) INTEGER(ns) INTEGER(used_bytes)
NM_QUESTION_OF_TEXTS(perfetto_samples, NM_PERFETTO_SAMPLES_SQL, NM_PERFETTO_SAMPLES_COLUMNS, NM_QUESTION_NONE)

#endif
