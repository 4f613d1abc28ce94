/* SPDX-License-Identifier: Apache-2.0
 *
 * Goes down to the leaves from left to right, with a page in memory for each level. It shares nothing with what wrote the
 * pages but the form of the file. A page of a file of somebody else is believed no more than one of ours: each leaf but the root has a row,
 * and ids ascend, so that no more pages are read than there are.
 */
#include "store/bulk/table_check.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "store/database.h"
#include "store/read_limit.h"

#define DEPTH_MAX   20 /* SQLite's own */
#define READ_BEYOND 8  /* bytes behind the pages */

enum {
    PAGE_INDEX_INTERIOR = 2,
    PAGE_INTERIOR = 5,
    PAGE_INDEX_LEAF = 10,
    PAGE_LEAF = 13,
    LEAF_HEAD_BYTES = 8,
    INTERIOR_HEAD_BYTES = 12,
};

typedef struct table_walk {
    int fd;                          /* of the file, where it has no `connected` */
    sqlite3_file *connected;         /* borrowed */
    const nm_table_form *form;       /* borrowed */
    const nm_table_rows *wanted;     /* borrowed; NULL: it is only checked */
    const nm_index_entries *entries; /* borrowed, in place of the form; NULL: it is a table */
    uint32_t page_bytes, page_count;
    size_t least_count;  /* of columns in a row */
    size_t wanted_count; /* columns up to the last one that is wanted */
    uint8_t *pages;      /* owned; DEPTH_MAX of them */
    int64_t last_row_id;
    bool has_last;
    bool is_wrong;      /* the form is another, and nobody else has failed */
    uint64_t row_count; /* so far, or entries */
    uint64_t offset;    /* of the page at hand */
} table_walk;

#define NO_TYPE (1u << 20) /* in place of bytes: a real, or a text; more than a record has */

/* Of an integer; NULL, 0 and 1 have none. */
static const uint32_t bytes_of_type[256] = {0, 1, 2, 3, 4, 6, 8, NO_TYPE, 0, 0, [10 ... 255] = NO_TYPE};

static uint32_t get_u16(const uint8_t *at)
{
    return (uint32_t)at[0] << 8 | at[1];
}

static uint32_t get_u32(const uint8_t *at)
{
    return get_u16(at) << 16 | get_u16(at + 2);
}

static nm_status wrong(table_walk *walk, const char *what, nm_error *err)
{
    walk->is_wrong = true;
    return nm_fail(err, NM_ERR_DATABASE, walk->offset, "the new database is damaged: %s", what);
}

/* Moves *at behind the varint. False: it does not end before `end`. */
static bool get_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (int i = 0; i < 9 && *at < end; i++) {
        uint8_t byte = *(*at)++;

        if (i == 8) {
            *value = *value << 8 | byte;
            return true;
        }
        *value = *value << 7 | (byte & 0x7f);
        if (byte < 0x80)
            return true;
    }
    return false;
}

/* How many columns a row has at least: what may be NULL, or has a default, may be left out at its end. */
static size_t count_least(const nm_table_form *form)
{
    size_t count = form->column_count;

    while (count > 1 && (form->has_null[count - 1] || form->is_else_zero[count - 1]))
        count--;
    return count;
}

/* A record of integers: its types, and exactly the bytes that they say. The first column is the row id's, and NULL. */
static bool is_record(const table_walk *walk, const uint8_t *record, uint64_t record_bytes)
{
    uint64_t bytes = record_bytes == 0 ? 0 : record[0];
    size_t kept_count = bytes < 2 ? 0 : (size_t)bytes - 1, null_count = 0; /* of those that may not be */
    const uint8_t *has_null = walk->form->has_null;

    if (kept_count < walk->least_count || kept_count > walk->form->column_count || record_bytes < bytes ||
        record[1] != 0)
        return false;
    for (size_t column = 0; column < kept_count; column++) {
        uint8_t type = record[1 + column];

        null_count += (type | has_null[column]) == 0;
        bytes += bytes_of_type[type];
    }
    return null_count == 0 && bytes == record_bytes;
}

