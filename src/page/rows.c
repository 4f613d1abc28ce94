/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows lie in the order of births nearly always, heaps among each other: so they are put together by heap first, and a heap is
 * sorted only where that is not its order.
 */
#include "page/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "page/operation_names.sql.h"
#include "page/own_categories.sql.h"
#include "page/thread_sources.sql.h"
#include "store/allocation_rows.h"
#include "store/verdicts/sites_of_stacks.sql.h"

/* What is close to what stands above it, or the same, takes next to no room. Times are those of the page's clock. */
static const char *const names[] = {
    "heap_id",     "born",         "life",     "address",  "size_bytes",   "stack_id",  "allocation_id", "stream",
    "category_id", "private_pool", "rounding", "given_up", "own_category", "operation", "module",        NULL};

/* ---- What is joined to them ---------------------------------------------------------------------------------------- */

static nm_status read_own_categories(nm_map *map, sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_own_categories_row row;
    nm_status status = nm_own_categories_ask(db, &rows, err);

    while (status == NM_OK && nm_own_categories_next(rows, &row))
        status = nm_map_put(map, (nm_key){0, (uint64_t)row.category_id}, 1, err);
    return nm_question_end(rows, status, err);
}

static nm_status read_sites(nm_map *map, sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_sites_of_stacks_row row;
    nm_status status = nm_sites_of_stacks_ask(db, &rows, err);

    while (status == NM_OK && nm_sites_of_stacks_next(rows, &row))
        status = nm_map_put(map, (nm_key){0, (uint64_t)row.stack_id}, (uint64_t)row.site_frame_id, err);
    return nm_question_end(rows, status, err);
}

static nm_status take_operation(nm_page_rows *rows, const nm_operation_names_row *row, nm_error *err)
{
    int64_t name = 0;
    nm_status status = nm_page_columns_text(&rows->names, NM_TEXT_OF(row, name), &name, err);

    if (status == NM_OK)
        status = nm_array_grow(&rows->operations, &rows->operation_capacity, rows->operation_count + 1,
                               sizeof *rows->operations, err);
    if (status == NM_OK)
        rows->operations[rows->operation_count++] = (nm_page_operation){row->operation_id, (uint32_t)name};
    return status;
}

static nm_status read_operations(nm_page_rows *rows, nm_error *err)
{
    sqlite3_stmt *names_of = NULL;
    nm_operation_names_row row;
    nm_status status = nm_operation_names_ask(rows->db, &names_of, err);

    while (status == NM_OK && nm_operation_names_next(names_of, &row))
        status = take_operation(rows, &row, err);
    status = nm_question_end(names_of, status, err);
    if (status == NM_OK && (rows->shown = calloc(rows->names.count + 1, sizeof *rows->shown)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return status;
}

nm_status nm_page_rows_open(nm_page_rows *rows, sqlite3 *db, nm_strings *strings, nm_error *err)
{
    rows->db = db;
    rows->strings = strings;
    nm_thread_sources_row source = {0};
    nm_status status = nm_page_ranges_read(&rows->ranges, db, strings, err);

    if (status == NM_OK)
        status = read_own_categories(&rows->own_categories, db, err);
    if (status == NM_OK)
        status = read_sites(&rows->sites, db, err);
    if (status == NM_OK)
        status = nm_thread_sources_get(db, &source, err);
    rows->thread_source = NM_NUMBER_OF(&source, source_code);
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

#define PLACES "heap_id alloc_seq free_seq address size_bytes stack_id allocation_id segment_id end_kind is_segment "
#define NAMES                                                                                                          \
    "stream category_id private_pool requested_bytes block_bytes free_requested_seq operation_id operation_source "

typedef struct asked_rows {
    nm_page_rows *rows;
    bool is_whole;
    nm_page_rows_take *take;
    void *context;
} asked_rows;

static int64_t events_between(int64_t born, int64_t seq)
{
    return seq == NM_NULL ? NM_NULL : (int64_t)((uint64_t)seq - (uint64_t)born);
}

/* What was handed out beyond what was asked for. */
static int64_t spare_of(const nm_allocation_values *from)
{
    int64_t spare;

    if (from->block_bytes == NM_NULL || from->requested_bytes == NM_NULL)
        return NM_NULL;
    if (__builtin_sub_overflow(from->block_bytes, from->requested_bytes, &spare))
        spare = from->block_bytes < 0 ? 0 : INT64_MAX;
    return spare < 0 ? 0 : spare;
}

static void read_places(const nm_allocation_values *from, nm_page_row *row)
{
    int64_t *values = row->values;

    values[NM_PAGE_ROW_HEAP] = from->heap_id;
    values[NM_PAGE_ROW_BORN] = from->alloc_seq == NM_NULL ? -1 : from->alloc_seq;
    values[NM_PAGE_ROW_LIFE] = events_between(values[NM_PAGE_ROW_BORN], from->free_seq);
    values[NM_PAGE_ROW_ADDRESS] = from->address;
    values[NM_PAGE_ROW_SIZE] = from->size_bytes;
    values[NM_PAGE_ROW_STACK] = from->stack_id;
    values[NM_PAGE_ROW_ID] = from->allocation_id;
    row->segment_id = from->segment_id;
    row->end_kind = from->end_kind == NM_NULL ? 0 : from->end_kind;
    row->is_segment = from->is_segment != 0 && from->is_segment != NM_NULL;
}

static nm_status read_names(nm_page_rows *rows, const nm_allocation_values *from, nm_page_row *row, nm_error *err)
{
    int64_t *values = row->values, operation_id = from->operation_id;
    nm_page_range around = {0};

    values[NM_PAGE_ROW_STREAM] = from->stream;
    values[NM_PAGE_ROW_CATEGORY] = from->category_id;
    values[NM_PAGE_ROW_PRIVATE_POOL] = from->private_pool;
    values[NM_PAGE_ROW_ROUNDING] = spare_of(from);
    values[NM_PAGE_ROW_GIVEN_UP] = events_between(values[NM_PAGE_ROW_BORN], from->free_requested_seq);
    if (rows->ranges.count > 0 && from->operation_source == rows->thread_source)
        around = nm_page_ranges_find(&rows->ranges, operation_id);
    values[NM_PAGE_ROW_OWN_CATEGORY] = 0;
    if (around.category != 0 &&
        nm_map_get(&rows->own_categories, (nm_key){0, (uint64_t)values[NM_PAGE_ROW_CATEGORY]}) != NULL)
        values[NM_PAGE_ROW_OWN_CATEGORY] = around.category;
    values[NM_PAGE_ROW_MODULE] = around.module;
    return name_operation(rows, operation_id, &values[NM_PAGE_ROW_OPERATION], err);
}

static nm_status take_values(void *context, const nm_allocation_values *from, nm_error *err)
{
    const asked_rows *asked = context;
    nm_page_row row;
    nm_status status = NM_OK;

    read_places(from, &row);
    if (asked->is_whole)
        status = read_names(asked->rows, from, &row, err);
    return status == NM_OK ? asked->take(asked->context, &row, err) : status;
}

nm_status nm_page_rows_each(nm_page_rows *rows, nm_page_rows_part part, int64_t first_id, int64_t last_id,
                            nm_page_rows_take *take, void *context, nm_error *err)
{
    asked_rows asked = {rows, part == NM_PAGE_ROWS_WHOLE, take, context};
    const nm_allocation_request request = {first_id, last_id, asked.is_whole ? PLACES NAMES : PLACES};

    return nm_allocation_rows_each(rows->db, &request, take_values, &asked, err);
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
