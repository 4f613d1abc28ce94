/* SPDX-License-Identifier: Apache-2.0
 *
 * Hand-made memory snapshots of the kinds that the real samples do not hold, each with what it must give, written down
 * by hand. Device numbers, heaps: the first device that occurs has heap 1 (driver), 2 (pool) and 3 (workspace), the
 * second one 4, 5 and 6.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/checksum.h"
#include "source/snapshot_kept.h"
#include "support/snapshot_builder.h"
#include "support/snapshot_log.h"
#include "support/suites.h"

#define MIB         (INT64_C(1) << 20)
#define COUNT(list) (sizeof(list) / sizeof(list)[0])

static const int protocols[] = {2, 3, 4, 5, PICKLE_JIT};

/* ---- Documents --------------------------------------------------------------------------------------------------- */

typedef struct trace {
    const snapshot_entry *entries;
    size_t count;
} trace;

typedef struct block_list {
    snapshot_segment segment;
    const snapshot_block *blocks;
    size_t count;
} block_list;

static void put_traces(pickle_builder *builder, const trace *traces, size_t count)
{
    pickle_text(builder, "device_traces");
    pickle_list(builder, count);
    for (size_t i = 0; i < count; i++) {
        pickle_list(builder, traces[i].count);
        for (size_t j = 0; j < traces[i].count; j++)
            snapshot_put_entry(builder, &traces[i].entries[j]);
        pickle_end(builder);
    }
    pickle_end(builder);
}

static void put_list_of_segments(pickle_builder *builder, const char *key, const block_list *segments, size_t count)
{
    pickle_text(builder, key);
    pickle_list(builder, count);
    for (size_t i = 0; i < count; i++)
        snapshot_put_segment(builder, &segments[i].segment, segments[i].blocks, segments[i].count);
    pickle_end(builder);
}

static void put_segments(pickle_builder *builder, const block_list *segments, size_t count)
{
    put_list_of_segments(builder, "segments", segments, count);
}

/* A file whose entries are too many to be kept is read again, and gives the same. */
static void expect_same_again(const pickle_builder *builder, const source_log *log)
{
    size_t kept_bytes_max = nm_snapshot_kept_bytes_max;
    source_log again;

    nm_snapshot_kept_bytes_max = 0;
    source_log_read_bytes(&again, builder->bytes.data, builder->bytes.len);
    nm_snapshot_kept_bytes_max = kept_bytes_max;
    ck_assert_int_eq(again.status, log->status);
    ck_assert_uint_eq(again.text.len, log->text.len);
    if (log->text.len > 0)
        ck_assert_mem_eq(again.text.data, log->text.data, log->text.len);
    source_log_free(&again);
}

static source_log read_built(pickle_builder *builder)
{
    char recording_id[NM_RECORDING_ID_BYTES];
    source_log log;

    pickle_stop(builder);
    source_log_read_bytes(&log, builder->bytes.data, builder->bytes.len);
    snprintf(recording_id, sizeof recording_id, "%016" PRIx64 "%016zx",
             nm_checksum(builder->bytes.data, builder->bytes.len), builder->bytes.len);
    if (log.status == NM_END)
        ck_assert_str_eq(log.summary.recording_id, recording_id);
    expect_same_again(builder, &log);
    pickle_free(builder);
    return log;
}

/* {'segments': ..., 'device_traces': ...}, the other way round for odd protocols: neither order is promised. */
static void put_document(pickle_builder *builder, const block_list *segments, size_t segment_count, const trace *traces,
                         size_t trace_count)
{
    pickle_dict(builder, 2);
    if (builder->protocol % 2 == 0)
        put_segments(builder, segments, segment_count);
    put_traces(builder, traces, trace_count);
    if (builder->protocol % 2 != 0)
        put_segments(builder, segments, segment_count);
    pickle_end(builder);
}

static void expect(source_log *log, const char *lines)
{
    ck_assert_msg(log->status == NM_END, "byte %" PRIu64 ": %s", log->err.offset, log->err.text);
    ck_assert_str_eq((const char *)log->text.data, lines);
    source_log_free(log);
}

/* The same document in every protocol gives the same lines. */
static void expect_document(const block_list *segments, size_t segment_count, const trace *traces, size_t trace_count,
                            const char *lines)
{
    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        source_log log;

        put_document(&builder, segments, segment_count, traces, trace_count);
        log = read_built(&builder);
        ck_assert_msg(log.status == NM_END, "protocol %d, byte %" PRIu64 ": %s", protocols[i], log.err.offset,
                      log.err.text);
        expect(&log, lines);
    }
}

/* ---- The baseline ------------------------------------------------------------------------------------------------ */

START_TEST(a_block_freed_but_never_allocated_was_there_before)
{
    static const snapshot_frame stack[] = {{"inner", "a.py", 3}, {"outer", "b.py", 4}, {0}};
    static const snapshot_entry entries[] = {
        {.action = "free_requested", .address = 0x1000, .size = 300, .stream = 7},
        {.action = "free_completed", .address = 0x1000, .size = 300, .stream = 7},
        {.action = "alloc", .address = 0x1000, .size = 200, .stream = 7, .frames = stack},
        {.action = "free", .address = 0x1400, .size = 50, .stream = 7},
        {.action = "free_completed", .address = 0x1600, .size = 60, .stream = 8},
    };
    static const snapshot_block blocks[] = {
        {0x1000, 512, 200, "active_allocated", stack},
        {0x1200, 512, 400, "active_allocated", NULL},
        {0x1400, MIB - 0x400, 0, "inactive", NULL},
    };
    static const block_list segments[] = {{{0, 0x1000, MIB, 7, false, {0, 0}}, blocks, COUNT(blocks)}};
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(segments, 1, traces, 1,
                    "base alloc heap=1 at=0x1000 requested=1048576 block=1048576 stream=7 SEGMENT\n"
                    "base alloc heap=2 at=0x1000 requested=300 stream=7\n"
                    "base alloc heap=2 at=0x1200 requested=400 block=512 stream=7\n"
                    "base alloc heap=2 at=0x1400 requested=50 stream=7\n"
                    "base alloc heap=2 at=0x1600 requested=60 stream=8 PENDING\n"
                    "0 free_requested heap=2 at=0x1000 stream=7\n"
                    "1 free heap=2 at=0x1000 stream=7\n"
                    "2 alloc heap=2 at=0x1000 requested=200 stack=inner:3<outer:4 stream=7\n"
                    "3 free heap=2 at=0x1400 stream=7\n"
                    "4 free heap=2 at=0x1600 stream=8\n"
                    "end segment heap=2 at=0x1000 block=1048576 occupied=1024 stream=7\n"
                    "end block heap=2 at=0x1000 requested=200 block=512 stack=inner:3<outer:4 stream=7\n"
                    "end block heap=2 at=0x1200 requested=400 block=512 stream=7\n"
                    "end block heap=2 at=0x1400 block=1047552 stream=7 IDLE\n");
}
END_TEST

START_TEST(a_block_freed_twice_was_there_before_only_once)
{
    static const snapshot_entry entries[] = {
        {.action = "free_completed", .address = 0x1000, .size = 300},
        {.action = "free_completed", .address = 0x1000, .size = 300},
        {.action = "alloc", .address = 0x1003, .size = 8},
        {.action = "free_completed", .address = 0x1003, .size = 8},
        {.action = "free_completed", .address = 0x1003, .size = 8},
        {.action = "free_completed", .address = 0x1007, .size = 9},
    };
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(NULL, 0, traces, 1,
                    "base alloc heap=2 at=0x1000 requested=300 stream=0 PENDING\n"
                    "base alloc heap=2 at=0x1007 requested=9 stream=0 PENDING\n"
                    "0 free heap=2 at=0x1000 stream=0\n"
                    "1 free heap=2 at=0x1000 stream=0\n"
                    "2 alloc heap=2 at=0x1003 requested=8 stream=0\n"
                    "3 free heap=2 at=0x1003 stream=0\n"
                    "4 free heap=2 at=0x1003 stream=0\n"
                    "5 free heap=2 at=0x1007 stream=0\n");
}
END_TEST

START_TEST(a_pending_free_is_live_until_it_is_completed)
{
    static const snapshot_frame kept[] = {{"keep", "a.py", 5}, {0}}, gone[] = {{"drop", "a.py", 6}, {0}};
    static const snapshot_entry entries[] = {
        {.action = "alloc", .address = 0x1000, .size = 100},
        {.action = "free_requested", .address = 0x1000, .size = 100},
        {.action = "free_requested", .address = 0x1200, .size = 110, .frames = gone},
    };
    static const snapshot_block blocks[] = {
        {0x1000, 512, 100, "active_pending_free", NULL},
        {0x1200, 512, 110, "active_awaiting_free", kept},
        {0x1400, 512, 120, "active_pending_free", NULL},
    };
    static const block_list segments[] = {{{0, 0x1000, 1536, 0, false, {0, 0}}, blocks, COUNT(blocks)}};
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(segments, 1, traces, 1,
                    "base alloc heap=1 at=0x1000 requested=1536 block=1536 stream=0 SEGMENT\n"
                    "base alloc heap=2 at=0x1200 requested=110 block=512 stack=keep:5 stream=0\n"
                    "base alloc heap=2 at=0x1400 requested=120 block=512 stream=0 PENDING\n"
                    "0 alloc heap=2 at=0x1000 requested=100 stream=0\n"
                    "1 free_requested heap=2 at=0x1000 stream=0\n"
                    "2 free_requested heap=2 at=0x1200 stack=drop:6 stream=0\n"
                    "end segment heap=2 at=0x1000 block=1536 occupied=1536 stream=0\n"
                    "end block heap=2 at=0x1000 requested=100 block=512 stream=0 PENDING\n"
                    "end block heap=2 at=0x1200 requested=110 block=512 stack=keep:5 stream=0 PENDING\n"
                    "end block heap=2 at=0x1400 requested=120 block=512 stream=0 PENDING\n");
}
END_TEST

