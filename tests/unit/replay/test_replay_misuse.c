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
#include "support/suites.h"

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
    {"one begins inside another", "@3 alloc heap=1 address=0x10ff0 requested=64 block=64 thread=1 stack=2\n",
     NM_ANOMALY_OVERLAP, 2, 1, true},
    {"one covers the begin of another",
     "@3 alloc heap=1 address=0xf000 requested=0x1001 block=0x1001 thread=1 stack=2\n", NM_ANOMALY_OVERLAP, 2, 1, true},
    {"one block begins inside another of its pool",
     "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1 stack=2\n"
     "@4 alloc heap=4 address=0x10060 requested=100 block=512 thread=1 stack=3\n",
     NM_ANOMALY_OVERLAP, 3, 2, true},
    {"pinned memory begins inside other", "@3 alloc heap=2 address=0x90fff requested=64 thread=1 stack=2\n",
     NM_ANOMALY_OVERLAP, 2, 1, true},
    {"copy past the end of a block into the next",
     "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1 stack=2\n"
     "@4 alloc heap=4 address=0x10200 requested=100 block=512 thread=1\n"
     "@5 copy thread=1 address=0x10000 source=0x90000 size=101 detail=h2d device=1 stack=3\n",
     NM_ANOMALY_COPY_PAST_END, 3, 2, true},
    {"copy from past the end of a block",
     "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1 stack=2\n"
     "@4 copy thread=1 source=0x10050 address=0x90000 size=21 detail=d2h number=1 stack=3\n",
     NM_ANOMALY_COPY_PAST_END, 3, 2, true},
    {"copy between blocks past the end of the second",
     "@3 alloc heap=4 address=0x10000 requested=200 block=512 thread=1\n"
     "@4 alloc heap=4 address=0x10200 requested=100 block=512 thread=1 stack=2\n"
     "@5 copy thread=1 source=0x10000 address=0x10200 size=200 detail=d2d device=1 number=1 stack=3\n",
     NM_ANOMALY_COPY_PAST_END, 3, 2, true},
    {"memset past the end of a block",
     "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1 stack=2\n"
     "@4 copy thread=1 address=0x10000 size=104 detail=memset device=1 stack=3\n",
     NM_ANOMALY_COPY_PAST_END, 3, 2, true},
    {"use in the middle of a freed range",
     "@3 alloc heap=1 address=0x20000 requested=64 block=64 thread=1 stack=1\n"
     "@4 free address=0x20000 detail=device thread=1 stack=2\n"
     "@5 copy thread=1 address=0x20020 source=0x90000 size=8 detail=h2d device=1 stack=3\n",
     NM_ANOMALY_USE_AFTER_FREE, 3, 2, true},
    {"use in the middle of a freed block",
     "@3 alloc heap=4 address=0x10000 requested=512 block=512 thread=1 stack=1\n"
     "@4 free heap=4 address=0x10000 thread=1 stack=2\n"
     "@5 copy thread=1 source=0x10040 address=0x90000 size=8 detail=d2h number=1 stack=3\n",
     NM_ANOMALY_USE_AFTER_FREE, 3, 2, true},
    {"free inside an allocation", "@3 free address=0x10010 detail=device thread=1 stack=2\n", NM_ANOMALY_FREE_UNKNOWN,
     2, 1, false},
    {"free inside what is freed",
     "@3 free address=0x10000 detail=device thread=1 stack=2\n@4 free address=0x10010 detail=device thread=1 stack=3\n",
     NM_ANOMALY_FREE_UNKNOWN, 3, 2, false},
    {"free inside a pool's block",
     "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1 stack=2\n"
     "@4 free heap=4 address=0x10020 thread=1 stack=3\n",
     NM_ANOMALY_FREE_UNKNOWN, 3, 2, false},
    {"a pool's free inside a block",
     "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1 stack=2\n"
     "@4 free address=0x10020 detail=pool thread=1 stack=3\n",
     NM_ANOMALY_FREE_UNKNOWN, 3, 2, false},
    {"second free of a block whose segment is gone",
     "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1\n"
     "@4 free heap=4 address=0x10000 thread=1 stack=2\n"
     "@5 free address=0x10000 detail=device thread=1 stack=1\n"
     "@6 free heap=4 address=0x10000 thread=1 stack=3\n",
     NM_ANOMALY_DOUBLE_FREE, 3, 2, false},
    {"unregister inside a registered range",
     "@3 alloc heap=3 address=0x80000 requested=0x1000 thread=1 stack=3\n"
     "@4 free address=0x80100 detail=registered thread=1 stack=2\n",
     NM_ANOMALY_UNREGISTER_UNKNOWN, 2, 3, false},
    {"unmap twice",
     "@3 map heap=1 address=0x70000 block=0x1000 thread=1 stack=1\n@4 unmap address=0x70000 thread=1 stack=2\n"
     "@5 unmap address=0x70000 thread=1 stack=3\n",
     NM_ANOMALY_UNMAP_UNKNOWN, 3, 2, false},
    {"unmap of what is allocated", "@3 unmap address=0x10000 thread=1 stack=2\n", NM_ANOMALY_UNMAP_UNKNOWN, 2, 1,
     false},
    {"nothing asked for", "@3 alloc_failed heap=1 requested=0 error=107000 thread=1 stack=2\n", NM_ANOMALY_ZERO_SIZE, 2,
     0, true},
    {"nothing handed out", "@3 alloc heap=1 address=0x70000 thread=1 stack=2\n", NM_ANOMALY_ZERO_SIZE, 2, 0, true},
    {"unregister of unknown", "@3 free address=0x90000 detail=registered thread=1 stack=2\n",
     NM_ANOMALY_UNREGISTER_UNKNOWN, 2, 1, false},
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
    char text[16384];
    nm_error err = {0};

    ck_assert_int_lt(snprintf(text, sizeof text, "%s%s%s", head, before, rest), (int)sizeof text);
    nm_row_list_free(&list);
    ck_assert_msg(nm_row_list_replay(&list, text, &err) == NM_OK, "%s", err.text);
}

