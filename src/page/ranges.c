/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation gets its number when it begins, so the one around it has a smaller number and is known by then.
 */
#include "page/ranges.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "page/columns.h"
#include "store/database.h"

static const char operations_sql[] =
    "SELECT o.operation_id, o.parent_id, CASE WHEN k.name = 'module' THEN o.name END,"
    " CASE WHEN k.name = 'category' THEN o.name END FROM operation AS o"
    " JOIN operation_kind AS k ON k.kind = o.kind WHERE EXISTS (SELECT 1 FROM operation AS m"
    " JOIN operation_kind AS n ON n.kind = m.kind WHERE n.name IN ('module', 'category')) ORDER BY o.operation_id";
enum { COLUMN_ID, COLUMN_PARENT, COLUMN_MODULE, COLUMN_CATEGORY };

static nm_status take_operation(nm_page_ranges *ranges, nm_strings *strings, sqlite3_stmt *row, nm_error *err)
{
    nm_page_range range, around = nm_page_ranges_find(ranges, sqlite3_column_int64(row, COLUMN_PARENT));
    nm_status status = nm_page_columns_text(strings, row, COLUMN_MODULE, &range.module, err);

    if (status == NM_OK)
        status = nm_page_columns_text(strings, row, COLUMN_CATEGORY, &range.category, err);
    if (status == NM_OK)
        status = nm_array_grow(&ranges->items, &ranges->capacity, ranges->count + 1, sizeof *ranges->items, err);
    if (status != NM_OK)
        return status;
    range.operation_id = sqlite3_column_int64(row, COLUMN_ID);
    range.module = range.module == 0 ? around.module : range.module;
    range.category = range.category == 0 ? around.category : range.category;
    ranges->items[ranges->count++] = range;
    return NM_OK;
}

nm_status nm_page_ranges_read(nm_page_ranges *ranges, sqlite3 *db, nm_strings *strings, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(db, operations_sql, &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take_operation(ranges, strings, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

nm_page_range nm_page_ranges_find(const nm_page_ranges *ranges, int64_t operation_id)
{
    size_t low = 0, high = ranges->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (ranges->items[middle].operation_id == operation_id)
            return ranges->items[middle];
        if (ranges->items[middle].operation_id < operation_id)
            low = middle + 1;
        else
            high = middle;
    }
    return (nm_page_range){0};
}

void nm_page_ranges_free(nm_page_ranges *ranges)
{
    free(ranges->items);
    *ranges = (nm_page_ranges){0};
}
