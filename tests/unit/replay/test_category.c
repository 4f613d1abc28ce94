/* SPDX-License-Identifier: Apache-2.0
 *
 * The rules by which an allocation is called something, each by itself, and what names say. Expected values by hand.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/category_rules.h"
#include "analysis/peak_sums.h"
#include "support/suites.h"

static nm_category_names *names;
static uint64_t string_count, frame_count, stack_count;
static nm_error err;

static void define(nm_definition definition)
{
    ck_assert_int_eq(nm_category_names_add(names, &definition, &err), NM_OK);
}

static uint64_t text(const char *string)
{
    define((nm_definition){
        .kind = NM_DEFINE_STRING, .id = ++string_count, .string = {(const uint8_t *)string, strlen(string)}});
    return string_count;
}

/* Of frames "file function", innermost first, then NULL. */
static const nm_category_stack *stack(const char *const *frames)
{
    const nm_category_stack *says;
    uint64_t parent = 0;
    int count = 0;

    while (frames[count] != NULL)
        count++;
    while (count-- > 0) {
        const char *function = strchr(frames[count], ' ') + 1;
        char file[200] = "";

        memcpy(file, frames[count], (size_t)(function - frames[count]) - 1);
        uint64_t file_id = text(file), function_id = text(function);

        define((nm_definition){
            .kind = NM_DEFINE_FRAME, .id = ++frame_count, .frame = {.function = function_id, .file = file_id}});
        define((nm_definition){
            .kind = NM_DEFINE_STACK, .id = ++stack_count, .stack = {.parent_id = parent, .frame_id = frame_count}});
        parent = stack_count;
    }
    ck_assert_int_eq(nm_category_names_stack(names, parent, &says, &err), NM_OK);
    return says;
}

#define STACK(...) stack((const char *const[]){__VA_ARGS__, NULL})

static void setup(void)
{
    string_count = frame_count = stack_count = 0;
    ck_assert_int_eq(nm_category_names_new(&names, &err), NM_OK);
}

static void teardown(void)
{
    nm_category_names_free(names);
}

START_TEST(the_innermost_frame_that_says_a_part_of_an_iteration_counts)
{
    const nm_category_stack *says =
        STACK("model.py Net.forward", "/v/torch/nn/modules/module.py _call_impl", "train.py main");

    ck_assert_int_eq(says->phase, NM_PHASE_FORWARD);
    ck_assert(says->has_python && !says->is_within_backward);
    ck_assert_int_eq(STACK("/v/torch/autograd/__init__.py _make_grads", "train.py main")->phase, NM_PHASE_BACKWARD);
    ck_assert_int_eq(STACK("job.c backward", "job.c main")->phase, NM_PHASE_BACKWARD);
    ck_assert_int_eq(STACK("mine.py backward", "train.py main")->phase, NM_PHASE_NONE);
    ck_assert_int_eq(STACK(" torch::autograd::generated::MmBackward0::apply(int)")->phase, NM_PHASE_BACKWARD);
    ck_assert_int_eq(STACK("/v/torch/optim/adam.py Adam._init_group", "t.py f")->phase, NM_PHASE_OPTIMIZER);
    ck_assert_int_eq(STACK("own/optimizers.py step", "t.py f")->phase, NM_PHASE_OPTIMIZER);
    ck_assert_int_eq(STACK("/v/torch/optim/optimizer.py zero_grad", "t.py f")->phase, NM_PHASE_ZERO_GRAD);
    ck_assert_int_eq(STACK("data.py collate", "train.py main")->phase, NM_PHASE_NONE);
    /* What an optimizer calls back is none of its work; a forward that backward runs again is a part of that. */
    ck_assert_int_eq(STACK("fit.py training_step", "x.py closure", "/v/torch/optim/adam.py step")->phase,
                     NM_PHASE_NONE);
    says = STACK("model.py forward", "/v/torch/utils/checkpoint.py backward", "/v/torch/autograd/function.py apply");
    ck_assert(says->phase == NM_PHASE_FORWARD && says->is_within_backward);
}
END_TEST

START_TEST(names_tell_who_makes_weights_caches_and_buffers)
{
    ck_assert(STACK("/v/torch/nn/modules/module.py Module._apply", "t.py f")->makes_weights);
    ck_assert(STACK("/v/torch/nn/modules/linear.py Linear.__init__", "t.py f")->makes_weights);
    ck_assert(!STACK("/v/torch/optim/adam.py Adam.step", "/v/x.py load_model")->makes_weights);
    ck_assert(STACK("worker.py initialize_kv_cache", "t.py f")->makes_cache);
    ck_assert(STACK("/v/transformers/cache_utils.py update", "t.py f")->makes_cache);
    ck_assert(!STACK("metrics.py update", "t.py f")->makes_cache);
    ck_assert(STACK(" c10d::ProcessGroupHCCL::allgather(int)", "t.py f")->communicates);

    uint64_t file = STACK("block.py Block.__init__", "t.py f")->init_file;

    ck_assert_uint_ne(file, 0);
    ck_assert(!nm_category_names_has_forward(names, file));
}
END_TEST

