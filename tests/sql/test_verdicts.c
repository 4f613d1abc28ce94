/* SPDX-License-Identifier: Apache-2.0
 *
 * The verdicts of view health at the edges of their thresholds: exactly at one, and one nanosecond, byte or request to each
 * side of it. And that nothing is claimed of a recording of which something is missing.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "store/verdicts/verdict.h"
#include "support/load_text.h"
#include "support/run.h"
#include "support/suites.h"

static char folder[64];
static char path[128];

static void set_up(void)
{
    run_make_folder(folder);
    snprintf(path, sizeof path, "%s/run.db", folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

#define PLACES                                                                                                         \
    "device 1 process=1 ordinal=0 kind=npu\n"                                                                          \
    "heap 1 process=1 device=1 level=driver basis=block name=memory\n"                                                 \
    "heap 2 process=1 device=1 level=pool basis=block name=pool\n"                                                     \
    "heap 3 process=1 level=registered basis=block name=registered\n"                                                  \
    "thread 1 process=1 tid=100\n"

/* The first row that `sql` gives after the events have been loaded. */
static char *rows_of(const char *places, const char *events, const nm_input_row *input, const char *sql)
{
    char *text = malloc(strlen(places) + strlen(events) + 1);

    ck_assert_ptr_nonnull(text);
    sprintf(text, "%s%s", places, events);
    load_text_above(text, input, &load_no_floors, path);
    sqlite3 *db = load_open(path);
    char *rows = load_rows(db, sql);
    sqlite3_close(db);
    free(text);
    return rows;
}

static void expect_verdict(const char *events, const char *measure, const char *expected)
{
    nm_input_row input = load_whole_input(1000);
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT verdict FROM health WHERE measure = '%s' AND level IS NOT 'driver'", measure);
    char *rows = rows_of("process 1 pid=100 host=h1\n" PLACES, events, &input, sql);
    ck_assert_msg(strncmp(rows, expected, strlen(expected)) == 0, "%s is %s, not %s, of\n%s", measure, rows, expected,
                  events);
    free(rows);
}

/* One segment, of which one block takes a part. */
START_TEST(fragmentation_turns_at_10_and_30_percent)
{
    static const struct {
        int reserved, used;
        const char *verdict;
    } cases[] = {
        {1000, 901, "good"},    {1000, 900, "warning"}, {1000, 899, "warning"},     {1000, 701, "warning"},
        {1000, 700, "warning"}, {1000, 699, "danger"},  {10, 9, "warning"},         {10, 7, "warning"},
        {70, 49, "warning"},    {70, 48, "danger"},     {102400, 92160, "warning"}, {102400, 92161, "good"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[256];

        snprintf(
            events, sizeof events,
            "@1 alloc heap=1 address=0x100000 block=%d thread=1\n@2 alloc heap=2 address=0x100000 block=%d thread=1\n",
            cases[i].reserved, cases[i].used);
        expect_verdict(events, "fragmentation", cases[i].verdict);
    }
}
END_TEST

/* Of 10 KiB of reserve 6 KiB were asked for, in blocks of 9 KiB: what is rounded is in use. */
START_TEST(rounding_of_requests_is_nothing_that_segments_give_back)
{
    static const char advice[] = "1.0 KiB of 10.0 KiB reserved was unused at the peak, 1.0 KiB of it inactive split:"
                                 " segments that can grow could give back up to 1.0 KiB.\n";
    static const char *const bases[] = {"requested", "block"};
    nm_input_row input = load_whole_input(3);

    for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++) {
        char events[512];

        snprintf(events, sizeof events,
                 "heap 4 process=1 device=1 level=pool basis=%s name=own\n"
                 "@1 alloc heap=1 address=0x100000 block=10240 thread=1\n"
                 "@2 alloc heap=4 address=0x100000 requested=4096 block=5120 thread=1\n"
                 "@3 alloc heap=4 address=0x101400 requested=2048 block=4096 thread=1\n",
                 bases[i]);
        char *rows = rows_of("process 1 pid=100 host=h1\n" PLACES, events, &input,
                             "SELECT advice FROM health WHERE measure = 'fragmentation'");
        ck_assert_msg(strcmp(rows, advice) == 0, "%s", rows);
        free(rows);
    }
}
END_TEST

/* Of a pool whose rules nobody knows, a block of which only the requested size is told ends before the next one at the latest:
 * of 1000 bytes 200 to 500 are unused, of which only the 200 behind a block that tells its size are for sure. */
