/* SPDX-License-Identifier: Apache-2.0
 *
 * Many writers: threads at once and one after another, signal handlers that interrupt a record, children after fork and
 * vfork. A drain of the test's own runs beside them and moves the tails. Every acknowledged event must come back exactly
 * once, whole, or be counted as dropped. Also run under the thread sanitizer.
 */
#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "npumem.h"
#include "record/session.h"
#include "ring_reader.h"
#include "support/emulated.h"
#include "support/suites.h"

#define VALUES_MAX 2000000 /* of one source of events */
#define SOURCES    16      /* an event's number is source * VALUES_MAX + value */

static session_fixture fixture;
static ring_reader reading;
static uint8_t *seen; /* how often each event came back */
static uint64_t seen_count, step_positions_wrong, loss_count;
static uint64_t last_position[READER_RINGS_MAX + 1];

/* STEP events carry their number twice: in `number`, and inverted in nothing else; a torn one shows as out of range. */
static void count_event(void *context, const reader_record *record)
{
    const nm_ring_number *event = (const nm_ring_number *)record->words;

    (void)context;
    step_positions_wrong += record->position != 0 && record->position <= last_position[record->ring_id];
    last_position[record->ring_id] = record->position;
    if (record->kind == NM_EVENT_LOSS)
        loss_count = ((const nm_ring_loss *)record->words)->dropped_count;
    if (record->kind != NM_EVENT_STEP)
        return;
    ck_assert_int_ge(event->number, 0);
    ck_assert_int_lt(event->number, (int64_t)SOURCES * VALUES_MAX);
    seen[event->number]++;
    seen_count++;
}

static void setup(void)
{
    seen = calloc(SOURCES, VALUES_MAX);
    seen_count = step_positions_wrong = loss_count = 0;
    memset(last_position, 0, sizeof last_position);
    session_open(&fixture);
    fixture.session->wait_event_us = 2000000; /* with a drain that runs, nothing may be dropped */
    fixture.session->wait_second_us = 5000000;
    reader_open(&reading, &fixture);
}

static void teardown(void)
{
    nm_state_leave();
    reader_close(&reading);
    session_close(&fixture);
    free(seen);
}

/* Events 0 to count - 1 of a source came back once each. */
static void check_source(unsigned source, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        ck_assert_msg(seen[source * VALUES_MAX + i] == 1, "event %llu of source %u came %u times",
                      (unsigned long long)i, source, seen[source * VALUES_MAX + i]);
}

/* ---- The test's drain ---------------------------------------------------------------------------------------------- */

static _Atomic int is_draining;
static pthread_t drain_thread;

static void *drain(void *unused)
{
    (void)unused;
    while (atomic_load(&is_draining)) {
        atomic_fetch_add(&fixture.session->heartbeat, 1);
        if (reader_poll(&reading, count_event, NULL) == 0)
            usleep(200);
    }
    return NULL;
}

static void start_drain(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before); /* the storms are for the writers */
    atomic_store(&is_draining, 1);
    ck_assert_int_eq(pthread_create(&drain_thread, NULL, drain, NULL), 0);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void stop_drain(void)
{
    atomic_store(&is_draining, 0);
    pthread_join(drain_thread, NULL);
    while (reader_poll(&reading, count_event, NULL) > 0)
        ;
    ck_assert_uint_eq(reading.torn_count, 0);
    ck_assert_uint_eq(reading.open_count, 0);
    ck_assert_uint_eq(step_positions_wrong, 0);
}

/* ---- Threads ------------------------------------------------------------------------------------------------------- */

typedef struct writer_job {
    unsigned source;
    uint64_t count;
} writer_job;

static void *write_events(void *context)
{
    const writer_job *job = context;

    for (uint64_t i = 0; i < job->count; i++)
        npumem_step((int64_t)(job->source * VALUES_MAX + i));
    return NULL;
}

