/* SPDX-License-Identifier: Apache-2.0
 *
 * Workloads from traces, and what simulations make of them: cases planted by hand, where the answer is known, and random
 * ones against slow computations.
 */
#include "support/suites.h"
#include "whatif/simulate.h"

#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/whatif_load.h"
#include "whatif/advise.h"
#include "whatif/packing.h"
#include "whatif/search.h"

#define MIB (UINT64_C(1) << 20)
#define HEAD                                                                                                           \
    "process 1 pid=1\ndevice 1 process=1 ordinal=0 kind=npu\nheap 1 process=1 device=1 level=driver basis=block\n"     \
    "heap 2 process=1 device=1 level=pool basis=requested\n"

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

/* ---- Workloads by hand ------------------------------------------------------------------------------------------- */

static nm_workload *new_workload(void)
{
    nm_workload *workload = calloc(1, sizeof *workload);

    workload->is_npu = true;
    workload->page_bytes = NM_LARGE_SEGMENT_BYTES;
    ck_assert_int_eq(nm_workload_add_lane(workload, (nm_lane){0, 1}, NULL), NM_OK);
    return workload;
}

/* A block of exactly that size; its slot. */
static uint32_t ask_in_lane(nm_workload *workload, uint32_t lane, uint64_t block_bytes)
{
    nm_request request = {.bytes = block_bytes, .lane = lane, .is_block_bytes = true};
    uint32_t slot;

    ck_assert_int_eq(nm_workload_ask(workload, NM_OP_ALLOC, request, (int64_t)workload->ops.count, &slot, NULL), NM_OK);
    return slot;
}

static uint32_t ask_for(nm_workload *workload, uint64_t block_bytes)
{
    return ask_in_lane(workload, 0, block_bytes);
}

static void give_up(nm_workload *workload, uint32_t slot)
{
    ck_assert_int_eq(nm_workload_add_op(workload, NM_OP_FREE, slot, NULL), NM_OK);
}

static nm_setting setting_of(const char *conf)
{
    nm_setting setting = {.caching = nm_caching_settings_default(true)};
    nm_error err;

    ck_assert_msg(nm_caching_settings_parse(conf, &setting.caching, &err) == NM_OK, "%s", err.text);
    return setting;
}

static nm_sim_result run(const nm_workload *workload, const nm_setting *setting, uint64_t capacity, uint64_t other)
{
    nm_sim_result result;
    nm_error err;

    ck_assert_msg(nm_simulate(workload, setting, &(nm_sim_options){capacity, other}, &result, &err) == NM_OK, "%s",
                  err.text);
    return result;
}

static nm_sim_result run_conf(const nm_workload *workload, const char *conf, uint64_t capacity)
{
    nm_setting setting = setting_of(conf);

    return run(workload, &setting, capacity, 0);
}

/* ---- Planted causes ---------------------------------------------------------------------------------------------- */

/* Blocks that grow from step to step: each fits into no hole that the one before it left. */
static nm_workload *growing_blocks(void)
{
    nm_workload *workload = new_workload();
    uint32_t kept = 0;

    for (uint64_t i = 0; i < 10; i++) {
        uint32_t block = ask_for(workload, (20 + 4 * i) * MIB);

        if (i > 0)
            give_up(workload, kept);
        kept = block;
    }
    give_up(workload, kept);
    return workload;
}

START_TEST(expandable_segments_fix_blocks_that_grow)
{
    nm_workload *workload = growing_blocks();
    nm_sim_result plain = run_conf(workload, "", NM_WHATIF_UNLIMITED);
    nm_sim_result grown = run_conf(workload, "expandable_segments:True", NM_WHATIF_UNLIMITED);

    ck_assert_uint_eq(plain.miss_count, 10); /* nothing cached is ever large enough: 20 + 24 + ... + 56 MiB */
    ck_assert_uint_eq(plain.peak_reserved_bytes, 380 * MIB);
    ck_assert_uint_eq(plain.peak_live_bytes, (52 + 56) * MIB);
    ck_assert_double_eq_tol(nm_sim_fragmentation_ratio(&plain), 1 - 108.0 / 380, 1e-12);
    ck_assert_uint_le(grown.peak_reserved_bytes, 180 * MIB);
    nm_workload_free(workload);
}
END_TEST

/* A large block that comes and goes, and a small one that creeps into its segment whenever it is away. */
START_TEST(max_split_keeps_large_segments_for_large_blocks)
{
    nm_workload *workload = new_workload();

    for (int i = 0; i < 4; i++) {
        give_up(workload, ask_for(workload, 200 * MIB));
        ask_for(workload, 30 * MIB); /* stays */
    }
    nm_sim_result plain = run_conf(workload, "", NM_WHATIF_UNLIMITED);
    nm_sim_result split = run_conf(workload, "max_split_size_mb:100", NM_WHATIF_UNLIMITED);

    ck_assert_uint_eq(plain.peak_reserved_bytes, 400 * MIB); /* the first 30 MiB spoil the first segment */
    ck_assert_uint_eq(split.peak_reserved_bytes, (200 + 4 * 30) * MIB);
    nm_workload_free(workload);
}
END_TEST

