/* SPDX-License-Identifier: Apache-2.0
 *
 * What is said of a site whose live memory comes and goes, as that of a server: in numbers of blocks, one of 64 KiB each.
 * Each life is planted, so that it is known whether some of them never end.
 */
#include <check.h>
#include <stdlib.h>

#include "store/verdicts/verdict.h"
#include "support/suites.h"

#define STEPS       160
#define LIFE_MAX    25
#define BLOCK_BYTES 65536.0

static nm_level levels[STEPS + 1];
static nm_births births[STEPS + 1];

/* Of the blocks born in a step, how many are still there at the end. */
typedef int kept_at(int step);

/* Blocks that live up to LIFE_MAX steps come and go, fewer and fewer of them; and those that stay. */
static nm_verdict_reason judge(kept_at *kept, int freed_max_steps, double *growth_bytes)
{
    nm_site_history history = {.levels = levels,
                               .births = births,
                               .level_count = STEPS + 1,
                               .step_count = STEPS,
                               .freed_max_steps = freed_max_steps};
    double stayed = 0;

    for (int step = 0; step <= STEPS; step++) {
        int count = kept(step) + (step > STEPS - 8 ? 2 : 0); /* the newest are there, too */

        stayed += kept(step);
        levels[step].generation = step;
        levels[step].count = stayed + 60 - step / 4.0 + step * 7 % 13; /* load falls by more than what stays */
        levels[step].bytes = levels[step].count * BLOCK_BYTES;
        if (count > 0)
            births[history.birth_count++] = (nm_births){step, count * BLOCK_BYTES, count};
    }
    return nm_verdict_judge(&history, growth_bytes);
}

static int one_in_five(int step)
{
    return step % 5 == 0;
}

static int none(int step)
{
    (void)step;
    return 0;
}

static int in_the_first_third(int step)
{
    return step < STEPS / 3;
}

static int one_in_twenty(int step)
{
    return step % 20 == 0;
}

START_TEST(what_outlives_all_that_is_freed_grows_however_the_load_goes)
{
    double growth_bytes = 0;

    ck_assert_int_eq(judge(one_in_five, LIFE_MAX, &growth_bytes), NM_REASON_OUTLIVES);
    /* 21 of the first 108 steps, for step 0 is not one */
    ck_assert_double_eq_tol(growth_bytes, 21 * BLOCK_BYTES / 108, 1);
}
END_TEST

START_TEST(what_is_young_or_from_the_beginning_is_not_said_to_grow)
{
    double growth_bytes = 0;

    ck_assert_int_eq(judge(none, LIFE_MAX, &growth_bytes), NM_REASON_NEWEST_KEPT);
    ck_assert_int_eq(judge(in_the_first_third, LIFE_MAX, &growth_bytes), NM_REASON_STOPPED);
    ck_assert_double_eq(growth_bytes, 0);
}
END_TEST

/* A site that holds `counts` more blocks at the end of each of few steps. */
static nm_verdict_reason judge_site(const int *counts, int step_count, bool has_equal_bytes, bool is_served,
                                    bool is_anchor)
{
    nm_site_history history = {.levels = levels,
                               .births = births,
                               .level_count = (size_t)step_count,
                               .birth_count = (size_t)step_count,
                               .step_count = step_count,
                               .freed_max_steps = -1,
                               .is_served = is_served,
                               .is_anchor = is_anchor};
    double growth_bytes, count = 0, bytes = 0;

    for (int i = 0; i < step_count; i++) {
        double more_bytes = (has_equal_bytes ? 1 : counts[i]) * BLOCK_BYTES;

        count += counts[i];
        bytes += more_bytes;
        levels[i] = (nm_level){.generation = i + 1, .bytes = bytes, .count = count};
        births[i] = (nm_births){.generation = i + 1, .bytes = more_bytes, .count = counts[i]};
    }
    return nm_verdict_judge(&history, &growth_bytes);
}

static nm_verdict_reason judge_few(const int *counts, int step_count, bool has_equal_bytes)
{
    return judge_site(counts, step_count, has_equal_bytes, false, false);
}

/* Each step has a block of it, since that is how it was found: a server that takes one each time. A backward pass in each tells. */
START_TEST(the_site_that_few_steps_were_found_by_is_judged_of_training_alone)
{
    static const int ones[] = {1, 1, 1, 1, 1, 1, 1, 1};

    ck_assert_int_eq(judge_site(ones, 3, false, true, true), NM_REASON_NOT_STEADY);
    ck_assert_int_eq(judge_site(ones, 4, false, true, true), NM_REASON_NOT_STEADY);
    ck_assert_int_eq(judge_site(ones, 4, false, true, false), NM_REASON_GROWS);
    ck_assert_int_eq(judge_site(ones, 4, false, false, true), NM_REASON_GROWS);
    ck_assert_int_eq(judge_site(ones, 5, false, true, true), NM_REASON_GROWS);
}
END_TEST

START_TEST(a_step_that_brings_nothing_speaks_against_a_leak_in_a_server)
{
    ck_assert_int_eq(judge_site((const int[]){1, 1, 1, 0}, 4, false, false, false), NM_REASON_GROWS);
    ck_assert_int_ne(judge_site((const int[]){1, 1, 1, 0}, 4, false, true, false), NM_REASON_GROWS);
}
END_TEST

START_TEST(in_few_steps_what_grows_by_as_many_blocks_each_time_grows)
{
    ck_assert_int_eq(judge_few((const int[]){5, 4, 4, 4}, 4, false), NM_REASON_GROWS);    /* the first has more */
    ck_assert_int_eq(judge_few((const int[]){4, 4, 4, 4, 0}, 5, false), NM_REASON_GROWS); /* the last is cut */
    ck_assert_int_eq(judge_few((const int[]){1, 0, 0, 0}, 4, true), NM_REASON_GROWS);     /* one that becomes larger */
}
END_TEST

