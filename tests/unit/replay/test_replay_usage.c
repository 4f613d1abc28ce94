/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums, peaks, the timeline, operations, steps, copies and misuse: each rule as a text trace and values by hand.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/row_list.h"
#include "support/suites.h"

#define HEAD                                                                                                           \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "thread 2 process=1 tid=101\n"                                                                                     \
    "device 1 process=1 ordinal=0 physical=4\n"                                                                        \
    "heap 1 process=1 device=1 level=driver\n"                                                                         \
    "heap 2 process=1 level=pinned\n"                                                                                  \
    "heap 3 process=1 device=1 level=pool\n"                                                                           \
    "stack 1: a\n"                                                                                                     \
    "stack 2: b < a\n"

static nm_row_list list;

static void replay(const char *text)
{
    nm_error err = {0};

    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

static const nm_anomaly_row *only_anomaly(nm_anomaly_kind kind)
{
    ck_assert_uint_eq(list.anomaly.count, 1);
    ck_assert_int_eq(list.anomaly.items[0].kind, kind);
    return &list.anomaly.items[0];
}

/* ---- Peaks ---- */

START_TEST(the_first_of_equal_peaks_is_the_peak)
{
    const nm_heap_total_row *total;

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=60 stack=1\n"
                "@2 alloc heap=1 address=0x2000 requested=40 stack=2\n"
                "@3 free heap=1 address=0x1000\n"
                "@4 alloc heap=1 address=0x1000 requested=60 stack=2\n");
    total = nm_row_list_total(&list, 1);
    ck_assert_uint_eq(total->peak_bytes, 100);
    ck_assert_int_eq(total->peak_seq, 1);
    ck_assert_int_eq(total->peak_ns, 2);
    ck_assert_uint_eq(total->peak_live_count, 2);
    ck_assert_uint_eq(nm_row_list_peak_stack(&list, 1, 1, false)->live_bytes, 60);
    ck_assert_uint_eq(nm_row_list_peak_stack(&list, 1, 2, false)->live_bytes, 40);
}
END_TEST

START_TEST(a_peak_is_made_of_what_was_live_then)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=10 stack=1\n"
                "@2 alloc heap=1 address=0x2000 requested=10 stack=2\n"
                "@3 free heap=1 address=0x1000\n"
                "@4 alloc heap=1 address=0x3000 requested=100\n" /* the peak: 110 */
                "@5 free heap=1 address=0x2000\n"
                "@6 alloc heap=1 address=0x4000 requested=1 stack=1\n"
                "@7 alloc heap=1 address=0x5000 requested=2\n");
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->peak_bytes, 110);
    ck_assert_ptr_null(nm_row_list_peak_stack(&list, 1, 1, false));
    ck_assert_uint_eq(nm_row_list_peak_stack(&list, 1, 2, false)->live_bytes, 10);
    ck_assert_uint_eq(nm_row_list_peak_stack(&list, 1, 0, false)->live_bytes, 100);
    ck_assert_uint_eq(nm_row_list_peak_stack(&list, 1, 0, false)->live_count, 1);
}
END_TEST

START_TEST(a_device_s_peak_adds_the_processes_that_share_it)
{
    replay(HEAD "process 2 pid=200 host=h1\nprocess 3 pid=300 host=h2\n"
                "device 2 process=2 ordinal=0 physical=4\ndevice 3 process=3 ordinal=0 physical=4\n"
                "device 4 process=3 ordinal=1\n"
                "heap 4 process=2 device=2 level=driver\nheap 5 process=3 device=3 level=driver\n"
                "heap 6 process=3 device=4 level=driver\n"
                "@1 alloc heap=1 address=0x1000 requested=10\n"
                "@2 alloc heap=4 address=0x1000 requested=20\n"
                "@3 free heap=1 address=0x1000\n"
                "@4 alloc heap=4 address=0x2000 requested=5\n"
                "@5 alloc heap=5 address=0x2000 requested=7\n"
                "@6 alloc heap=6 address=0x2000 requested=8\n"
                "@7 alloc heap=3 address=0x2000 requested=800\n");
    ck_assert_uint_eq(list.device_peak.count, 3);
    ck_assert_uint_eq(list.device_peak.items[0].device_id, 1);
    ck_assert_uint_eq(list.device_peak.items[0].peak_bytes, 30);
    ck_assert_int_eq(list.device_peak.items[0].peak_seq, 1);
    ck_assert_uint_eq(list.device_peak.items[1].device_id, 3);
    ck_assert_uint_eq(list.device_peak.items[1].peak_bytes, 7);
    ck_assert_uint_eq(list.device_peak.items[2].device_id, 4);
    ck_assert_uint_eq(list.device_peak.items[2].peak_bytes, 8);
}
END_TEST

