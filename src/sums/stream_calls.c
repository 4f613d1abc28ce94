/* SPDX-License-Identifier: Apache-2.0
 *
 * How often each call about streams was made and what it cost, by process, device, kind and stream.
 */
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_stream_call_row, field)
#define TO(field)   NM_CELL(nm_stream_call_sum_row, field)

enum { FAILED = 1 };

static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_stream_call_row *row = told;
    nm_stream_call_sum_row *sum = key;

    (void)definitions;
    sum->process_id = row->process_id;
    sum->device_id = row->device_id;
    sum->kind = (uint64_t)row->kind;
    sum->has_stream = row->has_stream;
    sum->stream = row->has_stream ? row->stream : 0;
    return row->error_code != 0 && row->error_code != NM_UNKNOWN_NUMBER ? FAILED : 0;
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(call_count)},
    {NM_SUMMED_SUM, .from = FROM(cost_ns), .to = TO(cost_ns)},
    {NM_SUMMED_COUNT, FAILED, .to = TO(error_count)},
};
NM_SUM_TAKEN(measures)

static const nm_sum_feed feeds[] = {{NM_ROW_STREAM_CALL, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_stream_calls = {.name = "z_stream_call_sum",
                                       .gives = NM_ROW_STREAM_CALL_SUM,
                                       .row_bytes = sizeof(nm_stream_call_sum_row),
                                       .key_bytes = TO(call_count),
                                       NM_FEEDS(feeds)};
