/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of other tools are called by their names, plain and compressed; what is only alike is not. The rows are built after the
 * columns that their writers publish.
 */
#include "source/source.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "support/suites.h"

static const struct {
    const char *content, *said;
} kinds[] = {
    {"Record Index,Timestamp(us),Event,Event Type,Process Id,Thread Id\n", "a dump of msLeaks of 2024"},
    {",,Base,Compare\nName,Device Id,Allocated Memory(byte),Allocated Memory(byte),Diff Memory(byte)\n",
     "a memory_compare of msMemScope"},
    {"\xef\xbb\xbf"
     "Event,Name,Device ID,Base,Compare,Allocated Memory(Byte),Diff Memory(Byte)\n", /* through a spreadsheet */
     "a memory_compare of msMemScope"},
    {"FuncInfo,StartTime(ns),EndTime(ns),Thread Id,Process Id\n", "a python_trace of msMemScope"},
    {"Thread,Time,Action,Pointer,Size,Stream\n1,12:00:00:000001,allocate,0x7f,256,0\n", "a log of RMM"},
    {"time_stamp,task_name,node_name,graph_name,file_name,line_num,\n", "task.csv of MindSpore"},
    {"{\n \"hloModule\":{\"name\":\"m\"}}", "a module of XLA"},
    {"[{\"ph\": \"X\", \"name\": \"aten::mm\"}]", "trace_view.json"},
    {"[[-1, 1, 37888, 7], [5, 2, 512, 1]]", "a memory timeline of torch.profiler"},
    {"v 10250 2\nX ./a.out\nI 1000 7d554d\n", "a recording of heaptrack"},
    {"memray\x00\x0c", "a recording of memray"},
};

static char path[] = "/tmp/npumem_refuse_XXXXXX";
static nm_error err;

static void write_file(const void *data, size_t len)
{
    FILE *file = fopen(path, "we");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    fclose(file);
}

/* What is said of the file, behind "this is ". */
static const char *said(void)
{
    nm_source *source = NULL;
    FILE *file = fopen(path, "re");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(nm_source_open(fileno(file), &source, &err), NM_ERR_FORMAT);
    fclose(file);
    return strncmp(err.text, "this is ", 8) == 0 ? err.text + 8 : err.text;
}

static size_t length_of(size_t i)
{
    return kinds[i].content[0] == 'm' ? 8 : strlen(kinds[i].content); /* memray's has a zero byte in it */
}

static void begin(void)
{
    int fd;

    strcpy(path + strlen(path) - 6, "XXXXXX");
    ck_assert_int_ge(fd = mkstemp(path), 0);
    close(fd);
}

static void end(void)
{
    unlink(path);
}

START_TEST(a_file_of_another_tool_is_called_by_its_name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        write_file(kinds[i].content, length_of(i));
        ck_assert_msg(strncmp(said(), kinds[i].said, strlen(kinds[i].said)) == 0, "%s: %s", kinds[i].content, err.text);
        ck_assert_uint_lt(strlen(err.text), sizeof err.text - 1); /* it is whole */
    }
}
END_TEST

START_TEST(what_is_compressed_is_looked_into)
{
    uint8_t packed[4096];

    for (size_t i = 0; i + 1 < sizeof kinds / sizeof kinds[0]; i++) { /* memray's own is not text */
        gzFile file = gzopen(path, "wb");

        ck_assert_ptr_nonnull(file);
        ck_assert_int_gt(gzwrite(file, kinds[i].content, (unsigned)length_of(i)), 0);
        ck_assert_int_eq(gzclose(file), Z_OK);
        ck_assert_msg(strncmp(said(), kinds[i].said, strlen(kinds[i].said)) == 0, "%s: %s", kinds[i].content, err.text);
        write_file(packed, ZSTD_compress(packed, sizeof packed, kinds[i].content, length_of(i), 1));
        ck_assert_msg(strncmp(said(), kinds[i].said, strlen(kinds[i].said)) == 0, "%s: %s", kinds[i].content, err.text);
    }
    write_file(packed, ZSTD_compress(packed, sizeof packed, "{\"traceEvents\":[]}", 18, 1));
    ck_assert_str_eq(said(), "a trace of torch.profiler, which is read plain or as a gzip file");
    write_file(packed, ZSTD_compress(packed, sizeof packed, "nothing known", 13, 1));
    ck_assert_str_eq(said(), "a zstd file, but not a trace that npumem-record wrote");
    write_file("\x1f\x8b\x08 and damaged", 15);
    ck_assert_str_eq(said(), "a gzip file; decompress it first");
    write_file("\x1f\x8b", 2);
    ck_assert_str_eq(said(), "a gzip file; decompress it first");
}
END_TEST

START_TEST(what_is_only_alike_is_not_called_so)
{
    write_file("ID,Event,Price\n", 15);
    ck_assert_str_eq(said(), "no out-of-memory line in 1 line");
    write_file("a memory of heaptrack\n", 22);
    ck_assert_str_eq(said(), "no out-of-memory line in 1 line");
    write_file("\x01\x02\x03", 3);
    ck_assert_str_eq(said(), "neither a trace nor a memory snapshot begins like this");
    write_file("", 0);
    ck_assert_str_eq(said(), "the file is empty");
}
END_TEST

/* What is another tool's may show far behind the beginning, though all of it may be a log's text. */
START_TEST(more_than_the_first_bytes_of_a_file_is_looked_at)
{
    static const char line[] = "\"traceEvents\": []\n";
    size_t before = (size_t)100 << 10;
    char *text = malloc(before + sizeof line);

    ck_assert_ptr_nonnull(text);
    memset(text, '\n', before);
    memcpy(text + before, line, sizeof line);
    write_file(text, before + strlen(line));
    ck_assert_ptr_nonnull(strstr(said(), "a trace of torch.profiler"));
    free(text);
}
END_TEST

TEST_SUITE(test_refuse)
{
    Suite *suite = suite_create("refuse");
    TCase *cases = tcase_create("other tools");

    tcase_add_checked_fixture(cases, begin, end);
    tcase_add_test(cases, a_file_of_another_tool_is_called_by_its_name);
    tcase_add_test(cases, what_is_compressed_is_looked_into);
    tcase_add_test(cases, what_is_only_alike_is_not_called_so);
    tcase_add_test(cases, more_than_the_first_bytes_of_a_file_is_looked_at);
    suite_add_tcase(suite, cases);
    return suite;
}
