/* SPDX-License-Identifier: Apache-2.0
 *
 * Made of uneven_sites.sql, which says what it asks, by the target `sql`; a test compares them. store/question.h: how it is used.
 */
/* clang-format off */
#ifndef NM_SCREEN_UNEVEN_SITES_SQL_H
#define NM_SCREEN_UNEVEN_SITES_SQL_H

#include "store/question.h"

#define NM_UNEVEN_SITES_SQL \
    "SELECT i.max_rank AS rank, i.max_bytes AS max_bytes, i.site AS site, i.mean_bytes AS mean_bytes, i.rank_count " \
    "AS rank_count FROM rank_imbalance AS i JOIN ( SELECT w.heap, w.level, w.max_bytes FROM rank_imbalance AS w " \
    "WHERE w.site = '(whole heap)' ) AS h ON h.heap IS i.heap AND h.level IS i.level WHERE i.site NOT IN " \
    "('(whole heap)', '(stack cut)') AND i.is_partial = 0 AND i.imbalance_ratio > 1.25 AND (i.max_bytes - " \
    "i.mean_bytes) * 20 > h.max_bytes ORDER BY i.level = 'driver', i.max_bytes - i.mean_bytes DESC, i.site LIMIT " \
    ":most_count;"
#define NM_UNEVEN_SITES_COLUMNS(INTEGER, FLAG, REAL, TEXT) INTEGER(rank) INTEGER(max_bytes) TEXT(site) \
    INTEGER(mean_bytes) INTEGER(rank_count)
#define NM_UNEVEN_SITES_PARAMETERS(INTEGER, FLAG, REAL, TEXT) INTEGER(most_count)
NM_QUESTION_ROW(uneven_sites, NM_UNEVEN_SITES_COLUMNS)
NM_QUESTION_ASK(uneven_sites, NM_UNEVEN_SITES_SQL, NM_UNEVEN_SITES_PARAMETERS)

#endif
