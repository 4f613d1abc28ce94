/* SPDX-License-Identifier: Apache-2.0
 *
 * A moment as a user names it, and whether the database can tell what was live then; export/live.part.sql has what that was.
 */
#ifndef NM_REPORT_MOMENT_H
#define NM_REPORT_MOMENT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/error.h"

#define NM_MOMENT_WORD_BYTES 32

typedef struct nm_named_moment {
    const char *word; /* as view z_named_moment or 'seq:N' or nanoseconds; borrowed, or `own_word` */
    char own_word[NM_MOMENT_WORD_BYTES];
    bool is_peak;  /* each heap's own */
    bool has_rows; /* rows of single allocations tell of it: streams and categories are known */
} nm_named_moment;

/*
 * `asked` (kept, borrowed): 'peak', 'end', 'begin', the text of a mark, nanoseconds since the recording began, a time as '10s',
 * or 'seq:N'. NM_ERR_USAGE: there is no such moment, or the database does not tell what was live then.
 */
nm_status nm_moment_find(sqlite3 *db, const char *asked, nm_named_moment *out, nm_error *err);

#endif
