/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of sites_of_stacks.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_SITES_OF_STACKS_SQL_H
#define NM_STORE_VERDICTS_SITES_OF_STACKS_SQL_H

#include "store/question.h"

#define NM_SITES_OF_STACKS_SQL \
    "SELECT stack_id, site_frame_id FROM stack WHERE site_frame_id IS NOT NULL ORDER BY stack_id;"
#define NM_SITES_OF_STACKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(stack_id) INTEGER(site_frame_id)
NM_QUESTION_ROW(sites_of_stacks, NM_SITES_OF_STACKS_COLUMNS)
NM_QUESTION_ASK(sites_of_stacks, NM_SITES_OF_STACKS_SQL, NM_QUESTION_NONE)
NM_QUESTION_GET(sites_of_stacks, NM_QUESTION_NONE)

#endif
