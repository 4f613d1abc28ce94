/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings that fill up while the drain has no time: what is in the second file comes into the trace once, in the order of stamps,
 * whatever is killed between which two steps; and where there is no room for such a file, nothing else becomes of it.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/recover.h"
#include "drain/spill.h"
#include "support/drain_bench.h"
#include "support/suites.h"

#define SLOTS  4096
#define FILLED (SLOTS / 16 * 15) /* more than what a thread is taken to wait at */
#define RINGS  2

static drain_bench bench;
static hand_process process;
static hand_ring rings[RINGS],
    holder; /* the third one's thread stops in the middle of a record, so that all wait for it */
static nm_ring_spill *spills[RINGS];
static uint64_t next_event;

static void open_rings(uint64_t slots)
{
    hand_mortal mortal;

    next_event = 0;
    memset(spills, 0, sizeof spills);
    hand_mortal_begin(&mortal);
    hand_mortal_end(&mortal);
    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, mortal.pid, mortal.start_time);
    for (int i = 0; i < RINGS; i++)
        hand_ring_make(&rings[i], &process, slots, mortal.pid, "thread");
    hand_ring_make(&holder, &process, slots, mortal.pid, "holder");
}

static void close_rings(void)
{
    for (int i = 0; i < RINGS; i++) {
        if (spills[i] != NULL)
            munmap(spills[i], NM_RING_HEADER_BYTES);
        hand_ring_unmap(&rings[i]);
    }
    hand_ring_unmap(&holder);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}

static void spill_path(int ring, char path[256])
{
    snprintf(path, 256, "%s/s.%llu", bench.folder_path, (unsigned long long)rings[ring].ring->ring_id);
}

static bool has_spill(int ring)
{
    char path[256];

    spill_path(ring, path);
    return access(path, F_OK) == 0;
}

