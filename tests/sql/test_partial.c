/* SPDX-License-Identifier: Apache-2.0
 *
 * Every view that says whether its data are partial says so: of one trace, which gives each of them rows, nothing is partial
 * when it is whole; and when events were lost, when a process ran before its recording began, and when it was paused, they
 * are, as the table below has it.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

#define STEPS 12

typedef enum cause { WHOLE, LOSS, LATE, PAUSE, CAUSES } cause;

static const char *const cause_names[CAUSES] = {"whole", "loss", "late", "pause"};
static nm_buffer text;
static int event_count;
static char folder[64], path[128];

/* Views with such a column, and which of the causes make it 1 in some row. What is doubtful is so from the loss on. */
static const struct {
    const char *view, *column;
    bool by[CAUSES];
} views[] = {
    {"copy_summary", "is_partial", {false, true, true, true}},
    {"forecast", "is_partial", {false, true, true, false}},
    {"fragmentation", "is_doubtful", {false, true, false, false}},
    {"fragmentation", "is_partial", {false, false, true, false}},
    {"fragmentation_blocker", "is_doubtful", {false, true, false, false}},
    {"fragmentation_blocker", "is_partial", {false, false, true, false}},
    {"health", "is_partial", {false, true, true, true}},
    {"leak_by_site", "is_partial", {false, true, true, false}},
    {"operation_memory", "is_partial", {false, true, true, true}},
    {"out_of_memory", "is_partial", {false, true, true, false}},
    {"z_rank_summary", "is_partial", {false, true, true, true}},
    {"pool_by", "is_partial", {false, true, true, true}},
    {"z_pool_by_class", "is_partial", {false, true, true, true}},
    {"z_pool_by_size", "is_partial", {false, true, true, true}},
    {"z_pool_by_step", "is_partial", {false, true, true, true}},
    {"z_pool_by_stream", "is_partial", {false, true, true, true}},
    {"pool_hit_rate", "is_partial", {false, true, true, true}},
    {"z_pool_miss_by_cause", "is_partial", {false, true, true, true}},
    {"z_pool_miss_by_site", "is_partial", {false, true, true, true}},
    {"pool_summary", "is_partial", {false, true, true, true}},
    {"rank_imbalance", "is_partial", {false, true, true, true}},
    {"step_growth", "is_partial", {false, true, true, false}},
    {"step_total", "is_partial", {false, true, true, true}},
    {"zero_copy", "is_partial", {false, true, true, true}},
};

/* What must not be said of what is partial. */
static const char *const claims[] = {
    "SELECT count(*) FROM health WHERE is_partial = 1 AND verdict NOT IN ('unknown', 'not applicable')",
    "SELECT count(*) FROM zero_copy WHERE is_partial = 1 AND verdict NOT IN ('unknown', 'not applicable')",
    "SELECT count(*) FROM out_of_memory WHERE is_partial = 1 AND verdict <> 'unknown'",
    "SELECT count(*) FROM forecast WHERE is_partial = 1 AND (verdict <> 'none' OR full_step IS NOT NULL)",
    "SELECT count(*) FROM pool_summary WHERE is_partial = 1 AND heap = 'pool'"
    " AND growth_count + after_flush_count + pending_free_count + fragmentation_count > 0",
    "SELECT count(*) FROM fragmentation_blocker WHERE is_doubtful = 1 AND hostage_bytes IS NOT NULL",
};

static void say(const char *line)
{
    nm_error err;
    char stamp[32];

    if (strncmp(line, "- ", 2) != 0 && line[0] == '>') {
        snprintf(stamp, sizeof stamp, "@%d ", event_count++ * 1000);
        ck_assert_int_eq(nm_buffer_append(&text, stamp, strlen(stamp), &err), NM_OK);
        line++;
    }
    ck_assert_int_eq(nm_buffer_append(&text, line, strlen(line), &err), NM_OK);
    ck_assert_int_eq(nm_buffer_append(&text, "\n", 1, &err), NM_OK);
}

static void say_step(int step)
{
    char line[160];

    snprintf(line, sizeof line, ">step number=%d thread=1", step);
    say(line);
    snprintf(line, sizeof line, ">alloc heap=2 address=0x%x requested=1000 block=1024 thread=1 stack=1 stream=7",
             0x100000 + step * 0x1000);
    say(line);
    say(">alloc heap=2 address=0x110000 requested=1000 block=2048 thread=1 stack=2 stream=7 cost=10");
    say(">range_begin thread=1 number=1 name=matmul detail=operator stream=7 address=0x40000 requested=64");
    say(">alloc heap=2 address=0x120000 requested=500 block=512 thread=1 stack=2 stream=7");
    say(">range_end thread=1 number=1");
    say(">free_requested heap=2 address=0x110000 thread=1");
    say(">alloc heap=2 address=0x130000 requested=500 block=512 thread=1 stack=2 stream=7");
    say(">copy thread=1 address=0x100000 source=0x900000 size=100 detail=h2d device=1 cost=5 stack=2");
    say(">free heap=2 address=0x110000 thread=1");
    say(">free heap=2 address=0x120000 thread=1");
    say(">free heap=2 address=0x130000 thread=3");
}

