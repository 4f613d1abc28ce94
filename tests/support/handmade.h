/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of a trace put together byte by byte after docs/trace-format.md, without the writer under test: a second
 * implementation of the layout, kept as plain as can be, that can also say things that are wrong.
 */
#ifndef TEST_SUPPORT_HANDMADE_H
#define TEST_SUPPORT_HANDMADE_H

#include <stdbool.h>

#include "base/buffer.h"

/* A zeroed one with trace_id set is a block of no events of version 1.0. What is set to 0 is worked out. */
typedef struct hand_block {
    uint8_t trace_id;      /* all 16 bytes have this value */
    uint16_t major, minor; /* major 0: 1 */
    uint32_t flags;
    uint64_t block_index, first_seq;
    uint32_t event_count;
    int64_t first_ns, last_ns;
    uint64_t ranges[8][3];
    uint32_t range_count;
    uint32_t extra_fixed_bytes, extra_range_bytes;                        /* as a newer minor version may have */
    uint32_t claimed_raw_bytes, claimed_range_count, claimed_frame_bytes; /* lies */
    bool has_wrong_copy;                   /* the header inside the data frame is another block's */
    nm_buffer definitions, kinds, columns; /* sections of the content */
    nm_buffer behind;                      /* the columns: what version 1.0 knows nothing of */
    uint32_t kind_count, column_count;
} hand_block;

/* Little-endian numbers and varints, appended. */
void hand_u8(nm_buffer *out, unsigned value);
void hand_u16(nm_buffer *out, unsigned value);
void hand_u32(nm_buffer *out, uint32_t value);
void hand_u64(nm_buffer *out, uint64_t value);
void hand_varint(nm_buffer *out, uint64_t value);
void hand_signed(nm_buffer *out, int64_t value);  /* zigzag varint */
void hand_text(nm_buffer *out, const char *text); /* length and bytes */

/* One definition: kind, then the fields as unsigned varints (a signed one zigzagged by the caller). */
void hand_define(hand_block *block, unsigned kind, size_t count, const uint64_t *fields);
void hand_define_string(hand_block *block, uint64_t id, const char *text);

/* A kind and the fields that its events have, as a mask. The kinds of the events follow with hand_kind_column. */
void hand_kind(hand_block *block, uint64_t kind, uint64_t fields);

/* A column: encoding and data as they are. The first one, of the kinds, has field 255. */
void hand_column(hand_block *block, unsigned field, unsigned encoding, const void *data, size_t len);
#define HAND_KINDS 255

/* A column of one byte a value (encoding 2, width 1). */
void hand_bytes_column(hand_block *block, unsigned field, const char *values, size_t count);

/* Appends the block to `out` and frees its sections. */
void hand_seal(hand_block *block, nm_buffer *out);

/* Appends a block with the header of `block` (whole, with its data frame) and another content of the same size, every
 * checksum right. */
void hand_wrap(nm_bytes block, nm_bytes content, nm_buffer *out);

/* The content of a block's data frame, appended. */
void hand_unwrap(nm_bytes block, nm_buffer *out);

#endif
