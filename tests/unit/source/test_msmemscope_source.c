/* SPDX-License-Identifier: Apache-2.0
 *
 * Dumps of msMemScope, built by hand after the columns that its writer publishes, and what must be delivered of each, by hand too. Then
 * dumps with bytes changed: whatever comes of them is a stream, and ends. What real ones and random programs give is in
 * tests/tool/ingest/msmemscope.py.
 */
#include <check.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/source.h"
#include "support/seed.h"
#include "support/suites.h"

#define HEADER                                                                                                         \
    "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,Call Stack(Python),Call "          \
    "Stack(C)\n"
#define LOG_BYTES 16384

static char path[] = "/tmp/npumem_msmemscope_XXXXXX";
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

/* Events by their shortest names; heaps by their numbers. */
static void note_event(const nm_event *event)
{
    static const char *const kinds[64] = {
        [NM_EVENT_ALLOC] = "alloc",         [NM_EVENT_FREE] = "free",     [NM_EVENT_ALLOC_FAILED] = "failed",
        [NM_EVENT_RESERVED] = "reserved",   [NM_EVENT_MARK] = "mark",     [NM_EVENT_STEP] = "step",
        [NM_EVENT_RANGE_BEGIN] = "begin",   [NM_EVENT_RANGE_END] = "end", [NM_EVENT_NOTE] = "note",
        [NM_EVENT_MEMORY_SAMPLE] = "sample"};

    if ((event->flags & NM_FLAG_BASELINE) != 0)
        note("before ");
    else if (event->kind != NM_EVENT_NOTE)
        note("%" PRId64 " ", event->time_ns);
    note("%s", kinds[event->kind]);
    if (event->heap_id != 0)
        note(" h%" PRIu64, event->heap_id);
    if (event->address != 0)
        note(" %" PRIx64, event->address);
    if (event->block_bytes + event->requested_bytes != 0)
        note(" %" PRIu64, event->block_bytes + event->requested_bytes);
    if (event->total_bytes != 0)
        note(" %" PRIu64 "/%" PRIu64, event->free_bytes, event->total_bytes);
    if (event->number != 0)
        note(" #%" PRId64, event->number);
    note("%s%s\n", (event->flags & NM_FLAG_MISS) != 0 ? " miss" : "", (event->flags & NM_FLAG_HIT) != 0 ? " hit" : "");
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
            continue;
        }
        const nm_event *event = &record.event;
        ck_assert_uint_le(event->heap_id, defined[NM_DEFINE_HEAP]);
        ck_assert_uint_le(event->thread_id, defined[NM_DEFINE_THREAD]);
        ck_assert_uint_le(event->device_id, defined[NM_DEFINE_DEVICE]);
        ck_assert_uint_le(event->name_id, defined[NM_DEFINE_STRING]);
        ck_assert_uint_le(event->stack_id, defined[NM_DEFINE_STACK]);
        ck_assert_uint_eq(event->seq, next_seq);
        next_seq += (event->flags & NM_FLAG_BASELINE) == 0 && event->kind != NM_EVENT_NOTE;
        note_event(event);
    }
    nm_source_summary(source, &summary);
    nm_source_close(source);
    fclose(file);
    return status;
}

static void expect_events(const char *text, const char *events)
{
    write_file(text, strlen(text));
    ck_assert_msg(read_all() == NM_END, "%s", err.text);
    ck_assert_msg(strcmp(said, events) == 0, "got:\n%s\nexpected:\n%s", said, events);
}

/* Two segments; a pool that held 1,024 bytes in 2 MiB before; a row out of order, as it is written when its block is freed. */
#define POOL                                                                                                           \
    HEADER "3,MALLOC,PTA,N/A,1764753365728889300,7,8,0,0x0000100000200000,\"{allocation_id:1,addr:0x0000100000200000," \
           "size:512,total:4194304,used:1536,owner:PTA@model@weight}\",\"/a.py(3): f\n/a.py(9): g\n\",\n"              \
           "1,OP_LAUNCH,ATEN_START,aten.mm,1764753365728889100,7,8,0,N/A,,,\n"                                         \
           "2,MALLOC,HAL,N/A,1764753365728889200,7,8,0,0x0000100000200000,\"{allocation_id:2,"                         \
           "addr:0x0000100000200000,size:2097152}\",,\n"                                                               \
           "5,FREE,PTA,N/A,1764753365728889500,7,8,0,0x0000100000200000,\"{allocation_id:1,"                           \
           "addr:0x0000100000200000,size:512,total:4194304,used:1024}\",,\n"                                           \
           "4,OP_LAUNCH,ATEN_END,aten.mm,1764753365728889400,7,8,0,N/A,,,\n"

