/* SPDX-License-Identifier: Apache-2.0
 *
 * View out_of_memory and its sites against the obvious computation: random events of two threads on two devices are kept in
 * a list, and every chain, its end, the state before it and its verdict are found by walking that list again and again.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

#define MIB         INT64_C(1048576)
#define TOTAL_BYTES (1000 * MIB)
#define EVENTS_MAX  400
#define TEXT_ROOM   (EVENTS_MAX * 400)
#define RUNS        30
#define THREADS     2
#define DEVICES     2
#define STACKS      5
#define ASKERS      7 /* stacks in which memory is asked for: some of them never get any */
#define CODE_LACK   207001

typedef enum what {
    SEGMENT,        /* driver memory of the pool */
    PLAIN,          /* driver memory of the program */
    BLOCK,          /* of the pool */
    FREE_RANGE,     /* `target` */
    FREE_BLOCK,     /* `target` */
    GIVE_UP,        /* `target`, which another stream still uses */
    DRIVER_REFUSES, /* size, free */
    POOL_REFUSES,   /* size */
    SAMPLE,         /* free: right before a pool refuses */
    WAIT,           /* a call about streams */
    LEAVE,          /* something else: a mark */
    WRONG_CALL,     /* a failure that is no lack of memory */
} what;

typedef struct event {
    what what;
    int thread, device, stack;
    int64_t size, free, address, target;
    int64_t ended, given_up; /* events that did that to it; or EVENTS_MAX */
    int64_t used;            /* of a segment: where the next block goes */
} event;

typedef struct chain {
    int64_t first, last, last_of_pool, at_least, tried, released;
    int failure_count, driver_count;
    const char *outcome;
} chain;

static event events[EVENTS_MAX];
static int event_count;
static char text[TEXT_ROOM], folder[64], path[128];
static uint64_t state;
static const char *const answers[] = {
    "capacity",     "fragmentation", "other-process-or-module",
    "other-stream", "other-cache",   "limit",
    "driver",       "unknown",       "recovered",
    "fatal",
};
static int64_t answer_counts[sizeof answers / sizeof answers[0]];

static int64_t pick(int64_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)((state >> 33) % (uint64_t)below);
}

/* ---- Random events ----------------------------------------------------------------------------------------------- */

static event *add(event one)
{
    one.ended = one.given_up = EVENTS_MAX;
    events[event_count] = one;
    return &events[event_count++];
}

static bool is_range(const event *one)
{
    return one->what == SEGMENT || one->what == PLAIN;
}

static bool is_live_now(const event *one)
{
    return (is_range(one) || one->what == BLOCK) && one->ended == EVENTS_MAX;
}

static bool carries_blocks(int64_t segment)
{
    for (int i = 0; i < event_count; i++)
        if (events[i].what == BLOCK && events[i].target == segment && events[i].ended == EVENTS_MAX)
            return true;
    return false;
}

static int64_t pick_live(what kind, int device)
{
    for (int tries = 0; tries < 40 && event_count > 0; tries++) {
        int64_t at = pick(event_count);

        if (events[at].what == kind && events[at].device == device && is_live_now(&events[at]))
            return at;
    }
    return -1;
}

static void add_block(int thread, int device)
{
    int64_t segment = pick_live(SEGMENT, device);
    int64_t size = (1 + pick(pick(4) ? 30 : 80)) * MIB;
    event block = {.what = BLOCK, .thread = thread, .device = device, .stack = 1 + (int)pick(STACKS), .size = size};

    if (segment < 0 || events[segment].used + size > events[segment].size)
        return;
    block.address = events[segment].address + events[segment].used;
    block.target = segment;
    events[segment].used += size + pick(2) * MIB;
    add(block);
}

static void end_block(int thread, int device, bool is_given_up)
{
    int64_t block = pick_live(BLOCK, device);

    if (block < 0 || (is_given_up && events[block].given_up != EVENTS_MAX))
        return;
    if (is_given_up)
        events[block].given_up = event_count;
    else
        events[block].ended = event_count;
    add((event){.what = is_given_up ? GIVE_UP : FREE_BLOCK, .thread = thread, .device = device, .target = block});
}

