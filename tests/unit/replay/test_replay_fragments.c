/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of pools, free ranges by size and blockers where the random traces of tests/sql/test_fragment_oracle.c do not go:
 * each rule as a text trace and figures computed by hand.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/passes.h"
#include "base/buffer.h"
#include "replay/replay.h"
#include "support/row_list.h"
#include "support/suites.h"

#define HEAD                                                                                                           \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "device 1 process=1 ordinal=0\n"                                                                                   \
    "heap 1 process=1 device=1 level=driver\n"                                                                         \
    "heap 2 process=1 device=1 level=pool basis=block\n"                                                               \
    "stack 1: a.c:1:f\n"                                                                                               \
    "stack 2: b.c:2:g\n"

static nm_row_list list;

static void replay(const char *text)
{
    nm_error err = {0};

    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

/* The n-th moment (from 0) of a kind. */
static uint64_t moment_of(nm_moment_kind kind, size_t n)
{
    for (size_t i = 0; i < list.moment.count; i++)
        if (list.moment.items[i].kind == kind && n-- == 0)
            return list.moment.items[i].moment_id;
    ck_abort_msg("no such moment");
    return 0;
}

static const nm_pool_part_row *part_of(uint64_t part_id)
{
    for (size_t i = 0; i < list.pool_part.count; i++)
        if (list.pool_part.items[i].part_id == part_id)
            return &list.pool_part.items[i];
    return NULL;
}

/* The figures at a moment of the part with this private pool that holds so much. */
static const nm_sub_pool_figures *part_with(uint64_t moment_id, uint64_t private_pool, uint64_t reserved_bytes)
{
    for (size_t i = 0; i < list.part_sample.count; i++) {
        const nm_part_sample_row *row = &list.part_sample.items[i];

        if (row->moment_id == moment_id && part_of(row->part_id)->private_pool == private_pool &&
            row->figures.reserved_bytes == reserved_bytes)
            return &row->figures;
    }
    ck_abort_msg("no part of private pool %llu holds %llu bytes", (unsigned long long)private_pool,
                 (unsigned long long)reserved_bytes);
    return NULL;
}

static size_t gaps_at(uint64_t moment_id)
{
    size_t count = 0;

    for (size_t i = 0; i < list.gap.count; i++)
        count += list.gap.items[i].moment_id == moment_id ? list.gap.items[i].gap_count : 0;
    return count;
}

static const nm_blocker_row *blocker_of(uint64_t moment_id, uint64_t stack_id)
{
    for (size_t i = 0; i < list.blocker.count; i++)
        if (list.blocker.items[i].moment_id == moment_id && list.blocker.items[i].stack_id == stack_id)
            return &list.blocker.items[i];
    return NULL;
}

/* ---- Parts ------------------------------------------------------------------------------------------------------- */

START_TEST(the_size_of_a_segment_tells_its_kind)
{
    static const struct {
        const char *bytes;
        nm_segment_kind kind;
    } cases[] = {{"0x200000", NM_SEGMENT_SMALL}, {"0x1400000", NM_SEGMENT_LARGE}, {"0xa00000", NM_SEGMENT_LARGE},
                 {"0xc00000", NM_SEGMENT_LARGE}, {"0x400000", NM_SEGMENT_OTHER},  {"0xa00200", NM_SEGMENT_OTHER},
                 {"0x1ff000", NM_SEGMENT_OTHER}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[700];

        snprintf(text, sizeof text, HEAD "@1 alloc heap=1 address=0x10000000 block=%s segment\n@2 mark\n",
                 cases[i].bytes);
        replay(text);
        ck_assert_uint_eq(list.pool_part.count, 1);
        ck_assert_int_eq(list.pool_part.items[0].kind, cases[i].kind);
    }
    replay(HEAD "@1 map heap=1 address=0x10000000 block=0x200000 segment\n");
    ck_assert_int_eq(list.pool_part.items[0].kind, NM_SEGMENT_EXPANDABLE);
}
END_TEST

/* Three mappings in a row, a block of a private pool in the middle one: free memory goes on over all three. */
START_TEST(mapped_memory_goes_over_to_a_private_pool_as_one)
{
    const nm_sub_pool_figures *figures;

    replay(HEAD "@1 map heap=1 address=0x10000 block=0x1000 segment\n"
                "@2 map heap=1 address=0x11000 block=0x1000 segment\n"
                "@3 map heap=1 address=0x12000 block=0x1000 segment\n"
                "@4 mark name=before\n"
                "@5 alloc heap=2 address=0x11400 requested=0x400 block=0x400 policy=7 stack=1\n"
                "@6 map heap=1 address=0x13000 block=0x1000 segment\n"
                "@7 map heap=1 address=0x20000 block=0x1000 segment\n"
                "@8 mark name=after\n"
                "@9 free heap=2 address=0x11400\n");
    figures = part_with(moment_of(NM_MOMENT_MARK, 0), 0, 0x3000);
    ck_assert_uint_eq(figures->gap_count, 1);
    ck_assert_uint_eq(figures->largest_free_bytes, 0x3000);
    figures = part_with(moment_of(NM_MOMENT_MARK, 1), 7, 0x4000); /* what was mapped behind it is of it, too */
    ck_assert_uint_eq(figures->gap_count, 2);
    ck_assert_uint_eq(figures->largest_free_bytes, 0x2800);
    ck_assert_uint_eq(figures->free_bytes, 0x3c00);
    ck_assert_uint_eq(figures->stuck_bytes, 0xc00); /* each mapping is given back by itself */
    ck_assert_int_eq(figures->waste_bytes, 0);
    ck_assert_uint_eq(part_with(moment_of(NM_MOMENT_MARK, 1), 0, 0x1000)->gap_count, 1);
    ck_assert_uint_eq(part_with(moment_of(NM_MOMENT_END, 0), 7, 0x4000)->largest_free_bytes, 0x4000);
    ck_assert_uint_eq(part_with(moment_of(NM_MOMENT_PEAK, 1), 7, 0x3000)->free_bytes, 0x2c00);
}
END_TEST

/* What the driver was asked for says its stream in the last one alone; else the first block does, and no later one. */
START_TEST(a_segment_without_a_stream_is_of_that_of_its_first_block)
{
    static const struct {
        bool has_stream;
        uint64_t stream, free_bytes, gap_count;
    } wanted[] = {{true, 7, 0xa00, 2}, {true, 0, 0xf00, 1}, {false, 0, 0xd00, 1}, {true, 9, 0xe00, 1}};

    replay(HEAD "@1 alloc heap=1 address=0x10000 block=0x1000\n"
                "@2 alloc heap=1 address=0x20000 block=0x1000\n"
                "@3 alloc heap=1 address=0x30000 block=0x1000\n"
                "@4 alloc heap=1 address=0x40000 block=0x1000 stream=9\n"
                "@5 alloc heap=2 address=0x10000 requested=0x400 block=0x400 stream=7\n"
                "@6 alloc heap=2 address=0x10800 requested=0x200 block=0x200 stream=8\n"
                "@7 alloc heap=2 address=0x20000 requested=0x100 block=0x100 stream=0\n"
                "@8 alloc heap=2 address=0x30000 requested=0x300 block=0x300\n"
                "@9 alloc heap=2 address=0x40000 requested=0x200 block=0x200 stream=7\n"
                "@10 mark name=now\n");
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        size_t found = 0;

        for (size_t k = 0; k < list.part_sample.count; k++) {
            const nm_part_sample_row *row = &list.part_sample.items[k];
            const nm_pool_part_row *part = part_of(row->part_id);

            if (row->moment_id != moment_of(NM_MOMENT_MARK, 0) || part->has_stream != wanted[i].has_stream ||
                part->stream != wanted[i].stream)
                continue;
            found++;
            ck_assert_uint_eq(row->figures.reserved_bytes, 0x1000);
            ck_assert_uint_eq(row->figures.free_bytes, wanted[i].free_bytes);
            ck_assert_uint_eq(row->figures.gap_count, wanted[i].gap_count);
        }
        ck_assert_uint_eq(found, 1);
    }
}
END_TEST