START_TEST(a_mapping_cut_in_the_middle_was_all_there_before)
{
    /* 0x200000 to 0x1000000 was mapped before; the trace cuts out 0x600000 to 0x800000, and maps a part of it again. */
    static const snapshot_entry entries[] = {
        {.action = "segment_unmap", .address = 0x600000, .size = 2 * MIB, .stream = 1},
        {.action = "segment_map", .address = 0x600000, .size = MIB, .stream = 1},
        {.action = "segment_map", .address = 0x1000000, .size = 2 * MIB, .stream = 1},
        {.action = "segment_unmap", .address = 0xf00000, .size = 2 * MIB, .stream = 1},
    };
    static const snapshot_block first[] = {{0x200000, 5 * MIB, 0, "inactive", NULL}};
    static const snapshot_block second[] = {{0x800000, 7 * MIB, 0, "inactive", NULL}};
    static const snapshot_block third[] = {{0x1100000, MIB, 0, "inactive", NULL}};
    static const block_list segments[] = {
        {{0, 0x200000, 5 * MIB, 1, true, {0, 0}}, first, 1},
        {{0, 0x800000, 7 * MIB, 1, true, {0, 0}}, second, 1},
        {{0, 0x1100000, MIB, 1, true, {0, 0}}, third, 1},
    };
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(segments, 3, traces, 1,
                    "base map heap=1 at=0x200000 block=4194304 stream=1 SEGMENT\n"
                    "base map heap=1 at=0x600000 block=2097152 stream=1 SEGMENT\n"
                    "base map heap=1 at=0x800000 block=7340032 stream=1 SEGMENT\n"
                    "base map heap=1 at=0xf00000 block=1048576 stream=1 SEGMENT\n"
                    "0 unmap heap=1 at=0x600000 block=2097152 stream=1\n"
                    "1 map heap=1 at=0x600000 block=1048576 stream=1 SEGMENT\n"
                    "2 map heap=1 at=0x1000000 block=2097152 stream=1 SEGMENT\n"
                    "3 unmap heap=1 at=0xf00000 block=2097152 stream=1\n"
                    "end segment heap=2 at=0x200000 block=5242880 stream=1\n"
                    "end block heap=2 at=0x200000 block=5242880 stream=1 IDLE\n"
                    "end segment heap=2 at=0x800000 block=7340032 stream=1\n"
                    "end block heap=2 at=0x800000 block=7340032 stream=1 IDLE\n"
                    "end segment heap=2 at=0x1100000 block=1048576 stream=1\n"
                    "end block heap=2 at=0x1100000 block=1048576 stream=1 IDLE\n");
}
END_TEST

START_TEST(a_segment_freed_but_never_allocated_was_there_before)
{
    static const snapshot_entry entries[] = {
        {.action = "segment_free", .address = 0x200000, .size = 2 * MIB, .stream = 1},
        {.action = "segment_alloc", .address = 0x200000, .size = 4 * MIB, .stream = 2},
        {.action = "segment_alloc", .address = 0x800000, .size = 2 * MIB, .stream = 2},
        {.action = "segment_free", .address = 0x800000, .size = 2 * MIB, .stream = 2},
    };
    static const snapshot_block blocks[] = {{0x200000, 4 * MIB, 0, "inactive", NULL}};
    static const block_list segments[] = {{{0, 0x200000, 4 * MIB, 2, false, {0, 0}}, blocks, 1}};
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(segments, 1, traces, 1,
                    "base alloc heap=1 at=0x200000 requested=2097152 block=2097152 stream=1 SEGMENT\n"
                    "0 free heap=1 at=0x200000 stream=1\n"
                    "1 alloc heap=1 at=0x200000 requested=4194304 block=4194304 stream=2 SEGMENT\n"
                    "2 alloc heap=1 at=0x800000 requested=2097152 block=2097152 stream=2 SEGMENT\n"
                    "3 free heap=1 at=0x800000 stream=2\n"
                    "end segment heap=2 at=0x200000 block=4194304 stream=2\n"
                    "end block heap=2 at=0x200000 block=4194304 stream=2 IDLE\n");
}
END_TEST

START_TEST(a_workspace_is_what_was_there_at_the_end)
{
    /* Three entries that describe it, and a segment that calls it unused. */
    static const snapshot_frame stack[] = {{"matmul", "op.py", 1}, {0}};
    static const snapshot_entry entries[] = {
        {.action = "workspace_snapshot", .address = 0x9000000, .size = 3 * MIB, .stream = 5, .frames = stack},
        {.action = "segment_alloc", .address = 0x9000000, .size = 3 * MIB, .stream = 5, .frames = stack},
        {.action = "alloc", .address = 0x9000000, .size = 3 * MIB, .stream = 5, .frames = stack},
        {.action = "segment_alloc", .address = 0x200000, .size = 2 * MIB, .stream = 5},
        {.action = "alloc", .address = 0x200000, .size = 100, .stream = 5},
    };
    static const snapshot_block workspace[] = {{0x9000000, 3 * MIB, 2 * MIB, "inactive", stack}};
    static const snapshot_block blocks[] = {{0x200000, 512, 100, "active_allocated", NULL}};
    static const block_list segments[] = {
        {{0, 0x200000, 2 * MIB, 5, false, {0, 0}}, blocks, 1},
        {{0, 0x9000000, 3 * MIB, 5, false, {0, 0}}, workspace, 1},
    };
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(segments, 2, traces, 1,
                    "base alloc heap=1 at=0x9000000 requested=3145728 block=3145728 stack=matmul:1 stream=5\n"
                    "base alloc heap=3 at=0x9000000 requested=3145728 stack=matmul:1 stream=5\n"
                    "3 alloc heap=1 at=0x200000 requested=2097152 block=2097152 stream=5 SEGMENT\n"
                    "4 alloc heap=2 at=0x200000 requested=100 stream=5\n"
                    "end segment heap=2 at=0x200000 block=2097152 occupied=512 stream=5\n"
                    "end block heap=2 at=0x200000 requested=100 block=512 stream=5\n"
                    "end segment heap=3 at=0x9000000 block=3145728 occupied=3145728 stream=5\n"
                    "end block heap=3 at=0x9000000 requested=2097152 block=3145728 stack=matmul:1 stream=5\n");
}
END_TEST

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

START_TEST(several_devices_and_streams_keep_their_place_in_the_file)
{
    static const snapshot_entry of_1[] = {
        {.action = "alloc", .address = 0x1000, .size = 10, .stream = 1},
        {.action = "alloc", .address = 0x2000, .size = 20, .stream = 0x55d0c0ffee00},
    };
    static const snapshot_entry of_3[] = {
        {.action = "alloc", .address = 0x1000, .size = 30, .stream = 0},
        {.action = "free_completed", .address = 0x1000, .size = 30, .stream = 0},
    };
    static const trace traces[] = {{NULL, 0}, {of_1, 2}, {NULL, 0}, {of_3, 2}, {NULL, 0}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        source_log log;

        put_document(&builder, NULL, 0, traces, COUNT(traces));
        log = read_built(&builder);
        ck_assert_int_eq(log.status, NM_END);
        ck_assert_uint_eq(log.summary.events_seen, 4);
        ck_assert_uint_eq(log.summary.events_ingested, 4);
        ck_assert_int_eq(source_log_find(&log, NM_DEFINE_DEVICE, 1)->device.ordinal, 1);
        ck_assert_int_eq(source_log_find(&log, NM_DEFINE_DEVICE, 2)->device.ordinal, 3);
        ck_assert_ptr_null(source_log_find(&log, NM_DEFINE_DEVICE, 3));
        ck_assert_uint_eq(source_log_find(&log, NM_DEFINE_HEAP, 5)->heap.device_id, 2);
        ck_assert_uint_eq(source_log_find(&log, NM_DEFINE_HEAP, 5)->heap.level, NM_LEVEL_POOL);
        ck_assert_uint_eq(source_log_find(&log, NM_DEFINE_HEAP, 5)->heap.size_basis, NM_BASIS_REQUESTED);
        ck_assert_uint_eq(source_log_find(&log, NM_DEFINE_HEAP, 4)->heap.level, NM_LEVEL_DRIVER);
        ck_assert_uint_eq(source_log_find(&log, NM_DEFINE_HEAP, 4)->heap.size_basis, NM_BASIS_BLOCK);
        ck_assert_ptr_null(source_log_find(&log, NM_DEFINE_HEAP, 6));
        expect(&log, "0 alloc heap=2 at=0x1000 requested=10 stream=1\n"
                     "1 alloc heap=2 at=0x2000 requested=20 stream=94355079556608\n"
                     "2 alloc heap=5 at=0x1000 requested=30 stream=0\n"
                     "3 free heap=5 at=0x1000 stream=0\n");
    }
}
END_TEST

START_TEST(a_private_pool_stands_on_its_blocks)
{
    static const snapshot_entry entries[] = {
        {.action = "segment_alloc", .address = 0x200000, .size = MIB, .has_pool = true, .pool = {0, 2}},
        {.action = "alloc", .address = 0x200000, .size = 10, .has_pool = true, .pool = {0, 2}},
        {.action = "alloc", .address = 0x200200, .size = 11, .has_pool = true, .pool = {3, 1}},
        {.action = "alloc", .address = 0x200400, .size = 12, .has_pool = true, .pool = {0, 0}},
        {.action = "oom", .address = 77, .size = 13, .has_pool = true, .pool = {0, 2}},
    };
    static const snapshot_block blocks[] = {{0x400000, 512, 100, "active_allocated", NULL}};
    static const block_list segments[] = {{{0, 0x400000, MIB, 0, false, {0, 7}}, blocks, 1}};
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(segments, 1, traces, 1,
                    "base alloc heap=1 at=0x400000 requested=1048576 block=1048576 stream=0 SEGMENT\n"
                    "base alloc heap=2 at=0x400000 requested=100 block=512 stream=0 pool=7\n"
                    "0 alloc heap=1 at=0x200000 requested=1048576 block=1048576 stream=0 SEGMENT\n"
                    "1 alloc heap=2 at=0x200000 requested=10 stream=0 pool=2\n"
                    "2 alloc heap=2 at=0x200200 requested=11 stream=0 pool=12884901889\n"
                    "3 alloc heap=2 at=0x200400 requested=12 stream=0\n"
                    "4 alloc_failed heap=2 requested=13 stream=0 pool=2 free=77 error=207001\n"
                    "end segment heap=2 at=0x400000 block=1048576 occupied=512 stream=0 pool=7\n"
                    "end block heap=2 at=0x400000 requested=100 block=512 stream=0 pool=7\n");
}
END_TEST

