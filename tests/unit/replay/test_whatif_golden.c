/* SPDX-License-Identifier: Apache-2.0
 *
 * The simulated allocator against the real one: fed with the requests of three real snapshots of torch_npu, it must take
 * the same memory from the driver. The expected figures stand beside the files and were counted by others. Without
 * NPUMEM_SAMPLES_DIR the test is skipped.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/suites.h"
#include "support/whatif_load.h"
#include "whatif/packing.h"
#include "whatif/search.h"

static const char *samples_dir;

typedef struct golden {
    const char *file;
    uint64_t requests, growths, peak_reserved_bytes, reserved_bytes, peak_live_bytes, baseline_bytes;
} golden;

static const golden goldens[] = {
    {"snapshot_no_leak.pkl", 3216, 52, 551550976, 551550976, 471498368, 0},
    {"snapshot_expandable.pkl", 2899, 45, 643825664, 643825664, 597327488, 94326992},
    {"snapshot_with_empty_cache.pkl", 2899, 79, 662700032, 509607936, 597327488, 94326992},
};

static nm_workload *load(const golden *expected)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/torch_npu/%s", samples_dir, expected->file);
    nm_workload *workload = whatif_from_file(path);
    ck_assert_msg(workload != NULL, "%s is missing", path);
    return workload;
}

START_TEST(the_recorded_setting_takes_the_recorded_memory_byte_for_byte)
{
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        const golden *expected = &goldens[i];
        nm_workload *workload = load(expected);
        nm_setting setting = nm_search_recorded_setting(workload);
        nm_sim_result result;
        nm_error err;

        ck_assert_int_eq(nm_simulate(workload, &setting, &(nm_sim_options){NM_WHATIF_UNLIMITED, 0}, &result, &err),
                         NM_OK);
        ck_assert_uint_eq(workload->recorded.request_count, expected->requests);
        ck_assert_uint_eq(workload->recorded.baseline_block_bytes, expected->baseline_bytes);
        ck_assert_uint_eq(workload->recorded.peak_reserved_bytes, expected->peak_reserved_bytes);
        ck_assert_uint_eq(workload->recorded.segment_count, expected->growths);
        ck_assert(result.is_fit);
        ck_assert_uint_eq(result.request_count, expected->requests);
        ck_assert_uint_eq(result.growth_count, expected->growths);
        ck_assert_uint_eq(result.miss_count, expected->growths);
        ck_assert_uint_eq(result.peak_reserved_bytes, expected->peak_reserved_bytes);
        ck_assert_uint_eq(result.reserved_bytes, expected->reserved_bytes);
        ck_assert_uint_eq(result.peak_live_bytes, expected->peak_live_bytes);
        ck_assert(expected->baseline_bytes == 0 || result.is_laid_out);
        nm_workload_free(workload);
    }
}
END_TEST

/* The two runs of one program, one with expandable segments, one without and with emptied caches: each simulated from the
 * other's requests. What differs is how the baseline lay, and the other's flushes. */
START_TEST(the_other_setting_is_foretold_from_a_run_without_it)
{
    nm_workload *plain = load(&goldens[2]);
    nm_setting expandable = {.caching = nm_caching_settings_default(true)};
    nm_sim_result result;
    nm_error err;

    expandable.caching.is_expandable = true;
    ck_assert_int_eq(nm_simulate(plain, &expandable, &(nm_sim_options){NM_WHATIF_UNLIMITED, 0}, &result, &err), NM_OK);
    ck_assert(!result.is_laid_out);
    ck_assert_uint_eq(result.peak_reserved_bytes, goldens[1].peak_reserved_bytes);
    nm_workload_free(plain);
}
END_TEST

START_TEST(the_smallest_device_lies_between_its_bounds)
{
    for (size_t i = 0; i < sizeof goldens / sizeof goldens[0]; i++) {
        nm_workload *workload = load(&goldens[i]);
        nm_setting setting = nm_search_recorded_setting(workload);
        nm_smallest smallest;
        nm_packing packing;
        nm_sim_result result;
        nm_error err;

        ck_assert_int_eq(nm_search_smallest(workload, &setting, 0, &smallest, &err), NM_OK);
        ck_assert_int_eq(nm_packing_find(workload, &packing, &err), NM_OK);
        ck_assert(smallest.is_found);
        ck_assert_uint_le(smallest.device_bytes, goldens[i].peak_reserved_bytes);
        ck_assert_uint_ge(smallest.device_bytes, packing.peak_live_bytes);
        ck_assert_uint_ge(packing.packed_bytes, packing.peak_live_bytes);
        ck_assert_uint_le(packing.packed_bytes, packing.peak_live_bytes / 100 * 101); /* 0.5 % above when written */
        ck_assert_uint_ge(packing.peak_live_bytes, goldens[i].peak_live_bytes);
        uint64_t smaller = smallest.device_bytes - smallest.step_bytes;
        ck_assert_int_eq(nm_simulate(workload, &setting, &(nm_sim_options){smaller, 0}, &result, &err), NM_OK);
        ck_assert(!result.is_fit);
        nm_workload_free(workload);
    }
}
END_TEST

TEST_SUITE(test_whatif_golden)
{
    samples_dir = getenv("NPUMEM_SAMPLES_DIR");
    if (samples_dir == NULL || samples_dir[0] == 0) {
        puts("skipped: NPUMEM_SAMPLES_DIR is not set");
        return NULL;
    }
    Suite *suite = suite_create("whatif_golden");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, the_recorded_setting_takes_the_recorded_memory_byte_for_byte);
    tcase_add_test(tcase, the_other_setting_is_foretold_from_a_run_without_it);
    tcase_add_test(tcase, the_smallest_device_lies_between_its_bounds);
    suite_add_tcase(suite, tcase);
    return suite;
}
