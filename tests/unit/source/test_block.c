/* SPDX-License-Identifier: Apache-2.0
 *
 * The block reader on blocks that were put together by hand, right and wrong; the writer by reading back what it wrote
 * and by the zstd program.
 */
#include "trace/block.h"

#include <check.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/handmade.h"
#include "support/seed.h"
#include "support/suites.h"

#define BIT(field) (UINT64_C(1) << (field))

static nm_error err;
static uint64_t random_state;

static uint64_t next_random(void)
{
    uint64_t x = random_state += 0x9E3779B97F4A7C15u;

    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static void seed_random(void)
{
    random_state = seed_of_test(1);
}

/* ---- Reading what was made by hand ---- */

/* Opens the one block in `file`; the reader is the caller's to free. */
static nm_status open_block(const nm_buffer *file, nm_block_reader **reader, nm_block_header *header)
{
    nm_bytes bytes = {file->data, file->len};
    nm_status status = nm_block_read_header(bytes, header, &err);

    *reader = NULL;
    if (status == NM_OK)
        status = nm_block_reader_new(reader, &err);
    return status == NM_OK ? nm_block_reader_open(*reader, bytes, header, &err) : status;
}

static nm_event next_event(nm_block_reader *reader)
{
    nm_record record;

    do
        ck_assert_int_eq(nm_block_reader_next(reader, &record, &err), NM_OK);
    while (record.kind != NM_RECORD_EVENT);
    return record.event;
}

static nm_definition next_definition(nm_block_reader *reader)
{
    nm_record record;

    ck_assert_int_eq(nm_block_reader_next(reader, &record, &err), NM_OK);
    ck_assert_int_eq(record.kind, NM_RECORD_DEFINITION);
    return record.definition;
}

static void expect_end(nm_block_reader *reader)
{
    nm_record record;

    ck_assert_int_eq(nm_block_reader_next(reader, &record, &err), NM_END);
    ck_assert_int_eq(nm_block_reader_next(reader, &record, &err), NM_END);
}

START_TEST(an_empty_block_made_by_hand_is_read)
{
    hand_block block = {.trace_id = 7, .flags = NM_BLOCK_FINAL, .block_index = 3, .first_seq = 10, .range_count = 2};
    nm_buffer file = {0};
    nm_block_reader *reader;
    nm_block_header header;

    memcpy(block.ranges, (uint64_t[2][3]){{1, 0, 99}, {2, 5, 5}}, sizeof(uint64_t[2][3]));
    hand_seal(&block, &file);
    ck_assert_int_eq(open_block(&file, &reader, &header), NM_OK);
    ck_assert_uint_eq(header.block_bytes, file.len);
    ck_assert_uint_eq(header.flags, NM_BLOCK_FINAL);
    ck_assert_uint_eq(header.block_index, 3);
    ck_assert_uint_eq(header.first_seq, 10);
    ck_assert_uint_eq(header.trace_id[15], 7);
    ck_assert_uint_eq(header.range_count, 2);
    ck_assert_uint_eq(nm_block_range_at(&header, 0).last_position, 99);
    ck_assert_uint_eq(nm_block_range_at(&header, 1).thread_id, 2);
    ck_assert_uint_eq(nm_block_range_at(&header, 1).first_position, 5);
    ck_assert_int_eq(nm_block_reader_session(reader)->start_realtime_ns, 1700000000000000000);
    ck_assert_str_eq(nm_block_reader_session(reader)->ring_folder, "/tmp/rings");
    ck_assert_str_eq(nm_block_reader_session(reader)->tool_version, "0.1");
    ck_assert_uint_eq(nm_block_reader_session(reader)->stacks, 2);
    ck_assert_uint_eq(nm_block_reader_session(reader)->stack_depth, 0); /* not said before 1.4 */
    expect_end(reader);
    nm_block_reader_free(reader);
    nm_buffer_free(&file);
}
END_TEST

START_TEST(definitions_made_by_hand_are_read)
{
    hand_block block = {.trace_id = 7};
    nm_buffer file = {0};
    nm_block_reader *reader;
    nm_block_header header;

    hand_define_string(&block, 5, "train.py");
    hand_define(&block, 2, 10, (uint64_t[]){9, 0, 2 * 4711, 5, 5, 0, 2 * 3, 2 * 8, 1, 2 * 1000});
    hand_define(&block, 99, 3, (uint64_t[]){1, 2, 3});               /* of a newer version */
    hand_define(&block, 7, 7, (uint64_t[]){4, 5, 5, 88, 0, 16, 77}); /* with a field more than is known */
    hand_seal(&block, &file);
    ck_assert_int_eq(open_block(&file, &reader, &header), NM_OK);

    nm_definition definition = next_definition(reader);
    ck_assert_uint_eq(definition.kind, NM_DEFINE_STRING);
    ck_assert_uint_eq(definition.id, 5);
    ck_assert_uint_eq(definition.string.len, 8);
    ck_assert_mem_eq(definition.string.data, "train.py", 8);

    definition = next_definition(reader);
    ck_assert_uint_eq(definition.kind, NM_DEFINE_PROCESS);
    ck_assert_uint_eq(definition.id, 9);
    ck_assert_int_eq(definition.process.pid, 4711);
    ck_assert_uint_eq(definition.process.command, 5);
    ck_assert_int_eq(definition.process.local_rank, 3);
    ck_assert_int_eq(definition.process.run_mode, -1);
    ck_assert_int_eq(definition.process.begin_ns, 1000);

    definition = next_definition(reader);
    ck_assert_uint_eq(definition.kind, NM_DEFINE_FRAME);
    ck_assert_uint_eq(definition.frame.line, 88);
    ck_assert_uint_eq(definition.frame.offset, 16);
    expect_end(reader);
    nm_block_reader_free(reader);
    nm_buffer_free(&file);
}
END_TEST

/* Four events, ALLOC FREE MARK ALLOC, each column in another encoding. */
static void hand_four_events(hand_block *block)
{
    nm_buffer data = {0};

    block->event_count = 4;
    hand_kind(block, 1, BIT(0) | BIT(2) | BIT(4) | BIT(5));
    hand_kind(block, 2, BIT(0) | BIT(2) | BIT(4));
    hand_kind(block, 24, BIT(0) | BIT(12));
    hand_bytes_column(block, HAND_KINDS, "\0\1\2\0", 4);

    hand_varint(&data, 1000); /* time, by differences of two bytes, kind by kind: 1000, 1300, 1299, 1299 */
    hand_u8(&data, 2);
    ck_assert_int_eq(nm_buffer_append(&data, "\x00\x00\x58\x01\x00\x00\x02\x00", 8, NULL), NM_OK);
    hand_column(block, 0, 3, data.data, data.len);
    hand_column(block, 2, 1, "\x07\x02\x08\x01", 4); /* thread, by runs: 7, 7, 8 */
    data.len = 0;
    hand_u8(&data, 1); /* address, by distances: new, one back, new */
    ck_assert_int_eq(nm_buffer_append(&data, "\x00\x01\x00", 3, NULL), NM_OK);
    hand_signed(&data, 0x124000000000);
    hand_signed(&data, -512);
    hand_column(block, 4, 4, data.data, data.len);
    hand_column(block, 5, 0, "\xac\x02", 2);      /* requested, one value */
    hand_column(block, 12, 2, "\x02\x34\x12", 3); /* name, two planes */
    nm_buffer_free(&data);
}

START_TEST(every_encoding_made_by_hand_is_read)
{
    hand_block block = {.trace_id = 7, .first_seq = 100};
    nm_buffer file = {0};
    nm_block_reader *reader;
    nm_block_header header;

    hand_four_events(&block);
    hand_seal(&block, &file);
    ck_assert_int_eq(open_block(&file, &reader, &header), NM_OK);

    nm_event expected[] = {
        {100, .kind = 1, .time_ns = 1000, .thread_id = 7, .address = 0x124000000000, .requested_bytes = 300},
        {101, .kind = 2, .time_ns = 1300, .thread_id = 7, .address = 0x124000000000},
        {102, .kind = 24, .time_ns = 1299, .name_id = 0x1234},
        {103, .kind = 1, .time_ns = 1299, .thread_id = 8, .address = 0x123ffffffe00, .requested_bytes = 300},
    };
    for (int i = 0; i < 4; i++) {
        nm_event event = next_event(reader);
        ck_assert_msg(memcmp(&event, &expected[i], sizeof event) == 0, "event %d", i);
    }
    expect_end(reader);
    nm_block_reader_free(reader);
    nm_buffer_free(&file);
}
END_TEST

START_TEST(what_a_newer_minor_version_adds_is_passed_over)
{
    hand_block block = {
        .trace_id = 7, .minor = 9, .event_count = 3, .extra_fixed_bytes = 11, .extra_range_bytes = 8, .range_count = 2};
    nm_buffer file = {0};
    nm_block_reader *reader;
    nm_block_header header;

    memcpy(block.ranges, (uint64_t[2][3]){{1, 2, 3}, {4, 5, 6}}, sizeof(uint64_t[2][3]));
    hand_kind(&block, 60, BIT(0) | BIT(40)); /* a kind that is not known, with a field that is not known */
    hand_kind(&block, 24, BIT(0) | BIT(12) | BIT(41));
    hand_bytes_column(&block, HAND_KINDS, "\1\0\1", 3);
    hand_bytes_column(&block, 0, "\5\6\7", 3);
    hand_column(&block, 40, 77, "whatever", 8); /* even in an encoding that is not known */
    hand_bytes_column(&block, 12, "\x21\x22", 2);
    hand_column(&block, 41, 0, "\1", 1);
    hand_seal(&block, &file);
    ck_assert_int_eq(open_block(&file, &reader, &header), NM_OK);
    ck_assert_uint_eq(header.version_minor, 9);
    ck_assert_uint_eq(nm_block_range_at(&header, 1).first_position, 5);

    nm_event event = next_event(reader);
    ck_assert_uint_eq(event.seq, 0);
    ck_assert_uint_eq(event.name_id, 0x21);
    event = next_event(reader);
    ck_assert_uint_eq(event.seq, 2);
    ck_assert_int_eq(event.time_ns, 7);
    ck_assert_uint_eq(event.name_id, 0x22);
    expect_end(reader);
    nm_block_reader_free(reader);
    nm_buffer_free(&file);
}
END_TEST

/* Two rings: 7 holds 3 events in slots 100 to 109; 300 has dropped 5. */
static void append_pending(hand_block *block)
{
    static const uint64_t lines[][5] = {{7, 100, 10, 3, 0}, {300, 0, 0, 0, 5}};
    nm_buffer list = {0};

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (size_t j = 0; j < 5; j++)
            hand_varint(&list, lines[i][j]);
    hand_varint(&block->behind, list.len);
    nm_buffer_append(&block->behind, list.data, list.len, NULL);
    nm_buffer_free(&list);
}

START_TEST(what_was_pending_is_read_from_version_1_3_on)
{
    for (uint16_t minor = 2; minor <= 4; minor++) {
        hand_block block = {.trace_id = 7, .minor = minor};
        nm_buffer file = {0};
        nm_block_reader *reader;
        nm_block_header header;
        nm_block_pending pending;

        append_pending(&block);
        hand_u8(&block.behind, 0xEE); /* and what a still newer version has behind it */
        hand_seal(&block, &file);
        ck_assert_int_eq(open_block(&file, &reader, &header), NM_OK);
        if (minor >= 3) {
            ck_assert_int_eq(nm_block_reader_next_pending(reader, &pending), NM_OK);
            ck_assert_uint_eq(pending.ring_id, 7);
            ck_assert_uint_eq(pending.tail_position, 100);
            ck_assert_uint_eq(pending.read_position, 110);
            ck_assert_uint_eq(pending.event_count, 3);
            ck_assert_uint_eq(pending.dropped_count, 0);
            ck_assert_int_eq(nm_block_reader_next_pending(reader, &pending), NM_OK);
            ck_assert_uint_eq(pending.ring_id, 300);
            ck_assert_uint_eq(pending.dropped_count, 5);
        }
        ck_assert_int_eq(nm_block_reader_next_pending(reader, &pending), NM_END);
        expect_end(reader);
        nm_block_reader_free(reader);
        nm_buffer_free(&file);
    }
}
END_TEST

/* A list that is cut, ends in the middle of a line, has more events than slots, or positions that run over. */
START_TEST(a_list_of_what_was_pending_that_lies_is_refused)
{
    static const struct {
        const char *bytes;
        size_t len;
    } lists[] = {{"\x06\1\2\3\1\0", 6},
                 {"\x04\1\2\3\1", 5},
                 {"\x05\1\2\3\4\0", 6},
                 {"\x0e\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\1\1\0", 15}};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        hand_block block = {.trace_id = 7, .minor = 3};
        nm_buffer file = {0};
        nm_block_reader *reader;
        nm_block_header header;

        nm_buffer_append(&block.behind, lists[i].bytes, lists[i].len, NULL);
        hand_seal(&block, &file);
        ck_assert_msg(open_block(&file, &reader, &header) == NM_ERR_FORMAT, "list %zu", i);
        nm_block_reader_free(reader);
        nm_buffer_free(&file);
    }
}
END_TEST

