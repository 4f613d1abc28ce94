/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks are read once. Where all may be kept, what is drawn, counted and written lies in memory then. Of more than that there lies what
 * they are drawn from (packed.h), and the rows of the windows (windows.h) are read once more: rows that lie together in the file
 * lived at about the same time, so that most of the file is passed over.
 */
#include "page/map.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/buffer.h"
#include "page/block_spans.sql.h"
#include "page/cells.h"
#include "page/columns.h"
#include "page/lanes.h"
#include "page/packed.h"
#include "page/picture_heaps.sql.h"
#include "page/rows.h"
#include "page/segment_blocks.sql.h"
#include "page/tables.h"
#include "page/windows.h"
#include "store/allocation_rows.h"

#define LANES_SHARE  0.65 /* of the room for data, at most: they, and what is before them */
#define CELLS_SHARE  0.85 /* the same */
#define SEGMENTS_MAX 200000
#define KEPT_BYTES   1024 /* of the table that comes last */
#define RUN_ROWS     4096
#define BLOCKS_MAX(m)                                                                                                  \
    ((int64_t)((m)->page->bytes_max / 8)) /* held in memory: what takes least has 1 to 2 bytes a block */

/* Each anchor of the windows, which the page lays round it. */
static const char *const anchor_columns[] = {"heap_id", "kind", "seq", NULL};

static const char *const kept_columns[] = {"block_count", "kept_count", "reach", "kind_last", NULL};

typedef struct heap_picture {
    double first_seq, last_seq;
    nm_page_place *place; /* borrowed: of m->lanes */
    nm_page_cells cells;  /* while it is drawn */
} heap_picture;

/* Rows that lie together in the file. */
typedef struct row_run {
    int64_t first_id, last_id, count;
    int64_t reach_of[NM_PAGE_ANCHOR_KINDS]; /* the least of theirs */
} row_run;

struct nm_page_map {
    nm_page *page;
    nm_page_rows rows;
    nm_page_lanes lanes;
    heap_picture *pictures; /* owned; by heap once they are chosen */
    size_t picture_count, picture_capacity, drawn_count;
    nm_page_windows windows;
    nm_live_rule rule;
    nm_live_ids live;      /* the rows that it keeps */
    nm_live_ids segments;  /* their numbers */
    bool wants_live;       /* somebody asks for those */
    nm_page_packed packed; /* where not all blocks are kept */
    row_run *runs;         /* owned; the same */
    size_t run_count, run_capacity;
    nm_page_columns blocks; /* of all heaps, by heap and birth */
    int64_t block_count;
    bool has_all; /* each block is in `blocks` */
};

typedef struct nm_page_map map;

/* ---- Heaps and their lanes ----------------------------------------------------------------------------------------- */