START_TEST(workspaces_of_libraries_are_known_by_native_names_below_python)
{
    static const char *const frames[] = {"CUDABlas.cpp at::cuda::getNewWorkspace()",
                                         " at::cuda::getCurrentCUDABlasHandle()",
                                         " at_npu::native::allocate_workspace(unsigned long, aclrtStream)",
                                         " at_npu::native::OpPreparation::unsafe_empty_workspace(unsigned long)"};

    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++)
        ck_assert_msg(STACK(" c10::Malloc", frames[i], " at::mm", "t.py f")->makes_workspace, "%s", frames[i]);
    ck_assert(!STACK(" at::empty", "t.py allocate_workspace", "t.py f")->makes_workspace);
    ck_assert(!STACK("t.py f", " at::native::Workspace::Workspace(unsigned long)")->makes_workspace);
    ck_assert(!STACK(" f<at::native::Workspace>(int)", "t.py f")->makes_workspace);
    ck_assert(!STACK(" at::native::mm", "t.py f")->makes_workspace);
}
END_TEST

START_TEST(a_stack_is_walked_again_when_a_frame_gets_a_name)
{
    const nm_category_stack *says = STACK(" a", " b");

    ck_assert_int_eq(says->phase, NM_PHASE_NONE);
    define((nm_definition){.kind = NM_DEFINE_FRAME,
                           .id = frame_count,
                           .frame = {.function = text("torch::autograd::Engine::thread_main(int)")}});
    ck_assert_int_eq(nm_category_names_stack(names, stack_count, &says, &err), NM_OK);
    ck_assert_int_eq(says->phase, NM_PHASE_BACKWARD);
}
END_TEST

START_TEST(words_of_programs_and_of_torchs_profiler_are_known)
{
    ck_assert_int_eq(nm_category_names_word(names, text("kv_cache")), NM_CATEGORY_KV_CACHE);
    ck_assert_int_eq(nm_category_names_word(names, text("KV cache")), NM_CATEGORY_KV_CACHE);
    ck_assert_int_eq(nm_category_names_word(names, text("parameter")), NM_CATEGORY_WEIGHT);
    ck_assert_int_eq(nm_category_names_word(names, text("Optimizer-State")), NM_CATEGORY_OPTIMIZER_STATE);
    ck_assert_int_eq(nm_category_names_word(names, text("unknown")), NM_CATEGORY_UNKNOWN);
    ck_assert_int_eq(nm_category_names_word(names, text("prefix")), NM_CATEGORY_OWN);
    ck_assert_int_eq(nm_category_names_word(names, text("a word that is longer than all that are known")),
                     NM_CATEGORY_OWN);
    ck_assert_int_eq(nm_category_names_range(names, text("Optimizer.step#Adam.step")), NM_PHASE_OPTIMIZER);
    ck_assert_int_eq(nm_category_names_range(names, text("Forward")), NM_PHASE_FORWARD);
    ck_assert_int_eq(nm_category_names_range(names, text("forward pass of Monday")), NM_PHASE_NONE);
}
END_TEST

/* ---- Rules ----------------------------------------------------------------------------------------------------------- */

static const nm_category_clock clock_of_training = {.place = {3, 3, 3}, .last = NM_PHASE_ZERO_GRAD};
static const nm_category_site no_site;

static nm_category judge(nm_phase birth_phase, nm_category_place birth, nm_phase end_phase, nm_category_place end)
{
    return nm_category_judge(&clock_of_training, &no_site, &(nm_category_birth){.phase = birth_phase, .place = birth},
                             &(nm_category_end){.phase = end_phase, .place = end});
}

static nm_category judge_live(nm_phase birth_phase, nm_category_place birth, const nm_category_clock *clock)
{
    return nm_category_judge(clock, &no_site, &(nm_category_birth){.phase = birth_phase, .place = birth},
                             &(nm_category_end){.is_live = true, .place = clock->place});
}

#define P(forwards, backwards, optimizers) ((nm_category_place){forwards, backwards, optimizers})