static void end_range(int thread, int device)
{
    int64_t range = pick_live(pick(2) ? SEGMENT : PLAIN, device);

    if (range < 0 || carries_blocks(range))
        return;
    events[range].ended = event_count;
    add((event){.what = FREE_RANGE, .thread = thread, .device = device, .target = range});
}

static void add_failure(int thread, int device)
{
    static const int64_t sizes[] = {20, 20, 20, 40, 100, 300};
    event failure = {.thread = thread, .device = device, .stack = 1 + (int)pick(ASKERS)};

    failure.size = sizes[pick(6)] * MIB;
    failure.free = pick(3) ? pick(20) * MIB : pick(1000) * MIB;
    failure.what = pick(3) ? DRIVER_REFUSES : POOL_REFUSES;
    if (failure.what == POOL_REFUSES)
        add((event){.what = SAMPLE, .thread = thread, .device = device, .free = failure.free});
    add(failure);
}

static void add_something(void)
{
    int thread = 1 + (int)pick(THREADS);
    int device = (int)pick(DEVICES);
    int64_t size = (1 + pick(6)) * 20 * MIB;

    switch (pick(14)) {
    case 0:
    case 1:
    case 2:
        add((event){.what = pick(4) ? SEGMENT : PLAIN,
                    .thread = thread,
                    .device = device,
                    .stack = 1 + (int)pick(STACKS),
                    .size = size,
                    .address = (int64_t)(event_count + 1) << 40});
        break;
    case 3:
    case 4:
    case 5:
        add_block(thread, device);
        break;
    case 6:
        end_block(thread, device, false);
        break;
    case 7:
        for (int count = pick(6) == 0 ? 8 : 1; count > 0; count--)
            end_block(thread, device, true);
        break;
    case 8:
        end_range(thread, device);
        break;
    case 9:
        add((event){.what = pick(3)   ? WAIT
                            : pick(3) ? WRONG_CALL
                                      : LEAVE,
                    .thread = thread,
                    .device = device,
                    .size = MIB});
        break;
    default:
        add_failure(thread, device);
    }
}

/* ---- As a text trace --------------------------------------------------------------------------------------------- */

static int write_event(char *out, size_t room, const event *one, int at)
{
    const event *target = &events[one->target];
    int driver = 1 + 2 * one->device;

    switch (one->what) {
    case SEGMENT:
    case PLAIN:
        return snprintf(out, room,
                        "@%d alloc heap=%d address=%" PRId64 " requested=%" PRId64 " block=%" PRId64
                        " thread=%d stack=%d%s\n",
                        at, driver, one->address, one->size, one->size, one->thread, one->stack,
                        one->what == SEGMENT ? " segment" : "");
    case BLOCK:
        return snprintf(out, room,
                        "@%d alloc heap=%d address=%" PRId64 " requested=%" PRId64 " block=%" PRId64
                        " thread=%d stack=%d\n",
                        at, driver + 1, one->address, one->size, one->size, one->thread, one->stack);
    case FREE_RANGE:
        return snprintf(out, room, "@%d free heap=%d address=%" PRId64 " thread=%d\n", at, driver, target->address,
                        one->thread);
    case FREE_BLOCK:
    case GIVE_UP:
        return snprintf(out, room, "@%d %s heap=%d address=%" PRId64 " thread=%d\n", at,
                        one->what == GIVE_UP ? "free_requested" : "free", driver + 1, target->address, one->thread);
    case DRIVER_REFUSES:
        return snprintf(out, room,
                        "@%d alloc_failed heap=%d requested=%" PRId64 " thread=%d stack=%d error=%d free=%" PRId64
                        " total=%" PRId64 "\n",
                        at, driver, one->size, one->thread, one->stack, CODE_LACK, one->free, TOTAL_BYTES);
    case POOL_REFUSES:
        return snprintf(out, room, "@%d alloc_failed heap=%d requested=%" PRId64 " thread=%d stack=%d error=%d\n", at,
                        driver + 1, one->size, one->thread, one->stack, CODE_LACK);
    case SAMPLE:
        return snprintf(out, room,
                        "@%d memory_sample device=%d thread=%d detail=hbm free=%" PRId64 " total=%" PRId64 "\n", at,
                        one->device + 1, one->thread, one->free, TOTAL_BYTES);
    case WAIT:
        return snprintf(out, room, "@%d stream_call thread=%d detail=4\n", at, one->thread);
    case WRONG_CALL:
        return snprintf(out, room, "@%d alloc_failed heap=%d requested=0 thread=%d error=107000\n", at, driver,
                        one->thread);
    default:
        return snprintf(out, room, "@%d mark thread=%d name=other\n", at, one->thread);
    }
}