START_TEST(threads_at_once_lose_nothing)
{
    pthread_t threads[8];
    writer_job jobs[8];

    ck_assert(nm_session_join(fixture.folder));
    start_drain();
    for (unsigned i = 0; i < 8; i++) {
        jobs[i] = (writer_job){i, 50000};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_events, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    stop_drain();
    for (unsigned i = 0; i < 8; i++)
        check_source(i, 50000);
    ck_assert_uint_eq(seen_count, 8 * 50000);
    ck_assert_uint_le(atomic_load(&fixture.session->ring_count), 8);
}
END_TEST

START_TEST(a_thread_that_ends_leaves_its_ring_to_the_next)
{
    ck_assert(nm_session_join(fixture.folder));
    start_drain();
    for (unsigned i = 0; i < 2000; i++) {
        pthread_t thread;
        writer_job job = {0, 3};

        ck_assert_int_eq(pthread_create(&thread, NULL, write_events, &job), 0);
        pthread_join(thread, NULL);
    }
    stop_drain();
    ck_assert_uint_eq(seen_count, 6000);
    ck_assert_uint_eq(atomic_load(&fixture.session->thread_count), 2000);
    ck_assert_uint_eq(atomic_load(&fixture.session->ring_count), 1);
    ck_assert_uint_eq(atomic_load(&reading.rings[0].ring->owner), 0);
    ck_assert_uint_eq(reading.rings[0].thread_number, 2000);
}
END_TEST

static pthread_barrier_t barrier;

static void *write_and_wait(void *context)
{
    write_events(context);
    pthread_barrier_wait(&barrier);
    return NULL;
}

START_TEST(many_threads_at_a_time_each_have_a_ring)
{
    enum { THREADS = 200 };
    static pthread_t threads[THREADS];
    writer_job job = {0, 1};
    pthread_attr_t small;

    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 256 << 10);
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    ck_assert(nm_session_join(fixture.folder));
    for (int i = 0; i < THREADS; i++)
        ck_assert_int_eq(pthread_create(&threads[i], &small, write_and_wait, &job), 0);
    pthread_barrier_wait(&barrier);
    ck_assert_uint_eq(atomic_load(&fixture.session->ring_count), THREADS);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    reader_poll(&reading, count_event, NULL);
    ck_assert_uint_eq(seen_count, THREADS);
    pthread_barrier_destroy(&barrier);
    pthread_attr_destroy(&small);
}
END_TEST

/* ---- Signals ------------------------------------------------------------------------------------------------------- */

static volatile uint64_t handled_count;

static void record_in_handler(int number)
{
    (void)number;
    npumem_step((int64_t)(VALUES_MAX + handled_count));
    handled_count++;
}

static void start_storm(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval timer = {{0, 50}, {0, 50}};

    handled_count = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static void stop_storm(void)
{
    struct itimerval never = {{0, 0}, {0, 0}};

    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_IGN);
}

START_TEST(a_storm_of_signals_tears_and_loses_nothing)
{
    enum { EVENTS = 1000000 };

    ck_assert(nm_session_join(fixture.folder));
    start_drain();
    start_storm(record_in_handler); /* before the first event: it interrupts the making of the ring too */
    for (int i = 0; i < EVENTS || handled_count < 500; i++)
        npumem_step(i % EVENTS == i ? i : (int64_t)2 * VALUES_MAX);
    stop_storm();
    stop_drain();
    check_source(0, EVENTS);
    check_source(1, handled_count);
    ck_assert_uint_eq(loss_count, 0);
}
END_TEST

/* Not only where a timer happens to hit: event n is interrupted behind its n-th instruction. (At every instruction of one
 * event it would never end: whoever is interrupted between load and swap has to begin again.) */
static volatile uint64_t instruction_count, interrupted_instruction;

static void record_at_trap(int number)
{
    (void)number;
    if (++instruction_count != interrupted_instruction)
        return;
    npumem_step((int64_t)(VALUES_MAX + handled_count));
    handled_count++;
}

START_TEST(a_handler_behind_any_instruction_tears_and_loses_nothing)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
    struct sigaction action = {.sa_handler = record_at_trap};
    uint64_t event_count = 0;

    sigaction(SIGTRAP, &action, NULL);
    ck_assert(nm_session_join(fixture.folder));
    start_drain();
    npumem_step(0);
    do {
        event_count++;
        interrupted_instruction = event_count;
        instruction_count = 0;
        /* Sets the trap flag; the kernel clears it for the handler. */
        __asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "cc", "memory");
        npumem_step((int64_t)event_count);
        __asm__ volatile("pushfq; andl $0xfffffeff, (%%rsp); popfq" ::: "cc", "memory");
    } while (instruction_count >= interrupted_instruction);
    stop_drain();
    ck_assert_uint_gt(handled_count, 20);
    check_source(0, event_count + 1);
    check_source(1, handled_count);
