/* SPDX-License-Identifier: Apache-2.0
 *
 * Recovery of rings: the drain stops at every kind of moment (it is simply not called any more, its file is cut, its tails
 * are set back), and what the trace and the rings hold together must be everything, once.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/recover.h"
#include "support/drain_bench.h"
#include "support/suites.h"

#define SLOTS 4096

static drain_bench bench;
static hand_process process;
static hand_ring rings[2];

/* The process is dead by the time of the recovery, so that the trace can be ended; for the drain too, which does not matter
 * to it before it has ended it: tests here stop it earlier. */
static void open_recording(bool is_alive)
{
    hand_mortal mortal = {.pid = getpid(), .start_time = hand_start_time(getpid())};

    if (!is_alive) {
        hand_mortal_begin(&mortal);
        hand_mortal_end(&mortal);
    }
    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, mortal.pid, mortal.start_time);
    for (int i = 0; i < 2; i++)
        hand_ring_make(&rings[i], &process, SLOTS, mortal.pid, i == 0 ? "first" : "second");
}

static void close_recording(void)
{
    for (int i = 0; i < 2; i++)
        hand_ring_unmap(&rings[i]);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}

/* Event number k: address k, with a stack of its own for every tenth number. */
static void write_events(uint64_t from, uint64_t to)
{
    for (uint64_t k = from; k < to; k++) {
        hand_ring *ring = &rings[k % 2];
        uint32_t stack = (uint32_t)(k / 20 + 1);

        if (k % 20 < 2)
            hand_stack(ring, stack, (uint64_t[]){0x10001 + k / 20 * 16, 0x10002, 0x10003}, 3);
        hand_alloc(ring, 0, 1, k, k, stack);
    }
}

static void run_until_written(void)
{
    drain_bench_run_until_written(&bench, &rings[0]);
    drain_bench_run_until_written(&bench, &rings[1]);
}

static void begin_events(void)
{
    hand_module(&rings[0], 0x10000, 0x100000, "/lib/program");
    hand_heap(&rings[0], 1, NM_LEVEL_POOL, 1, "pool");
}

/* The trace as a reader sees it: the file up to its last whole block, and the recovered blocks behind. */
static void read_recovered(trace_content *content, nm_bytes trace, nm_recovery *recovery)
{
    nm_buffer whole = {0};
    nm_error err = {0};

    ck_assert_msg(nm_recover_rings(trace, recovery, &err) == NM_OK, "%s", err.text);
    nm_buffer_append(&whole, trace.data, recovery->trace_bytes, NULL);
    nm_buffer_append(&whole, recovery->blocks.data, recovery->blocks.len, NULL);
    trace_content_read(content, (nm_bytes){whole.data, whole.len});
    ck_assert_uint_eq(content->whole_bytes, whole.len);
    nm_buffer_free(&whole);
}

static void check_stack(const trace_content *content, const nm_event *event)
{
    uint64_t offset = event->address / 20 * 16; /* of the innermost frame, by write_events */
    const nm_definition *stack = trace_content_find(content, NM_DEFINE_STACK, event->stack_id);

    ck_assert_msg(stack != NULL, "event %llu has stack %llu", (unsigned long long)event->address,
                  (unsigned long long)event->stack_id);
    const nm_definition *frame = trace_content_find(content, NM_DEFINE_FRAME, stack->stack.frame_id);
    ck_assert_uint_eq(frame->frame.offset, offset);
    ck_assert(trace_content_text_is(content, frame->frame.module, "/lib/program"));
}

/* Events 0 to `count` are there, each once, in order, with the stacks and the heap that they were written with. */
static void check_events(const trace_content *content, uint64_t count)
{
    uint64_t next = 0;

    for (size_t i = 0; i < content->event_count; i++) {
        const nm_event *event = &content->events[i];

        if (event->kind != NM_EVENT_ALLOC)
            continue;
        ck_assert_msg(event->address == next, "event %llu comes where %llu should", (unsigned long long)event->address,
                      (unsigned long long)next);
        ck_assert_uint_eq(event->flags, 0);
        ck_assert_uint_eq(event->thread_id, rings[next % 2].thread);
        if (next % 97 == 0)
            check_stack(content, event);
        const nm_definition *heap = trace_content_find(content, NM_DEFINE_HEAP, event->heap_id);
        ck_assert(heap != NULL && trace_content_text_is(content, heap->heap.name, "pool"));
        next++;
    }
    ck_assert_uint_eq(next, count);
}

