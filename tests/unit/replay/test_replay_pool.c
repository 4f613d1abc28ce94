/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments, misses, gaps and moments: each rule as a text trace and figures computed by hand.
 */
#include <check.h>
#include <stdlib.h>

#include "support/row_list.h"
#include "support/suites.h"

#define HEAD                                                                                                           \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "device 1 process=1 ordinal=0\n"                                                                                   \
    "device 2 process=1 ordinal=1\n"                                                                                   \
    "heap 1 process=1 device=1 level=driver\n"                                                                         \
    "heap 2 process=1 device=1 level=pool\n"                                                                           \
    "heap 3 process=1 device=1 level=workspace small=100 large=200\n"                                                  \
    "heap 4 process=1 device=2 level=pool\n"                                                                           \
    "heap 5 process=1 device=1 level=driver\n"

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

/* Reserved, free, largest free, stuck bytes and gaps of a pool at a moment. */
static void check_figures(nm_moment_kind kind, size_t n, uint64_t heap_id, uint64_t reserved, uint64_t free_bytes,
                          uint64_t largest, uint64_t stuck, uint64_t gap_count)
{
    const nm_fragmentation_row *row = nm_row_list_figures(&list, kind, n, heap_id);

    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(row->reserved_bytes, reserved);
    ck_assert_uint_eq(row->free_bytes, free_bytes);
    ck_assert_uint_eq(row->occupied_bytes, reserved - free_bytes);
    ck_assert_uint_eq(row->largest_free_bytes, largest);
    ck_assert_uint_eq(row->stuck_bytes, stuck);
    ck_assert_uint_eq(row->gap_count, gap_count);
}

START_TEST(driver_memory_becomes_a_segment_at_its_first_block)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=1 address=0x9000 requested=0x1000\n"
                "@3 mark name=before\n"
                "@4 alloc heap=2 address=0x1200 requested=0x100 block=0x200\n"
                "@5 free heap=2 address=0x1200\n"
                "@6 mark name=after\n");
    ck_assert(allocation(1)->is_segment);
    ck_assert(!allocation(2)->is_segment);
    ck_assert_uint_eq(allocation(3)->segment_id, 1);
    check_figures(NM_MOMENT_MARK, 0, 2, 0, 0, 0, 0, 0);
    check_figures(NM_MOMENT_PEAK, 0, 2, 0x1000, 0xe00, 0xc00, 0xe00, 2);
    check_figures(NM_MOMENT_MARK, 1, 2, 0x1000, 0x1000, 0x1000, 0, 1);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->peak_reserved_bytes, 0x1000);
    ck_assert_int_eq(nm_row_list_total(&list, 2)->peak_reserved_seq, 3);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->reserved_at_peak_bytes, 0x1000);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->outstanding_count, 1);
}
END_TEST

START_TEST(a_block_on_another_device_makes_no_segment)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=4 address=0x1000 requested=0x100\n");
    ck_assert(!allocation(1)->is_segment);
    ck_assert_uint_eq(allocation(2)->segment_id, 0);
    ck_assert_int_eq(allocation(2)->is_miss, NM_UNKNOWN_NUMBER);
    ck_assert_uint_eq(nm_row_list_hit(&list, 4, 0)->allocation_count, 0);
}
END_TEST

START_TEST(the_first_block_in_a_range_is_a_miss_and_all_others_are_hits)
{
    const nm_hit_row *hit;

    replay(HEAD "@1 alloc heap=1 address=0x100000 requested=0x400000\n"
                "@2 alloc heap=2 address=0x100000 requested=4095\n"
                "@3 alloc heap=2 address=0x102000 requested=4096\n"
                "@4 alloc heap=2 address=0x110000 requested=1048576\n"
                "@5 alloc heap=2 address=0x300000 requested=1048577\n"
                "@6 free heap=2 address=0x100000\n"
                "@7 alloc heap=2 address=0x100000 requested=10\n"
                "@8 alloc heap=1 address=0x900000 requested=0x1000\n"
                "@9 alloc heap=2 address=0x900000 requested=20\n");
    ck_assert_int_eq(allocation(2)->is_miss, 1);
    ck_assert_int_eq(allocation(3)->is_miss, 0);
    ck_assert_int_eq(allocation(1)->is_miss, NM_UNKNOWN_NUMBER);
    hit = nm_row_list_hit(&list, 2, 0);
    ck_assert_uint_eq(hit->allocation_count, 3);
    ck_assert_uint_eq(hit->miss_count, 2);
    ck_assert_int_eq(hit->last_miss_seq, 8);
    ck_assert_int_eq(hit->last_miss_ns, 9);
    hit = nm_row_list_hit(&list, 2, 1);
    ck_assert_uint_eq(hit->allocation_count, 2);
    ck_assert_uint_eq(hit->miss_count, 0);
    ck_assert_int_eq(hit->last_miss_seq, NM_NO_SEQ);
    ck_assert_uint_eq(nm_row_list_hit(&list, 2, 2)->allocation_count, 1);
}
END_TEST

