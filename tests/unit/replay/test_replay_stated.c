/* SPDX-License-Identifier: Apache-2.0
 *
 * What a pool says of itself: how much driver memory it holds, and running totals in place of sizes. Each rule as a text
 * trace and figures computed by hand; random traces are in tests/sql/test_device_oracle.c.
 */
#include <check.h>
#include <stdlib.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "support/row_list.h"
#include "support/suites.h"

#define HEAD                                                                                                           \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "device 1 process=1 ordinal=0\n"                                                                                   \
    "heap 1 process=1 device=1 level=driver basis=requested\n"                                                         \
    "heap 2 process=1 device=1 level=pool basis=block\n"                                                               \
    "heap 3 process=1 device=1 level=workspace basis=block\n"

static nm_row_list list;

static void replay(const char *text)
{
    nm_error err = {0};

    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

static const nm_usage_row *last_usage(uint64_t heap_id)
{
    const nm_usage_row *row = NULL;

    for (size_t i = 0; i < list.usage.count; i++)
        if (list.usage.items[i].heap_id == heap_id)
            row = &list.usage.items[i];
    return row;
}

START_TEST(a_pool_whose_segments_nobody_saw_is_described_by_its_own_word)
{
    const nm_heap_total_row *total;
    const nm_fragmentation_row *figures;

    replay(HEAD "@0 reserved thread=1 heap=2 block=1000\n"
                "@1 alloc thread=1 heap=2 address=0x1000 block=300\n"
                "@2 alloc thread=1 heap=2 address=0x2000 block=400\n"
                "@3 mark thread=1 name=full\n"
                "@4 reserved thread=1 heap=2 block=2000\n"
                "@5 free thread=1 heap=2 address=0x1000\n"
                "@6 reserved thread=1 heap=2 block=500\n");
    total = nm_row_list_total(&list, 2);
    ck_assert_int_eq(total->reserved_source, NM_RESERVED_STATED);
    ck_assert_uint_eq(total->reserved_at_peak_bytes, 1000);
    ck_assert_uint_eq(total->peak_reserved_bytes, 2000);
    ck_assert_int_eq(total->peak_reserved_seq, 4);
    ck_assert_uint_eq(total->reserved_bytes, 500);
    ck_assert_uint_eq(total->peak_stated_reserved_bytes, 2000);
    ck_assert_uint_eq(total->stated_reserved_bytes, 500);
    ck_assert_uint_eq(last_usage(2)->reserved_bytes, 500);
    figures = nm_row_list_figures(&list, NM_MOMENT_MARK, 0, 2);
    ck_assert(figures->is_stated && figures->is_estimate);
    ck_assert_uint_eq(figures->reserved_bytes, 1000);
    ck_assert_uint_eq(figures->occupied_bytes, 700);
    ck_assert_uint_eq(figures->free_bytes, 300);
    ck_assert_uint_eq(nm_row_list_figures(&list, NM_MOMENT_END, 0, 2)->free_bytes, 100);
}
END_TEST

START_TEST(segments_count_before_what_a_pool_states)
{
    const nm_heap_total_row *total;
    const nm_fragmentation_row *figures;
    size_t bucket_count = 0;

    replay(HEAD "@0 alloc thread=1 heap=1 address=0x1000 requested=4096\n"
                "@1 alloc thread=1 heap=2 address=0x1000 block=512\n"
                "@2 reserved thread=1 heap=2 block=9999\n"
                "@3 mark thread=1 name=full\n"
                "@4 free thread=1 heap=1 address=0x1000\n"
                "@5 reserved thread=1 heap=2 block=9999\n");
    total = nm_row_list_total(&list, 2);
    ck_assert_int_eq(total->reserved_source, NM_RESERVED_SEGMENTS);
    ck_assert_uint_eq(total->reserved_at_peak_bytes, 4096);
    ck_assert_uint_eq(total->peak_reserved_bytes, 4096);
    ck_assert_uint_eq(total->reserved_bytes, 0); /* gone, but it was seen */
    ck_assert_uint_eq(total->peak_stated_reserved_bytes, 9999);
    figures = nm_row_list_figures(&list, NM_MOMENT_MARK, 0, 2);
    ck_assert(!figures->is_stated && figures->has_stated);
    ck_assert_uint_eq(figures->reserved_bytes, 4096);
    ck_assert_uint_eq(figures->largest_free_bytes, 4096 - 512);
    ck_assert_uint_eq(figures->stated_reserved_bytes, 9999);
    for (size_t i = 0; i < list.usage.count; i++)
        bucket_count += list.usage.items[i].heap_id == 2;
    ck_assert_uint_eq(bucket_count, 2); /* the block and the end of the segment: statements change nothing */
}
END_TEST

START_TEST(a_pool_that_says_nothing_is_unknown)
{
    replay(HEAD "@0 alloc thread=1 heap=2 address=0x1000 block=300\n"
                "@1 reserved thread=1 heap=1 block=300\n"); /* the driver is no pool */
    ck_assert_int_eq(nm_row_list_total(&list, 2)->reserved_source, NM_RESERVED_UNKNOWN);
    ck_assert_uint_eq(nm_row_list_total(&list, 2)->peak_reserved_bytes, 0);
    ck_assert(!nm_row_list_total(&list, 1)->has_stated);
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_END, 0, 2)->is_stated);
}
END_TEST

