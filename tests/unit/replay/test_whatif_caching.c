/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated caching allocator against a second one that is slow and obvious: one array of parts (free, used, pending,
 * unmapped), searched from end to end for every question. Both get the same random requests; every block must lie at the
 * same place, and every figure be the same, after each of them. And hand-worked cases.
 */
#include "support/suites.h"
#include "whatif/caching.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define MIB         (UINT64_C(1) << 20)
#define SPACE_BYTES (UINT64_C(1) << 50) /* of an expandable segment, about */

enum { LANES = 3, SLOTS = 400, PARTS = 8192 };

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* ---- The slow model ---------------------------------------------------------------------------------------------- */

typedef enum part_state { FREE = 1, USED, PENDING, UNMAPPED } part_state;

typedef struct part { /* in the array, the parts of a space stand in order of address; spaces in order of birth */
    uint64_t space;   /* number of the segment, from 1 */
    uint64_t base;    /* address of the segment, unless it is expandable: one behind the other */
    uint64_t at, bytes;
    part_state state;
    unsigned lane;
    bool is_small, is_expandable;
    uint64_t age;
    int slot;
} part;

typedef struct slow {
    nm_caching_settings settings;
    uint64_t capacity, reserved, calls;
    uint64_t spaces, next_base;
    part parts[PARTS];
    size_t count;
    const nm_lane *lanes;
    bool is_let_go; /* the private pool */
} slow;

static bool is_kept(const slow *model, unsigned lane)
{
    return model->lanes[lane].private_pool != 0 && !model->is_let_go;
}

static uint64_t page_of(const slow *model, const part *one)
{
    return one->is_small ? 2 * MIB : model->settings.page_bytes;
}

static void insert(slow *model, size_t at, part one)
{
    ck_assert_uint_lt(model->count, PARTS);
    memmove(&model->parts[at + 1], &model->parts[at], (model->count - at) * sizeof(part));
    model->parts[at] = one;
    model->count++;
}

static void erase(slow *model, size_t at)
{
    memmove(&model->parts[at], &model->parts[at + 1], (model->count - at - 1) * sizeof(part));
    model->count--;
}

/* Makes one of all neighbours that are both free or both unmapped. The age is that of the one named. */
static void join(slow *model)
{
    for (size_t i = 0; i + 1 < model->count;) {
        part *one = &model->parts[i];
        const part *next = one + 1;

        if (one->space != next->space || one->state != next->state || one->state == USED || one->state == PENDING) {
            i++;
            continue;
        }
        one->bytes += next->bytes;
        one->age = one->age < next->age ? one->age : next->age; /* what has just come has age 0 */
        erase(model, i + 1);
    }
}

/* Cuts the part in two; the second one begins `bytes` behind its begin. */
static void cut(slow *model, size_t at, uint64_t bytes)
{
    part rest = model->parts[at];

    if (bytes == 0 || bytes >= rest.bytes)
        return;
    rest.at += bytes;
    rest.bytes -= bytes;
    rest.age = 0;
    model->parts[at].bytes = bytes;
    insert(model, at + 1, rest);
}

static bool is_whole_space(const slow *model, size_t at)
{
    uint64_t space = model->parts[at].space;

    return (at == 0 || model->parts[at - 1].space != space) &&
           (at + 1 == model->count || model->parts[at + 1].space != space);
}

static bool is_of(const part *one, unsigned lane, bool is_small)
{
    return one->lane == lane && one->is_small == is_small;
}

/* Does a come before b among blocks that fit? */
static bool is_better(const part *a, const part *b)
{
    return a->bytes != b->bytes ? a->bytes < b->bytes : a->space != b->space ? a->space < b->space : a->at < b->at;
}

static size_t smallest_from(const slow *model, unsigned lane, bool is_small, const part *least)
{
    size_t best = SIZE_MAX;

    for (size_t i = 0; i < model->count; i++) {
        const part *one = &model->parts[i];

        if (one->state == FREE && is_of(one, lane, is_small) && !is_better(one, least) &&
            (best == SIZE_MAX || is_better(one, &model->parts[best])))
            best = i;
    }
    return best;
}

static uint64_t with_room_behind(const slow *model, size_t at)
{
    const part *one = &model->parts[at];
    bool has_room = at + 1 < model->count && one[1].space == one->space && one[1].state == UNMAPPED;

    return one->bytes + (has_room ? one[1].bytes : 0);
}