START_TEST(a_range_that_is_mapped_again_is_untouched_again)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=16\n"
                "@3 free heap=2 address=0x1000\n"
                "@4 unmap heap=1 address=0x1000 block=0x1000\n"
                "@5 map heap=1 address=0x1000 block=0x1000\n"
                "@6 alloc heap=2 address=0x1000 requested=16\n");
    ck_assert_int_eq(allocation(4)->is_miss, 1);
    ck_assert_uint_eq(nm_row_list_hit(&list, 2, 0)->miss_count, 2);
    ck_assert_uint_eq(allocation(4)->segment_id, 3);
}
END_TEST

START_TEST(what_the_pool_says_of_a_miss_holds)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=16 hit\n"
                "@3 alloc heap=2 address=0x1100 requested=16 miss\n"
                "@4 alloc heap=2 address=0x8000 requested=16 miss\n");
    ck_assert_int_eq(allocation(2)->is_miss, 0);
    ck_assert_int_eq(allocation(3)->is_miss, 1);
    ck_assert_int_eq(allocation(4)->is_miss, 1);
    ck_assert_uint_eq(nm_row_list_hit(&list, 2, 0)->allocation_count, 3);
    ck_assert_uint_eq(nm_row_list_hit(&list, 2, 0)->miss_count, 2);
}
END_TEST

START_TEST(a_heap_s_own_bounds_make_its_buckets)
{
    replay(HEAD "@1 alloc heap=3 address=0x1000 requested=99 hit\n"
                "@2 alloc heap=3 address=0x2000 requested=100 hit\n"
                "@3 alloc heap=3 address=0x3000 requested=200 hit\n"
                "@4 alloc heap=3 address=0x4000 requested=201 hit\n");
    ck_assert_uint_eq(nm_row_list_hit(&list, 3, 0)->allocation_count, 1);
    ck_assert_uint_eq(nm_row_list_hit(&list, 3, 1)->allocation_count, 2);
    ck_assert_uint_eq(nm_row_list_hit(&list, 3, 2)->allocation_count, 1);
}
END_TEST

START_TEST(a_block_may_span_mapped_ranges_and_misses_if_one_is_new)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x800 block=0x800\n"
                "@3 map heap=1 address=0x2000 block=0x1000\n"
                "@4 alloc heap=2 address=0x1800 requested=0x1000 block=0x1000\n"
                "@5 alloc heap=2 address=0x2800 requested=0x100 block=0x100\n");
    ck_assert_int_eq(allocation(4)->is_miss, 1);
    ck_assert_uint_eq(allocation(4)->segment_id, 1);
    ck_assert_int_eq(allocation(5)->is_miss, 0);
    ck_assert_uint_eq(allocation(5)->segment_id, 3);
    ck_assert(allocation(3)->is_segment);
    check_figures(NM_MOMENT_END, 0, 2, 0x2000, 0x700, 0x700, 0x700, 1);
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_END, 0, 2)->is_estimate);
}
END_TEST

START_TEST(gaps_join_across_mapped_ranges_but_not_across_segments)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=0x1000 segment stream=7\n"
                "@2 map heap=1 address=0x2000 block=0x1000 segment stream=7\n"
                "@3 map heap=1 address=0x3000 block=0x1000 segment stream=8\n"
                "@4 alloc heap=1 address=0x4000 requested=0x1000 segment\n"
                "@5 alloc heap=1 address=0x5000 requested=0x1000 segment\n");
    check_figures(NM_MOMENT_END, 0, 2, 0x5000, 0x5000, 0x2000, 0, 4);
}
END_TEST

