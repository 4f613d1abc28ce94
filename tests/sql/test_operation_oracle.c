/* SPDX-License-Identifier: Apache-2.0
 *
 * What operations do to heaps, against slow walks over the events of random traces: threads
 * that free each other's blocks, ranges in ranges, and ranges that end before those within them. And the causes that the
 * views are for, planted.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define RUNS       40
#define EVENTS     500
#define HEAPS      3 /* two pools and, the last, a heap of workspaces */
#define THREADS    2
#define SLOTS      24
#define DEPTH      6
#define NAMES      5
#define STREAMS    2
#define WORKSPACES HEAPS

typedef enum act { ACT_ALLOC, ACT_FREE, ACT_BEGIN, ACT_END, ACT_STEP } act;

typedef struct event {
    act act;
    int thread, heap, slot, bytes;
    int run;          /* index of the ACT_BEGIN */
    int name, stream; /* of a range */
    int block;        /* of a workspace: index of its ACT_ALLOC; -1: none */
    int64_t ns;
} event;

static event events[EVENTS];
static int event_count;
static int64_t now_ns;

/* ---- Traces -------------------------------------------------------------------------------------------------------- */

static void begin_text(void)
{
    draft_begin();
    now_ns = 0;
    event_count = 0;
    draft_say("process 1 pid=1 host=h begin=0 command=x\n");
    draft_say("device 1 process=1 ordinal=0 kind=npu capacity=1000000\n");
    for (int heap = 1; heap <= HEAPS; heap++)
        draft_say("heap %d process=1 device=1 level=%s basis=block name=heap%d\n", heap,
                  heap == WORKSPACES ? "workspace" : "pool", heap);
    for (int thread = 1; thread <= THREADS; thread++)
        draft_say("thread %d process=1 tid=%d name=t%d\n", thread, thread, thread);
}

static sqlite3 *end_text(void)
{
    return draft_load((uint64_t)event_count);
}

static event *add(act kind, int thread)
{
    event *added = &events[event_count++];

    ck_assert_int_le(event_count, EVENTS);
    now_ns += 1 + rand() % 1000;
    *added = (event){.act = kind, .thread = thread, .run = -1, .block = -1, .ns = now_ns};
    draft_say("@%" PRId64 " ", now_ns);
    return added;
}

static int address_of(int heap, int slot)
{
    return 0x1000000 * heap + 0x10000 * (slot + 1);
}

static int allocate(int thread, int heap, int slot, int bytes)
{
    event *added = add(ACT_ALLOC, thread);

    added->heap = heap;
    added->slot = slot;
    added->bytes = bytes;
    draft_say("alloc heap=%d address=0x%x block=%d thread=%d\n", heap, address_of(heap, slot), bytes, thread);
    return event_count - 1;
}

static void release(int thread, int block)
{
    int heap = events[block].heap, slot = events[block].slot, bytes = events[block].bytes;
    event *added = add(ACT_FREE, thread);

    added->heap = heap;
    added->slot = slot;
    added->bytes = bytes;
    added->block = block;
    draft_say("free heap=%d address=0x%x thread=%d\n", heap, address_of(heap, slot), thread);
}

static int begin_range(int thread, int name, int block, int stream)
{
    event *added = add(ACT_BEGIN, thread);

    added->name = name;
    added->block = block;
    added->stream = stream;
    draft_say("range_begin thread=%d number=%d name=op%d detail=operator stream=%d", thread, event_count, name, stream);
    if (block >= 0)
        draft_say(" address=0x%x requested=%d", address_of(events[block].heap, events[block].slot),
                  1 + events[block].bytes / 2);
    draft_say("\n");
    return event_count - 1;
}

static void end_range(int run)
{
    event *added = add(ACT_END, events[run].thread);

    added->run = run;
    draft_say("range_end thread=%d number=%d\n", events[run].thread, run + 1);
}

static void next_step(int number)
{
    add(ACT_STEP, 1);
    draft_say("step number=%d thread=1\n", number);
}

/* A run that is open on the thread, mostly the innermost; or none is: it begins one. */
static void change_range(int thread, int *open, int *depth, const int *live)
{
    bool begins = *depth == 0 || (*depth < DEPTH && rand() % 2 == 0);
    int block = live[(WORKSPACES - 1) * SLOTS + rand() % SLOTS];

    if (begins) {
        open[(*depth)++] = begin_range(thread, rand() % NAMES, rand() % 2 ? block : -1, 1 + rand() % STREAMS);
        return;
    }
    int at = rand() % 4 == 0 ? rand() % *depth : *depth - 1;
    end_range(open[at]);
    memmove(&open[at], &open[at + 1], (size_t)(*depth - at - 1) * sizeof *open);
    --*depth;
}