START_TEST(what_is_behind_a_block_of_unknown_size_is_not_sure)
{
    static const struct {
        const char *first; /* sizes of the block that tells what it was asked for alone */
        const char *row;
    } cases[] = {{"requested=400", "200|500|warning|-|at least 0.2 KiB of 1.0 KiB reserved was unused at the peak"},
                 {"requested=680", "200|220|warning|-|at least 0.2 KiB of 1.0 KiB reserved was unused at the peak"},
                 {"requested=400 block=700", "200|200|warning|-|0.2 KiB of 1.0 KiB reserved was unused at the peak"}};
    nm_input_row input = load_whole_input(3);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[512];

        snprintf(events, sizeof events,
                 "@1 alloc heap=1 address=0x100000 block=1000 thread=1\n"
                 "@2 alloc heap=2 address=0x1002bc block=100 thread=1\n"
                 "@3 alloc heap=2 address=0x100000 %s thread=1\n",
                 cases[i].first);
        char *rows = rows_of("process 1 pid=100 host=h1\n" PLACES, events, &input,
                             "SELECT v.min_unused_bytes, v.max_unused_bytes, v.verdict, v.reason, substr(h.advice, 1,"
                             " instr(h.advice, 'peak') + 3) FROM z_fragmentation_verdict AS v, health AS h"
                             " WHERE v.moment = 'peak' AND h.measure = 'fragmentation' AND h.moment = 'peak'");
        ck_assert_msg(strncmp(rows, cases[i].row, strlen(cases[i].row)) == 0, "case %zu: %s", i, rows);
        free(rows);
    }
}
END_TEST

/* Half of a segment is unused: 64 MiB or 1 % of the device, whichever is more, has to be; of requests 100, of calls 0.1 s. */
START_TEST(what_is_below_its_floor_is_minor)
{
    static const struct {
        const char *device, *measure;
        int64_t segment_bytes, cost_ns;
        const char *verdict;
    } cases[] = {
        {"", "fragmentation", 2 * (INT64_C(64) << 20), 1, "danger"},
        {"", "fragmentation", 2 * (INT64_C(64) << 20) - 2, 1, "minor"},
        {" capacity=6400000000", "fragmentation", 2 * (INT64_C(64) << 20), 1, "danger"},
        {" capacity=34359738368", "fragmentation", 2 * (INT64_C(64) << 20), 1, "minor"},
        {" capacity=34359738368", "fragmentation", 2 * INT64_C(343597383), 1, "danger"},
        {" capacity=34359738368", "fragmentation", 2 * INT64_C(343597382), 1, "minor"},
        {"", "allocation cost", 1000, 99999999, "minor"},
        {"", "allocation cost", 1000, 100000000, "danger"},
    };
    nm_input_row input = load_whole_input(2);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[1024], sql[128];

        snprintf(text, sizeof text,
                 "process 1 pid=100 host=h1\ndevice 1 process=1 ordinal=0 kind=npu%s\n"
                 "heap 1 process=1 device=1 level=driver basis=block name=memory\n"
                 "heap 2 process=1 device=1 level=pool basis=block name=pool\nthread 1 process=1 tid=100\n"
                 "@1 alloc heap=1 address=0x100000 block=%" PRId64 " thread=1 cost=%" PRId64 "\n"
                 "@2 alloc heap=2 address=0x100000 block=%" PRId64 " thread=1\n",
                 cases[i].device, cases[i].segment_bytes, cases[i].cost_ns, cases[i].segment_bytes / 2);
        snprintf(sql, sizeof sql, "SELECT verdict FROM health WHERE measure = '%s' AND level = 'pool'",
                 cases[i].measure);
        load_text(text, &input, path);
        sqlite3 *db = load_open(path);
        char *rows = load_rows(db, sql);
        ck_assert_msg(strncmp(rows, cases[i].verdict, strlen(cases[i].verdict)) == 0, "case %zu: %s", i, rows);
        sqlite3_close(db);
        free(rows);
    }
}
END_TEST

/* Expandable segments are no advice to who has them. */
START_TEST(segments_that_grow_are_not_told_to)
{
    nm_input_row input = load_whole_input(2);
    char *rows = rows_of("process 1 pid=100 host=h1\n" PLACES,
                         "heap 4 process=1 device=1 level=pool basis=block name=ptaCaching\n"
                         "@1 map heap=1 address=0x100000 block=10240 thread=1\n"
                         "@2 alloc heap=4 address=0x100000 block=5120 thread=1\n",
                         &input, "SELECT advice FROM health WHERE measure = 'fragmentation'");

    ck_assert_str_eq(rows,
                     "5.0 KiB of 10.0 KiB reserved was unused at the peak, 5.0 KiB of it inactive split: its segments"
                     " grow already; whose blocks hold them stands in view fragmentation_blocker.\n");
    free(rows);
}
END_TEST