static size_t find_free(slow *model, unsigned lane, bool is_small, uint64_t bytes)
{
    size_t best = smallest_from(model, lane, is_small, &(part){.bytes = bytes});

    if (!is_small && model->lanes[lane].private_pool == 0)
        for (size_t i = 0; i < model->count; i++)
            model->parts[i].age++;
    while (best != SIZE_MAX && model->parts[best].is_expandable) {
        part least = model->parts[best];

        least.at++; /* the next one in order */
        size_t next = smallest_from(model, lane, is_small, &least);
        if (next == SIZE_MAX || with_room_behind(model, next) >= with_room_behind(model, best))
            break;
        best = next;
    }
    if (best == SIZE_MAX)
        return best;
    if (bytes < model->settings.max_split_bytes && model->parts[best].bytes >= model->settings.max_split_bytes)
        return SIZE_MAX;
    if (bytes >= model->settings.max_split_bytes && model->parts[best].bytes >= bytes + model->settings.spare_bytes)
        return SIZE_MAX;
    return best;
}

static bool take(slow *model, uint64_t bytes, uint64_t calls)
{
    if (model->reserved + bytes > model->capacity)
        return false;
    model->reserved += bytes;
    model->calls += calls;
    return true;
}

static void release_space(slow *model, size_t at)
{
    model->reserved -= model->parts[at].bytes;
    model->calls++;
    erase(model, at);
}

/* Gives back the pages inside a free part. */
static void release_pages(slow *model, size_t at)
{
    uint64_t page = page_of(model, &model->parts[at]);
    uint64_t begin = (model->parts[at].at + page - 1) / page * page;
    uint64_t end = (model->parts[at].at + model->parts[at].bytes) / page * page;

    if (begin >= end)
        return;
    if (begin > model->parts[at].at) {
        cut(model, at, begin - model->parts[at].at);
        at++;
    }
    cut(model, at, end - begin);
    model->parts[at].state = UNMAPPED;
    model->reserved -= end - begin;
    model->calls += (end - begin) / page;
}

static void flush_slowly(slow *model, void *slots[])
{
    for (size_t i = 0; i < model->count; i++)
        if (model->parts[i].state == PENDING) {
            model->parts[i].state = FREE;
            model->parts[i].age = 0;
            slots[model->parts[i].slot] = NULL;
        }
    join(model);
    for (size_t i = model->count; i > 0; i--) {
        const part *one = &model->parts[i - 1];

        if (one->state != FREE || is_kept(model, one->lane))
            continue;
        if (one->is_expandable)
            release_pages(model, i - 1);
        else if (is_whole_space(model, i - 1))
            release_space(model, i - 1);
    }
    join(model);
    for (size_t i = model->count; i > 0; i--)
        if (model->parts[i - 1].state == UNMAPPED && is_whole_space(model, i - 1))
            erase(model, i - 1);
}

static uint64_t allowed(const slow *model)
{
    return model->settings.memory_fraction > 0 ? (uint64_t)(model->settings.memory_fraction * (double)model->capacity)
                                               : UINT64_MAX;
}

static bool is_old(const slow *model, size_t at, double least_age)
{
    const part *one = &model->parts[at];

    return one->state == FREE && !one->is_small && !one->is_expandable && model->lanes[one->lane].private_pool == 0 &&
           is_whole_space(model, at) && (double)one->age >= least_age;
}

static void collect_slowly(slow *model)
{
    uint64_t threshold = (uint64_t)(model->settings.collect_threshold * (double)allowed(model));
    uint64_t target, done = 0;
    bool has_released = true;

    if (model->settings.collect_threshold <= 0 || model->settings.memory_fraction <= 0 || model->reserved <= threshold)
        return;
    target = model->reserved - threshold;
    while (done < target && has_released) {
        double sum = 0, count = 0;

        for (size_t i = 0; i < model->count; i++)
            if (is_old(model, i, 0)) {
                sum += (double)model->parts[i].age;
                count++;
            }
        has_released = false;
        for (size_t i = model->count; i > 0 && count > 0; i--)
            if (is_old(model, i - 1, sum / count)) {
                done += model->parts[i - 1].bytes;
                release_space(model, i - 1);
                has_released = true;
            }
    }
}

