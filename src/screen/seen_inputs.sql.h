/* SPDX-License-Identifier: Apache-2.0. Made of seen_inputs.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_SEEN_INPUTS_SQL_H
#define NM_SCREEN_SEEN_INPUTS_SQL_H

#include "store/question.h"

#define NM_SEEN_INPUTS_SQL \
    "SELECT coalesce(sum(events_seen > events_ingested OR bytes_cut > 0 OR state NOT IN ('ended', 'recovered')), " \
    "0) AS cut_count, coalesce(sum(events_ingested), 0) AS event_count, coalesce(min(kind = 'trace'), 0) AND NOT " \
    "EXISTS (SELECT 1 FROM heap) AS is_untouched FROM input;"
#define NM_SEEN_INPUTS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(cut_count) INTEGER(event_count) FLAG(is_untouched)
NM_QUESTION(seen_inputs, NM_SEEN_INPUTS_SQL, NM_SEEN_INPUTS_COLUMNS, NM_QUESTION_NONE)

#endif
