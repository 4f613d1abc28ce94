/* SPDX-License-Identifier: Apache-2.0. Made of source_bases.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_SOURCE_BASES_SQL_H
#define NM_SCREEN_SOURCE_BASES_SQL_H

#include "store/question.h"

#define NM_SOURCE_BASES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) TEXT(leak_basis) TEXT(peak_basis) \
    TEXT(fragmentation_basis) TEXT(hit_basis) TEXT(device_basis) TEXT(failure_basis) TEXT(misuse_basis)
NM_QUESTION_OF_TEXTS(source_bases, NM_SOURCE_BASES_COLUMNS, NM_QUESTION_NONE)

#endif
