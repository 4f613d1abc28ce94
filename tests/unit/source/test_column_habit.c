/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of a field one after the other: what is written as the ones before were is as small as what was chosen anew, it
 * reads back as it was, and a field that comes to be of another kind is seen.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/suites.h"
#include "trace/column.h"

#define COUNT   20000
#define COLUMNS 80

typedef uint64_t value_at(size_t index);

static nm_error err;
static nm_column_writer *writer;
static uint64_t values[COUNT], read_back[COUNT];

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* Best as differences. Both reach the largest value of two bytes, and differences of two. */
static uint64_t climbing(size_t index)
{
    return index % 4096 == 0 ? 0xffff : index * 3 % 0xffff;
}

/* Best as they are: of the low byte nothing can be known, and a difference has a bit more. */
static uint64_t without_order(size_t index)
{
    return index % 4096 == 0 ? 0xffff : 0x4200 | (mix(index) & 0xff);
}

static void setup(void)
{
    ck_assert_int_eq(nm_column_writer_new(&writer, &err), NM_OK);
}

static void teardown(void)
{
    nm_column_writer_free(writer);
}

/* Writes the column and reads it; its bytes in `out`. */
static nm_encoding write_column(value_at *value, nm_column_habit *habit, nm_buffer *out)
{
    uint32_t counts[NM_BLOCK_KINDS_MAX] = {COUNT};
    uint8_t kinds[COUNT] = {0};
    nm_column_reader reader = {0};

    for (size_t i = 0; i < COUNT; i++)
        values[i] = value(i);
    out->len = 0;
    ck_assert_int_eq(nm_column_write(writer, values, COUNT, (nm_column_events){0}, habit, out, &err), NM_OK);
    nm_bytes data = {out->data + 5, out->len - 5};
    ck_assert_int_eq(nm_column_open(&reader, out->data[0], data, counts, 0, &err), NM_OK);
    nm_column_read(&reader, kinds, COUNT, read_back);
    ck_assert_mem_eq(values, read_back, sizeof values);
    nm_column_reader_free(&reader);
    return (nm_encoding)out->data[0];
}

static bool is_same(const nm_buffer *a, const nm_buffer *b)
{
    return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

START_TEST(what_goes_on_as_it_was_is_written_as_if_it_were_chosen_anew)
{
    static value_at *const all[] = {climbing, without_order};

    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        nm_column_habit habit = {0};
        nm_buffer chosen = {0}, written = {0};
        nm_encoding encoding = write_column(all[k], &(nm_column_habit){0}, &chosen);

        ck_assert_int_eq(encoding, k == 0 ? NM_ENCODING_DELTA : NM_ENCODING_PLANES);
        for (int i = 0; i < COLUMNS; i++) {
            ck_assert_int_eq(write_column(all[k], &habit, &written), encoding);
            ck_assert(is_same(&chosen, &written));
        }
        nm_buffer_free(&chosen);
        nm_buffer_free(&written);
    }
}
END_TEST

/* Of the same widths, so that nothing but a trial tells. */
START_TEST(a_field_that_becomes_another_is_seen_within_as_many_columns_as_it_was_trusted_for)
{
    nm_buffer out = {0};

    for (int before = 1; before < COLUMNS; before++) {
        nm_column_habit habit = {0};
        int late = 0;

        for (int i = 0; i < before; i++)
            write_column(climbing, &habit, &out);
        while (write_column(without_order, &habit, &out) != NM_ENCODING_PLANES)
            ck_assert_int_lt(late++, before < 15 ? before : 15);
    }
    nm_buffer_free(&out);
}
END_TEST

START_TEST(values_of_another_width_are_looked_at_at_once)
{
    nm_column_habit habit = {0};
    nm_buffer out = {0};

    for (int i = 0; i < COLUMNS; i++)
        write_column(climbing, &habit, &out);
    ck_assert_uint_gt(habit.left, 0);
    for (size_t i = 0; i < COUNT; i++)
        values[i] = (uint64_t)1 << 40 | without_order(i);
    out.len = 0;
    ck_assert_int_eq(nm_column_write(writer, values, COUNT, (nm_column_events){0}, &habit, &out, &err), NM_OK);
    ck_assert_int_eq(out.data[0], NM_ENCODING_PLANES);
    nm_buffer_free(&out);
}
END_TEST

TEST_SUITE(test_column_habit)
{
    Suite *suite = suite_create("column_habit");
    TCase *tests = tcase_create("column_habit");

    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, what_goes_on_as_it_was_is_written_as_if_it_were_chosen_anew);
    tcase_add_test(tests, a_field_that_becomes_another_is_seen_within_as_many_columns_as_it_was_trusted_for);
    tcase_add_test(tests, values_of_another_width_are_looked_at_at_once);
    suite_add_tcase(suite, tests);
    return suite;
}
