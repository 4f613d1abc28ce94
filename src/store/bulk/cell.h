/* SPDX-License-Identifier: Apache-2.0
 *
 * A row of integers as a leaf of a table's tree holds it ("Database File Format", sections 1.6 and 2.1 of SQLite's
 * documents): a varint of its bytes, a varint of its row id, and the record, which is the type of each column and then
 * their values. The first column is the row id itself, so the record has NULL there.
 */
#ifndef NM_STORE_BULK_CELL_H
#define NM_STORE_BULK_CELL_H

#include <stddef.h>
#include <stdint.h>

#define NM_CELL_COLUMNS_MAX 100 /* so that the length of the types is one byte */
#define NM_CELL_HEAD_BYTES  18  /* at most: two varints */
#define NM_CELL_BYTES_MAX   (NM_CELL_HEAD_BYTES + 1 + 9 * NM_CELL_COLUMNS_MAX)
#define NM_CELL_ROOM        (NM_CELL_BYTES_MAX + 8) /* what nm_cell_write may touch */

typedef struct nm_cell {
    int64_t row_id;
    const uint8_t *data;
    size_t len;
} nm_cell;

/* Writes a row, or its first columns, into `room` of NM_CELL_ROOM bytes; the cell lies in there. NM_NULL becomes NULL. */
nm_cell nm_cell_write(uint8_t *room, const int64_t *values, size_t column_count);

/* Of what nm_cell_write wrote: the cell at `data`, of which at least NM_CELL_HEAD_BYTES or all must be there. Its length may
 * reach behind what is there. */
nm_cell nm_cell_read(const uint8_t *data);

/* A varint of SQLite's: the most significant bits first, at most 9 bytes. Returns how many. */
size_t nm_cell_put_varint(uint8_t *out, uint64_t value);

#define NM_CELL_ENTRY_COLUMNS_MAX 14 /* so that its length is one byte */
#define NM_CELL_ENTRY_BYTES_MAX   (2 + 9 * NM_CELL_ENTRY_COLUMNS_MAX)
#define NM_CELL_ENTRY_ROOM        (NM_CELL_ENTRY_BYTES_MAX + 8)

/*
 * An entry of an index, as a leaf of its tree holds it, into `room` of NM_CELL_ENTRY_ROOM bytes: a byte that says how many follow, and
 * the record of the values, of which the last is the row id. Of the cell, row_id says nothing.
 */
nm_cell nm_cell_write_entry(uint8_t *room, const int64_t *values, size_t column_count);

typedef struct nm_index_entries { /* in the order of the index */
    const int64_t *values;        /* borrowed; column_count of each, NM_NULL for NULL, the last the row id */
    size_t count, column_count;
} nm_index_entries;

#endif
