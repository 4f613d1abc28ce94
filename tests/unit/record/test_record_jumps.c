/* SPDX-License-Identifier: Apache-2.0
 *
 * Signal handlers that interrupt a call that records: they record too, on whatever stack, or leave it for ever by
 * siglongjmp. Nothing that returned may be lost, and nobody may have to wait for a slot that will never be published.
 */
#include <check.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "npumem.h"
#include "record/record.h"
#include "record/session.h"
#include "ring_reader.h"
#include "support/suites.h"

#define VALUES_MAX      400000
#define ALTERNATE_BYTES (64 << 10)

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__) && !defined(__SANITIZE_ADDRESS__)
#define CAN_TRAP      1
/* The kernel clears the flag for the handler. */
#define SET_TRAPS()   __asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq" ::: "cc", "memory")
#define CLEAR_TRAPS() __asm__ volatile("pushfq; andl $0xfffffeff, (%%rsp); popfq" ::: "cc", "memory")
#else
#define CAN_TRAP 0
#define SET_TRAPS()
#define CLEAR_TRAPS()
#endif

static session_fixture fixture;
static ring_reader reading;
static uint8_t seen[VALUES_MAX];
static uint64_t abandoned_count;
static unsigned stack_count, shallow_count; /* stacks that were described, and those of one or two frames among them */

static void setup(void)
{
    memset(seen, 0, sizeof seen);
    abandoned_count = 0;
    stack_count = shallow_count = 0;
    session_open(&fixture);
    fixture.session->ring_bytes = 1 << 20;
    reader_open(&reading, &fixture);
}

static void teardown(void)
{
    nm_state_leave();
    reader_close(&reading);
    session_close(&fixture);
}

static void note_record(void *context, const reader_record *record)
{
    (void)context;
    if (record->kind == NM_EVENT_STEP)
        seen[((const nm_ring_number *)record->words)->number]++;
    abandoned_count += record->kind == NM_RING_ABANDONED;
    stack_count += record->kind == NM_RING_STACK;
    shallow_count += record->kind == NM_RING_STACK && ((const nm_ring_stack *)record->words)->depth <= 2;
}

static void poll_ring(void)
{
    reader_poll(&reading, note_record, NULL);
}

/* Reads to the end: no slot is open. */
static void expect_nothing_open(void)
{
    poll_ring();
    ck_assert_uint_eq(reading.open_count, 0);
    ck_assert_uint_eq(reading.torn_count, 0);
    ck_assert_uint_eq(reading.rings[0].cursor, atomic_load(&reading.rings[0].ring->head));
}

/* ---- Behind instructions --------------------------------------------------------------------------------------- */

static volatile uint64_t trap_count, wanted_trap;
static sigjmp_buf escape;
static volatile int64_t handled_value;

static void handle_traps(void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    sigaction(SIGTRAP, &action, NULL);
}

static void jump_at_trap(int number)
{
    (void)number;
    if (++trap_count == wanted_trap)
        siglongjmp(escape, 1);
}

static void record_at_trap(int number)
{
    (void)number;
    if (++trap_count == wanted_trap)
        npumem_step(handled_value++);
}

/* Is true, and counts an event, when the event came to its end before the trap that leaves it. */
__attribute__((noinline)) static bool step_to_trap(int64_t value, uint64_t wanted)
{
    trap_count = 0;
    wanted_trap = wanted;
    if (sigsetjmp(escape, 1) != 0)
        return false;
    SET_TRAPS();
    npumem_step(value);
    CLEAR_TRAPS();
    return true;
}

/* From deeper than the call that was left, with its frame written over. */
__attribute__((noinline)) static void step_deeper(int64_t value, unsigned depth)
{
    volatile char room[256];

    memset((void *)room, 1, sizeof room);
    if (depth > 0)
        step_deeper(value, depth - 1);
    else
        npumem_step(value);
    room[0] = room[1];
}

/* Each instruction would take as long as there are of them, squared: every stride-th. */
static void sweep_jumps(int flags, unsigned depth, unsigned stride)
{
    int64_t value = 1;
    uint64_t wanted = 1;

    handle_traps(jump_at_trap, flags);
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(0);
    for (bool is_done = false; !is_done && CAN_TRAP; wanted += stride) {
        is_done = step_to_trap(value, wanted);
        seen[value] = seen[value] == 0; /* whether it was published before it was left is all the same */
        step_deeper(value + 1, depth);
        expect_nothing_open();
        ck_assert_uint_eq(seen[value + 1], 1);
        value += 2;
    }
    ck_assert(!CAN_TRAP || abandoned_count > 3);
    ck_assert_int_lt((int64_t)abandoned_count, value);
}

