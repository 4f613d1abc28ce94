/* SPDX-License-Identifier: Apache-2.0
 *
 * Time is counted in allocations: only they can raise what is live. The arena is one piece of a given size, filled in order
 * of time: each block goes into the smallest hole that is large enough, a long-lived one at its lower end and a
 * short-lived one at its upper end, so that what stays and what goes do not mix. That is what knowing the lives is good
 * for. Which lives are long is tried out, and the size of the arena is searched for.
 */
#include "whatif/packing.h"

#include <stdlib.h>

#include "whatif/order.h"

#define OPERATIONS_MAX (UINT64_C(1) << 24) /* in all attempts together, unless the first few need more */
#define ATTEMPTS_MIN   12

typedef struct life {
    uint64_t bytes;
    uint32_t begin, end; /* times: [begin, end) */
} life;

typedef struct lives {
    life *items; /* owned; by begin */
    size_t count;
    uint32_t time_count;
    uint32_t *ended; /* owned; indices by end */
} lives;

/* ---- Lives ------------------------------------------------------------------------------------------------------- */

static void add_life(lives *all, uint32_t *life_of, const nm_workload *workload, uint32_t request)
{
    nm_caching_settings settings = nm_caching_settings_default(workload->is_npu);
    const nm_request *asked = &workload->requests.items[request];

    life_of[request] = (uint32_t)all->count;
    all->items[all->count++] = (life){
        .bytes = nm_caching_block_bytes(&settings, asked->bytes, asked->is_block_bytes),
        .begin = all->time_count,
        .end = UINT32_MAX,
    };
}

static nm_status find_lives(const nm_workload *workload, lives *all, nm_error *err)
{
    uint32_t *life_of = calloc(workload->requests.count + 1, sizeof *life_of);

    all->items = calloc(workload->requests.count + 1, sizeof *all->items);
    if (life_of == NULL || all->items == NULL) {
        free(life_of);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < workload->baseline.count; i++)
        add_life(all, life_of, workload, workload->baseline.items[i]);
    all->time_count = 1; /* the beginning */
    for (size_t i = 0; i < workload->ops.count; i++) {
        nm_op_kind kind = nm_op_kind_of(workload->ops.items[i]);
        uint32_t request = nm_op_index_of(workload->ops.items[i]);

        if (kind == NM_OP_ALLOC || kind == NM_OP_FAILED) {
            add_life(all, life_of, workload, request);
            all->time_count++;
        }
        if (kind == NM_OP_FREE || kind == NM_OP_FAILED)
            all->items[life_of[request]].end = all->time_count;
    }
    for (size_t i = 0; i < all->count; i++)
        if (all->items[i].end == UINT32_MAX)
            all->items[i].end = all->time_count;
    free(life_of);
    return NM_OK;
}

/* The most that is live at once. */
static nm_status find_peak(const lives *all, uint64_t *peak, nm_error *err)
{
    uint64_t *changes = calloc((size_t)all->time_count + 1, sizeof *changes);
    uint64_t live = 0;

    if (changes == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < all->count; i++) {
        changes[all->items[i].begin] += all->items[i].bytes;
        changes[all->items[i].end] -= all->items[i].bytes; /* wraps around, and back */
    }
    *peak = 0;
    for (uint32_t time = 0; time < all->time_count; time++) {
        live += changes[time];
        *peak = live > *peak ? live : *peak;
    }
    free(changes);
    return NM_OK;
}

