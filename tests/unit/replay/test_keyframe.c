/* SPDX-License-Identifier: Apache-2.0
 *
 * A replay that goes on from a keyframe against one that has seen all: random traces, cut at every few events. What both
 * may know is the same: what is live with its birth, sums of heaps, sites and steps, peaks, hits, figures at the end. Sums
 * of steps and sites are also counted here, from the events alone.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/passes.h"
#include "base/buffer.h"
#include "support/row_list.h"
#include "support/suites.h"
#include "watch/step_totals.h"
#include "watch/watch.h"

#define TRACES       60
#define EVENTS       260
#define CUT_EVERY    7
#define HEAPS        5 /* 1 driver, 2 and 3 pools, 4 pinned memory; of another process: 5 driver */
#define STACKS       5
#define SLOTS        24
#define EVENT_GAP_NS 3000000 /* three of them are within the time that a late free has */

static nm_event events[EVENTS];
static size_t event_count;
static uint64_t random_state;
static uint64_t keyframe_seq; /* no place is missing between it and the first event behind it */
static struct slot {          /* what is live, for events that make sense more often than not */
    uint64_t heap, address, bytes;
    bool is_mapped;
} slots[SLOTS];

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % below;
}

/* ---- A random trace ------------------------------------------------------------------------------------------------ */

static nm_event *add_event(uint64_t kind)
{
    nm_event *event = &events[event_count];

    *event = (nm_event){
        .kind = kind, .seq = event_count, .time_ns = (int64_t)event_count * EVENT_GAP_NS, .thread_id = 1 + pick(2)};
    event_count++;
    return event;
}

/* Ranges never overlap, but for one that takes another's place; blocks lie in some range, or in none. */
static uint64_t address_for(uint64_t heap, uint64_t *range_count)
{
    const struct slot *other = &slots[pick(SLOTS)];

    if (other->heap == heap && pick(4) == 0 && !other->is_mapped)
        return other->address;
    if (heap == 1 || heap == 4 || heap == 5)
        return (UINT64_C(1) << 32) + (++*range_count << 17);
    for (size_t i = 0; i < 8 && other->heap != 1; i++)
        other = &slots[pick(SLOTS)];
    return other->heap == 1 ? other->address + 512 * pick(64) : 512 * (1 + pick(64));
}

static void add_alloc(struct slot *slot, uint64_t *range_count)
{
    uint64_t heap = 1 + pick(HEAPS);
    bool is_range = heap == 1 || heap == 5;
    nm_event *event = add_event(is_range && pick(3) == 0 ? NM_EVENT_MAP : NM_EVENT_ALLOC);

    event->heap_id = heap;
    event->thread_id = heap == 5 ? 3 : event->thread_id;
    event->address = address_for(heap, range_count);
    event->block_bytes = is_range ? (1 + pick(2)) << 16 : 512 * (1 + pick(4));
    event->requested_bytes = event->kind == NM_EVENT_MAP ? 0 : event->block_bytes - pick(100);
    event->stack_id = pick(STACKS);
    event->policy = pick(3);
    event->cost_ns = pick(2) * 100;
    if (pick(2) == 0) {
        event->flags |= NM_FLAG_STREAM;
        event->stream = pick(3);
    }
    if (is_range && pick(4) == 0)
        event->flags |= NM_FLAG_SEGMENT;
    *slot = (struct slot){heap, event->address, event->block_bytes, event->kind == NM_EVENT_MAP};
}

static void add_end(struct slot *slot)
{
    nm_event *event = add_event(slot->is_mapped ? NM_EVENT_UNMAP : NM_EVENT_FREE);

    event->heap_id = slot->heap;
    event->thread_id = slot->heap == 5 ? 3 : event->thread_id;
    event->address = slot->address;
    event->stack_id = pick(STACKS);
    if (slot->is_mapped) {
        event->block_bytes = pick(2) == 0 ? slot->bytes : slot->bytes / 4; /* half of them are cut */
        event->address += event->block_bytes == slot->bytes ? 0 : slot->bytes / 4;
    }
    slot->heap = 0;
}

