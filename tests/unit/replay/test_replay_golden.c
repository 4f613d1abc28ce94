/* SPDX-License-Identifier: Apache-2.0
 *
 * The three real snapshots against the golden values that stand beside them (computed by an independent replay). They
 * are no part of this project: without NPUMEM_SAMPLES_DIR the test says so and is skipped.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/passes.h"
#include "base/io.h"
#include "replay/replay.h"
#include "source/source.h"
#include "support/row_list.h"
#include "support/suites.h"

static const char *samples_dir;

typedef struct golden {
    const char *file;
    uint64_t events, allocations, misses, baseline_bytes, peak_bytes;
    int64_t peak_seq;
    uint64_t peak_reserved_bytes, outstanding_count, outstanding_bytes, live_bytes, reserved_bytes, free_bytes;
    uint64_t largest_free_bytes;
    double hit_rate, fragmentation_ratio;
} golden;

static const golden goldens[] = {
    {"snapshot_no_leak.pkl", 9700, 3216, 52, 0, 471498368, 2599, 551550976, 0, 0, 0, 551550976, 551550976, 20971520,
     0.983831, 0.961977},
    {"snapshot_expandable.pkl", 8092, 2899, 45, 94326992, 597327488, 7430, 643825664, 325, 314057296, 408384288,
     643825664, 235126784, 143736320, 0.984477, 0.388686},
    {"snapshot_with_empty_cache.pkl", 8180, 2899, 79, 94326992, 597327488, 7498, 662700032, 325, 314057296, 408384288,
     509607936, 93190144, 18614784, 0.972749, 0.800249},
};

static uint64_t event_count;

static void replay_file(const char *file, nm_row_list *list)
{
    char path[4096];
    nm_error err = {0};
    nm_sink sink = nm_row_list_sink(list);
    nm_source *source = NULL;
    nm_replay *replay = NULL;
    nm_source_summary_data summary;
    nm_record record;
    nm_status status;
    int fd = -1;

    snprintf(path, sizeof path, "%s/torch_npu/%s", samples_dir, file);
    ck_assert_msg(nm_io_open(path, O_RDONLY, 0, &fd, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_source_open(fd, &source, &err) == NM_OK, "%s", err.text);
    ck_assert_int_eq(nm_replay_new(&sink, nm_passes, &replay, &err), NM_OK);
    while ((status = nm_source_next(source, &record, &err)) == NM_OK)
        ck_assert_msg(nm_replay_record(replay, &record, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(status == NM_END, "%s", err.text);
    ck_assert_msg(nm_replay_finish(replay, &err) == NM_OK, "%s", err.text);
    nm_source_summary(source, &summary);
    event_count = summary.events_seen;
    nm_replay_free(replay);
    nm_source_close(source);
    nm_io_close(fd);
}

/* The heap with the most allocations is the caching pool. */
static const nm_heap_total_row *pool_of(const nm_row_list *list)
{
    const nm_heap_total_row *best = &list->heap_total.items[0];

    for (size_t i = 1; i < list->heap_total.count; i++)
        if (list->heap_total.items[i].allocation_count > best->allocation_count)
            best = &list->heap_total.items[i];
    return best;
}

static void check_totals(const golden *want, const nm_heap_total_row *pool)
{
    ck_assert_uint_eq(pool->allocation_count, want->allocations);
    ck_assert_uint_eq(pool->baseline_bytes, want->baseline_bytes);
    ck_assert_uint_eq(pool->peak_bytes, want->peak_bytes);
    ck_assert_int_eq(pool->peak_seq, want->peak_seq);
    ck_assert_uint_eq(pool->peak_reserved_bytes, want->peak_reserved_bytes);
    ck_assert_uint_eq(pool->outstanding_count, want->outstanding_count);
    ck_assert_uint_eq(pool->outstanding_bytes, want->outstanding_bytes);
    ck_assert_uint_eq(pool->live_bytes, want->live_bytes);
    ck_assert_uint_eq(pool->reserved_bytes, want->reserved_bytes);
}

static void check_hits(const golden *want, const nm_row_list *list, uint64_t heap_id)
{
    uint64_t allocation_count = 0;
    uint64_t miss_count = 0;

    for (int bucket = 0; bucket < 3; bucket++) {
        const nm_hit_row *hit = nm_row_list_hit(list, heap_id, bucket);

        allocation_count += hit->allocation_count;
        miss_count += hit->miss_count;
    }
    ck_assert_uint_eq(allocation_count, want->allocations);
    ck_assert_uint_eq(miss_count, want->misses);
    ck_assert_double_eq_tol(1 - (double)miss_count / (double)allocation_count, want->hit_rate, 5e-7);
}

static void check_end(const golden *want, const nm_row_list *list, uint64_t heap_id)
{
    const nm_fragmentation_row *end = nm_row_list_figures(list, NM_MOMENT_END, 0, heap_id);
    double free_bytes;

    ck_assert_ptr_nonnull(end);
    ck_assert_uint_eq(end->free_bytes, want->free_bytes);
    ck_assert_uint_eq(end->largest_free_bytes, want->largest_free_bytes);
    ck_assert(!end->is_estimate);
    free_bytes = (double)end->free_bytes;
    ck_assert_double_eq_tol((free_bytes - (double)end->largest_free_bytes) / free_bytes, want->fragmentation_ratio,
                            5e-7);
}

/* The shares of a peak add up to it. */
static void check_peak_stacks(const nm_row_list *list, const nm_heap_total_row *pool)
{
    uint64_t bytes = 0;
    uint64_t count = 0;

    for (size_t i = 0; i < list->peak_stack.count; i++)
        if (list->peak_stack.items[i].heap_id == pool->heap_id) {
            bytes += list->peak_stack.items[i].live_bytes;
            count += list->peak_stack.items[i].live_count;
        }
    ck_assert_uint_eq(bytes, pool->peak_bytes);
    ck_assert_uint_eq(count, pool->peak_live_count);
}

START_TEST(a_snapshot_gives_its_golden_values)
{
    const golden *want = &goldens[_i];
    nm_row_list list = {0};
    const nm_heap_total_row *pool;

    replay_file(want->file, &list);
    ck_assert_uint_eq(event_count, want->events);
    pool = pool_of(&list);
    check_totals(want, pool);
    check_hits(want, &list, pool->heap_id);
    check_end(want, &list, pool->heap_id);
    check_peak_stacks(&list, pool);
    ck_assert_uint_eq(list.anomaly.count, 0);
    nm_row_list_free(&list);
}
END_TEST

TEST_SUITE(test_replay_golden)
{
    Suite *suite;
    TCase *tests;

    samples_dir = getenv("NPUMEM_SAMPLES_DIR");
    if (samples_dir == NULL || samples_dir[0] == '\0') {
        printf("skipped: NPUMEM_SAMPLES_DIR does not name the folder with the samples\n");
        return NULL;
    }
    suite = suite_create("replay_golden");
    tests = tcase_create("golden");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, a_snapshot_gives_its_golden_values, 0, (int)(sizeof goldens / sizeof goldens[0]));
    suite_add_tcase(suite, tests);
    return suite;
}