START_TEST(a_newer_major_version_is_refused)
{
    hand_block block = {.trace_id = 7, .major = 2};
    nm_buffer file = {0};
    nm_block_header header;

    hand_seal(&block, &file);
    ck_assert_int_eq(nm_block_read_header((nm_bytes){file.data, file.len}, &header, &err), NM_ERR_VERSION);
    ck_assert_str_eq(err.text, "trace format 2 is newer than this program reads (1)");
    nm_buffer_free(&file);
}
END_TEST

/* ---- What lies ---- */

typedef void spoil(hand_block *block);

static void lie_about_raw_bytes(hand_block *block)
{
    block->claimed_raw_bytes = 1000;
}

static void claim_a_huge_content(hand_block *block)
{
    block->claimed_raw_bytes = UINT32_MAX;
}

static void claim_a_huge_frame(hand_block *block)
{
    block->claimed_frame_bytes = UINT32_MAX;
}

static void claim_too_many_events(hand_block *block)
{
    block->event_count = UINT32_MAX;
}

static void claim_many_events(hand_block *block) /* no more than a file may claim: NM_TRACE_EVENTS_FREE */
{
    block->event_count = 200000;
}

static void claim_too_many_ranges(hand_block *block)
{
    block->claimed_range_count = 178956971; /* times 24 is 8 past 2^32 */
}

