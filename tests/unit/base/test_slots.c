/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbers whose hashes are told by an array: each is met among those of its hash, and nobody else's.
 */
#include "base/slots.h"
#include "support/suites.h"

#include <check.h>

#define NUMBERS 6000

/* Few hashes, of which many differ above 32 bits alone or stand beside each other. */
static uint64_t hash_of(uint32_t number)
{
    uint64_t low = number % 250;

    return number % 3 == 0 ? low << 32 : number % 3 == 1 ? low : low * UINT64_C(0x9E3779B97F4A7C15);
}

/* How often the number is met under the hash. */
static int times_met(const nm_slots *slots, uint64_t hash, uint32_t number)
{
    nm_probe probe = nm_slots_begin(slots, hash);
    uint32_t met;
    int times = 0;

    while ((met = nm_slots_next(slots, &probe)) != 0)
        times += met == number;
    return times;
}

START_TEST(each_number_is_met_once_under_its_hash)
{
    nm_slots slots = {0};

    for (uint32_t number = 1; number <= NUMBERS; number++) {
        ck_assert_int_eq(times_met(&slots, hash_of(number), number), 0);
        ck_assert_int_eq(nm_slots_add(&slots, hash_of(number), number, NULL), NM_OK);
        ck_assert_int_eq(times_met(&slots, hash_of(number), number), 1);
    }
    for (uint32_t number = 1; number <= NUMBERS; number += 97)
        ck_assert_int_eq(times_met(&slots, hash_of(number), number), 1);
    ck_assert_uint_eq(slots.count, NUMBERS);
    nm_slots_free(&slots);
    ck_assert_int_eq(times_met(&slots, hash_of(1), 1), 0);
}
END_TEST

START_TEST(the_largest_number_is_one)
{
    nm_slots slots = {0};

    ck_assert_int_eq(nm_slots_add(&slots, UINT64_MAX, UINT32_MAX, NULL), NM_OK);
    ck_assert_int_eq(nm_slots_add(&slots, 0, UINT32_MAX, NULL), NM_OK);
    ck_assert_int_eq(times_met(&slots, 0, UINT32_MAX), 2); /* both have the same half */
    nm_slots_free(&slots);
}
END_TEST

TEST_SUITE(test_slots)
{
    Suite *suite = suite_create("slots");
    TCase *tests = tcase_create("slots");

    tcase_add_test(tests, each_number_is_met_once_under_its_hash);
    tcase_add_test(tests, the_largest_number_is_one);
    suite_add_tcase(suite, tests);
    return suite;
}
