/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_used.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_USED_SQL_H
#define NM_EXPORT_SNAPSHOT_USED_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_USED_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(segment_id)
NM_QUESTION(snapshot_used, NM_SNAPSHOT_USED_COLUMNS, NM_QUESTION_NONE)

#endif
