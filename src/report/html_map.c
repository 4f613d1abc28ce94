/* SPDX-License-Identifier: Apache-2.0
 *
 * Two walks over the allocations, whatever the number of heaps: the first says which lanes each heap has (a pool's are its
 * segments), the second, heap after heap, draws the cells and keeps the blocks.
 */
#include "report/html_map.h"

#include <inttypes.h>
#include <stdbool.h>

#include "report/html_axis.h"
#include "report/html_cells.h"
#include "report/html_columns.h"
#include "report/html_ranges.h"
#include "report/html_tables.h"
#include "store/database.h"

#define TO_TEXT(number) TO_TEXT_OF(number)
#define TO_TEXT_OF(x)   #x

#define SEGMENTS_MAX    200000

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
    "SELECT u.heap_id, s.allocation_id, s.address, s.size_bytes, s.alloc_seq, s.free_seq FROM allocation AS s"
    " JOIN (SELECT DISTINCT heap_id, segment_id FROM allocation WHERE segment_id IS NOT NULL) AS u"
    " ON u.segment_id = s.allocation_id ORDER BY u.heap_id, s.address, s.alloc_seq, s.allocation_id LIMIT ?1";

/* What is close to what stands above it, or the same, takes next to no room. Times are those of the page's clock. */
#define BLOCK_COLUMNS                                                                                                  \
    "a.heap_id, coalesce(a.alloc_seq, -1) AS born, a.free_seq - coalesce(a.alloc_seq, -1) AS life, a.address,"         \
    " a.size_bytes, a.stack_id, a.allocation_id, a.stream, a.category_id, a.private_pool"

/* The last three, texts, only where all blocks are kept: what they are summed up by is exact there alone. */
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
 * the program's own, and the site. */
static const char all_blocks_sql[] =
    "SELECT " BLOCK_COLUMNS ", o.name, CASE WHEN w.name = 'thread' THEN a.operation_id END, c.name = 'other',"
    " s.site_frame_id FROM allocation AS a LEFT JOIN operation AS o ON o.operation_id = a.operation_id"
    " LEFT JOIN _operation_source AS w ON w.operation_source = a.operation_source"
    " LEFT JOIN _category AS c ON c.category_id = a.category_id"
    " LEFT JOIN stack AS s ON s.stack_id = a.stack_id WHERE a.is_segment = 0 ORDER BY a.heap_id, born, a.allocation_id";
enum { COLUMN_OPERATION = 10, COLUMN_OPERATION_ID, COLUMN_IS_OWN, COLUMN_SITE };

static const char large_blocks_sql[] =
    "SELECT " BLOCK_COLUMNS " FROM allocation AS a JOIN (SELECT allocation_id FROM allocation WHERE is_segment = 0"
    " ORDER BY CAST(size_bytes AS REAL) * (coalesce(free_seq, 1e12) - coalesce(alloc_seq, 0)) DESC"
    " LIMIT ?1) AS k ON k.allocation_id = a.allocation_id"
    " ORDER BY a.heap_id, born, a.allocation_id";

typedef struct heap_picture {
    int64_t heap_id;
    double first_seq, last_seq;
    nm_html_axis axis;
} heap_picture;

typedef struct map {
    sqlite3 *db;
    nm_strings *strings;
    FILE *out;
    nm_html_ranges ranges;
    heap_picture heaps[NM_HTML_HEAPS_MAX];
    size_t heap_count;
    heap_picture *heap; /* the one that is drawn; NULL: none, or it has no picture */
    int64_t heap_id;    /* of the row before */
    nm_html_cells cells;
    nm_html_columns lanes, blocks; /* of all heaps */
    bool has_all;                  /* blocks are few enough: each is kept */
} map;

