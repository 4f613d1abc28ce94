/* SPDX-License-Identifier: Apache-2.0
 *
 * Growth from step to step against slow sums over table allocation, on random traces: what was live at the end of each
 * step (step_growth), the line of least squares (leak_by_site), how long freed blocks lived. And what must not be called
 * growing: weights, optimiser state, an iteration cut by a crash, fewer than three steps.
 */
#include <check.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define RUNS        30
#define STACKS      6
#define LIVE_MAX    64
#define NEVER_FREED 12 /* slots whose blocks are kept, and become old */
#define STEPS_MAX   40
#define LONG_STEPS  2500

static int64_t now_ns, event_count;

static void event(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void event(const char *format, ...)
{
    char line[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    now_ns += 1 + rand() % 5000;
    event_count++;
    draft_say("@%" PRId64 " %s\n", now_ns, line);
}

/* Stacks 1 and 2 are one site, called from two places; the others one each. */
static void begin_text(void)
{
    draft_begin();
    now_ns = event_count = 0;
    draft_say("process 1 pid=1 host=h begin=0 command=x\n");
    draft_say("device 1 process=1 ordinal=0 kind=npu capacity=1000000\n");
    draft_say("heap 1 process=1 device=1 level=pool basis=block name=pool\n");
    draft_say("thread 1 process=1 tid=1 name=main\n");
    draft_say("stack 1: /a.py:1:one < /m.py:1:main\nstack 2: /a.py:1:one < /m.py:2:main\n");
    for (int stack = 3; stack <= STACKS; stack++)
        draft_say("stack %d: /b.py:%d:f%d\n", stack, stack, stack);
}

static sqlite3 *end_text(void)
{
    return draft_load((uint64_t)event_count);
}

static void allocate(int slot, int stack, int bytes)
{
    event("alloc heap=1 address=0x%x requested=%d block=%d thread=1 stack=%d", 0x10000 + slot * 0x1000, bytes, bytes,
          stack);
}

static void release(int slot)
{
    event("free heap=1 address=0x%x thread=1", 0x10000 + slot * 0x1000);
}

/* Allocations and frees at random (but of some slots, which are never freed), with steps at random places. */
static sqlite3 *random_run(unsigned seed)
{
    bool is_live[LIVE_MAX] = {false};
    int step_count = 0;

    srand(seed);
    begin_text();
    int wanted_steps = rand() % STEPS_MAX;
    for (int i = 0; i < 600; i++) {
        int slot = rand() % LIVE_MAX;

        if (step_count < wanted_steps && rand() % 15 == 0)
            event("step number=%d thread=1", 100 + step_count++);
        if (is_live[slot] && slot < NEVER_FREED)
            continue;
        if (is_live[slot])
            release(slot);
        else
            allocate(slot, 1 + rand() % STACKS, slot < NEVER_FREED ? 64 : 1 + rand() % 2000);
        is_live[slot] = !is_live[slot];
    }
    return end_text();
}

/* ---- Oracles ------------------------------------------------------------------------------------------------------- */

/* What was live when the next step began, or at the end: allocation by allocation. */
static const char slow_growth[] =
    "SELECT f.label, s.number, sum(a.size_bytes), count(*) FROM step AS s JOIN allocation AS a"
    " ON a.alloc_seq < coalesce((SELECT min(n.begin_seq) FROM step AS n WHERE n.begin_seq > s.begin_seq), 1 << 60)"
    " AND coalesce(a.free_seq, 1 << 60) >"
    "  coalesce((SELECT min(n.begin_seq) FROM step AS n WHERE n.begin_seq > s.begin_seq), (1 << 60) - 1)"
    " JOIN stack AS k ON k.stack_id = a.stack_id JOIN frame AS f ON f.frame_id = k.site_frame_id"
    " GROUP BY f.label, s.number ORDER BY f.label, s.number";

static void compare_growth(sqlite3 *db)
{
    char *slow = load_rows(db, slow_growth);
    char *fast = load_rows(db, "SELECT site, step, live_bytes, live_count FROM step_growth WHERE live_count > 0"
                               " ORDER BY site, step");

    ck_assert_str_eq(fast, slow);
    free(slow);
    free(fast);
}

static double number_at(sqlite3_stmt *row, int column)
{
    return sqlite3_column_type(row, column) == SQLITE_NULL ? NAN : sqlite3_column_double(row, column);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = NULL;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &statement, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    return statement;
}

/* The textbook's two passes: means first, then what lies off them. */
static double slope_of(const double *values, int count, double *fit)
{
    double mean_x = 0, mean_y = 0, xy = 0, xx = 0, yy = 0;

    for (int i = 0; i < count; i++) {
        mean_x += (double)i / count;
        mean_y += values[i] / count;
    }
    for (int i = 0; i < count; i++) {
        xy += (i - mean_x) * (values[i] - mean_y);
        xx += (i - mean_x) * (i - mean_x);
        yy += (values[i] - mean_y) * (values[i] - mean_y);
    }
    *fit = yy > 0 ? xy * xy / (xx * yy) : NAN;
    return xy / xx;
}

static void expect_near(double got, double expected)
{
    if (isnan(expected))
        ck_assert(isnan(got));
    else
        ck_assert_msg(fabs(got - expected) <= 1e-6 * (1 + fabs(expected)), "%.9g, not %.9g", got, expected);
}

static void compare_lines(sqlite3 *db)
{
    int64_t step_count = load_int(db, "SELECT count(*) FROM step");
    sqlite3_stmt *rows = prepare(db, "SELECT f.label, g.growth_bytes_per_step, g.growth_count_per_step,"
                                     " g.growth_fit_ratio, g.step_count FROM z_site_growth AS g JOIN frame AS f"
                                     " ON f.frame_id = g.site_frame_id");

    while (sqlite3_step(rows) == SQLITE_ROW) {
        double bytes[STEPS_MAX] = {0}, counts[STEPS_MAX] = {0}, fit, unused;
        sqlite3_stmt *steps = prepare(db, "SELECT generation, live_bytes, live_count FROM step_growth WHERE site = ?1");

        sqlite3_bind_value(steps, 1, sqlite3_column_value(rows, 0));
        while (sqlite3_step(steps) == SQLITE_ROW) {
            int at = sqlite3_column_int(steps, 0) - 1;

            ck_assert_int_lt(at, STEPS_MAX);
            bytes[at] = sqlite3_column_double(steps, 1);
            counts[at] = sqlite3_column_double(steps, 2);
        }
        sqlite3_finalize(steps);
        ck_assert_int_eq(sqlite3_column_int(rows, 4), step_count - 1);
        expect_near(number_at(rows, 1), slope_of(bytes, (int)step_count - 1, &fit));
        expect_near(number_at(rows, 3), fit);
        expect_near(number_at(rows, 2), slope_of(counts, (int)step_count - 1, &unused));
    }
    sqlite3_finalize(rows);
}

/* A power of two that enough lives do not pass, and its half not. */
static void check_share(sqlite3 *db, const char *column, int percent)
{
    char sql[1024];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT l.%s AS most, count(*) AS whole,"
             "  sum(a.free_ns - a.alloc_ns < l.%s) AS below, sum(a.free_ns - a.alloc_ns < l.%s / 2) AS below_half"
             "  FROM z_site_lifetime AS l JOIN stack AS s ON s.site_frame_id = l.site_frame_id"
             "  JOIN allocation AS a ON a.stack_id = s.stack_id WHERE a.free_seq IS NOT NULL GROUP BY l.site_frame_id)"
             " WHERE NOT (100 * below >= %d * whole AND (most = 2 OR 100 * below_half < %d * whole))",
             column, column, column, percent, percent);
    ck_assert_int_eq(load_int(db, sql), 0);
}

static void compare_lifetimes(sqlite3 *db)
{
    char *slow = load_rows(
        db,
        "SELECT s.site_frame_id, count(*), max(a.free_ns - a.alloc_ns),"
        " max((SELECT count(*) FROM step AS t WHERE t.begin_seq > a.alloc_seq AND t.begin_seq < a.free_seq))"
        " FROM allocation AS a JOIN stack AS s USING (stack_id) WHERE a.free_seq IS NOT NULL GROUP BY 1 ORDER BY 1");
    char *fast = load_rows(db, "SELECT site_frame_id, freed_count, max_ns, max_steps FROM z_site_lifetime ORDER BY 1");

    ck_assert_str_eq(fast, slow);
    free(slow);
    free(fast);
    check_share(db, "median_at_most_ns", 50);
    check_share(db, "p99_at_most_ns", 99);
}

/* The evidence of leaks, allocation by allocation: how old they are at the last event of the memory, how many are older than
 * 99 % of the freed ones became, how many steps began in the life of the oldest, and in how many they were born. */
static int64_t compare_evidence(sqlite3 *db)
{
    char *slow = load_rows(db, "WITH last (ns) AS (SELECT max(max(alloc_ns, coalesce(free_ns, 0))) FROM allocation)"
                               " SELECT k.site, count(*), sum(k.size_bytes), last.ns - min(k.alloc_ns),"
                               "  sum(last.ns - k.alloc_ns > (SELECT l.p99_at_most_ns FROM z_site_lifetime AS l JOIN "
                               "frame AS f ON f.frame_id ="
                               "   l.site_frame_id WHERE f.label = k.site)),"
                               "  (SELECT count(*) FROM step AS t WHERE t.begin_seq > min(k.alloc_seq)),"
                               "  count(DISTINCT (SELECT count(*) FROM step AS t WHERE t.begin_seq < k.alloc_seq))"
                               " FROM leak AS k, last GROUP BY k.site ORDER BY k.site");
    char *fast = load_rows(db, "SELECT site, leak_count, leak_bytes, oldest_age_ns, outlier_count,"
                               " coalesce(oldest_age_steps, 0), generation_count FROM leak_by_site"
                               " WHERE EXISTS (SELECT 1 FROM step) ORDER BY site");
    int64_t count = load_int(db, "SELECT coalesce(sum(outlier_count), 0) FROM leak_by_site");

    if (load_int(db, "SELECT count(*) FROM step") > 0)
        ck_assert_str_eq(fast, slow);
    free(slow);
    free(fast);
    return count;
}

START_TEST(growth_equals_slow_sums)
{
    int64_t outlier_count = 0;

    for (unsigned seed = 0; seed < RUNS; seed++) {
        sqlite3 *db = random_run(seed);

        compare_growth(db);
        compare_lines(db);
        compare_lifetimes(db);
        outlier_count += compare_evidence(db);
        sqlite3_close(db);
    }
    ck_assert_int_gt(outlier_count, 0);
}
END_TEST

/* ---- Planted ------------------------------------------------------------------------------------------------------- */

/* Weights before the first step, optimiser state in the first, two activations a step, and, of `leaks`, one block a step.
 * The last step stops halfway: its activations are still there. */
static sqlite3 *training(int steps, bool leaks)
{
    begin_text();
    for (int i = 0; i < 4; i++)
        allocate(i, 3, 1000);
    for (int step = 0; step < steps; step++) {
        event("step number=%d thread=1", step);
        if (step == 0)
            for (int i = 4; i < 8; i++)
                allocate(i, 4, 500);
        allocate(8, 1, 300);
        allocate(9, 2, 400);
        if (leaks)
            allocate(10 + step, 5, 64);
        if (step == steps - 1)
            break;
        release(9);
        release(8);
    }
    return end_text();
}

START_TEST(what_is_held_is_no_leak)
{
    sqlite3 *db = training(10, false);

    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak"), 0);
    sqlite3_close(db);
}
END_TEST

START_TEST(fewer_than_three_steps_call_nothing_growing)
{
    for (int steps = 1; steps <= 2; steps++) {
        sqlite3 *db = training(steps, true);

        ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak"), 0);
        sqlite3_close(db);
    }
    /* Before the first step is no step. */
    begin_text();
    allocate(0, 3, 100);
    for (int step = 0; step < 2; step++) {
        event("step number=%d thread=1", step);
        allocate(1 + step, 3, 100);
    }
    sqlite3 *db = end_text();
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak"), 0);
    sqlite3_close(db);
}
END_TEST

/* Without steps nothing grows: what is live at the end of one pass is not judged, however evenly it was born. */
START_TEST(without_steps_nothing_is_called_growing)
{
    uint64_t count = 0;

    draft_begin();
    draft_say(
        "process 1\ndevice 1 process=1 ordinal=0\nheap 1 process=1 device=1 level=pool basis=requested name=pool\n"
        "stack 1: /b.py:1:f1\n");
    for (int i = 0; i < 200; i++, count += 2) { /* 20 of 100 bytes are kept, one in 20 entries */
        draft_say("@- alloc heap=1 address=0x%x requested=100 stack=1\n", 0x10000 + i * 512);
        draft_say(i % 10 == 0 ? "@- mark name=kept\n" : "@- free heap=1 address=0x%x\n", 0x10000 + i * 512);
    }
    sqlite3 *db = draft_load_as_file(count);
    char *rows =
        load_rows(db, "SELECT site, verdict, reason, allocation_count, size_bytes, evidence FROM suspect_by_site");

    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak"), 0);
    ck_assert_str_eq(rows,
                     "b.py:1 f1|not judged|no steps|20|2000|20 blocks born in 20 of 20 parts of the trace are live at"
                     " its end; 180 others were freed\n");
    free(rows);
    sqlite3_close(db);
}
END_TEST

START_TEST(a_leak_has_its_evidence)
{
    sqlite3 *db = training(12, true);
    char *row =
        load_rows(db, "SELECT site, verdict, leak_count, growth_bytes_per_step, growth_count_per_step,"
                      " growth_fit_ratio, oldest_age_steps, freed_count, evidence, is_partial FROM leak_by_site");

    ck_assert_str_eq(row,
                     "b.py:5 f5|growing|12|64.0|1.0|1.0|11|0|12 blocks born in 12 of 12 steps were never freed; what is"
                     " live of the site still rises over the last two fifths of them, by 64 bytes a step; over all of"
                     " them the line of its growth has a fit of 1.00; no block of the site was ever freed|0\n");
    free(row);
    sqlite3_close(db);
}
END_TEST

/* Handles of one size in each step: mapped for the pool, for the program, kept unmapped, and of another size; and one that
 * the pool kept and maps again. Stack 1 is where the pool grows, stack 3 where its block is kept. */
START_TEST(handles_under_mappings_are_judged_there)
{
    begin_text();
    draft_say("heap 2 process=1 device=1 level=driver basis=block name=driver\n");
    draft_say("heap 3 process=1 device=1 level=physical basis=block name=handles\n");
    event("alloc heap=3 address=0x7000 block=1000 thread=1 stack=1");
    event("map heap=2 address=0x900000 block=1000 thread=1 stack=1");
    event("alloc heap=1 address=0x900000 block=100 thread=1 stack=2");
    event("free heap=1 address=0x900000 thread=1");
    for (int step = 0; step < 6; step++) {
        event("step number=%d thread=1", step);
        event("alloc heap=3 address=0x%x block=1000 thread=1 stack=1", 0x1000 + step);
        event("map heap=2 address=0x%x block=1000 thread=1 stack=1", 0x100000 + step * 1000);
        event("alloc heap=1 address=0x%x block=1000 thread=1 stack=3", 0x100000 + step * 1000);
        event("alloc heap=3 address=0x%x block=1000 thread=1 stack=4", 0x2000 + step);
        event("map heap=2 address=0x%x block=1000 thread=1 stack=4", 0x200000 + step * 1000);
        event("alloc heap=3 address=0x%x block=300 thread=1 stack=5", 0x3000 + step);
    }
    event("unmap heap=2 address=0x900000 block=1000 thread=1 stack=1");
    event("map heap=2 address=0x910000 block=1000 thread=1 stack=1");
    event("alloc heap=1 address=0x910000 block=100 thread=1 stack=2");
    sqlite3 *db = end_text();
    char *leaks = load_rows(db, "SELECT level, site, leak_count, leak_bytes FROM leak_by_site ORDER BY level, site");
    char *rows = load_rows(db, "SELECT level, site, count(*), sum(size_bytes) FROM leak GROUP BY 1, 2 ORDER BY 1, 2");

    ck_assert_str_eq(leaks, "driver|b.py:4 f4|6|6000\n"
                            "physical|b.py:5 f5|6|1800\n"
                            "pool|b.py:3 f3|6|6000\n");
    ck_assert_str_eq(rows, leaks);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM allocation AS a JOIN heap AS h USING (heap_id)"
                                  " WHERE h.level = 7 AND a.is_segment"),
                     13);
    free(leaks);
    free(rows);
    sqlite3_close(db);
}
END_TEST

