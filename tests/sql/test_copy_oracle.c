/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies against slow sums: random copies between a few addresses, with frees, losses and pauses between them, are kept in
 * an array; every sum is worked out from it again by walking all of it, and every repetition by asking each earlier copy
 * and everything in between.
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "support/draft.h"
#include "support/load_text.h"
#include "support/suites.h"

#define RUNS        60
#define ACTS        300
#define STACKS      3
#define STREAMS     3 /* 0: none */
#define HOST_BASE   0x10000
#define DEVICE_BASE 0x90000
#define BLOCK_BYTES 0x40
#define BLOCKS      4
#define BYTES_MAX   (BLOCK_BYTES * BLOCKS)
#define SQL_BYTES   900

typedef enum act_kind { ACT_COPY, ACT_END, ACT_LOSS, ACT_PAUSE } act_kind;

typedef struct act {
    act_kind what;
    int kind; /* of a copy: nm_copy_kind */
    int stack, stream;
    bool is_async, is_failed, is_registered, is_pinned, is_late;
    uint64_t source, target, bytes, cost; /* ACT_END: [source, source + bytes) is gone */
    uint64_t repeats;
} act;

static act acts[ACTS];
static int act_count;
static int64_t event_count;

/* The begin of an event's line. */
static void stamp(void)
{
    draft_say("@%" PRId64 " ", ++event_count * 1000);
}

/* ---- Making ---- */

static void begin_text(void)
{
    draft_begin();
    event_count = act_count = 0;
    draft_say("process 1 pid=1 host=h begin=0 command=x\n"
              "device 1 process=1 ordinal=0 kind=npu\n"
              "heap 1 process=1 device=1 level=driver basis=block name=device\n"
              "heap 2 process=1 level=pinned basis=requested name=pinned\n"
              "heap 3 process=1 level=registered basis=requested name=registered\n"
              "thread 1 process=1 tid=1 name=main\n");
    for (int stack = 1; stack <= STACKS; stack++)
        draft_say("stack %d: /a.py:%d:f%d\n", stack, stack, stack);
    for (int block = 0; block < BLOCKS; block++) {
        stamp();
        draft_say("alloc heap=2 address=0x%x requested=%d thread=1\n", HOST_BASE + block * BLOCK_BYTES, BLOCK_BYTES);
        stamp();
        draft_say("alloc heap=1 address=0x%x requested=%d block=%d thread=1\n", DEVICE_BASE + block * BLOCK_BYTES,
                  BLOCK_BYTES, BLOCK_BYTES);
    }
    stamp();
    draft_say("alloc heap=3 address=0x%x requested=%d thread=1\n", HOST_BASE, 2 * BLOCK_BYTES);
}

static const char *const directions[] = {[NM_COPY_HOST_TO_HOST] = "h2h",
                                         [NM_COPY_HOST_TO_DEVICE] = "h2d",
                                         [NM_COPY_DEVICE_TO_HOST] = "d2h",
                                         [NM_COPY_DEVICE_TO_DEVICE] = "d2d"};

/* Few places and sizes, so that much is repeated. */
static uint64_t pick_offset(void)
{
    return (uint64_t)(rand() % 4) * (BLOCK_BYTES / 2);
}