START_TEST(a_running_total_is_no_size)
{
    replay(HEAD "@0 alloc thread=1 heap=1 address=0x1000 requested=5000\n"
                "@1 alloc thread=1 heap=3 address=0x1000 block=5000 running_total\n" /* fills its driver memory */
                "@2 alloc thread=1 heap=3 address=0x9000 block=5300 running_total\n" /* 300 more than before */
                "@3 alloc thread=1 heap=3 address=0xa000 block=5100 running_total\n" /* less than before: unknown */
                "@4 alloc thread=1 heap=3 address=0x9000 block=5200 running_total\n" /* in place of the 300: 200 */
                "@5 alloc thread=1 heap=1 address=0xb000 requested=4096\n"
                "@6 alloc thread=1 heap=3 address=0xb100 block=5264 running_total\n"); /* begins inside: by the total */
    ck_assert_uint_eq(nm_row_list_allocation(&list, 2)->size_bytes, 5000);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 2)->block_bytes, 5000);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 3)->size_bytes, 300);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 4)->size_bytes, 0);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 4)->block_bytes, 0);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 5)->size_bytes, 200);
    ck_assert_uint_eq(nm_row_list_allocation(&list, 7)->size_bytes, 64);
    ck_assert_uint_eq(nm_row_list_total(&list, 3)->live_bytes, 5264);
    ck_assert_uint_eq(nm_row_list_total(&list, 3)->reserved_bytes, 5000 + 4096);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_END, 0, 3)->is_estimate); /* one block's size is unknown */
}
END_TEST

START_TEST(a_pools_free_finds_blocks_of_pools_and_workspaces)
{
    replay(HEAD "@0 alloc thread=1 heap=1 address=0x1000 requested=5000\n"
                "@1 alloc thread=1 heap=3 address=0x1000 block=5000 running_total\n"
                "@2 alloc thread=1 heap=2 address=0x1000 block=100\n"
                "@3 free thread=1 address=0x1000 detail=pool\n"   /* the pool's before the workspace's */
                "@4 free thread=1 address=0x1000 detail=pool\n"   /* then that */
                "@5 free thread=1 address=0x1000 detail=pool\n"); /* never the driver's */
    ck_assert_int_eq(nm_row_list_allocation(&list, 3)->free_seq, 3);
    ck_assert_int_eq(nm_row_list_allocation(&list, 2)->free_seq, 4);
    ck_assert_int_eq(nm_row_list_allocation(&list, 1)->end_kind, NM_END_NONE);
    ck_assert_uint_eq(list.anomaly.count, 1);
}
END_TEST

