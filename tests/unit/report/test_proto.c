/* SPDX-License-Identifier: Apache-2.0
 *
 * The wire format of protocol buffers, against bytes worked out by hand (those of its documentation among them).
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "export/proto.h"
#include "support/suites.h"

static void is_bytes(nm_proto *message, const char *expected, size_t len)
{
    ck_assert_int_eq(nm_proto_end(message, NULL), NM_OK);
    ck_assert_uint_eq(message->bytes.len, len);
    ck_assert_mem_eq(message->bytes.data, expected, len);
    nm_proto_free(message);
}

#define IS_BYTES(message, text) is_bytes(&(message), text, sizeof(text) - 1)

START_TEST(numbers_are_varints)
{
    nm_proto message = {0};

    nm_proto_uint(&message, 1, 150);
    IS_BYTES(message, "\x08\x96\x01");
    nm_proto_uint(&message, 1, 0);
    IS_BYTES(message, "\x08\x00");
    nm_proto_uint(&message, 16, UINT64_MAX); /* the field's number has two bytes from 16 on */
    IS_BYTES(message, "\x80\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    nm_proto_int(&message, 2, -2);
    IS_BYTES(message, "\x10\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    nm_proto_uint(&message, (1 << 29) - 1, 1); /* the largest field */
    IS_BYTES(message, "\xf8\xff\xff\xff\x0f\x01");
}
END_TEST

START_TEST(texts_have_their_length_before_them)
{
    nm_proto message = {0};

    nm_proto_text(&message, 2, "testing");
    IS_BYTES(message, "\x12\x07testing");
    nm_proto_bytes(&message, 2, "a\0b", 3);
    nm_proto_bytes(&message, 6, NULL, 0);
    IS_BYTES(message, "\x12\x03"
                      "a\0b\x32\x00");
}
END_TEST

START_TEST(lists_are_packed)
{
    static const int64_t values[] = {3, 270, 86942}, negative[] = {0, -1};
    nm_proto message = {0};

    nm_proto_packed(&message, 4, values, 3);
    IS_BYTES(message, "\x22\x06\x03\x8e\x02\x9e\xa7\x05");
    nm_proto_packed(&message, 4, negative, 2);
    IS_BYTES(message, "\x22\x0b\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01");
    nm_proto_packed(&message, 4, NULL, 0);
    IS_BYTES(message, "\x22\x00");
}
END_TEST

START_TEST(messages_lie_within_messages)
{
    nm_proto inner = {0}, message = {0}, outer = {0};

    nm_proto_uint(&inner, 1, 150);
    nm_proto_message(&message, 3, &inner);
    nm_proto_message(&outer, 1, &message);
    nm_proto_clear(&message);
    nm_proto_message(&outer, 2, &message);
    nm_proto_free(&inner);
    nm_proto_free(&message);
    IS_BYTES(outer, "\x0a\x05\x1a\x03\x08\x96\x01\x12\x00");
}
END_TEST

START_TEST(a_length_of_two_bytes_counts_all_of_a_long_message)
{
    static uint8_t data[300];
    nm_proto inner = {0}, outer = {0};

    nm_proto_bytes(&inner, 1, data, sizeof data);
    nm_proto_message(&outer, 1, &inner);
    ck_assert_uint_eq(outer.bytes.len, 3 + 3 + sizeof data);
    ck_assert_mem_eq(outer.bytes.data, "\x0a\xaf\x02\x0a\xac\x02", 6); /* 303 and 300 */
    nm_proto_free(&inner);
    nm_proto_free(&outer);
}
END_TEST

START_TEST(a_message_that_is_not_whole_makes_those_around_it_so)
{
    nm_proto inner = {.status = NM_ERR_MEMORY}, outer = {0};
    nm_error err;

    nm_proto_uint(&outer, 1, 1);
    nm_proto_message(&outer, 2, &inner);
    nm_proto_uint(&outer, 3, 1);
    ck_assert_int_eq(nm_proto_end(&outer, &err), NM_ERR_MEMORY);
    ck_assert_str_eq(err.text, "out of memory");
    nm_proto_clear(&outer);
    ck_assert_int_eq(nm_proto_end(&outer, &err), NM_OK);
    nm_proto_free(&outer);
}
END_TEST

TEST_SUITE(test_proto)
{
    TCase *cases = tcase_create("proto");
    Suite *suite = suite_create("proto");

    tcase_add_test(cases, numbers_are_varints);
    tcase_add_test(cases, texts_have_their_length_before_them);
    tcase_add_test(cases, lists_are_packed);
    tcase_add_test(cases, messages_lie_within_messages);
    tcase_add_test(cases, a_length_of_two_bytes_counts_all_of_a_long_message);
    tcase_add_test(cases, a_message_that_is_not_whole_makes_those_around_it_so);
    suite_add_tcase(suite, cases);
    return suite;
}