START_TEST(a_device_that_becomes_known_later_moves_to_its_group)
{
    replay(HEAD "process 2 pid=200 host=h1\ndevice 2 process=2 ordinal=0\nheap 4 process=2 device=2 level=driver\n"
                "@1 alloc heap=4 address=0x1000 requested=20\n"
                "device 2 process=2 ordinal=0 physical=4\n"
                "@2 alloc heap=1 address=0x1000 requested=10\n");
    ck_assert_uint_eq(list.device_peak.items[0].device_id, 1);
    ck_assert_uint_eq(list.device_peak.items[0].peak_bytes, 30);
}
END_TEST

/* ---- The timeline ---- */

START_TEST(the_timeline_has_a_bucket_for_every_change_while_there_are_few)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=10\n"
                "@2 mark\n"
                "@3 alloc heap=1 address=0x2000 requested=20\n"
                "@4 free heap=1 address=0x1000\n");
    ck_assert_uint_eq(list.usage.count, 3);
    ck_assert_int_eq(list.usage.items[1].first_seq, 2);
    ck_assert_int_eq(list.usage.items[1].last_seq, 2);
    ck_assert_uint_eq(list.usage.items[1].live_bytes, 30);
    ck_assert_uint_eq(list.usage.items[2].live_bytes, 20);
    ck_assert_uint_eq(list.usage.items[2].live_count, 1);
    ck_assert_int_eq(list.usage.items[2].last_ns, 4);
}
END_TEST

START_TEST(a_long_timeline_keeps_its_maxima_in_few_buckets)
{
    enum { EVENTS = 30000 };
    char *text = malloc(EVENTS * 64 + 4096);
    size_t len = (size_t)sprintf(text, "%s", HEAD);
    uint64_t live[EVENTS];
    uint64_t live_now = 0;

    for (int i = 0; i < EVENTS; i++) {
        uint64_t bytes = 1 + (uint64_t)(i * 7919 % 1000);
        bool is_free = i % 3 == 2; /* of what the event before made */

        if (is_free)
            live_now -= 1 + (uint64_t)((i - 1) * 7919 % 1000);
        else
            live_now += bytes;
        len += (size_t)sprintf(text + len,
                               is_free ? "@%d free heap=1 address=%d\n" : "@%d alloc heap=1 address=%d requested=%d\n",
                               i, 4096 + (is_free ? i - 1 : i), (int)bytes);
        live[i] = live_now;
    }
    replay(text);
    free(text);
    ck_assert_uint_le(list.usage.count, 4096);
    ck_assert_uint_gt(list.usage.count, 2047);
    for (size_t i = 0; i < list.usage.count; i++) {
        const nm_usage_row *row = &list.usage.items[i];
        int64_t max_seq = row->first_seq;

        ck_assert_int_eq(row->first_seq, i == 0 ? 0 : list.usage.items[i - 1].last_seq + 1);
        for (int64_t seq = row->first_seq; seq <= row->last_seq; seq++)
            if (live[seq] > live[max_seq])
                max_seq = seq;
        ck_assert_int_eq(row->max_seq, max_seq);
        ck_assert_int_eq(row->max_ns, max_seq);
        ck_assert_uint_eq(row->max_live_bytes, live[max_seq]);
        ck_assert_uint_eq(row->live_bytes, live[row->last_seq]);
    }
    ck_assert_int_eq(list.usage.items[list.usage.count - 1].last_seq, EVENTS - 1);
}
END_TEST

/* ---- Operations, steps, samples ---- */

