/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows are put into their order, and blocks are paired by their addresses. Then the rows are gone through in parts, each of which
 * ends where a sum is stated, or with its time: how much the rest is behind it follows, it falls before and rises behind the
 * blocks of the part. So no sum is ever higher than one of the two that are stated.
 */
#include "source/ascend_profiler_pool.h"

#include <stdlib.h>

#include "base/buffer.h"
#include "base/map.h"

#define ADDRESS_FIRST    (UINT64_C(1) << 56) /* above all that a device has */
#define ADDRESS_STEP     512
#define BYTES_IN_ALL_MAX (UINT64_C(1) << 60)

typedef struct rest_block {
    uint64_t address;
    int64_t bytes;    /* 0: it has ended */
    size_t same_size; /* the one of the same size before it: index + 1 */
} rest_block;

typedef struct giving {
    nm_ascend_pool *pool;
    nm_gathered *gathered;
    nm_error *err;
    int64_t base_ns;
    uint64_t *next_address;
    int64_t listed, rest,
        before;               /* bytes that are live: of blocks, of the rest; of the rest, from before the first row */
    int64_t stated, reserved; /* what was stated last, or NM_UNKNOWN_NUMBER */
    uint64_t hit_flag;        /* of blocks of the part */
    struct {
        rest_block *items;
        size_t count, capacity;
    } blocks;       /* of the rest that began behind the first row, in their order */
    nm_map of_size; /* bytes -> the last that is live: index + 1 */
} giving;

uint64_t nm_ascend_pool_address(uint64_t *next, int64_t bytes)
{
    uint64_t address = *next < ADDRESS_FIRST ? ADDRESS_FIRST : *next;

    *next = (address + ((uint64_t)bytes / ADDRESS_STEP + 1) * ADDRESS_STEP) & ~(UINT64_C(1) << 63);
    return address;
}

nm_status nm_ascend_pool_add(nm_ascend_pool *pool, const nm_ascend_change *change, nm_error *err)
{
    nm_status status = nm_array_grow(&pool->changes.items, &pool->changes.capacity, pool->changes.count + 1,
                                     sizeof *pool->changes.items, err);

    if (status != NM_OK)
        return status;
    pool->changes.items[pool->changes.count++] = *change;
    pool->block_bytes += (uint64_t)change->bytes;
    return pool->block_bytes < BYTES_IN_ALL_MAX
               ? NM_OK
               : nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "its blocks add up to more than any device ever had");
}

void nm_ascend_pool_fini(nm_ascend_pool *pool)
{
    free(pool->changes.items);
}

/* ---- Order, and pairs ---- */

