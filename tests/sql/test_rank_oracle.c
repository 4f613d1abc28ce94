/* SPDX-License-Identifier: Apache-2.0
 *
 * Views z_rank_summary and rank_imbalance against slow walks over random events: five processes, of which two share a device,
 * two are one rank and one has none, allocate and free driver memory and blocks of pools in it. Who held how much at which
 * event is asked of every allocation again and again. And which of several failed first, against a walk over all pairs.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define RUNS      40
#define EVENTS    160
#define PROCESSES 5
#define STACKS    5 /* 0: none; 1 and 2 are of one site */
#define SITES     4
#define RANKS     3
#define NEVER     EVENTS

enum { DRIVER, POOL, MODULE, KINDS }; /* heaps of each process; MODULE is of the first alone */

typedef struct item {
    int process, kind, stack;
    int64_t size, address;
    int born, ended; /* events */
    int carrier;     /* of a block: its driver memory */
    int first_block; /* of driver memory: the event of the first block in it */
    int64_t used;    /* of driver memory: where the next block goes */
} item;

static const int ranks[PROCESSES] = {0, 1, 2, 1, -1};  /* -1: none */
static const int devices[PROCESSES] = {0, 1, 1, 2, 3}; /* as the host counts */
static const char *const names[KINDS] = {"NPU memory", "pool", "HCCL"};
static const char *const sites[SITES] = {"(no stack)", "a.py:1 one", "b.py:3 f3", "b.py:4 f4"};
static const int site_of[STACKS] = {0, 1, 1, 2, 3};
static item items[EVENTS];
static int item_count, event_count;
static int step_begin[PROCESSES][EVENTS], step_count[PROCESSES];

/* ---- Random events ------------------------------------------------------------------------------------------------- */

static void say_who(void)
{
    draft_begin();
    for (int p = 0; p < PROCESSES; p++) {
        if (ranks[p] < 0)
            draft_say("process %d pid=%d host=h begin=0\n", p + 1, 100 + p);
        else
            draft_say("process %d pid=%d host=h rank=%d begin=0\n", p + 1, 100 + p, ranks[p]);
        draft_say("device %d process=%d ordinal=0 physical=%d kind=npu\n", p + 1, p + 1, devices[p]);
        draft_say("thread %d process=%d tid=%d\n", p + 1, p + 1, 100 + p);
        draft_say("heap %d process=%d device=%d level=driver basis=block name=\"%s\"\n", p * KINDS + 1, p + 1, p + 1,
                  names[DRIVER]);
        draft_say("heap %d process=%d device=%d level=pool basis=block name=%s\n", p * KINDS + 2, p + 1, p + 1,
                  names[POOL]);
    }
    draft_say("heap 3 process=1 device=1 level=driver basis=block name=%s module=3\n", names[MODULE]);
    draft_say("stack 1: /a.py:1:one < /m.py:1:main\nstack 2: /a.py:1:one < /m.py:2:main\n");
    draft_say("stack 3: /b.py:3:f3\nstack 4: /b.py:4:f4\n");
}

static bool is_live(const item *one, int event)
{
    return one->born <= event && one->ended > event;
}

static void say_alloc(int process, int kind, int carrier, int64_t size)
{
    item *one = &items[item_count];

    *one = (item){.process = process,
                  .kind = kind,
                  .stack = rand() % STACKS,
                  .size = size,
                  .born = event_count,
                  .ended = NEVER,
                  .carrier = carrier,
                  .first_block = NEVER};
    one->address = INT64_C(0x10000000) * (item_count + 1);
    if (carrier >= 0) {
        one->address = items[carrier].address + items[carrier].used;
        items[carrier].used += size;
        if (items[carrier].first_block == NEVER)
            items[carrier].first_block = event_count;
    }
    draft_say("@%d alloc heap=%d address=0x%" PRIx64 " block=%" PRId64 " thread=%d", event_count * 10,
              process * KINDS + kind + 1, (uint64_t)one->address, size, process + 1);
    draft_say(one->stack > 0 ? " stack=%d\n" : "\n", one->stack);
    item_count++;
    event_count++;
}

static bool carries(int carrier)
{
    for (int i = 0; i < item_count; i++)
        if (items[i].carrier == carrier && items[i].ended == NEVER)
            return true;
    return false;
}