START_TEST(a_jump_anywhere_leaves_nothing_open)
{
    sweep_jumps(0, 0, 7);
}
END_TEST

START_TEST(a_deeper_call_sees_that_the_one_that_was_left_is_gone)
{
    sweep_jumps(0, 3, 11);
}
END_TEST

static void use_signal_stack(void *room)
{
    ck_assert_int_eq(sigaltstack(&(stack_t){.ss_sp = room, .ss_size = ALTERNATE_BYTES}, NULL), 0);
}

START_TEST(so_does_a_jump_off_the_signal_stack)
{
    static char room[ALTERNATE_BYTES];

    use_signal_stack(room);
    sweep_jumps(SA_ONSTACK, 0, 11);
}
END_TEST

static void sweep_handlers(int flags)
{
    int64_t value = 0;

    handled_value = VALUES_MAX / 2;
    handle_traps(record_at_trap, flags);
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(value++);
    while (step_to_trap(value, (uint64_t)value * 23) && trap_count >= wanted_trap)
        value++;
    expect_nothing_open();
    ck_assert_uint_eq(abandoned_count, 0);
    for (int64_t i = 0; i <= value * CAN_TRAP; i++)
        ck_assert_uint_eq(seen[i], 1);
    for (int64_t i = VALUES_MAX / 2; i < handled_value; i++)
        ck_assert_uint_eq(seen[i], 1);
    ck_assert(!CAN_TRAP || handled_value > VALUES_MAX / 2 + 5);
}

START_TEST(a_handler_on_the_signal_stack_abandons_nothing)
{
    static char room[ALTERNATE_BYTES];

    use_signal_stack(room);
    sweep_handlers(SA_ONSTACK);
}
END_TEST

/* It lies above the call that is interrupted, and is no proof that this one is gone. */
START_TEST(nor_does_one_on_a_signal_stack_inside_the_threads_own)
{
    char room[ALTERNATE_BYTES];

    use_signal_stack(room);
    sweep_handlers(SA_ONSTACK);
    sigaltstack(&(stack_t){.ss_flags = SS_DISABLE}, NULL);
}
END_TEST

/* The handler records, and is itself interrupted in that by one that jumps, but only back into the handler. */
static sigjmp_buf inner_escape;
static volatile uint64_t inner_count, inner_wanted;
static volatile int level;

static void jump_in_handler(int number)
{
    (void)number;
    if (level == 1) {
        if (++inner_count == inner_wanted)
            siglongjmp(inner_escape, 1);
    } else if (++trap_count == wanted_trap) {
        level = 1;
        inner_count = 0;
        if (sigsetjmp(inner_escape, 1) == 0) {
            SET_TRAPS();
            npumem_step(VALUES_MAX - 1);
            CLEAR_TRAPS();
        }
        level = 0;
    }
}

START_TEST(a_jump_inside_a_handler_harms_only_what_it_leaves)
{
    int64_t value = 1;

    handle_traps(jump_in_handler, SA_NODEFER);
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(0);
    for (uint64_t inner = 1; inner < 1000 && CAN_TRAP; inner += 97) {
        inner_wanted = inner;
        for (uint64_t outer = 1; outer < 300; outer += 61) {
            ck_assert(step_to_trap(value, outer));
            npumem_step(++value);
            expect_nothing_open();
            ck_assert_uint_eq(seen[value - 1], 1);
            ck_assert_uint_eq(seen[value++], 1);
        }
    }
    ck_assert(!CAN_TRAP || abandoned_count > 1);
}
END_TEST

/* ---- Whenever it happens ------------------------------------------------------------------------------------------- */

static _Atomic bool is_stopped;
static volatile sig_atomic_t is_in_step;

static void *poll_rings(void *unused)
{
    while (!atomic_load(&is_stopped)) {
        poll_ring();
        usleep(200);
    }
    return unused;
}

static void jump_out(int number)
{
    (void)number;
    if (is_in_step) {
        is_in_step = 0;
        siglongjmp(escape, 1);
    }
}

