/* SPDX-License-Identifier: Apache-2.0
 *
 * An operation gets its number when it begins, so the one around it has a smaller number and is known by then.
 */
#include "report/html_modules.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "report/html_columns.h"
#include "store/database.h"

static const char operations_sql[] =
    "SELECT o.operation_id, o.parent_id, CASE WHEN k.name = 'module' THEN o.name END FROM operation AS o"
    " JOIN operation_kind AS k ON k.kind = o.kind WHERE EXISTS (SELECT 1 FROM operation AS m"
    " JOIN operation_kind AS n ON n.kind = m.kind WHERE n.name = 'module') ORDER BY o.operation_id";

static nm_status take_operation(nm_html_modules *modules, nm_strings *strings, sqlite3_stmt *row, nm_error *err)
{
    nm_html_module module = {.operation_id = sqlite3_column_int64(row, 0)};
    nm_status status = nm_html_columns_text(strings, row, 2, &module.path, err);

    if (module.path == 0 && !nm_db_is_null(row, 1))
        module.path = nm_html_modules_find(modules, sqlite3_column_int64(row, 1));
    if (status == NM_OK)
        status = nm_array_grow(&modules->items, &modules->capacity, modules->count + 1, sizeof *modules->items, err);
    if (status == NM_OK)
        modules->items[modules->count++] = module;
    return status;
}

nm_status nm_html_modules_read(nm_html_modules *modules, sqlite3 *db, nm_strings *strings, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(db, operations_sql, &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take_operation(modules, strings, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

int64_t nm_html_modules_find(const nm_html_modules *modules, int64_t operation_id)
{
    size_t low = 0, high = modules->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (modules->items[middle].operation_id == operation_id)
            return modules->items[middle].path;
        if (modules->items[middle].operation_id < operation_id)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

void nm_html_modules_free(nm_html_modules *modules)
{
    free(modules->items);
    *modules = (nm_html_modules){0};
}
