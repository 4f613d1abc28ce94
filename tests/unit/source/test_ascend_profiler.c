/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of the Ascend PyTorch Profiler that are cut, changed and odd: what is delivered is sound, and is at each row what that states. What
 * they mean is held by tests/sql/ascend_profiler.py.
 */
#include "source/source.h"

#include <check.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "source/ascend_profiler.h"
#include "support/seed.h"
#include "support/suites.h"

#define LIVE_MAX   4096
#define EVENTS_MAX 4096

static const char record[] =
    "\xef\xbb\xbf"
    "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB),Total Active(MB),Stream Ptr,Device Type\r\n"
    "APP,1736405443756384.100\t,,2109.6015625,,,NPU:0\r\n"
    "PTA,1736405443871259.720\t,20.375,64.0,20.375,7,NPU:0\r\n"
    "PTA+GE,1736405443871259.720\t,20.375,64.0,20.375,7,NPU:0\r\n"
    "PTA,1736405443871300.000\t,22.375,66.0,20.375,7,NPU:0\r\n"
    "PTA,1736405443871400.010\t,19.0,66.0,20.375,7,NPU:0\r\n"
    "GE,1736405443871500.010\t,1.5,8.0,,,NPU:0\r\n"
    "GE,1736405443871600.010\t,0.5,8.0,,,NPU:0\r\n";
static const char operators[] =
    "Name,Size(KB),Allocation Time(us),Release Time(us),Active Release Time(us),Duration(us),Active Duration(us),"
    "Allocation Total Allocated(MB),Allocation Total Reserved(MB),Allocation Total Active(MB),Release Total "
    "Allocated(MB),Release Total Reserved(MB),Release Total Active(MB),Stream Ptr,Device Type\n"
    "aten::a,384.0,1736405443871259.720\t,,,,,20.375,64.0,20.375,,,,7,NPU:0\n"
    "\"aten::b\nc\",2048,1736405443871300.000\t,1736405443871400.020\t,1736405443871400.010\t,,,22.375,66.0,1,19.0,66."
    "0,1,7,NPU:0\n"
    ",-1408,,1736405443871400.010\t,,,,,,,19.0,66.0,1,7,NPU:0\n";

static nm_error err;
static uint64_t seed;

static uint64_t seed_next(void)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return seed >> 33;
}

static int file_of(const void *data, size_t len)
{
    int fd = memfd_create("table", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, data, len), (ssize_t)len);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    return fd;
}

/* ---- What is delivered ---- */

typedef struct live {
    uint64_t heap, address, bytes;
} live;

typedef struct delivered {
    uint64_t strings, frames, stacks, threads, devices, heaps, seq;
    live live[LIVE_MAX];
    size_t live_count;
    nm_event events[EVENTS_MAX];
    size_t count;
    nm_source_summary_data summary;
} delivered;

static void take_definition(delivered *out, const nm_definition *definition)
{
    out->strings += definition->kind == NM_DEFINE_STRING;
    out->frames += definition->kind == NM_DEFINE_FRAME;
    out->stacks += definition->kind == NM_DEFINE_STACK;
    out->threads += definition->kind == NM_DEFINE_THREAD;
    out->devices += definition->kind == NM_DEFINE_DEVICE;
    out->heaps += definition->kind == NM_DEFINE_HEAP;
}

/* Nothing is freed that is not live, and nothing lies where something is. */
static void take_block(delivered *out, const nm_event *event)
{
    for (size_t i = 0; i < out->live_count; i++) {
        live *block = &out->live[i];

        if (block->heap != event->heap_id)
            continue;
        if (event->kind == NM_EVENT_FREE && block->address == event->address) {
            *block = out->live[--out->live_count];
            return;
        }
        ck_assert(event->kind != NM_EVENT_ALLOC || block->address != event->address);
    }
    ck_assert_int_eq(event->kind, NM_EVENT_ALLOC);
    ck_assert_uint_gt(event->block_bytes, 0);
    ck_assert_uint_lt(out->live_count, LIVE_MAX);
    out->live[out->live_count++] = (live){event->heap_id, event->address, event->block_bytes};
}

