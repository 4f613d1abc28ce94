/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts that a page's data are made of, each read back in another way than it was written: blocks by zlib and a decoder of
 * base64 of our own, columns by hand, cells by areas worked out on paper.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "page/axis.h"
#include "page/block.h"
#include "page/cells.h"
#include "page/columns.h"
#include "page/curves.h"
#include "page/packed.h"
#include "page/ranges.h"
#include "page/rows.h"
#include "page/windows.h"
#include "store/database.h"
#include "support/suites.h"

/* ---- Reading back -------------------------------------------------------------------------------------------------- */

static int digit_of(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = strchr(digits, c);

    ck_assert_msg(c != 0 && at != NULL, "%c is no digit of base64", c);
    return (int)(at - digits);
}

/* Into `out`, which has room; gives the length. */
static size_t read_base64(const char *text, size_t len, uint8_t *out)
{
    size_t made = 0;

    ck_assert_uint_eq(len % 4, 0);
    for (size_t i = 0; i < len; i += 4) {
        size_t digits = text[i + 2] == '=' ? 2 : text[i + 3] == '=' ? 3 : 4;
        uint32_t bits = 0;

        ck_assert_msg(digits == 4 || i + 4 == len, "a pad within");
        for (size_t j = 0; j < 4; j++)
            bits = bits << 6 | (j < digits ? (uint32_t)digit_of(text[i + j]) : 0);
        for (size_t j = 0; j + 1 < digits; j++)
            out[made++] = (uint8_t)(bits >> (16 - 8 * j));
    }
    return made;
}

static size_t read_block(const char *text, size_t len, uint8_t *out, size_t room)
{
    uint8_t *deflated = malloc(len + 1);
    z_stream stream = {0};

    ck_assert_ptr_nonnull(deflated);
    stream.next_in = deflated;
    stream.avail_in = (uInt)read_base64(text, len, deflated);
    stream.next_out = out;
    stream.avail_out = (uInt)room;
    ck_assert_int_eq(inflateInit2(&stream, -MAX_WBITS), Z_OK);
    ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(stream.avail_in, 0);
    inflateEnd(&stream);
    free(deflated);
    return room - stream.avail_out;
}

typedef struct page {
    char *text;
    size_t len;
    FILE *out;
} page;

static void open_page(page *p)
{
    *p = (page){0};
    p->out = open_memstream(&p->text, &p->len);
    ck_assert_ptr_nonnull(p->out);
}

/* ---- Blocks -------------------------------------------------------------------------------------------------------- */

START_TEST(blocks_of_any_length_come_back)
{
    enum { LENGTH = 100000 };
    uint8_t *bytes = malloc(LENGTH), *back = malloc(LENGTH + 1);
    uint32_t seed = 1;

    for (size_t i = 0; i < LENGTH; i++)
        bytes[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
    for (size_t len = 0; len <= LENGTH; len += len < 8 ? 1 : 33331) {
        nm_page_block block;
        page p;

        open_page(&p);
        ck_assert_int_eq(nm_page_block_begin(&block, p.out, NULL), NM_OK);
        for (size_t at = 0; at < len; at += 7001)
            ck_assert_int_eq(nm_page_block_put(&block, bytes + at, len - at < 7001 ? len - at : 7001, NULL), NM_OK);
        ck_assert_int_eq(nm_page_block_end(&block, NULL), NM_OK);
        fclose(p.out);
        ck_assert_uint_eq(read_block(p.text, p.len, back, LENGTH + 1), len);
        ck_assert_mem_eq(back, bytes, len);
        free(p.text);
    }
    free(bytes);
    free(back);
}
END_TEST

#define PLANES_ROOM 4096

/* ---- Columns ------------------------------------------------------------------------------------------------------- */

/* The head of the only table in the page, and its planes. */
static size_t write_table(const char *sql, nm_strings *strings, char head[1024], uint8_t planes[PLANES_ROOM])
{
    nm_page_columns columns = {0};
    sqlite3_stmt *rows = NULL;
    sqlite3 *db = NULL;
    const char *begin, *end;
    size_t len;
    page p;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &rows, NULL), SQLITE_OK);
    open_page(&p);
    ck_assert_int_eq(nm_page_columns_read(&columns, strings, db, rows, NULL), NM_OK);
    ck_assert_int_eq(nm_page_columns_write(&columns, "t", p.out, NULL), NM_OK);
    nm_page_columns_free(&columns);
    fclose(p.out);
    begin = strstr(p.text, "data-head='");
    end = strstr(p.text, "'>");
    ck_assert_ptr_nonnull(begin);
    ck_assert_ptr_nonnull(end);
    snprintf(head, 1024, "%.*s", (int)(end - begin - 11), begin + 11);
    begin = end + 2;
    end = strstr(begin, "</script>\n");
    ck_assert_ptr_nonnull(end);
    ck_assert_str_eq(end, "</script>\n");
    len = read_block(begin, (size_t)(end - begin), planes, PLANES_ROOM);
    free(p.text);
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return len;
}

