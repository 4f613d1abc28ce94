/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/column.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- Writing ---- */

/* What one pass over the values tells of the encodings without a dictionary. */
typedef struct survey {
    size_t run_count;
    uint64_t value_bits; /* all values, or-ed: its length is the width */
    uint64_t delta_bits;
} survey;

static unsigned width_of(uint64_t bits)
{
    unsigned width = 1;

    while (width < 8 && bits >> (8 * width) != 0)
        width++;
    return width;
}

static survey survey_values(const uint64_t *values, size_t count)
{
    survey result = {.run_count = 1, .value_bits = values[0]};

    for (size_t i = 1; i < count; i++) {
        result.run_count += values[i] != values[i - 1];
        result.value_bits |= values[i];
        result.delta_bits |= nm_zigzag((int64_t)(values[i] - values[i - 1]));
    }
    return result;
}

static size_t slot_of(const nm_column_scratch *scratch, size_t slot_count, uint64_t value)
{
    uint64_t hash = (value ^ value >> 32) * 0x9E3779B97F4A7C15u;
    size_t mask = slot_count - 1;
    size_t at = (size_t)(hash >> 40) & mask;

    while (scratch->slots[at] != 0 && scratch->entries[scratch->slots[at] - 1] != value)
        at = (at + 1) & mask;
    return at;
}

/* Numbers the values by first appearance; *entry_count is 0 when there are more than `entries_max` of them. */
static nm_status build_dictionary(const uint64_t *values, size_t count, size_t entries_max, nm_column_scratch *scratch,
                                  size_t *entry_count, nm_error *err)
{
    size_t slot_count = 16;
    while (slot_count < entries_max * 2)
        slot_count *= 2;

    nm_status status = nm_array_grow(&scratch->slots, &scratch->slot_capacity, slot_count, sizeof *scratch->slots, err);
    if (status == NM_OK)
        status = nm_array_grow(&scratch->entries, &scratch->entry_capacity, entries_max, sizeof *scratch->entries, err);
    if (status == NM_OK)
        status = nm_array_grow(&scratch->indexes, &scratch->index_capacity, count, sizeof *scratch->indexes, err);
    if (status != NM_OK)
        return status;

    size_t entries = 0;
    *entry_count = 0;
    memset(scratch->slots, 0, slot_count * sizeof *scratch->slots);
    for (size_t i = 0; i < count; i++) {
        size_t at = slot_of(scratch, slot_count, values[i]);

        if (scratch->slots[at] == 0) {
            if (entries == entries_max)
                return NM_OK;
            scratch->entries[entries++] = values[i];
            scratch->slots[at] = (uint32_t)entries;
        }
        scratch->indexes[i] = (uint16_t)(scratch->slots[at] - 1);
    }
    *entry_count = entries;
    return NM_OK;
}

static uint8_t *put_planes(uint8_t *p, const uint64_t *values, size_t count, unsigned width)
{
    for (unsigned shift = 0; shift < 8 * width; shift += 8)
        for (size_t i = 0; i < count; i++)
            *p++ = (uint8_t)(values[i] >> shift);
    return p;
}

static uint8_t *put_runs(uint8_t *p, const uint64_t *values, size_t count)
{
    size_t begin = 0;

    for (size_t i = 1; i <= count; i++) {
        if (i < count && values[i] == values[begin])
            continue;
        p += nm_put_varint(p, values[begin]);
        p += nm_put_varint(p, i - begin);
        begin = i;
    }
    return p;
}

static uint8_t *put_delta(uint8_t *p, const uint64_t *values, size_t count, unsigned width)
{
    p += nm_put_varint(p, values[0]);
    *p++ = (uint8_t)width;
    for (unsigned shift = 0; shift < 8 * width; shift += 8) {
        *p++ = 0;
        for (size_t i = 1; i < count; i++)
            *p++ = (uint8_t)(nm_zigzag((int64_t)(values[i] - values[i - 1])) >> shift);
    }
    return p;
}

static uint8_t *put_dictionary(uint8_t *p, const nm_column_scratch *scratch, size_t count, size_t entry_count)
{
    uint64_t before = 0;

    p += nm_put_varint(p, entry_count);
    for (size_t i = 0; i < entry_count; i++) {
        p += nm_put_varint(p, nm_zigzag((int64_t)(scratch->entries[i] - before)));
        before = scratch->entries[i];
    }
    for (unsigned shift = 0; shift < (entry_count > 256 ? 16u : 8u); shift += 8)
        for (size_t i = 0; i < count; i++)
            *p++ = (uint8_t)(scratch->indexes[i] >> shift);
    return p;
}

