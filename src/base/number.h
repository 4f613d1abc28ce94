/* SPDX-License-Identifier: Apache-2.0
 *
 * Unsigned numbers: sums that stop at the largest number an SQL integer holds, differences that stop at 0, powers of two,
 * and numbers in text.
 */
#ifndef NM_BASE_NUMBER_H
#define NM_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define NM_SUM_MAX ((uint64_t)INT64_MAX) /* sums stay here when they would pass it */

static inline uint64_t nm_add_saturated(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) || sum > NM_SUM_MAX ? NM_SUM_MAX : sum;
}

static inline uint64_t nm_subtract_saturated(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

static inline void nm_sum_add(uint64_t *sum, uint64_t more) /* saturated */
{
    *sum = nm_add_saturated(*sum, more);
}

static inline uint64_t nm_byte_ms(unsigned __int128 byte_ns) /* NM_SUM_MAX at the most */
{
    return byte_ns / 1000000 > NM_SUM_MAX ? NM_SUM_MAX : (uint64_t)(byte_ns / 1000000);
}

/* How many binary digits the number has: 0 for 0, and n from 2^(n-1) to 2^n - 1. */
static inline int nm_bits_of(uint64_t number)
{
    return number == 0 ? 0 : 64 - __builtin_clzll(number);
}

static inline int nm_log2(uint64_t number) /* of the largest power of two in it; 0 for 0 */
{
    return number == 0 ? 0 : 63 - __builtin_clzll(number);
}

/* The whole text, decimal digits without a sign, up to `most`. False: it is not that, and *number is not to be used. */
bool nm_number_read(const char *text, uint64_t most, uint64_t *number);

#endif
