/* SPDX-License-Identifier: Apache-2.0. Made of graph_ends.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_VERDICTS_GRAPH_ENDS_SQL_H
#define NM_STORE_VERDICTS_GRAPH_ENDS_SQL_H

#include "store/question.h"

#define NM_GRAPH_ENDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(graph_id) INTEGER(destroyed_seq)
NM_QUESTION(graph_ends, NM_GRAPH_ENDS_COLUMNS, NM_QUESTION_NONE)

#endif
