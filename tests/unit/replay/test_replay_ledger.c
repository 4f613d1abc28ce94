/* SPDX-License-Identifier: Apache-2.0
 *
 * Why a pool grew, what it gave back and what it could not use yet: rules that the random model of
 * tests/sql/test_pool_oracle.c does not reach, each as a text trace and figures worked out by hand.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "support/row_list.h"
#include "support/suites.h"

#define PLACES                                                                                                         \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "device 1 process=1 ordinal=0\n"                                                                                   \
    "heap 1 process=1 device=1 level=driver basis=block\n"                                                             \
    "heap 2 process=1 device=1 level=pool basis=block large=0x1000000\n"                                               \
    "heap 3 process=1 device=1 level=pool basis=block\n"
#define HEAD "process 1 pid=100\n" PLACES

static nm_row_list list;

static void replay(const char *text)
{
    nm_error err = {0};

    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

static const nm_pool_sum_row *sum_of(uint64_t heap_id)
{
    for (size_t i = 0; i < list.pool_sum.count; i++)
        if (list.pool_sum.items[i].heap_id == heap_id)
            return &list.pool_sum.items[i];
    ck_abort_msg("no sum of heap %llu", (unsigned long long)heap_id);
}

static const nm_miss_row *miss_at(int64_t seq)
{
    for (size_t i = 0; i < list.miss.count; i++)
        if (list.miss.items[i].seq == seq)
            return &list.miss.items[i];
    ck_abort_msg("no miss at %lld", (long long)seq);
}

static uint64_t reuse_count(nm_reuse_kind kind)
{
    uint64_t count = 0;

    for (size_t i = 0; i < list.pool_reuse.count; i++)
        if (list.pool_reuse.items[i].kind == kind && list.pool_reuse.items[i].measure == NM_REUSE_ALLOCATIONS)
            count += list.pool_reuse.items[i].request_count;
    return count;
}

START_TEST(a_block_over_two_mapped_ranges_takes_two_driver_calls)
{
    replay(HEAD "@1 map heap=1 address=0x100000 block=0x100000\n"
                "@2 map heap=1 address=0x200000 block=0x100000\n"
                "@3 alloc heap=2 address=0x180000 block=0x100000\n"
                "@4 alloc heap=2 address=0x100000 block=0x1000\n");
    ck_assert_uint_eq(miss_at(2)->driver_count, 2);
    ck_assert_uint_eq(miss_at(2)->driver_cost_ns, 0);
    ck_assert_uint_eq(list.miss.count, 1);
    ck_assert_uint_eq(sum_of(2)->driver_count, 2);
    ck_assert_uint_eq(sum_of(2)->driver_cost_count, 0);
    ck_assert_uint_eq(list.pool_group.items[0].held_bytes, 0x200000);
}
END_TEST

START_TEST(a_part_of_a_mapping_that_goes_is_given_back)
{
    replay(HEAD "@1 map heap=1 address=0x100000 block=0x100000\n"
                "@2 alloc heap=2 address=0x180000 block=0x1000\n"
                "@3 unmap heap=1 address=0x100000 block=0x40000\n"
                "@4 unmap heap=1 address=0x140000 block=0x10000\n"
                "@5 alloc heap=2 address=0x190000 block=0x1000\n");
    ck_assert_uint_eq(sum_of(2)->flush_count, 1);
    ck_assert_uint_eq(sum_of(2)->released_count, 2);
    ck_assert_uint_eq(sum_of(2)->released_bytes, 0x50000);
    ck_assert_uint_eq(sum_of(2)->retry_count, 0); /* the next request was a hit */
    ck_assert_uint_eq(list.pool_group.items[0].held_bytes, 0xb0000);
    ck_assert_uint_eq(list.pool_group.items[0].peak_held_bytes, 0x100000);
}
END_TEST

