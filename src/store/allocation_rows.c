/* SPDX-License-Identifier: Apache-2.0
 *
 * The table is not the view: what that makes of its columns is done here once more, and compared in the tests.
 */
#include "store/allocation_rows.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/allocation_streams.sql.h"
#include "store/bulk/table_pages.h"
#include "store/database.h"
#include "store/question.h"
#include "store/validate.h"

#define COLUMNS_MAX NM_CELL_COLUMNS_MAX

static const struct {
    const char *kept;          /* of the table */
    const char *name, *beside; /* of what becomes of it, and what else that needs */
    size_t offset;
} columns[] = {
#define KEPT(name)             {#name, #name, #name, offsetof(nm_allocation_values, name)},
#define MADE(name, of, beside) {#of, #name, #beside, offsetof(nm_allocation_values, name)},
    NM_ALLOCATION_COLUMNS(KEPT, MADE)
#undef KEPT
#undef MADE
};

#define COLUMN_COUNT (sizeof columns / sizeof *columns)

typedef struct stream_name {
    int64_t number, stream;
} stream_name;

typedef struct reader {
    sqlite3 *db;
    sqlite3_stmt *rows; /* owned: what the pages do not give */
    int64_t *into[COLUMNS_MAX];
    nm_allocation_values row; /* at hand: as the table has it, then as the view shows it */
    struct {
        stream_name *items; /* owned; by number */
        size_t count, capacity;
    } streams;
    const nm_allocation_request *request;
    int64_t last_id; /* that was given */
    bool is_ended;   /* no other row is wanted */
    nm_allocation_take *take;
    void *context;
} reader;

/* ---- What the view makes of a row ---------------------------------------------------------------------------------- */

static int64_t stream_of(const reader *r, int64_t number)
{
    size_t low = 0, high = r->streams.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (r->streams.items[middle].number == number)
            return r->streams.items[middle].stream;
        if (r->streams.items[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return NM_NULL;
}

/* SQLite makes a real of a sum that is none of 64 bits, and gives the nearest integer of it. */
static int64_t end_of(int64_t alloc_ns, int64_t lived_ns)
{
    int64_t free_ns;

    if (lived_ns == NM_NULL || alloc_ns == NM_NULL)
        return lived_ns;
    if (__builtin_add_overflow(alloc_ns, lived_ns, &free_ns))
        return lived_ns < 0 ? INT64_MIN : INT64_MAX;
    return free_ns;
}

static nm_status take_row(void *context, nm_error *err)
{
    reader *r = context;
    nm_allocation_values *row = &r->row;

    r->last_id = row->allocation_id;
    row->free_ns = end_of(row->alloc_ns, row->free_ns);
    if (r->streams.count > 0 && row->stream != NM_NULL)
        row->stream = stream_of(r, row->stream);
    if (row->requested_bytes == 0)
        row->requested_bytes = row->size_bytes;
    if (row->block_bytes == 0)
        row->block_bytes = row->size_bytes;
    nm_status status = r->take(r->context, row, err);
    r->is_ended = status == NM_END;
    return status;
}

/* ---- Where it comes from ------------------------------------------------------------------------------------------- */

static nm_status read_streams(reader *r, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_allocation_streams_row row;
    nm_status status = nm_allocation_streams_ask(r->db, &rows, err);

    while (status == NM_OK && nm_allocation_streams_next(rows, &row)) {
        status = nm_array_grow(&r->streams.items, &r->streams.capacity, r->streams.count + 1, sizeof(stream_name), err);
        if (status == NM_OK)
            r->streams.items[r->streams.count++] = (stream_name){row.stream_number, row.stream};
    }
    return nm_question_end(rows, status, err);
}

/* It is asked for, or one that is made with it. */
static bool is_wanted(const char *names, size_t column)
{
    for (size_t i = 0; i < COLUMN_COUNT; i++)
        if ((i == column || strcmp(columns[i].beside, columns[column].name) == 0) &&
            nm_columns_place(names, columns[i].name, NULL))
            return true;
    return false;
}

static size_t find_column(const char *kept)
{
    size_t column = 0;

    while (column < COLUMN_COUNT && strcmp(columns[column].kept, kept) != 0)
        column++;
    return column;
}

/* The columns of the table, by their names. */
static nm_status find_columns(reader *r, nm_error *err)
{
    static const char sql[] =
        "SELECT * FROM main.z_allocation WHERE allocation_id >= :first_id AND allocation_id <= :last_id"
        " ORDER BY allocation_id";
    nm_status status = nm_db_prepare(r->db, sql, &r->rows, err);

    for (int i = 0; status == NM_OK && i < sqlite3_column_count(r->rows); i++) {
        size_t column = find_column(sqlite3_column_name(r->rows, i));

        if (column == COLUMN_COUNT || i == COLUMNS_MAX)
            status = nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "the rows of allocations have other columns");
        else if (i == 0 || is_wanted(r->request->names, column))
            r->into[i] = (int64_t *)(void *)((char *)&r->row + columns[column].offset);
    }
    return status;
}

static nm_status give_pages(reader *r, bool *is_rest, nm_error *err)
{
    const nm_table_rows wanted = {r->request->first_id, r->request->last_id, r->into, take_row, r};
    nm_table_pages pages;
    sqlite3_stmt *held = NULL;
    nm_status status = nm_validate_hold(r->db, "main", &held, err);

    if (status == NM_OK)
        status = nm_table_pages_open(r->db, "main", "z_allocation", &pages, err);
    if (status == NM_OK)
        status = nm_table_pages_read(&pages, &wanted, is_rest, err);
    sqlite3_finalize(held);
    return status;
}

static nm_status give_rest(reader *r, nm_error *err)
{
    int column_count = sqlite3_column_count(r->rows);
    nm_status status = NM_OK;

    nm_question_bind_integer(r->rows, ":first_id", r->last_id == NM_NULL ? r->request->first_id : r->last_id + 1);
    nm_question_bind_integer(r->rows, ":last_id", r->request->last_id);
    while (status == NM_OK && sqlite3_step(r->rows) == SQLITE_ROW) {
        for (int i = 0; i < column_count; i++)
            if (r->into[i] != NULL)
                *r->into[i] = nm_db_is_null(r->rows, i) ? NM_NULL : sqlite3_column_int64(r->rows, i);
        status = take_row(r, err);
    }
    return nm_question_pause(r->rows, status, err);
}

nm_status nm_allocation_rows_each(sqlite3 *db, const nm_allocation_request *request, nm_allocation_take *take,
                                  void *context, nm_error *err)
{
    reader r = {.db = db, .request = request, .last_id = NM_NULL, .take = take, .context = context};
    bool is_rest = false;
    nm_status status = find_columns(&r, err);

    if (status == NM_OK && nm_columns_place(request->names, "stream", NULL))
        status = read_streams(&r, err);
    if (status == NM_OK)
        status = give_pages(&r, &is_rest, err);
    if (status == NM_OK && is_rest && !r.is_ended && r.last_id < request->last_id)
        status = give_rest(&r, err);
    sqlite3_finalize(r.rows);
    free(r.streams.items);
    return status == NM_END ? NM_OK : status;
}
