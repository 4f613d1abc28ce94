/* SPDX-License-Identifier: Apache-2.0
 *
 * Which failures belong together, and how that ends: one short stream a rule. What the state before the first failure is,
 * tests/sql/test_out_of_memory_oracle.c tells from a slow computation.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/row_list.h"
#include "support/suites.h"

#define MIB 1048576

static const char places[] = "process 1 pid=1\n"
                             "device 1 process=1 ordinal=0\ndevice 2 process=1 ordinal=1\n"
                             "heap 1 process=1 device=1 level=driver basis=block name=d\n"
                             "heap 2 process=1 device=1 level=pool basis=block name=p\n"
                             "heap 3 process=1 device=1 level=physical basis=block name=h\n"
                             "heap 4 process=1 device=2 level=driver basis=block name=d\n"
                             "heap 5 process=1 level=pinned basis=requested name=pinned\n"
                             "heap 6 process=1 device=1 level=driver basis=block name=runtime module=7\n"
                             "thread 1 process=1 tid=1\nthread 2 process=1 tid=2\n"
                             "stack 1: a.c:1:f\n";

#define REFUSED(at, thread, mib)                                                                                       \
    "@" #at " alloc_failed heap=1 requested=" #mib "000000 thread=" #thread " stack=1 error=207001 free=1 total=9\n"

static nm_row_list list;
static nm_error err;

static void replay(const char *lines)
{
    char *text = NULL;

    nm_row_list_free(&list);
    ck_assert_int_gt(asprintf(&text, "%s%s", places, lines), 0);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s (line %llu)", err.text,
                  (unsigned long long)err.offset);
    free(text);
}

/* The chains as "first-last count outcome", in the order of their begin. */
static void expect(const char *lines, const char *wanted)
{
    static const char outcomes[] = "?rfo";
    char found[512] = "";
    size_t len = 0;

    replay(lines);
    for (uint64_t id = 1; id <= list.out_of_memory.count; id++)
        for (size_t i = 0; i < list.out_of_memory.count; i++) {
            const nm_out_of_memory_row *row = &list.out_of_memory.items[i];

            if (row->out_of_memory_id == id)
                len +=
                    (size_t)snprintf(found + len, sizeof found - len, "%lld-%lld %llu%c%s ", (long long)row->first_seq,
                                     (long long)row->last_seq, (unsigned long long)row->failure_count,
                                     outcomes[row->outcome], row->is_partial ? " partial" : "");
        }
    ck_assert_msg(strcmp(found, wanted) == 0, "'%s', not '%s' of\n%s", found, wanted, lines);
}

START_TEST(a_retry_that_the_driver_serves_is_a_recovery)
{
    expect(REFUSED(0, 1, 20) "@1 stream_call thread=1 detail=4\n" REFUSED(
               2, 1, 20) "@3 alloc heap=1 address=0x1000 requested=20000000 block=20000000 thread=1\n"
                         "@4 alloc heap=2 address=0x1000 requested=5 block=512 thread=1\n",
           "0-2 2r ");
    expect(REFUSED(0, 1, 20) "@1 alloc heap=1 address=0x1000 requested=20000000 block=20000000 thread=1\n"
                             "@2 mark thread=1 name=x\n",
           "0-0 1r ");
    expect(REFUSED(0, 1, 20) "@1 alloc heap=1 address=0x1000 requested=20000000 block=20000000 thread=1\n", "0-0 1r ");
}
END_TEST

START_TEST(less_than_was_refused_is_no_recovery)
{
    expect(REFUSED(0, 1, 20) "@1 alloc heap=1 address=0x1000 requested=2000000 block=2000000 thread=1\n"
                             "@2 alloc heap=2 address=0x1000 requested=5 block=512 thread=1\n",
           "0-0 1f ");
    expect(REFUSED(0, 1, 20) "@1 alloc heap=2 address=0x1000 requested=5 block=512 thread=1\n", "0-0 1f ");
    expect(REFUSED(0, 1, 20) "@1 alloc heap=2 address=0x1000 requested=20000000 block=20000256 thread=1\n", "0-0 1r ");
}
END_TEST

