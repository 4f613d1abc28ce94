/* SPDX-License-Identifier: Apache-2.0
 *
 * What the torch_npu-like client says of itself, against a count made at other borders (torch_spy.c), however it loads
 * CANN, in C and in Python. Other tests may then take its books for the truth.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/run.h"

static char folder[64];
static char spy_path[96];

/* The number after a key of `key value` lines; the test fails without it. */
static uint64_t value_of(const char *text, const char *key)
{
    size_t length = strlen(key);

    for (const char *line = text; line && *line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, key, length) == 0 && line[length] == ' ')
            return strtoull(line + length + 1, NULL, 10);
    ck_abort_msg("no key %s", key);
    return 0;
}

static char *read_file(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = calloc(1, 1 << 16);

    ck_assert_msg(in && text, "%s", path);
    ck_assert_uint_gt(fread(text, 1, (1 << 16) - 1, in), 0);
    fclose(in);
    return text;
}

/* Runs with the spy in front; standard output and the spy's report. */
static nm_run run_spied(const char *command, char **report)
{
    char line[1024];
    nm_run run;

    snprintf(line, sizeof line, "LD_PRELOAD=%s TORCH_SPY=%s/spy.txt %s", SPY, folder, command);
    run = run_shell(line, 120);
    ck_assert_msg(run.exit_code == 0, "%s: %d: %s", command, run.exit_code, run_err(&run));
    *report = read_file(spy_path);
    return run;
}

static void assert_same(const char *books, const char *key, const char *report, const char *spied_key)
{
    uint64_t said = value_of(books, key);
    uint64_t counted = value_of(report, spied_key);

    ck_assert_msg(said == counted, "%s is %" PRIu64 ", but %s is %" PRIu64, key, said, spied_key, counted);
}

static void assert_books_are_true(const char *books, const char *report)
{
    assert_same(books, "hal.app.page_bytes", report, "module.33.current_bytes");
    assert_same(books, "hal.app.page_peak_bytes", report, "module.33.peak_bytes");
    assert_same(books, "usage.APP.peak_bytes", report, "module.33.peak_bytes");
    assert_same(books, "mapped.allocation_count", report, "map_count");
    assert_same(books, "mapped.free_count", report, "unmap_count");
    assert_same(books, "device.used_bytes", books, "device.own_bytes");
    assert_same(books, "pool.allocation_count", report, "ptaCaching.alloc_count");
    assert_same(books, "pool.allocated_block_bytes", report, "ptaCaching.alloc_bytes");
    assert_same(books, "pool.free_count", report, "ptaCaching.free_count");
    assert_same(books, "pool.peak_reserved_bytes", report, "ptaCaching.peak_reserved_bytes");
    assert_same(books, "workspace.allocation_count", report, "ptaWorkspace.alloc_count");
    assert_same(books, "workspace.free_count", report, "ptaWorkspace.free_count");
    assert_same(books, "workspace.peak_reserved_bytes", report, "ptaWorkspace.peak_reserved_bytes");
    assert_same(books, "step_count", report, "step_count");
    assert_same(books, "step_count", report, "step_end_count");
    assert_same(books, "mark_count", report, "mark_count");
    ck_assert_uint_eq(value_of(books, "failed_count"), 0);
}

/* The quirks: a domain and a heap for every event, garbage in what is not initialised, running totals as sizes. */
static void assert_events_are_torchs(const char *books, const char *report)
{
    uint64_t event_count = value_of(report, "ptaCaching.alloc_count") + value_of(report, "ptaCaching.free_count");

    ck_assert_uint_eq(value_of(report, "ptaCaching.create_count"), event_count);
    ck_assert_uint_eq(value_of(report, "ptaCaching.heap_count"), event_count);
    ck_assert_uint_eq(value_of(report, "ptaCaching.garbage_count"),
                      event_count + value_of(report, "ptaCaching.alloc_count"));
    ck_assert_uint_eq(value_of(report, "ptaCaching.unknown_free_count"), 0);
    ck_assert_uint_eq(value_of(report, "other.create_count"), 0);
    /* Workspaces of two streams are handed out at a time, and a region's size is the sum of both. */
    ck_assert_uint_gt(value_of(report, "ptaWorkspace.alloc_bytes"), value_of(books, "workspace.allocated_block_bytes"));
}

