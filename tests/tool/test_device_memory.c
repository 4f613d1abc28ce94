/* SPDX-License-Identifier: Apache-2.0
 *
 * What a device's memory is made of, end to end: the torch_npu-like client with a communicator, beside a runtime and
 * another process that hold memory too, in each way to load CANN. View device_memory must be what the program's own books
 * and the device say, and leave nothing unexplained.
 *
 *     test_device_memory NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER
 */
#include <check.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/ask.h"
#include "support/run.h"

#define RUNTIME_BYTES (INT64_C(6) << 20)
#define FOREIGN_BYTES (INT64_C(100) << 20)
#define HCCL_BYTES    (INT64_C(400) << 20)

static const char *recorder, *ingest, *program_folder;
static char folder[64];
static nm_run run;     /* the recorded program's books */
static nm_run printed; /* by npumem-ingest */
static sqlite3 *db;

/* The number after a key of `key value` lines; the test fails without it. */
static int64_t book(const char *key)
{
    size_t length = strlen(key);

    for (const char *line = run_out(&run); line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoll(line + length + 1, NULL, 10);
    ck_abort_msg("no key %s", key);
    return 0;
}

static int64_t bytes_at_end(const char *component)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "SELECT sum(bytes) FROM device_memory WHERE moment_kind = 'end' AND device = 0 AND component = '%s'",
             component);
    return ask(db, sql);
}

/* Runs `program` recorded and loads the trace; ends with close_run. */
static void record(const char *program, const char *environment)
{
    char line[2048];

    snprintf(line, sizeof line, "%s %s --force -o %s/t.zst -- %s/%s", environment, recorder, folder, program_folder,
             program);
    run = run_shell(line, 120);
    ck_assert_msg(run.exit_code == 0, "%s: %d: %s", program, run.exit_code, run_err(&run));
    snprintf(line, sizeof line, "%s --force %s/t.zst", ingest, folder);
    printed = run_shell(line, 120);
    ck_assert_msg(printed.exit_code == 0, "%s: %s", program, run_err(&printed));
    db = ask_open(folder, "t.db");
}

static void close_run(void)
{
    sqlite3_close(db);
    run_free(&run);
    run_free(&printed);
}

#define BESIDE "NPUMEM_CANN_RUNTIME_MIB=6 NPUMEM_CANN_FOREIGN_BYTES=100M"

/* At every moment: the components make what the device says, and nothing of it is unexplained. */
static void assert_adds_up(const char *program)
{
    int64_t moment_count = ask(db, "SELECT count(*) FROM device_memory WHERE component = 'DEVICE USED' AND bytes > 0");
    int64_t wrong_count =
        ask(db, "SELECT count(*) FROM (SELECT 1 FROM device_memory WHERE bytes IS NOT NULL"
                " GROUP BY moment_id, pid, device HAVING sum(CASE component WHEN 'DEVICE USED' THEN -bytes"
                " ELSE bytes END) <> 0)");
    int64_t unexplained_count =
        ask(db, "SELECT count(*) FROM device_memory WHERE component = 'UNEXPLAINED' AND bytes <> 0 AND seq >="
                " (SELECT min(seq) FROM memory_sample)");

    ck_assert_msg(moment_count > 3, "%s: %" PRId64 " moments", program, moment_count);
    ck_assert_msg(wrong_count == 0, "%s: %" PRId64 " moments do not add up", program, wrong_count);
    ck_assert_msg(unexplained_count == 0, "%s: %" PRId64 " moments leave something unexplained", program,
                  unexplained_count);
}

static void assert_end_is_as_booked(const char *program)
{
    int64_t mapped_bytes = book("mapped.live_bytes");

    ck_assert_msg(bytes_at_end("DEVICE USED") == book("device.used_bytes"), "%s", program);
    ck_assert_int_eq(bytes_at_end("HCCL"), HCCL_BYTES);
    ck_assert_int_eq(bytes_at_end("RUNTIME"), RUNTIME_BYTES);
    ck_assert_int_eq(bytes_at_end("OTHER PROCESSES"), FOREIGN_BYTES);
    ck_assert_int_eq(bytes_at_end("POOL"), book("pool.reserved_bytes"));
    ck_assert_int_eq(bytes_at_end("WORKSPACE"), book("workspace.reserved_bytes"));
    ck_assert_int_eq(bytes_at_end("PHYSICAL"), book("physical.live_bytes") - mapped_bytes);
    /* What the program took of the driver and is no pool's; and the rest of its pages. */
    ck_assert_int_eq(bytes_at_end("APP"), book("driver.live_bytes") + mapped_bytes - book("pool.reserved_bytes") -
                                              book("workspace.reserved_bytes"));
    ck_assert_int_eq(bytes_at_end("PAGE ROUNDING"),
                     book("hal.app.page_bytes") - book("driver.live_bytes") - book("physical.live_bytes"));
    ck_assert_int_eq(
        ask(db, "SELECT runtime_bytes FROM device_memory WHERE moment_kind = 'end' AND component = 'HCCL'"),
        book("usage.HCCL.current_bytes"));
    ck_assert_int_eq(ask(db, "SELECT runtime_bytes FROM device_memory WHERE moment_kind = 'end' AND component = 'APP'"),
                     book("usage.APP.current_bytes"));
    ck_assert_int_eq(ask(db, "SELECT max(is_estimate) FROM device_memory WHERE moment_kind = 'end'"), 0);
}

