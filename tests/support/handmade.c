/* SPDX-License-Identifier: Apache-2.0 */
#include "support/handmade.h"

#include <check.h>
#include <string.h>

#include <zstd.h>

#include "base/checksum.h"

static void append(nm_buffer *out, const void *data, size_t len)
{
    ck_assert_int_eq(nm_buffer_append(out, data, len, NULL), NM_OK);
}

void hand_u8(nm_buffer *out, unsigned value)
{
    append(out, &(uint8_t){(uint8_t)value}, 1);
}

void hand_u16(nm_buffer *out, unsigned value)
{
    hand_u8(out, value & 255);
    hand_u8(out, value >> 8 & 255);
}

void hand_u32(nm_buffer *out, uint32_t value)
{
    hand_u16(out, value & 65535);
    hand_u16(out, value >> 16);
}

void hand_u64(nm_buffer *out, uint64_t value)
{
    hand_u32(out, (uint32_t)value);
    hand_u32(out, (uint32_t)(value >> 32));
}

void hand_varint(nm_buffer *out, uint64_t value)
{
    for (; value > 127; value /= 128)
        hand_u8(out, 128 + (unsigned)(value % 128));
    hand_u8(out, (unsigned)value);
}

void hand_signed(nm_buffer *out, int64_t value)
{
    hand_varint(out, value >= 0 ? (uint64_t)value * 2 : ((uint64_t) - (value + 1)) * 2 + 1);
}

void hand_text(nm_buffer *out, const char *text)
{
    hand_varint(out, strlen(text));
    append(out, text, strlen(text));
}

void hand_define(hand_block *block, unsigned kind, size_t count, const uint64_t *fields)
{
    nm_buffer body = {0};

    for (size_t i = 0; i < count; i++)
        hand_varint(&body, fields[i]);
    hand_varint(&block->definitions, kind);
    hand_varint(&block->definitions, body.len);
    append(&block->definitions, body.data, body.len);
    nm_buffer_free(&body);
}

void hand_define_string(hand_block *block, uint64_t id, const char *text)
{
    nm_buffer body = {0};

    hand_varint(&body, id);
    hand_text(&body, text);
    hand_varint(&block->definitions, 1);
    hand_varint(&block->definitions, body.len);
    append(&block->definitions, body.data, body.len);
    nm_buffer_free(&body);
}

void hand_kind(hand_block *block, uint64_t kind, uint64_t fields)
{
    hand_varint(&block->kinds, kind);
    hand_varint(&block->kinds, fields);
    block->kind_count++;
}

void hand_column(hand_block *block, unsigned field, unsigned encoding, const void *data, size_t len)
{
    nm_buffer *out = field == HAND_KINDS ? &block->kinds : &block->columns;

    if (field != HAND_KINDS) {
        hand_u8(out, field);
        block->column_count++;
    }
    hand_u8(out, encoding);
    hand_u32(out, (uint32_t)len);
    append(out, data, len);
}

void hand_bytes_column(hand_block *block, unsigned field, const char *values, size_t count)
{
    nm_buffer data = {0};

    hand_u8(&data, 1);
    append(&data, values, count);
    hand_column(block, field, 2, data.data, data.len);
    nm_buffer_free(&data);
}

/* The header, as the table in docs/trace-format.md lists it. */
static void append_header(const hand_block *block, uint32_t raw_bytes, uint32_t frame_bytes, uint64_t frame_checksum,
                          nm_buffer *out)
{
    size_t begin = out->len;

    append(out, "NPUMEMB1", 8);
    hand_u16(out, block->major == 0 ? 1 : block->major);
    hand_u16(out, block->minor);
    hand_u32(out, block->flags);
    for (int i = 0; i < 16; i++)
        hand_u8(out, block->trace_id);
    hand_u64(out, block->block_index);
    hand_u64(out, block->first_seq);
    hand_u64(out, (uint64_t)block->first_ns);
    hand_u64(out, (uint64_t)block->last_ns);
    hand_u32(out, block->event_count);
    hand_u32(out, raw_bytes);
    hand_u64(out, frame_checksum);
    hand_u32(out, frame_bytes);
    hand_u32(out, block->claimed_range_count != 0 ? block->claimed_range_count : block->range_count);
    hand_u32(out, 96 + block->extra_fixed_bytes);
    hand_u32(out, 24 + block->extra_range_bytes);
    ck_assert_uint_eq(out->len - begin, 96);
    for (uint32_t i = 0; i < block->extra_fixed_bytes; i++)
        hand_u8(out, 0xEE);
    for (uint32_t i = 0; i < block->range_count; i++) {
        for (int j = 0; j < 3; j++)
            hand_u64(out, block->ranges[i][j]);
        for (uint32_t j = 0; j < block->extra_range_bytes; j++)
            hand_u8(out, 0xEE);
    }
    hand_u64(out, nm_checksum(out->data + begin, out->len - begin));
}