/* The encoding, by bytes before zstd. A dictionary entry is taken for four bytes, a run for four. */
static nm_status choose(const uint64_t *values, size_t count, nm_column_scratch *scratch, survey *found,
                        size_t *entry_count, nm_encoding *encoding, nm_error *err)
{
    *found = survey_values(values, count);
    *entry_count = 0;
    if (found->run_count == 1) {
        *encoding = NM_ENCODING_CONSTANT;
        return NM_OK;
    }

    size_t delta_bytes = count * width_of(found->delta_bits);
    size_t best = count * width_of(found->value_bits);
    *encoding = NM_ENCODING_PLANES;
    if (delta_bytes < best) {
        best = delta_bytes;
        *encoding = NM_ENCODING_DELTA;
    }
    if (found->run_count * 4 < best && found->run_count < count / 8) {
        *encoding = NM_ENCODING_RUNS;
        return NM_OK;
    }
    if (best == count)
        return NM_OK;

    size_t entries_max = count / 4 < NM_DICTIONARY_ENTRIES_MAX ? count / 4 + 1 : NM_DICTIONARY_ENTRIES_MAX;
    nm_status status = build_dictionary(values, count, entries_max, scratch, entry_count, err);
    if (*entry_count > 0 && *entry_count * 4 + count * (*entry_count > 256 ? 2 : 1) < best)
        *encoding = NM_ENCODING_DICTIONARY;
    return status;
}

nm_status nm_column_write(const uint64_t *values, size_t count, nm_column_scratch *scratch, nm_buffer *out,
                          nm_error *err)
{
    survey found;
    size_t entry_count;
    nm_encoding encoding;
    nm_status status = choose(values, count, scratch, &found, &entry_count, &encoding, err);

    if (status == NM_OK)
        status = nm_buffer_reserve(out, NM_COLUMN_BYTES_MAX(count) + 2 * NM_VARINT_BYTES_MAX, err);
    if (status != NM_OK)
        return status;

    /* The length is known after the data: write behind the room it takes at most, then close the gap. */
    uint8_t *head = out->data + out->len;
    uint8_t *data = head + 2 * NM_VARINT_BYTES_MAX;
    uint8_t *p = data;

    if (encoding == NM_ENCODING_CONSTANT) {
        p += nm_put_varint(p, values[0]);
    } else if (encoding == NM_ENCODING_RUNS) {
        p = put_runs(p, values, count);
    } else if (encoding == NM_ENCODING_DELTA) {
        p = put_delta(p, values, count, width_of(found.delta_bits));
    } else if (encoding == NM_ENCODING_DICTIONARY) {
        p = put_dictionary(p, scratch, count, entry_count);
    } else {
        *p++ = (uint8_t)width_of(found.value_bits);
        p = put_planes(p, values, count, width_of(found.value_bits));
    }

    size_t data_bytes = (size_t)(p - data);
    head += nm_put_varint(head, encoding);
    head += nm_put_varint(head, data_bytes);
    memmove(head, data, data_bytes);
    out->len = (size_t)(head - out->data) + data_bytes;
    return NM_OK;
}

void nm_column_scratch_free(nm_column_scratch *scratch)
{
    free(scratch->entries);
    free(scratch->indexes);
    free(scratch->slots);
    *scratch = (nm_column_scratch){0};
}

/* ---- Reading ---- */

static bool check_runs(nm_bytes data, size_t count)
{
    nm_cursor cursor = nm_cursor_over(data.data, data.len);
    size_t seen = 0;

    while (seen < count && !cursor.is_bad) {
        nm_read_varint(&cursor);
        uint64_t length = nm_read_varint(&cursor);

        if (length == 0 || length > count - seen)
            return false;
        seen += (size_t)length;
    }
    return !cursor.is_bad && nm_cursor_left(&cursor) == 0;
}

