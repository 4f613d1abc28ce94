/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's walk beside libunwind's and libgcc's, of stacks made at random out of functions of every shape.
 */
#include <check.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>

#include "oracle.h"
#include "shapes.h"
#include "support/emulated.h"
#include "support/suites.h"

static size_t stack_count(void)
{
    return is_emulated() ? 5000 : 20000;
}

static void look_at_many(unsigned seed, bool has_other_stacks)
{
    shapes_begin(seed, has_other_stacks);
    for (size_t i = 0; i < stack_count(); i++)
        shapes_go(1 + (unsigned)(i * 7 % 40));
}

START_TEST(stacks_of_the_main_thread_are_true)
{
    look_at_many(1, false);
    oracle_check(stack_count());
}
END_TEST

START_TEST(stacks_for_signals_and_of_coroutines_are_true)
{
    look_at_many(2, true);
    oracle_check(stack_count());
}
END_TEST

static void *look_in_thread(void *seed)
{
    look_at_many((unsigned)(uintptr_t)seed, true);
    return NULL;
}

START_TEST(stacks_of_threads_are_true_from_their_first_function_on)
{
    pthread_t threads[3];

    for (uintptr_t i = 0; i < 3; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, look_in_thread, (void *)(i + 3)), 0);
    for (size_t i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    oracle_check(3 * stack_count());
}
END_TEST

/* The same few stacks, at the same addresses, again and again. */
START_TEST(what_is_remembered_is_true)
{
    for (unsigned round = 0; round < 50; round++) {
        shapes_begin(7, false);
        for (unsigned i = 0; i < 40; i++)
            shapes_go(1 + i);
    }
    oracle_check(2000);
    ck_assert_uint_ge(oracle_seen.known_count, 49 * 40);
}
END_TEST

START_TEST(what_another_stack_has_left_is_not_remembered)
{
    shapes_go_stale();
    shapes_go_stale();
    oracle_check(120);
}
END_TEST

static void *unwind_thread(void *depth)
{
    shapes_begin(11, false);
    shapes_unwind((unsigned)(uintptr_t)depth);
}

START_TEST(stacks_are_true_while_they_are_unwound)
{
    for (uintptr_t depth = 0; depth < 30; depth++) {
        pthread_t thread;

        ck_assert_int_eq(pthread_create(&thread, NULL, unwind_thread, (void *)depth), 0);
        pthread_join(thread, NULL);
    }
    oracle_check(30 * 31 / 2);
}
END_TEST

/* ---- Code without rules -------------------------------------------------------------------------------------------- */

#if defined(__x86_64__)
static const unsigned char with_frame[] = {0x55, 0x48, 0x89, 0xe5,
                                           0xff, 0xd7, 0x5d, 0xc3}; /* push, mov rbp; call *rdi; pop; ret */
/* push rbp; mov $0x1234, ebp; call *rdi; pop rbp; ret */
static const unsigned char without_frame[] = {0x55, 0xbd, 0x34, 0x12, 0, 0, 0xff, 0xd7, 0x5d, 0xc3};
#else
/* stp x29, x30, [sp, #-16]!; mov x29, sp; blr x0; ldp x29, x30, [sp], #16; ret */
static const unsigned with_frame[] = {0xa9bf7bfd, 0x910003fd, 0xd63f0000, 0xa8c17bfd, 0xd65f03c0};
static const unsigned without_frame[] = {0xa9bf7bfd, 0xd282469d, 0xd63f0000, 0xa8c17bfd,
                                         0xd65f03c0}; /* mov x29, #0x1234 */
#endif

typedef void made_code(void (*call)(void));

static uintptr_t walked[ORACLE_FRAMES_MAX];
static unsigned walked_count;
static bool is_walk_cut;

__attribute__((noinline)) static void walk_here(void)
{
    walked_count = oracle_walk(walked, &is_walk_cut);
    __asm__ volatile("" : : : "memory");
}

/* The return address of the call in it. */
__attribute__((noinline)) static uintptr_t run_made(const void *code, size_t bytes, size_t return_offset)
{
    void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    made_code *made;

    memcpy(memory, code, bytes);
    mprotect(memory, 4096, PROT_READ | PROT_EXEC);
    __builtin___clear_cache((char *)memory, (char *)memory + bytes);
    memcpy(&made, &memory, sizeof made);
    made(walk_here);
    __asm__ volatile("" : : : "memory");
    return (uintptr_t)memory + return_offset;
}

/* The function that made code was called by, and what called that; noted in the function itself. */
static uintptr_t outer_return;

__attribute__((noinline)) static uintptr_t run_from_here(const void *code, size_t bytes, size_t return_offset)
{
    uintptr_t result = run_made(code, bytes, return_offset);

    outer_return = (uintptr_t)__builtin_return_address(0);
    return result;
}

START_TEST(made_code_with_a_frame_is_passed)
{
    uintptr_t made =
        run_from_here(with_frame, sizeof with_frame, sizeof(void *) == 8 && sizeof *with_frame == 1 ? 6 : 12);

    ck_assert(!is_walk_cut);
    ck_assert_uint_ge(walked_count, 5);
    ck_assert_uint_eq(walked[1], made);
    ck_assert_uint_eq(walked[4], outer_return);
}
END_TEST

START_TEST(made_code_without_a_frame_ends_the_stack_which_is_cut)
{
    uintptr_t made = run_from_here(without_frame, sizeof without_frame, sizeof *without_frame == 1 ? 8 : 12);

    ck_assert(is_walk_cut);
    ck_assert_uint_eq(walked_count, 2);
    ck_assert_uint_eq(walked[1], made);
}
END_TEST

TEST_SUITE(test_unwind_shapes)
{
    Suite *suite = suite_create("unwind_shapes");
    TCase *tests = tcase_create("unwind_shapes");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, oracle_begin, oracle_end);
    tcase_add_test(tests, stacks_of_the_main_thread_are_true);
    tcase_add_test(tests, stacks_for_signals_and_of_coroutines_are_true);
    tcase_add_test(tests, stacks_of_threads_are_true_from_their_first_function_on);
    tcase_add_test(tests, what_is_remembered_is_true);
    tcase_add_test(tests, what_another_stack_has_left_is_not_remembered);
    tcase_add_test(tests, stacks_are_true_while_they_are_unwound);
    tcase_add_test(tests, made_code_with_a_frame_is_passed);
    tcase_add_test(tests, made_code_without_a_frame_ends_the_stack_which_is_cut);
    suite_add_tcase(suite, tests);
    return suite;
}
