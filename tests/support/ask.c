/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ask.h"

#include <check.h>
#include <stdio.h>

long long ask_text(sqlite3 *db, const char *sql, const char *text)
{
    sqlite3_stmt *statement;
    long long value;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_bind_text(statement, 1, text, -1, SQLITE_TRANSIENT);
    ck_assert_msg(sqlite3_step(statement) == SQLITE_ROW, "%s: no row", sql);
    value = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return value;
}

long long ask(sqlite3 *db, const char *sql)
{
    return ask_text(db, sql, NULL);
}

sqlite3 *ask_open(const char *folder, const char *name)
{
    char path[512];
    sqlite3 *db = NULL;

    ck_assert_int_lt(snprintf(path, sizeof path, "%s/%s", folder, name), (int)sizeof path);
    ck_assert_msg(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK, "%s cannot be opened", path);
    return db;
}
