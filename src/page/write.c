/* SPDX-License-Identifier: Apache-2.0
 *
 * The order of a page: what a browser must know first (that nothing may be fetched, how it looks), the answers as plain text for
 * who has no script, the program, and the data last. Nothing is put into a text that has been put together already, so that no
 * name can stand for another part of the page.
 */
#include "page/write.h"

#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/human.h"
#include "base/shown.h"
#include "base/text.h"
#include "page/against.h"
#include "page/files.h"
#include "page/map.h"
#include "page/sql.h"
#include "page/tables.h"
#include "page/tried.h"

#define STRINGS_SHARE 0.95 /* of the room for data, at most: they, and what is before them */

/* What runs beside the page comes out of it: the search, and SQL. Compiling wasm is allowed where there is some. */
#define POLICY_BEGIN                                                                                                   \
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"                                          \
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'"
#define POLICY_END "; style-src 'unsafe-inline'; img-src data: blob:; worker-src blob:"

static const char policy[] = POLICY_BEGIN POLICY_END;
static const char policy_of_sql[] = POLICY_BEGIN " 'wasm-unsafe-eval'" POLICY_END;

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
    for (const nm_embedded_text *file = nm_page_files; file->name != NULL; file++)
        if (strcmp(file->name, name) == 0)
            fputs(file->text, out);
}

/* "a.db", "a.db and 63 more" */
static void write_title(const nm_page_options *options, FILE *out)
{
    char name[256];

    write_escaped(out, nm_shown_text(name, sizeof name, nm_path_name(options->database_path)));
    if (options->database_count > 1)
        fprintf(out, " and %zu more", options->database_count - 1);
}

/* Nobody knows which language a reader without script has. */
static void write_summaries(const nm_page_options *options, FILE *out)
{
    const nm_language order[] = {options->language, options->language == NM_ENGLISH ? NM_CHINESE : NM_ENGLISH};

    for (size_t i = 0; i < 2; i++) {
        fprintf(out, "<pre class=\"summary\" lang=\"%s\">", order[i] == NM_ENGLISH ? "en" : "zh");
        write_escaped(out, options->summaries[order[i]]);
        fputs("</pre>\n", out);
    }
}

static void write_frame(nm_page *page, const nm_page_options *options, bool has_sql)
{
    fputs(has_sql ? policy_of_sql : policy, page->out);
    fputs(head, page->out);
    write_title(options, page->out);
    fputs(" - npumem</title>\n<style>\n", page->out);
    write_file(page->out, "uPlot.min.css");
    write_file(page->out, "page.css");
    fputs("</style>\n</head>\n<body>\n", page->out);
    write_file(page->out, "body.html");
    write_summaries(options, page->out);
    fputs("<script id=\"uplot\">\n", page->out);
    write_file(page->out, "uplot.js");
    fputs("</script>\n<script type=\"module\">\n", page->out);
    write_file(page->out, "page.js");
    fputs("</script>\n", page->out);
}

static nm_status write_data(nm_page *page, nm_page_map *map, const nm_page_options *options, nm_error *err)
{
    long begin = ftell(page->out);
    nm_status status;

    page->begin_bytes = begin < 0 ? 0 : (uint64_t)begin;
    status = nm_page_tables_write(page, nm_path_name(options->database_path), err);
    if (status == NM_OK && options->against != NULL)
        status = nm_page_against_write(page, options->against, nm_path_name(options->database_path), err);
    if (status == NM_OK && options->whatif != NULL)
        status = nm_page_tried_write(page, options->whatif, err);
    if (status == NM_OK)
        status = nm_page_map_write(map, err);
    if (status == NM_OK)
        status = nm_page_strings(page, nm_page_room(page, STRINGS_SHARE), err);
    return status == NM_OK ? nm_page_map_write_blocks(map, err) : status;
}

static bool wants_sql(const nm_page_options *options)
{
    return options->scratch_path != NULL && nm_page_sql_is_built();
}

/* What can be asked, as text. */
typedef struct asked {
    char *texts[2]; /* owned */
    size_t lens[2];
} asked;

static void free_asked(asked *sql)
{
    free(sql->texts[0]);
    free(sql->texts[1]);
}

static void write_asked(const asked *sql, FILE *out)
{
    for (size_t i = 0; i < 2; i++)
        if (sql->texts[i] != NULL)
            fwrite(sql->texts[i], 1, sql->lens[i], out);
}

/* The first takes half of the page at most, two of them two thirds, and what else there is the rest. */
static nm_status make_sql(nm_page *page, const nm_page_options *options, const nm_page_map *map, asked *sql,
                          nm_error *err)
{
    bool has_other = options->against != NULL, is_there = false;
    const nm_page_sql_source own = {page->db, has_other ? NM_PAGE_SQL_FIRST : NM_PAGE_SQL_ALONE, nm_page_map_live(map)};

    if (!wants_sql(options))
        return NM_OK;
    nm_status status = nm_page_sql_make(&own, options->scratch_path, page->bytes_max / 2, &page->strings,
                                        &sql->texts[0], &sql->lens[0], &is_there, err);
    if (status == NM_OK && is_there && has_other) {
        const nm_page_sql_source other = {options->against->db, NM_PAGE_SQL_SECOND, NULL};

        status = nm_page_sql_make(&other, options->scratch_path, page->bytes_max / 3 * 2 - sql->lens[0], &page->strings,
                                  &sql->texts[1], &sql->lens[1], &is_there, err);
    }
    page->bytes_max -= sql->lens[0] + sql->lens[1];
    return status;
}

static nm_status write_in_memory(sqlite3 *db, const nm_page_options *options, FILE *memory, nm_error *err)
{
    uint64_t bytes_max = options->bytes_max == 0 ? NM_PAGE_BYTES_MAX : options->bytes_max;
    char size[NM_HUMAN_BYTES];
    asked sql = {0};
    nm_page_map *map = NULL;
    nm_page page;

    nm_page_init(&page, db, memory, bytes_max);
    nm_status status = nm_page_map_read(&page, wants_sql(options), &map, err);
    if (status == NM_OK)
        status = make_sql(&page, options, map, &sql, err);
    if (status == NM_OK)
        write_frame(&page, options, sql.texts[0] != NULL);
    if (status == NM_OK)
        status = write_data(&page, map, options, err);
    nm_page_map_free(map);
    nm_page_free(&page);
    write_asked(&sql, memory);
    free_asked(&sql);
    fputs(NM_PAGE_END, memory);
    if (status == NM_OK && (uint64_t)ftell(memory) > bytes_max)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "a page without a single block takes %s: --max-size is less",
                       nm_human_bytes(size, ftell(memory)));
    return status;
}

nm_status nm_page_write(sqlite3 *db, const nm_page_options *options, FILE *out, nm_error *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);
    nm_status status;

    if (memory == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = write_in_memory(db, options, memory, err);
    if (fclose(memory) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        fwrite(text, 1, len, out);
    free(text);
    return status;
}
