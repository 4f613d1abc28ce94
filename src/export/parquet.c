/* SPDX-License-Identifier: Apache-2.0
 *
 * Values of a column are gathered into a page, which is encoded and compressed when it is full; pages wait in memory for the end of
 * their row group, since a dictionary comes before them, and columns one after the other. A column of texts has a dictionary unless
 * that is longer than the texts themselves; where it grows too large, later pages do without.
 */
#include "export/parquet.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/strings.h"
#include "export/parquet_page.h"

#define MAGIC                "PAR1"
#define PAGE_ROWS            (1 << 15)
#define PAGE_TEXT_BYTES      (1 << 20) /* of one column */
#define DICTIONARY_BYTES_MAX (1 << 20)
#define RANGE_TEXT_BYTES_MAX 64 /* of a least and a greatest text */
#define ZSTD_LEVEL           9

/* Numbers of the format. */
enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };
enum { CODEC_ZSTD = 6, CONVERTED_UTF8 = 0, OPTIONAL = 1 };

typedef enum encoding {
    PLAIN = 0,
    RLE = 3,
    DELTA_BINARY_PACKED = 5,
    RLE_DICTIONARY = 8,
} encoding;

typedef struct column {
    const nm_parquet_column *is; /* borrowed */
    struct {                     /* of the page at hand: 1 for a value, 0 for NULL */
        uint32_t *items;
        size_t count, capacity;
    } levels;
    struct { /* integers, the bits of reals, or numbers of texts in the dictionary */
        int64_t *items;
        size_t count, capacity;
    } values;
    nm_buffer texts;     /* PLAIN, in place of such numbers; owned as all here */
    uint64_t text_bytes; /* of this page, as PLAIN has them */

    nm_strings words; /* of the row group: the dictionary */
    bool is_plain;    /* no more of it */
    bool has_plain;   /* there are texts that are not in it */
    nm_buffer pages;
    uint64_t raw_bytes, row_count, null_count;
    uint32_t encodings;                 /* a bit for each that its pages have */
    nm_bytes least_text, greatest_text; /* in `words`; data NULL: not known */
    bool has_range;
    union {
        int64_t integer;
        double real;
    } least, greatest;
} column;

struct nm_parquet {
    FILE *out;
    column *columns; /* owned */
    size_t column_count, at;
    bool is_long;
    uint64_t offset, row_count, group_rows;
    nm_buffer groups; /* what the footer says of them */
    size_t group_count;
    nm_buffer raw; /* a page before it is compressed, or a text */
    ZSTD_CCtx *zstd;
    nm_error failure; /* the first of a row's values */
};

/* ---- Values --------------------------------------------------------------------------------------------------------- */

nm_status nm_parquet_open(FILE *out, const nm_parquet_column *columns, size_t column_count, bool is_long,
                          nm_parquet **parquet, nm_error *err)
{
    nm_parquet *made = calloc(1, sizeof *made);

    *parquet = made;
    if (made != NULL) {
        *made = (nm_parquet){.out = out, .column_count = column_count, .is_long = is_long};
        made->columns = calloc(column_count, sizeof *made->columns);
        made->zstd = ZSTD_createCCtx();
    }
    if (made == NULL || made->columns == NULL || made->zstd == NULL) {
        nm_parquet_free(made);
        *parquet = NULL;
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < column_count; i++)
        made->columns[i].is = &columns[i];
    made->offset = fwrite(MAGIC, 1, strlen(MAGIC), out); /* a failure stays in ferror(out) */
    return NM_OK;
}

static column *next_column(nm_parquet *parquet, bool is_value)
{
    assert(parquet->at < parquet->column_count);
    column *to = &parquet->columns[parquet->at++];
    nm_error *err = &parquet->failure;

    if (err->status == NM_OK &&
        nm_array_grow(&to->levels.items, &to->levels.capacity, to->levels.count + 1, sizeof(uint32_t), err) == NM_OK)
        to->levels.items[to->levels.count++] = is_value;
    return err->status == NM_OK ? to : NULL;
}

static void add_value(nm_parquet *parquet, column *to, int64_t value)
{
    if (nm_array_grow(&to->values.items, &to->values.capacity, to->values.count + 1, sizeof(int64_t),
                      &parquet->failure) == NM_OK)
        to->values.items[to->values.count++] = value;
}

