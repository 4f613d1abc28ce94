/* SPDX-License-Identifier: Apache-2.0. Made of site_verdict_add.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_SITE_VERDICT_ADD_SQL_H
#define NM_STORE_VERDICTS_SITE_VERDICT_ADD_SQL_H

#include "store/question.h"

#define NM_SITE_VERDICT_ADD_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(site_frame_id) \
    TEXT(verdict) TEXT(reason) REAL(growth_value)
NM_QUESTION_RUN(site_verdict_add, NM_SITE_VERDICT_ADD_PARAMETERS)

#endif
