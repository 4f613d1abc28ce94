/* SPDX-License-Identifier: Apache-2.0
 *
 * Byte order, varints and the bounded reader, against bytes written down by hand.
 */
#include "base/bytes.h"
#include "support/suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(numbers_are_little_endian)
{
    uint8_t bytes[8];

    nm_put_u64(bytes, 0x0102030405060708);
    ck_assert_mem_eq(bytes, "\x08\x07\x06\x05\x04\x03\x02\x01", 8);
    ck_assert_uint_eq(nm_get_u64(bytes), 0x0102030405060708);
    ck_assert_uint_eq(nm_get_u32(bytes), 0x05060708);
    ck_assert_uint_eq(nm_get_u16(bytes), 0x0708);
    nm_put_u16(bytes, 0xfffe);
    nm_put_u32(bytes + 2, 0x80000001);
    ck_assert_mem_eq(bytes, "\xfe\xff\x01\x00\x00\x80", 6);
}
END_TEST

static const struct {
    uint64_t value;
    size_t len;
    const char *bytes;
} varints[] = {
    {0, 1, "\x00"},
    {127, 1, "\x7f"},
    {128, 2, "\x80\x01"},
    {300, 2, "\xac\x02"},
    {16383, 2, "\xff\x7f"},
    {16384, 3, "\x80\x80\x01"},
    {UINT64_C(1) << 63, 10, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
    {UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
};

START_TEST(varints_have_the_documented_bytes)
{
    uint8_t bytes[NM_VARINT_BYTES_MAX];

    for (size_t i = 0; i < sizeof varints / sizeof varints[0]; i++) {
        nm_cursor cursor = nm_cursor_over(varints[i].bytes, varints[i].len);

        ck_assert_uint_eq(nm_put_varint(bytes, varints[i].value), varints[i].len);
        ck_assert_mem_eq(bytes, varints[i].bytes, varints[i].len);
        ck_assert_uint_eq(nm_read_varint(&cursor), varints[i].value);
        ck_assert(!cursor.is_bad);
        ck_assert_uint_eq(nm_cursor_left(&cursor), 0);
    }
}
END_TEST

START_TEST(a_varint_that_is_cut_or_too_long_is_bad)
{
    static const struct {
        size_t len;
        const char *bytes;
    } wrong[] = {
        {0, ""},
        {1, "\x80"},
        {9, "\xff\xff\xff\xff\xff\xff\xff\xff\xff"},
        {10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02"},
        {11, "\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"},
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nm_cursor cursor = nm_cursor_over(wrong[i].bytes, wrong[i].len);

        ck_assert_uint_eq(nm_read_varint(&cursor), 0);
        ck_assert_msg(cursor.is_bad, "case %zu", i);
        ck_assert_uint_eq(cursor.at, 0);
    }
}
END_TEST

START_TEST(zigzag_keeps_small_magnitudes_small)
{
    static const int64_t values[] = {0, -1, 1, -2, 2, INT64_MAX, INT64_MIN};
    static const uint64_t coded[] = {0, 1, 2, 3, 4, UINT64_MAX - 1, UINT64_MAX};

    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        ck_assert_uint_eq(nm_zigzag(values[i]), coded[i]);
        ck_assert_int_eq(nm_unzigzag(coded[i]), values[i]);
    }
}
END_TEST

START_TEST(a_cursor_stops_at_the_end_and_stays_bad)
{
    nm_cursor cursor = nm_cursor_over("\x01\x02\x03\x04\x05", 5);

    ck_assert_uint_eq(nm_read_u32(&cursor), 0x04030201);
    ck_assert_uint_eq(nm_read_u32(&cursor), 0);
    ck_assert(cursor.is_bad);
    ck_assert_uint_eq(cursor.at, 4);
    ck_assert_uint_eq(nm_read_u8(&cursor), 0);
    ck_assert_uint_eq(nm_cursor_left(&cursor), 0);
}
END_TEST

START_TEST(bytes_are_borrowed_and_a_length_beyond_the_end_is_bad)
{
    const char *text = "abc";
    nm_cursor cursor = nm_cursor_over(text, 3);
    nm_bytes two = nm_read_bytes(&cursor, 2);

    ck_assert_ptr_eq(two.data, text);
    ck_assert_uint_eq(two.len, 2);
    ck_assert_uint_eq(nm_read_bytes(&cursor, UINT64_MAX).len, 0);
    ck_assert(cursor.is_bad);
}
END_TEST

TEST_SUITE(test_bytes)
{
    Suite *suite = suite_create("bytes");
    TCase *tests = tcase_create("bytes");

    tcase_add_test(tests, numbers_are_little_endian);
    tcase_add_test(tests, varints_have_the_documented_bytes);
    tcase_add_test(tests, a_varint_that_is_cut_or_too_long_is_bad);
    tcase_add_test(tests, zigzag_keeps_small_magnitudes_small);
    tcase_add_test(tests, a_cursor_stops_at_the_end_and_stays_bad);
    tcase_add_test(tests, bytes_are_borrowed_and_a_length_beyond_the_end_is_bad);
    suite_add_tcase(suite, tests);
    return suite;
}
