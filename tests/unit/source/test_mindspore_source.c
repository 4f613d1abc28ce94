/* SPDX-License-Identifier: Apache-2.0
 *
 * memory_block.csv of MindSpore, built by hand after the columns that its source prints, and what must be delivered of each, by hand
 * too. Then files with bytes changed: whatever comes of them is a stream, and ends. What random programs give is in
 * tests/tool/ingest/mindspore.py.
 */
#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/source.h"
#include "support/seed.h"
#include "support/suites.h"

#define OLD                                                                                                            \
    "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,file_name,line_num,type,producer_task,"      \
    "task_name,node_name,graph_name,user_tasks,\n"
#define NEW                                                                                                            \
    "start_time_stamp,end_time_stamp,device_addr,stream_id,pool_type,size,actual_used_memory,actual_peak_memory,"      \
    "type,task_name,node_name,graph_name,python_stack,is_small,\n"
#define NEVER     "9223372036854775807"
#define LOG_BYTES 65536

static char path[] = "/tmp/npumem_mindspore_XXXXXX";
static char said[LOG_BYTES];
static nm_source_summary_data summary;
static nm_error err;

static void begin(void)
{
    int fd = mkstemp(path);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void end(void)
{
    unlink(path);
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
}

static void write_file(const void *data, size_t len)
{
    FILE *file = fopen(path, "we");

    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(data, 1, len, file), len);
    fclose(file);
}

static void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void note(const char *format, ...)
{
    size_t len = strlen(said);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(said + len, sizeof said - len, format, arguments);
    va_end(arguments);
}

/* Strings, frames and stacks as they are defined; events with their numbers. */
static void note_definition(const nm_definition *definition)
{
    if (definition->kind == NM_DEFINE_STRING)
        note("\"%.*s\"\n", (int)definition->string.len, (const char *)definition->string.data);
    else if (definition->kind == NM_DEFINE_FRAME)
        note("frame s%" PRIu64 " in s%" PRIu64 " line %" PRIu64 "\n", definition->frame.function,
             definition->frame.file, definition->frame.line);
    else if (definition->kind == NM_DEFINE_STACK)
        note("stack f%" PRIu64 " in t%" PRIu64 "\n", definition->stack.frame_id, definition->stack.parent_id);
    else if (definition->kind == NM_DEFINE_HEAP)
        note("heap s%" PRIu64 "\n", definition->heap.name);
}

static void note_event(const nm_event *event)
{
    note("%s%s h%" PRIu64 " %" PRIx64, (event->flags & NM_FLAG_BASELINE) != 0 ? "before " : "",
         event->kind == NM_EVENT_ALLOC  ? "alloc"
         : event->kind == NM_EVENT_FREE ? "free"
                                        : "note",
         event->heap_id, event->address);
    if (event->block_bytes != 0)
        note(" %" PRIu64, event->block_bytes);
    if (event->name_id != 0)
        note(" s%" PRIu64, event->name_id);
    if (event->stack_id != 0)
        note(" t%" PRIu64, event->stack_id);
    if ((event->flags & NM_FLAG_STREAM) != 0)
        note(" on %" PRIu64, event->stream);
    if (event->number != 0)
        note(" #%" PRId64, event->number);
    note("\n");
}

/* Reads all of it, and holds it to the rules of a stream. */
static nm_status read_all(void)
{
    uint64_t defined[NM_DEFINE_KIND_MAX + 1] = {0}, next_seq = 0;
    nm_source *source = NULL;
    nm_record record;
    FILE *file = fopen(path, "re");
    nm_status status = nm_source_open(fileno(file), &source, &err);

    said[0] = 0;
    if (status != NM_OK) {
        fclose(file);
        return status;
    }
    while ((status = nm_source_next(source, &record, &err)) == NM_OK) {
        if (record.kind == NM_RECORD_DEFINITION) {
            ck_assert_uint_eq(record.definition.id, ++defined[record.definition.kind]);
            note_definition(&record.definition);
            continue;
        }
        const nm_event *event = &record.event;
        ck_assert_uint_le(event->heap_id, defined[NM_DEFINE_HEAP]);
        ck_assert_uint_le(event->thread_id, defined[NM_DEFINE_THREAD]);
        ck_assert_uint_le(event->name_id, defined[NM_DEFINE_STRING]);
        ck_assert_uint_le(event->stack_id, defined[NM_DEFINE_STACK]);
        ck_assert_int_eq(event->time_ns, NM_NO_TIME);
        ck_assert_uint_eq(event->seq, next_seq);
        next_seq += (event->flags & NM_FLAG_BASELINE) == 0 && event->kind != NM_EVENT_NOTE;
        note_event(event);
    }
    nm_source_summary(source, &summary);
    nm_source_close(source);
    fclose(file);
    return status;
}

