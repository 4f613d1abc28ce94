/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace source on a trace of 16 KiB that is cut at every byte and in which every bit is flipped, once each.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/known_trace.h"

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

int main(void)
{
    Suite *suite = suite_create("trace_damage");
    TCase *tests = tcase_create("trace_damage");

    tcase_set_timeout(tests, 600);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, cut_at_every_byte_keeps_the_whole_blocks);
    tcase_add_test(tests, every_flipped_bit_costs_its_block_and_no_other);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
