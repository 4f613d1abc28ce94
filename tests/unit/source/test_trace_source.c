/* SPDX-License-Identifier: Apache-2.0
 *
 * What a file is taken for, and what a trace gives when its blocks are missing, doubled, in the wrong order or another
 * recording's. Truncation and flipped bits: test_trace_damage.c.
 */
#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "support/handmade.h"
#include "support/known_trace.h"
#include "support/suites.h"

#define BLOCKS 18
#define EVENTS 9

static known_trace trace;
static nm_source_summary_data summary;
static nm_error err;
static bool all[BLOCKS], some[BLOCKS];

static void set_up(void)
{
    known_make(&trace, BLOCKS, EVENTS, 40);
    memset(all, true, sizeof all);
    memset(some, true, sizeof some);
}

static void tear_down(void)
{
    known_free(&trace);
}

static void append(nm_buffer *out, const void *data, size_t len)
{
    ck_assert_int_eq(nm_buffer_append(out, data, len, NULL), NM_OK);
}

static void append_block(nm_buffer *out, unsigned b)
{
    append(out, trace.file.data + trace.ends[b], trace.ends[b + 1] - trace.ends[b]);
}

static size_t bytes_of(unsigned b)
{
    return trace.ends[b + 1] - trace.ends[b];
}

/* Checks `input` from a file and from a pipe, and frees it. */
static void check(nm_buffer *input, const bool *is_readable, const char *where)
{
    nm_bytes bytes = {input->data, input->len};
    nm_source_summary_data from_file;

    known_check(&trace, bytes, false, is_readable, &from_file, where);
    known_check(&trace, bytes, true, is_readable, &summary, where);
    ck_assert_msg(memcmp(&from_file, &summary, sizeof summary) == 0, "%s: a pipe gives another summary", where);
    nm_buffer_free(input);
}

/* ---- Which source ---- */

static nm_status open_bytes(const void *data, size_t len)
{
    nm_source *source = NULL;
    int fd;

    err.text[0] = 0;
    nm_status status = known_open((nm_bytes){data, len}, false, &fd, &source, &err);
    nm_source_close(source);
    close(fd);
    return status;
}

START_TEST(a_file_that_is_no_trace_is_called_what_it_is)
{
    static const struct {
        const char *begin;
        size_t len;
        const char *text;
    } files[] = {
        {"", 0, "the file is empty"},
        {"SQLite format 3\0\x10\0\1\1\0", 21, "this is a database that cannot be read: file is not a database"},
        {"\x28\xb5\x2f\xfd\x04\x00", 6, "this is a zstd file, but not a trace that npumem-record wrote"},
        {"\x1f\x8b\x08\x00", 4, "this is a gzip file; decompress it first"},
        {"\xfd\x37zXZ\0\0", 7, "this is an xz file; decompress it first"},
        {"PK\3\4.....", 9, "this is a zip archive (torch.save writes those), not a trace or a memory snapshot"},
        {"loss: 0.5\nm\xc3\xb6glich\n", 19, "this is a text file, not a trace or a memory snapshot"},
        {"\0\1\2\3\4\5\6\7", 8, "neither a trace nor a memory snapshot begins like this"},
    };

    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        ck_assert_int_eq(open_bytes(files[i].begin, files[i].len), NM_ERR_FORMAT);
        ck_assert_str_eq(err.text, files[i].text);
    }
}
END_TEST

START_TEST(a_folder_is_no_file)
{
    nm_source *source;
    int fd = open("/tmp", O_RDONLY);

    ck_assert_int_eq(nm_source_open(fd, &source, &err), NM_ERR_FORMAT);
    ck_assert_str_eq(err.text, "this is a folder, not a file");
    close(fd);
}
END_TEST

START_TEST(a_skippable_frame_that_is_not_ours_is_no_trace)
{
    nm_buffer file = {0};

    append(&file, "\x50\x2a\x4d\x18\4\0\0\0abcd\x28\xb5\x2f\xfd", 16);
    ck_assert_int_eq(open_bytes(file.data, file.len), NM_ERR_FORMAT);
    nm_buffer_free(&file);
}
END_TEST

START_TEST(a_newer_major_version_is_refused_when_opened)
{
    hand_block block = {.trace_id = 1, .major = 2};
    nm_buffer file = {0};

    hand_seal(&block, &file);
    ck_assert_int_eq(open_bytes(file.data, file.len), NM_ERR_VERSION);
    ck_assert_str_eq(err.text, "trace format 2 is newer than this program reads (1)");
    nm_buffer_free(&file);
}
END_TEST