#define IS_TABLE(sql, wanted_head, ...)                                                                                \
    do {                                                                                                               \
        static const uint8_t wanted[] = {__VA_ARGS__};                                                                 \
        nm_strings strings = {0};                                                                                      \
        char head[1024];                                                                                               \
        uint8_t planes[PLANES_ROOM];                                                                                   \
        size_t len = write_table(sql, &strings, head, planes);                                                         \
                                                                                                                       \
        ck_assert_str_eq(head, wanted_head);                                                                           \
        ck_assert_uint_eq(len, sizeof wanted);                                                                         \
        ck_assert_mem_eq(planes, wanted, sizeof wanted);                                                               \
        nm_strings_free(&strings);                                                                                     \
    } while (0)

START_TEST(integers_are_what_they_are_above_the_least)
{
    IS_TABLE("SELECT column1 AS a FROM (VALUES (1000), (NULL), (700), (956))",
             "{\"name\":\"t\",\"rows\":4,\"columns\":[{\"name\":\"a\",\"kind\":\"int\",\"bytes\":2,\"base\":700}]}",
             0x2d, 0, 1, 1, 1, 0, 0, 1);
    IS_TABLE("SELECT column1 AS a FROM (VALUES (9223372036854775807), (-9223372036854775807))",
             "{\"name\":\"t\",\"rows\":2,\"columns\":[{\"name\":\"a\",\"kind\":\"int\",\"bytes\":8,"
             "\"base\":-9223372036854775807}]}",
             0xff, 1, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0, 0xff, 0);
}
END_TEST

START_TEST(what_rises_is_steps)
{
    IS_TABLE(
        "SELECT column1 AS a FROM (VALUES (5000000), (5000001), (5000001), (5000257))",
        "{\"name\":\"t\",\"rows\":4,\"columns\":[{\"name\":\"a\",\"kind\":\"rise\",\"bytes\":2,\"base\":5000000}]}", 0,
        1, 0, 0, 0, 0, 0, 1);
}
END_TEST

START_TEST(what_goes_up_and_down_is_steps_both_ways)
{
    static const char sql[] =
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1999) SELECT 70000000000 + i % 3 AS a"
        " FROM n"; /* 0, +1, +1, -2, +1, +1, -2 ... */
    nm_strings strings = {0};
    uint8_t planes[PLANES_ROOM];
    char head[1024];

    ck_assert_uint_eq(write_table(sql, &strings, head, planes), 2000);
    ck_assert_str_eq(head, "{\"name\":\"t\",\"rows\":2000,\"columns\":[{\"name\":\"a\",\"kind\":\"step\",\"bytes\":1,"
                           "\"base\":70000000000}]}");
    for (size_t i = 0; i < 2000; i++)
        ck_assert_uint_eq(planes[i], i == 0 ? 0 : i % 3 == 0 ? 3 : 2);
}
END_TEST

START_TEST(no_rows_and_no_values_need_no_bytes)
{
    nm_strings strings = {0};
    char head[1024];
    uint8_t planes[PLANES_ROOM];

    ck_assert_uint_eq(write_table("SELECT 1 AS a WHERE 0", &strings, head, planes), 0);
    ck_assert_str_eq(
        head, "{\"name\":\"t\",\"rows\":0,\"columns\":[{\"name\":\"a\",\"kind\":\"int\",\"bytes\":0,\"base\":0}]}");
    ck_assert_uint_eq(write_table("SELECT NULL AS a UNION ALL SELECT NULL", &strings, head, planes), 0);
    ck_assert_str_eq(
        head, "{\"name\":\"t\",\"rows\":2,\"columns\":[{\"name\":\"a\",\"kind\":\"int\",\"bytes\":0,\"base\":0}]}");
    ck_assert_uint_eq(strings.count, 0);
}
END_TEST

START_TEST(a_ratio_that_is_once_whole_stays_a_ratio)
{
    /* 1.0 is 0x3ff0 << 48, 0.5 is 0x3fe0 << 48. */
    IS_TABLE("SELECT column1 AS a FROM (VALUES (1), (0.5))",
             "{\"name\":\"t\",\"rows\":2,\"columns\":[{\"name\":\"a\",\"kind\":\"real\",\"bytes\":8,\"base\":0}]}", 0,
             0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0xe0, 0x3f, 0x3f);
}
END_TEST

START_TEST(texts_are_numbers_of_safe_texts)
{
    nm_strings strings = {0};
    char head[1024];
    uint8_t planes[PLANES_ROOM];
    size_t len = write_table("SELECT column1 AS a FROM (VALUES (NULL), ('b'), ('a' || char(10) || char(8238)), ('b'))",
                             &strings, head, planes);

    ck_assert_uint_eq(len, 4);
    ck_assert_mem_eq(planes, "\0\1\2\1", 4);
    ck_assert_ptr_nonnull(strstr(head, "\"kind\":\"text\",\"bytes\":1"));
    ck_assert_str_eq((const char *)nm_strings_get(&strings, 1).data, "b");
    ck_assert_str_eq((const char *)nm_strings_get(&strings, 2).data, "a??");
    nm_strings_free(&strings);
}
END_TEST

/* ---- Ranges -------------------------------------------------------------------------------------------------------- */

/* Operations of number, operation around, kind and name; kind 1 is a module's, 2 a category's. */
static const char operations_sql[] =
    "CREATE TABLE operation_kind (kind INTEGER PRIMARY KEY, name TEXT);"
    "INSERT INTO operation_kind VALUES (0, 'range'), (1, 'module'), (2, 'category');"
    "CREATE TABLE operation (operation_id INTEGER PRIMARY KEY, parent_id INTEGER, kind INTEGER, name TEXT);";

