/* SPDX-License-Identifier: Apache-2.0. Made of other_bases.sql by the target `sql`; store/question.h says how it is used. */
/* clang-format off */
#ifndef NM_REPORT_OTHER_BASES_SQL_H
#define NM_REPORT_OTHER_BASES_SQL_H

#include "store/question.h"

#define NM_OTHER_BASES_SQL \
    "WITH a (level, size_basis) AS ( SELECT DISTINCT l.name, h.size_basis FROM base.heap AS h LEFT JOIN " \
    "base.process AS p ON p.process_id = h.process_id LEFT JOIN base.heap_level AS l ON l.level = h.level JOIN " \
    "base.z_heap_sum AS s ON s.heap_id = h.heap_id WHERE s.peak_bytes > 0 AND (:rank IS NULL OR p.rank = :rank) " \
    "AND (:level IS NULL OR l.name = :level) ), b (level, size_basis) AS ( SELECT DISTINCT l.name, h.size_basis " \
    "FROM main.heap AS h LEFT JOIN main.process AS p ON p.process_id = h.process_id LEFT JOIN main.heap_level AS l " \
    "ON l.level = h.level JOIN main.z_heap_sum AS s ON s.heap_id = h.heap_id WHERE s.peak_bytes > 0 AND (:rank IS " \
    "NULL OR p.rank = :rank) AND (:level IS NULL OR l.name = :level) ) SELECT a.level AS level, a.size_basis AS " \
    "base_basis, b.size_basis AS run_basis FROM a JOIN b ON b.level = a.level AND b.size_basis <> a.size_basis " \
    "WHERE (a.level, a.size_basis) NOT IN (SELECT level, size_basis FROM b) OR (b.level, b.size_basis) NOT IN " \
    "(SELECT level, size_basis FROM a) ORDER BY a.level LIMIT 1;"
#define NM_OTHER_BASES_COLUMNS(INTEGER, FLAG, REAL, TEXT) TEXT(level) TEXT(base_basis) TEXT(run_basis)
#define NM_OTHER_BASES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) TEXT(level)
NM_QUESTION_OF_TEXTS(other_bases, NM_OTHER_BASES_SQL, NM_OTHER_BASES_COLUMNS, NM_OTHER_BASES_PARAMETERS)

#endif