static void write_text(void)
{
    size_t len = (size_t)snprintf(text, sizeof text,
                                  "process 1 pid=1\n"
                                  "device 1 process=1 ordinal=0 kind=npu\ndevice 2 process=1 ordinal=1 kind=npu\n"
                                  "heap 1 process=1 device=1 level=driver basis=block name=driver\n"
                                  "heap 2 process=1 device=1 level=pool basis=block name=pool\n"
                                  "heap 3 process=1 device=2 level=driver basis=block name=driver\n"
                                  "heap 4 process=1 device=2 level=pool basis=block name=pool\n"
                                  "thread 1 process=1 tid=1\nthread 2 process=1 tid=2\n");

    for (int stack = 1; stack <= ASKERS; stack++)
        len += (size_t)snprintf(text + len, sizeof text - len, "stack %d: s%d.so+0x1\n", stack, stack);
    for (int at = 0; at < event_count; at++)
        len += (size_t)write_event(text + len, sizeof text - len, &events[at], at);
    ck_assert_uint_lt(len, sizeof text - 400);
    snprintf(text + len, sizeof text - len, "@%d process_end process=1 thread=1 detail=exit error=0\n", event_count);
}

/* ---- The obvious answer ------------------------------------------------------------------------------------------ */

static bool is_live_at(const event *one, int64_t at)
{
    return one - events < at && one->ended >= at;
}

typedef struct figures {
    int64_t allocated, active, reserved, own, pool_free, pool_largest, stuck, given_up;
} figures;

/* The largest stretch of a segment that no block lies in. */
static int64_t largest_gap(const event *segment, int64_t at)
{
    int64_t from = segment->address;
    int64_t largest = 0;

    for (int i = 0; i < event_count; i++) { /* blocks of a segment stand in the list by address */
        const event *block = &events[i];

        if (block->what != BLOCK || &events[block->target] != segment || !is_live_at(block, at))
            continue;
        if (block->address - from > largest)
            largest = block->address - from;
        from = block->address + block->size;
    }
    return segment->address + segment->size - from > largest ? segment->address + segment->size - from : largest;
}

/* What is free of a segment in which something is. */
static int64_t stuck_bytes(const event *segment, int64_t at)
{
    int64_t used = 0;

    for (int i = 0; i < event_count; i++)
        if (events[i].what == BLOCK && &events[events[i].target] == segment && is_live_at(&events[i], at))
            used += events[i].size;
    return used == 0 ? 0 : segment->size - used;
}

/* The most that segments of the device ever were. */
static int64_t peak_reserved(int device)
{
    int64_t now = 0, peak = 0;

    for (int i = 0; i < event_count; i++) {
        const event *one = events[i].what == FREE_RANGE ? &events[events[i].target] : &events[i];

        if (one->device == device && one->what == SEGMENT)
            now += &events[i] == one ? one->size : -one->size;
        peak = now > peak ? now : peak;
    }
    return peak;
}

static figures figures_at(int device, int64_t at)
{
    figures sum = {0};

    for (int i = 0; i < event_count; i++) {
        const event *one = &events[i];

        if (one->device != device || !(is_range(one) || one->what == BLOCK) || !is_live_at(one, at))
            continue;
        if (one->what == BLOCK) {
            sum.active += one->size;
            sum.allocated += one->given_up < at ? 0 : one->size;
            if (one->given_up < at && one->size > sum.given_up)
                sum.given_up = one->size;
            continue;
        }
        sum.own += one->size;
        if (one->what == PLAIN)
            continue;
        sum.reserved += one->size;
        sum.stuck += stuck_bytes(one, at);
        if (largest_gap(one, at) > sum.pool_largest)
            sum.pool_largest = largest_gap(one, at);
    }
    sum.pool_free = sum.reserved - sum.active;
    return sum;
}

