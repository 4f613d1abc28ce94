/* SPDX-License-Identifier: Apache-2.0
 *
 * How pools are cut up, against a model that is slow and obvious: after every event it paints a map of the address range,
 * unit by unit, and counts. Random traces of two pools go through the replay and the store; parts, free ranges, blockers
 * and timelines in the database are compared with what the model saw at each mark, at each pool's peak, when it held
 * most, at the end and after each event. NPUMEM_SEED repeats a run; it is printed.
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

#define UNIT       (UINT64_C(1) << 18) /* eight are a small segment, forty or more a large one */
#define SPACE      1024                /* units, from BASE */
#define BASE       (UINT64_C(1) << 40)
#define EVENTS     12000
#define THINGS_MAX (EVENTS + 100)
#define STACKS     80
#define SITES      30 /* stacks n and n + SITES are of one site */
#define FIRST_POOL 2
#define LAST_POOL  3
#define STREAMS    3 /* 0: not known */
#define PRIVATES   3 /* 0: the default pool */
#define KINDS      5 /* of segments, from 1 */
#define KEYS       (KINDS * STREAMS * PRIVATES)
#define HOLDERS    64 /* with rows of their own, */
#define AT_MARKS   16 /* and at marks */
#define MARKS_MAX  400

typedef struct thing { /* a segment, or a block */
    uint64_t id;
    int from, to; /* units */
    uint64_t requested_bytes;
    int heap, owner; /* owner of a segment: a pool, or 0 */
    int stream, truth, private_pool;
    int truth_stream; /* that its first block tells, where the segment tells none */
    int stack;
    int64_t seq; /* of its birth; -1: baseline */
    bool is_live, is_mapped, is_settled;
} thing;

typedef struct figures {
    uint64_t reserved, free_bytes, largest, stuck, gap_count, waste;
    bool has_unknown_waste;
} figures;

typedef struct tally {
    figures sums;
    uint64_t gap_count[64], gap_bytes[64], gap_largest[64];
} tally;

typedef struct holder {
    uint64_t count, bytes, segments, hostage, sole_segments, sole_hostage, worst_id, worst_address, worst_bytes,
        worst_hostage;
    int64_t oldest;
    int stack;
    bool is_baseline, is_known;
} holder;

typedef struct reserve { /* when a pool held most */
    uint64_t bytes, at_peak_bytes;
    int64_t seq;
    bool is_waiting; /* no block of it came since */
    char *text;
} reserve;

static thing segments[THINGS_MAX], blocks[THINGS_MAX];
static int segment_count, block_count;
static uint64_t id_count, live_bytes[LAST_POOL + 1], peak_bytes[LAST_POOL + 1];
static char *peak_text[LAST_POOL + 1], *mark_text[MARKS_MAX];
static int64_t mark_seq[MARKS_MAX];
static int mark_count;
static reserve reserves[LAST_POOL + 1];
static int served_pool; /* by this event */
static int reserve_count;
static figures *history[LAST_POOL + 1][KEYS + 1]; /* by seq; the last one is the whole pool */
static int64_t seq, event_limit, rest_count;
static uint64_t random_state;
static char folder[64], path[128];
static nm_error err;
static nm_store *store;
static nm_replay *replay;

static int pick(int below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (int)((random_state >> 11) % (uint64_t)below);
}

static uint64_t bytes_of(const thing *one)
{
    return (uint64_t)(one->to - one->from) * UNIT;
}

static uint64_t address_of(int unit)
{
    return BASE + (uint64_t)unit * UNIT;
}

/* ---- The model --------------------------------------------------------------------------------------------------- */

static int kind_of(const thing *segment)
{
    int units = segment->to - segment->from;

    if (segment->is_mapped)
        return 3;
    return units == 8 ? 1 : units >= 40 && units % 8 == 0 ? 2 : 4;
}

static int key_of(const thing *segment)
{
    return (kind_of(segment) * STREAMS + segment->stream) * PRIVATES + segment->private_pool;
}

/* The pool's segment and block at each unit. */
static thing *segment_at[SPACE], *block_at[SPACE];

static void paint(int pool)
{
    memset(segment_at, 0, sizeof segment_at);
    memset(block_at, 0, sizeof block_at);
    for (int i = 0; i < segment_count; i++)
        for (int at = segments[i].from; segments[i].is_live && segments[i].owner == pool && at < segments[i].to; at++)
            segment_at[at] = &segments[i];
    for (int i = 0; i < block_count; i++)
        for (int at = blocks[i].from; blocks[i].is_live && blocks[i].heap == pool && at < blocks[i].to; at++)
            block_at[at] = &blocks[i];
}

static bool goes_on(const thing *left, const thing *right)
{
    return left == right || (left->is_mapped && right->is_mapped && left->stream == right->stream &&
                             left->private_pool == right->private_pool);
}

static void add_gap(tally *part, uint64_t bytes)
{
    int power = 0;

    while (UINT64_C(2) << power <= bytes)
        power++;
    part->gap_count[power]++;
    part->gap_bytes[power] += bytes;
    part->gap_largest[power] = bytes > part->gap_largest[power] ? bytes : part->gap_largest[power];
    part->sums.gap_count++;
    part->sums.largest = bytes > part->sums.largest ? bytes : part->sums.largest;
}