/* ---- Whole and broken traces ---- */

START_TEST(a_whole_trace_is_read_whole)
{
    nm_buffer file = {0};

    append(&file, trace.file.data, trace.file.len);
    check(&file, all, "whole");
    ck_assert_str_eq(summary.kind, "trace");
    ck_assert_int_eq(summary.order_kind, NM_ORDER_CLOCK);
    ck_assert_int_eq(summary.start_realtime_ns, 1700000000000000000);
    ck_assert_uint_eq(summary.events_seen, BLOCKS * EVENTS);
    ck_assert(summary.is_finished && summary.is_complete);
    ck_assert_str_eq(summary.recording_id, "01010101010101010101010101010101");
}
END_TEST

START_TEST(a_block_that_is_missing_costs_its_events_and_the_stacks_it_defined)
{
    char where[32];

    for (unsigned b = 0; b + 1 < BLOCKS; b++) {
        nm_buffer file = {0};

        for (unsigned i = 0; i < BLOCKS; i++)
            if (i != b)
                append_block(&file, i);
        snprintf(where, sizeof where, "without %u", b);
        some[b] = false;
        check(&file, some, where);
        some[b] = true;
        ck_assert_uint_eq(summary.events_damaged, EVENTS);
        ck_assert_uint_eq(summary.blocks_damaged, 1);
        ck_assert_uint_eq(summary.bytes_damaged, 0);
        ck_assert(summary.is_finished && !summary.is_complete);
    }
}
END_TEST

START_TEST(a_reader_that_lost_the_first_blocks_finds_all_stacks_in_the_next_group)
{
    nm_buffer file = {0};

    append(&file, trace.file.data + trace.ends[3], trace.file.len - trace.ends[3]);
    some[0] = some[1] = some[2] = false;
    check(&file, some, "from block 3");
    /* Blocks 3 to 7 of the first group have no stack 1, so none at all; from block 8 on all are known. */
    ck_assert_uint_eq(summary.events_without_stack, 5 * EVENTS);
    ck_assert_uint_eq(summary.events_damaged, 3 * EVENTS);
}
END_TEST

START_TEST(all_pairs_of_missing_blocks)
{
    char where[32];

    for (unsigned a = 0; a + 1 < BLOCKS; a++)
        for (unsigned b = a + 1; b + 1 < BLOCKS; b++) {
            nm_buffer file = {0};

            for (unsigned i = 0; i < BLOCKS; i++)
                if (i != a && i != b)
                    append_block(&file, i);
            snprintf(where, sizeof where, "without %u and %u", a, b);
            some[a] = some[b] = false;
            known_check(&trace, (nm_bytes){file.data, file.len}, false, some, &summary, where);
            some[a] = some[b] = true;
            nm_buffer_free(&file);
            ck_assert_uint_eq(summary.events_damaged, 2 * EVENTS);
            ck_assert_uint_eq(summary.blocks_damaged, 2);
        }
}
END_TEST

START_TEST(a_doubled_block_counts_once)
{
    char where[32];

    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned after = b; after < BLOCKS; after += 5) {
            nm_buffer file = {0};

            for (unsigned i = 0; i < BLOCKS; i++) {
                append_block(&file, i);
                if (i == after)
                    append_block(&file, b);
            }
            snprintf(where, sizeof where, "%u again after %u", b, after);
            check(&file, all, where);
            ck_assert_uint_eq(summary.blocks_repeated, 1);
            ck_assert_uint_eq(summary.events_damaged, 0);
        }
}
END_TEST

START_TEST(swapped_blocks_lose_the_one_that_comes_too_late)
{
    char where[32];

    for (unsigned b = 0; b + 1 < BLOCKS; b++) {
        nm_buffer file = {0};

        for (unsigned i = 0; i < BLOCKS; i++)
            append_block(&file, i == b ? b + 1 : i == b + 1 ? b : i);
        snprintf(where, sizeof where, "%u and %u swapped", b, b + 1);
        some[b] = false;
        check(&file, some, where);
        some[b] = true;
        ck_assert_uint_eq(summary.blocks_repeated, 1);
        ck_assert_uint_eq(summary.events_damaged, EVENTS);
        ck_assert(!summary.is_complete);
    }
}
END_TEST