START_TEST(actions_that_are_no_memory_keep_their_place)
{
    static const snapshot_entry entries[] = {
        {.action = "snapshot", .size = 0},
        {.action = "annotate", .address = 0x1000, .size = 10, .metadata = "weights"},
        {.action = "frobnicate", .address = 0x1000, .size = -1},
        {.action = "alloc", .address = 0x1000, .size = -1, .metadata = "step 1"},
        {.action = "alloc", .address = 0x2000, .size = 0, .metadata = "step 2"},
    };
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(NULL, 0, traces, 1,
                    "0 mark name=snapshot\n"
                    "1 begin number=2 name=annotate\n"
                    "1 end number=2\n"
                    "2 mark name=frobnicate\n"
                    "3 alloc heap=2 at=0x1000 stream=0\n"
                    "4 alloc heap=2 at=0x2000 stream=0\n");
}
END_TEST

START_TEST(what_torchs_profiler_says_of_a_block_comes_with_it)
{
    static const snapshot_entry entries[] = {
        {.action = "alloc", .address = 0x1000, .size = 10, .category = "parameter"},
        {.action = "free_completed", .address = 0x1000, .size = 10, .category = "parameter"},
        {.action = "alloc", .address = 0x2000, .size = 10},
    };
    static const trace traces[] = {{entries, COUNT(entries)}};

    expect_document(NULL, 0, traces, 1,
                    "0 alloc heap=2 at=0x1000 requested=10 stream=0 name=parameter\n"
                    "1 free heap=2 at=0x1000 stream=0\n"
                    "2 alloc heap=2 at=0x2000 requested=10 stream=0\n");
}
END_TEST

START_TEST(stacks_share_their_outer_frames)
{
    static const snapshot_frame a[] = {{"leaf", "x.py", 1}, {"loop", "x.py", 2}, {"main", "x.py", 3}, {0}};
    static const snapshot_frame b[] = {{"other", "x.py", 9}, {"loop", "x.py", 2}, {"main", "x.py", 3}, {0}};
    static const snapshot_frame c[] = {{"loop", "x.py", 2}, {"main", "x.py", 3}, {0}};
    static const snapshot_frame again[] = {{"leaf", "x.py", 1}, {"loop", "x.py", 2}, {"main", "x.py", 3}, {0}};
    static const snapshot_frame recursive[] = {{"main", "x.py", 3}, {"main", "x.py", 3}, {"main", "x.py", 3}, {0}};
    static const snapshot_entry entries[] = {
        {.action = "alloc", .address = 0x1000, .size = 1, .frames = a},
        {.action = "alloc", .address = 0x2000, .size = 1, .frames = b},
        {.action = "alloc", .address = 0x3000, .size = 1, .frames = c},
        {.action = "alloc", .address = 0x4000, .size = 1, .frames = again},
        {.action = "alloc", .address = 0x5000, .size = 1, .frames = recursive},
        {.action = "alloc", .address = 0x6000, .size = 1},
    };
    static const trace traces[] = {{entries, COUNT(entries)}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        source_log log;

        put_document(&builder, NULL, 0, traces, 1);
        log = read_built(&builder);
        ck_assert_int_eq(log.status, NM_END);
        ck_assert_ptr_nonnull(source_log_find(&log, NM_DEFINE_FRAME, 4));
        ck_assert_ptr_null(source_log_find(&log, NM_DEFINE_FRAME, 5));
        ck_assert_ptr_nonnull(source_log_find(&log, NM_DEFINE_STACK, 6));
        ck_assert_ptr_null(source_log_find(&log, NM_DEFINE_STACK, 7));
        ck_assert_uint_eq(log.events.items[0].stack_id, log.events.items[3].stack_id);
        expect(&log, "0 alloc heap=2 at=0x1000 requested=1 stack=leaf:1<loop:2<main:3 stream=0\n"
                     "1 alloc heap=2 at=0x2000 requested=1 stack=other:9<loop:2<main:3 stream=0\n"
                     "2 alloc heap=2 at=0x3000 requested=1 stack=loop:2<main:3 stream=0\n"
                     "3 alloc heap=2 at=0x4000 requested=1 stack=leaf:1<loop:2<main:3 stream=0\n"
                     "4 alloc heap=2 at=0x5000 requested=1 stack=main:3<main:3<main:3 stream=0\n"
                     "5 alloc heap=2 at=0x6000 requested=1 stream=0\n");
    }
}
END_TEST

START_TEST(a_list_of_frames_may_be_shared_by_reference)
{
    static const snapshot_frame stack[] = {{"f", "x.py", 1}, {"g", "x.py", 2}, {0}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        snapshot_entry entry = {.action = "alloc", .address = 0x1000, .size = 1, .frames = stack};
        source_log log;

        pickle_dict(&builder, 1);
        pickle_text(&builder, "device_traces");
        pickle_list(&builder, 1);
        pickle_list(&builder, 2);
        entry.shared_frames = snapshot_put_entry(&builder, &entry);
        entry.action = "free_completed";
        snapshot_put_entry(&builder, &entry);
        pickle_end(&builder);
        pickle_end(&builder);
        pickle_end(&builder);
        log = read_built(&builder);
        expect(&log, "0 alloc heap=2 at=0x1000 requested=1 stack=f:1<g:2 stream=0\n"
                     "1 free heap=2 at=0x1000 stack=f:1<g:2 stream=0\n");
    }
}
END_TEST

/* A frame that stands in many stacks is written once, and referred to from then on: between frames that are new, too. */
START_TEST(each_frame_may_be_shared_by_reference)
{
    static const int protocols_of_python[] = {2, 3, 4, 5};

    for (size_t i = 0; i < COUNT(protocols_of_python); i++) {
        static const char *const names[] = {"a", "b", "c", "d", "e", "f"};
        static const int stacks[][6] = {{0, 1, 2}, {3, 1, 2, 4}, {5, 1, 3, 0, 4, 2}, {1}};
        static const int depths[] = {3, 4, 6, 1};
        uint64_t written[COUNT(names)] = {0};
        pickle_builder builder = pickle_new(protocols_of_python[i]);
        source_log log;

        pickle_dict(&builder, 1);
        pickle_text(&builder, "device_traces");
        pickle_list(&builder, 1);
        pickle_list(&builder, COUNT(stacks));
        for (size_t k = 0; k < COUNT(stacks); k++) {
            pickle_dict(&builder, 4);
            pickle_text(&builder, "action");
            pickle_text(&builder, "alloc");
            pickle_text(&builder, "addr");
            pickle_int(&builder, (int64_t)(0x1000 * (k + 1)));
            pickle_text(&builder, "size");
            pickle_int(&builder, 1);
            pickle_text(&builder, "frames");
            pickle_list(&builder, (uint64_t)depths[k]);
            for (int m = 0; m < depths[k]; m++) {
                int frame = stacks[k][m];

                if (written[frame] != 0) {
                    pickle_get(&builder, written[frame] - 1);
                    continue;
                }
                written[frame] = 1 + pickle_dict(&builder, 2);
                pickle_text(&builder, "name");
                pickle_text(&builder, names[frame]);
                pickle_text(&builder, "line");
                pickle_int(&builder, frame + 1);
                pickle_end(&builder);
            }
            pickle_end(&builder);
            pickle_end(&builder);
        }
        pickle_end(&builder);
        pickle_end(&builder);
        pickle_end(&builder);
        log = read_built(&builder);
        expect(&log, "0 alloc heap=2 at=0x1000 requested=1 stack=a:1<b:2<c:3\n"
                     "1 alloc heap=2 at=0x2000 requested=1 stack=d:4<b:2<c:3<e:5\n"
                     "2 alloc heap=2 at=0x3000 requested=1 stack=f:6<b:2<d:4<a:1<e:5<c:3\n"
                     "3 alloc heap=2 at=0x4000 requested=1 stack=b:2\n");
    }
}
END_TEST

/* ---- Times, dialects and annotations ----------------------------------------------------------------------------- */

static void put_settings(pickle_builder *builder)
{
    pickle_text(builder, "allocator_settings");
    pickle_dict(builder, 3);
    pickle_text(builder, "PYTORCH_CUDA_ALLOC_CONF");
    pickle_text(builder, "expandable_segments:True");
    pickle_text(builder, "garbage_collection_threshold");
    pickle_float(builder, 0.5);
    pickle_text(builder, "roundup_power2_divisions");
    pickle_dict(builder, 2);
    pickle_text(builder, "1");
    pickle_int(builder, 0);
    pickle_text(builder, "2");
    pickle_int(builder, 0);
    pickle_end(builder);
    pickle_end(builder);
}

