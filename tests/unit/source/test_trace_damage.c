/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace source on a trace of 16 KiB that is cut at every byte and in which every bit is flipped, once each; and on
 * what the writer made with a block damaged.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/known_trace.h"
#include "support/suites.h"
#include "trace/block.h"

#define BLOCKS        10 /* a group and the beginning of another */
#define EVENTS        6
#define PADDING_BYTES 1600

static known_trace trace;
static nm_source_summary_data summary;

static void set_up(void)
{
    known_make(&trace, BLOCKS, EVENTS, PADDING_BYTES);
    ck_assert_uint_ge(trace.file.len, 16 << 10);
}

static void tear_down(void)
{
    known_free(&trace);
}

static void check_cut(size_t len)
{
    bool is_readable[BLOCKS];
    char where[32];
    unsigned whole = 0;

    while (whole < BLOCKS && trace.ends[whole + 1] <= len)
        whole++;
    for (unsigned b = 0; b < BLOCKS; b++)
        is_readable[b] = b < whole;
    snprintf(where, sizeof where, "cut at %zu", len);
    known_check(&trace, (nm_bytes){trace.file.data, len}, false, is_readable, &summary, where);

    /* The header of the block that is cut still tells how many events were in it. */
    bool has_header = whole < BLOCKS && len >= trace.headers[whole];
    ck_assert_msg(summary.bytes_cut == len - trace.ends[whole], "%s: cut %lu", where, summary.bytes_cut);
    ck_assert_msg(summary.events_damaged == (has_header ? EVENTS : 0), "%s: damaged", where);
    ck_assert_msg(summary.bytes_damaged == 0 && summary.blocks_repeated == 0, "%s: damage", where);
    ck_assert_msg(summary.is_finished == (whole == BLOCKS), "%s: finished", where);
    ck_assert_msg(summary.is_complete == (whole == BLOCKS), "%s: complete", where);
}

START_TEST(cut_at_every_byte_keeps_the_whole_blocks)
{
    for (size_t len = 4; len <= trace.file.len; len++)
        check_cut(len);
}
END_TEST

static void check_flip(size_t bit)
{
    bool is_readable[BLOCKS];
    char where[32];
    unsigned hit = 0;

    while (trace.ends[hit + 1] <= bit / 8)
        hit++;
    for (unsigned b = 0; b < BLOCKS; b++)
        is_readable[b] = b != hit;
    snprintf(where, sizeof where, "bit %zu", bit);
    trace.file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    known_check(&trace, (nm_bytes){trace.file.data, trace.file.len}, false, is_readable, &summary, where);
    trace.file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);

    /* Without a header that can be read, a block at the end is no more than bytes that belong to nothing. */
    bool is_nameless = hit == BLOCKS - 1 && bit / 8 < trace.headers[hit];
    size_t bytes = trace.ends[hit + 1] - trace.ends[hit];
    ck_assert_msg(summary.events_damaged == (is_nameless ? 0 : EVENTS), "%s: damaged", where);
    ck_assert_msg(summary.blocks_damaged == (is_nameless ? 0 : 1), "%s: blocks", where);
    ck_assert_msg(summary.bytes_damaged == (is_nameless ? 0 : bytes), "%s: bytes", where);
    ck_assert_msg(summary.bytes_cut == (is_nameless ? bytes : 0), "%s: cut", where);
    ck_assert_msg(summary.is_finished == (hit != BLOCKS - 1), "%s: finished", where);
    ck_assert_msg(!summary.is_complete, "%s: complete", where);
}

START_TEST(every_flipped_bit_costs_its_block_and_no_other)
{
    for (size_t bit = 0; bit < trace.file.len * 8; bit++)
        check_flip(bit);
}
END_TEST

/* ---- More than a bit ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* With these bytes in the place of those from `at` on: each block that is another now is lost, and no other. */
static void check_bytes(size_t at, const uint8_t *bytes, size_t len, const char *what)
{
    bool is_readable[BLOCKS];
    char where[64];
    uint8_t before[4096];

    memcpy(before, trace.file.data + at, len);
    memcpy(trace.file.data + at, bytes, len);
    for (unsigned b = 0; b < BLOCKS; b++) {
        size_t first = at > trace.ends[b] ? at : trace.ends[b];
        size_t end = at + len < trace.ends[b + 1] ? at + len : trace.ends[b + 1];

        is_readable[b] = first >= end || memcmp(before + (first - at), bytes + (first - at), end - first) == 0;
    }
    snprintf(where, sizeof where, "%s at %zu", what, at);
    known_check(&trace, (nm_bytes){trace.file.data, trace.file.len}, false, is_readable, &summary, where);
    bool is_changed = memcmp(before, bytes, len) != 0;
    ck_assert_msg(summary.is_complete == !is_changed, "%s: complete", where);
    memcpy(trace.file.data + at, before, len);
}

