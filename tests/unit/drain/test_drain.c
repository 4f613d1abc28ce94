/* SPDX-License-Identifier: Apache-2.0
 *
 * The drain against rings that the test writes by hand: order, open slots, losses, reuse, a full disk.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/clock.h"
#include "drain/output.h"
#include "support/drain_bench.h"
#include "support/suites.h"

#define SLOTS 1024

static drain_bench bench;
static hand_process process;
static hand_ring first, second;

static void open_with_two_rings(void)
{
    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, getpid(), hand_start_time(getpid()));
    hand_ring_make(&first, &process, SLOTS, getpid(), "first");
    hand_ring_make(&second, &process, SLOTS, getpid(), "second");
}

static void close_all(void)
{
    hand_ring_unmap(&first);
    hand_ring_unmap(&second);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}

/* The events of one kind, in the order of the trace; *count is how many. */
static const nm_event **events_of(const trace_content *content, nm_event_kind kind, size_t *count)
{
    const nm_event **found = calloc(content->event_count + 1, sizeof *found);

    *count = 0;
    for (size_t i = 0; i < content->event_count; i++)
        if (content->events[i].kind == (uint64_t)kind)
            found[(*count)++] = &content->events[i];
    return found;
}

static size_t count_of(const trace_content *content, nm_event_kind kind)
{
    size_t count;

    free(events_of(content, kind, &count));
    return count;
}

static size_t late_count(const trace_content *content)
{
    size_t count = 0;

    for (size_t i = 0; i < content->event_count; i++)
        count += (content->events[i].flags & NM_FLAG_LATE) != 0;
    return count;
}

