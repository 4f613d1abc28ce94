/* SPDX-License-Identifier: Apache-2.0. Made of heap_sites.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_HEAP_SITES_SQL_H
#define NM_SCREEN_HEAP_SITES_SQL_H

#include "store/question.h"

#define NM_HEAP_SITES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(site) INTEGER(live_bytes)
#define NM_HEAP_SITES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(pid) INTEGER(device) TEXT(host) \
    TEXT(heap) TEXT(level) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(heap_sites, NM_HEAP_SITES_COLUMNS, NM_HEAP_SITES_PARAMETERS)

#endif