START_TEST(each_kind_is_found_with_both_its_stacks)
{
    for (size_t i = 0; i < PLANT_COUNT; i++) {
        replay(HEAD(""), "", plants[i].text);
        ck_assert_msg(list.anomaly.count == 1, "%s: %zu anomalies", plants[i].name, list.anomaly.count);
        ck_assert_msg(list.anomaly.items[0].kind == plants[i].kind, "%s: kind %d", plants[i].name,
                      (int)list.anomaly.items[0].kind);
        ck_assert_msg(list.anomaly.items[0].stack_id == plants[i].stack_id, "%s", plants[i].name);
        ck_assert_msg(list.anomaly.items[0].other_stack_id == plants[i].other_stack_id, "%s", plants[i].name);
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
            ck_assert_msg(list.anomaly.count == 0, "%s, loss %zu", plants[i].name, loss);
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
        ck_assert_msg(list.anomaly.count == 0, "%s", plants[i].name);
    }
}
END_TEST

START_TEST(what_was_there_before_the_recording_is_not_called_unknown)
{
    for (size_t i = 0; i < PLANT_COUNT; i++) {
        replay(HEAD(" late=1"), "", plants[i].text);
        ck_assert_msg(list.anomaly.count == plants[i].needs_no_history, "%s: %zu", plants[i].name, list.anomaly.count);
    }
}
END_TEST

/* Stream 7 stays, and a younger one of the same stack goes. */
#define FORGOTTEN                                                                                                      \
    "@3 stream_call thread=1 stream=7 detail=stream_create device=1\n"                                                 \
    "@3 stream_call thread=1 stream=8 detail=stream_create device=1\n"                                                 \
    "@3 stream_call thread=1 stream=8 detail=stream_destroy device=1\n"
