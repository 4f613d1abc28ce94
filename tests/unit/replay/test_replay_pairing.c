/* SPDX-License-Identifier: Apache-2.0
 *
 * How allocations begin and end: each rule as a text trace and rows counted by hand.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/passes.h"
#include "base/buffer.h"
#include "replay/replay.h"
#include "support/row_list.h"
#include "support/suites.h"
#include "support/text_trace.h"

#define HEAD                                                                                                           \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "thread 2 process=1 tid=101\n"                                                                                     \
    "device 1 process=1 ordinal=0\n"                                                                                   \
    "device 2 process=1 ordinal=1\n"                                                                                   \
    "heap 1 process=1 device=1 level=driver\n"                                                                         \
    "heap 2 process=1 level=pinned\n"                                                                                  \
    "heap 3 process=1 device=1 level=pool\n"                                                                           \
    "heap 4 process=1 device=2 level=driver\n"                                                                         \
    "heap 5 process=1 level=host\n"                                                                                    \
    "heap 6 process=1 device=1 level=driver basis=block\n"                                                             \
    "stack 1: a\n"                                                                                                     \
    "stack 2: b < a\n"

static nm_row_list list;

static void replay(const char *text)
{
    nm_error err = {0};

    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

static const nm_allocation_row *allocation(uint64_t id)
{
    const nm_allocation_row *row = nm_row_list_allocation(&list, id);

    ck_assert_msg(row != NULL, "no allocation %llu", (unsigned long long)id);
    return row;
}

static size_t anomalies_of(nm_anomaly_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < list.anomaly.count; i++)
        count += list.anomaly.items[i].kind == kind;
    return count;
}

static void check_end(uint64_t id, nm_allocation_end end_kind, int64_t free_seq)
{
    const nm_allocation_row *row = allocation(id);

    ck_assert_int_eq(row->end_kind, end_kind);
    ck_assert_int_eq(row->free_seq, free_seq);
}

START_TEST(a_free_ends_the_allocation_at_its_address)
{
    const nm_allocation_row *row;

    replay(HEAD "@10 alloc heap=1 address=0x1000 requested=64 block=512 thread=1 stack=1 stream=0 policy=2 cost=9\n"
                "@15 free_requested heap=1 address=0x1000 thread=1\n"
                "@20 free heap=1 address=0x1000 thread=2 stack=2\n");
    ck_assert_uint_eq(list.allocation.count, 1);
    row = allocation(1);
    ck_assert_uint_eq(row->heap_id, 1);
    ck_assert_uint_eq(row->thread_id, 1);
    ck_assert_uint_eq(row->stack_id, 1);
    ck_assert(row->has_stream);
    ck_assert_uint_eq(row->policy, 2);
    ck_assert_uint_eq(row->cost_ns, 9);
    ck_assert_uint_eq(row->size_bytes, 64);
    ck_assert_uint_eq(row->requested_bytes, 64);
    ck_assert_uint_eq(row->block_bytes, 512);
    ck_assert_int_eq(row->alloc_seq, 0);
    ck_assert_int_eq(row->alloc_ns, 10);
    ck_assert_int_eq(row->free_requested_seq, 1);
    ck_assert_int_eq(row->free_seq, 2);
    ck_assert_int_eq(row->free_ns, 20);
    ck_assert_uint_eq(row->free_thread_id, 2);
    ck_assert_uint_eq(row->free_stack_id, 2);
    ck_assert_int_eq(row->end_kind, NM_END_FREED);
    ck_assert_uint_eq(row->live_bytes, 64);
    ck_assert_int_eq(row->is_miss, NM_UNKNOWN_NUMBER);
    ck_assert_int_eq(row->generation, NM_UNKNOWN_NUMBER);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(sums_use_the_size_that_the_heap_states_or_the_one_that_is_known)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 block=512\n"
                "@2 alloc heap=1 address=0x2000 block=512\n"
                "@3 alloc heap=6 address=0x3000 requested=64 block=512\n"
                "@4 alloc heap=6 address=0x4000 requested=64\n");
    ck_assert_uint_eq(allocation(1)->size_bytes, 64);
    ck_assert_uint_eq(allocation(2)->size_bytes, 512);
    ck_assert_uint_eq(allocation(3)->size_bytes, 512);
    ck_assert_uint_eq(allocation(4)->size_bytes, 64);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->live_bytes, 576);
    ck_assert_uint_eq(nm_row_list_total(&list, 6)->live_bytes, 576);
}
END_TEST

START_TEST(a_free_without_a_heap_is_found_by_address_but_never_in_a_pool)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=1 address=0x1000 requested=512 thread=1\n"
                "@3 alloc heap=2 address=0x2000 requested=64 thread=1\n"
                "@4 free address=0x1000 thread=1 detail=device\n"
                "@5 free address=0x2000 thread=1 detail=host\n");
    check_end(1, NM_END_NONE, NM_NO_SEQ);
    check_end(2, NM_END_FREED, 3);
    check_end(3, NM_END_FREED, 4);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(a_refused_free_leaves_the_allocation_as_it_was)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n"
                "@2 free address=0x1000 thread=1 stack=2\n"
                "@3 alloc heap=1 address=0x5000 requested=8 thread=2\n"
                "@4 free_failed address=0x1000 thread=1 error=100000\n"
                "@5 free address=0x1000 thread=2\n");
    check_end(1, NM_END_FREED, 4);
    ck_assert_uint_eq(allocation(1)->free_thread_id, 2);
    ck_assert_uint_eq(allocation(1)->free_stack_id, 0);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->free_count, 1);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->freed_bytes, 64);
    /* Live bytes fell to 0 at the free, were 8, and 72 after the refusal. */
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->peak_bytes, 72);
    ck_assert_int_eq(nm_row_list_total(&list, 1)->peak_seq, 3);
    ck_assert_uint_eq(list.usage.items[1].live_bytes, 0);
    ck_assert_uint_eq(list.usage.items[3].live_bytes, 72);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(a_refusal_counts_for_the_last_free_of_its_thread_alone)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=1 address=0x2000 requested=64 thread=1\n"
                "@3 free address=0x1000 thread=1\n"
                "@4 free address=0x2000 thread=2\n"
                "@5 mark thread=1\n"
                "@6 free_failed address=0x1000 thread=1\n"
                "@7 free_failed address=0x7777 thread=2\n");
    check_end(1, NM_END_FREED, 2);
    check_end(2, NM_END_FREED, 3);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->live_bytes, 0);
}
END_TEST

