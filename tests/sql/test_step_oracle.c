/* SPDX-License-Identifier: Apache-2.0
 *
 * Views step_total and forecast. The first against a slow count over the rows of table allocation in random programs; the
 * second on programs whose growth is planted, and on noise that has none; the line itself against the normal equations.
 */
#include <check.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "store/verdicts/trend.h"
#include "support/load_text.h"
#include "support/suites.h"

#define PATH     "step_oracle.db"
#define MEBIBYTE (INT64_C(1) << 20)

static FILE *out;
static char *text;
static size_t text_bytes;
static long now_ns;
static uint64_t event_count, random_state;

static uint64_t pick(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return (random_state >> 11) % below;
}

/* Roughly normal, with mean 0 and deviation 1. */
static double noise(void)
{
    double sum = 0;

    for (int i = 0; i < 12; i++)
        sum += (double)pick(1000000) / 1000000;
    return sum - 6;
}

static void begin_text(int64_t capacity_bytes)
{
    free(text);
    text = NULL;
    now_ns = 0;
    event_count = 0;
    out = open_memstream(&text, &text_bytes);
    ck_assert_ptr_nonnull(out);
    fprintf(out,
            "process 1 pid=100 host=h1 rank=0 begin=0\ndevice 1 process=1 ordinal=0 physical=5 capacity=%lld\n"
            "heap 1 process=1 device=1 level=driver basis=block\nheap 2 process=1 device=1 level=pool basis=block\n"
            "thread 1 process=1 tid=100\n",
            (long long)capacity_bytes);
}

static void say(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    fprintf(out, "@%ld ", now_ns += 10);
    vfprintf(out, format, arguments);
    fprintf(out, " thread=1\n");
    va_end(arguments);
    event_count++;
}

static sqlite3 *load(uint64_t dropped_count)
{
    nm_input_row input;

    say("process_end process=1 detail=exit error=0");
    fclose(out);
    input = load_whole_input(event_count);
    input.events_dropped = dropped_count;
    input.events_seen += dropped_count;
    input.is_complete = dropped_count == 0;
    unlink(PATH);
    load_text(text, &input, PATH);
    return load_open(PATH);
}

/* ---- step_usage -------------------------------------------------------------------------------------------------- */

#define BLOCKS_MAX   64
#define SEGMENTS_MAX 8

/* Segments of 64 KiB at fixed places, blocks of up to 4 KiB at fixed places in them; steps now and then. */
static void write_random_program(uint64_t seed)
{
    bool has_segment[SEGMENTS_MAX] = {false};
    int64_t block_bytes[BLOCKS_MAX] = {0};

    random_state = seed * 2654435761 + 17;
    begin_text(1 << 30);
    for (int i = 0, number = 0; i < 400; i++) {
        int segment = (int)pick(SEGMENTS_MAX);
        int block = segment * 8 + (int)pick(8);
        bool is_empty = true;

        for (int k = segment * 8; k < segment * 8 + 8; k++)
            is_empty &= block_bytes[k] == 0;
        if (pick(20) == 0) {
            say("step number=%d", ++number);
        } else if (!has_segment[segment]) {
            say("alloc heap=1 address=0x%x block=65536", (segment + 1) * 0x100000);
            has_segment[segment] = true;
            say("alloc heap=2 address=0x%x block=512", (segment + 1) * 0x100000 + (block % 8) * 4096);
            block_bytes[block] = 512;
        } else if (is_empty && pick(2) == 0) {
            say("free heap=1 address=0x%x", (segment + 1) * 0x100000);
            has_segment[segment] = false;
        } else if (block_bytes[block] == 0) {
            block_bytes[block] = 512 * (1 + (int64_t)pick(8));
            say("alloc heap=2 address=0x%x block=%lld", (segment + 1) * 0x100000 + (block % 8) * 4096,
                (long long)block_bytes[block]);
        } else {
            say("free heap=2 address=0x%x", (segment + 1) * 0x100000 + (block % 8) * 4096);
            block_bytes[block] = 0;
        }
    }
}