#define EXIT "@9 process_end process=1 detail=exit\n"

START_TEST(streams_that_end_with_their_device_or_may_have_ended_are_not_kept)
{
    static const char *const texts[] = {
        FORGOTTEN "@4 reset thread=1 device=1\n",
        FORGOTTEN "@4 reset thread=1\n",
        FORGOTTEN "@4 device_call thread=1 detail=context_destroy\n",
        FORGOTTEN "@4 stream_call thread=1 detail=stream_context_destroy\n",
        FORGOTTEN "@4 pause thread=1 process=1 detail=1\n@5 pause thread=1 process=1 detail=2\n",
        FORGOTTEN "@4 stream_call thread=1 stream=7 detail=stream_destroy device=1\n",
        "@3 stream_call thread=1 stream=7 detail=stream_create device=1 error=107000\n"
        "@3 stream_call thread=1 stream=8 detail=stream_create device=1\n"
        "@3 stream_call thread=1 stream=8 detail=stream_destroy device=1\n",
    };

    replay(HEAD(""), FORGOTTEN, EXIT);
    ck_assert_uint_eq(list.anomaly.count, 1);
    replay(HEAD(""), FORGOTTEN "@4 stream_call thread=1 detail=stream_context_destroy error=107000\n", EXIT);
    ck_assert_uint_eq(list.anomaly.count, 1);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        replay(HEAD(""), texts[i], EXIT);
        ck_assert_msg(list.anomaly.count == 0, "%zu", i);
    }
    replay(HEAD(""), FORGOTTEN, "@9 process_end process=1 detail=signal error=9\n");
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

/* So many of stack 2 at once, of which the oldest `destroyed_count` go again. */
static size_t kept_of(int created_count, int destroyed_count)
{
    char text[16384];
    size_t length = 0;

    for (int i = 0; i < created_count + destroyed_count; i++)
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "@3 stream_call thread=1 stream=%d detail=stream_%s device=1 stack=2\n",
                                   100 + i % created_count, i < created_count ? "create" : "destroy");
    replay(HEAD(""), text, EXIT);
    return list.anomaly.count;
}

/* torch_npu keeps 32 of one stack; and who replaces its streams keeps the newest. More than 64 are no pool. */
START_TEST(streams_that_are_made_once_and_kept_are_none)
{
    ck_assert_uint_eq(kept_of(1, 0), 0);
    ck_assert_uint_eq(kept_of(34, 0), 0);
    ck_assert_uint_eq(kept_of(34, 20), 0);
    ck_assert_uint_eq(kept_of(64, 0), 0);
    ck_assert_uint_eq(kept_of(65, 0), 65);
    ck_assert_uint_eq(kept_of(66, 2), 0);
}
END_TEST

START_TEST(memory_that_something_else_holds_is_allocated)
{
    static const char copy[] = "@9 copy thread=1 address=0x70010 source=0x90000 size=8 detail=h2d device=1\n";

    replay(HEAD(""), "@3 alloc heap=4 address=0x70000 requested=64 block=64 thread=1\n", copy);
    ck_assert_uint_eq(list.anomaly.count, 0);
    replay(HEAD(""), "@3 alloc heap=3 address=0x70000 requested=64 thread=1\n", copy);
    ck_assert_uint_eq(list.anomaly.count, 0);
    replay(HEAD(""), "@3 map heap=1 address=0x70000 block=64 thread=1\n", copy);
    ck_assert_uint_eq(list.anomaly.count, 0);
    replay(HEAD(""), "@3 note thread=1 name=lib detail=unseen_library\n", copy);
    ck_assert_uint_eq(list.anomaly.count, 0);
    replay(HEAD(""), "- alloc baseline heap=1 address=0x40000 requested=64 block=64\n", copy);
    ck_assert_uint_eq(list.anomaly.count, 0);
    replay(HEAD(""), "", copy);
    ck_assert_uint_eq(list.anomaly.count, 1);
}
END_TEST