START_TEST(a_refusal_after_the_address_was_handed_out_again_changes_nothing)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 free address=0x1000 thread=1\n"
                "@3 alloc heap=1 address=0x1000 requested=32 thread=2\n"
                "@4 free_failed address=0x1000 thread=1\n");
    check_end(1, NM_END_FREED, 1);
    check_end(2, NM_END_NONE, NM_NO_SEQ);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->live_bytes, 32);
}
END_TEST

START_TEST(a_refused_free_of_a_segment_gives_its_gaps_back)
{
    const nm_fragmentation_row *end;

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=4096 thread=1\n"
                "@2 alloc heap=3 address=0x1400 requested=1024 block=1024 thread=1\n"
                "@3 free address=0x1000 thread=1\n"
                "@4 free_failed address=0x1000 thread=1\n");
    end = nm_row_list_figures(&list, NM_MOMENT_END, 0, 3);
    ck_assert_uint_eq(end->reserved_bytes, 4096);
    ck_assert_uint_eq(end->free_bytes, 3072);
    ck_assert_uint_eq(end->largest_free_bytes, 2048);
    ck_assert_uint_eq(end->gap_count, 2);
    ck_assert_uint_eq(end->stuck_bytes, 3072);
}
END_TEST

START_TEST(an_allocation_at_a_live_address_replaces_it_and_is_an_overlap)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1 stack=1\n"
                "@2 alloc heap=1 address=0x1000 requested=32 thread=1 stack=2\n");
    check_end(1, NM_END_REPLACED, 1);
    ck_assert_uint_eq(allocation(1)->free_thread_id, 0);
    check_end(2, NM_END_NONE, NM_NO_SEQ);
    ck_assert_uint_eq(list.anomaly.count, 1);
    ck_assert_int_eq(list.anomaly.items[0].kind, NM_ANOMALY_OVERLAP);
    ck_assert_int_eq(list.anomaly.items[0].seq, 1);
    ck_assert_uint_eq(list.anomaly.items[0].allocation_id, 2);
    ck_assert_uint_eq(list.anomaly.items[0].stack_id, 2);
    ck_assert_uint_eq(list.anomaly.items[0].other_stack_id, 1);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->live_bytes, 32);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->peak_bytes, 64);
}
END_TEST

START_TEST(a_late_free_from_another_thread_explains_what_was_replaced)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@1000 alloc heap=1 address=0x1000 requested=32 thread=1\n"
                "@10001000 free address=0x1000 thread=2 stack=2\n"
                "@10001001 free address=0x1000 thread=1\n");
    check_end(1, NM_END_REPLACED, 1);
    ck_assert_uint_eq(allocation(1)->free_thread_id, 2);
    ck_assert_uint_eq(allocation(1)->free_stack_id, 2);
    check_end(2, NM_END_FREED, 3);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(a_free_that_is_too_late_or_of_the_same_thread_ends_the_new_one)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@1000 alloc heap=1 address=0x1000 requested=32 thread=1\n"
                "@10001001 free address=0x1000 thread=2\n");
    check_end(2, NM_END_FREED, 2);
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_OVERLAP), 1);

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@1000 alloc heap=1 address=0x1000 requested=32 thread=1\n"
                "@1001 free address=0x1000 thread=1\n");
    check_end(2, NM_END_FREED, 2);
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_OVERLAP), 1);
}
END_TEST