START_TEST(a_block_of_another_recording_is_passed_by)
{
    nm_buffer file = {0}, foreign = {0};

    known_append_block(&trace, 5, 2, 0, &foreign);
    for (unsigned i = 0; i < BLOCKS; i++) {
        append_block(&file, i);
        if (i == 4)
            append(&file, foreign.data, foreign.len);
    }
    check(&file, all, "foreign");
    ck_assert_uint_eq(summary.blocks_foreign, 1);
    ck_assert_uint_eq(summary.bytes_damaged, foreign.len);
    ck_assert_uint_eq(summary.events_damaged, 0);
    ck_assert(!summary.is_complete);
    nm_buffer_free(&foreign);
}
END_TEST

START_TEST(junk_between_blocks_is_passed_by)
{
    static const size_t lengths[] = {1, 15, 16, 17, 255, 4096, 300000};
    char where[32];

    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
        for (unsigned before = 0; before < BLOCKS; before += 3) {
            nm_buffer file = {0};

            if (before == 0 && lengths[n] > 3000)
                continue; /* nothing in the head of such a file says that it is a trace */
            for (unsigned i = 0; i < BLOCKS; i++) {
                for (size_t j = 0; i == before && j < lengths[n]; j++)
                    append(&file, &"NPUMEMB1^*M\x18"[j % 12], 1);
                append_block(&file, i);
            }
            snprintf(where, sizeof where, "%zu bytes before %u", lengths[n], before);
            check(&file, all, where);
            ck_assert_uint_eq(summary.bytes_damaged, lengths[n]);
            ck_assert_uint_eq(summary.bytes_cut, 0);
        }
}
END_TEST

START_TEST(zeros_at_the_end_are_a_cut)
{
    static const size_t lengths[] = {1, 4, 15, 16, 4096, 1 << 20};

    for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
        nm_buffer file = {0};

        append(&file, trace.file.data, trace.file.len);
        for (size_t i = 0; i < lengths[n]; i++)
            append(&file, "", 1);
        check(&file, all, "zeros");
        ck_assert_uint_eq(summary.bytes_cut, lengths[n]);
        ck_assert_uint_eq(summary.bytes_damaged, 0);
    }
}
END_TEST

START_TEST(a_block_torn_in_the_middle_does_not_hide_the_next)
{
    for (size_t kept = 1; kept < bytes_of(4); kept += 7) {
        nm_buffer file = {0};

        append(&file, trace.file.data, trace.ends[4] + kept);
        for (unsigned i = 5; i < BLOCKS; i++)
            append_block(&file, i);
        some[4] = false;
        check(&file, some, "torn");
        ck_assert_uint_eq(summary.bytes_damaged, kept);
        ck_assert_uint_eq(summary.events_damaged, EVENTS);
        ck_assert_uint_eq(summary.bytes_cut, 0);
    }
}
END_TEST

START_TEST(a_first_block_that_is_zeroed_at_its_start_is_still_a_trace)
{
    nm_buffer file = {0};

    append(&file, trace.file.data, trace.file.len);
    memset(file.data, 0, 64);
    some[0] = false;
    check(&file, some, "zeroed");
    ck_assert_uint_eq(summary.bytes_damaged, bytes_of(0));
}
END_TEST

/* ---- Tails, losses, hostile contents ---- */

static void check_tail(unsigned blocks_in_file, size_t cut_bytes, bool is_late)
{
    nm_bytes input = {trace.file.data, trace.ends[blocks_in_file] + cut_bytes};
    nm_buffer tail = {0};
    nm_source *source;
    int fd;

    for (unsigned b = blocks_in_file; b < BLOCKS; b++)
        known_append_block(&trace, b, 1, 2, &tail);
    ck_assert_int_eq(known_open(input, is_late, &fd, &source, &err), NM_OK);
    ck_assert_int_eq(nm_trace_source_add_tail(source, (nm_bytes){tail.data, tail.len}, 3, &err), NM_OK);
    nm_buffer_free(&tail);
    known_check_source(&trace, source, all, &summary, "tail");
    ck_assert_uint_eq(summary.events_unrecovered, 3);
    ck_assert_uint_eq(summary.events_seen, BLOCKS * EVENTS + 3);
    ck_assert_uint_eq(summary.events_damaged, 0);
    ck_assert_uint_eq(summary.bytes_damaged, 0);
    ck_assert_uint_eq(summary.bytes_cut, 0);
    ck_assert(!summary.is_finished);
    ck_assert(!summary.is_complete);
    ck_assert_int_eq(nm_trace_source_add_tail(source, (nm_bytes){0}, 0, &err), NM_ERR_USAGE);
    nm_source_close(source);
    close(fd);
}

