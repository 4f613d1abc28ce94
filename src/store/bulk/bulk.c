/* SPDX-License-Identifier: Apache-2.0
 *
 * Which way a table's rows go, by what the table is, and the end, where all pages go into the file.
 */
#include "store/bulk/bulk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/bulk/column_nulls.sql.h"
#include "store/bulk/index_rows.h"
#include "store/bulk/narrow.h"
#include "store/bulk/row_order.h"
#include "store/bulk/sql_rows.h"
#include "store/bulk/table_check.h"
#include "store/bulk/table_file.h"

struct nm_bulk {
    nm_bulks *bulks; /* borrowed */
    nm_bulk *next;   /* of the same database */
    char table[64];
    size_t column_count;
    uint64_t row_count;
    int64_t root_page;                         /* NM_NULL: its rows go by INSERT */
    uint8_t has_null[NM_CELL_COLUMNS_MAX];     /* may a column be NULL */
    uint8_t is_else_zero[NM_CELL_COLUMNS_MAX]; /* is one that a row ends without 0, not NULL */
    nm_narrow *narrow;                   /* owned; rows come as its view shows them. NULL: as the table has them */
    int64_t values[NM_CELL_COLUMNS_MAX]; /* of the row at hand, as it comes, */
    bool has_row;                        /* if there is one */
    nm_row_order *order;                 /* owned */
    nm_index_rows *index;                /* owned; beside the order; NULL: it has none */
    nm_sql_rows *rows;                   /* owned; in place of the order, by INSERT */
};

struct nm_bulks {
    sqlite3 *db; /* borrowed */
    nm_bulk_options options;
    nm_bulk *first, *last; /* owned; in the order in which they were opened */
};

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

