/* SPDX-License-Identifier: Apache-2.0
 *
 * What a row adds to a sum, by the list of its measures. NM_SUM_TAKEN makes a function of a list, in which the compiler sees
 * what each measure is: millions of rows go through it, and reading the list for each would cost twice as much.
 *
 *     static const nm_sum_measure measures[] = {...};
 *     NM_SUM_TAKEN(measures)                    the function taken_measures()
 *     static const nm_sum_feed feeds[] = {{NM_ROW_COPY, classify, NM_SUM_MEASURES(measures)}};
 */
#ifndef NM_SUMS_MEASURES_H
#define NM_SUMS_MEASURES_H

#include <assert.h>
#include <string.h>

#include "base/number.h"
#include "sums/table.h"

#define NM_SUM_MEASURES_MAX 24 /* of a list; more does not compile */

/* clang unrolls what is constant by itself. */
#ifdef __clang__
#define NM_SUM_UNROLLED
#else
#define NM_SUM_UNROLLED _Pragma("GCC unroll 24")
#endif

#define NM_SUM_INLINE static inline __attribute__((always_inline))

NM_SUM_INLINE uint64_t nm_sum_word_at(const void *base, size_t offset)
{
    uint64_t value;

    memcpy(&value, (const uint8_t *)base + offset, sizeof value);
    return value;
}

NM_SUM_INLINE void nm_sum_put(uint8_t *sum, size_t offset, uint64_t value)
{
    memcpy(sum + offset, &value, sizeof value);
}

NM_SUM_INLINE void nm_sum_add_to(uint8_t *sum, size_t offset, uint64_t more)
{
    nm_sum_put(sum, offset, nm_add_saturated(nm_sum_word_at(sum, offset), more));
}

NM_SUM_INLINE void nm_sum_add_product(uint8_t *sum, size_t offset, uint64_t a, uint64_t b)
{
    unsigned __int128 so_far, more = (unsigned __int128)a * b, most = ~(unsigned __int128)0;

    memcpy(&so_far, sum + offset, sizeof so_far);
    so_far = more > most - so_far ? most : so_far + more;
    memcpy(sum + offset, &so_far, sizeof so_far);
}

/* Did the row take the record? */
NM_SUM_INLINE bool nm_sum_take_record(const nm_sum_measure *measure, const void *row, uint8_t *sum)
{
    uint64_t value = nm_sum_word_at(row, measure->from), most = nm_sum_word_at(sum, measure->to);
    int64_t place = (int64_t)nm_sum_word_at(row, measure->other);
    int64_t first = (int64_t)nm_sum_word_at(sum, measure->to_other);

    if (first != NM_NO_SEQ && value <= most && (value != most || place >= first))
        return false;
    nm_sum_put(sum, measure->to, value);
    nm_sum_put(sum, measure->to_other, (uint64_t)place);
    return true;
}

NM_SUM_INLINE void nm_sum_keep_same(uint8_t *sum, size_t offset, uint64_t value)
{
    uint64_t known = nm_sum_word_at(sum, offset);

    nm_sum_put(sum, offset, known == 0 || known == value ? value : NM_SUM_SEVERAL);
}

NM_SUM_INLINE void nm_sum_keep_least(uint8_t *sum, size_t offset, int64_t value)
{
    int64_t least = (int64_t)nm_sum_word_at(sum, offset);

    if (value != INT64_MIN && (least == INT64_MIN || value < least))
        nm_sum_put(sum, offset, (uint64_t)value);
}

/* *is_record: of the RECORD before it. */
NM_SUM_INLINE void nm_sum_take_one(const nm_sum_measure *measure, const void *row, uint8_t *sum, bool *is_record)
{
    uint64_t value = nm_sum_word_at(row, measure->from);

    switch (measure->kind) {
    case NM_SUMMED_COUNT:
        nm_sum_put(sum, measure->to, nm_sum_word_at(sum, measure->to) + 1);
        break;
    case NM_SUMMED_SUM:
        nm_sum_add_to(sum, measure->to, value);
        break;
    case NM_SUMMED_DIFFERENCE:
        if ((int64_t)value > (int64_t)nm_sum_word_at(row, measure->other))
            nm_sum_add_to(sum, measure->to, value - nm_sum_word_at(row, measure->other));
        break;
    case NM_SUMMED_PRODUCT:
        nm_sum_add_product(sum, measure->to, value, nm_sum_word_at(row, measure->other));
        break;
    case NM_SUMMED_MAX:
        if (value > nm_sum_word_at(sum, measure->to))
            nm_sum_put(sum, measure->to, value);
        break;
    case NM_SUMMED_MAX_SIGNED:
        if ((int64_t)value > (int64_t)nm_sum_word_at(sum, measure->to))
            nm_sum_put(sum, measure->to, value);
        break;
    case NM_SUMMED_MIN_SIGNED:
        nm_sum_keep_least(sum, measure->to, (int64_t)value);
        break;
    case NM_SUMMED_LAST:
        nm_sum_put(sum, measure->to, value);
        break;
    case NM_SUMMED_SAME:
        nm_sum_keep_same(sum, measure->to, value);
        break;
    case NM_SUMMED_RECORD:
        *is_record = nm_sum_take_record(measure, row, sum);
        break;
    case NM_SUMMED_OF_RECORD:
        if (*is_record)
            nm_sum_put(sum, measure->to, value);
        break;
    }
}

NM_SUM_INLINE void nm_sum_take(const nm_sum_measure *measures, size_t count, const void *row, uint32_t facts,
                               uint8_t *sum)
{
    bool is_record = false;

    NM_SUM_UNROLLED
    for (size_t i = 0; i < count; i++) {
        if ((facts & measures[i].when) == measures[i].when)
            nm_sum_take_one(&measures[i], row, sum, &is_record);
        else if (measures[i].kind == NM_SUMMED_RECORD)
            is_record = false;
    }
}

#define NM_SUM_TAKEN(list)                                                                                             \
    static_assert(sizeof(list) / sizeof(list)[0] <= NM_SUM_MEASURES_MAX, "");                                          \
    static void taken_##list(const void *row, uint32_t facts, void *sum)                                               \
    {                                                                                                                  \
        nm_sum_take(list, sizeof(list) / sizeof(list)[0], row, facts, sum);                                            \
    }

#endif