START_TEST(what_was_found_in_the_rings_follows_the_file)
{
    check_tail(5, 0, false);
    check_tail(5, 50, false);
    check_tail(5, bytes_of(5) - 1, true);
    check_tail(0, 30, false); /* not one whole block in the file */
}
END_TEST

/* One block with a thread and events of one kind, all fields constant. */
static void hand_constant_events(hand_block *block, unsigned kind, uint64_t flags, const uint64_t *fields,
                                 const uint64_t *values, size_t field_count)
{
    uint64_t mask = UINT64_C(1) << NM_FIELD_FLAGS;
    nm_buffer data = {0};

    for (size_t i = 0; i < field_count; i++)
        mask |= UINT64_C(1) << fields[i];
    hand_kind(block, kind, mask);
    hand_column(block, HAND_KINDS, 0, "\0", 1);
    hand_varint(&data, flags);
    hand_column(block, NM_FIELD_FLAGS, 0, data.data, data.len);
    for (size_t i = 0; i < field_count; i++) {
        data.len = 0;
        hand_varint(&data, values[i]);
        hand_column(block, (unsigned)fields[i], 0, data.data, data.len);
    }
    nm_buffer_free(&data);
}

static void read_all(const nm_buffer *file, nm_record *last)
{
    nm_source *source;
    int fd;

    ck_assert_int_eq(known_open((nm_bytes){file->data, file->len}, false, &fd, &source, &err), NM_OK);
    while (nm_source_next(source, last, &err) == NM_OK)
        ;
    nm_source_summary(source, &summary);
    nm_source_close(source);
    close(fd);
}

START_TEST(losses_late_and_baseline_events_are_counted_apart)
{
    hand_block losses = {.trace_id = 1, .event_count = 2};
    hand_block late = {.trace_id = 1, .event_count = 5, .block_index = 1, .first_seq = 2};
    hand_block baseline = {.trace_id = 1, .event_count = 4, .block_index = 2, .first_seq = 7, .flags = 1};
    nm_buffer file = {0};
    nm_record last;

    hand_constant_events(&losses, NM_EVENT_LOSS, 0, (uint64_t[]){NM_FIELD_NUMBER}, (uint64_t[]){1000}, 1);
    hand_seal(&losses, &file);
    hand_constant_events(&late, NM_EVENT_MARK, NM_FLAG_LATE, NULL, NULL, 0);
    hand_seal(&late, &file);
    hand_constant_events(&baseline, NM_EVENT_ALLOC, NM_FLAG_BASELINE, NULL, NULL, 0);
    hand_seal(&baseline, &file);
    read_all(&file, &last);
    ck_assert_uint_eq(summary.events_dropped, 2000);
    ck_assert_uint_eq(summary.events_late, 5);
    ck_assert_uint_eq(summary.events_ingested, 5);
    ck_assert_uint_eq(summary.events_seen, 2005);
    ck_assert(summary.is_finished && !summary.is_complete);
    nm_buffer_free(&file);
}
END_TEST

/* Of a recording of one block, cut within it, nothing is left but which one it is. */
START_TEST(a_cut_block_says_which_recording_it_is)
{
    hand_block block = {.trace_id = 0xAB, .event_count = 1, .flags = 1};
    nm_buffer file = {0};
    nm_record last;

    hand_constant_events(&block, NM_EVENT_MARK, 0, NULL, NULL, 0);
    hand_seal(&block, &file);
    file.len -= 3;
    read_all(&file, &last);
    ck_assert_uint_eq(summary.events_ingested, 0);
    ck_assert_str_eq(summary.recording_id, "abababababababababababababababab");
    nm_buffer_free(&file);
}
END_TEST

