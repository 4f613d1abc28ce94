/* SPDX-License-Identifier: Apache-2.0
 *
 * Steps that the program did not mark, and what a step's sums say of reserved bytes and driver calls. By hand.
 */
#include <check.h>

#include "analysis/passes.h"
#include "replay/replay.h"
#include "support/row_list.h"
#include "support/suites.h"
#include "support/text_trace.h"

#define HEAD                                                                                                           \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "device 1 process=1 ordinal=0 physical=4\n"                                                                        \
    "heap 1 process=1 device=1 level=driver basis=block\n"                                                             \
    "heap 2 process=1 device=1 level=pool basis=block\n"                                                               \
    "heap 3 process=1 level=pinned\n"

static nm_row_list list;

/* Replays the text; the events whose numbers are in `begins` (ends with -1) begin a step. */
static void replay(const char *text, const int *begins)
{
    nm_error err = {0};
    nm_text_trace *trace = NULL;
    nm_replay *made = NULL;
    nm_record record;
    nm_sink sink;
    nm_status status;

    nm_row_list_free(&list);
    sink = nm_row_list_sink(&list);
    ck_assert_int_eq(nm_text_trace_open(text, &trace, &err), NM_OK);
    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &made, &err), NM_OK);
    while ((status = nm_text_trace_next(trace, &record, &err)) == NM_OK) {
        if (record.kind == NM_RECORD_EVENT && *begins >= 0 && record.event.seq == (uint64_t)*begins) {
            nm_replay_begin_step(made);
            begins++;
        }
        ck_assert_int_eq(nm_replay_record(made, &record, &err), NM_OK);
    }
    ck_assert_int_eq(status, NM_END);
    ck_assert_int_eq(nm_replay_finish(made, &err), NM_OK);
    nm_replay_free(made);
    nm_text_trace_close(trace);
}

static const nm_step_total_row *total_of(uint64_t heap_id, int64_t generation)
{
    for (size_t i = 0; i < list.step_total.count; i++)
        if (list.step_total.items[i].heap_id == heap_id && list.step_total.items[i].generation == generation)
            return &list.step_total.items[i];
    ck_abort_msg("no row of heap %d in step %d", (int)heap_id, (int)generation);
    return NULL;
}

START_TEST(an_event_may_begin_a_step_without_a_mark)
{
    replay(HEAD "@10 alloc heap=3 address=0x1000 requested=10 thread=1\n"
                "@20 alloc heap=3 address=0x2000 requested=20 thread=1\n"
                "@30 free heap=3 address=0x2000 thread=1\n"
                "@40 alloc heap=3 address=0x3000 requested=40 thread=1\n"
                "@50 process_end process=1 thread=1 detail=exit\n",
           (const int[]){1, 3, -1});
    ck_assert_uint_eq(list.step.count, 2);
    ck_assert_int_eq(list.step.items[0].source, NM_STEP_INFERRED);
    ck_assert_int_eq(list.step.items[0].number, 1);
    ck_assert_int_eq(list.step.items[0].begin_seq, 1);
    ck_assert_int_eq(list.step.items[0].begin_ns, 20);
    ck_assert_int_eq(list.step.items[0].end_seq, 3);
    ck_assert_int_eq(list.step.items[0].end_ns, 40);
    ck_assert_int_eq(list.step.items[1].number, 2);
    ck_assert_int_eq(list.step.items[1].end_seq, 4);

    /* What begins a step is in it: the sums, and the generation of what stays. */
    ck_assert_uint_eq(total_of(3, 0)->allocated_bytes, 10);
    ck_assert_uint_eq(total_of(3, 1)->allocated_bytes, 20);
    ck_assert_uint_eq(total_of(3, 1)->freed_bytes, 20);
    ck_assert_uint_eq(total_of(3, 2)->allocated_bytes, 40);
    ck_assert_int_eq(nm_row_list_allocation(&list, 1)->generation, 0);
    ck_assert_int_eq(nm_row_list_allocation(&list, 3)->generation, 2);
}
END_TEST

