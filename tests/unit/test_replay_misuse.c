/* SPDX-License-Identifier: Apache-2.0
 *
 * Each kind of misuse, planted once: it is found, with its stacks, at its place and nothing else is; behind a loss, of that
 * process or of nobody knows whom, nothing is said of the same events; and neither where the recording had not begun.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/row_list.h"

#define HEAD(attributes)                                                                                               \
    "process 1 pid=1 host=h" attributes "\n"                                                                           \
    "thread 1 process=1 tid=1\n"                                                                                       \
    "thread 2 process=1 tid=2\n"                                                                                       \
    "device 1 process=1 kind=npu\n"                                                                                    \
    "heap 1 process=1 device=1 level=driver basis=block\n"                                                             \
    "heap 2 process=1 level=pinned basis=requested\n"                                                                  \
    "heap 3 process=1 level=registered basis=requested\n"                                                              \
    "heap 4 process=1 device=1 level=pool basis=block\n"                                                               \
    "stack 1: a\n"                                                                                                     \
    "stack 2: b\n"                                                                                                     \
    "stack 3: c\n"                                                                                                     \
    "@1 alloc heap=1 address=0x10000 requested=0x1000 block=0x1000 thread=1 stack=1\n"                                 \
    "@2 alloc heap=2 address=0x90000 requested=0x1000 thread=1 stack=1\n"

static const struct {
    const char *name, *text;
    nm_anomaly_kind kind;
    uint64_t stack_id, other_stack_id;
    bool needs_no_history; /* it is wrong in itself: also found where the recording began late */
} plants[] = {
    {"double free",
     "@3 free address=0x10000 detail=device thread=1 stack=2\n@4 free address=0x10000 detail=device thread=1 stack=3\n",
     NM_ANOMALY_DOUBLE_FREE, 3, 2, true},
    {"free of unknown", "@3 free address=0x50000 detail=device thread=1 stack=2\n", NM_ANOMALY_FREE_UNKNOWN, 2, 0,
     false},
    {"device memory freed as host memory", "@3 free address=0x10000 detail=host thread=1 stack=2\n",
     NM_ANOMALY_WRONG_FREE, 2, 1, true},
    {"host memory freed as device memory", "@3 free address=0x90000 detail=device thread=1 stack=2\n",
     NM_ANOMALY_WRONG_FREE, 2, 1, true},
    {"use after free",
     "@3 alloc heap=1 address=0x20000 requested=64 block=64 thread=1 stack=1\n"
     "@4 free address=0x20000 detail=device thread=1 stack=2\n"
     "@5 copy thread=1 address=0x20000 source=0x90000 size=8 detail=h2d device=1 stack=3\n",
     NM_ANOMALY_USE_AFTER_FREE, 3, 2, true},
    {"copy past the end of its target",
     "@3 copy thread=1 address=0x10ff9 source=0x90000 size=8 detail=h2d device=1 stack=2\n", NM_ANOMALY_COPY_PAST_END,
     2, 1, true},
    {"copy past the end of its source",
     "@3 copy thread=1 address=0x10000 source=0x90ff9 size=8 detail=h2d device=1 stack=2\n", NM_ANOMALY_COPY_PAST_END,
     2, 1, true},
    {"copy to what was never allocated",
     "@3 copy thread=1 address=0x70000 source=0x90000 size=8 detail=h2d device=1 stack=2\n",
     NM_ANOMALY_COPY_UNALLOCATED, 2, 0, false},
    {"copy from what was never allocated",
     "@3 copy thread=1 address=0x90000 source=0x70000 size=8 detail=d2h number=1 stack=2\n",
     NM_ANOMALY_COPY_UNALLOCATED, 2, 0, false},
    {"two at one address", "@3 alloc heap=1 address=0x10000 requested=64 block=64 thread=1 stack=2\n",
     NM_ANOMALY_OVERLAP, 2, 1, true},
    {"nothing asked for", "@3 alloc_failed heap=1 requested=0 error=107000 thread=1 stack=2\n", NM_ANOMALY_ZERO_SIZE, 2,
     0, true},
    {"nothing handed out", "@3 alloc heap=1 address=0x70000 thread=1 stack=2\n", NM_ANOMALY_ZERO_SIZE, 2, 0, true},
    {"unregister of unknown", "@3 free address=0x90000 detail=registered thread=1 stack=2\n",
     NM_ANOMALY_UNREGISTER_UNKNOWN, 2, 0, false},
    {"unmap of unknown", "@3 unmap address=0x70000 thread=1 stack=2\n", NM_ANOMALY_UNMAP_UNKNOWN, 2, 0, false},
    {"a stream stays",
     "@3 stream_call thread=1 stream=7 detail=stream_create device=1 stack=2\n"
     "@4 stream_call thread=1 stream=8 detail=stream_create device=1 stack=2\n"
     "@5 stream_call thread=1 stream=8 detail=stream_destroy device=1 stack=3\n"
     "@6 process_end process=1 detail=exit\n",
     NM_ANOMALY_STREAM_KEPT, 2, 0, true},
};

#define PLANT_COUNT (sizeof plants / sizeof plants[0])

static nm_row_list list;