/* A loss of 0 events that may be more, and a note of a process that could not join: no number, and not complete. */
START_TEST(what_is_lost_without_a_number_is_missing_too)
{
    static const uint64_t fields[] = {NM_FIELD_NUMBER, NM_FIELD_DETAIL};

    for (int i = 0; i < 4; i++) {
        hand_block block = {.trace_id = 1, .event_count = 1, .flags = 1};
        nm_buffer file = {0};
        nm_record last;

        if (i < 2)
            hand_constant_events(&block, NM_EVENT_LOSS, i == 0 ? 32768 : 0, fields, (uint64_t[]){0, NM_LOSS_UNREADABLE},
                                 2);
        else
            hand_constant_events(&block, NM_EVENT_NOTE, 0, fields, (uint64_t[]){i == 2 ? 2 : 0, 9}, 2);
        hand_seal(&block, &file);
        read_all(&file, &last);
        ck_assert_int_eq(summary.is_loss_exact, i != 0);
        ck_assert_int_eq(summary.has_unseen, i >= 2);
        ck_assert_uint_eq(summary.processes_unjoined, i == 2 ? 2 : 0);
        ck_assert_int_eq(summary.is_complete, i == 1);
        ck_assert_uint_eq(summary.events_seen, summary.events_ingested);
        nm_buffer_free(&file);
    }
}
END_TEST

static void append_pending(hand_block *block, uint64_t ring, uint64_t count, uint64_t dropped)
{
    nm_buffer list = {0};

    hand_varint(&list, ring);
    hand_varint(&list, 5);
    hand_varint(&list, count);
    hand_varint(&list, count);
    hand_varint(&list, dropped);
    hand_varint(&block->behind, list.len);
    append(&block->behind, list.data, list.len);
    nm_buffer_free(&list);
}

/* The last block says what was in rings then; in a whole trace, or once the rings were found, it says nothing. */
START_TEST(a_cut_trace_without_rings_has_lost_what_they_held)
{
    for (int i = 0; i < 3; i++) {
        hand_block first = {.trace_id = 1, .minor = 3, .event_count = 1};
        hand_block last = {.trace_id = 1, .minor = 3, .event_count = 1, .block_index = 1, .first_seq = 1};
        nm_buffer file = {0};
        nm_record record;

        last.flags = i == 2;
        hand_constant_events(&first, NM_EVENT_MARK, 0, NULL, NULL, 0);
        append_pending(&first, 1, 500, 0);
        hand_seal(&first, &file);
        hand_constant_events(&last, NM_EVENT_MARK, 0, NULL, NULL, 0);
        if (i != 1)
            append_pending(&last, 1, 20, 3);
        hand_seal(&last, &file);
        read_all(&file, &record);
        ck_assert_uint_eq(summary.events_unrecovered, i == 0 ? 23 : 0);
        ck_assert_uint_eq(summary.events_seen, i == 0 ? 25 : 2);
        ck_assert_int_eq(summary.is_loss_exact, i != 0);
        ck_assert_int_eq(summary.is_complete, i == 2);
        nm_buffer_free(&file);
    }
}
END_TEST

START_TEST(numbers_that_nothing_defined_become_0)
{
    static const uint64_t fields[] = {NM_FIELD_THREAD, NM_FIELD_HEAP,   NM_FIELD_STACK,
                                      NM_FIELD_NAME,   NM_FIELD_DEVICE, NM_FIELD_NUMBER};
    hand_block block = {.trace_id = 1, .event_count = 3, .flags = 1};
    nm_buffer file = {0};
    nm_record last;

    hand_constant_events(&block, NM_EVENT_COPY, 0, fields, (uint64_t[]){9, 9, 9, 9, 9, 9}, 6);
    hand_seal(&block, &file);
    read_all(&file, &last);
    ck_assert_int_eq(last.kind, NM_RECORD_EVENT);
    nm_event expected = {.seq = 2, .kind = NM_EVENT_COPY, .flags = NM_FLAG_NO_STACK};
    ck_assert_mem_eq(&last.event, &expected, sizeof expected);
    ck_assert_uint_eq(summary.events_without_stack, 3);
    nm_buffer_free(&file);
}
END_TEST

