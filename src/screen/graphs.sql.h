/* SPDX-License-Identifier: Apache-2.0. Made of graphs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_GRAPHS_SQL_H
#define NM_SCREEN_GRAPHS_SQL_H

#include "store/question.h"

#define NM_GRAPHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(graph_count) INTEGER(destroyed_count) \
    INTEGER(driver_bytes) INTEGER(block_bytes)
NM_QUESTION(graphs, NM_GRAPHS_COLUMNS, NM_QUESTION_NONE)

#endif