void nm_parquet_null(nm_parquet *parquet)
{
    column *to = next_column(parquet, false);

    if (to != NULL)
        to->null_count++;
}

void nm_parquet_integer(nm_parquet *parquet, int64_t value)
{
    column *to = next_column(parquet, true);

    if (to == NULL)
        return;
    assert(to->is->type == NM_PARQUET_INTEGER);
    if (!to->has_range || value < to->least.integer)
        to->least.integer = value;
    if (!to->has_range || value > to->greatest.integer)
        to->greatest.integer = value;
    to->has_range = true;
    add_value(parquet, to, value);
}

/* What is no number has no place in a range: it is less and greater than nothing. */
void nm_parquet_real(nm_parquet *parquet, double value)
{
    column *to = next_column(parquet, true);
    int64_t bits;

    if (to == NULL)
        return;
    assert(to->is->type == NM_PARQUET_REAL);
    memcpy(&bits, &value, sizeof bits);
    if (!to->has_range || value < to->least.real)
        to->least.real = value;
    if (!to->has_range || value > to->greatest.real)
        to->greatest.real = value;
    to->has_range = to->has_range || !isnan(value);
    add_value(parquet, to, bits);
}

static nm_status put_plain_text(nm_buffer *out, nm_bytes text, nm_error *err)
{
    nm_status status = nm_parquet_put_u32((uint32_t)text.len, out, err);

    return status == NM_OK ? nm_buffer_append(out, text.data, text.len, err) : status;
}

void nm_parquet_text(nm_parquet *parquet, nm_bytes value)
{
    column *to = next_column(parquet, true);
    nm_error *err = &parquet->failure;
    uint32_t number = 0;

    if (to == NULL)
        return;
    assert(to->is->type == NM_PARQUET_TEXT);
    parquet->raw.len = 0;
    if (nm_parquet_put_utf8(value, &parquet->raw, err) != NM_OK)
        return;
    nm_bytes text = {parquet->raw.data, parquet->raw.len};
    to->text_bytes += sizeof(uint32_t) + text.len;
    if (to->is_plain)
        put_plain_text(&to->texts, text, err);
    else if (nm_strings_intern(&to->words, text, &number, err) == NM_OK)
        add_value(parquet, to, (int64_t)number - 1);
}

/* ---- Pages ---------------------------------------------------------------------------------------------------------- */

/* Appends parquet->raw to the pages, compressed, behind its header. */
static nm_status add_page(nm_parquet *parquet, nm_buffer *pages, uint64_t *raw_bytes, int kind, encoding how,
                          size_t count, nm_error *err)
{
    nm_buffer packed = {0};
    nm_thrift to = {.out = pages, .err = err};
    size_t begin = pages->len, bound = ZSTD_compressBound(parquet->raw.len);

    if (nm_buffer_reserve(&packed, bound, err) != NM_OK)
        return err->status;
    packed.len = ZSTD_compressCCtx(parquet->zstd, packed.data, bound, parquet->raw.data, parquet->raw.len, ZSTD_LEVEL);
    if (ZSTD_isError(packed.len)) {
        nm_buffer_free(&packed);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "zstd: %s", ZSTD_getErrorName(packed.len));
    }
    int whole = nm_thrift_begin(&to, 0);
    nm_thrift_integer(&to, 1, NM_THRIFT_I32, kind);
    nm_thrift_integer(&to, 2, NM_THRIFT_I32, (int64_t)parquet->raw.len);
    nm_thrift_integer(&to, 3, NM_THRIFT_I32, (int64_t)packed.len);
    int header = nm_thrift_begin(&to, kind == PAGE_DATA ? 5 : 7);
    nm_thrift_integer(&to, 1, NM_THRIFT_I32, (int64_t)count);
    nm_thrift_integer(&to, 2, NM_THRIFT_I32, how);
    if (kind == PAGE_DATA) {
        nm_thrift_integer(&to, 3, NM_THRIFT_I32, RLE); /* of levels */
        nm_thrift_integer(&to, 4, NM_THRIFT_I32, RLE);
    }
    nm_thrift_end(&to, header);
    nm_thrift_end(&to, whole);
    *raw_bytes += pages->len - begin + parquet->raw.len;
    if (to.status == NM_OK)
        to.status = nm_buffer_append(pages, packed.data, packed.len, err);
    nm_buffer_free(&packed);
    return to.status;
}