START_TEST(both_ends_have_to_fit)
{
    const nm_phase none = NM_PHASE_NONE, forward = NM_PHASE_FORWARD, backward = NM_PHASE_BACKWARD,
                   optimizer = NM_PHASE_OPTIMIZER, zero = NM_PHASE_ZERO_GRAD;

    ck_assert_int_eq(judge(forward, P(1, 0, 0), backward, P(1, 1, 0)), NM_CATEGORY_ACTIVATION);
    ck_assert_int_eq(judge(forward, P(1, 0, 0), none, P(2, 1, 1)),
                     NM_CATEGORY_ACTIVATION); /* an output, till the next one */
    ck_assert_int_eq(judge(forward, P(1, 0, 0), none, P(4, 3, 3)), NM_CATEGORY_UNKNOWN);
    ck_assert_int_eq(judge(forward, P(1, 0, 0), forward, P(2, 1, 1)), NM_CATEGORY_UNKNOWN); /* a buffer, made anew */
    ck_assert_int_eq(judge(forward, P(1, 0, 0), forward, P(1, 0, 0)), NM_CATEGORY_TEMPORARY);
    ck_assert_int_eq(judge(forward, P(1, 0, 0), forward, P(2, 0, 0)), NM_CATEGORY_UNKNOWN);
    ck_assert_int_eq(judge(forward, P(1, 0, 0), none, P(1, 0, 0)), NM_CATEGORY_UNKNOWN);
    ck_assert_int_eq(judge(backward, P(1, 1, 0), backward, P(1, 1, 0)), NM_CATEGORY_TEMPORARY);
    ck_assert_int_eq(judge(backward, P(1, 1, 0), zero, P(1, 1, 0)), NM_CATEGORY_GRADIENT);
    ck_assert_int_eq(judge(backward, P(1, 1, 0), backward, P(2, 2, 1)), NM_CATEGORY_GRADIENT);
    ck_assert_int_eq(judge(optimizer, P(1, 1, 1), optimizer, P(1, 1, 1)), NM_CATEGORY_TEMPORARY);
    ck_assert_int_eq(judge(optimizer, P(1, 1, 1), optimizer, P(2, 2, 2)), NM_CATEGORY_UNKNOWN);
    ck_assert_int_eq(judge(optimizer, P(1, 1, 1), none, P(3, 3, 3)), NM_CATEGORY_OPTIMIZER_STATE);
    ck_assert_int_eq(judge(none, P(1, 1, 1), none, P(3, 3, 3)), NM_CATEGORY_UNKNOWN);
}
END_TEST

/* In whichever part of an iteration; and what was there before, as far as it is not more of that size. */
START_TEST(workspaces_are_no_weights_and_no_gradients)
{
    const nm_category_clock *clock = &clock_of_training;
    nm_category_birth birth = {.phase = NM_PHASE_BACKWARD, .place = P(1, 1, 0), .makes_workspace = true};
    nm_category_birth early = {.is_early = true};
    nm_category_end end = {.is_live = true, .place = P(3, 3, 3), .like_it = 2, .gradients = 2, .workspaces = 2};

    ck_assert_int_eq(nm_category_judge(clock, &no_site, &birth, &end), NM_CATEGORY_WORKSPACE);
    ck_assert_int_eq(nm_category_judge(clock, &no_site, &early, &end), NM_CATEGORY_WORKSPACE);
    end.like_it = 3;
    ck_assert_int_eq(nm_category_judge(clock, &no_site, &early, &end), NM_CATEGORY_UNKNOWN);
    end.gradients = 3;
    ck_assert_int_eq(nm_category_judge(clock, &no_site, &early, &end), NM_CATEGORY_WEIGHT);
}
END_TEST

START_TEST(what_lives_at_the_end_is_judged_by_where_the_program_was)
{
    nm_category_clock clock = {.place = {1, 1, 0}, .last = NM_PHASE_BACKWARD};
    nm_category_site site = {.live = 2};
    nm_category_birth birth = {.phase = NM_PHASE_OPTIMIZER, .place = P(1, 1, 1)};

    ck_assert_int_eq(judge_live(NM_PHASE_BACKWARD, P(1, 1, 0), &clock), NM_CATEGORY_UNKNOWN); /* in the midst of it */
    clock.last = NM_PHASE_OPTIMIZER;
    ck_assert_int_eq(judge_live(NM_PHASE_BACKWARD, P(1, 1, 0), &clock), NM_CATEGORY_GRADIENT);
    clock.place.optimizers = 1;
    ck_assert_int_eq(judge_live(NM_PHASE_OPTIMIZER, P(1, 1, 1), &clock), NM_CATEGORY_UNKNOWN);
    ck_assert_int_eq(
        nm_category_judge(&clock, &site, &birth, &(nm_category_end){.is_live = true, .place = clock.place}),
        NM_CATEGORY_OPTIMIZER_STATE); /* its line has never given one back */
    ck_assert_int_eq(judge_live(NM_PHASE_FORWARD, P(1, 0, 0), &clock), NM_CATEGORY_UNKNOWN);
    site.activations = 1;
    birth = (nm_category_birth){.phase = NM_PHASE_FORWARD, .place = P(1, 0, 1)};
    ck_assert_int_eq(
        nm_category_judge(&clock, &site, &birth, &(nm_category_end){.is_live = true, .place = clock.place}),
        NM_CATEGORY_ACTIVATION); /* as those before it */
}
END_TEST

