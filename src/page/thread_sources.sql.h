/* SPDX-License-Identifier: Apache-2.0. Made of thread_sources.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_THREAD_SOURCES_SQL_H
#define NM_PAGE_THREAD_SOURCES_SQL_H

#include "store/question.h"

#define NM_THREAD_SOURCES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(source_code)
NM_QUESTION(thread_sources, NM_THREAD_SOURCES_COLUMNS, NM_QUESTION_NONE)

#endif