START_TEST(marks_after_inferred_steps_go_on_counting)
{
    replay(HEAD "@10 alloc heap=3 address=0x1000 requested=10 thread=1\n"
                "@20 step number=70 thread=1\n"
                "@30 alloc heap=3 address=0x2000 requested=20 thread=1\n",
           (const int[]){0, -1});
    ck_assert_uint_eq(list.step.count, 2);
    ck_assert_int_eq(list.step.items[0].source, NM_STEP_INFERRED);
    ck_assert_int_eq(list.step.items[0].end_seq, 1);
    ck_assert_int_eq(list.step.items[1].source, NM_STEP_MARKED);
    ck_assert_int_eq(list.step.items[1].number, 70);
    ck_assert_int_eq(list.step.items[1].generation, 2);
}
END_TEST

START_TEST(a_step_knows_its_reserved_peak_and_driver_calls)
{
    replay(HEAD "@10 alloc heap=1 address=0x10000 block=4096 thread=1\n" /* 0: before any step */
                "@11 alloc heap=2 address=0x10000 block=1024 thread=1\n"
                "@20 step number=1 thread=1\n" /* grows to 12288, and shrinks again */
                "@21 alloc heap=1 address=0x20000 block=8192 thread=1\n"
                "@22 alloc heap=2 address=0x20000 block=512 thread=1\n"
                "@23 free heap=2 address=0x20000 thread=1\n"
                "@24 free heap=1 address=0x20000 thread=1\n"
                "@30 step number=2 thread=1\n" /* stays at 4096 */
                "@31 alloc heap=2 address=0x10400 block=512 thread=1\n"
                "@32 alloc heap=3 address=0x9000 requested=5 thread=1\n"
                "@40 step number=3 thread=1\n",
           (const int[]){-1});
    ck_assert_uint_eq(total_of(2, 0)->peak_reserved_bytes, 4096);
    ck_assert_uint_eq(total_of(2, 0)->driver_call_count, 1);
    ck_assert_uint_eq(total_of(2, 1)->peak_reserved_bytes, 12288);
    ck_assert_uint_eq(total_of(2, 1)->driver_call_count, 2);
    ck_assert_uint_eq(total_of(1, 1)->driver_call_count, 2);
    ck_assert_uint_eq(total_of(1, 1)->peak_reserved_bytes, 0);
    ck_assert_uint_eq(total_of(2, 2)->peak_reserved_bytes, 4096);
    ck_assert_uint_eq(total_of(2, 2)->driver_call_count, 0);
    ck_assert_uint_eq(total_of(3, 2)->driver_call_count, 0);
}
END_TEST

START_TEST(a_pool_without_segments_has_the_reserved_bytes_that_it_states)
{
    replay(HEAD "@10 reserved heap=2 block=1000 thread=1\n"
                "@20 step number=1 thread=1\n"
                "@21 alloc heap=2 address=0x10000 block=512 thread=1\n"
                "@30 step number=2 thread=1\n"
                "@31 reserved heap=2 block=3000 thread=1\n"
                "@32 reserved heap=2 block=2000 thread=1\n"
                "@33 free heap=2 address=0x10000 thread=1\n"
                "@40 step number=3 thread=1\n",
           (const int[]){-1});
    ck_assert_uint_eq(total_of(2, 1)->peak_reserved_bytes, 1000);
    ck_assert_uint_eq(total_of(2, 2)->peak_reserved_bytes, 3000);
}
END_TEST

TEST_SUITE(test_replay_steps)
{
    Suite *suite = suite_create("replay_steps");
    TCase *tests = tcase_create("steps");

    tcase_add_test(tests, an_event_may_begin_a_step_without_a_mark);
    tcase_add_test(tests, marks_after_inferred_steps_go_on_counting);
    tcase_add_test(tests, a_step_knows_its_reserved_peak_and_driver_calls);
    tcase_add_test(tests, a_pool_without_segments_has_the_reserved_bytes_that_it_states);
    suite_add_tcase(suite, tests);
    return suite;
}
