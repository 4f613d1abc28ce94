/* SPDX-License-Identifier: Apache-2.0. Made of segment_places.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_SEGMENT_PLACES_SQL_H
#define NM_PAGE_SEGMENT_PLACES_SQL_H

#include "store/question.h"

#define NM_SEGMENT_PLACES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(address) INTEGER(size_bytes) INTEGER(alloc_seq) \
    INTEGER(free_seq)
#define NM_SEGMENT_PLACES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(segment_id)
NM_QUESTION(segment_places, NM_SEGMENT_PLACES_COLUMNS, NM_SEGMENT_PLACES_PARAMETERS)

#endif
