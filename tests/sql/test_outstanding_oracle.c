/* SPDX-License-Identifier: Apache-2.0
 *
 * What is outstanding, summed up while rows came, against sums over the rows that are there: of random runs of blocks, driver memory and
 * captures on two devices, with resets now and then, all groups and what heaps hold are worked out again by SQL, slow and obvious.
 * NPUMEM_SEED repeats a run; it is printed.
 */
#include <check.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/draft.h"
#include "support/load_text.h"
#include "support/seed.h"
#include "support/suites.h"

#define ROUNDS 60
#define EVENTS 300
#define HEAPS  4 /* two of each device */
#define SLOTS  40
#define GRAPHS 6
#define STACKS 3

static int64_t now_ns, event_count;
static bool is_live[HEAPS + 1][SLOTS];
static int graph_count, capturing; /* device; 0: none */

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

static int pick(int below)
{
    return rand() % below;
}

static void begin_run(void)
{
    draft_begin();
    now_ns = event_count = graph_count = capturing = 0;
    memset(is_live, 0, sizeof is_live);
    draft_say("process 1 pid=1 host=h begin=0 command=x\n");
    for (int device = 1; device <= 2; device++) {
        draft_say("device %d process=1 ordinal=%d kind=npu capacity=100000000\n", device, device);
        draft_say("heap %d process=1 device=%d level=pool basis=block name=pool\n", 2 * device - 1, device);
        draft_say("heap %d process=1 device=%d level=driver basis=block name=driver\n", 2 * device, device);
    }
    draft_say("thread 1 process=1 tid=1 name=main\n");
    for (int stack = 1; stack <= STACKS; stack++)
        draft_say("stack %d: /a.py:%d:forward < /m.py:1:main\n", stack, stack);
}

/* A slot has an address of its own in its heap; heaps lie apart. */
static void allocate_or_free(void)
{
    int heap = 1 + pick(HEAPS), slot = pick(SLOTS), stack = pick(STACKS + 1);
    uint64_t address = (uint64_t)heap * 0x10000000 + (uint64_t)slot * 0x10000;
    char where[32] = "";

    if (stack > 0)
        snprintf(where, sizeof where, " stack=%d", stack);
    if (is_live[heap][slot])
        event("free heap=%d address=0x%" PRIx64 " thread=1", heap, address);
    else
        event("alloc heap=%d address=0x%" PRIx64 " block=%d thread=1%s", heap, address, 512 * (1 + pick(3)), where);
    is_live[heap][slot] = !is_live[heap][slot];
}

static void capture_or_end(void)
{
    if (capturing != 0) {
        event("stream_call thread=1 device=%d stream=7 number=%d detail=capture_end", capturing, 100 + graph_count++);
        capturing = 0;
    } else if (graph_count < GRAPHS) {
        capturing = 1 + pick(2);
        event("stream_call thread=1 device=%d stream=7 detail=capture_begin stack=1", capturing);
    } else {
        event("stream_call thread=1 device=1 number=%d detail=graph_destroy", 100 + pick(graph_count));
    }
}

static void reset(int device)
{
    event("reset device=%d thread=1", device);
    for (int heap = 2 * device - 1; heap <= 2 * device; heap++)
        memset(is_live[heap], 0, sizeof is_live[heap]);
}

static sqlite3 *load_random(void)
{
    int step = 0;

    begin_run();
    for (int i = 0; i < EVENTS; i++) {
        int what = pick(100);

        if (what < 4)
            event("step number=%d thread=1", step++);
        else if (what < 12)
            capture_or_end();
        else if (what < 13)
            reset(1 + pick(2));
        else
            allocate_or_free();
    }
    for (int device = 1; device <= 2; device++)
        if (pick(2) == 0)
            reset(device);
    return draft_load((uint64_t)event_count);
}