/* Far more events than the ring has room for: one slot that stays open and everything behind it would be dropped. */
START_TEST(a_storm_of_jumps_drops_nothing)
{
    enum { EVENTS = 200000 };
    static uint8_t is_acknowledged[VALUES_MAX];
    struct sigaction action = {.sa_handler = jump_out};
    struct itimerval timer = {{0, 200}, {0, 200}}, never = {{0, 0}, {0, 0}};
    volatile int64_t value = 0;
    volatile uint64_t jump_count = 0;
    sigset_t alarms;
    pthread_t drain;

    fixture.session->ring_bytes = 256 << 10;
    ck_assert(nm_session_join(fixture.folder));
    npumem_step(0);
    poll_ring();
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarms, NULL); /* in the drain */
    ck_assert_int_eq(pthread_create(&drain, NULL, poll_rings, NULL), 0);
    pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    if (sigsetjmp(escape, 1) != 0)
        jump_count++;
    while (value < EVENTS) {
        value++;
        is_in_step = 1;
        npumem_step(value);
        is_in_step = 0;
        is_acknowledged[value] = 1;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&is_stopped, true);
    pthread_join(drain, NULL);
    npumem_step(EVENTS + 1);
    expect_nothing_open();
    ck_assert_uint_gt(jump_count, 0);
    for (int64_t i = 1; i <= EVENTS; i++)
        ck_assert_msg(seen[i] == 1 || (seen[i] == 0 && !is_acknowledged[i]), "event %d", (int)i);
    ck_assert_uint_eq(atomic_load(&reading.rings[0].ring->dropped_count), 0);
    ck_assert_uint_le(abandoned_count, jump_count);
}
END_TEST

/* Each depth is a stack of its own. */
__attribute__((noinline)) static void allocate_at(npumem_heap heap, unsigned depth)
{
    if (depth > 0)
        allocate_at(heap, depth - 1);
    else
        npumem_alloc(heap, (void *)16, 16, NULL);
    __asm__ volatile("");
}

/* A call that describes a new stack has the tables to itself; who comes after one that was left has them again. */
START_TEST(stacks_stay_deep_after_jumps_out_of_new_ones)
{
    struct sigaction action = {.sa_handler = jump_out};
    struct itimerval timer = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    volatile uint64_t jump_count = 0;
    volatile unsigned depth = 0;
    npumem_heap heap;

    fixture.session->stack_mode = NM_STACKS_NATIVE;
    fixture.session->stack_depth = 200;
    ck_assert(nm_session_join(fixture.folder));
    heap = npumem_heap_define(NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    if (sigsetjmp(escape, 1) != 0)
        jump_count++;
    for (int i = 0; i < 20000 && jump_count < 500; i++) {
        depth = (depth + 1) % 150;
        is_in_step = 1;
        allocate_at(heap, depth);
        is_in_step = 0;
        if (depth == 0)
            poll_ring();
    }
    setitimer(ITIMER_REAL, &never, NULL);
    allocate_at(heap, 0);
    expect_nothing_open();
    ck_assert_uint_gt(jump_count, 5);
    ck_assert_uint_gt(stack_count, 40);
    /* A deeper call, with a frame that was left unchanged above it, is taken for a handler's and describes its caller alone. */
    ck_assert_uint_lt(20 * shallow_count, stack_count);
}
END_TEST

/* ---- Hooks --------------------------------------------------------------------------------------------------------- */

__attribute__((noinline)) static void leave_a_hook(unsigned depth)
{
    nm_guard guard;

    if (depth > 0)
        leave_a_hook(depth - 1);
    ck_assert(nm_record_enter(&guard, __builtin_frame_address(0)));
    siglongjmp(escape, 1);
}

/* Also where no stacks are asked for, and the bounds of the thread's stack are needed for nothing else. */
START_TEST(a_hook_that_was_left_hides_nothing_that_comes_after_it)
{
    nm_guard guard;

    ck_assert(nm_session_join(fixture.folder));
    npumem_step(0);
    if (sigsetjmp(escape, 1) == 0)
        leave_a_hook(5);
    ck_assert(nm_record_enter(&guard, __builtin_frame_address(0)));
    nm_record_leave(&guard);
}
END_TEST

TEST_SUITE(test_record_jumps)
{
    Suite *suite = suite_create("record_jumps");
    TCase *tests = tcase_create("record_jumps");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, a_jump_anywhere_leaves_nothing_open);
    tcase_add_test(tests, a_deeper_call_sees_that_the_one_that_was_left_is_gone);
    tcase_add_test(tests, so_does_a_jump_off_the_signal_stack);
    tcase_add_test(tests, a_handler_on_the_signal_stack_abandons_nothing);
    tcase_add_test(tests, nor_does_one_on_a_signal_stack_inside_the_threads_own);
    tcase_add_test(tests, a_jump_inside_a_handler_harms_only_what_it_leaves);
    tcase_add_test(tests, a_storm_of_jumps_drops_nothing);
    tcase_add_test(tests, stacks_stay_deep_after_jumps_out_of_new_ones);
    tcase_add_test(tests, a_hook_that_was_left_hides_nothing_that_comes_after_it);
    suite_add_tcase(suite, tests);
    return suite;
}
