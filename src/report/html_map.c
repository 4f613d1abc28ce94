/* SPDX-License-Identifier: Apache-2.0
 *
 * Two walks over the allocations, whatever the number of heaps: the first says which lanes each heap has (a pool's are its
 * segments), the second, heap after heap, draws the cells and keeps the blocks. Where there are too many of them it counts them instead, and a
 * third keeps those of windows (html_windows.h).
 */
#include "report/html_map.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/map.h"
#include "report/html_axis.h"
#include "report/html_cells.h"
#include "report/html_columns.h"
#include "report/html_ranges.h"
#include "report/html_tables.h"
#include "report/html_windows.h"
#include "store/database.h"

#define TO_TEXT(number) TO_TEXT_OF(number)
#define TO_TEXT_OF(x)   #x

#define SEGMENTS_MAX    200000
#define LANES_SHARE     0.65 /* of the page, at most: they, and what is before them */
#define CELLS_SHARE     0.85 /* the same */
#define USES_SHARE      0.9  /* the same */
#define KEPT_BYTES      1024 /* of the table that comes last */
#define BLOCKS_MAX(m)                                                                                                  \
    ((int64_t)((m)->page->bytes_max / 8)) /* held in memory: what takes least has 1 to 2 bytes a block */

/* A heap's picture begins and ends with its input, so that those of one input lie below each other. */
static const char heaps_sql[] =
    "SELECT h.heap_id, t.first_seq, t.last_seq FROM _heap_place AS h"
    " JOIN (SELECT p.input_id, min(u.first_seq) AS first_seq, max(u.last_seq) AS last_seq FROM usage AS u"
    " JOIN _heap_place AS p ON p.heap_id = u.heap_id GROUP BY p.input_id) AS t ON t.input_id = h.input_id"
    " JOIN (SELECT heap_id, count(*) AS block_count FROM allocation WHERE is_segment = 0 GROUP BY heap_id) AS n"
    " ON n.heap_id = h.heap_id"
    " WHERE t.last_seq > t.first_seq ORDER BY n.block_count DESC, h.heap_id LIMIT " TO_TEXT(NM_HTML_HEAPS_MAX);

static const char ranges_sql[] =
    "SELECT u.heap_id, s.address, s.size_bytes FROM (SELECT DISTINCT heap_id, segment_id FROM allocation"
    " WHERE is_segment = 0 AND segment_id IS NOT NULL) AS u JOIN allocation AS s ON s.allocation_id = u.segment_id"
    " UNION ALL SELECT a.heap_id, a.address, a.size_bytes FROM allocation AS a"
    " WHERE a.is_segment = 0 AND a.segment_id IS NULL";

static const char segment_rows_sql[] =
    "SELECT u.heap_id, s.allocation_id, s.address, s.size_bytes, s.alloc_seq, s.free_seq, s.heap_id AS driver_id"
    " FROM allocation AS s JOIN (SELECT DISTINCT heap_id, segment_id FROM allocation WHERE segment_id IS NOT NULL) AS u"
    " ON u.segment_id = s.allocation_id ORDER BY u.heap_id, s.address, s.alloc_seq, s.allocation_id LIMIT ?1";

/* What is close to what stands above it, or the same, takes next to no room. Times are those of the page's clock. */
#define BLOCK_COLUMNS                                                                                                  \
    "a.heap_id, coalesce(a.alloc_seq, -1) AS born, a.free_seq - coalesce(a.alloc_seq, -1) AS life, a.address,"         \
    " a.size_bytes, a.stack_id, a.allocation_id, a.stream, a.category_id, a.private_pool"

/* The last three are texts. */
static const char *const block_columns[] = {"heap_id",      "born",          "life",   "address",     "size_bytes",
                                            "stack_id",     "allocation_id", "stream", "category_id", "private_pool",
                                            "own_category", "operation",     "module", NULL};
#define BLOCK_COLUMN_COUNT (sizeof block_columns / sizeof *block_columns - 1)
enum {
    BLOCK_HEAP,
    BLOCK_BORN,
    BLOCK_LIFE,
    BLOCK_ADDRESS,
    BLOCK_SIZE,
    BLOCK_OWN_CATEGORY = 10,
    BLOCK_OPERATION,
    BLOCK_MODULE
};