/* One segment that took so long, for so many blocks. */
START_TEST(allocation_cost_turns_at_10_and_50_microseconds)
{
    static const struct {
        int cost, blocks;
        const char *verdict;
    } cases[] = {
        {9999, 1, "good"},  {10000, 1, "warning"}, {10001, 1, "warning"},  {50000, 1, "warning"}, {50001, 1, "danger"},
        {29999, 3, "good"}, {30000, 3, "warning"}, {150000, 3, "warning"}, {150001, 3, "danger"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[1024];
        int len = snprintf(events, sizeof events, "@1 alloc heap=1 address=0x100000 block=65536 thread=1 cost=%d\n",
                           cases[i].cost);

        for (int b = 0; b < cases[i].blocks; b++)
            len += snprintf(events + len, sizeof events - (size_t)len,
                            "@%d alloc heap=2 address=0x%x block=512 thread=1\n", b + 2, 0x100000 + 512 * b);
        expect_verdict(events, "allocation cost", cases[i].verdict);
    }
}
END_TEST

/* After the warm-up of two steps, so many requests, of which the first ones each need a segment of their own. */
START_TEST(costs_of_a_heap_are_added_up_to_the_largest_number)
{
    static const struct {
        const char *first, *second, *sum;
    } cases[] = {
        {"1000", "2147483648", "2|2147484648\n"},
        {"2147483647", "2147483647", "2|4294967294\n"},
        {"9223372036854775800", "6", "2|9223372036854775806\n"},
        {"9223372036854775800", "7", "2|9223372036854775807\n"},
        {"9223372036854775800", "8", "2|9223372036854775807\n"},
        {"9223372036854775807", "9223372036854775807", "2|9223372036854775807\n"},
    };
    nm_input_row input = load_whole_input(1000);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[256];

        snprintf(events, sizeof events,
                 "@1 alloc heap=1 address=0x1000 block=16 thread=1 cost=%s\n"
                 "@2 alloc heap=1 address=0x2000 block=16 thread=1 cost=%s\n"
                 "@3 alloc heap=2 address=0x2000 block=16 thread=1\n",
                 cases[i].first, cases[i].second);
        char *rows = rows_of("process 1 pid=100 host=h1\n" PLACES, events, &input,
                             "SELECT cost_count, cost_ns FROM z_heap_sum WHERE heap_id = 1");
        ck_assert_msg(strcmp(rows, cases[i].sum) == 0, "case %zu: %s", i, rows);
        free(rows);
        rows = rows_of("process 1 pid=100 host=h1\n" PLACES, events, &input,
                       "SELECT cost_count, cost_ns FROM z_heap_sum WHERE heap_id = 2");
        ck_assert_str_eq(rows, "0|0\n");
        free(rows);
    }
}
END_TEST