static void write_trace(cause why)
{
    text.len = 0;
    event_count = 0;
    say(why == LATE ? "process 1 pid=1 host=h rank=0 late=1" : "process 1 pid=1 host=h rank=0 begin=0");
    say("process 2 pid=2 host=h rank=1 begin=0");
    say("device 1 process=1 ordinal=0 physical=0 capacity=0x10000000\ndevice 2 process=2 ordinal=0 physical=1");
    say("heap 1 process=1 device=1 level=driver basis=block name=memory");
    say("heap 2 process=1 device=1 level=pool basis=block name=pool");
    say("heap 3 process=2 device=2 level=driver basis=block name=memory");
    say("heap 4 process=1 device=1 level=workspace basis=block name=workspace");
    say("heap 5 process=1 level=registered basis=requested name=registered");
    say("thread 1 process=1 tid=1\nthread 2 process=2 tid=2\nthread 3 process=1 tid=3");
    say("stack 1: /a.py:1:keep\nstack 2: /b.py:2:work");
    say(">alloc heap=1 address=0x100000 block=0x200000 thread=1 stack=2 cost=100");
    say(">alloc heap=3 address=0x100000 block=4096 thread=2 stack=2 cost=100");
    say(">alloc heap=4 address=0x40000 block=4096 thread=1 stream=7");
    say(">alloc heap=5 address=0x900000 requested=1000 thread=1");
    for (int step = 1; step <= STEPS; step++) {
        say_step(step);
        if (step == 3 && why == PAUSE)
            say(">pause number=1 detail=1"), say(">pause number=1 detail=2");
        if (step == 3 && why == LOSS)
            say(">loss number=1 until=1000");
    }
    say(">mark thread=1 name=late");
    say(">alloc_failed heap=2 requested=0x400000 thread=1 stack=2 error=207001 free=100 total=0x10000000");
    say(">process_end process=1 thread=1 detail=exit error=0");
    say(">process_end process=2 thread=2 detail=exit error=0");
}

static sqlite3 *load(cause why)
{
    nm_input_row input;
    nm_error err;

    write_trace(why);
    ck_assert_int_eq(nm_buffer_append(&text, "", 1, &err), NM_OK);
    input = load_whole_input((uint64_t)event_count);
    if (why == LOSS) {
        input.events_seen++;
        input.events_ingested = input.events_seen - 1;
        input.events_dropped = 1;
        input.is_complete = false;
    }
    remove(path);
    load_text((const char *)text.data, &input, path);
    return load_open(path);
}
static void expect_column(sqlite3 *db, size_t at, cause why)
{
    char sql[160];

    snprintf(sql, sizeof sql, "SELECT max(%s) FROM %s", views[at].column, views[at].view);
    ck_assert_msg(load_int(db, sql) == views[at].by[why], "%s, %s: not %d", sql, cause_names[why], views[at].by[why]);
    snprintf(sql, sizeof sql, "SELECT count(*) FROM %s", views[at].view);
    ck_assert_msg(load_int(db, sql) > 0, "%s has no rows, %s", views[at].view, cause_names[why]);
}

START_TEST(views_say_what_is_partial)
{
    for (cause why = WHOLE; why < CAUSES; why++) {
        sqlite3 *db = load(why);

        for (size_t at = 0; at < sizeof views / sizeof views[0]; at++)
            expect_column(db, at, why);
        for (size_t at = 0; at < sizeof claims / sizeof claims[0]; at++)
            ck_assert_msg(load_int(db, claims[at]) == 0, "%s: %s", cause_names[why], claims[at]);
        sqlite3_close(db);
    }
}
END_TEST

static bool is_listed(const char *view)
{
    for (size_t at = 0; at < sizeof views / sizeof views[0]; at++)
        if (strcmp(view, views[at].view) == 0 && strcmp(views[at].column, "is_partial") == 0)
            return true;
    return false;
}

/* An answer of its own files has no line above: it is partial where anything is missing. */
START_TEST(views_that_are_not_listed_are_partial_by_each_cause)
{
    int checked_count = 0;

    for (cause why = WHOLE; why < CAUSES; why++) {
        sqlite3 *db = load(why);
        char *names = load_rows(db, "SELECT v.name FROM sqlite_master AS v JOIN pragma_table_info(v.name) AS c"
                                    " WHERE v.type = 'view' AND c.name = 'is_partial'");

        for (char *name = strtok(names, "\n"); name != NULL; name = strtok(NULL, "\n")) {
            char sql[160];

            if (is_listed(name))
                continue;
            snprintf(sql, sizeof sql, "SELECT coalesce(max(is_partial), -1) FROM %s", name);
            ck_assert_msg(load_int(db, sql) == (why != WHOLE), "%s, %s: not %d", sql, cause_names[why], why != WHOLE);
            checked_count++;
        }
        free(names);
        sqlite3_close(db);
    }
    ck_assert_int_gt(checked_count, 0);
}
END_TEST

static void make_folder(void)
{
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/partial.db", folder);
}

static void remove_folder(void)
{
    nm_buffer_free(&text);
    run_remove_folder(folder);
}

TEST_SUITE(test_partial)
{
    Suite *suite = suite_create("partial");
    TCase *test = tcase_create("views");

    tcase_add_unchecked_fixture(test, make_folder, remove_folder);
    tcase_set_timeout(test, 120);
    tcase_add_test(test, views_say_what_is_partial);
    tcase_add_test(test, views_that_are_not_listed_are_partial_by_each_cause);
    suite_add_tcase(suite, test);
    return suite;
}