/* A clock that goes back puts nothing before what came before it on its device. */
START_TEST(traces_of_several_devices_are_one_stream_by_their_times)
{
    static const snapshot_entry first[] = {
        {.action = "alloc", .address = 0x1000, .size = 1, .time_us = 1005},
        {.action = "alloc", .address = 0x2000, .size = 2, .time_us = 1001},
        {.action = "free", .address = 0x1000, .size = 1, .time_us = 1009},
    };
    static const snapshot_entry second[] = {
        {.action = "alloc", .address = 0x1000, .size = 3, .time_us = 1004},
        {.action = "alloc", .address = 0x2000, .size = 4, .time_us = 1005},
        {.action = "alloc", .address = 0x3000, .size = 5, .time_us = 1007},
        {.action = "alloc", .address = 0x4000, .size = 6, .time_us = 1010},
    };
    static const trace traces[] = {{first, COUNT(first)}, {NULL, 0}, {second, COUNT(second)}};

    expect_document(NULL, 0, traces, 3,
                    "0 alloc heap=5 at=0x1000 requested=3 stream=0 t=3000\n"
                    "1 alloc heap=2 at=0x1000 requested=1 stream=0 t=4000\n"
                    "2 alloc heap=2 at=0x2000 requested=2 stream=0 t=0\n"
                    "3 alloc heap=5 at=0x2000 requested=4 stream=0 t=4000\n"
                    "4 alloc heap=5 at=0x3000 requested=5 stream=0 t=6000\n"
                    "5 free heap=2 at=0x1000 stream=0 t=8000\n"
                    "6 alloc heap=5 at=0x4000 requested=6 stream=0 t=9000\n");
}
END_TEST

/* Nobody knows what came between what: each is a process of its own. */
START_TEST(devices_without_times_are_judged_each_by_itself)
{
    static const snapshot_entry entries[] = {{.action = "alloc", .address = 0x1000, .size = 1, .time_us = 1005},
                                             {.action = "alloc", .address = 0x2000, .size = 1}};
    static const trace traces[] = {{entries, 2}, {entries, 1}};
    pickle_builder builder = pickle_new(4);
    source_log log;

    put_document(&builder, NULL, 0, traces, 2);
    log = read_built(&builder);
    ck_assert_int_eq(log.summary.order_kind, NM_ORDER_FILE);
    ck_assert_uint_eq(log.summary.step_device_id, 0);
    for (uint64_t device = 1; device <= 2; device++) {
        ck_assert_ptr_nonnull(source_log_find(&log, NM_DEFINE_PROCESS, device));
        ck_assert_uint_eq(source_log_find(&log, NM_DEFINE_DEVICE, device)->device.process_id, device);
        ck_assert_uint_eq(source_log_find(&log, NM_DEFINE_HEAP, 3 * device - 1)->heap.process_id, device);
    }
    expect(&log, "0 alloc heap=2 at=0x1000 requested=1 stream=0 t=0\n"
                 "1 alloc heap=2 at=0x2000 requested=1 stream=0\n"
                 "2 alloc heap=5 at=0x1000 requested=1 stream=0 t=0\n");
}
END_TEST

/* torch's own pool of host memory: a trace, and segments of a device -1. */
START_TEST(host_traces_and_segments_are_a_heap_of_pinned_memory)
{
    static const snapshot_frame stack[] = {{"pin", "loader.py", 5}, {0}};
    static const snapshot_entry device[] = {{.action = "alloc", .address = 0x1000, .size = 1, .time_us = 1002}};
    static const snapshot_entry host[] = {
        {.action = "segment_alloc", .address = 0x8000, .size = 1024, .time_us = 1001, .frames = stack},
        {.action = "alloc", .address = 0x8000, .size = 600, .time_us = 1001, .frames = stack},
        {.action = "free_completed", .address = 0x9000, .size = 300, .time_us = 1003},
    };
    static const trace traces[] = {{device, 1}};
    static const snapshot_block blocks[] = {{0x8000, 1024, 600, "active_allocated", stack}};
    static const snapshot_block older[] = {{0xa000, 512, 500, "active_allocated", stack}};
    static const block_list segments[] = {{{-1, 0x8000, 1024, 0, false, {0, 0}}, blocks, 1},
                                          {{-1, 0xa000, 512, 0, false, {0, 0}}, older, 1},
                                          {{-1, 0x9000, 512, 0, false, {0, 0}}, NULL, 0}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        source_log log;

        pickle_dict(&builder, 3);
        if (i % 2 == 0)
            put_traces(&builder, traces, 1);
        pickle_text(&builder, "host_traces");
        pickle_list(&builder, COUNT(host));
        for (size_t entry = 0; entry < COUNT(host); entry++)
            snapshot_put_entry(&builder, &host[entry]);
        pickle_end(&builder);
        put_list_of_segments(&builder, "host_segments", segments, 3);
        if (i % 2 != 0)
            put_traces(&builder, traces, 1);
        pickle_end(&builder);
        log = read_built(&builder);
        ck_assert_msg(log.status == NM_END, "byte %" PRIu64 ": %s", log.err.offset, log.err.text);
        const nm_definition *heap = source_log_find(&log, NM_DEFINE_HEAP, 5);
        ck_assert(heap->heap.level == NM_LEVEL_PINNED && heap->heap.device_id == 0 && heap->heap.process_id == 1);
        ck_assert_str_eq(log.strings[heap->heap.name], "pinned memory");
        ck_assert_uint_eq(log.summary.step_device_id, 1);
        expect(&log, "base reserved heap=5 block=512\n"
                     "base reserved heap=5 block=1024\n"
                     "base alloc heap=5 at=0x9000 requested=300 PENDING\n"
                     "base alloc heap=5 at=0xa000 requested=500 block=512 stack=pin:5\n"
                     "0 reserved heap=5 block=2048 t=0\n"
                     "1 alloc heap=5 at=0x8000 requested=600 stack=pin:5 t=0\n"
                     "2 alloc heap=2 at=0x1000 requested=1 stream=0 t=1000\n"
                     "3 free heap=5 at=0x9000 t=2000\n");
    }
}
END_TEST

START_TEST(times_count_from_the_earliest_entry)
{
    static const snapshot_entry first[] = {
        {.action = "alloc", .address = 0x1000, .size = 1, .time_us = 1700000000000007},
        {.action = "free_completed", .address = 0x1000, .size = 1, .time_us = 1700000000000007},
        {.action = "oom", .address = 5, .size = 2, .time_us = 1700000000000009},
    };
    static const snapshot_entry second[] = {{.action = "snapshot", .time_us = 1700000000000001}};
    static const trace traces[] = {{first, 3}, {second, 1}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        source_log log;

        pickle_dict(&builder, 3);
        put_segments(&builder, NULL, 0);
        put_traces(&builder, traces, 2);
        put_settings(&builder);
        pickle_end(&builder);
        log = read_built(&builder);
        ck_assert_msg(log.status == NM_END, "byte %" PRIu64 ": %s", log.err.offset, log.err.text);
        ck_assert_str_eq(log.summary.kind, "torch snapshot");
        ck_assert_int_eq(log.summary.order_kind, NM_ORDER_CLOCK);
        ck_assert_uint_eq(log.summary.step_device_id, 1);
        ck_assert_int_eq(log.summary.start_realtime_ns, 1700000000000001000);
        ck_assert(log.summary.is_finished && log.summary.is_complete);
        ck_assert_str_eq(log.strings[source_log_find(&log, NM_DEFINE_DEVICE, 1)->device.device_kind], "gpu");
        expect(&log, "0 mark t=0 name=snapshot\n"
                     "1 alloc heap=2 at=0x1000 requested=1 stream=0 t=6000\n"
                     "2 free heap=2 at=0x1000 stream=0 t=6000\n"
                     "3 alloc_failed heap=2 requested=2 stream=0 t=8000 free=5 error=2\n");
    }
}
END_TEST

START_TEST(without_times_or_settings_it_is_torch_npu)
{
    static const snapshot_entry entries[] = {{.action = "oom", .address = 5, .size = 2}};
    static const trace traces[] = {{entries, 1}};
    pickle_builder builder = pickle_new(4);
    source_log log;

    put_document(&builder, NULL, 0, traces, 1);
    log = read_built(&builder);
    ck_assert_int_eq(log.status, NM_END);
    ck_assert_str_eq(log.summary.kind, "torch_npu snapshot");
    ck_assert_int_eq(log.summary.start_realtime_ns, NM_NO_TIME);
    ck_assert_str_eq(log.strings[source_log_find(&log, NM_DEFINE_DEVICE, 1)->device.device_kind], "npu");
    ck_assert_int_eq(source_log_find(&log, NM_DEFINE_PROCESS, 1)->process.pid, NM_UNKNOWN_NUMBER);
    expect(&log, "0 alloc_failed heap=2 requested=2 stream=0 free=5 error=207001\n");
}
END_TEST

static const char *kind_by(const snapshot_frame *frames, const char *setting, int64_t *oom_code)
{
    static char kind[16];
    snapshot_entry entry = {.action = "oom", .address = 5, .size = 2, .frames = frames};
    pickle_builder builder = pickle_new(4);
    source_log log;

    pickle_dict(&builder, setting == NULL ? 1 : 2);
    put_traces(&builder, &(trace){&entry, 1}, 1);
    if (setting != NULL) {
        pickle_text(&builder, "allocator_settings");
        pickle_dict(&builder, 2);
        pickle_text(&builder, setting);
        pickle_text(&builder, "");
        pickle_text(&builder, "roundup_power2_divisions");
        pickle_dict(&builder, 0);
        pickle_end(&builder);
        pickle_end(&builder);
    }
    pickle_end(&builder);
    log = read_built(&builder);
    ck_assert_msg(log.status == NM_END, "%s", log.err.text);
    *oom_code = log.events.items[0].error_code;
    snprintf(kind, sizeof kind, "%s", log.strings[source_log_find(&log, NM_DEFINE_DEVICE, 1)->device.device_kind]);
    source_log_free(&log);
    return kind;
}

