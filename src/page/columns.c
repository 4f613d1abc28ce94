/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite gives each value a type of its own. A column takes that of its first value; an integer column in which a real appears
 * becomes real, for ratios that happen to be 0 or 1.
 */
#include "page/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "page/block.h"
#include "store/database.h"

#define PLANE_BYTES    8192
#define STEPS_AT_LEAST 1000 /* rows: of short columns steps save nothing */

/* ---- Reading ------------------------------------------------------------------------------------------------------- */

static int64_t bits_of(double value)
{
    int64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void make_real(nm_page_column *column, size_t row_count)
{
    for (size_t i = 0; i < row_count; i++)
        column->values[i] = bits_of(column->values[i] == NM_NULL ? NAN : (double)column->values[i]);
    column->kind = NM_PAGE_REAL;
}

/* The kind that a column has from this value on; rows before it hold NM_NULL where there was none. */
static void settle_kind(nm_page_column *column, sqlite3_stmt *row, int at, size_t row_count)
{
    int type = sqlite3_column_type(row, at);

    if (type == SQLITE_FLOAT && column->kind <= NM_PAGE_INT)
        make_real(column, row_count);
    else if (column->kind == NM_PAGE_NONE && type == SQLITE_INTEGER)
        column->kind = NM_PAGE_INT;
    else if (column->kind == NM_PAGE_NONE && type != SQLITE_NULL) {
        memset(column->values, 0, row_count * sizeof *column->values);
        column->kind = NM_PAGE_TEXT;
    }
}

nm_status nm_page_columns_text(nm_strings *strings, const char *foreign, int64_t *value, nm_error *err)
{
    char text[NM_PAGE_TEXT_BYTES];
    uint32_t number = 0;
    nm_status status;

    *value = 0;
    if (foreign == NULL)
        return NM_OK;
    nm_shown_text(text, sizeof text, foreign);
    status = nm_strings_intern(strings, (nm_bytes){(const uint8_t *)text, strlen(text)}, &number, err);
    *value = number;
    return status;
}

static nm_status take_value(nm_page_column *column, nm_strings *strings, sqlite3_stmt *row, int at, int64_t *value,
                            nm_error *err)
{
    bool is_null = nm_db_is_null(row, at);

    *value = NM_NULL;
    switch (column->kind) {
    case NM_PAGE_NONE:
        return NM_OK;
    case NM_PAGE_INT:
        *value = is_null ? NM_NULL : sqlite3_column_int64(row, at);
        return NM_OK;
    case NM_PAGE_REAL:
        *value = bits_of(is_null ? NAN : sqlite3_column_double(row, at));
        return NM_OK;
    case NM_PAGE_TEXT:
        return nm_page_columns_text(strings, is_null ? NULL : nm_db_text(row, at), value, err);
    }
    return NM_OK;
}

static nm_status take_row(nm_page_columns *columns, nm_strings *strings, sqlite3_stmt *row, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < columns->column_count && status == NM_OK; i++) {
        nm_page_column *column = &columns->columns[i];

        status = nm_array_grow(&column->values, &column->capacity, columns->row_count + 1, sizeof *column->values, err);
        if (status != NM_OK)
            break;
        settle_kind(column, row, (int)i, columns->row_count);
        status = take_value(column, strings, row, (int)i, &column->values[columns->row_count], err);
    }
    columns->row_count += status == NM_OK;
    return status;
}

nm_status nm_page_columns_read(nm_page_columns *columns, nm_strings *strings, sqlite3 *db, sqlite3_stmt *rows,
                               nm_error *err)
{
    nm_status status = NM_OK;
    int code = SQLITE_DONE;

    columns->column_count = (size_t)sqlite3_column_count(rows);
    if (columns->column_count > NM_PAGE_COLUMNS_MAX)
        return nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "%zu columns are too many", columns->column_count);
    for (size_t i = 0; i < columns->column_count; i++)
        snprintf(columns->columns[i].name, sizeof columns->columns[i].name, "%s", sqlite3_column_name(rows, (int)i));
    while (status == NM_OK && (code = sqlite3_step(rows)) == SQLITE_ROW)
        status = take_row(columns, strings, rows, err);
    return status == NM_OK && code != SQLITE_DONE ? nm_db_fail(db, err) : status;
}

void nm_page_columns_name(nm_page_columns *columns, const char *const *names)
{
    for (; names[columns->column_count] != NULL; columns->column_count++) {
        nm_page_column *column = &columns->columns[columns->column_count];

        column->kind = NM_PAGE_INT;
        snprintf(column->name, sizeof column->name, "%s", names[columns->column_count]);
    }
}

nm_status nm_page_columns_add(nm_page_columns *columns, const int64_t *values, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < columns->column_count && status == NM_OK; i++) {
        nm_page_column *column = &columns->columns[i];

        if (columns->row_count == column->capacity)
            status =
                nm_array_grow(&column->values, &column->capacity, columns->row_count + 1, sizeof *column->values, err);
        if (status == NM_OK)
            column->values[columns->row_count] = values[i];
    }
    columns->row_count += status == NM_OK;
    return status;
}

/* ---- Writing ------------------------------------------------------------------------------------------------------- */

typedef struct layout {
    const char *kind;
    unsigned bytes;
    int64_t base;
} layout;

static unsigned bytes_for(uint64_t value)
{
    unsigned bytes = 0;

    for (; value != 0; value >>= 8)
        bytes++;
    return bytes;
}

typedef struct int_range {
    int64_t least, most;
    uint64_t widest; /* step, zigzag */
    bool has_null, is_rising;
} int_range;

