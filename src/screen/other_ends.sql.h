/* SPDX-License-Identifier: Apache-2.0. Made of other_ends.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_SCREEN_OTHER_ENDS_SQL_H
#define NM_SCREEN_OTHER_ENDS_SQL_H

#include "store/question.h"

#define NM_OTHER_ENDS_SQL \
    "SELECT count(*) AS process_count, (SELECT count(*) > 0 FROM input WHERE kind = 'trace') AS is_ending FROM " \
    "process WHERE process_id IN ( SELECT h.process_id FROM z_heap_sum AS u JOIN heap AS h ON h.heap_id = " \
    "u.heap_id WHERE u.peak_bytes > 0 ) AND NOT (end_kind = 'exit' AND end_status = 0) AND NOT (:is_going_on AND " \
    "end_kind = 'running') AND input_id IN (SELECT i.input_id FROM input AS i WHERE i.kind = 'trace');"
#define NM_OTHER_ENDS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(process_count) FLAG(is_ending)
#define NM_OTHER_ENDS_PARAMETERS(INTEGER, FLAG, REAL, TEXT) FLAG(is_going_on)
NM_QUESTION(other_ends, NM_OTHER_ENDS_SQL, NM_OTHER_ENDS_COLUMNS, NM_OTHER_ENDS_PARAMETERS)

#endif