static nm_status put_levels(const column *from, nm_buffer *out, nm_error *err)
{
    size_t begin = out->len;
    nm_status status = nm_parquet_put_u32(0, out, err);

    if (status == NM_OK)
        status = nm_parquet_put_runs(from->levels.items, from->levels.count, 1, out, err);
    if (status == NM_OK)
        nm_put_u32(out->data + begin, (uint32_t)(out->len - begin - sizeof(uint32_t)));
    return status;
}

static unsigned width_of_numbers(size_t count)
{
    unsigned width = 1;

    while (count > (size_t)1 << width)
        width++;
    return width;
}

static nm_status put_numbers(column *from, nm_buffer *out, nm_error *err)
{
    size_t count = from->values.count;
    uint32_t *numbers = malloc((count + 1) * sizeof *numbers);
    unsigned width = width_of_numbers(from->words.count);

    if (numbers == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < count; i++)
        numbers[i] = (uint32_t)from->values.items[i];
    nm_status status = nm_buffer_append(out, &(uint8_t){(uint8_t)width}, 1, err);
    if (status == NM_OK)
        status = nm_parquet_put_runs(numbers, count, width, out, err);
    free(numbers);
    return status;
}

static nm_status put_texts(column *from, nm_buffer *out, encoding *how, nm_error *err)
{
    uint64_t dictionary_bytes = from->words.text.len +
                                3 * from->words.count + /* a word's zero byte becomes its length */
                                from->values.count * width_of_numbers(from->words.count) / 8;
    nm_status status = NM_OK;

    *how = PLAIN;
    if (from->is_plain || from->text_bytes == 0)
        return nm_buffer_append(out, from->texts.data, from->texts.len, err);
    if ((from->encodings & 1u << RLE_DICTIONARY) != 0 || dictionary_bytes < from->text_bytes) {
        *how = RLE_DICTIONARY;
        from->is_plain = from->words.text.len > DICTIONARY_BYTES_MAX;
        return put_numbers(from, out, err);
    }
    for (size_t i = 0; i < from->values.count && status == NM_OK; i++)
        status = put_plain_text(out, nm_strings_get(&from->words, (uint32_t)from->values.items[i] + 1), err);
    from->is_plain = true;
    nm_strings_free(&from->words);
    return status;
}

static nm_status put_values(const nm_parquet *parquet, column *from, nm_buffer *out, encoding *how, nm_error *err)
{
    nm_status status = NM_OK;

    if (from->is->type == NM_PARQUET_TEXT) {
        status = put_texts(from, out, how, err);
        from->has_plain = from->has_plain || (*how == PLAIN && from->text_bytes > 0);
        return status;
    }
    *how = PLAIN;
    if (from->is->type == NM_PARQUET_INTEGER && parquet->is_long) {
        *how = DELTA_BINARY_PACKED;
        return nm_parquet_put_delta(from->values.items, from->values.count, out, err);
    }
    for (size_t i = 0; i < from->values.count && status == NM_OK; i++)
        status = nm_parquet_put_u64((uint64_t)from->values.items[i], out, err);
    return status;
}

static nm_status end_page(nm_parquet *parquet, column *of, nm_error *err)
{
    nm_buffer *raw = &parquet->raw;
    encoding how = PLAIN;

    if (of->levels.count == 0)
        return NM_OK;
    raw->len = 0;
    nm_status status = put_levels(of, raw, err);
    if (status == NM_OK)
        status = put_values(parquet, of, raw, &how, err);
    if (status == NM_OK)
        status = add_page(parquet, &of->pages, &of->raw_bytes, PAGE_DATA, how, of->levels.count, err);
    of->encodings |= 1u << how;
    of->row_count += of->levels.count;
    of->levels.count = of->values.count = of->texts.len = of->text_bytes = 0;
    return status;
}

/* ---- Row groups ----------------------------------------------------------------------------------------------------- */