static void overflow_the_sequence(hand_block *block)
{
    block->first_seq = UINT64_MAX;
}

static void carry_another_header(hand_block *block)
{
    block->has_wrong_copy = true;
}

static void cut_a_definition(hand_block *block)
{
    ck_assert_int_eq(nm_buffer_append(&block->definitions, "\x08\x7f\x01", 3, NULL), NM_OK);
}

static void shorten_a_body(hand_block *block)
{
    hand_define(block, 8, 2, (uint64_t[]){1, 0}); /* a stack without a frame */
}

static void use_the_number_0(hand_block *block)
{
    hand_define(block, 8, 3, (uint64_t[]){0, 0, 1});
}

static void lengthen_a_string(hand_block *block)
{
    hand_define(block, 1, 2, (uint64_t[]){1, UINT64_MAX});
}

static void claim_too_many_kinds(hand_block *block)
{
    block->kind_count = UINT32_MAX;
}

static void claim_too_many_columns(hand_block *block)
{
    block->column_count = UINT32_MAX;
}

/* Three events of one kind with one field; what is wrong comes with its column. */
static void begin_column(hand_block *block, const char *kinds)
{
    block->event_count = 3;
    hand_kind(block, 24, BIT(12));
    hand_bytes_column(block, HAND_KINDS, kinds, 3);
}

static void leave_out_a_column(hand_block *block)
{
    begin_column(block, "\0\0\0");
}

static void repeat_a_column(hand_block *block)
{
    begin_column(block, "\0\0\0");
    hand_column(block, 12, 0, "\1", 1);
    hand_column(block, 12, 0, "\1", 1);
}

static void name_a_field_over_63(hand_block *block)
{
    begin_column(block, "\0\0\0");
    hand_column(block, 12, 0, "\1", 1);
    hand_column(block, 64, 0, "\1", 1);
}

static void use_an_unlisted_kind(hand_block *block)
{
    begin_column(block, "\0\1\0");
    hand_column(block, 12, 0, "\1", 1);
}

static void use_an_unknown_encoding(hand_block *block)
{
    begin_column(block, "\0\0\0");
    hand_column(block, 12, 5, "\1", 1);
}

static void lengthen_a_column(hand_block *block)
{
    begin_column(block, "\0\0\0");
    hand_u8(&block->columns, 12);
    hand_u8(&block->columns, 0);
    hand_u32(&block->columns, UINT32_MAX);
    block->column_count = 1;
}

static void spoil_column(hand_block *block, unsigned encoding, const char *data, size_t len)
{
    begin_column(block, "\0\0\0");
    hand_column(block, 12, encoding, data, len);
}

static void cut_a_constant(hand_block *block)
{
    spoil_column(block, 0, "\x80", 1);
}

static void end_runs_early(hand_block *block)
{
    spoil_column(block, 1, "\1\2", 2);
}

static void end_runs_late(hand_block *block)
{
    spoil_column(block, 1, "\1\4", 2);
}

static void use_an_empty_run(hand_block *block)
{
    spoil_column(block, 1, "\1\0\1\3", 4);
}

static void use_planes_of_width_0(hand_block *block)
{
    spoil_column(block, 2, "\0", 1);
}

static void use_planes_of_width_9(hand_block *block)
{
    spoil_column(block, 2, "\x09zzzzzzzzzzzzzzzzzzzzzzzzzzz", 28);
}

static void cut_a_plane(hand_block *block)
{
    spoil_column(block, 2, "\2zzzzz", 6);
}

static void lengthen_a_plane(hand_block *block)
{
    spoil_column(block, 3, "\0\1zzzz", 6);
}

static void look_back_before_the_first(hand_block *block)
{
    spoil_column(block, 4, "\1\0\2\1\7", 5);
}

static void look_back_from_the_first(hand_block *block)
{
    spoil_column(block, 4, "\1\1\1\1", 4);
}

static void leave_out_a_new_value(hand_block *block)
{
    spoil_column(block, 4, "\1\0\0\0\7\7", 6);
}

static void add_a_new_value(hand_block *block)
{
    spoil_column(block, 4, "\1\0\1\1\7\7", 6);
}

