/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH64 from its specification: four lanes of 8 bytes over stripes of 32, then the rest, then an avalanche.
 */
#include "base/checksum.h"

#include "base/bytes.h"

#define PRIME_1 0x9E3779B185EBCA87u
#define PRIME_2 0xC2B2AE3D27D4EB4Fu
#define PRIME_3 0x165667B19E3779F9u
#define PRIME_4 0x85EBCA77C2B2AE63u
#define PRIME_5 0x27D4EB2F165667C5u

static uint64_t rotate_left(uint64_t value, unsigned count)
{
    return value << count | value >> (64 - count);
}

static uint64_t mix_lane(uint64_t lane, uint64_t input)
{
    return rotate_left(lane + input * PRIME_2, 31) * PRIME_1;
}

static uint64_t merge_lane(uint64_t hash, uint64_t lane)
{
    return (hash ^ mix_lane(0, lane)) * PRIME_1 + PRIME_4;
}

/* Consumes whole stripes from *p; there is at least one. */
static uint64_t mix_stripes(const uint8_t **p, const uint8_t *end, uint64_t seed)
{
    uint64_t lane[4] = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};

    for (; end - *p >= 32; *p += 32)
        for (int i = 0; i < 4; i++)
            lane[i] = mix_lane(lane[i], nm_get_u64(*p + 8 * i));

    uint64_t hash =
        rotate_left(lane[0], 1) + rotate_left(lane[1], 7) + rotate_left(lane[2], 12) + rotate_left(lane[3], 18);
    for (int i = 0; i < 4; i++)
        hash = merge_lane(hash, lane[i]);
    return hash;
}

uint64_t nm_checksum(const void *data, size_t len)
{
    return nm_checksum_seeded(data, len, 0);
}

uint64_t nm_checksum_seeded(const void *data, size_t len, uint64_t seed)
{
    const uint8_t *p = data;
    const uint8_t *end = p + len;
    uint64_t hash = (len >= 32 ? mix_stripes(&p, end, seed) : seed + PRIME_5) + len;

    for (; end - p >= 8; p += 8)
        hash = rotate_left(hash ^ mix_lane(0, nm_get_u64(p)), 27) * PRIME_1 + PRIME_4;
    if (end - p >= 4) {
        hash = rotate_left(hash ^ nm_get_u32(p) * PRIME_1, 23) * PRIME_2 + PRIME_3;
        p += 4;
    }
    for (; p < end; p++)
        hash = rotate_left(hash ^ *p * PRIME_5, 11) * PRIME_1;

    hash = (hash ^ hash >> 33) * PRIME_2;
    hash = (hash ^ hash >> 29) * PRIME_3;
    return hash ^ hash >> 32;
}
