/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows come heap after heap, with how many there are of each: so the place of a row says which part of its curve it belongs to, and
 * one row at a time is held.
 */
#include "page/curves.h"

#include "page/tables.h"
#include "store/database.h"

#define ROWS_MAX       400000 /* of all heaps */
#define ROWS_OF_A_HEAP 64     /* at least */
#define COLUMNS_MAX    10

/* The last column is the number of rows of the heap. */
static const char usage_sql[] =
    "SELECT u.heap_id, u.first_seq, u.last_seq, u.last_ns, u.max_seq, u.max_ns, u.max_live_bytes, u.live_bytes,"
    " u.live_count, u.reserved_bytes, n.row_count FROM usage AS u JOIN (SELECT heap_id, count(*) AS row_count FROM "
    "usage"
    " GROUP BY heap_id) AS n ON n.heap_id = u.heap_id ORDER BY u.heap_id, u.last_seq";
static const char *const usage_columns[] = {"heap_id", "first_seq",      "last_seq",   "last_ns",    "max_seq",
                                            "max_ns",  "max_live_bytes", "live_bytes", "live_count", "reserved_bytes",
                                            NULL};
enum { HEAP_ID, FIRST_SEQ, LAST_SEQ, LAST_NS, MAX_SEQ, MAX_NS, MAX_LIVE_BYTES }; /* the first of them */

static const char gaps_sql[] =
    "SELECT u.heap_id, u.last_seq, u.last_ns, u.reserved_bytes, u.free_bytes, u.stuck_bytes, u.largest_free_bytes,"
    " n.row_count FROM _fragmentation_usage AS u JOIN (SELECT heap_id, count(*) AS row_count FROM _fragmentation_usage"
    " WHERE part_id IS NULL GROUP BY heap_id) AS n ON n.heap_id = u.heap_id WHERE u.part_id IS NULL"
    " ORDER BY u.heap_id, u.last_seq";
static const char *const gap_columns[] = {"heap_id",     "last_seq",           "ns", "reserved_bytes", "free_bytes",
                                          "stuck_bytes", "largest_free_bytes", NULL};

/* `held` becomes the row, with what it has to keep of what it stood for. */
typedef void join_rows(int64_t *held, const int64_t *row);

typedef struct curve {
    sqlite3 *db;
    const char *sql;
    join_rows *join;
    nm_page_columns columns;
    int64_t held[COLUMNS_MAX];
    int64_t place, part; /* of the row that is held, in its heap */
    int64_t part_count;  /* of a heap, at most */
    bool is_held;
} curve;

static void join_usage(int64_t *held, const int64_t *row)
{
    int64_t first_seq = held[FIRST_SEQ], max[] = {held[MAX_SEQ], held[MAX_NS], held[MAX_LIVE_BYTES]};
    bool is_higher = row[MAX_LIVE_BYTES] > held[MAX_LIVE_BYTES];

    for (size_t i = 0; usage_columns[i] != NULL; i++)
        held[i] = row[i];
    held[FIRST_SEQ] = first_seq;
    if (is_higher)
        return;
    held[MAX_SEQ] = max[0];
    held[MAX_NS] = max[1];
    held[MAX_LIVE_BYTES] = max[2];
}

static void join_gaps(int64_t *held, const int64_t *row)
{
    for (size_t i = 0; gap_columns[i] != NULL; i++)
        held[i] = row[i];
}

static nm_status let_go(curve *c, nm_error *err)
{
    return c->is_held ? nm_page_columns_add(&c->columns, c->held, err) : NM_OK;
}

static nm_status take_row(curve *c, sqlite3_stmt *statement, nm_error *err)
{
    int64_t row[COLUMNS_MAX], row_count = sqlite3_column_int64(statement, (int)c->columns.column_count);
    nm_status status = NM_OK;

    for (size_t i = 0; i < c->columns.column_count; i++)
        row[i] = nm_db_is_null(statement, (int)i) ? NM_NULL : sqlite3_column_int64(statement, (int)i);
    c->place = c->is_held && c->held[HEAP_ID] == row[HEAP_ID] ? c->place + 1 : 0;
    int64_t part = c->place * (row_count < c->part_count ? row_count : c->part_count) / row_count;

    if (c->place > 0 && part == c->part) {
        c->join(c->held, row);
        return NM_OK;
    }
    status = let_go(c, err);
    for (size_t i = 0; i < c->columns.column_count; i++)
        c->held[i] = row[i];
    c->part = part;
    c->is_held = true;
    return status;
}

static nm_status read_curves(curve *c, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    int code = SQLITE_DONE;
    nm_status status = nm_db_prepare(c->db, c->sql, &rows, err);

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = take_row(c, rows, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(c->db, err);
    sqlite3_finalize(rows);
    return status == NM_OK ? let_go(c, err) : status;
}

static nm_status write_curves(nm_page *page, curve *c, const char *name, nm_error *err)
{
    int64_t heap_count = 0;
    nm_status status = nm_db_get_int(c->db, "SELECT count(DISTINCT heap_id) FROM usage", &heap_count, err);

    c->part_count = heap_count == 0 || ROWS_MAX / heap_count < ROWS_OF_A_HEAP ? ROWS_OF_A_HEAP : ROWS_MAX / heap_count;
    if (status == NM_OK)
        status = read_curves(c, err);
    if (status == NM_OK)
        status = nm_page_tables_put(page, &c->columns, name, err);
    nm_page_columns_free(&c->columns);
    return status;
}

nm_status nm_page_usage_write(nm_page *page, sqlite3 *db, const char *name, nm_error *err)
{
    curve c = {.db = db, .sql = usage_sql, .join = join_usage};

    nm_page_columns_name(&c.columns, usage_columns);
    return write_curves(page, &c, name, err);
}

nm_status nm_page_gaps_write(nm_page *page, nm_error *err)
{
    curve c = {.db = page->db, .sql = gaps_sql, .join = join_gaps};

    nm_page_columns_name(&c.columns, gap_columns);
    return write_curves(page, &c, "gap", err);
}
