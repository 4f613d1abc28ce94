/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks that come one behind the other are mostly of one heap, and often of one segment: so the last of each is remembered. Segments are
 * few: each is asked for by its number.
 */
#include "page/lanes.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "page/segment_places.sql.h"
#include "page/tables.h"

#define SEGMENTS_MAX 200000

static const char *const segment_columns[] = {"heap_id",   "allocation_id", "address", "size_bytes",
                                              "alloc_seq", "free_seq",      NULL};

/* ---- Blocks -------------------------------------------------------------------------------------------------------- */

static nm_status find_place(nm_page_lanes *lanes, int64_t heap_id, nm_page_place **out, nm_error *err)
{
    uint64_t number = lanes->last_place;
    nm_status status = NM_OK;

    if (lanes->place_count == 0 || lanes->places[number].heap_id != heap_id)
        status = nm_map_number(&lanes->place_of, (nm_key){0, (uint64_t)heap_id}, &number, err);
    if (status == NM_OK && number == lanes->place_count) {
        status = nm_array_grow(&lanes->places, &lanes->place_capacity, number + 1, sizeof *lanes->places, err);
        if (status == NM_OK)
            lanes->places[lanes->place_count++] = (nm_page_place){.heap_id = heap_id};
    }
    if (status == NM_OK) {
        lanes->last_place = number;
        *out = &lanes->places[number];
    }
    return status;
}

static bool is_of(const nm_page_use *use, const nm_page_row *row)
{
    return use->segment_id == row->segment_id && use->heap_id == row->values[NM_PAGE_ROW_HEAP];
}

static nm_status note_use(nm_page_lanes *lanes, const nm_page_row *row, nm_error *err)
{
    nm_key key = {(uint64_t)row->values[NM_PAGE_ROW_HEAP], (uint64_t)row->segment_id};
    uint64_t number = lanes->last_use;
    nm_status status = NM_OK;

    if (lanes->use_count == 0 || !is_of(&lanes->uses[number], row))
        status = nm_map_number(&lanes->use_of, key, &number, err);
    if (status == NM_OK && number == lanes->use_count) {
        status = nm_array_grow(&lanes->uses, &lanes->use_capacity, number + 1, sizeof *lanes->uses, err);
        if (status == NM_OK)
            lanes->uses[lanes->use_count++] =
                (nm_page_use){.heap_id = row->values[NM_PAGE_ROW_HEAP], .segment_id = row->segment_id};
    }
    if (status == NM_OK)
        lanes->last_use = number;
    return status;
}

nm_status nm_page_lanes_note(nm_page_lanes *lanes, const nm_page_row *row, nm_error *err)
{
    nm_page_place *place = NULL;
    nm_status status = find_place(lanes, row->values[NM_PAGE_ROW_HEAP], &place, err);

    if (status != NM_OK)
        return status;
    place->block_count++;
    return row->segment_id != NM_NULL
               ? note_use(lanes, row, err)
               : nm_page_axis_add(&place->axis, row->values[NM_PAGE_ROW_ADDRESS], row->values[NM_PAGE_ROW_SIZE], err);
}

nm_page_place *nm_page_lanes_find(nm_page_lanes *lanes, int64_t heap_id)
{
    const uint64_t *number = nm_map_get(&lanes->place_of, (nm_key){0, (uint64_t)heap_id});

    return number == NULL ? NULL : &lanes->places[*number];
}

/* ---- Segments ------------------------------------------------------------------------------------------------------ */

static nm_status ask_segment(nm_page_use *use, sqlite3_stmt *segment, nm_error *err)
{
    nm_segment_places_row row;

    nm_segment_places_bind(segment, use->segment_id);
    use->is_there = nm_segment_places_next(segment, &row);
    if (use->is_there) {
        use->address = NM_NUMBER_OF(&row, address);
        use->size_bytes = NM_NUMBER_OF(&row, size_bytes);
        use->alloc_seq = NM_NUMBER_OF(&row, alloc_seq);
        use->free_seq = NM_NUMBER_OF(&row, free_seq);
    }
    return nm_question_pause(segment, NM_OK, err);
}

nm_status nm_page_lanes_settle(nm_page_lanes *lanes, sqlite3 *db, nm_error *err)
{
    sqlite3_stmt *segment = NULL;
    nm_status status = nm_segment_places_ask(db, NM_NULL, &segment, err);

    for (size_t i = 0; i < lanes->use_count && status == NM_OK; i++) {
        nm_page_use *use = &lanes->uses[i];

        status = ask_segment(use, segment, err);
        if (status == NM_OK && use->is_there)
            status =
                nm_page_axis_add(&nm_page_lanes_find(lanes, use->heap_id)->axis, use->address, use->size_bytes, err);
    }
    sqlite3_finalize(segment);
    for (size_t i = 0; i < lanes->place_count; i++)
        nm_page_axis_settle(&lanes->places[i].axis);
    return status;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

static int compare_values(const int64_t *a, const int64_t *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

static int compare_segments(const void *a, const void *b)
{
    const nm_page_use *first = a, *second = b;

    return compare_values((const int64_t[]){first->heap_id, first->address, first->alloc_seq, first->segment_id},
                          (const int64_t[]){second->heap_id, second->address, second->alloc_seq, second->segment_id},
                          4);
}

nm_status nm_page_lanes_segments(nm_page_lanes *lanes, nm_page *page, nm_error *err)
{
    nm_page_columns columns = {0};
    nm_status status = NM_OK;

    nm_page_columns_name(&columns, segment_columns);
    if (lanes->use_count > 0) /* gives them other numbers: nothing is noted any more */
        qsort(lanes->uses, lanes->use_count, sizeof *lanes->uses, compare_segments);
    for (size_t i = 0; i < lanes->use_count && columns.row_count < SEGMENTS_MAX && status == NM_OK; i++) {
        const nm_page_use *use = &lanes->uses[i];
        int64_t values[] = {use->heap_id,    use->segment_id, use->address,
                            use->size_bytes, use->alloc_seq,  use->free_seq};

        if (use->is_there)
            status = nm_page_columns_add(&columns, values, err);
    }
    if (status == NM_OK)
        status = nm_page_tables_put(page, &columns, "segment", err);
    nm_page_columns_free(&columns);
    return status;
}

void nm_page_lanes_free(nm_page_lanes *lanes)
{
    for (size_t i = 0; i < lanes->place_count; i++)
        nm_page_axis_free(&lanes->places[i].axis);
    free(lanes->places);
    free(lanes->uses);
    nm_map_free(&lanes->place_of);
    nm_map_free(&lanes->use_of);
    *lanes = (nm_page_lanes){0};
}
