/* SPDX-License-Identifier: Apache-2.0
 *
 * Who freed the memory around an address: places.c knows what began at an address, this also what only held it. The last
 * frees are noted in a ring, which costs a free next to nothing; only when somebody asks are they painted, one over the
 * other, into trees of disjoint pieces, so that each byte belongs to its last free. Both have room for NM_FREED_MAX: what
 * is older is forgotten, and when more frees than that came between two questions, so is everything before them, since
 * any of it may have been freed again.
 *
 * Blocks of pools have a tree of their own: the end of the segment around them is no answer to who gave them up.
 */
#include "replay/freed.h"

#include <stdlib.h>

#include "replay/lookup.h"

struct nm_recent_free {
    nm_process *process;
    uint64_t from, to;
    nm_freed_where tree; /* in a pool or of the driver */
    bool is_over;        /* of the driver, and no segment: whatever pool had blocks there is gone */
    nm_freed freed;
};

struct nm_freed_piece {
    nm_tree_node node; /* by address in process->freed[tree]; its value is the address behind the last byte */
    nm_process *process;
    nm_freed_where tree;
    nm_freed freed;
    nm_freed_piece *older, *newer; /* of the replay */
};

nm_status nm_freed_note(nm_replay *replay, const nm_live *live, const nm_context *context, nm_error *err)
{
    const nm_heap *heap = live->heap;
    bool is_pool = nm_is_pool(heap);

    if (heap->device == NULL || (!is_pool && heap->level != NM_LEVEL_DRIVER) || live->node.key >= live->node.value)
        return NM_OK;
    if (replay->recent_frees == NULL)
        replay->recent_frees = nm_replay_allocate(NM_FREED_MAX * sizeof *replay->recent_frees, err);
    if (replay->recent_frees == NULL)
        return NM_ERR_MEMORY;
    replay->recent_frees[replay->recent_free_count++ % NM_FREED_MAX] =
        (nm_recent_free){.process = heap->process,
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

static nm_freed_piece *piece_of(nm_tree_node *node)
{
    return node == NULL ? NULL : NM_TREE_ITEM(node, nm_freed_piece, node);
}

static void forget(nm_replay *replay, nm_freed_piece *piece)
{
    nm_tree_remove(&piece->process->freed[piece->tree], &piece->node);
    if (piece->older != NULL)
        piece->older->newer = piece->newer;
    else
        replay->oldest_freed = piece->newer;
    if (piece->newer != NULL)
        piece->newer->older = piece->older;
    else
        replay->newest_freed = piece->older;
    replay->freed_count--;
    free(piece);
}

/* Adds a piece behind `older` (NULL: as the newest), and forgets the oldest where there are too many. */
static nm_status add(nm_replay *replay, const nm_freed_piece *like, uint64_t from, uint64_t to, nm_freed_piece *older,
                     nm_error *err)
{
    nm_freed_piece *piece = nm_replay_allocate(sizeof *piece, err);

    if (piece == NULL)
        return NM_ERR_MEMORY;
    *piece = *like;
    piece->node = (nm_tree_node){.key = from, .value = to};
    piece->older = older == NULL ? replay->newest_freed : older;
    piece->newer = older == NULL ? NULL : older->newer;
    if (piece->older != NULL)
        piece->older->newer = piece;
    else
        replay->oldest_freed = piece;
    if (piece->newer != NULL)
        piece->newer->older = piece;
    else
        replay->newest_freed = piece;
    nm_tree_insert(&piece->process->freed[piece->tree], &piece->node);
    if (++replay->freed_count > NM_FREED_MAX)
        forget(replay, replay->oldest_freed);
    return NM_OK;
}

/* Takes [from, to) away from the pieces of a tree, which are apart from each other. */
static nm_status clear(nm_replay *replay, nm_tree *tree, uint64_t from, uint64_t to, nm_error *err)
{
    nm_tree_node *node = nm_tree_holding(tree, from);

    if (node == NULL)
        node = nm_tree_ceiling(tree, from);
    while (node != NULL && node->key < to) {
        nm_tree_node *next = nm_tree_next(node);
        nm_freed_piece *piece = piece_of(node);
        uint64_t end = node->value;

        if (node->key < from) {
            nm_tree_change(node, node->key, from);
            if (end > to)
                return add(replay, piece, to, end, piece, err);
        } else if (end > to) {
            nm_tree_change(node, to, end);
        } else {
            forget(replay, piece);
        }
        node = next;
    }
    return NM_OK;
}

static nm_status paint(nm_replay *replay, const nm_recent_free *recent, nm_error *err)
{
    nm_process *process = recent->process;
    nm_freed_piece like = {.process = process, .tree = recent->tree, .freed = recent->freed};
    nm_status status = clear(replay, &process->freed[recent->tree], recent->from, recent->to, err);

    if (status == NM_OK && recent->is_over)
        status = clear(replay, &process->freed[NM_FREED_IN_POOL], recent->from, recent->to, err);
    return status == NM_OK ? add(replay, &like, recent->from, recent->to, NULL, err) : status;
}

nm_status nm_freed_find(nm_replay *replay, const nm_process *process, nm_freed_where where, uint64_t address,
                        const nm_freed **out, nm_error *err)
{
    uint64_t count = replay->recent_free_count;
    nm_status status = NM_OK;
    nm_freed_piece *piece = NULL;

    if (count > NM_FREED_MAX)
        nm_freed_forget_all(replay);
    for (uint64_t i = count > NM_FREED_MAX ? count - NM_FREED_MAX : 0; i < count && status == NM_OK; i++)
        status = paint(replay, &replay->recent_frees[i % NM_FREED_MAX], err);
    replay->recent_free_count = 0;
    if (where != NM_FREED_IN_DRIVER)
        piece = piece_of(nm_tree_holding(&process->freed[NM_FREED_IN_POOL], address));
    if (piece == NULL && where != NM_FREED_IN_POOL)
        piece = piece_of(nm_tree_holding(&process->freed[NM_FREED_IN_DRIVER], address));
    *out = piece == NULL ? NULL : &piece->freed;
    return status;
}

void nm_freed_forget_all(nm_replay *replay)
{
    while (replay->oldest_freed != NULL)
        forget(replay, replay->oldest_freed);
}