START_TEST(what_cannot_fit_names_the_request_that_fails)
{
    nm_workload *workload = new_workload();
    nm_smallest smallest;
    nm_setting setting = setting_of("");
    nm_error err;

    ask_for(workload, 100 * MIB);
    ask_for(workload, 50 * MIB);
    ask_for(workload, 60 * MIB); /* op 2 */
    nm_sim_result result = run_conf(workload, "", 200 * MIB);

    ck_assert(!result.is_fit);
    ck_assert_int_eq(result.failure.cause, NM_CAUSE_CAPACITY);
    ck_assert_int_eq(result.failure.seq, 2);
    ck_assert_uint_eq(result.failure.bytes, 60 * MIB);
    ck_assert_uint_eq(result.failure.reserved_bytes, 150 * MIB);
    ck_assert_uint_eq(result.failure.device_free_bytes, 50 * MIB);
    ck_assert(run_conf(workload, "", 210 * MIB).is_fit);
    ck_assert(!run(workload, &setting, 210 * MIB, 1).is_fit); /* another process holds one byte */
    ck_assert_int_eq(nm_search_smallest(workload, &setting, 40 * MIB, &smallest, &err), NM_OK);
    ck_assert_uint_eq(smallest.device_bytes, 250 * MIB);
    nm_workload_free(workload);
}
END_TEST

START_TEST(a_hole_that_is_too_small_is_called_fragmentation)
{
    nm_workload *workload = new_workload();
    uint32_t blocks[10];

    for (int i = 0; i < 10; i++) /* two in each segment of 20 MiB */
        blocks[i] = ask_for(workload, 9 * MIB);
    for (int i = 0; i < 10; i += 2)
        give_up(workload, blocks[i]);
    ask_for(workload, 30 * MIB);
    nm_sim_result result = run_conf(workload, "", 110 * MIB);

    ck_assert(!result.is_fit);
    ck_assert_int_eq(result.failure.cause, NM_CAUSE_FRAGMENTATION);
    ck_assert_uint_eq(result.failure.free_bytes, 55 * MIB);
    ck_assert_uint_eq(result.failure.stuck_bytes, 55 * MIB);
    ck_assert_uint_eq(result.failure.largest_free_bytes, 9 * MIB);
    nm_workload_free(workload);
}
END_TEST

START_TEST(cached_segments_are_flushed_before_it_gives_up)
{
    nm_workload *workload = new_workload();

    give_up(workload, ask_for(workload, 100 * MIB));
    ask_for(workload, 120 * MIB);
    nm_sim_result result = run_conf(workload, "", 130 * MIB);

    ck_assert(result.is_fit);
    ck_assert_uint_eq(result.flush_count, 1);
    ck_assert_uint_eq(result.give_count, 1);
    ck_assert_uint_eq(result.peak_reserved_bytes, 120 * MIB);
    nm_workload_free(workload);
}
END_TEST

START_TEST(streams_do_not_share_and_pending_blocks_wait)
{
    nm_workload *workload = new_workload();
    uint32_t block;

    ck_assert_int_eq(nm_workload_add_lane(workload, (nm_lane){0, 2}, NULL), NM_OK);
    give_up(workload, ask_for(workload, 100 * MIB));
    block = ask_for(workload, 100 * MIB); /* reuses */
    ask_in_lane(workload, 1, 100 * MIB);
    nm_workload_add_op(workload, NM_OP_FREE_REQUESTED, block, NULL);
    ask_for(workload, 100 * MIB); /* cannot reuse what is pending */
    give_up(workload, block);
    ask_for(workload, 100 * MIB); /* can now */
    nm_sim_result result = run_conf(workload, "", NM_WHATIF_UNLIMITED);

    ck_assert_uint_eq(result.miss_count, 3);
    ck_assert_uint_eq(result.peak_reserved_bytes, 300 * MIB);
    ck_assert(run_conf(workload, "", 300 * MIB).is_fit);
    ck_assert(run_conf(workload, "", 299 * MIB).is_fit == false);
    nm_workload_free(workload);
}
END_TEST

/* The first two steps are warm-up, of two steps the first. */
START_TEST(steps_count_calls_after_the_warm_up)
{
    static const int counted[] = {0, 0, 1, 1, 2, 3};

    for (int steps = 0; steps < 6; steps++) {
        nm_workload *workload = new_workload();

        give_up(workload, ask_for(workload, 2 * MIB));
        for (int step = 0; step < steps; step++) {
            nm_workload_add_op(workload, NM_OP_STEP, 0, NULL);
            ask_for(workload, 40 * MIB); /* never freed: one more segment in each step */
            give_up(workload, ask_for(workload, 2 * MIB));
        }
        nm_sim_result result = run_conf(workload, "", NM_WHATIF_UNLIMITED);

        ck_assert_int_eq((int)result.take_count, steps + 1);
        ck_assert_int_eq((int)result.step_count, counted[steps]);
        ck_assert_int_eq((int)result.calls_in_steps, counted[steps]);
        ck_assert_int_eq((int)result.misses_in_steps, counted[steps]);
        nm_workload_free(workload);
    }
}
END_TEST

/* ---- From traces ------------------------------------------------------------------------------------------------- */

START_TEST(other_driver_memory_counts_while_it_is_there)
{
    nm_workload *workload = whatif_from_text(HEAD "- alloc baseline heap=1 address=0x90000000 block=1048576\n"
                                                  "@1 alloc heap=1 address=0x10000000 block=20971520 stream=1 segment\n"
                                                  "@2 alloc heap=2 address=0x10000000 requested=5242880 stream=1\n"
                                                  "@3 alloc heap=1 address=0x80000000 block=104857600\n"
                                                  "@4 free heap=1 address=0x80000000\n"
                                                  "@5 alloc heap=2 address=0x10500200 requested=100 stream=1\n",
                                             &(nm_workload_options){0});
    nm_setting setting = setting_of("");

    ck_assert_uint_eq(workload->recorded.peak_other_bytes, 101 * MIB);
    ck_assert_uint_eq(workload->recorded.request_count, 2);
    ck_assert(run(workload, &setting, 121 * MIB, 0).is_fit);
    nm_sim_result result = run(workload, &setting, 121 * MIB - 1, 0);
    ck_assert(!result.is_fit);
    ck_assert_int_eq(result.failure.cause, NM_CAUSE_OTHER);
    ck_assert_int_eq(result.failure.seq, 2);
    nm_workload_free(workload);
}
END_TEST