static void copy(void)
{
    act *made = &acts[act_count++];
    bool is_memset = rand() % 10 == 0;
    int kind = rand() % 4;
    bool is_from_host = kind == NM_COPY_HOST_TO_HOST || kind == NM_COPY_HOST_TO_DEVICE;
    bool is_to_host = kind == NM_COPY_HOST_TO_HOST || kind == NM_COPY_DEVICE_TO_HOST;

    *made = (act){.what = ACT_COPY,
                  .kind = is_memset ? NM_COPY_MEMSET : kind,
                  .stack = rand() % (STACKS + 1),
                  .stream = rand() % STREAMS,
                  .is_async = rand() % 2 == 0,
                  .is_failed = rand() % 10 == 0,
                  .is_late = rand() % 40 == 0,
                  .source = (is_from_host ? HOST_BASE : DEVICE_BASE) + pick_offset(),
                  .target = (is_to_host ? HOST_BASE : DEVICE_BASE) + (rand() % 3 == 0 ? pick_offset() : BYTES_MAX - 4),
                  .bytes = (uint64_t)(1 + rand() % 3) * 4,
                  .cost = rand() % 4 == 0 ? 0 : 1 + (uint64_t)(rand() % 50)};
    if (rand() % 30 == 0)
        made->bytes = 0;
    stamp();
    draft_say("copy thread=1 address=0x%" PRIx64 " size=%" PRIu64 " cost=%" PRIu64 " detail=%s%s%s", made->target,
              made->bytes, made->cost, is_memset ? "memset" : directions[kind], made->is_async ? " async" : "",
              made->is_late ? " late" : "");
    if (!is_memset)
        draft_say(" source=0x%" PRIx64, made->source);
    if (!is_to_host)
        draft_say(" device=1");
    if (made->stack != 0)
        draft_say(" stack=%d", made->stack);
    if (made->stream != 0)
        draft_say(" stream=%d", made->stream);
    draft_say("%s\n", made->is_failed ? " error=107000" : "");
    if (kind == NM_COPY_HOST_TO_DEVICE || kind == NM_COPY_DEVICE_TO_HOST) {
        uint64_t side = kind == NM_COPY_HOST_TO_DEVICE ? made->source : made->target;

        made->is_registered = side + made->bytes <= HOST_BASE + 2 * BLOCK_BYTES && side < HOST_BASE + 2 * BLOCK_BYTES;
        made->is_pinned = side + made->bytes <= HOST_BASE + BYTES_MAX;
    }
}

/* A block is freed, and allocated again. */
static void end_block(void)
{
    int block = rand() % BLOCKS;
    bool is_host = rand() % 2 == 0;
    int address = (is_host ? HOST_BASE : DEVICE_BASE) + block * BLOCK_BYTES;

    acts[act_count++] = (act){.what = ACT_END, .source = (uint64_t)address, .bytes = BLOCK_BYTES};
    stamp();
    draft_say("free heap=%d address=0x%x thread=1\n", is_host ? 2 : 1, address);
    stamp();
    draft_say("alloc heap=%d address=0x%x requested=%d block=%d thread=1\n", is_host ? 2 : 1, address, BLOCK_BYTES,
              is_host ? 0 : BLOCK_BYTES);
}

static void lose_or_pause(void)
{
    bool is_loss = rand() % 2 == 0;

    acts[act_count++] = (act){.what = is_loss ? ACT_LOSS : ACT_PAUSE};
    stamp();
    if (is_loss) {
        draft_say("loss thread=1 number=1 until=%" PRId64 "\n", event_count * 1000);
        return;
    }
    draft_say("pause thread=1 process=1 detail=1\n");
    stamp();
    draft_say("pause thread=1 process=1 detail=2\n");
}

static sqlite3 *random_run(unsigned seed, bool has_gaps)
{
    srand(seed);
    begin_text();
    while (act_count < ACTS) {
        int what = rand() % 40;

        if (what == 0)
            end_block();
        else if (what == 1 && has_gaps)
            lose_or_pause();
        else
            copy();
    }
    return draft_load_without_floors((uint64_t)event_count);
}

/* ---- The slow way ---- */

static bool overlaps(uint64_t a, uint64_t a_bytes, uint64_t b, uint64_t b_bytes)
{
    return a_bytes > 0 && b_bytes > 0 && a < b + b_bytes && b < a + a_bytes;
}

static bool is_to_device(const act *copy)
{
    return copy->kind == NM_COPY_HOST_TO_DEVICE || copy->kind == NM_COPY_DEVICE_TO_DEVICE;
}

/* Is what `copy` reads no more, or not certainly, what it was before `other`? */
static bool spoils(const act *other, const act *copy)
{
    if (other->what == ACT_LOSS || other->what == ACT_PAUSE)
        return true;
    if (other->what == ACT_END)
        return overlaps(other->source, other->bytes, copy->source, copy->bytes);
    if (other->kind != NM_COPY_MEMSET && other->is_late &&
        overlaps(other->source, other->bytes, copy->source, copy->bytes))
        return true;
    return overlaps(other->target, other->bytes, copy->source, copy->bytes);
}

