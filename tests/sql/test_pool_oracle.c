/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pool did and what calls cost, against a model that is slow and obvious: it keeps all events of a random trace,
 * and works out every figure by looking at everything that was before. Streams, private pools, both classes, pending
 * frees, flushes, failures and steps; some traces have a baseline, a loss, a pool that says its own misses, or requested
 * sizes alone. NPUMEM_SEED repeats a run; it is printed.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/seed.h"
#include "support/suites.h"

#define TRACES        80
#define EVENTS        220
#define SEGMENTS_MAX  (EVENTS + 8)
#define BLOCKS_MAX    (EVENTS + 8)
#define DRIVER        1
#define POOL          2
#define STACKS        4 /* 0: none */
#define LARGE_BYTES   512
#define SEGMENT_SPACE UINT64_C(65536)
#define NEVER         (EVENTS + 1)
#define NPU_PAD       32

typedef struct segment {
    uint64_t address, bytes, cost_ns;
    int from, to; /* events; -1: before the first, NEVER */
    int stack;
    int first; /* block that was there first; -1: none */
} segment;

typedef struct block {
    uint64_t address, requested, cut, cost_ns;
    int from, requested_at, to;
    int stack, stream, private_pool; /* stream 0: not known; private pool 0: none */
    int range;                       /* segment that it lies in */
    bool is_miss, is_told;           /* the pool said so */
} block;

enum { NOTHING, SEGMENT_COMES, SEGMENT_GOES, BLOCK_COMES, BLOCK_GIVEN_UP, BLOCK_GOES, FAILURE, STEP, LOSS };

static struct {
    segment segments[SEGMENTS_MAX];
    block blocks[BLOCKS_MAX];
    int segment_count, block_count;
    int kinds[EVENTS]; /* of the events */
    int64_t times[EVENTS];
    bool has_baseline, is_npu, is_cut_known, has_steps, has_loss, is_flagged;
} model;

static nm_replay *replay;
static nm_store *store;
static sqlite3 *db;
static int now; /* the next event */
static char folder[64], path[128];
static nm_error err;

static int pick(int below)
{
    return rand() % below;
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void give(nm_event event, int kind)
{
    nm_record record = {.kind = NM_RECORD_EVENT, .event = event};

    if (now < 0) {
        record.event.flags |= NM_FLAG_BASELINE;
        record.event.time_ns = NM_NO_TIME;
    } else {
        model.times[now] = (now == 0 ? 0 : model.times[now - 1]) + pick(3) * 1000000;
        model.kinds[now] = kind;
        record.event.seq = (uint64_t)now;
        record.event.time_ns = model.times[now++];
        record.event.thread_id = 1;
    }
    ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
}

static void add_segment(void)
{
    int i = model.segment_count++;
    segment *one = &model.segments[i];

    *one = (segment){.address = SEGMENT_SPACE * (uint64_t)(i + 1),
                     .bytes = 1024 << pick(3),
                     .cost_ns = pick(4) == 0 ? 0 : 1 + (uint64_t)pick(1 << (1 + pick(20))),
                     .from = now,
                     .to = NEVER,
                     .stack = pick(STACKS),
                     .first = -1};
    give((nm_event){.kind = NM_EVENT_ALLOC,
                    .heap_id = DRIVER,
                    .flags = model.is_flagged ? NM_FLAG_SEGMENT : 0,
                    .address = one->address,
                    .block_bytes = one->bytes,
                    .cost_ns = one->cost_ns,
                    .stack_id = (uint64_t)one->stack},
         SEGMENT_COMES);
}

/* How many bytes of the pool the block takes, as far as it is known. */
static uint64_t extent(const block *one)
{
    return one->cut != 0 ? one->cut : one->requested;
}

static bool is_there(int from, int to, int at)
{
    return from < at && to >= at;
}

static bool is_free_at(int range, uint64_t from, uint64_t to)
{
    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];

        if (one->range == range && one->to == NEVER && one->address < to && from < one->address + extent(one))
            return false;
    }
    return true;
}

static nm_event event_of(const block *one)
{
    uint64_t flags = !one->is_told ? 0 : one->is_miss ? NM_FLAG_MISS : NM_FLAG_HIT;

    return (nm_event){.kind = NM_EVENT_ALLOC,
                      .heap_id = POOL,
                      .flags = flags | (one->stream != 0 ? NM_FLAG_STREAM : 0),
                      .stream = (uint64_t)one->stream,
                      .policy = (uint64_t)one->private_pool,
                      .address = one->address,
                      .requested_bytes = one->requested,
                      .block_bytes = one->cut,
                      .cost_ns = one->cost_ns,
                      .stack_id = (uint64_t)one->stack};
}

static int pick_segment(void)
{
    for (int tries = 0; tries < 8 && model.segment_count > 0; tries++) {
        int i = pick(model.segment_count);

        if (model.segments[i].to == NEVER)
            return i;
    }
    return -1;
}