static heap_picture *find_picture(map *m, int64_t heap_id)
{
    size_t low = 0, high = m->picture_count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (m->pictures[middle].place->heap_id == heap_id)
            return &m->pictures[middle];
        if (m->pictures[middle].place->heap_id < heap_id)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static nm_status take_heap(map *m, const nm_picture_heaps_row *row, nm_error *err)
{
    nm_page_place *place = nm_page_lanes_find(&m->lanes, row->heap_id);

    if (place == NULL)
        return NM_OK;
    nm_status status =
        nm_array_grow(&m->pictures, &m->picture_capacity, m->picture_count + 1, sizeof *m->pictures, err);
    if (status == NM_OK)
        m->pictures[m->picture_count++] =
            (heap_picture){.first_seq = (double)row->first_seq, .last_seq = (double)row->last_seq + 1, .place = place};
    return status;
}

static int compare_counts(const void *a, const void *b)
{
    const nm_page_place *first = ((const heap_picture *)a)->place, *second = ((const heap_picture *)b)->place;

    if (first->block_count != second->block_count)
        return first->block_count > second->block_count ? -1 : 1;
    return (first->heap_id > second->heap_id) - (first->heap_id < second->heap_id);
}

static int compare_heaps(const void *a, const void *b)
{
    const nm_page_place *first = ((const heap_picture *)a)->place, *second = ((const heap_picture *)b)->place;

    return (first->heap_id > second->heap_id) - (first->heap_id < second->heap_id);
}

/* Those with most blocks. */
static nm_status choose_heaps(map *m, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_picture_heaps_row row;
    nm_status status = nm_picture_heaps_ask(m->page->db, &rows, err);

    while (status == NM_OK && nm_picture_heaps_next(rows, &row))
        status = take_heap(m, &row, err);
    status = nm_question_end(rows, status, err);
    if (m->picture_count > NM_PAGE_HEAPS_MAX) {
        qsort(m->pictures, m->picture_count, sizeof *m->pictures, compare_counts);
        m->picture_count = NM_PAGE_HEAPS_MAX;
        qsort(m->pictures, m->picture_count, sizeof *m->pictures, compare_heaps);
    }
    return status;
}

static nm_status write_lanes(map *m, nm_error *err)
{
    nm_page_columns lanes = {0};
    nm_status status = NM_OK;

    nm_page_columns_name(&lanes, (const char *const[]){"heap_id", "address", "size_bytes", "offset", NULL});
    for (size_t i = 0; i < m->picture_count; i++) {
        const nm_page_place *place = m->pictures[i].place;

        for (size_t j = 0; j < place->axis.count && status == NM_OK; j++) {
            const nm_page_lane *lane = &place->axis.lanes[j];
            int64_t values[] = {place->heap_id, (int64_t)lane->begin, (int64_t)(lane->end - lane->begin),
                                (int64_t)lane->offset};

            status = nm_page_columns_add(&lanes, values, err);
        }
    }
    if (status == NM_OK)
        status = nm_page_table(m->page, &lanes, "lane", nm_page_room(m->page, LANES_SHARE), err);
    nm_page_columns_free(&lanes);
    return status;
}

/* In the order of blocks, whose columns they have. */
static nm_status read_segments(map *m, nm_page_columns *columns, sqlite3_stmt *segment, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < m->segments.count && status == NM_OK; i++) {
        nm_segment_blocks_bind(segment, m->segments.items[i]);
        status = nm_page_columns_read(columns, &m->page->strings, m->page->db, segment, err);
    }
    if (status == NM_OK)
        status = nm_page_rows_sort(columns, err);
    if (columns->row_count > SEGMENTS_MAX)
        columns->row_count = SEGMENTS_MAX;
    return status;
}

static nm_status write_segments(map *m, nm_error *err)
{
    nm_page_columns columns = {0};
    sqlite3_stmt *segment = NULL;
    nm_status status = nm_segment_blocks_ask(m->page->db, NM_NULL, &segment, err);

    if (status == NM_OK)
        status = read_segments(m, &columns, segment, err);
    if (status == NM_OK && columns.column_count > 0)
        status = nm_page_tables_put(m->page, &columns, "segment_block", err);
    nm_page_columns_free(&columns);
    sqlite3_finalize(segment);
    return status == NM_OK ? nm_page_lanes_segments(&m->lanes, m->page, err) : status;
}

/* ---- Cells --------------------------------------------------------------------------------------------------------- */

static nm_status put_cells(void *context, FILE *out, nm_error *err)
{
    const heap_picture *picture = context;
    const nm_page_cells *cells = &picture->cells;
    nm_status status;

    fprintf(out,
            "<script type=\"application/octet-stream\" class=\"cells\" data-head='{\"heap\":%" PRId64
            ",\"width\":%d,\"height\":%d,\"first_seq\":%.0f,\"last_seq\":%.0f,\"axis_bytes\":%.0f}'>",
            picture->place->heap_id, cells->width, cells->height, cells->first_seq, cells->last_seq, cells->axis_bytes);
    status = nm_page_cells_write(cells, out, err);
    fputs("</script>\n", out);
    return status;
}

static bool shrink_cells(void *context, size_t bytes, uint64_t bytes_max)
{
    heap_picture *picture = context;

    (void)bytes;
    (void)bytes_max;
    return nm_page_cells_shrink(&picture->cells);
}