static bool is_counted(const act *copy)
{
    return copy->what == ACT_COPY && copy->kind != NM_COPY_MEMSET && !copy->is_failed && !copy->is_late &&
           copy->bytes > 0;
}

static uint64_t count_repeats(int index)
{
    const act *copy = &acts[index];
    uint64_t repeats = 0;

    if (!is_counted(copy))
        return 0;
    for (int i = index - 1; i >= 0; i--) {
        const act *other = &acts[i];

        if (spoils(other, copy))
            break;
        repeats += is_counted(other) && other->source == copy->source && other->bytes == copy->bytes &&
                   other->kind == copy->kind;
    }
    return repeats;
}

typedef struct copy_total {
    uint64_t count, failed, bytes, cost, timed_bytes, timed_ns, repeats, repeat_bytes, longest;
} copy_total;

static void add_to(copy_total *sum, const act *copy)
{
    sum->count++;
    sum->failed += copy->is_failed;
    sum->cost += copy->cost;
    if (copy->is_failed)
        return;
    sum->bytes += copy->bytes;
    if (!copy->is_async && copy->cost > 0) {
        sum->timed_bytes += copy->bytes;
        sum->timed_ns += copy->cost;
    }
    sum->repeats += copy->repeats > 0;
    sum->repeat_bytes += copy->repeats > 0 ? copy->bytes : 0;
    sum->longest = copy->repeats > sum->longest ? copy->repeats : sum->longest;
}

/* Of one kind and stack; -1: of any stream, of either. Copies to device 0, or else of none: by `to_device`. */
static copy_total sum_of(int kind, int stack, int stream, int is_async, bool to_device)
{
    copy_total made = {0};

    for (int i = 0; i < act_count; i++) {
        const act *copy = &acts[i];
        bool has_device = copy->kind == NM_COPY_MEMSET ? to_device : is_to_device(copy);

        if (copy->what == ACT_COPY && copy->kind == kind && copy->stack == stack &&
            (stream < 0 || copy->stream == stream) && (is_async < 0 || (int)copy->is_async == is_async) &&
            has_device == to_device)
            add_to(&made, copy);
    }
    return made;
}

/* ---- Comparing ---- */

static const char *site_of(int stack)
{
    static char site[32];

    snprintf(site, sizeof site, "a.py:%d f%d", stack, stack);
    return stack == 0 ? "(no stack)" : site;
}

static const char *word_of(int kind)
{
    static const char *const words[] = {"host to host", "host to device", "device to host", "device to device"};

    return words[kind];
}

static const char *number_or_null(char out[32], bool is_known, uint64_t number)
{
    snprintf(out, 32, "%" PRIu64, number);
    return is_known ? out : "NULL";
}

static void compare_summary(sqlite3 *db, int kind, int stack, int stream, int is_async)
{
    copy_total made =
        sum_of(kind, stack, stream, is_async, kind == NM_COPY_HOST_TO_DEVICE || kind == NM_COPY_DEVICE_TO_DEVICE);
    char sql[SQL_BYTES], cost[32], speed[32], mean[32], stream_text[32];
    uint64_t moved = made.count - made.failed;

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM copy_summary WHERE kind = '%s' AND site = '%s' AND stream IS %s AND is_async = %d"
             " AND copy_count = %" PRIu64 " AND size_bytes = %" PRIu64 " AND failed_count = %" PRIu64
             " AND cost_ns IS %s AND mean_bytes IS %s AND bandwidth_bytes_per_s IS %s",
             word_of(kind), site_of(stack), number_or_null(stream_text, stream != 0, (uint64_t)stream), is_async,
             made.count, made.bytes, made.failed, number_or_null(cost, made.cost > 0, made.cost),
             number_or_null(mean, moved > 0, moved > 0 ? made.bytes / moved : 0),
             number_or_null(speed, made.timed_ns > 0,
                            made.timed_ns > 0 ? (uint64_t)(made.timed_bytes * 1e9 / made.timed_ns + 0.5) : 0));
    ck_assert_msg(load_int(db, sql) == (made.count > 0), "%s", sql);
}