START_TEST(hit_rate_turns_at_90_and_70_percent)
{
    static const struct {
        int requests, misses;
        const char *verdict;
    } cases[] = {
        {11, 1, "good"},   {10, 1, "warning"}, {10, 2, "warning"}, {10, 3, "warning"},
        {10, 4, "danger"}, {20, 2, "warning"}, {20, 6, "warning"}, {20, 7, "danger"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[4096];
        int len = snprintf(events, sizeof events,
                           "@1 step number=1 thread=1\n@2 step number=2 thread=1\n"
                           "@3 step number=3 thread=1\n");
        int at = 4;

        for (int b = 0; b < cases[i].requests; b++) {
            bool is_miss = b < cases[i].misses;
            int address = is_miss ? 0x100000 * (b + 1) : 0x100000 + 512 * (b + 1);

            if (is_miss)
                len += snprintf(events + len, sizeof events - (size_t)len,
                                "@%d alloc heap=1 address=0x%x block=65536 thread=1\n", at++, address);
            len += snprintf(events + len, sizeof events - (size_t)len,
                            "@%d alloc heap=2 address=0x%x block=512 thread=1\n", at++, address);
        }
        expect_verdict(events, "pool hit rate", cases[i].verdict);
    }
}
END_TEST

/* Copies from registered memory, and from other. */
static void write_copies(char *events, size_t size, int registered, int other)
{
    snprintf(events, size,
             "@1 alloc heap=3 address=0x900000 block=65536 thread=1\n"
             "@2 copy thread=1 detail=h2d source=0x900000 address=0x1000 size=%d device=1\n"
             "@3 copy thread=1 detail=h2d source=0x100000 address=0x1000 size=%d device=1\n",
             registered, other);
}

START_TEST(zero_copy_turns_at_80_and_50_percent)
{
    static const struct {
        int registered, other;
        const char *verdict;
    } cases[] = {
        {8001, 1999, "good"},   {8000, 2000, "warning"}, {4, 1, "warning"}, {5000, 5000, "warning"},
        {4999, 5001, "danger"}, {80, 20, "warning"},     {81, 19, "good"},  {1, 1, "warning"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[512];

        write_copies(events, sizeof events, cases[i].registered, cases[i].other);
        expect_verdict(events, "zero copy", cases[i].verdict);
    }
}
END_TEST

/* What was registered before a late start is not known, nor what a loss took: neither a verdict nor 'not applicable'. */
START_TEST(zero_copy_claims_nothing_of_a_partial_recording)
{
    nm_input_row whole = load_whole_input(4), lossy = load_whole_input(4);
    char events[512];

    lossy.events_seen = 100;
    lossy.events_dropped = 96;
    lossy.is_complete = false;
    for (int i = 0; i < 4; i++) {
        write_copies(events, sizeof events, i < 2 ? 100 : 0, i < 2 ? 900 : 1000);
        if (i >= 2)
            strcpy(events, "@1 copy thread=1 detail=h2d source=0x900000 address=0x1000 size=1000 device=1\n");
        char *rows =
            rows_of(i % 2 == 0 ? "process 1 pid=100 host=h1 late=1\n" PLACES : "process 1 pid=100 host=h1\n" PLACES,
                    events, i % 2 == 0 ? &whole : &lossy,
                    "SELECT z.verdict, z.is_partial, h.verdict, h.is_partial FROM zero_copy AS z, health AS h"
                    " WHERE h.measure = 'zero copy'");
        ck_assert_msg(strcmp(rows, "unknown|1|unknown|1\n") == 0, "case %d: %s", i, rows);
        free(rows);
    }
}
END_TEST

/* A pool held 1000 bytes with 900 in use, and as much again came and went unseen: its segment alone stood at the end. Where a
 * pause tells its allocations, the memory is known; whether the pool served them is not. */
START_TEST(nothing_is_claimed_of_a_run_that_was_paused)
{
    static const struct {
        const char *detail, *verdicts;
    } cases[] = {{"1", "allocation cost unknown 1,fragmentation unknown 1,pool hit rate unknown 1\n"},
                 {"4", "allocation cost good 0,fragmentation danger 0,pool hit rate unknown 1\n"}};
    nm_input_row input = load_whole_input(8);

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char events[1024];

        snprintf(events, sizeof events,
                 "@1 step number=1 thread=1\n@2 alloc heap=1 address=0x100000 block=1000 thread=1 cost=100\n"
                 "@3 alloc heap=2 address=0x100000 block=900 thread=1\n@4 step number=2 thread=1\n"
                 "@5 pause number=1 thread=1 detail=%s\n"
                 "@6 alloc heap=1 address=0x200000 block=1000 thread=1 paused cost=100\n"
                 "@6 alloc heap=2 address=0x200000 block=10 thread=1 paused\n@7 pause number=1 thread=1 detail=2\n",
                 cases[i].detail);
        char *rows = rows_of("process 1 pid=100 host=h1\n" PLACES, events, &input,
                             "SELECT group_concat(measure || ' ' || verdict || ' ' || is_partial) FROM (SELECT * FROM"
                             " health WHERE level = 'pool' ORDER BY measure)");
        ck_assert_msg(strcmp(rows, cases[i].verdicts) == 0, "case %zu: %s", i, rows);
        free(rows);
    }
}
END_TEST

/* A database may come from anybody, and brings its numbers of steps into the verdicts when it is put beside another. These are
 * beyond what a product of them can hold, and what is live falls, so that the age of what is left is looked at. */
START_TEST(wild_numbers_of_steps_are_judged_as_the_largest)
{
    static const char wild[] =
        "DELETE FROM z_site_verdict; DELETE FROM z_site_step;"
        "UPDATE step SET generation = generation * 400000000000000000;"
        "UPDATE z_outstanding_birth SET generation = generation * 400000000000000000;"
        "INSERT INTO z_site_step (heap_id, generation, live_bytes, live_count)"
        " SELECT 2, generation, 1000000 - row_number() OVER (ORDER BY generation), 100 FROM step";
    char text[4096], *rows;
    size_t length = (size_t)snprintf(text, sizeof text, "process 1 pid=100 host=h1\n" PLACES);
    nm_input_row input = load_whole_input(1000);
    sqlite3 *db = NULL;
    nm_error err = {0};

    for (int step = 1; step <= 10; step++)
        length +=
            (size_t)snprintf(text + length, sizeof text - length,
                             "@%d step number=%d thread=1\n@%d alloc heap=2 address=0x%x block=4096 thread=1\n"
                             "@%d alloc heap=2 address=16 block=16 thread=1\n@%d free heap=2 address=16 thread=1\n",
                             4 * step, step, 4 * step + 1, step << 20, 4 * step + 2, 4 * step + 3);
    ck_assert_uint_lt(length, sizeof text);
    load_text(text, &input, path);
    ck_assert_int_eq(nm_db_open(path, &db, &err), NM_OK);
    ck_assert_msg(nm_db_exec(db, wild, &err) == NM_OK, "%s", err.text);
    ck_assert_msg(nm_verdict_write(db, NULL, &err) == NM_OK, "%s", err.text);
    rows = load_rows(db, "SELECT verdict, reason, growth_bytes FROM z_site_verdict WHERE heap_id = 2");
    ck_assert_str_eq(rows, "bounded|only the newest are kept|-\n");
    free(rows);
    sqlite3_close(db);
}
END_TEST

/* A block a step is never freed, without a stack: a leak of one place, or what a pause hides of many. `pause_steps`: before which
 * steps a pause begins; 0: none. Only one that is told again while it goes on has several. */
static char *leaks_behind(const int pause_steps[2])
{
    char events[8192] = "";
    size_t length = 0;
    nm_input_row input = load_whole_input(60);

    for (int step = 1; step <= 20; step++) {
        for (int i = 0; i < 2; i++)
            if (pause_steps[i] == step)
                length += (size_t)snprintf(events + length, sizeof events - length,
                                           "@%d0 pause number=1 thread=1 detail=4\n", step);
        length += (size_t)snprintf(events + length, sizeof events - length,
                                   "@%d1 step number=%d thread=1\n@%d2 alloc heap=1 address=0x%d00000 block=4096"
                                   " thread=1\n",
                                   step, step, step, step);
    }
    return rows_of("process 1 pid=100 host=h1\n" PLACES, events, &input, "SELECT count(*) FROM leak");
}

START_TEST(what_is_born_in_a_pause_that_never_ends_is_not_called_growing)
{
    static const struct {
        int pause_steps[2];
        const char *leaks;
    } cases[] = {{{0, 0}, "20\n"}, {{1, 0}, "0\n"}, {{1, 15}, "0\n"}, {{1, 20}, "0\n"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *rows = leaks_behind(cases[i].pause_steps);

        ck_assert_msg(strcmp(rows, cases[i].leaks) == 0, "case %zu: %s", i, rows);
        free(rows);
    }
}
END_TEST

TEST_SUITE(test_verdicts)
{
    Suite *suite = suite_create("verdicts");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 120);
    tcase_add_checked_fixture(tcase, set_up, tear_down);
    tcase_add_test(tcase, fragmentation_turns_at_10_and_30_percent);
    tcase_add_test(tcase, rounding_of_requests_is_nothing_that_segments_give_back);
    tcase_add_test(tcase, what_is_behind_a_block_of_unknown_size_is_not_sure);
    tcase_add_test(tcase, what_is_below_its_floor_is_minor);
    tcase_add_test(tcase, segments_that_grow_are_not_told_to);
    tcase_add_test(tcase, allocation_cost_turns_at_10_and_50_microseconds);
    tcase_add_test(tcase, costs_of_a_heap_are_added_up_to_the_largest_number);
    tcase_add_test(tcase, hit_rate_turns_at_90_and_70_percent);
    tcase_add_test(tcase, zero_copy_turns_at_80_and_50_percent);
    tcase_add_test(tcase, zero_copy_claims_nothing_of_a_partial_recording);
    tcase_add_test(tcase, nothing_is_claimed_of_a_run_that_was_paused);
    tcase_add_test(tcase, wild_numbers_of_steps_are_judged_as_the_largest);
    tcase_add_test(tcase, what_is_born_in_a_pause_that_never_ends_is_not_called_growing);
    suite_add_tcase(suite, tcase);
    return suite;
}
