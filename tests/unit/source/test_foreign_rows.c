/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of databases that somebody else wrote, also to do harm: made here by SQLite itself, or by changing bytes of such a file.
 */
#include "source/foreign_rows.h"

#include <check.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/source.h"
#include "support/seed.h"
#include "support/suites.h"

#define TABLE         "MEMORY_RECORD"
#define ROW_BYTES_MAX 65536

static const char *const names[] = {"component", "timestamp", "missing", "TOTAL"};
static char path[] = "/tmp/npumem_foreign_XXXXXX";
static nm_error err;

static void begin(void)
{
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void end(void)
{
    unlink(path);
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
}

static void make(const char *sql)
{
    sqlite3 *db = NULL;
    char *error = NULL;

    unlink(path);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, &error);
    ck_assert_msg(error == NULL, "%s", error);
    sqlite3_close(db);
}

/* Bytes of the file, in place. */
static void patch(long offset, const void *data, size_t len)
{
    FILE *file = fopen(path, "r+e");

    ck_assert_ptr_nonnull(file);
    fseek(file, offset, SEEK_SET);
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    fclose(file);
}

/* Each text `from` in the file becomes `to`, which is as long. */
static void replace(const char *from, const char *to)
{
    static char data[1 << 20];
    FILE *file = fopen(path, "re");
    size_t len = fread(data, 1, sizeof data, file), count = 0;

    fclose(file);
    ck_assert_uint_eq(strlen(from), strlen(to));
    for (size_t i = 0; i + strlen(from) <= len; i++)
        if (memcmp(data + i, from, strlen(from)) == 0) {
            patch((long)i, to, strlen(to));
            count++;
        }
    ck_assert_uint_gt(count, 0);
}

static const char *said_cell(const nm_cell *cell)
{
    static char text[4][100];
    static unsigned turn;
    char *out = text[turn++ % 4];

    if (cell->kind == NM_CELL_INT)
        snprintf(out, 100, "%" PRId64, cell->integer);
    else if (cell->kind == NM_CELL_REAL)
        snprintf(out, 100, "%.3f", cell->real);
    else
        snprintf(out, 100, "%.*s", cell->kind == NM_CELL_TEXT ? (int)cell->text.len : 1,
                 cell->kind == NM_CELL_TEXT ? (const char *)cell->text.data : "-");
    return out;
}

/* The rows of the table as "c t m T;"; or the error, in brackets. */
static const char *rows_of(const char *table)
{
    static char text[4096];
    nm_foreign_tables *tables = NULL;
    nm_foreign_rows *rows = NULL;
    const nm_cell *cells;
    nm_input *input = NULL;
    FILE *file = fopen(path, "re");

    text[0] = 0;
    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(nm_input_open(fileno(file), (nm_bytes){0}, &input, &err), NM_OK);
    nm_status status = nm_foreign_tables_open(input, &tables, &err);
    if (status == NM_OK && !nm_foreign_tables_has(tables, table))
        snprintf(text, sizeof text, "no table");
    if (status == NM_OK)
        status = nm_foreign_rows_open(tables, table, names, 4, &rows, &err);
    while (status == NM_OK && (status = nm_foreign_rows_next(rows, &cells, &err)) == NM_OK)
        if (strlen(text) + 450 < sizeof text)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s %s %s %s;", said_cell(&cells[0]),
                     said_cell(&cells[1]), said_cell(&cells[2]), said_cell(&cells[3]));
    nm_foreign_rows_close(rows);
    nm_foreign_tables_close(tables);
    nm_input_close(input);
    fclose(file);
    if (status != NM_END)
        snprintf(text, sizeof text, "(%s)", err.text);
    return text;
}

START_TEST(cells_are_what_lies_in_the_table)
{
    make("CREATE TABLE " TABLE "(timestamp, component TEXT, total); CREATE TABLE other(a);"
         "INSERT INTO " TABLE " VALUES(17, 'PTA', 1.5), (NULL, 'G''E', x'00ff'), (-9223372036854775808, '', '7')");
    ck_assert_str_eq(rows_of(TABLE), "PTA 17 - 1.500;G'E - - -; -9223372036854775808 - 7;");
    ck_assert_str_eq(rows_of("memory_record"), "PTA 17 - 1.500;G'E - - -; -9223372036854775808 - 7;");
    ck_assert_str_eq(rows_of("other"), "");
    ck_assert_str_eq(rows_of("nowhere"), "no table");
    ck_assert_str_eq(rows_of("sqlite_master"), "no table");
}
END_TEST

START_TEST(a_table_of_other_kinds_is_read_too)
{
    make("PRAGMA encoding = 'UTF-16'; CREATE TABLE " TABLE "(component TEXT PRIMARY KEY, timestamp) WITHOUT ROWID;"
         "INSERT INTO " TABLE " VALUES('\xe5\x86\x85', 1)");
    ck_assert_str_eq(rows_of(TABLE), "\xe5\x86\x85 1 - -;");
}
END_TEST