static void expect_stream(const char *text, const char *stream)
{
    write_file(text, strlen(text));
    ck_assert_msg(read_all() == NM_END, "%s", err.text);
    ck_assert_msg(strcmp(said, stream) == 0, "got:\n%s\nexpected:\n%s", said, stream);
}

START_TEST(old_rows_in_any_order_are_told_by_their_operations)
{
    expect_stream(OLD "7," NEVER ",0x2000,1,Ascend,512,a.cc,3,Weight,2,task,Default/w,graph_0,{3-4-},\n"
                      "-1,-1,0x1000,0,,512,a.cc,3,InSideSomas,2,task,Default/s,graph_0,{},\n"
                      "3,7,0x2000,0,Ascend,1024,a.cc,3,Somas,2,task,,graph_0,{},\n"
                      "4,5,0x3000,0,Ascend,2048,,,,,,,,,\n",
                  "\"Ascend\"\n\"Weight\"\n\"Default/w\"\n\"graph_0\"\n\"Somas\"\n\"task\"\n\"workspace\"\n\"npu\"\n"
                  "frame s3 in s4 line 0\nframe s6 in s4 line 0\nstack f1 in t0\nstack f2 in t0\nheap s1\n"
                  "alloc h1 2000 1024 s5 t2 on 0\nalloc h1 3000 2048 s7 on 0\nfree h1 3000\nfree h1 2000\n"
                  "alloc h1 2000 512 s2 t1 on 1\n");
    ck_assert_str_eq(summary.kind, "MindSpore memory_block.csv");
    ck_assert_int_eq(summary.carries.leak, NM_GRADE_EXACT);
    ck_assert_int_eq(summary.carries.fragmentation, NM_GRADE_NONE);
    ck_assert_uint_eq(summary.events_seen, 5);
    ck_assert(summary.is_complete);
}
END_TEST

/* 4,096 bytes were there before; what is stated comes out. A spreadsheet has written it. */
START_TEST(new_rows_have_stacks_and_what_the_pool_held_before)
{
    expect_stream("\xef\xbb\xbf" NEW
                  "1,9.22337E+18,0x1000,,Ascend,512,4608,8192,Other,t,n,g,File:/a.py;Line:7;Function:f|File:/b.py;"
                  "Line:8;Function:g|,0,\r\n"
                  "2,4,0x1200,,Enhanced,512,512,512,Kernel,t,n,g,File:/a.py;Line:7;Function:f,0,\r\n",
                  "\"Ascend\"\n\"f\"\n\"/a.py\"\n\"g\"\n\"/b.py\"\n\"Enhanced\"\n\"Kernel\"\n\"npu\"\n"
                  "frame s2 in s3 line 7\nframe s4 in s5 line 8\nstack f1 in t0\nstack f2 in t1\nheap s1\nheap s6\n"
                  "before alloc h1 4000000000000000 4096\nalloc h1 1000 512 t2\nalloc h2 1200 512 s7 t1\n"
                  "free h2 1200\n");
    ck_assert_int_eq(summary.carries.peak, NM_GRADE_EXACT);
}
END_TEST

/* A comma within a name: the cells behind are others. */
START_TEST(a_stack_that_is_cut_is_none)
{
    expect_stream(NEW "1,4,0x1000,0,,512,512,512,Kernel,t,n,g,File:/a.py;Line:7;Function:f|File:/b,c.py;Line:8;"
                      "Function:g|,0,\n",
                  "\"MindSpore pool\"\n\"Kernel\"\n\"f\"\n\"/a.py\"\n\"n\"\n\"g\"\n\"npu\"\nframe s3 in s4 line 7\n"
                  "frame s5 in s6 line 0\nstack f1 in t0\nstack f2 in t0\nheap s1\nalloc h1 1000 512 s2 t2 on 0\n"
                  "free h1 1000\n");
}
END_TEST

