/* SPDX-License-Identifier: Apache-2.0
 *
 * Each value takes as few bytes as hold it, and 0 and 1 none at all. Eight bytes are stored whatever the value takes, and the
 * next one is stored over what was too many.
 */
#include "store/bulk/cell.h"

#include <assert.h>
#include <endian.h>
#include <string.h>

#include "store/database.h"

enum { TYPE_NULL = 0, TYPE_ZERO = 8, TYPE_ONE = 9 };

size_t nm_cell_put_varint(uint8_t *out, uint64_t value)
{
    size_t count = 1;

    if (value < 0x80) {
        out[0] = (uint8_t)value;
        return 1;
    }
    if (value >> 56 != 0) { /* the ninth byte has all its bits */
        for (int i = 0; i < 8; i++)
            out[i] = (uint8_t)(0x80 | value >> (57 - 7 * i));
        out[8] = (uint8_t)value;
        return 9;
    }
    while (value >> 7 * count != 0)
        count++;
    for (size_t i = 0; i < count; i++)
        out[i] = (uint8_t)(0x80 | value >> 7 * (count - 1 - i));
    out[count - 1] &= 0x7f;
    return count;
}

static size_t get_varint(const uint8_t *data, uint64_t *value)
{
    *value = 0;
    for (size_t i = 0; i < 8; i++) {
        *value = *value << 7 | (data[i] & 0x7f);
        if (data[i] < 0x80)
            return i + 1;
    }
    *value = *value << 8 | data[8];
    return 9;
}

/* By how many bytes a number needs, the bit of its sign included, less one. There is no type of 5 or 7 bytes. */
static const struct {
    uint8_t type, bytes;
} forms[8] = {{1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 6}, {5, 6}, {6, 8}, {6, 8}};

/* Returns the type, and puts the value at *at. */
static inline uint8_t put_value(int64_t value, uint8_t **at)
{
    if (value == NM_NULL)
        return TYPE_NULL;
    if ((uint64_t)value <= 1)
        return (uint8_t)(TYPE_ZERO + value);
    uint64_t bits = (uint64_t)(value < 0 ? ~value : value) << 1 | 1;
    unsigned form = (63u ^ (unsigned)__builtin_clzll(bits)) / 8, bytes = forms[form].bytes;
    uint64_t stored = htobe64((uint64_t)value << (64 - 8 * bytes));

    memcpy(*at, &stored, sizeof stored);
    *at += bytes;
    return forms[form].type;
}

nm_cell nm_cell_write(uint8_t *room, const int64_t *values, size_t column_count)
{
    uint8_t *head = room + 2; /* behind the length, which is known last: two bytes, or the second of them */
    uint8_t *types = head + nm_cell_put_varint(head, (uint64_t)values[0]);
    uint8_t *at = types + 1 + column_count;

    types[0] = (uint8_t)(1 + column_count);
    types[1] = TYPE_NULL;
    for (size_t column = 1; column < column_count; column++)
        types[1 + column] = put_value(values[column], &at);

    uint64_t record_bytes = (uint64_t)(at - types);
    uint8_t *begin = record_bytes < 0x80 ? room + 1 : room;
    nm_cell_put_varint(begin, record_bytes);
    return (nm_cell){values[0], begin, (size_t)(at - begin)};
}

nm_cell nm_cell_read(const uint8_t *data)
{
    uint64_t record_bytes, row_id;
    size_t head_bytes = get_varint(data, &record_bytes);

    head_bytes += get_varint(data + head_bytes, &row_id);
    return (nm_cell){(int64_t)row_id, data, head_bytes + (size_t)record_bytes};
}

nm_cell nm_cell_write_entry(uint8_t *room, const int64_t *values, size_t column_count)
{
    uint8_t *types = room + 1, *at = types + 1 + column_count;

    assert(column_count <= NM_CELL_ENTRY_COLUMNS_MAX);
    types[0] = (uint8_t)(1 + column_count);
    for (size_t column = 0; column < column_count; column++)
        types[1 + column] = put_value(values[column], &at);
    room[0] = (uint8_t)(at - types);
    return (nm_cell){0, room, (size_t)(at - room)};
}