/* That is wrong in itself, but behind a loss nothing is claimed. */
START_TEST(a_copy_over_its_own_limit_is_told_where_nothing_was_lost)
{
    static const char copy[] =
        "@3 copy thread=1 address=0x10000 source=0x90000 size=9 limit=8 detail=h2d device=1 stack=2\n";

    for (int is_lost = 0; is_lost < 2; is_lost++) {
        replay(HEAD(""), is_lost ? "@2 loss thread=1 number=3 until=2\n" : "", copy);
        ck_assert_uint_eq(list.anomaly.count, is_lost ? 0 : 1);
        if (is_lost)
            continue;
        ck_assert_int_eq(list.anomaly.items[0].kind, NM_ANOMALY_COPY_PAST_END);
        ck_assert_uint_eq(list.anomaly.items[0].allocation_id, 1);
        ck_assert_uint_eq(list.anomaly.items[0].other_stack_id, 1);
    }
}
END_TEST

/* What looks like misuse and is none. */
START_TEST(what_may_lie_over_other_memory_is_no_overlap)
{
    static const char *const texts[] = {
        /* Blocks over their segment, blocks side by side in it, one after the other in one place. */
        "@3 alloc heap=4 address=0x10000 requested=512 block=512 thread=1\n"
        "@4 alloc heap=4 address=0x10200 requested=512 block=512 thread=1\n"
        "@5 free heap=4 address=0x10000 thread=1\n@6 alloc heap=4 address=0x10100 requested=256 block=256 thread=1\n",
        /* A pool inside a block of another. */
        "heap 5 process=1 device=1 level=pool basis=block\n"
        "@3 alloc heap=4 address=0x10000 requested=1024 block=1024 thread=1\n"
        "@4 alloc heap=5 address=0x10080 requested=64 block=64 thread=1\n",
        /* Padding that reaches into the neighbour. */
        "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1\n"
        "@4 alloc heap=4 address=0x10080 requested=100 block=512 thread=1\n",
        "@3 alloc heap=1 address=0xf000 requested=100 block=0x2000 thread=1\n",
        /* Pieces of a reservation, cut and mapped again. */
        "@3 map heap=1 address=0x40000 block=0x3000 thread=1\n@4 unmap heap=1 address=0x41000 block=0x1000 thread=1\n"
        "@5 map heap=1 address=0x41000 block=0x1000 thread=1\n",
        /* Handles, and what is registered. */
        "heap 5 process=1 device=1 level=physical basis=block\n"
        "@3 alloc heap=5 address=0x5000 requested=0x1000 block=0x1000 thread=1\n"
        "@4 alloc heap=5 address=0x5008 requested=0x1000 block=0x1000 thread=1\n",
        "@3 alloc heap=3 address=0x5000 requested=0x1000 thread=1\n"
        "@4 alloc heap=3 address=0x5800 requested=0x1000 thread=1\n",
        /* The same memory as two layers tell it. */
        "heap 5 process=1 device=1 level=driver basis=block\n"
        "@3 alloc heap=5 address=0x10100 requested=0x100 block=0x100 thread=1\n",
        /* Sizes that are only guessed. */
        "@3 alloc heap=4 address=0x20000 block=0x1000 thread=1 running_total\n"
        "@4 alloc heap=4 address=0x20100 block=0x2000 thread=1 running_total\n",
        /* Other processes and other devices have addresses of their own. */
        "process 2 pid=2 host=h\nthread 3 process=2 tid=3\ndevice 2 process=2 kind=npu\ndevice 3 process=1 kind=npu\n"
        "heap 5 process=2 device=2 level=driver basis=block\nheap 6 process=1 device=3 level=driver basis=block\n"
        "@3 alloc heap=5 address=0x10800 requested=0x1000 block=0x1000 thread=3\n"
        "@4 alloc heap=6 address=0x10800 requested=0x1000 block=0x1000 thread=1\n",
        /* Unseen, or in an order that is not certain. */
        "@3 alloc late heap=1 address=0x10800 requested=0x1000 block=0x1000 thread=1\n",
        "@3 pause number=1 detail=1\n@4 pause number=1 detail=3\n"
        "@5 alloc heap=1 address=0x10800 requested=0x1000 block=0x1000 thread=1\n"
        "@6 alloc heap=2 address=0x90000 requested=0x800 thread=1\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        replay(HEAD(""), texts[i], "");
        ck_assert_msg(list.anomaly.count == 0, "%zu: %zu", i, list.anomaly.count);
    }
}
END_TEST

