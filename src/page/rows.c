/* SPDX-License-Identifier: Apache-2.0
 *
 * A row costs what SQLite takes to hand out its values: so no more are asked for than are needed, and a value that is not 0 is known not to
 * be NULL. Rows lie in the order of births nearly always, heaps among each other: so they are put together by heap first, and a heap is
 * sorted only where that is not its order.
 */
#include "page/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/database.h"

/* What is close to what stands above it, or the same, takes next to no room. Times are those of the page's clock. */
#define PLACES_SQL                                                                                                     \
    "SELECT heap_id, alloc_seq, free_seq, address, size_bytes, stack_id, allocation_id, segment_id,"                   \
    " end_kind, is_segment"
#define NAMES_SQL ", stream, category_id, private_pool, operation_id, operation_source"
#define FROM_SQL  " FROM allocation WHERE allocation_id BETWEEN ?1 AND ?2 ORDER BY allocation_id"
enum {
    COLUMN_HEAP,
    COLUMN_ALLOC_SEQ,
    COLUMN_FREE_SEQ,
    COLUMN_ADDRESS,
    COLUMN_SIZE,
    COLUMN_STACK,
    COLUMN_ID,
    COLUMN_SEGMENT,
    COLUMN_END,
    COLUMN_IS_SEGMENT,
    COLUMN_STREAM,
    COLUMN_CATEGORY,
    COLUMN_PRIVATE_POOL,
    COLUMN_OPERATION,
    COLUMN_SOURCE
};

static const char *const names[] = {"heap_id",      "born",          "life",   "address",     "size_bytes",
                                    "stack_id",     "allocation_id", "stream", "category_id", "private_pool",
                                    "own_category", "operation",     "module", NULL};

/* ---- What is joined to them ---------------------------------------------------------------------------------------- */