static void add_other(void)
{
    nm_event *event;

    switch (pick(5)) {
    case 0:
    case 1:
        event = add_event(NM_EVENT_STEP);
        event->thread_id = pick(3) == 0 ? 3 : 1;
        event->number = (int64_t)(100 + event->seq);
        break;
    case 2:
        event = add_event(NM_EVENT_RESERVED);
        event->heap_id = 2 + pick(2);
        event->block_bytes = pick(1000000);
        break;
    case 3:
        event = add_event(NM_EVENT_EXPORT);
        event->address = slots[pick(SLOTS)].address;
        break;
    default:
        add_event(NM_EVENT_MARK);
        break;
    }
}

static void make_trace(uint64_t seed)
{
    uint64_t range_count = 0;

    random_state = seed * 2654435761u + 88172645463325252u;
    memset(slots, 0, sizeof slots);
    event_count = 0;
    while (event_count < EVENTS) {
        struct slot *slot = &slots[pick(SLOTS)];

        if (pick(8) == 0)
            add_other();
        else if (slot->heap == 0)
            add_alloc(slot, &range_count);
        else
            add_end(slot);
    }
}

static void define(void (*take)(void *context, const nm_record *record), void *context)
{
    static const uint64_t levels[HEAPS + 1] = {
        0, NM_LEVEL_DRIVER, NM_LEVEL_POOL, NM_LEVEL_POOL, NM_LEVEL_PINNED, NM_LEVEL_DRIVER};
    nm_record record = {.kind = NM_RECORD_DEFINITION};

    for (uint64_t id = 1; id <= 2; id++) {
        record.definition = (nm_definition){.kind = NM_DEFINE_PROCESS, .id = id};
        take(context, &record);
        record.definition = (nm_definition){.kind = NM_DEFINE_DEVICE, .id = id};
        record.definition.device.process_id = id;
        record.definition.device.physical_ordinal = 0; /* one piece of hardware */
        take(context, &record);
    }
    for (uint64_t id = 1; id <= 3; id++) {
        record.definition = (nm_definition){.kind = NM_DEFINE_THREAD, .id = id};
        record.definition.thread.process_id = id == 3 ? 2 : 1;
        take(context, &record);
    }
    for (uint64_t id = 1; id <= HEAPS; id++) {
        record.definition = (nm_definition){.kind = NM_DEFINE_HEAP, .id = id};
        record.definition.heap.process_id = id == 5 ? 2 : 1;
        record.definition.heap.device_id = id == 4 ? 0 : id == 5 ? 2 : 1;
        record.definition.heap.level = levels[id];
        record.definition.heap.size_basis = id == 2 ? NM_BASIS_REQUESTED : NM_BASIS_BLOCK;
        take(context, &record);
    }
    for (uint64_t id = 1; id < STACKS; id++) {
        record.definition = (nm_definition){.kind = NM_DEFINE_STACK, .id = id};
        take(context, &record);
    }
}

/* ---- Replays ------------------------------------------------------------------------------------------------------- */

static nm_replay *new_replay(nm_row_list *out)
{
    nm_replay *replay = NULL;
    nm_sink sink;

    *out = (nm_row_list){0};
    sink = nm_row_list_sink(out);
    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &replay, NULL), NM_OK);
    return replay;
}

static void replay_record(void *context, const nm_record *record)
{
    ck_assert_int_eq(nm_replay_record(context, record, NULL), NM_OK);
}

static void finish(nm_replay *replay)
{
    ck_assert_int_eq(nm_replay_finish(replay, NULL), NM_OK);
    nm_replay_free(replay);
}

static void replay_all(nm_row_list *out)
{
    nm_replay *replay = new_replay(out);

    define(replay_record, replay);
    for (size_t i = 0; i < event_count; i++)
        replay_record(replay, &(nm_record){.kind = NM_RECORD_EVENT, .event = events[i]});
    finish(replay);
}

static nm_status repeat(void *context, const nm_event *event, nm_error *err)
{
    nm_record record = {.kind = NM_RECORD_EVENT, .event = *event};

    ck_assert(nm_event_is_repeat(event));
    record.event.seq = keyframe_seq;
    /* Through the fields that a trace has for the kind, as the trace would bring it. */
    for (unsigned field = 0; field < NM_FIELD_COUNT; field++)
        if ((nm_event_fields((nm_event_kind)event->kind) >> field & 1) == 0)
            *nm_event_field(&record.event, (nm_field)field) = 0;
    return nm_replay_record(context, &record, err);
}

