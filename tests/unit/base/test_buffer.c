/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buffer.h"
#include "support/suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

START_TEST(what_is_appended_is_there)
{
    nm_buffer buffer = {0};

    for (int i = 0; i < 100000; i++)
        ck_assert_int_eq(nm_buffer_append(&buffer, &(uint8_t){(uint8_t)(i % 251)}, 1, NULL), NM_OK);
    ck_assert_uint_eq(buffer.len, 100000);
    for (int i = 0; i < 100000; i++)
        ck_assert_uint_eq(buffer.data[i], i % 251);
    nm_buffer_free(&buffer);
    ck_assert_ptr_null(buffer.data);
    ck_assert_int_eq(nm_buffer_append(&buffer, "again", 5, NULL), NM_OK);
    ck_assert_mem_eq(buffer.data, "again", 5);
    nm_buffer_free(&buffer);
}
END_TEST

START_TEST(nothing_can_be_appended_to_nothing)
{
    nm_buffer buffer = {0};

    ck_assert_int_eq(nm_buffer_append(&buffer, NULL, 0, NULL), NM_OK);
    ck_assert_uint_eq(buffer.len, 0);
    nm_buffer_free(&buffer);
}
END_TEST

START_TEST(varints_are_appended)
{
    nm_buffer buffer = {0};

    ck_assert_int_eq(nm_buffer_append_varint(&buffer, 300, NULL), NM_OK);
    ck_assert_int_eq(nm_buffer_append_varint(&buffer, 0, NULL), NM_OK);
    ck_assert_uint_eq(buffer.len, 3);
    ck_assert_mem_eq(buffer.data, "\xac\x02\x00", 3);
    nm_buffer_free(&buffer);
}
END_TEST

START_TEST(too_much_is_refused_and_changes_nothing)
{
    nm_buffer buffer = {0};
    nm_error err;

    ck_assert_int_eq(nm_buffer_append(&buffer, "kept", 4, NULL), NM_OK);
    ck_assert_int_eq(nm_buffer_reserve(&buffer, SIZE_MAX / 2, &err), NM_ERR_MEMORY);
    ck_assert_int_eq(nm_buffer_reserve(&buffer, SIZE_MAX, &err), NM_ERR_MEMORY);
    ck_assert_uint_eq(buffer.len, 4);
    ck_assert_mem_eq(buffer.data, "kept", 4);
    nm_buffer_free(&buffer);
}
END_TEST

START_TEST(an_array_grows_keeps_and_zeroes)
{
    struct {
        uint64_t *items;
        size_t count, capacity;
    } array = {0};

    for (uint64_t i = 0; i < 10000; i++) {
        ck_assert_int_eq(nm_array_grow(&array.items, &array.capacity, array.count + 1, sizeof *array.items, NULL),
                         NM_OK);
        for (size_t j = array.count; j < array.capacity && j < array.count + 3; j++)
            ck_assert_uint_eq(array.items[j], 0);
        array.items[array.count++] = i;
    }
    for (uint64_t i = 0; i < 10000; i++)
        ck_assert_uint_eq(array.items[i], i);
    free(array.items);
}
END_TEST

START_TEST(an_array_that_is_too_large_is_refused)
{
    uint64_t *items = NULL;
    size_t capacity = 0;
    nm_error err;

    ck_assert_int_eq(nm_array_grow(&items, &capacity, SIZE_MAX / 4, sizeof *items, &err), NM_ERR_MEMORY);
    ck_assert_ptr_null(items);
    ck_assert_uint_eq(capacity, 0);
}
END_TEST

TEST_SUITE(test_buffer)
{
    Suite *suite = suite_create("buffer");
    TCase *tests = tcase_create("buffer");

    tcase_add_test(tests, what_is_appended_is_there);
    tcase_add_test(tests, nothing_can_be_appended_to_nothing);
    tcase_add_test(tests, varints_are_appended);
    tcase_add_test(tests, too_much_is_refused_and_changes_nothing);
    tcase_add_test(tests, an_array_grows_keeps_and_zeroes);
    tcase_add_test(tests, an_array_that_is_too_large_is_refused);
    suite_add_tcase(suite, tests);
    return suite;
}
