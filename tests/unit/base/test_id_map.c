/* SPDX-License-Identifier: Apache-2.0
 *
 * The map against a list of pairs that is searched from its begin, over identifiers that are near, far, and far when they came.
 */
#include "base/id_map.h"
#include "support/suites.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define IDS 4000

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

typedef struct pair {
    uint64_t id;
    size_t place;
} pair;

static pair *find(pair *pairs, size_t count, uint64_t id)
{
    for (size_t i = 0; i < count; i++)
        if (pairs[i].id == id)
            return &pairs[i];
    return NULL;
}

static void check_walk(const nm_id_map *map, pair *pairs, size_t count)
{
    bool *is_met = calloc(count + 1, sizeof *is_met);
    size_t at = 0, met = 0;
    uint64_t id;

    for (; nm_id_map_next(map, &at, &id); met++) {
        const pair *known = find(pairs, count, id);

        ck_assert_ptr_nonnull(known);
        ck_assert(!is_met[known - pairs]);
        is_met[known - pairs] = true;
    }
    ck_assert_uint_eq(met, count);
    ck_assert_uint_eq(map->count, count);
    free(is_met);
}

START_TEST(every_identifier_has_the_place_that_it_was_given_last)
{
    static const uint64_t most[] = {8000, 1 << 20, UINT64_MAX};
    static pair pairs[IDS];
    nm_id_map map = {0};
    size_t count = 0;

    for (size_t place = 0; place < IDS; place++) {
        uint64_t id = next_random(most[next_random(3)]);
        pair *known = find(pairs, count, id);

        ck_assert_uint_eq(nm_id_map_find(&map, id), known == NULL ? NM_ID_MAP_NONE : known->place);
        ck_assert_int_eq(nm_id_map_put(&map, id, place, NULL), NM_OK);
        *(known == NULL ? &pairs[count++] : known) = (pair){id, place};
    }
    for (size_t i = 0; i < count; i++)
        ck_assert_uint_eq(nm_id_map_find(&map, pairs[i].id), pairs[i].place);
    check_walk(&map, pairs, count);
    nm_id_map_free(&map);
    ck_assert_uint_eq(nm_id_map_find(&map, pairs[0].id), NM_ID_MAP_NONE);
}
END_TEST

/* From the largest down each is far when it comes, until most have come. */
START_TEST(one_that_came_far_stays_where_it_is_when_others_come_near_it)
{
    nm_id_map map = {0};
    uint64_t id = 0;
    size_t at = 0;

    for (uint64_t i = 100000; i > 0; i--)
        ck_assert_int_eq(nm_id_map_put(&map, i, i + 1, NULL), NM_OK);
    for (uint64_t i = 1; i <= 100000; i++)
        ck_assert_int_eq(nm_id_map_put(&map, i, i, NULL), NM_OK);
    for (uint64_t i = 1; i <= 100000; i++)
        ck_assert_uint_eq(nm_id_map_find(&map, i), i);
    ck_assert_uint_eq(map.count, 100000);
    for (at = 0; nm_id_map_next(&map, &at, &id);)
        ck_assert(id > 0 && id <= 100000);
    nm_id_map_free(&map);
}
END_TEST

START_TEST(memory_follows_how_many_there_are_and_not_how_large_they_are)
{
    nm_id_map map = {0};

    for (uint64_t i = 0; i < 100; i++)
        ck_assert_int_eq(nm_id_map_put(&map, UINT64_MAX - i, i, NULL), NM_OK);
    ck_assert_uint_eq(map.capacity, 0);
    for (uint64_t i = 1; i <= 5000; i++)
        ck_assert_int_eq(nm_id_map_put(&map, i * 1000, i, NULL), NM_OK);
    ck_assert_uint_le(map.capacity, 8 * map.count);
    nm_id_map_free(&map);
}
END_TEST

START_TEST(a_place_above_four_billion_is_refused)
{
    nm_id_map map = {0};
    nm_error err;

    ck_assert_int_eq(nm_id_map_put(&map, 1, UINT32_MAX - 1, NULL), NM_OK);
    ck_assert_uint_eq(nm_id_map_find(&map, 1), UINT32_MAX - 1);
    ck_assert_int_eq(nm_id_map_put(&map, 2, UINT32_MAX, &err), NM_ERR_LIMIT);
    ck_assert_uint_eq(map.count, 1);
    nm_id_map_free(&map);
}
END_TEST

TEST_SUITE(test_id_map)
{
    Suite *suite = suite_create("id_map");
    TCase *tests = tcase_create("id_map");

    tcase_add_test(tests, every_identifier_has_the_place_that_it_was_given_last);
    tcase_add_test(tests, one_that_came_far_stays_where_it_is_when_others_come_near_it);
    tcase_add_test(tests, memory_follows_how_many_there_are_and_not_how_large_they_are);
    tcase_add_test(tests, a_place_above_four_billion_is_refused);
    tcase_set_timeout(tests, 30);
    suite_add_tcase(suite, tests);
    return suite;
}
