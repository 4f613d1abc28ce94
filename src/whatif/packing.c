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
#define HOLES_MORE     3 /* than blocks: around them, and the one that a block becomes before it is part of others */

/* Parts of all times: a life that is longer than that part is long. TAKE_TURNS: the ends take turns, whatever the lives. */
#define TAKE_TURNS     0
static const unsigned parts[] = {16, 64, 4, 256, TAKE_TURNS, 8, 32, 128, 1024};
#define PART_COUNT (sizeof parts / sizeof parts[0])

typedef struct lives {
    const nm_workload *workload;
    uint64_t *bytes;  /* owned; of the block of each request */
    uint8_t *lengths; /* owned; of the lives in their order: how many of the parts are no longer than it */
    size_t count;     /* baseline first */
    size_t time_count;
} lives;

/* ---- Lives ------------------------------------------------------------------------------------------------------- */

static bool is_begin(nm_op_kind kind)
{
    return kind == NM_OP_ALLOC || kind == NM_OP_FAILED;
}

static bool is_end(nm_op_kind kind)
{
    return kind == NM_OP_FREE || kind == NM_OP_FAILED;
}

/* From so many times on a life is long. */
static size_t long_life(const lives *all, unsigned part)
{
    return all->time_count / part + 1;
}

/* How many of those lengths the life has reached: it is long for the lesser ones of them, however many lives there are. */
static uint8_t length_of(const lives *all, size_t life)
{
    uint8_t length = 0;

    for (size_t i = 0; i < PART_COUNT; i++)
        length += parts[i] != TAKE_TURNS && life >= long_life(all, parts[i]);
    return length;
}

static nm_status find_bytes(lives *all, nm_error *err)
{
    const nm_workload *workload = all->workload;
    nm_caching_settings settings = nm_caching_settings_default(workload->is_npu);

    all->bytes = calloc(workload->requests.count + 1, sizeof *all->bytes);
    if (all->bytes == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < workload->requests.count; i++)
        all->bytes[i] = nm_caching_block_bytes(&settings, workload->requests.items[i].bytes,
                                               workload->requests.items[i].is_block_bytes);
    return NM_OK;
}
typedef struct alive { /* in a slot */
    size_t life, begin;
    uint64_t bytes;
    bool is_alive;
} alive;

static void end_life(lives *all, alive *one, size_t now)
{
    all->lengths[one->life] = length_of(all, now - one->begin);
    one->is_alive = false;
}

/* How long each life is, and the most that is live at once. */
static void find_lengths(lives *all, alive *slots, uint64_t *peak)
{
    const nm_workload *workload = all->workload;
    size_t life = 0, now = 0, ask = 0;
    uint64_t live = 0;

    for (; life < workload->baseline.count; life++) {
        slots[workload->baseline.items[life].slot] =
            (alive){life, now, all->bytes[workload->baseline.items[life].request], true};
        live += all->bytes[workload->baseline.items[life].request];
    }
    *peak = live;
    now++;
    for (size_t i = 0; i < workload->ops.count; i++) {
        nm_op_kind kind = nm_op_kind_of(workload->ops.items[i]);
        uint32_t slot = nm_op_index_of(workload->ops.items[i]);

        if (is_begin(kind)) {
            slots[slot] = (alive){life++, now++, all->bytes[workload->asks.items[ask]], true};
            live += slots[slot].bytes;
            *peak = live > *peak ? live : *peak;
        }
        ask += nm_op_is_ask(kind);
        if (is_end(kind)) {
            live -= slots[slot].bytes;
            end_life(all, &slots[slot], now);
        }
    }
    for (uint32_t slot = 0; slot < workload->slot_count; slot++)
        if (slots[slot].is_alive)
            end_life(all, &slots[slot], now);
}

static nm_status find_lives(lives *all, uint64_t *peak, nm_error *err)
{
    const nm_workload *workload = all->workload;
    alive *slots = calloc((size_t)workload->slot_count + 1, sizeof *slots);
    nm_status status = find_bytes(all, err);

    all->time_count = 1; /* the beginning */
    for (size_t i = 0; i < workload->ops.count; i++)
        all->time_count += is_begin(nm_op_kind_of(workload->ops.items[i]));
    all->count = workload->baseline.count + all->time_count - 1;
    all->lengths = calloc(all->count + 1, sizeof *all->lengths);
    if (status == NM_OK && (slots == NULL || all->lengths == NULL))
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        find_lengths(all, slots, peak);
    free(slots);
    return status;
}

/* ---- An arena ---------------------------------------------------------------------------------------------------- */

typedef struct piece {  /* a block or a hole; they lie end to end */
    nm_order_node node; /* hole: by size and address */
    struct piece *before, *behind;
    uint64_t address, bytes;
    bool is_hole;
} piece;