static void take_event(delivered *out, const nm_event *event)
{
    ck_assert_uint_le(event->stack_id, out->stacks);
    ck_assert_uint_le(event->thread_id, out->threads);
    ck_assert_uint_le(event->heap_id, out->heaps);
    ck_assert_uint_le(event->device_id, out->devices);
    ck_assert_uint_le(event->name_id, out->strings);
    if ((event->flags & NM_FLAG_BASELINE) == 0 && event->kind != NM_EVENT_NOTE) {
        ck_assert_uint_eq(event->seq, out->seq++);
        ck_assert_int_ge(event->time_ns, 0);
    }
    if (event->kind == NM_EVENT_ALLOC || event->kind == NM_EVENT_FREE)
        take_block(out, event);
    if (out->count < EVENTS_MAX)
        out->events[out->count++] = *event;
}

static uint64_t live_bytes(const delivered *out, uint64_t heap)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < out->live_count; i++)
        sum += out->live[i].heap == heap ? out->live[i].bytes : 0;
    return sum;
}

static void drain(nm_source *source, delivered *out)
{
    nm_record next;
    nm_status status;

    memset(out, 0, offsetof(delivered, live));
    out->live_count = out->count = 0;
    while ((status = nm_source_next(source, &next, &err)) == NM_OK)
        if (next.kind == NM_RECORD_DEFINITION)
            take_definition(out, &next.definition);
        else
            take_event(out, &next.event);
    ck_assert_int_eq(status, NM_END);
    nm_source_summary(source, &out->summary);
    ck_assert_uint_eq(out->summary.events_ingested, out->seq);
    ck_assert_uint_eq(out->summary.events_seen, out->summary.events_ingested + out->summary.events_damaged);
}

/* Of one file, or of several that are one input. Twice the same. */
static nm_status read_files(const int *fds, size_t count, delivered *out)
{
    nm_source *source = NULL;
    bool is_done = false;
    nm_status status = nm_source_open_parts(fds, count, &source, &err);

    if (status == NM_OK) {
        drain(source, out);
        size_t event_count = out->count;
        ck_assert_int_eq(nm_source_rewind(source, &is_done, &err), NM_OK);
        ck_assert(is_done);
        drain(source, out);
        ck_assert_uint_eq(out->count, event_count);
    }
    nm_source_close(source);
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
    return status;
}

static delivered out;

START_TEST(each_row_of_the_record_is_what_is_live_then)
{
    const int fds[] = {file_of(operators, sizeof operators - 1), file_of(record, sizeof record - 1)};
    static const struct {
        int64_t ns;
        uint64_t bytes;
    } rows[] = {{114875620, 20992 * 1024 - 128 * 1024}, {114915900, 22912 * 1024}, {115015910, 19456 * 1024}};

    ck_assert_int_eq(read_files(fds, 2, &out), NM_OK);
    ck_assert(out.summary.is_complete);
    ck_assert_int_eq(out.summary.carries.peak, NM_GRADE_ESTIMATE);
    static delivered at;
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        at.live_count = 0;
        for (size_t i = 0; i < out.count; i++)
            if ((out.events[i].kind == NM_EVENT_ALLOC || out.events[i].kind == NM_EVENT_FREE) &&
                (out.events[i].time_ns == NM_NO_TIME || out.events[i].time_ns <= rows[row].ns))
                take_block(&at, &out.events[i]);
        ck_assert_uint_eq(live_bytes(&at, 2), rows[row].bytes);
    }
    ck_assert_uint_eq(live_bytes(&out, 1), UINT64_C(2212077568));
}
END_TEST

/* A cut row is left out, and said. */
/* trace_view.json, as torch_npu writes it: times are texts in newer versions, numbers in older ones. */
static const char trace[] =
    "[{\"ph\": \"M\", \"name\": \"process_name\", \"pid\": 1, \"tid\": 0, \"args\": {\"name\": \"Python\"}}, "
    "{\"ph\": \"X\", \"name\": \"ProfilerStep#7\", \"pid\": 1, \"tid\": 2, \"ts\": \"1736405443871200.500\", \"dur\": "
    "90.1, "
    "\"cat\": \"cpu_op\", \"args\": {\"name\": \"ProfilerStep#99\", \"ts\": \"5\"}}, "
    "{\"ph\": \"X\", \"name\": \"aten::add\", \"pid\": 1, \"tid\": 2, \"ts\": \"1736405443871250.000\", \"dur\": 1}, "
    "{\"ts\": 1736405443871350, \"name\": \"ProfilerStep#8\", \"ph\": \"X\", \"dur\": 9.5}, "
    "{\"ts\": 1736405443871360, \"name\": \"ProfilerStep#8\", \"ph\": \"X\"}, {\"name\": \"ProfilerStep#x\", \"ts\": "
    "1}]";