/* The lives by their ends: counted, then put in place. */
static nm_status order_ends(lives *all, nm_error *err)
{
    uint32_t *starts = calloc((size_t)all->time_count + 2, sizeof *starts);

    all->ended = calloc(all->count + 1, sizeof *all->ended);
    if (starts == NULL || all->ended == NULL) {
        free(starts);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    for (size_t i = 0; i < all->count; i++)
        starts[all->items[i].end + 1]++;
    for (uint32_t time = 0; time <= all->time_count; time++)
        starts[time + 1] += starts[time];
    for (size_t i = 0; i < all->count; i++)
        all->ended[starts[all->items[i].end]++] = (uint32_t)i;
    free(starts);
    return NM_OK;
}

/* ---- An arena ---------------------------------------------------------------------------------------------------- */

typedef struct piece {  /* a block or a hole; they lie end to end */
    nm_order_node node; /* hole: by size and address */
    struct piece *before, *behind;
    uint64_t address, bytes;
    bool is_hole;
} piece;

typedef struct arena {
    piece *blocks; /* of the lives */
    piece *holes;  /* one more than the lives can make at once */
    piece *unused; /* holes, linked by `behind` */
    nm_order by_size;
} arena;

static void put_hole(arena *space, piece *hole)
{
    hole->is_hole = true;
    hole->node.major = hole->bytes;
    hole->node.minor = hole->address;
    nm_order_insert(&space->by_size, &hole->node);
}

static void join(piece *before, piece *behind)
{
    if (before != NULL)
        before->behind = behind;
    if (behind != NULL)
        behind->before = before;
}

static void drop_hole(arena *space, piece *hole)
{
    hole->behind = space->unused;
    space->unused = hole;
}

/* False: no hole is large enough. */
static bool put_block(arena *space, piece *block, uint64_t bytes, bool is_low)
{
    nm_order_node *node = nm_order_ceiling(&space->by_size, bytes, 0);
    piece *hole = (piece *)(void *)node; /* its first member */

    if (node == NULL)
        return false;
    nm_order_remove(&space->by_size, node);
    *block = (piece){.bytes = bytes, .address = is_low ? hole->address : hole->address + hole->bytes - bytes};
    if (is_low) {
        join(hole->before, block);
        join(block, bytes == hole->bytes ? hole->behind : hole);
        hole->address += bytes;
    } else {
        join(block, hole->behind);
        join(bytes == hole->bytes ? hole->before : hole, block);
    }
    hole->bytes -= bytes;
    if (hole->bytes == 0)
        drop_hole(space, hole);
    else
        put_hole(space, hole);
    return true;
}

/* Takes the neighbour in, if it is a hole. */
static void swallow(arena *space, piece *hole, piece *other)
{
    if (other == NULL || !other->is_hole)
        return;
    nm_order_remove(&space->by_size, &other->node);
    if (other->address < hole->address) {
        hole->address = other->address;
        join(other->before, hole);
        hole->before = other->before;
    } else {
        join(hole, other->behind);
        hole->behind = other->behind;
    }
    hole->bytes += other->bytes;
    drop_hole(space, other);
}

static void take_block(arena *space, piece *block)
{
    piece *hole = space->unused;

    space->unused = hole->behind;
    *hole = (piece){.address = block->address, .bytes = block->bytes, .before = block->before, .behind = block->behind};
    join(hole->before, hole);
    join(hole, hole->behind);
    swallow(space, hole, hole->before);
    swallow(space, hole, hole->behind);
    put_hole(space, hole);
}

static void empty(arena *space, size_t hole_count, uint64_t bytes)
{
    space->unused = NULL;
    space->by_size = (nm_order){0};
    for (size_t i = 1; i < hole_count; i++)
        drop_hole(space, &space->holes[i]);
    space->holes[0] = (piece){.bytes = bytes};
    put_hole(space, &space->holes[0]);
}

#define TAKE_TURNS 0 /* for long_life: the ends take turns, whatever the lives */

/* Do all blocks fit into so many bytes, when lives of `long_life` times and more are long? */
static bool attempt(arena *space, const lives *all, uint64_t bytes, uint32_t long_life)
{
    size_t ended = 0;

    empty(space, all->count + 1, bytes);
    for (size_t i = 0; i < all->count; i++) {
        const life *one = &all->items[i];

        for (; ended < all->count && all->items[all->ended[ended]].end <= one->begin; ended++)
            take_block(space, &space->blocks[all->ended[ended]]);
        if (!put_block(space, &space->blocks[i], one->bytes,
                       long_life == TAKE_TURNS ? i % 2 == 0 : one->end - one->begin >= long_life))
            return false;
    }
    return true;
}

/* ---- The search -------------------------------------------------------------------------------------------------- */

typedef struct search {
    arena space;
    const lives *all;
    nm_packing *packing;
    uint64_t attempts_left;
    uint64_t step_bytes;
} search;

static bool try_bytes(search *state, uint64_t bytes, uint32_t long_life)
{
    state->attempts_left -= state->attempts_left > 0;
    state->packing->attempt_count++;
    if (!attempt(&state->space, state->all, bytes, long_life))
        return false;
    if (state->packing->packed_bytes == 0 || bytes < state->packing->packed_bytes)
        state->packing->packed_bytes = bytes;
    return true;
}

/* A size at which it fits: up from the least that could be enough. Twice the sum always is. */
static void find_any(search *state, uint32_t long_life)
{
    uint64_t bytes = state->packing->peak_live_bytes;

    while (!try_bytes(state, bytes, long_life))
        bytes += bytes / 16 + NM_BLOCK_UNIT_BYTES;
}

/* Halves the distance to the least that could be enough, as far as it is worth it. */
static void narrow(search *state, uint32_t long_life)
{
    uint64_t low = state->packing->peak_live_bytes;

    while (state->attempts_left > 0 && state->packing->packed_bytes > low + state->step_bytes) {
        uint64_t middle = (low + state->packing->packed_bytes) / 2 / NM_BLOCK_UNIT_BYTES * NM_BLOCK_UNIT_BYTES;

        if (!try_bytes(state, middle, long_life))
            low = middle;
    }
}

static void find_best(search *state)
{
    static const unsigned parts[] = {16, 64, 4, 256, TAKE_TURNS, 8, 32, 128, 1024}; /* of all times */

    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        uint32_t long_life = parts[i] == TAKE_TURNS ? TAKE_TURNS : state->all->time_count / parts[i] + 1;
        uint64_t aim;

        if (i == 0)
            find_any(state, long_life);
        aim = state->packing->packed_bytes - state->step_bytes;
        if (i > 0 &&
            (state->attempts_left == 0 || aim < state->packing->peak_live_bytes || !try_bytes(state, aim, long_life)))
            continue;
        narrow(state, long_life);
    }
}

