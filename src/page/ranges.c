/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation gets its number when it begins, so the one around it has a smaller number and is known by then.
 */
#include "page/ranges.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "page/columns.h"
#include "page/operation_ranges.sql.h"

static nm_status take_operation(nm_page_ranges *ranges, nm_strings *strings, const nm_operation_ranges_row *row,
                                nm_error *err)
{
    nm_page_range range, around = nm_page_ranges_find(ranges, row->parent_id);
    nm_status status = nm_page_columns_text(strings, NM_TEXT_OF(row, module), &range.module, err);

    if (status == NM_OK)
        status = nm_page_columns_text(strings, NM_TEXT_OF(row, category), &range.category, err);
    if (status == NM_OK)
        status = nm_array_grow(&ranges->items, &ranges->capacity, ranges->count + 1, sizeof *ranges->items, err);
    if (status != NM_OK)
        return status;
    range.operation_id = row->operation_id;
    range.module = range.module == 0 ? around.module : range.module;
    range.category = range.category == 0 ? around.category : range.category;
    ranges->items[ranges->count++] = range;
    return NM_OK;
}

nm_status nm_page_ranges_read(nm_page_ranges *ranges, sqlite3 *db, nm_strings *strings, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_operation_ranges_row row;
    nm_status status = nm_operation_ranges_ask(db, &rows, err);

    while (status == NM_OK && nm_operation_ranges_next(rows, &row))
        status = take_operation(ranges, strings, &row, err);
    return nm_question_end(rows, status, err);
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
