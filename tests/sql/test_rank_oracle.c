/* SPDX-License-Identifier: Apache-2.0
 *
 * Views _peak_by_rank and rank_imbalance against slow walks over random events: five processes, of which two share a device,
 * two are one rank and one has none, allocate and free driver memory and blocks of pools in it. Who held how much at which
 * event is asked of every allocation again and again.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "support/draft.h"
#include "support/load_text.h"

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
            "SELECT count(*) FROM _peak_by_rank WHERE pid = %d AND device = %d AND coalesce(rank, -1) = %d"
            " AND peak_bytes = %" PRId64
            " AND seq = %d AND ns = %d AND coalesce(step, -1) = %d AND pool_bytes = %" PRId64
            " AND pool_live_bytes = %" PRId64 " AND program_bytes = %" PRId64 " AND module_bytes = %" PRId64
            " AND workspace_bytes + physical_bytes + rounding_bytes = 0 AND process_count = %d AND is_estimate = 0",
            100 + p, devices[p], ranks[p], bytes_held(p, DRIVER, peak) + bytes_held(p, MODULE, peak), peak, peak * 10,
            step, segments_held(p, peak), bytes_held(p, POOL, peak),
            bytes_held(p, DRIVER, peak) - segments_held(p, peak), bytes_held(p, MODULE, peak), devices[p] == 1 ? 2 : 1);
        ck_assert_msg(load_int(db, sql) == 1, "%s\n%s", sql,
                      load_rows(db, "SELECT pid, device, rank, peak_bytes, seq, ns, step, pool_bytes, pool_live_bytes,"
                                    " program_bytes, module_bytes, rounding_bytes, process_count FROM _peak_by_rank"));
    }
    ck_assert_int_eq(load_int(db, "SELECT count(*) FROM _peak_by_rank"), PROCESSES);
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
    ck_assert_int_eq(load_int(db, "SELECT rank FROM _peak_by_rank ORDER BY peak_bytes DESC LIMIT 1"), 2);
    free(row);
    sqlite3_close(db);
}
END_TEST

int main(void)
{
    TCase *test = tcase_create("oracle");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, ranks_differ_as_slow_walks_say);
    tcase_add_test(test, the_rank_that_is_out_of_line_is_found);
    return draft_run("ranks", test);
}
