/* SPDX-License-Identifier: Apache-2.0
 *
 * Figures as they come: nothing is computed here, and shares and differences are the page's own.
 */
#include "page/tried.h"

#include <string.h>

#include "base/shown.h"
#include "page/tables.h"

static const char *const names[] = {"heap_id",        "name",         "is_fit",      "capacity_bytes", "failure_seq",
                                    "reserved_bytes", "live_bytes",   "stuck_bytes", "request_count",  "miss_count",
                                    "call_count",     "device_bytes", NULL};

static nm_status add_setting(nm_page *page, nm_page_columns *columns, int64_t heap_id, const nm_page_setting *setting,
                             nm_error *err)
{
    char shown[NM_PAGE_TEXT_BYTES];
    uint32_t name = 0;
    nm_status status;

    nm_shown_text(shown, sizeof shown, setting->name);
    status = nm_strings_intern(&page->strings, (nm_bytes){(const uint8_t *)shown, strlen(shown)}, &name, err);
    const int64_t values[] = {heap_id,
                              name,
                              setting->is_fit,
                              setting->capacity_bytes,
                              setting->failure_seq,
                              setting->reserved_bytes,
                              setting->live_bytes,
                              setting->stuck_bytes,
                              setting->request_count,
                              setting->miss_count,
                              setting->call_count,
                              setting->device_bytes};
    return status == NM_OK ? nm_page_columns_add(columns, values, err) : status;
}

nm_status nm_page_tried_write(nm_page *page, const nm_page_whatif *whatif, nm_error *err)
{
    nm_page_columns columns = {0};
    nm_status status = NM_OK;

    nm_page_columns_name(&columns, names);
    columns.columns[1].kind = NM_PAGE_TEXT;
    for (size_t i = 0; i < whatif->setting_count && status == NM_OK; i++)
        status = add_setting(page, &columns, whatif->heap_id, &whatif->settings[i], err);
    if (status == NM_OK)
        status = nm_page_tables_put(page, &columns, "whatif", err);
    nm_page_columns_free(&columns);
    return status;
}
