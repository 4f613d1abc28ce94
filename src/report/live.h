/* SPDX-License-Identifier: Apache-2.0
 *
 * What was live at a moment, by heap and stack: the moment as a user names it, whether the database can tell of it, and the
 * rows, for exports.
 */
#ifndef NM_REPORT_LIVE_H
#define NM_REPORT_LIVE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

#define NM_LIVE_WORD_BYTES 32

typedef struct nm_live_moment {
    const char *word; /* as view _named_moment or 'seq:N' or nanoseconds; borrowed, or `own_word` */
    char own_word[NM_LIVE_WORD_BYTES];
    bool is_peak;  /* each heap's own */
    bool has_rows; /* rows of single allocations tell of it: streams and categories are known */
} nm_live_moment;

/*
 * `asked` (kept, borrowed): 'peak', 'end', 'begin', the text of a mark, nanoseconds since the recording began, a time as '10s',
 * or 'seq:N'. NM_ERR_USAGE: there is no such moment, or the database does not tell what was live then.
 */
nm_status nm_live_find(sqlite3 *db, const char *asked, nm_live_moment *out, nm_error *err);

/*
 * Prepares `select` behind a WITH of two tables:
 *   place  heap_id, rank, pid, device, heap, level, and text: all of them in words, another one for each heap
 *   live   heap_id, stack_id, is_baseline, stream, category_id, live_count, live_bytes; without has_rows stream and
 *          category_id are NULL
 */
nm_status nm_live_prepare(sqlite3 *db, const nm_live_moment *moment, const char *select, sqlite3_stmt **out,
                          nm_error *err);

#endif