/* What one heap does not take is left to those behind it. */
static nm_status write_cells(map *m, heap_picture *picture, nm_error *err)
{
    uint64_t room = nm_page_room(m->page, CELLS_SHARE) / (m->picture_count - m->drawn_count++);
    nm_status status = nm_page_part(m->page, &(nm_page_piece){picture, put_cells, shrink_cells}, room, err);

    nm_page_cells_free(&picture->cells);
    return status;
}

static bool is_begun(const heap_picture *picture)
{
    return picture->cells.used != NULL;
}

static nm_status begin_picture(heap_picture *picture, nm_error *err)
{
    nm_status status = nm_page_cells_init(&picture->cells, err);

    picture->cells.first_seq = picture->first_seq;
    picture->cells.last_seq = picture->last_seq;
    picture->cells.axis_bytes = (double)picture->place->axis.bytes;
    return status;
}

/* `picture` may be NULL: the heap has none. */
static nm_status draw_block(map *m, heap_picture *picture, const nm_page_unpacked *block, nm_error *err)
{
    uint64_t offset;

    if (picture == NULL || !nm_page_axis_find(&picture->place->axis, (uint64_t)block->address, &offset))
        return NM_OK;
    if (!is_begun(picture) && begin_picture(picture, err) != NM_OK)
        return NM_ERR_MEMORY;

    const nm_page_cells *cells = &picture->cells;
    double born = (double)block->born;
    nm_page_cells_draw(&picture->cells, block->born < 0 ? cells->first_seq : born,
                       block->life == NM_NULL ? cells->last_seq : born + (double)block->life, (double)offset,
                       (double)block->size_bytes, nm_page_rows_site(&m->rows, block->stack_id));
    return NM_OK;
}

static nm_page_unpacked block_of(const nm_page_row *row)
{
    return (nm_page_unpacked){.born = row->values[NM_PAGE_ROW_BORN],
                              .life = row->values[NM_PAGE_ROW_LIFE],
                              .address = row->values[NM_PAGE_ROW_ADDRESS],
                              .size_bytes = row->values[NM_PAGE_ROW_SIZE],
                              .stack_id = row->values[NM_PAGE_ROW_STACK]};
}

/* Of blocks that lie in memory, heap after heap. */
static nm_status draw_kept(map *m, nm_error *err)
{
    const nm_page_column *columns = m->blocks.columns;
    heap_picture *picture = NULL;
    nm_page_row row;
    nm_status status = NM_OK;

    for (size_t i = 0; i < m->blocks.row_count && status == NM_OK; i++) {
        if (i == 0 || columns[NM_PAGE_ROW_HEAP].values[i] != columns[NM_PAGE_ROW_HEAP].values[i - 1]) {
            if (picture != NULL && is_begun(picture))
                status = write_cells(m, picture, err);
            picture = find_picture(m, columns[NM_PAGE_ROW_HEAP].values[i]);
        }
        nm_page_rows_get(&m->blocks, i, &row);
        nm_page_unpacked block = block_of(&row);
        if (status == NM_OK)
            status = draw_block(m, picture, &block, err);
    }
    return status == NM_OK && picture != NULL && is_begun(picture) ? write_cells(m, picture, err) : status;
}

/* ---- All blocks ---------------------------------------------------------------------------------------------------- */

static nm_status add_id(nm_live_ids *ids, int64_t id, nm_error *err)
{
    nm_status status = nm_array_grow(&ids->items, &ids->capacity, ids->count + 1, sizeof *ids->items, err);

    if (status == NM_OK)
        ids->items[ids->count++] = id;
    return status;
}

static nm_status note_live(map *m, const nm_page_row *row, nm_error *err)
{
    const int64_t *values = row->values;

    if (!m->wants_live ||
        !nm_live_rule_keeps(&m->rule, values[NM_PAGE_ROW_HEAP], row->end_kind, values[NM_PAGE_ROW_BORN],
                            nm_page_rows_freed(values[NM_PAGE_ROW_BORN], values[NM_PAGE_ROW_LIFE])))
        return NM_OK;
    return add_id(&m->live, values[NM_PAGE_ROW_ID], err);
}