static void recover_and_check(uint64_t count)
{
    nm_bytes trace = trace_load(bench.trace_path);
    nm_recovery recovery;
    trace_content content;

    read_recovered(&content, trace, &recovery);
    check_events(&content, count);
    trace_content_free(&content);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
}

START_TEST(a_drain_that_never_wrote_an_event_is_made_up_for)
{
    nm_bytes trace;
    nm_recovery recovery;
    trace_content content;

    open_recording(false);
    begin_events();
    write_events(0, 1000);
    trace = trace_load(bench.trace_path);
    read_recovered(&content, trace, &recovery);

    check_events(&content, 1000);
    ck_assert(recovery.is_needed);
    ck_assert(recovery.has_rings);
    ck_assert(!recovery.is_running);
    ck_assert_uint_eq(recovery.events_unrecovered, 0);
    ck_assert_uint_eq(content.last_flags, NM_BLOCK_FINAL | NM_BLOCK_RECOVERED);
    ck_assert_uint_eq(content.events[content.event_count - 1].kind, NM_EVENT_PROCESS_END);
    const nm_definition *thread = trace_content_find(&content, NM_DEFINE_THREAD, rings[1].thread);
    ck_assert(trace_content_text_is(&content, thread->thread.name, "second"));
    trace_content_free(&content);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
    close_recording();
}
END_TEST

START_TEST(what_was_written_is_not_taken_again)
{
    open_recording(true);
    begin_events();
    write_events(0, 1000);
    run_until_written();
    ck_assert_uint_gt(atomic_load(&rings[0].ring->tail), 400);
    write_events(1000, 1500);
    drain_bench_run_ms(&bench, 10); /* released into a block that is not written */
    write_events(1500, 2000);
    recover_and_check(2000);
    close_recording();
}
END_TEST

START_TEST(a_drain_killed_before_it_moved_the_tails_writes_nothing_twice)
{
    uint64_t tails[2];

    open_recording(true);
    begin_events();
    write_events(0, 600);
    run_until_written();
    for (int i = 0; i < 2; i++)
        tails[i] = atomic_load(&rings[i].ring->tail);
    write_events(600, 1200);
    run_until_written();
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_gt(atomic_load(&rings[i].ring->tail), tails[i]);
        atomic_store(&rings[i].ring->tail, tails[i]);
    }
    write_events(1200, 1500);
    recover_and_check(1500);
    close_recording();
}
END_TEST

/* The block is appended before the tails move: with the rings of that moment, the file may end anywhere in it. */
START_TEST(a_block_cut_at_every_byte_is_made_up_for_by_the_rings)
{
    uint64_t tails[2];
    trace_content content;
    nm_recovery recovery;

    open_recording(true);
    begin_events();
    write_events(0, 100);
    run_until_written();
    nm_bytes before = trace_load(bench.trace_path);
    for (int i = 0; i < 2; i++)
        tails[i] = atomic_load(&rings[i].ring->tail);
    write_events(100, 300);
    run_until_written();
    nm_bytes after = trace_load(bench.trace_path);
    ck_assert_uint_gt(after.len, before.len);
    for (int i = 0; i < 2; i++)
        atomic_store(&rings[i].ring->tail, tails[i]);
    write_events(300, 320);

    for (size_t len = before.len; len <= after.len; len++) {
        read_recovered(&content, (nm_bytes){after.data, len}, &recovery);
        ck_assert_uint_eq(recovery.trace_bytes, len == after.len ? after.len : before.len);
        check_events(&content, 320);
        trace_content_free(&content);
        nm_recovery_free(&recovery);
    }
    free((void *)before.data);
    free((void *)after.data);
    close_recording();
}
END_TEST

START_TEST(a_record_taken_before_an_older_one_is_not_taken_again)
{
    trace_content content;
    nm_recovery recovery;

    open_recording(true);
    begin_events();
    /* A signal handler publishes first; its record is released while its thread's own is still younger than the watermark. */
    uint64_t outer = hand_claim(&rings[0], 1);
    hand_alloc(&rings[0], 0, 1, 0, 0, 0);
    sleep_ms(20);
    nm_ring_alloc alloc = {.ticks = hand_ticks(&rings[0]), .address = 1, .where = nm_ring_where(1, 0, 0)};
    hand_publish(&rings[0], outer, NM_EVENT_ALLOC, &alloc, sizeof alloc);
    drain_bench_pass(&bench);
    nm_bytes trace = trace_load(bench.trace_path);
    read_recovered(&content, trace, &recovery);
    uint64_t allocs = 0;
    for (size_t i = 0; i < content.event_count; i++)
        allocs += content.events[i].kind == NM_EVENT_ALLOC;
    ck_assert_uint_eq(allocs, 2);
    trace_content_free(&content);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
    close_recording();
}
END_TEST