typedef struct arena {
    piece *blocks; /* of the slots */
    piece *holes;  /* more than so many blocks can make at once */
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

/* What is left of a hole from which a block was taken that no smaller hole had room for: it keeps its place among the
 * holes where it has room for another one. */
static void keep_rest(arena *space, piece *hole, uint64_t block_bytes)
{
    if (hole->bytes < block_bytes) {
        nm_order_remove(&space->by_size, &hole->node);
        if (hole->bytes == 0)
            drop_hole(space, hole);
        else
            put_hole(space, hole);
        return;
    }
    hole->node.major = hole->bytes;
    hole->node.minor = hole->address;
}

/* False: no hole is large enough. */
static bool put_block(arena *space, piece *block, uint64_t bytes, bool is_low)
{
    nm_order_node *node = nm_order_ceiling(&space->by_size, bytes, 0);
    piece *hole = (piece *)(void *)node; /* its first member */

    if (node == NULL)
        return false;
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
    keep_rest(space, hole, bytes);
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

/* Do all blocks fit into so many bytes, when lives longer than that part of all times are long? */
static bool attempt(arena *space, const lives *all, uint64_t bytes, unsigned part)
{
    const nm_workload *workload = all->workload;
    uint8_t long_length = part == TAKE_TURNS ? 0 : length_of(all, long_life(all, part));
    size_t life = 0, ask = 0;

    empty(space, (size_t)workload->slot_count + HOLES_MORE, bytes);
    for (; life < workload->baseline.count; life++) {
        const nm_baseline_block *block = &workload->baseline.items[life];

        if (!put_block(space, &space->blocks[block->slot], all->bytes[block->request],
                       part == TAKE_TURNS ? life % 2 == 0 : all->lengths[life] >= long_length))
            return false;
    }
    for (size_t i = 0; i < workload->ops.count; i++) {
        nm_op_kind kind = nm_op_kind_of(workload->ops.items[i]);
        piece *block = is_begin(kind) || is_end(kind) ? &space->blocks[nm_op_index_of(workload->ops.items[i])] : NULL;

        if (is_begin(kind)) {
            bool is_low = part == TAKE_TURNS ? life % 2 == 0 : all->lengths[life] >= long_length;

            if (!put_block(space, block, all->bytes[workload->asks.items[ask]], is_low))
                return false;
            life++;
        }
        ask += nm_op_is_ask(kind);
        if (is_end(kind))
            take_block(space, block);
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

static bool try_bytes(search *state, uint64_t bytes, unsigned part)
{
    state->attempts_left -= state->attempts_left > 0;
    state->packing->attempt_count++;
    if (!attempt(&state->space, state->all, bytes, part))
        return false;
    if (state->packing->packed_bytes == 0 || bytes < state->packing->packed_bytes)
        state->packing->packed_bytes = bytes;
    return true;
}

/* A size at which it fits: up from the least that could be enough. Twice the sum always is. */
static void find_any(search *state, unsigned part)
{
    uint64_t bytes = state->packing->peak_live_bytes;

    while (!try_bytes(state, bytes, part))
        bytes += bytes / 16 + NM_BLOCK_UNIT_BYTES;
}

/* Halves the distance to the least that could be enough, as far as it is worth it. */
static void narrow(search *state, unsigned part)
{
    uint64_t low = state->packing->peak_live_bytes;

    while (state->attempts_left > 0 && state->packing->packed_bytes > low + state->step_bytes) {
        uint64_t middle = (low + state->packing->packed_bytes) / 2 / NM_BLOCK_UNIT_BYTES * NM_BLOCK_UNIT_BYTES;

        if (!try_bytes(state, middle, part))
            low = middle;
    }
}

static void find_best(search *state)
{
    for (size_t i = 0; i < PART_COUNT; i++) {
        uint64_t aim;

        if (i == 0)
            find_any(state, parts[i]);
        aim = state->packing->packed_bytes - state->step_bytes;
        if (i > 0 &&
            (state->attempts_left == 0 || aim < state->packing->peak_live_bytes || !try_bytes(state, aim, parts[i])))
            continue;
        narrow(state, parts[i]);
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
    state.space.blocks = calloc((size_t)all->workload->slot_count + 1, sizeof *state.space.blocks);
    state.space.holes = calloc((size_t)all->workload->slot_count + HOLES_MORE, sizeof *state.space.holes);
    bool is_whole = state.space.blocks != NULL && state.space.holes != NULL;

    if (is_whole && all->count > 0)
        find_best(&state);
    free(state.space.blocks);
    free(state.space.holes);
    return is_whole ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

nm_status nm_packing_find(const nm_workload *workload, nm_packing *packing, nm_error *err)
{
    lives all = {.workload = workload};

    *packing = (nm_packing){0};
    nm_status status = find_lives(&all, &packing->peak_live_bytes, err);
    packing->request_count = all.count;
    if (status == NM_OK)
        status = search_packing(&all, packing, err);
    free(all.bytes);
    free(all.lengths);
    return status;
}