START_TEST(pieces_of_an_expandable_segment_are_one_chain)
{
    static const char lines[] =
        "@0 alloc heap=3 address=0x71 requested=20971520 block=20971520 thread=1\n"
        "@1 map heap=1 address=0x1000000 block=20971520 thread=1\n"
        "@2 alloc_failed heap=3 requested=20971520 thread=1 stack=1 error=207001 free=1 total=9\n"
        "@3 unmap heap=1 address=0x1000000 block=20971520 thread=1\n"
        "@4 alloc_failed heap=3 requested=20971520 thread=1 stack=1 error=207001 free=1 total=9\n"
        "@5 free heap=3 address=0x71 detail=physical thread=1\n"
        "@6 alloc heap=3 address=0x72 requested=20971520 block=20971520 thread=1\n"
        "@7 map heap=1 address=0x1000000 block=20971520 thread=1\n"
        "@8 alloc_failed heap=3 requested=20971520 thread=1 stack=1 error=207001 free=1 total=9\n";

    expect(lines, "2-8 3o ");
    ck_assert_uint_eq(list.out_of_memory.items[0].at_least_tried_bytes, 20 * MIB);
    ck_assert_uint_eq(list.out_of_memory.items[0].tried_bytes, 0);
    ck_assert_uint_eq(list.out_of_memory.items[0].released_bytes, 20 * MIB);
}
END_TEST

START_TEST(a_block_in_use_that_is_freed_ends_a_chain_and_a_pending_one_does_not)
{
    static const char blocks[] = "@0 alloc heap=1 address=0x1000 requested=4096 block=4096 thread=1\n"
                                 "@1 alloc heap=2 address=0x1000 requested=512 block=512 thread=1\n"
                                 "@2 alloc heap=2 address=0x1200 requested=512 block=512 thread=1\n"
                                 "@3 free_requested heap=2 address=0x1200 thread=1\n";
    char lines[2048];

    snprintf(lines, sizeof lines, "%s%s", blocks,
             REFUSED(4, 1, 20) "@5 free heap=2 address=0x1200 thread=1\n" REFUSED(6, 1, 20));
    expect(lines, "4-6 2o ");
    snprintf(lines, sizeof lines, "%s%s", blocks,
             REFUSED(4, 1, 20) "@5 free heap=2 address=0x1000 thread=1\n" REFUSED(6, 1, 20));
    expect(lines, "4-4 1f 6-6 1o ");
    snprintf(lines, sizeof lines, "%s%s", blocks,
             REFUSED(4, 1, 20) "@5 free_requested heap=2 address=0x1000 thread=1\n" REFUSED(6, 1, 20));
    expect(lines, "4-4 1f 6-6 1o ");
    snprintf(lines, sizeof lines, "%s%s", blocks,
             REFUSED(4, 1, 20) "@5 free heap=2 address=0x1000 thread=2\n" REFUSED(6, 1, 20));
    expect(lines, "4-6 2o ");
    ck_assert_uint_eq(list.out_of_memory.items[0].active_bytes, 1024);
    ck_assert_uint_eq(list.out_of_memory.items[0].allocated_bytes, 512);
}
END_TEST

START_TEST(threads_and_devices_have_chains_of_their_own)
{
    expect(REFUSED(0, 1, 20) REFUSED(
               1, 2, 30) "@2 alloc_failed heap=4 requested=40000000 thread=1 error=207001 free=1 "
                         "total=9\n" REFUSED(
                             3, 1, 20) "@4 alloc_failed heap=5 requested=50 thread=1 error=207001\n" REFUSED(5, 2, 30),
           "0-3 2o 1-5 2o 2-2 1o 4-4 1o ");
}
END_TEST

