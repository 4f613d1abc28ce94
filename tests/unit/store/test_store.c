/* SPDX-License-Identifier: Apache-2.0
 *
 * The store fed by hand: what it makes of rows that name unknown things, of rows out of order, and what it leaves on the
 * disk when it succeeds, fails, or is interrupted.
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/id_set.h"
#include "base/io.h"
#include "store/cleanup.h"
#include "store/publish.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

static char folder[64];
static char path[128];
static nm_error err;

static void make_folder(void)
{
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
}

static void remove_folder(void)
{
    run_remove_folder(folder);
}

static size_t file_count(void)
{
    DIR *entries = opendir(folder);
    size_t count = 0;

    ck_assert_ptr_nonnull(entries);
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries))
        count += entry->d_name[0] != '.';
    closedir(entries);
    return count;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    ck_assert_ptr_nonnull(file);
    fputs(text, file);
    fclose(file);
}

static nm_store *open_store(bool is_forced)
{
    nm_store_options options = {.is_forced = is_forced, .input_fd = -1};
    nm_store *store = NULL;

    ck_assert_msg(nm_store_open(path, &options, &store, &err) == NM_OK, "%s", err.text);
    return store;
}

static void define(nm_store *store, nm_definition definition)
{
    const nm_sink *sink = nm_store_sink(store);

    ck_assert_int_eq(nm_give_definition(sink, &definition, &err), NM_OK);
}

static void define_string(nm_store *store, uint64_t id, const char *text)
{
    define(store, (nm_definition){.kind = NM_DEFINE_STRING, .id = id, .string = {(const uint8_t *)text, strlen(text)}});
}

static void define_process_and_heap(nm_store *store)
{
    define(store, (nm_definition){.kind = NM_DEFINE_PROCESS,
                                  .id = 1,
                                  .process = {.pid = 10,
                                              .rank = NM_UNKNOWN_NUMBER,
                                              .local_rank = NM_UNKNOWN_NUMBER,
                                              .world_size = NM_UNKNOWN_NUMBER,
                                              .run_mode = NM_UNKNOWN_NUMBER,
                                              .begin_ns = NM_NO_TIME}});
    define(store, (nm_definition){.kind = NM_DEFINE_HEAP,
                                  .id = 1,
                                  .heap = {.process_id = 1, .level = NM_LEVEL_DRIVER, .size_basis = NM_BASIS_BLOCK}});
}

static nm_allocation_row allocation(uint64_t id)
{
    return (nm_allocation_row){.allocation_id = id,
                               .heap_id = 1,
                               .address = 0xfffffff000000000ull + id,
                               .size_bytes = id,
                               .alloc_seq = (int64_t)id,
                               .alloc_ns = NM_NO_TIME,
                               .free_requested_seq = NM_NO_SEQ,
                               .free_seq = NM_NO_SEQ,
                               .free_ns = NM_NO_TIME,
                               .is_miss = NM_UNKNOWN_NUMBER,
                               .generation = 3};
}

static nm_status put(nm_store *store, nm_allocation_row row)
{
    const nm_sink *sink = nm_store_sink(store);

    return nm_give_allocation(sink, &row, &err);
}

static void finish_and_publish(nm_store *store)
{
    nm_input_row input = load_whole_input(10);

    ck_assert_msg(nm_store_finish(store, &input, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_store_publish(store, &err) == NM_OK, "%s", err.text);
    nm_store_close(store);
}

START_TEST(rows_in_any_order_are_all_there)
{
    enum { ROWS = 50000 };
    nm_store *store = open_store(false);

    define_process_and_heap(store);
    for (uint64_t index = 0; index < ROWS; index++) /* 7919 is prime to the count: every id once */
        ck_assert_int_eq(put(store, allocation(index * 7919 % ROWS + 1)), NM_OK);
    finish_and_publish(store);

    sqlite3 *db = load_open(path);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM allocation"), ROWS);
    ck_assert_int_eq(load_int(db, "SELECT sum(size_bytes) FROM allocation"), (int64_t)ROWS * (ROWS + 1) / 2);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM allocation WHERE size_bytes <> allocation_id"), 0);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM outstanding"), ROWS);
    sqlite3_close(db);
}
END_TEST

