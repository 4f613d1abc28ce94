/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t intern(nm_strings *strings, const void *data, size_t len)
{
    uint32_t number = 0;

    ck_assert_int_eq(nm_strings_intern(strings, (nm_bytes){data, len}, &number, NULL), NM_OK);
    return number;
}

START_TEST(numbers_follow_first_appearance)
{
    nm_strings strings = {0};

    ck_assert_uint_eq(intern(&strings, "one", 3), 1);
    ck_assert_uint_eq(intern(&strings, "two", 3), 2);
    ck_assert_uint_eq(intern(&strings, "one", 3), 1);
    ck_assert_uint_eq(intern(&strings, "on", 2), 3);
    ck_assert_uint_eq(intern(&strings, "", 0), 4);
    ck_assert_uint_eq(intern(&strings, NULL, 0), 4);
    ck_assert_uint_eq(strings.count, 4);
    nm_strings_free(&strings);
}
END_TEST

START_TEST(any_bytes_are_a_string_and_end_in_zero)
{
    nm_strings strings = {0};
    uint32_t number = intern(&strings, "a\0b", 3);
    nm_bytes got = nm_strings_get(&strings, number);

    ck_assert_uint_ne(intern(&strings, "a\0c", 3), number);
    got = nm_strings_get(&strings, number);
    ck_assert_uint_eq(got.len, 3);
    ck_assert_mem_eq(got.data, "a\0b\0", 4);
    nm_strings_free(&strings);
}
END_TEST

START_TEST(a_number_never_given_is_no_string)
{
    nm_strings strings = {0};

    ck_assert_ptr_null(nm_strings_get(&strings, 0).data);
    ck_assert_ptr_null(nm_strings_get(&strings, 1).data);
    intern(&strings, "x", 1);
    ck_assert_ptr_null(nm_strings_get(&strings, 2).data);
    nm_strings_free(&strings);
}
END_TEST

START_TEST(many_strings_are_found_again)
{
    nm_strings strings = {0};
    char text[32];

    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < 50000; i++) {
            int len = snprintf(text, sizeof text, "site %u", i * 2654435761u);
            ck_assert_uint_eq(intern(&strings, text, (size_t)len), i + 1);
            nm_bytes got = nm_strings_get(&strings, i + 1);
            ck_assert_str_eq((const char *)got.data, text);
        }
    nm_strings_free(&strings);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("strings");
    TCase *tests = tcase_create("strings");

    tcase_add_test(tests, numbers_follow_first_appearance);
    tcase_add_test(tests, any_bytes_are_a_string_and_end_in_zero);
    tcase_add_test(tests, a_number_never_given_is_no_string);
    tcase_add_test(tests, many_strings_are_found_again);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