START_TEST(a_dump_is_told_in_the_order_of_its_times)
{
    expect_events(POOL, "before alloc h1 4000100000000000 2097152\n"
                        "before alloc h2 4000100000000000 1024\n"
                        "0 begin #1\n100 alloc h1 100000200000 2097152\n200 reserved h2 4194304\n"
                        "200 alloc h2 100000200000 512\n300 end #1\n400 free h2 100000200000\n");
    ck_assert_int_eq(summary.start_realtime_ns, 1764753365728889100);
    ck_assert_str_eq(summary.kind, "msMemScope dump");
    ck_assert_uint_eq(summary.events_seen, 6);
    ck_assert(summary.is_complete);
    ck_assert_int_eq(summary.carries.leak, NM_GRADE_EXACT);
    ck_assert_int_eq(summary.carries.fragmentation, NM_GRADE_EXACT);
    ck_assert_int_eq(summary.carries.device, NM_GRADE_NONE);
}
END_TEST

/* Microseconds under a header of nanoseconds, decimal addresses, signs and other sizes of frees, no device of a free of the
 * driver; two processes that count for themselves; a mark of a spreadsheet, and its commas. */
START_TEST(a_dump_of_april_2025_means_the_same)
{
    expect_events(
        "\xef\xbb\xbf"
        "ID,Event,Event Type,Name,Timestamp(ns),Process Id,Thread Id,Device Id,Ptr,Attr,\r\n"
        "1,SYSTEM,acl init,N/A,1746006014162153,7,7,N/A,N/A,,\r\n"
        "1,SYSTEM,acl init,N/A,1746006014162154,9,9,N/A,N/A,,\r\n"
        "2,MALLOC,HAL,N/A,1746006014162155,7,7,1,4096,\"{addr:4096,size:2097152,owner:,MID:33}\",\r\n"
        "2,MALLOC,HAL,N/A,1746006014162155,9,9,host,4096,\"{addr:4096,size:64,owner:,MID:7}\",\r\n"
        "3,MALLOC,PTA,N/A,1746006014162156,7,7,1,4096,\"{addr:4096,size:512,owner:,total:2097152,used:512}\",\r\n"
        "4,FREE,PTA,N/A,1746006014162157,7,7,1,4096,\"{addr:4096,size:-512,owner:,total:2097152,used:0}\",\r\n"
        "5,FREE,HAL,N/A,1746006014162158,7,7,N/A,4096,\"{addr:4096,size:480,owner:,MID:-1}\",\r\n"
        "3,FREE,HAL,N/A,1746006014162158,9,9,N/A,4096,\"{addr:4096,size:480,owner:,MID:-1}\",\r\n"
        "4,FREE,HAL,N/A,1746006014162159,9,9,N/A,5120,\"{addr:5120,size:480,owner:,MID:-1}\",\r\n",
        "0 mark\n1000 mark\n2000 alloc h1 1000 2097152\n2000 alloc h2 1000 64\n3000 reserved h3 2097152\n"
        "3000 alloc h3 1000 512\n4000 free h3 1000\n5000 free h2 1000\n5000 free h1 1000\n");
}
END_TEST

START_TEST(times_that_a_spreadsheet_rounded_leave_the_order_of_ids)
{
    expect_events(HEADER "3,FREE,PTA,N/A,1.73641E+15,7,8,0,0x100000200000,\"{size:512,total:2097152,used:0}\",,\n"
                         "2,MALLOC,PTA,N/A,1.73641E+15,7,8,0,0x100000200000,\"{size:512,total:2097152,used:512}\",,\n"
                         "1,MSTX,Mark,begin,1.73641E+15,7,8,0,N/A,,,\n",
                  "before alloc h2 100000200000 2097152\n0 mark\n0 reserved h1 2097152\n0 alloc h1 100000200000 512\n0 "
                  "free h1 100000200000\n");
    ck_assert_int_eq(summary.start_realtime_ns, 1736410000000000000);
}
END_TEST

