/* SPDX-License-Identifier: Apache-2.0
 *
 * Bits are put little end first: the first value lies in the lowest bits of the first byte. Of a run of fewer than 16 equal
 * values nothing is won, so it stays among its neighbours.
 */
#include "export/parquet_page.h"

#include <string.h>

#include "base/shown.h"

#define RUN_MIN     16
#define GROUP       8   /* values in a row of bits come in eights */
#define BLOCK       128 /* of differences */
#define MINIBLOCKS  4
#define MINI        (BLOCK / MINIBLOCKS)
#define REPLACEMENT "\xef\xbf\xbd"

nm_status nm_parquet_put_u32(uint32_t value, nm_buffer *out, nm_error *err)
{
    uint8_t bytes[4];

    nm_put_u32(bytes, value);
    return nm_buffer_append(out, bytes, sizeof bytes, err);
}

nm_status nm_parquet_put_u64(uint64_t value, nm_buffer *out, nm_error *err)
{
    uint8_t bytes[8];

    nm_put_u64(bytes, value);
    return nm_buffer_append(out, bytes, sizeof bytes, err);
}

/* ---- Values in a row of bits ---- */

/* Room for `count` values of `width` bits, zeroed, which is used up: where it begins. NULL: no memory. */
static uint8_t *take_bits(nm_buffer *out, size_t count, unsigned width, nm_error *err)
{
    size_t bytes = (count * width + 7) / 8;

    if (nm_buffer_reserve(out, bytes, err) != NM_OK)
        return NULL;
    uint8_t *begin = out->data + out->len;
    memset(begin, 0, bytes);
    out->len += bytes;
    return begin;
}

static void put_bits(uint8_t *begin, size_t index, unsigned width, uint64_t value)
{
    size_t bit = index * width;

    for (unsigned done = 0; done < width;) {
        unsigned within = (bit + done) % 8;

        begin[(bit + done) / 8] |= (uint8_t)((value >> done) << within);
        done += 8 - within;
    }
}

static bool is_run(const uint32_t *values, size_t count)
{
    for (size_t i = 1; i < RUN_MIN && i < count; i++)
        if (values[i] != values[0])
            return false;
    return count >= RUN_MIN;
}

static nm_status put_run(const uint32_t *values, size_t *at, size_t count, unsigned width, nm_buffer *out,
                         nm_error *err)
{
    size_t end = *at + 1;
    uint8_t bytes[4];
    nm_status status;

    while (end < count && values[end] == values[*at])
        end++;
    status = nm_buffer_append_varint(out, (uint64_t)(end - *at) << 1, err);
    nm_put_u32(bytes, values[*at]);
    *at = end;
    return status == NM_OK ? nm_buffer_append(out, bytes, (width + 7) / 8, err) : status;
}

static nm_status put_row(const uint32_t *values, size_t *at, size_t count, unsigned width, nm_buffer *out,
                         nm_error *err)
{
    size_t begin = *at, groups = 0;

    do {
        groups++;
        *at = begin + groups * GROUP;
    } while (*at < count && !is_run(values + *at, count - *at));
    if (*at > count)
        *at = count;
    nm_status status = nm_buffer_append_varint(out, groups << 1 | 1, err);
    uint8_t *bits = status == NM_OK ? take_bits(out, groups * GROUP, width, err) : NULL;
    if (bits == NULL)
        return err->status;
    for (size_t i = begin; i < *at; i++)
        put_bits(bits, i - begin, width, values[i]);
    return NM_OK;
}

nm_status nm_parquet_put_runs(const uint32_t *values, size_t count, unsigned width, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0; status == NM_OK && at < count;)
        status = is_run(values + at, count - at) ? put_run(values, &at, count, width, out, err)
                                                 : put_row(values, &at, count, width, out, err);
    return status;
}

/* ---- Differences ---- */