/* Behind the integers: the name of the operation, its number where it was open at the birth, whether the category is a word of
 * the program's own, the site, and the segment. */
static const char all_blocks_sql[] =
    "SELECT " BLOCK_COLUMNS ", o.name, CASE WHEN w.name = 'thread' THEN a.operation_id END, c.name = 'other',"
    " s.site_frame_id, a.segment_id FROM allocation AS a LEFT JOIN operation AS o ON o.operation_id = a.operation_id"
    " LEFT JOIN _operation_source AS w ON w.operation_source = a.operation_source"
    " LEFT JOIN _category AS c ON c.category_id = a.category_id"
    " LEFT JOIN stack AS s ON s.stack_id = a.stack_id WHERE a.is_segment = 0 ORDER BY a.heap_id, born, a.allocation_id";
enum { COLUMN_OPERATION = 10, COLUMN_OPERATION_ID, COLUMN_IS_OWN, COLUMN_SITE, COLUMN_SEGMENT };

/* Each anchor of the windows, which the page lays round it. */
static const char *const anchor_columns[] = {"heap_id", "kind", "seq", NULL};

static const char *const kept_columns[] = {"block_count", "kept_count", "reach", "kind_last", NULL};

typedef struct heap_picture {
    int64_t heap_id;
    double first_seq, last_seq;
    nm_html_axis axis;
} heap_picture;

struct nm_html_map {
    nm_html_page *page;
    nm_html_ranges ranges;
    heap_picture heaps[NM_HTML_HEAPS_MAX];
    size_t heap_count, drawn_count;
    heap_picture *heap; /* the one that is drawn; NULL: none, or it has no picture */
    int64_t heap_id;    /* of the row before */
    nm_html_cells cells;
    nm_html_windows windows;
    nm_html_columns lanes, blocks; /* of all heaps */
    nm_html_columns uses;          /* of each segment by each heap: its first block there */
    nm_map used;                   /* which those are */
    int64_t block_count;
    bool has_all; /* each block is in `blocks` */
};

typedef struct nm_html_map map;