static void replay(const char *head, const char *before, const char *rest)
{
    char text[4096];
    nm_error err = {0};

    ck_assert_int_lt(snprintf(text, sizeof text, "%s%s%s", head, before, rest), (int)sizeof text);
    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

START_TEST(each_kind_is_found_with_both_its_stacks)
{
    for (size_t i = 0; i < PLANT_COUNT; i++) {
        replay(HEAD(""), "", plants[i].text);
        ck_assert_msg(list.anomalies.count == 1, "%s: %zu anomalies", plants[i].name, list.anomalies.count);
        ck_assert_msg(list.anomalies.items[0].kind == plants[i].kind, "%s: kind %d", plants[i].name,
                      (int)list.anomalies.items[0].kind);
        ck_assert_msg(list.anomalies.items[0].stack_id == plants[i].stack_id, "%s", plants[i].name);
        ck_assert_msg(list.anomalies.items[0].other_stack_id == plants[i].other_stack_id, "%s", plants[i].name);
    }
}
END_TEST

START_TEST(behind_a_loss_nothing_is_said)
{
    static const char *const losses[] = {"@2 loss thread=1 number=3 until=2\n", "@2 loss thread=2 number=3 until=2\n",
                                         "@2 loss number=3 until=2\n"};

    for (size_t i = 0; i < PLANT_COUNT; i++)
        for (size_t loss = 0; loss < sizeof losses / sizeof losses[0]; loss++) {
            replay(HEAD(""), losses[loss], plants[i].text);
            ck_assert_msg(list.anomalies.count == 0, "%s, loss %zu", plants[i].name, loss);
        }
}
END_TEST

/* Also where the loss comes between the two halves of what is wrong. */
START_TEST(in_the_middle_of_a_loss_nothing_is_said)
{
    for (size_t i = 0; i < PLANT_COUNT; i++) {
        const char *last = strrchr(plants[i].text, '@');
        char text[1024];

        snprintf(text, sizeof text, "%.*s@3 loss thread=2 number=1 until=9\n%s", (int)(last - plants[i].text),
                 plants[i].text, last);
        replay(HEAD(""), "", text);
        ck_assert_msg(list.anomalies.count == 0, "%s", plants[i].name);
    }
}
END_TEST

START_TEST(what_was_there_before_the_recording_is_not_called_unknown)
{
    for (size_t i = 0; i < PLANT_COUNT; i++) {
        replay(HEAD(" late=1"), "", plants[i].text);
        ck_assert_msg(list.anomalies.count == plants[i].needs_no_history, "%s: %zu", plants[i].name,
                      list.anomalies.count);
    }
}
END_TEST

START_TEST(streams_that_end_with_their_device_or_may_have_ended_are_not_kept)
{
    static const char *const texts[] = {
        "@3 stream_call thread=1 stream=7 detail=stream_create device=1\n@4 reset thread=1 device=1\n",
        "@3 stream_call thread=1 stream=7 detail=stream_create device=1\n@4 reset thread=1\n",
        "@3 stream_call thread=1 stream=7 detail=stream_create device=1\n@4 device_call thread=1 "
        "detail=context_destroy\n",
        "@3 stream_call thread=1 stream=7 detail=stream_create device=1\n@4 pause thread=1 process=1 detail=1\n"
        "@5 pause thread=1 process=1 detail=2\n",
        "@3 stream_call thread=1 stream=7 detail=stream_create device=1 error=107000\n",
        "@3 stream_call thread=1 stream=7 detail=stream_create device=1\n"
        "@4 stream_call thread=1 stream=7 detail=stream_destroy device=1\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        replay(HEAD(""), texts[i], "@9 process_end process=1 detail=exit\n");
        ck_assert_msg(list.anomalies.count == 0, "%zu", i);
    }
    replay(HEAD(""), "@3 stream_call thread=1 stream=7 detail=stream_create device=1\n",
           "@9 process_end process=1 detail=signal error=9\n");
    ck_assert_uint_eq(list.anomalies.count, 0);
}
END_TEST

START_TEST(memory_that_something_else_holds_is_allocated)
{
    static const char copy[] = "@9 copy thread=1 address=0x70010 source=0x90000 size=8 detail=h2d device=1\n";

    replay(HEAD(""), "@3 alloc heap=4 address=0x70000 requested=64 block=64 thread=1\n", copy);
    ck_assert_uint_eq(list.anomalies.count, 0);
    replay(HEAD(""), "@3 alloc heap=3 address=0x70000 requested=64 thread=1\n", copy);
    ck_assert_uint_eq(list.anomalies.count, 0);
    replay(HEAD(""), "@3 map heap=1 address=0x70000 block=64 thread=1\n", copy);
    ck_assert_uint_eq(list.anomalies.count, 0);
    replay(HEAD(""), "@3 note thread=1 name=lib detail=unseen_library\n", copy);
    ck_assert_uint_eq(list.anomalies.count, 0);
    replay(HEAD(""), "- alloc baseline heap=1 address=0x40000 requested=64 block=64\n", copy);
    ck_assert_uint_eq(list.anomalies.count, 0);
    replay(HEAD(""), "", copy);
    ck_assert_uint_eq(list.anomalies.count, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("misuse");
    TCase *tests = tcase_create("planted");

    tcase_add_test(tests, each_kind_is_found_with_both_its_stacks);
    tcase_add_test(tests, behind_a_loss_nothing_is_said);
    tcase_add_test(tests, in_the_middle_of_a_loss_nothing_is_said);
    tcase_add_test(tests, what_was_there_before_the_recording_is_not_called_unknown);
    tcase_add_test(tests, streams_that_end_with_their_device_or_may_have_ended_are_not_kept);
    tcase_add_test(tests, memory_that_something_else_holds_is_allocated);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    nm_row_list_free(&list);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