/* What a pause may have changed unseen: pinned memory may have become device memory, a block larger. */
START_TEST(behind_a_pause_of_which_nothing_is_known_old_memory_is_not_judged)
{
    static const char *const texts[] = {
        "@5 free address=0x90000 detail=device thread=1\n",
        "@5 copy thread=1 address=0x10000 source=0x90000 size=0x1001 detail=h2d device=1\n",
        "@5 copy thread=1 address=0x10000 size=101 detail=memset device=1\n",
    };
    static const char *const pauses[] = {"@3 pause number=1 detail=1\n@4 pause number=1 detail=3\n",
                                         "@3 pause number=1 detail=1\n@4 pause number=1 detail=2\n"};

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t is_known = 0; is_known < 2; is_known++) {
            char text[512];

            snprintf(text, sizeof text, "@2 alloc heap=4 address=0x10000 requested=100 block=512 thread=1\n%s",
                     pauses[is_known]);
            replay(HEAD(""), text, texts[i]);
            ck_assert_msg(is_known ? list.anomaly.count > 0 : list.anomaly.count == 0, "%zu, %zu", i, is_known);
        }
}
END_TEST

/* The free of what is overlapped may come late, if another thread does it. */
START_TEST(a_late_free_from_another_thread_explains_an_overlap)
{
    static const char overlap[] = "@3 alloc heap=1 address=0x10800 requested=0x1000 block=0x1000 thread=1 stack=2\n"
                                  "@4 alloc heap=1 address=0x10f00 requested=0x10 block=0x10 thread=1 stack=3\n";

    replay(HEAD(""), overlap, "@10000003 free address=0x10000 detail=device thread=2\n");
    ck_assert_uint_eq(list.anomaly.count, 1); /* the third lies over the second, too */
    ck_assert_uint_eq(list.anomaly.items[0].stack_id, 3);
    ck_assert_uint_eq(list.anomaly.items[0].other_stack_id, 2);
    replay(HEAD(""), overlap, "@10000003 free address=0x10000 detail=device thread=1\n");
    ck_assert_uint_eq(list.anomaly.count, 2);
    replay(HEAD(""), overlap, "@10000004 free address=0x10000 detail=device thread=2\n");
    ck_assert_uint_eq(list.anomaly.count, 2);
    ck_assert_uint_eq(list.anomaly.items[0].address, 0x10800);
    ck_assert_uint_eq(list.anomaly.items[0].size_bytes, 0x800);
    ck_assert_str_eq(list.anomaly.items[0].detail, "begins inside a live allocation");
    replay(HEAD(""), overlap, "@5 loss thread=2 number=1 until=6\n");
    ck_assert_uint_eq(list.anomaly.count, 0);
}
END_TEST

