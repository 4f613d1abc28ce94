/* SPDX-License-Identifier: Apache-2.0. Made of graphs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_GRAPHS_SQL_H
#define NM_SCREEN_GRAPHS_SQL_H

#include "store/question.h"

#define NM_GRAPHS_SQL \
    "SELECT count(*) AS graph_count, sum(end_kind = 'destroyed') AS destroyed_count, sum(CASE WHEN end_kind <> " \
    "'destroyed' THEN driver_bytes ELSE 0 END) AS driver_bytes, sum(CASE WHEN end_kind <> 'destroyed' THEN " \
    "block_bytes ELSE 0 END) AS block_bytes FROM z_graph_memory;"
#define NM_GRAPHS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(graph_count) INTEGER(destroyed_count) \
    INTEGER(driver_bytes) INTEGER(block_bytes)
NM_QUESTION(graphs, NM_GRAPHS_SQL, NM_GRAPHS_COLUMNS, NM_QUESTION_NONE)

#endif