START_TEST(a_free_that_the_driver_refuses_is_no_flush)
{
    const char *text = HEAD "@1 alloc heap=1 address=0x100000 block=0x1000 thread=1\n"
                            "@2 alloc heap=2 address=0x100000 block=0x1000 thread=1\n"
                            "@3 free heap=2 address=0x100000 thread=1\n"
                            "@4 free heap=1 address=0x100000 thread=1\n"
                            "@5 free_failed address=0x100000 thread=1 error=1\n"
                            "@6 alloc heap=2 address=0x100000 block=0x1000 thread=1\n";

    replay(text);
    ck_assert_uint_eq(sum_of(2)->flush_count, 0);
    ck_assert_uint_eq(sum_of(2)->released_count, 0);
    ck_assert_uint_eq(sum_of(2)->released_bytes, 0);
    ck_assert_uint_eq(list.pool_group.items[0].held_bytes, 0x1000);
    ck_assert_uint_eq(list.miss.count, 1);
    ck_assert_uint_eq(sum_of(2)->driver_count, 1);
}
END_TEST

START_TEST(a_refused_free_leaves_the_others_of_its_flush)
{
    replay(HEAD "@1 alloc heap=1 address=0x100000 block=0x1000 thread=1\n"
                "@2 alloc heap=1 address=0x200000 block=0x1000 thread=1\n"
                "@3 alloc heap=2 address=0x100000 block=0x1000 thread=1\n"
                "@4 alloc heap=2 address=0x200000 block=0x1000 thread=1\n"
                "@5 free heap=2 address=0x100000 thread=1\n"
                "@6 free heap=2 address=0x200000 thread=1\n"
                "@7 free heap=1 address=0x100000 thread=1\n"
                "@8 free heap=1 address=0x200000 thread=1\n"
                "@9 free_failed address=0x200000 thread=1 error=1\n");
    ck_assert_uint_eq(sum_of(2)->flush_count, 1);
    ck_assert_uint_eq(sum_of(2)->released_count, 1);
    ck_assert_uint_eq(list.pool_group.items[0].held_bytes, 0x1000);
}
END_TEST

START_TEST(a_refused_free_of_a_block_is_not_reused)
{
    replay(HEAD "@1 alloc heap=1 address=0x100000 block=0x4000 thread=1\n"
                "@2 alloc heap=2 address=0x100000 block=0x1000 thread=1\n"
                "@3 free heap=2 address=0x100000 thread=1\n"
                "@4 free_failed address=0x100000 thread=1 error=1\n"
                "@5 alloc heap=2 address=0x101000 block=0x1000 thread=1\n");
    ck_assert_uint_eq(list.pool_reuse.count, 0);
    ck_assert_uint_eq(list.pool_group.items[0].peak_live_bytes, 0x2000);
}
END_TEST

#define TWO_PENDING(stream)                                                                                            \
    HEAD "@1 map heap=1 address=0x100000 block=0x100000\n"                                                             \
         "@2 map heap=1 address=0x200000 block=0x100000" stream "\n"                                                   \
         "@3 alloc heap=2 address=0x100000 block=0x80000\n"                                                            \
         "@4 alloc heap=2 address=0x180000 block=0x100000\n"                                                           \
         "@5 free_requested heap=2 address=0x100000\n"                                                                 \
         "@6 free_requested heap=2 address=0x180000\n"                                                                 \
         "@7 map heap=1 address=0x900000 block=0x200000\n"                                                             \
         "@8 alloc heap=2 address=0x900000 block=0x180000\n"

START_TEST(room_goes_on_over_mapped_ranges_that_have_grown_together)
{
    replay(TWO_PENDING(""));
    ck_assert(miss_at(7)->is_pending_enough);
    ck_assert_int_eq(miss_at(7)->cause, NM_MISS_PENDING_FREE);
    ck_assert_uint_eq(sum_of(2)->max_pending_bytes, 0x180000);
    ck_assert_int_eq(sum_of(2)->max_pending_seq, 5);
    ck_assert_uint_eq(sum_of(2)->pending_miss_count, 1);
    replay(TWO_PENDING(" stream=7"));
    ck_assert(!miss_at(7)->is_pending_enough);
}
END_TEST

