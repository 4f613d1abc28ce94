/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams that no program could have produced: every kind of event with fields that are small, wild or contradict each
 * other. Nothing may break (run it under the sanitizers), every allocation gets one row, and what the rows say adds up.
 * NPUMEM_SEED repeats a run; it is printed.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "steps/anchor.h"
#include "support/row_list.h"
#include "support/seed.h"
#include "support/suites.h"

#define STREAMS     300
#define EVENTS      400

#define RECORDS_MAX (2 * EVENTS + 100)

static nm_row_list list;
static nm_record records[RECORDS_MAX];
static size_t record_count;
static uint64_t random_state;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % below;
}

static uint64_t address(void)
{
    return pick(50) == 0 ? UINT64_MAX - pick(300) : 0x1000 + pick(40) * 0x40;
}

static uint64_t bytes(void)
{
    return pick(50) == 0 ? UINT64_MAX >> pick(64) : pick(300);
}

static void give(const nm_record *record)
{
    ck_assert_uint_lt(record_count, RECORDS_MAX);
    records[record_count++] = *record;
}

static void define(uint64_t kind)
{
    nm_record record = {.kind = NM_RECORD_DEFINITION, .definition = {.kind = kind, .id = pick(8)}};
    nm_definition *definition = &record.definition;

    if (kind == NM_DEFINE_THREAD) {
        definition->thread.process_id = pick(3);
    } else if (kind == NM_DEFINE_DEVICE) {
        definition->device.process_id = pick(3);
        definition->device.physical_ordinal = pick(2) == 0 ? NM_UNKNOWN_NUMBER : (int64_t)pick(3);
    } else if (kind == NM_DEFINE_HEAP) {
        definition->heap.process_id = pick(3);
        definition->heap.device_id = pick(3);
        definition->heap.level = pick(10);
        definition->heap.module_id = pick(2) * pick(40);
        definition->heap.size_basis = pick(4);
    }
    give(&record);
}

static void give_event(uint64_t seq)
{
    static const uint64_t flags[] = {NM_FLAG_STREAM, NM_FLAG_MISS,    NM_FLAG_HIT,      NM_FLAG_LATE,
                                     NM_FLAG_IDLE,   NM_FLAG_SEGMENT, NM_FLAG_BASELINE, NM_FLAG_TOTAL};
    static const uint64_t others[] = {
        NM_EVENT_EXPORT, NM_EVENT_RANGE_BEGIN, NM_EVENT_RANGE_BEGIN, NM_EVENT_RANGE_END,     NM_EVENT_STREAM_CALL,
        NM_EVENT_NOTE,   NM_EVENT_RESERVED,    NM_EVENT_MARK,        NM_EVENT_MEMORY_SAMPLE, NM_EVENT_MODULE_SAMPLE};
    uint64_t kind = pick(4) != 0 ? 1 + pick(8) : pick(2) == 0 ? others[pick(10)] : pick(NM_EVENT_KIND_MAX + 2);
    nm_record record = {.kind = NM_RECORD_EVENT,
                        .event = {.seq = seq,
                                  .kind = kind == NM_EVENT_LOSS && pick(20) != 0 ? NM_EVENT_FREE : kind,
                                  .time_ns = pick(9) == 0 ? NM_NO_TIME : (int64_t)(seq * pick(200000)),
                                  .flags = pick(3) == 0 ? flags[pick(8)] : 0,
                                  .thread_id = pick(5),
                                  .heap_id = pick(9),
                                  .address = address(),
                                  .requested_bytes = bytes(),
                                  .block_bytes = bytes(),
                                  .stack_id = pick(5),
                                  .stream = pick(3),
                                  .number = (int64_t)pick(5),
                                  .detail = pick(20) == 0 ? bytes() : pick(8),
                                  .cost_ns = bytes(),
                                  .error_code = (int64_t)bytes(),
                                  .name_id = pick(4),
                                  .model_id = pick(4),
                                  .device_id = pick(4),
                                  .source_address = address(),
                                  .size_bytes = bytes(),
                                  .limit_bytes = pick(2) * bytes(),
                                  .free_bytes = bytes(),
                                  .total_bytes = bytes()}};

    give(&record);
}

/* What is said of an operation, is said of one that has a row. */
static void check_operations(void)
{
    unsigned char *is_seen = calloc(list.operation.count + 1, 1);

    for (size_t i = 0; i < list.operation.count; i++) {
        uint64_t id = list.operation.items[i].operation_id;

        ck_assert_uint_le(id, list.operation.count);
        ck_assert(!is_seen[id]);
        is_seen[id] = 1;
        ck_assert_uint_le(list.operation.items[i].kind, NM_RANGE_KIND_MAX);
    }
    free(is_seen);
    for (size_t i = 0; i < list.allocation.count; i++) {
        const nm_allocation_row *row = &list.allocation.items[i];

        ck_assert_uint_le(row->operation_id, list.operation.count);
        ck_assert((row->operation_id == 0) == (row->operation_source == NM_SOURCE_NONE));
    }
    for (size_t i = 0; i < list.workspace.count; i++) {
        const nm_workspace_row *row = &list.workspace.items[i];
        bool is_known = row->allocation_id != 0;

        ck_assert(row->operation_id >= 1 && row->operation_id <= list.operation.count);
        ck_assert_uint_le(row->allocation_id, list.allocation.count);
        ck_assert(is_known == (row->heap_id != 0) && is_known == (row->is_reused != NM_UNKNOWN_NUMBER));
        ck_assert(!is_known || row->requested_bytes <= row->block_bytes);
    }
}

