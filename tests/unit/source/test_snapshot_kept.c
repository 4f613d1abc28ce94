/* SPDX-License-Identifier: Apache-2.0
 *
 * Entries of all kinds of values come back as they went in, in their order, as often as somebody asks; of too many none does.
 */
#include "source/snapshot_kept.h"
#include "support/suites.h"

#include <check.h>
#include <string.h>

#define ENTRIES 20000

static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* As long as it comes: small, large, the largest, and often the same again. */
static uint64_t some_number(uint64_t before)
{
    switch (next_random() % 5) {
    case 0:
        return next_random() % 200;
    case 1:
        return next_random();
    case 2:
        return next_random() % 2 == 0 ? UINT64_MAX : 0;
    default:
        return before;
    }
}

static void change(nm_snapshot_entry *entry)
{
    entry->action = (nm_snapshot_action)(next_random() % (NM_SNAPSHOT_WORKSPACE + 1));
    entry->action_text = (uint32_t)some_number(entry->action_text);
    entry->device = (uint32_t)some_number(entry->device);
    entry->stack = (uint32_t)some_number(entry->stack);
    entry->category = (uint32_t)some_number(entry->category);
    entry->address = some_number(entry->address);
    entry->size_bytes = some_number(entry->size_bytes);
    entry->stream = some_number(entry->stream);
    entry->pool = some_number(entry->pool);
    entry->has_stream = next_random() % 2 == 0;
    entry->has_time = next_random() % 4 != 0;
    entry->has_device_free = next_random() % 4 == 0;
    entry->is_workspace = next_random() % 8 == 0;
    entry->time_us = entry->has_time ? (int64_t)some_number((uint64_t)entry->time_us) : 0;
    entry->device_free_bytes = entry->has_device_free ? some_number(entry->device_free_bytes) : 0;
}

static void expect_same(const nm_snapshot_entry *got, const nm_snapshot_entry *expected)
{
    ck_assert_int_eq(got->action, expected->action);
    ck_assert_uint_eq(got->action_text, expected->action_text);
    ck_assert_uint_eq(got->device, expected->device);
    ck_assert_uint_eq(got->stack, expected->stack);
    ck_assert_uint_eq(got->category, expected->category);
    ck_assert_uint_eq(got->address, expected->address);
    ck_assert_uint_eq(got->size_bytes, expected->size_bytes);
    ck_assert_uint_eq(got->device_free_bytes, expected->device_free_bytes);
    ck_assert_uint_eq(got->stream, expected->stream);
    ck_assert_uint_eq(got->pool, expected->pool);
    ck_assert_int_eq(got->time_us, expected->time_us);
    ck_assert(got->has_stream == expected->has_stream && got->has_time == expected->has_time);
    ck_assert(got->has_device_free == expected->has_device_free && got->is_workspace == expected->is_workspace);
}

START_TEST(what_is_kept_comes_back_as_often_as_it_is_asked_for)
{
    static nm_snapshot_entry entries[ENTRIES];
    nm_snapshot_kept kept = {0};
    nm_snapshot_entry entry = {0};

    for (size_t i = 0; i < ENTRIES; i++) {
        change(&entry);
        entries[i] = entry;
        ck_assert_int_eq(nm_snapshot_kept_add(&kept, &entry, NULL), NM_OK);
    }
    for (int turn = 0; turn < 2; turn++) {
        nm_snapshot_kept_rewind(&kept);
        for (size_t i = 0; i < ENTRIES; i++) {
            ck_assert(nm_snapshot_kept_next(&kept, &entry));
            expect_same(&entry, &entries[i]);
        }
        ck_assert(!nm_snapshot_kept_next(&kept, &entry));
    }
    nm_snapshot_kept_free(&kept);
}
END_TEST

START_TEST(of_more_than_may_be_kept_nothing_is)
{
    nm_snapshot_kept kept = {0};
    nm_snapshot_entry entry = {0};

    nm_snapshot_kept_bytes_max = 4096;
    for (size_t i = 0; i < ENTRIES; i++) {
        change(&entry);
        ck_assert_int_eq(nm_snapshot_kept_add(&kept, &entry, NULL), NM_OK);
        ck_assert_uint_le(kept.bytes.len, nm_snapshot_kept_bytes_max);
    }
    ck_assert(kept.is_dropped);
    ck_assert_uint_eq(kept.bytes.cap, 0);
    nm_snapshot_kept_rewind(&kept);
    ck_assert(kept.is_dropped && !nm_snapshot_kept_next(&kept, &entry));
    nm_snapshot_kept_free(&kept);
}
END_TEST

TEST_SUITE(test_snapshot_kept)
{
    Suite *suite = suite_create("snapshot_kept");
    TCase *tests = tcase_create("snapshot_kept");

    tcase_add_test(tests, what_is_kept_comes_back_as_often_as_it_is_asked_for);
    tcase_add_test(tests, of_more_than_may_be_kept_nothing_is);
    suite_add_tcase(suite, tests);
    return suite;
}
