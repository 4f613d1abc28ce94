/* SPDX-License-Identifier: Apache-2.0
 *
 * What is printed in the reader's language: by its English, whole or around a part; and how wide it is.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "base/error.h"
#include "base/spoken.h"
#include "say/spoken.h"
#include "support/suites.h"

START_TEST(a_text_is_spoken_in_the_language_that_was_set_last)
{
    ck_assert_str_eq(nm_spoken("cannot open"), "cannot open");
    nm_spoken_in(NM_CHINESE);
    ck_assert_int_eq(nm_spoken_language(), NM_CHINESE);
    ck_assert_str_eq(nm_spoken("cannot open"), "无法打开");
    ck_assert_str_eq(nm_spoken("nobody says this"), "nobody says this");
    nm_spoken_in(NM_ENGLISH);
    ck_assert_str_eq(nm_spoken("cannot open"), "cannot open");
}
END_TEST

START_TEST(an_error_is_spoken_with_its_values_and_the_words_of_the_system)
{
    nm_error err = {0};

    nm_spoken_in(NM_CHINESE);
    nm_fail(&err, NM_ERR_USAGE, NM_NO_OFFSET, "must be a number, %llu to %llu", 1ULL, 9ULL);
    ck_assert_str_eq(err.text, "须为 1 到 9 的数字");
    nm_fail_errno(&err, ENOENT, "cannot open");
    ck_assert_str_eq(err.text, "无法打开: 没有该文件或文件夹");
    nm_spoken_in(NM_ENGLISH);
}
END_TEST

START_TEST(what_sql_says_is_spoken_around_its_part)
{
    char out[64];

    ck_assert_str_eq(nm_spoken_said("in step 12", out, sizeof out), "in step 12");
    nm_spoken_in(NM_CHINESE);
    ck_assert_str_eq(nm_spoken_said("in step 12", out, sizeof out), "在第 12 步");
    ck_assert_str_eq(nm_spoken_said("at the peak; as far as is known", out, sizeof out), "峰值时；据已知部分");
    ck_assert_str_eq(nm_spoken_said("in steps", out, sizeof out), "in steps");
    ck_assert_str_eq(nm_spoken_said("in step 12", out, 5), "在");
    nm_spoken_in(NM_ENGLISH);
}
END_TEST

START_TEST(a_column_is_as_wide_as_it_looks)
{
    ck_assert_int_eq(nm_spoken_width(9, "reserved"), 9);
    ck_assert_int_eq(nm_spoken_width(9, "预留"), 11);
    ck_assert_int_eq(nm_spoken_width(-4, "满足"), -6);
}
END_TEST

TEST_SUITE(test_spoken)
{
    Suite *suite = suite_create("spoken");
    TCase *cases = tcase_create("spoken");

    tcase_add_test(cases, a_text_is_spoken_in_the_language_that_was_set_last);
    tcase_add_test(cases, an_error_is_spoken_with_its_values_and_the_words_of_the_system);
    tcase_add_test(cases, what_sql_says_is_spoken_around_its_part);
    tcase_add_test(cases, a_column_is_as_wide_as_it_looks);
    suite_add_tcase(suite, cases);
    return suite;
}
