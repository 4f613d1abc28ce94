/* SPDX-License-Identifier: Apache-2.0
 *
 * Table `plumbing`: the patterns by which sites are judged.
 */
#ifndef NM_STORE_PLUMBING_H
#define NM_STORE_PLUMBING_H

#include <sqlite3.h>

#include "sites/patterns.h"

/* Adds the patterns of a text, as nm_patterns_parse reads it. */
nm_status nm_plumbing_add(sqlite3 *db, nm_bytes text, nm_error *err);

/* All patterns, in the order in which they came. *out is to be freed on failure too. */
nm_status nm_plumbing_read(sqlite3 *db, nm_patterns *out, nm_error *err);

/* Of which version the rules are by which a schema's sites were found: NM_SITE_RULES_VERSION of sites/site.h, or an older one. */
nm_status nm_plumbing_version(sqlite3 *db, const char *schema, int64_t *version, nm_error *err);

/* Do two schemas of a connection judge sites by the same patterns? Only then are their sites compared. */
nm_status nm_plumbing_is_same(sqlite3 *db, const char *schema, const char *other, bool *is_same, nm_error *err);

#endif