static nm_page_ranges read_ranges(const char *rows_sql, nm_strings *strings)
{
    nm_page_ranges ranges = {0};
    sqlite3 *db = NULL;
    nm_error err;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, operations_sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, rows_sql, NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(nm_page_ranges_read(&ranges, db, strings, &err), NM_OK);
    sqlite3_close(db);
    return ranges;
}

static void expect_range(const nm_page_ranges *ranges, const nm_strings *strings, int64_t operation_id,
                         const char *module, const char *category)
{
    nm_page_range range = nm_page_ranges_find(ranges, operation_id);
    const uint8_t *found_module = nm_strings_get(strings, (uint32_t)range.module).data;
    const uint8_t *found_category = nm_strings_get(strings, (uint32_t)range.category).data;

    ck_assert_pstr_eq((const char *)found_module, module);
    ck_assert_pstr_eq((const char *)found_category, category);
}

START_TEST(an_operation_is_in_what_is_innermost_around_it)
{
    nm_strings strings = {0};
    nm_page_ranges ranges =
        read_ranges("INSERT INTO operation VALUES (2, NULL, 0, 'phase'), (3, 2, 1, 'm'), (7, 3, 2, 'w'),"
                    " (8, 7, 0, 'x'), (9, 8, 1, 'm.a'), (11, 9, 2, 'v'), (12, NULL, 0, 'y')",
                    &strings);

    expect_range(&ranges, &strings, 2, NULL, NULL);
    expect_range(&ranges, &strings, 3, "m", NULL);
    expect_range(&ranges, &strings, 7, "m", "w");
    expect_range(&ranges, &strings, 8, "m", "w");
    expect_range(&ranges, &strings, 9, "m.a", "w");
    expect_range(&ranges, &strings, 11, "m.a", "v");
    for (int64_t other = 0; other < 14; other++)
        if (other != 3 && (other < 7 || other > 11 || other == 10))
            expect_range(&ranges, &strings, other, NULL, NULL);
    nm_page_ranges_free(&ranges);
    nm_strings_free(&strings);
}
END_TEST

START_TEST(where_no_range_says_anything_nothing_is_kept)
{
    nm_strings strings = {0};
    nm_page_ranges ranges = read_ranges("INSERT INTO operation VALUES (1, NULL, 0, 'phase'), (2, 1, 0, 'x')", &strings);

    ck_assert_uint_eq(ranges.count, 0);
    ck_assert_uint_eq(strings.count, 0);
    expect_range(&ranges, &strings, 2, NULL, NULL);
    nm_page_ranges_free(&ranges);
    nm_strings_free(&strings);
}
END_TEST

/* ---- The axis ------------------------------------------------------------------------------------------------------ */

START_TEST(lanes_are_what_touches)
{
    nm_page_axis axis = {0};
    uint64_t offset = 0;

    ck_assert_int_eq(nm_page_axis_add(&axis, 1000, 100, NULL), NM_OK);
    ck_assert_int_eq(nm_page_axis_add(&axis, 5000, 10, NULL), NM_OK);
    ck_assert_int_eq(nm_page_axis_add(&axis, 1050, 100, NULL), NM_OK);
    ck_assert_int_eq(nm_page_axis_add(&axis, 1150, 50, NULL), NM_OK);
    ck_assert_int_eq(nm_page_axis_add(&axis, 0, 0, NULL), NM_OK);
    ck_assert_int_eq(nm_page_axis_add(&axis, -10, 100, NULL), NM_OK); /* beyond all addresses */
    nm_page_axis_settle(&axis);
    ck_assert_uint_eq(axis.count, 2);
    ck_assert_uint_eq(axis.bytes, 210);
    ck_assert(nm_page_axis_find(&axis, 1199, &offset));
    ck_assert_uint_eq(offset, 199);
    ck_assert(nm_page_axis_find(&axis, 5003, &offset));
    ck_assert_uint_eq(offset, 203);
    ck_assert(!nm_page_axis_find(&axis, 999, &offset));
    ck_assert(!nm_page_axis_find(&axis, 1200, &offset));
    ck_assert(!nm_page_axis_find(&axis, 5010, &offset));
    nm_page_axis_free(&axis);
}
END_TEST

START_TEST(the_same_ranges_a_million_times_are_few)
{
    nm_page_axis axis = {0};

    for (int i = 0; i < 1000000; i++)
        ck_assert_int_eq(nm_page_axis_add(&axis, 4096 * (int64_t)(i % 100), 512, NULL), NM_OK);
    ck_assert_uint_le(axis.capacity, 1000);
    nm_page_axis_settle(&axis);
    ck_assert_uint_eq(axis.count, 100);
    ck_assert_uint_eq(axis.bytes, 51200);
    nm_page_axis_free(&axis);
}
END_TEST

/* ---- Cells --------------------------------------------------------------------------------------------------------- */

