/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's names of CANN's modules and those of table z_cann_module are the same: a heap that the driver's hooks name
 * after a module is found under that name in view device_memory.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "hook/cann_module.h"
#include "store/database.h"
#include "store/schema.h"
#include "support/suites.h"

START_TEST(the_recorder_and_the_database_name_modules_alike)
{
    char number[NM_MODULE_TEXT_BYTES];
    int named_count = 0;
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    nm_error err;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    ck_assert_msg(nm_schema_apply(db, NM_SCHEMA_TABLES, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(
        nm_db_prepare(db, "SELECT coalesce((SELECT name FROM z_cann_module WHERE module_id = ?1), 'module ' || ?1)",
                      &row, &err) == NM_OK,
        "%s", err.text);
    for (int module = 1; module < NM_MODULE_COUNT; module++) {
        const char *name = nm_cann_module_name((unsigned)module, number);

        named_count += strncmp(name, "module ", 7) != 0;
        sqlite3_reset(row);
        sqlite3_bind_int(row, 1, module);
        ck_assert_int_eq(sqlite3_step(row), SQLITE_ROW);
        ck_assert_str_eq((const char *)sqlite3_column_text(row, 0), name);
    }
    ck_assert_int_gt(named_count, 60);
    sqlite3_finalize(row);
    sqlite3_close(db);
}
END_TEST

TEST_SUITE(test_cann_modules)
{
    Suite *suite = suite_create("modules of CANN");
    TCase *tests = tcase_create("names");

    tcase_add_test(tests, the_recorder_and_the_database_name_modules_alike);
    suite_add_tcase(suite, tests);
    return suite;
}
