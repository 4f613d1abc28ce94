/* SPDX-License-Identifier: Apache-2.0
 *
 * --report FILE.html: the page of the database, beside its place until all is written.
 */
#ifndef NM_TOOL_INGEST_PAGE_H
#define NM_TOOL_INGEST_PAGE_H

#include <stdbool.h>

#include "page/write.h"
#include "store/publish.h"

typedef struct ingest_page {
    const char *path; /* borrowed; NULL: none was asked for, and nothing below does anything */
    nm_draft draft;
    bool is_forced;
} ingest_page;

/* May it stand there? Before the long work. */
nm_status ingest_page_open(ingest_page *page, const char *path, bool is_forced, nm_error *err);

nm_status ingest_page_write(ingest_page *page, sqlite3 *db, const nm_page_options *options, nm_error *err);
nm_status ingest_page_publish(ingest_page *page, nm_error *err); /* gives it its name */
nm_status ingest_page_settle(const ingest_page *page, nm_error *err);
void ingest_page_close(ingest_page *page); /* what was not published is gone */

#endif
