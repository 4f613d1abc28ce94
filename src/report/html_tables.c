/* SPDX-License-Identifier: Apache-2.0
 *
 * Views where they answer, tables of the contract where names of heaps would not be enough to tell them apart.
 */
#include "report/html_tables.h"

#include "report/html_block.h"
#include "report/html_columns.h"
#include "store/database.h"

#define PLACE "host, rank, pid, device, heap, level, "

typedef struct question {
    const char *name, *sql;
} question;

static const question questions[] = {
#define NM_HTML_TABLE(name, sql) {name, sql},
#include "report/html_tables.def"
#undef NM_HTML_TABLE
};

nm_status nm_html_table_write(sqlite3 *db, nm_strings *strings, const char *name, sqlite3_stmt *rows, FILE *out,
                              nm_error *err)
{
    nm_html_columns columns = {0};
    nm_status status = nm_html_columns_read(&columns, strings, db, rows, err);

    if (status == NM_OK)
        status = nm_html_columns_write(&columns, name, out, err);
    nm_html_columns_free(&columns);
    return status;
}

nm_status nm_html_tables_write(sqlite3 *db, nm_strings *strings, FILE *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < sizeof questions / sizeof *questions && status == NM_OK; i++) {
        sqlite3_stmt *rows = NULL;

        status = nm_db_prepare(db, questions[i].sql, &rows, err);
        if (status == NM_OK)
            status = nm_html_table_write(db, strings, questions[i].name, rows, out, err);
        sqlite3_finalize(rows);
    }
    return status;
}

nm_status nm_html_strings_write(const nm_strings *strings, FILE *out, nm_error *err)
{
    nm_html_block block;
    nm_error later = {.offset = NM_NO_OFFSET};
    nm_status status, ended;

    fprintf(out, "<script type=\"application/octet-stream\" class=\"strings\" data-head='{\"count\":%zu}'>",
            strings->count);
    status = nm_html_block_begin(&block, out, err);
    if (status != NM_OK)
        return status;
    status = nm_html_block_put(&block, strings->text.data, strings->text.len, err);
    ended = nm_html_block_end(&block, status == NM_OK ? err : &later);
    fputs("</script>\n", out);
    return status == NM_OK ? ended : status;
}