/* The number of `bytes` bytes at `at`, the first of them the most significant; what lies behind it up to 8 is there (READ_BEYOND). */
static int64_t get_integer(const uint8_t *at, unsigned bytes)
{
    uint64_t value;

    memcpy(&value, at, sizeof value);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    value = __builtin_bswap64(value);
#endif
    return (int64_t)value >> (64 - 8 * bytes);
}

/* The value of an integer's type, whose bytes these are. */
static int64_t get_value(uint8_t type, uint32_t bytes, const uint8_t *at)
{
    return bytes > 0 ? get_integer(at, bytes) : type == 0 ? NM_NULL : type - 8;
}

/* What has no column in the row, or stands in it as NULL: NM_NULL; columns that nobody wants are passed over. */
static void read_record(const table_walk *walk, const uint8_t *record, int64_t *const *into)
{
    size_t kept_count = (size_t)record[0] - 1, column = 1;
    const uint8_t *at = record + record[0];

    for (; column < kept_count && column < walk->wanted_count; column++) {
        uint8_t type = record[1 + column];
        uint32_t bytes = bytes_of_type[type];

        if (into[column] != NULL)
            *into[column] = get_value(type, bytes, at);
        at += bytes;
    }
    for (; column < walk->wanted_count; column++)
        if (into[column] != NULL)
            *into[column] = walk->form->is_else_zero[column] ? 0 : NM_NULL;
}

/* NM_END: it and those behind it are not wanted. */
static nm_status give_row(const table_walk *walk, int64_t row_id, const uint8_t *record, nm_error *err)
{
    const nm_table_rows *wanted = walk->wanted;

    if (wanted == NULL || row_id < wanted->first_id)
        return NM_OK;
    if (row_id > wanted->last_id)
        return NM_END;
    if (wanted->into[0] != NULL)
        *wanted->into[0] = row_id;
    read_record(walk, record, wanted->into);
    return wanted->take(wanted->context, err);
}

static nm_status check_order(table_walk *walk, int64_t row_id, nm_error *err)
{
    if (walk->has_last && row_id <= walk->last_row_id)
        return wrong(walk, "rows out of order", err);
    walk->has_last = true;
    walk->last_row_id = row_id;
    return NM_OK;
}

/* No room between cells that would be free, and the last of them begins where the head says. */
static nm_status check_head(table_walk *walk, const uint8_t *page, uint32_t end, nm_error *err)
{
    bool is_packed = get_u16(page + 1) == 0 && get_u16(page + 5) == (end & 0xffff) && page[7] == 0;

    return is_packed ? NM_OK : wrong(walk, "a page whose head says otherwise", err);
}

/* Cells lie one under the other from the end of the page, in the order of their pointers: so none reaches over another. */
static nm_status check_leaf(table_walk *walk, const uint8_t *page, int depth, nm_error *err)
{
    uint32_t count = get_u16(page + 3), end = walk->page_bytes;
    nm_status status = NM_OK;

    if (LEAF_HEAD_BYTES + 2 * count > walk->page_bytes || (count == 0 && depth > 0))
        return wrong(walk, "a leaf of too many rows, or none", err);
    for (uint32_t i = 0; i < count && status == NM_OK; i++) {
        uint32_t begin = get_u16(page + LEAF_HEAD_BYTES + 2 * i);
        const uint8_t *at = page + begin;
        uint64_t record_bytes = 0, row_id = 0;

        if (begin < LEAF_HEAD_BYTES + 2 * count || begin >= end || !get_varint(&at, page + end, &record_bytes) ||
            !get_varint(&at, page + end, &row_id) || (uint64_t)(page + end - at) != record_bytes ||
            !is_record(walk, at, record_bytes))
            return wrong(walk, "a row that is none", err);
        end = begin;
        status = check_order(walk, (int64_t)row_id, err);
        if (status == NM_OK)
            status = give_row(walk, (int64_t)row_id, at, err);
    }
    walk->row_count += count;
    return status == NM_OK ? check_head(walk, page, end, err) : status;
}

static nm_status check_page(table_walk *walk, uint32_t number, int depth, nm_error *err);