/* A handle a step that is mapped in two parts, and one that is mapped nowhere. */
START_TEST(a_handle_that_is_mapped_in_parts_is_judged_there)
{
    begin_text();
    draft_say("heap 2 process=1 device=1 level=driver basis=block name=driver\n");
    draft_say("heap 3 process=1 device=1 level=physical basis=block name=handles\n");
    for (int step = 0; step < 6; step++) {
        event("step number=%d thread=1", step);
        event("alloc heap=3 address=0x%x block=300 thread=1 stack=5", 0x3000 + step);
        event("alloc heap=3 address=0x%x block=2000 thread=1 stack=1", 0x1000 + step);
        event("map heap=2 address=0x%x block=1000 thread=1 stack=4", 0x100000 + step * 2000);
        event("map heap=2 address=0x%x block=1000 thread=1 stack=4", 0x100000 + step * 2000 + 1000);
    }
    sqlite3 *db = end_text();
    char *rows = load_rows(db, "SELECT level, site, leak_count, leak_bytes FROM leak_by_site ORDER BY level, site");

    ck_assert_str_eq(rows, "driver|b.py:4 f4|12|12000\n"
                           "physical|b.py:5 f5|6|1800\n");
    ck_assert_int_eq(load_int(db, "SELECT sum(size_bytes) FROM outstanding WHERE level = 'physical'"), 1800);
    free(rows);
    sqlite3_close(db);
}
END_TEST

