/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the block of a workspace is held while no operator works in it. The life of such a block, from the first
 * operator in it on, is told in spans that follow each other: in use, between two uses, and after the last. An operator
 * may go on when its block is gone, and the block when the operator ends: what is told of it lives as long as both.
 */
#include "replay/hold.h"

#include <stdlib.h>

#include "replay/lookup.h"

struct nm_hold {
    nm_live *live; /* NULL: the block is gone */
    nm_process *process;
    uint64_t heap_id, bytes, stream;
    bool has_stream;
    bool is_used;
    uint64_t open_count; /* operators that work in it now */
    uint64_t use_count;  /* that have begun since since_ns */
    int64_t since_ns;    /* begin of the span */
    nm_hold *previous, *next;
};

static void free_hold(nm_hold *hold)
{
    if (hold->previous != NULL)
        hold->previous->next = hold->next;
    else
        hold->process->first_hold = hold->next;
    if (hold->next != NULL)
        hold->next->previous = hold->previous;
    if (hold->live != NULL)
        hold->live->hold = NULL;
    free(hold);
}

static nm_status end_span(nm_replay *replay, nm_hold *hold, nm_hold_span span, int64_t ns, nm_error *err)
{
    nm_workspace_span_row row = {
        .heap_id = hold->heap_id,
        .has_stream = hold->has_stream,
        .stream = hold->stream,
        .span = span,
        .is_last = hold->live == NULL,
        .size_bytes = hold->bytes,
        .use_count = hold->use_count,
        .ns =
            hold->since_ns == NM_NO_TIME || ns == NM_NO_TIME || ns < hold->since_ns ? NM_NO_TIME : ns - hold->since_ns,
    };

    hold->since_ns = ns;
    hold->use_count = 0;
    return nm_give_workspace_span(&replay->sink, &row, err);
}

static nm_hold *new_hold(nm_live *live, int64_t ns, nm_error *err)
{
    nm_process *process = live->heap->process;
    nm_hold *hold = nm_replay_allocate(sizeof *hold, err);

    if (hold == NULL)
        return NULL;
    *hold = (nm_hold){.live = live,
                      .process = process,
                      .heap_id = live->heap->id,
                      .bytes = live->node.value - live->node.key,
                      .since_ns = ns,
                      .next = process->first_hold};
    if (hold->next != NULL)
        hold->next->previous = hold;
    process->first_hold = hold;
    live->hold = hold;
    return hold;
}

nm_status nm_hold_use(nm_replay *replay, nm_live *live, nm_operation *operation, nm_error *err)
{
    int64_t ns = operation->row.begin_ns;
    nm_status status = NM_OK;

    if (live->hold == NULL && new_hold(live, ns, err) == NULL)
        return NM_ERR_MEMORY;
    nm_hold *hold = live->hold;
    if (hold->open_count == 0 && hold->is_used)
        status = end_span(replay, hold, NM_HOLD_BETWEEN, ns, err);
    if (hold->open_count == 0) {
        hold->has_stream = operation->row.has_stream;
        hold->stream = operation->row.stream;
    }
    hold->is_used = true;
    hold->open_count++;
    hold->use_count++;
    operation->hold = hold;
    return status;
}

nm_status nm_hold_leave(nm_replay *replay, nm_operation *operation, nm_error *err)
{
    int64_t ns = operation->row.end_ns != NM_NO_TIME ? operation->row.end_ns : replay->last_ns;
    nm_hold *hold = operation->hold;
    nm_status status = NM_OK;

    operation->hold = NULL;
    if (hold == NULL || --hold->open_count > 0)
        return NM_OK;
    if (hold->live != NULL)
        status = end_span(replay, hold, NM_HOLD_USED, ns, err);
    else
        free_hold(hold);
    return status;
}

nm_status nm_hold_end(nm_replay *replay, nm_live *live, bool is_freed, int64_t ns, nm_error *err)
{
    nm_hold *hold = live->hold;
    nm_status status;

    if (hold == NULL)
        return NM_OK;
    live->hold = NULL;
    hold->live = NULL;
    status = end_span(replay, hold,
                      hold->open_count > 0 ? NM_HOLD_USED
                      : is_freed           ? NM_HOLD_AFTER
                                           : NM_HOLD_AT_END,
                      ns, err);
    if (hold->open_count == 0)
        free_hold(hold);
    return status;
}

nm_status nm_hold_process_end(nm_replay *replay, nm_process *process, int64_t ns, nm_error *err)
{
    nm_status status = NM_OK;

    for (nm_hold *hold = process->first_hold; hold != NULL && status == NM_OK;) {
        nm_live *live = hold->live;

        hold = hold->next;
        if (live != NULL)
            status = nm_hold_end(replay, live, false, ns, err);
    }
    return status;
}

void nm_hold_discard(nm_process *process)
{
    while (process->first_hold != NULL) {
        process->first_hold->live = NULL;
        free_hold(process->first_hold);
    }
}
