/* SPDX-License-Identifier: Apache-2.0
 *
 * What the pages of a table must be is said by its columns, in words of ours; where they begin, by the file. A connection that may not
 * write has no page in memory that the file lacks.
 */
#include "store/bulk/table_pages.h"

#include "store/bulk/column_nulls.sql.h"
#include "store/database.h"

/* Where the pages begin; NM_NULL: it has other columns than integers, or a rule that pages do not show. */
static nm_status find_root(sqlite3 *db, const char *schema, const char *table, int64_t *root_page, nm_error *err)
{
    char *sql =
        sqlite3_mprintf("SELECT m.rootpage FROM \"%w\".sqlite_master AS m WHERE m.type = 'table' AND m.name = %Q"
                        " AND m.sql NOT LIKE '%%CHECK%%' AND m.sql NOT LIKE '%%WITHOUT%%'"
                        " AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) AS c WHERE c.type <> 'INTEGER'"
                        " OR coalesce(c.dflt_value, '0') <> '0' OR c.pk <> (c.cid = 0) OR c.cid >= %d)",
                        schema, table, NM_CELL_COLUMNS_MAX);
    nm_status status = sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                   : nm_db_get_int(db, sql, root_page, err);

    sqlite3_free(sql);
    return status;
}

static nm_status find_nulls(sqlite3 *db, const char *table, nm_table_pages *pages, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_column_nulls_row row;
    nm_status status = nm_column_nulls_ask(db, table, &rows, err);

    while (status == NM_OK && nm_column_nulls_next(rows, &row)) {
        pages->has_null[row.place_number] = row.is_nullable;
        pages->is_else_zero[row.place_number] = row.is_else_zero;
        pages->form.column_count++;
    }
    return nm_question_end(rows, status, err);
}

nm_status nm_table_pages_open(sqlite3 *db, const char *schema, const char *table, nm_table_pages *pages, nm_error *err)
{
    sqlite3_file *file = NULL;
    int64_t root_page = NM_NULL;
    nm_status status = NM_OK;

    *pages = (nm_table_pages){0};
    if (sqlite3_db_readonly(db, schema) != 1 ||
        sqlite3_file_control(db, schema, SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || file == NULL ||
        file->pMethods == NULL)
        return NM_OK;
    status = find_root(db, schema, table, &root_page, err);
    if (status != NM_OK || root_page < 2 || root_page > UINT32_MAX)
        return status;
    pages->form.root_page = (uint32_t)root_page;
    pages->form.has_null = pages->has_null;
    pages->form.is_else_zero = pages->is_else_zero;
    status = find_nulls(db, table, pages, err);
    pages->file = status == NM_OK ? file : NULL;
    return status;
}

nm_status nm_table_pages_read(const nm_table_pages *pages, const nm_table_rows *wanted, bool *is_rest, nm_error *err)
{
    *is_rest = true;
    return pages->file == NULL ? NM_OK : nm_table_read(pages->file, &pages->form, wanted, is_rest, err);
}
