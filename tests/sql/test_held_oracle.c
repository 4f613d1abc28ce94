/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that graphs hold: what was born in a capture is not judged while its graph lives, whatever its site does beside it,
 * and like any other from the moment on at which the graph is destroyed. All figures are worked out by hand.
 */
#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define STEPS 20

static int64_t now_ns, event_count;

static void event(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void event(const char *format, ...)
{
    char line[512];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    draft_say("@%" PRId64 " %s\n", ++now_ns, line);
    event_count++;
}

static void begin_text(void)
{
    draft_begin();
    now_ns = event_count = 0;
    draft_say("process 1 pid=1 host=h begin=0 command=x\n");
    draft_say("device 1 process=1 ordinal=0 kind=npu capacity=100000000\n");
    draft_say("heap 1 process=1 device=1 level=pool basis=block name=pool\n");
    draft_say("heap 2 process=1 device=1 level=driver basis=block name=driver\n");
    draft_say("thread 1 process=1 tid=1 name=main\n");
    draft_say("stack 1: /a.py:1:forward < /m.py:1:main\n");
}

static sqlite3 *end_text(void)
{
    return draft_load((uint64_t)event_count);
}

static void check_rows(sqlite3 *db, const char *sql, const char *expected)
{
    char *rows = load_rows(db, sql);

    ck_assert_str_eq(rows, expected);
    free(rows);
}

/* Slot by slot; driver memory lies apart. */
static void allocate(int heap, int slot, int bytes)
{
    event("alloc heap=%d address=0x%x block=%d thread=1 stack=1", heap, heap * 0x1000000 + slot * 0x10000, bytes);
}

static void release(int heap, int slot)
{
    event("free heap=%d address=0x%x thread=1", heap, heap * 0x1000000 + slot * 0x10000);
}

static void begin_capture(void)
{
    event("stream_call thread=1 device=1 stream=7 detail=capture_begin stack=1");
}

static void end_capture(int graph)
{
    event("stream_call thread=1 device=1 stream=7 number=%d detail=capture_end", 100 + graph);
}

static void destroy(int graph)
{
    event("stream_call thread=1 device=1 number=%d detail=graph_destroy", 100 + graph);
}

/* A graph with one block. */
static void capture(int heap, int graph, int bytes)
{
    begin_capture();
    allocate(heap, graph, bytes);
    end_capture(graph);
}

static const char leaks[] = "SELECT level, verdict, leak_count, leak_bytes FROM leak_by_site";
static const char suspects[] =
    "SELECT level, verdict, reason, allocation_count, size_bytes, evidence FROM suspect_by_site";
static const char trends[] = "SELECT level, measure, verdict, CAST(bytes_per_step AS INTEGER) FROM forecast ORDER BY"
                             " measure, level";

/* A graph a step, and none is destroyed: however many there are, they hold what they hold. */
START_TEST(what_living_graphs_hold_does_not_grow)
{
    begin_text();
    for (int step = 0; step < STEPS; step++) {
        event("step number=%d thread=1", step);
        capture(1, step, 100);
        capture(2, STEPS + step, 1000);
    }
    event("process_end process=1 thread=1 detail=exit error=0");
    sqlite3 *db = end_text();
    check_rows(db, leaks, "");
    check_rows(db, suspects,
               "driver|not judged|held by graph|20|20000|20 blocks were born in captures of graphs that live at the end"
               " (20), and held as long as they do\n"
               "pool|not judged|held by graph|20|2000|20 blocks were born in captures of graphs that live at the end"
               " (20), and held as long as they do\n");
    check_rows(db, trends, "driver|allocated|none|0\npool|allocated|none|0\n-|device|none|0\n");
    check_rows(db, "SELECT count(*) FROM step_growth", "0\n");
    sqlite3_close(db);
}
END_TEST

/* The same line leaks 64 bytes a step beside its graphs: what it leaks is told, and no more. */
START_TEST(a_leak_beside_graphs_is_found)
{
    begin_text();
    for (int step = 0; step < STEPS; step++) {
        event("step number=%d thread=1", step);
        capture(1, step, 100);
        allocate(1, STEPS + step, 64);
    }
    sqlite3 *db = end_text();
    check_rows(db, leaks, "pool|growing|20|1280\n");
    check_rows(db, "SELECT count(*), sum(size_bytes) FROM leak", "20|1280\n");
    check_rows(db, "SELECT reason, allocation_count, size_bytes FROM suspect_by_site", "held by graph|20|2000\n");
    check_rows(db, trends, "pool|allocated|growing|64\n");
    check_rows(db, "SELECT max(live_bytes), max(live_count) FROM step_growth", "1280|20\n");
    sqlite3_close(db);
}
END_TEST

/* Each graph is destroyed in its step, and its block stays. */
START_TEST(what_destroyed_graphs_leave_behind_grows)
{
    begin_text();
    for (int step = 0; step < STEPS; step++) {
        event("step number=%d thread=1", step);
        capture(1, step, 100);
        destroy(step);
    }
    sqlite3 *db = end_text();
    check_rows(db, leaks, "pool|growing|20|2000\n");
    check_rows(db, "SELECT count(*) FROM suspect_by_site", "0\n");
    check_rows(db, trends, "pool|allocated|growing|100\n");
    sqlite3_close(db);
}
END_TEST

/* Captured before the steps and destroyed in the last but one: that what they held is nobody's then is no growth. Driver
 * memory that the program could have freed by then, as it did other, was not released. */
START_TEST(what_graphs_held_is_judged_when_they_are_gone)
{
    begin_text();
    for (int graph = 0; graph < 5; graph++) {
        capture(1, graph, 100);
        capture(2, 5 + graph, 1000);
    }
    for (int step = 0; step < STEPS; step++) {
        event("step number=%d thread=1", step);
        allocate(2, 30, 500);
        release(2, 30);
        for (int graph = 0; graph < 10 && step == STEPS - 2; graph++)
            destroy(graph);
    }
    event("process_end process=1 thread=1 detail=exit error=0");
    sqlite3 *db = end_text();
    check_rows(db, leaks, "driver|unreleased|5|5000\n");
    check_rows(db, "SELECT count(*) FROM suspect_by_site", "0\n");
    check_rows(db, "SELECT max(live_bytes), min(generation) FROM step_growth WHERE level = 'pool'", "500|19\n");
    sqlite3_close(db);
}
END_TEST

/* As frameworks end: the reset takes graphs and memory along. */
START_TEST(a_last_reset_leaves_it_with_its_graphs)
{
    begin_text();
    for (int step = 0; step < STEPS; step++) {
        event("step number=%d thread=1", step);
        capture(2, step, 1000);
        allocate(2, 30, 500);
        release(2, 30);
    }
    event("reset device=1 thread=1");
    event("process_end process=1 thread=1 detail=exit error=0");
    sqlite3 *db = end_text();
    check_rows(db, leaks, "");
    check_rows(db, "SELECT reason, allocation_count FROM suspect_by_site", "held by graph|20\n");
    check_rows(db, "SELECT end_kind, count(*), sum(driver_bytes) FROM z_graph_memory", "reset|20|20000\n");
    sqlite3_close(db);
}
END_TEST

/* A free that the runtime refuses: the graph holds it still. A part of a mapping that is left: likewise. */
START_TEST(what_is_left_of_it_is_held)
{
    begin_text();
    capture(2, 0, 1000);
    release(2, 0);
    event("free_failed address=0x%x thread=1 error=107000", 0x2000000);
    begin_capture();
    event("map heap=2 address=0x8000000 block=8192 thread=1 stack=1");
    end_capture(1);
    event("unmap heap=2 address=0x8001000 block=2048 thread=1");
    sqlite3 *db = end_text();
    check_rows(db, "SELECT reason, allocation_count, size_bytes FROM suspect_by_site", "held by graph|3|7144\n");
    check_rows(db, "SELECT sum(driver_bytes) FROM z_graph_memory", "7144\n");
    sqlite3_close(db);
}
END_TEST

/* Where events were lost the capture may have ended: what comes behind is not its graph's. */
START_TEST(behind_a_loss_a_capture_holds_nothing_more)
{
    begin_text();
    begin_capture();
    allocate(1, 0, 100);
    event("loss thread=1 number=3 until=%" PRId64, now_ns + 1);
    allocate(1, 1, 200);
    end_capture(0);
    sqlite3 *db = end_text();
    check_rows(db, "SELECT block_bytes FROM z_graph_memory", "100\n");
    sqlite3_close(db);
}
END_TEST

/* Thread 2 is a task queue: it has run an operator in a block of thread 1. What it allocates while thread 1 captures is of the
 * graph; thread 3 allocates for itself. Of two captures at once nobody knows for which. */
START_TEST(what_a_queue_allocates_is_of_the_only_capture)
{
    begin_text();
    draft_say("thread 2 process=1 tid=2 name=queue\nthread 3 process=1 tid=3 name=other\n");
    draft_say("heap 3 process=1 device=1 level=workspace basis=block name=workspace\n");
    event("alloc heap=3 address=0x3000000 block=512 thread=1 stack=1");
    event("range_begin name=MatMul detail=operator number=1 stream=7 address=0x3000000 requested=512 thread=2");
    event("range_end number=1 thread=2");
    begin_capture();
    event("alloc heap=3 address=0x3010000 block=1000 thread=2 stack=1");
    event("alloc heap=3 address=0x3020000 block=2000 thread=3 stack=1");
    event("stream_call thread=3 device=1 stream=8 detail=capture_begin stack=1");
    event("alloc heap=3 address=0x3030000 block=4000 thread=2 stack=1");
    event("stream_call thread=3 device=1 stream=8 number=101 detail=capture_end");
    end_capture(0);
    sqlite3 *db = end_text();
    check_rows(db, "SELECT graph_id, block_bytes FROM z_graph_memory", "1|1000\n2|0\n");
    sqlite3_close(db);
}
END_TEST

/* A snapshot: no threads, no graphs, but private pools. In newer ones each event tells its pool, in older ones the list of
 * segments at the end alone. The same line leaks 64 bytes a step beside it. */
static sqlite3 *snapshot(bool is_new)
{
    draft_begin();
    now_ns = event_count = 0;
    draft_say("process 1 pid=1 host=h begin=0 command=x\n");
    draft_say("device 1 process=1 ordinal=0 kind=gpu capacity=100000000\n");
    draft_say("heap 1 process=1 device=1 level=pool basis=block name=pool\n");
    draft_say("stack 1: /a.py:1:forward < /m.py:1:main\nstack 2: /a.py:2:leak < /m.py:1:main\n");
    for (int step = 0; step < STEPS; step++) {
        event("step number=%d", step);
        event("alloc heap=1 address=0x%x block=100 stack=1%s", 0x1000000 + step * 0x1000, is_new ? " policy=5" : "");
        event("alloc heap=1 address=0x%x block=64 stack=2", 0x2000000 + step * 0x1000);
    }
    event("state_segment heap=1 address=0x1000000 block=%d size=2000 policy=5", STEPS * 0x1000);
    for (int step = 0; step < STEPS; step++)
        event("state_block heap=1 address=0x%x block=100", 0x1000000 + step * 0x1000);
    event("state_segment heap=1 address=0x2000000 block=%d size=1280", STEPS * 0x1000);
    for (int step = 0; step < STEPS; step++)
        event("state_block heap=1 address=0x%x block=64", 0x2000000 + step * 0x1000);
    return end_text();
}

START_TEST(what_is_in_a_private_pool_is_not_judged)
{
    sqlite3 *db = snapshot(_i != 0);

    check_rows(db, "SELECT site, verdict, leak_bytes FROM leak_by_site", "a.py:2 leak|growing|1280\n");
    check_rows(
        db, "SELECT site, verdict, reason, allocation_count, size_bytes, evidence FROM suspect_by_site",
        "a.py:1 forward|not judged|in a private pool|20|2000|20 blocks are in private pools, as captured graphs have"
        " them\n");
    check_rows(db, "SELECT count(*), max(private_pool) FROM allocation WHERE private_pool IS NOT NULL", "20|5\n");
    if (_i != 0) /* as far as it is known when it happens */
        check_rows(db, "SELECT CAST(bytes_per_step AS INTEGER) FROM forecast WHERE measure = 'allocated'", "64\n");
    sqlite3_close(db);
}
END_TEST

/* A server captures a graph now and then, when it first meets a size, for an hour; its load falls to nothing twice. */
START_TEST(a_server_that_captures_does_not_rise)
{
    static const int64_t minute_ns = INT64_C(60000000000);

    begin_text();
    for (int minute = 0; minute < 60; minute++) {
        now_ns = minute * minute_ns;
        if (minute % 20 < 12)
            allocate(1, 200, 40960);
        if (minute % 3 == 0)
            capture(1, minute, 4096);
        now_ns = minute * minute_ns + minute_ns / 2;
        if (minute % 20 < 12)
            release(1, 200);
    }
    sqlite3 *db = end_text();
    check_rows(db, leaks, "");
    check_rows(db, "SELECT reason, allocation_count FROM suspect_by_site", "held by graph|20\n");
    check_rows(db, "SELECT count(*) FROM z_site_floor WHERE floor_bytes > 0", "0\n");
    sqlite3_close(db);
}
END_TEST

TEST_SUITE(test_held_oracle)
{
    TCase *test = tcase_create("graphs");

    tcase_set_timeout(test, 60);
    tcase_add_test(test, what_living_graphs_hold_does_not_grow);
    tcase_add_test(test, a_leak_beside_graphs_is_found);
    tcase_add_test(test, what_destroyed_graphs_leave_behind_grows);
    tcase_add_test(test, what_graphs_held_is_judged_when_they_are_gone);
    tcase_add_test(test, a_last_reset_leaves_it_with_its_graphs);
    tcase_add_test(test, what_is_left_of_it_is_held);
    tcase_add_test(test, behind_a_loss_a_capture_holds_nothing_more);
    tcase_add_test(test, a_server_that_captures_does_not_rise);
    tcase_add_test(test, what_a_queue_allocates_is_of_the_only_capture);
    tcase_add_loop_test(test, what_is_in_a_private_pool_is_not_judged, 0, 2);
    return draft_suite("held", test);
}