START_TEST(a_late_free_may_come_after_the_new_one_is_gone)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@1000 alloc heap=1 address=0x1000 requested=32 thread=1\n"
                "@1001 free address=0x1000 thread=1\n"
                "@1002 free address=0x1000 thread=2\n");
    check_end(1, NM_END_REPLACED, 1);
    ck_assert_uint_eq(allocation(1)->free_thread_id, 2);
    check_end(2, NM_END_FREED, 2);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(an_address_replaced_twice_keeps_the_last_one_waiting)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=1 address=0x1000 requested=32 thread=1\n"
                "@3 alloc heap=1 address=0x1000 requested=16 thread=1\n"
                "@4 free address=0x1000 thread=2\n");
    check_end(1, NM_END_REPLACED, 1);
    check_end(2, NM_END_REPLACED, 2);
    check_end(3, NM_END_NONE, NM_NO_SEQ);
    ck_assert_uint_eq(allocation(2)->free_thread_id, 2);
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_OVERLAP), 1);
}
END_TEST

/* Of three at one address two were replaced, no time goes by in which their frees could not come any more, and so much is freed
 * elsewhere that the address is forgotten: the place is gone when they are written, which a memory checker sees. */
START_TEST(a_place_that_is_forgotten_is_not_looked_at_for_what_was_replaced_there)
{
    nm_buffer text = {0};
    static const char begin[] = HEAD "@5 alloc heap=5 address=0x1000 requested=64 thread=1\n"
                                     "@5 alloc heap=5 address=0x1000 requested=32 thread=1\n"
                                     "@5 alloc heap=5 address=0x1000 requested=16 thread=1\n"
                                     "@5 free heap=5 address=0x1000 thread=1\n";

    ck_assert_int_eq(nm_buffer_append(&text, begin, strlen(begin), NULL), NM_OK);
    for (int i = 0; i < 131073; i++) {
        char lines[160];
        int length = snprintf(lines, sizeof lines,
                              "@5 alloc heap=5 address=%d requested=8 thread=1\n@5 free heap=5 address=%d thread=1\n",
                              0x2000 + 16 * i, 0x2000 + 16 * i);

        ck_assert_int_eq(nm_buffer_append(&text, lines, (size_t)length, NULL), NM_OK);
    }
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, NULL), NM_OK);
    replay((const char *)text.data);
    nm_buffer_free(&text);
    ck_assert_uint_eq(list.allocation.count, 3 + 131073);
    check_end(1, NM_END_REPLACED, 1);
    check_end(2, NM_END_REPLACED, 2);
    check_end(3, NM_END_FREED, 3);
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_OVERLAP), 2);
}
END_TEST

START_TEST(without_times_an_overlap_is_told_at_once)
{
    replay(HEAD "@- alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@- alloc heap=1 address=0x1000 requested=32 thread=1\n"
                "@- free address=0x1000 thread=2\n");
    check_end(2, NM_END_FREED, 2);
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_OVERLAP), 1);
}
END_TEST

START_TEST(a_reset_of_a_device_ends_what_lives_there)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=2 address=0x2000 requested=64 thread=1\n"
                "@3 alloc heap=3 address=0x1000 requested=64 thread=1\n"
                "@4 alloc heap=4 address=0x4000 requested=64 thread=1\n"
                "@5 reset device=1 thread=1 stack=2\n");
    check_end(1, NM_END_RESET, 4);
    check_end(2, NM_END_NONE, NM_NO_SEQ);
    check_end(3, NM_END_RESET, 4);
    check_end(4, NM_END_NONE, NM_NO_SEQ);
    ck_assert_uint_eq(allocation(1)->free_stack_id, 2);
    ck_assert_uint_eq(nm_row_list_total(&list, 3)->reserved_bytes, 0);
}
END_TEST

START_TEST(a_reset_of_the_process_ends_all_but_the_host_s_own_memory)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 alloc heap=2 address=0x2000 requested=64 thread=1\n"
                "@3 alloc heap=4 address=0x4000 requested=64 thread=1\n"
                "@4 alloc heap=5 address=0x5000 requested=64 thread=1\n"
                "@5 reset thread=1\n");
    check_end(1, NM_END_RESET, 4);
    check_end(2, NM_END_RESET, 4);
    check_end(3, NM_END_RESET, 4);
    check_end(4, NM_END_NONE, NM_NO_SEQ);
}
END_TEST

