/* SPDX-License-Identifier: Apache-2.0
 *
 * Three snapshots that torch_npu wrote on real hardware, with the values that an independent replay found in them. What
 * the source delivers is counted again here the slow way, with plain arrays that are searched from end to end. Skipped
 * where the samples are not there.
 */
#include <check.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/snapshot_log.h"
#include "support/suites.h"

#define LIVE_MAX 20000

typedef struct golden {
    const char *file;
    uint64_t events, allocations, misses, baseline_bytes, peak_bytes, peak_event, peak_reserved_bytes;
    uint64_t outstanding_blocks, outstanding_bytes, end_live_bytes, end_reserved_bytes, end_free_bytes;
    uint64_t end_largest_free_bytes;
    double end_fragmentation_ratio;
    uint64_t leak_blocks, leak_bytes; /* of the line of memory_leaks_demo.py that leaks */
} golden;

static const golden samples[] = {
    {"snapshot_no_leak.pkl", 9700, 3216, 52, 0, 471498368, 2599, 551550976, 0, 0, 0, 551550976, 551550976, 20971520,
     0.961977, 0, 0},
    {"snapshot_expandable.pkl", 8092, 2899, 45, 94326992, 597327488, 7430, 643825664, 325, 314057296, 408384288,
     643825664, 235126784, 143736320, 0.388686, 3, 125829120},
    {"snapshot_with_empty_cache.pkl", 8180, 2899, 79, 94326992, 597327488, 7498, 662700032, 325, 314057296, 408384288,
     509607936, 93190144, 18614784, 0.800249, 3, 125829120},
};

typedef struct live_range {
    uint64_t address, bytes, stack_id;
    bool is_driver, is_baseline;
} live_range;

typedef struct recount {
    live_range live[LIVE_MAX];
    size_t count;
    golden values;
    uint64_t live_bytes, reserved_bytes;
    bool last_grew; /* the entry before was driver memory that appeared */
} recount;

static recount counted;

static void forget(bool is_driver, uint64_t address)
{
    for (size_t i = 0; i < counted.count; i++) {
        if (counted.live[i].is_driver != is_driver || counted.live[i].address != address)
            continue;
        if (is_driver)
            counted.reserved_bytes -= counted.live[i].bytes;
        else
            counted.live_bytes -= counted.live[i].bytes;
        counted.live[i] = counted.live[--counted.count];
        return;
    }
    ck_abort_msg("0x%" PRIx64 " is freed and not live", address);
}

static void appear(const nm_event *event, bool is_driver)
{
    bool is_baseline = (event->flags & NM_FLAG_BASELINE) != 0;
    uint64_t bytes = is_driver ? event->block_bytes : event->requested_bytes;
    golden *values = &counted.values;

    ck_assert_uint_lt(counted.count, LIVE_MAX);
    counted.live[counted.count++] = (live_range){event->address, bytes, event->stack_id, is_driver, is_baseline};
    if (is_driver) {
        counted.reserved_bytes += bytes;
        if (counted.reserved_bytes > values->peak_reserved_bytes)
            values->peak_reserved_bytes = counted.reserved_bytes;
        counted.last_grew = true;
        return;
    }
    counted.live_bytes += bytes;
    values->baseline_bytes += is_baseline ? bytes : 0;
    values->allocations += !is_baseline;
    values->misses += !is_baseline && counted.last_grew;
    if (counted.live_bytes > values->peak_bytes) {
        values->peak_bytes = counted.live_bytes;
        values->peak_event = event->seq;
    }
    counted.last_grew = false;
}

static void count_event(const nm_event *event)
{
    bool is_driver = event->heap_id == 1;
    golden *values = &counted.values;

    switch ((nm_event_kind)event->kind) {
    case NM_EVENT_ALLOC:
    case NM_EVENT_MAP:
        appear(event, is_driver);
        break;
    case NM_EVENT_FREE:
        forget(is_driver, event->address);
        counted.last_grew = false;
        break;
    case NM_EVENT_STATE_SEGMENT:
        values->end_reserved_bytes += event->block_bytes;
        break;
    case NM_EVENT_STATE_BLOCK:
        if ((event->flags & NM_FLAG_IDLE) != 0) {
            values->end_free_bytes += event->block_bytes;
            if (event->block_bytes > values->end_largest_free_bytes)
                values->end_largest_free_bytes = event->block_bytes;
        }
        break;
    default:
        counted.last_grew = false;
        break;
    }
    values->events += (event->flags & NM_FLAG_BASELINE) == 0 && event->kind < NM_EVENT_STATE_SEGMENT;
}

