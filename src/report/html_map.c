/* SPDX-License-Identifier: Apache-2.0
 *
 * Each heap is walked twice: for the lanes that its addresses lie in, then for the cells. A pool's lanes are its segments.
 */
#include "report/html_map.h"

#include <inttypes.h>

#include "report/html_axis.h"
#include "report/html_cells.h"
#include "report/html_columns.h"
#include "report/html_tables.h"
#include "store/database.h"

#define TO_TEXT(number) TO_TEXT_OF(number)
#define TO_TEXT_OF(x)   #x

/* A heap's picture begins and ends with its input, so that those of one input lie below each other. */
static const char heaps_sql[] =
    "SELECT h.heap_id, t.first_seq, t.last_seq FROM _heap_place AS h"
    " JOIN (SELECT p.input_id, min(u.first_seq) AS first_seq, max(u.last_seq) AS last_seq FROM usage AS u"
    " JOIN _heap_place AS p ON p.heap_id = u.heap_id GROUP BY p.input_id) AS t ON t.input_id = h.input_id"
    " JOIN (SELECT heap_id, count(*) AS block_count FROM allocation WHERE is_segment = 0 GROUP BY heap_id) AS n"
    " ON n.heap_id = h.heap_id"
    " WHERE t.last_seq > t.first_seq ORDER BY n.block_count DESC, h.heap_id LIMIT " TO_TEXT(NM_HTML_HEAPS_MAX);

static const char ranges_sql[] =
    "SELECT s.address, s.size_bytes FROM allocation AS s"
    " WHERE s.allocation_id IN (SELECT segment_id FROM allocation WHERE heap_id = ?1 AND is_segment = 0)"
    " UNION ALL SELECT a.address, a.size_bytes FROM allocation AS a"
    " WHERE a.heap_id = ?1 AND a.is_segment = 0 AND a.segment_id IS NULL";

static const char blocks_sql[] =
    "SELECT a.address, a.size_bytes, a.alloc_seq, a.free_seq, s.site_frame_id FROM allocation AS a"
    " LEFT JOIN stack AS s ON s.stack_id = a.stack_id WHERE a.heap_id = ?1 AND a.is_segment = 0";

static const char segment_rows_sql[] =
    "SELECT u.heap_id, s.allocation_id, s.address, s.size_bytes, s.alloc_seq, s.free_seq FROM allocation AS s"
    " JOIN (SELECT DISTINCT heap_id, segment_id FROM allocation WHERE segment_id IS NOT NULL) AS u"
    " ON u.segment_id = s.allocation_id ORDER BY u.heap_id, s.address, s.alloc_seq, s.allocation_id LIMIT 200000";

#define BLOCK_COLUMNS                                                                                                  \
    "a.heap_id, a.alloc_seq, a.free_seq, a.address, a.size_bytes, a.stack_id, a.allocation_id, a.stream,"              \
    " a.category_id, a.alloc_ns, a.free_ns, a.end_kind"

static const char all_blocks_sql[] = "SELECT " BLOCK_COLUMNS " FROM allocation AS a WHERE a.is_segment = 0"
                                     " ORDER BY a.heap_id, a.alloc_seq, a.allocation_id";

static const char large_blocks_sql[] =
    "SELECT " BLOCK_COLUMNS " FROM allocation AS a JOIN (SELECT allocation_id FROM allocation WHERE is_segment = 0"
    " ORDER BY CAST(size_bytes AS REAL) * (coalesce(free_seq, 1e12) - coalesce(alloc_seq, 0)) DESC"
    " LIMIT " TO_TEXT(NM_HTML_BLOCKS_MAX) ") AS k ON k.allocation_id = a.allocation_id"
                                          " ORDER BY a.heap_id, a.alloc_seq, a.allocation_id";

typedef struct map {
    sqlite3 *db;
    FILE *out;
    nm_html_axis axis;
    nm_html_cells cells;
    nm_html_columns lanes; /* of all heaps */
    int64_t heap_id;
} map;

/* ---- One heap ------------------------------------------------------------------------------------------------------ */

/* Calls take(map, row) for each row of a question whose ?1 is the heap. */
static nm_status each(map *m, const char *sql, nm_status (*take)(map *, sqlite3_stmt *, nm_error *), nm_error *err)
{
    sqlite3_stmt *row = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(m->db, sql, &row, err);

    if (status == NM_OK)
        sqlite3_bind_int64(row, 1, m->heap_id);
    while (status == NM_OK && (code = sqlite3_step(row)) == SQLITE_ROW)
        status = take(m, row, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(m->db, err);
    sqlite3_finalize(row);
    return status;
}

static nm_status take_range(map *m, sqlite3_stmt *row, nm_error *err)
{
    return nm_html_axis_add(&m->axis, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), err);
}

