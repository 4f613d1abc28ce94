/* SPDX-License-Identifier: Apache-2.0. Made of profile_places.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_PLACES_SQL_H
#define NM_EXPORT_PROFILE_PLACES_SQL_H

#include "store/question.h"

#define NM_PROFILE_PLACES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(pid) TEXT(name)
#define NM_PROFILE_PLACES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id)
NM_QUESTION_OF_TEXTS(profile_places, NM_PROFILE_PLACES_COLUMNS, NM_PROFILE_PLACES_PARAMETERS)

#endif
