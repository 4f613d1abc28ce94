/* SPDX-License-Identifier: Apache-2.0
 *
 * Views where they answer, tables of the contract where names of heaps would not be enough to tell them apart.
 */
#include "page/tables.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "page/curves.h"
#include "say/command.h"
#include "store/database.h"
#include "store/findings/said_text.h"

#define TABLES_SHARE 0.6 /* of the room for data, at most: they, and what is before them */

#define PLACE        "host, rank, pid, device, heap, level, "

/* What said_text of store/findings/said_text.h wants of a finding. */
#define SAID_OF(column)                                                                                                \
#column ", rank, pid, device, (SELECT upper(max(kind)) FROM device), (SELECT count(DISTINCT h.process_id) > 1"     \
            " FROM z_heap_sum AS s JOIN heap AS h ON h.heap_id = s.heap_id WHERE s.peak_bytes > 0), heap, site"

typedef struct question {
    const char *name, *sql;
} question;

static const question questions[] = {
#define NM_PAGE_TABLE(name, sql) {name, sql},
#include "page/tables.def"
#undef NM_PAGE_TABLE
};

/* No table takes more than half of what is left for all of them, so that a long one leaves room for those behind it. */
nm_status nm_page_tables_put(nm_page *page, const nm_page_columns *columns, const char *name, nm_error *err)
{
    return nm_page_table(page, columns, name, nm_page_room(page, TABLES_SHARE) / 2, err);
}

nm_status nm_page_table_write(nm_page *page, const char *name, sqlite3_stmt *rows, nm_error *err)
{
    nm_page_columns columns = {0};
    nm_status status = nm_page_columns_read(&columns, &page->strings, sqlite3_db_handle(rows), rows, err);

    if (status == NM_OK)
        status = nm_page_tables_put(page, &columns, name, err);
    nm_page_columns_free(&columns);
    return status;
}

nm_status nm_page_question_write(nm_page *page, sqlite3 *db, const char *name, const char *sql, nm_error *err)
{
    sqlite3_stmt *rows = NULL;
    nm_status status = nm_db_prepare(db, sql, &rows, err);

    if (status == NM_OK)
        status = nm_page_table_write(page, name, rows, err);
    sqlite3_finalize(rows);
    return status;
}

/* page_command(next_command, path of the input or NULL): the command for this database, whose folders the page does not tell. */
static void run_command(sqlite3_context *call, int count, sqlite3_value **values)
{
    const char *command = (const char *)sqlite3_value_text(values[0]),
               *path = (const char *)sqlite3_value_text(values[1]);
    char *text;

    (void)count;
    if (command == NULL)
        return;
    text = nm_command_make(command, sqlite3_user_data(call), path == NULL ? NM_COMMAND_INPUT : nm_path_name(path));
    if (text == NULL)
        sqlite3_result_error_nomem(call);
    else
        sqlite3_result_text(call, text, -1, free);
}

static nm_status add_command(nm_page *page, const char *database, nm_error *err)
{
    char *name = sqlite3_mprintf("%s", database);
    int result = name == NULL
                     ? SQLITE_NOMEM
                     : sqlite3_create_function_v2(page->db, "page_command", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC, name,
                                                  run_command, NULL, NULL, sqlite3_free);

    return result == SQLITE_OK ? NM_OK : nm_db_fail(page->db, err);
}

nm_status nm_page_tables_write(nm_page *page, const char *database, nm_error *err)
{
    nm_status status = nm_said_text_add(page->db, err);

    if (status == NM_OK)
        status = add_command(page, database, err);
    for (size_t i = 0; i < sizeof questions / sizeof *questions && status == NM_OK; i++)
        status = nm_page_question_write(page, page->db, questions[i].name, questions[i].sql, err);
    if (status == NM_OK)
        status = nm_page_usage_write(page, page->db, "usage", err);
    return status == NM_OK ? nm_page_gaps_write(page, err) : status;
}