START_TEST(a_pool_with_very_many_parts_has_the_last_ones_as_one)
{
    nm_buffer text = {0};
    const nm_part_sample_row *last;
    char line[120];

    nm_buffer_append(&text, HEAD, strlen(HEAD), NULL);
    for (int stream = 1; stream <= 100; stream++) {
        int length = snprintf(line, sizeof line, "@%d alloc heap=1 address=0x%x block=0x1000 segment stream=%d\n",
                              stream, 0x100000 + stream * 0x10000, stream);
        nm_buffer_append(&text, line, (size_t)length, NULL);
    }
    nm_buffer_append(&text, "", 1, NULL);
    replay((const char *)text.data);
    nm_buffer_free(&text);
    ck_assert_uint_eq(list.pool_part.count, 65);
    ck_assert(list.pool_part.items[64].is_rest);
    ck_assert(!list.pool_part.items[63].is_rest);
    last = &list.part_sample.items[list.part_sample.count - 1];
    ck_assert_uint_eq(last->part_id, list.pool_part.items[64].part_id);
    ck_assert_uint_eq(last->figures.reserved_bytes, 36 * 0x1000);
    ck_assert_uint_eq(last->figures.gap_count, 36);
    ck_assert_uint_eq(list.fragmentation.items[list.fragmentation.count - 1].gap_count, 100);
}
END_TEST