static nm_ring_spill *spill_of(int ring)
{
    char path[256];

    if (spills[ring] == NULL) {
        spill_path(ring, path);
        int fd = open(path, O_RDWR);
        ck_assert_int_ge(fd, 0);
        spills[ring] = mmap(NULL, NM_RING_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        ck_assert_ptr_ne(spills[ring], MAP_FAILED);
        close(fd);
    }
    return spills[ring];
}

/* Event k has address k, by turns in both rings; some records take several slots. */
static void write_events(uint64_t slots_each)
{
    uint64_t until[RINGS];

    for (int i = 0; i < RINGS; i++)
        until[i] = atomic_load(&rings[i].ring->head) + slots_each;
    while (atomic_load(&rings[next_event % RINGS].ring->head) + 8 < until[next_event % RINGS]) {
        if (next_event % 500 == 0)
            hand_mark(
                &rings[0],
                "a record that takes more than one slot, and lies across every border that there is now and then");
        hand_alloc(&rings[next_event % RINGS], 0, 0, next_event, 1, 0);
        next_event++;
    }
}

/* Both rings are full, and are copied in the next pass. */
static void fill_and_spill(void)
{
    uint64_t heads[RINGS], held = hand_claim(&holder, 1);
    nm_ring_number step = {.ticks = hand_ticks(&holder)};

    write_events(FILLED - (atomic_load(&rings[0].ring->head) - atomic_load(&rings[0].ring->tail)));
    for (int i = 0; i < RINGS; i++)
        heads[i] = atomic_load(&rings[i].ring->head);
    drain_bench_pass(&bench);
    for (int i = 0; i < RINGS; i++) {
        ck_assert_uint_eq(atomic_load(&rings[i].ring->tail), heads[i]);
        ck_assert(has_spill(i));
    }
    hand_publish(&holder, held, NM_EVENT_STEP, &step, sizeof step);
}

/* What the rings and their second files hold. */
static void run_until_written(void)
{
    for (int i = 0; i < RINGS; i++) {
        for (int pass = 0;
             pass < 1000 && has_spill(i) && atomic_load(&spill_of(i)->tail) < atomic_load(&spill_of(i)->end); pass++)
            drain_bench_run_ms(&bench, 20);
        drain_bench_run_until_written(&bench, &rings[i]);
    }
}

static void check_order(const trace_content *content)
{
    uint64_t next = 0, marks = 0;
    int64_t before_ns = 0;

    for (size_t i = 0; i < content->event_count; i++) {
        const nm_event *event = &content->events[i];

        ck_assert_uint_ne(event->kind, NM_EVENT_LOSS);
        marks += event->kind == NM_EVENT_MARK;
        if (event->kind != NM_EVENT_ALLOC)
            continue;
        ck_assert_msg(event->address == next, "event %llu comes where %llu should", (unsigned long long)event->address,
                      (unsigned long long)next);
        ck_assert_uint_eq(event->flags, 0);
        ck_assert_int_ge(event->time_ns, before_ns);
        before_ns = event->time_ns;
        next++;
    }
    ck_assert_uint_eq(next, next_event);
    ck_assert_uint_eq(marks, (next_event + 499) / 500);
}

static void recover_and_check(void)
{
    nm_bytes trace = trace_load(bench.trace_path);
    nm_buffer whole = {0};
    nm_recovery recovery;
    trace_content content;
    nm_error err = {0};

    ck_assert_msg(nm_recover_rings(trace, &recovery, &err) == NM_OK, "%s", err.text);
    ck_assert_uint_eq(recovery.events_unrecovered, 0);
    nm_buffer_append(&whole, trace.data, recovery.trace_bytes, NULL);
    nm_buffer_append(&whole, recovery.blocks.data, recovery.blocks.len, NULL);
    trace_content_read(&content, (nm_bytes){whole.data, whole.len});
    check_order(&content);
    trace_content_free(&content);
    nm_buffer_free(&whole);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
}

static void finish_and_check(void)
{
    trace_content content;

    drain_bench_finish(&bench, &content);
    check_order(&content);
    trace_content_free(&content);
}

/* ---- Nobody is killed ---------------------------------------------------------------------------------------------- */

START_TEST(what_was_spilled_comes_in_the_order_of_stamps)
{
    open_rings(SLOTS);
    for (int i = 0; i < 40; i++)
        fill_and_spill();
    finish_and_check();
    close_rings();
}
END_TEST

static uint64_t data_bytes(int ring)
{
    struct stat info;
    char path[256];

    spill_path(ring, path);
    ck_assert_int_eq(stat(path, &info), 0);
    return (uint64_t)info.st_blocks * 512;
}

START_TEST(memory_of_what_is_written_is_given_back_and_the_file_is_used_again)
{
    open_rings(SLOTS);
    for (int i = 0; i < 3; i++) {
        fill_and_spill();
        fill_and_spill();
        ck_assert_uint_gt(data_bytes(0), SLOTS * NM_RING_SLOT_BYTES);
        run_until_written();
        ck_assert_uint_le(data_bytes(0), SLOTS * NM_RING_SLOT_BYTES / 4);
        ck_assert_uint_eq(atomic_load(&spill_of(0)->tail), atomic_load(&spill_of(0)->end));
        write_events(100); /* these are read from the ring again */
        run_until_written();
        ck_assert_uint_eq(atomic_load(&rings[0].ring->tail), atomic_load(&rings[0].ring->head));
        ck_assert_uint_gt(atomic_load(&rings[0].ring->tail), atomic_load(&spill_of(0)->end));
    }
    finish_and_check();
    close_rings();
}
END_TEST

/* A part of what was spilled is written; the ring has all the room that it got. */
START_TEST(the_ring_keeps_its_room_while_what_was_spilled_is_written)
{
    open_rings(SLOTS);
    fill_and_spill();
    drain_bench_run_ms(&bench, 5);
    uint64_t held = hand_claim(&holder, 1);
    nm_ring_number step = {.ticks = hand_ticks(&holder)};
    write_events(SLOTS / 16 * 15);
    drain_bench_pass(&bench);
    uint64_t tail = atomic_load(&rings[0].ring->tail);
    drain_bench_run_ms(&bench, 100); /* blocks are written meanwhile, without what waits for the open slot */
    ck_assert_uint_gt(atomic_load(&spill_of(0)->tail), 0);
    ck_assert_uint_lt(atomic_load(&spill_of(0)->tail), atomic_load(&spill_of(0)->end));
    ck_assert_uint_eq(atomic_load(&rings[0].ring->tail), tail);
    hand_publish(&holder, held, NM_EVENT_STEP, &step, sizeof step);
    finish_and_check();
    close_rings();
}
END_TEST

/* A thread was killed when it had a number, and no ring yet. */
START_TEST(a_ring_that_never_comes_does_not_hold_what_was_spilled)
{
    open_rings(SLOTS);
    atomic_fetch_add(&bench.folder.session->ring_count, 1);
    for (int i = 0; i < 12; i++) /* more than is read before any of it is written */
        fill_and_spill();
    drain_bench_run_ms(&bench, 1500); /* longer than one that is missing is waited for */
    for (int i = 0; i < RINGS; i++)
        ck_assert_uint_eq(atomic_load(&spill_of(i)->tail), atomic_load(&spill_of(i)->end));
    finish_and_check();
    close_rings();
}
END_TEST

START_TEST(rings_that_are_read_in_time_are_not_spilled)
{
    open_rings(SLOTS);
    for (int i = 0; i < 4; i++) {
        write_events(SLOTS / 8 * 6);
        run_until_written();
    }
    for (int i = 0; i < RINGS; i++)
        ck_assert(!has_spill(i));
    finish_and_check();
    close_rings();
}
END_TEST

/* What is behind it can be copied when it is published, and nothing younger comes before it. */
START_TEST(an_open_slot_is_not_copied)
{
    open_rings(SLOTS);
    write_events(SLOTS / 2);
    uint64_t open = hand_claim(&rings[0], 1), number = next_event;
    nm_ring_alloc alloc = {.ticks = hand_ticks(&rings[0]), .address = number, .where = 0};
    next_event += 2; /* the next ones of the same ring are behind it */
    while (atomic_load(&rings[0].ring->head) < FILLED) {
        hand_alloc(&rings[0], 0, 0, next_event - 1, 1, 0);
        next_event++;
    }
    next_event--;
    drain_bench_pass(&bench);
    ck_assert_uint_eq(atomic_load(&rings[0].ring->tail), open);
    hand_publish(&rings[0], open, NM_EVENT_ALLOC, &alloc, sizeof alloc);
    drain_bench_pass(&bench);
    trace_content content;
    drain_bench_finish(&bench, &content);
    uint64_t next = 0;
    for (size_t i = 0; i < content.event_count; i++)
        if (content.events[i].kind == NM_EVENT_ALLOC)
            ck_assert_uint_eq(content.events[i].address, next++);
    ck_assert_uint_eq(next, next_event);
    trace_content_free(&content);
    close_rings();
}
END_TEST

/* Passes that only copy have not read what a process recorded last: it has not ended for them. */
START_TEST(a_process_that_dies_while_rings_fill_up_ends_behind_its_events)
{
    hand_process other;
    hand_ring last;
    hand_mortal mortal;
    trace_content content;
    size_t ended_at = 0;

    open_rings(SLOTS);
    hand_mortal_begin(&mortal);
    hand_process_join(&other, bench.folder_path, mortal.pid, mortal.start_time);
    hand_ring_make(&last, &other, SLOTS, mortal.pid, "last");
    drain_bench_run_ms(&bench, 20);
    fill_and_spill();
    hand_mark(&last, "the last");
    hand_mortal_end(&mortal);
    for (int i = 0; i < 3; i++) {
        sleep_ms(120); /* a look at who lives comes every tenth of a second */
        fill_and_spill();
    }
    drain_bench_finish(&bench, &content);
    for (size_t i = 0; i < content.event_count; i++) {
        const nm_event *event = &content.events[i];

        if (event->kind == NM_EVENT_PROCESS_END && event->number == (int64_t)other.number)
            ended_at = i;
        if (event->thread_id == last.thread)
            ck_assert_uint_eq(ended_at, 0);
    }
    ck_assert_uint_gt(ended_at, 0);
    trace_content_free(&content);
    hand_ring_unmap(&last);
    hand_process_leave(&other);
    close_rings();
}
END_TEST

static ssize_t write_nothing(int fd, const void *data, size_t len, off_t offset)
{
    (void)fd, (void)data, (void)len, (void)offset;
    errno = ENOSPC;
    return -1;
}

START_TEST(without_room_a_ring_stays_full_and_is_read_as_always)
{
    nm_io_calls system_calls = nm_io;

    open_rings(SLOTS);
    fill_and_spill();
    nm_io.pwrite = write_nothing;
    uint64_t end = atomic_load(&spill_of(0)->end);
    write_events(FILLED);
    drain_bench_pass(&bench);
    ck_assert_uint_eq(atomic_load(&spill_of(0)->end), end);
    recover_and_check();
    nm_io = system_calls;
    drain_bench_run_until_written(&bench, &rings[0]);
    finish_and_check();
    close_rings();
}
END_TEST

START_TEST(the_first_file_that_cannot_be_made_leaves_none)
{
    nm_io_calls system_calls = nm_io;

    open_rings(SLOTS);
    nm_io.pwrite = write_nothing;
    write_events(FILLED);
    drain_bench_pass(&bench);
    nm_io = system_calls;
    ck_assert(!has_spill(0));
    drain_bench_run_until_written(&bench, &rings[0]);
    finish_and_check();
    close_rings();
}
END_TEST

START_TEST(no_more_is_spilled_than_there_is_room_for)
{
    uint64_t room = nm_spill_room(&bench.folder, 0), most = NM_SPILL_BYTES_MAX / NM_RING_SLOT_BYTES;

    open_rings(SLOTS);
    room = nm_spill_room(&bench.folder, 0);
    ck_assert_uint_gt(room, 0);
    ck_assert_uint_le(room, most);
    ck_assert_uint_eq(nm_spill_room(&bench.folder, most), 0);
    ck_assert_uint_lt(nm_spill_room(&bench.folder, room / 2), room / 2 + room / 4);
    close_rings();
}
END_TEST

/* ---- Kills --------------------------------------------------------------------------------------------------------- */

START_TEST(a_drain_killed_with_spilled_slots_loses_nothing)
{
    open_rings(SLOTS);
    for (int i = 0; i < 6; i++) {
        fill_and_spill();
        recover_and_check();
    }
    write_events(1000);
    recover_and_check();
    close_rings();
}
END_TEST

START_TEST(a_kill_between_the_copy_and_either_store_leaves_each_event_once)
{
    uint64_t tails[RINGS], ends[RINGS];

    open_rings(SLOTS);
    fill_and_spill();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < RINGS; i++) {
            tails[i] = atomic_load(&rings[i].ring->tail);
            ends[i] = atomic_load(&spill_of(i)->end);
        }
        fill_and_spill();
        for (int i = 0; i < RINGS; i++) /* in both */
            tails[i] = atomic_exchange(&rings[i].ring->tail, tails[i]);
        recover_and_check();
        for (int i = 0; i < RINGS; i++) /* copied, and nothing says so */
            ends[i] = atomic_exchange(&spill_of(i)->end, ends[i]);
        recover_and_check();
        for (int i = 0; i < RINGS; i++) {
            atomic_store(&spill_of(i)->end, ends[i]);
            atomic_store(&rings[i].ring->tail, tails[i]);
        }
        recover_and_check();
    }
    close_rings();
}
END_TEST