/* A picture of which each cell is one event and one byte. */
static void open_cells(nm_page_cells *cells)
{
    ck_assert_int_eq(nm_page_cells_init(cells, NULL), NM_OK);
    cells->first_seq = 1000;
    cells->last_seq = 1000 + NM_PAGE_CELLS_WIDTH;
    cells->axis_bytes = NM_PAGE_CELLS_HEIGHT;
}

static size_t cell_at(int column, int row)
{
    return (size_t)row * NM_PAGE_CELLS_WIDTH + (size_t)column;
}

START_TEST(a_block_covers_its_share_of_each_cell)
{
    nm_page_cells cells;
    double sum = 0;

    open_cells(&cells);
    nm_page_cells_draw(&cells, 1002.5, 1004.25, 3.5, 1.75, 7); /* columns 2.5 to 4.25, rows 3.5 to 5.25 */
    ck_assert_double_eq_tol(cells.used[cell_at(2, 3)], 0.25, 1e-6);
    ck_assert_double_eq_tol(cells.used[cell_at(3, 4)], 1, 1e-6);
    ck_assert_double_eq_tol(cells.used[cell_at(4, 5)], 0.0625, 1e-6);
    ck_assert_uint_eq(cells.site[cell_at(3, 4)], 7);
    ck_assert_uint_eq(cells.site[cell_at(5, 4)], 0);
    for (size_t i = 0; i < NM_PAGE_CELLS_COUNT; i++)
        sum += (double)cells.used[i];
    ck_assert_double_eq_tol(sum, 1.75 * 1.75, 1e-5);
    nm_page_cells_free(&cells);
}
END_TEST

START_TEST(the_site_with_most_of_a_cell_leads)
{
    nm_page_cells cells;

    open_cells(&cells);
    nm_page_cells_draw(&cells, 1000, 1001, 0, 0.2, 1);
    nm_page_cells_draw(&cells, 1000, 1001, 0.2, 0.2, 2);
    nm_page_cells_draw(&cells, 1000, 1001, 0.4, 0.5, 3);
    ck_assert_uint_eq(cells.site[cell_at(0, 0)], 3);
    ck_assert_double_eq_tol(cells.used[cell_at(0, 0)], 0.9, 1e-6);
    nm_page_cells_free(&cells);
}
END_TEST

START_TEST(what_lies_outside_is_cut_off)
{
    nm_page_cells cells;

    open_cells(&cells);
    nm_page_cells_draw(&cells, 0, 1e18, NM_PAGE_CELLS_HEIGHT - 1, 1e18, 5); /* the last row, whole */
    nm_page_cells_draw(&cells, 0, 900, 0, 10, 6);
    nm_page_cells_draw(&cells, 1005, 1005, 0, 10, 6);
    ck_assert_double_eq_tol(cells.used[cell_at(0, NM_PAGE_CELLS_HEIGHT - 1)], 1, 1e-6);
    ck_assert_double_eq_tol(cells.used[cell_at(NM_PAGE_CELLS_WIDTH - 1, NM_PAGE_CELLS_HEIGHT - 1)], 1, 1e-6);
    ck_assert_double_eq(cells.used[cell_at(0, 0)], 0);
    ck_assert_double_eq(cells.used[cell_at(5, 0)], 0);
    nm_page_cells_free(&cells);
}
END_TEST

START_TEST(cells_are_written_as_four_planes)
{
    uint8_t *back = malloc(5 * NM_PAGE_CELLS_COUNT);
    nm_page_cells cells;
    size_t at = cell_at(3, 2);
    page p;

    open_cells(&cells);
    nm_page_cells_draw(&cells, 1003, 1004, 2, 1, 0x030201);
    nm_page_cells_draw(&cells, 1003, 1004, 3, 0.0001, 9);
    open_page(&p);
    ck_assert_int_eq(nm_page_cells_write(&cells, p.out, NULL), NM_OK);
    fclose(p.out);
    ck_assert_uint_eq(read_block(p.text, p.len, back, 5 * NM_PAGE_CELLS_COUNT), 4 * NM_PAGE_CELLS_COUNT);
    ck_assert_uint_eq(back[at], 255);
    ck_assert_uint_eq(back[at + 1], 0);
    ck_assert_uint_eq(back[cell_at(3, 3)], 1); /* however little, it shows */
    for (unsigned plane = 1; plane < 4; plane++)
        ck_assert_uint_eq(back[plane * NM_PAGE_CELLS_COUNT + at], plane);
    free(p.text);
    free(back);
    nm_page_cells_free(&cells);
}
END_TEST

START_TEST(cells_are_shrunk_by_four)
{
    nm_page_cells cells;
    double sum = 0;

    open_cells(&cells);
    nm_page_cells_draw(&cells, 1002, 1003, 4, 1, 5); /* one cell of the four that become column 1, row 2 */
    nm_page_cells_draw(&cells, 1000, 1000 + NM_PAGE_CELLS_WIDTH, NM_PAGE_CELLS_HEIGHT - 2, 2, 6);
    ck_assert(nm_page_cells_shrink(&cells));
    ck_assert_int_eq(cells.width, NM_PAGE_CELLS_WIDTH / 2);
    ck_assert_int_eq(cells.height, NM_PAGE_CELLS_HEIGHT / 2);
    size_t at = (size_t)2 * (size_t)cells.width + 1;
    ck_assert_double_eq_tol(cells.used[at], 0.25, 1e-6);
    ck_assert_uint_eq(cells.site[at], 5);
    ck_assert_uint_eq(cells.site[at + 1], 0);
    for (int i = 0; i < cells.width * cells.height; i++)
        sum += (double)cells.used[i];
    ck_assert_double_eq_tol(sum, 0.25 + NM_PAGE_CELLS_WIDTH / 2, 1e-4);
    while (nm_page_cells_shrink(&cells))
        ;
    ck_assert_int_ge(cells.width, 32);
    nm_page_cells_free(&cells);
}
END_TEST

