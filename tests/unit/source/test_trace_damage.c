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
    tcase_add_test(tests, a_damaged_block_takes_no_stack_of_another);
    suite_add_tcase(suite, tests);
    return suite;
}