static size_t count_steps(int64_t numbers[8], int64_t ns[8])
{
    size_t count = 0;

    for (size_t i = 0; i < out.count; i++)
        if (out.events[i].kind == NM_EVENT_STEP && count < 8) {
            numbers[count] = out.events[i].number;
            ns[count++] = out.summary.start_realtime_ns + out.events[i].time_ns;
        }
    return count;
}

START_TEST(a_trace_beside_the_tables_tells_steps_cut_at_any_byte)
{
    int64_t numbers[8], ns[8];

    for (size_t len = 1; len < sizeof trace; len++) {
        const int fds[] = {file_of(operators, sizeof operators - 1), file_of(record, sizeof record - 1),
                           file_of(trace, len)};
        bool is_list = len >= strlen("[{\"ph\":");

        ck_assert_int_eq(read_files(fds, 3, &out),
                         is_list ? NM_OK : NM_ERR_FORMAT); /* what is none is not taken for one */
        if (!is_list)
            continue;
        size_t count = count_steps(numbers, ns);
        ck_assert_uint_le(count, 2);
        ck_assert(out.summary.is_complete == (len == sizeof trace - 1));
        if (len < sizeof trace - 1)
            continue;
        ck_assert_uint_eq(count, 2);
        ck_assert_int_eq(numbers[0], 7);
        ck_assert_int_eq(ns[0], INT64_C(1736405443871200500));
        ck_assert_int_eq(numbers[1], 8);
        ck_assert_int_eq(ns[1], INT64_C(1736405443871350000));
    }
    const int alone[] = {file_of(trace, sizeof trace - 1)};
    ck_assert_int_eq(read_files(alone, 1, &out), NM_ERR_FORMAT);
    ck_assert_ptr_nonnull(strstr(err.text, "trace_view.json"));
}
END_TEST

/* How many steps are told, and how many notes, where step 7 begins and lasts so, in the file's microseconds. Tables: 1736405443756384.1 to
 * 1736405443871600.01. */
static void expect_steps(const char *ts, const char *dur, size_t step_count, size_t note_count)
{
    char text[256];
    int64_t numbers[8], ns[8];
    size_t notes = 0;

    snprintf(text, sizeof text, "[{\"ph\": \"X\", \"name\": \"ProfilerStep#7\", \"ts\": %s, \"dur\": %s}]", ts, dur);
    const int fds[] = {file_of(record, sizeof record - 1), file_of(text, strlen(text))};
    ck_assert_int_eq(read_files(fds, 2, &out), NM_OK);
    for (size_t i = 0; i < out.count; i++)
        notes += out.events[i].kind == NM_EVENT_NOTE && out.events[i].detail == NM_NOTE_UNREAD_PART;
    ck_assert_msg(count_steps(numbers, ns) == step_count && notes == note_count, "%s", text);
    /* A step from before the first row is where the recording begins; one that is not believed is not. */
    ck_assert_int_eq(out.summary.start_realtime_ns,
                     step_count == 1 && ns[0] < INT64_C(1736405443756384100) ? ns[0] : INT64_C(1736405443756384100));
    ck_assert(out.summary.is_complete);
}

START_TEST(steps_of_another_clock_are_not_believed)
{
    expect_steps("\"1736405443756384.100\"", "5", 1, 0);
    expect_steps("1736405443756000", "\"384.1\"", 1, 0);
    expect_steps("1736405443756000", "900000", 1, 0); /* around all of them */
    expect_steps("1736405443871600.010", "1", 1, 0);
    expect_steps("1736405443756000", "384.099", 0, 1);
    expect_steps("1736405443756000", "-900000", 0, 1);
    expect_steps("1736405443871600.011", "1", 0, 1);
    expect_steps("81443871.2", "100.5", 0, 1); /* since the machine began */
    expect_steps("1736405443871.2", "100.5", 0, 1);
    expect_steps("4611686018427386.0", "9223372036854775", 0, 1);
}
END_TEST

