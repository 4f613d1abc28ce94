/* SPDX-License-Identifier: Apache-2.0
 *
 * The integers of a row in few bytes, for rows that wait: half a byte a column says how many bytes its value has, and these
 * follow. Of a row of table allocation that is a quarter of what the integers take.
 */
#ifndef NM_ROWS_PACKED_H
#define NM_ROWS_PACKED_H

#include <stddef.h>
#include <stdint.h>

#define NM_PACKED_BYTES_MAX(count) (((count) + 1) / 2 + 8 * (count)) /* of so many values */

/* Writes the values to `out`, which has room for NM_PACKED_BYTES_MAX(count). Returns how many bytes that took. */
size_t nm_packed_put(uint8_t *out, const int64_t *values, size_t count);

/* The contrary, of what nm_packed_put wrote for as many values. */
void nm_packed_get(const uint8_t *packed, int64_t *values, size_t count);

#endif
