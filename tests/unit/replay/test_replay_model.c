/* SPDX-License-Identifier: Apache-2.0
 *
 * The replay against a model that is slow and obvious: it keeps everything that ever was in one array, and after every
 * event computes every figure anew, byte map and all. Random small traces over a small address range, so that segments,
 * cuts, refused frees, replaced addresses and two pools meet often. NPUMEM_SEED repeats a run; it is printed.
 *
 * Blocks of one pool never overlap here: what the figures are then is an estimate, and has tests of its own.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "support/row_list.h"
#include "support/seed.h"
#include "support/suites.h"

#define TRACES     1000
#define EVENTS     120
#define SPACE      512  /* bytes of address range in use, from BASE */
#define BASE       4096 /* no address is 0 */
#define THINGS_MAX (EVENTS * 4)
#define DRIVER     1
#define POOL       2
#define WORKSPACE  3
#define HEAPS      4 /* heap numbers are below it */
#define STACKS     4
#define THREADS    4 /* 1 allocates, 2 marks, 3 runs operators for 1 and allocates for itself */

typedef struct thing { /* an allocation, a range, or what is left of one */
    uint64_t id, heap, address, size, extent, stack, segment_id, live_after, split_from;
    int64_t alloc_seq, free_seq, is_miss;
    nm_allocation_end end_kind;
    uint64_t thread, stream, operation; /* stream 0: not known */
    nm_operation_source source;
    bool has_served; /* an operator */
    uint64_t owner;  /* of a segment: a pool's heap; 0: no segment */
    bool is_live, is_mapped, is_touched, is_baseline, is_segment;
} thing;

typedef struct figures {
    uint64_t reserved, free_bytes, largest, stuck, gap_count;
} figures;

typedef struct peak {
    uint64_t bytes, count, reserved, stack_bytes[STACKS], stack_count[STACKS], older_bytes[STACKS], baseline_bytes,
        baseline_count;
    int64_t seq;
    figures figures;
} peak;

typedef struct operator_run { /* with a workspace */
    uint64_t operation, block, block_bytes;
    int64_t seq, is_reused;
} operator_run;

static struct model {
    thing things[THINGS_MAX];
    size_t count;
    peak peaks[HEAPS];
    uint64_t peak_reserved[HEAPS];
    int64_t peak_reserved_seq[HEAPS];
    uint64_t baseline_live[HEAPS];         /* before the first event */
    uint64_t max_shown[HEAPS];             /* the most of all buckets */
    uint64_t live_at[HEAPS][EVENTS * 3];   /* by seq */
    figures figures_at[HEAPS][EVENTS * 3]; /* by seq of a mark */
    uint64_t hits[HEAPS], misses[HEAPS];
    uint64_t open[THREADS][EVENTS]; /* operations, innermost last */
    size_t open_count[THREADS];
    uint64_t operation_count;
    operator_run runs[EVENTS];
    size_t run_count;
    int64_t ended_at[SPACE * 2]; /* when something at the address ended last, or was to */
    bool is_queue[THREADS];      /* has run operators for another */
    int64_t queue_seq[THREADS];
} model;

static nm_replay *replay;
static nm_row_list list;
static int64_t seq;
static uint64_t random_state;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % below;
}

/* ---- The figures, computed from nothing -------------------------------------------------------------------------- */

static uint64_t live_of(uint64_t heap)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < model.count; i++)
        if (model.things[i].is_live && model.things[i].heap == heap)
            bytes += model.things[i].size;
    return bytes;
}

/* What lies at each byte: the pool's segment there, and whether one of its blocks does. */
static const thing *segment_at[SPACE * 2];
static bool is_covered[SPACE * 2];

