/* SPDX-License-Identifier: Apache-2.0
 *
 * What is put into a journal comes back in the order that sorting all of it gives.
 */
#include "support/suites.h"
#include "whatif/journal.h"

#include <check.h>
#include <stdlib.h>

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static int compare(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_order(const void *left, const void *right)
{
    const nm_journal_entry *a = left, *b = right;
    int order = compare(a->place, b->place);

    order = order != 0 ? order : compare(a->kind, b->kind);
    return order != 0 ? order : compare(a->row, b->row);
}

static bool is_same(const nm_journal_entry *a, const nm_journal_entry *b)
{
    return a->place == b->place && a->kind == b->kind && a->row == b->row && a->value == b->value &&
           (a->kind < NM_JOURNAL_ALLOCATED || a->segment_id == b->segment_id);
}

/* Each row has some of the kinds; places spread over `spread`, about the row's own. */
static nm_journal_entry *random_entries(size_t count, uint64_t spread)
{
    nm_journal_entry *entries = calloc(count, sizeof *entries);

    for (size_t i = 0; i < count; i++)
        entries[i] = (nm_journal_entry){
            .place = (spread == 0 ? 0 : i / 3 + next_random(spread)) + (i % 5 == 0 ? UINT64_C(1) << 63 : 0),
            .segment_id = next_random(2) == 0 ? UINT64_MAX - next_random(9) : next_random(1000),
            .row = (uint32_t)(i / 3),
            .kind = (i % 3 + next_random(2)) % 5,
            .value = (uint32_t)next_random(next_random(2) == 0 ? 20 : NM_JOURNAL_VALUE_MAX),
        };
    return entries;
}

static nm_status count_begun(void *context, const nm_journal_entry *entry, nm_error *err)
{
    (void)err;
    *(uint64_t *)context += entry->place * 31 + entry->segment_id * 7 + entry->value + entry->row;
    return NM_OK;
}

static void check_order(size_t count, uint64_t spread)
{
    nm_journal_entry *entries = random_entries(count, spread), found;
    nm_journal journal = {0};
    uint64_t begun_sum = 0, expected_sum = 0;
    size_t at = 0;
    nm_error err;

    for (size_t i = 0; i < count; i++) {
        ck_assert_int_eq(nm_journal_put(&journal, &entries[i], &err), NM_OK);
        if (entries[i].kind >= NM_JOURNAL_ALLOCATED)
            count_begun(&expected_sum, &entries[i], &err);
    }
    ck_assert_int_eq(nm_journal_each_begun(&journal, count_begun, &begun_sum, &err), NM_OK);
    ck_assert_uint_eq(begun_sum, expected_sum);
    qsort(entries, count, sizeof *entries, by_order);
    ck_assert_int_eq(nm_journal_begin(&journal, &err), NM_OK);
    for (; nm_journal_next(&journal, &found); at++) {
        /* Of one row two may be of one kind and place: qsort keeps no order, so both are looked at. */
        bool is_next = is_same(&found, &entries[at]);
        bool is_twin = !is_next && at + 1 < count && by_order(&found, &entries[at]) == 0;

        ck_assert_msg(is_next || is_twin, "entry %zu of %zu, spread %lu", at, count, (unsigned long)spread);
    }
    ck_assert_uint_eq(at, count);
    nm_journal_free(&journal);
    free(entries);
}

START_TEST(entries_come_back_in_the_order_of_their_places)
{
    static const uint64_t spreads[] = {0, 1, 50, 1000000, UINT64_C(1) << 62};

    random_state = 88172645463325252u;
    for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
        check_order(0, spreads[i]);
        check_order(1, spreads[i]);
        check_order(5000, spreads[i]);
    }
    check_order(700000, 1000); /* more than are sorted at once */
    check_order(600000, UINT64_C(1) << 40);
}
END_TEST

START_TEST(a_journal_that_is_not_read_is_given_back)
{
    nm_journal journal = {0};
    nm_journal_entry entry = {.place = 7, .kind = NM_JOURNAL_ALLOCATED}, found;
    nm_error err;

    ck_assert_int_eq(nm_journal_put(&journal, &entry, &err), NM_OK);
    nm_journal_free(&journal);
    ck_assert_int_eq(nm_journal_begin(&journal, &err), NM_OK);
    ck_assert(!nm_journal_next(&journal, &found));
    nm_journal_free(&journal);
}
END_TEST

TEST_SUITE(test_whatif_journal)
{
    Suite *suite = suite_create("whatif_journal");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, entries_come_back_in_the_order_of_their_places);
    tcase_add_test(tcase, a_journal_that_is_not_read_is_given_back);
    suite_add_tcase(suite, tcase);
    return suite;
}
