/* SPDX-License-Identifier: Apache-2.0. Made of allocation_outstanding.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_BULK_ALLOCATION_OUTSTANDING_SQL_H
#define NM_STORE_BULK_ALLOCATION_OUTSTANDING_SQL_H

#include "store/question.h"

NM_QUESTION_RUN(allocation_outstanding, NM_QUESTION_NONE)

#endif