static void look_back_with_three_planes(hand_block *block)
{
    spoil_column(block, 4, "\3\0\1\1\0\0\0\0\0\0\7", 11);
}

static const struct {
    const char *name;
    spoil *spoil;
} lies[] = {
#define LIE(name)                                                                                                      \
    {                                                                                                                  \
#name, name                                                                                                    \
    }
    LIE(lie_about_raw_bytes),
    LIE(claim_a_huge_content),
    LIE(claim_a_huge_frame),
    LIE(claim_too_many_events),
    LIE(claim_many_events),
    LIE(claim_too_many_ranges),
    LIE(overflow_the_sequence),
    LIE(carry_another_header),
    LIE(cut_a_definition),
    LIE(shorten_a_body),
    LIE(use_the_number_0),
    LIE(lengthen_a_string),
    LIE(claim_too_many_kinds),
    LIE(claim_too_many_columns),
    LIE(leave_out_a_column),
    LIE(repeat_a_column),
    LIE(name_a_field_over_63),
    LIE(use_an_unlisted_kind),
    LIE(use_an_unknown_encoding),
    LIE(lengthen_a_column),
    LIE(cut_a_constant),
    LIE(end_runs_early),
    LIE(end_runs_late),
    LIE(use_an_empty_run),
    LIE(use_planes_of_width_0),
    LIE(use_planes_of_width_9),
    LIE(cut_a_plane),
    LIE(lengthen_a_plane),
    LIE(look_back_before_the_first),
    LIE(look_back_from_the_first),
    LIE(leave_out_a_new_value),
    LIE(add_a_new_value),
    LIE(look_back_with_three_planes),
#undef LIE
};

START_TEST(a_block_that_lies_is_refused)
{
    for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++) {
        hand_block block = {.trace_id = 7};
        nm_buffer file = {0};
        nm_block_reader *reader = NULL;
        nm_block_header header;
        nm_record record;

        lies[i].spoil(&block);
        hand_seal(&block, &file);
        err.offset = NM_NO_OFFSET;
        ck_assert_msg(open_block(&file, &reader, &header) == NM_ERR_FORMAT, "%s", lies[i].name);
        ck_assert_msg(err.offset <= file.len, "%s: offset %" PRIu64, lies[i].name, err.offset);
        if (reader != NULL)
            ck_assert_msg(nm_block_reader_next(reader, &record, &err) == NM_END, "%s", lies[i].name);
        nm_block_reader_free(reader);
        nm_buffer_free(&file);
    }
}
END_TEST

START_TEST(a_header_is_found_and_checked_before_it_is_trusted)
{
    hand_block block = {.trace_id = 7};
    nm_buffer file = {0};
    nm_block_header header;

    for (int i = 0; i < 100; i++)
        hand_u8(&file, "NPUMEMB1\x5e\x2a\x4d\x18"[i % 12]);
    size_t begin = file.len;
    hand_seal(&block, &file);
    ck_assert_uint_eq(nm_block_search((nm_bytes){file.data, file.len}, 0), begin);
    ck_assert_uint_eq(nm_block_search((nm_bytes){file.data, file.len}, begin), begin);
    ck_assert_uint_eq(nm_block_search((nm_bytes){file.data, file.len}, begin + 1), file.len);

    size_t header_bytes = 8 + 96 + 8;
    for (size_t len = 0; len < header_bytes; len++)
        ck_assert_int_eq(nm_block_read_header((nm_bytes){file.data + begin, len}, &header, &err), NM_END);
    ck_assert_int_eq(nm_block_read_header((nm_bytes){file.data + begin, header_bytes}, &header, &err), NM_OK);
    for (size_t i = 0; i < header_bytes * 8; i++) {
        file.data[begin + i / 8] ^= (uint8_t)(1 << i % 8);
        nm_status status = nm_block_read_header((nm_bytes){file.data + begin, file.len - begin}, &header, &err);
        ck_assert_msg(status == NM_ERR_FORMAT || status == NM_END, "bit %zu", i);
        file.data[begin + i / 8] ^= (uint8_t)(1 << i % 8);
    }
    nm_buffer_free(&file);
}
END_TEST

/* ---- Reading what was written ---- */

static const nm_session session = {.trace_id = "0123456789abcde",
                                   .start_realtime_ns = 1700000000123456789,
                                   .ring_folder = "/dev/shm/npumem.1",
                                   .host = "host",
                                   .boot_id = "boot",
                                   .tool_version = "0.1.0",
                                   .stacks = 2,
                                   .stack_depth = 300};

static nm_trace_writer *new_writer(void)
{
    nm_trace_writer *writer;

    ck_assert_int_eq(nm_trace_writer_new(&session, &writer, &err), NM_OK);
    return writer;
}

static void write_event(nm_trace_writer *writer, nm_event event)
{
    ck_assert_int_eq(nm_trace_writer_event(writer, &event, &err), NM_OK);
}

static void write_definition(nm_trace_writer *writer, nm_definition definition)
{
    ck_assert_int_eq(nm_trace_writer_define(writer, &definition, &err), NM_OK);
}

static void write_string(nm_trace_writer *writer, uint64_t id, const char *text)
{
    write_definition(writer, (nm_definition){NM_DEFINE_STRING, id, .string = {(const uint8_t *)text, strlen(text)}});
}

static nm_bytes seal(nm_trace_writer *writer, uint32_t flags)
{
    nm_bytes block;

    ck_assert_int_eq(nm_trace_writer_seal(writer, flags, &block, &err), NM_OK);
    return block;
}

/* A number of one of the shapes that fields have. */
static uint64_t random_value(unsigned shape)
{
    switch (shape % 6) {
    case 0:
        return 42;
    case 1:
        return next_random();
    case 2:
        return next_random() % 200;
    case 3:
        return 0x124000000000 + next_random() % 1000 * 512;
    case 4:
        return next_random() % 20 == 0 ? next_random() : 5;
    default:
        return (uint64_t)(int64_t)(-(int64_t)(next_random() % 3));
    }
}

/* An event with values in all fields of its kind; a field keeps its shape within a block. */
static nm_event random_event(nm_event_kind kind, uint64_t seq, unsigned shape)
{
    nm_event event = {.seq = seq, .kind = kind};

    for (unsigned field = 0; field < NM_FIELD_COUNT; field++)
        if (nm_event_fields(kind) >> field & 1)
            *nm_event_field(&event, field) = random_value(shape + field);
    return event;
}

