/* SPDX-License-Identifier: Apache-2.0
 *
 * As the CSV files: written under another name, so that a page is there whole or not at all, and never of another database than
 * the one that is published after it.
 */
#include "tool/ingest/page.h"

#include <errno.h>
#include <stdlib.h>

nm_status ingest_page_open(ingest_page *page, const char *path, bool is_forced, nm_error *err)
{
    *page = (ingest_page){.path = path, .is_forced = is_forced};
    if (path == NULL)
        return NM_OK;
    return nm_output_check(path, is_forced, -1, err);
}

static nm_status fill(const ingest_page *page, FILE *file, sqlite3 *db, const nm_page_options *options, nm_error *err)
{
    nm_page_options whole = *options;
    char *scratch = NULL;
    nm_status status = asprintf(&scratch, "%s.db", page->path) < 0
                           ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                           : NM_OK;

    whole.scratch_path = scratch;
    if (status == NM_OK)
        status = nm_page_write(db, &whole, file, err);
    free(scratch);
    if (status == NM_OK && (fflush(file) != 0 || ferror(file)))
        status = nm_fail_write(err, errno);
    return nm_name_written(status, page->path, err);
}

nm_status ingest_page_write(ingest_page *page, sqlite3 *db, const nm_page_options *options, nm_error *err)
{
    FILE *file = NULL;
    nm_status status = nm_draft_begin(page->path, &page->draft, err);

    if (status == NM_OK && (file = nm_draft_stream(&page->draft)) == NULL)
        status = nm_fail_write(err, errno);
    if (status == NM_OK)
        status = fill(page, file, db, options, err);
    if (file != NULL && fclose(file) != 0 && status == NM_OK)
        status = nm_fail_write(err, errno);
    return status;
}

nm_status ingest_page_publish(ingest_page *page, nm_error *err)
{
    return page->path == NULL ? NM_OK : nm_draft_publish(&page->draft, page->is_forced, err);
}

nm_status ingest_page_settle(const ingest_page *page, nm_error *err)
{
    return page->path == NULL ? NM_OK : nm_output_settle(page->path, err);
}

void ingest_page_close(ingest_page *page)
{
    nm_draft_end(&page->draft);
    *page = (ingest_page){0};
}