START_TEST(the_open_slot_of_a_killed_program_is_unreadable_once)
{
    nm_recovery recovery;
    trace_content content;

    open_recording(false);
    begin_events();
    write_events(0, 100);
    hand_claim(&rings[1], 1);
    nm_bytes trace = trace_load(bench.trace_path);
    read_recovered(&content, trace, &recovery);
    check_events(&content, 100);
    ck_assert_uint_eq(recovery.events_unrecovered, 1);
    trace_content_free(&content);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
    close_recording();
}
END_TEST

/* ---- What is lost -------------------------------------------------------------------------------------------------- */

#define PENDING      30
#define FLUSH_NS_MAX 60000000000

static hand_mortal mortal;

/*
 * A block stands in the trace, and while it was made the first ring held PENDING events that had been read but had to wait
 * for the second one's open slot. Then the drain is not called any more, and the process dies. One pass meets the open slot and
 * ends the block: it has waited for no time then, however long a pass takes.
 */
static void open_with_pending(void)
{
    hand_mortal_begin(&mortal);
    drain_bench_open_for_flushes(&bench);
    hand_process_join(&process, bench.folder_path, mortal.pid, mortal.start_time);
    for (int i = 0; i < 2; i++)
        hand_ring_make(&rings[i], &process, SLOTS, mortal.pid, i == 0 ? "first" : "second");
    atomic_store(&process.shared->ring_count, 2);
    begin_events();
    write_events(0, 100);
    drain_bench_flush(&bench, FLUSH_NS_MAX);
    write_events(100, 102);
    drain_bench_catch_up(&bench);
    hand_claim(&rings[1], 1);
    for (uint64_t k = 0; k < PENDING; k++)
        hand_alloc(&rings[0], 0, 1, 1000 + k, 1, 0);
    drain_bench_flush(&bench, 0);
    hand_mortal_end(&mortal);
}

static void remove_file(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s", bench.folder_path, name);
    ck_assert_int_eq(unlink(path), 0);
}

typedef struct losses {
    uint64_t number, at_least_count, event_count, pending_count;
    uint64_t thread; /* of the last that says a number */
} losses;

static losses recover_losses(nm_recovery *recovery)
{
    nm_bytes trace = trace_load(bench.trace_path);
    trace_content content;
    losses said = {0};

    read_recovered(&content, trace, recovery);
    for (size_t i = 0; i < content.event_count; i++) {
        const nm_event *event = &content.events[i];

        said.event_count += event->kind == NM_EVENT_ALLOC;
        said.pending_count += event->kind == NM_EVENT_ALLOC && event->address >= 1000;
        if (event->kind != NM_EVENT_LOSS)
            continue;
        ck_assert_uint_eq(event->detail, NM_LOSS_UNREADABLE);
        said.number += (uint64_t)event->number;
        said.at_least_count += (event->flags & NM_FLAG_AT_LEAST) != 0;
        said.thread = event->number > 0 ? event->thread_id : said.thread;
    }
    ck_assert_uint_eq(recovery->events_unrecovered, said.number);
    ck_assert_int_eq(recovery->is_at_least, said.at_least_count > 0);
    trace_content_free(&content);
    free((void *)trace.data);
    return said;
}

START_TEST(a_ring_that_is_gone_is_lost_by_what_the_trace_knows_of_it)
{
    nm_recovery recovery;

    open_with_pending();
    remove_file("r.1");
    losses said = recover_losses(&recovery);
    ck_assert_uint_eq(said.event_count, 102);
    ck_assert_uint_eq(said.number, PENDING + 1); /* and the second ring's open slot */
    ck_assert_uint_eq(said.at_least_count, 1);   /* it may have gone on */
    nm_recovery_free(&recovery);

    remove_file("r.2"); /* of which the trace knows nothing that it has not */
    said = recover_losses(&recovery);
    ck_assert_uint_eq(said.number, PENDING);
    ck_assert_uint_eq(said.thread, rings[0].thread);
    ck_assert_uint_eq(said.at_least_count, 2);
    nm_recovery_free(&recovery);
    close_recording();
}
END_TEST