static nm_event_kind random_kind(void)
{
    for (;;) {
        nm_event_kind kind = (nm_event_kind)(next_random() % (NM_EVENT_KIND_MAX + 1));
        if (nm_event_fields(kind) != 0)
            return kind;
    }
}

static void check_block_of(nm_bytes block, const nm_event *expected, uint32_t count, uint64_t block_index)
{
    nm_block_reader *reader;
    nm_block_header header;

    ck_assert_int_eq(nm_block_read_header(block, &header, &err), NM_OK);
    ck_assert_uint_eq(header.block_bytes, block.len);
    ck_assert_uint_eq(header.block_index, block_index);
    ck_assert_uint_eq(header.event_count, count);
    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    ck_assert_msg(nm_block_reader_open(reader, block, &header, &err) == NM_OK, "%s", err.text);
    ck_assert_mem_eq(nm_block_reader_session(reader), &session, sizeof session);
    for (uint32_t i = 0; i < count; i++) {
        nm_event event = next_event(reader);
        ck_assert_msg(memcmp(&event, &expected[i], sizeof event) == 0, "event %" PRIu32 " of block %" PRIu64, i,
                      block_index);
    }
    expect_end(reader);
    nm_block_reader_free(reader);
}

START_TEST(random_events_of_all_kinds_come_back)
{
    static const uint32_t counts[] = {0, 1, 2, 3, 31, 32, 33, 255, 256, 257, 4095, 4097, 70000};
    static nm_event events[70000];
    nm_trace_writer *writer = new_writer();
    uint64_t seq = 0;

    seed_random();
    for (unsigned i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        nm_event_kind one = random_kind();

        for (uint32_t j = 0; j < counts[i]; j++) {
            ck_assert_uint_eq(nm_trace_writer_seq(writer), seq);
            events[j] = random_event(i % 2 == 0 ? random_kind() : one, seq++, i);
            write_event(writer, events[j]);
        }
        ck_assert_uint_eq(nm_trace_writer_event_count(writer), counts[i]);
        check_block_of(seal(writer, 0), events, counts[i], i);
    }
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(times_in_the_header_are_the_smallest_and_the_largest)
{
    nm_trace_writer *writer = new_writer();
    nm_block_header header;

    write_event(writer, (nm_event){.kind = NM_EVENT_MARK, .time_ns = NM_NO_TIME});
    ck_assert_int_eq(nm_block_read_header(seal(writer, 0), &header, &err), NM_OK);
    ck_assert_int_eq(header.first_ns, NM_NO_TIME);
    ck_assert_int_eq(header.last_ns, NM_NO_TIME);
    write_event(writer, (nm_event){.kind = NM_EVENT_MARK, .time_ns = 50});
    write_event(writer, (nm_event){.kind = NM_EVENT_MARK, .time_ns = NM_NO_TIME});
    write_event(writer, (nm_event){.kind = NM_EVENT_MARK, .time_ns = -7});
    ck_assert_int_eq(nm_block_read_header(seal(writer, 0), &header, &err), NM_OK);
    ck_assert_int_eq(header.first_ns, -7);
    ck_assert_int_eq(header.last_ns, 50);
    nm_trace_writer_free(writer);
}
END_TEST

/* The definitions in a block as text: kind:number, in order. */
static const char *definitions_of(nm_bytes block)
{
    static char text[4096];
    nm_block_reader *reader;
    nm_block_header header;
    nm_record record;
    size_t len = 0;

    text[0] = 0;
    ck_assert_int_eq(nm_block_read_header(block, &header, &err), NM_OK);
    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    ck_assert_int_eq(nm_block_reader_open(reader, block, &header, &err), NM_OK);
    while (nm_block_reader_next(reader, &record, &err) == NM_OK)
        if (record.kind == NM_RECORD_DEFINITION)
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%" PRIu64 ":%" PRIu64, len > 0 ? " " : "",
                                    record.definition.kind, record.definition.id);
    nm_block_reader_free(reader);
    return text;
}

/* In which place of the text the definition is; it must be there. */
static ptrdiff_t place_of(const char *text, const char *definition)
{
    char padded[4096 + 2], wanted[32];

    snprintf(padded, sizeof padded, " %s ", text);
    snprintf(wanted, sizeof wanted, " %s ", definition);
    const char *found = strstr(padded, wanted);
    ck_assert_msg(found != NULL, "%s is not in %s", definition, text);
    return found - padded;
}

static void define_a_program(nm_trace_writer *writer)
{
    write_string(writer, 1, "host");
    write_string(writer, 2, "main");
    write_definition(writer, (nm_definition){NM_DEFINE_PROCESS, 1, .process = {.pid = 1, .host = 1}});
    write_definition(writer, (nm_definition){NM_DEFINE_THREAD, 1, .thread = {.process_id = 1, .tid = 1}});
    write_definition(writer, (nm_definition){NM_DEFINE_DEVICE, 1, .device = {.process_id = 1}});
    write_definition(writer, (nm_definition){NM_DEFINE_HEAP, 1, .heap = {.process_id = 1, .device_id = 1}});
    write_definition(writer, (nm_definition){NM_DEFINE_FRAME, 1, .frame = {.function = 2}});
    write_definition(writer, (nm_definition){NM_DEFINE_FRAME, 2, .frame = {.offset = 77}});
    write_definition(writer, (nm_definition){NM_DEFINE_STACK, 1, .stack = {0, 1, 0}});
    write_definition(writer, (nm_definition){NM_DEFINE_STACK, 2, .stack = {1, 2, 0}});
}

/* All of define_a_program, each behind what it names. */
static void check_all_come(const char *text)
{
    static const char *const pairs[][2] = {{"1:1", "2:1"}, {"2:1", "3:1"}, {"2:1", "4:1"}, {"4:1", "5:1"},
                                           {"1:2", "7:1"}, {"7:1", "8:1"}, {"8:1", "8:2"}, {"7:2", "8:2"}};

    ck_assert_uint_eq(strlen(text), 10 * 4 - 1);
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        ck_assert_int_lt(place_of(text, pairs[i][0]), place_of(text, pairs[i][1]));
}