static void paint(uint64_t pool)
{
    memset(segment_at, 0, sizeof segment_at);
    memset(is_covered, 0, sizeof is_covered);
    for (size_t i = 0; i < model.count; i++) {
        const thing *one = &model.things[i];
        bool is_segment = one->is_live && one->heap == DRIVER && one->owner == pool;
        bool is_block = one->is_live && one->heap == pool;

        for (uint64_t at = 0; is_segment && at < one->size; at++)
            segment_at[one->address - BASE + at] = one;
        for (uint64_t at = 0; is_block && at < one->extent; at++)
            is_covered[one->address - BASE + at] = true;
    }
}

/* Bytes of the segment that no block covers, counted one by one; 0 when it carries nothing. */
static uint64_t stuck_in(const thing *segment)
{
    uint64_t free_bytes = 0;

    for (uint64_t at = 0; at < segment->size; at++)
        free_bytes += !is_covered[segment->address - BASE + at];
    return free_bytes == segment->size ? 0 : free_bytes;
}

static figures figures_of(uint64_t pool)
{
    figures out = {0};
    uint64_t run = 0;
    const thing *last = NULL; /* the segment of the byte before, when that is free */

    paint(pool);
    for (uint64_t at = 0; at < SPACE * 2; at++) {
        const thing *segment = segment_at[at];
        bool is_free = segment != NULL && !is_covered[at];
        bool is_joined = is_free && last != NULL && (segment == last || (segment->is_mapped && last->is_mapped));

        out.reserved += segment != NULL;
        out.free_bytes += is_free;
        if (is_free && !is_joined)
            out.gap_count++;
        run = is_free ? (is_joined ? run + 1 : 1) : 0;
        if (run > out.largest)
            out.largest = run;
        last = is_free ? segment : NULL;
        if (segment != NULL && at + BASE == segment->address)
            out.stuck += stuck_in(segment);
    }
    return out;
}

static void note_peak(uint64_t heap, int64_t event_seq)
{
    peak *best = &model.peaks[heap];

    if (live_of(heap) <= best->bytes)
        return;
    *best = (peak){.bytes = live_of(heap), .seq = event_seq, .figures = figures_of(heap)};
    best->reserved = heap == DRIVER ? 0 : best->figures.reserved;
    for (size_t i = 0; i < model.count; i++) {
        const thing *one = &model.things[i];
        if (!one->is_live || one->heap != heap)
            continue;
        best->count++;
        bool is_nameless = one->is_baseline && one->stack == 0;
        *(is_nameless ? &best->baseline_bytes : &best->stack_bytes[one->stack]) += one->size;
        *(is_nameless ? &best->baseline_count : &best->stack_count[one->stack]) += 1;
        if (one->is_baseline && !is_nameless)
            best->older_bytes[one->stack] += one->size;
    }
}

