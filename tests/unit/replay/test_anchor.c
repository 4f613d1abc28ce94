/* SPDX-License-Identifier: Apache-2.0
 *
 * Where iterations begin, found without marks: small programs, written as traces, whose iterations are known because they
 * are planted; and programs that have none. A step is right when it begins with the event with which the planted
 * iteration began.
 */
#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "steps/anchor.h"
#include "support/suites.h"
#include "support/text_trace.h"

#define BEGINS_MAX 4096
#define LIVE_MAX   65536
#define SITES      64

/* ---- A program ---- */

typedef struct program {
    FILE *out;
    char *text;
    size_t bytes;
    uint64_t seq;
    uint64_t address;
    uint64_t live[LIVE_MAX]; /* addresses, a stack */
    size_t live_count;
    int64_t planted[BEGINS_MAX]; /* events with which iterations begin */
    size_t planted_count;
    uint64_t random_state;
} program;

static program now;

static void end_program(void)
{
    if (now.out != NULL)
        fclose(now.out);
    free(now.text);
    now = (program){0};
}

static void begin_program(void)
{
    end_program();
    now = (program){.address = 0x10000, .random_state = 88172645463325252};
    now.out = open_memstream(&now.text, &now.bytes);
    ck_assert_ptr_nonnull(now.out);
    fprintf(now.out, "process 1 pid=100 host=h1\nthread 1 process=1 tid=100\ndevice 1 process=1 ordinal=0\n"
                     "heap 1 process=1 device=1 level=driver basis=block\nheap 2 process=1 device=1 level=pool "
                     "basis=block\n");
    for (int site = 1; site < SITES; site++)
        fprintf(now.out, "stack %d: model.py:%d:site%d < /src/train.py:7:train_one_step < /src/train.py:99:main\n",
                site, site, site);
}

static uint64_t pick(uint64_t below)
{
    now.random_state ^= now.random_state << 13;
    now.random_state ^= now.random_state >> 7;
    now.random_state ^= now.random_state << 17;
    return (now.random_state >> 11) % below;
}

static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(now.out, "@%" PRIu64 " ", now.seq * 10);
    vfprintf(now.out, format, arguments);
    fprintf(now.out, " thread=1\n");
    va_end(arguments);
    now.seq++;
}

static void take(int site, uint64_t bytes)
{
    now.address += 0x100000;
    say("alloc heap=2 address=0x%" PRIx64 " block=%" PRIu64 " stack=%d", now.address, bytes, site);
    ck_assert_uint_lt(now.live_count, LIVE_MAX);
    now.live[now.live_count++] = now.address;
}

static void give(size_t count)
{
    for (; count > 0; count--)
        say("free heap=2 address=0x%" PRIx64, now.live[--now.live_count]);
}

static void keep(int site, uint64_t bytes)
{
    take(site, bytes);
    now.live_count--;
}

static void iteration_begins(void)
{
    ck_assert_uint_lt(now.planted_count, BEGINS_MAX);
    now.planted[now.planted_count++] = (int64_t)now.seq;
}

/* ---- What is found ---- */

static int64_t found[BEGINS_MAX];
static size_t found_count;
static nm_step_anchor_row rows[4];
static char reasons[4][320];
static size_t row_count;
static bool was_enough;

static nm_status keep_row(void *context, nm_row_kind kind, const void *given, nm_error *err)
{
    const nm_step_anchor_row *row = given;

    (void)context, (void)err;
    ck_assert_int_eq(kind, NM_ROW_STEP_ANCHOR);
    rows[row_count] = *row;
    snprintf(reasons[row_count++], sizeof reasons[0], "%s", row->reason.text);
    return NM_OK;
}

static nm_text_trace *open_text(void)
{
    nm_error err = {0};
    nm_text_trace *trace = NULL;

    ck_assert_msg(nm_text_trace_open(now.text, &trace, &err) == NM_OK, "line %d: %s", (int)err.offset, err.text);
    return trace;
}

static nm_status first_pass(nm_anchor *anchor, nm_error *err)
{
    nm_text_trace *trace = open_text();
    nm_record record;

    was_enough = false;
    while (!was_enough && nm_text_trace_next(trace, &record, err) == NM_OK)
        ck_assert_int_eq(nm_anchor_observe(anchor, &record, &was_enough, err), NM_OK);
    nm_text_trace_close(trace);
    return nm_anchor_decide(anchor, err);
}

static nm_status find_with(const nm_anchor_options *options, nm_error *err)
{
    nm_sink sink = {.row = keep_row, .wants = {[NM_ROW_STEP_ANCHOR] = true}};
    nm_anchor *anchor = NULL;
    nm_text_trace *trace;
    nm_record record;
    nm_status status;

    fflush(now.out);
    found_count = row_count = 0;
    ck_assert_int_eq(nm_anchor_new(options, &anchor, err), NM_OK);
    status = first_pass(anchor, err);
    trace = open_text();
    while (status == NM_OK && nm_text_trace_next(trace, &record, err) == NM_OK) {
        bool begins;

        ck_assert_int_eq(nm_anchor_begins(anchor, &record, &begins, err), NM_OK);
        if (begins)
            found[found_count++] = (int64_t)record.event.seq;
    }
    nm_text_trace_close(trace);
    if (status == NM_OK)
        ck_assert_int_eq(nm_anchor_write(anchor, &sink, err), NM_OK);
    nm_anchor_free(anchor);
    return status;
}

static void find(const char *given)
{
    nm_error err = {0};

    ck_assert_msg(find_with(&(nm_anchor_options){.given = given}, &err) == NM_OK, "%s", err.text);
}

static void check_planted(nm_anchor_kind kind)
{
    ck_assert_uint_eq(row_count, 1);
    ck_assert_msg(rows[0].kind == kind, "%d: %s", rows[0].kind, reasons[0]);
    ck_assert_uint_eq(rows[0].step_count, found_count);
    ck_assert_uint_eq(found_count, now.planted_count);
    for (size_t i = 0; i < found_count; i++)
        ck_assert_msg(found[i] == now.planted[i], "step %zu begins with %" PRId64 ", not %" PRId64, i + 1, found[i],
                      now.planted[i]);
}

static void check_none(const char *reason)
{
    ck_assert_uint_eq(row_count, 1);
    ck_assert_msg(rows[0].kind == NM_ANCHOR_NONE, "stack %d: %s", (int)rows[0].stack_id, reasons[0]);
    ck_assert_uint_eq(found_count, 0);
    ck_assert_msg(strstr(reasons[0], reason) != NULL, "%s", reasons[0]);
}

