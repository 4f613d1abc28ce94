/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over random rows against loops that look at all rows again for each sum, and what the declarations say against the
 * rows that they give.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "sums/declared.h"
#include "sums/outstanding.h"
#include "sums/sums.h"
#include "support/suites.h"

#define ROWS_MAX 4000

static nm_error err;
static uint64_t random_state = 88172645463325252u;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* ---- A declaration with every measure ---- */

typedef struct told_row {
    uint64_t a, b, value, other;
    int64_t place, begin, end;
    bool is_odd, is_skipped;
} told_row;

typedef struct sum_row {
    uint64_t a, b;
    uint64_t count, odd_count, sum, difference, most, last, same, record, of_record;
    int64_t latest, earliest, record_place;
    unsigned __int128 product;
} sum_row;

enum { ODD = 1, TIMED = 2 };

static uint32_t facts_of(const told_row *row)
{
    return (row->is_odd ? ODD : 0) | (row->begin != NM_NO_TIME ? TIMED : 0);
}

static uint32_t classify(const nm_definitions *definitions, const void *told, void *key)
{
    const told_row *row = told;

    (void)definitions;
    ((sum_row *)key)->a = row->a;
    ((sum_row *)key)->b = row->b;
    return row->is_skipped ? NM_SUM_SKIP : facts_of(row);
}

#define FROM(field) NM_CELL(told_row, field)
#define TO(field)   NM_CELL(sum_row, field)

static const nm_sum_measure measures[] = {
    {NM_SUMMED_COUNT, .to = TO(count)},
    {NM_SUMMED_COUNT, ODD, .to = TO(odd_count)},
    {NM_SUMMED_SUM, .from = FROM(value), .to = TO(sum)},
    {NM_SUMMED_DIFFERENCE, TIMED, FROM(end), FROM(begin), .to = TO(difference)},
    {NM_SUMMED_PRODUCT, ODD, FROM(value), FROM(other), .to = NM_WIDE_CELL(sum_row, product)},
    {NM_SUMMED_MAX, .from = FROM(value), .to = TO(most)},
    {NM_SUMMED_MAX_SIGNED, TIMED, .from = FROM(end), .to = TO(latest)},
    {NM_SUMMED_MIN_SIGNED, .from = FROM(begin), .to = TO(earliest)},
    {NM_SUMMED_LAST, ODD, .from = FROM(value), .to = TO(last)},
    {NM_SUMMED_SAME, ODD, .from = FROM(other), .to = TO(same)},
    {NM_SUMMED_RECORD, ODD | TIMED, FROM(value), FROM(place), TO(record), TO(record_place)},
    {NM_SUMMED_OF_RECORD, ODD | TIMED, .from = FROM(other), .to = TO(of_record)},
};
NM_SUM_TAKEN(measures)
static const nm_sum_feed feeds[] = {{NM_ROW_COPY, classify, NM_SUM_MEASURES(measures)}};
static const nm_sum declaration = {
    .name = "test", .gives = NM_ROW_COPY_SUM, .row_bytes = sizeof(sum_row), .key_bytes = TO(count), NM_FEEDS(feeds)};

static told_row rows[ROWS_MAX];

static void make_rows(size_t count, uint64_t keys, uint64_t values)
{
    for (size_t i = 0; i < count; i++)
        rows[i] = (told_row){.a = pick(keys),
                             .b = pick(2) << 63 | pick(keys),
                             .value = pick(values),
                             .other = 1 + pick(3),
                             .place = (int64_t)pick(1000) - 500,
                             .begin = pick(4) == 0 ? NM_NO_TIME : (int64_t)pick(1000) - 500,
                             .end = (int64_t)pick(1000) - 500,
                             .is_odd = pick(2) == 1,
                             .is_skipped = pick(10) == 0};
}

static uint64_t saturated(uint64_t a, uint64_t b)
{
    unsigned __int128 sum = (unsigned __int128)a + b;

    return sum > INT64_MAX ? INT64_MAX : (uint64_t)sum;
}

static void check_record(const told_row *told, size_t count, const sum_row *sum)
{
    const told_row *best = NULL;

    for (const told_row *row = told; row < told + count; row++) {
        if (row->a != sum->a || row->b != sum->b || row->is_skipped || facts_of(row) != (ODD | TIMED))
            continue;
        if (best == NULL || row->value > best->value || (row->value == best->value && row->place < best->place))
            best = row;
    }
    ck_assert_int_eq(sum->record_place, best == NULL ? NM_NO_SEQ : best->place);
    if (best != NULL) {
        ck_assert_uint_eq(sum->record, best->value);
        ck_assert_uint_eq(sum->of_record, best->other);
    }
}

