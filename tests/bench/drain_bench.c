/* SPDX-License-Identifier: Apache-2.0
 *
 * How many events a second the drain takes out of rings and writes, on one processor and alone: rings are filled while it
 * rests, then it is asked to look until all stands in the file, and its own thread's time is counted. What is in the rings is a
 * pool's blocks of some forty sizes from a hundred stacks, with the time between them that the filling takes.
 *
 *     drain_bench [ROUNDS]       a row for each of 1, 4 and 16 rings of the default size
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/drain_bench.h"

#define RINGS_MAX   16
#define SLOTS       (NM_RING_BYTES_DEFAULT / 64)
#define EVENTS      (SLOTS / 4 * 3) /* of a ring in a round */
#define STACK_COUNT 100
#define STACK_DEPTH 30
#define HEAP        7

static drain_bench bench;
static hand_process process;
static hand_ring rings[RINGS_MAX];

static double now_seconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void define_all(hand_ring *ring)
{
    hand_heap(ring, HEAP, NM_LEVEL_POOL, 0, "pool");
    for (uint64_t stack = 1; stack <= STACK_COUNT; stack++) {
        uint64_t addresses[STACK_DEPTH];

        for (uint64_t frame = 0; frame < STACK_DEPTH; frame++)
            addresses[frame] = 0x400000 + (frame < 8 ? stack * 4096 : 0) + frame * 64;
        hand_stack(ring, stack, addresses, STACK_DEPTH);
    }
}

/* By turns, so that what the drain has to merge is mixed. */
static void fill(int ring_count, uint64_t round)
{
    for (uint64_t i = 0; i < EVENTS / 2; i++) {
        for (int r = 0; r < ring_count; r++) {
            uint64_t number = round * (EVENTS / 2) + i,
                     address = 0x120000000000 + (uint64_t)r * 0x1000000000 + number % 97 * 0x200000;

            hand_alloc(&rings[r], 0, HEAP, address, 512 * (1 + number * 7919 % 41),
                       1 + (uint32_t)(number % STACK_COUNT));
            hand_free(&rings[r], 0, HEAP, address);
        }
    }
}

static bool is_all_written(int ring_count)
{
    for (int r = 0; r < ring_count; r++)
        if (atomic_load(&rings[r].ring->tail) < atomic_load(&rings[r].ring->head))
            return false;
    return true;
}

/* Seconds of this thread alone; the drain says itself how long to rest. */
static double drain_all(int ring_count)
{
    double seconds = 0;

    while (!is_all_written(ring_count)) {
        int64_t pause_ns = 0;
        nm_error err = {0};
        double begin = now_seconds(CLOCK_THREAD_CPUTIME_ID);

        ck_assert_msg(nm_drain_pass(bench.drain, &pause_ns, &err) == NM_OK, "%s", err.text);
        seconds += now_seconds(CLOCK_THREAD_CPUTIME_ID) - begin;
        nanosleep(&(struct timespec){.tv_nsec = pause_ns < 999999999 ? pause_ns : 999999999}, NULL);
    }
    return seconds;
}

static void measure(int ring_count, uint64_t rounds)
{
    double seconds = 0;
    uint64_t event_count = rounds * EVENTS * (uint64_t)ring_count;
    struct stat file;

    drain_bench_open(&bench);
    hand_process_join(&process, bench.folder_path, getpid(), hand_start_time(getpid()));
    for (int r = 0; r < ring_count; r++) {
        hand_ring_make(&rings[r], &process, SLOTS, getpid() + r, "thread");
        define_all(&rings[r]);
    }
    drain_all(ring_count);
    for (uint64_t round = 0; round < rounds; round++) {
        fill(ring_count, round);
        seconds += drain_all(ring_count);
    }
    fstat(bench.fd, &file);
    printf("%d rings: %" PRIu64 " events, %.2f M events a second of the processor, %.0f ns and %.2f bytes an event\n",
           ring_count, event_count, (double)event_count / seconds / 1e6, seconds / (double)event_count * 1e9,
           (double)file.st_size / (double)event_count);
    for (int r = 0; r < ring_count; r++)
        hand_ring_unmap(&rings[r]);
    hand_process_leave(&process);
    drain_bench_close(&bench);
}

static uint64_t rounds_wanted = 80;

/* What sets up the drain is of the tests, and works within one alone. */
START_TEST(the_drain_is_measured)
{
    for (int ring_count = 1; ring_count <= RINGS_MAX; ring_count *= 4)
        measure(ring_count, rounds_wanted / (uint64_t)ring_count + 1);
}
END_TEST

int main(int argument_count, char **arguments)
{
    Suite *suite = suite_create("drain");
    TCase *tests = tcase_create("drain");

    if (argument_count > 1)
        rounds_wanted = strtoull(arguments[1], NULL, 10);
    suite_add_tcase(suite, tests);
    tcase_add_test(tests, the_drain_is_measured);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK);
    srunner_run_all(runner, CK_SILENT);
    int failures = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failures == 0 ? 0 : 1;
}
