/* SPDX-License-Identifier: Apache-2.0
 *
 * Lengths stand in front, two a byte, the first in the lower half; then the values, lowest byte first, as unsigned numbers
 * that are small where the value is near 0. What is NULL, the smallest integer of all, is frequent: it has a length of its own.
 */
#include "rows/packed.h"

#include "base/bytes.h"

enum { NO_VALUE = 9 }; /* in place of a length: INT64_MIN, without bytes */

size_t nm_packed_put(uint8_t *out, const int64_t *values, size_t count)
{
    uint8_t *at = out + (count + 1) / 2;

    for (size_t i = 0; i < count; i++) {
        uint64_t rest = values[i] == INT64_MIN ? 0 : nm_zigzag(values[i]);
        unsigned length = 0;

        for (; rest != 0; rest >>= 8, length++)
            *at++ = (uint8_t)rest;
        if (values[i] == INT64_MIN)
            length = NO_VALUE;
        out[i / 2] = i % 2 == 0 ? (uint8_t)length : (uint8_t)(out[i / 2] | length << 4);
    }
    return (size_t)(at - out);
}

void nm_packed_get(const uint8_t *packed, int64_t *values, size_t count)
{
    const uint8_t *at = packed + (count + 1) / 2;

    for (size_t i = 0; i < count; i++) {
        unsigned length = packed[i / 2] >> (i % 2 == 0 ? 0 : 4) & 15;
        uint64_t value = 0;

        for (unsigned byte = 0; byte < length && length != NO_VALUE; byte++)
            value |= (uint64_t)*at++ << 8 * byte;
        values[i] = length == NO_VALUE ? INT64_MIN : nm_unzigzag(value);
    }
}
