/* SPDX-License-Identifier: Apache-2.0. Made of outstanding_kept.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_OUTSTANDING_KEPT_SQL_H
#define NM_STORE_VERDICTS_OUTSTANDING_KEPT_SQL_H

#include "store/question.h"

NM_QUESTION_RUN(outstanding_kept, NM_QUESTION_NONE)

#endif