/* None of these files has times: old ones of torch have not, as those of torch_npu. */
START_TEST(frames_and_settings_say_whose_device_it_is)
{
    static const snapshot_frame none[] = {{"train", "/p/train.py", 1}, {0}};
    static const snapshot_frame cuda[] = {
        {"c10::cuda::CUDACachingAllocator::malloc", "??", 0}, {"f", "/p/a.py", 1}, {0}};
    static const snapshot_frame cuda_line[] = {{"empty_cache", "/x/torch/cuda/memory.py", 162}, {0}};
    static const snapshot_frame npu[] = {
        {"init", "/x/torch/cuda/__init__.py", 9}, {"c10_npu::NPUCachingAllocator::malloc", "??", 0}, {0}};
    static const snapshot_frame npu_line[] = {{"patched", "/x/torch_npu/utils/z_module.py", 3}, {0}};
    static const struct {
        const snapshot_frame *frames;
        const char *setting, *kind;
        int64_t oom_code;
    } cases[] = {
        {none, NULL, "npu", 207001},
        {cuda, NULL, "gpu", 2},
        {cuda_line, NULL, "gpu", 2},
        {npu, NULL, "npu", 207001},
        {npu_line, "PYTORCH_CUDA_ALLOC_CONF", "npu", 207001},
        {none, "PYTORCH_CUDA_ALLOC_CONF", "gpu", 2},
        {none, "PYTORCH_NPU_ALLOC_CONF", "npu", 207001},
        {none, "max_split_size", "device", NM_UNKNOWN_NUMBER},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t oom_code;

        ck_assert_str_eq(kind_by(cases[i].frames, cases[i].setting, &oom_code), cases[i].kind);
        ck_assert_int_eq(oom_code, cases[i].oom_code);
    }
}
END_TEST

/* With times and without settings it is anybody's: what the device answered is not known, which is not 0. */
START_TEST(of_an_unknown_dialect_the_code_of_a_failure_is_unknown)
{
    static const snapshot_entry entries[] = {{.action = "oom", .address = 5, .size = 2, .time_us = 1000}};
    static const trace traces[] = {{entries, 1}};
    pickle_builder builder = pickle_new(4);
    source_log log;

    put_document(&builder, NULL, 0, traces, 1);
    log = read_built(&builder);
    ck_assert_int_eq(log.status, NM_END);
    ck_assert_int_eq(log.events.items[0].error_code, NM_UNKNOWN_NUMBER);
    source_log_free(&log);
}
END_TEST

/* Annotations in the file's order: of two devices, nested, one END without a START, one name twice at once. */
static void put_annotations(pickle_builder *builder, bool has_times)
{
    static const struct {
        const char *stage, *name;
        int64_t device, time_us;
    } list[] = {
        {"START", "step", 0, 900}, {"START", "op", 0, 1000},  {"START", "other", 1, 1001}, {"END", "op", 0, 1001},
        {"START", "op", 0, 1001},  {"START", "op", 0, 1002},  {"END", "op", 0, 1002},      {"END", "op", 0, 1003},
        {"END", "step", 0, 5000},  {"END", "other", 1, 1001}, {"END", "lost", 1, 9000},
    };

    pickle_text(builder, "external_annotations");
    pickle_list(builder, COUNT(list));
    for (size_t i = 0; i < COUNT(list); i++)
        snapshot_put_annotation(builder, list[i].stage, list[i].name, list[i].device,
                                has_times ? list[i].time_us : SNAPSHOT_NO_TIME);
    pickle_end(builder);
}

START_TEST(annotations_stand_where_their_times_put_them)
{
    static const snapshot_entry first[] = {
        {.action = "alloc", .address = 0x1000, .size = 1, .time_us = 1000},
        {.action = "alloc", .address = 0x2000, .size = 1, .time_us = 1001},
        {.action = "alloc", .address = 0x3000, .size = 1, .time_us = 1004},
    };
    static const snapshot_entry second[] = {{.action = "alloc", .address = 0x1000, .size = 1, .time_us = 1001}};
    static const trace traces[] = {{first, 3}, {second, 1}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        source_log log;

        pickle_dict(&builder, 2);
        if (i % 2 == 0)
            put_annotations(&builder, true);
        put_traces(&builder, traces, 2);
        if (i % 2 != 0)
            put_annotations(&builder, true);
        pickle_end(&builder);
        log = read_built(&builder);
        ck_assert_uint_eq(log.summary.events_seen, 4);
        ck_assert_uint_eq(log.summary.events_ingested, 4);
        ck_assert_uint_eq(log.events.items[0].detail, NM_RANGE_ANNOTATION);
        ck_assert_uint_eq(log.events.items[0].device_id, 1);
        expect(&log, "0 begin t=-100000 number=1 name=step\n"
                     "0 begin t=0 number=2 name=op\n"
                     "0 alloc heap=2 at=0x1000 requested=1 stream=0 t=0\n"
                     "1 begin t=1000 number=3 name=other\n"
                     "1 end t=1000 number=2\n"
                     "1 begin t=1000 number=5 name=op\n"
                     "1 end t=1000 number=3\n"
                     "1 alloc heap=2 at=0x2000 requested=1 stream=0 t=1000\n"
                     "2 alloc heap=5 at=0x1000 requested=1 stream=0 t=1000\n"
                     "3 begin t=2000 number=7 name=op\n"
                     "3 end t=2000 number=7\n"
                     "3 end t=3000 number=5\n"
                     "3 alloc heap=2 at=0x3000 requested=1 stream=0 t=4000\n"
                     "4 end t=4000000 number=1\n"
                     "4 end t=8000000 number=11\n");
    }
}
END_TEST

/* The ring of entries has wrapped: what is left begins with the end of a block of before, in the third step. */
START_TEST(ranges_that_were_over_before_a_wrapped_ring_begins_are_left_out)
{
    static const struct {
        const char *stage, *name;
        int64_t time_us;
    } list[] = {
        {"START", "step 1", 100}, {"END", "step 1", 200},  {"START", "step 2", 300}, {"END", "step 2", 1000},
        {"START", "step 3", 950}, {"END", "step 3", 1500}, {"START", "open", 400},
    };
    static const snapshot_entry wrapped[] = {
        {.action = "free_completed", .address = 0x1000, .size = 1, .time_us = 1000},
        {.action = "alloc", .address = 0x2000, .size = 1, .time_us = 2000},
    };
    static const snapshot_entry whole[] = {
        {.action = "alloc", .address = 0x1000, .size = 1, .time_us = 1000},
        {.action = "alloc", .address = 0x2000, .size = 1, .time_us = 2000},
    };

    for (int is_wrapped = 0; is_wrapped < 2; is_wrapped++) {
        trace entries = {is_wrapped ? wrapped : whole, 2};
        pickle_builder builder = pickle_new(4);
        source_log log;

        pickle_dict(&builder, 2);
        pickle_text(&builder, "external_annotations");
        pickle_list(&builder, COUNT(list));
        for (size_t i = 0; i < COUNT(list); i++)
            snapshot_put_annotation(&builder, list[i].stage, list[i].name, 0, list[i].time_us);
        pickle_end(&builder);
        put_traces(&builder, &entries, 1);
        pickle_end(&builder);
        log = read_built(&builder);
        expect(&log, is_wrapped ? "base alloc heap=2 at=0x1000 requested=1 stream=0 PENDING\n"
                                  "0 begin t=-600000 number=4 name=open\n"
                                  "0 begin t=-50000 number=5 name=step 3\n"
                                  "0 free heap=2 at=0x1000 stream=0 t=0\n"
                                  "1 end t=500000 number=5\n"
                                  "1 alloc heap=2 at=0x2000 requested=1 stream=0 t=1000000\n"
                                : "0 begin t=-900000 number=1 name=step 1\n"
                                  "0 end t=-800000 number=1\n"
                                  "0 begin t=-700000 number=3 name=step 2\n"
                                  "0 begin t=-600000 number=4 name=open\n"
                                  "0 begin t=-50000 number=5 name=step 3\n"
                                  "0 end t=0 number=3\n"
                                  "0 alloc heap=2 at=0x1000 requested=1 stream=0 t=0\n"
                                  "1 end t=500000 number=5\n"
                                  "1 alloc heap=2 at=0x2000 requested=1 stream=0 t=1000000\n");
    }
}
END_TEST

START_TEST(annotations_without_a_place_come_after_the_entries)
{
    static const snapshot_entry entries[] = {{.action = "alloc", .address = 0x1000, .size = 1}};
    static const trace traces[] = {{entries, 1}};
    pickle_builder builder = pickle_new(4);
    source_log log;

    pickle_dict(&builder, 2);
    put_annotations(&builder, false);
    put_traces(&builder, traces, 1);
    pickle_end(&builder);
    log = read_built(&builder);
    expect(&log, "0 alloc heap=2 at=0x1000 requested=1 stream=0\n"
                 "1 begin number=1 name=step\n"
                 "1 begin number=2 name=op\n"
                 "1 end number=2\n"
                 "1 begin number=4 name=op\n"
                 "1 begin number=5 name=op\n"
                 "1 end number=5\n"
                 "1 end number=4\n"
                 "1 end number=1\n"
                 "1 begin number=9 name=other\n"
                 "1 end number=9\n"
                 "1 end number=11\n");
}
END_TEST

/* ---- Other versions ---------------------------------------------------------------------------------------------- */

