/* SPDX-License-Identifier: Apache-2.0
 *
 * The map against an array that is indexed by the key, over random puts and removals.
 */
#include "base/map.h"
#include "support/suites.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEYS 512

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* Keys that share bits in many ways: small, large, differing in one half alone. */
static nm_key key_of(size_t index)
{
    switch (index % 4) {
    case 0:
        return (nm_key){0, index};
    case 1:
        return (nm_key){index, 0};
    case 2:
        return (nm_key){1, index << 40};
    default:
        return (nm_key){index << 50, UINT64_MAX - index};
    }
}

static void check_walk(const nm_map *map, const bool *is_in, const uint64_t *values)
{
    bool seen[KEYS] = {false};
    size_t at = 0, count = 0;
    nm_key key;
    uint64_t value;

    while (nm_map_next(map, &at, &key, &value)) {
        size_t found = KEYS;
        for (size_t i = 0; i < KEYS; i++)
            if (key_of(i).high == key.high && key_of(i).low == key.low)
                found = i;
        ck_assert_uint_lt(found, KEYS);
        ck_assert(is_in[found] && !seen[found]);
        ck_assert_uint_eq(value, values[found]);
        seen[found] = true;
        count++;
    }
    ck_assert_uint_eq(count, map->count);
}

START_TEST(it_does_what_an_array_does)
{
    nm_map map = {0};
    static bool is_in[KEYS];
    static uint64_t values[KEYS];
    size_t count = 0;

    for (int round = 0; round < 200000; round++) {
        size_t index = next_random(KEYS);
        uint64_t *found = nm_map_get(&map, key_of(index));
        uint64_t removed = 0;

        ck_assert_int_eq(found != NULL, is_in[index]);
        if (found != NULL)
            ck_assert_uint_eq(*found, values[index]);
        if (next_random(2) == 0) {
            count += !is_in[index];
            is_in[index] = true;
            values[index] = next_random(UINT64_MAX);
            ck_assert_int_eq(nm_map_put(&map, key_of(index), values[index], NULL), NM_OK);
        } else {
            ck_assert_int_eq(nm_map_remove(&map, key_of(index), &removed), is_in[index]);
            if (is_in[index])
                ck_assert_uint_eq(removed, values[index]);
            count -= is_in[index];
            is_in[index] = false;
        }
        ck_assert_uint_eq(map.count, count);
        if (round % 20000 == 0)
            check_walk(&map, is_in, values);
    }
    nm_map_free(&map);
}
END_TEST

START_TEST(an_empty_map_has_nothing)
{
    nm_map map = {0};
    size_t at = 0;

    ck_assert_ptr_null(nm_map_get(&map, (nm_key){0, 0}));
    ck_assert(!nm_map_remove(&map, (nm_key){0, 0}, NULL));
    ck_assert(!nm_map_next(&map, &at, NULL, NULL));
    nm_map_free(&map);
    ck_assert_int_eq(nm_map_put(&map, (nm_key){0, 0}, 7, NULL), NM_OK);
    ck_assert_uint_eq(*nm_map_get(&map, (nm_key){0, 0}), 7);
    nm_map_free(&map);
}
END_TEST

START_TEST(a_million_addresses_come_and_go)
{
    nm_map map = {0};

    for (uint64_t i = 0; i < 1000000; i++) {
        ck_assert_int_eq(nm_map_put(&map, (nm_key){i % 8, 0x124000000000 + i * 512}, i, NULL), NM_OK);
        if (i >= 1000) {
            uint64_t old = i - 1000, value;
            ck_assert(nm_map_remove(&map, (nm_key){old % 8, 0x124000000000 + old * 512}, &value));
            ck_assert_uint_eq(value, old);
        }
    }
    ck_assert_uint_eq(map.count, 1000);
    ck_assert_uint_le(map.capacity, 4096);
    nm_map_free(&map);
}
END_TEST

