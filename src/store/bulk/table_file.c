/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages are written in the order of their numbers, many at a time. Each leaf that is full leaves its number and its last id
 * for the level above, and that level is made when all leaves are there: so its pages share their children evenly and none
 * is left with a single one. The page that holds the lock bytes, at 1 GiB, is passed over.
 */
#include "store/bulk/table_file.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/io.h"

#define HEADER_BYTES    100
#define LOCK_BYTES_AT   (UINT64_C(1) << 30)
#define PAGE_NUMBER_MAX 4294967294u
#define WRITE_BYTES     (1u << 20)

enum {
    PAGE_INDEX_INTERIOR = 2,
    PAGE_INTERIOR = 5,
    PAGE_INDEX_LEAF = 10,
    PAGE_LEAF = 13,
    LEAF_HEAD_BYTES = 8,
    INTERIOR_HEAD_BYTES = 12,
    POINTER_BYTES = 2,
    CHILD_BYTES_MAX = 4 + 9 + POINTER_BYTES,
    INDEX_CHILD_BYTES_MAX = 4 + NM_CELL_ENTRY_BYTES_MAX + POINTER_BYTES,
};

/* Places in the header of the file. */
enum {
    AT_PAGE_BYTES = 16,
    AT_RESERVED_BYTES = 20,
    AT_CHANGE_COUNTER = 24,
    AT_PAGE_COUNT = 28,
    AT_LARGEST_ROOT = 52, /* not 0: auto-vacuum, and some pages say where others are used */
    AT_VALID_FOR = 92,    /* the change counter when AT_PAGE_COUNT was written */
};

typedef struct tree_child {
    uint32_t page;
    int64_t last_row_id; /* of an index: which entry stands behind the page, above it */
} tree_child;

typedef struct tree_level {
    tree_child *items;
    size_t count, capacity;
} tree_level;

struct nm_table_file {
    int fd; /* borrowed */
    uint8_t header[HEADER_BYTES];
    uint32_t page_bytes;
    uint32_t next_page;              /* the number of the page to write next */
    uint32_t root_page;              /* of the table at hand */
    const nm_index_entries *entries; /* borrowed, of the index at hand; NULL: it is a table */
    uint8_t *written;                /* owned; pages that wait to be written, the first of them: */
    uint32_t first_page;             /* the last one is being filled */
    size_t written_bytes;
    uint8_t *page;      /* owned; the leaf at hand */
    uint32_t top;       /* of it: where its cells begin */
    uint32_t row_count; /* in it */
    int64_t last_row_id;
    tree_level children; /* of the level above the one that is made */
};

static uint32_t get_u32(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_u16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 8);
    at[1] = (uint8_t)value;
}

static void put_u32(uint8_t *at, uint32_t value)
{
    put_u16(at, value >> 16);
    put_u16(at + 2, value);
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static nm_status read_header(nm_table_file *file, nm_error *err)
{
    nm_status status = nm_io_read_at(file->fd, file->header, HEADER_BYTES, 0, err);

    if (status != NM_OK)
        return status;
    file->page_bytes = (uint32_t)file->header[AT_PAGE_BYTES] << 8 | file->header[AT_PAGE_BYTES + 1];
    if (memcmp(file->header, "SQLite format 3", 16) != 0 || file->page_bytes < 2 * NM_CELL_BYTES_MAX ||
        file->header[AT_RESERVED_BYTES] != 0 || get_u32(file->header + AT_LARGEST_ROOT) != 0)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "no database whose tables can be written as pages");
    file->next_page = get_u32(file->header + AT_PAGE_COUNT) + 1;
    return NM_OK;
}

