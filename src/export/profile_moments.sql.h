/* SPDX-License-Identifier: Apache-2.0. Made of profile_moments.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PROFILE_MOMENTS_SQL_H
#define NM_EXPORT_PROFILE_MOMENTS_SQL_H

#include "store/question.h"

#define NM_PROFILE_MOMENTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(moment) INTEGER(number)
#define NM_PROFILE_MOMENTS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_OF_TEXTS(profile_moments, NM_PROFILE_MOMENTS_COLUMNS, NM_PROFILE_MOMENTS_PARAMETERS)

#endif
