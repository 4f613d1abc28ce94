/* SPDX-License-Identifier: Apache-2.0
 *
 * What a watch says in the middle of a stream: a text trace and values by hand.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/suites.h"
#include "support/text_trace.h"
#include "watch/watch.h"

#define TRACE                                                                                                          \
    "process 1 pid=100 host=h1\n"                                                                                      \
    "process 2 pid=200 host=h1\n"                                                                                      \
    "thread 1 process=1 tid=100\n"                                                                                     \
    "thread 2 process=2 tid=200\n"                                                                                     \
    "device 1 process=1 ordinal=3 physical=4 capacity=1000\n"                                                          \
    "heap 1 process=1 device=1 level=driver name=\"device memory\"\n"                                                  \
    "heap 2 process=1 device=1 level=pool basis=block name=cache\n"                                                    \
    "heap 3 process=2 level=pinned name=pinned\n"                                                                      \
    "@1 alloc heap=1 address=0x1000 requested=512 thread=1\n"                                                          \
    "@2 alloc heap=2 address=0x1000 requested=60 block=64 thread=1\n"                                                  \
    "@3 alloc heap=2 address=0x1040 requested=70 block=128 thread=1\n"                                                 \
    "@4 step thread=1 number=7\n"                                                                                      \
    "@5 free heap=2 address=0x1000 thread=1\n"                                                                         \
    "@6 alloc heap=3 address=0x9000 requested=11 thread=2\n"                                                           \
    "@7 memory_sample thread=1 device=1 detail=hbm free=488 total=1000\n"                                              \
    "@8 step thread=2 number=1\n"                                                                                      \
    "@9 step thread=1 number=8\n"                                                                                      \
    "@10 memory_sample thread=1 device=1 detail=hbm free=400 total=1000\n"

static nm_watch *watch;

static void watch_text(const char *text)
{
    nm_text_trace *trace = NULL;
    nm_record record;
    nm_error err = {0};

    nm_watch_free(watch);
    ck_assert_int_eq(nm_watch_new(&watch, &err), NM_OK);
    ck_assert_msg(nm_text_trace_open(text, &trace, &err) == NM_OK, "%s", err.text);
    while (nm_text_trace_next(trace, &record, &err) == NM_OK)
        nm_watch_take(watch, &record);
    nm_text_trace_close(trace);
    ck_assert(!nm_watch_has_failed(watch));
}

typedef struct seen {
    nm_watch_heap heaps[8];
    nm_watch_device devices[8];
    nm_watch_step steps[8];
    nm_allocation_row live[8];
    size_t heap_count, device_count, step_count, live_count, definition_count;
} seen;

static void see_heap(void *context, const nm_watch_heap *heap)
{
    seen *out = context;

    ck_assert_uint_lt(out->heap_count, 8);
    out->heaps[out->heap_count++] = *heap;
}

static void see_device(void *context, const nm_watch_device *device)
{
    seen *out = context;

    ck_assert_uint_lt(out->device_count, 8);
    out->devices[out->device_count++] = *device;
}

static void see_step(void *context, const nm_watch_step *step)
{
    seen *out = context;

    ck_assert_uint_lt(out->step_count, 8);
    out->steps[out->step_count++] = *step;
}

static void see_live(void *context, const nm_live_now *live)
{
    seen *out = context;

    ck_assert_uint_lt(out->live_count, 8);
    nm_live_row_of(live->live, &out->live[out->live_count++]);
}

static void see_definition(void *context, const nm_definition *definition)
{
    seen *out = context;

    out->definition_count += definition->kind != NM_DEFINE_STRING;
}

static seen look(void)
{
    seen all = {0};

    nm_watch_heaps(watch, see_heap, &all);
    nm_watch_devices(watch, see_device, &all);
    nm_watch_steps(watch, see_step, &all);
    nm_watch_definitions(watch, see_definition, &all);
    nm_replay_each_live(nm_watch_replay(watch), see_live, &all);
    return all;
}

static bool is_text(nm_bytes bytes, const char *text)
{
    return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

START_TEST(heaps_have_their_sums_and_names)
{
    seen all;

    watch_text(TRACE);
    all = look();
    ck_assert_uint_eq(all.heap_count, 3);
    ck_assert(is_text(all.heaps[1].name, "cache"));
    ck_assert_int_eq(all.heaps[1].pid, 100);
    ck_assert_int_eq(all.heaps[1].device_number, 4);
    ck_assert_uint_eq(all.heaps[1].capacity_bytes, 1000);
    ck_assert_uint_eq(all.heaps[1].now.live_bytes, 128);
    ck_assert_uint_eq(all.heaps[1].now.live_count, 1);
    ck_assert_uint_eq(all.heaps[1].now.peak_bytes, 192);
    ck_assert_uint_eq(all.heaps[1].now.reserved_bytes, 512);
    ck_assert_uint_eq(all.heaps[1].now.allocation_count, 2);
    ck_assert_uint_eq(all.heaps[1].now.free_count, 1);
    ck_assert_int_eq(all.heaps[2].device_number, NM_UNKNOWN_NUMBER);
    ck_assert_int_eq(all.heaps[2].pid, 200);
    ck_assert_uint_eq(all.definition_count, 8);
}
END_TEST

START_TEST(what_is_live_is_shown_once)
{
    uint64_t bytes = 0;
    seen all;

    watch_text(TRACE);
    all = look();
    ck_assert_uint_eq(all.live_count, 3);
    for (size_t i = 0; i < all.live_count; i++)
        bytes += all.live[i].size_bytes;
    ck_assert_uint_eq(bytes, 512 + 128 + 11);
}
END_TEST

START_TEST(the_last_sample_and_the_last_step_hold)
{
    seen all;

    watch_text(TRACE);
    all = look();
    ck_assert_uint_eq(all.device_count, 1);
    ck_assert_uint_eq(all.devices[0].free_bytes, 400);
    ck_assert_int_eq(all.devices[0].ordinal, 3);
    ck_assert_int_eq(all.devices[0].pid, 100);
    ck_assert_uint_eq(all.step_count, 2);
    ck_assert_int_eq(all.steps[0].number, 8);
    ck_assert_int_eq(all.steps[1].number, 1);
    ck_assert_int_eq(all.steps[1].pid, 200);
}
END_TEST

typedef struct kept_losses {
    nm_event losses[8];
    size_t count;
    uint64_t dropped_count, unreadable_count;
} kept_losses;

static nm_status keep_loss(void *context, const nm_event *event, nm_error *err)
{
    kept_losses *kept = context;

    (void)err;
    if (event->kind == NM_EVENT_LOSS) {
        ck_assert_uint_lt(kept->count, 8);
        kept->losses[kept->count++] = *event;
    }
    if (event->kind == NM_EVENT_KEYFRAME && event->detail == NM_KEYFRAME_BEGIN) {
        kept->dropped_count = event->ended_count;
        kept->unreadable_count = event->miss_count;
    }
    return NM_OK;
}

/* Of each thread and cause all that was lost so far, once, up to the last time. */
START_TEST(losses_before_a_keyframe_are_told_in_it)
{
    kept_losses kept = {0};
    nm_error err = {0};

    watch_text("process 1 pid=100\nthread 1 process=1 tid=100\nthread 2 process=1 tid=200\n"
               "@1 loss thread=1 detail=1 number=3 until=5\n"
               "@6 loss thread=2 detail=1 number=10 until=8\n"
               "@9 loss thread=1 detail=1 number=4 until=30\n"
               "@10 loss thread=1 detail=3 number=1 until=12\n"
               "@13 loss thread=1 detail=1 number=1 until=14\n");
    ck_assert_int_eq(nm_watch_keyframe(watch, keep_loss, &kept, &err), NM_OK);
    ck_assert_uint_eq(kept.count, 3);
    ck_assert_uint_eq(kept.losses[0].thread_id, 1);
    ck_assert_int_eq(kept.losses[0].number, 3 + 4 + 1);
    ck_assert_int_eq(kept.losses[0].until_ns, 30);
    ck_assert_uint_eq(kept.losses[1].thread_id, 2);
    ck_assert_int_eq(kept.losses[1].number, 10);
    ck_assert_int_eq(kept.losses[2].number, 1);
    for (size_t i = 0; i < kept.count; i++)
        ck_assert_uint_ne(kept.losses[i].flags & NM_FLAG_REPEAT, 0);
    ck_assert_uint_eq(kept.dropped_count, 18);
    ck_assert_uint_eq(kept.unreadable_count, 1);
}
END_TEST

TEST_SUITE(test_watch)
{
    Suite *suite = suite_create("watch");
    TCase *tests = tcase_create("watch");

    tcase_add_test(tests, heaps_have_their_sums_and_names);
    tcase_add_test(tests, what_is_live_is_shown_once);
    tcase_add_test(tests, the_last_sample_and_the_last_step_hold);
    tcase_add_test(tests, losses_before_a_keyframe_are_told_in_it);
    suite_add_tcase(suite, tests);
    return suite;
}
