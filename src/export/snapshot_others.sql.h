/* SPDX-License-Identifier: Apache-2.0. Made of snapshot_others.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_SNAPSHOT_OTHERS_SQL_H
#define NM_EXPORT_SNAPSHOT_OTHERS_SQL_H

#include "store/question.h"

#define NM_SNAPSHOT_OTHERS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(device)
NM_QUESTION_ASK(snapshot_others, NM_SNAPSHOT_OTHERS_PARAMETERS)

#endif