nm_status nm_table_file_open(int fd, nm_table_file **out, nm_error *err)
{
    nm_table_file *file = calloc(1, sizeof *file);
    nm_status status;

    *out = file;
    if (file == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    file->fd = fd;
    status = read_header(file, err);
    if (status != NM_OK)
        return status;
    file->page = malloc(file->page_bytes);
    file->written = malloc(WRITE_BYTES + file->page_bytes);
    return file->page != NULL && file->written != NULL ? NM_OK
                                                       : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

void nm_table_file_free(nm_table_file *file)
{
    if (file == NULL)
        return;
    free(file->page);
    free(file->written);
    free(file->children.items);
    free(file);
}

static nm_status write_waiting(nm_table_file *file, nm_error *err)
{
    uint64_t offset = (uint64_t)(file->first_page - 1) * file->page_bytes;
    nm_status status =
        file->written_bytes == 0 ? NM_OK : nm_io_write_at(file->fd, file->written, file->written_bytes, offset, err);

    file->written_bytes = 0;
    return status;
}

/* Takes file->page as the next page of the file; *number is which it is. */
static nm_status append_page(nm_table_file *file, uint32_t *number, nm_error *err)
{
    nm_status status = NM_OK;

    if ((uint64_t)(file->next_page - 1) * file->page_bytes == LOCK_BYTES_AT) {
        status = write_waiting(file, err);
        file->next_page++;
    }
    if (status == NM_OK && file->next_page > PAGE_NUMBER_MAX)
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more pages than a database can have");
    if (status != NM_OK)
        return status;
    if (file->written_bytes == 0)
        file->first_page = file->next_page;
    memcpy(file->written + file->written_bytes, file->page, file->page_bytes);
    file->written_bytes += file->page_bytes;
    *number = file->next_page++;
    return file->written_bytes < WRITE_BYTES ? NM_OK : write_waiting(file, err);
}

/* The page at hand is the root, and it is whole. */
static nm_status write_root(nm_table_file *file, nm_error *err)
{
    uint64_t offset = (uint64_t)(file->root_page - 1) * file->page_bytes;
    nm_status status = write_waiting(file, err);

    return status == NM_OK ? nm_io_write_at(file->fd, file->page, file->page_bytes, offset, err) : status;
}

static nm_status add_child(tree_level *level, uint32_t page, int64_t last_row_id, nm_error *err)
{
    nm_status status = level->count < level->capacity ? NM_OK
                                                      : nm_array_grow(&level->items, &level->capacity, level->count + 1,
                                                                      sizeof *level->items, err);

    if (status == NM_OK)
        level->items[level->count++] = (tree_child){page, last_row_id};
    return status;
}

/* ---- Leaves ------------------------------------------------------------------------------------------------------ */

static void begin_page(nm_table_file *file)
{
    memset(file->page, 0, file->page_bytes);
    file->top = file->page_bytes;
    file->row_count = 0;
}

static void end_leaf(nm_table_file *file)
{
    file->page[0] = file->entries == NULL ? PAGE_LEAF : PAGE_INDEX_LEAF;
    put_u16(file->page + 3, file->row_count);
    put_u16(file->page + 5, file->top); /* 65,536 is said as 0 */
}

/* Its root is there, and has nothing. */
static nm_status begin_tree(nm_table_file *file, int64_t root_page, const nm_index_entries *entries, nm_error *err)
{
    uint8_t head[LEAF_HEAD_BYTES], kind = entries == NULL ? PAGE_LEAF : PAGE_INDEX_LEAF;
    nm_status status = NM_OK;

    if (root_page < 2 || root_page >= file->next_page)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "page %" PRId64 " is no root of a table", root_page);
    file->root_page = (uint32_t)root_page;
    file->entries = entries;
    status = nm_io_read_at(file->fd, head, sizeof head, (uint64_t)(root_page - 1) * file->page_bytes, err);
    if (status == NM_OK && (head[0] != kind || head[3] != 0 || head[4] != 0))
        status = nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "the table at page %" PRId64 " is not empty", root_page);
    file->children.count = 0;
    begin_page(file);
    return status;
}

nm_status nm_table_file_begin(nm_table_file *file, int64_t root_page, nm_error *err)
{
    return begin_tree(file, root_page, NULL, err);
}

/* The leaf at hand is whole, and another begins. */
static nm_status next_leaf(nm_table_file *file, int64_t last_row_id, nm_error *err)
{
    uint32_t page = 0;

    end_leaf(file);
    nm_status status = append_page(file, &page, err);
    if (status == NM_OK)
        status = add_child(&file->children, page, last_row_id, err);
    begin_page(file);
    return status;
}

static bool has_room(const nm_table_file *file, const nm_cell *cell)
{
    return LEAF_HEAD_BYTES + POINTER_BYTES * (file->row_count + 1) + cell->len <= file->top;
}

static void put_cell(nm_table_file *file, const nm_cell *cell)
{
    file->top -= (uint32_t)cell->len;
    memcpy(file->page + file->top, cell->data, cell->len);
    put_u16(file->page + LEAF_HEAD_BYTES + POINTER_BYTES * file->row_count++, file->top);
}

/* The cell that was put last, of `len` bytes, is not in the page. */
static void take_back(nm_table_file *file, size_t len)
{
    memset(file->page + file->top, 0, len);
    file->top += (uint32_t)len;
    put_u16(file->page + LEAF_HEAD_BYTES + POINTER_BYTES * --file->row_count, 0);
}

nm_status nm_table_file_add(nm_table_file *file, const nm_cell *cell, nm_error *err)
{
    nm_status status = has_room(file, cell) ? NM_OK : next_leaf(file, file->last_row_id, err);

    if (status != NM_OK)
        return status;
    put_cell(file, cell);
    file->last_row_id = cell->row_id;
    return NM_OK;
}

