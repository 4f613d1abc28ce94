/* SPDX-License-Identifier: Apache-2.0
 *
 * XXH64 from its specification: four lanes of 8 bytes over stripes of 32, then the rest, then an avalanche.
 */
#include "base/checksum.h"

#include <string.h>

#include "base/bytes.h"

#define PRIME_1      0x9E3779B185EBCA87u
#define PRIME_2      0xC2B2AE3D27D4EB4Fu
#define PRIME_3      0x165667B19E3779F9u
#define PRIME_4      0x85EBCA77C2B2AE63u
#define PRIME_5      0x27D4EB2F165667C5u

#define STRIPE_BYTES 32

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

static void begin_lanes(uint64_t lane[4], uint64_t seed)
{
    lane[0] = seed + PRIME_1 + PRIME_2;
    lane[1] = seed + PRIME_2;
    lane[2] = seed;
    lane[3] = seed - PRIME_1;
}

/* Consumes whole stripes; returns the first byte behind them. */
static const uint8_t *mix_stripes(uint64_t lane[4], const uint8_t *p, const uint8_t *end)
{
    for (; end - p >= STRIPE_BYTES; p += STRIPE_BYTES)
        for (int i = 0; i < 4; i++)
            lane[i] = mix_lane(lane[i], nm_get_u64(p + 8 * i));
    return p;
}

static uint64_t merge_lanes(const uint64_t lane[4])
{
    uint64_t hash =
        rotate_left(lane[0], 1) + rotate_left(lane[1], 7) + rotate_left(lane[2], 12) + rotate_left(lane[3], 18);

    for (int i = 0; i < 4; i++)
        hash = merge_lane(hash, lane[i]);
    return hash;
}

/* What is left behind the last whole stripe, and the avalanche. */
static uint64_t finish(uint64_t hash, const uint8_t *p, const uint8_t *end)
{
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

uint64_t nm_checksum(const void *data, size_t len)
{
    return nm_checksum_seeded(data, len, 0);
}

uint64_t nm_checksum_seeded(const void *data, size_t len, uint64_t seed)
{
    const uint8_t *p = data;
    const uint8_t *end = len == 0 ? p : p + len; /* of nothing p may be NULL */
    uint64_t lane[4], hash = seed + PRIME_5;

    if (len >= STRIPE_BYTES) {
        begin_lanes(lane, seed);
        p = mix_stripes(lane, p, end);
        hash = merge_lanes(lane);
    }
    return finish(hash + len, p, end);
}

void nm_checksum_begin(nm_checksum_run *run)
{
    *run = (nm_checksum_run){.len = 0};
    begin_lanes(run->lane, 0);
}

void nm_checksum_add(nm_checksum_run *run, const void *data, size_t len)
{
    const uint8_t *p = data;
    const uint8_t *end = len == 0 ? p : p + len; /* of nothing p may be NULL */
    size_t kept = run->len % STRIPE_BYTES;

    run->len += len;
    if (kept + len < STRIPE_BYTES) {
        if (len > 0)
            memcpy(run->kept + kept, p, len);
        return;
    }
    if (kept > 0) {
        memcpy(run->kept + kept, p, STRIPE_BYTES - kept);
        p += STRIPE_BYTES - kept;
        mix_stripes(run->lane, run->kept, run->kept + STRIPE_BYTES);
    }
    p = mix_stripes(run->lane, p, end);
    memcpy(run->kept, p, (size_t)(end - p));
}

uint64_t nm_checksum_end(const nm_checksum_run *run)
{
    uint64_t hash = run->len >= STRIPE_BYTES ? merge_lanes(run->lane) : PRIME_5;

    return finish(hash + run->len, run->kept, run->kept + run->len % STRIPE_BYTES);
}