/* One sum, by looking at all rows again. */
static void check_sum(const told_row *told, size_t count, const sum_row *sum)
{
    sum_row expected = {.latest = NM_NO_TIME, .earliest = NM_NO_TIME};
    bool has_same = false, is_same = true;

    for (const told_row *row = told; row < told + count; row++) {
        if (row->a != sum->a || row->b != sum->b || row->is_skipped)
            continue;
        expected.count++;
        expected.sum = saturated(expected.sum, row->value);
        expected.most = row->value > expected.most ? row->value : expected.most;
        if (row->is_odd) {
            expected.odd_count++;
            expected.product += (unsigned __int128)row->value * row->other;
            expected.last = row->value;
            is_same = is_same && (!has_same || expected.same == row->other);
            has_same = true;
            expected.same = row->other;
        }
        if (row->begin == NM_NO_TIME)
            continue;
        if (expected.earliest == NM_NO_TIME || row->begin < expected.earliest)
            expected.earliest = row->begin;
        expected.latest = row->end > expected.latest ? row->end : expected.latest;
        expected.difference =
            saturated(expected.difference, row->end > row->begin ? (uint64_t)(row->end - row->begin) : 0);
    }
    ck_assert_uint_eq(sum->count, expected.count);
    ck_assert_uint_eq(sum->odd_count, expected.odd_count);
    ck_assert_uint_eq(sum->sum, expected.sum);
    ck_assert_uint_eq(sum->difference, expected.difference);
    ck_assert(sum->product == expected.product);
    ck_assert_uint_eq(sum->most, expected.most);
    ck_assert_int_eq(sum->latest, expected.latest);
    ck_assert_int_eq(sum->earliest, expected.earliest);
    ck_assert_uint_eq(sum->last, expected.last);
    ck_assert_uint_eq(sum->same, !has_same ? 0 : is_same ? expected.same : NM_SUM_SEVERAL);
    check_record(told, count, sum);
}

/* The sums stand in the order in which their keys first came, each once. */
static void check_order(const nm_sum_table *table, const told_row *told, size_t count)
{
    size_t next = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_first = !told[i].is_skipped;

        for (size_t j = 0; j < i && is_first; j++)
            is_first = told[j].is_skipped || told[j].a != told[i].a || told[j].b != told[i].b;
        if (!is_first)
            continue;
        ck_assert_uint_lt(next, table->count);
        const sum_row *sum = nm_sum_table_at(table, next++);
        ck_assert(sum->a == told[i].a && sum->b == told[i].b);
    }
    ck_assert_uint_eq(next, table->count);
}

START_TEST(sums_are_what_a_look_at_all_rows_gives)
{
    static const struct {
        size_t count;
        uint64_t keys, values;
    } cases[] = {{0, 1, 1}, {1, 1, 5}, {300, 1, 3}, {2000, 4, 1000}, {ROWS_MAX, 40, 1ull << 62}, {1000, 1000, 9}};

    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        nm_sum_table table = {.sum = &declaration};

        make_rows(cases[c].count, cases[c].keys, cases[c].values);
        for (size_t i = 0; i < cases[c].count; i++)
            ck_assert_int_eq(nm_sum_table_add(&table, &feeds[0], NULL, &rows[i], &err), NM_OK);
        for (size_t i = 0; i < table.count; i++)
            check_sum(rows, cases[c].count, nm_sum_table_at(&table, i));
        check_order(&table, rows, cases[c].count);
        nm_sum_table_free(&table);
    }
}
END_TEST

START_TEST(a_product_stops_at_the_largest_number)
{
    nm_sum_table table = {.sum = &declaration};
    told_row row = {.value = UINT64_MAX, .other = UINT64_MAX, .is_odd = true};

    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(nm_sum_table_add(&table, &feeds[0], NULL, &row, &err), NM_OK);
    const sum_row *sum = nm_sum_table_at(&table, 0);
    ck_assert(sum->product == ~(unsigned __int128)0);
    ck_assert_uint_eq(sum->sum, INT64_MAX);
    nm_sum_table_free(&table);
}
END_TEST

/* ---- The declarations of the house ---- */

static void check_measure(const nm_sum *sum, const nm_sum_measure *measure)
{
    size_t bytes = measure->kind == NM_SUMMED_PRODUCT ? 16 : 8;

    ck_assert_msg(measure->to >= sum->key_bytes && measure->to + bytes <= sum->row_bytes, "%s", sum->name);
    if (measure->kind == NM_SUMMED_RECORD)
        ck_assert_msg(measure->to_other >= sum->key_bytes && measure->to_other + 8u <= sum->row_bytes, "%s", sum->name);
}