START_TEST(books_are_true_however_cann_is_loaded)
{
    static const char *const programs[] = {TORCH_LIKE " --loader handle",   TORCH_LIKE " --loader default",
                                           TORCH_LIKE " --loader linked",   TORCH_LIKE " --loader local",
                                           TORCH_LIKE " --loader deepbind", TORCH_LIKE_LINKED " --loader linked"};
    static const char *const options[] = {"", "--expandable --steps 4", "--task-queue 2 --leak",
                                          "--task-queue 0 --hccl", "--expandable --unit 3000 --layers 7"};
    char command[512];

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            char *report;
            nm_run run;

            snprintf(command, sizeof command, "%s %s", programs[i], options[k]);
            run = run_spied(command, &report);
            assert_books_are_true(run_out(&run), report);
            assert_events_are_torchs(run_out(&run), report);
            ck_assert_uint_eq(value_of(run_out(&run), "verified_count"), value_of(run_out(&run), "steps"));
            free(report);
            run_free(&run);
        }
}
END_TEST

START_TEST(without_the_gates_name_no_event_is_told_and_nothing_else_changes)
{
    char *report;
    nm_run spied = run_spied(TORCH_LIKE " --steps 3", &report);
    nm_run plain = run_shell(TORCH_LIKE " --steps 3", 60);
    nm_run again = run_shell(TORCH_LIKE " --steps 3", 60);
    nm_run linked_name;
    char command[512];

    ck_assert_uint_eq(value_of(run_out(&spied), "mstx.is_on"), 1);
    ck_assert_uint_eq(value_of(run_out(&plain), "mstx.is_on"), 0);
    ck_assert_str_eq(run_out(&plain), run_out(&again));
    ck_assert_uint_eq(value_of(run_out(&plain), "pool.allocated_bytes"),
                      value_of(run_out(&spied), "pool.allocated_bytes"));
    /* The name must be the file's own: a link under that name to another file does not open the gate. */
    snprintf(command, sizeof command, "cp %s %s/other.so && ln -sf %s/other.so %s/libascend_kernel_hook.so", SPY,
             folder, folder, folder);
    linked_name = run_shell(command, 10);
    ck_assert_int_eq(linked_name.exit_code, 0);
    run_free(&linked_name);
    snprintf(command, sizeof command, "LD_PRELOAD=%s/libascend_kernel_hook.so %s --steps 3", folder, TORCH_LIKE);
    linked_name = run_shell(command, 60);
    ck_assert_uint_eq(value_of(run_out(&linked_name), "mstx.is_on"), 0);
    run_free(&linked_name);
    run_free(&spied);
    run_free(&plain);
    run_free(&again);
    free(report);
}
END_TEST

START_TEST(a_closed_client_holds_nothing)
{
    static const char *const commands[] = {TORCH_LIKE " --close --hccl", TORCH_LIKE " --close --expandable --steps 3"};

    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        char *report;
        nm_run run = run_spied(commands[i], &report);

        ck_assert_uint_eq(value_of(run_out(&run), "device.used_bytes"), 0);
        ck_assert_uint_eq(value_of(run_out(&run), "pool.live_count"), 0);
        ck_assert_uint_eq(value_of(run_out(&run), "physical.live_count"), 0);
        ck_assert_uint_eq(value_of(run_out(&run), "pinned.live_count"), 0);
        ck_assert_uint_eq(value_of(report, "module.33.current_bytes"), 0);
        assert_same(run_out(&run), "mapped.free_count", report, "map_count");
        free(report);
        run_free(&run);
    }
}
END_TEST

/* The rules of the allocator on sizes worked out by hand: tensors of one layer in a run of one step without extra bytes.
 * A weight of 16,384 bytes and up to 4,095 more plus 32, in steps of 512, is small: all of it comes from one segment. */
START_TEST(small_blocks_share_one_segment_of_two_mebibytes)
{
    nm_run run = run_shell(TORCH_LIKE " --unit 0 --layers 1 --steps 1", 60);
    const char *books = run_out(&run);

    ck_assert_uint_eq(value_of(books, "pool.small.miss_count"), 1);
    ck_assert_uint_eq(value_of(books, "pool.large.allocation_count"), 0);
    ck_assert_uint_eq(value_of(books, "pool.peak_reserved_bytes"), 2 << 20);
    ck_assert_uint_eq(value_of(books, "pool.allocation_count"),
                      6); /* weight, batch, activation, scores, attention, gradient */
    ck_assert_uint_eq(value_of(books, "pool.live_count"), 1);
    ck_assert_uint_eq(value_of(books, "pool.allocated_block_bytes") % 512, 0);
    ck_assert_uint_eq(value_of(books, "op.aclnnAdd.count"), 2);
    ck_assert_uint_eq(value_of(books, "op.aclnnMatmul.workspace_bytes"), 16 << 20);
    ck_assert_uint_eq(value_of(books, "workspace.growth_count"), 3); /* side stream, matmul, attention's larger one */
    run_free(&run);
}
END_TEST