static void add_block(void)
{
    static const int sizes[] = {64, 128, 200, 480, 481, 490, 512, 600, 1024};
    int range = pick_segment();
    block one = {.requested = (uint64_t)sizes[pick(9)],
                 .from = now,
                 .requested_at = NEVER,
                 .to = NEVER,
                 .stack = pick(STACKS),
                 .stream = pick(3),
                 .private_pool = pick(6) == 0,
                 .cost_ns = pick(5) == 0 ? 1 + (uint64_t)pick(500) : 0,
                 .range = range};

    if (range < 0)
        return;
    one.cut = model.is_cut_known ? (one.requested + 63) / 64 * 64 : 0;
    one.address = model.segments[range].address + 64 * (uint64_t)pick((int)(model.segments[range].bytes / 64));
    if (one.address + extent(&one) > model.segments[range].address + model.segments[range].bytes ||
        !is_free_at(range, one.address, one.address + extent(&one)))
        return;
    one.is_told = now >= 0 && pick(8) == 0;
    one.is_miss = one.is_told ? pick(2) == 0 : model.segments[range].first < 0 && model.segments[range].from >= 0;
    if (model.segments[range].first < 0)
        model.segments[range].first = model.block_count;
    model.blocks[model.block_count++] = one;
    give(event_of(&one), BLOCK_COMES);
}

static void end_block(bool is_request)
{
    for (int tries = 0; tries < 8 && model.block_count > 0; tries++) {
        block *one = &model.blocks[pick(model.block_count)];

        if (one->to != NEVER || (is_request && one->requested_at != NEVER))
            continue;
        if (is_request)
            one->requested_at = now;
        else
            one->to = now;
        give((nm_event){.kind = is_request ? NM_EVENT_FREE_REQUESTED : NM_EVENT_FREE,
                        .heap_id = POOL,
                        .address = one->address},
             is_request ? BLOCK_GIVEN_UP : BLOCK_GOES);
        return;
    }
}

/* Gives empty segments back, some of them. */
static void end_segments(void)
{
    for (int i = 0; i < model.segment_count && now < EVENTS; i++) {
        segment *one = &model.segments[i];

        if (one->to != NEVER || pick(3) == 0 || !is_free_at(i, one->address, one->address + one->bytes))
            continue;
        one->to = now;
        give((nm_event){.kind = NM_EVENT_FREE, .heap_id = DRIVER, .address = one->address}, SEGMENT_GOES);
    }
}

static void do_one(void)
{
    int choice = pick(100);

    if (choice < 12)
        add_segment();
    else if (choice < 55)
        add_block();
    else if (choice < 68)
        end_block(true);
    else if (choice < 88)
        end_block(false);
    else if (choice < 92)
        end_segments();
    else if (choice < 95)
        give((nm_event){.kind = NM_EVENT_ALLOC_FAILED, .heap_id = DRIVER, .requested_bytes = 1}, FAILURE);
    else if (model.has_steps)
        give((nm_event){.kind = NM_EVENT_STEP, .number = 10 + now}, STEP);
}

static void define(nm_definition definition)
{
    nm_record record = {.kind = NM_RECORD_DEFINITION, .definition = definition};

    ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
}

static void define_all(void)
{
    define((nm_definition){.kind = NM_DEFINE_STRING, .id = 1, .string = {(const uint8_t *)"npu", 3}});
    define((nm_definition){.kind = NM_DEFINE_STRING, .id = 2, .string = {(const uint8_t *)"gpu", 3}});
    define((nm_definition){.kind = NM_DEFINE_PROCESS, .id = 1, .process = {.pid = 1, .begin_ns = 0}});
    define((nm_definition){.kind = NM_DEFINE_THREAD, .id = 1, .thread = {.process_id = 1, .tid = 1}});
    define((nm_definition){.kind = NM_DEFINE_DEVICE,
                           .id = 1,
                           .device = {.process_id = 1, .device_kind = model.is_npu ? 1 : 2, .physical_ordinal = 0}});
    for (uint64_t id = DRIVER; id <= POOL; id++)
        define((nm_definition){
            .kind = NM_DEFINE_HEAP,
            .id = id,
            .heap = {.process_id = 1,
                     .device_id = 1,
                     .level = id == DRIVER ? NM_LEVEL_DRIVER : NM_LEVEL_POOL,
                     .size_basis = id == DRIVER || model.is_cut_known ? NM_BASIS_BLOCK : NM_BASIS_REQUESTED,
                     .large_bytes = LARGE_BYTES}});
    for (uint64_t id = 1; id < STACKS; id++) {
        define((nm_definition){.kind = NM_DEFINE_FRAME, .id = id, .frame = {.line = id}});
        define((nm_definition){.kind = NM_DEFINE_STACK, .id = id, .stack = {0, id, 0}}); /* all of one unknown site */
    }
}