START_TEST(an_unmap_in_the_middle_leaves_two_rows)
{
    const nm_allocation_row *left;
    const nm_allocation_row *right;
    const nm_heap_total_row *total;

    replay(HEAD "@1 map heap=1 address=0x1000 block=0x3000 thread=1 stack=1\n"
                "@2 unmap heap=1 address=0x2000 block=0x1000 thread=1\n");
    check_end(1, NM_END_UNMAPPED, 1);
    left = allocation(2);
    right = allocation(3);
    ck_assert_uint_eq(left->split_from_id, 1);
    ck_assert_uint_eq(left->address, 0x1000);
    ck_assert_uint_eq(left->size_bytes, 0x1000);
    ck_assert_uint_eq(left->stack_id, 1);
    ck_assert_int_eq(left->alloc_seq, 1);
    ck_assert_uint_eq(right->split_from_id, 1);
    ck_assert_uint_eq(right->address, 0x3000);
    ck_assert_uint_eq(right->size_bytes, 0x1000);
    total = nm_row_list_total(&list, 1);
    ck_assert_uint_eq(total->allocation_count, 1);
    ck_assert_uint_eq(total->allocated_bytes, 0x3000);
    ck_assert_uint_eq(total->free_count, 0);
    ck_assert_uint_eq(total->freed_bytes, 0x1000);
    ck_assert_uint_eq(total->live_bytes, 0x2000);
    ck_assert_uint_eq(total->outstanding_count, 2);
    ck_assert_uint_eq(total->peak_bytes, 0x3000);
}
END_TEST

START_TEST(an_unmap_across_ranges_cuts_the_outer_ones)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=0x1000\n"
                "@2 map heap=1 address=0x2000 block=0x1000\n"
                "@3 map heap=1 address=0x3000 block=0x1000\n"
                "@4 unmap heap=1 address=0x1800 block=0x2000\n");
    check_end(1, NM_END_UNMAPPED, 3);
    check_end(2, NM_END_UNMAPPED, 3);
    check_end(3, NM_END_UNMAPPED, 3);
    ck_assert_uint_eq(list.allocation.count, 5);
    ck_assert_uint_eq(allocation(4)->address, 0x1000);
    ck_assert_uint_eq(allocation(4)->size_bytes, 0x800);
    ck_assert_uint_eq(allocation(5)->address, 0x3800);
    ck_assert_uint_eq(allocation(5)->split_from_id, 3);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->free_count, 1);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

#define MORE_HEAPS                                                                                                     \
    "heap 10 process=1 device=1 level=physical\n"                                                                      \
    "heap 11 process=1 device=1 level=imported\n"                                                                      \
    "heap 12 process=1 level=registered\n"

START_TEST(an_unmap_without_a_size_ends_the_mapping_that_begins_there)
{
    replay(HEAD MORE_HEAPS "@1 map heap=1 address=0x2000 block=0x1000 thread=1\n"
                           "@2 map heap=1 address=0x3000 block=0x2000 thread=1\n"
                           "@3 map heap=4 address=0x9000 block=0x400 thread=1\n"
                           "@4 map heap=11 address=0xa000 block=0x800 thread=1\n"
                           "@5 unmap address=0x3000 thread=2\n"
                           "@6 unmap address=0x9000 thread=1\n"
                           "@7 unmap address=0xa000 thread=1\n"
                           "@8 unmap address=0x3000 thread=1\n" /* not any more */
                           "@9 unmap heap=1 address=0x2000 thread=1\n");
    check_end(1, NM_END_UNMAPPED, 8);
    check_end(2, NM_END_UNMAPPED, 4);
    check_end(3, NM_END_UNMAPPED, 5);
    check_end(4, NM_END_UNMAPPED, 6);
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_UNMAP_UNKNOWN), 1);
    ck_assert_uint_eq(list.anomaly.count, 1);
}
END_TEST

START_TEST(a_call_frees_only_what_it_can)
{
    replay(HEAD MORE_HEAPS "@1 alloc heap=10 address=0x1000 requested=64 thread=1\n"
                           "@2 alloc heap=12 address=0x1000 requested=65 thread=1\n"
                           "@3 alloc heap=2 address=0x1000 requested=66 thread=1\n"
                           "@4 alloc heap=3 address=0x1000 requested=67 thread=1\n"
                           "@5 alloc heap=11 address=0x1000 requested=68 thread=1\n"
                           "@6 free address=0x1000 thread=1 detail=host\n"
                           "@7 free address=0x1000 thread=1 detail=imported\n"
                           "@8 free address=0x1000 thread=1 detail=registered\n"
                           "@9 free address=0x1000 thread=1 detail=device\n" /* registered memory ended there last */
                           "@10 free address=0x1000 thread=1 detail=pool\n"
                           "@11 free address=0x1000 thread=1 detail=physical\n"
                           "@12 free address=0x1000 thread=1 detail=physical\n");
    check_end(1, NM_END_FREED, 10);
    check_end(2, NM_END_FREED, 7);
    check_end(3, NM_END_FREED, 5);
    check_end(4, NM_END_FREED, 9);
    check_end(5, NM_END_FREED, 6);
    ck_assert_uint_eq(list.anomaly.count, 2);
    ck_assert_int_eq(list.anomaly.items[0].seq, 8);
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_DOUBLE_FREE), 2);
}
END_TEST