/* Calls take(map, row) for each row of a question. */
static nm_status each(map *m, const char *sql, nm_status (*take)(map *, sqlite3_stmt *, nm_error *), nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(m->page->db, sql, &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take(m, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(m->page->db, err);
    sqlite3_finalize(row);
    return status;
}

/* ---- Heaps and their lanes ----------------------------------------------------------------------------------------- */

static heap_picture *find_heap(map *m, int64_t heap_id)
{
    for (size_t i = 0; i < m->heap_count; i++)
        if (m->heaps[i].heap_id == heap_id)
            return &m->heaps[i];
    return NULL;
}

static nm_status take_heap(map *m, sqlite3_stmt *row, nm_error *err)
{
    (void)err;
    if (m->heap_count < NM_HTML_HEAPS_MAX)
        m->heaps[m->heap_count++] = (heap_picture){.heap_id = sqlite3_column_int64(row, 0),
                                                   .first_seq = (double)sqlite3_column_int64(row, 1),
                                                   .last_seq = (double)sqlite3_column_int64(row, 2) + 1};
    return NM_OK;
}

static nm_status take_range(map *m, sqlite3_stmt *row, nm_error *err)
{
    heap_picture *heap = find_heap(m, sqlite3_column_int64(row, 0));

    return heap == NULL
               ? NM_OK
               : nm_html_axis_add(&heap->axis, sqlite3_column_int64(row, 1), sqlite3_column_int64(row, 2), err);
}

static nm_status keep_lanes(map *m, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < m->heap_count; i++)
        nm_html_axis_settle(&m->heaps[i].axis);
    for (size_t i = 0; i < m->heap_count; i++)
        for (size_t j = 0; j < m->heaps[i].axis.count && status == NM_OK; j++) {
            const nm_html_lane *lane = &m->heaps[i].axis.lanes[j];
            int64_t values[] = {m->heaps[i].heap_id, (int64_t)lane->begin, (int64_t)(lane->end - lane->begin),
                                (int64_t)lane->offset};

            status = nm_html_columns_add(&m->lanes, values, err);
        }
    return status;
}

/* ---- Blocks -------------------------------------------------------------------------------------------------------- */

static nm_status put_cells(void *context, FILE *out, nm_error *err)
{
    const map *m = context;
    nm_status status;

    fprintf(out,
            "<script type=\"application/octet-stream\" class=\"cells\" data-head='{\"heap\":%" PRId64
            ",\"width\":%d,\"height\":%d,\"first_seq\":%.0f,\"last_seq\":%.0f,\"axis_bytes\":%.0f}'>",
            m->heap->heap_id, m->cells.width, m->cells.height, m->cells.first_seq, m->cells.last_seq,
            m->cells.axis_bytes);
    status = nm_html_cells_write(&m->cells, out, err);
    fputs("</script>\n", out);
    return status;
}

static bool shrink_cells(void *context, size_t bytes, uint64_t bytes_max)
{
    map *m = context;

    (void)bytes;
    (void)bytes_max;
    return nm_html_cells_shrink(&m->cells);
}

/* What one heap does not take is left to those behind it. */
static nm_status write_cells(map *m, nm_error *err)
{
    uint64_t room = nm_html_page_room(m->page, CELLS_SHARE);

    if (m->heap == NULL)
        return NM_OK;
    room /= m->heap_count - m->drawn_count++;
    return nm_html_page_part(m->page, &(nm_html_part){m, put_cells, shrink_cells}, room, err);
}

static nm_status begin_heap(map *m, int64_t heap_id, nm_error *err)
{
    nm_status status = write_cells(m, err);

    m->heap_id = heap_id;
    m->heap = find_heap(m, heap_id);
    if (m->heap != NULL && m->heap->axis.bytes == 0)
        m->heap = NULL;
    if (m->heap == NULL)
        return status;
    m->cells.first_seq = m->heap->first_seq;
    m->cells.last_seq = m->heap->last_seq;
    m->cells.axis_bytes = (double)m->heap->axis.bytes;
    nm_html_cells_clear(&m->cells);
    return status;
}

static void draw_block(map *m, const int64_t *values, int64_t site)
{
    double born = values[BLOCK_BORN] < 0 ? m->cells.first_seq : (double)values[BLOCK_BORN];
    double ended =
        values[BLOCK_LIFE] == NM_NULL ? m->cells.last_seq : (double)values[BLOCK_BORN] + (double)values[BLOCK_LIFE];
    uint64_t offset;

    if (nm_html_axis_find(&m->heap->axis, (uint64_t)values[BLOCK_ADDRESS], &offset))
        nm_html_cells_draw(&m->cells, born, ended, (double)offset, (double)values[BLOCK_SIZE], (uint32_t)site);
}

static nm_status read_block(map *m, sqlite3_stmt *row, int64_t values[BLOCK_COLUMN_COUNT], nm_error *err)
{
    nm_html_range around = nm_html_ranges_find(&m->ranges, sqlite3_column_int64(row, COLUMN_OPERATION_ID));

    for (int i = 0; i < BLOCK_OWN_CATEGORY; i++)
        values[i] = nm_db_is_null(row, i) ? NM_NULL : sqlite3_column_int64(row, i);
    values[BLOCK_OWN_CATEGORY] = sqlite3_column_int(row, COLUMN_IS_OWN) != 0 ? around.category : 0;
    values[BLOCK_MODULE] = around.module;
    return nm_html_columns_text(&m->page->strings, row, COLUMN_OPERATION, &values[BLOCK_OPERATION], err);
}

/* The event that frees it; NM_NULL: none. */
static int64_t freed_of(const int64_t *born, const int64_t *life)
{
    return *life == NM_NULL ? NM_NULL : (int64_t)((uint64_t)*born + (uint64_t)*life);
}

/* From the first block that a heap has in a segment on, the segment is its own. Blocks come in the order of their births. */
static nm_status note_use(map *m, int64_t heap_id, int64_t segment_id, int64_t born, nm_error *err)
{
    nm_key key = {(uint64_t)heap_id, (uint64_t)segment_id};
    nm_status status;

    if (nm_map_get(&m->used, key) != NULL)
        return NM_OK;
    status = nm_map_put(&m->used, key, 1, err);
    return status == NM_OK ? nm_html_columns_add(&m->uses, (int64_t[]){heap_id, segment_id, born}, err) : status;
}

static nm_status take_block(map *m, sqlite3_stmt *row, nm_error *err)
{
    int64_t values[BLOCK_COLUMN_COUNT];
    nm_status status = read_block(m, row, values, err);

    if (status == NM_OK && values[BLOCK_HEAP] != m->heap_id)
        status = begin_heap(m, values[BLOCK_HEAP], err);
    if (m->heap != NULL)
        draw_block(m, values, sqlite3_column_int64(row, COLUMN_SITE));
    if (!m->has_all)
        nm_html_windows_count(&m->windows, values[BLOCK_HEAP], values[BLOCK_BORN],
                              freed_of(&values[BLOCK_BORN], &values[BLOCK_LIFE]));
    if (status == NM_OK && !nm_db_is_null(row, COLUMN_SEGMENT))
        status = note_use(m, values[BLOCK_HEAP], sqlite3_column_int64(row, COLUMN_SEGMENT), values[BLOCK_BORN], err);
    return status == NM_OK && m->has_all ? nm_html_columns_add(&m->blocks, values, err) : status;
}

static nm_status take_window_block(map *m, sqlite3_stmt *row, nm_error *err)
{
    int64_t values[BLOCK_COLUMN_COUNT];
    nm_status status = read_block(m, row, values, err); /* its texts have their numbers: the walk before met them all */

    if (status != NM_OK || !nm_html_windows_has(&m->windows, values[BLOCK_HEAP], values[BLOCK_BORN],
                                                freed_of(&values[BLOCK_BORN], &values[BLOCK_LIFE])))
        return status;
    return nm_html_columns_add(&m->blocks, values, err);
}

static nm_status put_blocks(void *context, FILE *out, nm_error *err)
{
    const map *m = context;

    return nm_html_columns_write(&m->blocks, "block", out, err);
}

/* Where all blocks were to be kept, nobody had asked for windows. */
static void count_blocks(map *m)
{
    const nm_html_column *columns = m->blocks.columns;

    for (size_t i = 0; i < m->blocks.row_count; i++)
        nm_html_windows_count(&m->windows, columns[BLOCK_HEAP].values[i], columns[BLOCK_BORN].values[i],
                              freed_of(&columns[BLOCK_BORN].values[i], &columns[BLOCK_LIFE].values[i]));
}

/* Narrower windows: leaves out what is in none of them any more. */
static bool shrink_blocks(void *context, size_t bytes, uint64_t bytes_max)
{
    map *m = context;
    nm_html_column *columns = m->blocks.columns;
    size_t kept = 0, count = m->blocks.row_count;

    if (count == 0)
        return false;
    if (m->has_all)
        count_blocks(m);
    m->has_all = false;
    nm_html_windows_choose(&m->windows, (int64_t)nm_html_fewer_rows(count, bytes, bytes_max));
    for (size_t i = 0; i < count; i++) {
        if (!nm_html_windows_has(&m->windows, columns[BLOCK_HEAP].values[i], columns[BLOCK_BORN].values[i],
                                 freed_of(&columns[BLOCK_BORN].values[i], &columns[BLOCK_LIFE].values[i])))
            continue;
        for (size_t j = 0; j < BLOCK_COLUMN_COUNT; j++)
            columns[j].values[kept] = columns[j].values[i];
        kept++;
    }
    m->blocks.row_count = kept;
    return true;
}

/* How many blocks there are, how many the page has, and round which anchors, how far, each of them. */
static nm_status write_kept(map *m, nm_error *err)
{
    nm_html_columns kept = {0};
    int64_t reach = m->has_all || m->windows.reach < 0 ? NM_NULL : m->windows.reach;
    nm_status status;

    nm_html_columns_name(&kept, kept_columns);
    status = nm_html_columns_add(
        &kept, (int64_t[]){m->block_count, (int64_t)m->blocks.row_count, reach, (int64_t)m->windows.kind_last}, err);
    if (status == NM_OK)
        status = nm_html_columns_write(&kept, "kept", m->page->out, err);
    nm_html_columns_free(&kept);
    return status;
}

static nm_status write_anchors(map *m, nm_error *err)
{
    nm_html_columns anchors = {0};
    nm_status status = NM_OK;

    nm_html_columns_name(&anchors, anchor_columns);
    for (size_t i = 0; i < m->windows.count && status == NM_OK; i++) {
        const nm_html_anchor *anchor = &m->windows.anchors[i];

        status = nm_html_columns_add(&anchors, (int64_t[]){anchor->heap_id, (int64_t)anchor->kind, anchor->seq}, err);
    }
    if (status == NM_OK)
        status = nm_html_page_table(m->page, &anchors, "anchor", nm_html_page_room(m->page, CELLS_SHARE), err);
    nm_html_columns_free(&anchors);
    return status;
}

/* Draws them, and keeps them where they are few enough to try. */
static nm_status walk_blocks(map *m, nm_error *err)
{
    nm_status status =
        nm_db_get_int(m->page->db, "SELECT count(*) FROM allocation WHERE is_segment = 0", &m->block_count, err);

    m->has_all = m->block_count <= BLOCKS_MAX(m);
    m->heap_id = NM_NULL;
    if (status == NM_OK)
        status = each(m, all_blocks_sql, take_block, err);
    if (status == NM_OK)
        status = write_cells(m, err);
    if (status == NM_OK)
        status = nm_html_page_table(m->page, &m->uses, "segment_use", nm_html_page_room(m->page, USES_SHARE), err);
    return status;
}

nm_status nm_html_map_write_blocks(nm_html_map *m, nm_error *err)
{
    uint64_t room = nm_html_page_room(m->page, 1);
    nm_status status = NM_OK;

    if (!m->has_all) {
        nm_html_windows_choose(&m->windows, BLOCKS_MAX(m));
        status = each(m, all_blocks_sql, take_window_block, err);
    }
    room = room > KEPT_BYTES ? room - KEPT_BYTES : 0;
    if (status == NM_OK)
        status = nm_html_page_part(m->page, &(nm_html_part){m, put_blocks, shrink_blocks}, room, err);
    return status == NM_OK ? write_kept(m, err) : status;
}

void nm_html_map_free(nm_html_map *m)
{
    if (m == NULL)
        return;
    for (size_t i = 0; i < m->heap_count; i++)
        nm_html_axis_free(&m->heaps[i].axis);
    nm_html_columns_free(&m->lanes);
    nm_html_columns_free(&m->blocks);
    nm_html_columns_free(&m->uses);
    nm_map_free(&m->used);
    nm_html_cells_free(&m->cells);
    nm_html_ranges_free(&m->ranges);
    nm_html_windows_free(&m->windows);
    free(m);
}

static nm_status write_pictures(map *m, nm_error *err)
{
    nm_status status = nm_html_cells_init(&m->cells, err);

    if (status == NM_OK)
        status = nm_html_ranges_read(&m->ranges, m->page->db, &m->page->strings, err);

    if (status == NM_OK)
        status = nm_html_windows_read(&m->windows, m->page->db, err);
    if (status == NM_OK)
        status = each(m, heaps_sql, take_heap, err);
    if (status == NM_OK)
        status = each(m, ranges_sql, take_range, err);
    if (status == NM_OK)
        status = keep_lanes(m, err);
    if (status == NM_OK)
        status = nm_html_page_table(m->page, &m->lanes, "lane", nm_html_page_room(m->page, LANES_SHARE), err);
    if (status == NM_OK)
        status = nm_html_question_write(m->page, m->page->db, "segment", segment_rows_sql, SEGMENTS_MAX, err);
    if (status == NM_OK)
        status = write_anchors(m, err);
    return status == NM_OK ? walk_blocks(m, err) : status;
}

nm_status nm_html_map_write(nm_html_page *page, nm_html_map **out, nm_error *err)
{
    map *m = *out = calloc(1, sizeof *m);

    if (m == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    m->page = page;
    nm_html_columns_name(&m->lanes, (const char *const[]){"heap_id", "address", "size_bytes", "offset", NULL});
    nm_html_columns_name(&m->blocks, block_columns);
    nm_html_columns_name(&m->uses, (const char *const[]){"heap_id", "allocation_id", "used_seq", NULL});
    for (size_t i = BLOCK_OWN_CATEGORY; i < BLOCK_COLUMN_COUNT; i++)
        m->blocks.columns[i].kind = NM_HTML_TEXT;
    return write_pictures(m, err);
}