static bool is_lost_before(int at)
{
    for (int i = 0; i < at; i++)
        if (model.kinds[i] == LOSS)
            return true;
    return false;
}

static void load_random(void)
{
    nm_store_options options = {.is_forced = true, .input_fd = -1};
    nm_input_row input = load_whole_input(EVENTS);

    memset(&model, 0, sizeof model);
    model.has_baseline = pick(6) == 0;
    model.is_npu = pick(2) == 0;
    model.is_cut_known = pick(3) != 0;
    model.has_steps = pick(3) != 0;
    model.has_loss = pick(8) == 0;
    model.is_flagged = pick(3) == 0;
    ck_assert_msg(nm_store_open(path, &options, &store, &err) == NM_OK, "%s", err.text);
    ck_assert_int_eq(nm_replay_new(nm_store_sink(store), nm_passes, &replay, &err), NM_OK);
    define_all();
    now = -1;
    for (int i = 0; i < 3 && model.has_baseline; i++)
        add_segment();
    for (int i = 0; i < 3 && model.has_baseline; i++)
        add_block();
    now = 0;
    while (now < EVENTS) {
        if (model.has_loss && now >= EVENTS / 2 && !is_lost_before(now))
            give((nm_event){.kind = NM_EVENT_LOSS, .number = 1, .until_ns = model.times[now - 1]}, LOSS);
        do_one();
    }
    ck_assert_msg(nm_replay_finish(replay, &err) == NM_OK, "%s", err.text);
    nm_replay_free(replay);
    ck_assert_msg(nm_store_finish(store, &input, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_store_publish(store, &err) == NM_OK, "%s", err.text);
    nm_store_close(store);
}

/* ---- The model --------------------------------------------------------------------------------------------------- */

static bool is_large(const block *one)
{
    return extent(one) + (one->cut == 0 && model.is_npu ? NPU_PAD : 0) > LARGE_BYTES;
}

static bool is_same_group(const block *a, const block *b)
{
    return a->stream == b->stream && a->private_pool == b->private_pool && is_large(a) == is_large(b);
}

static uint64_t size_of(const block *one)
{
    return model.is_cut_known ? one->cut : one->requested;
}

/* Just before event `at`: segments of the block's group, */
static uint64_t held_before(const block *like, int at)
{
    uint64_t bytes = 0;

    for (int i = 0; i < model.segment_count; i++) {
        const segment *one = &model.segments[i];

        if (one->first >= 0 && is_there(model.blocks[one->first].from, one->to, at) &&
            is_same_group(&model.blocks[one->first], like))
            bytes += one->bytes;
    }
    return bytes;
}

/* and what the program held of the group. */
static uint64_t live_before(const block *like, int at)
{
    uint64_t bytes = 0;

    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];
        int until = one->requested_at < one->to ? one->requested_at : one->to;

        if (is_there(one->from, until, at) && is_same_group(one, like))
            bytes += extent(one);
    }
    return bytes;
}

static uint64_t most_before(const block *like, int at, uint64_t (*figure)(const block *, int))
{
    uint64_t most = 0;

    for (int earlier = 0; earlier <= at; earlier++)
        if (figure(like, earlier) > most)
            most = figure(like, earlier);
    return most;
}

/* Another event of the pool came between its being given up and its end, or nothing of the kind came. */
static bool was_pending(const block *one)
{
    if (one->requested_at == NEVER)
        return false;
    for (int at = one->requested_at + 1; at < one->to && at < EVENTS; at++)
        if (model.kinds[at] == BLOCK_COMES || model.kinds[at] == BLOCK_GIVEN_UP || model.kinds[at] == BLOCK_GOES)
            return true;
    return one->to == NEVER;
}

/* The free memory around a block at an event, if all that is given up were free. */
static uint64_t room_at(const block *around, int at)
{
    const segment *range = &model.segments[around->range];
    uint64_t from = range->address, to = range->address + range->bytes;

    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];

        if (one->range != around->range || !is_there(one->from, one->to, at) || one->requested_at < at)
            continue;
        if (one->address < around->address && one->address + extent(one) > from)
            from = one->address + extent(one);
        if (one->address > around->address && one->address < to)
            to = one->address;
    }
    return to - from;
}

static bool is_pending_enough(const block *request)
{
    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];

        if (is_there(one->requested_at, one->to, request->from) && is_same_group(one, request) &&
            room_at(one, request->from) >= extent(request))
            return true;
    }
    return false;
}

static int steps_before(int at)
{
    int count = 0;

    for (int i = 0; i < at; i++)
        count += model.kinds[i] == STEP;
    return count;
}

static bool is_first_miss(const block *one)
{
    for (int i = 0; i < model.block_count; i++)
        if (model.blocks[i].from >= 0 && model.blocks[i].from < one->from && model.blocks[i].is_miss &&
            is_same_group(&model.blocks[i], one))
            return false;
    return true;
}