/* *is_block: it is one. */
static nm_status note_row(map *m, const nm_page_row *row, bool *is_block, nm_error *err)
{
    nm_status status = note_live(m, row, err);

    *is_block = !row->is_segment;
    if (status == NM_OK && row->is_segment)
        return add_id(&m->segments, row->values[NM_PAGE_ROW_ID], err);
    if (status != NM_OK)
        return status;
    m->block_count++;
    return nm_page_lanes_note(&m->lanes, row, err);
}

static nm_status keep_row(map *m, const nm_page_row *row, nm_error *err)
{
    return nm_page_columns_add(&m->blocks, row->values, err);
}

static nm_status take_every(void *context, const nm_page_row *row, nm_error *err)
{
    bool is_block = false;
    nm_status status = note_row(context, row, &is_block, err);

    return status == NM_OK && is_block ? keep_row(context, row, err) : status;
}

/* ---- Those of windows ---------------------------------------------------------------------------------------------- */

static nm_status note_reach(map *m, int64_t id, const int64_t reach_of[NM_PAGE_ANCHOR_KINDS], nm_error *err)
{
    if (m->run_count == 0 || m->runs[m->run_count - 1].count == RUN_ROWS) {
        nm_status status = nm_array_grow(&m->runs, &m->run_capacity, m->run_count + 1, sizeof *m->runs, err);

        if (status != NM_OK)
            return status;
        m->runs[m->run_count++] = (row_run){.first_id = id};
        for (int kind = 0; kind < NM_PAGE_ANCHOR_KINDS; kind++)
            m->runs[m->run_count - 1].reach_of[kind] = INT64_MAX;
    }
    row_run *run = &m->runs[m->run_count - 1];
    run->last_id = id;
    run->count++;
    for (int kind = 0; kind < NM_PAGE_ANCHOR_KINDS; kind++)
        if (reach_of[kind] < run->reach_of[kind])
            run->reach_of[kind] = reach_of[kind];
    return NM_OK;
}

static nm_status take_far(void *context, const nm_page_row *row, nm_error *err)
{
    map *m = context;
    const int64_t *values = row->values;
    int64_t reach_of[NM_PAGE_ANCHOR_KINDS];
    nm_page_unpacked block = block_of(row);
    bool is_block = false;
    nm_status status = note_row(m, row, &is_block, err);

    if (status != NM_OK || !is_block)
        return status;
    nm_page_windows_count(&m->windows, values[NM_PAGE_ROW_HEAP], values[NM_PAGE_ROW_BORN],
                          nm_page_rows_freed(values[NM_PAGE_ROW_BORN], values[NM_PAGE_ROW_LIFE]), reach_of);
    block.place = m->lanes.last_place;
    status = note_reach(m, values[NM_PAGE_ROW_ID], reach_of, err);
    return status == NM_OK ? nm_page_packed_add(&m->packed, &block, err) : status;
}

/* What could not be packed is read again. */
static nm_status take_again(void *context, const nm_page_row *row, nm_error *err)
{
    map *m = context;
    nm_page_unpacked block = block_of(row);

    return row->is_segment ? NM_OK : draw_block(m, find_picture(m, row->values[NM_PAGE_ROW_HEAP]), &block, err);
}

static bool is_in_window(map *m, int64_t heap_id, int64_t born, int64_t life)
{
    return nm_page_windows_has(&m->windows, heap_id, born, nm_page_rows_freed(born, life));
}

static nm_status take_near(void *context, const nm_page_row *row, nm_error *err)
{
    map *m = context;
    const int64_t *values = row->values;

    return !row->is_segment &&
                   is_in_window(m, values[NM_PAGE_ROW_HEAP], values[NM_PAGE_ROW_BORN], values[NM_PAGE_ROW_LIFE])
               ? keep_row(m, row, err)
               : NM_OK;
}

static bool is_near(const map *m, const row_run *run)
{
    return m->windows.reach >= 0 && run->reach_of[m->windows.kind_last] <= m->windows.reach;
}

static nm_status read_windows(map *m, nm_error *err)
{
    nm_status status = NM_OK;

    nm_page_windows_choose(&m->windows, BLOCKS_MAX(m));
    for (size_t begin = 0, end; begin < m->run_count && status == NM_OK; begin = end) {
        for (end = begin; end < m->run_count && is_near(m, &m->runs[end]); end++)
            ;
        if (end > begin)
            status = nm_page_rows_each(&m->rows, NM_PAGE_ROWS_WHOLE, m->runs[begin].first_id, m->runs[end - 1].last_id,
                                       take_near, m, err);
        else
            end++;
    }
    return status == NM_OK ? nm_page_rows_sort(&m->blocks, err) : status;
}

