/* SPDX-License-Identifier: Apache-2.0
 *
 * Byte order, variable-length integers and a bounded reader. On disk everything is little-endian. A varint holds seven
 * bits a byte, lowest first, the top bit says that another byte follows; at most ten bytes.
 */
#ifndef NM_BASE_BYTES_H
#define NM_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Borrowed bytes: points into memory that somebody else owns. */
typedef struct nm_bytes {
    const uint8_t *data;
    size_t len;
} nm_bytes;

uint16_t nm_get_u16(const uint8_t *p);
uint32_t nm_get_u32(const uint8_t *p);
uint64_t nm_get_u64(const uint8_t *p);
void nm_put_u16(uint8_t *p, uint16_t value);
void nm_put_u32(uint8_t *p, uint32_t value);
void nm_put_u64(uint8_t *p, uint64_t value);

#define NM_VARINT_BYTES_MAX 10

/* Writes `value` to p (room for NM_VARINT_BYTES_MAX) and returns the number of bytes. */
size_t nm_put_varint(uint8_t *p, uint64_t value);

/* Small magnitudes of either sign become small unsigned numbers: 0, -1, 1, -2 -> 0, 1, 2, 3. */
static inline uint64_t nm_zigzag(int64_t value)
{
    return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}
static inline int64_t nm_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/*
 * A reader over borrowed bytes that cannot run past the end. After the first read that does not fit, `is_bad` stays
 * set, every later read gives 0 and `at` stays at the first byte that could not be read: check once, at the end.
 */
typedef struct nm_cursor {
    nm_bytes bytes;
    size_t at;
    bool is_bad;
} nm_cursor;

nm_cursor nm_cursor_over(const void *data, size_t len);
uint8_t nm_read_u8(nm_cursor *cursor);
uint32_t nm_read_u32(nm_cursor *cursor);
uint64_t nm_read_varint(nm_cursor *cursor);
nm_bytes nm_read_bytes(nm_cursor *cursor, uint64_t len); /* borrowed from the cursor's bytes */
size_t nm_cursor_left(const nm_cursor *cursor);

#endif