/* A part begins behind the first `cut` events. Numbers in order are as in the whole trace, so that all can be compared. */
static void replay_from(size_t cut, nm_row_list *out)
{
    nm_replay *replay = new_replay(out);
    nm_watch *watch = NULL;

    ck_assert_int_eq(nm_watch_new(&watch, NULL), NM_OK);
    define(nm_watch_take, watch);
    for (size_t i = 0; i < cut; i++)
        nm_watch_take(watch, &(nm_record){.kind = NM_RECORD_EVENT, .event = events[i]});
    define(replay_record, replay);
    keyframe_seq = cut - 1;
    ck_assert_int_eq(nm_watch_keyframe(watch, repeat, replay, NULL), NM_OK);
    for (size_t i = cut; i < event_count; i++)
        replay_record(replay, &(nm_record){.kind = NM_RECORD_EVENT, .event = events[i]});
    finish(replay);
    nm_watch_free(watch);
}

/* ---- Comparing ----------------------------------------------------------------------------------------------------- */

static int by_step(const void *left, const void *right)
{
    const nm_step_total_row *a = left;
    const nm_step_total_row *b = right;

    if (a->heap_id != b->heap_id)
        return a->heap_id < b->heap_id ? -1 : 1;
    return a->generation < b->generation ? -1 : a->generation > b->generation;
}

/* What a step left behind is not known of one that began before the keyframe, and is of all others. */
static void take_unknown(const nm_step_total_row *whole, nm_step_total_row *part, size_t cut)
{
    if (part->left_count != NM_UNKNOWN_NUMBER)
        return;
    ck_assert_int_lt(part->begin_seq, (int64_t)cut);
    ck_assert_int_eq(part->left_bytes, NM_UNKNOWN_NUMBER);
    part->left_count = whole->left_count;
    part->left_bytes = whole->left_bytes;
}

static void compare_steps(nm_row_list *whole, nm_row_list *part, size_t cut)
{
    ck_assert_uint_eq(whole->step_total.count, part->step_total.count);
    if (whole->step_total.count == 0)
        return;
    qsort(whole->step_total.items, whole->step_total.count, sizeof *whole->step_total.items, by_step);
    qsort(part->step_total.items, part->step_total.count, sizeof *part->step_total.items, by_step);
    for (size_t i = 0; i < whole->step_total.count; i++) {
        take_unknown(&whole->step_total.items[i], &part->step_total.items[i], cut);
        ck_assert_msg(memcmp(&whole->step_total.items[i], &part->step_total.items[i], sizeof(nm_step_total_row)) == 0,
                      "cut at %zu: row %zu of the steps differs", cut, i);
    }
}

static int by_site(const void *left, const void *right)
{
    return memcmp(left, right, 2 * sizeof(uint64_t));
}

static void compare_sites(nm_row_list *whole, nm_row_list *part, size_t cut)
{
    ck_assert_uint_eq(whole->site_total.count, part->site_total.count);
    qsort(whole->site_total.items, whole->site_total.count, sizeof *whole->site_total.items, by_site);
    qsort(part->site_total.items, part->site_total.count, sizeof *part->site_total.items, by_site);
    for (size_t i = 0; i < whole->site_total.count; i++) {
        nm_site_total_row a = whole->site_total.items[i], b = part->site_total.items[i];

        a.in_step_bytes = b.in_step_bytes = 0; /* of what was kept alone */
        ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "cut at %zu: row %zu of the sites differs", cut, i);
    }
}