START_TEST(an_imported_handle_is_freed_as_a_physical_one)
{
    replay(HEAD MORE_HEAPS "@1 alloc heap=11 address=0x1000 thread=1\n"
                           "@2 free address=0x1000 thread=1 detail=physical\n");
    check_end(1, NM_END_FREED, 1);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(a_refused_free_of_physical_memory_leaves_it)
{
    replay(HEAD MORE_HEAPS "@1 alloc heap=10 address=0x1000 requested=64 thread=1\n"
                           "@2 free address=0x1000 thread=1 detail=physical\n"
                           "@3 free_failed address=0x1000 thread=1 detail=physical error=207002\n"
                           "@4 reset thread=1 device=2\n"
                           "@5 reset thread=1 device=1\n");
    check_end(1, NM_END_RESET, 4);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(a_copy_knows_whether_its_host_side_is_registered)
{
    static const int64_t expected[] = {1, 1, 0, 1, 0, NM_UNKNOWN_NUMBER, NM_UNKNOWN_NUMBER, NM_UNKNOWN_NUMBER, 0};

    replay(HEAD MORE_HEAPS "@1 alloc heap=12 address=0x8000 requested=0x1000 thread=1\n"
                           "@2 alloc heap=12 address=0x9000 requested=0x1000 thread=1\n"
                           "@3 alloc heap=5 address=0x8100 requested=0x10 thread=1\n" /* a block carved from it */
                           "@4 copy thread=1 address=0x100000 source=0x8110 size=16 detail=h2d\n"
                           "@5 copy thread=1 address=0x8f00 source=0x100000 size=0x1000 detail=d2h\n" /* over both */
                           "@6 copy thread=1 address=0x9f00 source=0x100000 size=0x101 detail=d2h\n"
                           "@7 copy thread=1 address=0x100000 source=0x9fff size=1 detail=buffer\n"
                           "@8 copy thread=1 address=0x100000 source=0x7fff size=2 detail=h2d\n"
                           "@9 copy thread=1 address=0x100000 source=0x8000 size=2 detail=d2d\n"
                           "@10 copy thread=1 address=0x8000 source=0x8000 size=2 detail=h2h\n"
                           "@11 copy thread=1 address=0x8000 size=2 detail=memset\n"
                           "@12 free address=0x8000 thread=1 detail=registered\n"
                           "@13 copy thread=1 address=0x100000 source=0x8000 size=16 detail=h2d\n");
    ck_assert_uint_eq(list.copy.count, sizeof expected / sizeof *expected);
    for (size_t i = 0; i < list.copy.count; i++)
        ck_assert_int_eq(list.copy.items[i].is_registered, expected[i]);
}
END_TEST

START_TEST(handles_and_registered_memory_say_nothing_about_copies)
{
    replay(HEAD MORE_HEAPS "@1 alloc heap=10 address=0x7000 requested=64 thread=1\n"
                           "@2 free address=0x7000 thread=1 detail=physical\n"
                           "@3 alloc heap=12 address=0x8000 requested=0x1000 thread=1\n"
                           "@4 alloc heap=1 address=0x100000 requested=0x4000 thread=1\n"
                           "@5 copy thread=1 address=0x100000 source=0x7000 size=64 limit=0x4000 detail=h2d\n"
                           "@6 copy thread=1 address=0x100000 source=0x8000 size=0x2000 limit=0x4000 detail=h2d\n");
    ck_assert_uint_eq(list.copy.count, 2);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(an_unmap_of_what_is_not_mapped_is_an_anomaly)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=0x1000\n"
                "@2 unmap heap=1 address=0x2000 block=0x1000 thread=1\n");
    ck_assert_uint_eq(anomalies_of(NM_ANOMALY_UNMAP_UNKNOWN), 1);
    ck_assert_uint_eq(list.anomaly.items[0].size_bytes, 0x1000);
    check_end(1, NM_END_NONE, NM_NO_SEQ);
}
END_TEST

/* The runtime frees what nobody saw it allocate, and later what the program has freed; its frees are frees all the same. */
START_TEST(a_free_at_the_driver_s_border_is_no_misuse)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@2 free address=0x1000 thread=1 detail=device\n"
                "@3 free address=0x1000 thread=1 driver\n"
                "@4 free address=0x7000 thread=1 driver\n"
                "@5 unmap address=0x7000 thread=1 driver\n"
                "@6 alloc heap=1 address=0x1000 requested=65 thread=1\n"
                "@7 alloc heap=3 address=0x1000 requested=66 thread=1\n"
                "@8 free address=0x1000 thread=1 driver\n");
    ck_assert_uint_eq(list.anomaly.count, 0);
    check_end(1, NM_END_FREED, 1);
    check_end(2, NM_END_FREED, 7);
    check_end(3, NM_END_NONE, NM_NO_SEQ); /* a pool's block is the pool's to free */
}
END_TEST

