/* SPDX-License-Identifier: Apache-2.0
 *
 * The set of ranges against an array with one truth value for each address.
 */
#include "source/ranges.h"
#include "support/suites.h"

#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ADDRESSES = 400 };

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* Adds the range to the array; what is new goes to `fresh`, as one truth value for each address. */
static void add_slowly(bool is_in[ADDRESSES], nm_range range, bool fresh[ADDRESSES])
{
    memset(fresh, 0, ADDRESSES * sizeof *fresh);
    for (uint64_t i = range.begin; i < range.end; i++) {
        fresh[i] = !is_in[i];
        is_in[i] = true;
    }
}

static size_t count_runs(const bool is_in[ADDRESSES])
{
    size_t runs = 0;

    for (int i = 0; i < ADDRESSES; i++)
        runs += is_in[i] && (i == 0 || !is_in[i - 1]);
    return runs;
}

static void expect_news(const nm_range_list *news, const bool fresh[ADDRESSES])
{
    bool told[ADDRESSES] = {0};

    for (size_t i = 0; i < news->count; i++) {
        ck_assert_uint_lt(news->items[i].begin, news->items[i].end);
        ck_assert(i == 0 || news->items[i - 1].end < news->items[i].begin);
        for (uint64_t at = news->items[i].begin; at < news->items[i].end; at++)
            told[at] = true;
    }
    ck_assert_mem_eq(told, fresh, sizeof told);
}

START_TEST(adding_tells_what_is_new_and_joins_what_touches)
{
    for (int round = 0; round < 200; round++) {
        bool is_in[ADDRESSES] = {0}, fresh[ADDRESSES];
        nm_range_list news = {0};
        nm_ranges set = {0};

        for (int i = 0; i < 100; i++) {
            uint64_t begin = next_random(ADDRESSES);
            uint64_t len = next_random(round % 2 == 0 ? 8 : 60);
            nm_range range = {begin, begin + len < ADDRESSES ? begin + len : ADDRESSES};

            add_slowly(is_in, range, fresh);
            ck_assert_int_eq(nm_ranges_add(&set, range, &news, NULL), NM_OK);
            expect_news(&news, fresh);
            ck_assert_uint_eq(set.tree.count, count_runs(is_in));
        }
        nm_ranges_free(&set);
        free(news.items);
    }
}
END_TEST

START_TEST(an_empty_range_adds_nothing)
{
    nm_range_list news = {0};
    nm_ranges set = {0};

    ck_assert_int_eq(nm_ranges_add(&set, (nm_range){5, 5}, &news, NULL), NM_OK);
    ck_assert_int_eq(nm_ranges_add(&set, (nm_range){9, 5}, &news, NULL), NM_OK);
    ck_assert_uint_eq(news.count, 0);
    ck_assert_uint_eq(set.tree.count, 0);
    nm_ranges_free(&set);
}
END_TEST

TEST_SUITE(test_ranges)
{
    Suite *suite = suite_create("ranges");
    TCase *tcase = tcase_create("ranges");

    tcase_add_test(tcase, adding_tells_what_is_new_and_joins_what_touches);
    tcase_add_test(tcase, an_empty_range_adds_nothing);
    suite_add_tcase(suite, tcase);
    return suite;
}
