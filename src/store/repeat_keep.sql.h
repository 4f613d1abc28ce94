/* SPDX-License-Identifier: Apache-2.0. Made of repeat_keep.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_STORE_REPEAT_KEEP_SQL_H
#define NM_STORE_REPEAT_KEEP_SQL_H

#include "store/question.h"

#define NM_REPEAT_KEEP_SQL \
    "UPDATE temp.repeat_input SET kept_id = coalesce( ( SELECT k.id FROM temp.repeat_input AS k WHERE " \
    "k.recording_id = repeat_input.recording_id ORDER BY k.known DESC, k.ingested DESC, k.is_complete DESC, " \
    "k.detail DESC, k.is_redacted, k.beside DESC, k.name, k.id LIMIT 1 ), id ) WHERE kept_id IS NULL OR " \
    "recording_id IN (SELECT s.recording_id FROM temp.repeat_input AS s WHERE s.number = :number);"
#define NM_REPEAT_KEEP_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(number)
NM_QUESTION_RUN(repeat_keep, NM_REPEAT_KEEP_SQL, NM_REPEAT_KEEP_PARAMETERS)

#endif