/* The first copy into an empty file: its tail is moved before its end. */
START_TEST(a_kill_while_an_empty_spill_begins_anew_leaves_each_event_once)
{
    uint64_t tails[RINGS], ends[RINGS];

    open_rings(SLOTS);
    fill_and_spill();
    run_until_written();
    write_events(10);
    run_until_written();
    for (int i = 0; i < RINGS; i++) {
        tails[i] = atomic_load(&rings[i].ring->tail);
        ends[i] = atomic_load(&spill_of(i)->end);
    }
    fill_and_spill();
    for (int i = 0; i < RINGS; i++) {
        atomic_store(&rings[i].ring->tail, tails[i]);
        atomic_store(&spill_of(i)->end, ends[i]);
        ck_assert_uint_gt(atomic_load(&spill_of(i)->tail), ends[i]);
    }
    recover_and_check();
    close_rings();
}
END_TEST

/* The block with what was spilled is in the file; then the spill's tail moves, and at its end the ring's. */
START_TEST(a_kill_before_the_tails_follow_a_block_leaves_each_event_once)
{
    uint64_t tails[RINGS], ends[RINGS], before[RINGS];

    open_rings(SLOTS);
    fill_and_spill();
    for (int i = 0; i < RINGS; i++)
        before[i] = atomic_load(&spill_of(i)->tail);
    run_until_written();
    for (int i = 0; i < RINGS; i++) {
        ends[i] = atomic_load(&spill_of(i)->end);
        ck_assert_uint_eq(atomic_exchange(&spill_of(i)->tail, before[i]), ends[i]);
    }
    recover_and_check();
    for (int i = 0; i < RINGS; i++)
        atomic_store(&spill_of(i)->tail, ends[i]);
    write_events(100);
    run_until_written();
    for (int i = 0; i < RINGS; i++) {
        tails[i] = atomic_load(&rings[i].ring->tail);
        ck_assert_uint_gt(tails[i], ends[i]);
        atomic_store(&rings[i].ring->tail, ends[i]); /* the ring's was the last */
    }
    recover_and_check();
    for (int i = 0; i < RINGS; i++) { /* and the other way round: what is spilled is older than the ring's tail */
        atomic_store(&rings[i].ring->tail, tails[i]);
        atomic_store(&spill_of(i)->tail, before[i]);
    }
    recover_and_check();
    close_rings();
}
END_TEST