/* A block whose memory nobody saw; one that was there before; one whose free is not in the file. */
START_TEST(what_the_file_leaves_out_is_no_misuse)
{
    expect_events(
        HEADER "1,FREE,PTA,N/A,1764753365728889100,7,8,0,0x100000200000,\"{size:512,total:2097152,used:1024}\",,\n"
               "2,MALLOC,PTA,N/A,1764753365728889200,7,8,0,0x100000200000,\"{size:512,total:2097152,used:1536}\",,\n"
               "3,MALLOC,PTA,N/A,1764753365728889300,7,8,0,0x100000200100,\"{size:512,total:2097152,used:2048}\",,\n"
               "4,MALLOC,PTA,N/A,1764753365728889400,7,8,0,0x100000400000,\"{size:512,total:6291456,used:2560}\",,\n",
        "before alloc h1 100000200000 512\n"
        "before alloc h2 100000200000 4194304\n" /* around blocks of which nothing says where their memory is */
        "before alloc h2 4000000000000000 1024\nbefore alloc h1 4000000000000000 1024\n" /* 1536 less the freed */
        "note #2\n"
        "0 free h1 100000200000\n0 reserved h1 2097152\n100 alloc h1 100000200000 512 hit\n"
        "200 free h1 100000200000\n200 alloc h1 100000200100 512 hit\n300 reserved h1 6291456\n"
        "300 alloc h1 100000400000 512 miss\n");
}
END_TEST

/* Of its pool no row says how much there was: nothing more is told of before. */
START_TEST(a_freed_block_of_a_pool_that_states_nothing_is_all_from_before)
{
    expect_events(HEADER "1,FREE,PTA,N/A,1764753365728889100,7,8,0,0x100000200000,{size:512},,\n",
                  "before alloc h1 100000200000 512\n0 free h1 100000200000\n");
}
END_TEST

/* Steps, ranges, kernels, what the device has, and a request that was refused; the blocks that are listed then are known. */
START_TEST(all_kinds_of_rows_have_their_events)
{
    expect_events(
        HEADER "1,SYSTEM,START_TRACE,N/A,1764753365728889100,7,8,0,N/A,\"{free:60,total:100}\",,\n"
               "2,MSTX,Range_start,step start,1764753365728889200,7,8,0,N/A,,,\n"
               "3,KERNEL_LAUNCH,KERNEL_LAUNCH,mm,1764753365728889300,7,8,0,N/A,\"{streamId:3,taskId:1}\",,\n"
               "4,KERNEL_LAUNCH,KERNEL_START,add,1764753365728889400,7,8,0,N/A,\"{path:a/b}\",,\n"
               "5,KERNEL_LAUNCH,KERNEL_END,add,1764753365728889500,7,8,0,N/A,\"{path:a/b}\",,\n"
               "6,MSTX,Range_end,Range end from id 1,1764753365728889600,7,8,0,N/A,,,\n"
               "7,ACCESS,READ,add,1764753365728889650,7,8,0,0x1000,\"{dtype:x,shape:[1,2]}\",,\n"
               "8,SNAPSHOT,SNAPSHOT,Memory,1764753365728889700,7,8,0,N/A,\"{total_mem:100,free_mem:20}\",,\n"
               "9,OOM_DETAIL,OOM_TRIGGER,OOM_Trigger,1764753365728889800,7,8,0,N/A,"
               "\"{func:halMemAlloc,req_size:77,flag:1,ret:6}\",\"/a.py(3): f\n\",\n"
               "10,OOM_DETAIL,OOM_TOP_ALLOC,OOM_TopAlloc,1764753365728889800,7,8,0,N/A,"
               "\"{pool:PTA,ptr:0x1000,size:5}\",,\n",
        "0 sample 60/100\n100 step #1\n100 begin #1\n200 begin #2\n200 end #2\n300 begin #3\n400 end #3\n500 end #1\n"
        "600 sample 20/100\n700 failed h1 77 20/100\n");
    ck_assert_int_eq(summary.carries.failure, NM_GRADE_EXACT);
    ck_assert_int_eq(summary.carries.leak, NM_GRADE_NONE);
}
END_TEST