START_TEST(definitions_come_again_where_a_reader_may_begin)
{
    nm_trace_writer *writer = new_writer();
    nm_event event = {.kind = NM_EVENT_ALLOC, .thread_id = 1, .heap_id = 1, .stack_id = 2};

    define_a_program(writer);
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "1:1 1:2 2:1 3:1 4:1 5:1 7:1 7:2 8:1 8:2");

    ck_assert_str_eq(definitions_of(seal(writer, 0)), "");
    write_event(writer, event); /* a second time, in case that the first block is damaged */
    write_event(writer, event);
    check_all_come(definitions_of(seal(writer, 0)));
    write_event(writer, event); /* inside the group: what every event needs, no stacks */
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "2:1 3:1 4:1 5:1");
    for (int i = 4; i < NM_BLOCK_WINDOW; i++)
        ck_assert_str_eq(definitions_of(seal(writer, 0)), "");

    write_event(writer, event); /* a new group: all it uses, each behind what it names */
    check_all_come(definitions_of(seal(writer, 0)));
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(a_definition_is_written_when_it_changes_and_not_when_it_does_not)
{
    nm_trace_writer *writer = new_writer();
    nm_definition frame = {NM_DEFINE_FRAME, 2, .frame = {.offset = 77}};

    define_a_program(writer);
    seal(writer, 0);
    write_definition(writer, frame); /* its second time, as if an event used it */
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "7:2");
    write_definition(writer, frame);
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "");
    frame.frame.line = 88;
    write_definition(writer, frame);
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "7:2");
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(an_alias_is_written_once_with_what_it_names)
{
    nm_trace_writer *writer = new_writer();

    define_a_program(writer);
    write_definition(writer, (nm_definition){NM_DEFINE_ALIAS, 2, .alias = {1, 5}});
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "1:1 1:2 2:1 3:1 4:1 5:1 7:1 7:2 8:1 8:2 9:2");
    write_definition(writer, (nm_definition){NM_DEFINE_ALIAS, 1, .alias = {1, NM_ALIAS_HEAP + 5}});
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "1:1 2:1 4:1 5:1 9:1");
    for (int i = 2; i < NM_BLOCK_WINDOW; i++)
        seal(writer, 0);
    write_event(writer, (nm_event){.kind = NM_EVENT_FREE, .stack_id = 1});
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "1:2 7:1 8:1");
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(a_very_deep_stack_is_written)
{
    nm_trace_writer *writer = new_writer();
    nm_block_header header;

    for (uint64_t i = 1; i <= 200000; i++)
        write_definition(writer, (nm_definition){NM_DEFINE_STACK, i, .stack = {i - 1, 0, 0}});
    for (int i = 0; i < NM_BLOCK_WINDOW; i++)
        seal(writer, 0);
    write_event(writer, (nm_event){.kind = NM_EVENT_FREE, .stack_id = 200000});
    ck_assert_int_eq(nm_block_read_header(seal(writer, 0), &header, &err), NM_OK);
    ck_assert_uint_gt(header.raw_bytes, 200000 * 5);
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(positions_of_a_thread_that_follow_each_other_are_one_range)
{
    static const nm_block_range taken[] = {{1, 0, 3}, {2, 10, 10}, {1, 4, 7}, {2, 12, 13}, {1, 8, 8}};
    static const nm_block_range expected[] = {{1, 0, 8}, {2, 10, 10}, {2, 12, 13}};
    nm_trace_writer *writer = new_writer();
    nm_block_header header;

    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof taken / sizeof taken[0]; i++)
            ck_assert_int_eq(nm_trace_writer_position(writer, taken[i], &err), NM_OK);
        ck_assert_int_eq(nm_block_read_header(seal(writer, 0), &header, &err), NM_OK);
        ck_assert_uint_eq(header.range_count, 3);
        for (uint32_t i = 0; i < 3; i++) {
            nm_block_range range = nm_block_range_at(&header, i);
            ck_assert_mem_eq(&range, &expected[i], sizeof range);
        }
    }
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(what_was_pending_comes_back_once)
{
    nm_block_pending written[] = {{.ring_id = 3, .tail_position = 5, .read_position = 9, .event_count = 4},
                                  {.ring_id = UINT64_MAX,
                                   .tail_position = 1,
                                   .read_position = UINT64_MAX,
                                   .event_count = 1,
                                   .dropped_count = UINT64_MAX}};
    nm_trace_writer *writer;
    nm_block_reader *reader;

    ck_assert_int_eq(nm_trace_writer_new(&(nm_session){0}, &writer, &err), NM_OK);
    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    for (int i = 0; i < 2; i++) {
        nm_block_header header;
        nm_block_pending read;
        nm_bytes block;

        for (int j = 0; i == 0 && j < 2; j++)
            ck_assert_int_eq(nm_trace_writer_pending(writer, &written[j], &err), NM_OK);
        ck_assert_int_eq(nm_trace_writer_seal(writer, 0, &block, &err), NM_OK);
        ck_assert_int_eq(nm_block_read_header(block, &header, &err), NM_OK);
        ck_assert_int_eq(nm_block_reader_open(reader, block, &header, &err), NM_OK);
        for (int j = 0; i == 0 && j < 2; j++) {
            ck_assert_int_eq(nm_block_reader_next_pending(reader, &read), NM_OK);
            ck_assert_mem_eq(&read, &written[j], sizeof read);
        }
        ck_assert_int_eq(nm_block_reader_next_pending(reader, &read), NM_END);
    }
    nm_block_reader_free(reader);
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(a_resumed_writer_counts_on)
{
    nm_trace_writer *writer = new_writer();
    nm_block_header header;

    nm_trace_writer_resume(writer, 13, 1000);
    write_event(writer, (nm_event){.kind = NM_EVENT_MARK});
    ck_assert_uint_eq(nm_trace_writer_seq(writer), 1001);
    ck_assert_int_eq(nm_block_read_header(seal(writer, NM_BLOCK_RECOVERED), &header, &err), NM_OK);
    ck_assert_uint_eq(header.block_index, 13);
    ck_assert_uint_eq(header.first_seq, 1000);
    ck_assert_uint_eq(header.flags, NM_BLOCK_RECOVERED);
    nm_trace_writer_free(writer);
}
END_TEST

START_TEST(a_full_block_is_refused_and_can_be_sealed)
{
    nm_trace_writer *writer = new_writer();
    nm_event mark = {.kind = NM_EVENT_MARK};
    nm_status status = NM_OK;
    nm_block_header header;

    while (status == NM_OK) {
        mark.time_ns = (int64_t)next_random();
        mark.name_id = next_random();
        status = nm_trace_writer_event(writer, &mark, &err);
    }
    ck_assert_int_eq(status, NM_ERR_LIMIT);
    ck_assert_uint_eq(nm_trace_writer_event_count(writer), NM_BLOCK_EVENTS_MAX);
    ck_assert_int_eq(nm_block_read_header(seal(writer, 0), &header, &err), NM_OK);

    static uint8_t noise[30u << 20];
    for (size_t at = 0; at < sizeof noise; at += 8)
        nm_put_u64(noise + at, next_random());
    for (uint64_t id = 1; id <= 2; id++)
        write_definition(writer, (nm_definition){NM_DEFINE_STRING, id, .string = {noise, sizeof noise}});
    nm_definition third = {NM_DEFINE_STRING, 3, .string = {noise, sizeof noise}};
    ck_assert_int_eq(nm_trace_writer_define(writer, &third, &err), NM_ERR_LIMIT);
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "1:1 1:2");
    write_definition(writer, third);
    ck_assert_str_eq(definitions_of(seal(writer, 0)), "1:3");
    nm_trace_writer_free(writer);
}
END_TEST