START_TEST(every_kind_of_record_becomes_its_event)
{
    trace_content content;
    open_with_two_rings();

    hand_heap(&first, 7, NM_LEVEL_POOL, 3, "the pool");
    uint64_t stamp = hand_ticks(&first);
    nm_ring_alloc alloc = {.ticks = stamp,
                           .address = 0xfff0000000000010,
                           .requested_bytes = 100,
                           .block_bytes = 512,
                           .stream = 9,
                           .where = nm_ring_where(7, NM_FLAG_STREAM | NM_FLAG_HIT, 0),
                           .policy = 2,
                           .cost_ticks = 1000};
    hand_publish(&first, hand_claim(&first, 1), NM_EVENT_ALLOC, &alloc, sizeof alloc);
    nm_ring_free failed = {
        .address = 5, .where = nm_ring_where(7, 0, 0), .detail = NM_FREE_HOST, .error_code = -107002};
    hand_put(&first, NM_EVENT_FREE_FAILED, &failed, sizeof failed);
    nm_ring_alloc_failed oom = {.requested_bytes = 1 << 30,
                                .where = nm_ring_where(7, 0, 0),
                                .error_code = 207001,
                                .free_bytes = 11,
                                .total_bytes = 22};
    hand_put(&first, NM_EVENT_ALLOC_FAILED, &oom, sizeof oom);
    nm_ring_copy copy = {.target_address = 1,
                         .source_address = 2,
                         .size_bytes = 3,
                         .limit_bytes = 4,
                         .kind = NM_COPY_DEVICE_TO_DEVICE,
                         .error_code = 6,
                         .target_device = 3,
                         .source_device = 4};
    hand_put(&first, NM_EVENT_COPY, &copy, sizeof copy);
    nm_ring_number step = {.number = -5};
    hand_put(&first, NM_EVENT_STEP, &step, sizeof step);
    nm_ring_sample sample = {.device = 3, .detail = NM_MEMORY_HBM, .free_bytes = 31, .total_bytes = 32};
    hand_put(&first, NM_EVENT_MEMORY_SAMPLE, &sample, sizeof sample);
    hand_mark(&first, "a mark with a name that takes more than one slot of the ring, surely");
    drain_bench_run_ms(&bench, 10);
    drain_bench_finish(&bench, &content);

    ck_assert_uint_eq(content.event_count, 8); /* and the end of the process */
    const nm_event *event = content.events;
    ck_assert_uint_eq(event[0].address, 0xfff0000000000010);
    ck_assert_uint_eq(event[0].requested_bytes, 100);
    ck_assert_uint_eq(event[0].block_bytes, 512);
    ck_assert_uint_eq(event[0].stream, 9);
    ck_assert_uint_eq(event[0].flags, NM_FLAG_STREAM | NM_FLAG_HIT);
    ck_assert_uint_eq(event[0].policy, 2);
    ck_assert_uint_eq(event[0].thread_id, first.thread);
    const nm_definition *heap = trace_content_find(&content, NM_DEFINE_HEAP, event[0].heap_id);
    ck_assert_ptr_nonnull(heap);
    ck_assert(trace_content_text_is(&content, heap->heap.name, "the pool"));
    ck_assert_uint_eq(heap->heap.process_id, process.number);
    const nm_definition *device = trace_content_find(&content, NM_DEFINE_DEVICE, heap->heap.device_id);
    ck_assert_int_eq(device->device.ordinal, 2);
    ck_assert_int_eq(event[1].error_code, -107002);
    ck_assert_uint_eq(event[1].detail, NM_FREE_HOST);
    ck_assert_uint_eq(event[2].total_bytes, 22);
    ck_assert_int_eq(event[2].error_code, 207001);
    ck_assert_uint_eq(event[3].limit_bytes, 4);
    ck_assert_uint_eq(event[3].device_id, heap->heap.device_id);
    ck_assert_int_ne(event[3].number, 0);
    ck_assert_int_ne((int64_t)event[3].device_id, event[3].number);
    ck_assert_int_eq(event[4].number, -5);
    ck_assert_uint_eq(event[5].free_bytes, 31);
    ck_assert(trace_content_text_is(&content, event[6].name_id,
                                    "a mark with a name that takes more than one slot of the ring, surely"));
    ck_assert_uint_eq(event[7].kind, NM_EVENT_PROCESS_END);
    ck_assert_uint_eq(event[7].detail, NM_PROCESS_RUNNING);
    ck_assert_uint_eq(content.last_flags, NM_BLOCK_FINAL);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(equal_stamps_put_frees_first_and_keep_the_order_of_a_thread)
{
    trace_content content;
    open_with_two_rings();

    uint64_t stamp = hand_ticks(&first);
    hand_alloc(&first, stamp, 0, 1, 1, 0);
    hand_alloc(&second, stamp, 0, 2, 1, 0);
    hand_free(&second, stamp, 0, 2);
    hand_alloc(&first, stamp, 0, 3, 1, 0);
    drain_bench_run_ms(&bench, 10);
    drain_bench_finish(&bench, &content);

    /* The second thread has a free at that stamp, so it goes first, with what it did before. */
    static const uint64_t addresses[] = {2, 2, 1, 3};
    static const uint64_t kinds[] = {NM_EVENT_ALLOC, NM_EVENT_FREE, NM_EVENT_ALLOC, NM_EVENT_ALLOC};
    for (size_t i = 0; i < 4; i++) {
        ck_assert_uint_eq(content.events[i].address, addresses[i]);
        ck_assert_uint_eq(content.events[i].kind, kinds[i]);
    }
    ck_assert_uint_eq(late_count(&content), 0);
    trace_content_free(&content);
    close_all();
}
END_TEST

/* ---- Threads that race --------------------------------------------------------------------------------------------- */

#define RACERS       4
#define RACER_SLOTS  32768 /* never full: then no slow thread is waited for in vain */
#define RACER_EVENTS 20000

typedef struct racer {
    pthread_t thread;
    hand_ring ring;
    unsigned number;
    uint64_t stamps[RACER_EVENTS];
} racer;

typedef struct oracle_event {
    uint64_t stamp, address;
    bool is_free;
    unsigned number;
} oracle_event;

static void *race(void *context)
{
    racer *self = context;

    for (unsigned i = 0; i < RACER_EVENTS; i++) {
        uint64_t address = (uint64_t)self->number << 32 | i;
        self->stamps[i] =
            i % 3 == 2 ? hand_free(&self->ring, 0, 0, address) : hand_alloc(&self->ring, 0, 0, address, i, 0);
    }
    return NULL;
}

static int by_stamp(const void *left, const void *right)
{
    const oracle_event *a = left, *b = right;

    if (a->stamp != b->stamp)
        return a->stamp < b->stamp ? -1 : 1;
    if (a->is_free != b->is_free)
        return a->is_free ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

START_TEST(racing_threads_come_out_in_the_order_of_their_stamps)
{
    static racer racers[RACERS];
    static oracle_event oracle[RACERS * RACER_EVENTS];
    trace_content content;
    size_t count = 0;

    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, getpid(), hand_start_time(getpid()));
    for (unsigned i = 0; i < RACERS; i++) {
        racers[i].number = i;
        hand_ring_make(&racers[i].ring, &process, RACER_SLOTS, getpid(), "racer");
    }
    for (unsigned i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    for (unsigned i = 0; i < RACERS; i++)
        while (pthread_tryjoin_np(racers[i].thread, NULL) != 0)
            drain_bench_pass(&bench);
    drain_bench_finish(&bench, &content);

    for (unsigned i = 0; i < RACERS; i++)
        for (unsigned j = 0; j < RACER_EVENTS; j++)
            oracle[count++] = (oracle_event){racers[i].stamps[j], (uint64_t)i << 32 | j, j % 3 == 2, i};
    qsort(oracle, count, sizeof *oracle, by_stamp);

    ck_assert_uint_eq(content.event_count, count + 1);
    ck_assert_uint_eq(late_count(&content), 0);
    for (size_t i = 0; i < count; i++)
        ck_assert_msg(content.events[i].address == oracle[i].address, "event %zu", i);
    for (size_t i = 1; i < count; i++)
        ck_assert_int_ge(content.events[i].time_ns, content.events[i - 1].time_ns);
    trace_content_free(&content);
    for (unsigned i = 0; i < RACERS; i++)
        hand_ring_unmap(&racers[i].ring);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}
END_TEST

/* ---- Open slots ---------------------------------------------------------------------------------------------------- */

/* It says so when it is about to come to the end of the memory that it has; what was written before lies where it lay. */
START_TEST(a_ring_that_becomes_shorter_on_its_first_lap_is_read_on)
{
    trace_content content;
    const uint64_t kept = SLOTS / 4;
    open_with_two_rings();

    for (uint64_t i = 0; i < 3 * kept; i++) {
        if (i % (kept / 4) == 0)
            drain_bench_run_until_written(&bench, &first);
        if (atomic_load(&first.ring->head) == kept)
            first.ring->slot_count = kept;
        hand_alloc(&first, 0, 0, 1 + i, 1, 0);
    }
    drain_bench_run_ms(&bench, 10);
    drain_bench_finish(&bench, &content);

    ck_assert_uint_eq(content.event_count, 3 * kept + 1);
    for (uint64_t i = 0; i < 3 * kept; i++)
        ck_assert_uint_eq(content.events[i].address, 1 + i);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(an_open_slot_holds_back_what_is_younger)
{
    trace_content content;
    open_with_two_rings();
    drain_bench_run_ms(&bench, 5);

    uint64_t position = hand_claim(&first, 1);
    nm_ring_alloc slow = {.ticks = hand_ticks(&first), .address = 1, .requested_bytes = 1};
    sleep_ms(5);
    hand_alloc(&second, 0, 0, 2, 1, 0);
    drain_bench_run_ms(&bench, 100);
    hand_publish(&first, position, NM_EVENT_ALLOC, &slow, sizeof slow);
    drain_bench_run_ms(&bench, 20);
    drain_bench_finish(&bench, &content);

    ck_assert_uint_eq(content.events[0].address, 1);
    ck_assert_uint_eq(content.events[1].address, 2);
    ck_assert_uint_eq(late_count(&content), 0);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(an_open_slot_does_not_hold_back_what_is_older)
{
    nm_drain_report report;
    trace_content content;
    open_with_two_rings();
    hand_alloc(&second, 0, 0, 2, 1, 0);
    sleep_ms(5);
    drain_bench_pass(&bench);
    drain_bench_pass(&bench);
    hand_claim(&first, 1);
    drain_bench_run_ms(&bench, 10);
    nm_drain_tell(bench.drain, &report);
    ck_assert_uint_eq(report.event_count, 1);
    drain_bench_finish(&bench, &content);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(after_a_second_a_slot_is_not_waited_for_and_comes_late)
{
    nm_drain_report report;
    trace_content content;
    open_with_two_rings();
    drain_bench_run_ms(&bench, 5);

    int64_t waited_ns, since_ns = nm_clock_monotonic_ns();
    uint64_t position = hand_claim(&first, 1);
    nm_ring_alloc slow = {.ticks = hand_ticks(&first), .address = 1, .requested_bytes = 1};
    sleep_ms(5);
    hand_alloc(&second, 0, 0, 2, 1, 0);
    do {
        drain_bench_run_ms(&bench, 5);
        nm_drain_tell(bench.drain, &report);
        waited_ns = nm_clock_monotonic_ns() - since_ns;
    } while (report.event_count == 0 && waited_ns < INT64_C(10000000000));
    ck_assert_uint_eq(report.event_count, 1);
    ck_assert_int_ge(waited_ns, 990000000); /* two clocks, the one refined while it runs */
    ck_assert_int_lt(waited_ns, 5000000000);
    hand_publish(&first, position, NM_EVENT_ALLOC, &slow, sizeof slow);
    drain_bench_run_ms(&bench, 20);
    drain_bench_finish(&bench, &content);

    ck_assert_uint_eq(content.events[0].address, 2);
    ck_assert_uint_eq(content.events[1].address, 1);
    ck_assert_uint_eq(content.events[1].flags, NM_FLAG_LATE);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(a_signal_handler_between_claim_and_stamp_is_put_in_order)
{
    trace_content content;
    open_with_two_rings();

    uint64_t outer = hand_claim(&first, 1);
    uint64_t inner_stamp = hand_alloc(&first, 0, 0, 2, 1, 0);
    nm_ring_alloc alloc = {.ticks = hand_ticks(&first), .address = 1, .requested_bytes = 1};
    hand_publish(&first, outer, NM_EVENT_ALLOC, &alloc, sizeof alloc);
    ck_assert_uint_lt(inner_stamp, alloc.ticks);
    drain_bench_run_ms(&bench, 10);
    drain_bench_finish(&bench, &content);

    ck_assert_uint_eq(content.events[0].address, 2);
    ck_assert_uint_eq(content.events[1].address, 1);
    ck_assert_uint_eq(late_count(&content), 0);
    trace_content_free(&content);
    close_all();
}
END_TEST

/* A process of its own with one ring. */
static void open_with_mortal(hand_mortal *mortal)
{
    hand_mortal_begin(mortal);
    hand_process_join(&process, bench.folder_path, mortal->pid, mortal->start_time);
    hand_ring_make(&first, &process, SLOTS, mortal->pid, "mortal");
}

START_TEST(the_open_slots_of_a_killed_thread_are_counted_and_skipped)
{
    hand_mortal mortal;
    trace_content content;
    nm_drain_report report;
    size_t count;

    drain_bench_open(&bench);
    open_with_mortal(&mortal);
    hand_alloc(&first, 0, 0, 1, 1, 0);
    hand_claim(&first, 2);
    hand_alloc(&first, 0, 0, 2, 1, 0);
    hand_claim(&first, 1);
    drain_bench_run_ms(&bench, 10);
    hand_mortal_end(&mortal);
    drain_bench_run_ms(&bench, 300);
    ck_assert_uint_eq(nm_drain_live_count(bench.drain), 0);
    drain_bench_finish(&bench, &content);

    nm_drain_tell(bench.drain, &report);
    ck_assert_uint_eq(report.unreadable_count, 2);
    const nm_event **losses = events_of(&content, NM_EVENT_LOSS, &count);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(losses[0]->detail, NM_LOSS_UNREADABLE);
    ck_assert_int_eq(losses[0]->number, 1);
    free(losses);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), 2);
    ck_assert_uint_eq(content.events[content.event_count - 1].kind, NM_EVENT_PROCESS_END);
    ck_assert_uint_eq(content.events[content.event_count - 1].detail, NM_PROCESS_SIGNAL);
    ck_assert_int_eq(content.events[content.event_count - 1].error_code, -1);
    trace_content_free(&content);
    hand_ring_unmap(&first);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}
END_TEST

/* ---- Rings that go round ------------------------------------------------------------------------------------------- */

static void *write_many(void *context)
{
    hand_ring *ring = context;

    for (uint64_t i = 0; i < 100000; i++) {
        if (i % 1000 == 0)
            hand_mark(ring,
                      "a record of several slots that crosses the end of the ring now and then, at any place of it");
        hand_alloc(ring, 0, 0, i, i, 0);
    }
    return NULL;
}

START_TEST(a_small_ring_goes_round_many_times)
{
    pthread_t writer;
    trace_content content;
    size_t count;
    open_with_two_rings();

    ck_assert_int_eq(pthread_create(&writer, NULL, write_many, &first), 0);
    while (pthread_tryjoin_np(writer, NULL) != 0)
        drain_bench_pass(&bench);
    drain_bench_finish(&bench, &content);

    const nm_event **allocs = events_of(&content, NM_EVENT_ALLOC, &count);
    ck_assert_uint_eq(count, 100000);
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(allocs[i]->address, i);
    free(allocs);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_MARK), 100);
    ck_assert_uint_eq(atomic_load(&first.ring->tail), atomic_load(&first.ring->head));
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(the_next_thread_of_a_ring_counts_its_stacks_anew)
{
    trace_content content;
    size_t count;
    open_with_two_rings();
    uint64_t first_thread = first.thread;

    hand_module(&first, 0x10000, 0x1000, "/lib/one.so");
    hand_module(&second, 0x20000, 0x1000, "/lib/two.so");
    hand_stack(&first, 1, (uint64_t[]){0x10101, 0x20202}, 2);
    hand_alloc(&first, 0, 0, 1, 1, 1);
    hand_ring_own(&first, 4711, "next");
    hand_stack(&first, 1, (uint64_t[]){0x20303, 0x20202}, 2);
    hand_alloc(&first, 0, 0, 2, 1, 1);
    hand_stack(&second, 1, (uint64_t[]){0x10101, 0x20202}, 2);
    hand_alloc(&second, 0, 0, 3, 1, 1);
    hand_alloc(&second, 0, 0, 4, 1, 99); /* a stack that nobody has defined */
    drain_bench_run_ms(&bench, 10);
    drain_bench_finish(&bench, &content);

    const nm_event **allocs = events_of(&content, NM_EVENT_ALLOC, &count);
    ck_assert_uint_eq(count, 4);
    ck_assert_uint_eq(allocs[0]->thread_id, first_thread);
    ck_assert_uint_eq(allocs[1]->thread_id, first.thread);
    ck_assert_uint_ne(allocs[0]->stack_id, allocs[1]->stack_id);
    ck_assert_uint_eq(allocs[0]->stack_id, allocs[2]->stack_id);
    ck_assert_uint_eq(allocs[3]->stack_id, 0);

    const nm_definition *stack = trace_content_find(&content, NM_DEFINE_STACK, allocs[0]->stack_id);
    const nm_definition *frame = trace_content_find(&content, NM_DEFINE_FRAME, stack->stack.frame_id);
    ck_assert(trace_content_text_is(&content, frame->frame.module, "/lib/one.so"));
    ck_assert_uint_eq(frame->frame.offset, 0x100); /* of the call: one less than where it returns to */
    stack = trace_content_find(&content, NM_DEFINE_STACK, stack->stack.parent_id);
    frame = trace_content_find(&content, NM_DEFINE_FRAME, stack->stack.frame_id);
    ck_assert(trace_content_text_is(&content, frame->frame.module, "/lib/two.so"));
    ck_assert_uint_eq(stack->stack.parent_id, 0);
    free(allocs);
    trace_content_free(&content);
    close_all();
}
END_TEST

/* ---- Losses -------------------------------------------------------------------------------------------------------- */

START_TEST(losses_are_said_once_with_their_number)
{
    uint64_t said = 0;
    hand_mortal mortal;
    trace_content content;
    size_t count;

    drain_bench_open(&bench);
    open_with_mortal(&mortal);
    uint64_t from = hand_ticks(&first);
    hand_alloc(&first, 0, 0, 1, 1, 0);
    uint64_t until = hand_ticks(&first);
    hand_loss(&first, from, until, 10);
    hand_alloc(&first, 0, 0, 2, 1, 0);
    hand_loss(&first, from, until, 15);
    atomic_store(&first.ring->dropped_count, 22);
    atomic_store(&first.ring->drop_first_ticks, from);
    atomic_store(&first.ring->drop_last_ticks, until);
    atomic_store(&process.shared->dropped_count, 3);
    drain_bench_run_ms(&bench, 10);
    hand_mortal_end(&mortal);
    drain_bench_run_ms(&bench, 300);
    drain_bench_finish(&bench, &content);

    const nm_event **losses = events_of(&content, NM_EVENT_LOSS, &count);
    ck_assert_uint_eq(count, 4);
    for (size_t i = 0; i < count; i++)
        said += (uint64_t)losses[i]->number;
    ck_assert_uint_eq(said, 25);
    ck_assert_int_eq(losses[1]->number, 5);
    ck_assert_uint_eq(losses[3]->detail, NM_LOSS_NO_RING);
    ck_assert_int_lt(losses[0]->time_ns, losses[0]->until_ns);
    ck_assert_uint_eq(late_count(&content), 0);
    free(losses);
    trace_content_free(&content);
    hand_ring_unmap(&first);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}
END_TEST

static int failing_writes; /* so many more writes of a block fail, after a part was written */
static ssize_t write_some(int fd, const void *data, size_t len)
{
    static bool is_half;

    if (failing_writes > 0 && !is_half) {
        is_half = true;
        return write(fd, data, len / 2);
    }
    if (failing_writes > 0) {
        is_half = false;
        failing_writes--;
        errno = ENOSPC;
        return -1;
    }
    return write(fd, data, len);
}

static uint64_t said_losses(const trace_content *content)
{
    uint64_t said = 0;

    for (size_t i = 0; i < content->event_count; i++)
        if (content->events[i].kind == NM_EVENT_LOSS)
            said += (uint64_t)content->events[i].number;
    return said;
}

START_TEST(a_disk_that_is_full_for_a_while_costs_counted_events_and_no_others)
{
    nm_io_calls before = nm_io;
    trace_content content;
    nm_bytes trace;
    open_with_two_rings();

    hand_alloc(&first, 0, 0, 1, 1, 0);
    drain_bench_run_until_written(&bench, &first);
    nm_io.write = write_some;
    failing_writes = 100000;
    hand_alloc(&first, 0, 0, 2, 1, 0);
    drain_bench_run_ms(&bench, 150); /* the block with event 2 fails and waits */
    ck_assert_int_eq(bench.warning_count, 1);
    trace = trace_load(bench.trace_path);
    trace_content_read(&content, trace);
    ck_assert_uint_eq(content.whole_bytes, trace.len);
    trace_content_free(&content);
    free((void *)trace.data);

    for (unsigned i = 0; i < 3 * SLOTS; i++) { /* more than the ring holds: it is emptied all the same */
        hand_alloc(&first, 0, 0, 3, 1, 0);
        if (i % (SLOTS / 2) == 0)
            drain_bench_run_ms(&bench, 10);
    }
    failing_writes = 0; /* the disk has room again */
    drain_bench_run_ms(&bench, 150);
    hand_alloc(&second, 0, 0, 4, 1, 0);
    drain_bench_run_ms(&bench, 10);
    drain_bench_finish(&bench, &content);
    nm_io = before;

    ck_assert_int_eq(bench.warning_count, 1);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC) + said_losses(&content), 3 + 3 * SLOTS);
    ck_assert_uint_gt(said_losses(&content), SLOTS);
    ck_assert_uint_eq(content.last_flags, NM_BLOCK_FINAL);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(a_disk_that_stays_full_leaves_whole_blocks_and_an_exact_report)
{
    nm_io_calls before = nm_io;
    nm_drain_report report;
    trace_content content;
    open_with_two_rings();

    hand_alloc(&first, 0, 0, 1, 1, 0);
    drain_bench_run_until_written(&bench, &first);
    nm_io.write = write_some;
    failing_writes = 1000;
    hand_alloc(&first, 0, 0, 2, 1, 0);
    drain_bench_run_ms(&bench, 150);
    for (unsigned i = 0; i < 100; i++)
        hand_alloc(&first, 0, 0, 3, 1, 0);
    drain_bench_run_ms(&bench, 10);
    drain_bench_finish(&bench, &content);
    nm_io = before;
    failing_writes = 0;

    nm_drain_tell(bench.drain, &report);
    ck_assert_uint_eq(content.event_count, 1);
    ck_assert_uint_eq(report.event_count, 1);
    ck_assert_uint_eq(report.unwritten_count, 101);
    ck_assert_uint_eq(content.last_flags, 0);
    trace_content_free(&content);
    close_all();
}
END_TEST

/* A disk with room for so many bytes of the trace, on a file system that keeps room where it is asked to. */
static uint64_t disk_bytes;
static int keep_room(int fd, int mode, off_t offset, off_t len)
{
    if (mode == FALLOC_FL_KEEP_SIZE && (uint64_t)(offset + len) <= disk_bytes)
        return fallocate(fd, mode, offset, len) == 0 || errno == EOPNOTSUPP ? 0 : -1;
    errno = ENOSPC;
    return -1;
}

static void fill_disk(void)
{
    struct stat info;

    ck_assert_int_eq(fstat(bench.fd, &info), 0);
    nm_io.fallocate = keep_room;
    disk_bytes = (uint64_t)info.st_size + NM_OUTPUT_RESERVE_BYTES;
}

/* As whoever reads it now, or after a kill of the recorder, would find it. */
static void expect_in_file(uint64_t alloc_count, uint64_t lost_count)
{
    nm_bytes trace = trace_load(bench.trace_path);
    trace_content content;

    trace_content_read(&content, trace);
    ck_assert_uint_eq(content.whole_bytes, trace.len);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), alloc_count);
    ck_assert_uint_eq(said_losses(&content), lost_count);
    trace_content_free(&content);
    free((void *)trace.data);
}