START_TEST(stacks_cannot_be_made_to_run_in_a_circle)
{
    hand_block block = {.trace_id = 1, .flags = 1};
    nm_buffer file = {0};
    nm_source *source;
    nm_record record;
    int fd, stacks = 0;

    hand_define(&block, 7, 6, (uint64_t[6]){1});
    hand_define(&block, 8, 3, (uint64_t[]){5, 5, 1}); /* its own caller */
    hand_define(&block, 8, 3, (uint64_t[]){1, 0, 1});
    hand_define(&block, 8, 3, (uint64_t[]){2, 1, 1});
    hand_define(&block, 8, 3, (uint64_t[]){1, 2, 1}); /* now called by what it calls */
    hand_seal(&block, &file);
    ck_assert_int_eq(known_open((nm_bytes){file.data, file.len}, false, &fd, &source, &err), NM_OK);
    while (nm_source_next(source, &record, &err) == NM_OK)
        if (record.definition.kind == NM_DEFINE_STACK) {
            ck_assert_uint_lt(record.definition.stack.parent_id, record.definition.id);
            stacks++;
        }
    ck_assert_int_eq(stacks, 2);
    nm_source_close(source);
    close(fd);
    nm_buffer_free(&file);
}
END_TEST

/* ---- Inputs that cost more than they hold ---- */

static uint64_t read_bytes; /* by all calls */
static uint64_t endless_at;

static ssize_t counting_read(int fd, void *data, size_t len)
{
    ssize_t got = read(fd, data, len);

    read_bytes += got > 0 ? (uint64_t)got : 0;
    return got;
}

/* A pipe that begins like a trace and gives zeros for ever. */
static ssize_t endless_read(int fd, void *data, size_t len)
{
    (void)fd;
    memset(data, 0, len);
    if (endless_at == 0)
        memcpy(data, "\x5e\x2a\x4d\x18", 4);
    endless_at += len;
    ck_assert_uint_lt(endless_at, UINT64_C(256) << 20);
    return (ssize_t)len;
}

START_TEST(zeros_without_end_are_refused)
{
    nm_source *source = NULL;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    nm_io.read = endless_read;
    ck_assert_int_eq(nm_source_open(ends[0], &source, &err), NM_ERR_FORMAT);
    ck_assert_str_eq(err.text, "begins like a trace, but holds no block of one in its first 128 MiB");
    nm_io.read = read;
    close(ends[0]);
    close(ends[1]);
}
END_TEST

/* 64 GiB of nothing, before the end or as all there is, are not read. */
START_TEST(a_hole_is_passed_over)
{
    nm_source *source = NULL;
    nm_record record;
    int fd;

    ck_assert_int_eq(known_open((nm_bytes){trace.file.data, trace.file.len}, false, &fd, &source, &err), NM_OK);
    nm_source_close(source);
    ck_assert_int_eq(lseek(fd, 0, SEEK_SET), 0);
    if (ftruncate(fd, INT64_C(64) << 30) != 0 || lseek(fd, 1 << 20, SEEK_DATA) >= 0) {
        close(fd); /* this file system has no holes */
        return;
    }
    read_bytes = 0;
    nm_io.read = counting_read;
    ck_assert_int_eq(nm_source_open(fd, &source, &err), NM_OK);
    while (nm_source_next(source, &record, &err) == NM_OK)
        ;
    nm_io.read = read;
    nm_source_summary(source, &summary);
    ck_assert_uint_eq(summary.events_ingested, BLOCKS * EVENTS);
    ck_assert_uint_eq(summary.bytes_cut, (UINT64_C(64) << 30) - trace.file.len);
    ck_assert_uint_lt(read_bytes, 4 << 20);
    nm_source_close(source);
    close(fd);
}
END_TEST

/* Each of these claims a header of 4 MiB, which is there: a checksum over it is work that leads nowhere. */
START_TEST(headers_within_each_other_are_refused)
{
    nm_buffer file = {0};
    nm_source *source = NULL;
    nm_record record;
    nm_status status;
    int fd;

    for (int i = 0; i < 4000; i++) {
        hand_u32(&file, 0x184D2A5E);
        hand_u32(&file, 4 << 20);
        append(&file, "NPUMEMB1", 8);
    }
    ck_assert_int_eq(nm_buffer_reserve(&file, 5 << 20, &err), NM_OK);
    memset(file.data + file.len, 0, 5 << 20);
    file.len += 5 << 20;
    status = known_open((nm_bytes){file.data, file.len}, false, &fd, &source, &err);
    while (status == NM_OK)
        status = nm_source_next(source, &record, &err);
    ck_assert_int_eq(status, NM_ERR_LIMIT);
    ck_assert_uint_lt(err.offset, 40 * 16); /* not all 4000 of them, 16 GB, have been looked at */
    nm_source_close(source);
    close(fd);
    nm_buffer_free(&file);
}
END_TEST

