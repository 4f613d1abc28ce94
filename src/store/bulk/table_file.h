/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of integers, and indexes of them, written into a file of SQLite's as whole pages, behind those that are there ("Database File Format",
 * sections 1.3 and 1.6). For a file that nobody else has open but one connection that has no transaction and no lock: when
 * nm_table_file_finish has changed the header, it forgets what it had read.
 *
 *     nm_table_file_open(fd, &file, err);
 *     nm_table_file_begin(file, root_page, err);   a table that is empty
 *     nm_table_file_add(file, &cell, err); ...     ascending
 *     nm_table_file_end(file, err);                the next table
 *     nm_table_file_index(file, root_page, &entries, err);   an index that is empty, as a whole
 *     nm_table_file_finish(file, err);             from here on the file has them
 *     nm_table_file_free(file);
 *
 * A table is a tree. Its leaves hold rows, the pages above name the leaves with the last id of each, and the page that the
 * schema names is the root, which stays where it is. So is an index, but that what stands above two pages is the entry between them,
 * which neither has.
 */
#ifndef NM_STORE_BULK_TABLE_FILE_H
#define NM_STORE_BULK_TABLE_FILE_H

#include "base/error.h"
#include "store/bulk/cell.h"

typedef struct nm_table_file nm_table_file;

/* `fd` is borrowed, for reading and writing. NM_ERR_DATABASE: it is no database of the kind that this can add to. */
nm_status nm_table_file_open(int fd, nm_table_file **out, nm_error *err);

nm_status nm_table_file_begin(nm_table_file *file, int64_t root_page, nm_error *err);
nm_status nm_table_file_add(nm_table_file *file, const nm_cell *cell, nm_error *err);
nm_status nm_table_file_end(nm_table_file *file, nm_error *err);
nm_status nm_table_file_index(nm_table_file *file, int64_t root_page, const nm_index_entries *entries, nm_error *err);
nm_status nm_table_file_finish(nm_table_file *file, nm_error *err);
void nm_table_file_free(nm_table_file *file); /* NULL is fine */

#endif