/* Garbage at the front, in the slots, and a file that is too short. */
START_TEST(a_ring_of_nonsense_is_lost_by_what_the_trace_knows_of_it)
{
    uint64_t tail;
    nm_recovery recovery;
    losses said;

    open_with_pending();
    tail = atomic_load(&rings[0].ring->tail);
    for (uint64_t k = 0; k < PENDING - 2; k++)
        atomic_store(&nm_ring_slot(rings[0].ring, tail + 1 + k)->valid, 0xabababababababab);
    said = recover_losses(&recovery);
    ck_assert_uint_eq(said.pending_count, 2);
    ck_assert_uint_eq(said.number, PENDING - 2 + 1);
    ck_assert_uint_eq(said.at_least_count, 0); /* all of it is known */
    nm_recovery_free(&recovery);

    atomic_store(&rings[0].ring->head, 1);
    said = recover_losses(&recovery);
    ck_assert_uint_eq(said.number, PENDING + 1);
    ck_assert_uint_eq(said.at_least_count, 1);
    nm_recovery_free(&recovery);

    rings[0].ring->magic = 0x6162636465666768;
    said = recover_losses(&recovery);
    ck_assert_uint_eq(said.number, PENDING + 1);
    ck_assert_uint_eq(said.at_least_count, 1);
    nm_recovery_free(&recovery);
    close_recording();
}
END_TEST

/* What its process left open is not waited for; what is behind it is found. */
START_TEST(a_process_whose_file_is_gone_is_counted_and_its_rings_are_read)
{
    nm_recovery recovery;

    open_with_pending();
    hand_alloc(&rings[1], 0, 1, 2000, 1, 0);
    remove_file("p.1");
    losses said = recover_losses(&recovery);
    ck_assert_uint_eq(said.pending_count, PENDING + 1);
    ck_assert_uint_eq(said.number, 1);
    ck_assert_uint_eq(recovery.processes_unjoined, 1);
    nm_recovery_free(&recovery);
    close_recording();
}
END_TEST

/* Not into a block: its disk was full when it was killed. */
START_TEST(what_a_killed_drain_let_go_is_said_to_be_missing)
{
    nm_recovery recovery;

    open_with_pending();
    atomic_store(&rings[0].ring->tail, atomic_load(&rings[0].ring->head));
    losses said = recover_losses(&recovery);
    ck_assert_uint_eq(said.pending_count, 0);
    ck_assert_uint_eq(said.number, 2); /* at least one, and the second ring's open slot */
    ck_assert_uint_eq(said.at_least_count, 1);
    nm_recovery_free(&recovery);
    close_recording();
}
END_TEST

START_TEST(losses_are_said_once_whoever_says_them)
{
    nm_recovery recovery;
    trace_content content;
    uint64_t said = 0;

    open_recording(false);
    begin_events();
    write_events(0, 100);
    hand_loss(&rings[0], hand_ticks(&rings[0]), hand_ticks(&rings[0]), 5);
    atomic_store(&rings[0].ring->dropped_count, 9);
    atomic_store(&process.shared->dropped_count, 2);
    nm_bytes trace = trace_load(bench.trace_path);
    read_recovered(&content, trace, &recovery);
    for (size_t i = 0; i < content.event_count; i++)
        if (content.events[i].kind == NM_EVENT_LOSS)
            said += (uint64_t)content.events[i].number;
    ck_assert_uint_eq(said, 11);
    trace_content_free(&content);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
    close_recording();
}
END_TEST

START_TEST(a_running_program_is_read_but_its_trace_is_not_ended)
{
    nm_recovery recovery;
    trace_content content;

    open_recording(true);
    begin_events();
    write_events(0, 100);
    nm_bytes trace = trace_load(bench.trace_path);
    read_recovered(&content, trace, &recovery);
    check_events(&content, 100);
    ck_assert(recovery.is_running);
    ck_assert_uint_eq(content.last_flags, NM_BLOCK_RECOVERED);
    ck_assert_uint_eq(content.event_count, 100);
    trace_content_free(&content);
    nm_recovery_free(&recovery);
    recover_and_check(100); /* it took nothing away */
    free((void *)trace.data);
    close_recording();
}
END_TEST

START_TEST(a_whole_trace_needs_nothing)
{
    trace_content content;
    nm_recovery recovery;
    nm_error err;

    open_recording(true);
    begin_events();
    write_events(0, 10);
    drain_bench_finish(&bench, &content);
    nm_bytes trace = trace_load(bench.trace_path);
    ck_assert_int_eq(nm_recover_rings(trace, &recovery, &err), NM_OK);
    ck_assert(!recovery.is_needed);
    ck_assert_uint_eq(recovery.blocks.len, 0);
    ck_assert_uint_eq(recovery.trace_bytes, trace.len);
    nm_recovery_free(&recovery);
    trace_content_free(&content);
    free((void *)trace.data);
    close_recording();
}
END_TEST