START_TEST(a_list_of_segments_alone_is_a_snapshot)
{
    /* As the first versions wrote it: no addresses in blocks, the requested size and the stack in a history. */
    static const snapshot_frame stack[] = {{"f", "x.py", 1}, {0}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        source_log log;

        pickle_list(&builder, 1);
        pickle_dict(&builder, 4);
        pickle_text(&builder, "device");
        pickle_int(&builder, 2);
        pickle_text(&builder, "address");
        pickle_int(&builder, 0x10000);
        pickle_text(&builder, "total_size");
        pickle_int(&builder, 2048);
        pickle_text(&builder, "blocks");
        pickle_list(&builder, 3);
        for (int block = 0; block < 3; block++) {
            pickle_dict(&builder, block == 1 ? 3 : 2);
            pickle_text(&builder, "size");
            pickle_int(&builder, block == 2 ? 1024 : 512);
            pickle_text(&builder, "state");
            pickle_text(&builder, block == 2 ? "inactive" : "active_allocated");
            if (block == 1) {
                pickle_text(&builder, "history");
                pickle_list(&builder, 2);
                for (int past = 0; past < 2; past++) {
                    pickle_dict(&builder, 2);
                    pickle_text(&builder, "real_size");
                    pickle_int(&builder, past == 0 ? 300 : 200);
                    pickle_text(&builder, "frames");
                    snapshot_put_frames(&builder, past == 0 ? stack : NULL);
                    pickle_end(&builder);
                }
                pickle_end(&builder);
            }
            pickle_end(&builder);
        }
        pickle_end(&builder);
        pickle_end(&builder);
        pickle_end(&builder);
        log = read_built(&builder);
        ck_assert_msg(log.status == NM_END, "protocol %d, byte %" PRIu64 ": %s", protocols[i], log.err.offset,
                      log.err.text);
        ck_assert_uint_eq(log.summary.events_seen, 0);
        ck_assert_str_eq(log.strings[source_log_find(&log, NM_DEFINE_DEVICE, 1)->device.device_kind], "gpu");
        ck_assert_str_eq(log.summary.kind, "torch snapshot");
        expect(&log, "base alloc heap=1 at=0x10000 requested=2048 block=2048 SEGMENT\n"
                     "base alloc heap=2 at=0x10000 requested=512 block=512\n"
                     "base alloc heap=2 at=0x10200 requested=300 block=512 stack=f:1\n"
                     "end segment heap=2 at=0x10000 block=2048 occupied=1024\n"
                     "end block heap=2 at=0x10000 block=512\n"
                     "end block heap=2 at=0x10200 requested=300 block=512 stack=f:1\n"
                     "end block heap=2 at=0x10400 block=1024 IDLE\n");
    }
}
END_TEST

START_TEST(what_is_not_known_is_skipped)
{
    static const snapshot_frame stack[] = {{"host", "x.py", 1}, {0}};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = pickle_new(protocols[i]);
        snapshot_entry entry = {.action = "alloc", .address = 0x1000, .size = 1};
        source_log log;

        pickle_dict(&builder, 5);
        pickle_text(&builder, "a new part");
        pickle_list(&builder, 3);
        pickle_int(&builder, 1);
        pickle_dict(&builder, 0);
        pickle_end(&builder);
        pickle_list(&builder, 1);
        pickle_text(&builder, "x");
        pickle_end(&builder);
        pickle_end(&builder);
        pickle_text(&builder, "host_traces");
        pickle_list(&builder, 1);
        pickle_list(&builder, 1);
        pickle_dict(&builder, 2);
        pickle_text(&builder, "action");
        pickle_text(&builder, "alloc");
        pickle_text(&builder, "frames");
        entry.shared_frames = snapshot_put_frames(&builder, stack);
        pickle_end(&builder);
        pickle_end(&builder);
        pickle_end(&builder);
        pickle_text(&builder, "external_annotations");
        pickle_none(&builder);
        pickle_text(&builder, "device_traces");
        pickle_list(&builder, 1);
        pickle_list(&builder, 1);
        snapshot_put_entry(&builder, &entry);
        pickle_end(&builder);
        pickle_end(&builder);
        pickle_text(&builder, "another");
        pickle_pair(&builder, 1, 2);
        pickle_end(&builder);
        log = read_built(&builder);
        expect(&log, "0 note number=2 name=a new part\n"
                     "0 alloc heap=2 at=0x1000 requested=1 stack=host:1 stream=0\n");
    }
}
END_TEST

START_TEST(fields_of_frames_that_are_not_known_are_skipped)
{
    pickle_builder builder = pickle_new(4);
    source_log log;

    pickle_dict(&builder, 1);
    pickle_text(&builder, "device_traces");
    pickle_list(&builder, 1);
    pickle_list(&builder, 1);
    pickle_dict(&builder, 5);
    pickle_text(&builder, "action");
    pickle_text(&builder, "alloc");
    pickle_text(&builder, "addr");
    pickle_int(&builder, 0x1000);
    pickle_text(&builder, "size");
    pickle_int(&builder, 8);
    pickle_text(&builder, "compile_context");
    pickle_none(&builder);
    pickle_text(&builder, "frames");
    pickle_list(&builder, 1);
    pickle_dict(&builder, 6);
    pickle_text(&builder, "filename");
    pickle_text(&builder, "fx.py");
    pickle_text(&builder, "line");
    pickle_int(&builder, 12);
    pickle_text(&builder, "name");
    pickle_text(&builder, "call");
    pickle_text(&builder, "fx_node_op");
    pickle_fresh_text(&builder, "call_function");
    pickle_text(&builder, "fx_node_info");
    pickle_dict(&builder, 2);
    pickle_text(&builder, "name");
    pickle_text(&builder, "not this one");
    pickle_text(&builder, "line");
    pickle_int(&builder, 99);
    pickle_end(&builder);
    pickle_text(&builder, "fx_original_trace");
    pickle_fresh_text(&builder, "a long text");
    pickle_end(&builder);
    pickle_end(&builder);
    pickle_end(&builder);
    pickle_end(&builder);
    pickle_end(&builder);
    pickle_end(&builder);
    log = read_built(&builder);
    expect(&log, "0 alloc heap=2 at=0x1000 requested=8 stack=call:12\n");
}
END_TEST

/* ---- Bad input --------------------------------------------------------------------------------------------------- */

static void expect_failure(pickle_builder *builder, nm_status status, const char *text)
{
    size_t len;
    source_log log;

    pickle_stop(builder);
    len = builder->bytes.len;
    source_log_read_bytes(&log, builder->bytes.data, len);
    pickle_free(builder);
    ck_assert_int_eq(log.status, status);
    ck_assert_msg(strstr(log.err.text, text) != NULL, "'%s' does not hold '%s'", log.err.text, text);
    ck_assert_uint_le(log.err.offset, len);
    ck_assert_uint_eq(log.events.count, 0);
    source_log_free(&log);
}

/* A document whose one entry is {'action': 'alloc', KEY: VALUE by the callback, the rest as it should be}. */
static pickle_builder with_field(const char *key, void (*put)(pickle_builder *builder))
{
    static const char *const keys[] = {"action", "addr", "size", "stream", "time_us", "frames"};
    pickle_builder builder = pickle_new(4);

    pickle_dict(&builder, 1);
    pickle_text(&builder, "device_traces");
    pickle_list(&builder, 1);
    pickle_list(&builder, 1);
    pickle_dict(&builder, COUNT(keys) - (put == NULL));
    for (size_t i = 0; i < COUNT(keys); i++) {
        bool is_key = strcmp(keys[i], key) == 0;

        if (is_key && put == NULL)
            continue;
        pickle_text(&builder, keys[i]);
        if (is_key)
            put(&builder);
        else if (i == 0)
            pickle_text(&builder, "alloc");
        else if (i == 5)
            snapshot_put_frames(&builder, NULL);
        else
            pickle_int(&builder, 8);
    }
    for (int i = 0; i < 4; i++)
        pickle_end(&builder);
    return builder;
}

static void put_word(pickle_builder *builder)
{
    pickle_text(builder, "word");
}

static void put_seven(pickle_builder *builder)
{
    pickle_int(builder, 7);
}

static void put_many_years(pickle_builder *builder)
{
    pickle_int(builder, INT64_MAX);
}

static void put_numbers(pickle_builder *builder)
{
    pickle_list(builder, 2);
    pickle_int(builder, 1);
    pickle_int(builder, 2);
    pickle_end(builder);
}

START_TEST(fields_of_the_wrong_type_are_refused)
{
    static const struct {
        const char *key;
        void (*put)(pickle_builder *builder);
        const char *text;
    } wrong[] = {
        {"action", put_seven, "action is of an unexpected type"},
        {"action", NULL, "a trace entry has no action"},
        {"addr", put_word, "addr is of an unexpected type"},
        {"addr", pickle_none, "no addr or no size"},
        {"addr", NULL, "no addr or no size"},
        {"size", put_word, "size is of an unexpected type"},
        {"size", NULL, "no addr or no size"},
        {"stream", put_word, "stream is of an unexpected type"},
        {"time_us", put_many_years, "time of a trace entry is out of range"},
        {"frames", put_word, "frames is of an unexpected type"},
        {"frames", put_numbers, "a frame is no dictionary"},
    };

    for (size_t i = 0; i < COUNT(wrong); i++) {
        pickle_builder builder = with_field(wrong[i].key, wrong[i].put);

        expect_failure(&builder, NM_ERR_FORMAT, wrong[i].text);
    }
}
END_TEST

START_TEST(segments_and_blocks_of_the_wrong_shape_are_refused)
{
    static const snapshot_segment good = {0, 0x1000, 4096, 0, false, {0, 0}};
    static const snapshot_segment negative = {-1, 0x1000, 4096, 0, false, {0, 0}};
    static const snapshot_segment far = {1 << 20, 0x1000, 4096, 0, false, {0, 0}};
    pickle_builder builder = pickle_new(4);

    put_document(&builder, &(block_list){negative, NULL, 0}, 1, NULL, 0);
    expect_failure(&builder, NM_ERR_FORMAT, "device of a segment is out of range");

    builder = pickle_new(4);
    put_document(&builder, &(block_list){far, NULL, 0}, 1, NULL, 0);
    expect_failure(&builder, NM_ERR_FORMAT, "device of a segment is out of range");

    builder = pickle_new(4);
    pickle_list(&builder, 1);
    pickle_dict(&builder, 2);
    pickle_text(&builder, "address");
    pickle_int(&builder, (int64_t)good.address);
    pickle_text(&builder, "blocks");
    pickle_list(&builder, 0);
    pickle_end(&builder);
    pickle_end(&builder);
    pickle_end(&builder);
    expect_failure(&builder, NM_ERR_FORMAT, "a segment has no address or no total_size");

    builder = pickle_new(4);
    pickle_list(&builder, 2);
    pickle_int(&builder, 1);
    pickle_int(&builder, 2);
    pickle_end(&builder);
    expect_failure(&builder, NM_ERR_FORMAT, "a list holds something else");
}
END_TEST