START_TEST(a_hccl_communicator_is_beside_the_pool)
{
    char *report;
    nm_run run = run_spied(TORCH_LIKE " --hccl", &report);

    ck_assert_uint_eq(value_of(report, "module.3.current_bytes"), 400 << 20);
    assert_same(run_out(&run), "hal.hccl.bytes", report, "module.3.current_bytes");
    assert_same(run_out(&run), "usage.HCCL.current_bytes", report, "module.3.current_bytes");
    free(report);
    run_free(&run);
}
END_TEST

START_TEST(what_is_not_the_clients_own_is_on_the_device_all_the_same)
{
    char *report;
    nm_run run;

    setenv("NPUMEM_CANN_RUNTIME_MIB", "6", 1);
    setenv("NPUMEM_CANN_FOREIGN_BYTES", "100M", 1);
    run = run_spied(TORCH_LIKE, &report);
    unsetenv("NPUMEM_CANN_RUNTIME_MIB");
    unsetenv("NPUMEM_CANN_FOREIGN_BYTES");
    ck_assert_uint_eq(value_of(report, "module.7.current_bytes"), 6 << 20);
    assert_same(run_out(&run), "usage.RUNTIME.current_bytes", report, "module.7.current_bytes");
    ck_assert_uint_eq(value_of(run_out(&run), "device.used_bytes"),
                      value_of(run_out(&run), "device.own_bytes") + (106 << 20));
    free(report);
    run_free(&run);
}
END_TEST

START_TEST(wrong_usage_is_refused)
{
    nm_run run = run_shell(TORCH_LIKE " --task-queue 3", 10);

    ck_assert_int_eq(run.exit_code, 2);
    run_free(&run);
    run = run_shell(TORCH_LIKE " --help", 10);
    ck_assert_int_eq(run.exit_code, 0);
    run_free(&run);
}
END_TEST

START_TEST(python_drives_it_through_functions_threads_fork_and_spawn)
{
    static const char *const functions[] = {"attention",      "block", "feed_forward",
                                            "load_in_thread", "train", "train_step"};
    char *report;
    nm_run run = run_spied("python3 " TORCH_LIKE_PY " --steps 3 --expandable", &report);
    nm_run family = run_shell("python3 " TORCH_LIKE_PY " --fork --spawn --steps 2", 120);
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        char key[64];

        snprintf(key, sizeof key, "python.%s.allocation_count", functions[i]);
        sum += value_of(run_out(&run), key);
    }
    ck_assert_uint_eq(sum, value_of(run_out(&run), "pool.allocation_count"));
    assert_books_are_true(run_out(&run), report);
    ck_assert_msg(family.exit_code == 0, "%s", run_err(&family));
    ck_assert_uint_eq(value_of(run_out(&family), "fork.pool.allocated_bytes"),
                      value_of(run_out(&family), "pool.allocated_bytes"));
    ck_assert_uint_eq(value_of(run_out(&family), "spawn.pool.allocated_bytes"),
                      value_of(run_out(&family), "pool.allocated_bytes"));
    free(report);
    run_free(&run);
    run_free(&family);
}
END_TEST

static void set_up(void)
{
    run_make_folder(folder);
    snprintf(spy_path, sizeof spy_path, "%s/spy.txt", folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

int main(void)
{
    Suite *suite = suite_create("torch_like");
    TCase *tests = tcase_create("books");
    SRunner *runner;
    int failed_count;

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, books_are_true_however_cann_is_loaded);
    tcase_add_test(tests, without_the_gates_name_no_event_is_told_and_nothing_else_changes);
    tcase_add_test(tests, a_closed_client_holds_nothing);
    tcase_add_test(tests, small_blocks_share_one_segment_of_two_mebibytes);
    tcase_add_test(tests, a_hccl_communicator_is_beside_the_pool);
    tcase_add_test(tests, what_is_not_the_clients_own_is_on_the_device_all_the_same);
    tcase_add_test(tests, wrong_usage_is_refused);
    if (system("command -v python3 >/dev/null || ! echo 'skipped: no python3 here'") == 0)
        tcase_add_test(tests, python_drives_it_through_functions_threads_fork_and_spawn);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
