/* SPDX-License-Identifier: Apache-2.0
 *
 * A finished database as one HTML file that asks nobody for anything: how it looks and what it does is in web/, what it shows
 * in blocks of data at its end (block.h). It is put together in memory, whose amount is that of the page and of its longest
 * table, whose rows are bounded, and does not grow with the number of events.
 */
#ifndef NM_PAGE_WRITE_H
#define NM_PAGE_WRITE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "say/sentence.h"

#define NM_PAGE_BYTES_MAX   ((uint64_t)16 << 20)
#define NM_PAGE_BYTES_LEAST ((uint64_t)1 << 20)

/* Another run beside that of the page, as npumem diff has it: A is the page's, B the other. */
typedef struct nm_page_against {
    sqlite3 *db;      /* borrowed: B, with A attached as `base`; nm_compare_check had nothing against the two */
    const char *name; /* as it is shown; borrowed */
} nm_page_against;

/* What another setting would have made of the recorded requests of a pool, as npumem whatif has it. Bytes and counts. */
typedef struct nm_page_setting {
    const char *name;                    /* borrowed */
    bool is_fit;                         /* the whole run was served */
    int64_t capacity_bytes, failure_seq; /* NM_NULL: not known; it fits, or not even what it begins with does */
    int64_t reserved_bytes, live_bytes, stuck_bytes; /* at the most */
    int64_t request_count, miss_count, call_count;
    int64_t device_bytes; /* the smallest device that would be enough; NM_NULL: none would */
} nm_page_setting;

typedef struct nm_page_whatif {
    int64_t heap_id;
    const nm_page_setting *settings; /* borrowed; the recorded one first */
    size_t setting_count;
} nm_page_whatif;

typedef struct nm_page_options {
    const char *database_path;      /* as it is shown; borrowed */
    size_t database_count;          /* so many were put together, of which that is the first; 0 is 1 */
    const char *summaries[2];       /* the screen as text, for who has no script, in each nm_language; borrowed */
    nm_language language;           /* which of them comes first */
    uint64_t bytes_max;             /* the page is never larger; 0: NM_PAGE_BYTES_MAX */
    const nm_page_against *against; /* borrowed; NULL: none */
    const nm_page_whatif *whatif;   /* borrowed; NULL: the page says how to ask */
    const char *scratch_path; /* beside it lies a copy of the database meanwhile; NULL: it cannot be asked in SQL */
} nm_page_options;

/* All text is foreign and becomes data or escaped text, never markup. The caller looks at ferror(out). NM_ERR_USAGE: not even what cannot be
 * left out fits. */
nm_status nm_page_write(sqlite3 *db, const nm_page_options *options, FILE *out, nm_error *err);

#endif