START_TEST(a_lying_block_is_damage)
{
    hand_block block = {.trace_id = 1, .event_count = 1000, .claimed_raw_bytes = 64 << 20};
    hand_block last = {.trace_id = 1, .block_index = 1, .first_seq = 1000, .flags = 1};
    nm_buffer file = {0};
    nm_record record;

    hand_seal(&block, &file);
    size_t bytes = file.len;
    hand_seal(&last, &file);
    read_all(&file, &record);
    ck_assert_uint_eq(summary.events_damaged, 1000);
    ck_assert_uint_eq(summary.bytes_damaged, bytes);
    nm_buffer_free(&file);
}
END_TEST

/* ---- Files that grow ---- */

static uint8_t head_bytes[NM_SOURCE_HEAD_BYTES];

/* Puts all that can be read now behind *out, record for record; the checks of what that is come with what it is compared to. */
static void take_all(nm_source *source, nm_buffer *out)
{
    nm_record record;
    nm_status status;

    while ((status = nm_source_next(source, &record, &err)) == NM_OK)
        if (record.kind == NM_RECORD_EVENT)
            append(out, &record.event, sizeof record.event);
        else
            append(out, &record.definition.id, sizeof record.definition.id);
    ck_assert_int_eq(status, NM_END);
}

/* Opens a file that has its first `begin` bytes so far. */
static nm_source *open_growing(int fd, const nm_buffer *input, size_t begin)
{
    nm_bytes head = {head_bytes, begin < sizeof head_bytes ? begin : sizeof head_bytes};
    nm_source *source;

    ck_assert_int_eq(write(fd, input->data, begin), (ssize_t)begin);
    ck_assert_int_eq(pread(fd, head_bytes, head.len, 0), (ssize_t)head.len);
    ck_assert_int_eq(lseek(fd, (off_t)head.len, SEEK_SET), (off_t)head.len);
    ck_assert_int_eq(nm_trace_source_open_growing(fd, head, &source, &err), NM_OK);
    return source;
}

/* Reads the input while it grows by `piece` bytes at a time, and settles at its end. */
static void read_growing(const nm_buffer *input, size_t begin, size_t piece, nm_buffer *out)
{
    int fd = -1;

    ck_assert_int_eq(nm_io_open_temporary(&fd, &err), NM_OK);
    nm_source *source = open_growing(fd, input, begin);
    for (size_t at = begin; at < input->len; at += piece) {
        size_t len = input->len - at < piece ? input->len - at : piece;

        take_all(source, out);
        ck_assert_int_eq(pwrite(fd, input->data + at, len, (off_t)at), (ssize_t)len);
    }
    take_all(source, out);
    nm_trace_source_settle(source);
    take_all(source, out);
    nm_source_summary(source, &summary);
    nm_source_close(source);
    close(fd);
}

static void read_at_once(const nm_buffer *input, nm_buffer *out)
{
    nm_source *source;
    int fd;

    ck_assert_int_eq(known_open((nm_bytes){input->data, input->len}, false, &fd, &source, &err), NM_OK);
    take_all(source, out);
    nm_source_summary(source, &summary);
    nm_source_close(source);
    close(fd);
}

/* Whole, with junk between blocks, with a torn block, and cut: whatever it grows by, it gives what it gives when it is whole. */
START_TEST(a_file_that_grows_gives_what_it_gives_at_the_end)
{
    static const size_t pieces[] = {1, 7, 100, 1000, 5000, 100000};

    for (int damage = 0; damage < 4; damage++) {
        nm_buffer file = {0}, whole = {0};
        nm_source_summary_data wanted;

        append(&file, trace.file.data, trace.ends[7]);
        if (damage == 1)
            append(&file, "\x5e\x2a\x4d\x18 junk that begins like a block", 32);
        append(&file, trace.file.data + trace.ends[7], trace.file.len - trace.ends[7] - (damage == 3 ? 30 : 0));
        if (damage == 2)
            memset(file.data + trace.headers[9], 0xff, 20);
        read_at_once(&file, &whole);
        wanted = summary;
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
            nm_buffer grown = {0};

            read_growing(&file, trace.ends[1] / 2, pieces[i], &grown);
            ck_assert_msg(grown.len == whole.len && memcmp(grown.data, whole.data, whole.len) == 0,
                          "damage %d, by %zu bytes: other records", damage, pieces[i]);
            ck_assert_msg(memcmp(&wanted, &summary, sizeof wanted) == 0, "damage %d, by %zu bytes: another summary",
                          damage, pieces[i]);
            nm_buffer_free(&grown);
        }
        nm_buffer_free(&file);
        nm_buffer_free(&whole);
    }
}
END_TEST