/* Were cut sizes not known by then? Baseline blocks are made alike. */
static const char *cause_of(const block *one)
{
    uint64_t held = held_before(one, one->from);
    uint64_t most_held = most_before(one, one->from, held_before);
    uint64_t live = live_before(one, one->from) + extent(one);
    bool is_any_segment = model.is_flagged && model.segment_count > 0 && model.segments[0].from < one->from;

    for (int i = 0; i < model.segment_count; i++)
        is_any_segment |= model.segments[i].first >= 0 && model.blocks[model.segments[i].first].from <= one->from - 1;
    if (is_lost_before(one->from))
        return NULL;
    if (!model.has_baseline && is_first_miss(one))
        return "cold";
    if (held < most_held && live <= most_held)
        return "after_flush";
    if (!model.has_baseline && steps_before(EVENTS) > 0 && steps_before(one->from) <= 1)
        return "cold";
    if (live > most_before(one, one->from, live_before))
        return model.has_baseline ? NULL : "growth";
    if (is_pending_enough(one))
        return "pending_free";
    return is_any_segment && model.is_cut_known ? "fragmentation" : NULL;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void expect(int64_t value, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void expect(int64_t value, const char *format, ...)
{
    char sql[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(sql, sizeof sql, format, arguments);
    va_end(arguments);
    ck_assert_msg(load_int(db, sql) == value, "%s: %" PRId64 ", not %" PRId64, sql, load_int(db, sql), value);
}

static const char *quote(const char *word)
{
    static char quoted[32];

    snprintf(quoted, sizeof quoted, word == NULL ? "NULL" : "'%s'", word);
    return quoted;
}

static void compare_miss(const block *one)
{
    uint64_t cost = 0;
    int drivers = 0;

    for (int i = 0; i < model.segment_count; i++)
        if (model.segments[i].from >= 0 && model.segments[i].first >= 0 &&
            &model.blocks[model.segments[i].first] == one) {
            drivers++;
            cost += model.segments[i].cost_ns;
        }
    expect(1,
           "SELECT count(*) FROM z_pool_miss AS m LEFT JOIN z_miss_cause AS c ON c.cause = m.cause WHERE m.seq = %d"
           " AND c.name IS %s AND m.size_bytes = %" PRIu64 " AND m.is_pending_enough = %d AND m.driver_count = %d"
           " AND coalesce(m.driver_cost_ns, 0) = %" PRIu64 " AND m.generation = %d AND m.is_large = %d"
           " AND coalesce(m.stack_id, 0) = %d AND coalesce(m.stream, 0) = %d",
           one->from, quote(cause_of(one)), size_of(one), is_pending_enough(one), drivers, cost,
           steps_before(one->from), is_large(one), one->stack, one->stream);
    expect((int64_t)held_before(one, one->from), "SELECT coalesce(held_bytes, 0) FROM z_pool_miss WHERE seq = %d",
           one->from);
}

static void compare_misses(void)
{
    static const char *const causes[] = {NULL, "cold", "growth", "after_flush", "pending_free", "fragmentation"};
    int counts[STACKS][6] = {{0}};
    int64_t bytes[STACKS][6] = {{0}};
    int count = 0;

    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];
        const char *cause;
        int code = 0;

        if (!one->is_miss || one->from < 0)
            continue;
        compare_miss(one);
        cause = cause_of(one);
        while (cause != NULL && (causes[code] == NULL || strcmp(causes[code], cause) != 0))
            code++;
        count++;
        counts[one->stack][code]++;
        bytes[one->stack][code] += (int64_t)size_of(one);
    }
    expect(count, "SELECT count(*) FROM z_pool_miss");
    for (int stack = 0; stack < STACKS; stack++)
        for (int code = 0; code < 6; code++) {
            expect(counts[stack][code],
                   "SELECT coalesce(sum(miss_count), 0) FROM z_pool_miss_sum WHERE coalesce(stack_id, 0) = %d"
                   " AND coalesce(cause, 0) = %d",
                   stack, code);
            expect(bytes[stack][code],
                   "SELECT coalesce(sum(missed_bytes), 0) FROM z_pool_miss_sum WHERE coalesce(stack_id, 0) = %d"
                   " AND coalesce(cause, 0) = %d",
                   stack, code);
        }
}

/* Sums over requests that `is_like` takes: their row in `table` where `condition`. */
static void compare_requests(bool (*is_like)(const block *, const block *), const block *like, const char *table,
                             const char *condition)
{
    int64_t count = 0, misses = 0, bytes = 0, missed = 0, last = -1;

    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];

        if (one->from < 0 || !is_like(one, like))
            continue;
        count++;
        bytes += (int64_t)size_of(one);
        misses += one->is_miss;
        missed += one->is_miss ? (int64_t)size_of(one) : 0;
        last = one->is_miss ? one->from : last;
    }
    expect(count > 0,
           "SELECT count(*) FROM %s WHERE %s AND allocation_count = %" PRId64 " AND miss_count = %" PRId64
           " AND allocated_bytes = %" PRId64 " AND missed_bytes = %" PRId64
           " AND coalesce(last_miss_seq, -1) = %" PRId64,
           table, condition, count, misses, bytes, missed, last);
}