START_TEST(the_baseline_has_no_number_and_is_not_outstanding)
{
    const nm_heap_total_row *total;

    replay(HEAD "- alloc baseline heap=1 address=0x1000 requested=100\n"
                "- alloc baseline heap=1 address=0x2000 requested=50\n"
                "@1 alloc heap=1 address=0x3000 requested=7 stack=1\n"
                "@2 free heap=1 address=0x1000\n");
    ck_assert_int_eq(allocation(1)->alloc_seq, NM_NO_SEQ);
    check_end(1, NM_END_FREED, 1);
    check_end(2, NM_END_NONE, NM_NO_SEQ);
    total = nm_row_list_total(&list, 1);
    ck_assert_uint_eq(total->baseline_count, 2);
    ck_assert_uint_eq(total->baseline_bytes, 150);
    ck_assert_uint_eq(total->allocation_count, 1);
    ck_assert_uint_eq(total->free_count, 0);
    ck_assert_uint_eq(total->outstanding_count, 1);
    ck_assert_uint_eq(total->outstanding_bytes, 7);
    ck_assert_uint_eq(total->peak_bytes, 157);
    ck_assert_int_eq(total->peak_seq, 0);
    ck_assert_uint_eq(nm_row_list_peak_stack(&list, 1, 0, true)->live_bytes, 150);
    ck_assert_uint_eq(nm_row_list_peak_stack(&list, 1, 1, false)->live_bytes, 7);
}
END_TEST

START_TEST(what_may_be_freed_in_a_window_of_loss_is_doubtful)
{
    replay(HEAD "process 2 pid=200 host=h1\nthread 3 process=2 tid=200\nheap 7 process=2 level=pinned\n"
                "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@5 loss thread=2 number=3 until=20 detail=ring_full\n"
                "@15 alloc heap=1 address=0x2000 requested=64 thread=1\n"
                "@21 alloc heap=1 address=0x3000 requested=64 thread=1\n"
                "@2 alloc heap=7 address=0x3000 requested=64 thread=3\n"
                "@30 free address=0x9000 thread=1\n"
                "@31 free address=0x9000 thread=3\n");
    ck_assert(allocation(1)->is_doubtful);
    ck_assert(allocation(2)->is_doubtful);
    ck_assert(!allocation(3)->is_doubtful);
    ck_assert(!allocation(4)->is_doubtful);
    ck_assert_uint_eq(list.anomaly.count, 1);
    ck_assert_uint_eq(list.anomaly.items[0].process_id, 2);
}
END_TEST

START_TEST(a_loss_of_an_unknown_thread_is_everybody_s)
{
    replay(HEAD "process 2 pid=200 host=h1\n"
                "@1 alloc heap=1 address=0x1000 requested=64 thread=1\n"
                "@5 loss number=3 until=20 detail=unreadable\n"
                "@6 free address=0x9000 thread=1\n");
    ck_assert(allocation(1)->is_doubtful);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

/* Replays four events with a hole of three numbers in the middle. */
static void replay_with_hole(bool has_threads)
{
    const nm_event events[] = {
        {.seq = 0, .kind = NM_EVENT_ALLOC, .heap_id = 1, .address = 0x1000, .requested_bytes = 64},
        {.seq = 4, .kind = NM_EVENT_ALLOC, .heap_id = 1, .address = 0x2000, .requested_bytes = 64},
        {.seq = 5, .kind = NM_EVENT_FREE, .heap_id = 1, .address = 0x3000},
    };
    nm_sink sink;
    nm_replay *replayed = NULL;
    nm_record record = {.kind = NM_RECORD_DEFINITION,
                        .definition = {.kind = NM_DEFINE_HEAP, .id = 1, .heap = {.process_id = 1, .level = 1}}};

    nm_row_list_free(&list);
    sink = nm_row_list_sink(&list);
    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &replayed, NULL), NM_OK);
    ck_assert_int_eq(nm_replay_record(replayed, &record, NULL), NM_OK);
    record.definition = (nm_definition){.kind = NM_DEFINE_THREAD, .id = 1, .thread.process_id = 1};
    if (has_threads)
        ck_assert_int_eq(nm_replay_record(replayed, &record, NULL), NM_OK);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        record = (nm_record){.kind = NM_RECORD_EVENT, .event = events[i]};
        record.event.time_ns = (int64_t)i;
        ck_assert_int_eq(nm_replay_record(replayed, &record, NULL), NM_OK);
    }
    ck_assert_int_eq(nm_replay_finish(replayed, NULL), NM_OK);
    nm_replay_free(replayed);
}