static void compare_totals(const nm_row_list *whole, const nm_row_list *part, size_t cut)
{
    for (uint64_t heap = 1; heap <= HEAPS; heap++) {
        nm_heap_total_row first = *nm_row_list_total(whole, heap), *a = &first;
        const nm_heap_total_row *b = nm_row_list_total(part, heap);

        if (b->last_alloc_seq == NM_NO_SEQ) /* before the part begins: no keyframe says it */
            first.last_alloc_seq = NM_NO_SEQ;
        if (b->released_count == 0) /* nor how old its blocks are beside the heap */
            first.released_count = first.released_bytes = 0;
        ck_assert_msg(memcmp(a, b, sizeof *a) == 0, "cut at %zu: the sums of heap %llu differ", cut,
                      (unsigned long long)heap);
        for (int bucket = 0; bucket < 3 && (heap == 2 || heap == 3); bucket++)
            ck_assert_mem_eq(nm_row_list_hit(whole, heap, bucket), nm_row_list_hit(part, heap, bucket),
                             sizeof(nm_hit_row));
        for (uint64_t stack = 0; stack < STACKS; stack++) {
            const nm_peak_stack_row *x = nm_row_list_peak_stack(whole, heap, stack, false);
            const nm_peak_stack_row *y = nm_row_list_peak_stack(part, heap, stack, false);

            ck_assert_int_eq(x == NULL, y == NULL);
            if (x != NULL)
                ck_assert_mem_eq(x, y, sizeof *x);
        }
    }
    ck_assert_uint_eq(whole->device_peak.count, part->device_peak.count);
    for (size_t i = 0; i < whole->device_peak.count; i++)
        ck_assert_mem_eq(&whole->device_peak.items[i], &part->device_peak.items[i], sizeof(nm_device_peak_row));
}

static size_t figure_count; /* compared */

static void compare_end(const nm_row_list *whole, const nm_row_list *part, size_t cut)
{
    for (uint64_t heap = 2; heap <= 3; heap++) {
        nm_fragmentation_row a = *nm_row_list_figures(whole, NM_MOMENT_END, 0, heap);
        nm_fragmentation_row b = *nm_row_list_figures(part, NM_MOMENT_END, 0, heap);

        if (a.is_estimate || b.is_estimate) /* blocks overlap: which of them counts is chance */
            continue;
        figure_count++;
        a.moment_id = b.moment_id = 0;
        ck_assert_msg(memcmp(&a, &b, sizeof a) == 0, "cut at %zu: figures of heap %llu differ", cut,
                      (unsigned long long)heap);
    }
}

static const nm_moment_row *reserve_of(const nm_row_list *list, uint64_t heap)
{
    for (size_t i = 0; i < list->moment.count; i++)
        if (list->moment.items[i].kind == NM_MOMENT_RESERVE && list->moment.items[i].heap_id == heap)
            return &list->moment.items[i];
    return NULL;
}

static size_t reserve_counts[2]; /* that a part knows, and that were before it */

/* When a pool held most is known to a part that has seen it grow so far. */
static void compare_reserves(const nm_row_list *whole, const nm_row_list *part, size_t cut)
{
    for (uint64_t heap = 2; heap <= 3; heap++) {
        const nm_moment_row *first = reserve_of(whole, heap), *other = reserve_of(part, heap);
        bool is_seen = first != NULL && nm_row_list_total(whole, heap)->peak_reserved_seq >= (int64_t)cut;
        nm_fragmentation_row a, b;

        reserve_counts[0] += is_seen;
        reserve_counts[1] += first != NULL && !is_seen;
        ck_assert_msg((other != NULL) == is_seen, "cut at %zu: heap %llu", cut, (unsigned long long)heap);
        if (!is_seen)
            continue;
        ck_assert_int_eq(first->seq, other->seq);
        a = *nm_row_list_figures(whole, NM_MOMENT_RESERVE, 0, heap);
        b = *nm_row_list_figures(part, NM_MOMENT_RESERVE, 0, heap);
        ck_assert_uint_eq(a.reserved_bytes, b.reserved_bytes);
        ck_assert(a.is_estimate || b.is_estimate || a.free_bytes == b.free_bytes);
    }
}

static const nm_allocation_row *find_live(const nm_row_list *out, const nm_allocation_row *like)
{
    for (size_t i = 0; i < out->allocation.count; i++) {
        const nm_allocation_row *row = &out->allocation.items[i];

        if (row->end_kind == NM_END_NONE && row->heap_id == like->heap_id && row->address == like->address &&
            row->alloc_ns == like->alloc_ns)
            return row;
    }
    return NULL;
}

