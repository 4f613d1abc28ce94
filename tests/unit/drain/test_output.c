/* SPDX-License-Identifier: Apache-2.0
 *
 * The end of the trace file when the disk is full, a pipe whose reader does not read, and the claim on a file.
 */
#include "drain/output.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "support/suites.h"

static char path[64];
static int fd;
static nm_output output;

static void set_up(void)
{
    snprintf(path, sizeof path, "/tmp/test_output.XXXXXX");
    fd = mkostemp(path, O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
}

static void tear_down(void)
{
    close(fd);
    unlink(path);
}

static nm_status append(char byte, size_t len)
{
    char *block = malloc(len);
    nm_error err = {0};

    memset(block, byte, len);
    nm_status status = nm_output_append(&output, (nm_bytes){(uint8_t *)block, len}, &err);
    free(block);
    return status;
}

static bool note(char byte, size_t len)
{
    char text[NM_OUTPUT_RESERVE_BYTES + 1];

    memset(text, byte, sizeof text);
    return nm_output_note(&output, (nm_bytes){(uint8_t *)text, len});
}

/* The file is so many of each letter, in a row: "a100 b20". */
static void expect_file(const char *format)
{
    char was[256] = "", run[32], byte, before = 0;
    size_t count = 0;
    FILE *file = fopen(path, "r");

    for (bool is_more = true; is_more; before = byte, count++) {
        is_more = fread(&byte, 1, 1, file) == 1;
        if ((!is_more || byte != before) && count > 0) {
            snprintf(run, sizeof run, "%s%c%zu", was[0] == 0 ? "" : " ", before, count);
            strcat(was, run);
            count = 0;
        }
    }
    fclose(file);
    ck_assert_str_eq(was, format);
}

static uint64_t bytes_on_disk(void)
{
    struct stat info;

    ck_assert_int_eq(fstat(fd, &info), 0);
    return (uint64_t)info.st_blocks * 512;
}

/* ---- A disk with room for so many bytes ---- */

static uint64_t disk_bytes, kept_bytes;
static int fallocate_errno;

static int keep_room(int to, int mode, off_t offset, off_t len)
{
    (void)to;
    ck_assert_int_eq(mode, FALLOC_FL_KEEP_SIZE);
    errno = fallocate_errno != 0 ? fallocate_errno : ENOSPC;
    if (fallocate_errno != 0 || (uint64_t)(offset + len) > disk_bytes)
        return -1;
    kept_bytes = (uint64_t)(offset + len);
    return 0;
}

static ssize_t write_into_room(int to, const void *data, size_t len)
{
    uint64_t at = (uint64_t)lseek(to, 0, SEEK_CUR), room = kept_bytes > disk_bytes ? kept_bytes : disk_bytes;

    errno = ENOSPC;
    if (at >= room)
        return -1;
    return write(to, data, at + len > room ? room - at : len);
}

static void begin_on_disk(uint64_t bytes, int without_fallocate)
{
    nm_io.fallocate = keep_room;
    nm_io.write = write_into_room;
    disk_bytes = bytes;
    kept_bytes = 0;
    fallocate_errno = without_fallocate;
    nm_output_init(&output, fd);
}

START_TEST(the_reserve_is_behind_the_end_and_given_back)
{
    nm_output_init(&output, fd);
    if (!output.has_reserve) { /* not on this file system */
        nm_output_fini(&output);
        return;
    }
    ck_assert_int_eq(append('a', 5000), NM_OK);
    expect_file("a5000");
    ck_assert_uint_ge(bytes_on_disk(), 5000 + NM_OUTPUT_RESERVE_BYTES);
    nm_output_fini(&output);
    expect_file("a5000");
    ck_assert_uint_lt(bytes_on_disk(), 5000 + NM_OUTPUT_RESERVE_BYTES);
}
END_TEST

START_TEST(a_note_always_finds_room_and_gives_way_to_the_block)
{
    nm_io_calls before = nm_io;

    begin_on_disk(10000, 0);
    ck_assert_int_eq(append('a', 5000), NM_OK);
    ck_assert_int_eq(append('b', 1000), NM_ERR_WRITE); /* with the reserve behind it there is no room */
    ck_assert(output.is_stuck);
    expect_file("a5000");
    ck_assert(note('n', 300));
    expect_file("a5000 n300");
    ck_assert(note('m', 310));
    expect_file("a5000 m310");
    ck_assert(note('n', 290));
    expect_file("a5000 n290");
    ck_assert(!nm_output_retry(&output, true));
    expect_file("a5000 n290");
    ck_assert(!nm_output_retry(&output, false)); /* not yet */
    disk_bytes = 20000;
    ck_assert(nm_output_retry(&output, true));
    expect_file("a5000 b1000");
    ck_assert_int_eq(append('c', 10), NM_OK);
    expect_file("a5000 b1000 c10");
    disk_bytes = 7000;
    ck_assert_int_eq(append('d', 10), NM_ERR_WRITE);
    ck_assert(note('n', NM_OUTPUT_RESERVE_BYTES));
    ck_assert(!note('m', NM_OUTPUT_RESERVE_BYTES + 1));
    disk_bytes = 20000;
    ck_assert(nm_output_retry(&output, true)); /* shorter than the note was */
    expect_file("a5000 b1000 c10 d10");
    disk_bytes = 7000;
    ck_assert_int_eq(append('e', 10), NM_ERR_WRITE);
    ck_assert(note('n', 200));
    nm_output_keep_note(&output);
    nm_output_fini(&output);
    nm_io = before;
    expect_file("a5000 b1000 c10 d10 n200");
}
END_TEST

START_TEST(a_file_system_that_keeps_no_room_has_what_a_failed_block_leaves)
{
    nm_io_calls before = nm_io;

    begin_on_disk(5400, EOPNOTSUPP);
    ck_assert_int_eq(append('a', 5000), NM_OK);
    ck_assert_int_eq(append('b', 1000), NM_ERR_WRITE); /* 400 of it were written */
    expect_file("a5000");
    ck_assert(note('n', 300));
    ck_assert(!note('m', 500));
    expect_file("a5000");
    disk_bytes = 20000;
    ck_assert(nm_output_retry(&output, true));
    expect_file("a5000 b1000");
    nm_output_fini(&output);
    nm_io = before;
}
END_TEST

START_TEST(a_limit_on_the_files_size_leaves_room_for_a_note)
{
    struct rlimit unlimited, limit;

    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &unlimited), 0);
    limit = unlimited;
    limit.rlim_cur = 10000;
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    nm_output_init(&output, fd);
    ck_assert_int_eq(append('a', 5000), NM_OK);
    ck_assert_int_eq(append('b', 1000), NM_ERR_WRITE);
    ck_assert(note('n', 4000));
    setrlimit(RLIMIT_FSIZE, &unlimited);
    expect_file("a5000 n4000");
    nm_output_fini(&output);
}
END_TEST