static bool is_failure(const event *one)
{
    return one->what == DRIVER_REFUSES || one->what == POOL_REFUSES;
}

/* The thread has done something else at `from`: was it served as much from there on, in pieces? */
static const char *outcome_after(const event *first, int64_t from, int64_t needed)
{
    int64_t served = 0;

    for (int64_t at = from; at < event_count; at++) {
        const event *one = &events[at];

        if (one->thread == first->thread && one->device == first->device && one->what == BLOCK)
            served += one->size;
        if (served >= needed && served > 0)
            return "recovered";
    }
    return "fatal";
}

/* Walks from the failure `from` of a thread on: the chain that begins there. */
static chain follow(int64_t from)
{
    const event *first = &events[from];
    chain found = {.first = from, .last = from, .outcome = NULL};
    bool is_granted = false;
    int64_t wanted = 0, asked = 0;

    for (int64_t at = from; at < event_count && found.outcome == NULL; at++) {
        const event *one = &events[at];
        bool is_here = one->device == first->device;
        bool is_left = false;

        if (one->thread != first->thread)
            continue;
        if (one->what == LEAVE) {
            is_left = true;
        } else if (is_here && is_failure(one)) {
            if (one->what == POOL_REFUSES && found.tried != 0 && found.tried != one->size) {
                found.outcome = is_granted ? "recovered" : outcome_after(first, at, found.tried);
                break;
            }
            found.failure_count++;
            found.driver_count += one->what == DRIVER_REFUSES;
            found.last = at;
            is_granted = false;
            wanted = one->what == DRIVER_REFUSES ? one->size : 0;
            asked = wanted != 0 ? wanted : asked;
            if (one->what == POOL_REFUSES)
                found.last_of_pool = at;
            if (one->what == POOL_REFUSES)
                found.tried = one->size;
            else if (one->size > found.at_least)
                found.at_least = one->size;
        } else if (is_here && one->what == BLOCK) {
            if (is_granted || one->size >= (found.tried != 0 ? found.tried : wanted))
                found.outcome = "recovered";
            else
                is_left = true;
        } else if (is_here && is_range(one) && wanted != 0) {
            is_left = one->size < wanted;
            is_granted = is_granted || !is_left;
        } else if (is_here && one->what == FREE_RANGE) {
            found.released += events[one->target].size;
        } else if (is_here && one->what == FREE_BLOCK && events[one->target].given_up > at) {
            is_left = true;
        } else if (is_here && one->what == GIVE_UP) {
            is_left = true;
        }
        if (is_left)
            found.outcome = is_granted ? "recovered" : outcome_after(first, at, found.tried != 0 ? found.tried : asked);
    }
    if (found.outcome == NULL)
        found.outcome = is_granted ? "recovered" : "fatal";
    return found;
}