static void check_rows(sqlite3 *db, const char *sql, const char *expected)
{
    char *rows = load_rows(db, sql);

    ck_assert_str_eq(rows, expected);
    free(rows);
}

/* What was there before the first step is held, not leaked, though one line made it: what grows is told, not what is there. */
START_TEST(blocks_of_before_the_first_step_are_no_leak)
{
    begin_text();
    allocate(30, 5, 640);
    for (int step = 0; step < 6; step++) {
        event("step number=%d thread=1", step);
        allocate(step, 5, 64);
    }
    sqlite3 *db = end_text();
    check_rows(db, "SELECT leak_count, leak_bytes, late_bytes_per_step, growth_bytes_per_step FROM leak_by_site",
               "6|384|64.0|64.0\n");
    sqlite3_close(db);
}
END_TEST

/* In the first step a line makes three blocks of weights, two of them like the one that it then leaks in each step. */
START_TEST(of_the_first_step_no_more_is_leaked_than_of_later_ones)
{
    begin_text();
    for (int step = 0; step < 9; step++) {
        event("step number=%d thread=1", step);
        allocate(step, 5, 64);
        if (step == 0) {
            allocate(30, 5, 64);
            allocate(31, 5, 64);
            allocate(32, 5, 1000);
        }
    }
    sqlite3 *db = end_text();
    check_rows(db, "SELECT leak_count, leak_bytes FROM leak_by_site", "9|576\n");
    check_rows(db, "SELECT count(*), sum(size_bytes) FROM leak", "9|576\n");
    sqlite3_close(db);
}
END_TEST