/* Numbers that were too large for the array when they came go into it when enough others are there. */
START_TEST(small_numbers_go_into_the_array_in_any_order)
{
    nm_map map = {0};

    for (uint64_t i = 3000; i > 0; i -= 2)
        ck_assert_int_eq(nm_map_put(&map, (nm_key){0, i}, i * 7, NULL), NM_OK);
    ck_assert_uint_lt(map.dense_count, 100);
    for (uint64_t i = 1; i <= 3000; i += 2)
        ck_assert_int_eq(nm_map_put(&map, (nm_key){0, i}, i * 7, NULL), NM_OK);
    for (uint64_t i = 1; i <= 3000; i += 2)
        ck_assert_int_eq(nm_map_put(&map, (nm_key){1, i}, i * 9, NULL), NM_OK);
    ck_assert_uint_eq(map.count, 4500);
    ck_assert_uint_eq(map.dense_count, 3000);
    for (uint64_t i = 1; i <= 3000; i++) {
        ck_assert_uint_eq(*nm_map_get(&map, (nm_key){0, i}), i * 7);
        ck_assert_int_eq(nm_map_get(&map, (nm_key){1, i}) != NULL, i % 2);
        if (i % 3 == 0)
            ck_assert(nm_map_remove(&map, (nm_key){0, i}, NULL));
    }
    for (uint64_t i = 1; i <= 3000; i++)
        ck_assert_int_eq(nm_map_get(&map, (nm_key){0, i}) != NULL, i % 3 != 0);
    ck_assert_uint_eq(map.count, 3500);
    nm_map_free(&map);
}
END_TEST

/* The array takes no more than in proportion to what is in it, whatever numbers a file has. */
START_TEST(large_numbers_cost_no_array)
{
    nm_map map = {0};

    for (uint64_t i = 1; i <= 20; i++)
        ck_assert_int_eq(nm_map_put(&map, (nm_key){0, i << 20}, i, NULL), NM_OK);
    ck_assert_uint_eq(map.dense_limit, 0);
    for (uint64_t i = 1; i <= 20; i++)
        ck_assert_uint_eq(*nm_map_get(&map, (nm_key){0, i << 20}), i);
    ck_assert_uint_eq(map.count, 20);
    nm_map_free(&map);
}
END_TEST

START_TEST(keys_are_numbered_as_they_come)
{
    nm_map map = {0};
    nm_error err;
    uint64_t number = 99;

    for (size_t round = 0; round < 2; round++)
        for (size_t index = 0; index < KEYS; index++) {
            ck_assert_int_eq(nm_map_number(&map, key_of(index), &number, &err), NM_OK);
            ck_assert_uint_eq(number, index);
        }
    ck_assert_uint_eq(map.count, KEYS);
    nm_map_free(&map);
}
END_TEST

/* Keys that stood in one place of every table when the hash held no secret: its steps were undone, one by one. */
START_TEST(nobody_knows_where_a_key_stands)
{
    const uint64_t factor = 0x94D049BB133111EBu;
    uint64_t inverse = factor;
    nm_map map = {0};
    nm_error err;

    for (int i = 0; i < 6; i++)
        inverse *= 2 - factor * inverse;
    ck_assert_uint_eq(factor * inverse, 1);
    for (uint64_t i = 1; i <= 200000; i++) {
        uint64_t last = i << 40;
        uint64_t product = last ^ last >> 29 ^ last >> 58;
        uint64_t before = product * inverse;
        uint64_t low = (before ^ before >> 32) ^ 0x9E3779B97F4A7C15u * 0xBF58476D1CE4E5B9u;

        ck_assert_int_eq(nm_map_put(&map, (nm_key){0, low}, i, &err), NM_OK);
    }
    ck_assert_uint_eq(map.count, 200000);
    nm_map_free(&map);
}
END_TEST

TEST_SUITE(test_map)
{
    Suite *suite = suite_create("map");
    TCase *tests = tcase_create("map");

    tcase_add_test(tests, it_does_what_an_array_does);
    tcase_add_test(tests, an_empty_map_has_nothing);
    tcase_add_test(tests, small_numbers_go_into_the_array_in_any_order);
    tcase_add_test(tests, large_numbers_cost_no_array);
    tcase_add_test(tests, keys_are_numbered_as_they_come);
    tcase_add_test(tests, a_million_addresses_come_and_go);
    tcase_add_test(tests, nobody_knows_where_a_key_stands);
    tcase_set_timeout(tests, 30);
    suite_add_tcase(suite, tests);
    return suite;
}