START_TEST(a_keyframe_brings_the_private_pool_and_the_births)
{
    const nm_blocker_row *row;

    replay(HEAD "- keyframe count=40\n"
                "- keyframe heap=1 address=0x10000 block=0x1000 detail=1 segment number=-9 pool=2\n"
                "- keyframe heap=2 address=0x10000 requested=0x100 block=0x200 detail=1 stack=1 number=-8 policy=7\n"
                "- keyframe detail=63\n"
                "@50 alloc heap=2 address=0x10800 requested=0x100 block=0x200 stack=2 policy=7\n");
    ck_assert_uint_eq(part_with(moment_of(NM_MOMENT_END, 0), 7, 0x1000)->stuck_bytes, 0xc00);
    row = blocker_of(moment_of(NM_MOMENT_END, 0), 1);
    ck_assert_ptr_nonnull(row);
    ck_assert_uint_eq(row->hostage_bytes, 0x600);
    ck_assert_int_eq(row->oldest_seq, -8);
}
END_TEST

/* ---- Blockers ---------------------------------------------------------------------------------------------------- */

START_TEST(blocks_without_a_size_or_over_others_are_in_nobodys_way)
{
    uint64_t end;

    replay(HEAD "@1 alloc heap=1 address=0x10000 block=0x1000 segment\n"
                "@2 alloc heap=2 address=0x10000 stack=1\n"
                "@3 mark name=empty\n"
                "@4 alloc heap=2 address=0x10100 requested=0x200 block=0x200 stack=1\n"
                "@5 alloc heap=2 address=0x10200 requested=0x200 block=0x200 stack=2\n");
    end = moment_of(NM_MOMENT_END, 0);
    ck_assert_ptr_null(blocker_of(moment_of(NM_MOMENT_MARK, 0), 1));
    ck_assert_uint_eq(blocker_of(end, 1)->hostage_bytes, 0xe00);
    ck_assert_uint_eq(blocker_of(end, 1)->block_count, 1);
    ck_assert_ptr_null(blocker_of(end, 2));
    ck_assert_int_eq(part_with(end, 0, 0x1000)->waste_bytes, NM_UNKNOWN_NUMBER);
}
END_TEST