/* Five newest are kept: no longer than they fill is it growth. */
START_TEST(what_keeps_the_newest_is_bounded)
{
    begin_text();
    for (int step = 0; step < 20; step++) {
        event("step number=%d thread=1", step);
        if (step >= 5)
            release(step - 5);
        allocate(step, 5, 100);
    }
    sqlite3 *db = end_text();
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak_by_site"), 0);
    check_rows(db, "SELECT site, verdict, reason, allocation_count, size_bytes, evidence FROM suspect_by_site",
               "b.py:5 f5|bounded|only the newest are kept|5|500|5 blocks born in 5 of 20 steps are live at the end; 15"
               " others were freed, 5 steps old at most\n");
    sqlite3_close(db);
}
END_TEST

/* One block of a leak is freed in the end. */
START_TEST(a_leak_of_which_a_block_is_freed_is_one)
{
    begin_text();
    for (int step = 0; step < 20; step++) {
        event("step number=%d thread=1", step);
        if (step == 19)
            release(0);
        allocate(step, 5, 100);
    }
    sqlite3 *db = end_text();
    check_rows(db, "SELECT verdict, leak_count, freed_count, freed_max_steps FROM leak_by_site", "growing|19|1|19\n");
    sqlite3_close(db);
}
END_TEST

/* f6 makes 30 blocks before the first of 20 steps; in each f5 makes one, and of those of f6 one ends in `ended` of 4 steps. A queue
 * of f3, of blocks like these, holds four and in the end three. The last two fifths are eight steps. */