START_TEST(a_hole_in_a_recorded_trace_is_a_loss_but_not_in_a_snapshot)
{
    replay_with_hole(true);
    ck_assert(allocation(1)->is_doubtful);
    ck_assert(!allocation(2)->is_doubtful);
    ck_assert_uint_eq(list.anomaly.count, 0);
    replay_with_hole(false);
    ck_assert(!allocation(1)->is_doubtful);
    ck_assert_uint_eq(list.anomaly.count, 1);
}
END_TEST

START_TEST(an_allocation_that_came_late_is_doubtful_and_no_anomaly)
{
    replay(HEAD "@1 free address=0x1000 thread=1 late\n"
                "@2 alloc heap=1 address=0x1000 requested=64 thread=1 late\n");
    ck_assert(allocation(1)->is_doubtful);
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(generation_is_the_twentieth_of_the_trace_without_steps)
{
    char text[4096];
    size_t len = (size_t)snprintf(text, sizeof text, "%s", HEAD);

    for (int i = 0; i < 40; i++)
        len +=
            (size_t)snprintf(text + len, sizeof text - len, "@%d alloc heap=1 address=%d requested=1\n", i, 4096 + i);
    replay(text);
    for (uint64_t i = 0; i < 40; i++)
        ck_assert_int_eq(allocation(i + 1)->generation, (int64_t)i / 2);
}
END_TEST

START_TEST(generation_is_the_step_of_birth_with_steps)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=64\n"
                "@2 step thread=1 number=70\n"
                "@3 alloc heap=1 address=0x2000 requested=64\n"
                "@4 step thread=1 number=71\n"
                "@5 alloc heap=1 address=0x3000 requested=64\n");
    ck_assert_int_eq(allocation(1)->generation, 0);
    ck_assert_int_eq(allocation(2)->generation, 1);
    ck_assert_int_eq(allocation(3)->generation, 2);
}
END_TEST

START_TEST(unknown_numbers_and_sizes_without_end_do_no_harm)
{
    replay(HEAD "@1 alloc heap=99 address=0x1000 requested=64 thread=99 stack=99\n"
                "@2 alloc heap=1 address=0x1000 requested=0xffffffffffffffff thread=99 stack=99\n"
                "@3 alloc heap=1 address=0xfffffffffffffff0 requested=0xffffffffffffffff\n"
                "@4 free heap=99 address=0x1000\n"
                "@5 unmap heap=1 address=0xfffffffffffff000 block=0xffffffffffffffff\n"
                "@6 unmap heap=99 address=0 block=1\n"
                "@7 reset device=99 thread=1\n"
                "@8 range_end number=55 thread=99\n"
                "@9 process_end process=99 detail=exit\n"
                "@10 copy thread=99 address=0xffffffffffffffff size=0xffffffffffffffff\n"
                "@11 free_failed thread=99 address=4\n"
                "@12 memory_sample device=99 free=5 total=2\n"
                "@13 step thread=99 number=3\n"
                "@14 loss thread=99 number=0\n"
                "- state_block heap=99 block=5\n"
                "- state_segment heap=1 block=5\n");
    ck_assert_uint_eq(list.allocation.count, 2);
    ck_assert_uint_eq(allocation(1)->stack_id, 0);
    ck_assert_uint_eq(allocation(1)->thread_id, 0);
    ck_assert_uint_le(nm_row_list_total(&list, 1)->live_bytes, INT64_MAX);
}
END_TEST

START_TEST(a_number_in_order_that_is_too_large_is_refused)
{
    nm_error err = {0};
    nm_sink sink = nm_row_list_sink(&list);
    nm_replay *replayed = NULL;
    nm_record record = {.kind = NM_RECORD_EVENT, .event = {.seq = UINT64_MAX, .kind = NM_EVENT_MARK}};

    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &replayed, &err), NM_OK);
    ck_assert_int_eq(nm_replay_record(replayed, &record, &err), NM_ERR_FORMAT);
    nm_replay_free(replayed);
}
END_TEST

static nm_status refuse(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    (void)kind, (void)row;
    return --*(int *)context < 0 ? nm_fail(err, NM_ERR_DATABASE, NM_NO_OFFSET, "full") : NM_OK;
}