static nm_status draw_packed(map *m, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < m->packed.count && status == NM_OK; i++) {
        nm_page_unpacked block = nm_page_packed_get(&m->packed, i);

        status = draw_block(m, find_picture(m, m->lanes.places[block.place].heap_id), &block, err);
    }
    return status;
}

static nm_status draw_far(map *m, nm_error *err)
{
    nm_status status = m->packed.is_given_up
                           ? nm_page_rows_each(&m->rows, NM_PAGE_ROWS_PLACES, -INT64_MAX, INT64_MAX, take_again, m, err)
                           : draw_packed(m, err);

    nm_page_packed_free(&m->packed);
    for (size_t i = 0; i < m->picture_count && status == NM_OK; i++)
        if (is_begun(&m->pictures[i]))
            status = write_cells(m, &m->pictures[i], err);
    return status == NM_OK ? read_windows(m, err) : status;
}

/* ---- Blocks in the page -------------------------------------------------------------------------------------------- */

static nm_status put_blocks(void *context, FILE *out, nm_error *err)
{
    const map *m = context;

    return nm_page_columns_write(&m->blocks, "block", out, err);
}

/* Where all blocks were to be kept, nobody had asked for windows. */
static void count_blocks(map *m)
{
    const nm_page_column *columns = m->blocks.columns;
    int64_t reach_of[NM_PAGE_ANCHOR_KINDS];

    for (size_t i = 0; i < m->blocks.row_count; i++) {
        int64_t born = columns[NM_PAGE_ROW_BORN].values[i], life = columns[NM_PAGE_ROW_LIFE].values[i];

        nm_page_windows_count(&m->windows, columns[NM_PAGE_ROW_HEAP].values[i], born, nm_page_rows_freed(born, life),
                              reach_of);
    }
}

/* Narrower windows: leaves out what is in none of them any more. */
static bool shrink_blocks(void *context, size_t bytes, uint64_t bytes_max)
{
    map *m = context;
    nm_page_column *columns = m->blocks.columns;
    size_t kept = 0, count = m->blocks.row_count;

    if (count == 0)
        return false;
    if (m->has_all)
        count_blocks(m);
    m->has_all = false;
    nm_page_windows_choose(&m->windows, (int64_t)nm_page_fewer_rows(count, bytes, bytes_max));
    for (size_t i = 0; i < count; i++) {
        if (!is_in_window(m, columns[NM_PAGE_ROW_HEAP].values[i], columns[NM_PAGE_ROW_BORN].values[i],
                          columns[NM_PAGE_ROW_LIFE].values[i]))
            continue;
        for (size_t j = 0; j < NM_PAGE_ROW_COLUMNS; j++)
            columns[j].values[kept] = columns[j].values[i];
        kept++;
    }
    m->blocks.row_count = kept;
    return true;
}

/* How many blocks there are, how many the page has, and round which anchors, how far, each of them. */
static nm_status write_kept(map *m, nm_error *err)
{
    nm_page_columns kept = {0};
    int64_t reach = m->has_all || m->windows.reach < 0 ? NM_NULL : m->windows.reach;
    nm_status status;

    nm_page_columns_name(&kept, kept_columns);
    status = nm_page_columns_add(
        &kept, (int64_t[]){m->block_count, (int64_t)m->blocks.row_count, reach, (int64_t)m->windows.kind_last}, err);
    if (status == NM_OK)
        status = nm_page_columns_write(&kept, "kept", m->page->out, err);
    nm_page_columns_free(&kept);
    return status;
}

