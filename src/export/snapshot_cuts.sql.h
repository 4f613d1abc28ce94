/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_cuts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_CUTS_SQL_H
#define NM_EXPORT_SNAPSHOT_CUTS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_CUTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(allocation_id) INTEGER(size_bytes) \
    INTEGER(left_bytes)
NM_QUESTION(snapshot_cuts, NM_SNAPSHOT_CUTS_COLUMNS, NM_QUESTION_NONE)

#endif