static bool is_same_size(const block *a, const block *b)
{
    int class_of[2] = {0, 0};

    for (int i = 0; i < 2; i++)
        while ((UINT64_C(1) << class_of[i]) < (i == 0 ? a : b)->requested)
            class_of[i]++;
    return class_of[0] == class_of[1] && is_large(a) == is_large(b);
}

static void compare_groups(void)
{
    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];
        uint64_t pending = 0, most_pending = 0, total = 0;
        int size_class = 0, pending_count = 0;
        char condition[160];

        snprintf(condition, sizeof condition,
                 "coalesce(stream, 0) = %d AND coalesce(private_pool, 0) = %d AND is_large = %d", one->stream,
                 one->private_pool, is_large(one));
        for (int k = 0; k < model.block_count; k++) {
            const block *other = &model.blocks[k];

            if (!was_pending(other) || !is_same_group(other, one))
                continue;
            pending_count++;
            total += extent(other);
            pending = 0;
            for (int j = 0; j < model.block_count; j++)
                if (was_pending(&model.blocks[j]) && is_same_group(&model.blocks[j], one) &&
                    is_there(model.blocks[j].requested_at, model.blocks[j].to, other->requested_at + 1))
                    pending += extent(&model.blocks[j]);
            most_pending = pending > most_pending ? pending : most_pending;
        }
        expect((int64_t)most_before(one, EVENTS, live_before), "SELECT peak_live_bytes FROM z_pool_group WHERE %s",
               condition);
        expect((int64_t)held_before(one, EVENTS), "SELECT held_bytes FROM z_pool_group WHERE %s", condition);
        expect((int64_t)most_before(one, EVENTS, held_before), "SELECT peak_held_bytes FROM z_pool_group WHERE %s",
               condition);
        expect(1,
               "SELECT count(*) FROM z_pool_group WHERE %s AND pending_count = %d AND pending_bytes = %" PRIu64
               " AND max_pending_bytes = %" PRIu64,
               condition, pending_count, total, most_pending);
        if (one->from < 0)
            continue;
        compare_requests(is_same_group, one, "z_pool_group", condition);
        while ((UINT64_C(1) << size_class) < one->requested)
            size_class++;
        snprintf(condition, sizeof condition, "size_class = %d AND is_large = %d", size_class, is_large(one));
        compare_requests(is_same_size, one, "z_pool_class", condition);
    }
}

static int64_t wait_of(const block *one)
{
    int64_t end = one->to < EVENTS ? model.times[one->to] : model.times[EVENTS - 1];

    return end - model.times[one->requested_at];
}

static void compare_pending(void)
{
    int64_t count = 0, byte_ms = 0, longest = 0, most = 0, most_at = -1, enough = 0;

    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];
        int64_t together = 0;

        enough += one->from >= 0 && one->is_miss && is_pending_enough(one);
        if (!was_pending(one))
            continue;
        count++;
        byte_ms += wait_of(one) * (int64_t)extent(one);
        longest = wait_of(one) > longest ? wait_of(one) : longest;
        for (int k = 0; k < model.block_count; k++)
            if (was_pending(&model.blocks[k]) &&
                is_there(model.blocks[k].requested_at, model.blocks[k].to, one->requested_at + 1))
                together += (int64_t)extent(&model.blocks[k]);
        if (together > most || (together == most && one->requested_at < most_at)) {
            most = together;
            most_at = one->requested_at;
        }
    }
    expect(1,
           "SELECT count(*) FROM z_pool_sum WHERE pending_count = %" PRId64 " AND pending_byte_ms = %" PRId64
           " AND max_wait_ns = %" PRId64 " AND max_pending_bytes = %" PRId64
           " AND coalesce(max_pending_seq, -1) = %" PRId64 " AND pending_miss_count = %" PRId64,
           count, byte_ms / 1000000, longest, most, most_at, enough);
    for (int stack = 0; stack < STACKS; stack++)
        for (int stream = 0; stream < 3; stream++) {
            int64_t here = 0, here_byte_ns = 0;

            for (int i = 0; i < model.block_count; i++)
                if (was_pending(&model.blocks[i]) && model.blocks[i].stack == stack &&
                    model.blocks[i].stream == stream) {
                    here++;
                    here_byte_ns += wait_of(&model.blocks[i]) * (int64_t)extent(&model.blocks[i]);
                }
            expect(here > 0,
                   "SELECT count(*) FROM z_pending_sum WHERE coalesce(stack_id, 0) = %d AND coalesce(stream, 0) = %d"
                   " AND pending_count = %" PRId64 " AND pending_byte_ms = %" PRId64,
                   stack, stream, here, here_byte_ns / 1000000);
        }
}

