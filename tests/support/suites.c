/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs the suite that is named, of those that are linked. CTest knows each by its own name (tests/CMakeLists.txt).
 */
#include "support/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SKIPPED 77

static test_suite *suites;

void suites_add(test_suite *suite)
{
    suite->next = suites;
    suites = suite;
}

static int run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int failed_count;

    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    for (test_suite *suite = suites; argc == 2 && suite != NULL; suite = suite->next)
        if (strcmp(suite->name, argv[1]) == 0) {
            Suite *made = suite->make();
            return made == NULL ? SKIPPED : run(made);
        }

    fprintf(stderr, "usage: %s SUITE, one of:\n", argv[0]);
    for (test_suite *suite = suites; suite != NULL; suite = suite->next)
        fprintf(stderr, "    %s\n", suite->name);
    return 2;
}