/* ---- Readers ---- */

START_TEST(a_pipe_takes_what_fits_and_the_rest_waits)
{
    char *got = malloc(300000);
    size_t got_bytes = 0;
    int ends[2];

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0); /* its write end blocks */
    nm_output_init(&output, ends[1]);
    ck_assert_int_eq(append('a', 200000), NM_OK);
    ck_assert(output.is_waiting);
    ck_assert_int_eq(append('b', 100000), NM_OK);
    ck_assert_int_eq(nm_output_push(&output, NULL), NM_OK);
    while (output.is_waiting) {
        ssize_t count = read(ends[0], got + got_bytes, 10000);

        ck_assert_int_gt(count, 0);
        got_bytes += (size_t)count;
        ck_assert_int_eq(nm_output_push(&output, NULL), NM_OK);
    }
    while (got_bytes < 300000)
        got_bytes += (size_t)read(ends[0], got + got_bytes, 300000 - got_bytes);
    ck_assert_uint_eq(output.good_bytes, 300000);
    ck_assert(got[0] == 'a' && got[199999] == 'a' && got[200000] == 'b' && got[299999] == 'b');
    close(ends[0]);
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(append('c', 10), NM_ERR_WRITE);
    ck_assert(output.is_stuck && !output.is_waiting);
    nm_output_fini(&output);
    close(ends[1]);
    free(got);
}
END_TEST

START_TEST(a_fifo_that_nobody_reads_waits_for_its_first_reader)
{
    char fifo[96], text[16] = "";
    int reader, writer;

    snprintf(fifo, sizeof fifo, "%s.fifo", path);
    ck_assert_int_eq(mkfifo(fifo, 0600), 0);
    reader = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    writer = open(fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    close(reader);
    nm_output_init(&output, writer);
    output.awaits_reader = true;
    ck_assert_int_eq(append('a', 5), NM_OK);
    ck_assert(output.is_waiting && output.awaits_reader);
    reader = open(fifo, O_RDONLY | O_CLOEXEC);
    ck_assert_int_eq(nm_output_push(&output, NULL), NM_OK);
    ck_assert(!output.is_waiting && !output.awaits_reader);
    ck_assert_int_eq(read(reader, text, sizeof text), 5);
    ck_assert_str_eq(text, "aaaaa");
    close(reader);
    nm_output_fini(&output);
    close(writer);
    unlink(fifo);
}
END_TEST

/* ---- Claims ---- */

static nm_status try_claim(void)
{
    int other = open(path, O_RDWR | O_CLOEXEC);
    nm_status status = nm_output_claim(other, NULL);

    close(other);
    return status;
}

START_TEST(a_claim_ends_with_its_holder_and_no_program_inherits_it)
{
    int status, ready[2];
    char byte;

    ck_assert_int_eq(pipe(ready), 0);
    pid_t holder = fork();
    if (holder == 0) {
        int held = open(path, O_RDWR | O_CLOEXEC);
        bool is_held = nm_output_claim(held, NULL) == NM_OK;
        pid_t program = fork();

        if (program == 0) {
            execl("/bin/sleep", "sleep", "2", (char *)NULL);
            _exit(1);
        }
        write(ready[1], is_held ? "y" : "n", 1);
        pause();
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'y');
    ck_assert_int_eq(try_claim(), NM_ERR_BUSY);
    usleep(100000); /* the program is one by now */
    kill(holder, SIGKILL);
    waitpid(holder, &status, 0);
    ck_assert_int_eq(try_claim(), NM_OK);
}
END_TEST

TEST_SUITE(test_output)
{
    Suite *suite = suite_create("output");
    TCase *tests = tcase_create("output");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_reserve_is_behind_the_end_and_given_back);
    tcase_add_test(tests, a_note_always_finds_room_and_gives_way_to_the_block);
    tcase_add_test(tests, a_file_system_that_keeps_no_room_has_what_a_failed_block_leaves);
    tcase_add_test(tests, a_limit_on_the_files_size_leaves_room_for_a_note);
    tcase_add_test(tests, a_pipe_takes_what_fits_and_the_rest_waits);
    tcase_add_test(tests, a_fifo_that_nobody_reads_waits_for_its_first_reader);
    tcase_add_test(tests, a_claim_ends_with_its_holder_and_no_program_inherits_it);
    suite_add_tcase(suite, tests);
    return suite;
}
