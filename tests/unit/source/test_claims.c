/* SPDX-License-Identifier: Apache-2.0
 *
 * Whose driver memory is, against a walk from each event over all that come behind it.
 */
#include "source/claims.h"
#include "support/seed.h"
#include "support/suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum { DRIVER = 1, POOL = 2, OTHER_POOL = 3, FAR_DRIVER = 4, FAR_POOL = 5, HEAPS = 6, EVENTS = 60 };

static const uint64_t device_of[HEAPS] = {0, 1, 1, 1, 2, 2};

/* ---- A source of records that are in memory ---- */

typedef struct list_source {
    nm_source base;
    const nm_record *records;
    size_t count, at;
} list_source;

static nm_status list_next(nm_source *base, nm_record *out, nm_error *err)
{
    list_source *source = (list_source *)base;

    (void)err;
    if (source->at == source->count)
        return NM_END;
    *out = source->records[source->at++];
    return NM_OK;
}

static const nm_source_type list_type = {.name = "list", .next = list_next};

static nm_record define_thread(void)
{
    return (nm_record){.kind = NM_RECORD_DEFINITION,
                       .definition = {.kind = NM_DEFINE_THREAD, .id = 1, .thread = {.process_id = 1}}};
}

static nm_record define_heap(uint64_t id)
{
    bool is_driver = id == DRIVER || id == FAR_DRIVER;

    return (nm_record){.kind = NM_RECORD_DEFINITION,
                       .definition = {.kind = NM_DEFINE_HEAP,
                                      .id = id,
                                      .heap = {.process_id = 1,
                                               .device_id = device_of[id],
                                               .level = is_driver ? NM_LEVEL_DRIVER : NM_LEVEL_POOL}}};
}

static nm_record memory(nm_event_kind kind, uint64_t heap, uint64_t address, uint64_t bytes)
{
    return (nm_record){
        .kind = NM_RECORD_EVENT,
        .event = {
            .kind = kind, .thread_id = 1, .heap_id = heap, .address = address, .block_bytes = bytes, .stream = heap}};
}

/* Reads all, and gives the events in the order in which they come. */
static size_t read_all(const nm_record *records, size_t count, nm_event *out)
{
    list_source source = {.base = {&list_type}, .records = records, .count = count};
    nm_claims *claims = NULL;
    nm_record record;
    size_t event_count = 0;
    nm_status status = nm_claims_new(&source.base, &claims, NULL);

    while (status == NM_OK && (status = nm_claims_next(claims, &record, NULL)) == NM_OK)
        if (record.kind == NM_RECORD_EVENT)
            out[event_count++] = record.event;
    ck_assert_int_eq(status, NM_END);
    ck_assert_int_eq(nm_claims_next(claims, &record, NULL), NM_END);
    nm_claims_free(claims);
    return event_count;
}

/* ---- The walk ---- */

static bool is_driver_memory(const nm_event *event)
{
    return (event->kind == NM_EVENT_ALLOC || event->kind == NM_EVENT_MAP) &&
           (event->heap_id == DRIVER || event->heap_id == FAR_DRIVER);
}

static bool touches(const nm_event *range, const nm_event *other)
{
    bool is_point = other->kind == NM_EVENT_FREE || (other->kind == NM_EVENT_UNMAP && other->block_bytes == 0);
    uint64_t end = other->address + (is_point ? 1 : other->block_bytes);

    return other->address < range->address + range->block_bytes && end > range->address;
}

/* The first block in the memory that events[i] made; NULL: none. */
static const nm_event *first_block(const nm_event *events, size_t count, size_t i)
{
    const nm_event *range = &events[i];
    bool is_ended = (range->flags & NM_FLAG_SEGMENT) != 0;

    for (size_t j = i + 1; j < count && j < i + NM_CLAIMS_AHEAD && !is_ended; j++) {
        const nm_event *event = &events[j];
        bool is_here = event->heap_id == 0 || device_of[event->heap_id] == device_of[range->heap_id];
        bool is_alloc = event->kind == NM_EVENT_ALLOC || event->kind == NM_EVENT_MAP;

        if (event->kind == NM_EVENT_RESET && (event->device_id == 0 || event->device_id == device_of[range->heap_id]))
            return NULL;
        if (event->kind == NM_EVENT_RESET || event->kind == NM_EVENT_MARK || !is_here || !touches(range, event))
            continue;
        if (is_alloc && !is_driver_memory(event))
            return event;
        is_ended = is_driver_memory(event) || (!is_alloc && (event->heap_id == 0 || event->heap_id == range->heap_id));
    }
    return NULL;
}

