/* SPDX-License-Identifier: Apache-2.0
 *
 * How much was copied, by process, device, kind, stream and stack: what failed moved nothing, and of what was not waited for
 * the time says nothing.
 */
#include "sums/declared.h"

#define FROM(field) NM_CELL(nm_copy_row, field)
#define TO(field)   NM_CELL(nm_copy_sum_row, field)

enum { FAILED = 1, MOVED = 2, TIMED = 4, HOST = 8, REGISTERED = 16, REPEATED = 32, PINNED = 64 };

static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const nm_copy_row *row = told;
    nm_copy_sum_row *sum = key;

    (void)definitions;
    sum->process_id = row->process_id;
    sum->device_id = row->target_device_id != 0 ? row->target_device_id : row->source_device_id;
    sum->kind = (uint64_t)row->kind;
    sum->is_async = row->is_async;
    sum->has_stream = row->has_stream;
    sum->stream = row->has_stream ? row->stream : 0;
    sum->stack_id = row->stack_id;
    if (row->error_code != 0)
        return FAILED;
    return MOVED | (!row->is_async && row->cost_ns != 0 ? TIMED : 0) |
           (row->is_registered != NM_UNKNOWN_NUMBER ? HOST : 0) | (row->is_registered == 1 ? REGISTERED : 0) |
           (row->is_pinned || row->is_registered == 1 ? PINNED : 0) | (row->repeat_count != 0 ? REPEATED : 0);
}

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(copy_count)},
    {NM_SUMMED_SUM, .from = FROM(cost_ns), .to = TO(cost_ns)},
    {NM_SUMMED_COUNT, FAILED, .to = TO(failed_count)},
    {NM_SUMMED_SUM, MOVED, .from = FROM(size_bytes), .to = TO(size_bytes)},
    {NM_SUMMED_SUM, TIMED, .from = FROM(size_bytes), .to = TO(timed_bytes)},
    {NM_SUMMED_SUM, TIMED, .from = FROM(cost_ns), .to = TO(timed_ns)},
    {NM_SUMMED_COUNT, HOST, .to = TO(host_count)},
    {NM_SUMMED_SUM, HOST, .from = FROM(size_bytes), .to = TO(host_bytes)},
    {NM_SUMMED_SUM, HOST, .from = FROM(cost_ns), .to = TO(host_ns)},
    {NM_SUMMED_COUNT, PINNED, .to = TO(pinned_count)},
    {NM_SUMMED_COUNT, REGISTERED, .to = TO(registered_count)},
    {NM_SUMMED_SUM, REGISTERED, .from = FROM(size_bytes), .to = TO(registered_bytes)},
    {NM_SUMMED_COUNT, REPEATED, .to = TO(repeated_count)},
    {NM_SUMMED_SUM, REPEATED, .from = FROM(size_bytes), .to = TO(repeated_bytes)},
    {NM_SUMMED_RECORD, REPEATED, FROM(repeat_count), FROM(seq), TO(longest_count), TO(longest_seq)},
    {NM_SUMMED_OF_RECORD, REPEATED, .from = FROM(source_address), .to = TO(longest_address)},
    {NM_SUMMED_OF_RECORD, REPEATED, .from = FROM(size_bytes), .to = TO(longest_bytes)},
};
NM_SUM_TAKEN(measures)

static const nm_sum_feed feeds[] = {{NM_ROW_COPY, classify, NM_SUM_MEASURES(measures)}};

const nm_sum nm_sum_of_copies = {.name = "z_copy_sum",
                                 .gives = NM_ROW_COPY_SUM,
                                 .row_bytes = sizeof(nm_copy_sum_row),
                                 .key_bytes = TO(copy_count),
                                 NM_FEEDS(feeds)};