START_TEST(the_end_of_an_operator_ends_what_began_in_it)
{
    expect_events(HEADER "1,OP_LAUNCH,ATEN_START,outer,1764753365728889100,7,8,0,N/A,,,\n"
                         "2,OP_LAUNCH,ATEN_START,inner,1764753365728889200,7,8,0,N/A,,,\n"
                         "3,OP_LAUNCH,ATEN_START,other,1764753365728889300,7,9,0,N/A,,,\n"
                         "4,OP_LAUNCH,ATEN_END,outer,1764753365728889400,7,8,0,N/A,,,\n"
                         "5,OP_LAUNCH,ATEN_END,before,1764753365728889500,7,9,0,N/A,,,\n",
                  "0 begin #1\n100 begin #2\n200 begin #3\n300 end #2\n300 end #1\n");
}
END_TEST

START_TEST(what_cannot_be_read_is_counted)
{
    write_file(HEADER "1,MALLOC,PTA,N/A,x,7,8,0,0x2000,\"{size:512}\",,\n"
                      "2,MALLOC,PTA,N/A,1764753365728889200,7,8,0,0x2000,\"{size:0}\",,\n"
                      "3,MALLOC,PTA,N/A,1764753365728889200,7,8,0,0x3000,\"{size:512}\",,\n"
                      "4,MALLOC,PTA,N/A,17647533657",
               strlen(HEADER) + 177);
    ck_assert_int_eq(read_all(), NM_END);
    ck_assert_uint_eq(summary.events_damaged, 2);
    ck_assert_uint_eq(summary.events_seen, 3);
    ck_assert(!summary.is_complete && !summary.is_finished && summary.bytes_cut > 0);
    write_file(HEADER, strlen(HEADER));
    ck_assert_int_eq(read_all(), NM_ERR_FORMAT);
    ck_assert_str_eq(err.text, "a dump of msMemScope without a row that can be read");
}
END_TEST

/* A row of each of so many processes, or of modules of a few. */
static nm_status read_many(unsigned count, bool is_of_processes)
{
    FILE *file = fopen(path, "we");

    ck_assert_ptr_nonnull(file);
    fputs(HEADER, file);
    for (unsigned i = 1; i <= count; i++)
        fprintf(file, "%u,MALLOC,HAL,N/A,1764753365728889200,%u,8,0,0x%x000,\"{size:4096,MID:%u}\",,\n", i,
                is_of_processes ? i : 1 + i / 250, i, is_of_processes ? 33 : i % 250);
    fclose(file);
    return read_all();
}

START_TEST(a_dump_of_what_no_machine_runs_is_refused)
{
    ck_assert_int_eq(read_many(4096, true), NM_END);
    ck_assert_uint_eq(summary.events_ingested, 4096);
    ck_assert_int_eq(read_many(4097, true), NM_ERR_LIMIT);
    ck_assert_str_eq(err.text, "this dump is of more than 4096 processes");
    ck_assert_int_eq(read_many(16384, false), NM_END);
    ck_assert_uint_eq(summary.events_ingested, 16384);
    ck_assert_int_eq(read_many(16385, false), NM_ERR_LIMIT);
    ck_assert_str_eq(err.text, "this dump tells of more than 16384 pools and modules");
}
END_TEST

/* ---- Databases, and bytes that are others ---- */

static void make_database(const char *table)
{
    sqlite3 *db = NULL;
    char *sql = sqlite3_mprintf(
        "PRAGMA page_size = 1024; CREATE TABLE %s(ID INTEGER, \"Event\" TEXT, \"Event Type\" TEXT, \"Name\" TEXT,"
        " \"Timestamp(ns)\" INTEGER, \"Process Id\" INTEGER, \"Thread Id\" INTEGER, \"Device Id\" TEXT, Ptr TEXT, Attr "
        "TEXT);"
        "INSERT INTO %s VALUES(2,'MALLOC','HAL','N/A',1764753365728889200,7,8,'0','4096',"
        " '{\"addr\":\"4096\",\"size\":\"2097152\",\"owner\":\"CANN@APP\"}'),"
        "(3,'MALLOC','PTA','N/A',1764753365728889300,7,8,'0','4096',"
        " '{\"addr\":\"4096\",\"size\":\"512\",\"total\":\"2097152\",\"used\":\"512\"}'),"
        "(4,'FREE','PTA','N/A',1764753365728889400,7,8,'0','4096',"
        " '{\"addr\":\"4096\",\"size\":\"512\",\"total\":\"2097152\",\"used\":\"0\"}')",
        table, table);

    unlink(path);
    ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
    ck_assert_int_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
    sqlite3_free(sql);
}