START_TEST(modules_and_pages_are_kept)
{
    const nm_heap_sample_row *sample = NULL;

    replay(HEAD "@0 alloc thread=1 heap=1 address=0x1000 requested=100 block=4096\n"
                "@1 alloc thread=1 heap=1 address=0x9000 requested=100\n" /* pages unknown */
                "@2 module_sample thread=1 device=1 name=HCCL size=77 total=99\n"
                "@3 module_sample thread=1 device=9 name=HCCL size=77 total=99\n" /* no such device */
                "@4 free thread=1 heap=1 address=0x1000\n");
    for (size_t i = 0; i < list.heap_sample.count; i++)
        if (list.heap_sample.items[i].since_seq == 1)
            sample = &list.heap_sample.items[i];
    ck_assert_ptr_nonnull(sample); /* the peak */
    ck_assert_uint_eq(sample->live_bytes, 200);
    ck_assert_uint_eq(sample->page_bytes, 4196);
    ck_assert_uint_eq(list.module_sample.count, 2);
    ck_assert_uint_eq(list.module_sample.items[0].used_bytes, 77);
    ck_assert_uint_eq(list.module_sample.items[0].peak_bytes, 99);
    ck_assert_int_eq(list.module_sample.items[0].recorded_bytes, 4196);
    ck_assert_uint_eq(list.module_sample.items[1].device_id, 0);
}
END_TEST

/* One device with more heaps than a peak keeps: each peak has its own heap alone, and says nothing of the device. */
START_TEST(peaks_of_very_many_heaps_are_bounded)
{
    nm_replay *made = NULL;
    nm_sink sink = nm_row_list_sink(&list);
    nm_error err = {0};
    const uint64_t heap_count = 600;

    nm_row_list_free(&list);
    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &made, &err), NM_OK);
    for (uint64_t i = 0; i <= heap_count; i++) {
        nm_record device = {.kind = NM_RECORD_DEFINITION, .definition = {.kind = NM_DEFINE_DEVICE, .id = 1}};
        nm_record heap = {.kind = NM_RECORD_DEFINITION, .definition = {.kind = NM_DEFINE_HEAP, .id = i + 1}};

        device.definition.device.physical_ordinal = NM_UNKNOWN_NUMBER;
        heap.definition.heap.device_id = 1;
        heap.definition.heap.level = NM_LEVEL_DRIVER;
        ck_assert_int_eq(nm_replay_record(made, i == 0 ? &device : &heap, &err), NM_OK);
    }
    for (uint64_t i = 0; i < heap_count; i++) {
        nm_record event = {.kind = NM_RECORD_EVENT,
                           .event = {.kind = NM_EVENT_ALLOC,
                                     .seq = i,
                                     .time_ns = NM_NO_TIME,
                                     .heap_id = i + 2,
                                     .address = 4096 * (i + 1),
                                     .requested_bytes = 10}};

        ck_assert_int_eq(nm_replay_record(made, &event, &err), NM_OK);
    }
    ck_assert_int_eq(nm_replay_finish(made, &err), NM_OK);
    nm_replay_free(made);
    /* The first 512 peaks know the heaps before them, the others themselves; then the end, once for each heap. */
    ck_assert_uint_eq(list.heap_sample.count, 512 * 513 / 2 + (600 - 512) + 600);
    ck_assert_uint_eq(list.device_sample.count, 512 + 1);
}
END_TEST

TEST_SUITE(test_replay_stated)
{
    Suite *suite = suite_create("replay_stated");
    TCase *tests = tcase_create("stated");

    tcase_add_test(tests, a_pool_whose_segments_nobody_saw_is_described_by_its_own_word);
    tcase_add_test(tests, segments_count_before_what_a_pool_states);
    tcase_add_test(tests, a_pool_that_says_nothing_is_unknown);
    tcase_add_test(tests, a_running_total_is_no_size);
    tcase_add_test(tests, a_pools_free_finds_blocks_of_pools_and_workspaces);
    tcase_add_test(tests, modules_and_pages_are_kept);
    tcase_add_test(tests, peaks_of_very_many_heaps_are_bounded);
    suite_add_tcase(suite, tests);
    return suite;
}