START_TEST(addresses_with_the_top_bit_are_shown_in_full)
{
    nm_store *store = open_store(false);
    char *rows;

    define_process_and_heap(store);
    ck_assert_int_eq(put(store, allocation(1)), NM_OK);
    finish_and_publish(store);
    sqlite3 *db = load_open(path);
    rows = load_rows(db, "SELECT address, alloc_ns, site FROM outstanding");
    ck_assert_str_eq(rows, "0xfffffff000000001|-|(no stack)\n");
    free(rows);
    sqlite3_close(db);
}
END_TEST

START_TEST(unknown_references_become_null_and_are_counted)
{
    nm_store *store = open_store(false);
    nm_allocation_row row = allocation(1);

    define_process_and_heap(store);
    row.stack_id = 77;
    row.thread_id = 78;
    ck_assert_int_eq(put(store, row), NM_OK);
    define(store, (nm_definition){.kind = NM_DEFINE_THREAD, .id = 5, .thread = {.process_id = 99, .tid = 3}});
    finish_and_publish(store);

    sqlite3 *db = load_open(path);
    ck_assert_int_eq(load_int(db, "SELECT unknown_reference_count FROM input"), 3);
    ck_assert_int_eq(load_int(db, "SELECT stack_id IS NULL AND thread_id IS NULL FROM allocation"), 1);
    ck_assert_int_eq(load_int(db, "SELECT process_id IS NULL FROM thread"), 1);
    sqlite3_close(db);
}
END_TEST

START_TEST(a_row_that_is_named_but_never_written_fails_the_load)
{
    nm_store *store = open_store(false);
    nm_input_row input = load_whole_input(1);
    nm_allocation_row row = allocation(1);

    define_process_and_heap(store);
    row.segment_id = 9;
    ck_assert_int_eq(put(store, row), NM_OK);
    ck_assert_int_eq(nm_store_finish(store, &input, &err), NM_ERR_DATABASE);
    ck_assert_ptr_nonnull(strstr(err.text, "allocation 9"));
    nm_store_close(store);
    ck_assert_uint_eq(file_count(), 0);
}
END_TEST

START_TEST(every_code_has_a_word)
{
    nm_store *store = open_store(false);

    finish_and_publish(store);
    sqlite3 *db = load_open(path);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM operation_kind"), NM_RANGE_KIND_MAX + 1);
    ck_assert_int_eq(load_int(db, "SELECT max(kind) FROM operation_kind"), NM_RANGE_KIND_MAX);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM z_operation_source"), NM_SOURCE_QUEUE);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM z_stream_call_kind"), NM_STREAM_CALL_MAX + 1);
    ck_assert_int_eq(load_int(db, "SELECT max(kind) FROM z_stream_call_kind"), NM_STREAM_CALL_MAX);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM z_note_kind"), NM_NOTE_MAX + 1);
    ck_assert_int_eq(load_int(db, "SELECT max(kind) FROM z_note_kind"), NM_NOTE_MAX);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM heap_level"), NM_LEVEL_MAX);
    sqlite3_close(db);
}
END_TEST