static nm_status write_anchors(map *m, nm_error *err)
{
    nm_page_columns anchors = {0};
    nm_status status = NM_OK;

    nm_page_columns_name(&anchors, anchor_columns);
    for (size_t i = 0; i < m->windows.count && status == NM_OK; i++) {
        const nm_page_anchor *anchor = &m->windows.anchors[i];

        status = nm_page_columns_add(&anchors, (int64_t[]){anchor->heap_id, (int64_t)anchor->kind, anchor->seq}, err);
    }
    if (status == NM_OK)
        status = nm_page_table(m->page, &anchors, "anchor", nm_page_room(m->page, CELLS_SHARE), err);
    nm_page_columns_free(&anchors);
    return status;
}

nm_status nm_page_map_write_blocks(nm_page_map *m, nm_error *err)
{
    uint64_t room = nm_page_room(m->page, 1);
    nm_status status;

    room = room > KEPT_BYTES ? room - KEPT_BYTES : 0;
    status = nm_page_part(m->page, &(nm_page_piece){m, put_blocks, shrink_blocks}, room, err);
    return status == NM_OK ? write_kept(m, err) : status;
}

void nm_page_map_free(nm_page_map *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->picture_count; i++)
        nm_page_cells_free(&m->pictures[i].cells);
    free(m->pictures);
    free(m->runs);
    nm_page_columns_free(&m->blocks);
    nm_page_lanes_free(&m->lanes);
    nm_page_rows_close(&m->rows);
    nm_page_windows_free(&m->windows);
    nm_page_packed_free(&m->packed);
    nm_live_rule_free(&m->rule);
    free(m->live.items);
    free(m->segments.items);
    free(m);
}

/* NM_END: they are more. */
static nm_status count_block(void *context, const nm_allocation_values *row, nm_error *err)
{
    int64_t *left_count = context;

    (void)err;
    *left_count -= row->is_segment == 0;
    return *left_count < 0 ? NM_END : NM_OK;
}

/* Are they few enough to try? Numbers of rows say that mostly, without a look at the rows. */
static nm_status look_at_count(map *m, nm_error *err)
{
    nm_block_spans_row span;
    const nm_allocation_request all = {NM_ALLOCATIONS_ALL, "is_segment "};
    int64_t left_count = BLOCKS_MAX(m);
    nm_status status = nm_block_spans_get(m->page->db, &span, err);

    m->has_all = !span.has.half_count || span.half_count < BLOCKS_MAX(m) / 2 - 1;
    if (status != NM_OK || m->has_all)
        return status;
    status = nm_allocation_rows_each(m->page->db, &all, count_block, &left_count, err);
    m->has_all = left_count >= 0;
    return status;
}

static nm_status read_blocks(map *m, nm_error *err)
{
    nm_status status = look_at_count(m, err);

    if (status == NM_OK)
        status = nm_page_rows_each(&m->rows, m->has_all ? NM_PAGE_ROWS_WHOLE : NM_PAGE_ROWS_PLACES, -INT64_MAX,
                                   INT64_MAX, m->has_all ? take_every : take_far, m, err);
    if (status == NM_OK)
        status = nm_page_rows_sort(&m->blocks, err);
    return status == NM_OK ? nm_page_lanes_settle(&m->lanes, m->page->db, err) : status;
}

nm_status nm_page_map_read(nm_page *page, bool wants_live, nm_page_map **out, nm_error *err)
{
    map *m = *out = calloc(1, sizeof *m);

    if (m == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    m->page = page;
    m->wants_live = wants_live;
    nm_page_rows_name(&m->blocks);
    nm_status status = nm_page_rows_open(&m->rows, page->db, &page->strings, err);
    if (status == NM_OK && wants_live)
        status = nm_live_rule_read(&m->rule, page->db, "main", err);
    if (status == NM_OK)
        status = nm_page_windows_read(&m->windows, page->db, err);
    return status == NM_OK ? read_blocks(m, err) : status;
}

const nm_live_ids *nm_page_map_live(const nm_page_map *m)
{
    return &m->live;
}

nm_status nm_page_map_write(nm_page_map *m, nm_error *err)
{
    nm_status status = choose_heaps(m, err);

    if (status == NM_OK)
        status = write_lanes(m, err);
    if (status == NM_OK)
        status = write_segments(m, err);
    if (status == NM_OK)
        status = write_anchors(m, err);
    if (status != NM_OK)
        return status;
    return m->has_all ? draw_kept(m, err) : draw_far(m, err);
}