START_TEST(cut_at_every_byte_it_is_read_or_refused)
{
    size_t read_count = 0;

    for (size_t len = 1; len < sizeof record; len++) {
        int fd = file_of(record, len);

        read_count += read_files(&fd, 1, &out) == NM_OK;
    }
    ck_assert_uint_gt(read_count, 250);
    for (size_t len = 1; len < sizeof operators; len++) {
        const int fds[] = {file_of(record, sizeof record - 1), file_of(operators, len)};

        read_files(fds, 2, &out);
    }
}
END_TEST

/* Bytes of one file are exchanged for others, of which many are what tables are made of. */
static void change(char *data, size_t len)
{
    static const char pieces[] = "0123456789,,,,\n\r\t\".-+eEPTAGNMaten:\0\xff";
    unsigned count = 1 + (unsigned)(seed_next() % 6);

    while (count-- > 0)
        data[seed_next() % len] = pieces[seed_next() % (sizeof pieces - 1)];
}

START_TEST(changed_at_random_it_is_sound)
{
    seed = seed_of_test(1);
    for (unsigned round = 0; round < 4000; round++) {
        static char a[sizeof record], b[sizeof operators];

        memcpy(a, record, sizeof record);
        memcpy(b, operators, sizeof operators);
        if (round % 2 == 0)
            change(a + 108, sizeof record - 109);
        else
            change(b + 300, sizeof operators - 301);
        const int fds[] = {file_of(a, sizeof record - 1), file_of(b, sizeof operators - 1)};
        read_files(fds, 2, &out);
    }
}
END_TEST

/* Sums that jump up and down, blocks as large as may be, all at one time. */
START_TEST(what_no_tool_writes_is_bounded)
{
    static char text[1 << 20];
    size_t len =
        (size_t)snprintf(text, sizeof text, "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB)\n");

    for (unsigned i = 0; i < 6000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "PTA,17,%u,%u\n",
                                i % 3 == 0   ? 0
                                : i % 3 == 1 ? 16777216
                                             : i,
                                i % 5 * 1000000);
    int fd = file_of(text, len);
    ck_assert_int_eq(read_files(&fd, 1, &out), NM_OK);
    len = (size_t)snprintf(text, sizeof text, "Name,Size(KB),Allocation Time(us),Release Time(us)\n");
    for (unsigned i = 0; i < 3000; i++)
        len += (size_t)snprintf(text + len, sizeof text - len, "a,17179869184,%u,%s\n", i, i % 2 == 0 ? "" : "9e30");
    fd = file_of(text, len);
    ck_assert_int_eq(read_files(&fd, 1, &out), NM_OK);
    ck_assert_uint_eq(out.summary.events_damaged, 0);
    static const char negative[] = "Component,Timestamp(us),Total Allocated(MB),Total Reserved(MB)\n"
                                   "PTA,-5,1,1\nPTA,5,-1,1\nPTA,5,99999999999999,1\nPTA,,1,1\n,5,1,1\nPTA,6,1,1\n";
    fd = file_of(negative, sizeof negative - 1);
    ck_assert_int_eq(read_files(&fd, 1, &out), NM_OK);
    ck_assert(!out.summary.is_complete);
    ck_assert_uint_gt(out.summary.events_damaged, 2);
}
END_TEST

/* ---- Databases ---- */

static void *make_database(const char *sql, sqlite3_int64 *len)
{
    sqlite3 *db = NULL;
    char *error = NULL;

    ck_assert_int_eq(sqlite3_open(":memory:", &db), SQLITE_OK);
    sqlite3_exec(db, sql, NULL, NULL, &error);
    ck_assert_msg(error == NULL, "%s", error);
    void *data = sqlite3_serialize(db, "main", len, 0);
    sqlite3_close(db);
    return data;
}