START_TEST(copies_that_a_pool_may_make_are_no_misuse)
{
    static const char *const texts[] = {
        /* Whole blocks, the whole segment, clearing a block with its padding, what no block is known for. */
        "@3 copy thread=1 address=0x10000 source=0x90000 size=100 detail=h2d device=1\n",
        "@3 copy thread=1 address=0x10000 source=0x90000 size=0x1000 detail=h2d device=1\n",
        "@3 copy thread=1 address=0x10000 size=512 detail=memset device=1\n",
        "@3 copy thread=1 address=0x10900 size=64 detail=memset device=1\n",
        /* Only the block is known. */
        "@3 alloc heap=4 address=0x10200 block=512 thread=1\n"
        "@4 copy thread=1 address=0x10200 source=0x90000 size=512 detail=h2d device=1\n",
        /* A block inside a block: the outer one may be meant. */
        "heap 5 process=1 device=1 level=pool basis=block\n"
        "@3 alloc heap=5 address=0x10000 requested=16 block=16 thread=1\n"
        "@4 copy thread=1 address=0x10000 source=0x90000 size=100 detail=h2d device=1\n",
        /* A queue issued it when the block was another's already, or freed. */
        "@3 copy thread=2 address=0x10000 source=0x90000 size=200 detail=h2d device=1 async stream=1\n",
        "@3 free heap=4 address=0x10000 thread=1\n"
        "@4 copy thread=2 address=0x10000 source=0x90000 size=8 detail=h2d device=1 async stream=1\n",
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        replay(HEAD(""), "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1\n", texts[i]);
        ck_assert_msg(list.anomaly.count == 0, "%zu: %zu", i, list.anomaly.count);
    }
    replay(HEAD(""), "@3 alloc heap=4 address=0x10000 requested=100 block=512 thread=1\n",
           "@3 copy thread=2 address=0x10000 source=0x90000 size=200 detail=h2d device=1\n");
    ck_assert_uint_eq(list.anomaly.count, 1);
}
END_TEST

START_TEST(freed_memory_that_was_given_out_again_may_be_used)
{
    static const char copy[] = "@9 copy thread=1 address=0x10040 source=0x90000 size=8 detail=h2d device=1 stack=1\n";
    static const char freed[] = "@3 alloc heap=4 address=0x10000 requested=512 block=512 thread=1\n"
                                "@4 free heap=4 address=0x10000 thread=1 stack=3\n";
    static const char *const rests[] = {
        "@5 alloc heap=4 address=0x10020 requested=64 block=64 thread=1\n",
        /* The segment went, and somebody else has its addresses. */
        "@5 free address=0x10000 detail=device thread=1\n"
        "@6 alloc heap=1 address=0x10000 requested=0x1000 block=0x1000 thread=1\n",
        "heap 5 process=1 device=1 level=pool basis=block\n"
        "@5 alloc heap=5 address=0x10000 requested=0x1000 block=0x1000 thread=1\n",
        "@5 pause number=1 detail=1\n@6 pause number=1 detail=3\n",
        /* The segment went, and memory of another process is seen there. */
        "heap 5 process=1 device=1 level=imported basis=block\n"
        "@5 free address=0x10000 detail=device thread=1\n"
        "@6 alloc heap=5 address=0x10000 requested=0x1000 block=0x1000 thread=1\n",
    };
    char text[1024];

    for (size_t i = 0; i < sizeof rests / sizeof rests[0]; i++) {
        snprintf(text, sizeof text, "%s%s", rests[i], copy);
        replay(HEAD(""), freed, text);
        ck_assert_msg(list.anomaly.count == 0, "%zu", i);
    }
    /* Of two that ended, the last one; a block's end before its segment's. */
    snprintf(text, sizeof text,
             "@5 alloc heap=4 address=0x10030 requested=64 block=64 thread=1\n"
             "@6 free heap=4 address=0x10030 thread=1 stack=2\n"
             "@7 free address=0x10000 detail=device thread=1 stack=1\n%s",
             copy);
    replay(HEAD(""), freed, text);
    ck_assert_uint_eq(list.anomaly.count, 1);
    ck_assert_uint_eq(list.anomaly.items[0].other_stack_id, 2);
    ck_assert_uint_eq(list.anomaly.items[0].allocation_id, 4);
    snprintf(text, sizeof text, "%s@10 copy thread=1 address=0x10180 size=8 detail=memset device=1\n", copy);
    replay(HEAD(""), freed, text);
    ck_assert_uint_eq(list.anomaly.count, 2);
    ck_assert_uint_eq(list.anomaly.items[1].other_stack_id, 3);
}
END_TEST

