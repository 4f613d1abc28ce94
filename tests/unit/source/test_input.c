/* SPDX-License-Identifier: Apache-2.0
 *
 * The same bytes come out of a file, a pipe and a gzip file, in pieces of any size, and again after the beginning was gone back to.
 */
#include "source/input.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "support/suites.h"

#define TEXT_BYTES 300000

static uint8_t text[TEXT_BYTES], got[TEXT_BYTES + 1];
static nm_error err;

static void begin(void)
{
    uint32_t state = 1;

    for (size_t i = 0; i < TEXT_BYTES; i++) { /* does not compress below a chunk */
        state = state * 1664525 + 1013904223;
        text[i] = (uint8_t)(state >> 24);
    }
}

static FILE *file_of(const void *data, size_t len)
{
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    fflush(file);
    return file;
}

/* A gzip file of as many members; its bytes in *out. */
static size_t gzip(unsigned member_count, uint8_t *out, size_t size)
{
    size_t len = 0;

    for (unsigned i = 0; i < member_count; i++) {
        size_t from = TEXT_BYTES * i / member_count, to = TEXT_BYTES * (i + 1) / member_count;
        z_stream stream = {.next_in = text + from,
                           .avail_in = (uInt)(to - from),
                           .next_out = out + len,
                           .avail_out = (uInt)(size - len)};

        ck_assert_int_eq(deflateInit2(&stream, 1, Z_DEFLATED, 31, 8, Z_DEFAULT_STRATEGY), Z_OK);
        ck_assert_int_eq(deflate(&stream, Z_FINISH), Z_STREAM_END);
        len = size - stream.avail_out;
        deflateEnd(&stream);
    }
    return len;
}

/* What is read in pieces of `piece` bytes; how it ends in *status. */
static size_t read_all(nm_input *input, size_t piece, nm_status *status)
{
    size_t len = 0, part = piece;

    for (*status = NM_OK; *status == NM_OK && part == piece; len += part) {
        size_t room = piece < sizeof got - len ? piece : sizeof got - len;

        *status = nm_input_read(input, got + len, room, &part, &err);
    }
    return len;
}

static nm_input *open_input(FILE *file)
{
    uint8_t head[64];
    ssize_t len = pread(fileno(file), head, sizeof head, 0);
    nm_input *input = NULL;

    ck_assert_int_eq(nm_input_open(fileno(file), (nm_bytes){head, (size_t)len}, &input, &err), NM_OK);
    return input;
}

static void expect_text(nm_input *input)
{
    static const size_t pieces[] = {TEXT_BYTES + 1, 65536, 4097};
    nm_status status;

    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        ck_assert_uint_eq(read_all(input, pieces[i], &status), TEXT_BYTES);
        ck_assert_int_eq(status, NM_OK);
        ck_assert_mem_eq(got, text, TEXT_BYTES);
        ck_assert(!nm_input_is_cut(input));
        ck_assert_uint_eq(nm_input_position(input), nm_input_size(input));
        ck_assert_int_eq(nm_input_rewind(input, &err), NM_OK);
        ck_assert_uint_eq(nm_input_position(input), 0);
    }
}

START_TEST(a_file_and_a_gzip_file_of_it_are_the_same)
{
    static uint8_t packed[TEXT_BYTES * 2];

    for (unsigned members = 0; members <= 3; members++) {
        size_t len = members == 0 ? TEXT_BYTES : gzip(members, packed, sizeof packed);
        FILE *file = file_of(members == 0 ? text : packed, len);
        nm_input *input = open_input(file);

        expect_text(input);
        ck_assert_int_eq(nm_input_unpack(input, &err), NM_OK);
        ck_assert_uint_eq(nm_input_size(input), TEXT_BYTES);
        expect_text(input);
        nm_input_close(input);
        fclose(file);
    }
}
END_TEST