START_TEST(rings_of_another_recording_are_left_alone)
{
    nm_recovery recovery;
    nm_error err;

    open_recording(false);
    begin_events();
    write_events(0, 10);
    nm_bytes trace = trace_load(bench.trace_path);
    bench.folder.session->trace_id[3] ^= 1;
    ck_assert_int_eq(nm_recover_rings(trace, &recovery, &err), NM_OK);
    ck_assert(recovery.is_needed);
    ck_assert(!recovery.has_rings);
    ck_assert_uint_eq(recovery.blocks.len, 0);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
    close_recording();
}
END_TEST

static uint64_t read_bytes; /* by all calls */

static ssize_t counting_read(int fd, void *data, size_t len)
{
    ssize_t got = read(fd, data, len);

    read_bytes += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* Recovers 10 events of two rings, of which one is said to be so long; how many come back. */
static uint64_t recover_lengthened(int64_t ring_bytes)
{
    nm_recovery recovery;
    char path[256];
    nm_error err = {0};

    open_recording(false);
    begin_events();
    write_events(0, 10);
    nm_bytes trace = trace_load(bench.trace_path);
    snprintf(path, sizeof path, "%s/r.2", bench.folder_path);
    ck_assert_int_eq(truncate(path, ring_bytes), 0);
    read_bytes = 0;
    nm_io.read = counting_read;
    ck_assert_msg(nm_recover_rings(trace, &recovery, &err) == NM_OK, "%s", err.text);
    nm_io.read = read;
    ck_assert_uint_lt(read_bytes, 8 << 20);
    uint64_t recovered = recovery.events_recovered;
    nm_recovery_free(&recovery);
    free((void *)trace.data);
    close_recording();
    return recovered;
}

/* What is no data is not read, and a file that no ring can be is none. */
START_TEST(a_ring_costs_what_it_holds)
{
    uint64_t both = recover_lengthened(NM_RING_HEADER_BYTES + SLOTS * NM_RING_SLOT_BYTES);

    ck_assert_uint_ge(both, 10);
    ck_assert_uint_eq(recover_lengthened(NM_RING_BYTES_MAX), both);
    uint64_t one = recover_lengthened(INT64_C(100) << 30);
    ck_assert(one >= 5 && one < both);
}
END_TEST

START_TEST(bytes_that_are_no_trace_are_refused_or_need_nothing)
{
    static const char text[] = "not a trace at all, but some bytes of text that go on for a while";
    nm_recovery recovery;
    nm_error err;

    for (size_t len = 0; len < sizeof text; len++) {
        ck_assert_int_eq(nm_recover_rings((nm_bytes){(const uint8_t *)text, len}, &recovery, &err), NM_OK);
        ck_assert(!recovery.is_needed);
        ck_assert_uint_eq(recovery.trace_bytes, 0);
        nm_recovery_free(&recovery);
    }
}
END_TEST

TEST_SUITE(test_recover)
{
    Suite *suite = suite_create("recover");
    TCase *tests = tcase_create("recover");

    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, a_drain_that_never_wrote_an_event_is_made_up_for);
    tcase_add_test(tests, what_was_written_is_not_taken_again);
    tcase_add_test(tests, a_drain_killed_before_it_moved_the_tails_writes_nothing_twice);
    tcase_add_test(tests, a_block_cut_at_every_byte_is_made_up_for_by_the_rings);
    tcase_add_test(tests, a_record_taken_before_an_older_one_is_not_taken_again);
    tcase_add_test(tests, the_open_slot_of_a_killed_program_is_unreadable_once);
    tcase_add_test(tests, a_ring_that_is_gone_is_lost_by_what_the_trace_knows_of_it);
    tcase_add_test(tests, a_ring_of_nonsense_is_lost_by_what_the_trace_knows_of_it);
    tcase_add_test(tests, a_process_whose_file_is_gone_is_counted_and_its_rings_are_read);
    tcase_add_test(tests, what_a_killed_drain_let_go_is_said_to_be_missing);
    tcase_add_test(tests, losses_are_said_once_whoever_says_them);
    tcase_add_test(tests, a_running_program_is_read_but_its_trace_is_not_ended);
    tcase_add_test(tests, a_whole_trace_needs_nothing);
    tcase_add_test(tests, rings_of_another_recording_are_left_alone);
    tcase_add_test(tests, a_ring_costs_what_it_holds);
    tcase_add_test(tests, bytes_that_are_no_trace_are_refused_or_need_nothing);
    suite_add_tcase(suite, tests);
    return suite;
}