static sqlite3 *random_run(unsigned seed)
{
    int live[HEAPS * SLOTS], open[THREADS][DEPTH], depth[THREADS] = {0}, step_count = 0;

    srand(seed);
    begin_text();
    for (int i = 0; i < HEAPS * SLOTS; i++)
        live[i] = -1;
    while (event_count < EVENTS) {
        int at = rand() % (HEAPS * SLOTS), thread = 1 + rand() % THREADS, chance = rand() % 20;

        if (chance == 0 && seed % 4 != 0) {
            next_step(10 + step_count++);
        } else if (chance < 9) {
            change_range(thread, open[thread - 1], &depth[thread - 1], live);
        } else if (live[at] >= 0) {
            release(thread, live[at]);
            live[at] = -1;
        } else {
            live[at] = allocate(thread, 1 + at / SLOTS, at % SLOTS, 2 + rand() % 5000);
        }
    }
    return end_text();
}

/* ---- Oracles ------------------------------------------------------------------------------------------------------- */

static int end_of(int run)
{
    for (int i = run; i < event_count; i++)
        if (events[i].act == ACT_END && events[i].run == run)
            return i;
    return event_count;
}

/* How far the run's thread made the heap rise; -1: it did not touch it. */
static int64_t rise_of(int run, int heap)
{
    int64_t net = 0, most = 0;
    bool is_touched = false;

    for (int i = run; i < end_of(run); i++) {
        if (events[i].thread != events[run].thread || events[i].heap != heap)
            continue;
        is_touched = true;
        net += events[i].act == ACT_ALLOC ? events[i].bytes : -events[i].bytes;
        most = net > most ? net : most;
    }
    return is_touched ? most : -1;
}

static void compare_rises(sqlite3 *db, int heap, int name)
{
    int64_t count = 0, sum = 0, most = -1;
    int seq = -1;
    char sql[512], expected[256];

    for (int run = 0; run < event_count; run++) {
        int64_t rise = events[run].act == ACT_BEGIN && events[run].name == name ? rise_of(run, heap) : -1;

        if (rise < 0)
            continue;
        count++;
        sum += rise;
        if (rise > most) {
            most = rise;
            seq = run;
        }
    }
    snprintf(sql, sizeof sql,
             "SELECT measured_count, peak_over_start_bytes, peak_over_start_seq,"
             " CAST(round(mean_peak_over_start_bytes * measured_count) AS INTEGER), is_partial FROM operation_memory"
             " WHERE heap = 'heap%d' AND operation = 'op%d' AND measured_count > 0",
             heap, name);
    snprintf(expected, sizeof expected, "%" PRId64 "|%" PRId64 "|%d|%" PRId64 "|0\n", count, most, seq, sum);
    char *row = load_rows(db, sql);
    if (*row != '\0' || most > 0)
        ck_assert_str_eq(row, expected);
    free(row);
}

static void compare(sqlite3 *db, const char *fast_sql, const char *slow_sql)
{
    char *fast = load_rows(db, fast_sql), *slow = load_rows(db, slow_sql);

    ck_assert_str_eq(fast, slow);
    free(fast);
    free(slow);
}

/* By the rows of the allocations themselves. */
static void compare_freed(sqlite3 *db)
{
    compare(db,
            "SELECT heap, operation, allocation_count, allocated_bytes, freed_count, freed_bytes FROM operation_memory"
            " WHERE allocation_count > 0 ORDER BY 1, 2",
            "SELECT h.name, o.name, count(*), sum(a.size_bytes), count(a.free_seq),"
            " coalesce(sum(CASE WHEN a.free_seq IS NOT NULL THEN a.size_bytes END), 0)"
            " FROM allocation AS a JOIN heap AS h USING (heap_id) LEFT JOIN operation AS o USING (operation_id)"
            " GROUP BY 1, 2 ORDER BY 1, 2");
}

/* What came to an operation in a step, what of it was freed, and what workspaces it was given. A block that an operator had
 * allocated for it came to it when that first ran. */
static const char slow_steps[] =
    "WITH come AS (SELECT a.heap_id, o.name, a.size_bytes, a.free_seq,"
    "  CASE WHEN a.operation_source = 1 THEN a.alloc_seq ELSE o.begin_seq END AS seq"
    "  FROM allocation AS a JOIN operation AS o USING (operation_id)),"
    " part AS (SELECT heap_id, name, seq, 1 AS come, size_bytes AS came, 0 AS freed, 0 AS gone, 0 AS used,"
    "   0 AS asked, 0 AS block FROM come"
    "  UNION ALL SELECT heap_id, name, free_seq, 0, 0, 1, size_bytes, 0, 0, 0 FROM come WHERE free_seq IS NOT NULL"
    "  UNION ALL SELECT a.heap_id, o.name, w.seq, 0, 0, 0, 0, 1, w.requested_bytes, w.block_bytes"
    "  FROM workspace AS w JOIN operation AS o USING (operation_id) JOIN allocation AS a USING (allocation_id))"
    " SELECT h.name, (SELECT max(number) FROM step WHERE begin_seq < part.seq) AS n, part.name, sum(come), sum(came),"
    "  sum(freed), sum(gone), sum(used), sum(asked), sum(block)"
    " FROM part JOIN heap AS h USING (heap_id) GROUP BY 1, 2, 3 ORDER BY 1, 2, 3";

