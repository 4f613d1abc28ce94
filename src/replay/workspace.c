/* SPDX-License-Identifier: Apache-2.0
 *
 * Which block an operator works in, and so which operator a block belongs to. The caller allocates an operator's workspace
 * before the operator begins, so the open range of a thread cannot tell: the block is found by the address that the
 * operator was given, at the innermost level that has one around all of the workspace. A segment is no such block: it
 * carries many, and which of them was meant was not recorded.
 *
 * Where another thread runs the operator than allocated its block (a task queue lies between), the block may have been
 * freed by then and its address handed out again. So the streams must not contradict, nothing may be lost or late, and a
 * pool's block counts only if it begins where the workspace does and no other block ended there while the operator may
 * have been in the queue. A queue hands its operators on in their order: once a thread has run an operator in a block,
 * whatever it runs later was queued after that block was allocated (nm_thread.queue_seq), and what ended before that is out
 * of the question. A thread that runs operators for others is asked the same of its own blocks. Allocators of workspaces
 * and the driver give no memory up that is still in use, so that the question does not arise for them.
 */
#include "replay/workspace.h"

#include "replay/doubt.h"
#include "replay/lookup.h"
#include "replay/pass.h"

static void set_operation(nm_live *live, const nm_operation_row *operation, nm_operation_source source)
{
    live->row.operation_id = operation->operation_id;
    live->row.operation_source = (uint8_t)source;
    live->row.operation_kind = (uint8_t)operation->kind;
    live->row.operation_name = operation->name;
}

void nm_workspace_own(const nm_replay *replay, nm_live *live, const nm_thread *thread)
{
    const nm_operation *operation = nm_replay_innermost(replay, thread);

    if (operation != NULL)
        set_operation(live, &operation->row, NM_SOURCE_THREAD);
}

/* ---- Finding the block ------------------------------------------------------------------------------------------- */

static nm_live *find_around(const nm_tree *space, uint64_t address, uint64_t bytes)
{
    nm_tree_node *node = nm_tree_holding(space, address);

    return node == NULL || node->value - address < bytes ? NULL : NM_TREE_ITEM(node, nm_live, node);
}

/* The smallest block of the level; pools may lie in blocks of pools. */
static nm_live *find_block(const nm_process *process, uint64_t level, uint64_t address, uint64_t bytes)
{
    nm_live *best = NULL;

    for (const nm_heap *heap = process->heaps; heap != NULL; heap = heap->next_of_process) {
        nm_live *live = heap->level != level ? NULL : find_around(&heap->blocks, address, bytes);

        if (live != NULL && (best == NULL || live->node.value - live->node.key < best->node.value - best->node.key))
            best = live;
    }
    return best;
}

static nm_live *find_range(const nm_process *process, uint64_t address, uint64_t bytes)
{
    nm_live *range = NULL;

    for (const nm_arena *arena = process->arenas; arena != NULL && range == NULL; arena = arena->next)
        range = find_around(&arena->ranges, address, bytes);
    return range == NULL || range->row.is_segment ? NULL : range;
}

static nm_live *find_workspace(const nm_process *process, uint64_t address, uint64_t bytes)
{
    nm_live *live = find_block(process, NM_LEVEL_WORKSPACE, address, bytes);

    if (live == NULL)
        live = find_block(process, NM_LEVEL_POOL, address, bytes);
    return live != NULL ? live : find_range(process, address, bytes);
}

/* ---- Whose it is ------------------------------------------------------------------------------------------------- */

static bool is_own(const nm_live *live, const nm_context *context)
{
    return context->thread != NULL && live->row.thread_id == context->thread->id;
}

/* May the operator have been given another block, of which this one has taken the place? */
static bool may_be_another(const nm_live *live, const nm_context *context)
{
    const nm_event *event = context->event;
    const nm_thread *thread = context->thread;

    if (thread == NULL || (is_own(live, context) && !thread->is_queue))
        return false;
    if (!is_own(live, context) && (event->flags & NM_FLAG_STREAM) && live->row.has_stream &&
        live->row.stream != event->stream)
        return true;
    return live->heap->level == NM_LEVEL_POOL &&
           (nm_live_address(live) != event->address || live->place->freed_seq > thread->queue_seq);
}

static nm_operation_source source_of(const nm_replay *replay, const nm_live *live, const nm_context *context)
{
    if (context->thread == NULL || live->row.thread_id == 0 || live->is_late || (context->event->flags & NM_FLAG_LATE))
        return NM_SOURCE_NONE;
    if (is_own(live, context))
        return NM_SOURCE_WORKSPACE;
    return nm_doubt_of_live(replay, live) ? NM_SOURCE_NONE : NM_SOURCE_QUEUE;
}

/* Is it first known by this whose block it is? */
static bool use_block(const nm_replay *replay, nm_live *live, const nm_context *context, const nm_operation *operation,
                      nm_workspace_row *row)
{
    bool is_first = false;
    nm_operation_source source = source_of(replay, live, context);

    row->allocation_id = live->row.allocation_id;
    row->heap_id = live->heap->id;
    row->block_bytes = live->node.value - live->node.key;
    row->is_reused = live->is_workspace;
    live->is_workspace = true;
    if (source != NM_SOURCE_NONE && live->row.operation_source == NM_SOURCE_NONE) {
        set_operation(live, &operation->row, source);
        is_first = true;
    }
    if (source == NM_SOURCE_QUEUE && live->row.alloc_seq > context->thread->queue_seq)
        context->thread->queue_seq = live->row.alloc_seq;
    return is_first;
}

static nm_workspace_row row_of(nm_replay *replay, const nm_context *context, const nm_operation_row *operation)
{
    const nm_event *event = context->event;
    uint64_t bytes = event->requested_bytes;

    return (nm_workspace_row){
        .workspace_id = ++replay->workspace_count,
        .operation_id = operation->operation_id,
        .process_id = operation->process_id,
        .thread_id = operation->thread_id,
        .operation_kind = operation->kind,
        .operation_name = operation->name,
        .has_stream = operation->has_stream,
        .stream = operation->stream,
        .seq = context->seq,
        .ns = event->time_ns,
        .address = event->address,
        .requested_bytes = bytes < NM_SIZE_BYTES_MAX ? bytes : NM_SIZE_BYTES_MAX,
        .is_reused = NM_UNKNOWN_NUMBER,
    };
}

nm_status nm_workspace_use(nm_replay *replay, const nm_context *context, nm_operation *operation, nm_error *err)
{
    nm_workspace_row row = row_of(replay, context, &operation->row);
    nm_live *live = context->process == NULL
                        ? NULL
                        : find_workspace(context->process, row.address, context->event->requested_bytes);
    bool is_first = false;
    nm_status status;

    if (live != NULL && context->thread != NULL)
        context->thread->is_queue |= live->row.thread_id != 0 && !is_own(live, context);
    if (live != NULL && may_be_another(live, context))
        live = NULL;
    if (live != NULL)
        is_first = use_block(replay, live, context, operation, &row);
    status = NM_TELL(replay, NM_CHANGE_WORKSPACE, err, .context = context, .process = context->process,
                     .operation = operation, .live = live, .workspace = &row, .is_first = is_first);
    return status == NM_OK ? nm_give_workspace(&replay->sink, &row, err) : status;
}