/* Of a birth before the recording the part of an iteration is known, but not how often these have begun since. */
START_TEST(what_is_older_than_the_recording_is_judged_by_its_stack_alone)
{
    const struct {
        nm_phase birth, end, last;
        bool makes_weights, is_live;
        nm_category category;
    } cases[] = {
        {NM_PHASE_OPTIMIZER, NM_PHASE_NONE, NM_PHASE_NONE, false, true, NM_CATEGORY_OPTIMIZER_STATE},
        {NM_PHASE_BACKWARD, NM_PHASE_NONE, NM_PHASE_NONE, false, true, NM_CATEGORY_GRADIENT},
        {NM_PHASE_NONE, NM_PHASE_NONE, NM_PHASE_NONE, true, true, NM_CATEGORY_WEIGHT},
        {NM_PHASE_NONE, NM_PHASE_NONE, NM_PHASE_NONE, false, true, NM_CATEGORY_UNKNOWN},
        {NM_PHASE_FORWARD, NM_PHASE_NONE, NM_PHASE_FORWARD, false, true, NM_CATEGORY_UNKNOWN},
        {NM_PHASE_FORWARD, NM_PHASE_BACKWARD, NM_PHASE_BACKWARD, false, false, NM_CATEGORY_ACTIVATION},
        {NM_PHASE_FORWARD, NM_PHASE_FORWARD, NM_PHASE_FORWARD, false, false, NM_CATEGORY_UNKNOWN},
        {NM_PHASE_OPTIMIZER, NM_PHASE_OPTIMIZER, NM_PHASE_OPTIMIZER, false, false, NM_CATEGORY_UNKNOWN},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        /* So many lines of a forward have something live that what one has made is an activation. */
        nm_category_clock clock = {.last = cases[i].last, .forward_sites = 20, .forward_live_sites = 9};
        nm_category_site site = {0};
        nm_category_birth birth = {
            .is_baseline = true, .phase = cases[i].birth, .makes_weights = cases[i].makes_weights};
        nm_category_end end = {.phase = cases[i].end, .is_live = cases[i].is_live};

        ck_assert_msg(nm_category_judge(&clock, &site, &birth, &end) == cases[i].category, "case %zu", i);
    }
}
END_TEST

START_TEST(a_forward_without_backward_keeps_what_that_would_need)
{
    nm_category_clock clock = {
        .place = {1, 0, 0}, .last = NM_PHASE_FORWARD, .forward_sites = 20, .forward_live_sites = 9};

    ck_assert_int_eq(judge_live(NM_PHASE_FORWARD, P(1, 0, 0), &clock), NM_CATEGORY_ACTIVATION);
    clock.forward_live_sites = 2; /* the output, and a cache */
    ck_assert_int_eq(judge_live(NM_PHASE_FORWARD, P(1, 0, 0), &clock), NM_CATEGORY_UNKNOWN);
}
END_TEST

START_TEST(weights_are_as_many_as_gradients_of_their_size)
{
    nm_category_birth birth = {.is_early = true};
    nm_category_end end = {.is_live = true, .place = clock_of_training.place, .like_it = 4, .gradients = 4};

    ck_assert_int_eq(nm_category_judge(&clock_of_training, &no_site, &birth, &end), NM_CATEGORY_WEIGHT);
    end.like_it = 5; /* one of them is something else */
    ck_assert_int_eq(nm_category_judge(&clock_of_training, &no_site, &birth, &end), NM_CATEGORY_UNKNOWN);
    birth.makes_weights = true;
    ck_assert_int_eq(nm_category_judge(&clock_of_training, &no_site, &birth, &end), NM_CATEGORY_WEIGHT);
    end = (nm_category_end){0}; /* staging: gone before any forward */
    ck_assert_int_eq(nm_category_judge(&clock_of_training, &no_site, &birth, &end), NM_CATEGORY_UNKNOWN);
}
END_TEST

