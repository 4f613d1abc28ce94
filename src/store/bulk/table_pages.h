/* SPDX-License-Identifier: Apache-2.0
 *
 * A large table of a database that is there, read past SQLite's machine: page by page, as table_check.h says. Who asks for rows takes from
 * SQLite what is left where the pages are not as npumem-ingest writes them: where SQLite has changed them, keeps them in a log beside the
 * file, or may change them. That takes longer, and is the same.
 *
 *     nm_table_pages_open(db, "main", "z_allocation", &pages, err);
 *     nm_table_pages_read(&pages, &wanted, &is_rest, err);      while a statement holds what is read
 */
#ifndef NM_STORE_BULK_TABLE_PAGES_H
#define NM_STORE_BULK_TABLE_PAGES_H

#include <sqlite3.h>
#include <stdbool.h>

#include "store/bulk/cell.h"
#include "store/bulk/table_check.h"

typedef struct nm_table_pages {
    sqlite3_file *file; /* borrowed; NULL: it is not read so */
    nm_table_form form; /* points into this struct */
    uint8_t has_null[NM_CELL_COLUMNS_MAX], is_else_zero[NM_CELL_COLUMNS_MAX];
} nm_table_pages;

/* `table` is one of ours, with the columns that it has in `main`. *pages stays in its place while it is used, and `db` open. */
nm_status nm_table_pages_open(sqlite3 *db, const char *schema, const char *table, nm_table_pages *pages, nm_error *err);

/* As nm_table_read; *is_rest: SQLite is to be asked for the rows behind the last one that was given. */
nm_status nm_table_pages_read(const nm_table_pages *pages, const nm_table_rows *wanted, bool *is_rest, nm_error *err);

#endif