/* So many frees that the first are forgotten: then there is no second site, and no wrong one. */
START_TEST(only_the_ranges_freed_last_are_remembered)
{
    enum { FREES = 16384 };
    char *text = malloc((size_t)FREES * 160 + 4096);

    for (int extra = 0; extra < 2; extra++) {
        size_t len = 0;

        len += (size_t)sprintf(text + len, "@3 alloc heap=1 address=0x10000000 requested=64 block=64 thread=1\n"
                                           "@4 free address=0x10000000 detail=device thread=1 stack=2\n");
        for (int i = 0; i < FREES - 1 + extra; i++)
            len += (size_t)sprintf(text + len,
                                   "@5 alloc heap=1 address=%d requested=16 block=16 thread=1\n"
                                   "@5 free address=%d detail=device thread=1 stack=3\n",
                                   0x100000 + 16 * i, 0x100000 + 16 * i);
        sprintf(text + len, "@6 copy thread=1 address=0x10000020 size=8 detail=memset device=1 stack=1\n");
        nm_error err = {0};
        char *whole = malloc(strlen(text) + 4096);

        sprintf(whole, "%s%s", HEAD(""), text);
        nm_row_list_free(&list);
        ck_assert_int_eq(nm_row_list_replay(&list, whole, &err), NM_OK);
        free(whole);
        ck_assert_uint_eq(list.anomaly.count, extra == 0);
        if (extra == 0)
            ck_assert_uint_eq(list.anomaly.items[0].other_stack_id, 2);
    }
    free(text);
}
END_TEST

/* Each by itself, of another pass, or of the books; none hangs on what the others do. */
static const struct {
    const char *event; /* behind its time */
    nm_anomaly_kind kind;
} deeds[] = {
    {"alloc_failed heap=1 requested=0 error=107000 thread=1 stack=2", NM_ANOMALY_ZERO_SIZE},
    {"free address=0x50000 detail=device thread=1 stack=2", NM_ANOMALY_FREE_UNKNOWN},
    {"copy thread=1 address=0x30ff9 source=0x90000 size=8 detail=h2d device=1 stack=2", NM_ANOMALY_COPY_PAST_END},
    {"copy thread=1 address=0x20000 source=0x90000 size=8 detail=h2d device=1 stack=3", NM_ANOMALY_USE_AFTER_FREE},
    {"alloc heap=1 address=0x10ff0 requested=64 block=64 thread=1 stack=2", NM_ANOMALY_OVERLAP}, /* waits: the pass */
    {"alloc heap=1 address=0x40000 requested=64 block=64 thread=1 stack=2", NM_ANOMALY_OVERLAP}, /* waits: the books */
};
#define DEEDS (sizeof deeds / sizeof deeds[0])

static void take_turns(const size_t turn[DEEDS])
{
    static const char before[] = "@3 alloc heap=1 address=0x20000 requested=64 block=64 thread=1 stack=1\n"
                                 "@4 free address=0x20000 detail=device thread=1 stack=2\n"
                                 "@5 alloc heap=1 address=0x30000 requested=0x1000 block=0x1000 thread=1 stack=1\n"
                                 "@6 alloc heap=1 address=0x40000 requested=64 block=64 thread=1 stack=1\n"
                                 "@7 stream_call thread=1 stream=7 detail=stream_create device=1 stack=2\n"
                                 "@8 stream_call thread=1 stream=8 detail=stream_create device=1 stack=2\n"
                                 "@9 stream_call thread=1 stream=8 detail=stream_destroy device=1 stack=3\n";
    char text[2048];
    size_t length = 0;

    for (size_t i = 0; i < DEEDS; i++) /* so far from each other that none waits until the next */
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "@%zu0000000 %s\n", 2 + 2 * i, deeds[turn[i]].event);
    snprintf(text + length, sizeof text - length, "@900000000 process_end process=1 detail=exit\n");
    replay(HEAD(""), before, text);
    ck_assert_uint_eq(list.anomaly.count, DEEDS + 1);
    for (size_t i = 0; i <= DEEDS; i++) {
        const nm_anomaly_row *row = &list.anomaly.items[i];

        ck_assert_uint_eq(row->anomaly_id, i + 1);
        ck_assert_int_eq(row->kind, i < DEEDS ? deeds[turn[i]].kind : NM_ANOMALY_STREAM_KEPT);
        ck_assert_int_eq(row->seq, i == 0 ? row->seq : row[-1].seq + 1);
    }
}