START_TEST(a_full_disk_is_noted_in_the_file_before_a_ring_goes_on)
{
    nm_io_calls before = nm_io;
    trace_content content;
    open_with_two_rings();

    hand_alloc(&first, 0, 0, 1, 1, 0);
    drain_bench_run_until_written(&bench, &first);
    fill_disk();
    for (unsigned i = 0; i < 10; i++) {
        hand_alloc(&first, 0, 0, 2, 1, 0);
        drain_bench_run_until_written(&bench, &first); /* let go: its slots are free */
        expect_in_file(1, i + 1);
    }
    disk_bytes = UINT64_MAX;
    drain_bench_run_ms(&bench, 300);
    expect_in_file(2, 9); /* the block that waited stands where the note stood */
    hand_alloc(&first, 0, 0, 3, 1, 0);
    drain_bench_finish(&bench, &content);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), 3);
    ck_assert_uint_eq(said_losses(&content), 9);
    ck_assert_uint_eq(content.last_flags, NM_BLOCK_FINAL);
    nm_io = before;
    trace_content_free(&content);
    close_all();
}
END_TEST

/* The drops that a block tells of are missing with it. */
START_TEST(what_a_full_disk_takes_is_in_the_last_block_to_the_event)
{
    nm_io_calls before = nm_io;
    nm_drain_report report;
    trace_content content;
    open_with_two_rings();

    hand_alloc(&first, 0, 0, 1, 1, 0);
    drain_bench_run_until_written(&bench, &first);
    fill_disk();
    hand_alloc(&first, 0, 0, 2, 1, 0);
    uint64_t now = hand_ticks(&first);
    hand_loss(&first, now, now, 5);
    drain_bench_run_until_written(&bench, &first);
    for (unsigned i = 0; i < 100; i++)
        hand_alloc(i % 2 == 0 ? &first : &second, 0, 0, 3, 1, 0);
    drain_bench_finish(&bench, &content);
    nm_io = before;

    nm_drain_tell(bench.drain, &report);
    ck_assert_uint_eq(report.event_count, 1);
    ck_assert_uint_eq(report.dropped_count, 0);
    ck_assert_uint_eq(report.unwritten_count, 1 + 5 + 100);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), 1);
    ck_assert_uint_eq(said_losses(&content), 106);
    ck_assert_uint_eq(content.last_flags, NM_BLOCK_FINAL);
    trace_content_free(&content);
    close_all();
}
END_TEST

