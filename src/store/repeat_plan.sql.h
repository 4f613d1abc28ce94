/* SPDX-License-Identifier: Apache-2.0. Made of repeat_plan.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_PLAN_SQL_H
#define NM_STORE_REPEAT_PLAN_SQL_H

#include "store/question.h"

#define NM_REPEAT_PLAN_SQL \
    "CREATE TEMP TABLE IF NOT EXISTS repeat_input ( id INTEGER PRIMARY KEY, number, input_id, recording_id, known, " \
    "ingested, is_complete, detail, is_redacted, beside, name, kept_id, is_out, UNIQUE (number, input_id) ); " \
    "CREATE INDEX IF NOT EXISTS temp.repeat_recording ON repeat_input (recording_id); CREATE TEMP TABLE IF NOT " \
    "EXISTS repeat_begin ( number, owner, last_id, PRIMARY KEY (number, owner) ); CREATE TEMP TABLE IF NOT EXISTS " \
    "repeat_owner ( name PRIMARY KEY, depth ); CREATE TEMP TABLE IF NOT EXISTS repeat_gone ( owner, id, PRIMARY " \
    "KEY (owner, id) ) WITHOUT ROWID; DELETE FROM repeat_input; DELETE FROM repeat_begin;"
NM_QUESTION_SCRIPT(repeat_plan, NM_REPEAT_PLAN_SQL)

#endif