START_TEST(a_pool_that_asks_for_another_size_has_another_request)
{
    expect(REFUSED(0, 1, 20) "@1 alloc_failed heap=2 requested=700 thread=1 error=1\n" REFUSED(
               2, 1, 20) "@3 alloc_failed heap=2 requested=700 thread=1 error=1\n"
                         "@4 alloc_failed heap=2 requested=300 thread=1 error=1\n"
                         "@5 alloc heap=2 address=0x1000 requested=300 block=512 thread=1\n",
           "0-3 4f 4-4 1r ");
    ck_assert_uint_eq(list.out_of_memory.items[1].tried_bytes, 700); /* it stays open for longer */
    ck_assert_uint_eq(list.out_of_memory.items[1].driver_failure_count, 2);
    ck_assert_uint_eq(list.out_of_memory.items[1].pool_heap_id, 2);
}
END_TEST

START_TEST(a_program_that_goes_on_in_smaller_pieces_has_recovered)
{
    static const char refused[] = "@0 alloc_failed heap=2 requested=1000 thread=1 error=1\n"
                                  "@1 copy thread=1 detail=h2d size=8\n"
                                  "@2 alloc heap=2 address=0x1000 requested=600 block=600 thread=1\n"
                                  "@3 free heap=2 address=0x1000 thread=1\n";
    char lines[1024];

    expect(refused, "0-0 1f ");
    snprintf(lines, sizeof lines, "%s%s", refused, "@4 alloc heap=2 address=0x1000 requested=399 block=399 thread=1\n");
    expect(lines, "0-0 1f ");
    snprintf(lines, sizeof lines, "%s%s", refused, "@4 alloc heap=2 address=0x1000 requested=400 block=400 thread=1\n");
    expect(lines, "0-0 1r ");
    /* Another thread's, another device's, a module's and the driver's do not count; losses after it was left neither. */
    snprintf(lines, sizeof lines, "%s%s", refused,
             "@4 alloc heap=2 address=0x2000 requested=400 block=400 thread=2\n"
             "@5 alloc heap=4 address=0x2000 requested=400 block=400 thread=1\n"
             "@6 alloc heap=6 address=0x8000 requested=400 block=400 thread=1\n"
             "@7 alloc heap=1 address=0x9000 requested=400 block=400 thread=1\n"
             "@8 loss thread=1 number=3 until=9 detail=ring_full\n"
             "@9 alloc heap=2 address=0x2000 requested=400 block=400 thread=1\n");
    expect(lines, "0-0 1f ");
}
END_TEST

/* No more than so many are waited for; the oldest is given up. */
START_TEST(very_many_failures_that_were_left_are_bounded)
{
    char *text = calloc(1, 64 * 200);
    size_t len = 0;

    for (int i = 0; i < 40; i++)
        len += (size_t)sprintf(text + len, "@%d alloc_failed heap=2 requested=%d thread=1 error=1\n", i, 1000 + i);
    sprintf(text + len, "@40 alloc heap=2 address=0x1000 requested=2000 block=2000 thread=1\n");
    replay(text);
    ck_assert_uint_eq(list.out_of_memory.count, 40);
    for (size_t i = 0; i < 40; i++)
        ck_assert_int_eq(list.out_of_memory.items[i].outcome,
                         list.out_of_memory.items[i].out_of_memory_id <= 8 ? NM_OUTCOME_FATAL : NM_OUTCOME_RECOVERED);
    free(text);
}
END_TEST