static nm_status check_child(table_walk *walk, uint32_t number, int depth, const uint64_t *last_row_id, nm_error *err)
{
    uint64_t offset = walk->offset;

    if (walk->wanted != NULL && last_row_id != NULL && (int64_t)*last_row_id < walk->wanted->first_id)
        return check_order(walk, (int64_t)*last_row_id, err);
    nm_status status = check_page(walk, number, depth + 1, err);

    walk->offset = offset;
    if (status == NM_OK && last_row_id != NULL && walk->last_row_id != (int64_t)*last_row_id)
        status = wrong(walk, "a page whose rows are others than it is said to have", err);
    return status;
}

static nm_status check_interior(table_walk *walk, const uint8_t *page, int depth, nm_error *err)
{
    uint32_t count = get_u16(page + 3), end = walk->page_bytes;
    nm_status status = NM_OK;

    if (count == 0 || INTERIOR_HEAD_BYTES + 2 * count > walk->page_bytes)
        return wrong(walk, "a page of no pages, or too many", err);
    for (uint32_t i = 0; i < count && status == NM_OK; i++) {
        uint32_t begin = get_u16(page + INTERIOR_HEAD_BYTES + 2 * i);
        const uint8_t *at = page + begin + 4;
        uint64_t last_row_id = 0;

        if (begin < INTERIOR_HEAD_BYTES + 2 * count || begin + 5 > end || !get_varint(&at, page + end, &last_row_id) ||
            at != page + end)
            return wrong(walk, "a page that names none", err);
        end = begin;
        status = check_child(walk, get_u32(page + begin), depth, &last_row_id, err);
    }
    if (status == NM_OK)
        status = check_head(walk, page, end, err);
    return status == NM_OK ? check_child(walk, get_u32(page + 8), depth, NULL, err) : status;
}

/* ---- An index ------------------------------------------------------------------------------------------------------ */

/* The entry that comes next, which its record says whole. `end` is that of the cell. */
static bool is_next_entry(table_walk *walk, const uint8_t *at, const uint8_t *end)
{
    const nm_index_entries *entries = walk->entries;
    size_t count = entries->column_count;
    uint64_t record_bytes = 0, index = walk->row_count++;

    if (index >= entries->count || !get_varint(&at, end, &record_bytes) || (uint64_t)(end - at) != record_bytes ||
        record_bytes < 1 + count || at[0] != 1 + count)
        return false;
    const int64_t *values = entries->values + index * count;
    const uint8_t *types = at + 1;
    at += 1 + count;
    for (size_t column = 0; column < count; column++) {
        uint8_t type = types[column];
        uint32_t bytes = bytes_of_type[type];

        if (bytes == NO_TYPE || (size_t)(end - at) < bytes || values[column] != get_value(type, bytes, at))
            return false;
        at += bytes;
    }
    return at == end;
}

/* Cells lie as in a table; what is below one comes before it. */
static nm_status check_index_page(table_walk *walk, const uint8_t *page, int depth, nm_error *err)
{
    bool is_leaf = page[0] == PAGE_INDEX_LEAF;
    uint32_t count = get_u16(page + 3), end = walk->page_bytes, child_bytes = is_leaf ? 0 : 4;
    uint32_t head_bytes = is_leaf ? LEAF_HEAD_BYTES : INTERIOR_HEAD_BYTES;
    nm_status status = NM_OK;

    if (head_bytes + 2 * count > walk->page_bytes || (count == 0 && (depth > 0 || !is_leaf)))
        return wrong(walk, "a page of too many entries, or none", err);
    for (uint32_t i = 0; i < count && status == NM_OK; i++) {
        uint32_t begin = get_u16(page + head_bytes + 2 * i);

        if (begin < head_bytes + 2 * count || begin + child_bytes >= end)
            return wrong(walk, "an entry that is none", err);
        if (!is_leaf)
            status = check_child(walk, get_u32(page + begin), depth, NULL, err);
        if (status == NM_OK && !is_next_entry(walk, page + begin + child_bytes, page + end))
            status = wrong(walk, "another entry than was written", err);
        end = begin;
    }
    if (status == NM_OK)
        status = check_head(walk, page, end, err);
    return status == NM_OK && !is_leaf ? check_child(walk, get_u32(page + 8), depth, NULL, err) : status;
}

/* ---- Pages ------------------------------------------------------------------------------------------------------- */