/* ---- Files that are not what they were ------------------------------------------------------------------------------ */

typedef struct loss {
    uint64_t found, unrecovered;
    bool is_at_least;
} loss;

static loss recover_loss(void)
{
    nm_bytes trace = trace_load(bench.trace_path);
    nm_buffer whole = {0};
    nm_recovery recovery;
    trace_content content;
    nm_error err = {0};
    loss result = {0};
    uint64_t last = 0;

    ck_assert_msg(nm_recover_rings(trace, &recovery, &err) == NM_OK, "%s", err.text);
    nm_buffer_append(&whole, trace.data, recovery.trace_bytes, NULL);
    nm_buffer_append(&whole, recovery.blocks.data, recovery.blocks.len, NULL);
    trace_content_read(&content, (nm_bytes){whole.data, whole.len});
    for (size_t i = 0; i < content.event_count; i++) {
        const nm_event *event = &content.events[i];

        if (event->kind != NM_EVENT_ALLOC)
            continue;
        ck_assert_uint_lt(event->address, next_event);
        ck_assert(result.found == 0 || event->address > last);
        last = event->address;
        result.found++;
    }
    result.unrecovered = recovery.events_unrecovered;
    result.is_at_least = recovery.is_at_least;
    trace_content_free(&content);
    nm_buffer_free(&whole);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
    return result;
}

