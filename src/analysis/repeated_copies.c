/* SPDX-License-Identifier: Apache-2.0
 *
 * Which copies move what was copied before. The sources of the last copies are kept by address, at most
 * SOURCES_MAX of them and SIZES_MAX at one address; a copy or memset that writes into one, and the
 * end of the memory around it, make the replay forget it, and so does everything after which that may have been missed: a
 * loss, a pause, an event whose place in the order is not certain. So what is counted has happened; what kernels and the
 * processor have written in between is not recorded.
 */
#include "analysis/repeated_copies.h"

#include <stdlib.h>

#include "analysis/passes.h"
#include "base/tree.h"
#include "replay/lookup.h"

#define SOURCES_MAX 65536
#define SIZES_MAX   8

typedef struct source { /* what was copied, and as far as is known not written since */
    nm_tree_node node;  /* by address; its value is the address behind the last byte */
    const nm_process *process;
    uint64_t kind, target_device_id;
    uint64_t copy_count;
    struct source *older, *newer; /* of the replay, by their last copies */
} source;

typedef struct replay_room {
    source *oldest, *newest; /* owned */
    size_t count;
} replay_room;

typedef struct process_room {
    nm_tree sources; /* what its last copies read */
} process_room;

static nm_tree *tree_of(const nm_run *run, const nm_process *process)
{
    return &((process_room *)nm_process_room(run, process))->sources;
}

static void unlink_source(replay_room *room, source *of)
{
    if (of->older != NULL)
        of->older->newer = of->newer;
    else
        room->oldest = of->newer;
    if (of->newer != NULL)
        of->newer->older = of->older;
    else
        room->newest = of->older;
}

static void link_source(replay_room *room, source *of)
{
    of->older = room->newest;
    of->newer = NULL;
    if (of->older != NULL)
        of->older->newer = of;
    else
        room->oldest = of;
    room->newest = of;
}

static void forget(nm_run *run, source *of)
{
    replay_room *room = nm_replay_room(run);

    nm_tree_remove(tree_of(run, of->process), &of->node);
    unlink_source(room, of);
    if (--room->count == 0)
        nm_run_hear(run, NM_CHANGE_ENDING, false);
    free(of);
}

/* The bytes [from, to) have changed, or are gone. */
static void note_write(nm_run *run, const nm_process *process, uint64_t from, uint64_t to)
{
    nm_tree *sources = tree_of(run, process);
    nm_tree_node *node;

    if (sources->root == NULL || from >= to)
        return;
    while (nm_tree_largest(sources) > from && (node = nm_tree_holding(sources, from)) != NULL)
        forget(run, NM_TREE_ITEM(node, source, node));
    while (nm_tree_largest(sources) > from && (node = nm_tree_ceiling(sources, from)) != NULL && node->key < to)
        forget(run, NM_TREE_ITEM(node, source, node));
}

/* Writes to the memory of the process (NULL: of any) may have been missed. */
static void forget_all(nm_run *run, const nm_process *process)
{
    const replay_room *room = nm_replay_room(run);
    const nm_tree *sources = process == NULL ? NULL : tree_of(run, process);

    if (sources == NULL)
        while (room->oldest != NULL)
            forget(run, room->oldest);
    else
        while (sources->root != NULL)
            forget(run, NM_TREE_ITEM(sources->root, source, node));
}

static source *new_source(nm_run *run, const nm_process *process, const nm_copy_row *row, nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    source *made = nm_replay_allocate(sizeof *made, err);

    if (made == NULL)
        return NULL;
    *made = (source){.node = {.key = row->source_address, .value = row->source_address + row->size_bytes},
                     .process = process,
                     .kind = (uint64_t)row->kind,
                     .target_device_id = row->target_device_id};
    nm_tree_insert(tree_of(run, process), &made->node);
    link_source(room, made);
    if (room->count++ == 0)
        nm_run_hear(run, NM_CHANGE_ENDING, true);
    return made;
}

/* The source of the row, made where it is missing; NULL with *err filled when memory is out. */
static source *find_source(nm_run *run, const nm_process *process, const nm_copy_row *row, nm_error *err)
{
    const replay_room *room = nm_replay_room(run);
    uint64_t to = row->source_address + row->size_bytes;
    nm_tree_node *node = nm_tree_floor(tree_of(run, process), row->source_address);

    for (int count = 1; node != NULL && node->key == row->source_address; count++) {
        source *of = NM_TREE_ITEM(node, source, node);

        if (node->value == to && of->kind == (uint64_t)row->kind && of->target_device_id == row->target_device_id)
            return of;
        node = nm_tree_previous(node);
        if (count == SIZES_MAX)
            forget(run, of);
    }
    if (room->count == SOURCES_MAX)
        forget(run, room->oldest);
    return new_source(run, process, row, err);
}

/* Counts the copy, which did not fail. */
static nm_status count_source(nm_run *run, const nm_process *process, nm_copy_row *row, nm_error *err)
{
    source *of = find_source(run, process, row, err);

    if (of == NULL)
        return NM_ERR_MEMORY;
    unlink_source(nm_replay_room(run), of);
    link_source(nm_replay_room(run), of);
    row->repeat_count = of->copy_count++;
    return NM_OK;
}

static uint64_t end_of(uint64_t address, uint64_t bytes)
{
    return address + bytes < address ? UINT64_MAX : address + bytes;
}

nm_status nm_repeated_copies_count(nm_run *run, const nm_context *context, nm_copy_row *row, nm_error *err)
{
    const nm_process *process = context->process;
    bool is_certain = (context->event->flags & NM_FLAG_LATE) == 0;
    uint64_t to = end_of(row->source_address, row->size_bytes);
    nm_status status = NM_OK;

    if (process == NULL || row->size_bytes == 0)
        return NM_OK;
    if (row->kind != NM_COPY_MEMSET && !is_certain)
        note_write(run, process, row->source_address, to);
    else if (row->kind != NM_COPY_MEMSET && row->error_code == 0 && row->source_address != 0 && to != UINT64_MAX)
        status = count_source(run, process, row, err);
    note_write(run, process, row->target_address, end_of(row->target_address, row->size_bytes));
    return status;
}

static nm_status take_end(nm_run *run, const nm_change *change, nm_error *err)
{
    const nm_live *live = change->live;

    (void)err;
    if (live->heap->level != NM_LEVEL_REGISTERED) /* that memory goes on without being registered */
        note_write(run, live->heap->process, live->node.key, live->node.value);
    return NM_OK;
}

static nm_status take_doubt(nm_run *run, const nm_change *change, nm_error *err)
{
    (void)err;
    forget_all(run, change->process);
    return NM_OK;
}

static void release(nm_run *run)
{
    forget_all(run, NULL);
}

const nm_pass nm_repeated_copies_pass = {
    .name = "repeated copies",
    .wants = {[NM_CHANGE_ENDING] = take_end, [NM_CHANGE_LOST] = take_doubt, [NM_CHANGE_PAUSED] = take_doubt},
    .at_times = {[NM_CHANGE_ENDING] = true}, /* while it knows a source */
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room), [NM_OWNER_PROCESS] = sizeof(process_room)},
    .release = release,
};
