/* SPDX-License-Identifier: Apache-2.0
 *
 * libcsv is given one line after another, so that a call of it ends one row at the most.
 */
#include "source/csv_rows.h"

#include <csv.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define CHUNK_BYTES ((size_t)64 << 10)

/* The parser's `pstate`, whose values its header leaves out. */
enum { ROW_NOT_BEGUN = 0, FIELD_BEGUN = 2 };

struct nm_csv_rows {
    nm_input *input;
    struct csv_parser parser;
    bool is_begun, is_ended, is_cut, has_row;
    nm_status status; /* of a call of libcsv's: what it told could not be kept */
    nm_buffer text;   /* of the row at hand */
    struct {
        size_t *items; /* where the text of a cell of the row ends */
        size_t count, capacity;
    } ends;
    size_t header_count; /* columns of the file */
    size_t *places;      /* of what is asked for, in a row; SIZE_MAX: nowhere */
    nm_cell *cells;
    size_t column_count;
    uint64_t line, offset;           /* of the row at hand */
    uint64_t next_line, next_offset; /* behind what libcsv has got */
    size_t at, len;                  /* in `chunk` */
    uint8_t chunk[CHUNK_BYTES];
};

static bool is_mark(nm_bytes head)
{
    return head.len >= 3 && memcmp(head.data, "\xef\xbb\xbf", 3) == 0;
}

/* ---- Rows ---- */

static void take_cell(void *text, size_t len, void *context)
{
    nm_csv_rows *rows = context;

    if (rows->status == NM_OK && rows->ends.count < NM_CSV_COLUMNS_MAX)
        rows->status =
            nm_array_grow(&rows->ends.items, &rows->ends.capacity, rows->ends.count + 1, sizeof(size_t), NULL);
    if (rows->status != NM_OK || rows->ends.count >= NM_CSV_COLUMNS_MAX)
        return;
    rows->status = nm_buffer_append(&rows->text, text, len, NULL);
    rows->ends.items[rows->ends.count++] = rows->text.len;
}

static void take_row(int terminator, void *context)
{
    nm_csv_rows *rows = context;

    (void)terminator;
    rows->has_row = true;
}

static nm_bytes cell_text(const nm_csv_rows *rows, size_t place)
{
    size_t begin = place == 0 ? 0 : rows->ends.items[place - 1];

    if (rows->ends.items[place] == begin)
        return (nm_bytes){0};
    return (nm_bytes){rows->text.data + begin, rows->ends.items[place] - begin};
}

static nm_status refill(nm_csv_rows *rows, nm_error *err)
{
    rows->at = 0;
    nm_status status = nm_input_read(rows->input, rows->chunk, CHUNK_BYTES, &rows->len, err);

    if (status == NM_OK && !rows->is_begun && is_mark((nm_bytes){rows->chunk, rows->len}))
        rows->at = rows->next_offset = 3;
    rows->is_begun = true;
    return status;
}

/* Of what is there up to the end of a line; a row may go on behind it, within quotes. */
static nm_status parse_line(nm_csv_rows *rows, nm_error *err)
{
    const uint8_t *begin = rows->chunk + rows->at;
    size_t left = rows->len - rows->at, len = 0;

    while (len < left && begin[len] != '\n' && begin[len] != '\r')
        len++;
    len += len < left;
    if (csv_parse(&rows->parser, begin, len, take_cell, take_row, rows) != len)
        rows->status = NM_ERR_MEMORY;
    rows->at += len;
    rows->next_offset += len;
    rows->next_line += begin[len - 1] == '\n';
    if (rows->status != NM_OK)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (rows->next_offset - rows->offset > NM_CSV_ROW_BYTES_MAX)
        return nm_fail(err, NM_ERR_LIMIT, rows->offset, "the row at line %" PRIu64 " is too long", rows->line);
    return NM_OK;
}

/* What stands behind the last end of a line. */
static void end_rows(nm_csv_rows *rows)
{
    bool is_open = rows->parser.quoted && rows->parser.pstate == FIELD_BEGUN;

    if (csv_fini(&rows->parser, take_cell, take_row, rows) != 0)
        is_open = true;
    rows->is_ended = true;
    rows->is_cut = is_open || nm_input_is_cut(rows->input) ||
                   (rows->has_row && rows->header_count > 0 && rows->ends.count < rows->header_count);
    if (rows->is_cut)
        rows->has_row = false;
}

