/* SPDX-License-Identifier: Apache-2.0
 *
 * The thread that gets the trace onto the disk: how often it does, that nobody waits for it, and that nothing is forgotten.
 */
#include "drain/syncer.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/clock.h"
#include "support/suites.h"

#define INTERVAL_NS 100000000

static nm_io_calls system_calls;
static char folder[64], paths[2][80];
static int fds[2];
static nm_syncer *syncer;

/* What the disk was asked for: data of either file, and the folder. */
static atomic_uint file_syncs[2], folder_syncs, failing_syncs;
static atomic_int sync_ms;

static bool is_file(int fd, int index)
{
    struct stat asked, known;

    return fstat(fd, &asked) == 0 && fstat(fds[index], &known) == 0 && asked.st_ino == known.st_ino;
}

static int count_data_sync(int fd)
{
    usleep((useconds_t)atomic_load(&sync_ms) * 1000);
    for (int i = 0; i < 2; i++)
        atomic_fetch_add(&file_syncs[i], is_file(fd, i));
    errno = EIO;
    return atomic_load(&failing_syncs) > 0 ? -1 : 0;
}

static int count_folder_sync(int fd)
{
    struct stat info;

    ck_assert_int_eq(fstat(fd, &info), 0);
    atomic_fetch_add(&folder_syncs, S_ISDIR(info.st_mode));
    return 0;
}

static void set_up(void)
{
    nm_error err = {0};

    system_calls = nm_io;
    nm_io.fdatasync = count_data_sync;
    nm_io.fsync = count_folder_sync;
    snprintf(folder, sizeof folder, "/tmp/test_syncer.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    for (int i = 0; i < 2; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%d", folder, i);
        fds[i] = open(paths[i], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        atomic_store(&file_syncs[i], 0);
    }
    atomic_store(&folder_syncs, 0);
    atomic_store(&failing_syncs, 0);
    atomic_store(&sync_ms, 0);
    ck_assert_int_eq(nm_syncer_new(INTERVAL_NS, &syncer, &err), NM_OK);
    ck_assert_int_eq(nm_syncer_file(syncer, fds[0], paths[0], &err), NM_OK);
}

static void tear_down(void)
{
    nm_io = system_calls;
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        unlink(paths[i]);
    }
    rmdir(folder);
}

static void write_for_ms(int ms)
{
    int64_t until_ns = nm_clock_monotonic_ns() + (int64_t)ms * 1000000;

    while (nm_clock_monotonic_ns() < until_ns) {
        nm_syncer_written(syncer);
        usleep(2000);
    }
}

/* A busy machine takes its time. */
static void wait_for_sync(void)
{
    for (int i = 0; i < 300 && atomic_load(&file_syncs[0]) == 0; i++)
        usleep(10000);
    usleep(2 * INTERVAL_NS / 1000);
}

START_TEST(syncs_once_in_each_interval_and_at_the_end)
{
    int64_t begin_ns = nm_clock_monotonic_ns();
    write_for_ms(550);
    unsigned count = atomic_load(&file_syncs[0]);
    ck_assert_uint_ge(count, 2); /* a busy machine is late */
    ck_assert_int_le(((int64_t)count - 1) * INTERVAL_NS, nm_clock_monotonic_ns() - begin_ns);
    ck_assert_uint_eq(atomic_load(&folder_syncs), 1); /* the file was new */
    nm_syncer_written(syncer);
    ck_assert_int_eq(nm_syncer_finish(syncer), 0);
    ck_assert_uint_eq(atomic_load(&file_syncs[0]), count + 1);
    ck_assert_uint_eq(atomic_load(&folder_syncs), 1);
}
END_TEST

START_TEST(what_is_not_written_is_not_synced)
{
    nm_syncer_written(syncer);
    wait_for_sync();
    ck_assert_uint_eq(atomic_load(&file_syncs[0]), 1);
    ck_assert_int_eq(nm_syncer_finish(syncer), 0);
    ck_assert_uint_eq(atomic_load(&file_syncs[0]), 1);
}
END_TEST

START_TEST(a_slow_disk_holds_nobody)
{
    atomic_store(&sync_ms, 500);
    write_for_ms(150); /* it is at it now */
    int64_t begin_ns = nm_clock_monotonic_ns();
    for (int i = 0; i < 1000; i++)
        nm_syncer_written(syncer);
    ck_assert_int_eq(nm_syncer_file(syncer, fds[1], paths[1], NULL), NM_OK);
    ck_assert_int_lt(nm_clock_monotonic_ns() - begin_ns, 200000000);
    atomic_store(&sync_ms, 0);
    nm_syncer_finish(syncer);
}
END_TEST

START_TEST(a_part_is_synced_though_the_next_one_has_begun)
{
    nm_syncer_written(syncer);
    ck_assert_int_eq(nm_syncer_file(syncer, fds[1], paths[1], NULL), NM_OK);
    nm_syncer_written(syncer);
    ck_assert_int_eq(nm_syncer_finish(syncer), 0);
    ck_assert_uint_eq(atomic_load(&file_syncs[0]), 1);
    ck_assert_uint_eq(atomic_load(&file_syncs[1]), 1);
    ck_assert_uint_eq(atomic_load(&folder_syncs), 2);
}
END_TEST

START_TEST(a_part_that_begins_while_all_is_synced_is_synced_in_its_time)
{
    nm_syncer_written(syncer);
    wait_for_sync(); /* and idle */
    ck_assert_int_eq(nm_syncer_file(syncer, fds[1], paths[1], NULL), NM_OK);
    nm_syncer_written(syncer);
    for (int i = 0; i < 300 && atomic_load(&file_syncs[1]) == 0; i++)
        usleep(10000);
    ck_assert_uint_eq(atomic_load(&file_syncs[1]), 1);
    ck_assert_int_eq(nm_syncer_finish(syncer), 0);
}
END_TEST

START_TEST(a_sync_that_fails_is_said_at_the_end)
{
    atomic_store(&failing_syncs, 1);
    nm_syncer_written(syncer);
    wait_for_sync();
    atomic_store(&failing_syncs, 0);
    ck_assert_int_eq(nm_syncer_finish(syncer), EIO);
}
END_TEST

TEST_SUITE(test_syncer)
{
    Suite *suite = suite_create("syncer");
    TCase *tests = tcase_create("syncer");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, syncs_once_in_each_interval_and_at_the_end);
    tcase_add_test(tests, what_is_not_written_is_not_synced);
    tcase_add_test(tests, a_slow_disk_holds_nobody);
    tcase_add_test(tests, a_part_is_synced_though_the_next_one_has_begun);
    tcase_add_test(tests, a_part_that_begins_while_all_is_synced_is_synced_in_its_time);
    tcase_add_test(tests, a_sync_that_fails_is_said_at_the_end);
    suite_add_tcase(suite, tests);
    return suite;
}