#else
    (void)record_at_trap;
#endif
}
END_TEST

/* ---- Rings that grow ----------------------------------------------------------------------------------------------- */

static pthread_mutex_t staying = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned stay_count;

static void *write_and_stay(void *context)
{
    write_events(context);
    atomic_fetch_add(&stay_count, 1);
    pthread_mutex_lock(&staying);
    pthread_mutex_unlock(&staying);
    return NULL;
}

static struct stat ring_file(uint64_t number)
{
    char path[128];
    struct stat info;

    snprintf(path, sizeof path, "%s/r.%llu", fixture.folder, (unsigned long long)number);
    ck_assert_int_eq(stat(path, &info), 0);
    return info;
}

/* It takes in as much without a drain as if it had been so long from the start, and every position is where it was. */
START_TEST(a_ring_grows_as_it_is_used_and_loses_nothing_on_the_way)
{
    const uint64_t slots = (1 << 20) / NM_RING_SLOT_BYTES;
    nm_ring_process *process;
    uint64_t count = 0;

    fixture.session->ring_bytes = 1 << 20;
    fixture.session->wait_event_us = 0;
    ck_assert(nm_session_join(fixture.folder));
    npumem_step((int64_t)count++);
    ck_assert_int_eq(ring_file(1).st_size, NM_RING_HEADER_BYTES + (1 << 20));
    ck_assert_int_le(ring_file(1).st_blocks * 512, 2 * (NM_RING_HEADER_BYTES + NM_RING_BYTES_MIN));
    while (count < slots - 8) /* the owner stands there, too */
        npumem_step((int64_t)count++);
    ck_assert_int_ge(ring_file(1).st_blocks * 512, 1 << 20);
    ck_assert_uint_gt(reader_poll(&reading, count_event, NULL), count);
    ck_assert_uint_eq(reading.rings[0].ring->slot_count, slots);
    check_source(0, count);
    for (; count < 3 * slots; count++) { /* and it goes round */
        npumem_step((int64_t)count);
        reader_poll(&reading, count_event, NULL);
    }
    check_source(0, count);
    ck_assert_uint_eq(atomic_load(&reading.rings[0].ring->dropped_count), 0);
    process = session_process(&fixture, 1);
    ck_assert_uint_eq(atomic_load(&process->dropped_count), 0);
    munmap(process, sizeof *process);
}
END_TEST

/* The end of the file stands for a disk without room: the kernel cannot give memory to what is behind it. */
START_TEST(a_ring_that_cannot_grow_goes_round_in_what_it_has)
{
    char path[128];
    uint64_t count = 0;

    if (is_emulated())
        return; /* the emulator does not survive what is behind the end */
    fixture.session->ring_bytes = 1 << 20;
    ck_assert(nm_session_join(fixture.folder));
    for (; count < 1500; count++) /* it has grown once */
        npumem_step((int64_t)count);
    snprintf(path, sizeof path, "%s/r.1", fixture.folder);
    reader_poll(&reading, count_event, NULL);
    ck_assert_int_eq(truncate(path, NM_RING_HEADER_BYTES + 2 * NM_RING_BYTES_MIN), 0);
    start_drain();
    for (; count < 20000; count++)
        npumem_step((int64_t)count);
    stop_drain();
    check_source(0, count);
    ck_assert_uint_eq(reading.rings[0].ring->slot_count, 2 * NM_RING_BYTES_MIN / NM_RING_SLOT_BYTES);
    ck_assert_uint_eq(atomic_load(&reading.rings[0].ring->dropped_count), 0);
}
END_TEST

static uint64_t bytes_read(void)
{
    FILE *file = fopen("/proc/self/io", "r");
    unsigned long long bytes = 0;

    if (file == NULL || fscanf(file, "rchar: %llu", &bytes) != 1)
        bytes = 0;
    if (file != NULL)
        fclose(file);
    return bytes;
}

