/* SPDX-License-Identifier: Apache-2.0. Made of judged_steps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_JUDGED_STEPS_SQL_H
#define NM_STORE_VERDICTS_JUDGED_STEPS_SQL_H

#include "store/question.h"

NM_QUESTION_SCRIPT(judged_steps)

#endif
