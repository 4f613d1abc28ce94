/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_FACTS_SQL_H
#define NM_EXPORT_SNAPSHOT_FACTS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(device_count) INTEGER(npu_count) \
    INTEGER(gpu_count) INTEGER(partial_count) INTEGER(inexact_count)
NM_QUESTION(snapshot_facts, NM_SNAPSHOT_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
