/* SPDX-License-Identifier: Apache-2.0
 *
 * A page while it is written, and how large it may get. Parts come in the order of what can be done without least: each may take a share
 * of what is left, and what does not fit is cut, which the page says (table "cut"). Single blocks are last and get the rest.
 */
#ifndef NM_PAGE_PAGE_H
#define NM_PAGE_PAGE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/strings.h"
#include "page/columns.h"

#define NM_PAGE_END       "</body>\n</html>\n"
#define NM_PAGE_END_BYTES ((uint64_t)sizeof NM_PAGE_END)

typedef struct nm_page {
    sqlite3 *db; /* borrowed */
    FILE *out;   /* borrowed; in memory, so that its position says how large the page is */
    uint64_t bytes_max;
    uint64_t begin_bytes; /* what is before the data */
    nm_strings strings;   /* texts of all tables */
    nm_page_columns cuts; /* what did not fit: name, row_count, kept_count */
} nm_page;

void nm_page_init(nm_page *page, sqlite3 *db, FILE *out, uint64_t bytes_max);
void nm_page_free(nm_page *page);

/* What parts may take so that of the room for data that share (0 to 1) is filled. */
uint64_t nm_page_room(const nm_page *page, double share);

/* Something of a page that can be written again, smaller. */
typedef struct nm_page_piece {
    void *context;
    nm_status (*write)(void *context, FILE *out, nm_error *err);
    bool (*shrink)(void *context, size_t bytes, uint64_t bytes_max); /* it took `bytes`; false: it cannot be smaller */
} nm_page_piece;

/* Writes it so small that it fits, or as small as it gets. */
nm_status nm_page_part(nm_page *page, const nm_page_piece *part, uint64_t bytes_max, nm_error *err);

/* How many of so many rows may fit where all take `bytes`: fewer in any case. */
size_t nm_page_fewer_rows(size_t row_count, size_t bytes, uint64_t bytes_max);

/* Writes a table of at most that size, of as many of its first rows as fit. */
nm_status nm_page_table(nm_page *page, const nm_page_columns *columns, const char *name, uint64_t bytes_max,
                        nm_error *err);

/* Notes that of something only a part is there. */
nm_status nm_page_cut(nm_page *page, const char *name, int64_t row_count, int64_t kept_count, nm_error *err);

/* The block of all texts, each with a zero byte behind it, in the order of their numbers from 1; those that do not fit are empty. Before it
 * the table of what was cut. No table with texts comes after it. */
nm_status nm_page_strings(nm_page *page, uint64_t bytes_max, nm_error *err);

#endif