static nm_status search_packing(const lives *all, nm_packing *packing, nm_error *err)
{
    search state = {
        .all = all,
        .packing = packing,
        .attempts_left = OPERATIONS_MAX / (2 * all->count + 1),
        .step_bytes = packing->peak_live_bytes / 1024 + NM_BLOCK_UNIT_BYTES,
    };

    state.attempts_left = state.attempts_left < ATTEMPTS_MIN ? ATTEMPTS_MIN : state.attempts_left;
    state.space.blocks = calloc(all->count + 1, sizeof *state.space.blocks);
    state.space.holes = calloc(all->count + 1, sizeof *state.space.holes);
    bool is_whole = state.space.blocks != NULL && state.space.holes != NULL;

    if (is_whole && all->count > 0)
        find_best(&state);
    free(state.space.blocks);
    free(state.space.holes);
    return is_whole ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

nm_status nm_packing_find(const nm_workload *workload, nm_packing *packing, nm_error *err)
{
    lives all = {0};
    nm_status status = find_lives(workload, &all, err);

    *packing = (nm_packing){.request_count = all.count};
    if (status == NM_OK)
        status = find_peak(&all, &packing->peak_live_bytes, err);
    if (status == NM_OK)
        status = order_ends(&all, err);
    if (status == NM_OK)
        status = search_packing(&all, packing, err);
    free(all.items);
    free(all.ended);
    return status;
}
