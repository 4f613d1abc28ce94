/* SPDX-License-Identifier: Apache-2.0
 *
 * The fast ways to an empty database against the slow one, which is SQLite and the SQL of schema/: the image that the build
 * made, the views that are listed and not compiled, and where we see statements end. What they give is compared row by row
 * and word for word.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "store/database.h"
#include "store/schema.h"
#include "store/verdicts/verdict.h"
#include "support/run.h"
#include "support/suites.h"

static char folder[64];
static nm_error err;

static void make_folder(void)
{
    run_make_folder(folder);
}

static void remove_folder(void)
{
    run_remove_folder(folder);
}

static sqlite3 *open_file(const char *name)
{
    sqlite3 *db = NULL;
    char path[128];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    ck_assert_msg(nm_db_open(path, &db, &err) == NM_OK, "%s", err.text);
    ck_assert_int_eq(nm_db_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF", &err), NM_OK);
    return db;
}

static sqlite3 *make_by_sql(void)
{
    sqlite3 *db = open_file("sql.db");

    ck_assert_msg(nm_schema_create(db, &err) == NM_OK, "%s", err.text);
    return db;
}

static sqlite3 *make_by_image(void)
{
    bool is_written = false;
    char path[128];
    int fd = -1;

    snprintf(path, sizeof path, "%s/image.db", folder);
    ck_assert_int_eq(nm_io_open(path, O_RDWR | O_CREAT | O_EXCL, 0600, &fd, &err), NM_OK);
    ck_assert_msg(nm_schema_write_image(fd, &is_written, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(is_written, "the build has made no image");
    nm_io_close(fd);
    return open_file("image.db");
}

/* Rows as text, each value with its type. */
static void print_rows(FILE *out, sqlite3 *db, const char *sql)
{
    sqlite3_stmt *rows = NULL;
    int code;

    ck_assert_msg(nm_db_prepare(db, sql, &rows, &err) == NM_OK, "%s: %s", sql, err.text);
    fprintf(out, "%s\n", sql);
    while ((code = sqlite3_step(rows)) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(rows); column++)
            fprintf(out, "%d:%s|", sqlite3_column_type(rows, column), nm_db_text(rows, column));
        fputc('\n', out);
    }
    ck_assert_int_eq(code, SQLITE_DONE);
    sqlite3_finalize(rows);
}