/* Nobody reads of all threads to begin one: that would take four times as long for twice as many. */
START_TEST(a_thread_among_many_costs_no_more_than_one_alone)
{
    enum { THREADS = 400 };
    static pthread_t threads[THREADS];
    static writer_job jobs[THREADS];
    uint64_t before, ring_bytes = 0;

    fixture.session->ring_bytes = 1 << 20;
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(0);
    before = bytes_read();
    pthread_mutex_lock(&staying);
    for (unsigned i = 0; i < THREADS; i++) {
        jobs[i] = (writer_job){1, 10};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_and_stay, &jobs[i]), 0);
    }
    while (atomic_load(&stay_count) < THREADS)
        usleep(1000);
    if (!is_emulated()) /* whose own reading is in the figure */
        ck_assert_uint_le(bytes_read() - before, THREADS * 200);
    for (unsigned i = 1; i <= THREADS + 1; i++)
        ring_bytes += (uint64_t)ring_file(i).st_blocks * 512;
    ck_assert_uint_le(ring_bytes, (THREADS + 1) * 2 * (NM_RING_HEADER_BYTES + NM_RING_BYTES_MIN));
    pthread_mutex_unlock(&staying);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
END_TEST

static sigjmp_buf escape;
static volatile sig_atomic_t is_in_step; /* what a handler may leave for ever, or fork in */

static void leave_by_jump(int number)
{
    (void)number;
    if (is_in_step) {
        is_in_step = 0;
        siglongjmp(escape, 1);
    }
}

/* Marks the STEP events of a ring that holds its whole history, over the slots that a jump has left open. */
static void mark_published(nm_ring *ring)
{
    uint64_t head = atomic_load(&ring->head);

    ck_assert_uint_le(head, ring->slot_count);
    for (uint64_t position = 0; position < head; position++) {
        nm_slot *slot = nm_ring_slot(ring, position);

        if (atomic_load(&slot->valid) == nm_slot_valid(position, 1, NM_EVENT_STEP))
            seen[((nm_ring_number *)slot->word)->number]++;
    }
}

START_TEST(a_jump_out_of_a_handler_loses_no_event_that_returned)
{
    enum { JUMPS = 100, EVENTS_MAX = 16000 };
    static uint8_t is_acknowledged[EVENTS_MAX];
    volatile int jump_count = 0, value = 0;

    fixture.session->ring_bytes = 1 << 20;
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(0);
    reader_poll(&reading, NULL, NULL); /* opens the ring */
    start_storm(leave_by_jump);
    while (jump_count < JUMPS && value < EVENTS_MAX - 1) {
        if (sigsetjmp(escape, 1) != 0) {
            jump_count++;
            continue;
        }
        value++;
        is_in_step = 1;
        npumem_step(value);
        is_in_step = 0;
        is_acknowledged[value] = 1;
        for (volatile int pause = 0; pause < 2000; pause++)
            ;
    }
    stop_storm();
    ck_assert_int_gt(jump_count, 0);
    mark_published(reading.rings[0].ring);
    for (int i = 1; i <= value; i++)
        ck_assert_msg(seen[i] == 1 || (seen[i] == 0 && !is_acknowledged[i]), "event %d", i);
    ck_assert_uint_eq(atomic_load(&reading.rings[0].ring->dropped_count), 0);
}
END_TEST

/* ---- Fork ---------------------------------------------------------------------------------------------------------- */

static uint64_t head_of(size_t index)
{
    reader_poll(&reading, NULL, NULL);
    return atomic_load(&reading.rings[index].ring->head);
}

static void check_child(int pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the child ended with %d", status);
}