static void append_content(const hand_block *block, nm_buffer *out)
{
    nm_buffer session = {0};

    hand_signed(&session, 1700000000000000000);
    hand_varint(&session, 2);
    hand_text(&session, "/tmp/rings");
    hand_text(&session, "host1");
    hand_text(&session, "boot");
    hand_text(&session, "0.1");
    hand_varint(out, session.len);
    append(out, session.data, session.len);
    nm_buffer_free(&session);

    hand_varint(out, block->definitions.len);
    append(out, block->definitions.data, block->definitions.len);
    hand_varint(out, block->kind_count);
    append(out, block->kinds.data, block->kinds.len);
    hand_varint(out, block->column_count);
    append(out, block->columns.data, block->columns.len);
    append(out, block->behind.data, block->behind.len);
}

void hand_seal(hand_block *block, nm_buffer *out)
{
    nm_buffer copy = {0}, content = {0}, raw = {0}, header = {0};
    uint8_t frame[65536];
    hand_block inside = *block;

    inside.block_index += block->has_wrong_copy;
    append_content(block, &content);
    append_header(&inside, 0, 0, 0, &copy);
    uint32_t raw_bytes = (uint32_t)(copy.len + content.len);
    if (block->claimed_raw_bytes != 0)
        raw_bytes = block->claimed_raw_bytes;
    append_header(&inside, raw_bytes, 0, 0, &raw);
    append(&raw, content.data, content.len);

    size_t frame_bytes = ZSTD_compress(frame, sizeof frame, raw.data, raw.len, 1);
    ck_assert(!ZSTD_isError(frame_bytes));
    append_header(block, raw_bytes,
                  block->claimed_frame_bytes != 0 ? block->claimed_frame_bytes : (uint32_t)frame_bytes,
                  nm_checksum(frame, frame_bytes), &header);
    hand_u32(out, 0x184D2A5E);
    hand_u32(out, (uint32_t)header.len);
    append(out, header.data, header.len);
    append(out, frame, frame_bytes);

    nm_buffer_free(&copy);
    nm_buffer_free(&content);
    nm_buffer_free(&raw);
    nm_buffer_free(&header);
    nm_buffer_free(&block->definitions);
    nm_buffer_free(&block->kinds);
    nm_buffer_free(&block->columns);
    nm_buffer_free(&block->behind);
}

void hand_wrap(nm_bytes block, nm_bytes content, nm_buffer *out)
{
    uint32_t header_bytes = nm_get_u32(block.data + 4);
    nm_buffer header = {0}, frame = {0};

    ck_assert_int_eq(nm_buffer_reserve(&frame, ZSTD_compressBound(content.len), NULL), NM_OK);
    frame.len = ZSTD_compress(frame.data, frame.cap, content.data, content.len, 1);
    append(&header, block.data + 8, 72);
    hand_u64(&header, nm_checksum(frame.data, frame.len));
    hand_u32(&header, (uint32_t)frame.len);
    append(&header, block.data + 8 + 84, header_bytes - 84 - 8);
    hand_u64(&header, nm_checksum(header.data, header.len));

    append(out, block.data, 8);
    append(out, header.data, header.len);
    append(out, frame.data, frame.len);
    nm_buffer_free(&header);
    nm_buffer_free(&frame);
}

void hand_unwrap(nm_bytes block, nm_buffer *out)
{
    size_t frame_at = 8 + nm_get_u32(block.data + 4);
    size_t content_bytes = nm_get_u32(block.data + 8 + 68);

    ck_assert_int_eq(nm_buffer_reserve(out, content_bytes, NULL), NM_OK);
    size_t got = ZSTD_decompress(out->data + out->len, content_bytes, block.data + frame_at, block.len - frame_at);
    ck_assert_uint_eq(got, content_bytes);
    out->len += got;
}
