/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries are kept as numbers and put in order when all are there: NULL comes before all numbers in an index, and is the least of them
 * here.
 */
#include "store/bulk/index_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "store/bulk/allocation_outstanding.sql.h"

#define KEY_COLUMNS 7 /* with the row id, which is the first of the table and the last of an entry */

/* As allocation_outstanding.sql has it. */
static const char table_name[] = "z_allocation";
static const char *const key_names[KEY_COLUMNS] = {"heap_id",    "stack_id", "generation",   "alloc_seq",
                                                   "size_bytes", "end_kind", "allocation_id"};

typedef struct index_entry {
    int64_t values[KEY_COLUMNS];
} index_entry;

struct nm_index_rows {
    size_t key_places[KEY_COLUMNS]; /* which column of a row each is */
    size_t segment_place, generation_place;
    int64_t root_page;
    bool is_too_large;
    struct {
        index_entry *items;
        size_t count, capacity;
    } entries;
};

nm_status nm_index_rows_new(const nm_columns *columns, nm_index_rows **out, nm_error *err)
{
    nm_index_rows *index = NULL;
    bool is_there = true;

    *out = NULL;
    if (strcmp(columns->table, table_name) != 0)
        return NM_OK;
    *out = index = calloc(1, sizeof *index);
    if (index == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    index->root_page = NM_NULL;
    for (size_t i = 0; i < KEY_COLUMNS; i++)
        is_there = nm_columns_place(columns->names, key_names[i], &index->key_places[i]) && is_there;
    is_there = nm_columns_place(columns->names, "is_segment", &index->segment_place) && is_there;
    is_there = nm_columns_place(columns->names, "generation", &index->generation_place) && is_there;
    return is_there ? NM_OK
                    : nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "table %s lacks a column of its index", table_name);
}

void nm_index_rows_free(nm_index_rows *index)
{
    if (index == NULL)
        return;
    free(index->entries.items);
    free(index);
}

/* Rows are many and entries few: what is not one is seen at once. */
nm_status nm_index_rows_add(nm_index_rows *index, const int64_t *values, nm_error *err)
{
    nm_status status = NM_OK;

    if (values[index->generation_place] == NM_NULL || values[index->segment_place] != 0 || index->is_too_large)
        return NM_OK;
    if (index->entries.count == NM_INDEX_ENTRIES_MAX) {
        index->is_too_large = true;
        free(index->entries.items);
        memset(&index->entries, 0, sizeof index->entries);
        return NM_OK;
    }
    if (index->entries.count == index->entries.capacity)
        status = nm_array_grow(&index->entries.items, &index->entries.capacity, index->entries.count + 1,
                               sizeof *index->entries.items, err);
    if (status != NM_OK)
        return status;
    index_entry *entry = &index->entries.items[index->entries.count++];
    for (size_t i = 0; i < KEY_COLUMNS; i++)
        entry->values[i] = values[index->key_places[i]];
    return NM_OK;
}

static int compare_entries(const void *left, const void *right)
{
    const index_entry *a = left, *b = right;
    size_t i = 0;

    while (i + 1 < KEY_COLUMNS && a->values[i] == b->values[i])
        i++;
    return (a->values[i] > b->values[i]) - (a->values[i] < b->values[i]);
}

nm_status nm_index_rows_make(nm_index_rows *index, sqlite3 *db, nm_error *err)
{
    if (index->is_too_large)
        return NM_OK;
    nm_status status = nm_allocation_outstanding_run(db, err);
    if (status == NM_OK)
        status = nm_db_get_int(db, "SELECT rootpage FROM main.sqlite_master WHERE name = 'allocation_outstanding'",
                               &index->root_page, err);
    if (status == NM_OK && index->entries.count > 1)
        qsort(index->entries.items, index->entries.count, sizeof *index->entries.items, compare_entries);
    return status;
}

int64_t nm_index_rows_root(const nm_index_rows *index)
{
    return index->root_page;
}

nm_index_entries nm_index_rows_entries(const nm_index_rows *index)
{
    return (nm_index_entries){.values = index->entries.count == 0 ? NULL : index->entries.items[0].values,
                              .count = index->entries.count,
                              .column_count = KEY_COLUMNS};
}