static sqlite3 *renewal(int old_bytes, int ended)
{
    begin_text();
    for (int slot = 100; slot < 130; slot++)
        allocate(slot, 6, old_bytes);
    for (int step = 0; step < 20; step++) {
        event("step number=%d thread=1", step);
        allocate(step, 5, 100);
        if (step % 4 < ended)
            release(100 + step);
        if (step >= 4)
            release(200 + step - 4);
        if (step != 18)
            allocate(200 + step, 3, 100);
        else
            allocate(200 + step, 3, 101);
    }
    return end_text();
}

START_TEST(what_replaces_others_is_no_leak)
{
    static const struct {
        int old_bytes, ended;
        bool is_leak;
    } cases[] = {{100, 4, false}, {100, 3, false}, {100, 2, true}, {100, 0, true}, {104, 4, true}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sqlite3 *db = renewal(cases[i].old_bytes, cases[i].ended);

        check_rows(db, "SELECT site, verdict, leak_count FROM leak_by_site",
                   cases[i].is_leak ? "b.py:5 f5|growing|20\n" : "");
        check_rows(db, "SELECT site, verdict, reason, allocation_count FROM suspect_by_site WHERE site = 'b.py:5 f5'",
                   cases[i].is_leak ? "" : "b.py:5 f5|bounded|it replaces others|20\n");
        sqlite3_close(db);
    }
}
END_TEST