START_TEST(every_byte_that_is_another_costs_its_block_and_no_other)
{
    for (size_t at = 0; at < trace.file.len; at++) {
        const uint8_t others[] = {0x00, 0xff, (uint8_t)(trace.file.data[at] + 1)};

        for (size_t i = 0; i < sizeof others; i++)
            check_bytes(at, &others[i], 1, "byte");
    }
}
END_TEST

/* Sectors of a disk, and pieces between them, that hold nothing or what is no part of a trace. */
START_TEST(junk_costs_the_blocks_that_it_touches_and_no_other)
{
    static const size_t lengths[] = {256, 512, 4096};
    uint64_t state = 1;
    uint8_t junk[4096];

    for (size_t n = 0; n < sizeof lengths / sizeof *lengths; n++)
        for (size_t at = lengths[n]; at + lengths[n] <= trace.file.len; at += lengths[n] == 4096 ? 512 : lengths[n]) {
            memset(junk, 0, sizeof junk);
            check_bytes(at, junk, lengths[n], "zeros");
            memset(junk, 0xff, sizeof junk);
            check_bytes(at, junk, lengths[n], "ones");
            for (size_t i = 0; i < lengths[n]; i++)
                junk[i] = (uint8_t)next_random(&state);
            check_bytes(at, junk, lengths[n], "junk");
        }
}
END_TEST

/* ---- Blocks in other places ---- */

#define PLACES 64

static known_trace many;
static bool many_readable[PLACES];

static void append_many(nm_buffer *file, unsigned b)
{
    ck_assert_int_eq(nm_buffer_append(file, many.file.data + many.ends[b], many.ends[b + 1] - many.ends[b], NULL),
                     NM_OK);
}

/* Block b stands behind block `after` too: it counts once, whatever its place. */
static void check_doubled(unsigned b, unsigned after)
{
    nm_buffer file = {0};
    char where[64];

    for (unsigned i = 0; i < PLACES; i++) {
        append_many(&file, i);
        if (i == after)
            append_many(&file, b);
    }
    snprintf(where, sizeof where, "%u again behind %u", b, after);
    known_check(&many, (nm_bytes){file.data, file.len}, false, many_readable, &summary, where);
    ck_assert_uint_eq(summary.blocks_repeated, 1);
    nm_buffer_free(&file);
}

/* Two blocks in each other's place: what comes before its time hides what it was to follow, and no event is there twice. */
static void check_swapped(unsigned a, unsigned b)
{
    nm_buffer file = {0};
    char where[64];

    for (unsigned i = 0; i < PLACES; i++)
        append_many(&file, i == a ? b : i == b ? a : i);
    for (unsigned i = a; i < b; i++)
        many_readable[i] = false;
    snprintf(where, sizeof where, "%u and %u swapped", a, b);
    known_check(&many, (nm_bytes){file.data, file.len}, false, many_readable, &summary, where);
    ck_assert_uint_eq(summary.events_damaged, (uint64_t)(b - a) * many.events);
    ck_assert(!summary.is_complete);
    memset(many_readable, true, sizeof many_readable);
    nm_buffer_free(&file);
}

START_TEST(blocks_doubled_or_swapped_in_any_place_give_no_event_twice)
{
    known_make(&many, PLACES, 3, 0);
    memset(many_readable, true, sizeof many_readable);
    for (unsigned a = 0; a < PLACES; a++)
        for (unsigned b = 0; b < PLACES; b++) {
            if (a <= b)
                check_doubled(a, b);
            if (a < b && b + 1 < PLACES) /* the last one ends the trace */
                check_swapped(a, b);
        }
    known_free(&many);
}
END_TEST

/* ---- What the writer made ---- */

#define WRITTEN_BLOCKS       (2 * NM_BLOCK_WINDOW + 5)
#define WRITTEN_EVENTS       30 /* of a block */
#define WRITTEN_STACKS       120
#define STACKS_OF_A_BLOCK(b) (20 + 3 * (b)) /* new places turn up all the time */

static void define(nm_trace_writer *writer, nm_definition definition)
{
    nm_error err = {0};

    ck_assert_int_eq(nm_trace_writer_define(writer, &definition, &err), NM_OK);
}