static void compare_row(const nm_allocation_row *a, const nm_allocation_row *b, size_t cut)
{
    bool is_kept = a->alloc_seq < (int64_t)cut;

    ck_assert_uint_eq(a->size_bytes, b->size_bytes);
    ck_assert_uint_eq(a->requested_bytes, b->requested_bytes);
    ck_assert_uint_eq(a->block_bytes, b->block_bytes);
    ck_assert_uint_eq(a->stack_id, b->stack_id);
    ck_assert_uint_eq(a->thread_id, b->thread_id);
    ck_assert_uint_eq(a->policy, b->policy);
    ck_assert_uint_eq(a->private_pool, b->private_pool);
    ck_assert_uint_eq(a->cost_ns, b->cost_ns);
    ck_assert_int_eq(a->alloc_ns, b->alloc_ns);
    ck_assert_int_eq(a->generation, b->generation);
    ck_assert_int_eq(a->is_miss, b->is_miss);
    ck_assert_int_eq(a->is_segment, b->is_segment);
    ck_assert_int_eq(a->is_doubtful, b->is_doubtful);
    ck_assert_int_eq(a->is_exported, b->is_exported);
    ck_assert_int_eq(a->is_mapped, b->is_mapped);
    ck_assert_int_eq(a->has_stream, b->has_stream);
    ck_assert_uint_eq(a->stream, b->stream);
    ck_assert_int_eq(b->alloc_seq, is_kept ? NM_NO_SEQ : a->alloc_seq);
}

static void compare_live(const nm_row_list *whole, const nm_row_list *part, size_t cut)
{
    size_t counts[2] = {0};

    for (size_t i = 0; i < part->allocation.count; i++)
        counts[1] += part->allocation.items[i].end_kind == NM_END_NONE;
    for (size_t i = 0; i < whole->allocation.count; i++) {
        const nm_allocation_row *row = &whole->allocation.items[i];
        const nm_allocation_row *found = find_live(part, row);

        if (row->end_kind != NM_END_NONE)
            continue;
        counts[0]++;
        ck_assert_msg(found != NULL, "cut at %zu: what is live at 0x%llx is missing", cut,
                      (unsigned long long)row->address);
        compare_row(row, found, cut);
    }
    ck_assert_uint_eq(counts[0], counts[1]);
}

/* Frees after the cut of what was born before it are in both. */
static void compare_ends(const nm_row_list *whole, const nm_row_list *part, size_t cut)
{
    size_t counts[2] = {0};
    uint64_t bytes[2] = {0};
    const nm_row_list *both[2] = {whole, part};

    for (int which = 0; which < 2; which++)
        for (size_t i = 0; i < both[which]->allocation.count; i++) {
            const nm_allocation_row *row = &both[which]->allocation.items[i];

            if (row->end_kind == NM_END_NONE || row->free_seq < (int64_t)cut)
                continue;
            counts[which]++;
            bytes[which] += row->size_bytes + (uint64_t)row->free_seq * row->address;
        }
    ck_assert_uint_eq(counts[0], counts[1]);
    ck_assert_uint_eq(bytes[0], bytes[1]);
}

START_TEST(a_replay_goes_on_from_a_keyframe_at_any_event)
{
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        nm_row_list whole;

        make_trace(seed);
        replay_all(&whole);
        for (size_t cut = seed % CUT_EVERY + 1; cut < EVENTS; cut += CUT_EVERY) {
            nm_row_list part;

            replay_from(cut, &part);
            compare_totals(&whole, &part, cut);
            compare_sites(&whole, &part, cut);
            compare_steps(&whole, &part, cut);
            compare_end(&whole, &part, cut);
            compare_reserves(&whole, &part, cut);
            compare_live(&whole, &part, cut);
            compare_ends(&whole, &part, cut);
            nm_row_list_free(&part);
        }
        nm_row_list_free(&whole);
    }
    ck_assert_uint_gt(figure_count, 0);
    ck_assert(reserve_counts[0] > 0 && reserve_counts[1] > 0);
}
END_TEST

/* ---- Sums, counted anew -------------------------------------------------------------------------------------------- */

/* In which step of its process an event is: steps that have begun by then, its own begin included. */
static int64_t generation_at(uint64_t process, int64_t seq)
{
    int64_t count = 0;

    for (int64_t i = 0; i <= seq; i++)
        count += events[i].kind == NM_EVENT_STEP && (events[i].thread_id == 3 ? 2u : 1u) == process;
    return count;
}

