/* SPDX-License-Identifier: Apache-2.0
 *
 * An allocation is kept in few bytes while it lives: the row, which has three times as many, is made of these and of what the
 * books say when somebody wants it.
 */
#include "replay/live.h"

#include "replay/lookup.h"

const nm_live_more nm_live_no_more = {
    .free_requested_seq = NM_NO_SEQ, .free_seq = NM_NO_SEQ, .free_ns = NM_NO_TIME, .generation = NM_UNKNOWN_NUMBER};

nm_status nm_live_make_more(nm_replay *replay, nm_live *live, nm_error *err)
{
    if (live->more != NULL)
        return NM_OK;
    live->more = nm_slab_take_as_is(&replay->mores, err);
    if (live->more == NULL)
        return NM_ERR_MEMORY;
    *live->more = nm_live_no_more;
    return NM_OK;
}

void nm_live_drop(nm_replay *replay, nm_live *live)
{
    if (live == NULL)
        return;
    nm_slab_give(&replay->mores, live->more);
    nm_slab_give(&replay->lives, live);
}

void nm_live_row_of(const nm_live *live, nm_allocation_row *out)
{
    const nm_live_row *row = &live->row;
    const nm_live_more *more = nm_live_more_of(live);

    *out = (nm_allocation_row){
        .allocation_id = row->allocation_id,
        .heap_id = live->heap->id,
        .segment_id = row->segment_id,
        .thread_id = row->thread_id,
        .operation_id = row->operation_id,
        .stack_id = nm_live_stack(live),
        .has_stream = row->has_stream,
        .stream = row->stream,
        .policy = nm_is_pool(live->heap) ? 0 : row->policy,
        .address = nm_live_address(live),
        .size_bytes = row->size_bytes,
        .requested_bytes = row->requested_bytes,
        .block_bytes = row->block_bytes,
        .alloc_seq = row->alloc_seq,
        .alloc_ns = row->alloc_ns,
        .cost_ns = row->cost_ns,
        .free_requested_seq = more->free_requested_seq,
        .free_seq = more->free_seq,
        .free_ns = more->free_ns,
        .free_thread_id = more->free_thread_id,
        .free_stack_id = more->free_stack_id,
        .end_kind = more->end_kind,
        .operation_kind = (nm_range_kind)row->operation_kind,
        .operation_name = row->operation_name,
        .is_unloaded = more->is_unloaded,
        .live_bytes = row->live_bytes,
        .is_miss = row->is_miss == NM_NO_MISS ? NM_UNKNOWN_NUMBER : row->is_miss,
        .split_from_id = more->split_from_id,
        .is_segment = row->is_segment,
        .is_doubtful = more->is_doubtful,
        .generation = more->generation,
        .private_pool = nm_live_private_pool(live),
        .operation_source = (nm_operation_source)row->operation_source,
        .is_exported = row->is_exported,
        .is_mapped = live->is_mapped,
        .graph_id = more->graph_id,
        .peak_seq = more->peak_seq,
        .device_peak_seq = more->device_peak_seq,
        .reserve_seq = more->reserve_seq,
        .moment_seq = more->moment_seq,
    };
}