/* Takes what is left in the cursor as planes of `width` bytes. */
static bool take_planes(nm_column_reader *reader, nm_cursor *cursor, unsigned width)
{
    if (cursor->is_bad || width < 1 || width > 8 || nm_cursor_left(cursor) != reader->count * width)
        return false;
    reader->width = (uint8_t)width;
    reader->planes = cursor->bytes.data + cursor->at;
    return true;
}

static uint64_t plane_value(const nm_column_reader *reader, size_t index)
{
    const uint8_t *p = reader->planes + index;
    uint64_t value = *p;

    for (unsigned shift = 8; shift < 8u * reader->width; shift += 8) {
        p += reader->count;
        value |= (uint64_t)*p << shift;
    }
    return value;
}

/* An entry takes at least a byte, so the count is bounded by the data before memory is asked for. */
static nm_status take_entries(nm_column_reader *reader, nm_cursor *cursor, bool *is_right, nm_error *err)
{
    uint64_t entry_count = nm_read_varint(cursor);
    uint64_t before = 0;

    *is_right = false;
    if (cursor->is_bad || entry_count == 0 || entry_count > NM_DICTIONARY_ENTRIES_MAX ||
        entry_count > nm_cursor_left(cursor))
        return NM_OK;

    reader->entry_count = (size_t)entry_count;
    nm_status status =
        nm_array_grow(&reader->entries, &reader->entry_capacity, reader->entry_count, sizeof *reader->entries, err);
    if (status != NM_OK)
        return status;
    for (size_t i = 0; i < reader->entry_count; i++) {
        before += (uint64_t)nm_unzigzag(nm_read_varint(cursor));
        reader->entries[i] = before;
    }
    *is_right = take_planes(reader, cursor, entry_count > 256 ? 2 : 1);
    for (size_t i = 0; *is_right && i < reader->count; i++)
        *is_right = plane_value(reader, i) < reader->entry_count;
    return NM_OK;
}

nm_status nm_column_open(nm_column_reader *reader, uint64_t encoding, nm_bytes data, size_t count, uint64_t offset,
                         nm_error *err)
{
    nm_cursor cursor = nm_cursor_over(data.data, data.len);
    nm_status status = NM_OK;
    bool is_right = false;

    *reader = (nm_column_reader){.encoding = (uint8_t)encoding,
                                 .count = count,
                                 .entries = reader->entries,
                                 .entry_capacity = reader->entry_capacity};
    switch (encoding) {
    case NM_ENCODING_CONSTANT:
        reader->value = nm_read_varint(&cursor);
        is_right = !cursor.is_bad && nm_cursor_left(&cursor) == 0;
        break;
    case NM_ENCODING_RUNS:
        reader->runs = cursor;
        is_right = check_runs(data, count);
        break;
    case NM_ENCODING_PLANES:
        is_right = take_planes(reader, &cursor, nm_read_u8(&cursor));
        break;
    case NM_ENCODING_DELTA:
        reader->value = nm_read_varint(&cursor);
        is_right = take_planes(reader, &cursor, nm_read_u8(&cursor));
        break;
    case NM_ENCODING_DICTIONARY:
        status = take_entries(reader, &cursor, &is_right, err);
        break;
    default:
        return nm_fail(err, NM_ERR_FORMAT, offset, "a column has the unknown encoding %llu",
                       (unsigned long long)encoding);
    }
    if (status == NM_OK && !is_right)
        status = nm_fail(err, NM_ERR_FORMAT, offset, "a column does not hold its %zu values", count);
    return status;
}

uint64_t nm_column_next(nm_column_reader *reader)
{
    assert(reader->at < reader->count);
    size_t index = reader->at++;

    switch (reader->encoding) {
    case NM_ENCODING_RUNS:
        if (reader->run_left == 0) {
            reader->value = nm_read_varint(&reader->runs);
            reader->run_left = nm_read_varint(&reader->runs);
        }
        reader->run_left--;
        break;
    case NM_ENCODING_PLANES:
        return plane_value(reader, index);
    case NM_ENCODING_DELTA:
        reader->value += (uint64_t)nm_unzigzag(plane_value(reader, index));
        break;
    case NM_ENCODING_DICTIONARY:
        return reader->entries[plane_value(reader, index)];
    default:
        break;
    }
    return reader->value;
}

void nm_column_reader_free(nm_column_reader *reader)
{
    free(reader->entries);
    *reader = (nm_column_reader){0};
}