static void say_free(int at)
{
    items[at].ended = event_count;
    draft_say("@%d free heap=%d address=0x%" PRIx64 " thread=%d\n", event_count * 10,
              items[at].process * KINDS + items[at].kind + 1, (uint64_t)items[at].address, items[at].process + 1);
    event_count++;
}

static void one_event(void)
{
    int at = rand() % item_count;
    item *one = &items[at];
    int kind = rand() % 8;

    if (kind == 0) {
        step_begin[one->process][step_count[one->process]++] = event_count;
        draft_say("@%d step number=%d thread=%d\n", event_count * 10, 10 + step_count[one->process], one->process + 1);
        event_count++;
    } else if (kind < 4 && one->ended == NEVER && !carries(at)) {
        say_free(at);
    } else if (one->kind == DRIVER && one->ended == NEVER && one->used + 4096 <= one->size) {
        say_alloc(one->process, POOL, at, 512 * (1 + rand() % 8));
    } else {
        say_alloc(one->process, one->kind == MODULE ? MODULE : DRIVER, -1, 4096 * (1 + rand() % 8));
    }
}

static void random_run(unsigned seed)
{
    srand(seed);
    item_count = event_count = 0;
    memset(step_count, 0, sizeof step_count);
    say_who();
    for (int p = 0; p < PROCESSES; p++)
        say_alloc(p, DRIVER, -1, 32768);
    for (int p = 0; p < PROCESSES; p++)
        say_alloc(p, POOL, p, 1024);
    say_alloc(0, MODULE, -1, 4096);
    while (event_count < EVENTS)
        one_event();
}

/* ---- The slow walks ------------------------------------------------------------------------------------------------ */

/* What allocations of the process (or, below 0, all) and kind hold right after an event; of one site, or all (below 0). */
static int64_t held(int process, int kind, int site, int event, int *count)
{
    int64_t bytes = 0;

    for (int i = 0; i < item_count; i++)
        if (items[i].process == process && items[i].kind == kind && is_live(&items[i], event) &&
            (site < 0 || site_of[items[i].stack] == site)) {
            bytes += items[i].size;
            *count += 1;
        }
    return bytes;
}

static int64_t bytes_held(int process, int kind, int event)
{
    int ignored = 0;

    return held(process, kind, -1, event, &ignored);
}

static int peak_of(int process, int kind)
{
    int peak = 0;

    for (int event = 1; event < EVENTS; event++)
        if (bytes_held(process, kind, event) > bytes_held(process, kind, peak))
            peak = event;
    return peak;
}

/* What the ranks that have the heap held of a site at the peaks of their heaps. `site` below 0: all. */
static void say_imbalance(nm_buffer *out, int kind, int site)
{
    int64_t bytes[RANKS] = {0}, sum = 0, most = -1, least = INT64_MAX;
    int counts[RANKS] = {0}, most_rank = -1, least_rank = -1, present = 0, most_count = 0;
    char line[256];
    nm_error err;

    for (int p = 0; p < PROCESSES; p++)
        if (ranks[p] >= 0)
            bytes[ranks[p]] += held(p, kind, site, peak_of(p, kind), &counts[ranks[p]]);
    for (int rank = 0; rank < RANKS; rank++) {
        if (counts[rank] == 0)
            continue;
        present++;
        sum += bytes[rank];
        if (bytes[rank] > most)
            most = bytes[rank], most_rank = rank;
        if (bytes[rank] < least)
            least = bytes[rank], least_rank = rank;
        if (counts[rank] > most_count)
            most_count = counts[rank];
    }
    if (present == 0)
        return;
    snprintf(line, sizeof line, "%s|%s|%d|%d|%" PRId64 "|%d|%" PRId64 "|", names[kind],
             site < 0 ? "(whole heap)" : sites[site], RANKS, RANKS - present, most, most_rank,
             present < RANKS ? 0 : least);
    ck_assert_int_eq(nm_buffer_append(out, line, strlen(line), &err), NM_OK);
    snprintf(line, sizeof line, present < RANKS ? "-|" : "%d|", least_rank);
    ck_assert_int_eq(nm_buffer_append(out, line, strlen(line), &err), NM_OK);
    snprintf(line, sizeof line, "%" PRId64 "|%" PRId64 "|%" PRId64 "|", sum / RANKS,
             most - (present < RANKS ? 0 : least), (int64_t)((double)most * RANKS / (double)sum * 1000000));
    ck_assert_int_eq(nm_buffer_append(out, line, strlen(line), &err), NM_OK);
    snprintf(line, sizeof line, site < 0 ? "-|0\n" : "%d|0\n", most_count);
    ck_assert_int_eq(nm_buffer_append(out, line, strlen(line), &err), NM_OK);
}