/* A sink that fails at its n-th row ends the replay there, and nothing is left behind (for the leak checker). */
START_TEST(a_failing_sink_ends_the_replay)
{
    static const char *text = HEAD "@1 alloc heap=1 address=0x1000 requested=4096 thread=1\n"
                                   "@2 alloc heap=3 address=0x1000 requested=64 thread=1\n"
                                   "@3 alloc heap=3 address=0x1000 requested=64 thread=1\n"
                                   "@4 map heap=1 address=0x5000 block=0x3000\n"
                                   "@5 unmap heap=1 address=0x6000 block=0x1000\n"
                                   "@6 range_begin thread=1 number=1\n"
                                   "@7 free heap=3 address=0x1000 thread=1\n"
                                   "@20000000 mark thread=1\n"
                                   "@20000001 reset thread=1\n";

    for (int allowed = 0; allowed < 6; allowed++) {
        int left = allowed;
        nm_error err = {0};
        nm_sink sink = {.context = &left, .row = refuse, .wants = {[NM_ROW_ALLOCATION] = true}};
        nm_text_trace *trace = NULL;
        nm_replay *replayed = NULL;
        nm_record record;
        nm_status status = NM_OK;

        ck_assert_int_eq(nm_text_trace_open(text, &trace, &err), NM_OK);
        ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &replayed, &err), NM_OK);
        while (status == NM_OK && nm_text_trace_next(trace, &record, &err) == NM_OK)
            status = nm_replay_record(replayed, &record, &err);
        if (status == NM_OK)
            status = nm_replay_finish(replayed, &err);
        ck_assert_int_eq(status, NM_ERR_DATABASE);
        nm_replay_free(replayed);
        nm_text_trace_close(trace);
    }
}
END_TEST

TEST_SUITE(test_replay_pairing)
{
    Suite *suite = suite_create("replay_pairing");
    TCase *tests = tcase_create("pairing");

    tcase_add_test(tests, a_free_ends_the_allocation_at_its_address);
    tcase_add_test(tests, sums_use_the_size_that_the_heap_states_or_the_one_that_is_known);
    tcase_add_test(tests, a_free_without_a_heap_is_found_by_address_but_never_in_a_pool);
    tcase_add_test(tests, a_refused_free_leaves_the_allocation_as_it_was);
    tcase_add_test(tests, a_refusal_counts_for_the_last_free_of_its_thread_alone);
    tcase_add_test(tests, a_refusal_after_the_address_was_handed_out_again_changes_nothing);
    tcase_add_test(tests, a_refused_free_of_a_segment_gives_its_gaps_back);
    tcase_add_test(tests, an_allocation_at_a_live_address_replaces_it_and_is_an_overlap);
    tcase_add_test(tests, a_late_free_from_another_thread_explains_what_was_replaced);
    tcase_add_test(tests, a_free_that_is_too_late_or_of_the_same_thread_ends_the_new_one);
    tcase_add_test(tests, a_late_free_may_come_after_the_new_one_is_gone);
    tcase_add_test(tests, an_address_replaced_twice_keeps_the_last_one_waiting);
    tcase_add_test(tests, a_place_that_is_forgotten_is_not_looked_at_for_what_was_replaced_there);
    tcase_add_test(tests, without_times_an_overlap_is_told_at_once);
    tcase_add_test(tests, a_reset_of_a_device_ends_what_lives_there);
    tcase_add_test(tests, a_reset_of_the_process_ends_all_but_the_host_s_own_memory);
    tcase_add_test(tests, an_unmap_in_the_middle_leaves_two_rows);
    tcase_add_test(tests, an_unmap_across_ranges_cuts_the_outer_ones);
    tcase_add_test(tests, an_unmap_without_a_size_ends_the_mapping_that_begins_there);
    tcase_add_test(tests, a_call_frees_only_what_it_can);
    tcase_add_test(tests, an_imported_handle_is_freed_as_a_physical_one);
    tcase_add_test(tests, a_refused_free_of_physical_memory_leaves_it);
    tcase_add_test(tests, a_copy_knows_whether_its_host_side_is_registered);
    tcase_add_test(tests, handles_and_registered_memory_say_nothing_about_copies);
    tcase_add_test(tests, an_unmap_of_what_is_not_mapped_is_an_anomaly);
    tcase_add_test(tests, a_free_at_the_driver_s_border_is_no_misuse);
    tcase_add_test(tests, the_baseline_has_no_number_and_is_not_outstanding);
    tcase_add_test(tests, what_may_be_freed_in_a_window_of_loss_is_doubtful);
    tcase_add_test(tests, a_loss_of_an_unknown_thread_is_everybody_s);
    tcase_add_test(tests, a_hole_in_a_recorded_trace_is_a_loss_but_not_in_a_snapshot);
    tcase_add_test(tests, an_allocation_that_came_late_is_doubtful_and_no_anomaly);
    tcase_add_test(tests, generation_is_the_twentieth_of_the_trace_without_steps);
    tcase_add_test(tests, generation_is_the_step_of_birth_with_steps);
    tcase_add_test(tests, unknown_numbers_and_sizes_without_end_do_no_harm);
    tcase_add_test(tests, a_number_in_order_that_is_too_large_is_refused);
    tcase_add_test(tests, a_failing_sink_ends_the_replay);
    suite_add_tcase(suite, tests);
    return suite;
}
