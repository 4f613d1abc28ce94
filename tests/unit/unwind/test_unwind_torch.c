/* SPDX-License-Identifier: Apache-2.0
 *
 * The recorder's walk beside libunwind's and libgcc's, of stacks of code that others wrote and built: Debian's libtorch.
 */
#include <check.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "oracle.h"
#include "support/suites.h"

#define STEPS 6

START_TEST(stacks_of_libtorch_are_true)
{
#ifdef TORCH_STEPS_PATH
    void *library = dlopen(TORCH_STEPS_PATH, RTLD_NOW | RTLD_LOCAL), *symbol;
    double (*torch_steps)(void (*look)(void), int step_count);

    ck_assert_msg(library != NULL, "%s", dlerror());
    symbol = dlsym(library, "torch_steps");
    memcpy(&torch_steps, &symbol, sizeof torch_steps);
    ck_assert(torch_steps(oracle_look, STEPS) > 0);
    oracle_check(STEPS * 50);
#else
    fprintf(stderr, "skipped: stacks of libtorch, which is not installed (libtorch-dev)\n");
#endif
}
END_TEST

TEST_SUITE(test_unwind_torch)
{
    Suite *suite = suite_create("unwind_torch");
    TCase *tests = tcase_create("unwind_torch");

    tcase_set_timeout(tests, 120);
    tcase_add_checked_fixture(tests, oracle_begin, oracle_end);
    tcase_add_test(tests, stacks_of_libtorch_are_true);
    suite_add_tcase(suite, tests);
    return suite;
}