START_TEST(a_fork_child_writes_into_a_ring_and_a_process_of_its_own)
{
    nm_ring_process *process;
    npumem_heap heap;
    uint64_t head;
    int pid;

    ck_assert(nm_session_join(fixture.folder));
    heap = npumem_heap_define(NULL);
    npumem_step(1);
    head = head_of(0);
    pid = fork();
    if (pid == 0) {
        npumem_alloc(heap, (void *)0x1000, 1, NULL); /* the parent's handle: ignored */
        for (int i = 0; i < 100; i++)
            npumem_step(VALUES_MAX + i);
        nm_session_note_end(NM_PROCESS_EXIT, 3);
        syscall(SYS_exit_group, 0);
    }
    check_child(pid);
    ck_assert_uint_eq(head_of(0), head);
    npumem_step(2);
    ck_assert_uint_eq(head_of(0), head + 1);

    process = session_process(&fixture, 2);
    ck_assert_ptr_nonnull(process);
    ck_assert_int_eq(process->pid, pid);
    ck_assert_int_eq(process->parent_pid, getpid());
    ck_assert_uint_eq(process->parent_number, 1);
    ck_assert_uint_eq(process->is_forked, 1);
    ck_assert_uint_eq(atomic_load(&process->end_kind), NM_PROCESS_EXIT + 1);
    munmap(process, sizeof *process);
    process = session_process(&fixture, 1);
    ck_assert_uint_eq(atomic_load(&process->end_kind), 0);
    munmap(process, sizeof *process);
    ck_assert_uint_eq(reading.rings[1].ring->process_number, 2);
}
END_TEST

/* Another thread of the child joins, and does not come to its end for longer than the others wait. */
START_TEST(what_is_lost_while_a_child_joins_is_counted)
{
    nm_ring_process *process;
    int pid;

    ck_assert(nm_session_join(fixture.folder));
    npumem_step(1);
    pid = fork();
    if (pid == 0) {
        atomic_store(&nm_process_state.is_joining, 1);
        npumem_step(2);
        npumem_step(3);
        atomic_store(&nm_process_state.is_joining, 0);
        npumem_step(4);
        syscall(SYS_exit_group, 0);
    }
    check_child(pid);
    process = session_process(&fixture, 2);
    ck_assert_ptr_nonnull(process);
    ck_assert_uint_eq(atomic_load(&process->dropped_count), 2);
    munmap(process, sizeof *process);
}
END_TEST

START_TEST(the_wiped_page_alone_is_enough)
{
    uint64_t head;
    int pid;

    if (is_emulated())
        return; /* no page is wiped there */
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(1);
    head = head_of(0);
    /* No handler of pthread_atfork runs here. */
    pid = (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) {
        npumem_step(2);
        syscall(SYS_exit_group, 0);
    }
    check_child(pid);
    ck_assert_uint_eq(head_of(0), head);
    ck_assert_uint_eq(atomic_load(&fixture.session->process_count), 2);
}
END_TEST

START_TEST(a_child_that_records_nothing_registers_nothing)
{
    int pid;

    ck_assert(nm_session_join(fixture.folder));
    npumem_step(1);
    pid = fork();
    if (pid == 0) {
        nm_session_note_end(NM_PROCESS_EXIT, 1); /* as its exit handler would: must not mark the parent */
        syscall(SYS_exit_group, 0);
    }
    check_child(pid);
    ck_assert_uint_eq(atomic_load(&fixture.session->process_count), 1);
    nm_ring_process *process = session_process(&fixture, 1);
    ck_assert_uint_eq(atomic_load(&process->end_kind), 0);
    munmap(process, sizeof *process);
}
END_TEST

START_TEST(a_vfork_child_does_not_end_its_parent)
{
    nm_ring_process *process;
    int pid;

    ck_assert(nm_session_join(fixture.folder));
    npumem_step(1);
    pid = vfork();
    if (pid == 0) {
        nm_session_note_end(NM_PROCESS_EXIT, 1);
        syscall(SYS_exit_group, 0);
    }
    check_child(pid);
    process = session_process(&fixture, 1);
    ck_assert_uint_eq(atomic_load(&process->end_kind), 0);
    munmap(process, sizeof *process);
    npumem_step(2);
    reader_poll(&reading, count_event, NULL);
    ck_assert_uint_eq(seen[2], 1);
}
END_TEST

START_TEST(grandchildren_name_their_parents)
{
    nm_ring_process *process;
    int pid, status;

    ck_assert(nm_session_join(fixture.folder));
    pid = fork();
    if (pid == 0) {
        npumem_step(1);
        pid = fork();
        if (pid == 0) {
            npumem_step(2);
            syscall(SYS_exit_group, 0);
        }
        waitpid(pid, &status, 0);
        syscall(SYS_exit_group, 0);
    }
    check_child(pid);
    process = session_process(&fixture, 3);
    ck_assert_uint_eq(process->parent_number, 2);
    munmap(process, sizeof *process);
}
END_TEST