static int compare(const void *left, const void *right)
{
    const nm_ascend_change *a = left, *b = right;

    if (a->ns != b->ns)
        return a->ns < b->ns ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* What ends is as large as what began. A block that is there already has ended unseen: it gets another address. *before: bytes of those
 * that end and never began. */
static nm_status pair(giving *g, int64_t *before)
{
    nm_map live = {0}, place = {0}; /* address -> bytes, and -> where the block is */
    nm_status status = NM_OK;

    *before = 0;
    for (size_t i = 0; i < g->pool->changes.count && status == NM_OK; i++) {
        nm_ascend_change *change = &g->pool->changes.items[i];
        nm_key key = {.low = change->address};
        uint64_t bytes = 0, at = change->address;

        if (change->kind == NM_ASCEND_BEGIN) {
            if (nm_map_get(&live, key) != NULL)
                at = change->address = nm_ascend_pool_address(g->next_address, change->bytes);
            status = nm_map_put(&live, key, (uint64_t)change->bytes, g->err);
            if (status == NM_OK)
                status = nm_map_put(&place, key, at, g->err);
        } else if (change->kind == NM_ASCEND_END && nm_map_remove(&live, key, &bytes)) {
            nm_map_remove(&place, key, &at);
            change->bytes = (int64_t)bytes;
            change->address = at;
        } else if (change->kind == NM_ASCEND_END) {
            nm_event event = {.kind = NM_EVENT_ALLOC,
                              .time_ns = NM_NO_TIME,
                              .flags = NM_FLAG_BASELINE,
                              .heap_id = g->pool->heap_id,
                              .block_bytes = (uint64_t)change->bytes,
                              .stack_id = change->stack_id};

            event.address = change->address = nm_ascend_pool_address(g->next_address, change->bytes);
            *before += change->bytes;
            status = nm_gathered_event(g->gathered, 0, &event, g->err);
        }
    }
    nm_map_free(&live);
    nm_map_free(&place);
    return status;
}

/* ---- Events ---- */

static nm_status give(giving *g, const nm_ascend_change *at, nm_event_kind kind, uint64_t flags, uint64_t address,
                      int64_t bytes, uint64_t stack)
{
    nm_event event = {
        .kind = kind,
        .time_ns = (flags & NM_FLAG_BASELINE) != 0 ? NM_NO_TIME : at->ns - g->base_ns,
        .flags = flags,
        .thread_id = at->thread_id,
        .heap_id = g->pool->heap_id,
        .address = address,
        .block_bytes = kind == NM_EVENT_FREE ? 0 : (uint64_t)bytes,
        .stack_id = stack,
    };

    return nm_gathered_event(g->gathered, at->ns, &event, g->err);
}

static nm_status give_reserved(giving *g, const nm_ascend_change *at, int64_t bytes)
{
    g->reserved = bytes;
    return give(g, at, NM_EVENT_RESERVED, 0, 0, bytes, 0);
}

/* ---- The rest ---- */

static nm_status rise(giving *g, const nm_ascend_change *at, int64_t bytes)
{
    nm_key key = {.low = (uint64_t)bytes};
    const uint64_t *same = nm_map_get(&g->of_size, key);
    rest_block block = {nm_ascend_pool_address(g->next_address, bytes), bytes, same == NULL ? 0 : (size_t)*same};
    nm_status status =
        nm_array_grow(&g->blocks.items, &g->blocks.capacity, g->blocks.count + 1, sizeof *g->blocks.items, g->err);

    if (status == NM_OK)
        status = nm_map_put(&g->of_size, key, g->blocks.count + 1, g->err);
    if (status != NM_OK)
        return status;
    g->blocks.items[g->blocks.count++] = block;
    g->rest += bytes;
    return give(g, at, NM_EVENT_ALLOC, g->hit_flag, block.address, bytes, 0);
}

static nm_status end_block(giving *g, const nm_ascend_change *at, size_t index)
{
    rest_block *block = &g->blocks.items[index];
    nm_key key = {.low = (uint64_t)block->bytes};
    int64_t bytes = block->bytes;
    nm_status status = NM_OK;

    if (block->same_size == 0)
        nm_map_remove(&g->of_size, key, NULL);
    else
        status = nm_map_put(&g->of_size, key, block->same_size, g->err);
    block->bytes = 0;
    g->rest -= bytes;
    while (g->blocks.count > 0 && g->blocks.items[g->blocks.count - 1].bytes == 0)
        g->blocks.count--;
    return status == NM_OK ? give(g, at, NM_EVENT_FREE, 0, block->address, 0, 0) : status;
}

/* Of what was live before the first row; where it ends, it was a block by itself. */
static nm_status end_before(giving *g, const nm_ascend_change *at, int64_t bytes)
{
    uint64_t address = nm_ascend_pool_address(g->next_address, bytes);
    nm_status status = give(g, at, NM_EVENT_ALLOC, NM_FLAG_BASELINE, address, bytes, 0);

    g->before -= bytes;
    g->rest -= bytes;
    return status == NM_OK && at->ns != INT64_MAX ? give(g, at, NM_EVENT_FREE, 0, address, 0, 0) : status;
}

/* A block of that size, else what was before, else the latest blocks, of which what is too much begins anew. */
static nm_status fall(giving *g, const nm_ascend_change *at, int64_t bytes)
{
    const uint64_t *same = nm_map_get(&g->of_size, (nm_key){.low = (uint64_t)bytes});
    int64_t target = g->rest - bytes;
    nm_status status = NM_OK;

    if (same != NULL)
        return end_block(g, at, (size_t)*same - 1);
    if (g->before >= bytes)
        return end_before(g, at, bytes);
    while (status == NM_OK && g->rest > target && g->blocks.count > 0)
        status = end_block(g, at, g->blocks.count - 1);
    if (status == NM_OK && g->rest > target)
        status = end_before(g, at, g->rest - target);
    return status == NM_OK && g->rest < target ? rise(g, at, target - g->rest) : status;
}

/* ---- Parts ---- */

/* Behind the part: up to the next sum, and no longer than its time. */
static size_t part_end(const giving *g, size_t begin)
{
    const nm_ascend_change *items = g->pool->changes.items;
    size_t end = begin;

    while (items[end].allocated == NM_UNKNOWN_NUMBER && end + 1 < g->pool->changes.count &&
           items[end + 1].ns == items[begin].ns)
        end++;
    return end + 1;
}

static int64_t part_bytes(const giving *g, size_t begin, size_t end)
{
    int64_t sum = 0;

    for (size_t i = begin; i < end; i++) {
        const nm_ascend_change *change = &g->pool->changes.items[i];

        sum += change->kind == NM_ASCEND_BEGIN ? change->bytes : change->kind == NM_ASCEND_END ? -change->bytes : 0;
    }
    return sum;
}

static nm_status give_blocks(giving *g, size_t begin, size_t end)
{
    nm_status status = NM_OK;

    for (size_t i = begin; i < end && status == NM_OK; i++) {
        const nm_ascend_change *change = &g->pool->changes.items[i];

        if (change->kind == NM_ASCEND_BEGIN)
            status = give(g, change, NM_EVENT_ALLOC, g->hit_flag, change->address, change->bytes, change->stack_id);
        else if (change->kind == NM_ASCEND_END)
            status = give(g, change, NM_EVENT_FREE, 0, change->address, 0, 0);
    }
    return status;
}

static nm_status give_part(giving *g, size_t begin, size_t end)
{
    const nm_ascend_change *last = &g->pool->changes.items[end - 1];
    int64_t reserved = g->pool->is_pool ? last->reserved : NM_UNKNOWN_NUMBER;
    int64_t rest;
    nm_status status = NM_OK;

    g->hit_flag = reserved == NM_UNKNOWN_NUMBER || g->reserved == NM_UNKNOWN_NUMBER ? 0
                  : reserved > g->reserved                                          ? NM_FLAG_MISS
                                                                                    : NM_FLAG_HIT;
    int64_t bytes = part_bytes(g, begin, end), before = g->listed + g->rest;
    g->listed += bytes;
    if (last->allocated != NM_UNKNOWN_NUMBER) /* GE states with a release what was before it */
        g->stated = bytes < 0 && last->allocated == before ? before + bytes : last->allocated;
    else if (!g->pool->has_record && g->stated != NM_UNKNOWN_NUMBER)
        g->stated = g->stated + bytes < 0 ? 0 : g->stated + bytes;
    g->pool->unmatched_count += g->stated != NM_UNKNOWN_NUMBER && g->stated < g->listed;
    rest = g->stated == NM_UNKNOWN_NUMBER || g->stated < g->listed ? 0 : g->stated - g->listed;
    if (reserved != NM_UNKNOWN_NUMBER && reserved > g->reserved)
        status = give_reserved(g, last, reserved);
    if (status == NM_OK && rest < g->rest)
        status = fall(g, last, g->rest - rest);
    if (status == NM_OK)
        status = give_blocks(g, begin, end);
    if (status == NM_OK && rest > g->rest)
        status = rise(g, last, rest - g->rest);
    return status == NM_OK && reserved != NM_UNKNOWN_NUMBER && reserved < g->reserved ? give_reserved(g, last, reserved)
                                                                                      : status;
}

/* What a pool had reserved when it is first told, it has from the beginning, as what was live. */
static nm_status begin_reserved(giving *g)
{
    size_t at = 0;

    while (at < g->pool->changes.count && g->pool->changes.items[at].reserved == NM_UNKNOWN_NUMBER)
        at++;
    if (!g->pool->is_pool || at == g->pool->changes.count)
        return NM_OK;
    g->reserved = g->pool->changes.items[at].reserved;
    return give(g, &g->pool->changes.items[at], NM_EVENT_RESERVED, NM_FLAG_BASELINE, 0, g->reserved, 0);
}

/* What was live before the first row: what is stated first without what happened until then, and no more than is ever stated. */
static void begin_rest(giving *g, int64_t listed_before)
{
    const nm_ascend_change *items = g->pool->changes.items;
    size_t count = g->pool->changes.count, first = 0;
    int64_t most = 0;

    g->listed = listed_before;
    g->stated = g->reserved = NM_UNKNOWN_NUMBER;
    while (first < count && items[first].allocated == NM_UNKNOWN_NUMBER)
        first++;
    if (first == count)
        return;
    for (size_t i = first; i < count; i++)
        if (items[i].allocated != NM_UNKNOWN_NUMBER && items[i].allocated > most)
            most = items[i].allocated;
    size_t begin = first;
    while (begin > 0 && items[begin - 1].ns == items[first].ns)
        begin--;
    g->stated = items[first].allocated - part_bytes(g, begin, first + 1);
    if (g->stated > most)
        g->stated = most;
    g->rest = g->before = g->stated > g->listed ? g->stated - g->listed : 0;
}

nm_status nm_ascend_pool_give(nm_ascend_pool *pool, int64_t base_ns, uint64_t *next_address, nm_gathered *gathered,
                              nm_error *err)
{
    static const nm_ascend_change behind = {.ns = INT64_MAX};
    giving g = {.pool = pool, .gathered = gathered, .err = err, .base_ns = base_ns, .next_address = next_address};
    int64_t before = 0;
    nm_status status;

    if (pool->changes.count == 0)
        return NM_OK;
    for (size_t i = 0; pool->has_record && i < pool->changes.count; i++)
        if (pool->changes.items[i].is_of_block)
            pool->changes.items[i].allocated = pool->changes.items[i].reserved = NM_UNKNOWN_NUMBER;
    qsort(pool->changes.items, pool->changes.count, sizeof *pool->changes.items, compare);
    status = pair(&g, &before);
    begin_rest(&g, before);
    if (status == NM_OK)
        status = begin_reserved(&g);
    for (size_t i = 0, end; i < pool->changes.count && status == NM_OK; i = end) {
        end = part_end(&g, i);
        status = give_part(&g, i, end);
    }
    if (status == NM_OK && g.before > 0)
        status = end_before(&g, &behind, g.before);
    free(g.blocks.items);
    nm_map_free(&g.of_size);
    return status;
}