static void compare_imbalance(sqlite3 *db)
{
    nm_buffer slow = {0};
    nm_error err;
    char *fast =
        load_rows(db, "SELECT heap, site, rank_count, absent_count, max_bytes, max_rank, min_bytes, min_rank,"
                      " mean_bytes, spread_bytes, CAST(imbalance_ratio * 1000000 AS INTEGER), max_count, is_partial"
                      " FROM rank_imbalance ORDER BY heap, site");

    for (int kind = 0; kind <= POOL; kind++) {
        say_imbalance(&slow, kind, 0); /* "(no stack)" comes before "(whole heap)" */
        say_imbalance(&slow, kind, -1);
        for (int site = 1; site < SITES; site++)
            say_imbalance(&slow, kind, site);
    }
    ck_assert_int_eq(nm_buffer_append(&slow, "", 1, &err), NM_OK);
    ck_assert_str_eq(fast, (const char *)slow.data);
    nm_buffer_free(&slow);
    free(fast);
}

static int64_t device_held(int device, int event)
{
    int64_t bytes = 0;

    for (int p = 0; p < PROCESSES; p++)
        if (devices[p] == device)
            bytes += bytes_held(p, DRIVER, event) + bytes_held(p, MODULE, event);
    return bytes;
}

/* Driver memory of the process that has had a block by then. */
static int64_t segments_held(int process, int event)
{
    int64_t bytes = 0;

    for (int i = 0; i < item_count; i++)
        if (items[i].process == process && items[i].kind == DRIVER && is_live(&items[i], event) &&
            items[i].first_block <= event)
            bytes += items[i].size;
    return bytes;
}

static void compare_peaks(sqlite3 *db)
{
    for (int p = 0; p < PROCESSES; p++) {
        int peak = 0, step = -1;
        char sql[600];

        for (int event = 1; event < EVENTS; event++)
            if (device_held(devices[p], event) > device_held(devices[p], peak))
                peak = event;
        for (int i = 0; i < step_count[p]; i++)
            if (step_begin[p][i] <= peak)
                step = 11 + i;
        snprintf(
            sql, sizeof sql,
            "SELECT count(*) FROM z_rank_summary WHERE pid = %d AND device = %d AND coalesce(rank, -1) = %d"
            " AND peak_bytes = %" PRId64
            " AND seq = %d AND ns = %d AND coalesce(step, -1) = %d AND pool_bytes = %" PRId64
            " AND pool_live_bytes = %" PRId64 " AND program_bytes = %" PRId64 " AND module_bytes = %" PRId64
            " AND workspace_bytes + physical_bytes + rounding_bytes = 0 AND process_count = %d AND is_estimate = 0",
            100 + p, devices[p], ranks[p], bytes_held(p, DRIVER, peak) + bytes_held(p, MODULE, peak), peak, peak * 10,
            step, segments_held(p, peak), bytes_held(p, POOL, peak),
            bytes_held(p, DRIVER, peak) - segments_held(p, peak), bytes_held(p, MODULE, peak), devices[p] == 1 ? 2 : 1);
        ck_assert_msg(load_int(db, sql) == 1, "%s\n%s", sql,
                      load_rows(db, "SELECT pid, device, rank, peak_bytes, seq, ns, step, pool_bytes, pool_live_bytes,"
                                    " program_bytes, module_bytes, rounding_bytes, process_count FROM z_rank_summary"));
    }
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM z_rank_summary"), PROCESSES);
}

START_TEST(ranks_differ_as_slow_walks_say)
{
    for (unsigned run = 0; run < RUNS; run++) {
        random_run(run);
        sqlite3 *db = draft_load((uint64_t)event_count);
        compare_imbalance(db);
        compare_peaks(db);
        sqlite3_close(db);
    }
}
END_TEST