static bool is_less(nm_bytes a, nm_bytes b)
{
    int order = memcmp(a.data, b.data, a.len < b.len ? a.len : b.len);

    return order != 0 ? order < 0 : a.len < b.len;
}

/* The dictionary, as a page; and what is the least and the greatest in it, where it has all words. */
static nm_status put_dictionary(nm_parquet *parquet, column *of, nm_buffer *page, nm_error *err)
{
    nm_status status = NM_OK;

    parquet->raw.len = 0;
    for (uint32_t number = 1; number <= of->words.count && status == NM_OK; number++) {
        nm_bytes word = nm_strings_get(&of->words, number);

        if (number == 1 || is_less(word, of->least_text))
            of->least_text = word;
        if (number == 1 || is_less(of->greatest_text, word))
            of->greatest_text = word;
        status = put_plain_text(&parquet->raw, word, err);
    }
    if (of->words.count == 0 || status != NM_OK)
        return status;
    of->has_range =
        !of->has_plain && of->least_text.len <= RANGE_TEXT_BYTES_MAX && of->greatest_text.len <= RANGE_TEXT_BYTES_MAX;
    return add_page(parquet, page, &of->raw_bytes, PAGE_DICTIONARY, PLAIN, of->words.count, err);
}

/* -0.0 and 0.0 are one number of two forms: a range holds both. */
static void put_range(nm_thrift *to, const column *of)
{
    double least = of->least.real == 0 ? -0.0 : of->least.real;
    double greatest = of->greatest.real == 0 ? 0.0 : of->greatest.real;
    uint8_t ends[2][sizeof(uint64_t)];
    uint64_t bits[2] = {(uint64_t)of->least.integer, (uint64_t)of->greatest.integer};
    nm_bytes texts[2] = {{ends[0], sizeof ends[0]}, {ends[1], sizeof ends[1]}};

    if (of->is->type == NM_PARQUET_REAL) {
        memcpy(&bits[0], &least, sizeof least);
        memcpy(&bits[1], &greatest, sizeof greatest);
    }
    nm_put_u64(ends[0], bits[0]);
    nm_put_u64(ends[1], bits[1]);
    if (of->is->type == NM_PARQUET_TEXT) {
        texts[0] = of->least_text;
        texts[1] = of->greatest_text;
    }
    nm_thrift_bytes(to, 5, texts[1]);
    nm_thrift_bytes(to, 6, texts[0]);
}

static void put_encodings(nm_thrift *to, uint32_t encodings, bool has_dictionary)
{
    uint32_t all = encodings | 1u << RLE | (has_dictionary ? 1u << PLAIN : 0);

    nm_thrift_list(to, 2, NM_THRIFT_I32, (size_t)__builtin_popcount(all));
    for (int bit = 0; bit < 32; bit++)
        if (all & 1u << bit)
            nm_thrift_put_integer(to, bit);
}

static int64_t physical_type(nm_parquet_type type)
{
    static const int64_t types[] = {[NM_PARQUET_INTEGER] = 2, [NM_PARQUET_REAL] = 5, [NM_PARQUET_TEXT] = 6};

    return types[type];
}

static void put_chunk(nm_thrift *to, const column *of, uint64_t offset, uint64_t dictionary_bytes)
{
    nm_bytes name = {(const uint8_t *)of->is->name, strlen(of->is->name)};
    int chunk = nm_thrift_begin(to, 0);

    nm_thrift_integer(to, 2, NM_THRIFT_I64, (int64_t)offset);
    int meta = nm_thrift_begin(to, 3);
    nm_thrift_integer(to, 1, NM_THRIFT_I32, physical_type(of->is->type));
    put_encodings(to, of->encodings, dictionary_bytes > 0);
    nm_thrift_list(to, 3, NM_THRIFT_BINARY, 1);
    nm_thrift_put_bytes(to, name);
    nm_thrift_integer(to, 4, NM_THRIFT_I32, CODEC_ZSTD);
    nm_thrift_integer(to, 5, NM_THRIFT_I64, (int64_t)of->row_count);
    nm_thrift_integer(to, 6, NM_THRIFT_I64, (int64_t)of->raw_bytes);
    nm_thrift_integer(to, 7, NM_THRIFT_I64, (int64_t)(dictionary_bytes + of->pages.len));
    nm_thrift_integer(to, 9, NM_THRIFT_I64, (int64_t)(offset + dictionary_bytes));
    if (dictionary_bytes > 0)
        nm_thrift_integer(to, 11, NM_THRIFT_I64, (int64_t)offset);
    int statistics = nm_thrift_begin(to, 12);
    nm_thrift_integer(to, 3, NM_THRIFT_I64, (int64_t)of->null_count);
    if (of->has_range)
        put_range(to, of);
    nm_thrift_end(to, statistics);
    nm_thrift_end(to, meta);
    nm_thrift_end(to, chunk);
}