/* ---- The levels above -------------------------------------------------------------------------------------------- */

static nm_cell entry_at(const nm_table_file *file, size_t index, uint8_t room[NM_CELL_ENTRY_ROOM])
{
    const nm_index_entries *entries = file->entries;

    return nm_cell_write_entry(room, entries->values + index * entries->column_count, entries->column_count);
}

/* What tells a child from the next; into `out` of NM_CELL_ENTRY_ROOM bytes. */
static size_t put_key(const nm_table_file *file, uint8_t *out, int64_t last_row_id)
{
    return file->entries == NULL ? nm_cell_put_varint(out, (uint64_t)last_row_id)
                                 : entry_at(file, (size_t)last_row_id, out).len;
}

/* A page of these children: the last stands in its head, the others as cells. */
static void fill_interior(nm_table_file *file, const tree_child *children, size_t count)
{
    begin_page(file);
    file->page[0] = file->entries == NULL ? PAGE_INTERIOR : PAGE_INDEX_INTERIOR;
    for (size_t i = 0; i + 1 < count; i++) {
        uint8_t cell[4 + NM_CELL_ENTRY_ROOM];
        size_t len = 4 + put_key(file, cell + 4, children[i].last_row_id);

        put_u32(cell, children[i].page);
        file->top -= (uint32_t)len;
        memcpy(file->page + file->top, cell, len);
        put_u16(file->page + INTERIOR_HEAD_BYTES + POINTER_BYTES * i, file->top);
    }
    put_u16(file->page + 3, (uint32_t)count - 1);
    put_u16(file->page + 5, file->top);
    put_u32(file->page + 8, children[count - 1].page);
}

/* The children of one level become pages of the next, by as many pages as they need. */
static nm_status write_level(nm_table_file *file, size_t page_count, nm_error *err)
{
    tree_level above = {0};
    nm_status status = NM_OK;

    for (size_t i = 0, first = 0; i < page_count && status == NM_OK; i++) {
        size_t end = (size_t)((uint64_t)file->children.count * (i + 1) / page_count);
        uint32_t page = 0;

        fill_interior(file, file->children.items + first, end - first);
        status = append_page(file, &page, err);
        if (status == NM_OK)
            status = add_child(&above, page, file->children.items[end - 1].last_row_id, err);
        first = end;
    }
    free(file->children.items);
    file->children = above;
    return status;
}

nm_status nm_table_file_end(nm_table_file *file, nm_error *err)
{
    size_t child_bytes = file->entries == NULL ? CHILD_BYTES_MAX : INDEX_CHILD_BYTES_MAX;
    size_t most = (file->page_bytes - INTERIOR_HEAD_BYTES) / child_bytes; /* children of a page */
    uint32_t page = 0;

    end_leaf(file);
    if (file->children.count == 0)
        return write_root(file, err); /* with all rows, maybe none */
    nm_status status = append_page(file, &page, err);
    if (status == NM_OK)
        status = add_child(&file->children, page, file->last_row_id, err);
    while (status == NM_OK && file->children.count > most)
        status = write_level(file, (file->children.count + most - 1) / most, err);
    if (status != NM_OK)
        return status;
    fill_interior(file, file->children.items, file->children.count);
    return write_root(file, err);
}

/* The last entry of a leaf that is full goes above it: so the next leaf has one, too. */
nm_status nm_table_file_index(nm_table_file *file, int64_t root_page, const nm_index_entries *entries, nm_error *err)
{
    nm_status status = begin_tree(file, root_page, entries, err);
    size_t last_bytes = 0;

    for (size_t i = 0; i < entries->count && status == NM_OK; i++) {
        uint8_t room[NM_CELL_ENTRY_ROOM];
        nm_cell cell = entry_at(file, i, room);

        if (!has_room(file, &cell)) {
            take_back(file, last_bytes);
            status = next_leaf(file, (int64_t)i - 1, err);
        }
        put_cell(file, &cell);
        last_bytes = cell.len;
    }
    return status == NM_OK ? nm_table_file_end(file, err) : status;
}

nm_status nm_table_file_finish(nm_table_file *file, nm_error *err)
{
    uint32_t change = get_u32(file->header + AT_CHANGE_COUNTER) + 1;

    put_u32(file->header + AT_CHANGE_COUNTER, change);
    put_u32(file->header + AT_PAGE_COUNT, file->next_page - 1);
    put_u32(file->header + AT_VALID_FOR, change);
    return nm_io_write_at(file->fd, file->header, HEADER_BYTES, 0, err);
}