START_TEST(a_part_goes_on_where_the_one_before_it_ends)
{
    nm_buffer first = {0}, second = {0}, whole = {0}, grown = {0};
    int fds[2] = {-1, -1};

    append(&first, trace.file.data, trace.ends[5]);
    append(&second, trace.file.data + trace.ends[5], trace.file.len - trace.ends[5]);
    read_at_once(&trace.file, &whole);
    ck_assert_int_eq(nm_io_open_temporary(&fds[0], &err), NM_OK);
    ck_assert_int_eq(nm_io_open_temporary(&fds[1], &err), NM_OK);
    nm_source *source = open_growing(fds[0], &first, trace.ends[3] + 5);
    take_all(source, &grown);
    ck_assert_int_eq(
        pwrite(fds[0], first.data + trace.ends[3] + 5, first.len - trace.ends[3] - 5, (off_t)trace.ends[3] + 5),
        (ssize_t)(first.len - trace.ends[3] - 5));
    ck_assert_int_eq(pwrite(fds[1], second.data, 10, 0), 10);
    ck_assert_int_eq(nm_trace_source_grow(source, fds[1], &err), NM_OK);
    take_all(source, &grown);
    ck_assert_int_eq(pwrite(fds[1], second.data + 10, second.len - 10, 10), (ssize_t)second.len - 10);
    take_all(source, &grown);
    ck_assert(grown.len == whole.len && memcmp(grown.data, whole.data, whole.len) == 0);
    nm_source_close(source);
    close(fds[0]);
    close(fds[1]);
    nm_buffer_free(&first);
    nm_buffer_free(&second);
    nm_buffer_free(&whole);
    nm_buffer_free(&grown);
}
END_TEST

TEST_SUITE(test_trace_source)
{
    Suite *suite = suite_create("trace_source");
    TCase *tests = tcase_create("trace_source");

    tcase_set_timeout(tests, 40);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_file_that_is_no_trace_is_called_what_it_is);
    tcase_add_test(tests, a_folder_is_no_file);
    tcase_add_test(tests, a_skippable_frame_that_is_not_ours_is_no_trace);
    tcase_add_test(tests, a_newer_major_version_is_refused_when_opened);
    tcase_add_test(tests, a_whole_trace_is_read_whole);
    tcase_add_test(tests, a_cut_block_says_which_recording_it_is);
    tcase_add_test(tests, a_block_that_is_missing_costs_its_events_and_the_stacks_it_defined);
    tcase_add_test(tests, a_reader_that_lost_the_first_blocks_finds_all_stacks_in_the_next_group);
    tcase_add_test(tests, all_pairs_of_missing_blocks);
    tcase_add_test(tests, a_doubled_block_counts_once);
    tcase_add_test(tests, swapped_blocks_lose_the_one_that_comes_too_late);
    tcase_add_test(tests, a_block_of_another_recording_is_passed_by);
    tcase_add_test(tests, junk_between_blocks_is_passed_by);
    tcase_add_test(tests, zeros_at_the_end_are_a_cut);
    tcase_add_test(tests, a_block_torn_in_the_middle_does_not_hide_the_next);
    tcase_add_test(tests, a_first_block_that_is_zeroed_at_its_start_is_still_a_trace);
    tcase_add_test(tests, what_was_found_in_the_rings_follows_the_file);
    tcase_add_test(tests, losses_late_and_baseline_events_are_counted_apart);
    tcase_add_test(tests, what_is_lost_without_a_number_is_missing_too);
    tcase_add_test(tests, a_cut_trace_without_rings_has_lost_what_they_held);
    tcase_add_test(tests, numbers_that_nothing_defined_become_0);
    tcase_add_test(tests, stacks_cannot_be_made_to_run_in_a_circle);
    tcase_add_test(tests, zeros_without_end_are_refused);
    tcase_add_test(tests, a_hole_is_passed_over);
    tcase_add_test(tests, headers_within_each_other_are_refused);
    tcase_add_test(tests, a_lying_block_is_damage);
    tcase_add_test(tests, a_file_that_grows_gives_what_it_gives_at_the_end);
    tcase_add_test(tests, a_part_goes_on_where_the_one_before_it_ends);
    suite_add_tcase(suite, tests);
    return suite;
}