START_TEST(other_pickles_are_told_from_snapshots)
{
    static const uint8_t names_a_class[] = "\x80\x04\x8c\x02os\x94\x8c\x06system\x94\x93\x94.";
    pickle_builder builder = pickle_new(4);
    source_log log;

    pickle_dict(&builder, 1);
    pickle_text(&builder, "weights");
    pickle_list(&builder, 0);
    pickle_end(&builder);
    pickle_end(&builder);
    expect_failure(&builder, NM_ERR_FORMAT, "no memory snapshot");

    builder = pickle_new(4);
    pickle_int(&builder, 5);
    expect_failure(&builder, NM_ERR_FORMAT, "no memory snapshot");

    source_log_read_bytes(&log, names_a_class, sizeof names_a_class - 1);
    ck_assert_int_eq(log.status, NM_ERR_FORMAT);
    ck_assert_str_eq(log.err.text, "opcode STACK_GLOBAL would name a class: refused");
    ck_assert_uint_eq(log.err.offset, 16);
    source_log_free(&log);

    source_log_read_bytes(&log, "\x80\x06]\x2e", 4);
    ck_assert_int_eq(log.status, NM_ERR_VERSION);
    source_log_free(&log);
}
END_TEST

/* A small snapshot with something of everything. */
static pickle_builder small_snapshot(int protocol)
{
    static const snapshot_frame stack[] = {{"f", "x.py", 1}, {"g", "x.py", 2}, {0}};
    static const snapshot_entry entries[] = {
        {.action = "segment_map", .address = 0x200000, .size = 2 * MIB, .time_us = 5},
        {.action = "alloc", .address = 0x200000, .size = 1, .frames = stack, .time_us = 6, .has_pool = true},
        {.action = "free_completed", .address = 0x300000, .size = 9, .time_us = 7},
    };
    static const snapshot_block blocks[] = {{0x200000, 2 * MIB, 1, "active_allocated", stack}};
    static const block_list segments[] = {{{0, 0x200000, 2 * MIB, 7, true, {0, 1}}, blocks, 1}};
    static const trace traces[] = {{entries, COUNT(entries)}, {NULL, 0}};
    pickle_builder builder = pickle_new(protocol);

    pickle_dict(&builder, 4);
    put_segments(&builder, segments, 1);
    put_traces(&builder, traces, 2);
    put_settings(&builder);
    put_annotations(&builder, true);
    pickle_end(&builder);
    pickle_stop(&builder);
    return builder;
}

START_TEST(cut_at_every_byte_it_fails_inside_the_file)
{
    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = small_snapshot(protocols[i]);

        for (size_t len = 0; len < builder.bytes.len; len++) {
            source_log log;

            source_log_read_bytes(&log, builder.bytes.data, len);
            ck_assert_msg(log.status == NM_ERR_FORMAT, "protocol %d cut at %zu gives status %d", protocols[i], len,
                          log.status);
            ck_assert(len == 0 || log.err.offset <= len);
            ck_assert_uint_gt(strlen(log.err.text), 0);
            source_log_free(&log);
        }
        pickle_free(&builder);
    }
}
END_TEST

START_TEST(every_byte_changed_neither_crashes_nor_hangs)
{
    static const uint8_t flips[] = {0x01, 0x80, 0xff, 0x10};

    for (size_t i = 0; i < COUNT(protocols); i++) {
        pickle_builder builder = small_snapshot(protocols[i]);

        for (size_t at = 0; at < builder.bytes.len; at++) {
            uint8_t *byte = &builder.bytes.data[at];
            uint8_t flip = flips[(at + i) % COUNT(flips)];
            source_log log;

            *byte ^= flip;
            source_log_read_bytes(&log, builder.bytes.data, builder.bytes.len);
            ck_assert_msg(log.status != NM_OK, "byte %zu", at);
            ck_assert_uint_lt(log.events.count, 1000);
            source_log_free(&log);
            *byte ^= flip;
        }
        pickle_free(&builder);
    }
}
END_TEST