static void in_all_orders(size_t turn[DEEDS], size_t fixed)
{
    if (fixed == DEEDS)
        take_turns(turn);
    for (size_t i = fixed; i < DEEDS; i++) {
        size_t other = turn[i];

        turn[i] = turn[fixed];
        turn[fixed] = other;
        in_all_orders(turn, fixed + 1);
        turn[fixed] = turn[i];
        turn[i] = other;
    }
}

START_TEST(rows_are_numbered_in_the_order_of_events_whoever_gives_them)
{
    size_t turn[DEEDS];

    for (size_t i = 0; i < DEEDS; i++)
        turn[i] = i;
    in_all_orders(turn, 0);
}
END_TEST

/* What may still be explained by a late free has no number before that is over. */
START_TEST(a_row_that_waits_is_numbered_when_it_is_certain)
{
    static const char overlap[] = "@3 alloc heap=1 address=0x10ff0 requested=64 block=64 thread=1 stack=2\n"
                                  "@4 free address=0x50000 detail=device thread=1 stack=2\n";

    replay(HEAD(""), overlap, "@20000000 free address=0x60000 detail=device thread=1 stack=2\n");
    ck_assert_uint_eq(list.anomaly.count, 3);
    for (size_t i = 0; i < 3; i++)
        ck_assert_uint_eq(list.anomaly.items[i].anomaly_id, i + 1);
    ck_assert_uint_eq(list.anomaly.items[0].address, 0x50000);
    ck_assert_int_eq(list.anomaly.items[1].kind, NM_ANOMALY_OVERLAP);
    ck_assert_uint_eq(list.anomaly.items[2].address, 0x60000);
}
END_TEST

TEST_SUITE(test_replay_misuse)
{
    Suite *suite = suite_create("misuse");
    TCase *tests = tcase_create("planted");

    tcase_add_test(tests, each_kind_is_found_with_both_its_stacks);
    tcase_add_test(tests, behind_a_loss_nothing_is_said);
    tcase_add_test(tests, in_the_middle_of_a_loss_nothing_is_said);
    tcase_add_test(tests, what_was_there_before_the_recording_is_not_called_unknown);
    tcase_add_test(tests, streams_that_end_with_their_device_or_may_have_ended_are_not_kept);
    tcase_add_test(tests, streams_that_are_made_once_and_kept_are_none);
    tcase_add_test(tests, memory_that_something_else_holds_is_allocated);
    tcase_add_test(tests, a_copy_over_its_own_limit_is_told_where_nothing_was_lost);
    tcase_add_test(tests, what_may_lie_over_other_memory_is_no_overlap);
    tcase_add_test(tests, behind_a_pause_of_which_nothing_is_known_old_memory_is_not_judged);
    tcase_add_test(tests, a_late_free_from_another_thread_explains_an_overlap);
    tcase_add_test(tests, copies_that_a_pool_may_make_are_no_misuse);
    tcase_add_test(tests, freed_memory_that_was_given_out_again_may_be_used);
    tcase_add_test(tests, only_the_ranges_freed_last_are_remembered);
    tcase_add_test(tests, rows_are_numbered_in_the_order_of_events_whoever_gives_them);
    tcase_add_test(tests, a_row_that_waits_is_numbered_when_it_is_certain);
    suite_add_tcase(suite, tests);
    return suite;
}
