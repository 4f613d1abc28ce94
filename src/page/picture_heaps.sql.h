/* SPDX-License-Identifier: Apache-2.0. Made of picture_heaps.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_PAGE_PICTURE_HEAPS_SQL_H
#define NM_PAGE_PICTURE_HEAPS_SQL_H

#include "store/question.h"

#define NM_PICTURE_HEAPS_SQL \
    "SELECT h.heap_id AS heap_id, t.first_seq AS first_seq, t.last_seq AS last_seq FROM z_heap_place AS h JOIN ( " \
    "SELECT p.input_id, min(u.first_seq) AS first_seq, max(u.last_seq) AS last_seq FROM usage AS u JOIN " \
    "z_heap_place AS p ON p.heap_id = u.heap_id GROUP BY p.input_id ) AS t ON t.input_id = h.input_id WHERE " \
    "t.last_seq > t.first_seq ORDER BY h.heap_id;"
#define NM_PICTURE_HEAPS_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(heap_id) INTEGER(first_seq) INTEGER(last_seq)
NM_QUESTION(picture_heaps, NM_PICTURE_HEAPS_SQL, NM_PICTURE_HEAPS_COLUMNS, NM_QUESTION_NONE)

#endif