/* Rank 2 holds a buffer of 12 MiB at a place where the others hold 4. */
START_TEST(the_rank_that_is_out_of_line_is_found)
{
    draft_begin();
    for (int rank = 0; rank < 4; rank++) {
        draft_say("process %d pid=%d host=h rank=%d begin=0\n", rank + 1, rank + 1, rank);
        draft_say("device %d process=%d ordinal=0 physical=%d\n", rank + 1, rank + 1, rank);
        draft_say("heap %d process=%d device=%d level=driver basis=block name=memory\n", rank + 1, rank + 1, rank + 1);
        draft_say("thread %d process=%d tid=%d\n", rank + 1, rank + 1, rank + 1);
    }
    draft_say("stack 1: /model.py:1:weights\nstack 2: /gather.py:2:buffer\n");
    for (int rank = 0; rank < 4; rank++) {
        draft_say("@%d alloc heap=%d address=0x1000000 block=%d thread=%d stack=1\n", rank * 20, rank + 1, 8 << 20,
                  rank + 1);
        draft_say("@%d alloc heap=%d address=0x9000000 block=%d thread=%d stack=2\n", rank * 20 + 10, rank + 1,
                  rank == 2 ? 12 << 20 : 4 << 20, rank + 1);
    }
    sqlite3 *db = draft_load(8);
    char *row =
        load_rows(db, "SELECT site, max_rank, max_bytes, min_bytes, mean_bytes, imbalance_ratio FROM rank_imbalance"
                      " WHERE site <> '(whole heap)' LIMIT 1");

    ck_assert_str_eq(row, "gather.py:2 buffer|2|12582912|4194304|6291456|2.0\n");
    ck_assert_int_eq(load_int(db, "SELECT rank FROM z_rank_summary ORDER BY peak_bytes DESC LIMIT 1"), 2);
    free(row);
    sqlite3_close(db);
}
END_TEST

/* ---- Who failed first ---------------------------------------------------------------------------------------------- */

#define FAILERS 6
#define INPUTS  3

enum { DONE, STATUS, SIGNAL, REFUSED, REFUSED_AND_WENT_ON, REFUSED_AND_DONE, ENDS };

typedef struct failer {
    int input, kind;
    int64_t refused_ns, step_ns, end_ns; /* of its input's clock; REFUSED: the first, and of what went on the second */
} failer;

static failer failers[FAILERS];
static int64_t starts[INPUTS];                            /* on the wall clock */
static const char *const hosts[INPUTS] = {"a", "a", "b"}; /* two recordings of one host */

/* The line of process p that stands at this time, if one does. */
static int say_failer_at(int p, int64_t ns)
{
    const failer *f = &failers[p];
    int count = 0;

    if (ns == f->refused_ns && f->kind >= REFUSED)
        draft_say("@%" PRId64 " alloc_failed heap=%d requested=5000 error=207001 thread=%d\n", ns, p + 1, p + 1),
            count++;
    if (ns == f->step_ns && f->kind == REFUSED_AND_WENT_ON)
        draft_say("@%" PRId64 " step number=7 thread=%d\n", ns, p + 1), count++;
    if (ns == f->end_ns)
        draft_say("@%" PRId64 " process_end process=%d detail=%s error=%d\n", ns, p + 1,
                  f->kind == SIGNAL || f->kind == REFUSED_AND_WENT_ON ? "signal" : "exit",
                  f->kind == DONE || f->kind == REFUSED_AND_DONE ? 0 : 9),
            count++;
    return count;
}