static void expect_claims(const nm_event *events, const nm_event *came, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const nm_event *block = is_driver_memory(&events[i]) ? first_block(events, count, i) : NULL;
        nm_event want = events[i];

        if (block != NULL) {
            want.pool_id = block->heap_id;
            want.pool_stream = block->stream;
            want.private_pool = block->policy;
            want.flags |= (block->flags & NM_FLAG_STREAM) != 0 ? NM_FLAG_POOL_STREAM : 0;
        }
        ck_assert_mem_eq(&came[i], &want, sizeof want);
    }
}

static uint64_t random_state;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static nm_record random_event(void)
{
    static const uint64_t heaps[] = {DRIVER, DRIVER, FAR_DRIVER, POOL, OTHER_POOL, FAR_POOL};
    uint64_t heap = heaps[pick(6)];
    uint64_t address = 0x1000 + 16 * pick(12), bytes = 16 * (1 + pick(4));
    nm_record record = memory(NM_EVENT_ALLOC, heap, address, bytes);

    switch (pick(12)) {
    case 0:
        record = memory(NM_EVENT_FREE, heap, address, 0);
        break;
    case 1:
        record = memory(NM_EVENT_FREE, 0, address, 0);
        record.event.detail = pick(2) == 0 ? NM_FREE_ANY : NM_FREE_DEVICE;
        break;
    case 2:
        record = memory(NM_EVENT_UNMAP, pick(2) == 0 ? 0 : DRIVER, address, pick(2) == 0 ? 0 : bytes);
        break;
    case 3:
        record = memory(NM_EVENT_MARK, 0, 0, 0);
        break;
    case 4:
        if (pick(4) == 0) {
            record = memory(NM_EVENT_RESET, 0, 0, 0);
            record.event.device_id = pick(3);
        }
        break;
    default:
        break;
    }
    if (is_driver_memory(&record.event) && pick(6) == 0)
        record.event.flags = NM_FLAG_SEGMENT;
    if (heap >= POOL && record.event.kind == NM_EVENT_ALLOC)
        record.event.policy = pick(3);
    if (pick(2) == 0)
        record.event.flags |= NM_FLAG_STREAM;
    return record;
}

/* Definitions lie among the events, the latest just before its first use. */
START_TEST(memory_is_of_the_pool_whose_block_comes_first_in_it)
{
    size_t claimed_count = 0;

    random_state = 88172645463325252u + seed_of_test(1);
    for (int round = 0; round < 4000; round++) {
        nm_record records[EVENTS + HEAPS];
        nm_event events[EVENTS], came[EVENTS];
        bool is_defined[HEAPS] = {true};
        size_t record_count = 0, event_count = 0;

        records[record_count++] = define_thread();
        while (event_count < EVENTS) {
            nm_record next = random_event();

            if (!is_defined[next.event.heap_id]) {
                is_defined[next.event.heap_id] = true;
                records[record_count++] = define_heap(next.event.heap_id);
            }
            records[record_count++] = next;
            events[event_count++] = next.event;
        }
        ck_assert_uint_eq(read_all(records, record_count, came), EVENTS);
        expect_claims(events, came, EVENTS);
        for (size_t i = 0; i < EVENTS; i++)
            claimed_count += came[i].pool_id != 0;
    }
    ck_assert_uint_gt(claimed_count, 4000);
}
END_TEST

/* Memory, then `between` marks, then a block in it. */
static uint64_t claimant_after(size_t between)
{
    nm_record *records = calloc(between + 5, sizeof *records);
    nm_event *came = calloc(between + 2, sizeof *came);
    size_t count = 0;
    uint64_t pool_id;

    records[count++] = define_thread();
    records[count++] = define_heap(DRIVER);
    records[count++] = memory(NM_EVENT_ALLOC, DRIVER, 0x1000, 64);
    for (size_t i = 0; i < between; i++)
        records[count++] = memory(NM_EVENT_MARK, 0, 0, 0);
    records[count++] = define_heap(POOL);
    records[count++] = memory(NM_EVENT_ALLOC, POOL, 0x1000, 64);
    ck_assert_uint_eq(read_all(records, count, came), between + 2);
    pool_id = came[0].pool_id;
    free(records);
    free(came);
    return pool_id;
}

START_TEST(a_block_is_waited_for_so_many_events_long)
{
    ck_assert_uint_eq(claimant_after(0), POOL);
    ck_assert_uint_eq(claimant_after(NM_CLAIMS_AHEAD - 2), POOL);
    ck_assert_uint_eq(claimant_after(NM_CLAIMS_AHEAD - 1), 0);
}
END_TEST

TEST_SUITE(test_claims)
{
    Suite *suite = suite_create("claims");
    TCase *tcase = tcase_create("claims");

    tcase_add_test(tcase, memory_is_of_the_pool_whose_block_comes_first_in_it);
    tcase_add_test(tcase, a_block_is_waited_for_so_many_events_long);
    suite_add_tcase(suite, tcase);
    return suite;
}