START_TEST(ranges_nest_by_thread_and_pair_by_number_or_as_the_innermost)
{
    replay(HEAD "@1 range_begin thread=1 number=10 name=outer detail=operator stream=2\n"
                "@2 range_begin thread=1 name=inner\n"
                "@3 alloc heap=1 address=0x1000 requested=1 thread=1\n"
                "@4 alloc heap=1 address=0x2000 requested=1 thread=2\n"
                "@5 range_end thread=1\n"
                "@6 range_end thread=2 number=10\n"
                "@7 alloc heap=1 address=0x3000 requested=1 thread=1\n"
                "@8 range_end thread=1\n"
                "@9 range_begin thread=2 number=11 name=open\n");
    ck_assert_uint_eq(list.operation.count, 3);
    ck_assert_uint_eq(list.operation.items[0].operation_id, 2);
    ck_assert_uint_eq(list.operation.items[0].parent_id, 1);
    ck_assert_int_eq(list.operation.items[0].end_seq, 4);
    ck_assert_uint_eq(list.operation.items[1].operation_id, 1);
    ck_assert_int_eq(list.operation.items[1].kind, NM_RANGE_OPERATOR);
    ck_assert_int_eq(list.operation.items[1].begin_seq, 0);
    ck_assert_int_eq(list.operation.items[1].end_seq, 5);
    ck_assert_int_eq(list.operation.items[1].end_ns, 6);
    ck_assert_int_eq(list.operation.items[2].end_seq, NM_NO_SEQ);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 1)->operation_id, 2);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 2)->operation_id, 0);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 3)->operation_id, 0);
}
END_TEST

START_TEST(a_source_without_threads_has_operations_too)
{
    replay("process 1 pid=1\nheap 1 process=1 level=driver\n"
           "@1 range_begin number=1 name=a\n"
           "@2 alloc heap=1 address=0x1000 requested=1\n"
           "@3 range_end number=1\n");
    ck_assert_uint_eq(list.operation.count, 1);
    ck_assert_uint_eq(list.operation.items[0].thread_id, 0);
    ck_assert_uint_eq(list.operation.items[0].process_id, 1);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 1)->operation_id, 1);
}
END_TEST

START_TEST(a_step_ends_at_the_next_one_or_with_its_process)
{
    replay(HEAD "process 2 pid=200\nthread 3 process=2\n"
                "@1 step thread=1 number=7\n"
                "@2 step thread=3 number=1\n"
                "@3 step thread=2 number=8\n"
                "@4 process_end process=1 detail=signal error=9\n"
                "@5 process_end process=2 detail=exit error=-1\n"
                "@6 step thread=3 number=2\n");
    ck_assert_uint_eq(list.step.count, 4);
    ck_assert_int_eq(list.step.items[0].number, 7);
    ck_assert_int_eq(list.step.items[0].begin_seq, 0);
    ck_assert_int_eq(list.step.items[0].end_seq, 2);
    ck_assert_int_eq(list.step.items[0].end_ns, 3);
    ck_assert_int_eq(list.step.items[1].number, 8);
    ck_assert_int_eq(list.step.items[1].end_seq, 3);
    ck_assert_uint_eq(list.step.items[2].process_id, 2);
    ck_assert_int_eq(list.step.items[3].end_seq, NM_NO_SEQ);
    ck_assert_uint_eq(list.process_end.count, 2);
    ck_assert_int_eq(list.process_end.items[0].end_kind, NM_PROCESS_SIGNAL);
    ck_assert_int_eq(list.process_end.items[0].end_status, 9);
    ck_assert_int_eq(list.process_end.items[0].end_ns, 4);
    ck_assert_int_eq(list.process_end.items[1].end_status, NM_UNKNOWN_NUMBER);
}
END_TEST

START_TEST(a_sample_says_what_is_used)
{
    replay(HEAD "@1 memory_sample device=1 detail=hbm free=30 total=100 thread=1\n");
    ck_assert_uint_eq(list.memory_sample.count, 1);
    ck_assert_uint_eq(list.memory_sample.items[0].used_bytes, 70);
    ck_assert_uint_eq(list.memory_sample.items[0].total_bytes, 100);
    ck_assert_uint_eq(list.memory_sample.items[0].kind, NM_MEMORY_HBM);
    ck_assert_uint_eq(list.memory_sample.items[0].process_id, 1);
}
END_TEST

/* ---- Misuse ---- */