START_TEST(sums_of_steps_and_sites_are_those_of_the_allocations)
{
    for (uint64_t seed = 1; seed <= TRACES; seed++) {
        nm_row_list whole;

        make_trace(seed);
        replay_all(&whole);
        for (size_t r = 0; r < whole.step_total.count; r++) {
            const nm_step_total_row *row = &whole.step_total.items[r];
            uint64_t begun = 0, begun_bytes = 0;

            for (size_t i = 0; i < whole.allocation.count; i++) {
                const nm_allocation_row *one = &whole.allocation.items[i];
                bool is_in = one->heap_id == row->heap_id && one->split_from_id == 0 &&
                             generation_at(row->process_id, one->alloc_seq) == row->generation;

                begun += is_in;
                begun_bytes += is_in ? one->size_bytes : 0;
            }
            ck_assert_uint_eq(row->allocation_count, begun);
            ck_assert_uint_eq(row->allocated_bytes, begun_bytes);
        }
        for (size_t r = 0; r < whole.site_total.count; r++) {
            const nm_site_total_row *row = &whole.site_total.items[r];
            uint64_t begun = 0, live_bytes = 0;

            for (size_t i = 0; i < whole.allocation.count; i++) {
                const nm_allocation_row *one = &whole.allocation.items[i];
                bool is_of = one->heap_id == row->heap_id && one->stack_id == row->stack_id;

                begun += is_of && one->split_from_id == 0;
                live_bytes += is_of && one->end_kind == NM_END_NONE ? one->size_bytes : 0;
            }
            ck_assert_uint_eq(row->allocation_count, begun);
            ck_assert_uint_eq(row->allocated_bytes - row->freed_bytes, live_bytes);
        }
        nm_row_list_free(&whole);
    }
}
END_TEST

/* ---- Joined steps -------------------------------------------------------------------------------------------------- */

static nm_step_total_row step_row(int64_t generation, uint64_t heap)
{
    return (nm_step_total_row){.process_id = 1,
                               .heap_id = heap,
                               .number = generation * 10,
                               .generation = generation,
                               .last_generation = generation,
                               .begin_seq = generation * 100,
                               .end_seq = generation * 100 + 100,
                               .allocation_count = 1,
                               .allocated_bytes = (uint64_t)generation,
                               .peak_bytes = generation == 500 ? 999 : 7,
                               .live_bytes = (uint64_t)generation};
}

START_TEST(too_many_steps_are_joined_and_none_is_lost)
{
    nm_step_totals totals = {.limit = 100};
    uint64_t count = 0, bytes = 0, peak = 0;
    int64_t next = 1;

    for (int64_t step = 1; step <= 1000; step++)
        for (uint64_t heap = 1; heap <= 2; heap++) {
            nm_step_total_row row = step_row(step, heap);
            ck_assert_int_eq(nm_step_totals_add(&totals, &row, NULL), NM_OK);
        }
    ck_assert_uint_le(totals.count, 100);
    for (size_t i = 0; i < totals.count; i++) {
        const nm_step_total_row *row = &totals.items[i];

        if (row->heap_id != 1)
            continue;
        ck_assert_int_eq(row->generation, next);
        ck_assert_int_eq(row->number, next * 10);
        ck_assert_int_eq(row->begin_seq, next * 100);
        ck_assert_int_eq(row->end_seq, row->last_generation * 100 + 100);
        ck_assert_uint_eq(row->live_bytes, (uint64_t)row->last_generation);
        count += row->allocation_count;
        bytes += row->allocated_bytes;
        peak = row->peak_bytes > peak ? row->peak_bytes : peak;
        next = row->last_generation + 1;
    }
    ck_assert_int_eq(next, 1001);
    ck_assert_uint_eq(count, 1000);
    ck_assert_uint_eq(bytes, 500500);
    ck_assert_uint_eq(peak, 999);
    nm_step_totals_free(&totals);
}
END_TEST

TEST_SUITE(test_keyframe)
{
    Suite *suite = suite_create("keyframe");
    TCase *tests = tcase_create("keyframe");

    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, a_replay_goes_on_from_a_keyframe_at_any_event);
    tcase_add_test(tests, sums_of_steps_and_sites_are_those_of_the_allocations);
    tcase_add_test(tests, too_many_steps_are_joined_and_none_is_lost);
    suite_add_tcase(suite, tests);
    return suite;
}