/* The block that comes at an event; NULL: none does. */
static const block *block_at(int at)
{
    for (int i = 0; i < model.block_count; i++)
        if (model.blocks[i].from == at)
            return &model.blocks[i];
    return NULL;
}

/* The segment that ends at an event, if it was one of the pool. */
static const segment *released_at(int at)
{
    for (int i = 0; i < model.segment_count; i++)
        if (model.segments[i].to == at && (model.segments[i].first >= 0 || model.is_flagged))
            return &model.segments[i];
    return NULL;
}

static void compare_flushes(void)
{
    int64_t flushes = 0, released = 0, bytes = 0, retries = 0, failed_retries = 0;
    bool is_flushing = false, has_failed = false, has_failed_before = false;

    for (int at = 0; at < EVENTS; at++) {
        const segment *gone = model.kinds[at] == SEGMENT_GOES ? released_at(at) : NULL;

        has_failed |= model.kinds[at] == FAILURE;
        if (model.kinds[at] == BLOCK_COMES) {
            retries += is_flushing && block_at(at)->is_miss;
            failed_retries += is_flushing && block_at(at)->is_miss && has_failed_before;
            is_flushing = has_failed = false;
        }
        if (gone == NULL)
            continue;
        flushes += !is_flushing;
        has_failed_before = is_flushing ? has_failed_before : has_failed;
        is_flushing = true;
        released++;
        bytes += (int64_t)gone->bytes;
    }
    expect(flushes + released + bytes + retries + failed_retries == 0 ? 0 : 1,
           "SELECT count(*) FROM z_pool_sum WHERE flush_count = %" PRId64 " AND released_count = %" PRId64
           " AND released_bytes = %" PRId64 " AND retry_count = %" PRId64 " AND failed_retry_count = %" PRId64
           " AND flush_count + released_count > 0",
           flushes, released, bytes, retries, failed_retries);
}

/* In events [from, to), which are one step. */
static void compare_step(int from, int to, int generation)
{
    int64_t count = 0, misses = 0, bytes = 0, missed = 0, drivers = 0, cost = 0, released = 0;

    for (int at = from; at < to; at++) {
        const block *one = model.kinds[at] == BLOCK_COMES ? block_at(at) : NULL;

        released += model.kinds[at] == SEGMENT_GOES && released_at(at) != NULL;
        count += one != NULL;
        bytes += one == NULL ? 0 : (int64_t)size_of(one);
        misses += one != NULL && one->is_miss;
        missed += one == NULL || !one->is_miss ? 0 : (int64_t)size_of(one);
        for (int i = 0; i < model.segment_count; i++) {
            const segment *range = &model.segments[i];
            int claimed = model.is_flagged ? range->from : range->first < 0 ? NEVER : model.blocks[range->first].from;

            if (range->from < 0 || claimed != at)
                continue;
            drivers++;
            cost += (int64_t)range->cost_ns;
        }
    }
    expect(count + drivers + released > 0,
           "SELECT count(*) FROM z_pool_step WHERE generation = %d AND allocation_count = %" PRId64
           " AND miss_count = %" PRId64 " AND allocated_bytes = %" PRId64 " AND missed_bytes = %" PRId64
           " AND driver_count = %" PRId64 " AND driver_cost_ns = %" PRId64 " AND released_count = %" PRId64,
           generation, count, misses, bytes, missed, drivers, cost, released);
}

static void compare_steps(void)
{
    int generation = 0, from = 0;

    if (steps_before(EVENTS) == 0) {
        expect(0, "SELECT count(*) FROM z_pool_step");
        return;
    }
    for (int at = 0; at <= EVENTS; at++)
        if (at == EVENTS || model.kinds[at] == STEP) {
            compare_step(from, at, generation++);
            from = at;
        }
}

static int distance_class(int64_t distance)
{
    int class = 0;

    while (distance >> class != 0)
        class ++;
    return class;
}

/* The last free of the same size, or at the same address, if no such request came since; -1: there is none. */
static int last_free(const block *request, bool is_address)
{
    int freed = -1, asked = -1;

    for (int i = 0; i < model.block_count; i++) {
        const block *one = &model.blocks[i];

        if (is_address ? one->address != request->address : extent(one) != extent(request))
            continue;
        if (one->to < request->from && one->to > freed)
            freed = one->to;
        if (one->from < request->from && one->from > asked)
            asked = one->from;
    }
    return freed > asked ? freed : -1;
}

