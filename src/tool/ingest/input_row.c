/* SPDX-License-Identifier: Apache-2.0
 *
 * Member by member, from the summary that a source gives when it has been read; of what an input can tell the words that stand in
 * table input.
 */
#include "tool/ingest/input_row.h"

#include <string.h>

static const char *basis_word(nm_grade grade)
{
    static const char *const words[NM_GRADE_COUNT] = {"none", "curve", "estimate", "exact"};

    return words[grade];
}

nm_input_row ingest_input_row(const nm_source_summary_data *summary, const char *name, int64_t first_seq,
                              int64_t last_seq)
{
    return (nm_input_row){
        .path = {(const uint8_t *)name, strlen(name)},
        .kind = summary->kind,
        .order_kind = summary->order_kind == NM_ORDER_FILE ? "file" : "clock",
        .start_realtime_ns = summary->start_realtime_ns,
        .native_depth = summary->native_depth,
        .is_complete = summary->is_complete,
        .events_seen = summary->events_seen,
        .events_ingested = summary->events_ingested,
        .events_dropped = summary->events_dropped,
        .events_damaged = summary->events_damaged,
        .events_unrecovered = summary->events_unrecovered,
        .events_late = summary->events_late,
        .events_without_stack = summary->events_without_stack,
        .bytes_cut = summary->bytes_cut,
        .blocks_outside = summary->blocks_outside,
        .first_seq = first_seq,
        .last_seq = last_seq,
        .events_unkept = summary->events_unkept,
        .is_loss_exact = summary->is_loss_exact,
        .processes_unjoined = summary->processes_unjoined,
        .is_late_begin = summary->is_late_begin,
        .detail_begin_seq = first_seq,
        .detail_begin_ns = summary->detail_begin_ns,
        .leak_basis = basis_word(summary->carries.leak),
        .peak_basis = basis_word(summary->carries.peak),
        .fragmentation_basis = basis_word(summary->carries.fragmentation),
        .hit_basis = basis_word(summary->carries.hits),
        .device_basis = basis_word(summary->carries.device),
        .failure_basis = basis_word(summary->carries.failure),
        .misuse_basis = basis_word(summary->carries.misuse),
    };
}