/* Sizes are whole segments. */
static const char *verdict_of(const chain *one, const figures *sum, int64_t free_bytes, bool is_driver_seen,
                              bool is_other_asker, int64_t most)
{
    int64_t needed = one->tried > one->at_least ? one->tried : one->at_least;
    int64_t others = TOTAL_BYTES - free_bytes - sum->own;
    int64_t pending = sum->active - sum->allocated;
    int64_t cache = sum->reserved - sum->active;
    bool is_pool_asked = one->tried != 0;
    bool has_room = free_bytes >= needed + 4 * MIB; /* beyond what whole pages could need */

    if (is_pool_asked && sum->pool_largest >= one->tried && one->at_least == 0)
        return "unknown";
    if (one->at_least == 0 && !is_driver_seen && has_room && most <= sum->reserved + needed)
        return "limit";
    if (free_bytes >= 0 && !has_room && sum->own + needed <= TOTAL_BYTES && others * 2 >= TOTAL_BYTES)
        return "other-process-or-module";
    if (is_other_asker && one->released == 0 && free_bytes >= 0 && free_bytes < needed && sum->pool_free > sum->stuck &&
        free_bytes + sum->pool_free - sum->stuck >= needed)
        return "other-cache";
    if (sum->given_up >= (is_pool_asked ? one->tried : needed) && pending > sum->stuck)
        return "other-stream";
    if (is_pool_asked && sum->pool_free >= one->tried && sum->pool_largest < one->tried)
        return "fragmentation";
    if (!is_pool_asked && one->driver_count > 1 && sum->pool_free >= needed &&
        sum->pool_largest <= (needed > 20 * MIB ? needed - 2 * MIB : MIB))
        return "fragmentation";
    if (one->at_least == 0 && is_driver_seen)
        return "limit";
    if (sum->own - cache + needed > TOTAL_BYTES)
        return "capacity";
    if (sum->own + needed > TOTAL_BYTES && !(is_pool_asked && sum->pool_largest >= one->tried) &&
        (is_pool_asked || (needed > 20 * MIB && sum->pool_largest <= needed - 2 * MIB)) &&
        sum->pool_free * 2 >= needed && sum->pool_free > 0 && sum->pool_free + free_bytes >= needed && free_bytes >= 0)
        return "fragmentation";
    if (sum->own + needed > TOTAL_BYTES || free_bytes < 0) /* with all that is free there may be enough, in pieces */
        return free_bytes >= 0 && cache + free_bytes < needed ? "capacity" : "unknown";
    if (has_room)
        return one->driver_count > 1 ? "driver" : "unknown";
    if (others * 10 >= TOTAL_BYTES)
        return "other-process-or-module";
    return cache >= needed ? "unknown" : "capacity";
}

/* What the device said belongs to moments of devices that ever held something; a refusal of the driver says it itself. */
static bool is_free_known(const event *first)
{
    for (const event *one = events; one < first; one++)
        if (is_range(one) && one->device == first->device)
            return true;
    return first->what == DRIVER_REFUSES;
}

static bool had_segment(int device, int64_t at)
{
    for (int i = 0; i < at; i++)
        if (events[i].what == SEGMENT && events[i].device == device)
            return true;
    return false;
}