static int free_units_in(const thing *segment)
{
    int count = 0;

    for (int at = segment->from; at < segment->to; at++)
        count += block_at[at] == NULL;
    return count;
}

static void add_waste(figures *out, const thing *block)
{
    if (block->requested_bytes == 0)
        out->has_unknown_waste = true;
    else
        out->waste += bytes_of(block) - block->requested_bytes;
}

static void count_segments(int pool, tally parts[KEYS])
{
    for (int i = 0; i < segment_count; i++) {
        const thing *one = &segments[i];
        figures *sums = &parts[one->is_live && one->owner == pool ? key_of(one) : 0].sums;
        uint64_t free_bytes = 0;

        if (!one->is_live || one->owner != pool)
            continue;
        free_bytes = (uint64_t)free_units_in(one) * UNIT;
        sums->reserved += bytes_of(one);
        sums->free_bytes += free_bytes;
        sums->stuck += free_bytes == bytes_of(one) ? 0 : free_bytes;
    }
}

/* All parts of the pool; paints it. */
static void count_all(int pool, tally parts[KEYS])
{
    memset(parts, 0, KEYS * sizeof *parts);
    paint(pool);
    count_segments(pool, parts);
    for (int at = 0; at < SPACE; at++) {
        int end = at;

        if (segment_at[at] == NULL || block_at[at] != NULL)
            continue;
        while (end + 1 < SPACE && segment_at[end + 1] != NULL && block_at[end + 1] == NULL &&
               goes_on(segment_at[end], segment_at[end + 1]))
            end++;
        add_gap(&parts[key_of(segment_at[at])], (uint64_t)(end + 1 - at) * UNIT);
        at = end;
    }
    for (int i = 0; i < block_count; i++)
        if (blocks[i].is_live && blocks[i].heap == pool)
            add_waste(&parts[key_of(segment_at[blocks[i].from])].sums, &blocks[i]);
}

static figures sum_up(const tally parts[KEYS])
{
    figures all = {0};

    for (int key = 0; key < KEYS; key++) {
        const figures *one = &parts[key].sums;

        all.reserved += one->reserved;
        all.free_bytes += one->free_bytes;
        all.stuck += one->stuck;
        all.gap_count += one->gap_count;
        all.waste += one->waste;
        all.has_unknown_waste |= one->has_unknown_waste;
        all.largest = one->largest > all.largest ? one->largest : all.largest;
    }
    return all;
}

/* ---- Who is in the way ------------------------------------------------------------------------------------------- */

static bool are_one_holder(const thing *a, const thing *b)
{
    return a->stack == b->stack && (a->seq < 0) == (b->seq < 0);
}

/* What the block holds of one segment's free bytes; *is_sole: all blocks there are of its stack. */
static uint64_t held_in(const thing *segment, const thing *block, bool *is_sole)
{
    uint64_t free_bytes = (uint64_t)free_units_in(segment) * UNIT;
    uint64_t count = 0, before = 0;

    *is_sole = true;
    for (int i = 0; i < block_count; i++) {
        const thing *one = &blocks[i];

        if (!one->is_live || one->heap != segment->owner || one->to <= segment->from || one->from >= segment->to)
            continue;
        count++;
        before += one->from < block->from;
        *is_sole = *is_sole && are_one_holder(one, block);
    }
    return free_bytes / count + (before < free_bytes % count);
}

/* Has a block of the holder that lies before this one been seen in the segment? */
static bool is_first_in(const thing *segment, const thing *block)
{
    for (int at = segment->from; at < segment->to && at < block->from; at++)
        if (block_at[at] != NULL && block_at[at] != block && are_one_holder(block_at[at], block))
            return false;
    return true;
}

static void hold(holder *out, const thing *block)
{
    uint64_t hostage = 0;
    bool is_in_the_way = false;

    for (int at = block->from; at < block->to; at++) {
        const thing *segment = segment_at[at];
        bool is_sole;
        uint64_t bytes;

        if (segment == NULL || (at > block->from && segment_at[at - 1] == segment) || free_units_in(segment) == 0)
            continue;
        bytes = held_in(segment, block, &is_sole);
        hostage += bytes;
        is_in_the_way = true;
        if (!is_first_in(segment, block))
            continue;
        out->segments++;
        out->sole_segments += is_sole;
        out->sole_hostage += is_sole ? (uint64_t)free_units_in(segment) * UNIT : 0;
    }
    if (!is_in_the_way)
        return;
    if (!out->is_known || block->seq < out->oldest)
        out->oldest = block->seq;
    out->is_known = true;
    out->count++;
    out->bytes += bytes_of(block);
    out->hostage += hostage;
    if (hostage < out->worst_hostage || (hostage == out->worst_hostage && address_of(block->from) > out->worst_address))
        return;
    out->worst_id = block->id;
    out->worst_address = address_of(block->from);
    out->worst_bytes = bytes_of(block);
    out->worst_hostage = hostage;
}

static int compare_holders(const void *left, const void *right)
{
    const holder *a = left, *b = right;

    if (a->is_known != b->is_known)
        return a->is_known ? -1 : 1;
    if (a->hostage != b->hostage)
        return a->hostage > b->hostage ? -1 : 1;
    if (a->is_baseline != b->is_baseline)
        return a->is_baseline ? 1 : -1;
    return a->stack - b->stack;
}

