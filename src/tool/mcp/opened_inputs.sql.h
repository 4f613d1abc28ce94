/* SPDX-License-Identifier: Apache-2.0. Made of opened_inputs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_MCP_OPENED_INPUTS_SQL_H
#define NM_TOOL_MCP_OPENED_INPUTS_SQL_H

#include "store/question.h"

#define NM_OPENED_INPUTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(path) TEXT(kind) TEXT(verdict) \
    TEXT(events_ingested) TEXT(events_dropped) INTEGER(note_count)
NM_QUESTION_OF_TEXTS(opened_inputs, NM_OPENED_INPUTS_COLUMNS, NM_QUESTION_NONE)

#endif