/* Sums stay where SQLite can hold them, and a value that stands for NULL is NULL. */
START_TEST(the_largest_values_of_operations_and_calls_are_loaded)
{
    nm_store *store = open_store(false);
    const nm_sink *sink = nm_store_sink(store);
    nm_operation_row operation = {
        .operation_id = 1, .kind = NM_RANGE_OPERATOR, .end_ns = INT64_MAX, .error_code = INT64_MAX};

    define_process_and_heap(store);
    ck_assert_int_eq(nm_give_operation(sink, &operation, &err), NM_OK);
    operation.operation_id = 2;
    ck_assert_int_eq(nm_give_operation(sink, &operation, &err), NM_OK);
    for (uint64_t id = 1; id <= 300; id++) {
        nm_workspace_row workspace = {.workspace_id = id,
                                      .operation_id = 1,
                                      .operation_kind = NM_RANGE_OPERATOR,
                                      .address = UINT64_MAX,
                                      .requested_bytes = UINT64_C(1) << 56,
                                      .is_reused = NM_UNKNOWN_NUMBER};
        nm_stream_call_row call = {
            .stream_call_id = id, .operation_id = 2, .cost_ns = UINT64_C(1) << 56, .error_code = INT64_MIN};
        nm_note_row note = {.note_id = id, .count = UINT32_MAX};

        ck_assert_int_eq(nm_give_workspace(sink, &workspace, &err), NM_OK);
        ck_assert_int_eq(nm_give_stream_call(sink, &call, &err), NM_OK);
        ck_assert_int_eq(nm_give_note(sink, &note, &err), NM_OK);
    }
    finish_and_publish(store);

    sqlite3 *db = load_open(path);
    ck_assert_int_eq(load_int(db, "SELECT requested_bytes FROM z_operation_sum"), INT64_MAX);
    ck_assert_int_eq(load_int(db, "SELECT duration_ns FROM z_operation_sum"), INT64_MAX);
    ck_assert_int_eq(load_int(db, "SELECT cost_ns FROM z_stream_call_sum"), INT64_MAX);
    ck_assert_int_eq(load_int(db, "SELECT error_count FROM z_stream_call_sum"), 0);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM z_stream_call WHERE error_code IS NULL"), 300);
    ck_assert_int_eq(load_int(db, "SELECT unseen_count FROM z_unseen"), UINT32_MAX);
    ck_assert_int_eq(load_int(db, "SELECT note_count FROM completeness"), 300);
    sqlite3_close(db);
}
END_TEST

START_TEST(an_operation_that_is_named_but_never_written_fails_the_load)
{
    nm_store *store = open_store(false);
    nm_input_row input = load_whole_input(1);
    const nm_sink *sink = nm_store_sink(store);
    nm_workspace_row workspace = {.workspace_id = 1, .operation_id = 7};

    ck_assert_int_eq(nm_give_workspace(sink, &workspace, &err), NM_OK);
    ck_assert_int_eq(nm_store_finish(store, &input, &err), NM_ERR_DATABASE);
    ck_assert_ptr_nonnull(strstr(err.text, "operation 7"));
    nm_store_close(store);
}
END_TEST

START_TEST(the_last_definition_holds)
{
    nm_store *store = open_store(false);
    char *rows;

    define_process_and_heap(store);
    define_string(store, 1, "first");
    define(store, (nm_definition){.kind = NM_DEFINE_THREAD, .id = 1, .thread = {.process_id = 1, .tid = 3, .name = 1}});
    define_string(store, 1, "second"); /* the number of a string may be used anew; what was named keeps its name */
    define(store, (nm_definition){.kind = NM_DEFINE_THREAD, .id = 2, .thread = {.process_id = 1, .tid = 4, .name = 1}});
    define(store, (nm_definition){.kind = NM_DEFINE_THREAD, .id = 2, .thread = {.process_id = 1, .tid = 5, .name = 1}});
    finish_and_publish(store);
    sqlite3 *db = load_open(path);
    rows = load_rows(db, "SELECT thread_id, tid, name FROM thread ORDER BY thread_id");
    ck_assert_str_eq(rows, "1|3|first\n2|5|second\n");
    free(rows);
    sqlite3_close(db);
}
END_TEST

START_TEST(nothing_is_left_of_a_store_that_is_not_published)
{
    nm_store *store = open_store(false);

    ck_assert_uint_eq(file_count(), 1);
    nm_store_close(store);
    ck_assert_uint_eq(file_count(), 0);
}
END_TEST