static void check_calls(void)
{
    for (size_t i = 0; i < list.stream_call.count; i++) {
        const nm_stream_call_row *row = &list.stream_call.items[i];

        ck_assert_uint_eq(row->stream_call_id, i + 1);
        ck_assert_uint_le(row->kind, NM_STREAM_CALL_MAX);
        ck_assert_uint_le(row->operation_id, list.operation.count);
        ck_assert_uint_le(row->cost_ns, INT64_MAX);
    }
    for (size_t i = 0; i < list.note.count; i++) {
        ck_assert_uint_eq(list.note.items[i].note_id, i + 1);
        ck_assert_uint_le(list.note.items[i].kind, NM_NOTE_MAX);
        ck_assert_uint_le(list.note.items[i].count, UINT32_MAX);
    }
}

/* Live bytes by the rows of a heap, and how many there are. */
static void check_heap(const nm_heap_total_row *total)
{
    uint64_t live = 0;
    uint64_t begun = 0;

    for (size_t i = 0; i < list.allocation.count; i++) {
        const nm_allocation_row *row = &list.allocation.items[i];

        if (row->heap_id != total->heap_id)
            continue;
        begun++;
        if (row->end_kind == NM_END_NONE)
            live += row->size_bytes;
        ck_assert((row->end_kind == NM_END_NONE) == (row->free_seq == NM_NO_SEQ && row->free_ns == NM_NO_TIME) ||
                  row->free_seq == NM_NO_SEQ);
    }
    ck_assert_uint_ge(begun, total->allocation_count);
    ck_assert_uint_ge(total->peak_bytes, total->live_bytes);
    ck_assert_uint_ge(total->peak_reserved_bytes, total->reserved_bytes);
    ck_assert_uint_eq(total->live_bytes, live);
}

static void check_rows(void)
{
    unsigned char *is_seen = calloc(list.allocation.count + 1, 1);

    for (size_t i = 0; i < list.allocation.count; i++) {
        uint64_t id = list.allocation.items[i].allocation_id;

        ck_assert_uint_le(id, list.allocation.count);
        ck_assert(!is_seen[id]);
        is_seen[id] = 1;
    }
    free(is_seen);
    for (size_t i = 0; i < list.fragmentation.count; i++) {
        const nm_fragmentation_row *row = &list.fragmentation.items[i];

        ck_assert_uint_le(row->largest_free_bytes, row->free_bytes);
    }
    for (size_t i = 0; i < list.heap_total.count; i++)
        check_heap(&list.heap_total.items[i]);
}

static void make_stream(void)
{
    record_count = 0;
    for (uint64_t n = pick(30); n > 0; n--)
        define(pick(10));
    for (uint64_t seq = 0; seq < EVENTS; seq++) {
        if (pick(30) == 0)
            define(pick(10));
        give_event(seq + (pick(200) == 0));
    }
}

/* Both passes, as npumem-ingest makes them. */
static void replay_stream(void)
{
    nm_sink sink = nm_row_list_sink(&list);
    nm_error err = {0};
    nm_anchor *anchor = NULL;
    nm_replay *replay = NULL;
    bool answer = false;

    ck_assert_int_eq(nm_anchor_new(&(nm_anchor_options){0}, &anchor, &err), NM_OK);
    for (size_t i = 0; i < record_count && !answer; i++)
        ck_assert_int_eq(nm_anchor_observe(anchor, &records[i], &answer, &err), NM_OK);
    ck_assert_int_eq(nm_anchor_decide(anchor, &err), NM_OK);
    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &replay, &err), NM_OK);
    for (size_t i = 0; i < record_count; i++) {
        ck_assert_int_eq(nm_anchor_begins(anchor, &records[i], &answer, &err), NM_OK);
        if (answer || pick(100) == 0)
            nm_replay_begin_step(replay);
        ck_assert_msg(nm_replay_record(replay, &records[i], &err) == NM_OK, "%s", err.text);
    }
    ck_assert_int_eq(nm_anchor_write(anchor, &sink, &err), NM_OK);
    ck_assert_msg(nm_replay_finish(replay, &err) == NM_OK, "%s", err.text);
    nm_anchor_free(anchor);
    nm_replay_free(replay);
}

START_TEST(nonsense_does_no_harm_and_adds_up)
{
    uint64_t seed = seed_of_test(1);

    for (uint64_t i = 0; i < STREAMS; i++) {
        random_state = (seed + i) * 0x9E3779B97F4A7C15u + 1;
        make_stream();
        replay_stream();
        check_rows();
        check_operations();
        check_calls();
        nm_row_list_free(&list);
    }
}
END_TEST

/* The block with the definitions may be lost. */
START_TEST(a_range_may_begin_before_anything_is_defined)
{
    record_count = 0;
    for (uint64_t kind = 0; kind <= NM_RANGE_KIND_MAX; kind++)
        give(&(nm_record){.kind = NM_RECORD_EVENT,
                          .event = {.kind = NM_EVENT_RANGE_BEGIN, .seq = kind, .detail = kind, .name_id = 3}});
    replay_stream();
    ck_assert_uint_eq(list.operation.count, NM_RANGE_KIND_MAX + 1);
    nm_row_list_free(&list);
}
END_TEST

TEST_SUITE(test_replay_nonsense)
{
    Suite *suite = suite_create("replay_nonsense");
    TCase *tests = tcase_create("nonsense");

    tcase_set_timeout(tests, 110);
    tcase_add_test(tests, nonsense_does_no_harm_and_adds_up);
    tcase_add_test(tests, a_range_may_begin_before_anything_is_defined);
    suite_add_tcase(suite, tests);
    return suite;
}