START_TEST(a_pipe_can_be_gone_back_in)
{
    int ends[2];
    nm_input *input = NULL;

    ck_assert_int_eq(pipe(ends), 0);
    ck_assert_int_eq(write(ends[1], text, 5000), 5000);
    close(ends[1]);
    ck_assert_int_eq(read(ends[0], got, 100), 100); /* the head */
    ck_assert_int_eq(nm_input_open(ends[0], (nm_bytes){text, 100}, &input, &err), NM_OK);
    for (int i = 0; i < 2; i++) {
        nm_status status;

        ck_assert_uint_eq(read_all(input, 777, &status), 5000);
        ck_assert_mem_eq(got, text, 5000);
        ck_assert_int_eq(nm_input_rewind(input, &err), NM_OK);
    }
    nm_input_close(input);
    close(ends[0]);
}
END_TEST

/* A process of its own writes `count` copies of `data` into a pipe, of which the head is read here. */
static int pipe_of(const uint8_t *data, size_t len, unsigned count, uint8_t *head, size_t head_len)
{
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    if (fork() == 0) {
        close(ends[0]);
        for (unsigned i = 0; i < count; i++)
            for (size_t at = 0, more = 1; at < len && more > 0; at += more) {
                ssize_t written = write(ends[1], data + at, len - at);

                more = written > 0 ? (size_t)written : 0;
            }
        _exit(0);
    }
    close(ends[1]);
    for (size_t at = 0; at < head_len;) {
        ssize_t part = read(ends[0], head + at, head_len - at);

        ck_assert_int_gt(part, 0);
        at += (size_t)part;
    }
    return ends[0];
}

START_TEST(a_pipe_that_is_read_once_goes_back_to_its_beginning_and_is_not_copied)
{
    static uint8_t packed[TEXT_BYTES * 2];
    uint8_t head[100];
    nm_status status;

    setenv("TMPDIR", "/proc", 1); /* no file can be made there */
    for (unsigned is_packed = 0; is_packed < 2; is_packed++) {
        size_t len = is_packed ? gzip(2, packed, sizeof packed) : TEXT_BYTES;
        int fd = pipe_of(is_packed ? packed : text, len, 1, head, sizeof head);
        nm_input *input = NULL;

        ck_assert_int_eq(nm_input_open_once(fd, (nm_bytes){head, sizeof head}, &input, &err), NM_OK);
        for (size_t look = 50; look <= NM_INPUT_LOOK_BYTES_MAX; look *= 16) {
            size_t part = 0;

            ck_assert_int_eq(nm_input_read(input, got, look, &part, &err), NM_OK);
            ck_assert_uint_eq(part, look);
            ck_assert_mem_eq(got, text, look);
            ck_assert_int_eq(nm_input_rewind(input, &err), NM_OK);
        }
        ck_assert_uint_eq(read_all(input, 4097, &status), TEXT_BYTES);
        ck_assert_mem_eq(got, text, TEXT_BYTES);
        ck_assert_uint_eq(nm_input_size(input), len);
        nm_input_close(input);
        close(fd);
    }
    unsetenv("TMPDIR");
}
END_TEST

START_TEST(a_long_pipe_that_is_read_once_is_read_to_its_end)
{
    uint8_t head[100];
    nm_input *input = NULL;
    int fd = pipe_of(text, TEXT_BYTES, 10, head, sizeof head);

    ck_assert_int_eq(nm_input_open_once(fd, (nm_bytes){head, sizeof head}, &input, &err), NM_OK);
    for (unsigned i = 0; i < 10; i++) {
        size_t part = 0;

        ck_assert_int_eq(nm_input_read(input, got, TEXT_BYTES, &part, &err), NM_OK);
        ck_assert_uint_eq(part, TEXT_BYTES);
        ck_assert_mem_eq(got, text, TEXT_BYTES);
    }
    size_t part = 1;
    ck_assert_int_eq(nm_input_read(input, got, 1, &part, &err), NM_OK);
    ck_assert_uint_eq(part, 0);
    nm_input_close(input);
    close(fd);
}
END_TEST

typedef struct told {
    unsigned count;
    uint64_t position, size;
} told;

static void take_told(void *context, uint64_t position, uint64_t size)
{
    told *all = context;

    ck_assert_uint_gt(position, all->position);
    *all = (told){all->count + 1, position, size};
}