/* Fields that no measure fills would be 0 for ever, and two measures of one field would spoil each other. Wide fields may
 * leave a hole. */
START_TEST(each_field_behind_the_key_has_one_measure)
{
    static const nm_sum *const sums[] = {&nm_sum_of_costs,        &nm_sum_of_memory,     &nm_sum_of_runs,
                                         &nm_sum_of_stream_calls, &nm_sum_of_copies,     &nm_sum_of_misses,
                                         &nm_sum_of_pending,      &nm_sum_of_outstanding};

    for (size_t s = 0; s < sizeof sums / sizeof sums[0]; s++) {
        uint8_t filled[NM_SUM_BYTES_MAX] = {0};
        size_t hole_count = 0, wide_count = 0;

        for (size_t f = 0; f < sums[s]->feed_count; f++)
            for (size_t i = 0; i < sums[s]->feeds[f].measure_count; i++) {
                const nm_sum_measure *measure = &sums[s]->feeds[f].measures[i];

                check_measure(sums[s], measure);
                filled[measure->to]++;
                if (measure->kind == NM_SUMMED_PRODUCT)
                    filled[measure->to + 8]++, wide_count++;
                if (measure->kind == NM_SUMMED_RECORD)
                    filled[measure->to_other]++;
            }
        for (size_t at = sums[s]->key_bytes; at + 8 <= sums[s]->row_bytes; at += 8) {
            hole_count += filled[at] == 0;
            ck_assert_msg(filled[at] <= 1, "%s: the field at %zu has %u measures", sums[s]->name, at, filled[at]);
        }
        ck_assert_msg(hole_count <= (wide_count > 0), "%s: %zu fields have no measure", sums[s]->name, hole_count);
    }
}
END_TEST

static nm_slowest_call_row given[100];
static size_t given_count;

static nm_status take(void *context, nm_row_kind kind, const void *row, nm_error *error)
{
    (void)context, (void)error;
    if (kind == NM_ROW_SLOWEST_CALL)
        given[given_count++] = *(const nm_slowest_call_row *)row;
    return NM_OK;
}

static int by_cost(const void *a, const void *b)
{
    const nm_allocation_row *x = a, *y = b;

    if (x->cost_ns != y->cost_ns)
        return x->cost_ns > y->cost_ns ? -1 : 1;
    return (x->allocation_id > y->allocation_id) - (x->allocation_id < y->allocation_id);
}

START_TEST(the_slowest_calls_are_those_of_all_calls_sorted)
{
    static nm_allocation_row calls[500];
    const nm_sink sink = nm_sink_of_all(NULL, take);
    nm_definitions definitions = {0};
    nm_sums *sums = NULL;

    ck_assert_int_eq(nm_sums_new(&definitions, &sums, &err), NM_OK);
    for (size_t i = 0; i < 500; i++) {
        calls[i] = (nm_allocation_row){.allocation_id = i + 1, .heap_id = 7, .cost_ns = 1 + pick(100)};
        ck_assert_int_eq(nm_sums_row(sums, NM_ROW_ALLOCATION, &calls[i], &err), NM_OK);
    }
    nm_allocation_row unknown = {.allocation_id = 1000, .heap_id = 7};
    ck_assert_int_eq(nm_sums_row(sums, NM_ROW_ALLOCATION, &unknown, &err), NM_OK);
    ck_assert_int_eq(nm_sums_finish(sums, &sink, &err), NM_OK);
    nm_sums_free(sums);
    qsort(calls, 500, sizeof *calls, by_cost);
    ck_assert_uint_eq(given_count, 20);
    for (size_t i = 0; i < given_count; i++) {
        ck_assert_uint_eq(given[i].allocation_id, calls[i].allocation_id);
        ck_assert_uint_eq(given[i].place, i + 1);
    }
}
END_TEST

TEST_SUITE(test_sums)
{
    Suite *suite = suite_create("sums");
    TCase *tests = tcase_create("sums");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, sums_are_what_a_look_at_all_rows_gives);
    tcase_add_test(tests, a_product_stops_at_the_largest_number);
    tcase_add_test(tests, each_field_behind_the_key_has_one_measure);
    tcase_add_test(tests, the_slowest_calls_are_those_of_all_calls_sorted);
    suite_add_tcase(suite, tests);
    return suite;
}