/* A file that a connection has open is read by that: to close another descriptor of it would take its locks away. */
static nm_status read_at(table_walk *walk, void *out, size_t bytes, uint64_t offset, nm_error *err)
{
    if (walk->connected == NULL)
        return nm_io_read_at(walk->fd, out, bytes, offset, err);
    if (walk->connected->pMethods->xRead(walk->connected, out, (int)bytes, (sqlite3_int64)offset) != SQLITE_OK)
        return wrong(walk, "cannot be read", err);
    return NM_OK;
}

static nm_status check_page(table_walk *walk, uint32_t number, int depth, nm_error *err)
{
    uint8_t *page = walk->pages + (size_t)depth * walk->page_bytes;

    if (number < 2 || number > walk->page_count || depth + 1 >= DEPTH_MAX)
        return wrong(walk, "a page that is not there", err);
    walk->offset = (uint64_t)(number - 1) * walk->page_bytes;
    nm_status status = read_at(walk, page, walk->page_bytes, walk->offset, err);
    if (status != NM_OK)
        return status;
    nm_read_limit_note();
    if (walk->entries != NULL)
        return page[0] == PAGE_INDEX_LEAF || page[0] == PAGE_INDEX_INTERIOR
                   ? check_index_page(walk, page, depth, err)
                   : wrong(walk, "a page of another kind", err);
    if (page[0] == PAGE_LEAF)
        return check_leaf(walk, page, depth, err);
    return page[0] == PAGE_INTERIOR ? check_interior(walk, page, depth, err)
                                    : wrong(walk, "a page of another kind", err);
}

/* Pages as they lie in a file that has no journal of another kind beside it, without room at their ends. */
static nm_status read_header(table_walk *walk, nm_error *err)
{
    uint8_t header[32];
    nm_status status = read_at(walk, header, sizeof header, 0, err);

    if (status != NM_OK)
        return status;
    walk->page_bytes = get_u16(header + 16) == 1 ? 65536 : get_u16(header + 16);
    walk->page_count = get_u32(header + 28);
    return walk->page_bytes < 512 || header[18] != 1 || header[19] != 1 || header[20] != 0
               ? wrong(walk, "its header", err)
               : NM_OK;
}

static nm_status walk_tree(table_walk *walk, uint32_t root_page, nm_error *err)
{
    nm_status status = read_header(walk, err);

    if (status != NM_OK)
        return status;
    walk->pages = malloc((size_t)DEPTH_MAX * walk->page_bytes + READ_BEYOND);
    if (walk->pages == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = check_page(walk, root_page, 0, err);
    free(walk->pages);
    return status;
}

static nm_status walk_table(table_walk *walk, nm_error *err)
{
    walk->least_count = count_least(walk->form);
    walk->wanted_count = walk->wanted == NULL ? 0 : walk->form->column_count;
    while (walk->wanted_count > 1 && walk->wanted->into[walk->wanted_count - 1] == NULL)
        walk->wanted_count--;
    return walk_tree(walk, walk->form->root_page, err);
}

nm_status nm_table_check(int fd, const nm_table_form *form, nm_error *err)
{
    table_walk walk = {.fd = fd, .form = form};
    nm_status status = walk_table(&walk, err);

    if (status == NM_OK && walk.row_count != form->row_count)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET,
                       "the new database is damaged: a table of %" PRIu64 " rows has %" PRIu64, form->row_count,
                       walk.row_count);
    return status;
}

nm_status nm_index_check(int fd, int64_t root_page, const nm_index_entries *entries, nm_error *err)
{
    table_walk walk = {.fd = fd, .entries = entries};
    nm_status status = walk_tree(&walk, (uint32_t)root_page, err);

    if (status == NM_OK && walk.row_count != entries->count)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET,
                       "the new database is damaged: an index of %zu entries has %" PRIu64, entries->count,
                       walk.row_count);
    return status;
}

nm_status nm_table_read(sqlite3_file *file, const nm_table_form *form, const nm_table_rows *wanted, bool *is_wrong,
                        nm_error *err)
{
    table_walk walk = {.fd = -1, .connected = file, .form = form, .wanted = wanted};
    nm_error own_err = {.offset = NM_NO_OFFSET};
    nm_status status = walk_table(&walk, &own_err);

    *is_wrong = walk.is_wrong;
    if (status == NM_OK || status == NM_END || walk.is_wrong)
        return NM_OK;
    *err = own_err;
    return status;
}