/* What was live and reserved after each event: the table is asked for each of them. A segment is the pool's from its first
 * block on. */
static const char states_sql[] =
    "CREATE TEMP TABLE at AS WITH RECURSIVE n (seq) AS (SELECT 0 UNION ALL SELECT seq + 1 FROM n"
    " WHERE seq < (SELECT last_seq FROM input)) SELECT seq FROM n;"
    "CREATE TEMP TABLE live AS SELECT at.seq, h.heap_id, (SELECT coalesce(sum(a.size_bytes), 0) FROM allocation AS a"
    " WHERE a.heap_id = h.heap_id AND a.alloc_seq <= at.seq AND coalesce(a.free_seq > at.seq, 1)) AS bytes"
    " FROM at CROSS JOIN heap AS h;"
    "CREATE TEMP TABLE segment AS SELECT a.size_bytes, a.free_seq, (SELECT min(b.alloc_seq) FROM allocation AS b"
    " WHERE b.segment_id = a.allocation_id) AS seq FROM allocation AS a WHERE a.heap_id = 1 AND a.is_segment = 1;"
    "CREATE TEMP TABLE reserved AS SELECT at.seq, (SELECT coalesce(sum(g.size_bytes), 0) FROM segment AS g"
    " WHERE g.seq <= at.seq AND coalesce(g.free_seq > at.seq, 1)) AS bytes FROM at;"
    "CREATE TEMP TABLE change AS SELECT heap_id, alloc_seq AS seq, 1 AS is_new, is_miss FROM allocation"
    " UNION ALL SELECT heap_id, free_seq, 0, 0 FROM allocation WHERE free_seq IS NOT NULL;";

static const char slow_sql[] =
    "SELECT s.number, c.heap_id, (SELECT max(l.bytes) FROM live AS l WHERE l.heap_id = c.heap_id"
    "  AND l.seq >= s.begin_seq - 1 AND coalesce(l.seq < s.end_seq, 1)),"
    " CASE c.heap_id WHEN 2 THEN (SELECT max(r.bytes) FROM reserved AS r"
    "  WHERE r.seq >= s.begin_seq - 1 AND coalesce(r.seq < s.end_seq, 1)) END,"
    " (SELECT l.bytes FROM live AS l WHERE l.heap_id = c.heap_id AND coalesce(l.seq < s.end_seq, 1)"
    "  ORDER BY l.seq DESC LIMIT 1),"
    " CASE c.heap_id WHEN 2 THEN sum(c.is_miss) END,"
    " (SELECT count(*) FROM change AS d WHERE d.heap_id = 1 AND d.seq >= s.begin_seq"
    "  AND coalesce(d.seq < s.end_seq, 1)), sum(c.is_new), s.end_ns - s.begin_ns"
    " FROM step AS s JOIN change AS c ON c.seq >= s.begin_seq AND coalesce(c.seq < s.end_seq, 1)"
    " GROUP BY s.step_id, c.heap_id ORDER BY 1, 2";