/* By rows: what is not freed, or was ended by a reset behind which nothing was born on its device. */
static const char rows_sql[] =
    "SELECT a.heap_id, a.stack_id, a.size_bytes, a.generation, a.is_doubtful, count(*), min(a.alloc_seq), "
    "max(a.alloc_seq),"
    " min(a.alloc_ns), g.graph_id, 0 FROM allocation AS a LEFT JOIN z_graph AS g ON g.graph_id = a.graph_id"
    " AND (g.destroyed_seq IS NULL OR g.destroyed_seq >= a.free_seq)"
    " WHERE a.is_segment = 0 AND (a.end_kind = 0 OR (a.end_kind = 3 AND NOT EXISTS (SELECT 1 FROM allocation AS b"
    " JOIN heap AS x ON x.heap_id = b.heap_id JOIN heap AS y ON y.device_id = x.device_id"
    " WHERE y.heap_id = a.heap_id AND b.alloc_seq > a.free_seq)))"
    " GROUP BY 1, 2, 3, 4, 5, 10 ORDER BY 1, 2, 3, 4, 5, 10";
static const char sums_sql[] =
    "SELECT heap_id, stack_id, size_bytes, generation, is_doubtful, allocation_count, first_seq, last_seq, first_ns,"
    " graph_id, is_private FROM z_outstanding_sum ORDER BY 1, 2, 3, 4, 5, 10";
static const char sizes_sql[] =
    "SELECT heap_id, stack_id, generation, is_doubtful, sum(allocation_count), sum(allocation_count * size_bytes),"
    " min(first_seq), max(last_seq), min(first_ns), graph_id, is_private FROM z_outstanding_sum GROUP BY 1, 2, 3, 4, "
    "10, 11"
    " ORDER BY 1, 2, 3, 4, 10, 11";
static const char births_sql[] =
    "SELECT heap_id, stack_id, generation, is_doubtful, allocation_count, size_bytes, first_seq, last_seq, first_ns,"
    " graph_id, is_private FROM z_outstanding_birth ORDER BY 1, 2, 3, 4, 10, 11";
static const char listed_sql[] = "SELECT heap_id, count(*), sum(size_bytes) FROM allocation"
                                 " WHERE is_segment = 0 AND generation IS NOT NULL GROUP BY heap_id ORDER BY heap_id";
static const char heaps_sql[] = "SELECT heap_id, outstanding_count, outstanding_bytes FROM z_heap_sum"
                                " WHERE outstanding_count > 0 ORDER BY heap_id";
static const char grouped_sql[] =
    "SELECT heap_id, sum(allocation_count), sum(allocation_count * size_bytes) FROM z_outstanding_sum"
    " GROUP BY heap_id ORDER BY heap_id";

static void compare(sqlite3 *db, const char *fast_sql, const char *slow_sql)
{
    char *fast = load_rows(db, fast_sql), *slow = load_rows(db, slow_sql);

    ck_assert_str_eq(fast, slow);
    free(fast);
    free(slow);
}

START_TEST(sums_of_what_is_outstanding_equal_sums_over_rows)
{
    int64_t held_count = 0, reset_count = 0, ended_count = 0;

    srand((unsigned)seed_of_test(1));
    for (int round = 0; round < ROUNDS; round++) {
        sqlite3 *db = load_random();

        compare(db, sums_sql, rows_sql);
        compare(db, births_sql, sizes_sql);
        compare(db, heaps_sql, listed_sql);
        compare(db, heaps_sql, grouped_sql);
        held_count += load_int(db, "SELECT count(*) FROM z_outstanding_sum WHERE graph_id IS NOT NULL");
        reset_count += load_int(db, "SELECT count(*) FROM allocation WHERE end_kind = 3 AND generation IS NOT NULL");
        ended_count += load_int(db, "SELECT count(*) FROM allocation WHERE end_kind = 3 AND generation IS NULL");
        sqlite3_close(db);
    }
    ck_assert_int_gt(held_count, 0);
    ck_assert_int_gt(reset_count, 0);
    ck_assert_int_gt(ended_count, 0);
}
END_TEST

TEST_SUITE(test_outstanding_oracle)
{
    TCase *tests = tcase_create("outstanding");

    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, sums_of_what_is_outstanding_equal_sums_over_rows);
    return draft_suite("what is outstanding", tests);
}