START_TEST(a_free_of_unknown_memory_and_a_double_free_are_told_apart)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n"
                "@2 free address=0x1000 thread=1 stack=2\n"
                "@3 free address=0x1000 thread=1 stack=1\n"
                "@4 free address=0x2000 thread=1\n"
                "@5 free address=0 thread=1\n"
                "@6 free heap=3 address=0x1000 thread=1\n");
    ck_assert_uint_eq(list.anomaly.count, 3);
    ck_assert_int_eq(list.anomaly.items[0].kind, NM_ANOMALY_DOUBLE_FREE);
    ck_assert_uint_eq(list.anomaly.items[0].allocation_id, 1);
    ck_assert_uint_eq(list.anomaly.items[0].stack_id, 1);
    ck_assert_uint_eq(list.anomaly.items[0].other_stack_id, 2);
    ck_assert_int_eq(list.anomaly.items[0].seq, 2);
    ck_assert_int_eq(list.anomaly.items[1].kind, NM_ANOMALY_FREE_UNKNOWN);
    ck_assert_uint_eq(list.anomaly.items[1].address, 0x2000);
    ck_assert_int_eq(list.anomaly.items[2].kind, NM_ANOMALY_FREE_UNKNOWN);
    ck_assert_uint_eq(list.anomaly.items[2].heap_id, 3);
}
END_TEST

START_TEST(the_wrong_call_to_free_is_told_both_ways)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=2 address=0x2000 requested=64 thread=1\n"
                "@3 free address=0x2000 thread=1 detail=device\n"
                "@4 free_failed address=0x2000 thread=1 error=100000\n"
                "@5 free address=0x1000 thread=1 detail=host\n"
                "@6 free address=0x2000 thread=1 detail=host\n");
    ck_assert_uint_eq(list.anomaly.count, 2);
    ck_assert_int_eq(list.anomaly.items[0].kind, NM_ANOMALY_WRONG_FREE);
    ck_assert_uint_eq(list.anomaly.items[0].allocation_id, 2);
    ck_assert_str_eq(list.anomaly.items[0].detail, "host memory freed as device memory");
    ck_assert_uint_eq(list.anomaly.items[1].allocation_id, 1);
    ck_assert_int_eq(nm_row_list_allocation(&list, 2)->free_seq, 5);
}
END_TEST

START_TEST(a_copy_past_the_end_of_its_target_or_source_is_told)
{
    const nm_anomaly_row *row;

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 block=128 thread=1 stack=1\n"
                "@2 alloc heap=2 address=0x9000 requested=64 thread=1\n"
                "@3 copy thread=1 address=0x1000 source=0x9000 size=64 detail=h2d\n"
                "@4 copy thread=1 address=0x1010 source=0x9000 size=49 detail=h2d stack=2\n");
    row = only_anomaly(NM_ANOMALY_COPY_PAST_END);
    ck_assert_uint_eq(row->copy_id, 2);
    ck_assert_uint_eq(row->allocation_id, 1);
    ck_assert_uint_eq(row->stack_id, 2);
    ck_assert_uint_eq(row->other_stack_id, 1);
    ck_assert_str_eq(row->detail, "the target is too small");

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=2 address=0x9000 requested=32 thread=1\n"
                "@3 copy thread=1 address=0x1000 source=0x9000 size=64 detail=h2d\n");
    ck_assert_str_eq(only_anomaly(NM_ANOMALY_COPY_PAST_END)->detail, "the source is too small");

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 copy thread=1 address=0x1000 size=65 detail=memset\n");
    ck_assert_uint_eq(only_anomaly(NM_ANOMALY_COPY_PAST_END)->allocation_id, 1);
}
END_TEST

START_TEST(a_copy_may_cross_joined_ranges_but_not_its_own_limit)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=0x1000\n"
                "@2 map heap=1 address=0x2000 block=0x1000\n"
                "@3 alloc heap=3 address=0x1800 requested=0x1000 thread=1\n"
                "@4 copy thread=1 address=0x1800 source=0x7f0000000000 size=0x1000 detail=h2d\n"
                "@5 copy thread=1 address=0x7f0000000000 source=0x7f1000000000 size=100 limit=100 detail=h2h\n"
                "@6 copy thread=1 address=0x7f0000000000 source=0x7f1000000000 size=100 limit=99 detail=h2h async "
                "stream=4 cost=8\n");
    ck_assert_uint_eq(only_anomaly(NM_ANOMALY_COPY_PAST_END)->copy_id, 3);
    ck_assert_uint_eq(list.copy.count, 3);
    ck_assert(list.copy.items[2].is_async);
    ck_assert_uint_eq(list.copy.items[2].stream, 4);
    ck_assert_uint_eq(list.copy.items[2].cost_ns, 8);
    ck_assert_int_eq(list.copy.items[2].kind, NM_COPY_HOST_TO_HOST);
}
END_TEST