START_TEST(a_pipe_gives_what_a_file_gives)
{
    pickle_builder builder = small_snapshot(4);
    source_log from_file, from_pipe;
    int ends[2];
    pid_t writer;

    source_log_read_bytes(&from_file, builder.bytes.data, builder.bytes.len);
    ck_assert_int_eq(from_file.status, NM_END);
    ck_assert_int_eq(pipe(ends), 0);
    writer = fork();
    if (writer == 0) {
        for (size_t i = 0; i < builder.bytes.len; i++)
            if (write(ends[1], builder.bytes.data + i, 1) != 1)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    source_log_read(&from_pipe, ends[0]);
    close(ends[0]);
    waitpid(writer, NULL, 0);
    ck_assert_msg(from_pipe.status == NM_END, "%s", from_pipe.err.text);
    ck_assert_str_eq((const char *)from_pipe.text.data, (const char *)from_file.text.data);
    source_log_free(&from_file);
    source_log_free(&from_pipe);
    pickle_free(&builder);
}
END_TEST

/* ---- A simulated allocator as the oracle ------------------------------------------------------------------------- */

/*
 * One device of 64 pages of 2 MiB, 32 for segments that are allocated and 32 for one that expands, four slots in a page.
 * It runs for a while; only the last operations are in the trace, as in a ring. What was there when the trace began is
 * known exactly.
 */
enum { PAGES = 64, SEGMENT_PAGES = 32, SLOTS = 4, PAGE_SHIFT = 21, SLOT_SHIFT = 19, OPERATIONS = 600 };

typedef struct simulated_slot {
    int state; /* 0 free, 1 allocated, 2 its free is requested */
    int64_t requested;
    int64_t stream;
} simulated_slot;

typedef struct simulation {
    int segment_at[PAGES]; /* 0 unmapped; below SEGMENT_PAGES 1 + first page of the segment, above: 1 when mapped */
    simulated_slot slots[PAGES * SLOTS];
} simulation;

typedef struct simulated_trace {
    snapshot_entry entries[OPERATIONS];
    size_t count;
} simulated_trace;

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static uint64_t address_of_page(int page)
{
    return ((uint64_t)page + 16) << PAGE_SHIFT;
}

static uint64_t address_of_slot(int slot)
{
    return address_of_page(0) + ((uint64_t)slot << SLOT_SHIFT);
}

static bool is_page_free(const simulation *device, int page)
{
    for (int i = 0; i < SLOTS; i++)
        if (device->slots[page * SLOTS + i].state != 0)
            return false;
    return true;
}

static void emit(simulated_trace *out, const char *action, uint64_t address, int64_t size, int64_t stream)
{
    out->entries[out->count++] = (snapshot_entry){.action = action, .address = address, .size = size, .stream = stream};
}

static void step_slot(simulation *device, simulated_trace *out)
{
    int index = (int)next_random((uint64_t)PAGES * SLOTS);
    simulated_slot *slot = &device->slots[index];
    uint64_t address = address_of_slot(index);

    if (device->segment_at[index / SLOTS] == 0)
        return;
    if (slot->state == 0) {
        *slot = (simulated_slot){1, (int64_t)next_random(1 << SLOT_SHIFT) + 1, (int64_t)next_random(3)};
        emit(out, "alloc", address, slot->requested, slot->stream);
    } else if (slot->state == 1) {
        slot->state = 2;
        emit(out, "free_requested", address, slot->requested, slot->stream);
    } else {
        slot->state = 0;
        emit(out, "free_completed", address, slot->requested, slot->stream);
    }
}

/* Allocates a segment of one to three pages at `page`, or frees the one that is there. */
static void step_segment(simulation *device, simulated_trace *out, int page)
{
    int first = device->segment_at[page] - 1;
    int end = first;

    if (first >= 0) {
        for (; end < SEGMENT_PAGES && device->segment_at[end] == first + 1; end++)
            if (!is_page_free(device, end))
                return;
        emit(out, "segment_free", address_of_page(first), (int64_t)(end - first) << PAGE_SHIFT, 1);
    } else {
        int wanted = 1 + (int)next_random(3);

        for (end = page; end < SEGMENT_PAGES && end < page + wanted && device->segment_at[end] == 0;)
            end++;
        emit(out, "segment_alloc", address_of_page(page), (int64_t)(end - page) << PAGE_SHIFT, 1);
    }
    for (int i = first >= 0 ? first : page; i < end; i++)
        device->segment_at[i] = first >= 0 ? 0 : page + 1;
}

/* Maps or unmaps one to four pages from `page` on. */
static void step_mapping(simulation *device, simulated_trace *out, int page)
{
    int is_mapped = device->segment_at[page];
    int wanted = 1 + (int)next_random(4);
    int end = page;

    while (end < PAGES && end < page + wanted && device->segment_at[end] == is_mapped && is_page_free(device, end))
        device->segment_at[end++] = !is_mapped;
    if (end > page)
        emit(out, is_mapped ? "segment_unmap" : "segment_map", address_of_page(page),
             (int64_t)(end - page) << PAGE_SHIFT, 1);
}

static void run(simulation *device, simulated_trace *out, size_t operations)
{
    out->count = 0;
    while (out->count < operations) {
        int page = (int)next_random(PAGES);

        if (next_random(8) > 0)
            step_slot(device, out);
        else if (page < SEGMENT_PAGES)
            step_segment(device, out, page);
        else
            step_mapping(device, out, page);
    }
}

/* Writes the pages from `first` to `end` as one segment. */
static void put_pages(pickle_builder *builder, const simulation *device, int number, int first, int end)
{
    static const char *const states[] = {"inactive", "active_allocated", "active_pending_free"};
    snapshot_block blocks[PAGES * SLOTS];
    size_t count = 0;

    for (int i = first * SLOTS; i < end * SLOTS; i++)
        blocks[count++] = (snapshot_block){address_of_slot(i), 1 << SLOT_SHIFT, device->slots[i].requested,
                                           states[device->slots[i].state], NULL};
    snapshot_put_segment(
        builder,
        &(snapshot_segment){
            number, address_of_page(first), (int64_t)(end - first) << PAGE_SHIFT, 1, first >= SEGMENT_PAGES, {0, 0}},
        blocks, count);
}

static int segment_end(const simulation *device, int first)
{
    int end = first + 1;

    while (end < PAGES && end != SEGMENT_PAGES && device->segment_at[end] == device->segment_at[first])
        end++;
    return end;
}

static uint64_t count_segments(const simulation *device)
{
    uint64_t count = 0;

    for (int page = 0; page < PAGES; page++) {
        if (device->segment_at[page] == 0)
            continue;
        page = segment_end(device, page) - 1;
        count++;
    }
    return count;
}

static void put_simulated_segments(pickle_builder *builder, const simulation *devices, int device_count)
{
    uint64_t count = 0;

    for (int i = 0; i < device_count; i++)
        count += count_segments(&devices[i]);
    pickle_text(builder, "segments");
    pickle_list(builder, count);
    for (int i = 0; i < device_count; i++) {
        for (int page = 0; page < PAGES; page++) {
            if (devices[i].segment_at[page] == 0)
                continue;
            put_pages(builder, &devices[i], i, page, segment_end(&devices[i], page));
            page = segment_end(&devices[i], page) - 1;
        }
    }
    pickle_end(builder);
}

/* Takes a baseline event off the state it should be a part of; what is left over at the end was not delivered. */
static void take_baseline(simulation *before, const nm_event *event)
{
    int page = (int)((event->address - address_of_page(0)) >> PAGE_SHIFT);

    if (event->heap_id % 3 == 1) { /* driver */
        ck_assert_int_eq(event->kind, page < SEGMENT_PAGES ? NM_EVENT_ALLOC : NM_EVENT_MAP);
        ck_assert_uint_ne(event->flags & NM_FLAG_SEGMENT, 0);
        for (uint64_t at = 0; at < event->block_bytes; at += UINT64_C(1) << PAGE_SHIFT, page++) {
            ck_assert_int_ne(before->segment_at[page], 0);
            before->segment_at[page] = 0;
        }
        return;
    }
    int index = (int)((event->address - address_of_page(0)) >> SLOT_SHIFT);
    simulated_slot *slot = &before->slots[index];
    bool is_pending = (event->flags & NM_FLAG_PENDING) != 0;
    ck_assert_int_eq(event->kind, NM_EVENT_ALLOC);
    ck_assert_int_ne(slot->state, 0);
    ck_assert_int_eq(slot->requested, (int64_t)event->requested_bytes);
    ck_assert_msg(is_pending == (slot->state == 2), "slot %d, state %d", index, slot->state);
    slot->state = 0;
}

static void expect_all_taken(const simulation *before)
{
    for (int page = 0; page < PAGES; page++)
        ck_assert_msg(before->segment_at[page] == 0, "page %d of the baseline was not delivered", page);
    for (int slot = 0; slot < PAGES * SLOTS; slot++)
        ck_assert_msg(before->slots[slot].state == 0, "slot %d of the baseline was not delivered", slot);
}

static void expect_same_entry(const nm_event *event, const snapshot_entry *entry)
{
    static const struct {
        const char *action;
        nm_event_kind kind;
        unsigned heap;
    } kinds[] = {
        {"alloc", NM_EVENT_ALLOC, 2},         {"free_requested", NM_EVENT_FREE_REQUESTED, 2},
        {"free_completed", NM_EVENT_FREE, 2}, {"segment_alloc", NM_EVENT_ALLOC, 1},
        {"segment_free", NM_EVENT_FREE, 1},   {"segment_map", NM_EVENT_MAP, 1},
        {"segment_unmap", NM_EVENT_UNMAP, 1},
    };
    size_t i = 0;

    while (strcmp(kinds[i].action, entry->action) != 0)
        i++;
    ck_assert_int_eq(event->kind, kinds[i].kind);
    ck_assert_uint_eq(event->heap_id % 3, kinds[i].heap);
    ck_assert_uint_eq(event->address, entry->address);
    ck_assert_uint_eq(event->stream, (uint64_t)entry->stream);
    if (i == 0)
        ck_assert_uint_eq(event->requested_bytes, (uint64_t)entry->size);
    if (i >= 3 && i != 4)
        ck_assert_uint_eq(event->block_bytes, (uint64_t)entry->size);
}

static void check_simulation(uint64_t seed, int protocol)
{
    static simulation before[2], devices[2];
    static simulated_trace traces[2];
    pickle_builder builder = pickle_new(protocol);
    source_log log;
    size_t at = 0;

    random_state = seed * 2654435761u + 88172645463325252u;
    memset(devices, 0, sizeof devices);
    for (int i = 0; i < 2; i++) {
        run(&devices[i], &traces[i], next_random(OPERATIONS));
        before[i] = devices[i];
        run(&devices[i], &traces[i], next_random(OPERATIONS));
    }
    pickle_dict(&builder, 2);
    if (seed % 2 == 0)
        put_simulated_segments(&builder, devices, 2);
    put_traces(&builder, (trace[]){{traces[0].entries, traces[0].count}, {traces[1].entries, traces[1].count}}, 2);
    if (seed % 2 != 0)
        put_simulated_segments(&builder, devices, 2);
    pickle_end(&builder);
    log = read_built(&builder);
    ck_assert_msg(log.status == NM_END, "byte %" PRIu64 ": %s", log.err.offset, log.err.text);

    for (; at < log.events.count && (log.events.items[at].flags & NM_FLAG_BASELINE) != 0; at++)
        take_baseline(&before[log.events.items[at].heap_id > 3], &log.events.items[at]);
    expect_all_taken(&before[0]);
    expect_all_taken(&before[1]);
    for (int i = 0; i < 2; i++)
        for (size_t j = 0; j < traces[i].count; j++, at++)
            expect_same_entry(&log.events.items[at], &traces[i].entries[j]);
    for (; at < log.events.count; at++)
        ck_assert(log.events.items[at].kind == NM_EVENT_STATE_SEGMENT ||
                  log.events.items[at].kind == NM_EVENT_STATE_BLOCK);
    source_log_free(&log);
}

START_TEST(the_baseline_of_a_simulated_allocator_is_found_exactly)
{
    for (uint64_t seed = 1; seed <= 200; seed++)
        check_simulation(seed, protocols[seed % COUNT(protocols)]);
}
END_TEST

static TCase *new_case(Suite *suite, const char *name)
{
    TCase *tcase = tcase_create(name);

    tcase_set_timeout(tcase, 120);
    suite_add_tcase(suite, tcase);
    return tcase;
}

TEST_SUITE(test_snapshot_source)
{
    Suite *suite = suite_create("snapshot_source");
    TCase *tcase = new_case(suite, "baseline");

    tcase_add_test(tcase, a_block_freed_but_never_allocated_was_there_before);
    tcase_add_test(tcase, a_block_freed_twice_was_there_before_only_once);
    tcase_add_test(tcase, a_pending_free_is_live_until_it_is_completed);
    tcase_add_test(tcase, a_mapping_cut_in_the_middle_was_all_there_before);
    tcase_add_test(tcase, a_segment_freed_but_never_allocated_was_there_before);
    tcase_add_test(tcase, a_workspace_is_what_was_there_at_the_end);
    tcase_add_test(tcase, the_baseline_of_a_simulated_allocator_is_found_exactly);
    tcase = new_case(suite, "entries");
    tcase_add_test(tcase, several_devices_and_streams_keep_their_place_in_the_file);
    tcase_add_test(tcase, a_private_pool_stands_on_its_blocks);
    tcase_add_test(tcase, actions_that_are_no_memory_keep_their_place);
    tcase_add_test(tcase, what_torchs_profiler_says_of_a_block_comes_with_it);
    tcase_add_test(tcase, stacks_share_their_outer_frames);
    tcase_add_test(tcase, a_list_of_frames_may_be_shared_by_reference);
    tcase_add_test(tcase, each_frame_may_be_shared_by_reference);
    tcase = new_case(suite, "times");
    tcase_add_test(tcase, times_count_from_the_earliest_entry);
    tcase_add_test(tcase, traces_of_several_devices_are_one_stream_by_their_times);
    tcase_add_test(tcase, devices_without_times_are_judged_each_by_itself);
    tcase_add_test(tcase, host_traces_and_segments_are_a_heap_of_pinned_memory);
    tcase_add_test(tcase, without_times_or_settings_it_is_torch_npu);
    tcase_add_test(tcase, frames_and_settings_say_whose_device_it_is);
    tcase_add_test(tcase, of_an_unknown_dialect_the_code_of_a_failure_is_unknown);
    tcase_add_test(tcase, annotations_stand_where_their_times_put_them);
    tcase_add_test(tcase, ranges_that_were_over_before_a_wrapped_ring_begins_are_left_out);
    tcase_add_test(tcase, annotations_without_a_place_come_after_the_entries);
    tcase = new_case(suite, "versions");
    tcase_add_test(tcase, a_list_of_segments_alone_is_a_snapshot);
    tcase_add_test(tcase, what_is_not_known_is_skipped);
    tcase_add_test(tcase, fields_of_frames_that_are_not_known_are_skipped);
    tcase_add_test(tcase, a_pipe_gives_what_a_file_gives);
    tcase = new_case(suite, "bad input");
    tcase_add_test(tcase, fields_of_the_wrong_type_are_refused);
    tcase_add_test(tcase, segments_and_blocks_of_the_wrong_shape_are_refused);
    tcase_add_test(tcase, other_pickles_are_told_from_snapshots);
    tcase_add_test(tcase, cut_at_every_byte_it_fails_inside_the_file);
    tcase_add_test(tcase, every_byte_changed_neither_crashes_nor_hangs);
    return suite;
}
