/* SPDX-License-Identifier: Apache-2.0
 *
 * The patterns' way into their table and out of it: sites/ judges by them and knows no database.
 */
#include "store/plumbing.h"

#include <string.h>

#include "store/plumbing_patterns.sql.h"

static nm_status write_pattern(nm_insert *insert, const nm_patterns *patterns, const nm_pattern *pattern, nm_error *err)
{
    nm_insert_int(insert, NM_NULL); /* SQLite numbers it */
    nm_insert_text(insert, nm_pattern_word(pattern->target));
    nm_insert_bytes(insert, nm_pattern_text(patterns, pattern));
    nm_insert_text(insert, "site rules");
    return nm_insert_end(insert, err);
}

nm_status nm_plumbing_add(sqlite3 *db, nm_bytes text, nm_error *err)
{
    static const nm_columns columns = {"plumbing", "plumbing_id target pattern origin "};
    nm_patterns patterns = {0};
    nm_insert insert = {0};
    nm_status status = nm_patterns_parse(&patterns, text, err);

    if (status == NM_OK && patterns.count > 0)
        status = nm_insert_open(db, &columns, false, &insert, err);
    for (size_t i = 0; status == NM_OK && i < patterns.count; i++)
        status = write_pattern(&insert, &patterns, &patterns.items[i], err);
    nm_insert_close(&insert);
    nm_patterns_free(&patterns);
    return status;
}

static nm_bytes text_of(const char *text)
{
    return (nm_bytes){(const uint8_t *)text, strlen(text)};
}

static nm_status read_pattern(nm_patterns *out, const nm_plumbing_patterns_row *row, nm_error *err)
{
    bool is_built_in = strcmp(row->origin, "built in") == 0;
    nm_status status = NM_END;

    if (row->has.target && row->has.pattern)
        status = nm_patterns_add(out, text_of(row->target), text_of(row->pattern), is_built_in, err);
    return status == NM_END
               ? nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "table plumbing holds a row that is no pattern")
               : status;
}

nm_status nm_plumbing_read(sqlite3 *db, nm_patterns *out, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_plumbing_patterns_row row;
    nm_status status = nm_plumbing_patterns_ask(db, &rows, err);

    while (status == NM_OK && nm_plumbing_patterns_next(rows, &row))
        status = read_pattern(out, &row, err);
    return nm_question_end(rows, status, err);
}

nm_status nm_plumbing_version(sqlite3 *db, const char *schema, int64_t *version, nm_error *err)
{
    char *sql = sqlite3_mprintf("SELECT coalesce(max(CAST(value AS INTEGER)), 1) FROM \"%w\".meta"
                                " WHERE key = 'site_rules_version'",
                                schema);
    nm_status status =
        sql == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : nm_db_get_int(db, sql, version, err);

    sqlite3_free(sql);
    return status;
}

nm_status nm_plumbing_is_same(sqlite3 *db, const char *schema, const char *other, bool *is_same, nm_error *err)
{
    static const char sql[] =
        "SELECT NOT EXISTS (SELECT target, pattern FROM \"%w\".plumbing EXCEPT SELECT target, pattern FROM"
        " \"%w\".plumbing) AND NOT EXISTS (SELECT target, pattern FROM \"%w\".plumbing EXCEPT SELECT target,"
        " pattern FROM \"%w\".plumbing)";
    char *text = sqlite3_mprintf(sql, schema, other, other, schema);
    int64_t answer = 0, versions[2] = {0};
    nm_status status = text == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                    : nm_db_get_int(db, text, &answer, err);

    if (status == NM_OK)
        status = nm_plumbing_version(db, schema, &versions[0], err);
    if (status == NM_OK)
        status = nm_plumbing_version(db, other, &versions[1], err);
    *is_same = answer != 0 && versions[0] == versions[1];
    sqlite3_free(text);
    return status;
}