/* ---- Windows ------------------------------------------------------------------------------------------------------- */

#define LIVES_MAX 4000

typedef struct life {
    int64_t heap_id, born, freed;
} life;

/* Heap after heap, of any births and ends; some are never freed, some before the first event. */
static size_t make_lives(life lives[LIVES_MAX])
{
    uint32_t state = 12345;

    for (size_t i = 0; i < LIVES_MAX; i++) {
        state = state * 1103515245 + 12345;
        int64_t born = (int64_t)(state >> 8) % 100000;
        state = state * 1103515245 + 12345;
        int64_t length = (int64_t)(state >> 8) % ((state & 64) == 0 ? 300 : 30000);

        lives[i] =
            (life){i < LIVES_MAX / 2 ? 1 : 2, i % 97 == 0 ? -1 : born, i % 89 == 0 ? NM_NULL : born + length + 1};
    }
    return LIVES_MAX;
}

static nm_page_windows open_windows(const nm_page_anchor *anchors, size_t count)
{
    nm_page_windows windows = {
        .anchors = malloc(count * sizeof *anchors), .count = count, .heap_id = NM_NULL, .reach = -1};

    memcpy(windows.anchors, anchors, count * sizeof *anchors);
    return windows;
}

static bool lives_within(const life *block, int64_t from, int64_t to)
{
    return block->born <= to && (block->freed == NM_NULL || block->freed >= from);
}

/* In all windows that are wanted, and in no other way. */
static bool is_wanted(const nm_page_windows *windows, const life *block)
{
    for (size_t i = 0; i < windows->count; i++) {
        const nm_page_anchor *anchor = &windows->anchors[i];

        if (anchor->heap_id == block->heap_id && anchor->kind <= windows->kind_last &&
            lives_within(block, anchor->seq - windows->reach, anchor->seq + windows->reach))
            return true;
    }
    return false;
}

static const nm_page_anchor some_anchors[] = {{1, 50000, NM_PAGE_AT_PEAK},    {1, 99999, NM_PAGE_AT_END},
                                              {1, 20000, NM_PAGE_AT_FAILURE}, {2, 70000, NM_PAGE_AT_PEAK},
                                              {2, 99999, NM_PAGE_AT_END},     {2, 10, NM_PAGE_AT_LEAK}};

START_TEST(windows_have_each_block_that_lived_in_them_and_no_other)
{
    static life lives[LIVES_MAX];
    size_t count = make_lives(lives);
    int64_t reach_of[NM_PAGE_ANCHOR_KINDS], reach_before = INT64_MAX;

    nm_page_windows windows = open_windows(some_anchors, sizeof some_anchors / sizeof *some_anchors);
    for (size_t i = 0; i < count; i++)
        nm_page_windows_count(&windows, lives[i].heap_id, lives[i].born, lives[i].freed, reach_of);
    for (int64_t most = LIVES_MAX; most >= 0; most = most == 0 ? -1 : most / 2) {
        int64_t told = nm_page_windows_choose(&windows, most), found = 0;

        ck_assert_int_le(told, most);
        for (size_t i = 0; i < count; i++) {
            bool has = nm_page_windows_has(&windows, lives[i].heap_id, lives[i].born, lives[i].freed);

            ck_assert_msg(has == (windows.reach >= 0 && is_wanted(&windows, &lives[i])), "%zu at reach %lld", i,
                          (long long)windows.reach);
            found += has;
        }
        ck_assert_int_eq(found, told);
        if (windows.kind_last == NM_PAGE_AT_LEAK)
            ck_assert_int_le(windows.reach, reach_before);
        reach_before = windows.reach;
    }
    ck_assert_int_eq(windows.reach, -1);
    nm_page_windows_free(&windows);
}
END_TEST

START_TEST(leaks_are_given_up_before_the_peak)
{
    nm_page_windows windows = open_windows((nm_page_anchor[]){{1, 10, NM_PAGE_AT_PEAK}, {1, 90, NM_PAGE_AT_LEAK}}, 2);
    int64_t reach_of[NM_PAGE_ANCHOR_KINDS];

    for (int i = 0; i < 5; i++)
        nm_page_windows_count(&windows, 1, 5, 20, reach_of);
    for (int i = 0; i < 50; i++)
        nm_page_windows_count(&windows, 1, 80, NM_NULL, reach_of);
    nm_page_windows_count(&windows, 9, 0, NM_NULL, reach_of); /* of a heap without an anchor */
    ck_assert_int_eq(nm_page_windows_choose(&windows, 20), 5);
    ck_assert_int_ge(windows.reach, 60);
    ck_assert_int_lt(windows.reach, 70); /* the others are 70 events from the peak */
    ck_assert_int_lt(windows.kind_last, NM_PAGE_AT_LEAK);
    ck_assert_int_eq(nm_page_windows_choose(&windows, 55), 55);
    ck_assert(!nm_page_windows_has(&windows, 9, 0, NM_NULL));
    nm_page_windows_free(&windows);
}
END_TEST

