/* SPDX-License-Identifier: Apache-2.0
 *
 * Who freed the memory around an address: places.c knows what began at an address, this also what only held it. The last
 * frees are noted in a ring, which costs a free next to nothing; only when somebody asks are they painted, one over the
 * other, into trees of disjoint pieces, so that each byte belongs to its last free. Both have room for FREED_MAX: what
 * is older is forgotten, and when more frees than that came between two questions, so is everything before them, since
 * any of it may have been freed again.
 *
 * Blocks of pools have a tree of their own: the end of the segment around them is no answer to who gave them up.
 */
#include "analysis/free_history.h"

#include <stdlib.h>

#include "analysis/passes.h"
#include "base/tree.h"
#include "replay/lookup.h"

#define FREED_MAX 16384

typedef struct recent_free {
    const nm_process *process;
    uint64_t from, to;
    nm_freed_where tree; /* in a pool or of the driver */
    bool is_over;        /* of the driver, and no segment: whatever pool had blocks there is gone */
    nm_freed freed;
} recent_free;

typedef struct freed_piece {
    nm_tree_node node; /* by address in the tree of its process; its value is the address behind the last byte */
    const nm_process *process;
    nm_freed_where tree;
    nm_freed freed;
    struct freed_piece *older, *newer; /* of the replay */
} freed_piece;

typedef struct replay_room {
    recent_free *recent;   /* owned; FREED_MAX of them */
    uint64_t recent_count; /* since somebody asked; the last FREED_MAX are there */
    freed_piece *oldest, *newest;
    size_t piece_count;
} replay_room;

typedef struct process_room {
    nm_tree pieces[2]; /* blocks of pools, driver memory */
} process_room;

static nm_tree *tree_of(const nm_run *run, const nm_process *process, nm_freed_where where)
{
    return &((process_room *)nm_process_room(run, process))->pieces[where];
}

static nm_status note(nm_run *run, const nm_live *live, const nm_context *context, nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    const nm_heap *heap = live->heap;
    bool is_pool = nm_is_pool(heap);

    if (heap->device == NULL || (!is_pool && heap->level != NM_LEVEL_DRIVER) || live->node.key >= live->node.value)
        return NM_OK;
    if (room->recent == NULL)
        room->recent = nm_replay_allocate(FREED_MAX * sizeof *room->recent, err);
    if (room->recent == NULL)
        return NM_ERR_MEMORY;
    room->recent[room->recent_count++ % FREED_MAX] =
        (recent_free){.process = heap->process,
                      .from = live->node.key,
                      .to = live->node.value,
                      .tree = is_pool ? NM_FREED_IN_POOL : NM_FREED_IN_DRIVER,
                      .is_over = !is_pool && live->owner == NULL,
                      .freed = {.address = live->node.key,
                                .allocation_id = live->row.allocation_id,
                                .heap_id = heap->id,
                                .thread_id = context->thread == NULL ? 0 : context->thread->id,
                                .stack_id = context->stack_id,
                                .seq = context->seq}};
    return NM_OK;
}

static freed_piece *piece_of(nm_tree_node *node)
{
    return node == NULL ? NULL : NM_TREE_ITEM(node, freed_piece, node);
}

static void forget(nm_run *run, freed_piece *piece)
{
    replay_room *room = nm_replay_room(run);

    nm_tree_remove(tree_of(run, piece->process, piece->tree), &piece->node);
    if (piece->older != NULL)
        piece->older->newer = piece->newer;
    else
        room->oldest = piece->newer;
    if (piece->newer != NULL)
        piece->newer->older = piece->older;
    else
        room->newest = piece->older;
    room->piece_count--;
    free(piece);
}