/* What is still in the journal of a program that writes is not seen, and neither is that file touched. */
START_TEST(a_database_that_is_in_use_is_read_as_it_lies)
{
    sqlite3 *writer = NULL;
    char other[64];

    make("PRAGMA journal_mode = WAL; CREATE TABLE " TABLE "(component); INSERT INTO " TABLE " VALUES('first')");
    ck_assert_int_eq(sqlite3_open(path, &writer), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(writer, "INSERT INTO " TABLE " VALUES('later')", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    ck_assert_str_eq(rows_of(TABLE), "first - - -;");
    sqlite3_close(writer);
    snprintf(other, sizeof other, "%s-wal", path);
    unlink(other);
    snprintf(other, sizeof other, "%s-shm", path);
    unlink(other);
}
END_TEST

START_TEST(nothing_that_the_file_says_is_run)
{
    make("CREATE TABLE t(component); INSERT INTO t VALUES('secret');"
         "CREATE VIEW " TABLE " AS SELECT component FROM t");
    ck_assert_str_eq(rows_of(TABLE), "no table");

    /* A view stands in the place of the table. */
    make("CREATE TABLE t(component); INSERT INTO t VALUES('secret'); CREATE TABLE " TABLE "(component);"
         "CREATE VIEW viewed_memory AS SELECT component FROM t");
    replace("CREATE VIEW viewed_memory AS", "CREATE VIEW " TABLE " AS");
    ck_assert_ptr_null(strstr(rows_of(TABLE), "secret"));

    make("CREATE TABLE " TABLE "(component, timestamp AS (1 / 0))");
    ck_assert_str_eq(rows_of(TABLE), "(this is a database with a computed column in table MEMORY_RECORD)");
    make("CREATE TABLE " TABLE "(component, timestamp AS (1) STORED)");
    ck_assert_str_eq(rows_of(TABLE), "(this is a database with a computed column in table MEMORY_RECORD)");

    /* In the order of the table, whatever an index would be good for. */
    make("CREATE TABLE " TABLE "(a, b, c, d, e, f, g, component);"
         "INSERT INTO " TABLE "(a, component) VALUES(zeroblob(900), 'x'), (2, 'b');"
         "CREATE INDEX j ON " TABLE "(component);"
         "CREATE INDEX i ON " TABLE "(upper(component)) WHERE length(component) > 0;"
         "CREATE TRIGGER g AFTER INSERT ON " TABLE " BEGIN DELETE FROM " TABLE "; END");
    ck_assert_str_eq(rows_of(TABLE), "x - - -;b - - -;");
}
END_TEST

/* A row of sqlite_master says "table" and means something else. */
START_TEST(a_table_that_is_a_view_or_virtual_is_none)
{
    static const char table[] = "CREATE TABLE " TABLE "(a,             component)",
                      view[] = "CREATE VIEW " TABLE "  AS SELECT 1 component ",
                      virtual[] = "CREATE VIRTUAL TABLE " TABLE " USING fts3(a) ";

    ck_assert_uint_ge(sizeof table, sizeof view);
    for (int i = 0; i < 2; i++) {
        char other[sizeof table + 8];

        snprintf(other, sizeof other, "%-*s", (int)sizeof table - 1, i == 0 ? view : virtual);
        make(table);
        if (strlen(other) == sizeof table - 1)
            replace(table, other);
        const char *said = rows_of(TABLE);
        ck_assert_msg(strlen(other) != sizeof table - 1 || strcmp(said, "no table") == 0 || said[0] == '(', "%s: %s",
                      other, said);
    }
}
END_TEST

START_TEST(a_table_of_2000_columns_is_refused)
{
    char *sql = malloc(40000);
    int len = sprintf(sql, "CREATE TABLE " TABLE "(component");

    for (int i = 1; i < 2000; i++)
        len += sprintf(sql + len, ", c%d", i);
    sprintf(sql + len, ")");
    make(sql);
    free(sql);
    const char *said = rows_of(TABLE);
    ck_assert_msg(strstr(said, "(this is a database that cannot be read: ") == said &&
                      strstr(said, "too many columns") != NULL,
                  "%s", said);
}
END_TEST

START_TEST(a_page_size_that_lies_is_refused)
{
    static const uint8_t bytes_64_ki[2] = {0, 1}, bytes_512[2] = {2, 0};

    make("CREATE TABLE " TABLE "(component); INSERT INTO " TABLE " VALUES('x')");
    patch(16, bytes_64_ki, 2);
    ck_assert_msg(strstr(rows_of(TABLE), "(this is a database that cannot be read: ") != NULL, "%s", rows_of(TABLE));
    make("CREATE TABLE " TABLE "(component); INSERT INTO " TABLE " VALUES('x')");
    patch(16, bytes_512, 2);
    ck_assert_int_eq(rows_of(TABLE)[0], '(');
}
END_TEST

START_TEST(a_long_text_is_given_up)
{
    make("CREATE TABLE " TABLE "(component); INSERT INTO " TABLE " VALUES('x'), (hex(zeroblob(600000)))");
    ck_assert_str_eq(rows_of(TABLE), "(a text in it is too long)");
}
END_TEST

/* Pages of a tree whose children are all the same page: 500 * 500 * 500 leaves of some rows, in a file of a few. */
START_TEST(a_tree_without_an_end_is_given_up)
{
    enum { PAGE_BYTES = 4096, CHILD_COUNT = 500 };

    make("PRAGMA page_size = 4096; CREATE TABLE " TABLE "(component);"
         "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
         "INSERT INTO " TABLE " SELECT printf('%.100c', 'x') FROM n");
    for (uint8_t number = 2; number < 5; number++) {
        uint8_t page[PAGE_BYTES] = {5, 0, 0, CHILD_COUNT >> 8, CHILD_COUNT & 255, 0x0f, 0xf0, 0, 0, 0, 0, number + 1};

        for (int i = 0; i < CHILD_COUNT; i++)
            memcpy(page + 12 + 2 * i, (const uint8_t[2]){0x0f, 0xf0}, 2);
        memcpy(page + 0xff0, (const uint8_t[5]){0, 0, 0, number + 1, 1}, 5);
        patch((number - 1) * PAGE_BYTES, page, sizeof page);
    }
    ck_assert_str_eq(rows_of(TABLE), "(given up: more work than a sound database of its size can need)");
}
END_TEST

/* Any byte may be another one: rows, or one line; and an end. */
START_TEST(damage_anywhere_is_survived)
{
    static uint8_t sound[3 * 4096];
    uint64_t state = 88172645463325252u + seed_of_test(1);

    make("PRAGMA page_size = 4096; CREATE TABLE " TABLE "(component, timestamp);"
         "CREATE TABLE other(a UNIQUE); INSERT INTO other VALUES(1), (2);"
         "INSERT INTO " TABLE " VALUES('x', 1), ('y', 2.5), (printf('%.200c', 'z'), 3)");
    FILE *file = fopen(path, "re");
    size_t len = fread(sound, 1, sizeof sound, file);
    fclose(file);
    for (unsigned run = 0; run < 4000; run++) {
        size_t offsets[4];

        for (size_t i = 0; i < 4; i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            /* Where there is something: the header and the schema, and the ends of pages. */
            offsets[i] = state >> 32 & 1 ? state % 4096 % len : (state % 3 + 1) * 4096 - 1 - (state >> 16) % 300;
            patch((long)offsets[i], &(uint8_t){(uint8_t)(state >> 48)}, 1);
        }
        rows_of(TABLE);
        for (size_t i = 0; i < 4; i++)
            patch((long)offsets[i], &sound[offsets[i]], 1);
    }
    ck_assert_str_ne(rows_of(TABLE), "");
}
END_TEST

START_TEST(a_database_of_nobody_is_refused_by_its_form)
{
    nm_source *source = NULL;

    make("CREATE TABLE other(a)");
    FILE *file = fopen(path, "re");
    ck_assert_int_eq(nm_source_open(fileno(file), &source, &err), NM_ERR_FORMAT);
    fclose(file);
    ck_assert_str_eq(err.text, "this is an SQLite database; if npumem-ingest wrote it, open it with sqlite3");
}
END_TEST

TEST_SUITE(test_foreign_rows)
{
    Suite *suite = suite_create("foreign_rows");
    TCase *rows = tcase_create("rows");

    tcase_set_timeout(rows, 60);
    tcase_add_checked_fixture(rows, begin, end);
    tcase_add_test(rows, cells_are_what_lies_in_the_table);
    tcase_add_test(rows, a_table_of_other_kinds_is_read_too);
    tcase_add_test(rows, a_database_that_is_in_use_is_read_as_it_lies);
    tcase_add_test(rows, nothing_that_the_file_says_is_run);
    tcase_add_test(rows, a_table_that_is_a_view_or_virtual_is_none);
    tcase_add_test(rows, a_table_of_2000_columns_is_refused);
    tcase_add_test(rows, a_page_size_that_lies_is_refused);
    tcase_add_test(rows, a_long_text_is_given_up);
    tcase_add_test(rows, a_tree_without_an_end_is_given_up);
    tcase_add_test(rows, damage_anywhere_is_survived);
    tcase_add_test(rows, a_database_of_nobody_is_refused_by_its_form);
    suite_add_tcase(suite, rows);
    return suite;
}
