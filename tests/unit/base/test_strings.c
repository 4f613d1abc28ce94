/* SPDX-License-Identifier: Apache-2.0 */
#include "base/strings.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "support/suites.h"

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

static uint64_t rotate_left(uint64_t value, unsigned count)
{
    return value << count | value >> (64 - count);
}

/* XXH64 with seed 0 of 16 bytes, its second lane chosen so that the first one does not matter. */
START_TEST(strings_of_one_checksum_do_not_pile_up)
{
    const uint64_t prime_1 = 0x9E3779B185EBCA87u, prime_2 = 0xC2B2AE3D27D4EB4Fu, prime_4 = 0x85EBCA77C2B2AE63u;
    uint64_t inverse_1 = prime_1, inverse_2 = prime_2, checksum = 0;
    nm_strings strings = {0};

    for (int i = 0; i < 6; i++) {
        inverse_1 *= 2 - prime_1 * inverse_1;
        inverse_2 *= 2 - prime_2 * inverse_2;
    }
    for (unsigned i = 0; i < 30000; i++) {
        uint64_t hash = 0x27D4EB2F165667C5u + 16;
        uint8_t text[16];

        hash ^= rotate_left(i * prime_2, 31) * prime_1;
        hash = rotate_left(hash, 27) * prime_1 + prime_4;
        nm_put_u64(text, i);
        nm_put_u64(text + 8,
                   rotate_left(hash * inverse_1, 33) * inverse_2); /* what mixes to `hash`, so that 0 is left */
        ck_assert(i == 0 || nm_checksum(text, 16) == checksum);
        checksum = nm_checksum(text, 16);
        ck_assert_uint_eq(intern(&strings, (const char *)text, 16), i + 1);
    }
    nm_strings_free(&strings);
}
END_TEST

TEST_SUITE(test_strings)
{
    Suite *suite = suite_create("strings");
    TCase *tests = tcase_create("strings");

    tcase_add_test(tests, numbers_follow_first_appearance);
    tcase_add_test(tests, any_bytes_are_a_string_and_end_in_zero);
    tcase_add_test(tests, a_number_never_given_is_no_string);
    tcase_add_test(tests, many_strings_are_found_again);
    tcase_add_test(tests, strings_of_one_checksum_do_not_pile_up);
    suite_add_tcase(suite, tests);
    return suite;
}