/* Ten pieces of 300,000 bytes: every MiB is passed in one of them, and what comes behind it is told with that piece. */
START_TEST(who_watches_is_told_every_mebibyte)
{
    FILE *file = file_of(text, TEXT_BYTES);
    told all = {0};

    for (unsigned i = 1; i < 10; i++)
        ck_assert_uint_eq(fwrite(text, 1, TEXT_BYTES, file), TEXT_BYTES);
    fflush(file);
    nm_input *input = open_input(file);
    nm_input_watch(take_told, &all);
    for (unsigned i = 0; i < 10; i++) {
        size_t part = 0;

        ck_assert_int_eq(nm_input_read(input, got, TEXT_BYTES, &part, &err), NM_OK);
    }
    ck_assert_uint_eq(all.count, 2);
    ck_assert_uint_eq(all.position, 8 * TEXT_BYTES);
    ck_assert_uint_eq(all.size, 10 * TEXT_BYTES);
    nm_input_watch(NULL, NULL);
    ck_assert_int_eq(nm_input_rewind(input, &err), NM_OK);
    nm_status status;
    read_all(input, 1 << 16, &status);
    ck_assert_uint_eq(all.count, 2);
    nm_input_close(input);
    fclose(file);
}
END_TEST

START_TEST(what_is_cut_gives_what_is_in_front_and_what_is_damaged_its_byte)
{
    static uint8_t packed[TEXT_BYTES * 2];
    size_t len = gzip(1, packed, sizeof packed);
    FILE *file = file_of(packed, len / 2);
    nm_input *input = open_input(file);
    nm_status status;

    size_t there = read_all(input, 1000, &status);
    ck_assert_int_eq(status, NM_OK);
    ck_assert(nm_input_is_cut(input));
    ck_assert_uint_gt(there, TEXT_BYTES / 4);
    ck_assert_mem_eq(got, text, there);
    nm_input_close(input);
    fclose(file);

    packed[len - 8] ^= 0xff; /* its checksum */
    file = file_of(packed, len);
    input = open_input(file);
    read_all(input, 1000, &status);
    ck_assert_int_eq(status, NM_ERR_FORMAT);
    ck_assert_str_eq(err.text, "the gzip file is damaged");
    nm_input_close(input);
    fclose(file);
}
END_TEST

/* Zeros, of which a gzip file holds a thousand for each of its bytes: 80 MiB are given up, 60 are taken. */
START_TEST(what_holds_much_more_than_its_size_is_not_put_on_a_disk)
{
    static const uint8_t zeros[1 << 20];

    for (unsigned mebibytes = 60; mebibytes <= 80; mebibytes += 20) {
        FILE *file = tmpfile();
        gzFile out = gzdopen(dup(fileno(file)), "wb");

        for (unsigned i = 0; i < mebibytes; i++)
            ck_assert_int_eq(gzwrite(out, zeros, sizeof zeros), sizeof zeros);
        ck_assert_int_eq(gzclose(out), Z_OK);
        nm_input *input = open_input(file);
        nm_status status = nm_input_unpack(input, &err);
        ck_assert_int_eq(status, mebibytes == 60 ? NM_OK : NM_ERR_LIMIT);
        ck_assert(status == NM_OK || strstr(err.text, "holds more than a database of its size can") != NULL);
        nm_input_close(input);
        fclose(file);
    }
}
END_TEST

TEST_SUITE(test_input)
{
    Suite *suite = suite_create("input");
    TCase *tcase = tcase_create("input");

    tcase_add_checked_fixture(tcase, begin, NULL);
    tcase_add_test(tcase, a_file_and_a_gzip_file_of_it_are_the_same);
    tcase_add_test(tcase, a_pipe_can_be_gone_back_in);
    tcase_add_test(tcase, a_pipe_that_is_read_once_goes_back_to_its_beginning_and_is_not_copied);
    tcase_add_test(tcase, a_long_pipe_that_is_read_once_is_read_to_its_end);
    tcase_add_test(tcase, who_watches_is_told_every_mebibyte);
    tcase_add_test(tcase, what_is_cut_gives_what_is_in_front_and_what_is_damaged_its_byte);
    tcase_add_test(tcase, what_holds_much_more_than_its_size_is_not_put_on_a_disk);
    suite_add_tcase(suite, tcase);
    return suite;
}