START_TEST(only_another_event_of_the_pool_makes_a_block_pending)
{
    replay(HEAD "@1 alloc heap=1 address=0x100000 block=0x4000\n"
                "@2 alloc heap=2 address=0x100000 block=0x1000\n"
                "@3 alloc heap=2 address=0x101000 block=0x1000\n"
                "@4 free_requested heap=2 address=0x100000\n"
                "@5 mark name=here thread=1\n"
                "@6 alloc heap=3 address=0x900000 block=0x1000\n"
                "@7 free heap=2 address=0x100000\n"
                "@8 free_requested heap=2 address=0x101000\n"
                "@9 alloc heap=2 address=0x100000 block=0x800\n"
                "@2000009 free heap=2 address=0x101000\n");
    ck_assert_uint_eq(sum_of(2)->pending_count, 1);
    ck_assert_uint_eq(sum_of(2)->pending_bytes, 0x1000);
    ck_assert_uint_eq(sum_of(2)->max_wait_ns, 2000001);
    ck_assert_uint_eq(sum_of(2)->pending_byte_ms, 0x1000 * UINT64_C(2000001) / 1000000);
    ck_assert_uint_eq(list.pending.count, 1);
    ck_assert_int_eq(list.pending.items[0].wait_ns, 2000001);
}
END_TEST

START_TEST(what_is_pending_at_the_end_is_so_until_then)
{
    replay(HEAD "@1 alloc heap=2 address=0x100000 block=0x1000\n"
                "@5 free_requested heap=2 address=0x100000\n"
                "@25 mark name=last thread=1\n");
    ck_assert_uint_eq(sum_of(2)->pending_count, 1);
    ck_assert_uint_eq(sum_of(2)->max_wait_ns, 20);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->live_bytes, 0x1000);
}
END_TEST

START_TEST(a_baseline_block_may_be_pending_already)
{
    replay(HEAD "-   alloc baseline segment heap=1 address=0x100000 block=0x1000\n"
                "-   alloc baseline pending heap=2 address=0x100000 block=0x1000\n"
                "@1 alloc heap=1 address=0x200000 block=0x1000\n"
                "@2 alloc heap=2 address=0x200000 block=0x1000\n"
                "@3 free heap=2 address=0x100000\n");
    ck_assert_int_eq(miss_at(1)->cause, NM_MISS_PENDING_FREE);
    ck_assert_uint_eq(sum_of(2)->pending_count, 1);
    ck_assert_uint_eq(sum_of(2)->pending_byte_ms, 0);
    ck_assert_int_eq(list.pending.items[0].wait_ns, NM_NO_TIME); /* it is not known since when */
    ck_assert(sum_of(2)->is_partial);
}
END_TEST

START_TEST(a_pool_that_states_what_it_holds_tells_of_a_flush)
{
    replay(HEAD "@1 alloc miss heap=2 address=0x100000 block=1000\n"
                "@2 reserved heap=2 block=1000\n"
                "@3 free heap=2 address=0x100000\n"
                "@4 reserved heap=2 block=0\n"
                "@5 alloc miss heap=2 address=0x100000 block=900\n"
                "@6 reserved heap=2 block=1000\n"
                "@7 alloc miss heap=2 address=0x200000 block=50\n"
                "@8 alloc miss heap=2 address=0x300000 block=500\n");
    ck_assert_int_eq(miss_at(0)->cause, NM_MISS_COLD);
    ck_assert_int_eq(miss_at(4)->cause, NM_MISS_AFTER_FLUSH);
    ck_assert_uint_eq(miss_at(4)->held_bytes, 0);
    ck_assert_uint_eq(miss_at(4)->most_held_bytes, 1000);
    ck_assert_int_eq(miss_at(6)->cause, NM_MISS_UNKNOWN); /* how its memory is cut up is not known */
    ck_assert_int_eq(miss_at(7)->cause, NM_MISS_GROWTH);
}
END_TEST