/* All holders of the pool, which is painted; the largest first. */
static int find_holders(int pool, holder out[2 * (STACKS + 1)])
{
    int known = 0;

    memset(out, 0, 2 * (STACKS + 1) * sizeof *out);
    for (int i = 0; i < 2 * (STACKS + 1); i++) {
        out[i].stack = i % (STACKS + 1);
        out[i].is_baseline = i > STACKS;
    }
    for (int i = 0; i < block_count; i++)
        if (blocks[i].is_live && blocks[i].heap == pool)
            hold(&out[blocks[i].stack + (blocks[i].seq < 0 ? STACKS + 1 : 0)], &blocks[i]);
    qsort(out, 2 * (STACKS + 1), sizeof *out, compare_holders);
    while (known < 2 * (STACKS + 1) && out[known].is_known)
        known++;
    return known;
}

/* ---- The model's answers as text --------------------------------------------------------------------------------- */

static void print_number(FILE *out, bool is_known, uint64_t value)
{
    if (is_known)
        fprintf(out, "|%" PRIu64, value);
    else
        fputs("|-", out);
}

static void print_key(FILE *out, int pool, int key)
{
    int stream = key / PRIVATES % STREAMS;

    fprintf(out, "%d|%d", pool, key / PRIVATES / STREAMS);
    print_number(out, stream > 0, (uint64_t)stream);
    print_number(out, key % PRIVATES > 0, (uint64_t)(key % PRIVATES));
}

static void print_part(FILE *out, int pool, int key, const tally *part)
{
    const figures *sums = &part->sums;

    if (sums->reserved == 0)
        return;
    print_key(out, pool, key);
    fprintf(out, "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64, sums->reserved, sums->free_bytes,
            sums->largest, sums->stuck, sums->gap_count);
    print_number(out, !sums->has_unknown_waste, sums->waste);
    fputc('\n', out);
}

static void print_gaps(FILE *out, int pool, int key, const tally *part)
{
    for (int power = 0; power < 64; power++) {
        if (part->gap_count[power] == 0)
            continue;
        print_key(out, pool, key);
        fprintf(out, "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "\n", UINT64_C(1) << power, part->gap_count[power],
                part->gap_bytes[power], part->gap_largest[power]);
    }
}

static void print_holder(FILE *out, int pool, const holder *one)
{
    fprintf(out, "%d", pool);
    print_number(out, one->stack != 0, (uint64_t)one->stack);
    fprintf(out, "|%d|0|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64, one->is_baseline,
            one->count, one->bytes, one->segments, one->hostage, one->sole_segments, one->sole_hostage);
    print_number(out, one->oldest >= 0, (uint64_t)one->oldest);
    fprintf(out, "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "|%" PRIu64 "\n", one->worst_id, one->worst_address,
            one->worst_bytes, one->worst_hostage);
}

static void print_rest(FILE *out, int pool, const holder *all, int from, int count)
{
    holder rest = {.oldest = INT64_MAX};

    for (int i = from; i < count; i++) {
        rest.count += all[i].count;
        rest.bytes += all[i].bytes;
        rest.hostage += all[i].hostage;
        rest.sole_segments += all[i].sole_segments;
        rest.sole_hostage += all[i].sole_hostage;
        rest.oldest = all[i].oldest < rest.oldest ? all[i].oldest : rest.oldest;
    }
    if (rest.count == 0)
        return;
    fprintf(out, "%d|-|0|1|%" PRIu64 "|%" PRIu64 "|-|%" PRIu64 "|%" PRIu64 "|%" PRIu64, pool, rest.count, rest.bytes,
            rest.hostage, rest.sole_segments, rest.sole_hostage);
    print_number(out, rest.oldest >= 0, (uint64_t)rest.oldest);
    fputs("|-|-|-|-\n", out);
}

static void print_pool(FILE *out, int pool, int limit)
{
    static tally parts[KEYS];
    holder holders[2 * (STACKS + 1)];
    int count;

    count_all(pool, parts);
    for (int key = 0; key < KEYS; key++)
        print_part(out, pool, key, &parts[key]);
    for (int key = 0; key < KEYS; key++)
        print_gaps(out, pool, key, &parts[key]);
    count = find_holders(pool, holders);
    for (int i = 0; i < count && i < limit; i++)
        print_holder(out, pool, &holders[i]);
    print_rest(out, pool, holders, limit, count);
}

/* Of one pool, or (0) of both. */
static char *describe(int pool, int limit)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (int one = FIRST_POOL; one <= LAST_POOL; one++)
        if (pool == 0 || pool == one)
            print_pool(out, one, limit);
    fclose(out);
    return text;
}

/* Once a block of it has come, or all that was there before. */
static void look_at_reserve(int pool, uint64_t reserved, bool has_seq)
{
    reserve *most = &reserves[pool];

    if (reserved < most->bytes)
        most->is_waiting = false;
    if (reserved < most->bytes || (reserved == most->bytes && has_seq && !(most->is_waiting && served_pool == pool)))
        return;
    most->bytes = reserved;
    most->seq = has_seq ? seq : -1;
    most->is_waiting = has_seq && served_pool != pool;
    free(most->text);
    most->text = describe(pool, HOLDERS);
}

