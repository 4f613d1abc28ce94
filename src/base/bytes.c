/* SPDX-License-Identifier: Apache-2.0
 *
 * Byte order by shifts: compilers turn these into one load or store, and they are right on every machine.
 */
#include "base/bytes.h"

uint16_t nm_get_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

uint32_t nm_get_u32(const uint8_t *p)
{
    return (uint32_t)nm_get_u16(p) | (uint32_t)nm_get_u16(p + 2) << 16;
}

uint64_t nm_get_u64(const uint8_t *p)
{
    return (uint64_t)nm_get_u32(p) | (uint64_t)nm_get_u32(p + 4) << 32;
}

void nm_put_u16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)value;
    p[1] = (uint8_t)(value >> 8);
}

void nm_put_u32(uint8_t *p, uint32_t value)
{
    nm_put_u16(p, (uint16_t)value);
    nm_put_u16(p + 2, (uint16_t)(value >> 16));
}

void nm_put_u64(uint8_t *p, uint64_t value)
{
    nm_put_u32(p, (uint32_t)value);
    nm_put_u32(p + 4, (uint32_t)(value >> 32));
}

size_t nm_put_varint(uint8_t *p, uint64_t value)
{
    size_t count = 0;

    while (value >= 0x80) {
        p[count++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    p[count++] = (uint8_t)value;
    return count;
}

nm_cursor nm_cursor_over(const void *data, size_t len)
{
    return (nm_cursor){.bytes = {data, len}};
}

size_t nm_cursor_left(const nm_cursor *cursor)
{
    return cursor->is_bad ? 0 : cursor->bytes.len - cursor->at;
}

nm_bytes nm_read_bytes(nm_cursor *cursor, uint64_t len)
{
    if (cursor->is_bad || len > cursor->bytes.len - cursor->at) {
        cursor->is_bad = true;
        return (nm_bytes){0};
    }
    nm_bytes out = {cursor->bytes.data + cursor->at, (size_t)len};
    cursor->at += (size_t)len;
    return out;
}

uint8_t nm_read_u8(nm_cursor *cursor)
{
    nm_bytes one = nm_read_bytes(cursor, 1);
    return one.len == 1 ? one.data[0] : 0;
}

uint32_t nm_read_u32(nm_cursor *cursor)
{
    nm_bytes four = nm_read_bytes(cursor, 4);
    return four.len == 4 ? nm_get_u32(four.data) : 0;
}

uint64_t nm_read_varint(nm_cursor *cursor)
{
    uint64_t value = 0;
    size_t at = cursor->at;

    for (unsigned shift = 0; !cursor->is_bad && at < cursor->bytes.len && shift < 64; shift += 7) {
        uint8_t byte = cursor->bytes.data[at++];

        /* The tenth byte has room for one bit: more would be a second spelling of a number, or an overflow. */
        if (shift == 63 && byte > 1)
            break;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            cursor->at = at;
            return value;
        }
    }
    cursor->is_bad = true;
    return 0;
}