/* All at multiples of 4 ms, so that some are at the same time and some within what clocks of one host may differ by. */
static int random_failures(unsigned seed)
{
    int count = 0;

    srand(seed);
    draft_begin();
    for (int i = 0; i < INPUTS; i++)
        starts[i] = INT64_C(1700000000000000000) + rand() % 4 * INT64_C(400000000);
    for (int p = 0; p < FAILERS; p++) {
        int64_t ns = (1 + rand() % 3 + rand() % 2 * 200) * INT64_C(4000000);

        failers[p] = (failer){rand() % INPUTS, rand() % ENDS, ns, ns + 4000000, ns + rand() % 3 * 4000000 + 8000000};
        draft_say("process %d pid=%d host=h rank=%d begin=0\n", p + 1, 100 + p, p);
        draft_say("device %d process=%d ordinal=0 physical=%d\n", p + 1, p + 1, p);
        draft_say("thread %d process=%d tid=%d\n", p + 1, p + 1, 100 + p);
        draft_say("heap %d process=%d device=%d level=driver basis=block name=memory\n", p + 1, p + 1, p + 1);
    }
    for (int p = 0; p < FAILERS; p++, count += 2)
        draft_say("@0 step number=6 thread=%d\n@0 alloc heap=%d address=0x10000 block=4096 thread=%d\n", p + 1, p + 1,
                  p + 1);
    for (int64_t ns = 0; ns < INT64_C(900000000); ns += 4000000)
        for (int p = 0; p < FAILERS; p++)
            count += say_failer_at(p, ns);
    return count;
}

