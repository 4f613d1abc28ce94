/* SPDX-License-Identifier: Apache-2.0
 *
 * How long blocks of workspaces were held and used, by heap and stream: bytes times time of each kind of span.
 */
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_workspace_span_row, field)
#define TO(field)   NM_CELL(nm_workspace_hold_sum_row, field)
#define WIDE(field) NM_WIDE_CELL(nm_workspace_hold_sum_row, field)

enum { LAST = 1, TIMED = 2, UNTIMED = 4, USED = 8, BETWEEN = 16, AFTER = 32, AT_END = 64 };

static const uint32_t fact_of_span[] = {
    [NM_HOLD_USED] = USED, [NM_HOLD_BETWEEN] = BETWEEN, [NM_HOLD_AFTER] = AFTER, [NM_HOLD_AT_END] = AT_END};

static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_workspace_span_row *row = told;
    nm_workspace_hold_sum_row *sum = key;

    (void)definitions;
    sum->heap_id = row->heap_id;
    sum->has_stream = row->has_stream;
    sum->stream = row->has_stream ? row->stream : 0;
    return fact_of_span[row->span] | (row->is_last ? LAST : 0) | (row->ns == NM_NO_TIME ? UNTIMED : TIMED);
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, LAST, .to = TO(block_count)},
    {NM_SUMMED_SUM, .from = FROM(use_count), .to = TO(use_count)},
    {NM_SUMMED_COUNT, BETWEEN, .to = TO(reuse_count)},
    {NM_SUMMED_COUNT, UNTIMED, .to = TO(untimed_count)},
    {NM_SUMMED_PRODUCT, TIMED | USED, FROM(size_bytes), FROM(ns), .to = WIDE(used_byte_ns)},
    {NM_SUMMED_PRODUCT, TIMED | BETWEEN, FROM(size_bytes), FROM(ns), .to = WIDE(between_byte_ns)},
    {NM_SUMMED_PRODUCT, TIMED | AFTER, FROM(size_bytes), FROM(ns), .to = WIDE(after_byte_ns)},
    {NM_SUMMED_PRODUCT, TIMED | AT_END, FROM(size_bytes), FROM(ns), .to = WIDE(at_end_byte_ns)},
    {NM_SUMMED_MAX, TIMED | BETWEEN, .from = FROM(ns), .to = TO(max_between_ns)},
    {NM_SUMMED_COUNT, AT_END, .to = TO(idle_count_at_end)},
    {NM_SUMMED_SUM, AT_END, .from = FROM(size_bytes), .to = TO(idle_bytes_at_end)},
};

static const nm_sum_feed feeds[] = {{NM_ROW_WORKSPACE_SPAN, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_holds = {.name = "z_workspace_hold_sum",
                                .gives = NM_ROW_WORKSPACE_HOLD_SUM,
                                .row_bytes = sizeof(nm_workspace_hold_sum_row),
                                .key_bytes = TO(block_count),
                                NM_FEEDS(feeds)};