#define TWO_SEGMENTS                                                                                                   \
    HEAD "stack 1: memory.py:158:empty_cache < train.py:1:main\nstack 2: train.py:2:step\n"                            \
         "@1 alloc heap=1 address=0x10000000 block=20971520 stream=1 segment\n"                                        \
         "@2 alloc heap=2 address=0x10000000 requested=5242880 stream=1\n"                                             \
         "@3 alloc heap=1 address=0x20000000 block=31457280 stream=1 segment\n"                                        \
         "@4 alloc heap=2 address=0x20000000 requested=31000000 stream=1\n"                                            \
         "@5 free heap=2 address=0x10000000\n"                                                                         \
         "@6 free heap=2 address=0x20000000\n"

static void expect_flushes(const char *rest, uint64_t of_program, uint64_t own)
{
    char text[4096];

    snprintf(text, sizeof text, "%s%s", TWO_SEGMENTS, rest);
    nm_workload *workload = whatif_from_text(text, &(nm_workload_options){0});
    uint64_t replayed = 0;

    for (size_t i = 0; i < workload->ops.count; i++)
        replayed += nm_op_kind_of(workload->ops.items[i]) == NM_OP_FLUSH;
    ck_assert_msg(workload->recorded.flush_count == of_program, "%s", rest);
    ck_assert_msg(workload->recorded.own_flush_count == own, "%s", rest);
    ck_assert_uint_eq(replayed, of_program);
    nm_workload_free(workload);
}

START_TEST(emptied_caches_are_the_programs_or_the_pools_own)
{
    /* Both segments, and nothing follows. */
    expect_flushes("@7 free heap=1 address=0x10000000\n@8 free heap=1 address=0x20000000\n", 1, 0);
    /* One of two stays though it is empty: a collection. */
    expect_flushes("@7 free heap=1 address=0x10000000\n", 0, 1);
    /* The stack says it. */
    expect_flushes("@7 free heap=1 address=0x10000000 stack=1\n", 1, 0);
    /* The pool grows right behind it by more than would have been the most: it was out of memory. */
    expect_flushes("@7 free heap=1 address=0x10000000\n@8 free heap=1 address=0x20000000\n"
                   "@9 alloc heap=1 address=0x30000000 block=31457280 stream=1 segment\n"
                   "@10 alloc heap=2 address=0x30000000 requested=31000000 stream=1\n",
                   0, 1);
    /* The same, but an allocation has failed before, and it grows by little. */
    expect_flushes("@7 alloc_failed heap=1 requested=999999999\n@8 free heap=1 address=0x10000000\n"
                   "@9 free heap=1 address=0x20000000\n",
                   0, 1);
}
END_TEST

/* 18 and 64 MiB are emptied one after the other, with a free between; the pool ends with the 82 MiB it had at the most. */
static const char emptied_twice[] = HEAD "stack 1: memory.py:158:empty_cache < train.py:1:main\n"
                                         "@1 alloc heap=1 address=0x10000000 block=18874368 stream=1 segment\n"
                                         "@2 alloc heap=2 address=0x10000000 requested=18874336 stream=1\n"
                                         "@3 alloc heap=1 address=0x20000000 block=67108864 stream=1 segment\n"
                                         "@4 alloc heap=2 address=0x20000000 requested=67108832 stream=1\n";

static void expect_emptied_twice(const char *rest, uint64_t flushes, uint64_t peak_mib)
{
    char text[4096];

    snprintf(text, sizeof text, "%s%s%s", emptied_twice, rest,
             "@20 alloc heap=1 address=0x30000000 block=85983232 stream=1 segment\n"
             "@21 alloc heap=2 address=0x30000000 requested=85983200 stream=1\n");
    nm_workload *workload = whatif_from_text(text, &(nm_workload_options){0});

    ck_assert_msg(workload->recorded.flush_count == flushes, "%s", rest);
    ck_assert_uint_eq(workload->recorded.peak_reserved_bytes, 82 * MIB);
    ck_assert_msg(run_conf(workload, "", NM_WHATIF_UNLIMITED).peak_reserved_bytes == peak_mib * MIB, "%s", rest);
    nm_workload_free(workload);
}

START_TEST(a_block_given_up_between_two_emptied_caches_tells_them_apart)
{
    expect_emptied_twice("@5 free heap=2 address=0x10000000\n@6 free heap=1 address=0x10000000 stack=1\n"
                         "@7 free heap=2 address=0x20000000\n@8 free heap=1 address=0x20000000 stack=1\n",
                         2, 82);
    expect_emptied_twice("@5 free heap=2 address=0x10000000\n@6 free heap=1 address=0x10000000 stack=1\n"
                         "@7 free_requested heap=2 address=0x20000000 stream=1\n@8 free heap=2 address=0x20000000\n"
                         "@9 free heap=1 address=0x20000000 stack=1\n",
                         2, 82);
    /* One emptied cache waits for a block that was given up before it. */
    expect_emptied_twice("@5 free heap=2 address=0x10000000\n@6 free_requested heap=2 address=0x20000000 stream=1\n"
                         "@7 free heap=1 address=0x10000000 stack=1\n@8 free heap=2 address=0x20000000\n"
                         "@9 free heap=1 address=0x20000000 stack=1\n",
                         1, 82);
}
END_TEST