/* Everything that is to be looked at after an event. */
static void look(bool has_seq)
{
    static tally parts[KEYS];

    for (int pool = FIRST_POOL; pool <= LAST_POOL; pool++) {
        count_all(pool, parts);
        look_at_reserve(pool, sum_up(parts).reserved, has_seq);
        if (live_bytes[pool] > peak_bytes[pool]) {
            peak_bytes[pool] = live_bytes[pool];
            reserves[pool].at_peak_bytes = sum_up(parts).reserved;
            free(peak_text[pool]);
            peak_text[pool] = describe(pool, HOLDERS);
        }
        for (int key = 0; key < KEYS && has_seq; key++)
            history[pool][key][seq] = parts[key].sums;
        if (has_seq)
            history[pool][KEYS][seq] = sum_up(parts);
    }
}

/* ---- Events ------------------------------------------------------------------------------------------------------ */

static void give_record(nm_record record)
{
    ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
}

/* The model has done it already. */
static void give(nm_event event)
{
    bool is_baseline = (event.flags & NM_FLAG_BASELINE) != 0;

    event.seq = (uint64_t)seq;
    event.time_ns = is_baseline ? NM_NO_TIME : seq * 1000;
    event.thread_id = 1;
    if (event.stream != 0)
        event.flags |= NM_FLAG_STREAM;
    give_record((nm_record){.kind = NM_RECORD_EVENT, .event = event});
    look(!is_baseline);
    served_pool = 0;
    seq += !is_baseline;
}

static thing *add(thing *list, int *count, thing values)
{
    ck_assert_int_lt(*count, THINGS_MAX);
    list[*count] = values;
    list[*count].id = ++id_count;
    list[*count].is_live = true;
    return &list[(*count)++];
}

static bool is_unused(int from, int to)
{
    for (int i = 0; i < segment_count; i++)
        if (segments[i].is_live && segments[i].from < to && segments[i].to > from)
            return false;
    return from >= 0 && to <= SPACE;
}

static bool is_covered(int from, int to)
{
    for (int i = 0; i < block_count; i++)
        if (blocks[i].is_live && blocks[i].from < to && blocks[i].to > from)
            return true;
    return false;
}

static void begin_segment(uint64_t flags)
{
    static const int sizes[] = {8, 8, 40, 48, 3, 12, 41};
    int size = sizes[pick(7)];
    int from = pick(SPACE - size);
    bool is_born = pick(3) != 0;
    thing *one;

    if (!is_unused(from, from + size))
        return;
    one = add(segments, &segment_count,
              (thing){.from = from,
                      .to = from + size,
                      .owner = is_born ? FIRST_POOL : 0,
                      .stream = pick(STREAMS),
                      .truth = pick(2) == 0 ? 0 : pick(PRIVATES),
                      .truth_stream = pick(STREAMS)});
    give((nm_event){.kind = NM_EVENT_ALLOC,
                    .flags = flags | (is_born ? NM_FLAG_SEGMENT : 0),
                    .heap_id = 1,
                    .address = address_of(from),
                    .requested_bytes = bytes_of(one),
                    .block_bytes = bytes_of(one),
                    .stream = (uint64_t)one->stream});
}

static thing *any(thing *list, int count)
{
    int start = count == 0 ? 0 : pick(count);

    for (int i = 0; i < count; i++)
        if (list[(start + i) % count].is_live)
            return &list[(start + i) % count];
    return NULL;
}

static void map_range(void)
{
    const thing *beside = any(segments, segment_count);
    int size = 4 + 4 * pick(3);
    int from = beside != NULL && beside->is_mapped && pick(4) != 0 ? beside->to : pick(SPACE - size);
    thing *one;

    if (!is_unused(from, from + size))
        return;
    one = add(segments, &segment_count,
              (thing){.from = from, .to = from + size, .owner = FIRST_POOL, .stream = pick(2), .is_mapped = true});
    give((nm_event){.kind = NM_EVENT_MAP,
                    .flags = NM_FLAG_SEGMENT,
                    .heap_id = 1,
                    .address = address_of(from),
                    .block_bytes = bytes_of(one),
                    .stream = (uint64_t)one->stream});
}

static void unmap_some(void)
{
    thing *one = any(segments, segment_count);
    thing old;
    int from, to;

    if (one == NULL || !one->is_mapped)
        return;
    from = one->from + pick(one->to - one->from);
    to = from + 1 + pick(one->to - from);
    if (is_covered(from, to))
        return;
    old = *one;
    one->is_live = false;
    if (from > old.from) {
        thing left = old;
        left.to = from;
        add(segments, &segment_count, left);
    }
    if (to < old.to) {
        thing right = old;
        right.from = to;
        add(segments, &segment_count, right);
    }
    give((nm_event){.kind = NM_EVENT_UNMAP,
                    .heap_id = 1,
                    .address = address_of(from),
                    .block_bytes = (uint64_t)(to - from) * UNIT});
}

/* Some frees are refused, and all is as before. */
static void end_thing(thing *one, uint64_t heap)
{
    bool is_refused = pick(20) == 0;

    one->is_live = false;
    if (heap != 1)
        live_bytes[heap] -= bytes_of(one);
    give((nm_event){.kind = NM_EVENT_FREE, .heap_id = heap, .address = address_of(one->from)});
    if (!is_refused)
        return;
    one->is_live = true;
    if (heap != 1)
        live_bytes[heap] += bytes_of(one);
    give((nm_event){.kind = NM_EVENT_FREE_FAILED, .address = address_of(one->from), .error_code = 1});
}