static bool release_oversize_slowly(slow *model, unsigned lane, bool is_small, uint64_t bytes)
{
    uint64_t limit = model->settings.max_split_bytes;
    uint64_t wanted = bytes < limit ? limit : bytes;
    size_t at;

    if (limit == NM_NO_SPLIT_LIMIT)
        return false;
    at = smallest_from(model, lane, is_small, &(part){.bytes = wanted});
    if (at != SIZE_MAX) {
        release_space(model, at);
        return true;
    }
    for (uint64_t done = 0; done < wanted;) {
        at = SIZE_MAX;
        for (size_t i = 0; i < model->count; i++)
            if (model->parts[i].state == FREE && is_of(&model->parts[i], lane, is_small) &&
                model->parts[i].bytes >= limit && (at == SIZE_MAX || is_better(&model->parts[at], &model->parts[i])))
                at = i;
        if (at == SIZE_MAX)
            return false;
        done += model->parts[at].bytes;
        release_space(model, at);
    }
    return true;
}

/* The first part of the lowest room of that many bytes, or SIZE_MAX. */
static size_t find_room(const slow *model, unsigned lane, bool is_small, uint64_t bytes)
{
    for (size_t i = 0; i < model->count; i++) {
        const part *one = &model->parts[i];
        size_t from = i;
        uint64_t room = 0;

        if (one->state != UNMAPPED || !is_of(one, lane, is_small))
            continue;
        if (i > 0 && one[-1].space == one->space && one[-1].state == FREE)
            from = i - 1;
        for (size_t j = from; j < model->count && model->parts[j].space == one->space &&
                              (model->parts[j].state == FREE || model->parts[j].state == UNMAPPED);
             j++)
            room += model->parts[j].bytes;
        if (room >= bytes)
            return from;
    }
    return SIZE_MAX;
}

static bool map_slowly(slow *model, size_t at, uint64_t bytes)
{
    uint64_t page = page_of(model, &model->parts[at]);
    uint64_t mapped = (bytes + page - 1) / page * page;

    if (!take(model, mapped, mapped / page))
        return false;
    cut(model, at, mapped);
    model->parts[at].state = FREE;
    model->parts[at].age = 0;
    join(model);
    return true;
}

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static size_t grow_expandable(slow *model, unsigned lane, bool is_small, uint64_t bytes)
{
    size_t at = find_room(model, lane, is_small, bytes);
    uint64_t space, begin;

    if (at == SIZE_MAX) {
        insert(model, model->count,
               (part){.space = ++model->spaces,
                      .bytes = SPACE_BYTES,
                      .state = UNMAPPED,
                      .lane = lane,
                      .is_small = is_small,
                      .is_expandable = true});
        at = model->count - 1;
    }
    space = model->parts[at].space;
    begin = model->parts[at].at;
    if (model->parts[at].state == UNMAPPED && !map_slowly(model, at, least_of(model->parts[at].bytes, bytes)))
        return SIZE_MAX;
    for (;;) {
        for (at = 0; model->parts[at].space != space || model->parts[at].at > begin ||
                     model->parts[at].at + model->parts[at].bytes <= begin;
             at++)
            ;
        if (model->parts[at].bytes >= bytes)
            return at;
        uint64_t lacking = bytes - model->parts[at].bytes;
        if (!map_slowly(model, at + 1, least_of(lacking, model->parts[at + 1].bytes)))
            return SIZE_MAX;
    }
}

static size_t grow_slowly(slow *model, unsigned lane, bool is_small, uint64_t bytes)
{
    uint64_t segment = is_small           ? 2 * MIB
                       : bytes < 10 * MIB ? model->settings.large_segment_bytes
                                          : (bytes + 2 * MIB - 1) / (2 * MIB) * (2 * MIB);

    if (segment > allowed(model) || model->reserved > allowed(model) - segment)
        return SIZE_MAX;
    if (model->settings.is_expandable)
        return grow_expandable(model, lane, is_small, bytes);
    if (!take(model, segment, 1))
        return SIZE_MAX;
    insert(model, model->count,
           (part){.space = ++model->spaces,
                  .base = model->next_base,
                  .bytes = segment,
                  .state = FREE,
                  .lane = lane,
                  .is_small = is_small});
    model->next_base += segment;
    return model->count - 1;
}

static bool is_splitting(const slow *model, const part *one, uint64_t bytes)
{
    uint64_t rest = one->bytes - bytes;

    if (one->is_small || model->settings.is_expandable)
        return rest >= 512;
    return bytes < model->settings.max_split_bytes && rest > MIB;
}