/* As the recorder writes it: frames without names while the program runs, and with them at the end. */
static bool is_emptying(const char *function, bool is_inlined)
{
    nm_gather *gather = NULL;
    nm_error err;
    nm_definition definitions[] = {
        {.kind = NM_DEFINE_FRAME, .id = 5, .frame = {.inlined_in = is_inlined ? 6 : 0}},
        {.kind = NM_DEFINE_STACK, .id = 1, .stack = {.parent_id = 0, .frame_id = 5}},
        {.kind = NM_DEFINE_STACK, .id = 2, .stack = {.parent_id = 1, .frame_id = 7}},
        {.kind = NM_DEFINE_STRING, .id = 9, .string = {(const uint8_t *)function, strlen(function)}},
        {.kind = NM_DEFINE_FRAME, .id = is_inlined ? 6 : 5, .frame = {.function = 9}},
    };

    ck_assert_int_eq(nm_gather_new(&gather, &err), NM_OK);
    const nm_sink *sink = nm_gather_sink(gather);
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++)
        ck_assert_int_eq(nm_give_definition(sink, &definitions[i], &err), NM_OK);
    bool result = nm_gather_is_emptying(gather, 2);
    ck_assert(!nm_gather_is_emptying(gather, 3));
    nm_gather_free(gather);
    return result;
}

