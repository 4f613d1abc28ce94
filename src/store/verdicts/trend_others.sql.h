/* SPDX-License-Identifier: Apache-2.0. Made of trend_others.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_OTHERS_SQL_H
#define NM_STORE_VERDICTS_TREND_OTHERS_SQL_H

#include "store/question.h"

#define NM_TREND_OTHERS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(seq) INTEGER(change_bytes)
#define NM_TREND_OTHERS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(device_id)
NM_QUESTION(trend_others, NM_TREND_OTHERS_COLUMNS, NM_TREND_OTHERS_PARAMETERS)

#endif