static const char fast_steps[] =
    "SELECT h.name, s.number, s.name, allocation_count, allocated_bytes, freed_count, freed_bytes, workspace_count,"
    " workspace_bytes, coalesce(workspace_block_bytes, 0) FROM z_operation_step_sum AS s LEFT JOIN heap AS h USING "
    "(heap_id)"
    " WHERE allocation_count + freed_count + workspace_count > 0 ORDER BY 1, 2, 3";

/* Runs by the step in which they ended; -1: before the first. */
static void compare_step_rises(sqlite3 *db)
{
    int step = -1, steps_seen = 0;

    for (int i = 0; i < event_count; i++) {
        char sql[256];

        if (events[i].act == ACT_STEP)
            step = 10 + steps_seen++;
        if (events[i].act != ACT_END || load_int(db, "SELECT count(*) FROM step") == 0)
            continue;
        for (int heap = 1; heap <= HEAPS; heap++) {
            snprintf(
                sql, sizeof sql,
                "SELECT coalesce(max(max_rise_bytes), -1) FROM z_operation_step_sum AS s JOIN heap AS h USING (heap_id)"
                " WHERE h.name = 'heap%d' AND s.name = 'op%d' AND coalesce(number, -1) = %d",
                heap, events[events[i].run].name, step);
            ck_assert_int_ge(load_int(db, sql), rise_of(events[i].run, heap));
        }
    }
}

START_TEST(views_equal_slow_walks)
{
    for (unsigned seed = 1; seed <= RUNS; seed++) {
        sqlite3 *db = random_run(seed);

        for (int heap = 1; heap <= HEAPS; heap++)
            for (int name = 0; name < NAMES; name++)
                compare_rises(db, heap, name);
        compare_freed(db);
        if (load_int(db, "SELECT count(*) FROM step") > 0)
            compare(db, fast_steps, slow_steps);
        compare_step_rises(db);
        sqlite3_close(db);
    }
}
END_TEST

/* ---- Planted ------------------------------------------------------------------------------------------------------- */

START_TEST(the_operation_with_the_peak_is_found)
{
    begin_text();
    for (int i = 0; i < 20; i++) {
        int run = begin_range(1, i % 4, -1, 1), big = i == 13 ? allocate(1, 1, 1, 900000) : -1;
        int small = allocate(1, 1, 0, 100);

        release(1, small);
        if (big >= 0)
            release(1, big);
        end_range(run);
    }
    sqlite3 *db = end_text();
    char *row = load_rows(db, "SELECT operation, peak_over_start_bytes, mean_peak_over_start_bytes, measured_count,"
                              " peak_over_start_seq FROM operation_memory ORDER BY peak_over_start_bytes DESC LIMIT 1");
    ck_assert_str_eq(row, "op1|900100|180100.0|5|52\n");
    free(row);
    sqlite3_close(db);
}
END_TEST

/* Forty names in one step: sixteen rows and one of the rest, which has less than any of them, and nothing is lost. */
START_TEST(many_names_have_a_rest)
{
    begin_text();
    next_step(1);
    for (int i = 0; i < 40; i++) {
        int run = begin_range(1, i, -1, 1);

        allocate(1, 1, i % SLOTS, 100 + (i * 7) % 40);
        end_range(run);
    }
    sqlite3 *db = end_text();
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM z_operation_step_sum"), 17);
    ck_assert_int_eq(load_int(db, "SELECT sum(name_count) FROM z_operation_step_sum"), 40);
    ck_assert_int_eq(load_int(db, "SELECT sum(allocated_bytes) FROM z_operation_step_sum"), 40 * 100 + 780);
    ck_assert_int_eq(load_int(db, "SELECT min(allocated_bytes) FROM z_operation_step_sum WHERE kind IS NOT NULL"), 124);
    ck_assert_int_eq(load_int(db, "SELECT name_count FROM z_operation_step_sum WHERE kind IS NULL"), 24);
    sqlite3_close(db);
}
END_TEST

/* Events are lost while an operation is open: its peak is not claimed, that of the next one is. */
START_TEST(a_loss_claims_nothing)
{
    begin_text();
    int run = begin_range(1, 0, -1, 1);
    allocate(1, 1, 0, 500);
    add(ACT_STEP, 1);
    draft_say("loss thread=1 number=3 until=%" PRId64 "\n", now_ns);
    end_range(run);
    run = begin_range(1, 1, -1, 1);
    allocate(1, 1, 1, 300);
    end_range(run);
    sqlite3 *db = end_text();
    char *rows = load_rows(db, "SELECT operation, measured_count, peak_over_start_bytes, is_partial"
                               " FROM operation_memory ORDER BY 1");
    ck_assert_str_eq(rows, "op0|0|-|1\nop1|1|300|0\n");
    free(rows);
    sqlite3_close(db);
}
END_TEST

TEST_SUITE(test_operation_oracle)
{
    TCase *test = tcase_create("oracle");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, views_equal_slow_walks);
    tcase_add_test(test, the_operation_with_the_peak_is_found);
    tcase_add_test(test, many_names_have_a_rest);
    tcase_add_test(test, a_loss_claims_nothing);
    return draft_suite("operation", test);
}