/* Calls take(map, row) for each row of a question. */
static nm_status each(map *m, const char *sql, nm_status (*take)(map *, sqlite3_stmt *, nm_error *), nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(m->db, sql, &row, err);

    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take(m, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(m->db, err);
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

static nm_status write_cells(map *m, nm_error *err)
{
    nm_status status;

    if (m->heap == NULL)
        return NM_OK;
    fprintf(m->out,
            "<script type=\"application/octet-stream\" class=\"cells\" data-head='{\"heap\":%" PRId64
            ",\"width\":%d,\"height\":%d,\"first_seq\":%.0f,\"last_seq\":%.0f,\"axis_bytes\":%.0f}'>",
            m->heap->heap_id, NM_HTML_CELLS_WIDTH, NM_HTML_CELLS_HEIGHT, m->cells.first_seq, m->cells.last_seq,
            m->cells.axis_bytes);
    status = nm_html_cells_write(&m->cells, m->out, err);
    fputs("</script>\n", m->out);
    return status;
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
    return nm_html_columns_text(m->strings, row, COLUMN_OPERATION, &values[BLOCK_OPERATION], err);
}

static nm_status take_block(map *m, sqlite3_stmt *row, nm_error *err)
{
    int64_t values[BLOCK_COLUMN_COUNT];
    nm_status status = read_block(m, row, values, err);

    if (status == NM_OK && values[BLOCK_HEAP] != m->heap_id)
        status = begin_heap(m, values[BLOCK_HEAP], err);
    if (m->heap != NULL)
        draw_block(m, values, sqlite3_column_int64(row, COLUMN_SITE));
    return status == NM_OK && m->has_all ? nm_html_columns_add(&m->blocks, values, err) : status;
}

static nm_status write_question(sqlite3 *db, nm_strings *strings, const char *name, const char *sql, int64_t most,
                                FILE *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, sql, &rows, err);

    if (status == NM_OK)
        sqlite3_bind_int64(rows, 1, most);
    if (status == NM_OK)
        status = nm_html_table_write(db, strings, name, rows, out, err);
    sqlite3_finalize(rows);
    return status;
}

/* How many blocks there are, and how many the page has. */
static nm_status write_kept(map *m, int64_t count, int64_t kept_count, nm_error *err)
{
    nm_html_columns kept = {0};
    nm_status status;

    nm_html_columns_name(&kept, (const char *const[]){"block_count", "kept_count", NULL});
    status = nm_html_columns_add(&kept, (int64_t[]){count, kept_count}, err);
    if (status == NM_OK)
        status = nm_html_columns_write(&kept, "kept", m->out, err);
    nm_html_columns_free(&kept);
    return status;
}

static nm_status write_blocks(map *m, int64_t blocks_max, nm_error *err)
{
    int64_t count = 0;
    nm_status status = nm_db_get_int(m->db, "SELECT count(*) FROM allocation WHERE is_segment = 0", &count, err);

    m->has_all = count <= blocks_max;
    m->heap_id = NM_NULL;
    if (status == NM_OK)
        status = each(m, all_blocks_sql, take_block, err);
    if (status == NM_OK)
        status = write_cells(m, err);
    if (status == NM_OK)
        status = write_kept(m, count, m->has_all ? count : blocks_max, err);
    if (status != NM_OK)
        return status;
    return m->has_all ? nm_html_columns_write(&m->blocks, "block", m->out, err)
                      : write_question(m->db, m->strings, "block", large_blocks_sql, blocks_max, m->out, err);
}

static void free_map(map *m)
{
    for (size_t i = 0; i < m->heap_count; i++)
        nm_html_axis_free(&m->heaps[i].axis);
    nm_html_columns_free(&m->lanes);
    nm_html_columns_free(&m->blocks);
    nm_html_cells_free(&m->cells);
    nm_html_ranges_free(&m->ranges);
}

nm_status nm_html_map_write(sqlite3 *db, nm_strings *strings, int64_t blocks_max, FILE *out, nm_error *err)
{
    map m = {.db = db, .strings = strings, .out = out};
    nm_status status = nm_html_cells_init(&m.cells, err);

    nm_html_columns_name(&m.lanes, (const char *const[]){"heap_id", "address", "size_bytes", "offset", NULL});
    nm_html_columns_name(&m.blocks, block_columns);
    for (size_t i = BLOCK_OWN_CATEGORY; i < BLOCK_COLUMN_COUNT; i++)
        m.blocks.columns[i].kind = NM_HTML_TEXT;
    if (status == NM_OK)
        status = nm_html_ranges_read(&m.ranges, db, strings, err);
    if (status == NM_OK)
        status = each(&m, heaps_sql, take_heap, err);
    if (status == NM_OK)
        status = each(&m, ranges_sql, take_range, err);
    if (status == NM_OK)
        status = keep_lanes(&m, err);
    if (status == NM_OK)
        status = nm_html_columns_write(&m.lanes, "lane", out, err);
    if (status == NM_OK)
        status = write_question(db, strings, "segment", segment_rows_sql, SEGMENTS_MAX, out, err);
    if (status == NM_OK)
        status = write_blocks(&m, blocks_max, err);
    free_map(&m);
    return status;
}