static void compare_reuse(void)
{
    int64_t counts[2][2][65] = {{{0}}};

    for (int i = 0; i < model.block_count; i++)
        for (int is_address = 0; is_address < 2 && model.blocks[i].from >= 0; is_address++) {
            int freed = last_free(&model.blocks[i], is_address);
            int64_t requests = 0, bytes = 0;

            for (int k = 0; k < model.block_count; k++)
                if (model.blocks[k].from > freed && model.blocks[k].from < model.blocks[i].from) {
                    requests++;
                    bytes += (int64_t)size_of(&model.blocks[k]);
                }
            if (freed < 0)
                continue;
            counts[is_address][0][distance_class(requests)]++;
            counts[is_address][1][distance_class(bytes)]++;
        }
    for (int i = 0; i < 2 * 2 * 65; i++)
        expect(
            counts[i / 130][i / 65 % 2][i % 65],
            "SELECT coalesce(sum(request_count), 0) FROM z_pool_reuse WHERE is_same_address = %d AND distance_unit = %d"
            " AND distance_class = %d",
            i / 130, i / 65 % 2, i % 65);
}

static int compare_numbers(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x < y) - (x > y);
}

/* The smallest cost that `part` thousandths of the calls do not pass; dearest first. */
static int64_t percentile(const int64_t *costs, int count, int part)
{
    int place = (count * part + 999) / 1000;

    return costs[count - (place == 0 ? 1 : place)];
}

static void compare_cost(int heap)
{
    static const int parts[] = {500, 900, 990, 999};
    int64_t costs[BLOCKS_MAX + SEGMENTS_MAX] = {0}, octaves[64] = {0}, total = 0;
    const char *level = heap == DRIVER ? "driver" : "pool";
    int count = 0;

    for (int i = 0; i < (heap == DRIVER ? model.segment_count : model.block_count); i++) {
        uint64_t cost = heap == DRIVER ? model.segments[i].cost_ns : model.blocks[i].cost_ns;

        if (cost == 0)
            continue;
        costs[count++] = (int64_t)cost;
        total += (int64_t)cost;
        octaves[distance_class((int64_t)cost) - 1]++;
    }
    qsort(costs, (size_t)count, sizeof *costs, compare_numbers);
    expect(count,
           "SELECT coalesce(sum(call_count), 0) FROM z_cost_histogram JOIN z_heap_place USING (heap_id) WHERE level = "
           "'%s'",
           level);
    expect(
        total,
        "SELECT coalesce(sum(cost_ns), 0) FROM z_cost_histogram JOIN z_heap_place USING (heap_id) WHERE level = '%s'",
        level);
    for (int i = 0; i < 4 && count > 0; i++) {
        int64_t exact = percentile(costs, count, parts[i]);

        expect(1,
               "SELECT min(max_ns) BETWEEN %" PRId64 " AND %" PRId64
               " FROM (SELECT max_ns, sum(call_count) OVER (ORDER BY min_ns) * 1000 >= %d AS has_part FROM "
               "z_cost_histogram JOIN z_heap_place USING (heap_id) WHERE level = '%s') WHERE has_part",
               exact, exact + exact / 32, count * parts[i], level);
    }
    for (int octave = 0; octave < 40; octave++)
        expect(octaves[octave],
               "SELECT coalesce(sum(call_count), 0) FROM z_cost_histogram JOIN z_heap_place USING (heap_id) WHERE "
               "level = '%s' AND octave = %d",
               level, octave);
    for (int place = 1; place <= 20 && place <= count; place++)
        expect(costs[place - 1],
               "SELECT cost_ns FROM z_slowest_call JOIN z_heap_place USING (heap_id) WHERE level = '%s' AND place = %d",
               level, place);
    expect(count < 20 ? count : 20,
           "SELECT count(*) FROM z_slowest_call JOIN z_heap_place USING (heap_id) WHERE level = '%s'", level);
}

/* The views against the tables that were compared above: what they show, and the same counted from single rows, or from rows
 * by stack, stream and class. Misses are in table z_pool_miss one by one. */