START_TEST(events_of_any_number_are_no_overflow)
{
    nm_page_windows windows = open_windows((nm_page_anchor[]){{1, INT64_MIN + 1, NM_PAGE_AT_PEAK}}, 1);
    int64_t reach_of[NM_PAGE_ANCHOR_KINDS];

    nm_page_windows_count(&windows, 1, INT64_MAX, NM_NULL, reach_of);
    ck_assert_int_eq(nm_page_windows_choose(&windows, 10), 1);
    ck_assert(nm_page_windows_has(&windows, 1, INT64_MAX, NM_NULL));
    nm_page_windows_free(&windows);
}
END_TEST

/* ---- Rows of blocks ------------------------------------------------------------------------------------------------ */

START_TEST(a_block_is_unpacked_as_it_was_packed)
{
    const nm_page_unpacked blocks[] = {
        {0, 1000, 5, 0x7f00deadb000, 4096, 7},
        {65535, -1, NM_NULL, 0, ((int64_t)1 << 48) - 1, NM_NULL},
        {3, 1000 + (int64_t)UINT32_MAX - 1, UINT32_MAX - 1, ((int64_t)1 << 48) - 1, 0, UINT32_MAX},
    };
    nm_page_packed packed = {0};

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        ck_assert_int_eq(nm_page_packed_add(&packed, &blocks[i], NULL), NM_OK);
    ck_assert(!packed.is_given_up);
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        nm_page_unpacked block = nm_page_packed_get(&packed, i);

        ck_assert_uint_eq(block.place, blocks[i].place);
        ck_assert_int_eq(block.born, blocks[i].born);
        ck_assert_int_eq(block.life, blocks[i].life);
        ck_assert_int_eq(block.address, blocks[i].address);
        ck_assert_int_eq(block.size_bytes, blocks[i].size_bytes);
        ck_assert_int_eq(block.stack_id, blocks[i].stack_id);
    }
    nm_page_packed_free(&packed);
}
END_TEST

START_TEST(what_cannot_be_packed_is_given_up)
{
    const nm_page_unpacked blocks[] = {
        {65536, 1000, 5, 0, 1, 1},
        {0, 999, 5, 0, 1, 1}, /* before the first one */
        {0, 1000 + (int64_t)UINT32_MAX, 5, 0, 1, 1},
        {0, 1000, UINT32_MAX, 0, 1, 1},
        {0, 1000, 5, (int64_t)1 << 48, 1, 1},
        {0, 1000, 5, 0, (int64_t)1 << 48, 1},
        {0, 1000, 5, 0, 1, (int64_t)1 << 32},
        {0, 1000, -5, -1, -1, -1},
    };

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        nm_page_packed packed = {0};

        nm_page_packed_add(&packed, &(nm_page_unpacked){0, 1000, 5, 0, 1, 1}, NULL);
        ck_assert_int_eq(nm_page_packed_add(&packed, &blocks[i], NULL), NM_OK);
        ck_assert_msg(packed.is_given_up && packed.count == 0, "block %zu", i);
        nm_page_packed_free(&packed);
    }
}
END_TEST

START_TEST(rows_are_sorted_by_heap_and_birth_and_number)
{
    static const int64_t rows[][3] = {{2, 5, 1},       {1, 9, 2}, {2, 5, 3}, {1, -1, 4},
                                      {NM_NULL, 1, 5}, {1, 9, 6}, {2, 4, 7}};
    static const int64_t sorted[] = {5, 4, 2, 6, 7, 1, 3};
    nm_page_columns columns = {0};

    nm_page_rows_name(&columns);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int64_t values[NM_PAGE_ROW_COLUMNS] = {[NM_PAGE_ROW_HEAP] = rows[i][0],
                                               [NM_PAGE_ROW_BORN] = rows[i][1],
                                               [NM_PAGE_ROW_ID] = rows[i][2],
                                               [NM_PAGE_ROW_SIZE] = 100 * rows[i][2]};

        ck_assert_int_eq(nm_page_columns_add(&columns, values, NULL), NM_OK);
    }
    ck_assert_int_eq(nm_page_rows_sort(&columns, NULL), NM_OK);
    for (size_t i = 0; i < sizeof sorted / sizeof *sorted; i++) {
        ck_assert_int_eq(columns.columns[NM_PAGE_ROW_ID].values[i], sorted[i]);
        ck_assert_int_eq(columns.columns[NM_PAGE_ROW_SIZE].values[i], 100 * sorted[i]);
    }
    nm_page_columns_free(&columns);
}
END_TEST

/* ---- A page that is full -------------------------------------------------------------------------------------------- */

#define BYTES_ROOM 1000000

/* Of the only element of this class in the page: its head, and what is in its block. */
static size_t read_element(const char *text, const char *class, char head[2048], uint8_t *bytes)
{
    char opening[64];
    const char *at, *end;

    snprintf(opening, sizeof opening, "class=\"%s\" data-head='", class);
    at = strstr(text, opening);
    ck_assert_msg(at != NULL, "no %s", class);
    at += strlen(opening);
    end = strstr(at, "'>");
    snprintf(head, 2048, "%.*s", (int)(end - at), at);
    at = end + 2;
    return read_block(at, (size_t)(strstr(at, "</script>") - at), bytes, BYTES_ROOM);
}