START_TEST(freed_blocks_join_their_neighbours)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x400 block=0x400\n"
                "@3 alloc heap=2 address=0x1400 requested=0x400 block=0x400\n"
                "@4 alloc heap=2 address=0x1800 requested=0x400 block=0x400\n"
                "@5 free heap=2 address=0x1000\n"
                "@6 mark\n"
                "@7 free heap=2 address=0x1800\n"
                "@8 mark\n"
                "@9 free heap=2 address=0x1400\n"
                "@10 mark\n");
    check_figures(NM_MOMENT_PEAK, 0, 2, 0x1000, 0x400, 0x400, 0x400, 1);
    check_figures(NM_MOMENT_MARK, 0, 2, 0x1000, 0x800, 0x400, 0x800, 2);
    check_figures(NM_MOMENT_MARK, 1, 2, 0x1000, 0xc00, 0x800, 0xc00, 2);
    check_figures(NM_MOMENT_MARK, 2, 2, 0x1000, 0x1000, 0x1000, 0, 1);
}
END_TEST

START_TEST(a_freed_segment_is_no_longer_reserved)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x400\n"
                "@3 free heap=2 address=0x1000\n"
                "@4 free heap=1 address=0x1000\n"
                "@5 mark\n");
    check_figures(NM_MOMENT_MARK, 0, 2, 0, 0, 0, 0, 0);
    ck_assert(allocation(1)->is_segment);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->peak_reserved_bytes, 0x1000);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->reserved_bytes, 0);
}
END_TEST

START_TEST(a_cut_segment_goes_on_in_its_parts)
{
    replay(HEAD "@1 map heap=1 address=0x1000 block=0x4000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x100 block=0x100\n"
                "@3 unmap heap=1 address=0x2000 block=0x1000\n"
                "@4 alloc heap=2 address=0x4000 requested=0x100 block=0x100\n"
                "@5 mark\n"
                "@6 free heap=2 address=0x1000\n"
                "@7 free heap=2 address=0x4000\n");
    ck_assert_uint_eq(allocation(1)->end_kind, NM_END_UNMAPPED);
    ck_assert(allocation(1)->is_segment);
    ck_assert(allocation(3)->is_segment);
    ck_assert(allocation(4)->is_segment);
    ck_assert_int_eq(allocation(5)->is_miss, 0);
    ck_assert_uint_eq(allocation(5)->segment_id, 4);
    check_figures(NM_MOMENT_MARK, 0, 2, 0x3000, 0x2e00, 0x1000, 0x2e00, 3);
    check_figures(NM_MOMENT_END, 0, 2, 0x3000, 0x3000, 0x2000, 0, 2);
    ck_assert_uint_eq(nm_row_list_total(&list, 1)->outstanding_count, 0);
}
END_TEST

/* Which pool a segment is of, a graph asks of segments alone: what lies beside one in memory stays as it was. */
START_TEST(a_graph_that_goes_lets_go_of_a_block_and_leaves_mapped_memory_alone)
{
    replay(HEAD "@0 map heap=1 address=0x9000 block=0x1000\n"
                "@1 map heap=1 address=0x1000 block=0x1000\n"
                "@2 stream_call thread=1 device=1 stream=7 detail=capture_begin\n"
                "@3 alloc heap=2 thread=1 address=0x1000 requested=0x100 block=0x200\n"
                "@4 stream_call thread=1 device=1 stream=7 number=0x50 detail=capture_end\n"
                "@5 stream_call thread=1 device=1 number=0x50 detail=graph_destroy\n");
    ck_assert_uint_ne(allocation(3)->graph_id, 0);
    ck_assert_uint_eq(allocation(3)->segment_id, 2);
    for (uint64_t id = 1; id <= 2; id++) {
        ck_assert(allocation(id)->is_mapped);
        ck_assert_int_ne(allocation(id)->alloc_seq, NM_NO_SEQ);
        ck_assert_int_eq(allocation(id)->generation, id == 1 ? 0 : 20 / 6);
    }
}
END_TEST