static void end_segment(void)
{
    thing *one = any(segments, segment_count);

    if (one != NULL && !one->is_mapped && !is_covered(one->from, one->to))
        end_thing(one, 1);
}

static void end_block(void)
{
    thing *one = any(blocks, block_count);

    if (one != NULL)
        end_thing(one, (uint64_t)one->heap);
}

/* How many units from `from` on are free, in the segment and in what its free memory goes on in. */
static int room_at(const thing *segment, int from, int limit)
{
    int at = from;

    while (at - from < limit && !is_covered(at, at + 1)) {
        if (at >= segment->to) {
            const thing *next = NULL;

            for (int i = 0; i < segment_count && next == NULL; i++)
                if (segments[i].is_live && segments[i].from == segment->to)
                    next = &segments[i];
            if (next == NULL || !goes_on(segment, next))
                break;
            segment = next;
        }
        at++;
    }
    return at - from;
}

static void begin_block_at(thing *segment, int from, int units, uint64_t flags)
{
    int heap = segment->owner != 0 ? segment->owner : FIRST_POOL + pick(2);
    thing *block = add(blocks, &block_count,
                       (thing){.from = from,
                               .to = from + units,
                               .heap = heap,
                               .stack = pick(STACKS + 1),
                               .seq = flags & NM_FLAG_BASELINE ? -1 : seq});

    segment->owner = heap;
    if (!segment->is_settled)
        segment->private_pool = segment->truth;
    if (!segment->is_settled && segment->stream == 0)
        segment->stream = segment->truth_stream;
    segment->is_settled = true;
    block->requested_bytes = pick(40) == 0 ? 0 : bytes_of(block) - (uint64_t)pick(1000);
    live_bytes[heap] += bytes_of(block);
    served_pool = heap;
    give((nm_event){.kind = NM_EVENT_ALLOC,
                    .flags = flags,
                    .heap_id = (uint64_t)heap,
                    .address = address_of(from),
                    .requested_bytes = block->requested_bytes,
                    .block_bytes = bytes_of(block),
                    .stack_id = (uint64_t)block->stack,
                    .stream = (uint64_t)segment->stream,
                    .policy = (uint64_t)segment->truth});
}

static void begin_block(uint64_t flags)
{
    thing *segment = any(segments, segment_count);
    int from, room;

    if (segment == NULL)
        return;
    from = segment->from + pick(segment->to - segment->from);
    room = room_at(segment, from, 1 + pick(6));
    if (room > 0)
        begin_block_at(segment, from, room, flags);
}

/* A block begins where another still is. */
static void replace_block(void)
{
    thing *old = any(blocks, block_count);
    thing *segment = NULL;

    for (int i = 0; i < segment_count && old != NULL && segment == NULL; i++)
        if (segments[i].is_live && segments[i].from <= old->from && segments[i].to > old->from)
            segment = &segments[i];
    if (segment == NULL)
        return;
    old->is_live = false;
    live_bytes[old->heap] -= bytes_of(old);
    begin_block_at(segment, old->from, 1 + pick(old->to - old->from), 0);
}

static void mark(void)
{
    if (mark_count == MARKS_MAX)
        return;
    mark_seq[mark_count] = seq;
    mark_text[mark_count++] = describe(0, AT_MARKS);
    give((nm_event){.kind = NM_EVENT_MARK});
}

static void do_something(int mark_every)
{
    int choice = pick(100);
    int births = seq / 1000 % 2 == 0 ? 58 : 85; /* it fills up, and empties */

    if (pick(mark_every) == 0)
        mark();
    else if (choice < 6)
        begin_segment(0);
    else if (choice < 11)
        map_range();
    else if (choice < 14)
        unmap_some();
    else if (choice < 17)
        end_segment();
    else if (choice < births)
        begin_block(0);
    else if (choice < births + 2)
        replace_block();
    else
        end_block();
}

/* ---- A trace ----------------------------------------------------------------------------------------------------- */

static void define(nm_definition definition)
{
    give_record((nm_record){.kind = NM_RECORD_DEFINITION, .definition = definition});
}

static void define_all(void)
{
    char name[STACKS + 1][16];

    define((nm_definition){
        .kind = NM_DEFINE_PROCESS, .id = 1, .process = {.pid = 1, .rank = NM_UNKNOWN_NUMBER, .begin_ns = NM_NO_TIME}});
    define((nm_definition){.kind = NM_DEFINE_THREAD, .id = 1, .thread = {.process_id = 1, .tid = 1}});
    define((nm_definition){.kind = NM_DEFINE_DEVICE, .id = 1, .device = {.process_id = 1, .physical_ordinal = 0}});
    for (uint64_t heap = 1; heap <= LAST_POOL; heap++)
        define((nm_definition){.kind = NM_DEFINE_HEAP,
                               .id = heap,
                               .heap = {.process_id = 1,
                                        .device_id = 1,
                                        .level = heap == 1            ? NM_LEVEL_DRIVER
                                                 : heap == FIRST_POOL ? NM_LEVEL_POOL
                                                                      : NM_LEVEL_WORKSPACE,
                                        .size_basis = NM_BASIS_BLOCK}});
    for (uint64_t id = 1; id <= STACKS; id++) {
        int length = snprintf(name[id], sizeof name[id], "site%02d", (int)(id % SITES));

        define(
            (nm_definition){.kind = NM_DEFINE_STRING, .id = id, .string = {(const uint8_t *)name[id], (size_t)length}});
        define((nm_definition){.kind = NM_DEFINE_FRAME, .id = id, .frame = {.function = id}});
        define((nm_definition){.kind = NM_DEFINE_STACK, .id = id, .stack = {.frame_id = id}});
    }
}