START_TEST(the_torch_client_adds_up_however_cann_is_loaded)
{
    static const char *const programs[] = {
        "torch_like --hccl --loader handle --no-reset",       "torch_like --hccl --loader default --no-reset",
        "torch_like --hccl --loader linked --no-reset",       "torch_like --hccl --loader local --no-reset",
        "torch_like --hccl --loader deepbind --no-reset",     "torch_like_linked --hccl --loader linked --no-reset",
        "torch_like --hccl --task-queue 0 --leak --no-reset", "torch_like --hccl --unit 3000 --layers 7 --no-reset"};
    char program[256];

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (int is_expandable = 0; is_expandable < 2; is_expandable++) {
            snprintf(program, sizeof program, "%s%s", programs[i], is_expandable ? " --expandable" : "");
            record(program, BESIDE);
            assert_adds_up(program);
            assert_end_is_as_booked(program);
            close_run();
        }
}
END_TEST

START_TEST(what_is_closed_is_gone)
{
    record("torch_like --hccl --expandable --close", BESIDE);
    assert_adds_up("closed");
    ck_assert_int_eq(bytes_at_end("HCCL") + bytes_at_end("POOL") + bytes_at_end("WORKSPACE") + bytes_at_end("APP") +
                         bytes_at_end("PHYSICAL") + bytes_at_end("PAGE ROUNDING"),
                     0);
    ck_assert_int_eq(ask(db, "SELECT max(bytes) FROM device_memory WHERE component = 'HCCL'"), HCCL_BYTES);
    close_run();
}
END_TEST

START_TEST(other_programs_add_up_too)
{
    static const char *const programs[] = {"acl_surface", "npu_train", "npu_train_plain"};

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        record(programs[i], BESIDE);
        assert_adds_up(programs[i]);
        close_run();
    }
}
END_TEST

/* A workspace's events say running totals: its blocks fill what the driver gave, so its sums are the allocator's own. */
START_TEST(running_totals_become_blocks)
{
    record("torch_like --task-queue 0 --no-reset", "");
    ck_assert_int_eq(ask(db, "SELECT allocated_bytes FROM heap_total WHERE heap = 'ptaWorkspace'"),
                     book("workspace.allocated_block_bytes"));
    ck_assert_int_eq(ask(db, "SELECT peak_bytes FROM peak WHERE heap = 'ptaWorkspace'"),
                     book("workspace.peak_block_bytes"));
    ck_assert_int_eq(ask(db, "SELECT peak_reserved_bytes FROM peak WHERE heap = 'ptaWorkspace'"),
                     book("workspace.peak_reserved_bytes"));
    ck_assert_int_eq(ask(db, "SELECT peak_stated_reserved_bytes FROM peak WHERE heap = 'ptaCaching'"),
                     book("pool.peak_reserved_bytes"));
    ck_assert_int_eq(ask(db, "SELECT peak_reserved_bytes FROM peak WHERE heap = 'ptaCaching'"),
                     book("pool.peak_reserved_bytes"));
    close_run();
}
END_TEST

/* "about": the device was not asked between the last change of its memory and the next, which is a matter of time. */
START_TEST(the_summary_names_the_components)
{
    record("torch_like --hccl --no-reset", BESIDE);
    ck_assert_msg(strstr(run_out(&printed), "about 548 MiB of 32.0 GiB in use") != NULL ||
                      strstr(run_out(&printed), " 548 MiB of 32.0 GiB in use") != NULL,
                  "%s", run_out(&printed));
    ck_assert_ptr_nonnull(strstr(run_out(&printed), " = 400 MiB HCCL"));
    ck_assert_ptr_nonnull(strstr(run_out(&printed), " 100 MiB other"));
    ck_assert_ptr_null(strstr(run_out(&printed), "unexplained"));
    close_run();
}
END_TEST

static void set_up(void)
{
    run_make_folder(folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

int main(int argc, char **argv)
{
    Suite *suite = suite_create("device memory");
    TCase *tests = tcase_create("end to end");
    SRunner *runner;
    int failed_count;

    if (argc != 4)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    program_folder = argv[3];
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, the_torch_client_adds_up_however_cann_is_loaded);
    tcase_add_test(tests, what_is_closed_is_gone);
    tcase_add_test(tests, other_programs_add_up_too);
    tcase_add_test(tests, running_totals_become_blocks);
    tcase_add_test(tests, the_summary_names_the_components);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
