/* SPDX-License-Identifier: Apache-2.0
 *
 * The arrays of a workload. Four bytes for an operation, and few more where it asks for memory: of what is asked for
 * much is alike, and how far an event is from the one before is a small number.
 */
#include <stdlib.h>

#include "whatif/workload_build.h"

nm_status nm_workload_add_lane(nm_workload *workload, nm_lane lane, nm_error *err)
{
    nm_status status = nm_array_grow(&workload->lanes.items, &workload->lanes.capacity, workload->lanes.count + 1,
                                     sizeof *workload->lanes.items, err);

    if (status == NM_OK)
        workload->lanes.items[workload->lanes.count++] = lane;
    return status;
}

nm_status nm_workload_number(nm_workload *workload, nm_request request, uint32_t *number, nm_error *err)
{
    uint64_t found = 0;
    nm_status status =
        nm_map_number(&workload->request_of,
                      (nm_key){request.bytes, (uint64_t)request.lane << 1 | request.is_block_bytes}, &found, err);

    *number = (uint32_t)found;
    if (status != NM_OK || found < workload->requests.count)
        return status;
    status = nm_array_grow(&workload->requests.items, &workload->requests.capacity, workload->requests.count + 1,
                           sizeof *workload->requests.items, err);
    if (status == NM_OK)
        workload->requests.items[workload->requests.count++] = request;
    return status;
}

nm_status nm_workload_take_slot(nm_workload *workload, uint32_t *slot, nm_error *err)
{
    if (workload->unused_slots.count > 0)
        *slot = workload->unused_slots.items[--workload->unused_slots.count];
    else if (workload->slot_count >> NM_OP_INDEX_BITS != 0)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %u requests of one pool", 1u << NM_OP_INDEX_BITS);
    else
        *slot = workload->slot_count++;
    return NM_OK;
}

static nm_status give_slot(nm_workload *workload, uint32_t slot, nm_error *err)
{
    nm_status status = nm_array_grow(&workload->unused_slots.items, &workload->unused_slots.capacity,
                                     workload->unused_slots.count + 1, sizeof *workload->unused_slots.items, err);

    if (status == NM_OK)
        workload->unused_slots.items[workload->unused_slots.count++] = slot;
    return status;
}

static nm_status mark_seq(nm_workload *workload, nm_error *err)
{
    nm_status status = nm_array_grow(&workload->seq_marks.items, &workload->seq_marks.capacity,
                                     workload->seq_marks.count + 1, sizeof *workload->seq_marks.items, err);

    if (status == NM_OK)
        workload->seq_marks.items[workload->seq_marks.count++] = (nm_seq_mark){workload->last_seq, workload->seqs.len};
    return status;
}

nm_status nm_workload_note_ask(nm_workload *workload, uint32_t request, int64_t seq, nm_error *err)
{
    nm_status status;

    if (workload->asks.count >> NM_OP_INDEX_BITS != 0)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %u requests of one pool", 1u << NM_OP_INDEX_BITS);
    status = nm_array_grow(&workload->asks.items, &workload->asks.capacity, workload->asks.count + 1,
                           sizeof *workload->asks.items, err);
    if (status == NM_OK && workload->asks.count % NM_SEQ_MARK_ASKS == 0)
        status = mark_seq(workload, err);
    if (status == NM_OK)
        status = nm_buffer_append_varint(&workload->seqs, (uint64_t)seq - (uint64_t)workload->last_seq, err);
    if (status != NM_OK)
        return status;
    workload->last_seq = seq;
    workload->asks.items[workload->asks.count++] = request;
    return NM_OK;
}

int64_t nm_workload_seq(const nm_workload *workload, size_t ask)
{
    const nm_seq_mark *mark = &workload->seq_marks.items[ask / NM_SEQ_MARK_ASKS];
    nm_cursor packed = nm_cursor_over(workload->seqs.data + mark->offset, workload->seqs.len - mark->offset);
    uint64_t seq = (uint64_t)mark->seq;

    for (size_t i = 0; i <= ask % NM_SEQ_MARK_ASKS; i++)
        seq += nm_read_varint(&packed);
    return (int64_t)seq;
}

nm_status nm_workload_add_op(nm_workload *workload, nm_op_kind kind, uint32_t index, nm_error *err)
{
    nm_status status = nm_array_grow(&workload->ops.items, &workload->ops.capacity, workload->ops.count + 1,
                                     sizeof *workload->ops.items, err);

    if (status == NM_OK)
        workload->ops.items[workload->ops.count++] = (uint32_t)kind << NM_OP_INDEX_BITS | index;
    workload->step_count += kind == NM_OP_STEP;
    return status == NM_OK && (kind == NM_OP_FREE || kind == NM_OP_FAILED) ? give_slot(workload, index, err) : status;
}

nm_status nm_workload_add_ask(nm_workload *workload, nm_op_kind kind, uint32_t request, int64_t seq, uint32_t *slot,
                              nm_error *err)
{
    nm_status status = nm_workload_note_ask(workload, request, seq, err);

    *slot = 0;
    if (status == NM_OK && kind != NM_OP_TAKE_OTHER)
        status = nm_workload_take_slot(workload, slot, err);
    return status == NM_OK ? nm_workload_add_op(workload, kind, *slot, err) : status;
}

nm_status nm_workload_ask(nm_workload *workload, nm_op_kind kind, nm_request request, int64_t seq, uint32_t *slot,
                          nm_error *err)
{
    uint32_t number = 0;
    nm_status status = nm_workload_number(workload, request, &number, err);

    return status == NM_OK ? nm_workload_add_ask(workload, kind, number, seq, slot, err) : status;
}

/* Not zeroed, so that what is never used is never there. */
static bool reserve(uint32_t **items, size_t *capacity, size_t count)
{
    *items = malloc((count + 1) * sizeof **items);
    *capacity = *items == NULL ? 0 : count + 1;
    return *items != NULL;
}

nm_status nm_workload_reserve(nm_workload *workload, size_t op_count, size_t ask_count, nm_error *err)
{
    bool has_room = reserve(&workload->ops.items, &workload->ops.capacity, op_count) &&
                    reserve(&workload->asks.items, &workload->asks.capacity, ask_count);

    return has_room ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

static void shrink(uint32_t **items, size_t *capacity, size_t count)
{
    uint32_t *shrunk = realloc(*items, (count + 1) * sizeof **items);

    if (shrunk == NULL)
        return;
    *items = shrunk;
    *capacity = count + 1;
}

void nm_workload_settle(nm_workload *workload)
{
    shrink(&workload->ops.items, &workload->ops.capacity, workload->ops.count);
    shrink(&workload->asks.items, &workload->asks.capacity, workload->asks.count);
    nm_map_free(&workload->request_of);
    free(workload->unused_slots.items);
    workload->unused_slots.items = NULL;
    workload->unused_slots.count = workload->unused_slots.capacity = 0;
}

void nm_workload_free(nm_workload *workload)
{
    if (workload == NULL)
        return;
    free(workload->requests.items);
    free(workload->ops.items);
    free(workload->asks.items);
    nm_buffer_free(&workload->seqs);
    free(workload->seq_marks.items);
    free(workload->lanes.items);
    free(workload->spaces.items);
    free(workload->seeds.items);
    free(workload->baseline.items);
    nm_map_free(&workload->request_of);
    free(workload->unused_slots.items);
    free(workload);
}