/* Puts each row of the question, a key and a value, into the map. */
static nm_status read_map(nm_map *map, sqlite3 *db, const char *sql, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(db, sql, &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = nm_map_put(map, (nm_key){0, (uint64_t)sqlite3_column_int64(row, 0)},
                            (uint64_t)sqlite3_column_int64(row, 1), err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(row);
    return status;
}

static nm_status take_operation(nm_page_rows *rows, sqlite3_stmt *row, nm_error *err)
{
    int64_t name = 0;
    nm_status status = nm_page_columns_text(&rows->names, row, 1, &name, err);

    if (status == NM_OK)
        status = nm_array_grow(&rows->operations, &rows->operation_capacity, rows->operation_count + 1,
                               sizeof *rows->operations, err);
    if (status == NM_OK)
        rows->operations[rows->operation_count++] = (nm_page_operation){sqlite3_column_int64(row, 0), (uint32_t)name};
    return status;
}

static nm_status read_operations(nm_page_rows *rows, nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status =
        nm_db_prepare(rows->db, "SELECT operation_id, name FROM operation ORDER BY operation_id", &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take_operation(rows, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(rows->db, err);
    sqlite3_finalize(row);
    if (status == NM_OK && (rows->shown = calloc(rows->names.count + 1, sizeof *rows->shown)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return status;
}

nm_status nm_page_rows_open(nm_page_rows *rows, sqlite3 *db, nm_strings *strings, nm_error *err)
{
    rows->db = db;
    rows->strings = strings;
    nm_status status = nm_page_ranges_read(&rows->ranges, db, strings, err);

    if (status == NM_OK)
        status = read_map(&rows->own_categories, db, "SELECT category_id, 1 FROM _category WHERE name = 'other'", err);
    if (status == NM_OK)
        status = read_map(&rows->sites, db, "SELECT stack_id, site_frame_id FROM stack WHERE site_frame_id IS NOT NULL",
                          err);
    if (status == NM_OK)
        status = nm_db_get_int(db, "SELECT operation_source FROM _operation_source WHERE name = 'thread'",
                               &rows->thread_source, err);
    return status == NM_OK ? read_operations(rows, err) : status;
}

void nm_page_rows_close(nm_page_rows *rows)
{
    nm_page_ranges_free(&rows->ranges);
    nm_strings_free(&rows->names);
    free(rows->operations);
    free(rows->shown);
    nm_map_free(&rows->own_categories);
    nm_map_free(&rows->sites);
}

uint32_t nm_page_rows_site(const nm_page_rows *rows, int64_t stack_id)
{
    const uint64_t *site = nm_map_get(&rows->sites, (nm_key){0, (uint64_t)stack_id});

    return site == NULL ? 0 : (uint32_t)*site;
}

/* Blocks of one operation mostly come one behind the other, and operations in their order. */
static const nm_page_operation *find_operation(nm_page_rows *rows, int64_t operation_id)
{
    size_t low = 0, high = rows->operation_count;

    if (rows->last_operation < high && rows->operations[rows->last_operation].operation_id == operation_id)
        return &rows->operations[rows->last_operation];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (rows->operations[middle].operation_id == operation_id) {
            rows->last_operation = middle;
            return &rows->operations[middle];
        }
        if (rows->operations[middle].operation_id < operation_id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Only names that blocks have come among the strings of the page. */
static nm_status name_operation(nm_page_rows *rows, int64_t operation_id, int64_t *name, nm_error *err)
{
    const nm_page_operation *operation = operation_id == NM_NULL ? NULL : find_operation(rows, operation_id);
    nm_status status = NM_OK;

    *name = 0;
    if (operation == NULL || operation->name == 0)
        return NM_OK;
    uint32_t *shown = &rows->shown[operation->name - 1];
    if (*shown == 0)
        status = nm_strings_intern(rows->strings, nm_strings_get(&rows->names, operation->name), shown, err);
    *name = *shown;
    return status;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

static int64_t value_of(sqlite3_stmt *row, int column)
{
    int64_t value = sqlite3_column_int64(row, column);

    return value != 0 || !nm_db_is_null(row, column) ? value : NM_NULL;
}

static void read_places(sqlite3_stmt *from, nm_page_row *row)
{
    int64_t *values = row->values, born = value_of(from, COLUMN_ALLOC_SEQ), freed = value_of(from, COLUMN_FREE_SEQ);

    values[NM_PAGE_ROW_HEAP] = value_of(from, COLUMN_HEAP);
    values[NM_PAGE_ROW_BORN] = born == NM_NULL ? -1 : born;
    values[NM_PAGE_ROW_LIFE] =
        freed == NM_NULL ? NM_NULL : (int64_t)((uint64_t)freed - (uint64_t)values[NM_PAGE_ROW_BORN]);
    values[NM_PAGE_ROW_ADDRESS] = value_of(from, COLUMN_ADDRESS);
    values[NM_PAGE_ROW_SIZE] = value_of(from, COLUMN_SIZE);
    values[NM_PAGE_ROW_STACK] = value_of(from, COLUMN_STACK);
    values[NM_PAGE_ROW_ID] = value_of(from, COLUMN_ID);
    row->segment_id = value_of(from, COLUMN_SEGMENT);
    row->end_kind = sqlite3_column_int64(from, COLUMN_END);
    row->is_segment = sqlite3_column_int64(from, COLUMN_IS_SEGMENT) != 0;
}

static nm_status read_names(nm_page_rows *rows, sqlite3_stmt *from, nm_page_row *row, nm_error *err)
{
    int64_t *values = row->values, operation_id = value_of(from, COLUMN_OPERATION);
    nm_page_range around = {0};

    values[NM_PAGE_ROW_STREAM] = value_of(from, COLUMN_STREAM);
    values[NM_PAGE_ROW_CATEGORY] = value_of(from, COLUMN_CATEGORY);
    values[NM_PAGE_ROW_PRIVATE_POOL] = value_of(from, COLUMN_PRIVATE_POOL);
    if (rows->ranges.count > 0 && value_of(from, COLUMN_SOURCE) == rows->thread_source)
        around = nm_page_ranges_find(&rows->ranges, operation_id);
    values[NM_PAGE_ROW_OWN_CATEGORY] = 0;
    if (around.category != 0 &&
        nm_map_get(&rows->own_categories, (nm_key){0, (uint64_t)values[NM_PAGE_ROW_CATEGORY]}) != NULL)
        values[NM_PAGE_ROW_OWN_CATEGORY] = around.category;
    values[NM_PAGE_ROW_MODULE] = around.module;
    return name_operation(rows, operation_id, &values[NM_PAGE_ROW_OPERATION], err);
}

nm_status nm_page_rows_each(nm_page_rows *rows, nm_page_rows_part part, int64_t first_id, int64_t last_id,
                            nm_page_rows_take *take, void *context, nm_error *err)
{
    const char *sql = part == NM_PAGE_ROWS_WHOLE ? PLACES_SQL NAMES_SQL FROM_SQL : PLACES_SQL FROM_SQL;
    sqlite3_stmt *from = NULL;
    nm_page_row row;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(rows->db, sql, &from, err);

    if (status == NM_OK) {
        sqlite3_bind_int64(from, 1, first_id);
        sqlite3_bind_int64(from, 2, last_id);
    }
    while (status == NM_OK && (code = sqlite3_step(from)) == SQLITE_ROW) {
        read_places(from, &row);
        if (part == NM_PAGE_ROWS_WHOLE)
            status = read_names(rows, from, &row, err);
        if (status == NM_OK)
            status = take(context, &row, err);
    }
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(rows->db, err);
    sqlite3_finalize(from);
    return status;
}

int64_t nm_page_rows_freed(int64_t born, int64_t life)
{
    return life == NM_NULL ? NM_NULL : (int64_t)((uint64_t)born + (uint64_t)life);
}

/* ---- Columns of them ----------------------------------------------------------------------------------------------- */

void nm_page_rows_name(nm_page_columns *columns)
{
    nm_page_columns_name(columns, names);
    for (size_t i = NM_PAGE_ROW_OWN_CATEGORY; i < NM_PAGE_ROW_COLUMNS; i++)
        columns->columns[i].kind = NM_PAGE_TEXT;
}

void nm_page_rows_get(const nm_page_columns *columns, size_t index, nm_page_row *row)
{
    for (size_t i = 0; i < NM_PAGE_ROW_COLUMNS; i++)
        row->values[i] = columns->columns[i].values[index];
    row->segment_id = NM_NULL;
}

typedef struct heap_rows {
    int64_t heap_id;
    size_t count, begin; /* of its rows, and where they begin */
} heap_rows;

typedef struct order {
    const nm_page_columns *columns;
    uint32_t *rows; /* owned: where each row comes from */
    heap_rows *heaps;
    size_t heap_count, heap_capacity;
} order;

static int compare_heaps(const void *a, const void *b)
{
    const heap_rows *first = a, *second = b;

    return (first->heap_id > second->heap_id) - (first->heap_id < second->heap_id);
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const nm_page_columns *columns = context;
    const int64_t *born = columns->columns[NM_PAGE_ROW_BORN].values, *id = columns->columns[NM_PAGE_ROW_ID].values;
    uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;

    if (born[first] != born[second])
        return born[first] < born[second] ? -1 : 1;
    return (id[first] > id[second]) - (id[first] < id[second]);
}

/* Heaps are numbered as they come: `numbers` knows which. */
static nm_status count_rows(order *sorted, nm_map *numbers, nm_error *err)
{
    const int64_t *heap_ids = sorted->columns->columns[NM_PAGE_ROW_HEAP].values;
    uint64_t number = 0;
    nm_status status = NM_OK;

    for (size_t i = 0; i < sorted->columns->row_count && status == NM_OK; i++) {
        if (sorted->heap_count == 0 || sorted->heaps[number].heap_id != heap_ids[i])
            status = nm_map_number(numbers, (nm_key){0, (uint64_t)heap_ids[i]}, &number, err);
        if (status == NM_OK && number == sorted->heap_count) {
            status = nm_array_grow(&sorted->heaps, &sorted->heap_capacity, number + 1, sizeof *sorted->heaps, err);
            if (status == NM_OK)
                sorted->heaps[sorted->heap_count++] = (heap_rows){.heap_id = heap_ids[i]};
        }
        if (status == NM_OK)
            sorted->heaps[number].count++;
    }
    return status;
}

/* A heap's rows behind those of smaller heaps, in the order in which they are. */
static nm_status spread_rows(order *sorted, nm_map *places, nm_error *err)
{
    const int64_t *heap_ids = sorted->columns->columns[NM_PAGE_ROW_HEAP].values;
    size_t begin = 0, number = 0;
    nm_status status = NM_OK;

    qsort(sorted->heaps, sorted->heap_count, sizeof *sorted->heaps, compare_heaps);
    for (size_t i = 0; i < sorted->heap_count && status == NM_OK; i++) {
        sorted->heaps[i].begin = begin;
        begin += sorted->heaps[i].count;
        sorted->heaps[i].count = 0;
        status = nm_map_put(places, (nm_key){0, (uint64_t)sorted->heaps[i].heap_id}, i, err);
    }
    for (size_t i = 0; i < sorted->columns->row_count && status == NM_OK; i++) {
        if (sorted->heaps[number].heap_id != heap_ids[i])
            number = (size_t)*nm_map_get(places, (nm_key){0, (uint64_t)heap_ids[i]});
        sorted->rows[sorted->heaps[number].begin + sorted->heaps[number].count++] = (uint32_t)i;
    }
    return status;
}

static void sort_heaps(order *sorted)
{
    for (size_t i = 0; i < sorted->heap_count; i++) {
        uint32_t *rows = &sorted->rows[sorted->heaps[i].begin];
        size_t at = 1, count = sorted->heaps[i].count;

        while (at < count && compare_rows(&rows[at - 1], &rows[at], (void *)sorted->columns) < 0)
            at++;
        if (at < count)
            qsort_r(rows, count, sizeof *rows, compare_rows, (void *)sorted->columns);
    }
}

static nm_status apply(const order *sorted, nm_page_columns *columns, nm_error *err)
{
    int64_t *values = malloc(columns->row_count * sizeof *values);

    if (values == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < columns->column_count; i++) {
        int64_t *column = columns->columns[i].values;

        for (size_t j = 0; j < columns->row_count; j++)
            values[j] = column[sorted->rows[j]];
        memcpy(column, values, columns->row_count * sizeof *values);
    }
    free(values);
    return NM_OK;
}

nm_status nm_page_rows_sort(nm_page_columns *columns, nm_error *err)
{
    order sorted = {.columns = columns};
    nm_map numbers = {0}, places = {0};
    nm_status status = NM_OK;

    if (columns->row_count < 2)
        return NM_OK;
    sorted.rows = malloc(columns->row_count * sizeof *sorted.rows);
    if (sorted.rows == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = count_rows(&sorted, &numbers, err);
    if (status == NM_OK)
        status = spread_rows(&sorted, &places, err);
    if (status == NM_OK) {
        sort_heaps(&sorted);
        status = apply(&sorted, columns, err);
    }
    nm_map_free(&numbers);
    nm_map_free(&places);
    free(sorted.heaps);
    free(sorted.rows);
    return status;
}