START_TEST(a_call_that_empties_the_cache_is_known_by_its_name)
{
    static const char *const right[] = {"empty_cache", "pool_empty_cache",
                                        "c10_npu::NPUCachingAllocator::emptyCache(bool)",
                                        "_ZN7c10_npu19NPUCachingAllocator10emptyCacheEb"};
    static const char *const wrong[] = {"empty_cache_locked", "not_empty_cached", "emptyCaches", "empty", ""};

    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        ck_assert_msg(is_emptying(right[i], false) && is_emptying(right[i], true), "%s", right[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ck_assert_msg(!is_emptying(wrong[i], false) && !is_emptying(wrong[i], true), "%s", wrong[i]);
}
END_TEST

/* Private pool 5 has a segment, and keeps it while the cache is emptied: 20 + 32 MiB, then 52 + 100. Pool 6 gave its own
 * back, so that its graph was gone. */
static uint64_t peak_with_private_pools(const char *given_back)
{
    char text[2048];

    snprintf(text, sizeof text, "%s%s%s%s", HEAD "stack 1: memory.py:158:empty_cache < train.py:1:main\n",
             "@1 alloc heap=1 address=0x10000000 block=20971520 stream=1 segment\n"
             "@2 alloc heap=2 address=0x10000000 requested=5242880 stream=1 policy=5\n"
             "@3 alloc heap=1 address=0x20000000 block=33554432 stream=1 segment\n"
             "@4 alloc heap=2 address=0x20000000 requested=33000000 stream=1 policy=6\n"
             "@5 free heap=2 address=0x10000000\n"
             "@6 free heap=2 address=0x20000000\n",
             given_back,
             "@20 alloc heap=1 address=0x30000000 block=104857600 stream=1 segment\n"
             "@21 alloc heap=2 address=0x30000000 requested=104000000 stream=1\n");
    nm_workload *workload = whatif_from_text(text, &(nm_workload_options){0});
    uint64_t peak = run_conf(workload, "", NM_WHATIF_UNLIMITED).peak_reserved_bytes;

    nm_workload_free(workload);
    return peak;
}

START_TEST(a_private_pool_keeps_its_memory_until_it_gave_some_back)
{
    ck_assert_uint_eq(peak_with_private_pools(""), 152 * MIB);
    ck_assert_uint_eq(peak_with_private_pools("@10 free heap=1 address=0x20000000 stack=1\n"), 120 * MIB);
    ck_assert_uint_eq(peak_with_private_pools("@10 free heap=1 address=0x10000000 stack=1\n"
                                              "@11 free heap=1 address=0x20000000 stack=1\n"),
                      100 * MIB);
}
END_TEST

START_TEST(what_was_there_lies_as_it_lay)
{
    /* One segment with a block that has swallowed the rest (less than 1 MiB), one that is half empty. */
    nm_workload *workload =
        whatif_from_text(HEAD "- alloc baseline heap=1 address=0x10000000 block=12582912 stream=1 segment\n"
                              "- alloc baseline heap=1 address=0x20000000 block=20971520 stream=1 segment\n"
                              "- alloc baseline heap=2 address=0x10000000 requested=12000000 stream=1\n"
                              "- alloc baseline heap=2 address=0x20500000 requested=5242000 stream=1\n"
                              "@1 alloc heap=2 address=0x20000000 requested=5242000 stream=1\n"
                              "@2 free heap=2 address=0x10000000\n",
                         &(nm_workload_options){0});

    ck_assert_uint_eq(workload->spaces.count, 2);
    ck_assert_uint_eq(workload->seeds.count, 4);
    ck_assert_uint_eq(workload->seeds.items[0].bytes, 12582912);
    ck_assert_int_eq(workload->seeds.items[1].kind, NM_SEED_FREE);
    ck_assert_uint_eq(workload->seeds.items[1].bytes, 5 * MIB);
    nm_sim_result result = run_conf(workload, "", NM_WHATIF_UNLIMITED);
    ck_assert(result.is_laid_out);
    ck_assert_uint_eq(result.miss_count, 0); /* it fits into the half that is empty */
    ck_assert_uint_eq(result.peak_reserved_bytes, 32 * MIB);
    ck_assert(!run_conf(workload, "expandable_segments:True", NM_WHATIF_UNLIMITED).is_laid_out);
    ck_assert_int_eq(run_conf(workload, "", 20 * MIB).failure.cause, NM_CAUSE_BASELINE);
    nm_workload_free(workload);
}
END_TEST

START_TEST(a_baseline_that_contradicts_itself_is_not_laid_out)
{
    nm_workload *workload =
        whatif_from_text(HEAD "- alloc baseline heap=1 address=0x10000000 block=2097152 stream=1 segment\n"
                              "- alloc baseline heap=2 address=0x10000000 requested=4000 stream=1\n"
                              "- alloc baseline heap=2 address=0x10000200 requested=4000 stream=1\n"
                              "@1 alloc heap=2 address=0x10100000 requested=10 stream=1\n",
                         &(nm_workload_options){0});

    ck_assert_uint_eq(workload->spaces.count, 0);
    ck_assert_uint_eq(workload->baseline.count, 2);
    nm_sim_result result = run_conf(workload, "", NM_WHATIF_UNLIMITED);
    ck_assert(result.is_fit);
    ck_assert(!result.is_laid_out);
    ck_assert_uint_eq(result.peak_live_bytes, 8010);
    nm_workload_free(workload);
}
END_TEST

START_TEST(unknown_sizes_refuse_a_suggestion_and_unknown_streams_do_not)
{
    nm_workload *known =
        whatif_from_text(HEAD "@1 alloc heap=2 address=0x1000 requested=10 stream=1\n", &(nm_workload_options){0});
    nm_workload *streamless =
        whatif_from_text(HEAD "@1 alloc heap=2 address=0x1000 requested=10\n", &(nm_workload_options){0});
    nm_workload *unsized = whatif_from_text(HEAD "@1 alloc heap=2 address=0x1000 requested=10 stream=1\n"
                                                 "@2 alloc heap=2 address=0x2000 stream=1\n",
                                            &(nm_workload_options){0});
    nm_workload *late =
        whatif_from_text("process 1 pid=1 late=1\n" HEAD "@1 alloc heap=2 address=0x1000 requested=10 stream=1\n",
                         &(nm_workload_options){0});

    ck_assert_ptr_null(nm_search_refusal(known, true));
    ck_assert_ptr_nonnull(nm_search_refusal(known, false));
    ck_assert_ptr_null(nm_search_refusal(streamless, true));
    ck_assert_uint_eq(streamless->recorded.streamless_count, 1);
    ck_assert_ptr_nonnull(strstr(nm_search_refusal(unsized, true), "size"));
    nm_workload_free(known);
    nm_workload_free(streamless);
    nm_workload_free(unsized);
    nm_workload_free(late);
}
END_TEST

START_TEST(shared_memory_rules_out_expandable_segments)
{
    nm_workload *workload = growing_blocks();
    nm_setting base = setting_of("");
    nm_candidates candidates;
    size_t expandable = 0;

    nm_search_candidates(workload, &base, &candidates);
    for (size_t i = 0; i < candidates.count; i++) {
        const nm_caching_settings *one = &candidates.items[i].caching;

        expandable += one->is_expandable;
        ck_assert(!one->is_expandable || (one->max_split_bytes == NM_NO_SPLIT_LIMIT && one->collect_threshold == 0));
    }
    ck_assert_uint_gt(expandable, 0);
    workload->recorded.exported_count = 1;
    nm_search_candidates(workload, &base, &candidates);
    for (size_t i = 0; i < candidates.count; i++)
        ck_assert(!candidates.items[i].caching.is_expandable);
    nm_workload_free(workload);
}
END_TEST

/* ---- Against slow computations ----------------------------------------------------------------------------------- */

enum { REQUESTS = 300 };

typedef struct change { /* what happens, noted as it is put into a workload */
    uint64_t bytes;
    bool is_alloc;
} change;

static change changes[2 * REQUESTS];
static size_t change_count;

static nm_workload *random_workload(uint64_t seed)
{
    nm_workload *workload = new_workload();
    uint32_t live[REQUESTS];
    uint64_t live_bytes[REQUESTS];
    size_t live_count = 0;

    change_count = 0;
    random_state = seed * 88172645463325252u;
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t bytes = 512 * (1 + next_random(next_random(3) == 0 ? 40000 : 20));

        changes[change_count++] = (change){bytes, true};
        live_bytes[live_count] = bytes;
        live[live_count++] = ask_for(workload, bytes);
        while (live_count > 0 && next_random(100) < 45) {
            size_t at = next_random(live_count);

            changes[change_count++] = (change){live_bytes[at], false};
            give_up(workload, live[at]);
            live[at] = live[--live_count];
            live_bytes[at] = live_bytes[live_count];
        }
    }
    return workload;
}

/* A pool of block sizes: free blocks of each class are counted, slabs are remembered by what they hold. */
START_TEST(bucket_pools_do_what_counting_blocks_says)
{
    static const uint64_t sizes[] = {1024, 16384, MIB, 4 * MIB};

    for (uint64_t seed = 1; seed < 20; seed++) {
        nm_workload *workload = random_workload(seed);
        nm_setting setting = {.is_bucket = true, .bucket = nm_bucket_settings_default()};
        uint64_t reserved = 0, peak = 0, misses = 0, idle[4] = {0};
        nm_error err;

        ck_assert_int_eq(nm_bucket_settings_parse("slab:2MiB,classes:[1024,16384,1MiB,4MiB]", &setting.bucket, &err),
                         NM_OK);
        for (size_t i = 0; i < change_count; i++) {
            uint64_t bytes = changes[i].bytes;
            bool is_alloc = changes[i].is_alloc;
            size_t class = 0;

            while (class < 4 && sizes[class] < bytes)
                class ++;
            if (class == 4) {
                reserved += is_alloc ? bytes : 0 - bytes;
                misses += is_alloc;
            } else if (!is_alloc) {
                idle[class]++;
            } else if (idle[class] > 0) {
                idle[class]--;
            } else {
                misses++;
                reserved += sizes[class] < 2 * MIB ? 2 * MIB : sizes[class];
                idle[class] += (sizes[class] < 2 * MIB ? 2 * MIB / sizes[class] : 1) - 1;
            }
            peak = reserved > peak ? reserved : peak;
        }
        nm_sim_result result = run(workload, &setting, NM_WHATIF_UNLIMITED, 0);
        ck_assert_uint_eq(result.peak_reserved_bytes, peak);
        ck_assert_uint_eq(result.reserved_bytes, reserved);
        ck_assert_uint_eq(result.miss_count, misses);
        setting.bucket.maximum_bytes = peak - 1;
        result = run(workload, &setting, NM_WHATIF_UNLIMITED, 0);
        ck_assert(result.is_fit || result.flush_count > 0); /* else by its own limit */
        ck_assert(result.is_fit || result.failure.cause == NM_CAUSE_LIMIT);
        setting.bucket.maximum_bytes = UINT64_MAX;
        setting.bucket.initial_bytes = 64 * MIB;
        ck_assert_uint_ge(run(workload, &setting, NM_WHATIF_UNLIMITED, 0).peak_reserved_bytes, 64 * MIB);
        nm_workload_free(workload);
    }
}
END_TEST

START_TEST(the_lower_bound_is_what_counting_says_and_packings_are_no_less)
{
    for (uint64_t seed = 1; seed < 40; seed++) {
        nm_workload *workload = random_workload(seed);
        uint64_t live = 0, peak = 0;
        nm_packing packing;
        nm_error err;

        for (size_t i = 0; i < change_count; i++) {
            live += changes[i].is_alloc ? changes[i].bytes : 0 - changes[i].bytes;
            peak = live > peak ? live : peak;
        }
        ck_assert_int_eq(nm_packing_find(workload, &packing, &err), NM_OK);
        ck_assert_uint_eq(packing.peak_live_bytes, peak);
        ck_assert_uint_ge(packing.packed_bytes, peak);
        ck_assert_uint_le(packing.packed_bytes, peak + peak / 4);
        ck_assert_uint_eq(packing.request_count, REQUESTS);
        nm_workload_free(workload);
    }
}
END_TEST

/* All cuts of few sizes, one by one. */
static uint64_t best_cut(const nm_size_use *sizes, size_t count, size_t groups)
{
    uint64_t best = UINT64_MAX;

    for (unsigned cuts = 0; cuts < 1u << (count - 1); cuts++) {
        uint64_t bytes = 0, blocks = 0;

        if ((size_t)__builtin_popcount(cuts) + 1 > groups)
            continue;
        for (size_t i = 0; i < count; i++) {
            blocks += sizes[i].most_live_count;
            if (i + 1 == count || (cuts >> i & 1) != 0) {
                bytes += blocks * sizes[i].bytes;
                blocks = 0;
            }
        }
        best = bytes < best ? bytes : best;
    }
    return best;
}

static int by_bytes(const void *left, const void *right)
{
    const nm_size_use *a = left, *b = right;

    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

START_TEST(block_sizes_are_the_best_of_all)
{
    for (uint64_t seed = 1; seed < 30; seed++) {
        nm_workload *workload = new_workload();
        uint32_t live[100];
        nm_advice advice;
        nm_error err;
        uint64_t needed = 0;

        random_state = seed * 88172645463325252u;
        for (int i = 0; i < 100; i++)
            live[i] = ask_for(workload, 512 * (1 + next_random(10) * next_random(10)));
        for (int i = 0; i < 100; i++)
            give_up(workload, live[i]);
        for (int i = 0; i < 5; i++)
            ask_for(workload, 512);
        ck_assert_int_eq(nm_advise(workload, 4, &advice, &err), NM_OK);
        ck_assert_uint_eq(advice.request_count, 105);
        qsort(advice.sizes, advice.size_count, sizeof *advice.sizes, by_bytes);
        size_t first = advice.size_count > 14 ? advice.size_count - 14 : 0;
        if (first == 0)
            ck_assert_uint_eq(advice.pool_bytes, best_cut(advice.sizes, advice.size_count, 4));
        for (size_t i = 0; i < advice.class_count; i++)
            needed += advice.classes[i].bytes * advice.classes[i].block_count;
        ck_assert_uint_eq(needed, advice.pool_bytes);
        ck_assert_uint_eq(advice.again_count,
                          advice.sizes[0].most_live_count < 5 ? advice.sizes[0].most_live_count : 5);
        nm_advice_free(&advice);
        nm_workload_free(workload);
    }
}
END_TEST

/* Whatever comes, every simulation ends, and no figure contradicts another. */
START_TEST(any_workload_ends_and_its_figures_agree)
{
    static const char *const confs[] = {"", "expandable_segments:True", "max_split_size_mb:21",
                                        "garbage_collection_threshold:0.2,per_process_memory_fraction:0.5",
                                        "roundup_power2_divisions:4"};

    for (uint64_t seed = 1; seed < 60; seed++) {
        nm_workload *workload = random_workload(seed);

        for (size_t i = 0; i < sizeof confs / sizeof confs[0]; i++) {
            nm_setting setting = setting_of(confs[i]);
            nm_smallest smallest;
            nm_error err;
            nm_sim_result result = run(workload, &setting, (1 + next_random(400)) * MIB, next_random(2) * MIB);

            ck_assert(result.is_fit == (result.failure.cause == NM_CAUSE_NONE));
            ck_assert_uint_ge(result.peak_reserved_bytes, result.peak_active_bytes);
            ck_assert_uint_ge(result.request_count, result.miss_count);
            ck_assert_int_eq(nm_search_smallest(workload, &setting, 0, &smallest, &err), NM_OK);
            ck_assert(smallest.is_found);
            ck_assert(run(workload, &setting, smallest.device_bytes, 0).is_fit);
        }
        nm_workload_free(workload);
    }
}
END_TEST

/* Of these workloads some fit on a device and not on one that is a little larger: the smallest that is told lies above. */
START_TEST(on_a_device_larger_than_the_smallest_it_fits_as_well)
{
    static const char *const confs[] = {"", "expandable_segments:True", "max_split_size_mb:21"};

    for (uint64_t seed = 1; seed < 200; seed++) {
        nm_workload *workload = random_workload(seed);

        for (size_t i = 0; i < sizeof confs / sizeof confs[0]; i++) {
            nm_setting setting = setting_of(confs[i]);
            nm_sim_result top = run(workload, &setting, NM_WHATIF_UNLIMITED, 0);
            nm_smallest smallest;
            nm_error err;

            ck_assert_int_eq(nm_search_smallest(workload, &setting, 0, &smallest, &err), NM_OK);
            for (uint64_t size = smallest.device_bytes; size <= top.peak_total_bytes; size += 2 * MIB)
                ck_assert_msg(run(workload, &setting, size, 0).is_fit, "seed %d, %s: %d MiB fit, %d do not", (int)seed,
                              confs[i], (int)(smallest.device_bytes / MIB), (int)(size / MIB));
        }
        nm_workload_free(workload);
    }
}
END_TEST

static void expect_equal(const nm_sim_result *a, const nm_sim_result *b, const char *conf, uint64_t capacity)
{
    const nm_sim_failure *one = &a->failure, *other = &b->failure;

    ck_assert_msg(a->is_fit == b->is_fit && one->cause == other->cause && one->seq == other->seq &&
                      one->device_free_bytes == other->device_free_bytes && one->free_bytes == other->free_bytes &&
                      one->largest_free_bytes == other->largest_free_bytes && one->other_bytes == other->other_bytes,
                  "%s, %d MiB: the failure", conf, (int)(capacity / MIB));
    ck_assert_msg(a->peak_reserved_bytes == b->peak_reserved_bytes && a->peak_total_bytes == b->peak_total_bytes &&
                      a->peak_stuck_bytes == b->peak_stuck_bytes && a->miss_count == b->miss_count &&
                      a->take_count == b->take_count && a->give_count == b->give_count &&
                      a->flush_count == b->flush_count && a->last_miss_seq == b->last_miss_seq &&
                      a->reserved_bytes == b->reserved_bytes && a->request_count == b->request_count,
                  "%s, %d MiB: the figures", conf, (int)(capacity / MIB));
}

static void count_runs(void *told, const void *setting)
{
    (void)setting;
    ++*(size_t *)told;
}

/* With runs that are remembered and without: the same, of devices large and small, and less is run. */
START_TEST(what_is_known_of_a_device_of_another_size_is_what_a_run_says)
{
    static const char *const confs[] = {"", "expandable_segments:True", "max_split_size_mb:21",
                                        "garbage_collection_threshold:0.2,per_process_memory_fraction:0.5"};
    size_t run_count = 0, asked_count = 0;

    for (uint64_t seed = 1; seed < 60; seed++) {
        nm_workload *workload = random_workload(seed);
        nm_sim_memo memo = {0};

        workload->tell = count_runs;
        workload->told = &run_count;
        for (size_t i = 0; i < 4 * 40; i++) {
            nm_setting setting = setting_of(confs[i / 40]);
            uint64_t capacity = (20 + next_random(300)) * MIB + next_random(MIB), other = i / 20 % 2 * 3 * MIB;

            workload->memo = NULL;
            nm_sim_result slow = run(workload, &setting, capacity, other);
            workload->memo = &memo;
            nm_sim_result quick = run(workload, &setting, capacity, other);
            expect_equal(&slow, &quick, confs[i / 40], capacity);
            asked_count++;
        }
        nm_workload_free(workload);
    }
    ck_assert_uint_lt(run_count, asked_count * 2 * 9 / 10);
}
END_TEST

/* ---- Nonsense ---------------------------------------------------------------------------------------------------- */

static uint64_t random_bytes(void)
{
    switch (next_random(6)) {
    case 0:
        return 0;
    case 1:
        return next_random(4096);
    case 2:
        return UINT64_C(1) << next_random(57); /* as large as a replay lets one be */
    case 3:
        return 2 * MIB * next_random(12);
    default:
        return next_random(30 * MIB);
    }
}

static int64_t random_seq(void)
{
    return next_random(5) == 0 ? NM_NO_SEQ : (int64_t)next_random(300) - (next_random(50) == 0 ? INT64_MAX : 0);
}

static void take_random_row(const nm_sink *sink, uint64_t number)
{
    nm_error err;
    nm_allocation_row row = {
        .allocation_id = number,
        .heap_id = 1 + next_random(3),
        .segment_id = next_random(100),
        .free_stack_id = next_random(3),
        .has_stream = next_random(4) > 0,
        .stream = next_random(3),
        .private_pool = next_random(8) == 0,
        .address = next_random(2) == 0 ? next_random(200) * 512 * 1024 : next_random(UINT64_MAX),
        .requested_bytes = random_bytes(),
        .block_bytes = random_bytes(),
        .alloc_seq = random_seq(),
        .free_seq = random_seq(),
        .free_requested_seq = random_seq(),
        .is_segment = next_random(3) > 0,
        .is_exported = next_random(50) == 0,
        .is_mapped = next_random(2) == 0,
        .split_from_id = next_random(10) == 0,
    };

    if (row.free_seq != NM_NO_SEQ && row.free_seq < row.alloc_seq && next_random(5000) > 0) /* a replay sees to it */
        row.free_seq = row.alloc_seq;
    if (row.free_requested_seq != NM_NO_SEQ && (row.free_requested_seq < row.alloc_seq ||
                                                (row.free_seq != NM_NO_SEQ && row.free_requested_seq > row.free_seq)))
        row.free_requested_seq = NM_NO_SEQ;
    ck_assert_int_eq(nm_give_allocation(sink, &row, &err), NM_OK);
}

static nm_gather *random_gather(uint64_t seed)
{
    nm_gather *gather;
    nm_error err;

    random_state = seed * 88172645463325252u;
    ck_assert_int_eq(nm_gather_new(&gather, &err), NM_OK);
    const nm_sink *sink = nm_gather_sink(gather);
    for (uint64_t heap = 1; heap <= 3; heap++) {
        nm_definition definition = {.kind = NM_DEFINE_HEAP, .id = heap};

        definition.heap.level = heap == 1 ? NM_LEVEL_DRIVER : NM_LEVEL_POOL;
        ck_assert_int_eq(nm_give_definition(sink, &definition, &err), NM_OK);
    }
    for (uint64_t i = 0; i < 200; i++)
        take_random_row(sink, 1 + next_random(100));
    for (int i = 0; i < 5; i++) {
        nm_failure_row failure = {
            .heap_id = 1 + next_random(4), .seq = random_seq(), .requested_bytes = random_bytes()};
        nm_step_row step = {.process_id = next_random(2), .begin_seq = random_seq()};

        ck_assert_int_eq(nm_give_failure(sink, &failure, &err), NM_OK);
        ck_assert_int_eq(nm_give_step(sink, &step, &err), NM_OK);
    }
    return gather;
}

/* A status that says why there is no answer, or one. */
static void expect_any_answer(const nm_workload *workload, const char *conf)
{
    nm_setting setting = setting_of(conf);
    nm_sim_result result;
    nm_error err;
    nm_status status =
        nm_simulate(workload, &setting, &(nm_sim_options){(1 + next_random(4000)) * MIB, 0}, &result, &err);

    ck_assert_msg(status == NM_OK || status == NM_ERR_LIMIT, "%s", err.text);
    status = nm_simulate(workload, &setting, &(nm_sim_options){NM_WHATIF_UNLIMITED, 0}, &result, &err);
    ck_assert_msg(status == NM_OK || status == NM_ERR_LIMIT, "%s", err.text);
}

START_TEST(any_rows_make_a_workload_that_ends)
{
    static const char *const confs[] = {"", "expandable_segments:True", "max_split_size_mb:21"};
    int made = 0;

    for (uint64_t seed = 1; seed < 400; seed++) {
        nm_gather *gather = random_gather(seed);
        nm_workload *workload;
        nm_packing packing;
        nm_advice advice;
        nm_error err;
        nm_status status =
            nm_workload_new(gather, 1, &(nm_workload_options){.is_one_stream = seed % 2 == 0}, &workload, &err);

        nm_gather_free(gather);
        ck_assert(status == NM_OK || status == NM_ERR_LIMIT || status == NM_ERR_FORMAT);
        if (status != NM_OK)
            continue;
        made++;
        for (size_t i = 0; i < sizeof confs / sizeof confs[0]; i++)
            expect_any_answer(workload, confs[i]);
        ck_assert_int_eq(nm_packing_find(workload, &packing, &err), NM_OK);
        ck_assert_int_eq(nm_advise(workload, 8, &advice, &err), NM_OK);
        nm_advice_free(&advice);
        nm_workload_free(workload);
    }
    ck_assert_int_gt(made, 50);
}
END_TEST

TEST_SUITE(test_whatif_simulate)
{
    Suite *suite = suite_create("whatif_simulate");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, expandable_segments_fix_blocks_that_grow);
    tcase_add_test(tcase, max_split_keeps_large_segments_for_large_blocks);
    tcase_add_test(tcase, what_cannot_fit_names_the_request_that_fails);
    tcase_add_test(tcase, a_hole_that_is_too_small_is_called_fragmentation);
    tcase_add_test(tcase, cached_segments_are_flushed_before_it_gives_up);
    tcase_add_test(tcase, streams_do_not_share_and_pending_blocks_wait);
    tcase_add_test(tcase, steps_count_calls_after_the_warm_up);
    tcase_add_test(tcase, other_driver_memory_counts_while_it_is_there);
    tcase_add_test(tcase, emptied_caches_are_the_programs_or_the_pools_own);
    tcase_add_test(tcase, a_block_given_up_between_two_emptied_caches_tells_them_apart);
    tcase_add_test(tcase, a_call_that_empties_the_cache_is_known_by_its_name);
    tcase_add_test(tcase, a_private_pool_keeps_its_memory_until_it_gave_some_back);
    tcase_add_test(tcase, what_was_there_lies_as_it_lay);
    tcase_add_test(tcase, a_baseline_that_contradicts_itself_is_not_laid_out);
    tcase_add_test(tcase, unknown_sizes_refuse_a_suggestion_and_unknown_streams_do_not);
    tcase_add_test(tcase, shared_memory_rules_out_expandable_segments);
    tcase_add_test(tcase, bucket_pools_do_what_counting_blocks_says);
    tcase_add_test(tcase, the_lower_bound_is_what_counting_says_and_packings_are_no_less);
    tcase_add_test(tcase, block_sizes_are_the_best_of_all);
    tcase_add_test(tcase, on_a_device_larger_than_the_smallest_it_fits_as_well);
    tcase_add_test(tcase, what_is_known_of_a_device_of_another_size_is_what_a_run_says);
    tcase_add_test(tcase, any_workload_ends_and_its_figures_agree);
    tcase_add_test(tcase, any_rows_make_a_workload_that_ends);
    suite_add_tcase(suite, tcase);
    return suite;
}
