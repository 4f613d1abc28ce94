/* SPDX-License-Identifier: Apache-2.0
 *
 * File calls when the system interrupts them, does half of them, or refuses them.
 */
#include "base/io.h"
#include "support/suites.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static nm_io_calls system_calls;
static int call_count;
static char folder[] = "/tmp/test_io.XXXXXX";

static void set_up(void)
{
    system_calls = nm_io;
    call_count = 0;
    memcpy(folder + strlen(folder) - 6, "XXXXXX", 6);
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static void tear_down(void)
{
    char path[128];

    nm_io = system_calls;
    for (char name = 'a'; name <= 'c'; name++) {
        snprintf(path, sizeof path, "%s/%c", folder, name);
        unlink(path);
    }
    rmdir(folder);
}

static const char *path_of(char name)
{
    static char path[2][128];
    static int turn;

    turn = !turn;
    snprintf(path[turn], sizeof path[turn], "%s/%c", folder, name);
    return path[turn];
}

/* Every other call is interrupted, the others do one byte. */
static ssize_t slow_read(int fd, void *data, size_t len)
{
    if (call_count++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return read(fd, data, len > 0);
}

static ssize_t slow_write(int fd, const void *data, size_t len)
{
    if (call_count++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    return write(fd, data, len > 0);
}

static ssize_t full_write(int fd, const void *data, size_t len)
{
    if (call_count++ == 0)
        return write(fd, data, len / 2);
    errno = ENOSPC;
    return -1;
}

static int interrupted_open(const char *path, int flags, mode_t mode)
{
    if (call_count++ == 0) {
        errno = EINTR;
        return -1;
    }
    return open(path, flags, mode);
}

static int refused_fsync(int fd)
{
    (void)fd;
    errno = EIO;
    return -1;
}

START_TEST(interrupted_and_short_calls_are_made_whole)
{
    char back[16] = "";
    size_t got;
    int fd = memfd_create("io", 0);

    nm_io.write = slow_write;
    nm_io.read = slow_read;
    ck_assert_int_eq(nm_io_write(fd, "hello world", 11, NULL), NM_OK);
    lseek(fd, 0, SEEK_SET);
    ck_assert_int_eq(nm_io_read(fd, back, 5, &got, NULL), NM_OK);
    ck_assert_uint_eq(got, 5);
    ck_assert_mem_eq(back, "hello", 5);
    ck_assert_int_eq(nm_io_read(fd, back, sizeof back, &got, NULL), NM_OK);
    ck_assert_uint_eq(got, 6);
    ck_assert_mem_eq(back, " world", 6);
    nm_io_close(fd);
}
END_TEST

START_TEST(a_full_disk_is_said)
{
    nm_error err;
    int fd = memfd_create("io", 0);

    nm_io.write = full_write;
    ck_assert_int_eq(nm_io_write(fd, "hello", 5, &err), NM_ERR_WRITE);
    ck_assert_str_eq(err.text, "cannot write: No space left on device");
    nm_io_close(fd);
}
END_TEST

START_TEST(open_is_retried_and_closes_on_exec)
{
    int fd;

    nm_io.open = interrupted_open;
    ck_assert_int_eq(nm_io_open(path_of('a'), O_CREAT | O_EXCL | O_WRONLY, 0600, &fd, NULL), NM_OK);
    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    nm_io_close(fd);
    ck_assert_int_eq(nm_io_open(path_of('a'), O_CREAT | O_EXCL | O_WRONLY, 0600, &fd, NULL), NM_ERR_EXISTS);
    ck_assert_int_eq(nm_io_open(path_of('b'), O_RDONLY, 0, &fd, NULL), NM_ERR_IO);
    nm_io_close(-1);
}
END_TEST

START_TEST(all_of_a_file_is_read_up_to_the_limit)
{
    nm_buffer out = {0};
    char block[1000];
    int fd = memfd_create("io", 0);

    memset(block, 'x', sizeof block);
    for (int i = 0; i < 300; i++)
        ck_assert_int_eq(nm_io_write(fd, block, sizeof block, NULL), NM_OK);
    lseek(fd, 0, SEEK_SET);
    ck_assert_int_eq(nm_io_read_all(fd, 300000, &out, NULL), NM_OK);
    ck_assert_uint_eq(out.len, 300000);
    lseek(fd, 0, SEEK_SET);
    out.len = 0;
    ck_assert_int_eq(nm_io_read_all(fd, 299999, &out, NULL), NM_ERR_LIMIT);
    nm_buffer_free(&out);
    nm_io_close(fd);
}
END_TEST

START_TEST(a_sync_that_fails_is_said)
{
    int fd;
    nm_error err;

    ck_assert_int_eq(nm_io_open(path_of('a'), O_CREAT | O_WRONLY, 0600, &fd, NULL), NM_OK);
    ck_assert_int_eq(nm_io_sync(fd, &err), NM_OK);
    ck_assert_int_eq(nm_io_sync_folder(path_of('a'), &err), NM_OK);
    nm_io.fsync = refused_fsync;
    ck_assert_int_eq(nm_io_sync(fd, &err), NM_ERR_IO);
    ck_assert_int_eq(nm_io_sync_folder(path_of('a'), &err), NM_ERR_IO);
    ck_assert_str_eq(err.text, "cannot sync: Input/output error");
    nm_io_close(fd);
}
END_TEST

TEST_SUITE(test_io)
{
    Suite *suite = suite_create("io");
    TCase *tests = tcase_create("io");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, interrupted_and_short_calls_are_made_whole);
    tcase_add_test(tests, a_full_disk_is_said);
    tcase_add_test(tests, open_is_retried_and_closes_on_exec);
    tcase_add_test(tests, all_of_a_file_is_read_up_to_the_limit);
    tcase_add_test(tests, a_sync_that_fails_is_said);
    suite_add_tcase(suite, tests);
    return suite;
}