static const char two_misses[] = "@1 alloc heap=1 address=0x100000 block=0x1000 thread=1\n"
                                 "@2 alloc heap=2 address=0x100000 block=0x1000 thread=1\n"
                                 "%s"
                                 "@4 alloc heap=1 address=0x200000 block=0x1000 thread=1\n"
                                 "@5 alloc heap=2 address=0x200000 block=0x1000 thread=1\n";

static void replay_two_misses(const char *head, const char *between)
{
    char events[512], text[1024];

    snprintf(events, sizeof events, two_misses, between);
    snprintf(text, sizeof text, "%s" PLACES "%s", head, events);
    replay(text);
    ck_assert_uint_eq(list.miss.count, 2);
}

START_TEST(no_cause_is_named_where_something_is_not_known)
{
    replay_two_misses("process 1 pid=100\n", "");
    ck_assert_int_eq(list.miss.items[0].cause, NM_MISS_COLD);
    ck_assert_int_eq(list.miss.items[1].cause, NM_MISS_GROWTH);
    ck_assert(!sum_of(2)->is_partial);

    replay_two_misses("process 1 pid=100 late=1\n", "");
    ck_assert_int_eq(list.miss.items[0].cause, NM_MISS_UNKNOWN);
    ck_assert_int_eq(list.miss.items[1].cause, NM_MISS_UNKNOWN);
    ck_assert(sum_of(2)->is_partial);

    replay_two_misses("process 1 pid=100\n", "@3 loss thread=1 number=5 until=3\n");
    ck_assert_int_eq(list.miss.items[0].cause, NM_MISS_COLD);
    ck_assert_int_eq(list.miss.items[1].cause, NM_MISS_UNKNOWN);
    ck_assert(sum_of(2)->is_partial);

    replay_two_misses("process 1 pid=100\n",
                      "@3 pause thread=1 number=1 detail=1\n@3 pause thread=1 number=1 detail=2\n");
    ck_assert_int_eq(list.miss.items[0].cause, NM_MISS_COLD);
    ck_assert_int_eq(list.miss.items[1].cause, NM_MISS_UNKNOWN);
    ck_assert(sum_of(2)->is_partial);
}
END_TEST

START_TEST(a_miss_before_any_step_is_judged_at_the_end)
{
    replay_two_misses("process 1 pid=100\n", "");
    ck_assert(list.miss.items[1].is_early);
    replay_two_misses("process 1 pid=100\n", "@3 step number=1 thread=1\n");
    ck_assert(list.miss.items[0].is_early);
    ck_assert(!list.miss.items[1].is_early);
    ck_assert_int_eq(list.miss.items[1].cause, NM_MISS_COLD); /* the first step has not ended */
}
END_TEST

START_TEST(groups_beyond_the_limit_share_one)
{
    nm_buffer text = {0};
    uint64_t count = 0;

    ck_assert_int_eq(nm_buffer_append(&text, HEAD, strlen(HEAD), NULL), NM_OK);
    for (int i = 0; i < 5000; i++) {
        char line[96];
        int length =
            snprintf(line, sizeof line, "@%d alloc hit heap=2 address=%d block=64 stream=%d\n", i, (i + 1) * 64, i);

        ck_assert_int_eq(nm_buffer_append(&text, line, (size_t)length, NULL), NM_OK);
    }
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    replay((const char *)text.data);
    nm_buffer_free(&text);
    ck_assert_uint_eq(list.pool_group.count, 4097);
    for (size_t i = 0; i < list.pool_group.count; i++) {
        count += list.pool_group.items[i].allocation_count;
        if (!list.pool_group.items[i].has_stream)
            ck_assert_uint_eq(list.pool_group.items[i].allocation_count, 5000 - 4096);
    }
    ck_assert_uint_eq(count, 5000);
}
END_TEST