/* x = cat([x, new]): one block lives, each step a larger one. */
START_TEST(a_block_that_is_replaced_by_a_larger_one_grows)
{
    begin_text();
    for (int step = 0; step < 20; step++) {
        event("step number=%d thread=1", step);
        allocate(step % 2, 5, 100 * (step + 1));
        if (step > 0)
            release((step + 1) % 2);
    }
    sqlite3 *db = end_text();
    check_rows(db, "SELECT verdict, leak_count, leak_bytes, late_bytes_per_step FROM leak_by_site",
               "growing|1|2000|100.0\n");
    sqlite3_close(db);
}
END_TEST

/* A cache that gets no more behind the middle, and one that gets something ever less often. */
START_TEST(what_fills_is_bounded)
{
    begin_text();
    for (int step = 0; step < 40; step++) {
        event("step number=%d thread=1", step);
        if (step < 20)
            allocate(step, 5, 100);
    }
    sqlite3 *db = end_text();
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak_by_site"), 0);
    check_rows(db, "SELECT verdict, reason FROM suspect_by_site", "bounded|it stopped growing\n");
    sqlite3_close(db);

    begin_text();
    for (int step = 1, next = 1; step < 60; step++) {
        event("step number=%d thread=1", step);
        if (step == next) {
            allocate(step, 5, 100);
            next += 1 + next / 3;
        }
    }
    db = end_text();
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak_by_site"), 0);
    check_rows(db, "SELECT verdict, reason FROM suspect_by_site", "not judged|not steady\n");
    sqlite3_close(db);
}
END_TEST

/* Four in each of the first five steps, and one in each of three late ones, while all but one of the old ones go. */
START_TEST(a_site_that_shrinks_is_no_leak)
{
    begin_text();
    for (int step = 0; step < 20; step++) {
        event("step number=%d thread=1", step);
        for (int i = 0; i < 4 && step < 5; i++)
            allocate(4 * step + i, 5, 100);
        if (step == 12)
            for (int i = 1; i < 20; i++)
                release(i);
        if (step >= 15 && step < 18)
            allocate(20 + step, 5, 100);
    }
    sqlite3 *db = end_text();
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak_by_site"), 0);
    sqlite3_close(db);
}
END_TEST

/* A program that ends as frameworks do, with a reset of its device: what it held then is judged as if live at the end, and
 * its rows say reset. With work after it the reset was none of an end. */