static uint32_t next_random(uint32_t *seed)
{
    return *seed = *seed * 1664525 + 1013904223;
}

/* Three bytes a row that cannot be packed are four digits; so are those of a text. */
START_TEST(what_does_not_fit_is_cut_and_said)
{
    enum { ROWS = 3000, TABLE_BYTES = 4096, TEXTS = 500, TEXTS_BYTES = 6000 };
    uint8_t *bytes = malloc(BYTES_ROOM);
    nm_page_columns columns = {0};
    uint32_t seed = 1, number;
    char head[2048], texts[TEXTS][13];
    size_t kept, kept_texts;
    nm_page full;
    page p;

    nm_page_columns_name(&columns, (const char *const[]){"a", NULL});
    for (int64_t i = 0; i < ROWS; i++)
        ck_assert_int_eq(nm_page_columns_add(&columns, (int64_t[]){next_random(&seed) >> 8}, NULL), NM_OK);
    open_page(&p);
    nm_page_init(&full, NULL, p.out, UINT64_MAX / 2);
    ck_assert_int_eq(nm_page_table(&full, &columns, "large", TABLE_BYTES, NULL), NM_OK);
    fflush(p.out);
    ck_assert_uint_le(p.len, TABLE_BYTES);
    kept = read_element(p.text, "table", head, bytes) / 3;
    ck_assert_msg(kept > TABLE_BYTES / 4 / 2 && kept < TABLE_BYTES / 4, "%zu rows", kept);
    ck_assert_uint_eq(full.cuts.row_count, 1);
    ck_assert_int_eq(full.cuts.columns[0].values[0], 1); /* the first text, "large" */
    ck_assert_int_eq(full.cuts.columns[1].values[0], ROWS);
    ck_assert_int_eq(full.cuts.columns[2].values[0], (int64_t)kept);

    for (size_t i = 0; i < TEXTS; i++) {
        for (size_t k = 0; k < sizeof texts[i] - 1; k++)
            texts[i][k] = (char)('0' + (next_random(&seed) >> 8) % 64);
        texts[i][sizeof texts[i] - 1] = 0;
        ck_assert_int_eq(
            nm_strings_intern(&full.strings, (nm_bytes){(uint8_t *)texts[i], sizeof texts[i] - 1}, &number, NULL),
            NM_OK);
        ck_assert_uint_eq(number, i + 2);
    }
    ck_assert_int_eq(nm_page_strings(&full, TEXTS_BYTES, NULL), NM_OK);
    fclose(p.out);
    ck_assert_uint_le(p.len, 2 * TABLE_BYTES + TEXTS_BYTES);
    size_t len = read_element(p.text, "strings", head, bytes);
    ck_assert_int_eq(sscanf(head, "{\"count\":501,\"kept\":%zu}", &kept_texts), 1);
    ck_assert_msg(kept_texts > TEXTS / 3 && kept_texts < TEXTS, "%zu texts", kept_texts);
    ck_assert_str_eq((char *)bytes, "large");
    for (size_t i = 0; i + 1 < kept_texts; i++)
        ck_assert_str_eq((char *)bytes + 6 + 13 * i, texts[i]);
    ck_assert_uint_eq(len, 6 + 13 * (kept_texts - 1) + (TEXTS + 1 - kept_texts));
    for (size_t i = 6 + 13 * (kept_texts - 1); i < len; i++)
        ck_assert_uint_eq(bytes[i], 0);

    nm_page_columns_free(&columns);
    nm_page_free(&full);
    free(p.text);
    free(bytes);
}
END_TEST

/* Values of a column out of the planes, by the head; no NULL is among them. */
static void read_column(const char *head, const uint8_t *planes, const char *name, size_t row_count, int64_t *out)
{
    const char *at = strstr(head, "\"columns\":[") + 10;
    char found[32] = "", kind[8] = "";
    long long base = 0;
    int width = 0, taken = 0;

    for (; strcmp(found, name) != 0; at += taken, planes += (size_t)width * row_count) {
        ck_assert_msg(sscanf(at, "%*1[[,]{\"name\":\"%31[^\"]\",\"kind\":\"%7[^\"]\",\"bytes\":%d,\"base\":%lld}%n",
                             found, kind, &width, &base, &taken) == 4,
                      "no %s in %s", name, head);
    }
    planes -= (size_t)width * row_count;
    for (size_t i = 0; i < row_count; i++) {
        uint64_t value = 0;

        for (int plane = width; plane-- > 0;)
            value = value << 8 | planes[(size_t)plane * row_count + i];
        if (strcmp(kind, "int") == 0)
            out[i] = base + (int64_t)value - (width > 0);
        else if (strcmp(kind, "rise") == 0)
            out[i] = (i == 0 ? base : out[i - 1]) + (int64_t)value;
        else
            out[i] = (i == 0 ? base : out[i - 1]) + (int64_t)(value >> 1 ^ -(value & 1));
    }
}

