/* SPDX-License-Identifier: Apache-2.0
 *
 * Pickles as they are written, against bytes worked out by hand from the list of opcodes (Python's pickletools).
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/pickle_writer.h"
#include "support/suites.h"

static char *bytes;
static size_t byte_count;
static nm_pickle_writer writer;

static void begin(void)
{
    nm_pickle_begin(&writer, open_memstream(&bytes, &byte_count));
}

/* What was written is "\x80\x04", `expected` and ".". */
static void is_written(const char *expected, size_t len)
{
    FILE *out = writer.out;

    ck_assert_int_eq(nm_pickle_end(&writer, NULL), NM_OK);
    nm_pickle_writer_fini(&writer);
    fclose(out);
    ck_assert_uint_eq(byte_count, len + 3);
    ck_assert_mem_eq(bytes, "\x80\x04", 2);
    ck_assert_mem_eq(bytes + 2, expected, len);
    ck_assert_int_eq(bytes[len + 2], '.');
    free(bytes);
}

#define IS_WRITTEN(text) is_written(text, sizeof(text) - 1)

START_TEST(numbers_take_as_few_bytes_as_they_need)
{
    static const struct {
        int64_t value;
        const char *bytes;
        size_t len;
    } cases[] = {
        {0, "K\x00", 2},
        {255, "K\xff", 2},
        {256, "M\x00\x01", 3},
        {65535, "M\xff\xff", 3},
        {65536, "J\x00\x00\x01\x00", 5},
        {-1, "J\xff\xff\xff\xff", 5},
        {INT32_MAX, "J\xff\xff\xff\x7f", 5},
        {INT32_MIN, "J\x00\x00\x00\x80", 5},
        {INT64_C(1) << 31, "\x8a\x05\x00\x00\x00\x80\x00", 7}, /* the fifth byte says that it is not negative */
        {-(INT64_C(1) << 31) - 1, "\x8a\x05\xff\xff\xff\x7f\xff", 7},
        {INT64_C(0x7fffffffff), "\x8a\x05\xff\xff\xff\xff\x7f", 7},
        {INT64_MAX, "\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f", 10},
        {INT64_MIN, "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80", 10},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        nm_pickle_int(&writer, cases[i].value);
        is_written(cases[i].bytes, cases[i].len);
    }
}
END_TEST

START_TEST(addresses_are_never_negative)
{
    begin();
    nm_pickle_address(&writer, 4096);
    IS_WRITTEN("M\x00\x10");
    begin();
    nm_pickle_address(&writer, UINT64_MAX);
    IS_WRITTEN("\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00");
}
END_TEST

START_TEST(words_are_written_once)
{
    begin();
    nm_pickle_dict(&writer);
    nm_pickle_word(&writer, "ab");
    nm_pickle_word(&writer, "c");
    nm_pickle_word(&writer, "c");
    nm_pickle_word(&writer, "ab");
    nm_pickle_dict_end(&writer);
    IS_WRITTEN("}(\x8c\x02"
               "ab\x94\x8c\x01"
               "c\x94h\x01h\x00u");
}
END_TEST

START_TEST(texts_of_any_length_are_whole)
{
    static char text[301], expected[305];

    memset(text, 'x', 300);
    begin();
    nm_pickle_text(&writer, text + 45);
    memcpy(expected, "\x8c\xff", 2);
    memset(expected + 2, 'x', 255);
    is_written(expected, 257);
    begin();
    nm_pickle_text(&writer, text);
    memcpy(expected, "X\x2c\x01\x00\x00", 5);
    memset(expected + 5, 'x', 300);
    is_written(expected, 305);
}
END_TEST

START_TEST(items_go_into_their_list_a_thousand_at_a_time)
{
    static char expected[4 + 2 * 1001 + 2];
    nm_pickle_list_state list;

    begin();
    nm_pickle_list(&writer, &list);
    nm_pickle_list_end(&writer, &list);
    IS_WRITTEN("]");
    begin();
    nm_pickle_list(&writer, &list);
    for (int i = 0; i < 1001; i++) {
        nm_pickle_item(&writer, &list);
        nm_pickle_int(&writer, 1);
    }
    nm_pickle_list_end(&writer, &list);
    memcpy(expected, "](", 2);
    for (int i = 0; i < 1000; i++)
        memcpy(expected + 2 + 2 * i, "K\x01", 2);
    memcpy(expected + 2002, "e(K\x01", 4);
    memcpy(expected + 2006, "e", 1);
    is_written(expected, 2007);
}
END_TEST

START_TEST(what_is_kept_is_named_by_its_number)
{
    begin();
    for (int i = 0; i < 257; i++) {
        nm_pickle_truth(&writer, true);
        ck_assert_uint_eq(nm_pickle_keep(&writer), (uint32_t)i);
    }
    nm_pickle_name(&writer, 255);
    nm_pickle_name(&writer, 256);
    nm_pickle_truth(&writer, true);
    nm_pickle_truth(&writer, false);
    nm_pickle_pair(&writer, 1, -1);
    FILE *out = writer.out;
    ck_assert_int_eq(nm_pickle_end(&writer, NULL), NM_OK);
    nm_pickle_writer_fini(&writer);
    fclose(out);
    ck_assert_uint_eq(byte_count, 2 + 2 * 257 + 2 + 5 + 2 + 8 + 1);
    ck_assert_mem_eq(bytes + 2 + 2 * 257, "h\xffj\x00\x01\x00\x00\x88\x89K\x01J\xff\xff\xff\xff\x86.", 18);
    free(bytes);
}
END_TEST

TEST_SUITE(test_pickle_writer)
{
    TCase *cases = tcase_create("pickle_writer");
    Suite *suite = suite_create("pickle_writer");

    tcase_add_test(cases, numbers_take_as_few_bytes_as_they_need);
    tcase_add_test(cases, addresses_are_never_negative);
    tcase_add_test(cases, words_are_written_once);
    tcase_add_test(cases, texts_of_any_length_are_whole);
    tcase_add_test(cases, items_go_into_their_list_a_thousand_at_a_time);
    tcase_add_test(cases, what_is_kept_is_named_by_its_number);
    suite_add_tcase(suite, cases);
    return suite;
}