static char *slow_rows(sqlite3 *db)
{
    ck_assert_msg(sqlite3_exec(db, states_sql, NULL, NULL, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    return load_rows(db, slow_sql);
}

START_TEST(what_a_step_used_is_what_a_slow_count_says)
{
    static const char sql[] = "SELECT step, CASE level WHEN 'driver' THEN 1 ELSE 2 END, peak_bytes,"
                              " peak_reserved_bytes, live_bytes, miss_count, driver_call_count,"
                              " allocation_count, duration_ns FROM step_total WHERE step IS NOT NULL ORDER BY 1, 2";

    for (uint64_t seed = 1; seed <= 25; seed++) {
        write_random_program(seed);
        sqlite3 *db = load(0);
        char *fast = load_rows(db, sql);
        char *slow = slow_rows(db);

        ck_assert_msg(strcmp(fast, slow) == 0, "seed %d:\n%s\nnot\n%s", (int)seed, fast, slow);
        ck_assert_int_eq(load_int(db, "SELECT sum(is_partial) FROM step_total"), 0);
        ck_assert_int_gt(load_int(db, "SELECT count(step) FROM step_total"), 10);
        free(fast);
        free(slow);
        sqlite3_close(db);
    }
    write_random_program(1);
    sqlite3 *db = load(3);
    ck_assert_int_eq(load_int(db, "SELECT min(is_partial) FROM step_total"), 1);
    sqlite3_close(db);
}
END_TEST

#define PAUSES_MAX 256

typedef struct span {
    int64_t begin, end; /* events from 0; end is the first that is not in it */
} span;

/* Steps with an allocation each, and pauses in some, over several and between them; of half of the pauses memory is told. */
static size_t write_paused_program(uint64_t seed, span *pauses, span *steps, int step_count)
{
    size_t pause_count = 0;
    bool is_paused = false, is_told = false;

    random_state = seed * 2654435761 + 17;
    begin_text(1 << 30);
    for (int number = 0; number < step_count; number++) {
        if (number > 0)
            steps[number - 1].end = (int64_t)event_count;
        steps[number].begin = (int64_t)event_count;
        say("step number=%d", number + 1);
        for (int turn = 0; turn < 4; turn++) {
            if (turn == 2)
                say("alloc heap=2 address=0x%x block=512", 0x100000 + number * 4096);
            if (pick(6) != 0 || pause_count == PAUSES_MAX - 1)
                continue;
            if (!is_paused)
                is_told = pick(2) == 0;
            if (!is_paused && !is_told)
                pauses[pause_count] = (span){.begin = (int64_t)event_count, .end = INT64_MAX};
            else if (!is_told)
                pauses[pause_count++].end = (int64_t)event_count;
            say("pause number=1 detail=%d", is_paused ? 2 : is_told ? 4 : 1);
            is_paused = !is_paused;
        }
    }
    steps[step_count - 1].end = (int64_t)event_count; /* the end of the process */
    return pause_count + (is_paused && !is_told);
}

START_TEST(a_step_with_a_pause_in_it_is_partial)
{
    span pauses[PAUSES_MAX], steps[40];

    for (uint64_t seed = 1; seed <= 40; seed++) {
        size_t pause_count = write_paused_program(seed, pauses, steps, 40);
        sqlite3 *db = load(0);

        ck_assert_int_eq(load_int(db, "SELECT count(step) FROM step_total"), 40);
        for (int number = 0; number < 40; number++) {
            char sql[80];
            bool is_partial = false;

            for (size_t i = 0; i < pause_count; i++)
                is_partial |= pauses[i].begin < steps[number].end && pauses[i].end > steps[number].begin;
            snprintf(sql, sizeof sql, "SELECT is_partial FROM step_total WHERE step = %d", number + 1);
            ck_assert_msg(load_int(db, sql) == is_partial, "seed %d, step %d", (int)seed, number + 1);
        }
        sqlite3_close(db);
    }
}
END_TEST

/* ---- The line ---------------------------------------------------------------------------------------------------- */

/* The textbook's sums, in long double. */
static long double slow_slope(const double *values, size_t count)
{
    long double x = 0, y = 0, xx = 0, xy = 0;

    for (size_t i = 0; i < count; i++) {
        x += (long double)i;
        y += (long double)values[i];
        xx += (long double)i * (long double)i;
        xy += (long double)i * (long double)values[i];
    }
    return ((long double)count * xy - x * y) / ((long double)count * xx - x * x);
}

START_TEST(the_line_is_that_of_least_squares)
{
    double values[300];

    random_state = 99;
    for (size_t count = NM_TREND_STEPS_MIN; count <= 300; count++) {
        for (size_t i = 0; i < count; i++)
            values[i] = (double)pick(UINT64_C(1) << 36) + (double)(i * pick(1000000));
        nm_trend_fit fit = nm_trend_fit_values(values, count);
        size_t warm_up = (count + 3) / 4;
        long double slope = slow_slope(values + warm_up, count - warm_up);
        long double mean = 0;

        for (size_t i = warm_up; i < count; i++)
            mean += (long double)values[i] / (long double)(count - warm_up);
        ck_assert_uint_eq(fit.first, warm_up);
        ck_assert_uint_eq(fit.count, count - warm_up);
        ck_assert_msg(fabsl(slope - (long double)fit.slope) <= 1e-9L * (fabsl(slope) + 1), "%zu values", count);
        ck_assert(fabsl(mean + slope * (long double)(fit.count - 1) / 2 - (long double)fit.last_line) <= 1.0L);
    }
}
END_TEST

static bool is_trend(const double *values, size_t count)
{
    nm_trend_fit fit = nm_trend_fit_values(values, count);

    return fit.slope > 0 && fit.t >= fit.t_needed && fit.late_slope >= 0.5 * fit.slope;
}

typedef double maker(size_t at, size_t count, double *state);

static double level_noise(size_t at, size_t count, double *state)
{
    (void)at;
    (void)count;
    (void)state;
    return 1000 + 50 * noise();
}

static double walk(size_t at, size_t count, double *state)
{
    (void)count;
    *state = at == 0 ? 100000 : *state + 50 * noise();
    return *state;
}

/* Warm-up that lasts for two thirds of the steps. */
static double plateau(size_t at, size_t count, double *state)
{
    (void)state;
    return 1000 * (1 - exp(-6.0 * (double)at / (double)count)) + 3 * noise();
}

static double sink(size_t at, size_t count, double *state)
{
    (void)count;
    (void)state;
    return 1e6 - 100 * (double)at + 50 * noise();
}

static double growth(size_t at, size_t count, double *state)
{
    (void)count;
    (void)state;
    return 1e6 + 10 * (double)at + 20 * noise();
}

/* A pool that takes a segment every fifth step. */
static double stairs(size_t at, size_t count, double *state)
{
    (void)count;
    (void)state;
    return 20.0 * (double)(at / 5);
}

/* Of 1000 series, how many are taken for a trend. */
static int trends_of(maker *make, size_t count)
{
    double values[400];
    int found = 0;

    random_state = 4711 + count;
    for (int round = 0; round < 1000; round++) {
        double state = 0;

        for (size_t i = 0; i < count; i++)
            values[i] = make(i, count, &state);
        found += is_trend(values, count);
    }
    return found;
}

START_TEST(noise_is_no_trend_and_growth_is_one)
{
    static const size_t counts[] = {8, 12, 20, 50, 100, 400};

    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        ck_assert_int_le(trends_of(level_noise, counts[i]), 10);
        ck_assert_int_le(trends_of(walk, counts[i]), 80); /* some do go one way all the time */
        ck_assert_int_eq(trends_of(sink, counts[i]), 0);
    }
    ck_assert_int_le(trends_of(plateau, 100), 5);
    ck_assert_int_le(trends_of(plateau, 400), 5);
    ck_assert_int_ge(trends_of(growth, 50), 950);
    ck_assert_int_ge(trends_of(growth, 100), 1000);
    ck_assert_int_eq(trends_of(stairs, 100), 1000);
    ck_assert_int_eq(trends_of(stairs, 400), 1000);
}
END_TEST

/* ---- forecast ---------------------------------------------------------------------------------------------------- */

/* `step_count` steps of 1000 ns in each of which the pool holds what `held_of` says at most, from one segment. */
static void write_steps(int step_count, int64_t (*held_of)(int step))
{
    say("alloc heap=1 address=0x100000000 block=%lld", (long long)(512 * MEBIBYTE));
    for (int step = 1; step <= step_count; step++) {
        now_ns = step * 1000L - 10;
        say("step number=%d", 2 * step); /* every second number */
        say("alloc heap=2 address=0x100000000 block=%lld", (long long)held_of(step));
        say("free heap=2 address=0x100000000");
    }
    now_ns = (step_count + 1) * 1000L;
}

static int64_t grows(int step)
{
    return 100 * MEBIBYTE + step * 100000 + (int64_t)pick(2000) - 1000;
}

static int64_t warms_up(int step)
{
    return step < 15 ? step * MEBIBYTE : 15 * MEBIBYTE + (int64_t)pick(1000);
}

static int64_t stays(int step)
{
    (void)step;
    return 7 * MEBIBYTE;
}

#define ALLOCATED " FROM forecast WHERE level = 'pool' AND measure = 'allocated'"

START_TEST(planted_growth_is_found_and_ends_when_the_device_is_full)
{
    random_state = 5;
    begin_text(1024 * MEBIBYTE);
    write_steps(60, grows);
    sqlite3 *db = load(0);
    char *verdict = load_rows(db, "SELECT verdict, is_partial" ALLOCATED);

    ck_assert_str_eq(verdict, "growing|0\n");
    free(verdict);
    /* 1 GiB is reached when 100 MiB + step * 100000 is: the 9690th step from the first. */
    int64_t full = (1024 - 100) * MEBIBYTE / 100000 + 1;
    int64_t left = load_int(db, "SELECT steps_left" ALLOCATED);
    ck_assert_msg(llabs((long long)(left + 60 - full)) <= 20, "%d steps left", (int)left);
    ck_assert_int_eq(load_int(db, "SELECT full_step" ALLOCATED), 2 * (60 + left));
    ck_assert_int_eq(load_int(db, "SELECT full_ns" ALLOCATED), (60 + left) * 1000);
    ck_assert_int_le(llabs((long long)load_int(db, "SELECT bytes_per_step" ALLOCATED) - 100000), 20);
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM forecast WHERE verdict = 'growing'"), 1);
    sqlite3_close(db);
}
END_TEST

/* Other driver memory of the process stays where it is, and takes room. */
START_TEST(what_else_is_on_the_device_takes_room)
{
    random_state = 5;
    begin_text(1024 * MEBIBYTE);
    say("alloc heap=1 address=0x900000000 block=%lld", (long long)(100 * MEBIBYTE));
    write_steps(60, grows);
    sqlite3 *db = load(0);

    ck_assert_int_eq(load_int(db, "SELECT limit_bytes" ALLOCATED), 924 * MEBIBYTE);
    ck_assert_int_eq(load_int(db, "SELECT limit_bytes FROM forecast WHERE measure = 'device'"), 1024 * MEBIBYTE);
    sqlite3_close(db);
}
END_TEST

/* Another process on the same hardware: it holds 300 MiB, and 4 MiB more in each step of the first if `is_growing`. The
 * first takes 2 MiB a step if `is_own_growing`. */
static void write_two(bool is_own_growing, bool is_growing)
{
    begin_text(1024 * MEBIBYTE);
    fprintf(out,
            "process 2 pid=200 host=h1 rank=1 begin=0\ndevice 2 process=2 ordinal=0 physical=5 capacity=%lld\n"
            "heap 3 process=2 device=2 level=driver basis=block\nthread 2 process=2 tid=200\n",
            (long long)(1024 * MEBIBYTE));
    say("alloc heap=3 address=0x100000000 block=%lld", (long long)(300 * MEBIBYTE));
    for (int step = 1; step <= 40; step++) {
        now_ns = step * 1000L - 10;
        say("step number=%d", step);
        if (is_own_growing)
            say("alloc heap=1 address=0x%llx block=%lld", 0x100000000 + step * 4 * MEBIBYTE, (long long)(2 * MEBIBYTE));
        if (is_growing)
            say("alloc heap=3 address=0x%llx block=%lld", 0x200000000 + step * 4 * MEBIBYTE, (long long)(4 * MEBIBYTE));
    }
    now_ns = 41 * 1000L;
}

static void expect_forecast(const char *measure, const char *expected)
{
    char sql[256];

    snprintf(
        sql, sizeof sql,
        "SELECT verdict, limit_bytes / 1048576, steps_left, full_step FROM forecast WHERE pid = 100 AND heap IS NULL"
        " AND measure = '%s'",
        measure);
    sqlite3 *db = load_open(PATH);
    char *rows = load_rows(db, sql);

    ck_assert_msg(strcmp(rows, expected) == 0, "%s: %s, not %s", measure, rows, expected);
    free(rows);
    sqlite3_close(db);
}

/* By hand: 1024 - 300 MiB are left for the first, which holds 80 after 40 steps, so 644 / 2 = 322 more. Both together hold
 * 300 + 80 + 160 and take 6 a step: 484 / 6, rounded up, is 81. The other alone: 564 / 4 = 141. */
START_TEST(other_processes_take_room_on_a_device_and_may_fill_it)
{
    write_two(true, false);
    sqlite3_close(load(0));
    expect_forecast("device", "growing|724|322|362\n");
    expect_forecast("all processes", "growing|1024|322|362\n");
    write_two(true, true);
    sqlite3_close(load(0));
    expect_forecast("device", "growing|564|242|282\n"); /* 1024 - 460, if the other stays */
    expect_forecast("all processes", "growing|1024|81|121\n");
    write_two(false, true);
    say("alloc heap=1 address=0x100000000 block=512"); /* a heap that did nothing has no steps */
    sqlite3_close(load(0));
    expect_forecast("all processes", "growing|1024|141|181\n");
}
END_TEST

/* Device 0 of a process may be another one than device 0 of the next. */
START_TEST(devices_of_unknown_hardware_are_not_taken_for_one)
{
    write_two(true, false);
    fflush(out);
    for (char *at = text; (at = strstr(at, " physical=5")) != NULL;)
        memcpy(at, "           ", 11);
    sqlite3_close(load(0));
    expect_forecast("device", "growing|1024|472|512\n");
    expect_forecast("all processes", "");
}
END_TEST

START_TEST(what_the_device_says_is_in_use_takes_room)
{
    write_two(true, false);
    say("memory_sample device=1 detail=hbm free=%lld total=%lld", (long long)(544 * MEBIBYTE),
        (long long)(1024 * MEBIBYTE)); /* 480 are used, of which 380 are recorded */
    sqlite3_close(load(0));
    expect_forecast("device", "growing|624|272|312\n");
}
END_TEST

START_TEST(a_process_that_has_ended_takes_no_room)
{
    begin_text(1024 * MEBIBYTE);
    fprintf(out, "process 2 pid=200 host=h1 begin=0\ndevice 2 process=2 ordinal=0 physical=5\n"
                 "heap 3 process=2 device=2 level=driver basis=block\nthread 2 process=2 tid=200\n");
    say("alloc heap=3 address=0x100000000 block=%lld", (long long)(300 * MEBIBYTE));
    for (int step = 1; step <= 40; step++) {
        say("step number=%d", step);
        say("alloc heap=1 address=0x%llx block=%lld", 0x100000000 + step * 4 * MEBIBYTE, (long long)(2 * MEBIBYTE));
        if (step == 10)
            say("process_end process=2 detail=signal error=9");
    }
    sqlite3_close(load(0));
    expect_forecast("device", "growing|1024|472|512\n");
}
END_TEST

static void check_none(int step_count, int64_t (*held_of)(int step), uint64_t dropped_count, const char *reason)
{
    begin_text(1024 * MEBIBYTE);
    write_steps(step_count, held_of);
    sqlite3 *db = load(dropped_count);
    char *rows = load_rows(db, "SELECT verdict, steps_left, full_step, full_ns, reason" ALLOCATED);

    ck_assert_msg(strncmp(rows, "none|-|-|-|", 11) == 0 && strstr(rows, reason) != NULL, "%s", rows);
    free(rows);
    sqlite3_close(db);
}

START_TEST(in_doubt_there_is_no_trend)
{
    random_state = 6;
    check_none(60, stays, 0, "does not grow");
    check_none(7, grows, 0, "fewer than 8 steps");
    check_none(60, grows, 1, "events were lost");
    check_none(24, warms_up, 0, "");
    check_none(60, warms_up, 0, "");
}
END_TEST

/* A window of 64 buffers that slides, recorded from the middle on: what each step frees was there before, so that all that is
 * seen are its allocations. Nothing grows. */
START_TEST(a_window_of_before_the_recording_is_no_trend)
{
    for (int is_late = 0; is_late < 2; is_late++) {
        begin_text(1024 * MEBIBYTE);
        if (is_late)
            fprintf(out, "process 1 pid=100 host=h1 rank=0 begin=0 late=1\n");
        for (int step = 0; step < 30; step++) {
            say("step number=%d", step);
            say("alloc heap=1 address=0x%llx block=%lld", 0x200000000 + step * 4 * MEBIBYTE, (long long)(4 * MEBIBYTE));
            say("free address=0x%llx detail=device", 0x100000000 + step * 4 * MEBIBYTE);
        }
        sqlite3 *db = load(0);
        char *rows =
            load_rows(db, "SELECT verdict, steps_left IS NULL, is_partial FROM forecast WHERE measure = 'device'");

        ck_assert_str_eq(rows, is_late ? "none|1|1\n" : "growing|0|0\n");
        free(rows);
        sqlite3_close(db);
    }
}
END_TEST

START_TEST(without_a_capacity_nobody_knows_when_the_device_is_full)
{
    random_state = 7;
    begin_text(0);
    write_steps(60, grows);
    sqlite3 *db = load(0);
    char *rows = load_rows(db, "SELECT verdict, limit_bytes, steps_left, reason" ALLOCATED);

    ck_assert_str_eq(rows, "growing|-|-|how large the device is is not known\n");
    free(rows);
    sqlite3_close(db);

    begin_text(0); /* unless it said so itself: 512 of 700 MiB are recorded, and 12 are used by nobody known */
    write_steps(60, grows);
    say("memory_sample device=1 detail=hbm free=%lld total=%lld", (long long)(176 * MEBIBYTE),
        (long long)(700 * MEBIBYTE));
    db = load(0);
    ck_assert_int_eq(load_int(db, "SELECT limit_bytes" ALLOCATED), 688 * MEBIBYTE);
    ck_assert_int_gt(load_int(db, "SELECT steps_left" ALLOCATED), 0);
    sqlite3_close(db);
}
END_TEST

static void remove_database(void)
{
    unlink(PATH);
    free(text);
}

TEST_SUITE(test_step_oracle)
{
    Suite *suite = suite_create("step_oracle");
    TCase *tests = tcase_create("steps");

    tcase_add_unchecked_fixture(tests, NULL, remove_database);
    tcase_set_timeout(tests, 100);
    tcase_add_test(tests, what_a_step_used_is_what_a_slow_count_says);
    tcase_add_test(tests, a_step_with_a_pause_in_it_is_partial);
    tcase_add_test(tests, the_line_is_that_of_least_squares);
    tcase_add_test(tests, noise_is_no_trend_and_growth_is_one);
    tcase_add_test(tests, planted_growth_is_found_and_ends_when_the_device_is_full);
    tcase_add_test(tests, what_else_is_on_the_device_takes_room);
    tcase_add_test(tests, other_processes_take_room_on_a_device_and_may_fill_it);
    tcase_add_test(tests, what_the_device_says_is_in_use_takes_room);
    tcase_add_test(tests, devices_of_unknown_hardware_are_not_taken_for_one);
    tcase_add_test(tests, a_process_that_has_ended_takes_no_room);
    tcase_add_test(tests, in_doubt_there_is_no_trend);
    tcase_add_test(tests, a_window_of_before_the_recording_is_no_trend);
    tcase_add_test(tests, without_a_capacity_nobody_knows_when_the_device_is_full);
    suite_add_tcase(suite, tests);
    return suite;
}