/* Whether the block of so many constant marks and a text of so many bytes can be opened by the reader. */
static nm_status open_claiming(nm_block_reader *reader, uint32_t event_count, size_t text_bytes)
{
    nm_trace_writer *writer = new_writer();
    uint8_t *text = calloc(text_bytes + 1, 1);
    nm_block_header header;

    write_definition(writer, (nm_definition){NM_DEFINE_STRING, 1, .string = {text, text_bytes}});
    for (uint32_t i = 0; i < event_count; i++)
        write_event(writer, (nm_event){.kind = NM_EVENT_MARK, .name_id = 1});
    nm_bytes block = seal(writer, 0);
    ck_assert_int_eq(nm_block_read_header(block, &header, &err), NM_OK);
    nm_status status = nm_block_reader_open(reader, block, &header, &err);
    nm_trace_writer_free(writer);
    free(text);
    return status;
}

/* Short blocks that claim much are refused before they are decoded: events, bytes, and many of what one alone may. */
START_TEST(what_a_file_claims_is_in_proportion_to_what_it_holds)
{
    nm_block_reader *reader;

    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    ck_assert_int_eq(open_claiming(reader, NM_BLOCK_EVENTS_MAX, 1), NM_ERR_LIMIT);
    ck_assert_ptr_nonnull(strstr(err.text, "1048576 events in "));
    nm_block_reader_free(reader);
    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    ck_assert_int_eq(open_claiming(reader, 1, 30 << 20), NM_ERR_LIMIT);
    nm_block_reader_free(reader);

    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(open_claiming(reader, 65536, 1), NM_OK);
    ck_assert_int_eq(open_claiming(reader, 65536, 1), NM_ERR_LIMIT);
    nm_block_reader_free(reader);
}
END_TEST

START_TEST(a_text_that_is_too_long_is_cut_and_marked)
{
    static const size_t lengths[] = {4095, 4096, 4097, 1 << 20};
    static const char word[] = "\xe5\xa4\xa7"; /* three bytes: 4093 is one too many for 1364 of them */
    nm_trace_writer *writer = new_writer();
    nm_block_reader *reader;
    nm_block_header header;
    nm_record record;
    uint8_t *text = malloc(1 << 20);

    for (size_t i = 0; i < 1 << 20; i++)
        text[i] = (uint8_t)word[i % 3];
    for (size_t i = 0; i < 4; i++)
        write_definition(writer, (nm_definition){NM_DEFINE_STRING, i + 1, .string = {text, lengths[i]}});
    nm_bytes block = seal(writer, 0);
    ck_assert_int_eq(nm_block_read_header(block, &header, &err), NM_OK);
    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    ck_assert_int_eq(nm_block_reader_open(reader, block, &header, &err), NM_OK);
    for (size_t i = 0; i < 4; i++) {
        size_t kept = i < 2 ? lengths[i] : 4092;

        ck_assert_int_eq(nm_block_reader_next(reader, &record, &err), NM_OK);
        ck_assert_uint_eq(record.definition.string.len, i < 2 ? lengths[i] : 4095);
        ck_assert_mem_eq(record.definition.string.data, text, kept);
        if (i >= 2)
            ck_assert_mem_eq(record.definition.string.data + kept, "...", 3);
    }
    nm_block_reader_free(reader);
    nm_trace_writer_free(writer);
    free(text);
}
END_TEST

START_TEST(what_cannot_be_written_is_refused)
{
    nm_trace_writer *writer = new_writer();

    ck_assert_int_eq(nm_trace_writer_event(writer, &(nm_event){.kind = 63}, &err), NM_ERR_USAGE);
    ck_assert_int_eq(nm_trace_writer_event(writer, &(nm_event){.kind = UINT64_MAX}, &err), NM_ERR_USAGE);
    ck_assert_int_eq(nm_trace_writer_define(writer, &(nm_definition){.kind = NM_DEFINE_STACK}, &err), NM_ERR_USAGE);
    ck_assert_int_eq(nm_trace_writer_define(writer, &(nm_definition){.kind = 77, .id = 1}, &err), NM_ERR_USAGE);
    ck_assert_uint_eq(nm_trace_writer_event_count(writer), 0);
    nm_trace_writer_free(writer);
}
END_TEST

/* Reads whatever a block gives; all that is asked for is that it ends. */
static void read_without_looking(nm_block_reader *reader, nm_bytes block, unsigned *refused_count)
{
    nm_block_header header;
    nm_record record;
    nm_status status = nm_block_read_header(block, &header, &err);

    ck_assert_int_eq(status, NM_OK);
    status = nm_block_reader_open(reader, block, &header, &err);
    ck_assert(status == NM_OK || status == NM_ERR_FORMAT);
    *refused_count += status == NM_ERR_FORMAT;
    for (uint32_t i = 0; (status = nm_block_reader_next(reader, &record, &err)) != NM_END; i++) {
        ck_assert_int_eq(status, NM_OK);
        ck_assert_uint_lt(i, 100000);
    }
}