/* The source lists two segments over each other, blocks over each other and outside: figures, but no hang and no crash. */
START_TEST(a_list_that_contradicts_itself_does_no_harm)
{
    nm_buffer text = {0};
    char line[160];

    nm_buffer_append(&text, HEAD, strlen(HEAD), NULL);
    for (int i = 0; i < 3000; i++) {
        int length = snprintf(line, sizeof line,
                              "- state_segment heap=2 address=0x1000 block=0x7fffffffffffffff size=0x%x\n"
                              "- state_block heap=2 address=0x%x block=0xffffffffffffffff requested=1 stack=1\n",
                              i, 0x1000 + i * 16);
        nm_buffer_append(&text, line, (size_t)length, NULL);
    }
    nm_buffer_append(&text, "", 1, NULL);
    replay((const char *)text.data);
    nm_buffer_free(&text);
    ck_assert_uint_gt(list.part_sample.count, 0);
}
END_TEST

/* ---- What is not known ------------------------------------------------------------------------------------------- */

START_TEST(figures_after_a_loss_are_doubtful_and_of_a_late_start_partial)
{
    replay(HEAD "@1 alloc heap=1 address=0x10000 block=0x1000 segment thread=1\n"
                "@2 alloc heap=2 address=0x10000 block=0x200 requested=0x200 stack=1 thread=1\n"
                "@3 mark name=before thread=1\n"
                "@4 loss thread=1 number=3 until=5 detail=ring_full\n"
                "@6 mark name=after thread=1\n"
                "@7 free heap=2 address=0x10000 thread=1\n");
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_MARK, 0, 2)->is_doubtful);
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_PEAK, 0, 2)->is_doubtful);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_MARK, 1, 2)->is_doubtful);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_END, 0, 2)->is_doubtful);
    ck_assert(!list.fragment_usage.items[0].is_doubtful);
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_END, 0, 2)->is_partial);

    replay("process 1 pid=100 host=h1 late=1\n"
           "device 1 process=1 ordinal=0\n"
           "heap 1 process=1 device=1 level=driver\n"
           "heap 2 process=1 device=1 level=pool basis=block\n"
           "@1 alloc heap=1 address=0x10000 block=0x1000 segment\n"
           "@2 alloc heap=2 address=0x10000 block=0x200 requested=0x200\n");
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_END, 0, 2)->is_partial);
    ck_assert(list.fragment_usage.items[0].is_partial);
}
END_TEST

START_TEST(a_pool_that_states_what_it_holds_has_a_timeline_without_gaps)
{
    const nm_fragment_usage_row *row;

    replay(HEAD "@0 reserved heap=2 block=1000\n"
                "@1 alloc heap=2 address=0x1000 requested=290 block=300\n"
                "@2 alloc heap=2 address=0x2000 requested=400 block=400\n"
                "@3 free heap=2 address=0x1000\n");
    ck_assert_uint_eq(list.fragment_usage.count, 4);
    row = &list.fragment_usage.items[2];
    ck_assert(row->is_stated && row->is_estimate);
    ck_assert_uint_eq(row->figures.reserved_bytes, 1000);
    ck_assert_uint_eq(row->figures.free_bytes, 300);
    ck_assert_int_eq(row->figures.waste_bytes, 10);
    ck_assert_uint_eq(row->max_occupied_bytes, 700);
    ck_assert_uint_eq(list.gap.count, 0);
    ck_assert_uint_eq(list.pool_part.count, 0);
}
END_TEST