START_TEST(a_stream_that_cannot_be_made_is_a_chain_of_its_own)
{
    static const char lines[] = "@0 stream_call thread=1 device=1 stream=7 detail=stream_create\n"
                                "@1 stream_call thread=1 device=1 number=5 detail=event_create\n"
                                "@2 stream_call thread=1 device=1 detail=stream_create error=207005\n"
                                "@3 alloc_failed heap=1 requested=100 thread=1 error=207001 free=1 total=9\n"
                                "@4 alloc heap=1 address=0x1000 requested=100 block=100 thread=1\n"
                                "@5 stream_call thread=1 device=1 detail=stream_create error=207005\n"
                                "@6 stream_call thread=1 device=1 detail=synchronize error=507000\n";

    expect(lines, "2-5 2o 3-3 1r ");
    ck_assert_uint_eq(list.out_of_memory.items[0].stream_call, NM_STREAM_CREATE);
    ck_assert_uint_eq(list.out_of_memory.items[0].stream_count, 1);
    ck_assert_uint_eq(list.out_of_memory.items[0].event_count, 1);
    ck_assert_uint_eq(list.out_of_memory.items[0].device_id, 1);
    ck_assert_uint_eq(list.out_of_memory.items[0].heap_id, 0);
    expect("@0 stream_call thread=1 device=1 detail=event_create error=207001\n"
           "@1 stream_call thread=1 device=1 stream=7 detail=stream_create\n"
           "@2 mark thread=1 name=x\n"
           "@3 stream_call thread=1 device=1 number=6 detail=event_create\n",
           "0-0 1r ");
}
END_TEST

START_TEST(a_wrong_call_is_no_lack_of_memory)
{
    expect("@0 alloc_failed heap=1 requested=0 thread=1 error=107000\n", "");
    expect("@0 alloc_failed heap=1 requested=100 thread=1 error=107000 free=500 total=900\n", "");
    expect("@0 alloc_failed heap=1 requested=100 thread=1 error=507899 free=50 total=900\n", "0-0 1o ");
    expect("@0 alloc_failed heap=3 requested=100 thread=1 error=6\n", "0-0 1o ");
}
END_TEST

START_TEST(what_the_runtime_takes_and_host_memory_leave_a_chain_alone)
{
    expect(REFUSED(0, 1, 20) "@1 alloc heap=6 address=0x5000 requested=100 block=100 thread=1\n"
                             "@2 alloc heap=5 address=0x9000 requested=100 thread=1\n"
                             "@3 free address=0x9000 detail=host thread=1\n"
                             "@4 memory_sample device=1 thread=1 detail=hbm free=1 total=9\n" REFUSED(5, 1, 20),
           "0-5 2o ");
    expect("@0 alloc_failed heap=5 requested=100 thread=1 error=207001\n"
           "@1 alloc heap=5 address=0x9000 requested=100 thread=1\n",
           "0-0 1r ");
}
END_TEST

START_TEST(what_the_program_does_next_ends_a_chain)
{
    static const char *const next[] = {
        "@1 mark thread=1 name=x\n",
        "@1 step thread=1 number=1\n",
        "@1 copy thread=1 detail=h2d size=8\n",
        "@1 range_begin thread=1 name=x number=1\n",
        "@1 range_end thread=1 number=1\n",
        "@1 reset device=1 thread=1\n",
        "@1 process_end process=1 detail=exit error=1\n",
    };
    char lines[1024];

    for (size_t i = 0; i < sizeof next / sizeof next[0]; i++) {
        snprintf(lines, sizeof lines, "%s%s", REFUSED(0, 1, 20), next[i]);
        expect(lines, "0-0 1f ");
    }
}
END_TEST

START_TEST(loss_claims_nothing)
{
    expect(REFUSED(0, 1, 20) "@1 loss thread=1 number=3 until=2 detail=ring_full\n", "0-0 1? partial ");
    expect(REFUSED(0, 1, 20) "@1 loss thread=2 number=3 until=2 detail=ring_full\n" REFUSED(2, 1, 20), "0-2 2o ");
    expect("@0 loss thread=2 number=3 until=0 detail=ring_full\n" REFUSED(1, 1, 20) "@2 mark thread=1 name=x\n",
           "1-1 1f partial ");
    expect(REFUSED(0, 1, 20) "@1 loss number=3 until=2 detail=unreadable\n", "0-0 1? partial ");
}
END_TEST

