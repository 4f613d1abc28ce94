/* SPDX-License-Identifier: Apache-2.0
 *
 * How long the block of a workspace lies idle: no operator works in it. The life of such a block, from the first operator
 * in it on, is told in spans that follow each other: in use, between two uses, and after the last. An operator may go on
 * when its block is gone, and the block when the operator ends: what is told of it lives as long as both.
 */
#include "analysis/passes.h"

#include <stdlib.h>

#include "replay/lookup.h"
#include "replay/pass.h"

typedef struct tenancy { /* of one block by the operators that work in it, one after the other */
    const nm_live *live; /* NULL: the block is gone */
    const nm_process *process;
    uint64_t heap_id, bytes, stream;
    bool has_stream;
    bool is_used;
    uint64_t open_count;             /* operators that work in it now */
    uint64_t use_count;              /* that have begun since since_ns */
    int64_t since_ns;                /* begin of the span */
    struct tenancy *previous, *next; /* of the process */
} tenancy;

typedef struct process_room {
    tenancy *first; /* owned */
} process_room;

typedef struct link_room { /* of a block, or of an operation */
    tenancy *tenancy;
} link_room;

static tenancy **link_of_block(const nm_run *run, const nm_live *block)
{
    return &((link_room *)nm_live_room(run, block))->tenancy;
}

static tenancy **link_of_operation(const nm_run *run, const nm_operation *operation)
{
    return &((link_room *)nm_operation_room(run, operation))->tenancy;
}

static void unlink_tenancy(const nm_run *run, tenancy *gone)
{
    process_room *room = nm_process_room(run, gone->process);

    if (gone->previous != NULL)
        gone->previous->next = gone->next;
    else
        room->first = gone->next;
    if (gone->next != NULL)
        gone->next->previous = gone->previous;
    free(gone);
}

static nm_status end_span(const nm_run *run, tenancy *of, nm_hold_span span, int64_t ns, nm_error *err)
{
    nm_workspace_span_row row = {
        .heap_id = of->heap_id,
        .has_stream = of->has_stream,
        .stream = of->stream,
        .span = span,
        .is_last = of->live == NULL,
        .size_bytes = of->bytes,
        .use_count = of->use_count,
        .ns = of->since_ns == NM_NO_TIME || ns == NM_NO_TIME || ns < of->since_ns ? NM_NO_TIME : ns - of->since_ns,
    };

    of->since_ns = ns;
    of->use_count = 0;
    return nm_give_workspace_span(&run->replay->sink, &row, err);
}

static tenancy *new_tenancy(nm_run *run, const nm_live *block, int64_t ns, nm_error *err)
{
    process_room *room = nm_process_room(run, block->heap->process);
    tenancy *made = nm_replay_allocate(sizeof *made, err);

    if (made == NULL)
        return NULL;
    *made = (tenancy){.live = block,
                      .process = block->heap->process,
                      .heap_id = block->heap->id,
                      .bytes = nm_live_extent(block),
                      .since_ns = ns,
                      .next = room->first};
    if (made->next != NULL)
        made->next->previous = made;
    room->first = made;
    *link_of_block(run, block) = made;
    nm_run_hear(run, NM_CHANGE_ENDING, true);
    nm_run_hear(run, NM_CHANGE_OUTSTANDING, true);
    return made;
}

/* The operation works in the block from its begin on. */
static nm_status use_block(nm_run *run, const nm_live *block, const nm_operation *operation, nm_error *err)
{
    int64_t ns = operation->row.begin_ns;
    tenancy *of = *link_of_block(run, block);
    nm_status status = NM_OK;

    if (of == NULL)
        of = new_tenancy(run, block, ns, err);
    if (of == NULL)
        return NM_ERR_MEMORY;
    if (of->open_count == 0 && of->is_used)
        status = end_span(run, of, NM_HOLD_BETWEEN, ns, err);
    if (of->open_count == 0) {
        of->has_stream = operation->row.has_stream;
        of->stream = operation->row.stream;
    }
    of->is_used = true;
    of->open_count++;
    of->use_count++;
    *link_of_operation(run, operation) = of;
    return status;
}

static nm_status end_operation(const nm_run *run, const nm_operation *operation, nm_error *err)
{
    int64_t ns = operation->row.end_ns != NM_NO_TIME ? operation->row.end_ns : run->replay->last_ns;
    tenancy *of = *link_of_operation(run, operation);

    if (of == NULL || --of->open_count > 0)
        return NM_OK;
    if (of->live != NULL)
        return end_span(run, of, NM_HOLD_USED, ns, err);
    unlink_tenancy(run, of);
    return NM_OK;
}

/* The block ends, or (is_freed = false) all that is known of it. */
static nm_status end_block(const nm_run *run, const nm_live *block, bool is_freed, int64_t ns, nm_error *err)
{
    tenancy *of = *link_of_block(run, block);
    nm_status status;

    if (of == NULL)
        return NM_OK;
    *link_of_block(run, block) = NULL;
    of->live = NULL;
    status = end_span(run, of, of->open_count > 0 ? NM_HOLD_USED : is_freed ? NM_HOLD_AFTER : NM_HOLD_AT_END, ns, err);
    if (of->open_count == 0)
        unlink_tenancy(run, of);
    return status;
}

static nm_status end_process(const nm_run *run, const nm_process *process, int64_t ns, nm_error *err)
{
    const process_room *room = nm_process_room(run, process);
    nm_status status = NM_OK;

    for (tenancy *of = room->first; of != NULL && status == NM_OK;) {
        const nm_live *block = of->live;

        of = of->next;
        if (block != NULL)
            status = end_block(run, block, false, ns, err);
    }
    return status;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    switch (change->kind) {
    case NM_CHANGE_WORKSPACE:
        return change->live == NULL ? NM_OK : use_block(run, change->live, change->operation, err);
    case NM_CHANGE_OPERATION_ENDED:
        return end_operation(run, change->operation, err);
    case NM_CHANGE_ENDING:
        return end_block(run, change->live, true, change->context->event->time_ns, err);
    case NM_CHANGE_OUTSTANDING:
        return end_block(run, change->live, false, run->replay->last_ns, err);
    case NM_CHANGE_PROCESS_ENDED:
        return change->context->event->detail == NM_PROCESS_RUNNING
                   ? NM_OK
                   : end_process(run, change->process, change->context->event->time_ns, err);
    default:
        return NM_OK;
    }
}

static void release(nm_run *run)
{
    for (const nm_process *process = run->replay->first_process; process != NULL; process = process->next) {
        const process_room *room = nm_process_room(run, process);

        while (room->first != NULL)
            unlink_tenancy(run, room->first);
    }
}

const nm_pass nm_workspace_idle_pass = {
    .name = "workspace idle time",
    .gives = {[NM_ROW_WORKSPACE_SPAN] = true},
    .wants = {[NM_CHANGE_WORKSPACE] = true,
              [NM_CHANGE_OPERATION_ENDED] = true,
              [NM_CHANGE_ENDING] = true,
              [NM_CHANGE_OUTSTANDING] = true,
              [NM_CHANGE_PROCESS_ENDED] = true},
    .at_times = {[NM_CHANGE_ENDING] = true, [NM_CHANGE_OUTSTANDING] = true}, /* since there was a workspace */
    .room = {[NM_OWNER_PROCESS] = sizeof(process_room),
             [NM_OWNER_LIVE] = sizeof(link_room),
             [NM_OWNER_OPERATION] = sizeof(link_room)},
    .change = change,
    .release = release,
};