/* Everything that is to be looked at after an event. */
static void look(int64_t event_seq)
{
    for (uint64_t heap = DRIVER; heap < HEAPS; heap++) {
        figures now = {0};

        if (heap != DRIVER)
            now = figures_of(heap);
        note_peak(heap, event_seq);
        if (now.reserved > model.peak_reserved[heap]) {
            model.peak_reserved[heap] = now.reserved;
            model.peak_reserved_seq[heap] = event_seq;
        }
        if (event_seq != NM_NO_SEQ) { /* and at the mark that comes next */
            model.live_at[heap][event_seq] = model.live_at[heap][event_seq + 1] = live_of(heap);
            model.figures_at[heap][event_seq + 1] = now;
        }
    }
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void replay_event(nm_event event)
{
    nm_error err = {0};
    nm_record record = {.kind = NM_RECORD_EVENT, .event = event};

    record.event.time_ns = NM_NO_TIME;
    ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
}

/* Replays what the model has done already, and a mark behind it. */
static void give(nm_event event)
{
    bool is_baseline = (event.flags & NM_FLAG_BASELINE) != 0;

    event.seq = (uint64_t)seq;
    replay_event(event);
    look(is_baseline ? NM_NO_SEQ : seq);
    if (is_baseline)
        return;
    replay_event((nm_event){.kind = NM_EVENT_MARK, .thread_id = 2, .seq = (uint64_t)seq + 1});
    seq += 2;
}

static void end_thing(thing *one, nm_allocation_end end_kind)
{
    one->is_live = false;
    one->free_seq = seq;
    one->end_kind = end_kind;
    model.ended_at[one->address - BASE] = seq;
}

static thing *add_thing(thing values)
{
    thing *one = &model.things[model.count++];

    ck_assert_uint_le(model.count, THINGS_MAX);
    *one = values;
    one->id = model.count;
    one->free_seq = NM_NO_SEQ;
    one->is_live = true;
    if (one->split_from == 0 && model.open_count[one->thread] > 0) {
        one->operation = model.open[one->thread][model.open_count[one->thread] - 1];
        one->source = NM_SOURCE_THREAD;
    }
    return one;
}

static thing *live_at(uint64_t heap, uint64_t address)
{
    for (size_t i = 0; i < model.count; i++)
        if (model.things[i].is_live && model.things[i].heap == heap && model.things[i].address == address)
            return &model.things[i];
    return NULL;
}

static bool is_range_free(uint64_t heap, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < model.count; i++) {
        const thing *one = &model.things[i];
        if (one->is_live && one->heap == heap && one->address < address + bytes &&
            address < one->address + (heap == DRIVER ? one->size : one->extent))
            return false;
    }
    return true;
}

/* A new block touches the ranges under it, one after another while they are next to each other. */
static void touch_ranges(thing *block)
{
    uint64_t at = block->address;

    block->is_miss = NM_UNKNOWN_NUMBER;
    for (bool goes_on = true; goes_on;) {
        goes_on = false;
        for (size_t i = 0; i < model.count; i++) {
            thing *range = &model.things[i];
            if (!range->is_live || range->heap != DRIVER || at < range->address || at - range->address >= range->size)
                continue;
            if (at == block->address) {
                block->segment_id = range->id;
                block->is_miss = 0;
            }
            block->is_miss |= !range->is_touched;
            range->is_touched = true;
            range->is_segment = true;
            if (range->owner == 0)
                range->owner = block->heap;
            at = range->address + range->size;
            goes_on = at < block->address + block->extent;
            break;
        }
    }
    if (block->is_baseline)
        block->is_miss = NM_UNKNOWN_NUMBER;
    else if (block->is_miss != NM_UNKNOWN_NUMBER)
        *(block->is_miss == 1 ? &model.misses[block->heap] : &model.hits[block->heap]) += 1;
}

static void do_block(uint64_t heap, bool is_baseline)
{
    uint64_t address = BASE + pick(SPACE - 64);
    uint64_t requested = 1 + pick(40);
    uint64_t block = pick(3) == 0 ? 0 : requested + pick(8);
    uint64_t extent = block != 0 ? block : requested;
    thing *old = live_at(heap, address);
    thing *made;

    if (old != NULL)
        old->is_live = false; /* its bytes may be taken */
    bool is_possible = is_range_free(heap, address, extent) && !(old != NULL && is_baseline);
    if (old != NULL)
        old->is_live = true;
    if (!is_possible)
        return;
    if (old != NULL)
        end_thing(old, NM_END_REPLACED);
    made = add_thing((thing){.heap = heap,
                             .address = address,
                             .size = requested,
                             .extent = extent,
                             .stack = pick(STACKS),
                             .thread = pick(5) == 0 ? 3 : 1,
                             .stream = pick(3),
                             .is_baseline = is_baseline,
                             .alloc_seq = is_baseline ? NM_NO_SEQ : seq});
    touch_ranges(made);
    made->live_after = live_of(heap);
    give((nm_event){.kind = NM_EVENT_ALLOC,
                    .flags = (is_baseline ? NM_FLAG_BASELINE : 0) | (made->stream != 0 ? NM_FLAG_STREAM : 0),
                    .thread_id = made->thread,
                    .stream = made->stream,
                    .heap_id = heap,
                    .address = address,
                    .requested_bytes = requested,
                    .block_bytes = block,
                    .stack_id = made->stack});
}

