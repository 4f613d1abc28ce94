/* SPDX-License-Identifier: Apache-2.0
 *
 * Which copies move what was copied before. The sources of the last copies are kept by address, at most
 * NM_REPEAT_SOURCES_MAX of them and NM_REPEAT_SIZES_MAX at one address; a copy or memset that writes into one, and the
 * end of the memory around it, make the replay forget it, and so does everything after which that may have been missed: a
 * loss, a pause, an event whose place in the order is not certain. So what is counted has happened; what kernels and the
 * processor have written in between is not recorded.
 */
#include "replay/repeat.h"

#include <stdlib.h>

#include "replay/lookup.h"

#define NM_REPEAT_SOURCES_MAX 65536
#define NM_REPEAT_SIZES_MAX   8

struct nm_source {     /* what was copied, and as far as is known not written since */
    nm_tree_node node; /* by address; its value is the address behind the last byte */
    nm_process *process;
    uint64_t kind, target_device_id;
    uint64_t copy_count;
    struct nm_source *older, *newer; /* of the replay, by their last copies */
};

static void unlink_source(nm_replay *replay, nm_source *source)
{
    if (source->older != NULL)
        source->older->newer = source->newer;
    else
        replay->oldest_source = source->newer;
    if (source->newer != NULL)
        source->newer->older = source->older;
    else
        replay->newest_source = source->older;
}

static void link_source(nm_replay *replay, nm_source *source)
{
    source->older = replay->newest_source;
    source->newer = NULL;
    if (source->older != NULL)
        source->older->newer = source;
    else
        replay->oldest_source = source;
    replay->newest_source = source;
}

static void forget(nm_replay *replay, nm_source *source)
{
    nm_tree_remove(&source->process->sources, &source->node);
    unlink_source(replay, source);
    replay->source_count--;
    free(source);
}

void nm_repeat_written(nm_replay *replay, nm_process *process, uint64_t from, uint64_t to)
{
    nm_tree_node *node;

    if (process->sources.root == NULL || from >= to)
        return;
    while ((node = nm_tree_holding(&process->sources, from)) != NULL)
        forget(replay, NM_TREE_ITEM(node, nm_source, node));
    while ((node = nm_tree_ceiling(&process->sources, from)) != NULL && node->key < to)
        forget(replay, NM_TREE_ITEM(node, nm_source, node));
}

void nm_repeat_forget(nm_replay *replay, nm_process *process)
{
    while (process->sources.root != NULL)
        forget(replay, NM_TREE_ITEM(process->sources.root, nm_source, node));
}

void nm_repeat_forget_all(nm_replay *replay)
{
    while (replay->oldest_source != NULL)
        forget(replay, replay->oldest_source);
}

/* The source of the row, made where it is missing; NULL with *err filled when memory is out. */
static nm_source *find_source(nm_replay *replay, nm_process *process, const nm_copy_row *row, nm_error *err)
{
    uint64_t to = row->source_address + row->size_bytes;
    nm_tree_node *node = nm_tree_floor(&process->sources, row->source_address);
    nm_source *source = NULL;

    for (int count = 1; node != NULL && node->key == row->source_address; count++) {
        source = NM_TREE_ITEM(node, nm_source, node);
        if (node->value == to && source->kind == (uint64_t)row->kind &&
            source->target_device_id == row->target_device_id)
            return source;
        node = nm_tree_previous(node);
        if (count == NM_REPEAT_SIZES_MAX)
            forget(replay, source);
    }
    if (replay->source_count == NM_REPEAT_SOURCES_MAX)
        forget(replay, replay->oldest_source);
    source = nm_replay_allocate(sizeof *source, err);
    if (source == NULL)
        return NULL;
    source->process = process;
    source->kind = (uint64_t)row->kind;
    source->target_device_id = row->target_device_id;
    source->node.key = row->source_address;
    source->node.value = to;
    nm_tree_insert(&process->sources, &source->node);
    link_source(replay, source);
    replay->source_count++;
    return source;
}

/* Counts the copy, which did not fail. */
static nm_status count_source(nm_replay *replay, nm_process *process, nm_copy_row *row, nm_error *err)
{
    nm_source *source = find_source(replay, process, row, err);

    if (source == NULL)
        return NM_ERR_MEMORY;
    unlink_source(replay, source);
    link_source(replay, source);
    row->repeat_count = source->copy_count++;
    return NM_OK;
}

static uint64_t end_of(uint64_t address, uint64_t bytes)
{
    return address + bytes < address ? UINT64_MAX : address + bytes;
}

nm_status nm_repeat_copy(nm_replay *replay, const nm_context *context, nm_copy_row *row, nm_error *err)
{
    nm_process *process = context->process;
    bool is_certain = (context->event->flags & NM_FLAG_LATE) == 0;
    uint64_t to = end_of(row->source_address, row->size_bytes);
    nm_status status = NM_OK;

    if (process == NULL || row->size_bytes == 0)
        return NM_OK;
    if (row->kind != NM_COPY_MEMSET && !is_certain)
        nm_repeat_written(replay, process, row->source_address, to);
    else if (row->kind != NM_COPY_MEMSET && row->error_code == 0 && row->source_address != 0 && to != UINT64_MAX)
        status = count_source(replay, process, row, err);
    nm_repeat_written(replay, process, row->target_address, end_of(row->target_address, row->size_bytes));
    return status;
}