static const char tables[] =
    "CREATE TABLE STRING_IDS (id, value); INSERT INTO STRING_IDS VALUES (1, 'PTA'), (2, 'GE'), (3, 'aten::a'), (4, "
    "'allocate'), (5, 'release'), (6, 'app'), (7, 'device');"
    "CREATE TABLE MEMORY_RECORD (component, timestamp, totalAllocated, totalReserved, totalActive, streamPtr, "
    "deviceId);"
    "INSERT INTO MEMORY_RECORD VALUES (1, 1000, 4096, 8192, 0, 7, 0), (1, 2000, 2048, 8192, 0, 7, 0);"
    "CREATE TABLE OP_MEMORY (name, size, allocationTime, releaseTime, activeReleaseTime, allocationTotalAllocated, "
    "allocationTotalReserved, releaseTotalAllocated, releaseTotalReserved, streamPtr, deviceId);"
    "INSERT INTO OP_MEMORY VALUES (3, 2048, 1000, 2001, 2000, 4096, 8192, 2048, 8192, 7, 0);"
    "CREATE TABLE NPU_OP_MEM (operatorName, addr, type, size, timestampNs, globalTid, totalAllocate, totalReserve, "
    "component, deviceId); INSERT INTO NPU_OP_MEM VALUES (3, 4096, 4, 512, 1500, 4294967297, 512, 1024, 2, 0), (3, "
    "4096, "
    "5, 512, 1600, 4294967297, 512, 1024, 2, 0), (3, 8192, 5, 512, 1700, 1, 512, 1024, 2, 0), (3, 8192, 9, 1, 1, 1, 1, "
    "1, 1, 1);"
    "CREATE TABLE NPU_MEM (type, ddr, hbm, timestampNs, deviceId); INSERT INTO NPU_MEM VALUES (6, 1, 99, 900, 0), (7, "
    "0, "
    "500, 900, 0);"
    "CREATE TABLE PYTORCH_API (startNs TEXT, endNs TEXT, globalTid, name, type); INSERT INTO PYTORCH_API VALUES "
    "('900', "
    "'1100', 4294967299, 3, 50001);"
    "CREATE TABLE META_DATA (name, value); INSERT INTO META_DATA VALUES ('ENV_VARIABLES', '{\"A\": \"b\", \"c\": [');";

START_TEST(a_database_is_read)
{
    sqlite3_int64 len = 0;
    void *data = make_database(tables, &len);
    int fd = file_of(data, (size_t)len);

    ck_assert_int_eq(read_files(&fd, 1, &out), NM_OK);
    ck_assert_uint_eq(out.summary.events_damaged, 1);
    ck_assert_uint_eq(live_bytes(&out, 1), 2048);
    sqlite3_free(data);
}
END_TEST

START_TEST(a_database_with_changed_bytes_is_sound)
{
    sqlite3_int64 len = 0;
    uint8_t *data = make_database(tables, &len), *copy = malloc((size_t)len);

    seed = seed_of_test(2);
    for (unsigned round = 0; round < 1500; round++) {
        memcpy(copy, data, (size_t)len);
        for (unsigned i = 0; i <= seed_next() % 8; i++)
            copy[seed_next() % (uint64_t)len] = (uint8_t)seed_next();
        int fd = file_of(copy, (size_t)len);
        read_files(&fd, 1, &out);
    }
    free(copy);
    sqlite3_free(data);
}
END_TEST

TEST_SUITE(test_ascend_profiler)
{
    Suite *suite = suite_create("ascend_profiler");
    TCase *tables_case = tcase_create("ascend_profiler");

    tcase_set_timeout(tables_case, 60);
    tcase_add_test(tables_case, each_row_of_the_record_is_what_is_live_then);
    tcase_add_test(tables_case, a_trace_beside_the_tables_tells_steps_cut_at_any_byte);
    tcase_add_test(tables_case, steps_of_another_clock_are_not_believed);
    tcase_add_test(tables_case, cut_at_every_byte_it_is_read_or_refused);
    tcase_add_test(tables_case, changed_at_random_it_is_sound);
    tcase_add_test(tables_case, what_no_tool_writes_is_bounded);
    tcase_add_test(tables_case, a_database_is_read);
    tcase_add_test(tables_case, a_database_with_changed_bytes_is_sound);
    suite_add_tcase(suite, tables_case);
    return suite;
}