START_TEST(sizes_beyond_the_limit_are_counted_apart)
{
    nm_buffer text = {0};

    ck_assert_int_eq(nm_buffer_append(&text, HEAD, strlen(HEAD), NULL), NM_OK);
    for (int i = 1; i <= 65546; i++) {
        char lines[128];
        int length = snprintf(lines, sizeof lines,
                              "@%d alloc hit heap=2 address=4096 block=%d\n@%d free heap=2 address=4096\n", i, i, i);

        ck_assert_int_eq(nm_buffer_append(&text, lines, (size_t)length, NULL), NM_OK);
    }
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    replay((const char *)text.data);
    nm_buffer_free(&text);
    ck_assert_uint_eq(sum_of(2)->untracked_count, 10);
    ck_assert_uint_eq(reuse_count(NM_REUSE_SIZE), 0);
    ck_assert_uint_eq(reuse_count(NM_REUSE_ADDRESS), 65545);
}
END_TEST

/* The heap that takes the addresses in between, and takes them again, knows nothing of the block that was there. */
START_TEST(an_address_is_asked_for_again_after_others_had_it)
{
    replay(HEAD "@1 alloc hit heap=2 address=0x100000 block=0x1000\n"
                "@2 free heap=2 address=0x100000\n"
                "@3 alloc heap=1 address=0x100000 block=0x100000\n"
                "@4 free heap=1 address=0x100000\n"
                "@5 alloc heap=1 address=0x100000 block=0x100000\n"
                "@6 alloc heap=2 address=0x100000 block=0x1000\n"
                "@7 alloc heap=3 address=0x100000 block=0x1000\n");
    ck_assert_uint_eq(reuse_count(NM_REUSE_SIZE), 1);
    ck_assert_uint_eq(reuse_count(NM_REUSE_ADDRESS), 1);
}
END_TEST

START_TEST(a_reset_ends_what_is_pending)
{
    replay(HEAD "@1 alloc heap=1 address=0x100000 block=0x4000\n"
                "@2 alloc heap=2 address=0x100000 block=0x1000\n"
                "@3 alloc heap=2 address=0x101000 block=0x1000\n"
                "@4 free_requested heap=2 address=0x100000\n"
                "@5 alloc heap=2 address=0x102000 block=0x1000\n"
                "@9 reset device=1 thread=1\n"
                "@20 mark name=end thread=1\n");
    ck_assert_uint_eq(sum_of(2)->pending_count, 1);
    ck_assert_uint_eq(sum_of(2)->max_wait_ns, 5);
    ck_assert_uint_eq(sum_of(2)->flush_count, 0); /* the pool gave nothing back */
    ck_assert_uint_eq(list.pool_group.items[0].held_bytes, 0);
}
END_TEST

TEST_SUITE(test_replay_ledger)
{
    Suite *suite = suite_create("ledger");
    TCase *tests = tcase_create("ledger");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_block_over_two_mapped_ranges_takes_two_driver_calls);
    tcase_add_test(tests, a_part_of_a_mapping_that_goes_is_given_back);
    tcase_add_test(tests, a_free_that_the_driver_refuses_is_no_flush);
    tcase_add_test(tests, a_refused_free_leaves_the_others_of_its_flush);
    tcase_add_test(tests, a_refused_free_of_a_block_is_not_reused);
    tcase_add_test(tests, room_goes_on_over_mapped_ranges_that_have_grown_together);
    tcase_add_test(tests, only_another_event_of_the_pool_makes_a_block_pending);
    tcase_add_test(tests, what_is_pending_at_the_end_is_so_until_then);
    tcase_add_test(tests, a_baseline_block_may_be_pending_already);
    tcase_add_test(tests, a_pool_that_states_what_it_holds_tells_of_a_flush);
    tcase_add_test(tests, no_cause_is_named_where_something_is_not_known);
    tcase_add_test(tests, a_miss_before_any_step_is_judged_at_the_end);
    tcase_add_test(tests, groups_beyond_the_limit_share_one);
    tcase_add_test(tests, sizes_beyond_the_limit_are_counted_apart);
    tcase_add_test(tests, an_address_is_asked_for_again_after_others_had_it);
    tcase_add_test(tests, a_reset_ends_what_is_pending);
    suite_add_tcase(suite, tests);
    return suite;
}
