/* SPDX-License-Identifier: Apache-2.0. Made of check_unjudged.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_TOOL_CHECK_CHECK_UNJUDGED_SQL_H
#define NM_TOOL_CHECK_CHECK_UNJUDGED_SQL_H

#include "store/question.h"

#define NM_CHECK_UNJUDGED_SQL \
    "SELECT f.text AS text, f.sentence AS sentence FROM finding AS f WHERE f.kind = :kind AND f.severity = " \
    "'not judged' AND (:rank IS NULL OR f.rank IS NULL OR f.rank = :rank) AND (:heap IS NULL OR f.heap IS NULL OR " \
    "f.heap = :heap OR f.level = :heap) AND (:allows_partial = 0 OR f.reason NOT IN ('not all was recorded', " \
    "'still recording')) AND (:of_rising = 0 OR f.reason NOT IN ('no steps', 'too few steps', 'not seen to end', " \
    "'stack cut') OR (f.reason = 'no steps' AND NOT EXISTS ( SELECT 1 FROM process AS p JOIN heap AS h ON " \
    "h.process_id = p.process_id JOIN usage AS u ON u.heap_id = h.heap_id WHERE p.host IS f.host AND p.rank IS " \
    "f.rank AND p.pid IS f.pid GROUP BY p.process_id HAVING max(u.last_ns) / 60000000000 - min(u.last_ns) / " \
    "60000000000 >= (SELECT least FROM minimum WHERE judgement = 'rising') ))) ORDER BY f.finding_id LIMIT 1;"
#define NM_CHECK_UNJUDGED_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(text) TEXT(sentence)
#define NM_CHECK_UNJUDGED_PARAMETERS(INTEGER, FLAG, REAL, TEXT) TEXT(kind) INTEGER(rank) TEXT(heap) \
    TEXT(allows_partial) TEXT(of_rising)
NM_QUESTION_OF_TEXTS(check_unjudged, NM_CHECK_UNJUDGED_SQL, NM_CHECK_UNJUDGED_COLUMNS, NM_CHECK_UNJUDGED_PARAMETERS)

#endif
