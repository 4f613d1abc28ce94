/* SPDX-License-Identifier: Apache-2.0
 *
 * schema_doc INTRO.md: writes docs/database.md to standard output, from the comments inside the schema's CREATE
 * statements. The first comment, closed by an empty one, is about the table; each other one is about the column below it.
 * Fails when a table, a view or a column has no comment, or a quantity no unit. Not installed.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/buffer.h"
#include "base/door.h"
#include "store/question.h"
#include "store/schema.h"

typedef struct schema_page { /* of one table or view */
    const char *name;
    nm_buffer comment;
    bool has_table_comment;
    int column_count;
    int fault_count;
} schema_page;

static void append(nm_buffer *buffer, const char *text, size_t length)
{
    nm_buffer_append(buffer, text, length, NULL);
}

/* A comment's text as part of a Markdown table. */
static void print_cell(const nm_buffer *text)
{
    for (size_t at = 0; at < text->len; at++) {
        if (text->data[at] == '|')
            putchar('\\');
        putchar(text->data[at]);
    }
}

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t end_length = strlen(end);

    return length >= end_length && memcmp(text + length - end_length, end, end_length) == 0;
}

static bool is_quantity(const char *name, size_t length)
{
    return ends_with(name, length, "_bytes") || ends_with(name, length, "_ns") || ends_with(name, length, "_count") ||
           ends_with(name, length, "_ratio") || ends_with(name, length, "_rate") || strncmp(name, "events_", 7) == 0 ||
           (length == 2 && memcmp(name, "ns", 2) == 0);
}

static void fault(schema_page *page, const char *column, size_t length, const char *text)
{
    fprintf(stderr, "schema_doc: %s.%.*s: %s\n", page->name, (int)length, column, text);
    page->fault_count++;
}

static void take_comment(schema_page *page, const char *text, size_t length)
{
    while (length > 0 && *text == ' ')
        text++, length--;
    if (length == 0 && !page->has_table_comment) {
        print_cell(&page->comment);
        printf("\n\n| column | meaning |\n|---|---|\n");
        page->has_table_comment = true;
        page->comment.len = 0;
        return;
    }
    if (page->comment.len > 0)
        append(&page->comment, " ", 1);
    append(&page->comment, text, length);
}

static void take_column(schema_page *page, const char *line)
{
    size_t length = 0;

    while (isalnum((unsigned char)line[length]) || line[length] == '_')
        length++;
    if (!page->has_table_comment)
        fault(page, line, length, "no comment on the table before this column");
    if (page->comment.len == 0)
        fault(page, line, length, "no comment");
    append(&page->comment, "", 1);
    page->comment.len--;
    if (is_quantity(line, length) && strstr((const char *)page->comment.data, "Unit:") == NULL)
        fault(page, line, length, "a quantity without its unit");
    printf("| `%.*s` | ", (int)length, line);
    print_cell(&page->comment);
    printf(" |\n");
    page->comment.len = 0;
    page->column_count++;
}

/* The lines between the parenthesis of the CREATE and the line that closes it. */
static void take_lines(schema_page *page, const char *sql)
{
    for (const char *line = strchr(sql, '\n'); line != NULL; line = strchr(line, '\n')) {
        line++;
        if (*line == ')')
            return;
        size_t length = strcspn(line, "\n");
        const char *text = line + strspn(line, " ");

        if (strncmp(text, "--", 2) == 0)
            take_comment(page, text + 2, length - (size_t)(text - line) - 2);
        else if (isalpha((unsigned char)*text) && strncmp(text, "PRIMARY KEY", 11) != 0 &&
                 strncmp(text, "UNIQUE", 6) != 0)
            take_column(page, text);
    }
}

static int write_pages(sqlite3 *db, const char *type, nm_error *err)
{
    char sql[256];
    sqlite3_stmt *rows = NULL;
    int fault_count = 0;

    snprintf(sql, sizeof sql, "SELECT name, sql FROM sqlite_master WHERE type = '%s' ORDER BY name GLOB 'z_*', name",
             type);
    if (nm_db_prepare(db, sql, &rows, err) != NM_OK)
        return 1;
    while (sqlite3_step(rows) == SQLITE_ROW) {
        schema_page page = {.name = nm_named_text(rows, "name")};
        int column_count = 0;

        printf("\n### %s\n\n", page.name);
        take_lines(&page, nm_named_text(rows, "sql"));
        if (nm_db_column_count(db, page.name, &column_count, err) != NM_OK || column_count != page.column_count)
            fault(&page, "", 0, "a column was not found by its line");
        fault_count += page.fault_count;
        nm_buffer_free(&page.comment);
    }
    sqlite3_finalize(rows);
    return fault_count;
}

static bool copy_intro(const char *path)
{
    FILE *file = nm_door_stream(path);
    int c;

    if (file == NULL)
        return false;
    while ((c = getc(file)) != EOF)
        putchar(c);
    fclose(file);
    return true;
}

int main(int argc, char **argv)
{
    sqlite3 *db = NULL;
    nm_error err = {0};
    int fault_count = 0;

    if (argc != 2 || !copy_intro(argv[1])) {
        fprintf(stderr, "usage: schema_doc INTRO.md\n");
        return 2;
    }
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || nm_schema_apply(db, NM_SCHEMA_TABLES, &err) != NM_OK ||
        nm_schema_apply(db, NM_SCHEMA_VIEWS, &err) != NM_OK) {
        fprintf(stderr, "schema_doc: %s\n", err.text);
        return 1;
    }
    printf("\n## Views\n");
    fault_count += write_pages(db, "view", &err);
    printf("\n## Tables\n");
    fault_count += write_pages(db, "table", &err);
    sqlite3_close(db);
    return fault_count == 0 ? 0 : 1;
}