/* No other block of its pool begins between `address` and it. */
static bool is_first_from(const thing *block, uint64_t address)
{
    for (size_t i = 0; i < model.count; i++) {
        const thing *one = &model.things[i];

        if (one->is_live && one->heap == block->heap && one->address >= address && one->address < block->address)
            return false;
    }
    return block->address >= address;
}

/* Memory that comes under a block of a pool, all of which it holds, was the pool's before: a segment that has been asleep.
 * Of several pools the one that was defined first. */
static void wake_segment(thing *range)
{
    for (uint64_t heap = 1; heap < HEAPS && range->owner == 0; heap++)
        for (size_t i = 0; i < model.count && heap != DRIVER; i++) {
            const thing *block = &model.things[i];

            if (block->is_live && block->heap == heap && is_first_from(block, range->address) &&
                block->address + block->extent <= range->address + range->size) {
                range->is_segment = range->is_touched = true;
                range->owner = heap;
            }
        }
}

/* A pool whose mapping it lies at the end of has grown by it. */
static uint64_t pool_on_the_left(const thing *range)
{
    for (size_t i = 0; i < model.count && range->is_mapped; i++) {
        const thing *one = &model.things[i];

        if (one->is_live && one->heap == DRIVER && one->is_mapped && one->address + one->size == range->address)
            return one->owner;
    }
    return 0;
}

static void do_range(bool is_mapped, bool is_baseline)
{
    uint64_t address = BASE + pick(8) * 56;
    uint64_t bytes = is_mapped ? 56 : 1 + pick(80);
    bool is_born = pick(3) == 0;
    uint64_t claimant = !is_born && pick(4) == 0 ? POOL + pick(HEAPS - POOL) : 0; /* says who has read ahead */
    thing *made;

    if (!is_range_free(DRIVER, address, bytes))
        return;
    made = add_thing((thing){.heap = DRIVER,
                             .address = address,
                             .size = bytes,
                             .stack = pick(STACKS),
                             .thread = 1,
                             .stream = 1, /* of one, so that what is mapped joins whatever lies in it */
                             .is_mapped = is_mapped,
                             .is_baseline = is_baseline,
                             .is_touched = is_baseline,
                             .is_segment = is_born,
                             .owner = is_born ? POOL : 0,
                             .is_miss = NM_UNKNOWN_NUMBER,
                             .alloc_seq = is_baseline ? NM_NO_SEQ : seq});
    if (is_mapped && !is_born)
        wake_segment(made);
    if (made->owner == 0)
        made->owner = claimant != 0 ? claimant : pool_on_the_left(made);
    made->is_segment = made->owner != 0;
    made->live_after = live_of(DRIVER);
    give((nm_event){.kind = is_mapped ? NM_EVENT_MAP : NM_EVENT_ALLOC,
                    .flags = (is_baseline ? NM_FLAG_BASELINE : 0) | (is_born ? NM_FLAG_SEGMENT : 0) | NM_FLAG_STREAM,
                    .thread_id = 1,
                    .stream = made->stream,
                    .heap_id = DRIVER,
                    .address = address,
                    .requested_bytes = is_mapped ? 0 : bytes,
                    .block_bytes = is_mapped ? bytes : 0,
                    .pool_id = claimant,
                    .stack_id = made->stack});
}

static void do_free(void)
{
    thing *one = &model.things[pick(model.count)];

    if (!one->is_live)
        return;
    end_thing(one, NM_END_FREED);
    give((nm_event){.kind = NM_EVENT_FREE, .thread_id = 1, .heap_id = one->heap, .address = one->address});
    if (pick(4) != 0)
        return;
    one->is_live = true;
    one->free_seq = NM_NO_SEQ;
    one->end_kind = NM_END_NONE;
    give((nm_event){.kind = NM_EVENT_FREE_FAILED, .thread_id = 1, .address = one->address});
}