static unsigned width_of(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

/* `count` differences, as they wrap around: the least, a width for each part, and what each is above the least. */
static nm_status put_block(const uint64_t *differences, size_t count, nm_buffer *out, nm_error *err)
{
    uint8_t widths[MINIBLOCKS] = {0};
    int64_t least = (int64_t)differences[0];

    for (size_t i = 1; i < count; i++)
        if ((int64_t)differences[i] < least)
            least = (int64_t)differences[i];
    for (size_t i = 0; i < count; i++) {
        unsigned width = width_of(differences[i] - (uint64_t)least);

        if (width > widths[i / MINI])
            widths[i / MINI] = (uint8_t)width;
    }
    nm_status status = nm_buffer_append_varint(out, nm_zigzag(least), err);
    if (status == NM_OK)
        status = nm_buffer_append(out, widths, sizeof widths, err);
    for (size_t part = 0; status == NM_OK && part * MINI < count; part++) {
        uint8_t *bits = take_bits(out, MINI, widths[part], err);

        if (bits == NULL)
            return err->status;
        for (size_t i = part * MINI; i < count && i < (part + 1) * MINI; i++)
            put_bits(bits, i - part * MINI, widths[part], differences[i] - (uint64_t)least);
    }
    return status;
}

nm_status nm_parquet_put_delta(const int64_t *values, size_t count, nm_buffer *out, nm_error *err)
{
    const uint64_t head[] = {BLOCK, MINIBLOCKS, count, nm_zigzag(count > 0 ? values[0] : 0)};
    uint64_t differences[BLOCK];
    nm_status status = NM_OK;

    for (size_t i = 0; status == NM_OK && i < sizeof head / sizeof *head; i++)
        status = nm_buffer_append_varint(out, head[i], err);
    for (size_t at = 1; status == NM_OK && at < count; at += BLOCK) {
        size_t block = count - at < BLOCK ? count - at : BLOCK;

        for (size_t i = 0; i < block; i++)
            differences[i] = (uint64_t)values[at + i] - (uint64_t)values[at + i - 1];
        status = put_block(differences, block, out, err);
    }
    return status;
}

/* ---- Texts ---- */

nm_status nm_parquet_put_utf8(nm_bytes text, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t at = 0, good = 0; status == NM_OK && good < text.len; at = good) {
        uint32_t character = 0;
        size_t bytes = 0;

        while (good < text.len) {
            bytes = nm_shown_next((const char *)text.data + good, text.len - good, &character);
            if (character == NM_SHOWN_BAD)
                break;
            good += bytes;
        }
        status = nm_buffer_append(out, text.data + at, good - at, err);
        if (status == NM_OK && good < text.len) {
            status = nm_buffer_append(out, REPLACEMENT, sizeof REPLACEMENT - 1, err);
            good += bytes;
        }
    }
    return status;
}

/* ---- Thrift's compact protocol ---- */

void nm_thrift_put_raw(nm_thrift *to, const void *data, size_t len)
{
    if (to->status == NM_OK)
        to->status = nm_buffer_append(to->out, data, len, to->err);
}

static void put_varint(nm_thrift *to, uint64_t value)
{
    if (to->status == NM_OK)
        to->status = nm_buffer_append_varint(to->out, value, to->err);
}

static void put_byte(nm_thrift *to, unsigned value)
{
    nm_thrift_put_raw(to, &(uint8_t){(uint8_t)value}, 1);
}

/* Numbers of fields here rise by less than 16. */
static void put_field(nm_thrift *to, int field, nm_thrift_type type)
{
    put_byte(to, (unsigned)(field - to->last) << 4 | type);
    to->last = field;
}

void nm_thrift_put_integer(nm_thrift *to, int64_t value)
{
    put_varint(to, nm_zigzag(value));
}

void nm_thrift_put_bytes(nm_thrift *to, nm_bytes value)
{
    put_varint(to, value.len);
    nm_thrift_put_raw(to, value.data, value.len);
}

void nm_thrift_integer(nm_thrift *to, int field, nm_thrift_type type, int64_t value)
{
    put_field(to, field, type);
    nm_thrift_put_integer(to, value);
}

void nm_thrift_bytes(nm_thrift *to, int field, nm_bytes value)
{
    put_field(to, field, NM_THRIFT_BINARY);
    nm_thrift_put_bytes(to, value);
}

void nm_thrift_text(nm_thrift *to, int field, const char *value)
{
    nm_thrift_bytes(to, field, (nm_bytes){(const uint8_t *)value, strlen(value)});
}

int nm_thrift_begin(nm_thrift *to, int field)
{
    if (field > 0)
        put_field(to, field, NM_THRIFT_STRUCT);
    int begun = to->last;
    to->last = 0;
    return begun;
}

void nm_thrift_end(nm_thrift *to, int begun)
{
    put_byte(to, 0);
    to->last = begun;
}

void nm_thrift_list(nm_thrift *to, int field, nm_thrift_type type, size_t count)
{
    put_field(to, field, NM_THRIFT_LIST);
    put_byte(to, (unsigned)(count < 15 ? count : 15) << 4 | type);
    if (count >= 15)
        put_varint(to, count);
}
