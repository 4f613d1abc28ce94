/* SPDX-License-Identifier: Apache-2.0. Made of export_facts.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_EXPORT_EXPORT_FACTS_SQL_H
#define NM_EXPORT_EXPORT_FACTS_SQL_H

#include "store/question.h"

#define NM_EXPORT_FACTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(start_realtime_ns) INTEGER(partial_count) \
    INTEGER(process_count) TEXT(command) INTEGER(last_ns) INTEGER(last_seq)
NM_QUESTION_OF_TEXTS(export_facts, NM_EXPORT_FACTS_COLUMNS, NM_QUESTION_NONE)

#endif