START_TEST(a_copy_to_freed_device_memory_is_told)
{
    const nm_anomaly_row *row;

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=2 address=0x9000 requested=64 thread=1\n"
                "@3 free address=0x1000 thread=1 stack=2\n"
                "@4 free address=0x9000 thread=1\n"
                "@5 copy thread=1 address=0x1000 source=0x9000 size=64 detail=h2d\n");
    row = only_anomaly(NM_ANOMALY_USE_AFTER_FREE);
    ck_assert_uint_eq(row->allocation_id, 1);
    ck_assert_uint_eq(row->other_stack_id, 2);
    ck_assert_uint_eq(row->address, 0x1000);
}
END_TEST

START_TEST(a_copy_from_a_freed_block_is_told_unless_another_lies_there)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000 thread=1\n"
                "@2 alloc heap=3 address=0x1100 requested=16 thread=1\n"
                "@3 free heap=3 address=0x1100 thread=1\n"
                "@4 copy thread=1 source=0x1100 address=0x8000 size=16 detail=d2h\n"
                "@5 alloc heap=3 address=0x1080 requested=0x100 thread=1\n"
                "@6 copy thread=1 source=0x1100 address=0x8000 size=16 detail=d2h\n");
    ck_assert_uint_eq(only_anomaly(NM_ANOMALY_USE_AFTER_FREE)->copy_id, 1);
}
END_TEST

START_TEST(only_the_addresses_freed_last_are_remembered)
{
    enum { ADDRESSES = 131072 + 2 };
    char *text = malloc((size_t)ADDRESSES * 100 + 4096);
    size_t len = (size_t)sprintf(text, "%s", HEAD);

    for (int i = 0; i < ADDRESSES; i++)
        len += (size_t)sprintf(text + len,
                               "@1 alloc heap=2 address=%d requested=1 thread=1\n@1 free address=%d thread=1\n",
                               4096 + i, 4096 + i);
    sprintf(text + len, "@2 free address=4096 thread=1\n@2 free address=%d thread=1\n", 4096 + ADDRESSES - 1);
    replay(text);
    free(text);
    ck_assert_uint_eq(list.anomaly.count, 2);
    ck_assert_int_eq(list.anomaly.items[0].kind, NM_ANOMALY_FREE_UNKNOWN);
    ck_assert_int_eq(list.anomaly.items[1].kind, NM_ANOMALY_DOUBLE_FREE);
}
END_TEST

TEST_SUITE(test_replay_usage)
{
    Suite *suite = suite_create("replay_usage");
    TCase *tests = tcase_create("usage");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_first_of_equal_peaks_is_the_peak);
    tcase_add_test(tests, a_peak_is_made_of_what_was_live_then);
    tcase_add_test(tests, a_device_s_peak_adds_the_processes_that_share_it);
    tcase_add_test(tests, a_device_that_becomes_known_later_moves_to_its_group);
    tcase_add_test(tests, the_timeline_has_a_bucket_for_every_change_while_there_are_few);
    tcase_add_test(tests, a_long_timeline_keeps_its_maxima_in_few_buckets);
    tcase_add_test(tests, ranges_nest_by_thread_and_pair_by_number_or_as_the_innermost);
    tcase_add_test(tests, a_source_without_threads_has_operations_too);
    tcase_add_test(tests, a_step_ends_at_the_next_one_or_with_its_process);
    tcase_add_test(tests, a_sample_says_what_is_used);
    tcase_add_test(tests, a_free_of_unknown_memory_and_a_double_free_are_told_apart);
    tcase_add_test(tests, the_wrong_call_to_free_is_told_both_ways);
    tcase_add_test(tests, a_copy_past_the_end_of_its_target_or_source_is_told);
    tcase_add_test(tests, a_copy_may_cross_joined_ranges_but_not_its_own_limit);
    tcase_add_test(tests, a_copy_to_freed_device_memory_is_told);
    tcase_add_test(tests, a_copy_from_a_freed_block_is_told_unless_another_lies_there);
    tcase_add_test(tests, only_the_addresses_freed_last_are_remembered);
    suite_add_tcase(suite, tests);
    return suite;
}
