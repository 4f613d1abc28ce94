/* SPDX-License-Identifier: Apache-2.0
 *
 * The patterns' way into their table and out of it: sites/ judges by them and knows no database.
 */
#include "store/plumbing.h"

#include <string.h>

#include "store/database.h"

static nm_status write_pattern(sqlite3_stmt *insert, const nm_patterns *patterns, const nm_pattern *pattern,
                               nm_error *err)
{
    nm_bytes text = nm_pattern_text(patterns, pattern);

    sqlite3_bind_text(insert, 1, nm_pattern_word(pattern->target), -1, SQLITE_STATIC);
    sqlite3_bind_text64(insert, 2, (const char *)text.data, text.len, SQLITE_STATIC, SQLITE_UTF8);
    nm_status status = sqlite3_step(insert) == SQLITE_DONE ? NM_OK : nm_db_fail(sqlite3_db_handle(insert), err);
    sqlite3_reset(insert);
    return status;
}

nm_status nm_plumbing_add(sqlite3 *db, nm_bytes text, nm_error *err)
{
    static const char sql[] = "INSERT INTO plumbing (target, pattern, origin) VALUES (?, ?, 'site rules')";
    nm_patterns patterns = {0};
    sqlite3_stmt *insert = NULL;
    nm_status status = nm_patterns_parse(&patterns, text, err);

    if (status == NM_OK)
        status = nm_db_prepare(db, sql, &insert, err);
    for (size_t i = 0; status == NM_OK && i < patterns.count; i++)
        status = write_pattern(insert, &patterns, &patterns.items[i], err);
    sqlite3_finalize(insert);
    nm_patterns_free(&patterns);
    return status;
}

static nm_bytes text_of(const char *text)
{
    return (nm_bytes){(const uint8_t *)text, text == NULL ? 0 : strlen(text)};
}

static nm_status read_pattern(nm_patterns *out, sqlite3_stmt *row, nm_error *err)
{
    const char *target = (const char *)sqlite3_column_text(row, 0);
    const char *pattern = (const char *)sqlite3_column_text(row, 1);
    const char *origin = (const char *)sqlite3_column_text(row, 2);
    bool is_built_in = origin != NULL && strcmp(origin, "built in") == 0;
    nm_status status = NM_END;

    if (target != NULL && pattern != NULL)
        status = nm_patterns_add(out, text_of(target), text_of(pattern), is_built_in, err);
    return status == NM_END
               ? nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "table plumbing holds a row that is no pattern")
               : status;
}

nm_status nm_plumbing_read(sqlite3 *db, nm_patterns *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status =
        nm_db_prepare(db, "SELECT target, pattern, origin FROM plumbing ORDER BY plumbing_id", &rows, err);
    int code = SQLITE_DONE;

    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = read_pattern(out, rows, err);
    if (status == NM_OK && code != SQLITE_DONE)
        status = nm_db_fail(db, err);
    sqlite3_finalize(rows);
    return status;
}

nm_status nm_plumbing_is_same(sqlite3 *db, const char *schema, const char *other, bool *is_same, nm_error *err)
{
    static const char sql[] = "SELECT count(*) FROM (SELECT target, pattern FROM \"%w\".plumbing EXCEPT SELECT target,"
                              " pattern FROM \"%w\".plumbing)";
    const char *schemas[2] = {schema, other};
    nm_status status = NM_OK;

    *is_same = true;
    for (int i = 0; i < 2 && status == NM_OK; i++) {
        char *text = sqlite3_mprintf(sql, schemas[i], schemas[1 - i]);
        sqlite3_stmt *row = NULL;

        status = text == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                              : nm_db_prepare(db, text, &row, err);
        if (status == NM_OK && sqlite3_step(row) != SQLITE_ROW)
            status = nm_db_fail(db, err);
        *is_same = *is_same && status == NM_OK && sqlite3_column_int64(row, 0) == 0;
        sqlite3_finalize(row);
        sqlite3_free(text);
    }
    return status;
}