/* ---- Processes ----------------------------------------------------------------------------------------------------- */

static const nm_event *end_of(const trace_content *content, uint64_t number)
{
    for (size_t i = 0; i < content->event_count; i++)
        if (content->events[i].kind == NM_EVENT_PROCESS_END && (uint64_t)content->events[i].number == number)
            return &content->events[i];
    return NULL;
}

START_TEST(processes_end_as_they_or_the_kernel_say)
{
    hand_mortal mortals[3];
    hand_process processes[4];
    trace_content content;

    drain_bench_open(&bench);
    for (int i = 0; i < 3; i++) {
        hand_mortal_begin(&mortals[i]);
        hand_process_join(&processes[i], bench.folder_path, mortals[i].pid, mortals[i].start_time);
    }
    drain_bench_run_ms(&bench, 10);
    atomic_store(&processes[0].shared->end_status, 7);
    atomic_store(&processes[0].shared->end_kind, NM_PROCESS_EXIT + 1);
    nm_drain_reaped(bench.drain, mortals[1].pid, 9, 0); /* a wait status: killed by signal 9 */
    /* The third was replaced: a younger process file has its pid and start. */
    hand_process_join(&processes[3], bench.folder_path, mortals[2].pid, mortals[2].start_time);
    drain_bench_run_ms(&bench, 10);
    for (int i = 0; i < 3; i++)
        hand_mortal_end(&mortals[i]);
    drain_bench_run_ms(&bench, 300);
    drain_bench_finish(&bench, &content);

    ck_assert_uint_eq(end_of(&content, 1)->detail, NM_PROCESS_EXIT);
    ck_assert_int_eq(end_of(&content, 1)->error_code, 7);
    ck_assert_uint_eq(end_of(&content, 2)->detail, NM_PROCESS_SIGNAL);
    ck_assert_int_eq(end_of(&content, 2)->error_code, 9);
    ck_assert_uint_eq(end_of(&content, 3)->detail, NM_PROCESS_EXEC);
    ck_assert_uint_eq(end_of(&content, 4)->detail, NM_PROCESS_SIGNAL);
    ck_assert_int_eq(end_of(&content, 4)->error_code, -1);
    const nm_definition *definition = trace_content_find(&content, NM_DEFINE_PROCESS, 1);
    ck_assert(trace_content_text_is(&content, definition->process.command, "hand made"));
    ck_assert_int_eq(definition->process.pid, mortals[0].pid);
    trace_content_free(&content);
    for (int i = 0; i < 4; i++)
        hand_process_leave(&processes[i]);
    drain_bench_close(&bench);
}
END_TEST

