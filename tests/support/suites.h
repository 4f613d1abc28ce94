/* SPDX-License-Identifier: Apache-2.0
 *
 * Many suites are one program, so that a changed line is linked once for all of them. Each is a file, test_NAME.c, that ends with
 *
 *     TEST_SUITE(test_NAME)
 *     {
 *         Suite *suite = suite_create("name");
 *         ...
 *         return suite;
 *     }
 *
 * and a run is of one suite, the argument of the program: what a suite sets, in its environment too, is there for itself alone. One
 * that returns NULL has printed "skipped: WHY". support/suites.c is main().
 */
#ifndef NM_TESTS_SUPPORT_SUITES_H
#define NM_TESTS_SUPPORT_SUITES_H

#include <check.h>

typedef struct test_suite test_suite;

struct test_suite {
    const char *name;
    Suite *(*make)(void);
    test_suite *next;
};

void suites_add(test_suite *suite); /* which stays the caller's, and where it is */

#define TEST_SUITE(name)                                                                                               \
    static Suite *name(void);                                                                                          \
    static __attribute__((constructor)) void name##_is_there(void)                                                     \
    {                                                                                                                  \
        static test_suite suite = {#name, name, NULL};                                                                 \
        suites_add(&suite);                                                                                            \
    }                                                                                                                  \
    static Suite *name(void)

#endif