/* Has the pool asked the driver with that stack, ever (0: with any)? Each stack is of a library of its own. */
static bool has_asked(int device, int stack)
{
    for (int i = 0; i < event_count; i++)
        if (events[i].what == SEGMENT && events[i].device == device && (stack == 0 || events[i].stack == stack))
            return true;
    return false;
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void compare_sites(sqlite3 *db, int64_t number, const chain *one)
{
    char sql[512], wanted[1024] = "";
    size_t len = 0;

    for (int kind = 0; kind < 2; kind++) /* driver, pool: by name */
        for (int stack = 1; stack <= STACKS; stack++) {
            int64_t bytes = 0;
            int count = 0;

            for (int i = 0; i < event_count; i++)
                if (events[i].what == (kind == 0 ? PLAIN : BLOCK) && events[i].device == events[one->first].device &&
                    events[i].stack == stack && is_live_at(&events[i], one->first)) {
                    bytes += events[i].size;
                    count++;
                }
            if (count > 0)
                len += (size_t)snprintf(wanted + len, sizeof wanted - len, "%s|s%d.so+0x1|%d|%" PRId64 "\n",
                                        kind == 0 ? "driver" : "pool", stack, count, bytes);
        }
    snprintf(sql, sizeof sql,
             "SELECT heap, site, live_count, live_bytes FROM temp.told_site WHERE out_of_memory_id = %" PRId64
             " ORDER BY 1, 2",
             number);
    char *rows = load_rows(db, sql);
    ck_assert_str_eq(rows, wanted);
    free(rows);
}

static void compare_chain(sqlite3 *db, int64_t number, const chain *one)
{
    const event *first = &events[one->first];
    figures sum = figures_at(first->device, one->first);
    bool is_pool_asked = one->tried != 0;
    bool is_driver_asked = one->at_least != 0;
    bool is_pools = !is_pool_asked && has_asked(first->device, first->stack);
    bool is_other_asker = !is_pool_asked && !is_pools && has_asked(first->device, 0);
    char tried[32] = "-", at_least[32] = "-", free_bytes[32] = "-", pool_free[80] = "-|-", sql[512], wanted[1024];
    const char *verdict =
        verdict_of(one, &sum, is_free_known(first) ? first->free : -1, had_segment(first->device, one->last_of_pool),
                   is_other_asker, peak_reserved(first->device));

    if (is_pool_asked)
        snprintf(tried, sizeof tried, "%" PRId64, one->tried);
    if (is_pool_asked || is_pools) {
        snprintf(pool_free, sizeof pool_free, "%" PRId64 "|%" PRId64, sum.pool_free, sum.pool_largest);
    }
    if (is_free_known(first))
        snprintf(free_bytes, sizeof free_bytes, "%" PRId64, first->free);
    if (is_driver_asked)
        snprintf(at_least, sizeof at_least, "%" PRId64, one->at_least);
    snprintf(wanted, sizeof wanted,
             "%d|%s|%s|%s|%s|%d|%" PRId64 "|%" PRId64 "|%" PRId64 "|%" PRId64 "|%s|%" PRId64 "|%" PRId64 "|%s|%" PRId64
             "|s%d.so+0x1|0\n",
             first->device, one->outcome, verdict, tried, at_least, one->failure_count, one->first, one->last,
             sum.allocated, sum.active, free_bytes, sum.reserved, sum.own, pool_free, one->released, first->stack);
    snprintf(sql, sizeof sql,
             "SELECT device, outcome, verdict, tried_bytes, at_least_tried_bytes, failure_count, first_seq, last_seq,"
             " allocated_bytes, active_bytes, free_bytes, reserved_bytes, own_bytes, pool_free_bytes,"
             " pool_largest_free_bytes, released_bytes, site, is_partial FROM temp.told"
             " WHERE out_of_memory_id = %" PRId64,
             number);
    char *rows = load_rows(db, sql);
    ck_assert_str_eq(rows, wanted);
    free(rows);
    compare_sites(db, number, one);
}

/* Is the failure part of a chain that began before it? */
static bool is_in(const chain *chains, int count, int64_t at)
{
    for (int i = 0; i < count; i++)
        if (events[chains[i].first].thread == events[at].thread &&
            events[chains[i].first].device == events[at].device && at <= chains[i].last)
            return true;
    return false;
}

static void compare(sqlite3 *db)
{
    static chain chains[EVENTS_MAX];
    int count = 0;

    for (int64_t at = 0; at < event_count; at++)
        if (is_failure(&events[at]) && !is_in(chains, count, at))
            chains[count++] = follow(at);
    /* Once: a view is worked out as a whole for each question. */
    free(load_rows(db, "CREATE TEMP TABLE told AS SELECT * FROM out_of_memory"));
    free(load_rows(db, "CREATE TEMP TABLE told_site AS SELECT * FROM z_out_of_memory_site"));
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM temp.told"), count);
    for (int i = 0; i < count; i++)
        compare_chain(db, i + 1, &chains[i]);
}

static void run_once(uint64_t seed)
{
    nm_input_row input;
    sqlite3 *db;

    state = seed * 0x9e3779b97f4a7c15u + 1;
    event_count = 0;
    while (event_count < EVENTS_MAX - 4)
        add_something();
    write_text();
    input = load_whole_input((uint64_t)event_count + 1);
    unlink(path);
    load_text(text, &input, path);
    db = load_open(path);
    compare(db);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        char sql[160];

        snprintf(sql, sizeof sql, "SELECT count(*) FROM temp.told WHERE verdict = '%s' OR outcome = '%s'", answers[i],
                 answers[i]);
        answer_counts[i] += load_int(db, sql);
    }
    sqlite3_close(db);
}

START_TEST(chains_are_what_the_obvious_walk_finds)
{
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/x.db", folder);
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run_once(seed);
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        ck_assert_msg(answer_counts[i] > 3, "%s was the answer %" PRId64 " times", answers[i], answer_counts[i]);
    run_remove_folder(folder);
}
END_TEST

TEST_SUITE(test_out_of_memory_oracle)
{
    Suite *suite = suite_create("out of memory");
    TCase *tcase = tcase_create("oracle");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, chains_are_what_the_obvious_walk_finds);
    suite_add_tcase(suite, tcase);
    return suite;
}