/* As if each process had been recorded into one of several files: text traces have one. */
static sqlite3 *load_in_inputs(int count)
{
    sqlite3 *db = draft_load((uint64_t)count), *changed = NULL;
    char sql[512], path[256];

    snprintf(path, sizeof path, "%s", sqlite3_db_filename(db, "main"));
    sqlite3_close(db);
    ck_assert_int_eq(sqlite3_open(path, &changed), SQLITE_OK);
    snprintf(
        sql, sizeof sql,
        "CREATE TEMP TABLE copy_of AS SELECT * FROM input; UPDATE copy_of SET input_id = 2; INSERT INTO input SELECT *"
        " FROM copy_of; UPDATE copy_of SET input_id = 3; INSERT INTO input SELECT * FROM copy_of;");
    ck_assert_int_eq(sqlite3_exec(changed, sql, NULL, NULL, NULL), SQLITE_OK);
    for (int i = 0; i < INPUTS; i++) {
        snprintf(sql, sizeof sql, "UPDATE input SET start_realtime_ns = %" PRId64 " WHERE input_id = %d", starts[i],
                 i + 1);
        ck_assert_int_eq(sqlite3_exec(changed, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    for (int p = 0; p < FAILERS; p++) {
        snprintf(sql, sizeof sql, "UPDATE process SET input_id = %d, host = '%s' WHERE pid = %d", failers[p].input + 1,
                 hosts[failers[p].input], 100 + p);
        ck_assert_int_eq(sqlite3_exec(changed, sql, NULL, NULL, NULL), SQLITE_OK);
    }
    return changed;
}

static bool has_failed(const failer *f)
{
    return f->kind != DONE && f->kind != REFUSED_AND_DONE;
}

static int64_t clock_of(const failer *f)
{
    return starts[f->input] + (f->kind == REFUSED ? f->refused_ns : f->end_ns);
}

static void say_failure(nm_buffer *out, int p)
{
    static const char *const words[ENDS] = {"-", "status", "signal", "out of memory", "signal", "-"};
    const failer *f = &failers[p], *first = NULL;
    char line[256];

    for (int i = 0; i < FAILERS; i++)
        if (has_failed(&failers[i]) && (first == NULL || clock_of(&failers[i]) < clock_of(first)))
            first = &failers[i];
    if (!has_failed(f)) {
        snprintf(line, sizeof line, "%d|-|-|-|-|-\n", p);
    } else {
        int64_t since = clock_of(f) - clock_of(first), doubt = 1000000000;

        if (f->input == first->input)
            doubt = 0;
        else if (strcmp(hosts[f->input], hosts[first->input]) == 0)
            doubt = 10000000;
        snprintf(line, sizeof line, "%d|%s|%s|%" PRId64 "|%" PRId64 "|%d\n", p, words[f->kind],
                 f == first       ? "first"
                 : since <= doubt ? "same time"
                                  : "followed",
                 since, doubt, f->kind == REFUSED_AND_WENT_ON ? 7 : 6);
    }
    ck_assert_int_eq(nm_buffer_append(out, line, strlen(line), NULL), NM_OK);
}

START_TEST(failures_are_in_the_order_of_clocks_as_far_as_these_go)
{
    int seen[3] = {0};

    for (unsigned run = 0; run < RUNS; run++) {
        nm_buffer slow = {0};
        sqlite3 *db = load_in_inputs(random_failures(run));
        char *fast =
            load_rows(db, "SELECT rank, failure, failure_order, since_first_ns, clock_uncertainty_ns, failed_step"
                          " FROM z_rank_summary ORDER BY rank");

        for (int p = 0; p < FAILERS; p++)
            say_failure(&slow, p);
        ck_assert_int_eq(nm_buffer_append(&slow, "", 1, NULL), NM_OK);
        ck_assert_str_eq(fast, (const char *)slow.data);
        seen[0] += strstr(fast, "first") != NULL;
        seen[1] += strstr(fast, "same time") != NULL;
        seen[2] += strstr(fast, "followed") != NULL;
        nm_buffer_free(&slow);
        free(fast);
        sqlite3_close(db);
    }
    for (int i = 0; i < 3; i++)
        ck_assert_int_gt(seen[i], RUNS / 4);
}
END_TEST

/* Each by itself: a second run of the same ranks, and processes without one, are other jobs. */
START_TEST(runs_of_the_same_ranks_are_not_one_job)
{
    char *jobs;
    sqlite3 *db;

    failers[0] = (failer){0, STATUS, 4000000, 8000000, 8000000};
    draft_begin();
    for (int p = 0; p < 3; p++) {
        draft_say(p < 2 ? "process %d pid=%d host=h rank=0 begin=0\n" : "process %d pid=%d host=h begin=0\n", p + 1,
                  100 + p);
        draft_say("device %d process=%d ordinal=0 physical=%d\nthread %d process=%d tid=%d\n", p + 1, p + 1, p, p + 1,
                  p + 1, 100 + p);
        draft_say("heap %d process=%d device=%d level=driver basis=block name=memory\n", p + 1, p + 1, p + 1);
        failers[p].input = p;
        starts[p] = INT64_C(1700000000000000000);
    }
    for (int p = 0; p < 3; p++)
        draft_say("@0 alloc heap=%d address=0x10000 block=4096 thread=%d\n", p + 1, p + 1);
    for (int p = 0; p < 3; p++)
        draft_say("@%d process_end process=%d detail=exit error=1\n", 4000000 * (p + 1), p + 1);
    db = load_in_inputs(6);
    jobs = load_rows(db, "SELECT rank, job, failure_order, since_first_ns FROM z_rank_summary ORDER BY pid");
    ck_assert_str_eq(jobs, "0|1|first|0\n0|2|first|0\n-|3|first|0\n");
    free(jobs);
    sqlite3_close(db);
}
END_TEST

/* A rank that never got to its device has a row of its own, and so has nobody's helper. */
START_TEST(a_rank_without_device_memory_is_seen)
{
    sqlite3 *db;
    char *rows;

    draft_begin();
    draft_say(
        "process 1 pid=100 host=h rank=0 begin=0 world_size=4\nprocess 2 pid=200 host=h rank=1 begin=0 world_size=4\n"
        "process 3 pid=101 host=h rank=0 begin=0\nprocess 4 pid=400 host=h begin=0\n"
        "device 1 process=1 ordinal=0 physical=0\nthread 1 process=1 tid=100\n"
        "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
        "@0 alloc heap=1 address=0x10000 block=4096 thread=1\n"
        "@5 process_end process=2 detail=signal error=11\n");
    db = draft_load(2);
    rows = load_rows(db, "SELECT rank, pid, device, peak_bytes, leak_bytes, world_size, end_kind, end_status, failure,"
                         " failed_ns FROM z_rank_summary ORDER BY rank");
    ck_assert_str_eq(rows, "0|100|0|4096|0|4|running|-|-|-\n1|200|-|-|-|4|signal|11|signal|5\n");
    free(rows);
    sqlite3_close(db);
}
END_TEST

TEST_SUITE(test_rank_oracle)
{
    TCase *test = tcase_create("oracle");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, ranks_differ_as_slow_walks_say);
    tcase_add_test(test, the_rank_that_is_out_of_line_is_found);
    tcase_add_test(test, failures_are_in_the_order_of_clocks_as_far_as_these_go);
    tcase_add_test(test, runs_of_the_same_ranks_are_not_one_job);
    tcase_add_test(test, a_rank_without_device_memory_is_seen);
    return draft_suite("ranks", test);
}