/* Adds what is left of `range` in [from, to). */
static void keep_part(const thing *range, uint64_t from, uint64_t to)
{
    thing rest = *range;
    thing *part;

    if (from >= to)
        return;
    rest.split_from = range->id;
    part = add_thing(rest);
    part->address = from;
    part->size = to - from;
    part->alloc_seq = seq;
    part->end_kind = NM_END_NONE;
    part->live_after = 0; /* set when the whole cut is done */
    part->has_served = false;
    if (part->source != NM_SOURCE_THREAD) {
        part->source = NM_SOURCE_NONE;
        part->operation = 0;
    }
}

static void do_unmap(void)
{
    uint64_t from = BASE + pick(SPACE - 64);
    uint64_t to = from + 1 + pick(120);
    uint64_t order[THINGS_MAX];
    size_t found = 0;

    for (uint64_t at = BASE; at < BASE + SPACE; at++) { /* by address, as the rows are numbered */
        thing *range = live_at(DRIVER, at);
        if (range != NULL && range->address < to && from < range->address + range->size)
            order[found++] = range->id;
    }
    for (size_t i = 0; i < found; i++) {
        thing range = model.things[order[i] - 1];

        end_thing(&model.things[order[i] - 1], NM_END_UNMAPPED);
        keep_part(&range, range.address, from);
        keep_part(&range, to > range.address ? to : range.address, range.address + range.size);
    }
    give((nm_event){
        .kind = NM_EVENT_UNMAP, .thread_id = 1, .heap_id = DRIVER, .address = from, .block_bytes = to - from});
}

static void do_reset(void)
{
    for (size_t i = 0; i < model.count; i++)
        if (model.things[i].is_live)
            end_thing(&model.things[i], NM_END_RESET);
    give((nm_event){.kind = NM_EVENT_RESET, .thread_id = 1, .device_id = 1});
}

/* The block of the heap that holds all of the workspace. */
static thing *block_around(uint64_t heap, uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < model.count; i++) {
        thing *one = &model.things[i];
        uint64_t extent = heap == DRIVER ? one->size : one->extent;

        if (one->is_live && one->heap == heap && one->address <= address && address + bytes <= one->address + extent)
            return heap == DRIVER && one->is_segment ? NULL : one;
    }
    return NULL;
}

/* Is it certain that this is the block which the operator was given? */
static bool is_certain(const thing *block, uint64_t thread, uint64_t stream, uint64_t address)
{
    bool is_own = block->thread == thread;

    if (is_own && !model.is_queue[thread])
        return true;
    if (!is_own && stream != 0 && block->stream != 0 && stream != block->stream)
        return false;
    if (block->heap != POOL)
        return true;
    return block->address == address && model.ended_at[address - BASE] <= model.queue_seq[thread];
}

static void serve(thing *block, operator_run *use, uint64_t thread)
{
    bool is_own = block->thread == thread;

    use->block = block->id;
    use->block_bytes = block->heap == DRIVER ? block->size : block->extent;
    use->is_reused = block->has_served;
    block->has_served = true;
    if (block->source == NM_SOURCE_NONE) {
        block->source = is_own ? NM_SOURCE_WORKSPACE : NM_SOURCE_QUEUE;
        block->operation = use->operation;
    }
    if (!is_own && block->alloc_seq > model.queue_seq[thread])
        model.queue_seq[thread] = block->alloc_seq;
}