/* For the next row group. */
static void empty_column(column *of)
{
    nm_strings_free(&of->words);
    of->is_plain = of->has_plain = of->has_range = false;
    of->pages.len = 0;
    of->raw_bytes = of->row_count = of->null_count = 0;
    of->encodings = 0;
}

static void write_buffer(nm_parquet *parquet, const nm_buffer *buffer)
{
    if (buffer->len > 0)
        parquet->offset += fwrite(buffer->data, 1, buffer->len, parquet->out);
}

static nm_status end_chunk(nm_parquet *parquet, nm_thrift *to, column *of, uint64_t *raw_bytes, nm_error *err)
{
    nm_buffer dictionary = {0};
    nm_status status = end_page(parquet, of, err);

    if (status == NM_OK)
        status = put_dictionary(parquet, of, &dictionary, err);
    if (status == NM_OK) {
        put_chunk(to, of, parquet->offset, dictionary.len);
        write_buffer(parquet, &dictionary);
        write_buffer(parquet, &of->pages);
        status = to->status;
    }
    *raw_bytes += of->raw_bytes;
    empty_column(of);
    nm_buffer_free(&dictionary);
    return status;
}

static nm_status end_group(nm_parquet *parquet, nm_error *err)
{
    nm_thrift to = {.out = &parquet->groups, .err = err};
    uint64_t raw_bytes = 0;
    nm_status status = NM_OK;

    if (parquet->group_rows == 0)
        return NM_OK;
    int group = nm_thrift_begin(&to, 0);
    nm_thrift_list(&to, 1, NM_THRIFT_STRUCT, parquet->column_count);
    for (size_t i = 0; i < parquet->column_count && status == NM_OK; i++)
        status = end_chunk(parquet, &to, &parquet->columns[i], &raw_bytes, err);
    nm_thrift_integer(&to, 2, NM_THRIFT_I64, (int64_t)raw_bytes);
    nm_thrift_integer(&to, 3, NM_THRIFT_I64, (int64_t)parquet->group_rows);
    nm_thrift_end(&to, group);
    parquet->group_count++;
    parquet->group_rows = 0;
    return status == NM_OK ? to.status : status;
}

static bool is_page_full(const nm_parquet *parquet)
{
    for (size_t i = 0; i < parquet->column_count; i++)
        if (parquet->columns[i].levels.count >= PAGE_ROWS || parquet->columns[i].text_bytes >= PAGE_TEXT_BYTES)
            return true;
    return false;
}

nm_status nm_parquet_row_end(nm_parquet *parquet, nm_error *err)
{
    nm_status status = parquet->failure.status;

    assert(parquet->at == parquet->column_count || status != NM_OK);
    parquet->at = 0;
    parquet->row_count++;
    parquet->group_rows++;
    if (status != NM_OK) {
        *err = parquet->failure;
        return status;
    }
    if (ferror(parquet->out))
        return nm_fail_write(err, errno);
    if (is_page_full(parquet))
        for (size_t i = 0; i < parquet->column_count && status == NM_OK; i++)
            status = end_page(parquet, &parquet->columns[i], err);
    if (status == NM_OK && parquet->group_rows == NM_PARQUET_GROUP_ROWS)
        status = end_group(parquet, err);
    return status;
}

/* ---- The footer ----------------------------------------------------------------------------------------------------- */

