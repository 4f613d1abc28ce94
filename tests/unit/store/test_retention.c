/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows that wait to be known as ones to keep: that what comes back is what was put in, packed or not, and that only those go
 * which no peak met.
 */
#include <check.h>
#include <string.h>

#include "rows/packed.h"
#include "store/retention.h"
#include "support/suites.h"

/* ---- Packed values --------------------------------------------------------------------------------------------------- */

/* By hand: half a byte each, seven of them four bytes; 0 and NULL nothing, -1 and 1 one byte, 127 and -128 as 254 and 255 one,
 * 128 as 256 two. */
START_TEST(a_value_takes_the_bytes_that_it_needs)
{
    const int64_t values[] = {0, INT64_MIN, -1, 1, 127, -128, 128};
    const uint8_t expected[] = {0x90, 0x11, 0x11, 0x02, 1, 2, 254, 255, 0, 1};
    uint8_t packed[NM_PACKED_BYTES_MAX(7)];

    ck_assert_uint_eq(nm_packed_put(packed, values, 7), sizeof expected);
    ck_assert_mem_eq(packed, expected, sizeof expected);
}
END_TEST

START_TEST(values_of_any_size_come_back)
{
    int64_t values[131], back[131];
    uint8_t packed[NM_PACKED_BYTES_MAX(131)];
    size_t count = 0;

    values[count++] = INT64_MIN;
    values[count++] = INT64_MAX;
    values[count++] = INT64_MIN + 1;
    for (int bit = 0; bit < 63; bit++) {
        values[count++] = INT64_C(1) << bit;
        values[count++] = -(INT64_C(1) << bit) - 1;
    }
    values[count++] = 0;
    values[count++] = INT64_C(0x7f00ff00ff00ff00);
    ck_assert_uint_eq(count, 131);
    for (size_t used = 1; used <= count; used++) {
        memset(back, 0x55, sizeof back);
        ck_assert_uint_le(nm_packed_put(packed, values, used), NM_PACKED_BYTES_MAX(used));
        nm_packed_get(packed, back, used);
        ck_assert_mem_eq(back, values, used * sizeof *values);
    }
}
END_TEST

/* ---- Rows ------------------------------------------------------------------------------------------------------------ */

enum { HEAPS = 3 };

static int64_t value_of(uint64_t heap_id, int64_t seq, int column)
{
    return column % 5 == 0 ? INT64_MIN : (int64_t)heap_id * 1000003 * seq - ((int64_t)column << column);
}

/* Of the heap, live from seq to seq + 10; its peak was at `peak_seq`. */
static void wait_for(nm_retention_rows *rows, uint64_t heap_id, int64_t seq, int64_t peak_seq)
{
    nm_error err = {0};
    int64_t *values = NULL;
    nm_allocation_row row = {.heap_id = heap_id, .alloc_seq = seq, .free_seq = seq + 10, .peak_seq = peak_seq};

    row.device_peak_seq = row.reserve_seq = row.moment_seq = NM_NO_SEQ;
    ck_assert_int_eq(nm_retention_wait(rows, &row, &values, &err), NM_OK);
    for (int column = 0; column < NM_COLUMNS_OF_ALLOCATION; column++)
        values[column] = value_of(heap_id, seq, column);
}

/* Heaps one after another, each in the order of time, from `first_seq` on. */
static void check_rows(nm_retention_rows *rows, uint64_t heap_id, int64_t first_seq, int64_t end_seq,
                       nm_waiting_cursor *cursor)
{
    nm_error err = {0};
    nm_waiting_row row;

    for (int64_t seq = first_seq; seq < end_seq; seq++) {
        ck_assert_int_eq(nm_retention_next(rows, cursor, &row, &err), NM_OK);
        ck_assert_uint_eq(row.heap_id, heap_id);
        ck_assert_int_eq(row.alloc_seq, seq);
        ck_assert_int_eq(row.free_seq, seq + 10);
        for (int column = 0; column < NM_COLUMNS_OF_ALLOCATION; column++)
            ck_assert_int_eq(row.values[column], value_of(heap_id, seq, column));
    }
}

START_TEST(rows_of_several_heaps_come_back_heap_by_heap)
{
    nm_retention_rows rows = {.retention = NM_RETENTION_LIVE};
    nm_waiting_cursor cursor = {0};
    nm_waiting_row row;
    nm_error err = {0};

    ck_assert_int_eq(nm_retention_next(&rows, &cursor, &row, &err), NM_END);
    for (int64_t seq = 1; seq <= 100; seq++)
        for (uint64_t heap_id = 1; heap_id <= HEAPS; heap_id++)
            wait_for(&rows, heap_id, seq, seq);
    for (uint64_t heap_id = 1; heap_id <= HEAPS; heap_id++)
        check_rows(&rows, heap_id, 1, 101, &cursor);
    ck_assert_int_eq(nm_retention_next(&rows, &cursor, &row, &err), NM_END);
    nm_retention_rows_free(&rows);
}
END_TEST

/* A list is looked through when 1,024 are in it, and the next comes: of seq 1 to 1,024 a peak at 1,020 met those from 1,011 to 1,020
 * (of 1,010 the end is at 1,020). */
START_TEST(rows_that_no_peak_met_go_when_the_list_is_looked_through)
{
    nm_retention_rows rows = {.retention = NM_RETENTION_LIVE};
    nm_waiting_cursor cursor = {0};
    nm_waiting_row row;
    nm_error err = {0};

    for (int64_t seq = 1; seq <= 1024; seq++)
        wait_for(&rows, 7, seq, seq);
    wait_for(&rows, 7, 1025, 1020);
    check_rows(&rows, 7, 1011, 1021, &cursor);
    check_rows(&rows, 7, 1025, 1026, &cursor);
    ck_assert_int_eq(nm_retention_next(&rows, &cursor, &row, &err), NM_END);
    nm_retention_rows_free(&rows);
}
END_TEST

TEST_SUITE(test_retention)
{
    Suite *suite = suite_create("retention");
    TCase *tcase = tcase_create("retention");

    tcase_add_test(tcase, a_value_takes_the_bytes_that_it_needs);
    tcase_add_test(tcase, values_of_any_size_come_back);
    tcase_add_test(tcase, rows_of_several_heaps_come_back_heap_by_heap);
    tcase_add_test(tcase, rows_that_no_peak_met_go_when_the_list_is_looked_through);
    suite_add_tcase(suite, tcase);
    return suite;
}
