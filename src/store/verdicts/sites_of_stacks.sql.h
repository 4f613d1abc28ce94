/* SPDX-License-Identifier: Apache-2.0. Made of sites_of_stacks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_SITES_OF_STACKS_SQL_H
#define NM_STORE_VERDICTS_SITES_OF_STACKS_SQL_H

#include "store/question.h"

#define NM_SITES_OF_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(site_frame_id)
NM_QUESTION(sites_of_stacks, NM_SITES_OF_STACKS_COLUMNS, NM_QUESTION_NONE)

#endif