START_TEST(an_output_that_exists_is_kept_without_force)
{
    nm_store_options options = {.input_fd = -1};
    nm_store *store = NULL;
    struct stat before, after;

    write_file(path, "precious");
    stat(path, &before);
    ck_assert_int_eq(nm_store_open(path, &options, &store, &err), NM_ERR_EXISTS);
    stat(path, &after);
    ck_assert_int_eq(before.st_ino, after.st_ino);
    ck_assert_int_eq(after.st_size, 8);
    ck_assert_uint_eq(file_count(), 1);

    finish_and_publish(open_store(true));
    sqlite3 *db = load_open(path);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM process"), 0);
    sqlite3_close(db);
}
END_TEST

START_TEST(an_output_that_appears_meanwhile_is_kept)
{
    nm_store *store = open_store(false);
    nm_input_row input = load_whole_input(1);

    ck_assert_int_eq(nm_store_finish(store, &input, &err), NM_OK);
    write_file(path, "precious");
    ck_assert_int_eq(nm_store_publish(store, &err), NM_ERR_EXISTS);
    nm_store_close(store);
    ck_assert_uint_eq(file_count(), 1);
}
END_TEST

START_TEST(outputs_that_are_no_free_name_are_refused)
{
    static const char *const beside[] = {"-journal", "-wal", "-shm"};
    char other[160];

    for (size_t index = 0; index < 3; index++) {
        snprintf(other, sizeof other, "%s%s", path, beside[index]);
        write_file(other, "");
        ck_assert_int_eq(nm_output_check(path, false, -1, &err), NM_ERR_EXISTS);
        ck_assert_int_eq(nm_output_check(path, true, -1, &err), NM_ERR_EXISTS);
        unlink(other);
    }
    ck_assert_int_eq(nm_output_check(folder, true, -1, &err), NM_ERR_EXISTS);
    ck_assert_int_eq(nm_output_check("/dev/null", true, -1, &err), NM_ERR_EXISTS);
    ck_assert_int_eq(symlink("nowhere", path), 0);
    ck_assert_int_eq(nm_output_check(path, true, -1, &err), NM_ERR_EXISTS);
    unlink(path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_int_eq(nm_output_check(path, true, -1, &err), NM_ERR_EXISTS);
    unlink(path);

    write_file(path, "input");
    int fd = open(path, O_RDONLY);
    ck_assert_int_eq(nm_output_check(path, true, fd, &err), NM_ERR_USAGE);
    close(fd);
}
END_TEST

START_TEST(what_dead_runs_left_is_swept_and_living_ones_are_not)
{
    char dead[160], living[160], other[160];
    pid_t child = fork();

    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    snprintf(dead, sizeof dead, "%s.%ld.tmp", path, (long)child);
    snprintf(living, sizeof living, "%s.%ld.tmp", path, (long)getppid());
    snprintf(other, sizeof other, "%s.%ld.tmp.keep", path, (long)child);
    write_file(dead, "");
    write_file(living, "");
    write_file(other, "");
    nm_output_sweep(path);
    ck_assert_int_ne(access(dead, F_OK), 0);
    ck_assert_int_eq(access(living, F_OK), 0);
    ck_assert_int_eq(access(other, F_OK), 0);
}
END_TEST

START_TEST(a_signal_leaves_nothing)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t index = 0; index < 3; index++) {
        pid_t child = fork();
        int status = 0;

        if (child == 0) {
            nm_cleanup_install();
            define_process_and_heap(open_store(false));
            raise(signals[index]);
            _exit(0);
        }
        waitpid(child, &status, 0);
        ck_assert(WIFSIGNALED(status));
        ck_assert_int_eq(WTERMSIG(status), signals[index]);
        ck_assert_uint_eq(file_count(), 0);
    }
}
END_TEST

static int failing_calls_left;

static int failing_fsync(int fd)
{
    if (failing_calls_left-- == 0) {
        errno = EIO;
        return -1;
    }
    return fsync(fd);
}

static void check_processes(int64_t count)
{
    sqlite3 *db = load_open(path);

    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM process"), count);
    sqlite3_close(db);
    ck_assert_uint_eq(file_count(), 1);
}

