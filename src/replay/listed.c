/* SPDX-License-Identifier: Apache-2.0
 *
 * A source may list at the end what is in its pools: segments, and behind each the blocks in it, free ones too. The books
 * stay what the events made of them; but for the private pool of a block, which older sources tell of segments alone. Which
 * part of its pool a listed segment is of is found here, since it may be one that no event has shown.
 */
#include "replay/listed.h"

#include "replay/lookup.h"
#include "replay/pass.h"
#include "replay/places.h"
#include "replay/sub_pool.h"

static nm_status take_segment(nm_replay *replay, nm_heap *pool, const nm_context *context, nm_error *err)
{
    const nm_event *event = context->event;
    const nm_tree_node *node = nm_tree_holding(&pool->arena->ranges, event->address);
    const nm_live *range = node == NULL ? NULL : NM_TREE_ITEM(node, nm_live, node);
    nm_pool_part_row key = {
        .kind = nm_sub_pool_kind(event->block_bytes, range != NULL && range->is_mapped),
        .has_stream = (event->flags & NM_FLAG_STREAM) != 0,
        .stream = event->flags & NM_FLAG_STREAM ? event->stream : 0,
        .private_pool = event->policy,
    };
    nm_status status = nm_sub_pool_find(replay, pool, &key, &pool->listed_part, err);

    return status != NM_OK ? status
                           : NM_TELL(replay, NM_CHANGE_LISTED, err, .context = context, .heap = pool, .live = range,
                                     .part = pool->listed_part);
}

static nm_status take_block(nm_replay *replay, nm_heap *pool, const nm_context *context, nm_error *err)
{
    const nm_sub_pool *part = pool->listed_part; /* blocks come behind their segment */
    nm_live *live = NULL;

    if (!(context->event->flags & NM_FLAG_IDLE))
        live = nm_place_live_of(nm_place_find(replay, pool->process->id, context->event->address), pool);
    if (live != NULL && live->row.policy == 0 && part != NULL)
        live->row.policy = part->row.private_pool;
    return NM_TELL(replay, NM_CHANGE_LISTED, err, .context = context, .heap = pool, .live = live, .part = part);
}

nm_status nm_listed_take(nm_replay *replay, const nm_context *context, nm_error *err)
{
    nm_heap *pool = context->heap;

    if (pool != NULL && !nm_is_pool(pool)) /* segments may be listed under the driver's heap */
        pool = pool->arena->pool;
    if (pool == NULL)
        return NM_OK;
    return context->event->kind == NM_EVENT_STATE_SEGMENT ? take_segment(replay, pool, context, err)
                                                          : take_block(replay, pool, context, err);
}