static sqlite3 *reset_run(bool goes_on)
{
    begin_text();
    draft_say("heap 2 process=1 device=1 level=driver basis=block name=driver\n");
    allocate(60, 3, 1000);
    event("alloc heap=2 address=0x900000 block=500 thread=1 stack=4");
    event("alloc heap=2 address=0x910000 block=600 thread=1 stack=4");
    event("free heap=2 address=0x910000 thread=1");
    for (int step = 0; step < 6; step++) {
        event("step number=%d thread=1", step);
        allocate(step, 5, 64);
    }
    event("reset device=1 thread=1");
    if (goes_on)
        allocate(61, 4, 10);
    event("process_end process=1 thread=1 detail=exit error=0");
    return end_text();
}

START_TEST(what_the_last_reset_ended_is_judged)
{
    sqlite3 *db = reset_run(false);
    check_rows(db, "SELECT level, site, verdict, leak_count, leak_bytes FROM leak_by_site",
               "pool|b.py:5 f5|growing|6|384\n");
    check_rows(db, "SELECT count(*), sum(size_bytes) FROM leak", "6|384\n");
    check_rows(db, "SELECT level, outstanding_count, outstanding_bytes FROM heap_total ORDER BY level DESC",
               "pool|7|1384\ndriver|1|500\n");
    check_rows(db, "SELECT level, count(*) FROM outstanding GROUP BY level ORDER BY level DESC", "pool|7\ndriver|1\n");
    check_rows(db, "SELECT site, reason FROM suspect_by_site", "b.py:4 f4|held to the end\n");
    check_rows(db, "SELECT count(*), count(free_seq) FROM allocation WHERE end_kind = 3", "8|8\n");
    sqlite3_close(db);

    db = reset_run(true);
    check_rows(db, "SELECT count(*) FROM leak_by_site", "0\n");
    check_rows(db, "SELECT level, outstanding_count, outstanding_bytes FROM heap_total ORDER BY level DESC",
               "pool|1|10\ndriver|0|0\n");
    check_rows(db, "SELECT size_bytes FROM outstanding", "10\n");
    sqlite3_close(db);
}
END_TEST

/* A server for an hour: each minute of load requests take two pages and give them back a minute later; of a leaking one a page
 * stays in every third minute. Load falls to nothing twice. Floors by hand: with no load nothing but the leak is live. */
static sqlite3 *server(bool leaks, bool load_rises, int64_t minutes)
{
    static const int64_t minute_ns = INT64_C(60000000000);
    int leaked = 0;

    begin_text();
    for (int64_t minute = 0; minute < minutes; minute++) {
        int requests = load_rises ? 1 + (int)minute : minute % 20 < 12 ? 8 : 0;

        now_ns = minute * minute_ns;
        for (int i = 0; i < requests; i++)
            allocate(i, 3, 4096);
        if (leaks && minute % 3 == 0)
            allocate(100 + leaked++, 3, 4096);
        now_ns = minute * minute_ns + minute_ns / 2;
        for (int i = 0; i < requests; i++)
            release(i);
    }
    return end_text();
}

START_TEST(a_server_whose_floor_rises_leaks)
{
    sqlite3 *db = server(true, false, 60);
    /* The last event is in minute 57, so a window has 5.8 minutes. The last begins with 18 pages of the leak, of minutes 0 to
     * 51; that before the last four with 10: 8 pages in 23.2 minutes. Those of the first twentieth of the events and of the
     * last do not count. */
    check_rows(db,
               "SELECT site, verdict, round(bytes_per_hour / 4096, 2), leak_count BETWEEN 16 AND 20 FROM leak_by_site",
               "b.py:3 f3|rising|20.69|1\n");
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM suspect_by_site"), 0);
    sqlite3_close(db);

    db = server(true, false, 25); /* too short to be judged */
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak_by_site"), 0);
    check_rows(db, "SELECT verdict, reason FROM suspect_by_site", "not judged|no steps\n");
    sqlite3_close(db);
}
END_TEST

START_TEST(a_server_under_load_does_not_leak)
{
    sqlite3 *db = server(false, false, 60);

    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak_by_site"), 0);
    sqlite3_close(db);
    db = server(false, true, 60); /* ever more, and never less */
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM leak_by_site"), 0);
    sqlite3_close(db);
}
END_TEST