START_TEST(a_segment_from_birth_waits_for_a_pool_and_is_touched_in_the_baseline)
{
    replay("process 1 pid=1\nthread 1 process=1\ndevice 1 process=1 ordinal=0\nheap 1 process=1 device=1 level=driver\n"
           "- alloc baseline segment heap=1 address=0x1000 requested=0x1000\n"
           "heap 2 process=1 device=1 level=pool\n"
           "- alloc baseline segment heap=1 address=0x9000 requested=0x1000\n"
           "- alloc baseline heap=2 address=0x1000 requested=0x100 block=0x200\n"
           "@1 alloc heap=2 address=0x9000 requested=0x100 block=0x200\n");
    ck_assert_int_eq(allocation(4)->is_miss, 0);
    ck_assert_uint_eq(allocation(3)->segment_id, 1);
    ck_assert_int_eq(allocation(3)->is_miss, NM_UNKNOWN_NUMBER);
    check_figures(NM_MOMENT_END, 0, 2, 0x2000, 0x1c00, 0xe00, 0x1c00, 2);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->peak_reserved_bytes, 0x2000);
    ck_assert_int_eq(nm_row_list_total(&list, 2)->peak_reserved_seq, NM_NO_SEQ);
}
END_TEST

START_TEST(a_block_inside_two_driver_allocations_belongs_to_the_inner_one)
{
    replay(HEAD "@1 alloc heap=5 address=0x1000 requested=0x8000\n"
                "@2 alloc heap=1 address=0x2000 requested=0x1000\n"
                "@3 alloc heap=2 address=0x2100 requested=0x100\n");
    ck_assert_uint_eq(allocation(3)->segment_id, 2);
    ck_assert(!allocation(1)->is_segment);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->reserved_bytes, 0x1000);
}
END_TEST

START_TEST(overlapping_blocks_make_an_estimate_and_leave_the_sums_whole)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x800 block=0x800\n"
                "@3 alloc heap=2 address=0x1400 requested=0x800 block=0x800\n"
                "@4 mark\n"
                "@5 free heap=2 address=0x1400\n"
                "@6 mark\n"
                "@7 free heap=2 address=0x1000\n");
    check_figures(NM_MOMENT_MARK, 0, 2, 0x1000, 0x800, 0x800, 0x800, 1);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_MARK, 0, 2)->is_estimate);
    check_figures(NM_MOMENT_MARK, 1, 2, 0x1000, 0x800, 0x800, 0x800, 1);
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_MARK, 1, 2)->is_estimate);
    check_figures(NM_MOMENT_END, 0, 2, 0x1000, 0x1000, 0x1000, 0, 1);
}
END_TEST

START_TEST(figures_from_requested_sizes_are_estimates)
{
    const nm_fragmentation_row *peak;

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x7ff\n");
    peak = nm_row_list_figures(&list, NM_MOMENT_PEAK, 0, 2);
    ck_assert(peak->is_estimate);
    ck_assert_int_eq(peak->size_basis, NM_BASIS_REQUESTED);
    check_figures(NM_MOMENT_PEAK, 0, 2, 0x1000, 0x801, 0x801, 0x801, 1);
}
END_TEST

START_TEST(another_pool_s_block_in_free_memory_makes_an_estimate)
{
    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x100 block=0x100\n"
                "@3 alloc heap=3 address=0x1080 requested=0x10 block=0x10\n"
                "@4 mark\n"
                "@5 alloc heap=3 address=0x1800 requested=0x100 block=0x100\n"
                "@6 mark\n");
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_MARK, 0, 2)->is_estimate);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_MARK, 1, 2)->is_estimate);
    ck_assert_uint_eq(allocation(3)->segment_id, 1);
    ck_assert_uint_eq(nm_row_list_total(&list, 3)->reserved_bytes, 0);
}
END_TEST

