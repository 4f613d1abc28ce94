/* SPDX-License-Identifier: Apache-2.0
 *
 * Which allocations of a finished database stay with --detail live: what nobody freed, and what was live at a moment that keeps rows. It
 * is the rule of retention.h, asked of rows that are all there. What carries such a row stays with it, which is not known here.
 *
 *     nm_live_rule_read(&rule, db, "main", &err);
 *     nm_live_rule_keeps(&rule, heap_id, end_kind, alloc_seq, free_seq)       of each row
 *     nm_live_rule_free(&rule);
 */
#ifndef NM_STORE_LIVE_RULE_H
#define NM_STORE_LIVE_RULE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct nm_live_point {
    int64_t scope, id, seq;
} nm_live_point;

typedef struct nm_live_heap nm_live_heap;

typedef struct nm_live_rule {
    nm_live_point *points; /* owned; in order */
    size_t point_count, point_capacity;
    nm_live_heap *heaps; /* owned; by heap */
    size_t heap_count, heap_capacity;
} nm_live_rule;

/* Of the database attached as `schema`. Zeroed before; to be freed on failure too. */
nm_status nm_live_rule_read(nm_live_rule *rule, sqlite3 *db, const char *schema, nm_error *err);

/* `alloc_seq`: -1 for what was there before the first event; `free_seq`: NM_NULL for none. */
bool nm_live_rule_keeps(const nm_live_rule *rule, int64_t heap_id, int64_t end_kind, int64_t alloc_seq,
                        int64_t free_seq);

void nm_live_rule_free(nm_live_rule *rule);

/* Numbers of the rows that stay. */
typedef struct nm_live_ids {
    int64_t *items; /* owned */
    size_t count, capacity;
} nm_live_ids;

#endif
