/* SPDX-License-Identifier: Apache-2.0
 *
 * The arithmetic at its edges: where sums stop, where differences stop, and on both sides of each power of two.
 */
#include "base/number.h"
#include "support/suites.h"

#include <check.h>
#include <stdlib.h>

START_TEST(sums_stop_at_the_largest_sql_integer)
{
    const uint64_t most = UINT64_C(9223372036854775807);
    uint64_t sum = 40;

    ck_assert_uint_eq(nm_add_saturated(2, 3), 5);
    ck_assert_uint_eq(nm_add_saturated(most - 1, 1), most);
    ck_assert_uint_eq(nm_add_saturated(most, 1), most);
    ck_assert_uint_eq(nm_add_saturated(0, most + 1), most);
    ck_assert_uint_eq(nm_add_saturated(most + 1, 0), most);
    ck_assert_uint_eq(nm_add_saturated(UINT64_MAX, UINT64_MAX), most);
    nm_sum_add(&sum, 2);
    ck_assert_uint_eq(sum, 42);
    nm_sum_add(&sum, UINT64_MAX);
    ck_assert_uint_eq(sum, most);
}
END_TEST

START_TEST(differences_stop_at_nothing)
{
    ck_assert_uint_eq(nm_subtract_saturated(5, 3), 2);
    ck_assert_uint_eq(nm_subtract_saturated(3, 3), 0);
    ck_assert_uint_eq(nm_subtract_saturated(3, 5), 0);
}
END_TEST

START_TEST(parts_of_a_millisecond_are_dropped)
{
    ck_assert_uint_eq(nm_byte_ms(1999999), 1);
    ck_assert_uint_eq(nm_byte_ms((unsigned __int128)UINT64_MAX * 500000), UINT64_C(9223372036854775807));
    ck_assert_uint_eq(nm_byte_ms(~(unsigned __int128)0), UINT64_C(9223372036854775807));
}
END_TEST

START_TEST(powers_of_two_are_the_first_of_their_digits)
{
    uint64_t power = 2;

    ck_assert_int_eq(nm_bits_of(0), 0);
    ck_assert_int_eq(nm_bits_of(1), 1);
    ck_assert_int_eq(nm_log2(0), 0);
    ck_assert_int_eq(nm_log2(1), 0);
    for (int exponent = 1; exponent < 64; exponent++, power *= 2) {
        ck_assert_int_eq(nm_bits_of(power - 1), exponent);
        ck_assert_int_eq(nm_bits_of(power), exponent + 1);
        ck_assert_int_eq(nm_log2(power - 1), exponent - 1);
        ck_assert_int_eq(nm_log2(power), exponent);
    }
    ck_assert_int_eq(nm_bits_of(UINT64_MAX), 64);
    ck_assert_int_eq(nm_log2(UINT64_MAX), 63);
}
END_TEST

START_TEST(a_number_in_text_is_digits_and_no_more_than_allowed)
{
    static const char *const others[] = {"", "-1", "+1", " 1", "1 ", "0x1", "1.0", "eight", "18446744073709551616"};
    uint64_t number = 0;

    ck_assert(nm_number_read("0", 0, &number));
    ck_assert_uint_eq(number, 0);
    ck_assert(nm_number_read("0042", 42, &number));
    ck_assert_uint_eq(number, 42);
    ck_assert(!nm_number_read("43", 42, &number));
    ck_assert(nm_number_read("18446744073709551615", UINT64_MAX, &number));
    ck_assert_uint_eq(number, UINT64_MAX);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        ck_assert_msg(!nm_number_read(others[i], UINT64_MAX, &number), "'%s'", others[i]);
}
END_TEST

TEST_SUITE(test_number)
{
    Suite *suite = suite_create("number");
    TCase *cases = tcase_create("edges");

    tcase_add_test(cases, sums_stop_at_the_largest_sql_integer);
    tcase_add_test(cases, differences_stop_at_nothing);
    tcase_add_test(cases, parts_of_a_millisecond_are_dropped);
    tcase_add_test(cases, powers_of_two_are_the_first_of_their_digits);
    tcase_add_test(cases, a_number_in_text_is_digits_and_no_more_than_allowed);
    suite_add_tcase(suite, cases);
    return suite;
}