/* As a snapshot tells it: no threads, no driver that refuses. */
START_TEST(a_source_without_threads_has_chains_as_well)
{
    expect("@- alloc heap=2 address=0x1000 requested=100\n"
           "@- alloc_failed heap=2 requested=5120 free=7 error=207001\n"
           "@- free heap=1 address=0x8000\n"
           "@- alloc heap=2 address=0x2000 requested=5000\n"
           "@- alloc_failed heap=2 requested=6144 free=7 error=207001\n"
           "@- free_requested heap=2 address=0x1000\n"
           "@- free heap=2 address=0x1000\n"
           "@- alloc_failed heap=2 requested=6144 free=7 error=207001\n",
           "1-1 1r 4-4 1f 7-7 1o ");
}
END_TEST

/* 100 stacks of two heaps, of 1 to 100 bytes: the 64 largest, and the rest of each. */
START_TEST(many_stacks_are_the_largest_and_a_rest_of_each_heap)
{
    char *text = calloc(1, 200 * 100 + 1000);
    size_t len = 0;
    uint64_t sum = 0, count = 0, rest_count = 0;

    for (int i = 1; i <= 100; i++)
        len += (size_t)sprintf(text + len, "stack %d: s.c:%d:f\n", i + 10, i);
    for (int i = 1; i <= 100; i++)
        len += (size_t)sprintf(text + len, "@%d alloc heap=%d address=%d requested=%d block=%d thread=1 stack=%d\n", i,
                               i % 2 ? 1 : 2, i * 4096, i, i, i + 10);
    sprintf(text + len, "%s", REFUSED(101, 1, 20));
    replay(text);
    ck_assert_uint_eq(list.out_of_memory_stack.count, 66);
    for (size_t i = 0; i < 66; i++) {
        const nm_out_of_memory_stack_row *row = &list.out_of_memory_stack.items[i];

        sum += row->live_bytes;
        count += row->live_count;
        if (row->is_rest) {
            rest_count++;
            ck_assert_uint_eq(row->live_count, 18);
            ck_assert_uint_eq(row->live_bytes,
                              row->heap_id == 1 ? 18 * 18 : 18 * 19); /* 1 + 3 + ... + 35, 2 + 4 + ... */
        } else {
            ck_assert_uint_eq(row->live_bytes, 100 - i);
        }
    }
    ck_assert_uint_eq(sum, 5050);
    ck_assert_uint_eq(count, 100);
    ck_assert_uint_eq(rest_count, 2);
    free(text);
}
END_TEST

TEST_SUITE(test_replay_chain)
{
    Suite *suite = suite_create("chains");
    TCase *tests = tcase_create("chains");

    tcase_add_test(tests, a_retry_that_the_driver_serves_is_a_recovery);
    tcase_add_test(tests, less_than_was_refused_is_no_recovery);
    tcase_add_test(tests, pieces_of_an_expandable_segment_are_one_chain);
    tcase_add_test(tests, a_block_in_use_that_is_freed_ends_a_chain_and_a_pending_one_does_not);
    tcase_add_test(tests, threads_and_devices_have_chains_of_their_own);
    tcase_add_test(tests, a_pool_that_asks_for_another_size_has_another_request);
    tcase_add_test(tests, a_program_that_goes_on_in_smaller_pieces_has_recovered);
    tcase_add_test(tests, very_many_failures_that_were_left_are_bounded);
    tcase_add_test(tests, a_stream_that_cannot_be_made_is_a_chain_of_its_own);
    tcase_add_test(tests, a_wrong_call_is_no_lack_of_memory);
    tcase_add_test(tests, what_the_runtime_takes_and_host_memory_leave_a_chain_alone);
    tcase_add_test(tests, what_the_program_does_next_ends_a_chain);
    tcase_add_test(tests, loss_claims_nothing);
    tcase_add_test(tests, a_source_without_threads_has_chains_as_well);
    tcase_add_test(tests, many_stacks_are_the_largest_and_a_rest_of_each_heap);
    suite_add_tcase(suite, tests);
    return suite;
}