START_TEST(the_source_s_own_list_gives_the_figures_at_the_end)
{
    const nm_fragmentation_row *end;

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000 segment\n"
                "@2 alloc heap=2 address=0x1000 requested=0x10\n"
                "- state_segment heap=1 address=0x1000 block=4096 size=512\n"
                "- state_segment heap=1 address=0x9000 block=2048\n"
                "- state_block heap=2 address=0x1000 block=512 requested=16\n"
                "- state_block heap=2 address=0x1200 block=1000 idle\n"
                "- state_block heap=2 address=0x15e8 block=2584 idle\n"
                "- state_block heap=2 address=0x9000 block=2048 idle\n");
    end = nm_row_list_figures(&list, NM_MOMENT_END, 0, 2);
    ck_assert(!end->is_estimate);
    ck_assert_int_eq(end->size_basis, NM_BASIS_BLOCK);
    ck_assert_uint_eq(end->reserved_bytes, 6144);
    ck_assert_uint_eq(end->occupied_bytes, 512);
    ck_assert_uint_eq(end->free_bytes, 5632);
    ck_assert_uint_eq(end->largest_free_bytes, 2584);
    ck_assert_uint_eq(end->stuck_bytes, 3584);
    ck_assert_uint_eq(end->gap_count, 3);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_PEAK, 0, 2)->is_estimate);
}
END_TEST

START_TEST(a_failed_allocation_is_a_moment_of_its_own)
{
    const nm_failure_row *failure;

    replay(HEAD "@1 alloc heap=1 address=0x1000 requested=0x1000\n"
                "@2 alloc heap=2 address=0x1000 requested=0x800 block=0x800\n"
                "@3 range_begin thread=1 name=forward\n"
                "@4 alloc_failed heap=1 requested=0x900 error=207001 free=100 total=5000 thread=1 stream=3\n");
    ck_assert_uint_eq(list.failure.count, 1);
    failure = &list.failure.items[0];
    ck_assert_uint_eq(failure->heap_id, 1);
    ck_assert_uint_eq(failure->operation_id, 1);
    ck_assert_int_eq(failure->seq, 3);
    ck_assert_uint_eq(failure->requested_bytes, 0x900);
    ck_assert_int_eq(failure->error_code, 207001);
    ck_assert_uint_eq(failure->device_free_bytes, 100);
    ck_assert_uint_eq(failure->device_total_bytes, 5000);
    check_figures(NM_MOMENT_FAILURE, 0, 2, 0x1000, 0x800, 0x800, 0x800, 1);
}
END_TEST

TEST_SUITE(test_replay_pool)
{
    Suite *suite = suite_create("replay_pool");
    TCase *tests = tcase_create("pool");

    tcase_add_test(tests, driver_memory_becomes_a_segment_at_its_first_block);
    tcase_add_test(tests, a_block_on_another_device_makes_no_segment);
    tcase_add_test(tests, the_first_block_in_a_range_is_a_miss_and_all_others_are_hits);
    tcase_add_test(tests, a_range_that_is_mapped_again_is_untouched_again);
    tcase_add_test(tests, what_the_pool_says_of_a_miss_holds);
    tcase_add_test(tests, a_heap_s_own_bounds_make_its_buckets);
    tcase_add_test(tests, a_block_may_span_mapped_ranges_and_misses_if_one_is_new);
    tcase_add_test(tests, gaps_join_across_mapped_ranges_but_not_across_segments);
    tcase_add_test(tests, freed_blocks_join_their_neighbours);
    tcase_add_test(tests, a_freed_segment_is_no_longer_reserved);
    tcase_add_test(tests, a_cut_segment_goes_on_in_its_parts);
    tcase_add_test(tests, a_graph_that_goes_lets_go_of_a_block_and_leaves_mapped_memory_alone);
    tcase_add_test(tests, a_segment_from_birth_waits_for_a_pool_and_is_touched_in_the_baseline);
    tcase_add_test(tests, a_block_inside_two_driver_allocations_belongs_to_the_inner_one);
    tcase_add_test(tests, overlapping_blocks_make_an_estimate_and_leave_the_sums_whole);
    tcase_add_test(tests, figures_from_requested_sizes_are_estimates);
    tcase_add_test(tests, another_pool_s_block_in_free_memory_makes_an_estimate);
    tcase_add_test(tests, the_source_s_own_list_gives_the_figures_at_the_end);
    tcase_add_test(tests, a_failed_allocation_is_a_moment_of_its_own);
    suite_add_tcase(suite, tests);
    return suite;
}