/* False: out of memory. *place is where the block came to lie. */
static bool alloc_slowly(slow *model, const nm_ask *ask, int slot, void *slots[], part *place)
{
    uint64_t bytes = ask->bytes + (ask->is_block_bytes ? 0 : model->settings.pad_bytes);
    uint64_t alignment = model->settings.alignment_bytes;

    bytes = bytes <= 512 ? 512 : (bytes + 511) / 512 * 512;
    bool is_small = bytes <= MIB;
    size_t at = find_free(model, ask->lane, is_small, bytes);

    if (at == SIZE_MAX) {
        collect_slowly(model);
        at = grow_slowly(model, ask->lane, is_small, bytes);
        if (at == SIZE_MAX && release_oversize_slowly(model, ask->lane, is_small, bytes))
            at = grow_slowly(model, ask->lane, is_small, bytes);
        if (at == SIZE_MAX) {
            flush_slowly(model, slots);
            at = grow_slowly(model, ask->lane, is_small, bytes);
        }
        if (at == SIZE_MAX)
            return false;
    }
    if (model->parts[at].is_expandable && bytes >= 2 * MIB && alignment > 0 && model->parts[at].at % alignment != 0) {
        uint64_t offset = alignment - model->parts[at].at % alignment;

        if (offset + bytes <= model->parts[at].bytes) {
            cut(model, at, offset);
            model->parts[at].age = 0;
            at++;
        }
    }
    if (is_splitting(model, &model->parts[at], bytes))
        cut(model, at, bytes);
    model->parts[at].state = USED;
    model->parts[at].slot = slot;
    *place = model->parts[at];
    return true;
}

static void end_slowly(slow *model, int slot, part_state state)
{
    for (size_t i = 0; i < model->count; i++)
        if ((model->parts[i].state == USED || model->parts[i].state == PENDING) && model->parts[i].slot == slot) {
            model->parts[i].state = state;
            model->parts[i].age = 0;
        }
    join(model);
}

/* ---- Both -------------------------------------------------------------------------------------------------------- */

typedef struct pair {
    slow *slow;
    nm_sim_device device;
    nm_model *fast;
    void *slots[SLOTS], *slow_slots[SLOTS];
    bool is_used[SLOTS], is_pending[SLOTS];
} pair;

static const nm_lane lanes[LANES] = {{0, 1}, {0, 2}, {7, 1}};

static void open_pair(pair *both, const char *conf, uint64_t capacity)
{
    nm_caching_settings settings = nm_caching_settings_default(true);
    nm_error err;

    ck_assert_msg(nm_caching_settings_parse(conf, &settings, &err) == NM_OK, "%s", err.text);
    memset(both, 0, sizeof *both);
    both->device.capacity_bytes = capacity;
    both->slow = calloc(1, sizeof *both->slow);
    both->slow->settings = settings;
    both->slow->capacity = capacity;
    both->slow->lanes = lanes;
    ck_assert_int_eq(nm_caching_new(&settings, &both->device, lanes, LANES, &both->fast, &err), NM_OK);
}

static void close_pair(pair *both)
{
    both->fast->type->close(both->fast);
    free(both->slow);
}

/* How much of it is free, and stuck, and used. */
static void expect_same(const pair *both, const char *conf, int round)
{
    const slow *model = both->slow;
    uint64_t active = 0, idle = 0, stuck = 0;

    for (size_t i = 0; i < model->count; i++) {
        const part *one = &model->parts[i];
        uint64_t page = page_of(model, one);
        uint64_t begin = (one->at + page - 1) / page * page, end = (one->at + one->bytes) / page * page;
        uint64_t pages = begin < end ? end - begin : 0;
        uint64_t releasable = one->is_expandable ? pages : is_whole_space(model, i) ? one->bytes : 0;

        active += one->state == USED || one->state == PENDING ? one->bytes : 0;
        idle += one->state == FREE ? one->bytes : 0;
        stuck += one->state != FREE ? 0 : one->bytes - (is_kept(model, one->lane) ? 0 : releasable);
    }
    ck_assert_msg(both->device.reserved_bytes == model->reserved, "%s: round %d: reserved %lu, not %lu", conf, round,
                  both->device.reserved_bytes, model->reserved);
    ck_assert_msg(both->device.take_count + both->device.give_count == model->calls, "%s: round %d: calls", conf,
                  round);
    ck_assert_msg(both->fast->state.active_bytes == active, "%s: round %d: active", conf, round);
    ck_assert_msg(both->fast->state.free_bytes == idle, "%s: round %d: free %lu, not %lu", conf, round,
                  both->fast->state.free_bytes, idle);
    ck_assert_msg(both->fast->state.stuck_bytes == stuck, "%s: round %d: stuck %lu, not %lu", conf, round,
                  both->fast->state.stuck_bytes, stuck);
}

