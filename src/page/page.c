/* SPDX-License-Identifier: Apache-2.0
 *
 * What a part takes is only known when it is deflated: so each is written into memory, and again with fewer rows where that was too
 * much. A part that fits, as nearly all do, is written once.
 */
#include "page/page.h"

#include <stdlib.h>
#include <string.h>

#include "page/block.h"

#define FITTING_SHARE 0.95 /* of what would fit by proportion: rows are not alike */

void nm_page_init(nm_page *page, sqlite3 *db, FILE *out, uint64_t bytes_max)
{
    *page = (nm_page){.db = db, .out = out, .bytes_max = bytes_max};
    nm_page_columns_name(&page->cuts, (const char *const[]){"name", "row_count", "kept_count", NULL});
    page->cuts.columns[0].kind = NM_PAGE_TEXT;
}

void nm_page_free(nm_page *page)
{
    nm_page_columns_free(&page->cuts);
    nm_strings_free(&page->strings);
}

uint64_t nm_page_room(const nm_page *page, double share)
{
    uint64_t last = page->bytes_max - NM_PAGE_END_BYTES, begin = page->begin_bytes;
    uint64_t end = begin + (last > begin ? (uint64_t)((double)(last - begin) * share) : 0);
    long position = ftell(page->out);

    return position < 0 || (uint64_t)position >= end ? 0 : end - (uint64_t)position;
}

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

static nm_status write_in_memory(const nm_page_piece *part, char **text, size_t *len, nm_error *err)
{
    FILE *memory = open_memstream(text, len);
    nm_status status;

    if (memory == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    status = part->write(part->context, memory, err);
    if (fclose(memory) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return status;
}

nm_status nm_page_part(nm_page *page, const nm_page_piece *part, uint64_t bytes_max, nm_error *err)
{
    char *text = NULL;
    size_t len = 0;
    nm_status status = write_in_memory(part, &text, &len, err);

    while (status == NM_OK && len > bytes_max && part->shrink(part->context, len, bytes_max)) {
        free(text);
        text = NULL;
        status = write_in_memory(part, &text, &len, err);
    }
    if (status == NM_OK)
        fwrite(text, 1, len, page->out);
    free(text);
    return status;
}

size_t nm_page_fewer_rows(size_t row_count, size_t bytes, uint64_t bytes_max)
{
    double share = FITTING_SHARE * (double)bytes_max / (double)bytes;

    return (size_t)((double)row_count * (share > FITTING_SHARE ? FITTING_SHARE : share));
}

static bool shrink_count(size_t *count, size_t bytes, uint64_t bytes_max)
{
    if (*count == 0)
        return false;
    *count = nm_page_fewer_rows(*count, bytes, bytes_max);
    return true;
}

/* ---- Tables -------------------------------------------------------------------------------------------------------- */

typedef struct table_part {
    nm_page_columns columns; /* the caller's, of which fewer rows are read */
    const char *name;
} table_part;

static nm_status write_table(void *context, FILE *out, nm_error *err)
{
    const table_part *table = context;

    return nm_page_columns_write(&table->columns, table->name, out, err);
}

static bool shrink_table(void *context, size_t bytes, uint64_t bytes_max)
{
    table_part *table = context;

    return shrink_count(&table->columns.row_count, bytes, bytes_max);
}

nm_status nm_page_table(nm_page *page, const nm_page_columns *columns, const char *name, uint64_t bytes_max,
                        nm_error *err)
{
    table_part table = {*columns, name};
    nm_status status = nm_page_part(page, &(nm_page_piece){&table, write_table, shrink_table}, bytes_max, err);

    if (status != NM_OK || table.columns.row_count == columns->row_count)
        return status;
    return nm_page_cut(page, name, (int64_t)columns->row_count, (int64_t)table.columns.row_count, err);
}

nm_status nm_page_cut(nm_page *page, const char *name, int64_t row_count, int64_t kept_count, nm_error *err)
{
    uint32_t number = 0;
    nm_status status = nm_strings_intern(&page->strings, (nm_bytes){(const uint8_t *)name, strlen(name)}, &number, err);

    return status == NM_OK ? nm_page_columns_add(&page->cuts, (int64_t[]){number, row_count, kept_count}, err) : status;
}

/* ---- Texts --------------------------------------------------------------------------------------------------------- */

typedef struct texts_part {
    const nm_strings *strings;
    size_t kept_count;
} texts_part;

static nm_status put_texts(const texts_part *texts, nm_page_block *block, nm_error *err)
{
    static const uint8_t none[256] = {0};
    const nm_strings *strings = texts->strings;
    bool has_all = texts->kept_count == strings->count;
    size_t kept_bytes = has_all ? strings->text.len : strings->offsets[texts->kept_count];
    nm_status status = nm_page_block_put(block, strings->text.data, kept_bytes, err);

    for (size_t left = strings->count - texts->kept_count; left > 0 && status == NM_OK;) {
        size_t taken = left < sizeof none ? left : sizeof none;

        status = nm_page_block_put(block, none, taken, err);
        left -= taken;
    }
    return status;
}

static nm_status write_texts(void *context, FILE *out, nm_error *err)
{
    const texts_part *texts = context;
    nm_page_block block;
    nm_error later = {.offset = NM_NO_OFFSET};
    nm_status status, ended;

    fprintf(out,
            "<script type=\"application/octet-stream\" class=\"strings\" data-head='{\"count\":%zu,\"kept\":%zu}'>",
            texts->strings->count, texts->kept_count);
    status = nm_page_block_begin(&block, out, err);
    if (status != NM_OK)
        return status;
    status = put_texts(texts, &block, err);
    ended = nm_page_block_end(&block, status == NM_OK ? err : &later);
    fputs("</script>\n", out);
    return status == NM_OK ? ended : status;
}

static bool shrink_texts(void *context, size_t bytes, uint64_t bytes_max)
{
    texts_part *texts = context;

    return shrink_count(&texts->kept_count, bytes, bytes_max);
}

nm_status nm_page_strings(nm_page *page, uint64_t bytes_max, nm_error *err)
{
    texts_part texts = {&page->strings, page->strings.count};
    nm_status status = nm_page_columns_write(&page->cuts, "cut", page->out, err);

    return status == NM_OK ? nm_page_part(page, &(nm_page_piece){&texts, write_texts, shrink_texts}, bytes_max, err)
                           : status;
}