/* What was freed while nobody saw it is not known: no line is fitted, and nothing is said of what was not freed. */
START_TEST(evidence_claims_no_line_where_events_were_lost)
{
    begin_text();
    for (int step = 0; step < 12; step++) {
        event("step number=%d thread=1", step);
        if (step == 2)
            event("loss thread=1 number=5 detail=ring_full until=%" PRId64, now_ns + 1);
        allocate(step, 5, 64);
    }
    sqlite3 *db = draft_load_lossy((uint64_t)event_count, 5);
    check_rows(
        db,
        "SELECT leak_count, growth_bytes_per_step, growth_count_per_step, growth_fit_ratio, evidence, is_partial"
        " FROM leak_by_site",
        "10|-|-|-|10 blocks born in 10 of 12 steps were never freed; what is live of the site still rises over the"
        " last two fifths of them, by 64 bytes a step; no free of a block of the site is in the trace; events were"
        " lost, so only what is beyond doubt counts|1\n");
    sqlite3_close(db);
}
END_TEST

/* A site that mostly frees its blocks soon: those that stay stand out. */
START_TEST(what_outlives_its_kind_stands_out)
{
    begin_text();
    for (int step = 0; step < 20; step++) {
        event("step number=%d thread=1", step);
        for (int i = 0; i < 10; i++) {
            allocate(0, 3, 100);
            release(0);
        }
        if (step % 4 == 0)
            allocate(1 + step, 3, 100);
    }
    for (int i = 0; i < 100; i++) { /* a while */
        allocate(40, 4, 8);
        release(40);
    }
    sqlite3 *db = end_text();
    char *row = load_rows(db, "SELECT leak_count, freed_count, outlier_count, freed_max_steps FROM leak_by_site");
    ck_assert_str_eq(row, "5|200|5|0\n");
    free(row);
    sqlite3_close(db);
}
END_TEST

/* All of the first 1,024 steps, every second of the next 1,024, and so on, and the last. */
START_TEST(long_runs_tell_fewer_steps)
{
    begin_text();
    for (int step = 1; step <= LONG_STEPS; step++) {
        event("step number=%d thread=1", step);
        allocate(step, 3, 10);
    }
    sqlite3 *db = end_text();
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM step_growth"), 1023 + 512 + (2500 - 2048) / 4 + 1);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM step_growth WHERE live_bytes <> 10 * step"), 0);
    ck_assert_int_eq(load_int(db, "SELECT max(step) FROM step_growth"), LONG_STEPS);
    sqlite3_close(db);
}
END_TEST

TEST_SUITE(test_growth_oracle)
{
    TCase *test = tcase_create("oracle");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, growth_equals_slow_sums);
    tcase_add_test(test, what_is_held_is_no_leak);
    tcase_add_test(test, fewer_than_three_steps_call_nothing_growing);
    tcase_add_test(test, without_steps_nothing_is_called_growing);
    tcase_add_test(test, a_leak_has_its_evidence);
    tcase_add_test(test, handles_under_mappings_are_judged_there);
    tcase_add_test(test, a_handle_that_is_mapped_in_parts_is_judged_there);
    tcase_add_test(test, blocks_of_before_the_first_step_are_no_leak);
    tcase_add_test(test, of_the_first_step_no_more_is_leaked_than_of_later_ones);
    tcase_add_test(test, what_keeps_the_newest_is_bounded);
    tcase_add_test(test, a_leak_of_which_a_block_is_freed_is_one);
    tcase_add_test(test, what_replaces_others_is_no_leak);
    tcase_add_test(test, a_block_that_is_replaced_by_a_larger_one_grows);
    tcase_add_test(test, what_fills_is_bounded);
    tcase_add_test(test, a_site_that_shrinks_is_no_leak);
    tcase_add_test(test, what_the_last_reset_ended_is_judged);
    tcase_add_test(test, a_server_whose_floor_rises_leaks);
    tcase_add_test(test, a_server_under_load_does_not_leak);
    tcase_add_test(test, evidence_claims_no_line_where_events_were_lost);
    tcase_add_test(test, what_outlives_its_kind_stands_out);
    tcase_add_test(test, long_runs_tell_fewer_steps);
    return draft_suite("growth", test);
}