START_TEST(children_forked_while_threads_record_lose_nothing)
{
    pthread_t threads[4];
    writer_job jobs[4];
    int children[8];

    ck_assert(nm_session_join(fixture.folder));
    start_drain();
    for (unsigned i = 0; i < 4; i++) {
        jobs[i] = (writer_job){i, 30000};
        ck_assert_int_eq(pthread_create(&threads[i], NULL, write_events, &jobs[i]), 0);
    }
    for (unsigned i = 0; i < 8; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            for (int k = 0; k < 500; k++)
                npumem_step((int64_t)(8 + i) * VALUES_MAX + k);
            syscall(SYS_exit_group, 0);
        }
    }
    for (unsigned i = 0; i < 8; i++)
        check_child(children[i]);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    stop_drain();
    for (unsigned i = 0; i < 4; i++)
        check_source(i, 30000);
    for (unsigned i = 0; i < 8; i++)
        check_source(8 + i, 500);
}
END_TEST

static volatile sig_atomic_t is_forked;

static void fork_in_handler(int number)
{
    int pid, status;

    (void)number;
    if (!is_in_step)
        return;
    is_in_step = 0; /* once an event: the next signal is there before the child is gone */
    pid = fork();
    if (pid == 0) {
        is_forked = 1;
        return; /* the child finishes the record that the parent's thread had begun */
    }
    waitpid(pid, &status, 0);
    handled_count++;
}

START_TEST(a_fork_in_the_middle_of_a_record_leaves_the_parents_ring_alone)
{
    enum { FORKS = 50, EVENTS_MAX = 16000 };
    int value = 0;

    fixture.session->ring_bytes = 1 << 20;
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(0);
    reader_poll(&reading, NULL, NULL); /* opens the ring */
    start_storm(fork_in_handler);
    while (handled_count < FORKS && value < EVENTS_MAX - 1) {
        is_in_step = 1;
        npumem_step(++value);
        is_in_step = 0;
        if (is_forked)
            syscall(SYS_exit_group, 0);
        for (volatile int pause = 0; pause < 2000; pause++)
            ;
    }
    stop_storm();
    ck_assert_uint_gt(handled_count, 0);
    mark_published(reading.rings[0].ring);
    for (int i = 1; i <= value; i++)
        ck_assert_uint_eq(seen[i], 1);
    ck_assert_uint_eq(atomic_load(&reading.rings[0].ring->head), (uint64_t)value + 2);
}
END_TEST

TEST_SUITE(test_record_threads)
{
    Suite *suite = suite_create("record_threads");
    TCase *tests = tcase_create("record_threads");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, threads_at_once_lose_nothing);
    tcase_add_test(tests, a_thread_that_ends_leaves_its_ring_to_the_next);
    tcase_add_test(tests, many_threads_at_a_time_each_have_a_ring);
    tcase_add_test(tests, a_storm_of_signals_tears_and_loses_nothing);
    tcase_add_test(tests, a_handler_behind_any_instruction_tears_and_loses_nothing);
    tcase_add_test(tests, a_ring_grows_as_it_is_used_and_loses_nothing_on_the_way);
    tcase_add_test(tests, a_ring_that_cannot_grow_goes_round_in_what_it_has);
    tcase_add_test(tests, a_thread_among_many_costs_no_more_than_one_alone);
    tcase_add_test(tests, a_jump_out_of_a_handler_loses_no_event_that_returned);
    tcase_add_test(tests, a_fork_child_writes_into_a_ring_and_a_process_of_its_own);
    tcase_add_test(tests, what_is_lost_while_a_child_joins_is_counted);
    tcase_add_test(tests, the_wiped_page_alone_is_enough);
    tcase_add_test(tests, a_child_that_records_nothing_registers_nothing);
    tcase_add_test(tests, a_vfork_child_does_not_end_its_parent);
    tcase_add_test(tests, grandchildren_name_their_parents);
    tcase_add_test(tests, children_forked_while_threads_record_lose_nothing);
    tcase_add_test(tests, a_fork_in_the_middle_of_a_record_leaves_the_parents_ring_alone);
    suite_add_tcase(suite, tests);
    return suite;
}
