/* SPDX-License-Identifier: Apache-2.0. Made of trend_foreign.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_TREND_FOREIGN_SQL_H
#define NM_STORE_VERDICTS_TREND_FOREIGN_SQL_H

#include "store/question.h"

#define NM_TREND_FOREIGN_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(foreign_bytes) INTEGER(total_bytes)
#define NM_TREND_FOREIGN_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(device_id)
NM_QUESTION(trend_foreign, NM_TREND_FOREIGN_COLUMNS, NM_TREND_FOREIGN_PARAMETERS)

#endif