START_TEST(an_ended_process_leaves_no_files_behind)
{
    hand_mortal mortal;
    char path[256];

    drain_bench_open(&bench);
    open_with_mortal(&mortal);
    hand_alloc(&first, 0, 0, 1, 1, 0);
    drain_bench_run_ms(&bench, 10);
    hand_mortal_end(&mortal);
    snprintf(path, sizeof path, "%s/p.1", bench.folder_path);
    for (int i = 0; i < 100 && access(path, F_OK) == 0; i++)
        drain_bench_run_ms(&bench, 50);
    snprintf(path, sizeof path, "%s/r.1", bench.folder_path);
    ck_assert_int_ne(access(path, F_OK), 0);
    snprintf(path, sizeof path, "%s/p.1", bench.folder_path);
    ck_assert_int_ne(access(path, F_OK), 0);
    hand_ring_unmap(&first);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}
END_TEST

/* A pid namespace of its own gives a process numbers that mean nothing here. */
START_TEST(a_process_that_cannot_be_seen_is_not_taken_for_dead)
{
    trace_content content;

    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, INT32_MAX, 1);
    hand_ring_make(&first, &process, SLOTS, 1, "elsewhere");
    hand_alloc(&first, 0, 0, 1, 1, 0);
    drain_bench_run_ms(&bench, 300);
    ck_assert_uint_eq(nm_drain_live_count(bench.drain), 1);
    hand_alloc(&first, 0, 0, 2, 1, 0);
    drain_bench_run_ms(&bench, 10);
    atomic_store(&process.shared->end_kind, NM_PROCESS_EXIT + 1);
    drain_bench_run_ms(&bench, 300);
    ck_assert_uint_eq(nm_drain_live_count(bench.drain), 0);
    drain_bench_finish(&bench, &content);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), 2);
    ck_assert_uint_eq(end_of(&content, 1)->detail, NM_PROCESS_EXIT);
    trace_content_free(&content);
    hand_ring_unmap(&first);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}