static void write_at(int ring, uint64_t offset, const void *bytes, size_t len)
{
    char path[256];

    spill_path(ring, path);
    int fd = open(path, O_RDWR);
    ck_assert_int_eq(pwrite(fd, bytes, len, (off_t)offset), (ssize_t)len);
    close(fd);
}

START_TEST(a_second_file_that_is_gone_or_nonsense_is_a_loss_that_is_said)
{
    static const uint64_t nonsense[] = {0, 1, 3, UINT64_MAX};
    uint64_t spilled, word;
    char path[256];

    open_rings(SLOTS);
    fill_and_spill();
    write_events(100);
    spilled = next_event - 50;
    ck_assert_uint_eq(recover_loss().found, next_event);
    for (size_t field = 0; field < sizeof(nm_ring_spill) / sizeof word; field++)
        for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
            memcpy(&word, (uint64_t *)spill_of(0) + field, sizeof word);
            write_at(0, field * sizeof word, &nonsense[i], sizeof word);
            loss lost =
                recover_loss(); /* whatever is said in the file: no event twice, none out of order, and a loss is said */
            ck_assert_msg(lost.found == next_event || (lost.unrecovered > 0 && lost.is_at_least), "word %zu, %zu",
                          field, i);
            write_at(0, field * sizeof word, &word, sizeof word);
        }
    write_at(0, NM_RING_HEADER_BYTES + 1000 * NM_RING_SLOT_BYTES, "nonsense", 8);
    loss lost = recover_loss();
    ck_assert_uint_eq(lost.found, next_event - 1);
    ck_assert_uint_eq(lost.unrecovered, 1);
    spill_path(0, path);
    ck_assert_int_eq(unlink(path), 0);
    lost = recover_loss();
    ck_assert_uint_lt(lost.found, spilled);
    ck_assert_uint_gt(lost.unrecovered, 0);
    ck_assert(lost.is_at_least);
    close_rings();
}
END_TEST

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

#define RACERS       4
#define RACER_EVENTS 60000
#define RACER_SLOTS  4096

typedef struct racer {
    pthread_t thread;
    hand_ring ring;
    uint64_t stamps[RACER_EVENTS];
} racer;