/* After five hundred marks a pool's blocks are not looked at one by one any more; at failures they are. */
START_TEST(very_many_marks_have_figures_but_no_detail)
{
    nm_buffer text = {0};

    nm_buffer_append(&text, HEAD, strlen(HEAD), NULL);
    nm_buffer_append(&text, "@1 alloc heap=1 address=0x10000 block=0x1000 segment\n", 53, NULL);
    nm_buffer_append(&text, "@2 alloc heap=2 address=0x10000 block=0x200 stack=1\n", 52, NULL);
    for (int i = 0; i < 1200; i++)
        nm_buffer_append(&text, "@3 mark thread=1\n", 17, NULL);
    nm_buffer_append(&text, "@4 alloc_failed heap=2 requested=0x2000\n", 41, NULL);
    replay((const char *)text.data);
    nm_buffer_free(&text);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_MARK, 499, 2)->has_detail);
    ck_assert(!nm_row_list_figures(&list, NM_MOMENT_MARK, 500, 2)->has_detail);
    ck_assert_uint_eq(gaps_at(moment_of(NM_MOMENT_MARK, 499)), 1);
    ck_assert_uint_eq(gaps_at(moment_of(NM_MOMENT_MARK, 500)), 0);
    ck_assert_uint_eq(part_with(moment_of(NM_MOMENT_MARK, 1199), 0, 0x1000)->stuck_bytes, 0xe00);
    ck_assert(nm_row_list_figures(&list, NM_MOMENT_FAILURE, 0, 2)->has_detail);
    ck_assert_uint_eq(blocker_of(moment_of(NM_MOMENT_FAILURE, 0), 1)->hostage_bytes, 0xe00);
}
END_TEST

static uint64_t figure_count;

static nm_status count_figures(void *context, nm_row_kind kind, const void *row, nm_error *err)
{
    (void)context, (void)kind, (void)row, (void)err;
    figure_count++;
    return NM_OK;
}

static void give(nm_replay *replay, nm_record record)
{
    nm_error err = {0};

    ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
}

/* 1,000 pools at 1,000 marks would be a million rows: 262,144 are free, and 8 for each event. All marks are there. */
START_TEST(marks_of_very_many_pools_do_not_multiply)
{
    nm_sink sink = {.row = count_figures, .wants = {[NM_ROW_FRAGMENTATION] = true}};
    nm_replay *made = NULL;
    nm_error err = {0};

    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &made, &err), NM_OK);
    give(made, (nm_record){.kind = NM_RECORD_DEFINITION, .definition = {NM_DEFINE_PROCESS, 1}});
    give(made,
         (nm_record){.kind = NM_RECORD_DEFINITION, .definition = {NM_DEFINE_THREAD, 1, .thread = {.process_id = 1}}});
    for (uint64_t id = 1; id <= 1000; id++)
        give(made, (nm_record){.kind = NM_RECORD_DEFINITION,
                               .definition = {NM_DEFINE_HEAP, id, .heap = {.process_id = 1, .level = NM_LEVEL_POOL}}});
    for (uint64_t seq = 0; seq < 1000; seq++)
        give(made, (nm_record){.kind = NM_RECORD_EVENT,
                               .event = {.seq = seq, .kind = NM_EVENT_MARK, .thread_id = 1, .time_ns = (int64_t)seq}});
    ck_assert_uint_ge(figure_count, 260000);
    ck_assert_uint_le(figure_count, 262144 + 8 * 1000);
    nm_replay_free(made);
}
END_TEST

TEST_SUITE(test_replay_fragments)
{
    Suite *suite = suite_create("how pools are cut up");
    TCase *tcase = tcase_create("replay");

    tcase_set_timeout(tcase, 60);
    tcase_add_test(tcase, the_size_of_a_segment_tells_its_kind);
    tcase_add_test(tcase, mapped_memory_goes_over_to_a_private_pool_as_one);
    tcase_add_test(tcase, a_segment_without_a_stream_is_of_that_of_its_first_block);
    tcase_add_test(tcase, a_pool_with_very_many_parts_has_the_last_ones_as_one);
    tcase_add_test(tcase, a_keyframe_brings_the_private_pool_and_the_births);
    tcase_add_test(tcase, blocks_without_a_size_or_over_others_are_in_nobodys_way);
    tcase_add_test(tcase, marks_of_very_many_pools_do_not_multiply);
    tcase_add_test(tcase, a_list_that_contradicts_itself_does_no_harm);
    tcase_add_test(tcase, figures_after_a_loss_are_doubtful_and_of_a_late_start_partial);
    tcase_add_test(tcase, a_pool_that_states_what_it_holds_has_a_timeline_without_gaps);
    tcase_add_test(tcase, very_many_marks_have_figures_but_no_detail);
    suite_add_tcase(suite, tcase);
    return suite;
}
