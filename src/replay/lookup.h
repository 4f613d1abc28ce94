/* SPDX-License-Identifier: Apache-2.0
 *
 * Small questions about the books that any file of this folder, and any pass, may ask. Nothing here changes anything.
 */
#ifndef NM_REPLAY_LOOKUP_H
#define NM_REPLAY_LOOKUP_H

#include "replay/state.h"

void *nm_replay_allocate(size_t bytes, nm_error *err); /* zeroed; NULL and *err filled when memory is out */

/* ---- The things with these numbers; NULL when the number is 0 or never defined -------------------------------------- */

nm_thread *nm_replay_find_thread(const nm_replay *replay,
                                 uint64_t id); /* where it is not the last that was asked for */
nm_heap *nm_replay_find_heap(const nm_replay *replay, uint64_t id);
static inline nm_thread *nm_replay_thread(const nm_replay *replay, uint64_t id)
{
    nm_thread *last = replay->scratch->thread;

    return last != NULL && last->id == id ? last : nm_replay_find_thread(replay, id);
}
static inline nm_heap *nm_replay_heap(const nm_replay *replay, uint64_t id)
{
    nm_heap *last = replay->scratch->heap;

    return last != NULL && last->id == id ? last : nm_replay_find_heap(replay, id);
}
nm_process *nm_replay_process(const nm_replay *replay, uint64_t id);
nm_device *nm_replay_device(const nm_replay *replay, uint64_t id);
bool nm_replay_knows_stack(const nm_replay *replay, uint64_t id);

/* ---- Operations ---------------------------------------------------------------------------------------------------- */

/* The innermost one that is open on the thread (NULL: of a source that knows no threads), or NULL; and its number, or 0. */
const nm_operation *nm_replay_innermost(const nm_replay *replay, const nm_thread *thread);
uint64_t nm_replay_operation(const nm_replay *replay, const nm_thread *thread);

/* Of long runs fewer and fewer steps are told of what has many rows a step: all of the first 1,024, then every second,
 * fourth, ... of each doubling. Is this one? */
bool nm_step_is_sampled(uint64_t generation);

/* ---- Events -------------------------------------------------------------------------------------------------------- */

/* Did the runtime say that it lacks memory, or streams, events and the like? */
bool nm_event_is_lack(const nm_event *event);

/* ---- Live memory --------------------------------------------------------------------------------------------------- */

/* How well memory of a level fits the call (nm_free_call) that freed it, when that named no heap; 0: best. */
#define NM_MISFIT_NEVER 4
int nm_free_misfit(uint64_t level, uint64_t free_call);

/* An address was reused at `since_ns`: may no late free of what was there before come any more? */
bool nm_free_is_past(int64_t since_ns, int64_t now_ns);

extern const nm_live_more nm_live_no_more; /* live.c */

static inline uint64_t nm_live_address(const nm_live *live)
{
    return live->node.key;
}
static inline uint64_t nm_live_stack(const nm_live *live) /* 0: none; once it has a site */
{
    return live->site->stack_id;
}
static inline const nm_live_more *nm_live_more_of(const nm_live *live) /* never NULL */
{
    return live->more != NULL ? live->more : &nm_live_no_more;
}
static inline nm_heap *nm_live_owner(const nm_live *live) /* of any live memory */
{
    return live->heap->level == NM_LEVEL_DRIVER ? live->owner : NULL;
}

uint64_t nm_live_usable_end(const nm_live *live);          /* of what the program asked for; the rest is padding */
static inline uint64_t nm_live_extent(const nm_live *live) /* how much of its pool's memory it takes */
{
    return live->node.value - live->node.key;
}

/* What is live of a site, allocated in the stream, and no graph holds. */
static inline uint64_t nm_site_own_bytes(const nm_site *site)
{
    uint64_t others = site->graph_bytes + site->older_bytes;

    return site->live_bytes > others ? site->live_bytes - others : 0;
}

static inline uint64_t nm_site_own_count(const nm_site *site)
{
    return site->live_count - site->graph_count - site->older_count;
}

/* ---- Pools --------------------------------------------------------------------------------------------------------- */

static inline bool nm_is_pool(const nm_heap *heap)
{
    return heap->level == NM_LEVEL_POOL || heap->level == NM_LEVEL_WORKSPACE;
}

static inline uint64_t nm_live_private_pool(const nm_live *live)
{
    return nm_is_pool(live->heap) ? live->row.policy : 0;
}

/* Does it state what it holds, and none of its segments were ever seen? */
static inline bool nm_pool_is_stated(const nm_heap *pool)
{
    return pool->has_stated && !pool->has_segments;
}

/* Was nothing ever seen of what it holds, so that its blocks are memory that no other heap counts? */
static inline bool nm_pool_is_unseen(const nm_heap *pool)
{
    return pool->level == NM_LEVEL_POOL && !pool->has_segments && !pool->has_stated && !pool->is_inside;
}

/* As in nm_fragmentation_row. */
static inline bool nm_pool_is_estimate(const nm_heap *pool)
{
    return pool->has_unknown_block || pool->has_foreign_block || pool->overlapping_count > 0;
}

/* Was something of the process there that nobody has told? */
static inline bool nm_pool_is_partial(const nm_heap *pool)
{
    return pool->process->is_late || pool->process->has_unknown_pause ||
           (pool->replay->has_keyframe && !pool->replay->has_whole_keyframe);
}

/* Of its segments; where none was ever seen, what it states; else what is live: at least so much. */
uint64_t nm_pool_reserved_bytes(const nm_heap *pool);

static inline int64_t nm_sub_pool_waste(uint64_t waste_bytes, uint64_t unknown_count)
{
    return unknown_count == 0 ? (int64_t)waste_bytes : NM_UNKNOWN_NUMBER;
}

#endif