static void forget_all(void)
{
    segment_count = block_count = mark_count = 0;
    id_count = 0;
    seq = 0;
    for (int pool = FIRST_POOL; pool <= LAST_POOL; pool++) {
        live_bytes[pool] = peak_bytes[pool] = 0;
        peak_text[pool] = NULL;
        reserves[pool] = (reserve){0};
    }
}

static void load_random(int64_t events, int mark_every)
{
    nm_store_options options = {.is_forced = true, .input_fd = -1};
    nm_input_row input;

    forget_all();
    event_limit = events;
    ck_assert_msg(nm_store_open(path, &options, &store, &err) == NM_OK, "%s", err.text);
    ck_assert_int_eq(nm_replay_new(nm_store_sink(store), nm_passes, &replay, &err), NM_OK);
    define_all();
    for (int i = 0; i < 4; i++)
        begin_segment(NM_FLAG_BASELINE);
    for (int i = 0; i < 8; i++)
        begin_block(NM_FLAG_BASELINE);
    while (seq < event_limit - 2)
        do_something(mark_every);
    mark(); /* so that the last event is not one that the end is made of alone */
    input = load_whole_input((uint64_t)seq);
    ck_assert_msg(nm_replay_finish(replay, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_store_finish(store, &input, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_store_publish(store, &err) == NM_OK, "%s", err.text);
    nm_replay_free(replay);
    nm_store_close(store);
}

/* ---- Comparing moments ------------------------------------------------------------------------------------------- */

#define PLACE   "q.heap_id, q.segment_kind, q.stream, q.private_pool"
#define IN_PART "ORDER BY q.segment_kind, coalesce(q.stream, 0), coalesce(q.private_pool, 0)"

/* What the database says of a moment, in the words of describe(). */
static char *read_moment(sqlite3 *db, const char *moment, int pool)
{
    static const char *const sql[] = {
        "SELECT " PLACE ", s.reserved_bytes, s.free_bytes, s.largest_free_bytes, s.stuck_bytes, s.gap_count,"
        " s.waste_bytes FROM z_part_sample AS s JOIN z_pool_part AS q ON q.part_id = s.part_id JOIN moment AS m ON"
        " m.moment_id = s.moment_id WHERE %s AND q.heap_id = %d " IN_PART,
        "SELECT " PLACE
        ", g.class_bytes, g.gap_count, g.free_bytes, g.largest_bytes FROM z_gap AS g JOIN z_pool_part AS q"
        " ON q.part_id = g.part_id JOIN moment AS m ON m.moment_id = g.moment_id WHERE %s AND q.heap_id = %d " IN_PART
        ", g.class_bytes",
        "SELECT b.heap_id, b.stack_id, b.is_baseline, b.is_rest, b.block_count, b.block_bytes, b.segment_count,"
        " b.hostage_bytes, b.sole_segment_count, b.sole_hostage_bytes, b.oldest_seq, b.worst_allocation_id,"
        " b.worst_address, b.worst_block_bytes, b.worst_hostage_bytes FROM z_blocker_sample AS b JOIN moment AS m ON"
        " m.moment_id = b.moment_id WHERE %s AND b.heap_id = %d ORDER BY b.is_rest, b.hostage_bytes DESC,"
        " b.is_baseline, coalesce(b.stack_id, 0)"};
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (size_t i = 0; i < sizeof sql / sizeof sql[0]; i++) {
        char statement[900];
        char *rows;

        snprintf(statement, sizeof statement, sql[i], moment, pool);
        rows = load_rows(db, statement);
        fputs(rows, out);
        free(rows);
    }
    fclose(out);
    return text;
}

static void compare_moment(sqlite3 *db, const char *moment, int pool, const char *expected)
{
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);

    for (int one = FIRST_POOL; one <= LAST_POOL; one++) {
        char *part = pool == 0 || pool == one ? read_moment(db, moment, one) : NULL;

        if (part != NULL)
            fputs(part, out);
        free(part);
    }
    fclose(out);
    ck_assert_msg(strcmp(text, expected) == 0, "%s, pool %d: the database has\n%s\nand not\n%s", moment, pool, text,
                  expected);
    free(text);
}

/* Parts add up to the pool, and blockers to what is stuck, at every moment; sites to their stacks. */
static void compare_sums(sqlite3 *db)
{
    ck_assert_int_eq(
        load_int(db, "SELECT count(*) FROM fragmentation_sample AS w LEFT JOIN (SELECT q.heap_id, s.moment_id,"
                     " sum(s.reserved_bytes) AS r, sum(s.free_bytes) AS f, max(s.largest_free_bytes) AS l,"
                     " sum(s.stuck_bytes) AS k, sum(s.gap_count) AS g FROM z_part_sample AS s JOIN z_pool_part AS q ON"
                     " q.part_id = s.part_id GROUP BY 1, 2) AS p ON p.heap_id = w.heap_id AND p.moment_id = w.moment_id"
                     " WHERE w.reserved_bytes <> coalesce(p.r, 0) OR w.free_bytes <> coalesce(p.f, 0) OR"
                     " w.largest_free_bytes <> coalesce(p.l, 0) OR w.stuck_bytes <> coalesce(p.k, 0) OR w.gap_count <>"
                     " coalesce(p.g, 0) OR w.has_detail <> 1"),
        0);
    ck_assert_int_eq(
        load_int(db, "SELECT count(*) FROM fragmentation_sample AS w WHERE w.stuck_bytes <> coalesce((SELECT"
                     " sum(b.hostage_bytes) FROM z_blocker_sample AS b WHERE b.heap_id = w.heap_id AND b.moment_id ="
                     " w.moment_id), 0)"),
        0);
    ck_assert_int_eq(load_int(db, "SELECT coalesce((SELECT sum(v.hostage_bytes * 3 + v.block_count * 5 +"
                                  " v.sole_hostage_bytes * 7) FROM fragmentation_blocker AS v), 0) - coalesce((SELECT"
                                  " sum(b.hostage_bytes * 3 + b.block_count * 5 + b.sole_hostage_bytes * 7)"
                                  " FROM z_blocker_sample AS b), 0)"),
                     0);
}

/* Where it held as much at its peak there is none. */
static void compare_reserve(sqlite3 *db, int pool)
{
    reserve *most = &reserves[pool];
    char moment[64], sql[160];

    snprintf(moment, sizeof moment, "m.kind = 6 AND m.heap_id = %d", pool);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM moment AS m WHERE %s AND coalesce(m.seq, -1) = %" PRId64, moment,
             most->seq);
    ck_assert_msg(load_int(db, sql) == (most->bytes > most->at_peak_bytes),
                  "pool %d held %" PRIu64 " at %" PRId64 ": %s", pool, most->bytes, most->seq,
                  load_rows(db, "SELECT * FROM moment WHERE kind = 6"));
    compare_moment(db, moment, pool, most->bytes > most->at_peak_bytes ? most->text : "");
    reserve_count += most->bytes > most->at_peak_bytes;
    free(most->text);
}