START_TEST(changed_contents_with_right_checksums_are_survived)
{
    nm_trace_writer *writer = new_writer();
    nm_buffer block = {0}, content = {0}, changed_content = {0}, changed = {0};
    nm_block_reader *reader;
    unsigned refused_count = 0;

    seed_random();
    ck_assert_int_eq(nm_block_reader_new(&reader, &err), NM_OK);
    for (unsigned round = 0; round < 6000; round++) {
        if (round % 500 == 0) {
            if (round % 4000 == 0)
                define_a_program(writer);
            for (unsigned i = 0; i < 60; i++)
                write_event(writer, random_event(random_kind(), 0, round / 500));
            nm_bytes sealed = seal(writer, 0);
            block.len = content.len = 0;
            ck_assert_int_eq(nm_buffer_append(&block, sealed.data, sealed.len, &err), NM_OK);
            hand_unwrap((nm_bytes){block.data, block.len}, &content);
        }
        changed_content.len = changed.len = 0;
        ck_assert_int_eq(nm_buffer_append(&changed_content, content.data, content.len, &err), NM_OK);
        for (uint64_t changes = 1 + next_random() % 3; changes > 0; changes--) {
            uint8_t *place = &changed_content.data[104 + next_random() % (content.len - 104)];
            *place = next_random() % 2 == 0 ? (uint8_t)next_random() : *place ^ (uint8_t)(1 << next_random() % 8);
        }
        hand_wrap((nm_bytes){block.data, block.len}, (nm_bytes){changed_content.data, content.len}, &changed);
        read_without_looking(reader, (nm_bytes){changed.data, changed.len}, &refused_count);
    }
    ck_assert_uint_gt(refused_count, 300);
    ck_assert_uint_lt(refused_count, 5700);
    nm_block_reader_free(reader);
    nm_buffer_free(&block);
    nm_buffer_free(&content);
    nm_buffer_free(&changed_content);
    nm_buffer_free(&changed);
    nm_trace_writer_free(writer);
}
END_TEST

/* ---- The zstd program ---- */

static int run_zstd(const char *arguments, const char *path, nm_buffer *out)
{
    char command[256];
    char data[4096];

    snprintf(command, sizeof command, "zstd %s %s 2>/dev/null", arguments, path);
    FILE *pipe = popen(command, "r");
    ck_assert_ptr_nonnull(pipe);
    for (size_t got; (got = fread(data, 1, sizeof data, pipe)) > 0;)
        ck_assert_int_eq(nm_buffer_append(out, data, got, &err), NM_OK);
    return pclose(pipe);
}

START_TEST(zstd_tests_and_unpacks_a_trace)
{
    char path[] = "/tmp/test_block.XXXXXX";
    int fd = mkstemp(path);
    nm_trace_writer *writer = new_writer();
    nm_buffer got = {0};
    uint64_t raw_bytes = 0;
    nm_block_header header;

    if (system("zstd --version >/dev/null 2>&1") != 0) {
        printf("skipped: no zstd here\n");
        return;
    }
    for (int block = 0; block < 3; block++) {
        for (uint64_t i = 0; i < 20000; i++)
            write_event(writer, random_event(NM_EVENT_ALLOC, 0, (unsigned)block));
        nm_bytes bytes = seal(writer, block == 2 ? NM_BLOCK_FINAL : 0);
        ck_assert_int_eq(nm_block_read_header(bytes, &header, &err), NM_OK);
        raw_bytes += header.raw_bytes;
        ck_assert_int_eq(write(fd, bytes.data, bytes.len), (ssize_t)bytes.len);
    }
    close(fd);
    ck_assert_int_eq(run_zstd("-t", path, &got), 0);
    ck_assert_uint_eq(got.len, 0);
    ck_assert_int_eq(run_zstd("-dc", path, &got), 0);
    ck_assert_uint_eq(got.len, raw_bytes);
    ck_assert_mem_eq(got.data,
                     "NPUMEMB1\1\0\5\0\0\0\0\0"
                     "0123456789abcde\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
                     48);
    unlink(path);
    nm_buffer_free(&got);
    nm_trace_writer_free(writer);
}
END_TEST

TEST_SUITE(test_block)
{
    Suite *suite = suite_create("block");
    TCase *tests = tcase_create("block");

    tcase_set_timeout(tests, 40);
    tcase_add_test(tests, an_empty_block_made_by_hand_is_read);
    tcase_add_test(tests, definitions_made_by_hand_are_read);
    tcase_add_test(tests, every_encoding_made_by_hand_is_read);
    tcase_add_test(tests, what_a_newer_minor_version_adds_is_passed_over);
    tcase_add_test(tests, what_was_pending_is_read_from_version_1_3_on);
    tcase_add_test(tests, a_list_of_what_was_pending_that_lies_is_refused);
    tcase_add_test(tests, a_newer_major_version_is_refused);
    tcase_add_test(tests, a_block_that_lies_is_refused);
    tcase_add_test(tests, a_header_is_found_and_checked_before_it_is_trusted);
    tcase_add_test(tests, random_events_of_all_kinds_come_back);
    tcase_add_test(tests, times_in_the_header_are_the_smallest_and_the_largest);
    tcase_add_test(tests, definitions_come_again_where_a_reader_may_begin);
    tcase_add_test(tests, a_definition_is_written_when_it_changes_and_not_when_it_does_not);
    tcase_add_test(tests, an_alias_is_written_once_with_what_it_names);
    tcase_add_test(tests, a_very_deep_stack_is_written);
    tcase_add_test(tests, positions_of_a_thread_that_follow_each_other_are_one_range);
    tcase_add_test(tests, what_was_pending_comes_back_once);
    tcase_add_test(tests, a_resumed_writer_counts_on);
    tcase_add_test(tests, a_full_block_is_refused_and_can_be_sealed);
    tcase_add_test(tests, what_a_file_claims_is_in_proportion_to_what_it_holds);
    tcase_add_test(tests, a_text_that_is_too_long_is_cut_and_marked);
    tcase_add_test(tests, what_cannot_be_written_is_refused);
    tcase_add_test(tests, changed_contents_with_right_checksums_are_survived);
    tcase_add_test(tests, zstd_tests_and_unpacks_a_trace);
    suite_add_tcase(suite, tests);
    return suite;
}