static nm_status take_block(map *m, sqlite3_stmt *row, nm_error *err)
{
    uint64_t offset;
    double born = nm_db_is_null(row, 2) ? m->cells.first_seq : (double)sqlite3_column_int64(row, 2);
    double ended = nm_db_is_null(row, 3) ? m->cells.last_seq : (double)sqlite3_column_int64(row, 3);

    (void)err;
    if (nm_html_axis_find(&m->axis, (uint64_t)sqlite3_column_int64(row, 0), &offset))
        nm_html_cells_draw(&m->cells, born, ended, (double)offset, (double)sqlite3_column_int64(row, 1),
                           (uint32_t)sqlite3_column_int64(row, 4));
    return NM_OK;
}

static nm_status keep_lanes(map *m, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < m->axis.count && status == NM_OK; i++) {
        const nm_html_lane *lane = &m->axis.lanes[i];

        status = nm_html_columns_add(
            &m->lanes,
            (int64_t[]){m->heap_id, (int64_t)lane->begin, (int64_t)(lane->end - lane->begin), (int64_t)lane->offset},
            err);
    }
    return status;
}

static nm_status write_cells(map *m, nm_error *err)
{
    nm_status status;

    fprintf(m->out,
            "<script type=\"application/octet-stream\" class=\"cells\" data-head='{\"heap\":%" PRId64
            ",\"width\":%d,\"height\":%d,\"first_seq\":%.0f,\"last_seq\":%.0f,\"axis_bytes\":%.0f}'>",
            m->heap_id, NM_HTML_CELLS_WIDTH, NM_HTML_CELLS_HEIGHT, m->cells.first_seq, m->cells.last_seq,
            m->cells.axis_bytes);
    status = nm_html_cells_write(&m->cells, m->out, err);
    fputs("</script>\n", m->out);
    return status;
}

static nm_status take_heap(map *m, sqlite3_stmt *row, nm_error *err)
{
    nm_status status;

    m->heap_id = sqlite3_column_int64(row, 0);
    m->cells.first_seq = (double)sqlite3_column_int64(row, 1);
    m->cells.last_seq = (double)sqlite3_column_int64(row, 2) + 1;
    status = each(m, ranges_sql, take_range, err);
    nm_html_axis_settle(&m->axis);
    m->cells.axis_bytes = (double)m->axis.bytes;
    nm_html_cells_clear(&m->cells);
    if (status == NM_OK && m->axis.bytes > 0)
        status = each(m, blocks_sql, take_block, err);
    if (status == NM_OK && m->axis.bytes > 0)
        status = keep_lanes(m, err);
    if (status == NM_OK && m->axis.bytes > 0)
        status = write_cells(m, err);
    nm_html_axis_free(&m->axis);
    return status;
}

/* ---- All of them --------------------------------------------------------------------------------------------------- */

static nm_status write_question(sqlite3 *db, nm_strings *strings, const char *name, const char *sql, FILE *out,
                                nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, sql, &rows, err);

    if (status == NM_OK)
        status = nm_html_table_write(db, strings, name, rows, out, err);
    sqlite3_finalize(rows);
    return status;
}

static nm_status write_blocks(sqlite3 *db, nm_strings *strings, FILE *out, nm_error *err)
{
    int64_t count = 0;
    nm_status status = nm_db_get_int(db, "SELECT count(*) FROM allocation WHERE is_segment = 0", &count, err);

    if (status != NM_OK)
        return status;
    return write_question(db, strings, "block", count > NM_HTML_BLOCKS_MAX ? large_blocks_sql : all_blocks_sql, out,
                          err);
}

nm_status nm_html_map_write(sqlite3 *db, nm_strings *strings, FILE *out, nm_error *err)
{
    map m = {.db = db, .out = out};
    nm_status status = nm_html_cells_init(&m.cells, err);

    nm_html_columns_name(&m.lanes, (const char *const[]){"heap_id", "address", "size_bytes", "offset", NULL});
    if (status == NM_OK)
        status = each(&m, heaps_sql, take_heap, err);
    if (status == NM_OK)
        status = nm_html_columns_write(&m.lanes, "lane", out, err);
    if (status == NM_OK)
        status = write_question(db, strings, "segment", segment_rows_sql, out, err);
    if (status == NM_OK)
        status = write_blocks(db, strings, out, err);
    nm_html_columns_free(&m.lanes);
    nm_html_cells_free(&m.cells);
    nm_html_axis_free(&m.axis);
    return status;
}