/* -1 is 1, 1 is 2, -2 is 3: small steps are small numbers either way. Steps wrap around, as the reader's sums do not: such
 * columns are no steps (lay_out_int). */
static uint64_t zigzag(uint64_t step)
{
    return step << 1 ^ (step >> 63 != 0 ? UINT64_MAX : 0);
}

static int_range measure(const nm_page_column *column, size_t row_count)
{
    int_range range = {.least = INT64_MAX, .most = INT64_MIN, .is_rising = true};

    for (size_t i = 0; i < row_count; i++) {
        int64_t value = column->values[i];
        uint64_t step = i == 0 ? 0 : zigzag((uint64_t)value - (uint64_t)column->values[i - 1]);

        range.has_null |= value == NM_NULL;
        if (value == NM_NULL)
            continue;
        range.is_rising &= i == 0 || value >= column->values[i - 1];
        range.widest = step > range.widest ? step : range.widest;
        range.least = value < range.least ? value : range.least;
        range.most = value > range.most ? value : range.most;
    }
    return range;
}

static layout lay_out_int(const nm_page_column *column, size_t row_count)
{
    int_range range = measure(column, row_count);

    if (range.least > range.most)
        return (layout){"int", 0, 0};
    uint64_t width = (uint64_t)range.most - (uint64_t)range.least;
    if (!range.has_null && range.is_rising)
        return (layout){"rise", bytes_for(range.widest >> 1), range.least};
    if (!range.has_null && width < (uint64_t)1 << 52 && row_count >= STEPS_AT_LEAST)
        return (layout){"step", bytes_for(range.widest), column->values[0]};
    return (layout){"int", bytes_for(width + 1), range.least};
}

static layout lay_out(const nm_page_column *column, size_t row_count)
{
    uint64_t most = 0;

    switch (column->kind) {
    case NM_PAGE_INT:
        return lay_out_int(column, row_count);
    case NM_PAGE_REAL:
        return (layout){"real", 8, 0};
    case NM_PAGE_TEXT:
        for (size_t i = 0; i < row_count; i++)
            most = (uint64_t)column->values[i] > most ? (uint64_t)column->values[i] : most;
        return (layout){"text", bytes_for(most), 0};
    case NM_PAGE_NONE:
        break;
    }
    return (layout){"int", 0, 0};
}

static uint64_t code_of(const nm_page_column *column, const layout *laid, size_t row)
{
    int64_t value = column->values[row];

    if (column->kind != NM_PAGE_INT)
        return (uint64_t)value;
    uint64_t step = (uint64_t)value - (uint64_t)(row == 0 ? laid->base : column->values[row - 1]);
    if (laid->kind[0] == 'r')
        return step;
    if (laid->kind[0] == 's')
        return zigzag(step);
    return value == NM_NULL ? 0 : (uint64_t)value - (uint64_t)laid->base + 1;
}

static nm_status write_planes(nm_page_block *block, const nm_page_column *column, const layout *laid, size_t row_count,
                              nm_error *err)
{
    uint8_t plane[PLANE_BYTES];
    nm_status status = NM_OK;

    for (unsigned byte = 0; byte < laid->bytes; byte++)
        for (size_t begin = 0; begin < row_count && status == NM_OK; begin += sizeof plane) {
            size_t count = row_count - begin < sizeof plane ? row_count - begin : sizeof plane;

            for (size_t i = 0; i < count; i++)
                plane[i] = (uint8_t)(code_of(column, laid, begin + i) >> (8 * byte));
            status = nm_page_block_put(block, plane, count, err);
        }
    return status;
}

/* In an attribute between apostrophes: names of ours have none. */
static void write_head(const nm_page_columns *columns, const layout *laid, const char *name, FILE *out)
{
    fprintf(out,
            "<script type=\"application/octet-stream\" class=\"table\" "
            "data-head='{\"name\":\"%s\",\"rows\":%zu,\"columns\":[",
            name, columns->row_count);
    for (size_t i = 0; i < columns->column_count; i++)
        fprintf(out, "%s{\"name\":\"%s\",\"kind\":\"%s\",\"bytes\":%u,\"base\":%" PRId64 "}", i == 0 ? "" : ",",
                columns->columns[i].name, laid[i].kind, laid[i].bytes, laid[i].base);
    fputs("]}'>", out);
}

nm_status nm_page_columns_write(const nm_page_columns *columns, const char *name, FILE *out, nm_error *err)
{
    layout laid[NM_PAGE_COLUMNS_MAX];
    nm_page_block block;
    nm_error later = {.offset = NM_NO_OFFSET};
    nm_status status, ended;

    for (size_t i = 0; i < columns->column_count; i++)
        laid[i] = lay_out(&columns->columns[i], columns->row_count);
    write_head(columns, laid, name, out);
    status = nm_page_block_begin(&block, out, err);
    if (status != NM_OK)
        return status;
    for (size_t i = 0; i < columns->column_count && status == NM_OK; i++)
        status = write_planes(&block, &columns->columns[i], &laid[i], columns->row_count, err);
    ended = nm_page_block_end(&block, status == NM_OK ? err : &later);
    fputs("</script>\n", out);
    return status == NM_OK ? ended : status;
}

void nm_page_columns_free(nm_page_columns *columns)
{
    for (size_t i = 0; i < columns->column_count && i < NM_PAGE_COLUMNS_MAX; i++)
        free(columns->columns[i].values);
    *columns = (nm_page_columns){0};
}