static void do_operator(void)
{
    const thing *any = &model.things[pick(model.count)];
    uint64_t thread = pick(2) == 0 ? 1 : 3;
    uint64_t stream = pick(3);
    uint64_t bytes = 1 + pick(30);
    uint64_t address = any->is_live && pick(4) != 0 ? any->address : BASE + pick(SPACE);
    operator_run *use = &model.runs[model.run_count++];
    thing *block = block_around(WORKSPACE, address, bytes);

    if (block == NULL)
        block = block_around(POOL, address, bytes);
    if (block == NULL)
        block = block_around(DRIVER, address, bytes);
    *use = (operator_run){.operation = ++model.operation_count, .seq = seq, .is_reused = NM_UNKNOWN_NUMBER};
    model.is_queue[thread] |= block != NULL && block->thread != thread;
    if (block != NULL && is_certain(block, thread, stream, address))
        serve(block, use, thread);
    model.open[thread][model.open_count[thread]++] = use->operation;
    give((nm_event){.kind = NM_EVENT_RANGE_BEGIN,
                    .thread_id = thread,
                    .flags = stream != 0 ? NM_FLAG_STREAM : 0,
                    .stream = stream,
                    .address = address,
                    .requested_bytes = bytes,
                    .detail = NM_RANGE_OPERATOR});
}

static void do_end_of_range(void)
{
    uint64_t thread = pick(2) == 0 ? 1 : 3;

    if (model.open_count[thread] == 0)
        return;
    model.open_count[thread]--;
    give((nm_event){.kind = NM_EVENT_RANGE_END, .thread_id = thread});
}

static void do_something(void)
{
    uint64_t what = pick(120);

    if (what < 40)
        do_block(POOL, false);
    else if (what < 48)
        do_block(WORKSPACE, false);
    else if (what < 56)
        do_range(false, false);
    else if (what < 66)
        do_range(true, false);
    else if (what < 93)
        do_free();
    else if (what < 99)
        do_unmap();
    else if (what < 109)
        do_operator();
    else if (what < 119)
        do_end_of_range();
    else if (pick(4) == 0)
        do_reset();
}

/* ---- Definitions ------------------------------------------------------------------------------------------------- */

static void define(nm_definition definition)
{
    nm_error err = {0};
    nm_record record = {.kind = NM_RECORD_DEFINITION, .definition = definition};

    ck_assert_int_eq(nm_replay_record(replay, &record, &err), NM_OK);
}

static void define_all(void)
{
    define((nm_definition){.kind = NM_DEFINE_PROCESS, .id = 1});
    for (uint64_t thread = 1; thread < THREADS; thread++)
        define((nm_definition){.kind = NM_DEFINE_THREAD, .id = thread, .thread.process_id = 1});
    define((nm_definition){.kind = NM_DEFINE_DEVICE, .id = 1, .device.process_id = 1});
    for (uint64_t heap = DRIVER; heap < HEAPS; heap++)
        define((nm_definition){.kind = NM_DEFINE_HEAP,
                               .id = heap,
                               .heap = {.process_id = 1,
                                        .device_id = 1,
                                        .level = heap, /* their numbers are in the order of the levels */
                                        .size_basis = NM_BASIS_REQUESTED}});
    for (uint64_t stack = 1; stack < STACKS; stack++)
        define((nm_definition){.kind = NM_DEFINE_STACK, .id = stack, .stack.frame_id = stack});
}

/* ---- Comparing --------------------------------------------------------------------------------------------------- */

static void check_row(const thing *want)
{
    const nm_allocation_row *row = nm_row_list_allocation(&list, want->id);

    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(row->heap_id, want->heap);
    ck_assert_uint_eq(row->address, want->address);
    ck_assert_uint_eq(row->size_bytes, want->size);
    ck_assert_uint_eq(row->stack_id, want->stack);
    ck_assert_int_eq(row->alloc_seq, want->alloc_seq);
    ck_assert_int_eq(row->free_seq, want->free_seq);
    ck_assert_int_eq(row->end_kind, want->end_kind);
    ck_assert_uint_eq(row->segment_id, want->segment_id);
    ck_assert_int_eq(row->is_miss, want->is_miss);
    ck_assert_uint_eq(row->is_segment, want->is_segment);
    ck_assert_uint_eq(row->split_from_id, want->split_from);
    ck_assert_uint_eq(row->thread_id, want->thread);
    ck_assert_uint_eq(row->operation_id, want->operation);
    ck_assert_int_eq(row->operation_source, want->source);
    if (want->split_from == 0)
        ck_assert_uint_eq(row->live_bytes, want->live_after);
}