/* The innermost frame of a stack stands in the demo's own file. */
static bool is_of_the_demo(const source_log *log, uint64_t stack_id)
{
    const nm_definition *stack = source_log_find(log, NM_DEFINE_STACK, stack_id);
    const nm_definition *frame = stack == NULL ? NULL : source_log_find(log, NM_DEFINE_FRAME, stack->stack.frame_id);

    return frame != NULL && strstr(log->strings[frame->frame.file], "memory_leaks_demo.py") != NULL;
}

static void count_end(const source_log *log)
{
    golden *values = &counted.values;

    values->end_live_bytes = counted.live_bytes;
    ck_assert_uint_eq(counted.reserved_bytes, values->end_reserved_bytes);
    for (size_t i = 0; i < counted.count; i++) {
        const live_range *range = &counted.live[i];

        if (range->is_driver || range->is_baseline)
            continue;
        values->outstanding_blocks++;
        values->outstanding_bytes += range->bytes;
        if (is_of_the_demo(log, range->stack_id)) {
            values->leak_blocks++;
            values->leak_bytes += range->bytes;
        }
    }
    values->end_fragmentation_ratio =
        (double)(values->end_free_bytes - values->end_largest_free_bytes) / (double)values->end_free_bytes;
}

static void check_golden(const golden *expected, const golden *found)
{
    ck_assert_uint_eq(found->events, expected->events);
    ck_assert_uint_eq(found->allocations, expected->allocations);
    ck_assert_uint_eq(found->misses, expected->misses);
    ck_assert_uint_eq(found->baseline_bytes, expected->baseline_bytes);
    ck_assert_uint_eq(found->peak_bytes, expected->peak_bytes);
    ck_assert_uint_eq(found->peak_event, expected->peak_event);
    ck_assert_uint_eq(found->peak_reserved_bytes, expected->peak_reserved_bytes);
    ck_assert_uint_eq(found->outstanding_blocks, expected->outstanding_blocks);
    ck_assert_uint_eq(found->outstanding_bytes, expected->outstanding_bytes);
    ck_assert_uint_eq(found->end_live_bytes, expected->end_live_bytes);
    ck_assert_uint_eq(found->end_reserved_bytes, expected->end_reserved_bytes);
    ck_assert_uint_eq(found->end_free_bytes, expected->end_free_bytes);
    ck_assert_uint_eq(found->end_largest_free_bytes, expected->end_largest_free_bytes);
    ck_assert_double_eq_tol(found->end_fragmentation_ratio, expected->end_fragmentation_ratio, 0.0000005);
    ck_assert_uint_eq(found->leak_blocks, expected->leak_blocks);
    ck_assert_uint_eq(found->leak_bytes, expected->leak_bytes);
}

static const char *samples_folder(void)
{
    const char *folder = getenv("NPUMEM_SAMPLES_DIR");

    return folder != NULL && folder[0] != 0 ? folder : SAMPLES_DIR;
}

START_TEST(a_real_snapshot_gives_its_golden_values)
{
    const golden *expected = &samples[_i];
    source_log log;
    char path[4096];
    int fd;

    snprintf(path, sizeof path, "%s/torch_npu/%s", samples_folder(), expected->file);
    fd = open(path, O_RDONLY);
    ck_assert_msg(fd >= 0, "cannot open %s", path);
    source_log_read(&log, fd);
    close(fd);
    ck_assert_msg(log.status == NM_END, "byte %" PRIu64 ": %s", log.err.offset, log.err.text);
    ck_assert_str_eq(log.summary.kind, "torch_npu snapshot");
    ck_assert_uint_eq(log.summary.events_seen, expected->events);
    ck_assert_uint_eq(log.summary.events_ingested, expected->events);

    counted = (recount){0};
    for (size_t i = 0; i < log.events.count; i++)
        count_event(&log.events.items[i]);
    count_end(&log);
    check_golden(expected, &counted.values);
    source_log_free(&log);
}
END_TEST

TEST_SUITE(test_snapshot_golden)
{
    Suite *suite;
    TCase *tcase;

    if (samples_folder()[0] == 0) {
        printf("skipped: NPUMEM_SAMPLES_DIR is not set\n");
        return NULL;
    }
    suite = suite_create("snapshot_golden");
    tcase = tcase_create("samples");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, a_real_snapshot_gives_its_golden_values, 0, sizeof samples / sizeof samples[0]);
    suite_add_tcase(suite, tcase);
    return suite;
}