static void compare_repeats(sqlite3 *db, int kind, int stack)
{
    copy_total made = sum_of(kind, stack, -1, -1, kind == NM_COPY_HOST_TO_DEVICE || kind == NM_COPY_DEVICE_TO_DEVICE);
    char sql[SQL_BYTES];

    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM (SELECT k.name AS kind, coalesce(f.label, '(no stack)') AS site, sum(copy_count - "
             "failed_count)"
             " AS copy_count, sum(repeated_count) AS repeated_count, sum(repeated_bytes) AS repeated_bytes, "
             "max(longest_count) AS"
             " longest_count FROM z_copy_sum AS c JOIN copy_kind AS k USING (kind) LEFT JOIN stack AS s USING "
             "(stack_id) LEFT JOIN"
             " frame AS f ON f.frame_id = s.site_frame_id GROUP BY 1, 2) WHERE kind = '%s' AND site = '%s' AND "
             "copy_count = %" PRIu64 " AND repeated_count = %" PRIu64 " AND repeated_bytes = %" PRIu64
             " AND longest_count = %" PRIu64 " AND repeated_count > 0",
             word_of(kind), site_of(stack), made.count - made.failed, made.repeats, made.repeat_bytes, made.longest);
    ck_assert_msg(load_int(db, sql) == (made.repeats > 0), "%s", sql);
}

static void compare_zero_copy(sqlite3 *db)
{
    uint64_t count = 0, bytes = 0, registered = 0, registered_bytes = 0, ns = 0, pinned = 0;
    char sql[SQL_BYTES];

    for (int i = 0; i < act_count; i++) {
        bool is_between = acts[i].kind == NM_COPY_HOST_TO_DEVICE || acts[i].kind == NM_COPY_DEVICE_TO_HOST;

        if (acts[i].what != ACT_COPY || !is_between || acts[i].is_failed)
            continue;
        count++;
        bytes += acts[i].bytes;
        registered += acts[i].is_registered;
        ns += acts[i].cost;
        pinned += acts[i].is_registered || acts[i].is_pinned;
        registered_bytes += acts[i].is_registered ? acts[i].bytes : 0;
    }
    snprintf(sql, sizeof sql,
             "SELECT sum(copy_count) = %" PRIu64 " AND sum(size_bytes) = %" PRIu64
             " AND sum(registered_count) = %" PRIu64 " AND sum(registered_bytes) = %" PRIu64
             " AND min(range_count) = 1 FROM zero_copy",
             count, bytes, registered, registered_bytes);
    ck_assert_msg(load_int(db, sql) == 1, "%s", sql);
    snprintf(sql, sizeof sql, "SELECT sum(host_ns) = %" PRIu64 " AND sum(pinned_count) = %" PRIu64 " FROM z_copy_sum",
             ns, pinned);
    ck_assert_msg(load_int(db, sql) == 1, "%s", sql);
}

START_TEST(views_equal_slow_sums)
{
    uint64_t repeats = 0;

    for (unsigned seed = 1; seed <= RUNS; seed++) {
        sqlite3 *db = random_run(seed, seed % 2 == 0);

        for (int i = 0; i < act_count; i++)
            repeats += (acts[i].repeats = count_repeats(i)) > 0;
        for (int kind = 0; kind < 4; kind++)
            for (int stack = 0; stack <= STACKS; stack++) {
                compare_repeats(db, kind, stack);
                for (int stream = 0; stream < STREAMS; stream++)
                    for (int is_async = 0; is_async < 2; is_async++)
                        compare_summary(db, kind, stack, stream, is_async);
            }
        compare_zero_copy(db);
        sqlite3_close(db);
    }
    ck_assert_uint_gt(repeats, RUNS); /* the runs do repeat some */
}
END_TEST

TEST_SUITE(test_copy_oracle)
{
    TCase *tcase = tcase_create("oracle");

    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, views_equal_slow_sums);
    return draft_suite("copies against slow sums", tcase);
}