static void check_figures(const nm_fragmentation_row *row, const figures *want)
{
    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(row->reserved_bytes, want->reserved);
    ck_assert_uint_eq(row->free_bytes, want->free_bytes);
    ck_assert_uint_eq(row->occupied_bytes, want->reserved - want->free_bytes);
    ck_assert_uint_eq(row->largest_free_bytes, want->largest);
    ck_assert_uint_eq(row->stuck_bytes, want->stuck);
    ck_assert_uint_eq(row->gap_count, want->gap_count);
}

static void check_share(uint64_t heap, uint64_t stack, bool is_baseline, uint64_t bytes, uint64_t count,
                        uint64_t older_bytes)
{
    const nm_peak_stack_row *row = nm_row_list_peak_stack(&list, heap, stack, is_baseline);

    ck_assert_uint_eq(row == NULL ? 0 : row->live_bytes, bytes);
    ck_assert_uint_eq(row == NULL ? 0 : row->live_count, count);
    ck_assert_uint_eq(row == NULL ? 0 : row->older_bytes, older_bytes);
}

static void check_heap(uint64_t heap)
{
    const nm_heap_total_row *row = nm_row_list_total(&list, heap);
    const peak *want = &model.peaks[heap];

    ck_assert_uint_eq(row->live_bytes, live_of(heap));
    ck_assert_uint_eq(row->peak_bytes, want->bytes);
    ck_assert_uint_eq(row->peak_live_count, want->count);
    ck_assert_uint_eq(row->reserved_at_peak_bytes, want->reserved);
    ck_assert_uint_eq(row->peak_reserved_bytes, model.peak_reserved[heap]);
    if (want->bytes > 0)
        ck_assert_int_eq(row->peak_seq, want->seq);
    if (model.peak_reserved[heap] > 0)
        ck_assert_int_eq(row->peak_reserved_seq, model.peak_reserved_seq[heap]);
    for (uint64_t stack = 0; stack < STACKS; stack++)
        check_share(heap, stack, false, want->stack_bytes[stack], want->stack_count[stack], want->older_bytes[stack]);
    check_share(heap, 0, true, want->baseline_bytes, want->baseline_count, want->baseline_bytes);
    if (heap != DRIVER && want->bytes > 0)
        check_figures(nm_row_list_figures(&list, NM_MOMENT_PEAK, 0, heap), &want->figures);
}

static void check_hits(uint64_t heap)
{
    uint64_t count = 0;
    uint64_t misses = 0;

    for (int bucket = 0; bucket < 3; bucket++) {
        count += nm_row_list_hit(&list, heap, bucket)->allocation_count;
        misses += nm_row_list_hit(&list, heap, bucket)->miss_count;
    }
    ck_assert_uint_eq(count, model.hits[heap] + model.misses[heap]);
    ck_assert_uint_eq(misses, model.misses[heap]);
}

static void check_usage(const nm_usage_row *row)
{
    const uint64_t *live = model.live_at[row->heap_id];
    int64_t max_seq = row->first_seq;

    model.max_shown[row->heap_id] =
        row->max_live_bytes > model.max_shown[row->heap_id] ? row->max_live_bytes : model.max_shown[row->heap_id];
    if (row->first_seq == NM_NO_SEQ) { /* before the first event */
        ck_assert_int_eq(row->last_seq, NM_NO_SEQ);
        ck_assert_int_eq(row->max_seq, NM_NO_SEQ);
        ck_assert_uint_eq(row->live_bytes, model.baseline_live[row->heap_id]);
        ck_assert_uint_eq(row->max_live_bytes, model.baseline_live[row->heap_id]);
        return;
    }
    for (int64_t at = row->first_seq; at <= row->last_seq; at++)
        if (live[at] > live[max_seq])
            max_seq = at;
    ck_assert_int_eq(row->max_seq, max_seq);
    ck_assert_uint_eq(row->max_live_bytes, live[max_seq]);
    ck_assert_uint_eq(row->live_bytes, live[row->last_seq]);
}

