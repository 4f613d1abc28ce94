/* SPDX-License-Identifier: Apache-2.0
 *
 * Why requests missed a pool, and which blocks waited to be reusable, by heap and stack.
 */
#include "sums/declared.h"

/* ---- Misses ------------------------------------------------------------------------------------------------------ */

#define FROM(field) NM_CELL(nm_miss_row, field)
#define TO(field)   NM_CELL(nm_miss_sum_row, field)

enum { PENDING_ENOUGH = 1, AFTER_ONE = 2, AFTER_TWO = 4 };

static uint32_t classify_miss(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_miss_row *row = told;
    nm_miss_sum_row *sum = key;

    (void)definitions;
    sum->heap_id = row->heap_id;
    sum->stack_id = row->stack_id;
    sum->cause = (uint64_t)row->cause;
    sum->is_early = row->is_early;
    return (row->is_pending_enough ? PENDING_ENOUGH : 0) | (row->generation > 1 ? AFTER_ONE : 0) |
           (row->generation > 2 ? AFTER_TWO : 0);
}

static const nm_sum_measure miss_measures[] = {
    {NM_SUMMED_COUNT, .to = TO(miss_count)},
    {NM_SUMMED_SUM, .from = FROM(size_bytes), .to = TO(missed_bytes)},
    {NM_SUMMED_COUNT, PENDING_ENOUGH, .to = TO(pending_miss_count)},
    {NM_SUMMED_COUNT, AFTER_ONE, .to = TO(after_one_count)},
    {NM_SUMMED_COUNT, AFTER_TWO, .to = TO(after_two_count)},
    {NM_SUMMED_SUM, .from = FROM(driver_count), .to = TO(driver_count)},
    {NM_SUMMED_SUM, .from = FROM(driver_cost_ns), .to = TO(driver_cost_ns)},
    {NM_SUMMED_LAST, .from = FROM(seq), .to = TO(last_seq)},
};
NM_SUM_TAKEN(miss_measures)

static const nm_sum_feed miss_feeds[] = {{NM_ROW_MISS, classify_miss, NM_SUM_MEASURES(miss_measures)}};

const nm_sum nm_sum_of_misses = {.name = "z_pool_miss_sum",
                                 .gives = NM_ROW_MISS_SUM,
                                 .row_bytes = sizeof(nm_miss_sum_row),
                                 .key_bytes = TO(miss_count),
                                 NM_FEEDS(miss_feeds)};

#undef FROM
#undef TO

/* ---- Pending blocks ---------------------------------------------------------------------------------------------- */

#define FROM(field) NM_CELL(nm_pending_row, field)
#define TO(field)   NM_CELL(nm_pending_sum_row, field)

enum { TIMED = 1 };

static uint32_t classify_pending(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_pending_row *row = told;
    nm_pending_sum_row *sum = key;

    (void)definitions;
    sum->heap_id = row->heap_id;
    sum->stack_id = row->stack_id;
    sum->has_stream = row->has_stream;
    sum->stream = row->has_stream ? row->stream : 0;
    return row->wait_ns != NM_NO_TIME ? TIMED : 0;
}

static const nm_sum_measure pending_measures[] = {
    {NM_SUMMED_COUNT, .to = TO(pending_count)},
    {NM_SUMMED_SUM, .from = FROM(size_bytes), .to = TO(pending_bytes)},
    {NM_SUMMED_PRODUCT, TIMED, FROM(size_bytes), FROM(wait_ns),
     .to = NM_WIDE_CELL(nm_pending_sum_row, pending_byte_ns)},
    {NM_SUMMED_MAX_SIGNED, TIMED, .from = FROM(wait_ns), .to = TO(max_wait_ns)},
};
NM_SUM_TAKEN(pending_measures)

static const nm_sum_feed pending_feeds[] = {{NM_ROW_PENDING, classify_pending, NM_SUM_MEASURES(pending_measures)}};

const nm_sum nm_sum_of_pending = {.name = "z_pending_sum",
                                  .gives = NM_ROW_PENDING_SUM,
                                  .row_bytes = sizeof(nm_pending_sum_row),
                                  .key_bytes = TO(pending_count),
                                  NM_FEEDS(pending_feeds)};