START_TEST(in_few_steps_what_grows_by_more_and_by_fewer_blocks_is_not_judged)
{
    ck_assert_int_eq(judge_few((const int[]){4, 4, 3}, 3, false), NM_REASON_NOT_STEADY);
    ck_assert_int_eq(judge_few((const int[]){3, 6, 4, 4, 3}, 5, false), NM_REASON_NOT_STEADY);
    ck_assert_int_eq(judge_few((const int[]){3, 6, 4, 4, 3}, 5, true), NM_REASON_NOT_STEADY);
}
END_TEST

/* One block a step, each of another size; what `first` and `last` say of the first and the last step. */
static nm_site_history of_any_size(int step_count, int first, int last)
{
    nm_site_history history = {.levels = levels,
                               .level_count = (size_t)step_count,
                               .step_count = step_count,
                               .freed_max_steps = -1,
                               .is_from_middle = true};
    double count = 0, bytes = 0;

    for (int i = 0; i < step_count; i++) {
        int more = i == 0 ? first : i == step_count - 1 ? last : 1;

        count += more;
        bytes += more * (1 + 7 * (i % 3)) * BLOCK_BYTES;
        levels[i] = (nm_level){.generation = i + 1, .bytes = bytes, .count = count};
    }
    return history;
}

static nm_verdict_reason reason_of(nm_site_history history)
{
    double growth_bytes;

    return nm_verdict_judge(&history, &growth_bytes);
}

START_TEST(in_few_steps_from_the_middle_of_training_blocks_of_any_size_grow)
{
    nm_site_history whole = of_any_size(5, 1, 1), served = whole, freed = whole;

    ck_assert_int_eq(reason_of(of_any_size(5, 1, 1)), NM_REASON_GROWS);
    ck_assert_int_eq(reason_of(of_any_size(4, 1, 1)), NM_REASON_NOT_STEADY);
    whole.is_from_middle = false;
    ck_assert_int_eq(reason_of(whole), NM_REASON_NOT_STEADY);
    served.is_served = true;
    ck_assert_int_eq(reason_of(served), NM_REASON_NOT_STEADY);
    freed.freed_max_steps = 0;
    ck_assert_int_ne(reason_of(freed), NM_REASON_GROWS);
}
END_TEST

/* An optimizer's run ends a step: what comes behind the last one is in the last step. */
START_TEST(what_comes_behind_the_end_of_a_step_is_in_the_next_one_or_in_the_last)
{
    ck_assert_int_eq(reason_of(of_any_size(5, 0, 2)), NM_REASON_GROWS);
    ck_assert_int_ne(reason_of(of_any_size(5, 0, 1)), NM_REASON_GROWS);
    ck_assert_int_ne(reason_of(of_any_size(5, 1, 2)), NM_REASON_GROWS);
    ck_assert_int_ne(reason_of(of_any_size(5, 0, 3)), NM_REASON_GROWS);
}
END_TEST

/* In each other step three blocks more, from before the first step on: five times in all. */
START_TEST(in_a_history_from_the_middle_of_training_what_came_before_the_first_step_is_a_rise)
{
    nm_site_history history = {
        .levels = levels, .level_count = 5, .step_count = 10, .freed_max_steps = 1, .is_from_middle = true};

    for (int i = 0; i < 5; i++)
        levels[i] = (nm_level){.generation = 2 * i, .bytes = (16 + 3 * i) * BLOCK_BYTES, .count = 16 + 3 * i};
    ck_assert_int_eq(reason_of(history), NM_REASON_GROWS);
    history.is_served = true;
    ck_assert_int_ne(reason_of(history), NM_REASON_GROWS);
    history.is_served = history.is_from_middle = false;
    ck_assert_int_ne(reason_of(history), NM_REASON_GROWS);
}
END_TEST

START_TEST(few_blocks_or_few_lives_of_what_is_freed_do_not_tell)
{
    double growth_bytes = 0;

    ck_assert_int_eq(judge(one_in_twenty, LIFE_MAX, &growth_bytes), NM_REASON_STOPPED);
    ck_assert_int_eq(judge(one_in_five, STEPS / 4, &growth_bytes), NM_REASON_NOT_STEADY);
    ck_assert_int_eq(judge(one_in_five, STEPS - 1, &growth_bytes), NM_REASON_NEWEST_KEPT);
}
END_TEST

TEST_SUITE(test_verdict)
{
    Suite *suite = suite_create("verdict");
    TCase *tests = tcase_create("verdict");

    tcase_add_test(tests, what_outlives_all_that_is_freed_grows_however_the_load_goes);
    tcase_add_test(tests, what_is_young_or_from_the_beginning_is_not_said_to_grow);
    tcase_add_test(tests, in_few_steps_what_grows_by_as_many_blocks_each_time_grows);
    tcase_add_test(tests, the_site_that_few_steps_were_found_by_is_judged_of_training_alone);
    tcase_add_test(tests, a_step_that_brings_nothing_speaks_against_a_leak_in_a_server);
    tcase_add_test(tests, in_few_steps_what_grows_by_more_and_by_fewer_blocks_is_not_judged);
    tcase_add_test(tests, in_few_steps_from_the_middle_of_training_blocks_of_any_size_grow);
    tcase_add_test(tests, what_comes_behind_the_end_of_a_step_is_in_the_next_one_or_in_the_last);
    tcase_add_test(tests, in_a_history_from_the_middle_of_training_what_came_before_the_first_step_is_a_rise);
    tcase_add_test(tests, few_blocks_or_few_lives_of_what_is_freed_do_not_tell);
    suite_add_tcase(suite, tests);
    return suite;
}
