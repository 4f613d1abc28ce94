/* SPDX-License-Identifier: Apache-2.0
 *
 * A program on a pool of CANN's own, recorded and asked about: its blocks are known to the byte, what the pool takes of the
 * device is not, and nothing is said of that as if it were nothing.
 *
 *     test_cann_pool NPUMEM_RECORD NPUMEM_INGEST NPUMEM_CHECK PROGRAM
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/run.h"

#define MIB 1048576

static const char *recorder, *ingest, *checker, *program;
static char folder[64];

/* Runs the program plainly and recorded, which must be the same to see. *summary: what npumem-ingest prints. */
static sqlite3 *record_and_ingest(const char *environment, const char *argument, const char *steps, nm_run *summary)
{
    char command[1024];

    snprintf(command, sizeof command,
             "%s %s %s >%s/plain && %s %s --quiet --force -o %s/t.zst -- %s %s >%s/told && cmp %s/plain %s/told"
             " && %s --force %s -o %s/t.db %s/t.zst",
             environment, program, argument, folder, environment, recorder, folder, program, argument, folder, folder,
             folder, ingest, steps, folder, folder);
    *summary = run_shell(command, 60);
    ck_assert_msg(summary->exit_code == 0, "%s%s", run_out(summary), run_err(summary));
    return ask_open(folder, "t.db");
}

static int check_with(const char *rule)
{
    char command[512];
    nm_run run;
    int exit_code;

    snprintf(command, sizeof command, "%s %s %s/t.db", checker, rule, folder);
    run = run_shell(command, 60);
    exit_code = run.exit_code;
    run_free(&run);
    return exit_code;
}

/* The program's blocks: 4 MiB of weights, and in ten steps 100 B, 1 MiB and 5 MiB. */
START_TEST(its_blocks_are_known_to_the_byte)
{
    nm_run summary;
    sqlite3 *db = record_and_ingest("", "", "--step-at begin_step", &summary);

    ck_assert_int_eq(ask(db, "SELECT peak_bytes FROM peak WHERE level = 'pool'"), 10 * MIB + 100);
    ck_assert_int_eq(ask(db, "SELECT allocation_count FROM heap_total WHERE level = 'pool'"), 31);
    ck_assert_int_eq(ask(db, "SELECT free_count FROM heap_total WHERE level = 'pool'"), 31);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM misuse"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM leak"), 0);
    ck_assert_int_eq(ask(db, "SELECT is_complete FROM input"), 1);
    /* Nor has the driver given anything that it could be made of. */
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id) WHERE level <> 'pool'"),
                     0);
    sqlite3_close(db);
    run_free(&summary);
}
END_TEST

START_TEST(what_it_reserved_is_not_known_and_not_judged)
{
    static const char *const unknown[] = {
        "SELECT count(*) FROM peak WHERE level = 'pool' AND coalesce(reserved_at_peak_bytes, peak_reserved_bytes,"
        " peak_fragmentation_ratio, reserved_source) IS NOT NULL",
        "SELECT count(*) FROM heap_total WHERE level = 'pool' AND reserved_bytes IS NOT NULL",
        "SELECT count(*) FROM timeline WHERE level = 'pool' AND reserved_bytes IS NOT NULL",
        "SELECT count(*) FROM fragmentation",
        "SELECT count(*) FROM z_fragmentation_usage",
        "SELECT count(*) FROM pool_hit_rate",
        "SELECT count(*) FROM pool_summary",
        "SELECT count(*) FROM z_pool_by_step WHERE coalesce(hit_rate, hit_count, miss_count) IS NOT NULL",
        "SELECT count(*) FROM step_total WHERE level = 'pool' AND miss_count IS NOT NULL",
        "SELECT count(*) FROM step_total WHERE step IS NOT NULL AND level = 'pool' AND coalesce(peak_reserved_bytes, "
        "miss_count) IS NOT "
        "NULL",
        "SELECT count(*) FROM health WHERE level = 'pool' AND (value IS NOT NULL OR verdict <> 'unknown')",
    };
    nm_run summary;
    sqlite3 *db = record_and_ingest("", "", "--step-at begin_step", &summary);

    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
        ck_assert_msg(ask(db, unknown[i]) == 0, "%s: %lld", unknown[i], ask(db, unknown[i]));
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM health WHERE measure IN ('fragmentation', 'pool hit rate')"
                             " AND is_partial = 1 AND advice LIKE 'Not judged: %'"),
                     2);
    ck_assert_int_gt(ask(db, "SELECT count(*) FROM z_pool_by_step"), 5);
    ck_assert_ptr_nonnull(
        strstr(run_out(&summary), "not judged  fragmentation, pool hit rate: the pool's reserve is not known"));
    ck_assert_ptr_null(strstr(run_out(&summary), "fragmentation 0.0 %%"));
    ck_assert_ptr_null(strstr(run_out(&summary), "no fault found"));
    sqlite3_close(db);
    run_free(&summary);
}
END_TEST

/* Nothing known is no good news. */
START_TEST(no_gate_of_pools_passes_on_it)
{
    static const char *const rules[] = {"--max-fragmentation 0.5", "--min-hit-rate 0.1", "--max-misses-per-step 1000",
                                        "--max-reserved 30GiB"};
    nm_run summary;

    sqlite3_close(record_and_ingest("", "", "--step-at begin_step", &summary));
    run_free(&summary);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        ck_assert_msg(check_with(rules[i]) == 1, "%s: %d", rules[i], check_with(rules[i]));
    ck_assert_int_eq(check_with("--no-leak"), 0);
}
END_TEST

/* 16 of the pool's 48 MiB are live, the rest is free in it: other processes hold nothing. */
START_TEST(memory_that_is_free_in_it_is_not_taken_for_another_process_s)
{
    nm_run summary;
    sqlite3 *db = record_and_ingest("NPUMEM_CANN_CAPACITY_BYTES=64M", "full", "", &summary);

    ck_assert_int_eq(ask(db, "SELECT count(*) FROM out_of_memory"), 1);
    ck_assert_int_eq(ask(db,
                         "SELECT count(*) FROM out_of_memory WHERE verdict = 'unknown' AND reserved_bytes IS NULL"
                         " AND explanation GLOB 'This process held at least 16.00 MiB of the device''s 64.00 MiB,*'"),
                     1);
    ck_assert_int_eq(
        ask(db, "SELECT bytes FROM z_out_of_memory_component WHERE component = 'POOL' AND is_estimate = 1"), 16 * MIB);
    sqlite3_close(db);
    run_free(&summary);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("cann pool");
    TCase *tests = tcase_create("cann_pool");
    SRunner *runner;
    int failed_count;

    if (argc != 5)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    checker = argv[3];
    program = argv[4];
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, its_blocks_are_known_to_the_byte);
    tcase_add_test(tests, what_it_reserved_is_not_known_and_not_judged);
    tcase_add_test(tests, no_gate_of_pools_passes_on_it);
    tcase_add_test(tests, memory_that_is_free_in_it_is_not_taken_for_another_process_s);
    suite_add_tcase(suite, tests);
    run_make_folder(folder);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count != 0;
}