END_TEST

/* A longjmp out of a signal handler, or a cancelled thread. */
START_TEST(a_slot_left_for_good_is_given_up_after_a_second)
{
    trace_content content;
    size_t count;
    open_with_two_rings();

    hand_claim(&first, 1);
    for (int i = 0; i < 10; i++) {
        hand_alloc(&first, 0, 0, 1, 1, 0);
        drain_bench_run_ms(&bench, 130);
    }
    drain_bench_finish(&bench, &content);
    const nm_event **losses = events_of(&content, NM_EVENT_LOSS, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(losses[0]->detail, NM_LOSS_UNREADABLE);
    free(losses);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), 10);
    trace_content_free(&content);
    close_all();
}
END_TEST

/* The thread itself knows that the calls which had claimed the slots are gone. */
START_TEST(abandoned_slots_are_not_waited_for)
{
    nm_drain_report before, after;
    trace_content content;
    size_t count;
    open_with_two_rings();

    drain_bench_run_ms(&bench, 20);
    nm_drain_tell(bench.drain, &before);
    hand_publish(&first, hand_claim(&first, 3), NM_RING_ABANDONED, (uint64_t[3 * 7]){0}, 3 * 7 * sizeof(uint64_t));
    hand_alloc(&first, 0, 0, 1, 1, 0);
    drain_bench_run_ms(&bench, 50);
    nm_drain_tell(bench.drain, &after);
    ck_assert_uint_eq(after.event_count, before.event_count + 1);
    drain_bench_finish(&bench, &content);
    const nm_event **losses = events_of(&content, NM_EVENT_LOSS, &count);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(losses[0]->detail, NM_LOSS_UNREADABLE);
    ck_assert_int_eq(losses[0]->number, 1);
    free(losses);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), 1);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(nonsense_in_a_ring_is_counted_and_hurts_nothing)
{
    trace_content content;
    open_with_two_rings();

    uint64_t junk[7] = {hand_ticks(&first), UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX};
    hand_publish(&first, hand_claim(&first, 1), 60, junk, sizeof junk);             /* no such kind */
    hand_publish(&first, hand_claim(&first, 1), NM_EVENT_COPY, junk, sizeof junk);  /* too short for its kind */
    hand_publish(&first, hand_claim(&first, 1), NM_RING_STACK, junk, sizeof junk);  /* endless depth */
    hand_publish(&first, hand_claim(&first, 1), NM_RING_MODULE, junk, sizeof junk); /* endless text */
    hand_publish(&first, hand_claim(&first, 1), NM_EVENT_ALLOC, junk, sizeof junk); /* all bits set */
    hand_alloc(&first, UINT64_MAX / 2 + hand_ticks(&first), 0, 1, 1, 0);            /* a stamp of the far future */
    hand_alloc(&first, 0, 0, 2, 1, 0);
    atomic_store(&second.ring->head, UINT64_MAX - 3);
    drain_bench_run_ms(&bench, 50);
    drain_bench_finish(&bench, &content);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_ALLOC), 3);
    ck_assert_uint_eq(count_of(&content, NM_EVENT_LOSS), 3);
    trace_content_free(&content);
    close_all();
}
END_TEST