/* A stack for each number, of two frames whose outer one many share; each frame has a function of its own. */
static void define_stacks(nm_trace_writer *writer, uint64_t first, uint64_t end)
{
    char text[32];

    for (uint64_t i = first; i < end; i++) {
        int len = snprintf(text, sizeof text, "function %d", (int)i);

        define(writer, (nm_definition){NM_DEFINE_STRING, i, .string = {(const uint8_t *)text, (size_t)len}});
        define(writer, (nm_definition){NM_DEFINE_FRAME, i, .frame = {.function = i}});
        define(writer, (nm_definition){NM_DEFINE_STACK, i, .stack = {i <= 10 ? 0 : i % 10 + 1, i, 0}});
    }
}

static void write_trace(nm_buffer *file, size_t *ends)
{
    nm_session session = {.trace_id = {7}};
    nm_trace_writer *writer;
    uint64_t defined = 1;
    nm_error err = {0};
    nm_bytes block;

    ck_assert_int_eq(nm_trace_writer_new(&session, &writer, &err), NM_OK);
    define(writer, (nm_definition){NM_DEFINE_PROCESS, 1, .process = {.pid = 1}});
    define(writer, (nm_definition){NM_DEFINE_THREAD, 1, .thread = {.process_id = 1}});
    for (unsigned b = 0; b < WRITTEN_BLOCKS; b++) {
        uint64_t known = STACKS_OF_A_BLOCK(b) < WRITTEN_STACKS ? STACKS_OF_A_BLOCK(b) : WRITTEN_STACKS;

        define_stacks(writer, defined, known + 1);
        defined = known + 1;
        for (unsigned i = 0; i < WRITTEN_EVENTS; i++) {
            nm_event event = {.kind = NM_EVENT_ALLOC, .thread_id = 1, .stack_id = (b * 7 + i * 11) % known + 1};

            ck_assert_int_eq(nm_trace_writer_event(writer, &event, &err), NM_OK);
        }
        ck_assert_int_eq(nm_trace_writer_seal(writer, b + 1 == WRITTEN_BLOCKS ? NM_BLOCK_FINAL : 0, &block, &err),
                         NM_OK);
        ck_assert_int_eq(nm_buffer_append(file, block.data, block.len, &err), NM_OK);
        ends[b] = file->len;
    }
    nm_trace_writer_free(writer);
}

static void count_events(const nm_buffer *file, unsigned *events, unsigned *without_stack)
{
    nm_source *source;
    nm_record record;
    nm_error err = {0};
    int fd;

    *events = *without_stack = 0;
    ck_assert_int_eq(known_open((nm_bytes){file->data, file->len}, false, &fd, &source, &err), NM_OK);
    while (nm_source_next(source, &record, &err) == NM_OK)
        if (record.kind == NM_RECORD_EVENT && record.event.kind == NM_EVENT_ALLOC) {
            ++*events;
            *without_stack += (record.event.flags & NM_FLAG_NO_STACK) != 0;
        }
    nm_source_close(source);
    close(fd);
}

START_TEST(a_damaged_block_takes_no_stack_of_another)
{
    size_t ends[WRITTEN_BLOCKS];
    nm_buffer file = {0};
    unsigned events, without_stack;

    write_trace(&file, ends);
    count_events(&file, &events, &without_stack);
    ck_assert_uint_eq(events, WRITTEN_BLOCKS * WRITTEN_EVENTS);
    ck_assert_uint_eq(without_stack, 0);
    for (unsigned b = 0; b < WRITTEN_BLOCKS; b++) {
        file.data[ends[b] - 20] ^= 1;
        count_events(&file, &events, &without_stack);
        file.data[ends[b] - 20] ^= 1;
        ck_assert_msg(events == (WRITTEN_BLOCKS - 1) * WRITTEN_EVENTS, "block %u: %u events", b, events);
        ck_assert_msg(without_stack == 0, "block %u: %u events without stack", b, without_stack);
    }
    nm_buffer_free(&file);
}
END_TEST

TEST_SUITE(test_trace_damage)
{
    Suite *suite = suite_create("trace_damage");
    TCase *tests = tcase_create("trace_damage");

    tcase_set_timeout(tests, 600);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, cut_at_every_byte_keeps_the_whole_blocks);
    tcase_add_test(tests, every_flipped_bit_costs_its_block_and_no_other);
    tcase_add_test(tests, every_byte_that_is_another_costs_its_block_and_no_other);
    tcase_add_test(tests, junk_costs_the_blocks_that_it_touches_and_no_other);
    tcase_add_test(tests, blocks_doubled_or_swapped_in_any_place_give_no_event_twice);
    tcase_add_test(tests, a_damaged_block_takes_no_stack_of_another);
    suite_add_tcase(suite, tests);
    return suite;
}