static void *race(void *context)
{
    racer *self = context;

    for (uint64_t i = 0; i < RACER_EVENTS; i++)
        self->stamps[i] = hand_alloc(&self->ring, 0, 0, i, 1, 0);
    return NULL;
}

/* More than the rings hold by far, and the drain takes its time: stamps never fall, and each thread's events are all there, in
 * their order. */
START_TEST(racing_threads_with_rings_that_are_too_small_lose_no_order)
{
    static racer racers[RACERS];
    uint64_t next[RACERS] = {0}, last_stamp = 0, late = 0;
    trace_content content;
    int64_t last_ns = 0;
    int spilled = 0;

    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, getpid(), hand_start_time(getpid()));
    for (int i = 0; i < RACERS; i++)
        hand_ring_make(&racers[i].ring, &process, RACER_SLOTS, getpid(), "racer");
    for (int i = 0; i < RACERS; i++)
        ck_assert_int_eq(pthread_create(&racers[i].thread, NULL, race, &racers[i]), 0);
    for (int i = 0; i < RACERS; i++)
        while (pthread_tryjoin_np(racers[i].thread, NULL) != 0) {
            drain_bench_pass(&bench);
            sleep_ms(2);
        }
    for (int i = 0; i < RACERS; i++) {
        char path[256];

        snprintf(path, sizeof path, "%s/s.%llu", bench.folder_path, (unsigned long long)racers[i].ring.ring->ring_id);
        spilled += access(path, F_OK) == 0;
    }
    ck_assert_int_gt(spilled, 0);
    drain_bench_finish(&bench, &content);
    for (size_t i = 0; i < content.event_count; i++) {
        const nm_event *event = &content.events[i];
        int at = 0;

        if (event->kind != NM_EVENT_ALLOC)
            continue;
        while (racers[at].ring.thread != event->thread_id)
            at++;
        ck_assert_uint_eq(event->address, next[at]);
        late += (event->flags & NM_FLAG_LATE) != 0;
        if ((event->flags & NM_FLAG_LATE) == 0) {
            ck_assert_uint_ge(racers[at].stamps[next[at]], last_stamp);
            last_stamp = racers[at].stamps[next[at]];
            ck_assert_int_ge(event->time_ns, last_ns);
            last_ns = event->time_ns;
        }
        next[at]++;
    }
    for (int i = 0; i < RACERS; i++) {
        ck_assert_uint_eq(next[i], RACER_EVENTS);
        hand_ring_unmap(&racers[i].ring);
    }
    ck_assert_uint_eq(late, 0);
    hand_process_leave(&process);
    trace_content_free(&content);
    drain_bench_close(&bench);
}
END_TEST

TEST_SUITE(test_spill)
{
    Suite *suite = suite_create("spill");
    TCase *tests = tcase_create("spill");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_was_spilled_comes_in_the_order_of_stamps);
    tcase_add_test(tests, memory_of_what_is_written_is_given_back_and_the_file_is_used_again);
    tcase_add_test(tests, the_ring_keeps_its_room_while_what_was_spilled_is_written);
    tcase_add_test(tests, a_ring_that_never_comes_does_not_hold_what_was_spilled);
    tcase_add_test(tests, rings_that_are_read_in_time_are_not_spilled);
    tcase_add_test(tests, an_open_slot_is_not_copied);
    tcase_add_test(tests, a_process_that_dies_while_rings_fill_up_ends_behind_its_events);
    tcase_add_test(tests, without_room_a_ring_stays_full_and_is_read_as_always);
    tcase_add_test(tests, the_first_file_that_cannot_be_made_leaves_none);
    tcase_add_test(tests, no_more_is_spilled_than_there_is_room_for);
    tcase_add_test(tests, a_drain_killed_with_spilled_slots_loses_nothing);
    tcase_add_test(tests, a_kill_between_the_copy_and_either_store_leaves_each_event_once);
    tcase_add_test(tests, a_kill_while_an_empty_spill_begins_anew_leaves_each_event_once);
    tcase_add_test(tests, a_kill_before_the_tails_follow_a_block_leaves_each_event_once);
    tcase_add_test(tests, a_second_file_that_is_gone_or_nonsense_is_a_loss_that_is_said);
    tcase_add_test(tests, racing_threads_with_rings_that_are_too_small_lose_no_order);
    suite_add_tcase(suite, tests);
    return suite;
}