nm_status nm_bulks_new(sqlite3 *db, const nm_bulk_options *options, nm_bulks **out, nm_error *err)
{
    nm_bulks *bulks = calloc(1, sizeof *bulks);

    *out = bulks;
    if (bulks == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    bulks->db = db;
    bulks->options = *options;
    if (bulks->options.memory_bytes == 0)
        bulks->options.memory_bytes = NM_BULK_MEMORY_BYTES;
    return NM_OK;
}

/* Is it nothing that pages written past SQLite could not keep? *root_page is NM_NULL otherwise. */
static nm_status find_root(nm_bulk *bulk, int64_t *root_page, nm_error *err)
{
    static const char form[] = "SELECT m.rootpage FROM main.sqlite_master AS m WHERE m.type = 'table' AND m.name = '%s'"
                               " AND m.sql NOT LIKE '%%CHECK%%' AND m.sql NOT LIKE '%%WITHOUT%%'"
                               " AND NOT EXISTS (SELECT 1 FROM main.sqlite_master AS o WHERE o.type IN ('index', "
                               "'trigger') AND o.tbl_name = m.name)"
                               " AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) AS c WHERE c.type <> 'INTEGER'"
                               " OR coalesce(c.dflt_value, '0') <> '0' OR c.pk <> (c.cid = 0))";
    char sql[1024];

    *root_page = NM_NULL;
    if (bulk->bulks->options.is_plain || bulk->column_count > NM_CELL_COLUMNS_MAX)
        return NM_OK;
    snprintf(sql, sizeof sql, form, bulk->table);
    return nm_db_get_int(bulk->bulks->db, sql, root_page, err);
}

static nm_status find_nulls(nm_bulk *bulk, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_column_nulls_row row;
    nm_status status = nm_column_nulls_ask(bulk->bulks->db, bulk->table, &rows, err);

    while (status == NM_OK && nm_column_nulls_next(rows, &row)) {
        bulk->has_null[row.place_number] = row.is_nullable;
        bulk->is_else_zero[row.place_number] = row.is_else_zero;
    }
    return nm_question_end(rows, status, err);
}

static nm_status open_way(nm_bulk *bulk, const nm_columns *columns, nm_error *err)
{
    nm_bulks *bulks = bulk->bulks;
    int column_count = 0;
    nm_status status = nm_columns_check(bulks->db, columns, &column_count, err);

    if (status != NM_OK)
        return status;
    bulk->column_count = (size_t)column_count;
    snprintf(bulk->table, sizeof bulk->table, "%s", columns->table);
    status = find_root(bulk, &bulk->root_page, err);
    if (status != NM_OK)
        return status;
    if (bulk->root_page == NM_NULL)
        return nm_sql_rows_open(bulks->db, columns, &bulk->rows, err);
    status = find_nulls(bulk, err);
    if (status == NM_OK)
        status = nm_index_rows_new(columns, &bulk->index, err);
    return status == NM_OK ? nm_row_order_new(bulks->options.path, bulks->options.memory_bytes, &bulk->order, err)
                           : status;
}

nm_status nm_bulks_open(nm_bulks *bulks, const nm_columns *columns, nm_bulk **out, nm_error *err)
{
    nm_bulk *bulk = calloc(1, sizeof *bulk);
    nm_status status = NM_OK;

    if (bulk == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (bulks->last != NULL)
        bulks->last->next = bulk;
    else
        bulks->first = bulk;
    bulks->last = bulk;
    *out = bulk;
    bulk->bulks = bulks;
    bulk->root_page = NM_NULL;
    if (nm_narrow_is(columns)) {
        status = nm_narrow_new(bulks->db, columns, &bulk->narrow, err);
        columns = bulk->narrow == NULL ? columns : nm_narrow_kept(bulk->narrow);
    }
    return status == NM_OK ? open_way(bulk, columns, err) : status;
}

/* Without the last columns that are what they are where a row ends before them. */
static size_t count_kept(const nm_bulk *bulk, const int64_t *values)
{
    size_t count = bulk->column_count;

    while (count > 1 && values[count - 1] == (bulk->is_else_zero[count - 1] ? 0 : NM_NULL))
        count--;
    return count;
}

/* The row at hand is filled. */
static nm_status keep_row(nm_bulk *bulk, nm_error *err)
{
    int64_t *values = bulk->values;
    nm_status status = NM_OK;

    if (!bulk->has_row)
        return NM_OK;
    bulk->has_row = false;
    if (bulk->narrow != NULL)
        status = nm_narrow_row(bulk->narrow, values, err);
    if (status == NM_OK && bulk->rows != NULL) {
        status = nm_sql_rows_next(bulk->rows, &values, err);
        if (status == NM_OK)
            memcpy(values, bulk->values, bulk->column_count * sizeof *values);
        return status;
    }
    if (status == NM_OK && bulk->index != NULL)
        status = nm_index_rows_add(bulk->index, values, err);
    return status == NM_OK ? nm_row_order_add(bulk->order, values, count_kept(bulk, values), err) : status;
}

nm_status nm_bulk_next(nm_bulk *bulk, int64_t **values, nm_error *err)
{
    bulk->row_count++;
    if (bulk->rows != NULL && bulk->narrow == NULL)
        return nm_sql_rows_next(bulk->rows, values, err);
    nm_status status = keep_row(bulk, err);
    bulk->has_row = status == NM_OK;
    *values = bulk->values;
    return status;
}

uint64_t nm_bulk_row_count(const nm_bulk *bulk)
{
    return bulk->row_count;
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static nm_status add_cell(void *context, const nm_cell *cell, nm_error *err)
{
    return nm_table_file_add(context, cell, err);
}

static bool has_index(const nm_bulk *bulk)
{
    return bulk->index != NULL && nm_index_rows_root(bulk->index) != NM_NULL;
}

static nm_status write_table(nm_bulk *bulk, nm_table_file *file, nm_error *err)
{
    if (bulk->order == NULL)
        return NM_OK;
    nm_status status = nm_table_file_begin(file, bulk->root_page, err);

    if (status == NM_OK)
        status = nm_row_order_each(bulk->order, add_cell, file, err);
    if (status == NM_OK)
        status = nm_table_file_end(file, err);
    nm_row_order_free(bulk->order);
    bulk->order = NULL;
    if (status != NM_OK || !has_index(bulk))
        return status;
    const nm_index_entries entries = nm_index_rows_entries(bulk->index);
    return nm_table_file_index(file, nm_index_rows_root(bulk->index), &entries, err);
}

static nm_status write_tables(nm_bulks *bulks, nm_error *err)
{
    nm_table_file *file = NULL;
    nm_status status = nm_table_file_open(bulks->options.fd, &file, err);

    for (nm_bulk *bulk = bulks->first; bulk != NULL && status == NM_OK; bulk = bulk->next)
        status = write_table(bulk, file, err);
    if (status == NM_OK)
        status = nm_table_file_finish(file, err);
    nm_table_file_free(file);
    return status;
}

static nm_status check_table(const nm_bulk *bulk, nm_error *err)
{
    const nm_table_form form = {.root_page = (uint32_t)bulk->root_page,
                                .row_count = bulk->row_count,
                                .column_count = bulk->column_count,
                                .has_null = bulk->has_null,
                                .is_else_zero = bulk->is_else_zero};
    int fd = bulk->bulks->options.fd;
    nm_status status = nm_table_check(fd, &form, err);

    if (status != NM_OK || !has_index(bulk))
        return status;
    const nm_index_entries entries = nm_index_rows_entries(bulk->index);
    return nm_index_check(fd, nm_index_rows_root(bulk->index), &entries, err);
}

static nm_status check_tables(const nm_bulks *bulks, nm_error *err)
{
    nm_status status = NM_OK;

    for (const nm_bulk *bulk = bulks->first; bulk != NULL && status == NM_OK; bulk = bulk->next)
        if (bulk->root_page != NM_NULL)
            status = check_table(bulk, err);
    return status;
}

static nm_status flush_rows(nm_bulks *bulks, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_bulk *bulk = bulks->first; bulk != NULL && status == NM_OK; bulk = bulk->next) {
        status = keep_row(bulk, err);
        if (status == NM_OK && bulk->rows != NULL)
            status = nm_sql_rows_flush(bulk->rows, err);
        if (status == NM_OK && bulk->narrow != NULL)
            status = nm_narrow_finish(bulk->narrow, err);
        if (status == NM_OK && bulk->index != NULL)
            status = nm_index_rows_make(bulk->index, bulks->db, err);
    }
    return status;
}

/*
 * The connection may have temporary tables that are still wanted, so it is not closed: it lets go of its lock, with the first
 * read in its normal mode, and when it takes one again it finds by the file's change counter that it has to forget its pages.
 */
nm_status nm_bulks_finish(nm_bulks *bulks, nm_error *err)
{
    nm_status status = flush_rows(bulks, err);

    if (status != NM_OK || bulks->options.is_plain)
        return status;
    status = nm_db_exec(bulks->db,
                        "COMMIT; PRAGMA main.locking_mode = NORMAL; SELECT 1 FROM main.sqlite_master LIMIT 1", err);
    if (status == NM_OK)
        status = write_tables(bulks, err);
    if (status == NM_OK)
        status = check_tables(bulks, err);
    return status == NM_OK ? nm_db_exec(bulks->db, "PRAGMA main.locking_mode = EXCLUSIVE; BEGIN", err) : status;
}

void nm_bulks_free(nm_bulks *bulks)
{
    if (bulks == NULL)
        return;
    for (nm_bulk *bulk = bulks->first; bulk != NULL;) {
        nm_bulk *next = bulk->next;

        nm_row_order_free(bulk->order);
        nm_index_rows_free(bulk->index);
        nm_sql_rows_close(bulk->rows);
        nm_narrow_free(bulk->narrow);
        free(bulk);
        bulk = next;
    }
    free(bulks);
}