/* The next row into `text` and `ends`. */
static nm_status read_row(nm_csv_rows *rows, nm_error *err)
{
    nm_status status = NM_OK;

    rows->text.len = rows->ends.count = 0;
    rows->has_row = false;
    rows->line = rows->next_line;
    rows->offset = rows->next_offset;
    while (status == NM_OK && !rows->has_row && !rows->is_ended) {
        if (rows->at == rows->len)
            status = refill(rows, err);
        if (status == NM_OK && rows->len == 0)
            end_rows(rows);
        else if (status == NM_OK && rows->at < rows->len) /* a mark may be all there is */
            status = parse_line(rows, err);
        if (status == NM_OK && rows->ends.count == 0 && rows->parser.pstate == ROW_NOT_BEGUN) { /* an empty line */
            rows->line = rows->next_line;
            rows->offset = rows->next_offset;
        }
    }
    return status != NM_OK ? status : rows->has_row ? NM_OK : NM_END;
}

nm_status nm_csv_rows_next(nm_csv_rows *rows, const nm_cell **cells, nm_error *err)
{
    nm_status status = read_row(rows, err);

    for (size_t i = 0; status == NM_OK && i < rows->column_count; i++) {
        rows->cells[i] = (nm_cell){.kind = NM_CELL_NONE};
        if (rows->places[i] < rows->ends.count)
            rows->cells[i] = (nm_cell){.kind = NM_CELL_TEXT, .text = cell_text(rows, rows->places[i])};
    }
    *cells = rows->cells;
    return status;
}

/* ---- Columns ---- */

static bool is_name(nm_bytes text, const char *name)
{
    nm_cell cell = {.kind = NM_CELL_TEXT, .text = text};

    return nm_cell_is(&cell, name);
}

static void find_columns(nm_csv_rows *rows, const char *const *columns)
{
    for (size_t i = 0; i < rows->column_count; i++) {
        rows->places[i] = SIZE_MAX;
        for (size_t k = rows->ends.count; k-- > 0;)
            if (is_name(cell_text(rows, k), columns[i]))
                rows->places[i] = k;
    }
    rows->header_count = rows->ends.count;
    while (rows->header_count > 0 && is_name(cell_text(rows, rows->header_count - 1), ""))
        rows->header_count--;
}

bool nm_csv_has_columns(nm_bytes head, const char *const *columns)
{
    const uint8_t *at = head.data + (is_mark(head) ? 3 : 0), *end = head.data + head.len;
    unsigned found_count = 0, count = 0;

    for (const char *const *column = columns; *column != NULL; column++)
        count++;
    for (bool is_last = false; !is_last && at < end;) {
        nm_bytes name = {at, 0};

        while (at < end && *at != ',' && *at != '\n' && *at != '\r')
            at++;
        name.len = (size_t)(at - name.data);
        is_last = at == end || *at++ != ',';
        for (unsigned i = 0; i < count; i++)
            found_count += is_name(name, columns[i]);
    }
    return found_count >= count;
}

/* ---- All ---- */

static nm_status begin(nm_csv_rows *rows, const char *const *columns, nm_error *err)
{
    rows->places = calloc(rows->column_count + 1, sizeof *rows->places);
    rows->cells = calloc(rows->column_count + 1, sizeof *rows->cells);
    if (rows->places == NULL || rows->cells == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    nm_status status = read_row(rows, err);
    if (status == NM_END)
        return nm_fail(err, NM_ERR_FORMAT, 0, "the table has no header");
    if (status == NM_OK)
        find_columns(rows, columns);
    return status;
}

nm_status nm_csv_rows_open(nm_input *input, const char *const *columns, size_t column_count, nm_csv_rows **out,
                           nm_error *err)
{
    nm_csv_rows *rows = calloc(1, sizeof *rows);

    *out = NULL;
    if (rows == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    csv_init(&rows->parser, 0);
    csv_set_blk_size(&rows->parser, 4096);
    rows->input = input;
    rows->column_count = column_count;
    rows->next_line = 1;
    nm_status status = begin(rows, columns, err);
    if (status == NM_OK)
        *out = rows;
    else
        nm_csv_rows_close(rows);
    return status;
}

void nm_csv_rows_close(nm_csv_rows *rows)
{
    if (rows == NULL)
        return;
    csv_free(&rows->parser);
    nm_buffer_free(&rows->text);
    free(rows->ends.items);
    free(rows->places);
    free(rows->cells);
    free(rows);
}

uint64_t nm_csv_rows_line(const nm_csv_rows *rows)
{
    return rows->line;
}

uint64_t nm_csv_rows_offset(const nm_csv_rows *rows)
{
    return rows->offset;
}

bool nm_csv_rows_is_cut(const nm_csv_rows *rows)
{
    return rows->is_cut;
}