START_TEST(a_database_of_either_name_says_the_same)
{
    static const char *const tables[] = {"memscope_dump", "leaks_dump"};

    for (int i = 0; i < 2; i++) {
        make_database(tables[i]);
        ck_assert_int_eq(read_all(), NM_END);
        ck_assert_str_eq(said, "0 alloc h1 1000 2097152\n100 reserved h2 2097152\n100 alloc h2 1000 512\n"
                               "200 free h2 1000\n");
    }
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
    static const char likely[] = "0123456789-,:\"{}\nNEx@";

    for (uint32_t i = 1 + random_below(4); i > 0 && len > 40; i--) {
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

static void read_changed(const uint8_t *sound, size_t len, unsigned runs)
{
    static uint8_t data[1 << 16];

    random_state = 88172645463325252u + seed_of_test(1);
    for (unsigned run = 0; run < runs; run++) {
        memcpy(data, sound, len);
        write_file(data, change(data, len, sizeof data));
        nm_status status = read_all();
        ck_assert_msg(status == NM_END || status == NM_ERR_FORMAT || status == NM_ERR_LIMIT, "run %u: %s", run,
                      err.text);
    }
}

START_TEST(a_text_with_other_bytes_is_a_stream_or_an_error)
{
    static char text[20000] = POOL;

    for (int i = 10; i < 60; i++)
        snprintf(text + strlen(text), 400,
                 "%d,%s,PTA,N/A,17647533657288895%02d,7,%d,%d,0x10000%d000,\"{size:%d,total:4194304,used:1536}\",,\n",
                 i, i % 3 == 0 ? "FREE" : "MALLOC", i, i % 4, i % 2, i % 7, 512 * (i % 5));
    read_changed((const uint8_t *)text, strlen(text), 1500);
}
END_TEST

START_TEST(a_database_with_other_bytes_is_a_stream_or_an_error)
{
    static uint8_t sound[1 << 15];

    make_database("memscope_dump");
    FILE *file = fopen(path, "re");
    size_t len = fread(sound, 1, sizeof sound, file);
    fclose(file);
    read_changed(sound, len, 700);
}
END_TEST

TEST_SUITE(test_msmemscope_source)
{
    Suite *suite = suite_create("msmemscope_source");
    TCase *told = tcase_create("told"), *changed = tcase_create("changed");

    tcase_add_checked_fixture(told, begin, end);
    tcase_add_test(told, a_dump_is_told_in_the_order_of_its_times);
    tcase_add_test(told, a_dump_of_april_2025_means_the_same);
    tcase_add_test(told, a_dump_of_what_no_machine_runs_is_refused);
    tcase_add_test(told, times_that_a_spreadsheet_rounded_leave_the_order_of_ids);
    tcase_add_test(told, what_the_file_leaves_out_is_no_misuse);
    tcase_add_test(told, a_freed_block_of_a_pool_that_states_nothing_is_all_from_before);
    tcase_add_test(told, all_kinds_of_rows_have_their_events);
    tcase_add_test(told, the_end_of_an_operator_ends_what_began_in_it);
    tcase_add_test(told, what_cannot_be_read_is_counted);
    tcase_add_test(told, a_database_of_either_name_says_the_same);
    suite_add_tcase(suite, told);
    tcase_add_checked_fixture(changed, begin, end);
    tcase_set_timeout(changed, 120);
    tcase_add_test(changed, a_text_with_other_bytes_is_a_stream_or_an_error);
    tcase_add_test(changed, a_database_with_other_bytes_is_a_stream_or_an_error);
    suite_add_tcase(suite, changed);
    return suite;
}