static void put_schema(nm_thrift *to, const nm_parquet *parquet)
{
    nm_thrift_list(to, 2, NM_THRIFT_STRUCT, parquet->column_count + 1);
    int root = nm_thrift_begin(to, 0);
    nm_thrift_text(to, 4, "npumem");
    nm_thrift_integer(to, 5, NM_THRIFT_I32, (int64_t)parquet->column_count);
    nm_thrift_end(to, root);
    for (size_t i = 0; i < parquet->column_count; i++) {
        const nm_parquet_column *is = parquet->columns[i].is;
        int element = nm_thrift_begin(to, 0);

        nm_thrift_integer(to, 1, NM_THRIFT_I32, physical_type(is->type));
        nm_thrift_integer(to, 3, NM_THRIFT_I32, OPTIONAL);
        nm_thrift_text(to, 4, is->name);
        if (is->type == NM_PARQUET_TEXT) { /* to older readers, and to newer ones: a union of empty structs */
            nm_thrift_integer(to, 6, NM_THRIFT_I32, CONVERTED_UTF8);
            int logical = nm_thrift_begin(to, 10);
            nm_thrift_end(to, nm_thrift_begin(to, 1));
            nm_thrift_end(to, logical);
        }
        nm_thrift_end(to, element);
    }
}

static void put_facts(nm_thrift *to, const nm_parquet_fact *facts, size_t count)
{
    nm_thrift_list(to, 5, NM_THRIFT_STRUCT, count);
    for (size_t i = 0; i < count; i++) {
        int fact = nm_thrift_begin(to, 0);

        nm_thrift_text(to, 1, facts[i].key);
        nm_thrift_text(to, 2, facts[i].value);
        nm_thrift_end(to, fact);
    }
}

/* Each column is ordered as its type says: without that readers leave least and greatest values aside. */
static void put_orders(nm_thrift *to, const nm_parquet *parquet)
{
    nm_thrift_list(to, 7, NM_THRIFT_STRUCT, parquet->column_count);
    for (size_t i = 0; i < parquet->column_count; i++) {
        int order = nm_thrift_begin(to, 0);

        nm_thrift_end(to, nm_thrift_begin(to, 1));
        nm_thrift_end(to, order);
    }
}

nm_status nm_parquet_finish(nm_parquet *parquet, const nm_parquet_fact *facts, size_t fact_count, nm_error *err)
{
    nm_status status = end_group(parquet, err);
    nm_buffer *footer = &parquet->raw;
    nm_thrift to = {.out = footer, .status = status, .err = err};

    footer->len = 0;
    int whole = nm_thrift_begin(&to, 0);
    nm_thrift_integer(&to, 1, NM_THRIFT_I32, 2);
    put_schema(&to, parquet);
    nm_thrift_integer(&to, 3, NM_THRIFT_I64, (int64_t)parquet->row_count);
    nm_thrift_list(&to, 4, NM_THRIFT_STRUCT, parquet->group_count);
    nm_thrift_put_raw(&to, parquet->groups.data, parquet->groups.len);
    put_facts(&to, facts, fact_count);
    nm_thrift_text(&to, 6, "npumem version " NPUMEM_PROJECT_VERSION);
    put_orders(&to, parquet);
    nm_thrift_end(&to, whole);
    if (to.status == NM_OK)
        to.status = nm_parquet_put_u32((uint32_t)footer->len, footer, err);
    if (to.status == NM_OK)
        to.status = nm_buffer_append(footer, MAGIC, strlen(MAGIC), err);
    if (to.status != NM_OK)
        return to.status;
    fwrite(footer->data, 1, footer->len, parquet->out);
    return ferror(parquet->out) ? nm_fail_write(err, errno) : NM_OK;
}

void nm_parquet_free(nm_parquet *parquet)
{
    if (parquet == NULL)
        return;
    for (size_t i = 0; parquet->columns != NULL && i < parquet->column_count; i++) {
        column *of = &parquet->columns[i];

        free(of->levels.items);
        free(of->values.items);
        nm_buffer_free(&of->texts);
        nm_strings_free(&of->words);
        nm_buffer_free(&of->pages);
    }
    free(parquet->columns);
    nm_buffer_free(&parquet->groups);
    nm_buffer_free(&parquet->raw);
    ZSTD_freeCCtx(parquet->zstd);
    free(parquet);
}