/* Adds a piece behind `older` (NULL: as the newest), and forgets the oldest where there are too many. */
static nm_status add(nm_run *run, const freed_piece *like, uint64_t from, uint64_t to, freed_piece *older,
                     nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    freed_piece *piece = nm_replay_allocate(sizeof *piece, err);

    if (piece == NULL)
        return NM_ERR_MEMORY;
    *piece = *like;
    piece->node = (nm_tree_node){.key = from, .value = to};
    piece->older = older == NULL ? room->newest : older;
    piece->newer = older == NULL ? NULL : older->newer;
    if (piece->older != NULL)
        piece->older->newer = piece;
    else
        room->oldest = piece;
    if (piece->newer != NULL)
        piece->newer->older = piece;
    else
        room->newest = piece;
    nm_tree_insert(tree_of(run, piece->process, piece->tree), &piece->node);
    if (++room->piece_count > FREED_MAX)
        forget(run, room->oldest);
    return NM_OK;
}

/* Takes [from, to) away from the pieces of a tree, which are apart from each other. */
static nm_status clear(nm_run *run, nm_tree *tree, uint64_t from, uint64_t to, nm_error *err)
{
    nm_tree_node *node = nm_tree_holding(tree, from);

    if (node == NULL)
        node = nm_tree_ceiling(tree, from);
    while (node != NULL && node->key < to) {
        nm_tree_node *next = nm_tree_next(node);
        freed_piece *piece = piece_of(node);
        uint64_t end = node->value;

        if (node->key < from) {
            nm_tree_change(node, node->key, from);
            if (end > to)
                return add(run, piece, to, end, piece, err);
        } else if (end > to) {
            nm_tree_change(node, to, end);
        } else {
            forget(run, piece);
        }
        node = next;
    }
    return NM_OK;
}

static nm_status paint(nm_run *run, const recent_free *recent, nm_error *err)
{
    const nm_process *process = recent->process;
    freed_piece like = {.process = process, .tree = recent->tree, .freed = recent->freed};
    nm_status status = clear(run, tree_of(run, process, recent->tree), recent->from, recent->to, err);

    if (status == NM_OK && recent->is_over)
        status = clear(run, tree_of(run, process, NM_FREED_IN_POOL), recent->from, recent->to, err);
    return status == NM_OK ? add(run, &like, recent->from, recent->to, NULL, err) : status;
}

static void forget_all(nm_run *run)
{
    const replay_room *room = nm_replay_room(run);

    while (room->oldest != NULL)
        forget(run, room->oldest);
}

nm_status nm_free_history_find(nm_run *run, const nm_process *process, nm_freed_where where, uint64_t address,
                               const nm_freed **out, nm_error *err)
{
    replay_room *room = nm_replay_room(run);
    uint64_t count = room->recent_count;
    nm_status status = NM_OK;
    freed_piece *piece = NULL;

    if (count > FREED_MAX)
        forget_all(run);
    for (uint64_t i = count > FREED_MAX ? count - FREED_MAX : 0; i < count && status == NM_OK; i++)
        status = paint(run, &room->recent[i % FREED_MAX], err);
    room->recent_count = 0;
    if (where != NM_FREED_IN_DRIVER)
        piece = piece_of(nm_tree_holding(tree_of(run, process, NM_FREED_IN_POOL), address));
    if (piece == NULL && where != NM_FREED_IN_POOL)
        piece = piece_of(nm_tree_holding(tree_of(run, process, NM_FREED_IN_DRIVER), address));
    *out = piece == NULL ? NULL : &piece->freed;
    return status;
}

static nm_status change(nm_run *run, const nm_change *change, nm_error *err)
{
    return change->live->more->end_kind == NM_END_REPLACED ? NM_OK : note(run, change->live, change->context, err);
}

static void release(nm_run *run)
{
    forget_all(run);
    free(((replay_room *)nm_replay_room(run))->recent);
}

const nm_pass nm_free_history_pass = {
    .name = "free history",
    .wants = {[NM_CHANGE_ENDING] = change},
    .room = {[NM_OWNER_REPLAY] = sizeof(replay_room), [NM_OWNER_PROCESS] = sizeof(process_room)},
    .release = release,
};
