/* SPDX-License-Identifier: Apache-2.0 */
#include "support/load_text.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

const nm_thresholds load_no_floors = {.items = {{true, 0}, {true, 0}, {true, 0}, {true, 0}}};

void load_text(const char *text, const nm_input_row *input, const char *path)
{
    load_text_above(text, input, NULL, path);
}

void load_text_above(const char *text, const nm_input_row *input, const nm_thresholds *thresholds, const char *path)
{
    nm_error err = {0};

    ck_assert_msg(store_text(text, input, thresholds, path, &err) == NM_OK, "%s (line or byte %llu)", err.text,
                  (unsigned long long)err.offset);
}

sqlite3 *load_open(const char *path)
{
    sqlite3 *db = NULL;

    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    return db;
}

int64_t load_int(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *row = NULL;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    ck_assert_msg(sqlite3_step(row) == SQLITE_ROW, "%s: no row", sql);
    int64_t value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    return value;
}

static void append(nm_buffer *out, const char *text)
{
    ck_assert_int_eq(nm_buffer_append(out, text, strlen(text), NULL), NM_OK);
}

char *load_rows(sqlite3 *db, const char *sql)
{
    nm_buffer out = {0};
    sqlite3_stmt *row = NULL;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    while (sqlite3_step(row) == SQLITE_ROW) {
        for (int column = 0; column < sqlite3_column_count(row); column++) {
            const char *text = (const char *)sqlite3_column_text(row, column);

            append(&out, column == 0 ? "" : "|");
            append(&out, text == NULL ? "-" : text);
        }
        append(&out, "\n");
    }
    sqlite3_finalize(row);
    ck_assert_int_eq(nm_buffer_append(&out, "", 1, NULL), NM_OK);
    return (char *)out.data;
}