static void compare_moments(sqlite3 *db)
{
    char moment[64];
    char *end_text = describe(0, HOLDERS);

    for (int i = 0; i < mark_count; i++) {
        snprintf(moment, sizeof moment, "m.kind = 3 AND m.seq = %" PRId64, mark_seq[i]);
        compare_moment(db, moment, 0, mark_text[i]);
        free(mark_text[i]);
    }
    for (int pool = FIRST_POOL; pool <= LAST_POOL; pool++) {
        snprintf(moment, sizeof moment, "m.kind = 1 AND m.heap_id = %d", pool);
        compare_moment(db, moment, pool, peak_text[pool] == NULL ? "" : peak_text[pool]);
        free(peak_text[pool]);
        compare_reserve(db, pool);
    }
    compare_moment(db, "m.kind = 2", 0, end_text);
    free(end_text);
    compare_sums(db);
}

/* ---- Comparing timelines ----------------------------------------------------------------------------------------- */

typedef struct extremes {
    uint64_t reserved, occupied, free_bytes, least_largest, gap_count, stuck, waste;
    int64_t free_seq, stuck_seq;
    bool has_unknown_waste;
} extremes;

static extremes extremes_of(const figures *line, int64_t first, int64_t last)
{
    extremes out = {.least_largest = UINT64_MAX, .free_seq = first, .stuck_seq = first};

    for (int64_t at = first; at <= last; at++) {
        const figures *one = &line[at];
        uint64_t occupied = one->reserved - one->free_bytes;

        out.reserved = one->reserved > out.reserved ? one->reserved : out.reserved;
        out.occupied = occupied > out.occupied ? occupied : out.occupied;
        out.least_largest = one->largest < out.least_largest ? one->largest : out.least_largest;
        out.gap_count = one->gap_count > out.gap_count ? one->gap_count : out.gap_count;
        out.waste = one->waste > out.waste ? one->waste : out.waste;
        out.has_unknown_waste |= one->has_unknown_waste;
        if (one->free_bytes > out.free_bytes) {
            out.free_bytes = one->free_bytes;
            out.free_seq = at;
        }
        if (one->stuck > out.stuck) {
            out.stuck = one->stuck;
            out.stuck_seq = at;
        }
    }
    return out;
}

static void check(sqlite3_stmt *row, int column, bool is_known, uint64_t expected)
{
    int type = sqlite3_column_type(row, column);

    ck_assert_msg(is_known ? type == SQLITE_INTEGER && (uint64_t)sqlite3_column_int64(row, column) == expected
                           : type == SQLITE_NULL,
                  "%s at %lld to %lld, part %lld of pool %lld: %lld and not %" PRIu64, sqlite3_column_name(row, column),
                  (long long)sqlite3_column_int64(row, 5), (long long)sqlite3_column_int64(row, 6),
                  (long long)sqlite3_column_int64(row, 1), (long long)sqlite3_column_int64(row, 0),
                  (long long)sqlite3_column_int64(row, column), expected);
}

static bool is_same(const figures *a, const figures *b)
{
    return a->reserved == b->reserved && a->free_bytes == b->free_bytes && a->largest == b->largest &&
           a->stuck == b->stuck && a->gap_count == b->gap_count && a->has_unknown_waste == b->has_unknown_waste &&
           (a->has_unknown_waste || a->waste == b->waste);
}

