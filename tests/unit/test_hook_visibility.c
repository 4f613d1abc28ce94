/* SPDX-License-Identifier: Apache-2.0
 *
 * Names that dlsym does not find while they are hidden: one after the other, and by several threads at once.
 */
#include "hook/visibility.h"

#include <check.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "hook/linker.h"

#define THREAD_COUNT 4
#define TURN_COUNT   5000

#define EXPORTED     __attribute__((visibility("default"), noinline, used))

EXPORTED int hide_first(void);
EXPORTED int hide_second(void);
EXPORTED int hide_third(void);
EXPORTED int hide_fourth(void);

int hide_first(void)
{
    return 1;
}

int hide_second(void)
{
    return 2;
}

int hide_third(void)
{
    return 3;
}

int hide_fourth(void)
{
    return 4;
}

static const struct name {
    const char *text;
    int (*function)(void);
} names[THREAD_COUNT] = {
    {"hide_first", hide_first}, {"hide_second", hide_second}, {"hide_third", hide_third}, {"hide_fourth", hide_fourth}};

/* What src/hook/dynamic.c has for it. */
void *nm_linker_find(void *library, const char *name)
{
    return dlsym(library, name);
}

static bool is_found(const struct name *name)
{
    return dlsym(RTLD_DEFAULT, name->text) != NULL;
}

START_TEST(a_hidden_name_is_not_found)
{
    ck_assert(is_found(&names[0]));
    ck_assert(nm_visibility_set_hidden((const void *)(uintptr_t)names[0].function, true));
    ck_assert(!is_found(&names[0]));
    ck_assert(is_found(&names[1]));
    ck_assert_int_eq(names[0].function(), 1);
    ck_assert(nm_visibility_set_hidden((const void *)(uintptr_t)names[0].function, false));
    ck_assert(is_found(&names[0]));
}
END_TEST

static void *hide_and_show(void *context)
{
    const struct name *name = context;
    uintptr_t failed_count = 0;

    for (int i = 0; i < TURN_COUNT; i++)
        failed_count += !nm_visibility_set_hidden((const void *)(uintptr_t)name->function, i % 2 == 0);
    return (void *)failed_count;
}

/* The names stand on one page: no thread may close it while another writes there. */
START_TEST(threads_hide_names_at_once)
{
    pthread_t threads[THREAD_COUNT];
    void *failed_count;

    for (int i = 0; i < THREAD_COUNT; i++)
        ck_assert_int_eq(pthread_create(&threads[i], NULL, hide_and_show, (void *)(uintptr_t)&names[i]), 0);
    for (int i = 0; i < THREAD_COUNT; i++) {
        ck_assert_int_eq(pthread_join(threads[i], &failed_count), 0);
        ck_assert_ptr_null(failed_count);
        ck_assert(is_found(&names[i])); /* the last turn shows it */
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hide");
    TCase *tests = tcase_create("hide");

    tcase_add_test(tests, a_hidden_name_is_not_found);
    tcase_add_test(tests, threads_hide_names_at_once);
    tcase_set_timeout(tests, 60);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
