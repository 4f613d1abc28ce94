/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of cases.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_CASES_SQL_H
#define NM_SCREEN_CASES_SQL_H

#include "store/question.h"

#define NM_CASES_SQL \
    "SELECT count(*) OVER () AS case_count, sum(outcome = 'recovered') OVER () AS recovered_count, " \
    "coalesce(tried_bytes, at_least_tried_bytes) AS asked_bytes, first_ns, first_seq, outcome, verdict, site, " \
    "tried_bytes, out_of_memory_id, substr(message, 10, instr(message, ' (') - 10) AS call, rank, pid, device, " \
    "(SELECT upper(max(kind)) FROM device) AS device_kind, needed_bytes, free_bytes, total_bytes, own_bytes, " \
    "other_bytes, pool_free_bytes, pool_largest_free_bytes, reserved_bytes, leaked_bytes, leaked_site, is_partial " \
    "FROM out_of_memory ORDER BY out_of_memory_id <> :first_id, outcome IS 'recovered', device IS NULL, " \
    "out_of_memory_id DESC LIMIT 1;"
#define NM_CASES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(case_count) INTEGER(recovered_count) \
    INTEGER(asked_bytes) INTEGER(first_ns) INTEGER(first_seq) TEXT(outcome) TEXT(verdict) TEXT(site) \
    INTEGER(tried_bytes) INTEGER(out_of_memory_id) TEXT(call) INTEGER(rank) INTEGER(pid) INTEGER(device) \
    TEXT(device_kind) INTEGER(needed_bytes) INTEGER(free_bytes) INTEGER(total_bytes) INTEGER(own_bytes) \
    INTEGER(other_bytes) INTEGER(pool_free_bytes) INTEGER(pool_largest_free_bytes) INTEGER(reserved_bytes) \
    INTEGER(leaked_bytes) TEXT(leaked_site) FLAG(is_partial)
#define NM_CASES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(first_id)
NM_QUESTION_ROW(cases, NM_CASES_COLUMNS)
NM_QUESTION_ASK(cases, NM_CASES_SQL, NM_CASES_PARAMETERS)

#endif
