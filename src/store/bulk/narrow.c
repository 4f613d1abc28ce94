/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows have their columns in the order of the table (rows/rows.def), so that a row is narrowed where it lies. What is written here is
 * undone by view allocation, and by nothing else.
 */
#include "store/bulk/narrow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/map.h"
#include "store/bulk/stream_number.sql.h"
#include "store/question.h"

#define COLUMNS_MAX 64
#define NAMES_BYTES 1024
#define NAME_ROOM   32 /* a longer name, a space and the end */

typedef enum narrow_way {
    WAY_EQUAL,  /* 0: as many as the column beside it, which is what is true of most; 0 itself it never is */
    WAY_SINCE,  /* less the column beside it, or less 0 where that is NULL */
    WAY_NUMBER, /* the number of a pair: the column beside it, and this */
} narrow_way;

static const struct {
    const char *kept, *of, *beside;
    narrow_way way;
} differences[] = {
    {"requested_bytes", "requested_bytes", "size_bytes", WAY_EQUAL},
    {"block_bytes", "block_bytes", "size_bytes", WAY_EQUAL},
    {"lived_ns", "free_ns", "alloc_ns", WAY_SINCE},
    {"stream_number", "stream", "heap_id", WAY_NUMBER},
};

typedef struct stream_pair {
    int64_t heap_id, stream; /* heap_id NM_NULL: not known */
} stream_pair;

struct nm_narrow {
    sqlite3 *db; /* borrowed */
    nm_columns columns;
    char table[64], names[NAMES_BYTES]; /* of the table */
    size_t count, other_count;
    struct {
        uint8_t at, beside;
        narrow_way way;
    } others[COLUMNS_MAX];  /* of those columns that are not as they came */
    nm_map stream_index_of; /* of a pair, in `streams` */
    size_t stream_index;    /* of the last pair that was asked */
    struct {
        stream_pair *items;
        size_t count, capacity;
    } streams;
};

bool nm_narrow_is(const nm_columns *columns)
{
    return strcmp(columns->table, "allocation") == 0;
}

/* ---- Which column is which ---------------------------------------------------------------------------------------- */

/* The next column of the rows, `name` with what follows it in their list. */
static nm_status add_column(nm_narrow *narrow, const char *whole_names, const char *name, nm_error *err)
{
    size_t length = strlen(narrow->names), place = narrow->count++, beside = 0;
    int name_length = (int)strcspn(name, " ");

    if (place == COLUMNS_MAX || length + (size_t)name_length + NAME_ROOM > sizeof narrow->names)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "table %s has too many columns", narrow->table);
    for (size_t i = 0; i < sizeof differences / sizeof *differences; i++)
        if (strlen(differences[i].of) == (size_t)name_length &&
            memcmp(differences[i].of, name, (size_t)name_length) == 0) {
            nm_columns_place(whole_names, differences[i].beside, &beside);
            narrow->others[narrow->other_count].at = (uint8_t)place;
            narrow->others[narrow->other_count].beside = (uint8_t)beside;
            narrow->others[narrow->other_count++].way = differences[i].way;
            name = differences[i].kept;
            name_length = (int)strlen(name);
        }
    snprintf(narrow->names + length, sizeof narrow->names - length, "%.*s ", name_length, name);
    return NM_OK;
}

nm_status nm_narrow_new(sqlite3 *db, const nm_columns *columns, nm_narrow **out, nm_error *err)
{
    nm_narrow *narrow = calloc(1, sizeof *narrow);
    nm_status status = NM_OK;

    *out = narrow;
    if (narrow == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    narrow->db = db;
    snprintf(narrow->table, sizeof narrow->table, "z_%s", columns->table);
    narrow->columns = (nm_columns){narrow->table, narrow->names};
    for (const char *at = columns->names; *at != 0 && status == NM_OK; at += strcspn(at, " ") + 1)
        status = add_column(narrow, columns->names, at, err);
    return status;
}

const nm_columns *nm_narrow_kept(const nm_narrow *narrow)
{
    return &narrow->columns;
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------- */

static bool is_recent(const nm_narrow *narrow, stream_pair pair)
{
    const stream_pair *recent;

    if (narrow->streams.count == 0)
        return false;
    recent = &narrow->streams.items[narrow->stream_index];
    return recent->heap_id == pair.heap_id && recent->stream == pair.stream;
}

static nm_status number_stream(nm_narrow *narrow, int64_t heap_id, int64_t *value, nm_error *err)
{
    const stream_pair pair = {heap_id, *value};
    uint64_t index = narrow->stream_index;
    nm_status status = NM_OK;

    if (!is_recent(narrow, pair))
        status = nm_map_number(&narrow->stream_index_of, (nm_key){(uint64_t)heap_id, (uint64_t)*value}, &index, err);
    if (status == NM_OK && index == narrow->streams.count) {
        status = nm_array_grow(&narrow->streams.items, &narrow->streams.capacity, index + 1, sizeof pair, err);
        if (status == NM_OK)
            narrow->streams.items[narrow->streams.count++] = pair;
    }
    if (status != NM_OK)
        return status;
    narrow->stream_index = index;
    *value = (int64_t)index + 1;
    return NM_OK;
}

nm_status nm_narrow_row(nm_narrow *narrow, int64_t *values, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < narrow->other_count && status == NM_OK; i++) {
        int64_t *value = &values[narrow->others[i].at], beside = values[narrow->others[i].beside];

        if (*value == NM_NULL)
            continue;
        if (narrow->others[i].way == WAY_EQUAL)
            *value = *value == beside ? 0 : *value;
        else if (narrow->others[i].way == WAY_NUMBER)
            status = number_stream(narrow, beside, value, err);
        else if (__builtin_sub_overflow(*value, beside == NM_NULL ? 0 : beside, value))
            *value = NM_NULL;
    }
    return status;
}

nm_status nm_narrow_finish(nm_narrow *narrow, nm_error *err)
{
    sqlite3_stmt *insert = NULL;
    nm_status status =
        narrow->streams.count == 0 ? NM_OK : nm_db_prepare(narrow->db, nm_stream_number_sql, &insert, err);

    for (size_t i = 0; i < narrow->streams.count && status == NM_OK; i++) {
        const stream_pair *pair = &narrow->streams.items[i];

        nm_stream_number_bind(insert, (int64_t)i + 1, pair->heap_id, pair->stream);
        status = nm_question_step(insert, err);
    }
    sqlite3_finalize(insert);
    return status;
}

void nm_narrow_free(nm_narrow *narrow)
{
    if (narrow == NULL)
        return;
    nm_map_free(&narrow->stream_index_of);
    free(narrow->streams.items);
    free(narrow);
}
