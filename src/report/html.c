/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of a page: what a browser must know first (that nothing may be fetched, how it looks), the answers as plain text for
 * who has no script, the program, and the data last. Nothing is put into a text that has been put together already, so that no
 * name can stand for another part of the page.
 */
#include "report/html.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/shown.h"
#include "base/strings.h"
#include "report/html_files.h"
#include "report/html_map.h"
#include "report/html_sql.h"
#include "report/html_tables.h"
#include "report/screen.h"

#define BLOCK_BYTES 11

typedef struct made_page {
    nm_strings strings;
    char *sql; /* owned; html_sql.h. NULL: it is not wanted, or not to be had */
    size_t sql_bytes;
} made_page;

/* Compiling wasm and running it beside the page is allowed where there is some. */
#define POLICY_BEGIN                                                                                                   \
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                                          \
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'"
#define POLICY_END "; style-src 'unsafe-inline'; img-src data: blob:"

static const char policy[] = POLICY_BEGIN POLICY_END;
static const char policy_of_sql[] = POLICY_BEGIN " 'wasm-unsafe-eval'" POLICY_END "; worker-src blob:";

static const char head[] = "\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                           "<meta name=\"generator\" content=\"npumem " NPUMEM_PROJECT_VERSION "\">\n"
                           "<link rel=\"icon\" href=\"data:,\">\n<title>";

static void write_escaped(FILE *out, const char *text)
{
    for (; *text != 0; text++)
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        default:
            putc(*text, out);
        }
}

static void write_file(FILE *out, const char *name)
{
    for (const nm_embedded_text *file = nm_html_files; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            fputs(file->text, out);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* The screen, as text. */
static nm_status write_summary(sqlite3 *db, const nm_html_options *options, FILE *out, nm_error *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    nm_screen_names names = {.database_path = base_name(options->database_path)};
    nm_screen_options looks = {.language = options->language};
    nm_status status;

    if (memory == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = nm_screen_write(db, &names, &looks, memory, err);
    if (fclose(memory) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK) {
        fputs("<pre id=\"summary\">", out);
        write_escaped(out, text);
        fputs("</pre>\n", out);
    }
    free(text);
    return status;
}

static uint64_t bytes_max(const nm_html_options *options)
{
    return options->bytes_max == 0 ? NM_HTML_BYTES_MAX : options->bytes_max;
}

/* A block takes 1 to 11 bytes in base64: at worst those of random sizes and addresses. */
static int64_t blocks_max(const made_page *page, const nm_html_options *options)
{
    return (int64_t)((bytes_max(options) - page->sql_bytes) / BLOCK_BYTES);
}

/* What can be asked takes half of the page at most. */
static nm_status make_sql(made_page *page, sqlite3 *db, const nm_html_options *options, nm_error *err)
{
    if (options->scratch_path == NULL || !nm_html_sql_is_built())
        return NM_OK;
    return nm_html_sql_make(db, options->scratch_path, bytes_max(options) / 2, &page->strings, &page->sql,
                            &page->sql_bytes, err);
}

static nm_status write_frame(const made_page *page, sqlite3 *db, const nm_html_options *options, FILE *out,
                             nm_error *err)
{
    char name[256];
    nm_status status;

    fputs(page->sql == NULL ? policy : policy_of_sql, out);
    fputs(head, out);
    write_escaped(out, nm_shown_text(name, sizeof name, base_name(options->database_path)));
    fputs(" - npumem</title>\n<style>\n", out);
    write_file(out, "uPlot.min.css");
    write_file(out, "page.css");
    fputs("</style>\n</head>\n<body>\n", out);
    write_file(out, "body.html");
    status = write_summary(db, options, out, err);
    fputs("<script id=\"uplot\">\n", out);
    write_file(out, "uplot.js");
    fputs("</script>\n<script type=\"module\">\n", out);
    write_file(out, "page.js");
    fputs("</script>\n", out);
    return status;
}

nm_status nm_html_write(sqlite3 *db, const nm_html_options *options, FILE *out, nm_error *err)
{
    made_page page = {0};
    nm_status status = make_sql(&page, db, options, err);

    if (status == NM_OK)
        status = write_frame(&page, db, options, out, err);
    if (status == NM_OK)
        status = nm_html_tables_write(db, &page.strings, out, err);
    if (status == NM_OK)
        status = nm_html_map_write(db, &page.strings, blocks_max(&page, options), out, err);
    if (status == NM_OK && page.sql != NULL)
        fwrite(page.sql, 1, page.sql_bytes, out);
    if (status == NM_OK)
        status = nm_html_strings_write(&page.strings, out, err);
    fputs("</body>\n</html>\n", out);
    nm_strings_free(&page.strings);
    free(page.sql);
    return status;
}
