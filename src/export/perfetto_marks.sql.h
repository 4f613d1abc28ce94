/* SPDX-License-Identifier: Apache-2.0. Made of perfetto_marks.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_PERFETTO_MARKS_SQL_H
#define NM_EXPORT_PERFETTO_MARKS_SQL_H

#include "store/question.h"

#define NM_PERFETTO_MARKS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_id) TEXT(name) INTEGER(ns)
NM_QUESTION_OF_TEXTS(perfetto_marks, NM_PERFETTO_MARKS_COLUMNS, NM_QUESTION_NONE)

#endif