static void check_runs(void)
{
    ck_assert_uint_eq(list.workspace.count, model.run_count);
    for (size_t i = 0; i < model.run_count; i++) {
        const nm_workspace_row *row = &list.workspace.items[i];
        const operator_run *want = &model.runs[i];

        ck_assert_int_eq(row->seq, want->seq);
        ck_assert_uint_eq(row->operation_id, want->operation);
        ck_assert_uint_eq(row->allocation_id, want->block);
        ck_assert_uint_eq(row->block_bytes, want->block_bytes);
        ck_assert_int_eq(row->is_reused, want->is_reused);
    }
}

static void check_marks(void)
{
    for (size_t i = 0; i < list.fragmentation.count; i++) {
        const nm_fragmentation_row *row = &list.fragmentation.items[i];
        const nm_moment_row *moment = &list.moment.items[row->moment_id - 1];

        ck_assert_uint_eq(moment->moment_id, row->moment_id);
        if (moment->kind == NM_MOMENT_MARK)
            check_figures(row, &model.figures_at[row->heap_id][moment->seq]);
    }
}

static void run_trace(void)
{
    nm_sink sink = nm_row_list_sink(&list);
    nm_error err = {0};

    memset(&model, 0, sizeof model);
    for (size_t at = 0; at < SPACE * 2; at++)
        model.ended_at[at] = NM_NO_SEQ;
    for (uint64_t thread = 0; thread < THREADS; thread++)
        model.queue_seq[thread] = NM_NO_SEQ;
    seq = 0;
    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &replay, &err), NM_OK);
    define_all();
    for (uint64_t i = pick(6); i > 0; i--)
        do_range(pick(2) == 0, true);
    for (uint64_t i = pick(6); i > 0; i--)
        do_block(POOL, true);
    for (uint64_t heap = DRIVER; heap < HEAPS; heap++)
        model.baseline_live[heap] = live_of(heap);
    do_range(false, false);
    for (int i = 0; i < EVENTS; i++)
        do_something();
    ck_assert_int_eq(nm_replay_finish(replay, &err), NM_OK);

    ck_assert_uint_eq(list.allocation.count, model.count);
    for (size_t i = 0; i < model.count; i++)
        check_row(&model.things[i]);
    for (uint64_t heap = DRIVER; heap < HEAPS; heap++)
        check_heap(heap);
    check_hits(POOL);
    check_hits(WORKSPACE);
    for (size_t i = 0; i < list.usage.count; i++)
        check_usage(&list.usage.items[i]);
    for (uint64_t heap = DRIVER; heap < HEAPS; heap++)
        ck_assert_uint_eq(model.max_shown[heap], model.peaks[heap].bytes);
    check_runs();
    check_marks();
    nm_replay_free(replay);
    nm_row_list_free(&list);
}

START_TEST(random_traces_give_what_the_obvious_model_gives)
{
    uint64_t seed = seed_of_test(1);

    for (uint64_t i = 0; i < TRACES; i++) {
        random_state = (seed + i) * 0x9E3779B97F4A7C15u + 1;
        run_trace();
    }
}
END_TEST

TEST_SUITE(test_replay_model)
{
    Suite *suite = suite_create("replay_model");
    TCase *tests = tcase_create("model");

    tcase_set_timeout(tests, 230);
    tcase_add_test(tests, random_traces_give_what_the_obvious_model_gives);
    suite_add_tcase(suite, tests);
    return suite;
}