/* Nothing changes between two buckets. */
static void check_between(const figures *line, int64_t last, int64_t next)
{
    for (int64_t at = last + 1; at < next; at++)
        ck_assert_msg(is_same(&line[at], &line[last]), "a change at %" PRId64 " is in no bucket", at);
}

static void check_bucket(sqlite3_stmt *row, const figures *line)
{
    int64_t first = sqlite3_column_int64(row, 5), last = sqlite3_column_int64(row, 6);
    const figures *end = &line[last];
    extremes most = extremes_of(line, first, last);

    check(row, 7, true, end->reserved);
    check(row, 8, true, end->free_bytes);
    check(row, 9, true, end->largest);
    check(row, 10, true, end->stuck);
    check(row, 11, true, end->gap_count);
    check(row, 12, !end->has_unknown_waste, end->waste);
    check(row, 13, true, most.reserved);
    check(row, 14, true, most.occupied);
    check(row, 15, true, most.free_bytes);
    check(row, 16, true, (uint64_t)most.free_seq);
    check(row, 17, true, most.least_largest);
    check(row, 18, true, most.gap_count);
    check(row, 19, true, most.stuck);
    check(row, 20, true, (uint64_t)most.stuck_seq);
    check(row, 21, !most.has_unknown_waste, most.waste);
    check(row, 22, true, (uint64_t)most.free_seq * 1000);
    check(row, 23, true, (uint64_t)most.stuck_seq * 1000);
    check(row, 24, true, (uint64_t)last * 1000);
}

static void compare_timelines(sqlite3 *db)
{
    static const char sql[] =
        "SELECT u.heap_id, u.part_id, q.segment_kind, q.stream, q.private_pool, u.first_seq, u.last_seq,"
        " u.reserved_bytes, u.free_bytes, u.largest_free_bytes, u.stuck_bytes, u.gap_count, u.waste_bytes,"
        " u.max_reserved_bytes, u.max_occupied_bytes, u.max_free_bytes, u.max_free_seq, u.min_largest_free_bytes,"
        " u.max_gap_count, u.max_stuck_bytes, u.max_stuck_seq, u.max_waste_bytes, u.max_free_ns, u.max_stuck_ns,"
        " u.last_ns FROM z_fragmentation_usage AS u LEFT JOIN z_pool_part AS q ON q.part_id = u.part_id"
        " ORDER BY u.heap_id, u.part_id, u.first_seq";
    const figures *before = NULL;
    int64_t last = -1;
    sqlite3_stmt *row = NULL;

    ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &row, NULL), SQLITE_OK);
    while (sqlite3_step(row) == SQLITE_ROW) {
        bool is_whole = sqlite3_column_type(row, 1) == SQLITE_NULL;
        int key = is_whole ? KEYS
                           : (sqlite3_column_int(row, 2) * STREAMS + sqlite3_column_int(row, 3)) * PRIVATES +
                                 sqlite3_column_int(row, 4);
        const figures *line = history[sqlite3_column_int(row, 0)][key];

        if (line == before)
            check_between(line, last, sqlite3_column_int64(row, 5));
        else if (before != NULL)
            check_between(before, last, seq);
        check_bucket(row, line);
        before = line;
        last = sqlite3_column_int64(row, 6);
    }
    if (before != NULL)
        check_between(before, last, seq);
    sqlite3_finalize(row);
    ck_assert_int_le(load_int(db, "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM z_fragmentation_usage"
                                  " GROUP BY heap_id, part_id HAVING part_id IS NULL)"),
                     4096);
    ck_assert_int_le(load_int(db, "SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM z_fragmentation_usage"
                                  " GROUP BY heap_id, part_id HAVING part_id IS NOT NULL)"),
                     1024);
}

/* ---- Tests ------------------------------------------------------------------------------------------------------- */

static void compare_random(int64_t events, int mark_every)
{
    sqlite3 *db;

    load_random(events, mark_every);
    db = load_open(path);
    compare_moments(db);
    compare_timelines(db);
    rest_count = load_int(db, "SELECT count(*) FROM z_blocker_sample WHERE is_rest = 1");
    sqlite3_close(db);
}

START_TEST(the_database_equals_the_model)
{
    random_state = seed_of_test(1) * UINT64_C(0x9e3779b97f4a7c15) + 1;
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
    for (int pool = FIRST_POOL; pool <= LAST_POOL; pool++)
        for (int key = 0; key <= KEYS; key++)
            history[pool][key] = calloc(EVENTS, sizeof(figures));
    for (int round = 0; round < 40; round++)
        compare_random(20 + pick(300), 6);
    compare_random(EVENTS, 200);
    ck_assert_int_gt(rest_count, 0); /* some moment had more stacks than have rows */
    ck_assert_int_gt(reserve_count, 20);
    for (int pool = FIRST_POOL; pool <= LAST_POOL; pool++)
        for (int key = 0; key <= KEYS; key++)
            free(history[pool][key]);
    run_remove_folder(folder);
}
END_TEST

TEST_SUITE(test_fragment_oracle)
{
    Suite *suite = suite_create("how pools are cut up, against a model");
    TCase *tcase = tcase_create("oracle");

    tcase_set_timeout(tcase, 300);
    tcase_add_test(tcase, the_database_equals_the_model);
    suite_add_tcase(suite, tcase);
    return suite;
}
