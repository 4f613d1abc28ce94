/* SPDX-License-Identifier: Apache-2.0. Made of profile_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_HEAPS_SQL_H
#define NM_EXPORT_PROFILE_HEAPS_SQL_H

#include "store/question.h"

#define NM_PROFILE_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(ns)
#define NM_PROFILE_HEAPS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(moment)
NM_QUESTION(profile_heaps, NM_PROFILE_HEAPS_COLUMNS, NM_PROFILE_HEAPS_PARAMETERS)

#endif
