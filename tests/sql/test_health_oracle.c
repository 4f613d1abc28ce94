/* SPDX-License-Identifier: Apache-2.0
 *
 * View health against figures that are counted while a random trace is written. The bounds are in test_verdicts.c.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define RUNS          60
#define EVENTS        150
#define SEGMENT_BYTES 65536

typedef struct segment {
    int64_t address, used;
    int live_count;
    bool is_live;
} segment;

typedef struct block {
    int64_t address, size;
    int segment;
    bool is_live;
} block;

static segment segments[EVENTS];
static block blocks[EVENTS];
static int segment_count, block_count;
static int64_t event_count, step_count, live, peak, reserved;
static int64_t peak_unused, reserved_at_peak;       /* at the peak */
static int64_t most_reserved, most_reserved_unused; /* when the pool grew to its largest */
static int64_t largest, live_at_largest;            /* when it first was that large */
static int64_t calls_ns, own_count, own_ns, copy_bytes, registered_bytes, registered_count;
static int64_t late_counts[2], late_miss_counts[2]; /* after the first step, after the second */

/* ---- What is written is counted ------------------------------------------------------------------------------------ */

static void begin(void)
{
    draft_begin();
    draft_say("process 1 pid=1 host=h begin=0\ndevice 1 process=1 ordinal=0 kind=npu\n");
    draft_say("heap 1 process=1 device=1 level=driver basis=block name=memory\n");
    draft_say("heap 2 process=1 device=1 level=pool basis=block name=pool\n");
    draft_say("heap 3 process=1 level=registered basis=requested name=registered\n");
    draft_say("thread 1 process=1 tid=1\n");
    draft_say("@0 alloc heap=3 address=0x900000 requested=1000000 thread=1\n");
    event_count = 1;
    segment_count = block_count = 0;
    step_count = live = peak = reserved = 0;
    peak_unused = reserved_at_peak = most_reserved = most_reserved_unused = largest = live_at_largest = 0;
    memset(late_counts, 0, sizeof late_counts);
    memset(late_miss_counts, 0, sizeof late_miss_counts);
    calls_ns = own_count = own_ns = copy_bytes = registered_bytes = registered_count = 0;
}

static sqlite3 *end(void)
{
    return draft_load_without_floors((uint64_t)event_count);
}

static void say_step(void)
{
    draft_say("@%" PRId64 " step number=%" PRId64 " thread=1\n", event_count, ++step_count);
    event_count++;
}

/* Which of the two ends the warm-up shows only when all steps are known. */
static void count_late(int64_t *counts)
{
    counts[0] += step_count > 1;
    counts[1] += step_count > 2;
}

static void say_block(int at, int64_t size)
{
    blocks[block_count++] = (block){segments[at].address + segments[at].used, size, at, true};
    draft_say("@%" PRId64 " alloc heap=2 address=0x%" PRIx64 " block=%" PRId64 " thread=1\n", event_count,
              (uint64_t)(segments[at].address + segments[at].used), size);
    event_count++;
    segments[at].used += size;
    segments[at].live_count++;
    live += size;
    if (live > peak) {
        peak = live;
        peak_unused = reserved - live;
        reserved_at_peak = reserved;
    }
    count_late(late_counts);
}

/* Of several times that it was as large, the worst. What the new segment has left is not counted. */
static void note_growth(int64_t unused)
{
    if (reserved < most_reserved || (reserved == most_reserved && unused <= most_reserved_unused))
        return;
    most_reserved = reserved;
    most_reserved_unused = unused;
}

/* A segment and the first block in it: a miss. */
static void say_segment(int64_t bytes, int64_t cost_ns, int64_t size)
{
    segments[segment_count] = (segment){.address = INT64_C(0x10000000) * (segment_count + 1), .is_live = true};
    draft_say("@%" PRId64 " alloc heap=1 address=0x%" PRIx64 " block=%" PRId64 " thread=1 cost=%" PRId64 "\n",
              event_count, (uint64_t)segments[segment_count].address, bytes, cost_ns);
    event_count++;
    calls_ns += cost_ns;
    reserved += bytes;
    count_late(late_miss_counts);
    say_block(segment_count++, size);
    note_growth(reserved - live - (bytes - size));
    if (reserved > largest) {
        largest = reserved;
        live_at_largest = live;
    }
}

static void say_own(int64_t cost_ns)
{
    draft_say("@%" PRId64 " alloc heap=1 address=0x%" PRIx64 " block=4096 thread=1 cost=%" PRId64 "\n", event_count,
              (uint64_t)(INT64_C(0x7000000000) + event_count * 4096), cost_ns);
    event_count++;
    own_count++;
    own_ns += cost_ns;
}

static void say_copy(bool is_registered, int64_t size)
{
    draft_say("@%" PRId64 " copy thread=1 detail=h2d device=1 address=0x10000000 source=0x%x size=%" PRId64 "\n",
              event_count, is_registered ? 0x900000 : 0x100000, size);
    event_count++;
    copy_bytes += size;
    registered_bytes += is_registered ? size : 0;
    registered_count += is_registered;
}