START_TEST(the_clock_counts_parts_and_autograd_needs_no_stack)
{
    nm_category_clock clock = {0};
    nm_category_stack python = {.has_python = true}, none = {0};

    for (int i = 0; i < 2; i++) {
        nm_category_tick(&clock, &python, NM_PHASE_FORWARD);
        nm_category_tick(&clock, &python, NM_PHASE_FORWARD);
        ck_assert_int_eq(nm_category_phase(&clock, &none, NM_PHASE_NONE, false), NM_PHASE_NONE);
        nm_category_tick(&clock, &python, NM_PHASE_BACKWARD);
        ck_assert_int_eq(nm_category_phase(&clock, &none, NM_PHASE_NONE, false), NM_PHASE_BACKWARD);
        ck_assert_int_eq(nm_category_phase(&clock, &python, NM_PHASE_NONE, false), NM_PHASE_NONE);
        nm_category_tick(&clock, &python, NM_PHASE_NONE); /* a loader's thread */
        nm_category_tick(&clock, &none, NM_PHASE_BACKWARD);
        nm_category_tick(&clock, &python, NM_PHASE_OPTIMIZER);
    }
    ck_assert(clock.place.forwards == 2 && clock.place.backwards == 2 && clock.place.optimizers == 2);
    nm_category_tick(&clock, &python, NM_PHASE_NONE);
    ck_assert_int_eq(nm_category_phase(&clock, &python, NM_PHASE_FORWARD, true), NM_PHASE_FORWARD);
    ck_assert_int_eq(nm_category_phase(&clock, &python, NM_PHASE_NONE, true), NM_PHASE_BACKWARD);
}
END_TEST

/* ---- Sums at a peak -------------------------------------------------------------------------------------------------- */

static void add(nm_peak_sums *sums, int64_t alloc_seq, uint64_t bytes, int64_t peak_seq, uint64_t key)
{
    nm_live_row row = {.alloc_seq = alloc_seq, .size_bytes = bytes};

    ck_assert_int_eq(nm_peak_sums_add(sums, &row, peak_seq, (nm_key){0, key}, &err), NM_OK);
}

START_TEST(sums_are_of_the_last_peak_whenever_ends_are_told)
{
    nm_peak_sums sums = {0};

    add(&sums, NM_NO_SEQ, 1, NM_NO_SEQ, 7); /* the baseline, before any peak */
    ck_assert(sums.count == 1 && sums.items[0].live_bytes == 1);
    add(&sums, 3, 10, 5, 7);
    add(&sums, 6, 100, 5, 7); /* born behind it */
    add(&sums, NM_NO_SEQ, 1000, 5, 8);
    ck_assert(sums.count == 2 && sums.items[0].live_bytes == 10 && sums.items[1].live_bytes == 1000);
    add(&sums, 6, 20, 9, 8);
    add(&sums, 3, 40, 5, 8); /* told late: it was gone at that peak */
    add(&sums, 9, 80, 9, 8);
    ck_assert(sums.count == 1 && sums.items[0].live_bytes == 100 && sums.items[0].live_count == 2);
    nm_peak_sums_settle(&sums, 11); /* nothing of it is known */
    ck_assert_uint_eq(sums.count, 0);
    nm_peak_sums_free(&sums);
}
END_TEST

TEST_SUITE(test_category)
{
    Suite *suite = suite_create("category");
    TCase *tcase = tcase_create("category");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_test(tcase, the_innermost_frame_that_says_a_part_of_an_iteration_counts);
    tcase_add_test(tcase, names_tell_who_makes_weights_caches_and_buffers);
    tcase_add_test(tcase, workspaces_of_libraries_are_known_by_native_names_below_python);
    tcase_add_test(tcase, a_stack_is_walked_again_when_a_frame_gets_a_name);
    tcase_add_test(tcase, words_of_programs_and_of_torchs_profiler_are_known);
    tcase_add_test(tcase, both_ends_have_to_fit);
    tcase_add_test(tcase, workspaces_are_no_weights_and_no_gradients);
    tcase_add_test(tcase, what_lives_at_the_end_is_judged_by_where_the_program_was);
    tcase_add_test(tcase, what_is_older_than_the_recording_is_judged_by_its_stack_alone);
    tcase_add_test(tcase, a_forward_without_backward_keeps_what_that_would_need);
    tcase_add_test(tcase, weights_are_as_many_as_gradients_of_their_size);
    tcase_add_test(tcase, the_clock_counts_parts_and_autograd_needs_no_stack);
    tcase_add_test(tcase, sums_are_of_the_last_peak_whenever_ends_are_told);
    suite_add_tcase(suite, tcase);
    return suite;
}