/* With so many heaps each has 64 rows: of heap 1, of 128 rows, each stands for two, the larger of which is at first the one before. */
START_TEST(neighbours_are_one_where_heaps_are_very_many)
{
    enum { HEAPS = 6250, JOINED = 64, WRITTEN = JOINED + HEAPS - 1 };
    static const char usage[] =
        "CREATE TABLE usage AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 6376)"
        " SELECT max(1, i - 126) AS heap_id, 10 * i AS first_seq, 10 * i + 9 AS last_seq, 1000 * i AS last_ns,"
        " 10 * i + 5 AS max_seq, 1000 * i - 500 AS max_ns, CASE WHEN i % 4 IN (0, 3) THEN 500 + i ELSE 100 END AS"
        " max_live_bytes, i AS live_bytes, 2 * i AS live_count, 3 * i AS reserved_bytes FROM n GROUP BY i";
    static int64_t first_seq[WRITTEN], last_seq[WRITTEN], max_seq[WRITTEN], max_ns[WRITTEN], most[WRITTEN],
        live[WRITTEN], heap[WRITTEN];
    uint8_t *planes = malloc(BYTES_ROOM);
    char head[2048];
    sqlite3 *db = NULL;
    nm_page full;
    page p;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, usage, NULL, NULL, NULL), SQLITE_OK);
    open_page(&p);
    nm_page_init(&full, db, p.out, UINT64_MAX / 2);
    ck_assert_int_eq(nm_page_usage_write(&full, db, "usage", NULL), NM_OK);
    fclose(p.out);
    read_element(p.text, "table", head, planes);
    ck_assert_ptr_nonnull(strstr(head, "\"rows\":6313,"));
    read_column(head, planes, "heap_id", WRITTEN, heap);
    read_column(head, planes, "first_seq", WRITTEN, first_seq);
    read_column(head, planes, "last_seq", WRITTEN, last_seq);
    read_column(head, planes, "max_seq", WRITTEN, max_seq);
    read_column(head, planes, "max_ns", WRITTEN, max_ns);
    read_column(head, planes, "max_live_bytes", WRITTEN, most);
    read_column(head, planes, "live_bytes", WRITTEN, live);
    for (int64_t i = 0; i < WRITTEN; i++) {
        int64_t first = i < JOINED ? 2 * i : i + JOINED, last = i < JOINED ? first + 1 : first;
        int64_t at = first % 4 == 0 || i >= JOINED ? first : last; /* where it was largest */

        ck_assert_int_eq(heap[i], i < JOINED ? 1 : i - JOINED + 2);
        ck_assert_int_eq(first_seq[i], 10 * first);
        ck_assert_int_eq(last_seq[i], 10 * last + 9);
        ck_assert_int_eq(max_seq[i], 10 * at + 5);
        ck_assert_int_eq(max_ns[i], 1000 * at - 500);
        ck_assert_int_eq(most[i], at % 4 == 0 || at % 4 == 3 ? 500 + at : 100);
        ck_assert_int_eq(live[i], last);
    }
    nm_page_free(&full);
    sqlite3_close(db);
    free(p.text);
    free(planes);
}
END_TEST

TEST_SUITE(test_page)
{
    Suite *suite = suite_create("html");
    TCase *tcase = tcase_create("html");

    tcase_set_timeout(tcase, 60);

    tcase_add_test(tcase, blocks_of_any_length_come_back);
    tcase_add_test(tcase, integers_are_what_they_are_above_the_least);
    tcase_add_test(tcase, what_rises_is_steps);
    tcase_add_test(tcase, what_goes_up_and_down_is_steps_both_ways);
    tcase_add_test(tcase, no_rows_and_no_values_need_no_bytes);
    tcase_add_test(tcase, a_ratio_that_is_once_whole_stays_a_ratio);
    tcase_add_test(tcase, texts_are_numbers_of_safe_texts);
    tcase_add_test(tcase, an_operation_is_in_what_is_innermost_around_it);
    tcase_add_test(tcase, where_no_range_says_anything_nothing_is_kept);
    tcase_add_test(tcase, lanes_are_what_touches);
    tcase_add_test(tcase, the_same_ranges_a_million_times_are_few);
    tcase_add_test(tcase, a_block_covers_its_share_of_each_cell);
    tcase_add_test(tcase, the_site_with_most_of_a_cell_leads);
    tcase_add_test(tcase, what_lies_outside_is_cut_off);
    tcase_add_test(tcase, cells_are_written_as_four_planes);
    tcase_add_test(tcase, cells_are_shrunk_by_four);
    tcase_add_test(tcase, windows_have_each_block_that_lived_in_them_and_no_other);
    tcase_add_test(tcase, leaks_are_given_up_before_the_peak);
    tcase_add_test(tcase, events_of_any_number_are_no_overflow);
    tcase_add_test(tcase, a_block_is_unpacked_as_it_was_packed);
    tcase_add_test(tcase, what_cannot_be_packed_is_given_up);
    tcase_add_test(tcase, rows_are_sorted_by_heap_and_birth_and_number);
    tcase_add_test(tcase, what_does_not_fit_is_cut_and_said);
    tcase_add_test(tcase, neighbours_are_one_where_heaps_are_very_many);
    suite_add_tcase(suite, tcase);
    return suite;
}
