/* SPDX-License-Identifier: Apache-2.0
 *
 * What a replay makes of pauses and of processes that ran before their recording: text traces and values by hand.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/row_list.h"
#include "support/suites.h"

#define PLACES                                                                                                         \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "device 1 process=1 ordinal=0 capacity=1000000\n"                                                                  \
    "heap 1 process=1 device=1 level=driver name=\"device memory\"\n"                                                  \
    "heap 2 process=1 device=1 level=pool name=cache\n"

static const nm_row_list *replay_text(const char *text)
{
    static nm_row_list list;
    nm_error err = {0};

    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
    return &list;
}

static const nm_allocation_row *row_at(const nm_row_list *out, uint64_t address)
{
    for (size_t i = 0; i < out->allocation.count; i++)
        if (out->allocation.items[i].address == address)
            return &out->allocation.items[i];
    ck_abort_msg("nothing at that address");
}

START_TEST(what_a_pause_led_to_counts_but_is_no_miss_and_no_growth)
{
    const nm_row_list *out = replay_text(PLACES "@1 alloc heap=1 address=0x1000 requested=4096 thread=1\n"
                                                "@2 alloc heap=2 address=0x1000 requested=64 block=64 thread=1\n"
                                                "@3 step thread=1 number=1\n"
                                                "@4 pause number=1 detail=1\n"
                                                "@5 step thread=1 number=2\n"
                                                "@6 free heap=2 address=0x1000 paused\n"
                                                "@6 alloc heap=1 address=0x9000 requested=4096 paused\n"
                                                "@6 alloc heap=2 address=0x9000 requested=32 block=64 paused\n"
                                                "@6 pause number=1 detail=2\n"
                                                "@7 alloc heap=2 address=0x9040 requested=64 block=64 thread=1\n"
                                                "@8 free heap=2 address=0x9000 thread=1\n");

    ck_assert_uint_eq(out->anomaly.count, 0);
    ck_assert_int_eq(row_at(out, 0x9040)->is_miss, 0); /* the range has carried a block before */
    for (size_t i = 0; i < out->allocation.count; i++)
        if (out->allocation.items[i].address == 0x9000 && out->allocation.items[i].heap_id == 2) {
            ck_assert_int_eq(out->allocation.items[i].is_miss, NM_UNKNOWN_NUMBER);
            ck_assert_int_eq(out->allocation.items[i].end_kind, NM_END_FREED);
        } else if (out->allocation.items[i].address == 0x9000) {
            ck_assert(out->allocation.items[i].is_segment);
            ck_assert_int_eq(out->allocation.items[i].generation, 0);
        }
    ck_assert_uint_eq(out->heap_total.items[1].allocation_count, 3);
    ck_assert_uint_eq(out->heap_total.items[1].live_bytes, 64);
    ck_assert_uint_eq(out->pause.count, 1);
    ck_assert_int_eq(out->pause.items[0].begin_ns, 4);
    ck_assert_int_eq(out->pause.items[0].end_ns, 6);
    ck_assert(out->pause.items[0].is_end_known && !out->pause.items[0].is_memory_told);
    ck_assert_int_eq(out->baseline.items[0].kind, NM_BASELINE_KNOWN);
}
END_TEST

START_TEST(an_operation_that_a_pause_cuts_has_no_end_and_owns_nothing_later)
{
    const nm_row_list *out = replay_text(PLACES "@1 range_begin thread=1 name=loop number=5\n"
                                                "@2 pause number=1 detail=1\n"
                                                "@3 pause number=1 detail=2\n"
                                                "@4 alloc heap=2 address=0x1000 requested=64 thread=1\n"
                                                "@5 range_end thread=1 number=5\n");

    ck_assert_uint_eq(out->operation.count, 1);
    ck_assert_int_eq(out->operation.items[0].end_seq, NM_NO_SEQ);
    ck_assert_uint_eq(row_at(out, 0x1000)->operation_id, 0);
}
END_TEST

START_TEST(of_a_late_process_an_unknown_free_is_no_misuse_but_a_second_one_is)
{
    const nm_row_list *out = replay_text("process 1 pid=100 host=h1 late=1\n"
                                         "thread 1 process=1 tid=100\n"
                                         "heap 1 process=1 level=pool name=cache\n"
                                         "@1 free heap=1 address=0x1000 thread=1\n"
                                         "@2 free address=0x2000 detail=device thread=1\n"
                                         "@3 alloc heap=1 address=0x3000 requested=64 thread=1\n"
                                         "@4 free heap=1 address=0x3000 thread=1\n"
                                         "@5 free heap=1 address=0x3000 thread=1\n");

    ck_assert_uint_eq(out->anomaly.count, 1);
    ck_assert_int_eq(out->baseline.items[0].kind, NM_BASELINE_UNKNOWN);
    ck_assert_uint_eq(out->baseline.items[0].unseen_free_count, 2);
}
END_TEST

START_TEST(behind_a_pause_of_which_nothing_is_known_nothing_is_misuse)
{
    const nm_row_list *out =
        replay_text(PLACES "@1 free heap=2 address=0x1000 thread=1\n" /* before it: misuse */
                           "@2 pause number=1 detail=1\n"
                           "@3 free heap=2 address=0x2000 thread=1\n" /* recovered without its begin */
                           "@4 pause number=1 detail=3\n"
                           "@5 free heap=2 address=0x3000 thread=1\n");

    ck_assert_uint_eq(out->anomaly.count, 1);
    ck_assert_uint_eq(out->baseline.items[0].unseen_free_count, 2);
    ck_assert_int_eq(out->baseline.items[0].kind, NM_BASELINE_UNKNOWN);
}
END_TEST

/* One process begins in full when another already is. */
START_TEST(a_baseline_in_the_middle_has_a_peak_with_a_place)
{
    const nm_row_list *out = replay_text(PLACES "@1 alloc heap=1 address=0x1000 requested=10 thread=1\n"
                                                "@2 alloc heap=2 address=0x1000 requested=500 baseline\n"
                                                "@3 free heap=2 address=0x1000 thread=1\n");

    ck_assert_int_eq(row_at(out, 0x1000)->alloc_ns, out->allocation.items[0].heap_id == 2 ? NM_NO_TIME : 1);
    ck_assert_uint_eq(out->heap_total.items[1].baseline_bytes, 500);
    ck_assert_uint_eq(out->heap_total.items[1].allocation_count, 0);
    ck_assert_uint_eq(out->heap_total.items[1].peak_bytes, 500);
    ck_assert_int_ne(out->heap_total.items[1].peak_seq, NM_NO_SEQ);
    ck_assert_uint_eq(out->heap_total.items[1].outstanding_count, 0);
}
END_TEST

TEST_SUITE(test_replay_pause)
{
    Suite *suite = suite_create("replay_pause");
    TCase *tests = tcase_create("replay_pause");

    tcase_add_test(tests, what_a_pause_led_to_counts_but_is_no_miss_and_no_growth);
    tcase_add_test(tests, an_operation_that_a_pause_cuts_has_no_end_and_owns_nothing_later);
    tcase_add_test(tests, of_a_late_process_an_unknown_free_is_no_misuse_but_a_second_one_is);
    tcase_add_test(tests, behind_a_pause_of_which_nothing_is_known_nothing_is_misuse);
    tcase_add_test(tests, a_baseline_in_the_middle_has_a_peak_with_a_place);
    suite_add_tcase(suite, tests);
    return suite;
}