START_TEST(a_failed_sync_leaves_the_old_database)
{
    nm_store *store;
    nm_input_row input = load_whole_input(1);

    finish_and_publish(open_store(true));
    store = open_store(true);
    define_process_and_heap(store);
    ck_assert_int_eq(nm_store_finish(store, &input, &err), NM_OK);
    failing_calls_left = 0;
    nm_io.fsync = failing_fsync;
    ck_assert_int_eq(nm_store_publish(store, &err), NM_ERR_IO);
    nm_io.fsync = fsync;
    nm_store_close(store);
    check_processes(0);
}
END_TEST

/* The name is there, only not for certain on the disk: no failure of the database. */
START_TEST(a_failed_sync_of_the_folder_leaves_the_new_database)
{
    nm_store *store = open_store(true);
    nm_input_row input = load_whole_input(1);

    define_process_and_heap(store);
    ck_assert_int_eq(nm_store_finish(store, &input, &err), NM_OK);
    failing_calls_left = 1;
    nm_io.fsync = failing_fsync;
    ck_assert_int_eq(nm_store_publish(store, &err), NM_OK);
    ck_assert_int_eq(nm_output_settle(path, &err), NM_ERR_IO);
    nm_io.fsync = fsync;
    ck_assert_ptr_nonnull(strstr(err.text, "is in its place"));
    nm_store_close(store);
    check_processes(1);
}
END_TEST

START_TEST(identifiers_are_kept_as_a_set)
{
    nm_id_set some = {0}, all = {0};

    ck_assert_int_eq(nm_id_set_add(&some, 1, &err), NM_OK);
    ck_assert_int_eq(nm_id_set_add(&some, 1000, &err), NM_OK);
    ck_assert_int_eq(nm_id_set_add(&all, 1, &err), NM_OK);
    ck_assert(nm_id_set_has(&some, 1000) && !nm_id_set_has(&some, 999) && !nm_id_set_has(&some, 1u << 30));
    ck_assert_uint_eq(nm_id_set_missing(&some, &all), 1000);
    ck_assert_uint_eq(nm_id_set_missing(&all, &some), 0);
    ck_assert_int_eq(nm_id_set_add(&some, UINT64_MAX, &err), NM_ERR_LIMIT);
    nm_id_set_free(&some);
    nm_id_set_free(&all);
}
END_TEST

TEST_SUITE(test_store)
{
    Suite *suite = suite_create("store");
    TCase *tcase = tcase_create("store");

    tcase_set_timeout(tcase, 60);
    tcase_add_checked_fixture(tcase, make_folder, remove_folder);
    tcase_add_test(tcase, rows_in_any_order_are_all_there);
    tcase_add_test(tcase, addresses_with_the_top_bit_are_shown_in_full);
    tcase_add_test(tcase, unknown_references_become_null_and_are_counted);
    tcase_add_test(tcase, a_row_that_is_named_but_never_written_fails_the_load);
    tcase_add_test(tcase, every_code_has_a_word);
    tcase_add_test(tcase, the_largest_values_of_operations_and_calls_are_loaded);
    tcase_add_test(tcase, an_operation_that_is_named_but_never_written_fails_the_load);
    tcase_add_test(tcase, the_last_definition_holds);
    tcase_add_test(tcase, nothing_is_left_of_a_store_that_is_not_published);
    tcase_add_test(tcase, an_output_that_exists_is_kept_without_force);
    tcase_add_test(tcase, an_output_that_appears_meanwhile_is_kept);
    tcase_add_test(tcase, outputs_that_are_no_free_name_are_refused);
    tcase_add_test(tcase, what_dead_runs_left_is_swept_and_living_ones_are_not);
    tcase_add_test(tcase, a_signal_leaves_nothing);
    tcase_add_test(tcase, a_failed_sync_leaves_the_old_database);
    tcase_add_test(tcase, a_failed_sync_of_the_folder_leaves_the_new_database);
    tcase_add_test(tcase, identifiers_are_kept_as_a_set);
    suite_add_tcase(suite, tcase);
    return suite;
}