/* All that there is: the form of the file, the list of what stands in it, and the rows of each table. By free. */
static char *print_all(sqlite3 *db)
{
    static const char *const forms[] = {"page_size",      "page_count",  "encoding",     "user_version",
                                        "application_id", "auto_vacuum", "journal_mode", "freelist_count"};
    char *text = NULL, sql[128];
    size_t length = 0;
    sqlite3_stmt *tables = NULL;
    FILE *out = open_memstream(&text, &length);

    ck_assert_ptr_nonnull(out);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        snprintf(sql, sizeof sql, "PRAGMA %s", forms[i]);
        print_rows(out, db, sql);
    }
    print_rows(out, db, "SELECT rowid, * FROM sqlite_master ORDER BY rowid");
    ck_assert_int_eq(
        nm_db_prepare(db, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid", &tables, &err), NM_OK);
    while (sqlite3_step(tables) == SQLITE_ROW) {
        snprintf(sql, sizeof sql, "SELECT * FROM \"%s\"", nm_db_text(tables, 0));
        print_rows(out, db, sql);
    }
    sqlite3_finalize(tables);
    fclose(out);
    return text;
}

static void compare(sqlite3 *db, sqlite3 *other)
{
    char *text = print_all(db), *other_text = print_all(other);

    ck_assert_str_eq(text, other_text);
    free(text);
    free(other_text);
}

static void check_soundness(sqlite3 *db)
{
    sqlite3_stmt *row = NULL;

    ck_assert_int_eq(nm_db_prepare(db, "PRAGMA integrity_check", &row, &err), NM_OK);
    ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
    ck_assert_str_eq(nm_db_text(row, 0), "ok");
    sqlite3_finalize(row);
}

START_TEST(the_image_is_the_database_that_the_sql_makes)
{
    sqlite3 *by_sql = make_by_sql(), *by_image = make_by_image();
    int64_t count = 0;

    compare(by_sql, by_image);
    check_soundness(by_image);
    ck_assert_int_eq(nm_db_get_int(by_image, "SELECT count(*) FROM heap_level", &count, &err), NM_OK);
    ck_assert_int_ge(count, 8);
    ck_assert_int_eq(nm_db_get_int(by_image, "PRAGMA user_version", &count, &err), NM_OK);
    ck_assert_int_eq(count, NM_SCHEMA_VERSION);
    sqlite3_close(by_sql);
    sqlite3_close(by_image);
}
END_TEST

/* What C judges by and SQL says is one number. */
START_TEST(the_minimum_of_steps_is_that_of_the_verdicts)
{
    sqlite3 *db = make_by_image();
    int64_t least = 0;

    ck_assert_int_eq(nm_db_get_int(db, "SELECT least FROM minimum WHERE judgement = 'leak'", &least, &err), NM_OK);
    ck_assert_int_eq(least, NM_VERDICT_STEPS_MIN);
    sqlite3_close(db);
}
END_TEST

START_TEST(listed_views_are_those_that_the_sql_makes)
{
    sqlite3 *by_sql = make_by_sql(), *listed = make_by_image();
    sqlite3_stmt *views = NULL;
    int view_count = 0;

    ck_assert_int_eq(nm_schema_apply(by_sql, NM_SCHEMA_VIEWS, &err), NM_OK);
    ck_assert_int_eq(nm_schema_add_views(listed, &err), NM_OK);
    compare(by_sql, listed);
    check_soundness(listed);
    ck_assert_int_eq(nm_schema_read_views(listed, &err), NM_OK);
    ck_assert_int_eq(nm_db_prepare(listed, "SELECT name FROM sqlite_master WHERE type = 'view'", &views, &err), NM_OK);
    for (; sqlite3_step(views) == SQLITE_ROW; view_count++) {
        int column_count = 0;

        ck_assert_msg(nm_db_column_count(listed, nm_db_text(views, 0), &column_count, &err) == NM_OK, "%s", err.text);
        ck_assert_int_gt(column_count, 0);
    }
    sqlite3_finalize(views);
    ck_assert_int_gt(view_count, 60);
    sqlite3_close(by_sql);
    sqlite3_close(listed);
}
END_TEST

static const char *word(nm_schema_kind kind)
{
    return kind == NM_SCHEMA_TABLE ? "table" : kind == NM_SCHEMA_INDEX ? "index" : "view";
}

static void check_text(nm_bytes text, const char *expected)
{
    ck_assert_uint_eq(text.len, strlen(expected));
    ck_assert_msg(memcmp(text.data, expected, text.len) == 0, "not in the words of: %s", expected);
}

START_TEST(statements_end_where_sqlite_says)
{
    sqlite3 *db = make_by_sql();
    sqlite3_stmt *kept = NULL;
    nm_schema_statement statement;

    ck_assert_int_eq(nm_schema_apply(db, NM_SCHEMA_VIEWS, &err), NM_OK);
    ck_assert_int_eq(nm_db_prepare(db, "SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY rowid",
                                   &kept, &err),
                     NM_OK);
    for (nm_schema_part part = NM_SCHEMA_TABLES; part <= NM_SCHEMA_VIEWS; part++) {
        nm_schema_place place = {0};

        while (nm_schema_next(&place, &statement)) {
            if (statement.kind == NM_SCHEMA_WORDS || statement.part != part)
                continue;
            ck_assert_int_eq(sqlite3_step(kept), SQLITE_ROW);
            ck_assert_str_eq(word(statement.kind), nm_db_text(kept, 0));
            ck_assert_int_eq(part, statement.kind == NM_SCHEMA_TABLE ? NM_SCHEMA_TABLES : NM_SCHEMA_VIEWS);
            check_text(statement.name, nm_db_text(kept, 1));
            check_text(statement.text, nm_db_text(kept, 2));
        }
    }
    ck_assert_int_eq(sqlite3_step(kept), SQLITE_DONE);

    sqlite3_finalize(kept);
    sqlite3_close(db);
}
END_TEST

START_TEST(a_table_comes_alone_with_its_words)
{
    sqlite3 *all = make_by_sql(), *alone = open_file("alone.db");
    static const char *const asked[] = {"SELECT sql FROM sqlite_master WHERE name = 'plumbing'",
                                        "SELECT * FROM plumbing ORDER BY plumbing_id"};
    int64_t count = 0;

    ck_assert_msg(nm_schema_apply_table(alone, "plumbing", &err) == NM_OK, "%s", err.text);
    for (size_t i = 0; i < 2; i++) {
        char *text[2] = {NULL};
        size_t length[2];

        for (int which = 0; which < 2; which++) {
            FILE *out = open_memstream(&text[which], &length[which]);

            print_rows(out, which == 0 ? all : alone, asked[i]);
            fclose(out);
        }
        ck_assert_str_eq(text[0], text[1]);
        free(text[0]);
        free(text[1]);
    }
    ck_assert_int_eq(nm_db_get_int(alone, "SELECT count(*) FROM plumbing", &count, &err), NM_OK);
    ck_assert_int_gt(count, 100);
    ck_assert_int_eq(nm_db_get_int(alone, "SELECT count(*) FROM sqlite_master WHERE type = 'table'", &count, &err),
                     NM_OK);
    ck_assert_int_eq(count, 1);
    sqlite3_close(all);
    sqlite3_close(alone);
}
END_TEST

static bool is_large(const char *name)
{
    return nm_schema_is_large((nm_bytes){(const uint8_t *)name, strlen(name)});
}

START_TEST(large_tables_are_known_by_their_whole_names)
{
    ck_assert(is_large("z_allocation") && is_large("copy") && is_large("workspace") && is_large("z_stream_call"));
    ck_assert(!is_large("") && !is_large("allocation") && !is_large("cop") && !is_large("copy_kind") &&
              !is_large("stream_call"));
}
END_TEST

TEST_SUITE(test_schema)
{
    Suite *suite = suite_create("schema");
    TCase *tcase = tcase_create("schema");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, the_image_is_the_database_that_the_sql_makes);
    tcase_add_test(tcase, the_minimum_of_steps_is_that_of_the_verdicts);
    tcase_add_test(tcase, listed_views_are_those_that_the_sql_makes);
    tcase_add_test(tcase, statements_end_where_sqlite_says);
    tcase_add_test(tcase, a_table_comes_alone_with_its_words);
    tcase_add_test(tcase, large_tables_are_known_by_their_whole_names);
    suite_add_tcase(suite, tcase);
    return suite;
}