static void compare_views(void)
{
    static const char *const pairs[][2] = {
        {"SELECT cause, miss_count, missed_bytes, pending_miss_count, driver_count, coalesce(driver_cost_ns, 0), "
         "last_seq"
         " FROM z_pool_miss_by_cause",
         "SELECT c.name, count(*), sum(m.size_bytes), sum(m.is_pending_enough), sum(m.driver_count),"
         " coalesce(sum(m.driver_cost_ns), 0), max(m.seq) FROM z_pool_miss AS m LEFT JOIN z_miss_cause AS c USING "
         "(cause)"
         " GROUP BY c.name"},
        {"SELECT site, cause, miss_count, missed_bytes, pending_miss_count, driver_count, coalesce(driver_cost_ns, 0),"
         " last_seq FROM z_pool_miss_by_site",
         "SELECT coalesce(f.label, '(no stack)'), c.name, count(*), sum(m.size_bytes), sum(m.is_pending_enough),"
         " sum(m.driver_count), coalesce(sum(m.driver_cost_ns), 0), max(m.seq) FROM z_pool_miss AS m"
         " LEFT JOIN z_miss_cause AS c USING (cause) LEFT JOIN stack AS s USING (stack_id)"
         " LEFT JOIN frame AS f ON f.frame_id = s.frame_id GROUP BY f.label, c.name"},
        {"SELECT cold_count, growth_count, after_flush_count, pending_free_count, fragmentation_count, "
         "unknown_cause_count"
         " FROM pool_summary WHERE miss_count > 0",
         "SELECT sum(cause IS 1), sum(cause IS 2), sum(cause IS 3), sum(cause IS 4), sum(cause IS 5), sum(cause IS "
         "NULL)"
         " FROM z_pool_miss GROUP BY heap_id"},
        {"SELECT stream, private_pool, allocation_count, hit_count, miss_count, allocated_bytes, missed_bytes,"
         " coalesce(last_miss_seq, -1), held_bytes, pending_count, pending_bytes FROM z_pool_by_stream",
         "SELECT stream, private_pool, sum(allocation_count), sum(allocation_count) - sum(miss_count), sum(miss_count),"
         " sum(allocated_bytes), sum(missed_bytes), max(coalesce(last_miss_seq, -1)), sum(held_bytes), "
         "sum(pending_count),"
         " sum(pending_bytes) FROM z_pool_group GROUP BY stream, private_pool"},
        {"SELECT value, miss_count, missed_bytes, last_miss_seq FROM pool_by WHERE dimension = 'class' AND miss_count "
         "> 0",
         "SELECT iif(is_large, 'large', 'small'), count(*), sum(size_bytes), max(seq) FROM z_pool_miss GROUP BY "
         "is_large"},
        {"SELECT number, part, miss_count, missed_bytes, last_miss_seq FROM pool_by WHERE dimension = 'size'"
         " AND miss_count > 0",
         "SELECT * FROM (WITH RECURSIVE power (bytes) AS (SELECT 1 UNION ALL SELECT 2 * bytes FROM power WHERE bytes < "
         "1 << 40)"
         " SELECT (SELECT min(bytes) FROM power WHERE bytes >= size_bytes) AS most, iif(is_large, 'large', 'small'),"
         " count(*), sum(size_bytes), max(seq) FROM z_pool_miss GROUP BY most, is_large)"},
        {"SELECT number, part, allocation_count, hit_count, miss_count, allocated_bytes, missed_bytes FROM pool_by"
         " WHERE dimension = 'stream'",
         "SELECT stream, CAST(private_pool AS TEXT), sum(allocation_count), sum(allocation_count) - sum(miss_count), "
         "sum(miss_count),"
         " sum(allocated_bytes), sum(missed_bytes) FROM z_pool_group GROUP BY stream, private_pool"},
        {"SELECT value, miss_count, missed_bytes, driver_count, coalesce(driver_cost_ns, 0), last_miss_seq FROM pool_by"
         " WHERE dimension = 'cause'",
         "SELECT c.name, count(*), sum(m.size_bytes), sum(m.driver_count), coalesce(sum(m.driver_cost_ns), 0), "
         "max(m.seq)"
         " FROM z_pool_miss AS m LEFT JOIN z_miss_cause AS c USING (cause) GROUP BY c.name"},
        {"SELECT value, part, miss_count, missed_bytes, driver_count, coalesce(driver_cost_ns, 0), last_miss_seq FROM"
         " pool_by WHERE dimension = 'site'",
         "SELECT coalesce(f.label, '(no stack)'), c.name, count(*), sum(m.size_bytes), sum(m.driver_count),"
         " coalesce(sum(m.driver_cost_ns), 0), max(m.seq) FROM z_pool_miss AS m LEFT JOIN z_miss_cause AS c USING "
         "(cause)"
         " LEFT JOIN stack AS s USING (stack_id) LEFT JOIN frame AS f ON f.frame_id = s.frame_id GROUP BY f.label, "
         "c.name"},
    };

    for (size_t i = 0; i < 2 * (sizeof pairs / sizeof pairs[0]); i++) {
        char sql[1600];

        snprintf(sql, sizeof sql, "SELECT count(*) FROM (%s EXCEPT %s)", pairs[i / 2][i % 2], pairs[i / 2][1 - i % 2]);
        ck_assert_msg(load_int(db, sql) == 0, "%s", sql);
    }
}

START_TEST(figures_equal_slow_ones)
{
    srand((unsigned)seed_of_test(1));
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (int round = 0; round < TRACES; round++) {
        load_random();
        db = load_open(path);
        compare_misses();
        compare_groups();
        compare_pending();
        compare_flushes();
        compare_steps();
        compare_reuse();
        compare_views();
        compare_cost(DRIVER);
        compare_cost(POOL);
        expect(model.has_baseline || model.has_loss, "SELECT coalesce(max(is_partial), %d) FROM pool_summary",
               model.has_baseline || model.has_loss);
        sqlite3_close(db);
    }
    run_remove_folder(folder);
}
END_TEST

TEST_SUITE(test_pool_oracle)
{
    Suite *suite = suite_create("pools against a slow model");
    TCase *tcase = tcase_create("oracle");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, figures_equal_slow_ones);
    suite_add_tcase(suite, tcase);
    return suite;
}