/* Of blocks that lie in one place the first is gone; a row of two states what does not come out, by use and by peak. */
START_TEST(what_does_not_come_out_is_an_estimate)
{
    expect_stream(NEW "1," NEVER ",0x1000,0,A,1024,1024,1024,Other,,,,,0,\n"
                      "2," NEVER ",0x1200,0,A,512,1536,1536,Other,,,,,0,\n",
                  "\"A\"\n\"npu\"\nheap s1\nnote h0 0 s1 #1\nalloc h1 1000 1024 on 0\nfree h1 1000\n"
                  "alloc h1 1200 512 on 0\n");
    ck_assert_int_eq(summary.carries.leak, NM_GRADE_ESTIMATE);
    expect_stream(NEW "1,3,0x1000,0,A,1024,1024,512,Other,,,,,0,\n2,3,0x2000,0,A,1024,2048,2048,Other,,,,,0,\n",
                  "\"A\"\n\"npu\"\nheap s1\nnote h0 0 s1 #1\nalloc h1 1000 1024 on 0\nalloc h1 2000 1024 on 0\n"
                  "free h1 1000\nfree h1 2000\n");
    ck_assert_int_eq(summary.carries.peak, NM_GRADE_ESTIMATE);
}
END_TEST

START_TEST(what_cannot_be_read_is_counted)
{
    expect_stream(OLD "1,2,0x1000,0,A,512,\n1,1,0x1000,0,A,512,\n3,2,0x1000,0,A,512,\n-1,2,0x1000,0,A,512,\n"
                      "5,6,0,0,A,512,\n5,6,0x10,0,A,-512,\n5,6,0xg,0,A,512,\n5,x,0x10,0,A,512,\n5\n",
                  "\"A\"\n\"workspace\"\n\"npu\"\nheap s1\nalloc h1 1000 512 s2 on 0\nfree h1 1000\n");
    ck_assert_uint_eq(summary.events_seen, 10);
    ck_assert_uint_eq(summary.events_damaged, 8);
    ck_assert(!summary.is_complete);
    ck_assert_int_eq(summary.carries.leak, NM_GRADE_ESTIMATE);
    write_file(OLD, sizeof OLD - 1);
    ck_assert_int_eq(read_all(), NM_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "without a block"));
}
END_TEST

static uint64_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % limit;
}

/* A few changes: a byte, a piece twice, a piece gone. */
static size_t change(uint8_t *data, size_t len, size_t room)
{
    static const char likely[] = "0123456789-,:\"|;\nExFL.";

    for (uint32_t i = 1 + random_below(6); i > 0 && len > 40; i--) {
        size_t at = random_below((uint32_t)len), size = 1 + random_below(40);

        size = size < len - at ? size : len - at;
        if (random_below(3) > 0)
            data[at] = random_below(2) ? (uint8_t)random_below(256) : (uint8_t)likely[random_below(sizeof likely - 1)];
        else if (random_below(2) > 0 && len + size <= room)
            memmove(data + at + size, data + at, len - at), len += size;
        else
            memmove(data + at, data + at + size, len - at - size), len -= size;
    }
    return len;
}

START_TEST(a_file_with_other_bytes_is_a_stream_or_an_error)
{
    static char sound[20000] = NEW;
    static uint8_t data[1 << 16];

    for (int i = 10; i < 90; i++)
        snprintf(sound + strlen(sound), 300,
                 "%d,%s%d,0x%d000,%d,P%d,%d,0,%d,Kernel,t,n,g,File:/a.py;Line:%d;Function:f|File:/b.py;Line:8;"
                 "Function:g|,0,\n",
                 i, i % 5 == 0 ? "922337203685477580" : "", i + 1 + i % 7, i % 9, i % 3, i % 2, 512 * (1 + i % 5),
                 9000 * i, i);
    random_state = 88172645463325252u + seed_of_test(1);
    for (unsigned run = 0; run < 1500; run++) {
        memcpy(data, sound, strlen(sound));
        write_file(data, change(data, strlen(sound), sizeof data));
        nm_status status = read_all();
        ck_assert_msg(status == NM_END || status == NM_ERR_FORMAT || status == NM_ERR_LIMIT, "run %u: %s", run,
                      err.text);
    }
}
END_TEST

TEST_SUITE(test_mindspore_source)
{
    Suite *suite = suite_create("mindspore_source");
    TCase *told = tcase_create("told"), *changed = tcase_create("changed");

    tcase_add_checked_fixture(told, begin, end);
    tcase_add_test(told, old_rows_in_any_order_are_told_by_their_operations);
    tcase_add_test(told, new_rows_have_stacks_and_what_the_pool_held_before);
    tcase_add_test(told, a_stack_that_is_cut_is_none);
    tcase_add_test(told, what_does_not_come_out_is_an_estimate);
    tcase_add_test(told, what_cannot_be_read_is_counted);
    suite_add_tcase(suite, told);
    tcase_add_checked_fixture(changed, begin, end);
    tcase_set_timeout(changed, 120);
    tcase_add_test(changed, a_file_with_other_bytes_is_a_stream_or_an_error);
    suite_add_tcase(suite, changed);
    return suite;
}