static void say_free(int at)
{
    segment *in = &segments[blocks[at].segment];

    draft_say("@%" PRId64 " free heap=2 address=0x%" PRIx64 " thread=1\n", event_count, (uint64_t)blocks[at].address);
    event_count++;
    blocks[at].is_live = false;
    live -= blocks[at].size;
    if (--in->live_count > 0 || rand() % 2)
        return;
    draft_say("@%" PRId64 " free heap=1 address=0x%" PRIx64 " thread=1 detail=device\n", event_count,
              (uint64_t)in->address);
    event_count++;
    in->is_live = false;
    reserved -= SEGMENT_BYTES;
}

static void random_event(void)
{
    static const int costs[] = {100, 10000, 50000, 900000};
    int64_t size = 512 * (1 + rand() % 40);
    int at = block_count > 0 ? rand() % block_count : 0;
    int in = segment_count > 0 ? rand() % segment_count : 0;

    switch (rand() % 8) {
    case 0:
        say_own(costs[rand() % 4]);
        break;
    case 1:
        say_copy(rand() % 3 > 0, 1 + rand() % 9);
        break;
    case 2:
        if (rand() % 3 == 0)
            say_step();
        break;
    case 3:
    case 4:
        if (block_count > 0 && blocks[at].is_live)
            say_free(at);
        break;
    default:
        if (segment_count > 0 && segments[in].is_live && segments[in].used + size <= SEGMENT_BYTES)
            say_block(in, size);
        else if (rand() % 3 == 0)
            say_segment(SEGMENT_BYTES, costs[rand() % 4], size);
    }
}

/* ---- Verdicts ------------------------------------------------------------------------------------------------------ */

static const char *of_cost(int64_t ns, int64_t count)
{
    return ns < 10000 * count ? "good" : ns <= 50000 * count ? "warning" : "danger";
}

static const char *of_unused(int64_t unused, int64_t all)
{
    return 10 * unused < all ? "good" : 10 * unused <= 3 * all ? "warning" : "danger";
}

/* Of a rate that is good above `high` tenths and a danger below `low`. */
static const char *of_rate(int64_t part, int64_t all, int high, int low)
{
    return 10 * part > high * all ? "good" : 10 * part >= low * all ? "warning" : "danger";
}

static void expect(sqlite3 *db, bool is_there, const char *which, const char *verdict, double value)
{
    char sql[400];

    snprintf(sql, sizeof sql, "SELECT count(*) FROM health WHERE %s", which);
    ck_assert_msg(load_int(db, sql) == is_there, "%s: %d expected", sql, is_there);
    if (!is_there)
        return;
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM health WHERE %s AND verdict = '%s' AND abs(coalesce(value, -1) - %.12f) < 0.0000001"
             " AND is_partial = 0",
             which, verdict, value);
    ck_assert_msg(load_int(db, sql) == 1, "%s\n%s", sql,
                  load_rows(db, "SELECT measure, heap, verdict, value FROM health"));
}

/* The larger share has the worse verdict. Where it was largest, what it needed at its peak is no waste. */
static void compare_fragmentation(sqlite3 *db)
{
    int64_t needed_at_peak = reserved_at_peak - peak_unused;
    int64_t parts[] = {peak_unused, most_reserved_unused,
                       largest - (live_at_largest > needed_at_peak ? live_at_largest : needed_at_peak)};
    int64_t wholes[] = {reserved_at_peak, most_reserved, largest};
    int64_t unused = 0, all = 1;

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i] * all > unused * wholes[i] && (i < 2 || largest > reserved_at_peak)) {
            unused = parts[i];
            all = wholes[i];
        }
    expect(db, true, "measure = 'fragmentation'", of_unused(unused, all), (double)unused / (double)all);
}

static void compare(sqlite3 *db)
{
    bool has_copies = copy_bytes > 0;
    int64_t late_count = late_counts[step_count > 2], late_miss_count = late_miss_counts[step_count > 2];

    expect(db, segment_count > 0, "measure = 'allocation cost' AND heap = 'pool'", of_cost(calls_ns, block_count),
           (double)calls_ns / (block_count > 0 ? block_count : 1));
    expect(db, own_count > 0, "measure = 'allocation cost' AND heap = 'memory'", of_cost(own_ns, own_count),
           (double)own_ns / (double)(own_count > 0 ? own_count : 1));
    if (segment_count > 0)
        compare_fragmentation(db);
    if (step_count > 1)
        expect(db, block_count > 0, "measure = 'pool hit rate'",
               late_count == 0 ? "unknown" : of_rate(late_count - late_miss_count, late_count, 9, 7),
               late_count == 0 ? -1 : (double)(late_count - late_miss_count) / (double)late_count);
    expect(db, has_copies, "measure = 'zero copy'",
           registered_count == 0 ? "not applicable" : of_rate(registered_bytes, copy_bytes, 8, 5),
           registered_count == 0 ? -1 : (double)registered_bytes / (double)copy_bytes);
}

START_TEST(verdicts_are_those_of_what_was_counted)
{
    for (unsigned run = 0; run < RUNS; run++) {
        srand(run);
        begin();
        while (event_count < EVENTS - 2)
            random_event();
        sqlite3 *db = end();
        compare(db);
        sqlite3_close(db);
    }
}
END_TEST

TEST_SUITE(test_health_oracle)
{
    TCase *test = tcase_create("oracle");

    tcase_set_timeout(test, 120);
    tcase_add_test(test, verdicts_are_those_of_what_was_counted);
    return draft_suite("health", test);
}