/* ---- Programs with iterations ---- */

static void build_model(void)
{
    for (int layer = 0; layer < 12; layer++)
        keep(60, 1 << 20);
}

/* Sites 1 to 6, each once; all freed again. */
static void plain_iteration(void)
{
    iteration_begins();
    for (int site = 1; site <= 6; site++)
        take(site, 1000);
    give(6);
}

START_TEST(what_recurs_once_in_each_iteration_is_the_anchor)
{
    begin_program();
    build_model();
    for (int i = 0; i < 10; i++)
        plain_iteration();
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
    ck_assert_uint_eq(rows[0].stack_id, 1);
    ck_assert_int_eq(rows[0].allocation_count, 6);
    ck_assert_uint_eq(rows[0].recur_count, 10);
    ck_assert(rows[0].regular_ratio > 0.99);
    ck_assert(!rows[0].is_given && !was_enough);
}
END_TEST

START_TEST(three_iterations_with_optimizer_state_born_in_the_first_are_enough)
{
    begin_program();
    for (int i = 0; i < 3; i++) {
        plain_iteration();
        for (int k = 0; k < 20 && i == 0; k++)
            keep(50, 4000);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

START_TEST(a_leak_in_each_iteration_does_not_hide_them)
{
    begin_program();
    for (int i = 0; i < 20; i++) {
        plain_iteration();
        keep(40, 77);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

/* Layers of one site: activations are kept in the forward pass and freed in the backward one. */
START_TEST(layers_of_a_training_step_are_no_iterations)
{
    begin_program();
    build_model();
    for (int i = 0; i < 12; i++) {
        iteration_begins();
        take(1, 1000);
        for (int layer = 0; layer < 16; layer++)
            for (int site = 2; site <= 6; site++)
                take(site, 2000);
        for (int layer = 0; layer < 16; layer++) {
            give(5);
            take(7, 500);
            take(8, 500);
            give(2);
        }
        give(1);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

/* Each layer frees what it allocates, but for what it hands to the next: then less is live between tokens. */
START_TEST(layers_of_a_decoded_token_are_no_iterations)
{
    begin_program();
    build_model();
    for (int i = 0; i < 12; i++) {
        iteration_begins();
        take(1, 1000);
        take(2, 1000);
        for (int layer = 0; layer < 40; layer++) {
            for (int site = 3; site <= 9; site++)
                take(site, 2000);
            give(7);
        }
        take(10, 9000);
        give(3);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

START_TEST(an_evaluation_now_and_then_does_not_make_iterations_longer)
{
    begin_program();
    for (int i = 0; i < 60; i++) {
        plain_iteration();
        if (i % 12 == 11) {
            for (int k = 0; k < 10; k++)
                take(30 + k, 300);
            give(10);
        }
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

/* As with sequences of many lengths: the same sites, sizes as they come. */
START_TEST(sizes_may_differ_when_the_sites_are_the_same)
{
    begin_program();
    for (int i = 0; i < 30; i++) {
        iteration_begins();
        for (int site = 1; site <= 8; site++)
            take(site, 1 + pick(1 << 20));
        give(8);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

/* Random loops: so many sites, some several times, some leaked, now and then an allocation more. */
START_TEST(planted_iterations_are_found_in_random_programs)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        begin_program();
        now.random_state = seed * 7919 + 1;
        int site_count = 4 + (int)pick(30);
        int iteration_count = 5 + (int)pick(40);
        int leaked_count = (int)pick(2);
        unsigned visits[SITES];

        for (int site = 2; site < site_count; site++)
            visits[site] = 1 + (unsigned)pick(3);
        for (uint64_t k = pick(30); k > 0; k--)
            keep(59, 1 + pick(100000));
        for (int i = 0; i < iteration_count; i++) {
            size_t before = now.live_count;

            iteration_begins();
            take(1, 4096);
            for (unsigned round = 0; round < 3; round++)
                for (int site = 2; site < site_count; site++)
                    if (visits[site] > round)
                        take(site, 4096);
            if (pick(8) == 0)
                take(58, 100);
            give(now.live_count - before);
            for (int k = 0; k < leaked_count; k++)
                keep(57, 64);
        }
        find(NULL);
        ck_assert_msg(rows[0].kind == NM_ANCHOR_SITE, "seed %" PRIu64 ": %s", seed, reasons[0]);
        check_planted(NM_ANCHOR_SITE);
    }
}
END_TEST

START_TEST(driver_memory_counts_where_there_is_no_pool)
{
    begin_program();
    for (int i = 0; i < 8; i++) {
        iteration_begins();
        for (int site = 1; site <= 5; site++)
            say("alloc heap=1 address=0x%x block=4096 stack=%d", site * 0x10000, site);
        for (int site = 1; site <= 5; site++)
            say("free address=0x%x detail=device", site * 0x10000);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

START_TEST(each_process_has_an_anchor_of_its_own)
{
    begin_program();
    fprintf(now.out, "process 2 pid=200 host=h1\nthread 2 process=2 tid=200\ndevice 2 process=2 ordinal=0\n"
                     "heap 4 process=2 device=2 level=pool basis=block\n");
    for (int i = 0; i < 8; i++) {
        plain_iteration();
        for (int k = 0; k < 5; k++)
            say("alloc heap=4 address=0x%x block=64 stack=%d", 0x1000 + k * 0x100, 1 + (int)pick(60));
    }
    find(NULL);
    ck_assert_uint_eq(row_count, 2);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_SITE);
    ck_assert_int_eq(rows[1].kind, NM_ANCHOR_NONE);
    ck_assert_uint_eq(found_count, 8);
}
END_TEST

static void run_operator(const char *name)
{
    say("range_begin name=%s detail=operator", name);
    say("range_end");
}

/* A program with a pool that nobody sees: what it allocates of the driver is next to nothing, and stays. */
START_TEST(operators_show_iterations_in_which_little_is_allocated)
{
    begin_program();
    for (int i = 0; i < 15; i++) {
        iteration_begins();
        run_operator("aclnnEmbedding");
        for (int layer = 0; layer < 6; layer++) {
            run_operator("aclnnMatmul");
            run_operator("aclnnAdd");
        }
        run_operator("aclnnSoftmax");
        say("alloc heap=1 address=0x%x block=64 stack=1", 0x1000 + i * 0x100);
    }
    find(NULL);
    check_planted(NM_ANCHOR_RANGE);
    ck_assert_int_eq(rows[0].allocation_count, 15);
}
END_TEST

/* ---- Programs without ---- */

START_TEST(operators_that_fill_what_is_built_are_no_iterations)
{
    begin_program();
    for (int layer = 0; layer < 24; layer++)
        for (int site = 1; site <= 6; site++) {
            keep(site, 1000);
            run_operator(site == 1 ? "aclnnNormal" : site == 2 ? "aclnnMul" : "aclnnFill");
        }
    find(NULL);
    check_none("too little is freed there: 0 %");
}
END_TEST

START_TEST(layers_that_are_built_one_by_one_are_no_iterations)
{
    begin_program();
    for (int layer = 0; layer < 24; layer++) {
        for (int site = 1; site <= 6; site++)
            keep(site, 1000);
        take(7, 5000);
        give(1);
    }
    find(NULL);
    check_none("too little is freed there: 14 %");
}
END_TEST

START_TEST(requests_that_come_as_they_like_are_no_iterations)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        begin_program();
        now.random_state = seed * 104729 + 7;
        int site_count = 2 + (int)pick(40);

        for (int i = 0; i < 1500; i++) {
            if (now.live_count > 0 && pick(2) == 0)
                give(1);
            else
                take(1 + (int)pick((uint64_t)site_count), 1 + pick(100000));
        }
        find(NULL);
        check_none("");
    }
}
END_TEST

START_TEST(a_phase_that_is_not_most_of_the_program_is_no_iteration)
{
    begin_program();
    for (int i = 0; i < 5; i++)
        plain_iteration();
    for (int k = 0; k < 40; k++) {
        take(30 + (int)pick(20), 1 + pick(1000));
        give(pick(2));
    }
    find(NULL);
    check_none("recurs in 43 % of what is allocated");
}
END_TEST

START_TEST(iterations_that_end_long_before_the_program_are_said_to)
{
    begin_program();
    for (int i = 0; i < 20; i++)
        plain_iteration();
    for (int k = 0; k < 60; k++) {
        take(30 + (int)pick(20), 1 + pick(1000));
        give(pick(2));
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
    ck_assert_msg(strstr(reasons[0], "37 % of all allocations come after") != NULL, "%s", reasons[0]);
}
END_TEST

START_TEST(two_occurrences_are_not_enough)
{
    begin_program();
    plain_iteration();
    plain_iteration();
    find(NULL);
    check_none("no place recurs three times");
}
END_TEST

START_TEST(without_stacks_nothing_is_found)
{
    begin_program();
    for (int i = 0; i < 30; i++) {
        for (int k = 0; k < 5; k++)
            take(0, 1000);
        give(5);
    }
    find(NULL);
    check_none("no stacks");
}
END_TEST

START_TEST(a_loop_of_two_allocations_is_too_small)
{
    begin_program();
    for (int i = 0; i < 100; i++) {
        take(1, 10);
        take(2, 10);
        give(2);
    }
    find(NULL);
    check_none("enough allocations between");
}
END_TEST

/* Two devices run the loop side by side, out of step: what one of them does says where iterations begin. */
START_TEST(one_of_several_devices_of_a_stream_says_where_steps_begin)
{
    nm_error err = {0};

    begin_program();
    fprintf(now.out, "device 2 process=1 ordinal=1\nheap 4 process=1 device=2 level=pool basis=block\n");
    for (int i = 0; i < 9; i++) {
        iteration_begins();
        for (int at = 0; at < 12; at++)
            say("%s heap=2 address=0x%x block=1000 stack=%d", at < 6 ? "alloc" : "free", 0x1000 * (1 + at % 6),
                1 + at % 6);
        for (int at = 0; at < 12 - i; at++)
            say("%s heap=4 address=0x%x block=1000 stack=%d", at < 6 ? "alloc" : "free", 0x1000 * (11 + at % 6),
                1 + at % 6);
    }
    ck_assert_int_eq(find_with(&(nm_anchor_options){.device_id = 1}, &err), NM_OK);
    check_planted(NM_ANCHOR_SITE);
    ck_assert_int_eq(rows[0].allocation_count, 6);
    ck_assert_int_eq(find_with(&(nm_anchor_options){.device_id = 1, .given = "site1"}, &err), NM_OK);
    check_planted(NM_ANCHOR_SITE);
    ck_assert_int_eq(find_with(&(nm_anchor_options){.given = "site1"}, &err), NM_OK);
    ck_assert_uint_eq(found_count, 18);
}
END_TEST

/* The same lines run for one device and then for the other: an iteration is over when both have had it. */
static void device_iteration(int device_count)
{
    for (int device = 0; device < device_count; device++)
        for (int site = 1; site <= 6; site++)
            say("alloc heap=%d address=0x%x block=1000 stack=%d", 2 + 2 * device, 0x1000 * (8 * device + site), site);
    for (int device = 0; device < device_count; device++)
        for (int site = 1; site <= 6; site++)
            say("free heap=%d address=0x%x", 2 + 2 * device, 0x1000 * (8 * device + site));
}

START_TEST(a_loop_over_devices_is_one_iteration)
{
    for (int is_turned = 0; is_turned < 2; is_turned++) {
        begin_program();
        fprintf(now.out, "device 2 process=1 ordinal=1\nheap 4 process=1 device=2 level=pool basis=block\n");
        for (int i = 0; i < 9; i++) {
            iteration_begins();
            if (is_turned) { /* line by line */
                for (int at = 0; at < 12; at++)
                    say("alloc heap=%d address=0x%x block=1000 stack=%d", 2 + 2 * (at % 2), 0x1000 * (1 + at),
                        1 + at / 2);
                for (int at = 0; at < 12; at++)
                    say("free heap=%d address=0x%x", 2 + 2 * (at % 2), 0x1000 * (1 + at));
            } else {
                device_iteration(2);
            }
        }
        find(NULL);
        check_planted(NM_ANCHOR_SITE);
        ck_assert_int_eq(rows[0].allocation_count, 12);
    }
}
END_TEST

/* What is named is named for every device. */
START_TEST(a_line_that_is_named_begins_steps_on_each_device)
{
    begin_program();
    fprintf(now.out, "device 2 process=1 ordinal=1\nheap 4 process=1 device=2 level=pool basis=block\n");
    for (int i = 0; i < 9; i++)
        device_iteration(2);
    find("model.py:1");
    ck_assert_uint_eq(found_count, 18);
}
END_TEST

START_TEST(what_was_there_before_and_what_is_said_again_does_not_count)
{
    begin_program();
    for (int i = 0; i < 30; i++)
        fprintf(now.out, "- alloc baseline heap=2 address=0x%x block=64 stack=%d\n", i * 0x1000, 1 + i % 6);
    find(NULL);
    ck_assert_uint_eq(row_count, 0);
}
END_TEST

/* ---- Marks, ranges, optimizers ---- */

START_TEST(marked_steps_are_left_alone)
{
    begin_program();
    for (int i = 0; i < 8; i++) {
        say("step number=%d", i);
        plain_iteration();
    }
    find(NULL);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_MARKED);
    ck_assert_uint_eq(rows[0].step_count, 8);
    ck_assert_uint_eq(found_count, 0);
}
END_TEST

START_TEST(where_all_mark_their_steps_the_first_pass_ends_early)
{
    begin_program();
    for (int i = 0; i < 6000; i++) {
        if (i % 10 == 0)
            say("step number=%d", i);
        for (int site = 1; site <= 6; site++)
            take(site, 1000);
        give(6);
    }
    find(NULL);
    ck_assert(was_enough);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_MARKED);
    ck_assert_uint_eq(rows[0].step_count, 600);
}
END_TEST

START_TEST(ranges_that_are_steps_by_their_name_come_first)
{
    begin_program();
    for (int i = 0; i < 5; i++) {
        take(1 + (int)pick(40), pick(5000));
        iteration_begins();
        say("range_begin name=\"ProfilerStep#%d\" detail=annotation", i + 17);
        for (uint64_t k = pick(20); k > 0; k--) {
            take(1 + (int)pick(40), pick(5000));
            give(pick(2));
        }
        say("range_end");
    }
    find(NULL);
    check_planted(NM_ANCHOR_RANGE);
}
END_TEST

START_TEST(one_range_that_is_a_step_by_its_name_is_one_step)
{
    begin_program();
    take(2, 50);
    iteration_begins();
    say("range_begin name=\"ProfilerStep#3\" detail=annotation");
    take(1, 50);
    say("range_end");
    find(NULL);
    check_planted(NM_ANCHOR_RANGE);
}
END_TEST

static void define_torch(void)
{
    fprintf(now.out, "stack 100: /env/torch/autograd/__init__.py:220:_make_grads < "
                     "/env/torch/autograd/__init__.py:347:backward < /src/train.py:20:main\n"
                     "stack 101: /env/torch/optim/adam.py:619:_multi_tensor_adam < /env/torch/optim/adam.py:246:step < "
                     "/src/train.py:21:main\n");
}

/* Forward, backward, step: of a shape that is never the same twice. */
static void torch_iteration(void)
{
    uint64_t forward_count = 3 + pick(30);

    for (uint64_t k = 0; k < forward_count; k++)
        take(1 + (int)pick(40), 1 + pick(9999));
    take(100, 4);
    give(forward_count + 1);
    for (int k = 0; k < 4; k++)
        take(101, 64);
    give(4);
}

START_TEST(a_trace_of_one_iteration_is_one_step)
{
    begin_program();
    define_torch();
    iteration_begins(); /* all that was recorded */
    torch_iteration();
    take(5, 4); /* as loss.item() */
    give(1);
    find(NULL);
    check_planted(NM_ANCHOR_OPTIMIZER);
    ck_assert_uint_eq(rows[0].stack_id, 101);
}
END_TEST

START_TEST(iterations_of_many_shapes_end_with_the_optimizer)
{
    for (uint64_t count = 3; count <= 7; count++) {
        begin_program();
        define_torch();
        for (uint64_t i = 0; i < count; i++) {
            iteration_begins();
            torch_iteration();
        }
        take(5, 4);
        find(NULL);
        check_planted(NM_ANCHOR_OPTIMIZER);
        ck_assert_uint_eq(rows[0].recur_count, count);
    }
}
END_TEST

/* One pass, through modules or through what a compiler made of them, and then an update of each parameter, by a loop of the
 * program's own that keeps a block of each. */
START_TEST(a_loop_over_parameters_is_no_iteration)
{
    for (int has_module = 0; has_module <= 1; has_module++) {
        begin_program();
        for (int site = 110; site < 116; site++)
            fprintf(now.out,
                    has_module
                        ? "stack %d: /src/block.py:%d:forward < /env/torch/nn/modules/module.py:1750:_call_impl < "
                          "/src/train.py:9:main\n"
                        : "stack %d: /tmp/made.py:%d:call < /src/train.py:9:main\n",
                    site, site);
        for (int site = 120; site < 126; site++)
            fprintf(now.out, "stack %d: /src/train.py:%d:update < /src/train.py:12:main\n", site, site);
        for (int i = 0; i < 120; i++)
            take(110 + i % 6, 100);
        give(120);
        for (int parameter = 0; parameter < 40; parameter++) {
            for (int site = 120; site < 125; site++)
                take(site, 100);
            give(5);
            keep(125, 100);
        }
        find(NULL);
        ck_assert_msg(rows[0].kind == NM_ANCHOR_NONE, "%d: %s", has_module, reasons[0]);
    }
}
END_TEST

/* A history that begins in the update: who calls the step says what it is, or the name of its file. */
START_TEST(parameters_in_a_step_of_an_optimizer_are_one_step)
{
    static const char *const calls[] = {
        "/src/mine.py:%d:step < /env/torch/optim/optimizer.py:526:wrapper < /src/train.py:12:main\n",
        "/src/my_optim.py:%d:step < /src/train.py:12:main\n"};

    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        begin_program();
        for (int site = 120; site < 126; site++) {
            fprintf(now.out, "stack %d: ", site);
            fprintf(now.out, calls[i], site);
        }
        iteration_begins();
        for (int parameter = 0; parameter < 40; parameter++) {
            for (int site = 120; site < 125; site++)
                take(site, 100);
            give(5);
            keep(125, 100);
        }
        find(NULL);
        check_planted(NM_ANCHOR_OPTIMIZER);
    }
}
END_TEST

/* Of 60 iterations each sixth of the first 36 lets another layer learn: it has state then, and iterations are longer by what is
 * made for it. Nothing else of the optimizer is seen. */
START_TEST(an_optimizer_that_only_makes_state_says_nothing)
{
    begin_program();
    fprintf(now.out, "stack 100: /env/torch/optim/adam.py:174:_init_group < /env/torch/optim/adam.py:223:step < "
                     "/src/train.py:12:main\n");
    for (int i = 0; i < 60; i++) {
        int learning = 1 + (i < 36 ? i / 6 : 5);

        iteration_begins();
        for (int site = 1; site <= 20; site++)
            take(site, 1000);
        for (int layer = 0; layer < 4 * learning; layer++)
            take(21, 200);
        give(20 + 4 * (size_t)learning);
        for (int state = 0; state < 8 && i < 36 && i % 6 == 0; state++)
            keep(100, 1000);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
    ck_assert_uint_eq(found_count, 60);
}
END_TEST

/* A module of four layers between two lines of its own is called for each request; for one in `every` something is loaded before it, in six blocks, and
 * stays. */
static void serve(int every)
{
    static const char called[] = "/src/model.py:40:forward < /env/torch/nn/modules/module.py:1750:_call_impl < "
                                 "/src/serve.py:60:infer < /src/serve.py:80:handle\n";

    begin_program();
    fprintf(now.out, "stack 140: %sstack 145: %sstack 150: /src/lora.py:25:load < /src/serve.py:70:handle\n", called,
            called);
    for (int site = 141; site < 145; site++)
        fprintf(now.out, "stack %d: /src/block.py:%d:forward < %s", site, site, called);
    for (int request = 0; request < 60; request++) {
        for (int i = 0; i < 6 && request % every == every - 1; i++)
            keep(150, 100);
        iteration_begins();
        take(140, 1000);
        for (int i = 0; i < 16; i++)
            take(141 + i % 4, 1000);
        take(145, 1000);
        give(18);
    }
    find(NULL);
}

START_TEST(a_module_that_is_called_for_each_request_is_left_between)
{
    serve(3);
    check_planted(NM_ANCHOR_SITE);
    serve(2);
    check_planted(NM_ANCHOR_SITE);
    serve(61); /* one call could hold it all */
    check_none("within one call");
}
END_TEST

/* Nothing else recurs as often as what is loaded for one request in four. */
START_TEST(a_place_whose_blocks_stay_is_not_its_own_proof)
{
    serve(4);
    check_none("too few other places");
}
END_TEST

/* Layers that free what they allocate, in one forward pass of a module; and the same loop around the call of the module,
 * where other lines recur with them. */
START_TEST(layers_within_a_forward_are_no_iterations)
{
    for (int is_around = 0; is_around <= 1; is_around++) {
        begin_program();
        for (int site = 100; site < 105; site++)
            fprintf(now.out,
                    "stack %d: /src/block.py:%d:forward < /env/torch/nn/modules/module.py:1750:_call_impl < "
                    "/src/model.py:33:forward < /src/train.py:9:main\n",
                    site, site);
        for (int i = 0; i < 12; i++) {
            if (is_around) {
                iteration_begins();
                take(1, 64);
            }
            for (int site = 100; site < 105; site++)
                take(site, 100);
            give(is_around ? 6 : 5);
        }
        find(NULL);
        if (is_around)
            check_planted(NM_ANCHOR_SITE);
        else
            ck_assert_int_eq(rows[0].kind, NM_ANCHOR_NONE);
    }
}
END_TEST

/* Gradients of a backward pass, in a thread of its own; the program has but a few lines, each met once. */
START_TEST(a_thread_without_a_line_of_the_program_has_no_iterations)
{
    begin_program();
    for (int site = 100; site < 105; site++)
        fprintf(now.out, "stack %d: :0:MmBackward%d < :0:execute_native_thread_routine\n", site, site);
    take(1, 100);
    for (int i = 0; i < 20; i++) {
        for (int site = 100; site < 105; site++)
            take(site, 100);
        give(5);
    }
    find(NULL);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_NONE);
}
END_TEST

/* Two optimizers take turns; or one comes after the other is through, with as many runs of its own. */
START_TEST(optimizers_that_take_turns_are_of_one_iteration)
{
    for (int takes_turns = 0; takes_turns <= 1; takes_turns++) {
        begin_program();
        define_torch();
        fprintf(now.out,
                "stack 102: /env/torch/optim/adam.py:619:_multi_tensor_adam < /env/torch/optim/adam.py:246:step < "
                "/src/train.py:31:main\nstack 103: /env/torch/autograd/__init__.py:220:_make_grads < "
                "/env/torch/autograd/__init__.py:347:backward < /src/train.py:30:main\n");
        for (int i = 0; i < 12; i++) {
            bool is_second = takes_turns ? i % 2 == 1 : i >= 6;

            if (i == 0 || !takes_turns || is_second)
                iteration_begins();
            for (uint64_t k = 3 + pick(30); k > 0; k--) {
                take(1 + (int)pick(40), 1 + pick(9999));
                give(1);
            }
            take(is_second ? 103 : 100, 4);
            give(1);
            take(is_second ? 102 : 101, 64);
            give(1);
        }
        find(NULL);
        ck_assert_int_eq(rows[0].kind, NM_ANCHOR_OPTIMIZER);
        ck_assert_uint_eq(rows[0].recur_count, takes_turns ? 6 : 12);
        ck_assert_uint_eq(rows[0].step_count, takes_turns ? 6 : 12);
    }
}
END_TEST

/* Four micro-batches, the first of which leaves gradients behind that the last gives back. */
static void summed_iteration(int micro_count, bool is_optimizer_seen)
{
    for (int micro = 0; micro < micro_count; micro++) {
        for (int site = 1; site < 6; site++)
            take(site, 100);
        if (micro == 0 && !is_optimizer_seen)
            iteration_begins();
        take(100, 4);
        give(6);
        for (int k = 0; k < 5 && micro == 0; k++)
            take(0, 100); /* gradients, in a thread without stacks */
    }
    if (is_optimizer_seen) {
        take(101, 64);
        give(1);
    }
    give(5);
}

/* With an optimizer that is seen its runs are the steps; where it allocates nothing, what is given back tells. */
START_TEST(micro_batches_are_no_iterations)
{
    for (int is_seen = 0; is_seen <= 1; is_seen++) {
        begin_program();
        define_torch();
        for (int i = 0; i < 12; i++)
            summed_iteration(4, is_seen);
        find(NULL);
        ck_assert_uint_eq(rows[0].step_count, 12);
        if (!is_seen)
            check_planted(NM_ANCHOR_SITE);
    }
}
END_TEST

START_TEST(micro_batches_of_irregular_number_are_no_iterations)
{
    static const int counts[] = {4, 2, 7, 3, 5, 2, 6, 4, 3, 7, 2, 5};

    begin_program();
    define_torch();
    for (int i = 0; i < 12; i++)
        summed_iteration(counts[i], false);
    find(NULL);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_NONE);
}
END_TEST

/* ---- Lines that call a backward pass ---- */

/* A loop whose optimizer allocates nothing, of a shape that is never the same twice. */
static void loop_of_backward(int stack, int count, bool is_planted)
{
    for (int i = 0; i < count; i++) {
        for (uint64_t k = 3 + pick(30); k > 0; k--) {
            take(1 + (int)pick(40), 1 + pick(9999));
            give(1);
        }
        take(50, 100);
        if (is_planted)
            iteration_begins();
        take(stack, 4);
        give(2);
    }
}

static void define_second_backward(void)
{
    fprintf(now.out, "stack 103: /env/torch/autograd/__init__.py:220:_make_grads < "
                     "/env/torch/autograd/__init__.py:347:backward < /src/finetune.py:20:main\n");
}

START_TEST(backward_passes_of_two_phases_are_iterations_of_both)
{
    begin_program();
    define_torch();
    define_second_backward();
    loop_of_backward(100, 9, true);
    loop_of_backward(103, 14, true);
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
    ck_assert_uint_eq(rows[0].recur_count, 23);
}
END_TEST

START_TEST(backward_passes_of_two_lines_that_take_turns_unevenly_say_nothing)
{
    begin_program();
    define_torch();
    define_second_backward();
    for (int i = 0; i < 8; i++) {
        loop_of_backward(100, 5, false);
        loop_of_backward(103, 1, false);
    }
    find(NULL);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_NONE);
}
END_TEST

/* What recurs regularly, with less live than in the loop, and is met as often as no line calls a backward pass. */
START_TEST(a_checkpoint_now_and_then_is_no_iteration)
{
    begin_program();
    define_torch();
    for (int i = 0; i < 24; i++) {
        for (int site = 1; site < 8; site++)
            take(site, 100);
        iteration_begins();
        take(100, 4);
        give(8);
        for (int site = 20; site < 24 && i % 4 == 3; site++)
            take(site, 100);
        give(i % 4 == 3 ? 4 : 0);
    }
    find(NULL);
    ck_assert_uint_eq(rows[0].step_count, 24);
}
END_TEST

/* A layer's own backward pass, called in autograd's thread. */
START_TEST(backward_passes_that_autograd_calls_are_no_iterations)
{
    begin_program();
    define_torch();
    fprintf(now.out, "stack 104: /env/torch/autograd/__init__.py:220:_make_grads < /env/torch/autograd/"
                     "__init__.py:347:backward < /env/torch/utils/checkpoint.py:320:backward\n");
    for (int i = 0; i < 10; i++) {
        loop_of_backward(100, 1, true);
        for (int layer = 0; layer < 6; layer++)
            loop_of_backward(104, 1, false);
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

/* Pages that a server takes in most of its iterations; what it computes lies within a call of a module. */
START_TEST(a_place_that_is_left_out_now_and_then_is_no_anchor)
{
    begin_program();
    for (int site = 100; site < 105; site++)
        fprintf(now.out,
                "stack %d: /src/block.py:%d:forward < /env/torch/nn/modules/module.py:1750:_call_impl < "
                "/src/serve.py:9:main\n",
                site, site);
    for (int i = 0; i < 64; i++) {
        bool has_page = i % 8 != 5;

        if (has_page)
            take(5, 100);
        for (int site = 100; site < 105; site++)
            take(site, 100);
        give(has_page ? 6 : 5);
    }
    find(NULL);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_NONE);
}
END_TEST

/* Tokens of one answer; the same loop in an engine that serves many. */
START_TEST(tokens_of_an_answer_are_no_iterations)
{
    for (int is_engine = 0; is_engine <= 1; is_engine++) {
        begin_program();
        for (int site = 100; site < 105; site++)
            fprintf(now.out, "stack %d: /src/%s.py:%d:decode < %s.py:50:generate < /src/chat.py:9:main\n", site,
                    "model", site, is_engine ? "/env/vllm/entrypoints/llm" : "/env/transformers/generation/utils");
        for (int i = 0; i < 40; i++) {
            for (int site = 100; site < 105; site++)
                take(site, 100);
            give(5);
        }
        find(NULL);
        ck_assert_int_eq(rows[0].kind, is_engine ? NM_ANCHOR_SITE : NM_ANCHOR_NONE);
    }
}
END_TEST

/* One of several optimizers allocates in each of its runs, the others in their first alone. */
START_TEST(an_optimizer_with_an_irregular_number_of_backward_passes_says_nothing)
{
    begin_program();
    define_torch();
    for (int trial = 0; trial < 12; trial++) {
        size_t layer_count = trial % 2 == 0 ? 6 : 12;

        for (size_t k = 0; k < layer_count; k++)
            take(50, 1000);
        for (int i = 0; i < 4; i++) {
            loop_of_backward(100, 1, false);
            if (trial % 3 != 1) {
                take(101, 64);
                give(1);
            }
        }
        give(layer_count);
    }
    find(NULL);
    ck_assert_int_eq(rows[0].kind, NM_ANCHOR_NONE);
}
END_TEST

/* ---- What the user names ---- */

START_TEST(a_line_that_is_named_begins_steps)
{
    begin_program();
    for (int i = 0; i < 5; i++) {
        take(9, 1 + pick(100));
        iteration_begins();
        take(3, 1 + pick(100)); /* too little for an anchor */
        give(2);
    }
    find("model.py:3");
    check_planted(NM_ANCHOR_SITE);
    ck_assert(rows[0].is_given);
}
END_TEST

START_TEST(a_function_that_is_named_begins_steps_where_it_recurs)
{
    begin_program();
    for (int i = 0; i < 5; i++)
        plain_iteration();
    find("train_one_step"); /* on every stack */
    check_planted(NM_ANCHOR_SITE);
    ck_assert_uint_eq(rows[0].stack_id, 1);
    find("/src/train.py:99");
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

/* The first iteration is called from another line than the others. */
START_TEST(a_function_that_is_named_begins_steps_wherever_it_is_called_from)
{
    begin_program();
    fprintf(now.out, "stack 70: model.py:3:site3 < /src/train.py:7:train_one_step < /src/train.py:90:main\n");
    for (int i = 0; i < 5; i++) {
        iteration_begins();
        take(i == 0 ? 70 : 3, 1 + pick(100));
        take(9, 1 + pick(100)); /* too little for an anchor */
        give(2);
    }
    find("train_one_step");
    check_planted(NM_ANCHOR_SITE);
    ck_assert_uint_eq(rows[0].recur_count, 5);
}
END_TEST

START_TEST(a_range_that_is_named_begins_steps)
{
    begin_program();
    for (int i = 0; i < 2; i++) {
        iteration_begins();
        say("range_begin name=\"my phase %d\"", i);
        take(1, 1);
        say("range_end");
    }
    find("my phase");
    check_planted(NM_ANCHOR_RANGE);
}
END_TEST

START_TEST(what_is_named_and_never_occurs_is_an_error)
{
    static const char *const names[] = {"model.py:77", "odel.py:3", "nowhere", "train.py:8", ":3", "model.py:"};

    begin_program();
    plain_iteration();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        nm_error err = {0};

        ck_assert_msg(find_with(&(nm_anchor_options){.given = names[i]}, &err) == NM_ERR_USAGE, "%s", names[i]);
        ck_assert_ptr_nonnull(strstr(err.text, names[i]));
    }
}
END_TEST

START_TEST(marks_hold_whatever_the_user_names)
{
    nm_error err = {0};

    begin_program();
    say("step number=1");
    plain_iteration();
    ck_assert_int_eq(find_with(&(nm_anchor_options){.given = "site1"}, &err), NM_ERR_USAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "marks its steps"));
}
END_TEST

/* ---- Graphs ------------------------------------------------------------------------------------------------------ */

#define EXECUTED_AT 58 /* sites */
#define CAPTURED_AT 59

/* What is allocated in a capture is mostly freed again, and alike each time. */
static void capture_at(int graph, int site, int allocated_at)
{
    say("stream_call device=1 stream=7 detail=capture_begin stack=%d", site);
    for (int i = 0; i < 6; i++)
        take(allocated_at, 1000);
    give(5);
    now.live_count--;
    say("stream_call device=1 stream=7 number=%d detail=capture_end", 1000 + graph);
}

static void capture_family(int count)
{
    for (int graph = 0; graph < count; graph++)
        capture_at(graph, CAPTURED_AT, 1);
}

static void execute(int graph)
{
    say("stream_call device=1 stream=7 number=%d detail=graph_execute stack=%d", 1000 + graph, EXECUTED_AT);
}

static void wait_for_it(void)
{
    say("stream_call device=1 stream=7 detail=synchronize");
}

/* One of the family, for as many steps as a batch stays as large. */
static void decode(int count, int family)
{
    for (int i = 0; i < count; i++) {
        iteration_begins();
        execute(i / 3 % family);
        wait_for_it();
    }
}

START_TEST(a_graph_that_is_executed_and_waited_for_begins_an_iteration)
{
    begin_program();
    build_model();
    capture_family(8);
    decode(40, 8);
    find(NULL);
    check_planted(NM_ANCHOR_GRAPH);
    ck_assert_uint_eq(rows[0].stack_id, EXECUTED_AT);
    ck_assert_uint_eq(rows[0].recur_count, 40);
}
END_TEST

/* Copies to the host are waited for, too; and the next execution may be asked for before the last is waited for. */
START_TEST(a_result_that_is_copied_is_waited_for)
{
    begin_program();
    build_model();
    capture_family(2);
    for (int i = 0; i < 10; i++) {
        iteration_begins();
        execute(1);
        say("copy detail=d2h size=4 address=0x1 source=0x2");
        say("copy detail=h2d size=4 address=0x2 source=0x1");
    }
    find(NULL);
    check_planted(NM_ANCHOR_GRAPH);
}
END_TEST

START_TEST(pieces_of_a_graph_are_one_iteration)
{
    begin_program();
    build_model();
    capture_family(12);
    for (int i = 0; i < 20; i++) {
        iteration_begins();
        for (int piece = 0; piece < 4; piece++) {
            execute(i / 4 % 3 * 4 + piece);
            take(20, 100); /* what is done between pieces */
            give(1);
        }
        wait_for_it();
    }
    find(NULL);
    check_planted(NM_ANCHOR_GRAPH);
}
END_TEST

/* A server runs each size twice before it captures it, which is alike each time, and most of what it ever allocates. */
START_TEST(warm_ups_of_captures_are_no_iterations)
{
    begin_program();
    build_model();
    for (int graph = 0; graph < 16; graph++) {
        for (int site = 1; site <= 6; site++)
            take(site, 1000);
        give(6);
        capture_at(graph, CAPTURED_AT, 1);
    }
    decode(60, 16);
    find(NULL);
    check_planted(NM_ANCHOR_GRAPH);
}
END_TEST

START_TEST(captures_are_no_iterations)
{
    begin_program();
    keep(60, 1 << 20);
    for (int graph = 0; graph < 32; graph++) {
        say("stream_call device=1 stream=7 detail=capture_begin stack=%d", CAPTURED_AT);
        for (int site = 1; site <= 6; site++)
            take(site, 1000);
        give(6);
        say("stream_call device=1 stream=7 number=%d detail=capture_end", 1000 + graph);
    }
    find(NULL);
    check_none("no place recurs");
}
END_TEST

/* An iteration of eager code goes on beside: it is the iteration, and its place says where it begins. */
START_TEST(a_place_that_goes_on_comes_before_graphs)
{
    begin_program();
    build_model();
    capture_family(2);
    for (int i = 0; i < 20; i++) {
        plain_iteration();
        for (int k = 0; k < 2; k++) {
            execute(i % 2);
            wait_for_it();
        }
    }
    find(NULL);
    check_planted(NM_ANCHOR_SITE);
}
END_TEST

/* Pieces that are each waited for; a draft and what checks it; micro-batches of a captured pass; nobody waits; two threads. */
static void execute_pieces(void)
{
    capture_family(4);
    for (int i = 0; i < 40; i++) {
        execute(i % 4);
        wait_for_it();
    }
}

static void execute_drafts(void)
{
    capture_at(0, CAPTURED_AT, 1);
    capture_at(1, CAPTURED_AT - 2, 1);
    for (int i = 0; i < 40; i++) {
        execute(i % 4 == 3);
        wait_for_it();
    }
}

static void execute_twice(void)
{
    capture_family(1);
    for (int i = 0; i < 40; i++) {
        execute(0);
        execute(0);
        wait_for_it();
    }
}

static void execute_unevenly(void)
{
    capture_family(4);
    for (int i = 0; i < 40; i++) {
        for (int piece = 0; piece <= i % 3; piece++)
            execute(piece);
        wait_for_it();
    }
}

static void execute_micro_batches(void)
{
    fprintf(now.out, "stack %d: /torch/autograd/graph.py:5:_engine_run_backward < /src/train.py:5:main\n", SITES);
    capture_at(0, CAPTURED_AT, SITES);
    decode(40, 1);
}

static void execute_without_waiting(void)
{
    capture_family(1);
    for (int i = 0; i < 40; i++)
        execute(0);
}

static void execute_in_two_threads(void)
{
    fprintf(now.out, "thread 2 process=1 tid=101\n");
    capture_family(1);
    decode(40, 1);
    fprintf(now.out, "@%" PRIu64 " stream_call device=1 stream=8 number=1000 detail=graph_execute thread=2\n",
            now.seq++ * 10);
    decode(40, 1);
}

/* Where the graph was captured is not known. */
static void execute_of_nobody(void)
{
    decode(40, 1);
}

static void (*const unsound[])(void) = {
    execute_pieces,        execute_drafts,          execute_twice,          execute_unevenly,
    execute_micro_batches, execute_without_waiting, execute_in_two_threads, execute_of_nobody,
};

START_TEST(executions_that_may_be_parts_are_no_iterations)
{
    begin_program();
    build_model();
    unsound[_i]();
    find(NULL);
    check_none("");
}
END_TEST

static void add_graph_tests(TCase *tests)
{
    tcase_add_test(tests, a_graph_that_is_executed_and_waited_for_begins_an_iteration);
    tcase_add_test(tests, a_result_that_is_copied_is_waited_for);
    tcase_add_test(tests, pieces_of_a_graph_are_one_iteration);
    tcase_add_test(tests, warm_ups_of_captures_are_no_iterations);
    tcase_add_test(tests, captures_are_no_iterations);
    tcase_add_test(tests, a_place_that_goes_on_comes_before_graphs);
    tcase_add_loop_test(tests, executions_that_may_be_parts_are_no_iterations, 0,
                        (int)(sizeof unsound / sizeof unsound[0]));
}

TEST_SUITE(test_anchor)
{
    Suite *suite = suite_create("anchor");
    TCase *tests = tcase_create("anchor");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_recurs_once_in_each_iteration_is_the_anchor);
    tcase_add_test(tests, three_iterations_with_optimizer_state_born_in_the_first_are_enough);
    tcase_add_test(tests, a_leak_in_each_iteration_does_not_hide_them);
    tcase_add_test(tests, layers_of_a_training_step_are_no_iterations);
    tcase_add_test(tests, layers_of_a_decoded_token_are_no_iterations);
    tcase_add_test(tests, an_evaluation_now_and_then_does_not_make_iterations_longer);
    tcase_add_test(tests, sizes_may_differ_when_the_sites_are_the_same);
    tcase_add_test(tests, planted_iterations_are_found_in_random_programs);
    tcase_add_test(tests, operators_show_iterations_in_which_little_is_allocated);
    tcase_add_test(tests, operators_that_fill_what_is_built_are_no_iterations);
    tcase_add_test(tests, driver_memory_counts_where_there_is_no_pool);
    tcase_add_test(tests, each_process_has_an_anchor_of_its_own);
    tcase_add_test(tests, layers_that_are_built_one_by_one_are_no_iterations);
    tcase_add_test(tests, requests_that_come_as_they_like_are_no_iterations);
    tcase_add_test(tests, a_phase_that_is_not_most_of_the_program_is_no_iteration);
    tcase_add_test(tests, iterations_that_end_long_before_the_program_are_said_to);
    tcase_add_test(tests, two_occurrences_are_not_enough);
    tcase_add_test(tests, without_stacks_nothing_is_found);
    tcase_add_test(tests, a_loop_of_two_allocations_is_too_small);
    tcase_add_test(tests, one_of_several_devices_of_a_stream_says_where_steps_begin);
    tcase_add_test(tests, a_loop_over_devices_is_one_iteration);
    tcase_add_test(tests, a_line_that_is_named_begins_steps_on_each_device);
    tcase_add_test(tests, what_was_there_before_and_what_is_said_again_does_not_count);
    tcase_add_test(tests, marked_steps_are_left_alone);
    tcase_add_test(tests, where_all_mark_their_steps_the_first_pass_ends_early);
    tcase_add_test(tests, ranges_that_are_steps_by_their_name_come_first);
    tcase_add_test(tests, one_range_that_is_a_step_by_its_name_is_one_step);
    tcase_add_test(tests, a_trace_of_one_iteration_is_one_step);
    tcase_add_test(tests, iterations_of_many_shapes_end_with_the_optimizer);
    tcase_add_test(tests, a_loop_over_parameters_is_no_iteration);
    tcase_add_test(tests, parameters_in_a_step_of_an_optimizer_are_one_step);
    tcase_add_test(tests, an_optimizer_that_only_makes_state_says_nothing);
    tcase_add_test(tests, a_module_that_is_called_for_each_request_is_left_between);
    tcase_add_test(tests, a_place_whose_blocks_stay_is_not_its_own_proof);
    tcase_add_test(tests, layers_within_a_forward_are_no_iterations);
    tcase_add_test(tests, a_thread_without_a_line_of_the_program_has_no_iterations);
    tcase_add_test(tests, optimizers_that_take_turns_are_of_one_iteration);
    tcase_add_test(tests, micro_batches_are_no_iterations);
    tcase_add_test(tests, micro_batches_of_irregular_number_are_no_iterations);
    tcase_add_test(tests, backward_passes_of_two_phases_are_iterations_of_both);
    tcase_add_test(tests, backward_passes_of_two_lines_that_take_turns_unevenly_say_nothing);
    tcase_add_test(tests, a_checkpoint_now_and_then_is_no_iteration);
    tcase_add_test(tests, backward_passes_that_autograd_calls_are_no_iterations);
    tcase_add_test(tests, tokens_of_an_answer_are_no_iterations);
    tcase_add_test(tests, a_place_that_is_left_out_now_and_then_is_no_anchor);
    tcase_add_test(tests, an_optimizer_with_an_irregular_number_of_backward_passes_says_nothing);
    tcase_add_test(tests, a_line_that_is_named_begins_steps);
    tcase_add_test(tests, a_function_that_is_named_begins_steps_where_it_recurs);
    tcase_add_test(tests, a_function_that_is_named_begins_steps_wherever_it_is_called_from);
    tcase_add_test(tests, a_range_that_is_named_begins_steps);
    tcase_add_test(tests, what_is_named_and_never_occurs_is_an_error);
    tcase_add_test(tests, marks_hold_whatever_the_user_names);
    add_graph_tests(tests);
    suite_add_tcase(suite, tests);
    return suite;
}