static uint64_t random_size(void)
{
    static const uint64_t edges[] = {19 * MIB, 19 * MIB - 512, 19 * MIB + 512, 32 * MIB,
                                     52 * MIB, 10 * MIB,       2 * MIB,        MIB};

    switch (next_random(7)) {
    case 0:
        return next_random(2000);
    case 1:
        return next_random(MIB);
    case 2:
        return MIB - 100 + next_random(200);
    case 3:
        return next_random(12 * MIB);
    case 4:
        return next_random(4) * 16 * MIB + 1;
    case 5:
        return edges[next_random(sizeof edges / sizeof edges[0])] - 32; /* exactly that, padded */
    default:
        return 512 * next_random(100);
    }
}

static void alloc_in_both(pair *both, int slot, const char *conf, int round)
{
    nm_ask ask = {random_size(), (uint32_t)next_random(LANES), next_random(8) == 0};
    part place = {0};
    nm_error err;
    nm_status status = both->fast->type->alloc(both->fast, &ask, &both->slots[slot], &err);
    bool is_served = alloc_slowly(both->slow, &ask, slot, both->slow_slots, &place);

    for (int i = 0; i < SLOTS; i++) /* a flush has freed what was pending, in both */
        if (both->is_pending[i] && both->slots[i] == NULL)
            both->is_pending[i] = both->is_used[i] = false;
    ck_assert_msg((status == NM_OK) == is_served, "%s: round %d: served %d, not %d", conf, round, status == NM_OK,
                  is_served);
    both->is_used[slot] = is_served;
    if (!is_served) {
        ck_assert_int_eq(status, NM_END);
        return;
    }
    nm_caching_place found = nm_caching_place_of(both->slots[slot]);
    ck_assert_msg(found.bytes == place.bytes, "%s: round %d: %lu bytes, not %lu", conf, round, found.bytes,
                  place.bytes);
    if (both->slow->settings.is_expandable)
        found.address %= 2 * (SPACE_BYTES / page_of(both->slow, &place) * page_of(both->slow, &place));
    ck_assert_msg(found.address == place.base + place.at, "%s: round %d: place", conf, round);
}

static void step_both(pair *both, const char *conf, int round)
{
    int slot = (int)next_random(SLOTS);
    nm_error err;

    if (!both->is_used[slot]) {
        alloc_in_both(both, slot, conf, round);
    } else if (!both->is_pending[slot] && next_random(8) == 0) {
        both->fast->type->free_requested(both->fast, both->slots[slot]);
        end_slowly(both->slow, slot, PENDING);
        both->is_pending[slot] = true;
    } else {
        both->fast->type->free(both->fast, both->slots[slot], &err);
        end_slowly(both->slow, slot, FREE);
        both->is_used[slot] = both->is_pending[slot] = false;
        both->slots[slot] = NULL;
    }
    if (next_random(2000) == 0) {
        both->fast->type->let_go(both->fast, LANES - 1);
        both->slow->is_let_go = true;
    }
    if (next_random(500) == 0) {
        both->fast->type->flush(both->fast, &err);
        flush_slowly(both->slow, both->slow_slots);
        for (int i = 0; i < SLOTS; i++)
            if (both->is_pending[i])
                both->is_pending[i] = both->is_used[i] = false;
    }
    expect_same(both, conf, round);
}

START_TEST(every_block_lies_where_the_slow_model_puts_it)
{
    static const char *const confs[] = {
        "",
        "max_split_size_mb:32",
        "per_process_memory_fraction:0.9,garbage_collection_threshold:0.5",
        "per_process_memory_fraction:0.95,garbage_collection_threshold:0.3,max_split_size_mb:21",
        "expandable_segments:True",
        "expandable_segments:True,base_addr_aligned_kb:0",
        "expandable_segments:True,segment_size_mb:40,per_process_memory_fraction:0.8",
        "large_segment_size_mb:11",
        "large_segment_size_mb:64,max_split_size_mb:64,max_non_split_rounding_mb:30",
        "expandable_segments:True,large_segment_size_mb:30",
    };
    static pair both;

    for (size_t i = 0; i < sizeof confs / sizeof confs[0]; i++)
        for (uint64_t seed = 1; seed <= 4; seed++) {
            random_state = seed * 88172645463325252u;
            open_pair(&both, confs[i], (seed * 500 + 37) * MIB);
            for (int round = 0; round < 3000; round++)
                step_both(&both, confs[i], round);
            close_pair(&both);
        }
}
END_TEST

TEST_SUITE(test_whatif_caching)
{
    Suite *suite = suite_create("whatif_caching");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, every_block_lies_where_the_slow_model_puts_it);
    suite_add_tcase(suite, tcase);
    return suite;
}