START_TEST(time_runs_evenly_through_measurements)
{
    drain_bench_open(&bench);
    nm_ring_session *session = bench.folder.session;
    uint64_t begin = nm_clock_ticks(session->clock_kind);
    int64_t begin_ns = nm_clock_monotonic_ns(), previous = INT64_MIN;

    while (nm_clock_monotonic_ns() - begin_ns < 700000000) { /* three measurements fall into it */
        uint64_t ticks = nm_clock_ticks(session->clock_kind);
        int64_t ns = nm_clock_to_ns(session, ticks);

        ck_assert_int_ge(ns, previous);
        previous = ns;
        drain_bench_pass(&bench);
    }
    int64_t passed_ns = nm_clock_monotonic_ns() - begin_ns;
    int64_t shown_ns = nm_clock_to_ns(session, nm_clock_ticks(session->clock_kind)) - nm_clock_to_ns(session, begin);
    ck_assert_int_lt(llabs(shown_ns - passed_ns), 200000); /* 0.03 %, most of it the scheduler's */
    drain_bench_close(&bench);
}
END_TEST

TEST_SUITE(test_drain)
{
    Suite *suite = suite_create("drain");
    TCase *tests = tcase_create("drain");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, every_kind_of_record_becomes_its_event);
    tcase_add_test(tests, equal_stamps_put_frees_first_and_keep_the_order_of_a_thread);
    tcase_add_test(tests, racing_threads_come_out_in_the_order_of_their_stamps);
    tcase_add_test(tests, a_ring_that_becomes_shorter_on_its_first_lap_is_read_on);
    tcase_add_test(tests, an_open_slot_holds_back_what_is_younger);
    tcase_add_test(tests, an_open_slot_does_not_hold_back_what_is_older);
    tcase_add_test(tests, after_a_second_a_slot_is_not_waited_for_and_comes_late);
    tcase_add_test(tests, a_signal_handler_between_claim_and_stamp_is_put_in_order);
    tcase_add_test(tests, the_open_slots_of_a_killed_thread_are_counted_and_skipped);
    tcase_add_test(tests, a_small_ring_goes_round_many_times);
    tcase_add_test(tests, the_next_thread_of_a_ring_counts_its_stacks_anew);
    tcase_add_test(tests, losses_are_said_once_with_their_number);
    tcase_add_test(tests, a_disk_that_is_full_for_a_while_costs_counted_events_and_no_others);
    tcase_add_test(tests, a_disk_that_stays_full_leaves_whole_blocks_and_an_exact_report);
    tcase_add_test(tests, a_full_disk_is_noted_in_the_file_before_a_ring_goes_on);
    tcase_add_test(tests, what_a_full_disk_takes_is_in_the_last_block_to_the_event);
    tcase_add_test(tests, processes_end_as_they_or_the_kernel_say);
    tcase_add_test(tests, an_ended_process_leaves_no_files_behind);
    tcase_add_test(tests, a_process_that_cannot_be_seen_is_not_taken_for_dead);
    tcase_add_test(tests, a_slot_left_for_good_is_given_up_after_a_second);
    tcase_add_test(tests, abandoned_slots_are_not_waited_for);
    tcase_add_test(tests, nonsense_in_a_ring_is_counted_and_hurts_nothing);
    tcase_add_test(tests, time_runs_evenly_through_measurements);
    suite_add_tcase(suite, tests);
    return suite;
}
