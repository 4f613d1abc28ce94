/* SPDX-License-Identifier: Apache-2.0
 *
 * The main job, end to end: npu_train keeps its own books; it is recorded and the trace ingested; every line of its books
 * must be what the views say. A line that no rule covers fails the test, so that nothing goes unchecked.
 *
 *     test_ground_truth NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER
 */
#include <check.h>
#include <fnmatch.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "support/ask.h"
#include "support/run.h"

static const char *recorder, *ingest, *programs;
static char folder[64];

/* `key` is a pattern of fnmatch over the words between dots; each word that a `*` stands for is bound in turn as ?1, ?2.
 * `sql` NULL: not a figure that a recorder could know. Sums are over all processes. */
typedef struct rule {
    const char *key;
    const char *sql;
} rule;

#define HEAP(column, level) "SELECT sum(" column ") FROM heap_total WHERE level = '" level "'"
#define DEVICE              " AND device = ?1"
#define PEAK(column, level) "SELECT sum(" column ") FROM peak WHERE level = '" level "'"
#define ENDED(expression, level, ends)                                                                                 \
    "SELECT coalesce(sum(" expression "), 0) FROM allocation AS a JOIN z_heap_place AS p USING (heap_id)"              \
    " JOIN end_kind AS e ON e.end_kind = a.end_kind WHERE p.level = '" level "' AND e.name IN (" ends ")"
#define SEGMENT(expression, more)                                                                                      \
    "SELECT coalesce(sum(" expression "), 0) FROM allocation AS a JOIN z_heap_place AS p USING (heap_id)"              \
    " WHERE p.level = 'driver' AND p.device = ?1 AND a.is_segment = 1 " more
#define COPY(expression, where)                                                                                        \
    "SELECT coalesce(sum(" expression "), 0) FROM copy JOIN copy_kind USING (kind) WHERE " where                       \
    " AND replace(name, ' ', '_') = ?1"
#define MEMSET(expression, where)                                                                                      \
    "SELECT coalesce(sum(" expression "), 0) FROM copy JOIN copy_kind USING (kind) WHERE " where " AND name = "        \
    "'memset'"
#define MISUSE(where) "SELECT count(*) FROM misuse WHERE " where " AND other_site IS NOT NULL"
#define PAST_END(is_refused)                                                                                           \
    "SELECT count(*) FROM misuse JOIN anomaly USING (anomaly_id) JOIN copy USING (copy_id)"                            \
    " WHERE level = 'driver' AND misuse.detail = 'the target is too small' AND copy.error_code " is_refused
#define FAILURES(level) "SELECT count(*) FROM failure JOIN z_heap_place USING (heap_id) WHERE level = '" level "'"
#define HIT(column)     "SELECT coalesce(sum(" column "), 0) FROM pool_hit_rate WHERE device = ?1 AND bucket = ?2"
#define LEAKED(column, level, function)                                                                                \
    "SELECT coalesce(sum(" column "), 0) FROM outstanding_by_site WHERE level = '" level "' AND site LIKE '%" function \
    "%'"

static const rule rules[] = {
    {"steps", "SELECT max(n) FROM (SELECT count(*) AS n FROM step GROUP BY process_id)"},
    {"threads", NULL}, /* a thread without an event is not seen */
    {"devices", "SELECT count(DISTINCT device) FROM heap_total WHERE level = 'pool'"},
    {"seed", NULL},
    {"verified_count", NULL},

    {"driver.*.allocation_count", HEAP("allocation_count", "driver") DEVICE},
    {"driver.*.allocated_bytes", HEAP("allocated_bytes", "driver") DEVICE},
    {"driver.*.free_count", ENDED("1", "driver", "'freed'") DEVICE},
    {"driver.*.freed_bytes", ENDED("size_bytes", "driver", "'freed'") DEVICE},
    {"driver.*.reset_count", ENDED("1", "driver", "'reset'") DEVICE},
    {"driver.*.reset_bytes", ENDED("size_bytes", "driver", "'reset'") DEVICE},
    {"driver.*.peak_bytes", PEAK("peak_bytes", "driver") DEVICE},
    {"driver.*.failure_count", FAILURES("driver") DEVICE},
    {"driver.*.outstanding_count", HEAP("outstanding_count", "driver") DEVICE},
    {"driver.*.outstanding_bytes", HEAP("outstanding_bytes", "driver") DEVICE},
    {"driver.*.live_count", ENDED("1", "driver", "'none', 'reset'") DEVICE},
    {"driver.*.live_bytes", ENDED("size_bytes", "driver", "'none', 'reset'") DEVICE},
    {"driver.*.segment.allocation_count", SEGMENT("1", "")},
    {"driver.*.segment.allocated_bytes", SEGMENT("size_bytes", "")},
    {"driver.*.segment.free_count", SEGMENT("1", "AND a.end_kind = 1")},
    {"driver.*.segment.freed_bytes", SEGMENT("size_bytes", "AND a.end_kind = 1")},
    {"driver.*.segment.live_count", SEGMENT("1", "AND a.end_kind <> 1")},
    {"driver.*.segment.live_bytes", SEGMENT("size_bytes", "AND a.end_kind <> 1")},
    {"driver.*.segment.peak_bytes", PEAK("peak_reserved_bytes", "pool") DEVICE},
    {"driver.*.segment.failure_count", NULL}, /* which of the heap's failures were the pool's is its own affair */
    {"driver.*block_bytes", NULL},            /* the runtime's padding is not told to anybody */
    {"pinned.*block_bytes", NULL},

    {"pinned.allocation_count", HEAP("allocation_count", "pinned")},
    {"pinned.allocated_bytes", HEAP("allocated_bytes", "pinned")},
    {"pinned.free_count", ENDED("1", "pinned", "'freed'")},
    {"pinned.freed_bytes", ENDED("size_bytes", "pinned", "'freed'")},
    {"pinned.reset_count", ENDED("1", "pinned", "'reset'")},
    {"pinned.reset_bytes", ENDED("size_bytes", "pinned", "'reset'")},
    {"pinned.live_count", ENDED("1", "pinned", "'none', 'reset'")},
    {"pinned.live_bytes", ENDED("size_bytes", "pinned", "'none', 'reset'")},
    {"pinned.peak_bytes", PEAK("peak_bytes", "pinned")},
    {"pinned.failure_count", FAILURES("pinned")},

    {"pool.*.allocation_count", HEAP("allocation_count", "pool") DEVICE},
    {"pool.*.allocated_bytes", ENDED("requested_bytes", "pool", "'none', 'freed', 'reset'") DEVICE},
    {"pool.*.allocated_block_bytes", ENDED("block_bytes", "pool", "'none', 'freed', 'reset'") DEVICE},
    {"pool.*.free_count", ENDED("1", "pool", "'freed'") DEVICE},
    {"pool.*.freed_bytes", ENDED("requested_bytes", "pool", "'freed'") DEVICE},
    {"pool.*.freed_block_bytes", ENDED("block_bytes", "pool", "'freed'") DEVICE},
    {"pool.*.live_count", ENDED("1", "pool", "'none', 'reset'") DEVICE},
    {"pool.*.live_bytes", ENDED("requested_bytes", "pool", "'none', 'reset'") DEVICE},
    {"pool.*.live_block_bytes", ENDED("block_bytes", "pool", "'none', 'reset'") DEVICE},
    {"pool.*.failure_count", FAILURES("pool") DEVICE},
    {"pool.*.deferred_free_count", "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id)"
                                   " WHERE level = 'pool' AND device = ?1 AND free_requested_seq IS NOT NULL"},
    {"pool.*.peak_reserved_bytes", PEAK("peak_reserved_bytes", "pool") DEVICE},
    {"pool.*.*.allocation_count", HIT("allocation_count")},
    {"pool.*.*.hit_count", HIT("hit_count")},
    {"pool.*.*.miss_count", HIT("miss_count")},

    {"copy.*.count", COPY("1", "error_code = 0")},
    {"copy.*.bytes", COPY("size_bytes", "error_code = 0")},
    {"copy.*.async_count", COPY("1", "error_code = 0 AND is_async = 1")},
    {"copy.*.failed_count", COPY("1", "error_code <> 0")},
    {"memset.count", MEMSET("1", "error_code = 0")},
    {"memset.bytes", MEMSET("size_bytes", "error_code = 0")},
    {"memset.async_count", MEMSET("1", "error_code = 0 AND is_async = 1")},
    {"memset.failed_count", MEMSET("1", "error_code <> 0")},

    {"misuse.free_twice.count", MISUSE("kind = 'double free' AND level = 'driver'")},
    {"misuse.free_host_as_device.count", MISUSE("kind = 'wrong free call' AND level = 'pinned'")},
    {"misuse.free_device_as_host.count", MISUSE("kind = 'wrong free call' AND level = 'driver'")},
    {"misuse.free_unknown.count",
     "SELECT count(*) FROM misuse WHERE kind = 'free of unknown memory' AND level IS NULL"},
    {"misuse.free_inside.count", MISUSE("kind = 'free of unknown memory' AND level = 'driver'")},
    {"misuse.copy_over_limit.count", MISUSE("kind = 'copy past the end' AND detail LIKE 'larger%'")},
    {"misuse.copy_past_end.count", PAST_END("<> 0")},
    {"misuse.copy_past_request.count", PAST_END("= 0")},
    {"misuse.copy_after_free.count", MISUSE("kind = 'use after free' AND level = 'driver'")},
    {"misuse.pool_free_twice.count", MISUSE("kind = 'double free' AND level = 'pool'")},
    {"misuse.pool_copy_past_end.count", MISUSE("kind = 'copy past the end' AND level = 'pool'")},
    {"misuse.pool_copy_after_free.count", MISUSE("kind = 'use after free' AND level = 'pool'")},
    {"misuse.*.refused_count", NULL},
    {"mark_count", "SELECT count(*) FROM moment JOIN z_moment_kind USING (kind) WHERE z_moment_kind.name = 'mark'"},
};

/* Only one of the two holds, by the pool's size basis; see check_books. */
static const rule requested_rules[] = {
    {"pool.*.peak_bytes", PEAK("peak_bytes", "pool") DEVICE},
    {"pool.*.reserved_at_peak_bytes", PEAK("reserved_at_peak_bytes", "pool") DEVICE},
    {"pool.*.peak_block_bytes", NULL},
};
static const rule block_rules[] = {
    {"pool.*.peak_block_bytes", PEAK("peak_bytes", "pool") DEVICE},
    {"pool.*.peak_bytes", NULL},
    {"pool.*.reserved_at_peak_bytes", NULL},
};

/* A leak is what leak_by_site says; with fewer than three steps nothing can be seen to grow. */
static const rule leak_rules[] = {
    {"leak.count", LEAKED("allocation_count", "pool", "leak_one_buffer")},
    {"leak.bytes", LEAKED("size_bytes", "pool", "leak_one_buffer")},
    {"leak_driver.count", LEAKED("allocation_count", "driver", "leak_driver_buffer")},
    {"leak_driver.bytes", LEAKED("size_bytes", "driver", "leak_driver_buffer")},
};

/* Binds the words of `key` that the pattern's stars stand for. Both have the same number of words, or a trailing star. */
static void bind_words(sqlite3_stmt *query, const char *pattern, const char *key)
{
    int place = 1;

    while (*pattern != 0 && *key != 0) {
        size_t pattern_len = strcspn(pattern, "."), key_len = strcspn(key, ".");
        if (pattern_len == 1 && *pattern == '*' && place <= sqlite3_bind_parameter_count(query)) {
            char word[64];
            snprintf(word, sizeof word, "%.*s", (int)key_len, key);
            char *end;
            long number = strtol(word, &end, 10);
            if (*end == 0)
                sqlite3_bind_int64(query, place++, number);
            else
                sqlite3_bind_text(query, place++, word, -1, SQLITE_TRANSIENT);
        }
        pattern += pattern_len + (pattern[pattern_len] != 0);
        key += key_len + (key[key_len] != 0);
    }
}

static long long ask_about(sqlite3 *db, const char *sql, const char *pattern, const char *key)
{
    sqlite3_stmt *query;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &query, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    bind_words(query, pattern, key);
    ck_assert_msg(sqlite3_step(query) == SQLITE_ROW, "%s: no row for %s", sql, key);
    long long value = sqlite3_column_int64(query, 0);
    sqlite3_finalize(query);
    return value;
}

static bool matches(const char *pattern, const char *key)
{
    size_t dots_in_pattern = 0, dots_in_key = 0;

    for (const char *at = pattern; *at != 0; at++)
        dots_in_pattern += *at == '.';
    for (const char *at = key; *at != 0; at++)
        dots_in_key += *at == '.';
    bool is_open = pattern[strlen(pattern) - 1] == '*' || strstr(pattern, "*block") != NULL;
    return (is_open || dots_in_pattern == dots_in_key) && fnmatch(pattern, key, 0) == 0;
}

static const rule *find_rule(const rule *list, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (matches(list[i].key, key))
            return &list[i];
    return NULL;
}

/* The books, summed over processes. */
typedef struct book {
    char (*keys)[96];
    long long *values;
    size_t count, key_capacity, value_capacity;
    bool has_processes;
} book;

static void book_add(book *books, const char *key, long long value)
{
    for (size_t i = 0; i < books->count; i++) {
        if (strcmp(books->keys[i], key) == 0) {
            bool is_common = strcmp(key, "steps") == 0 || strcmp(key, "devices") == 0;
            books->values[i] = is_common ? value : books->values[i] + value;
            return;
        }
    }
    nm_array_grow(&books->keys, &books->key_capacity, books->count + 1, sizeof *books->keys, NULL);
    nm_array_grow(&books->values, &books->value_capacity, books->count + 1, sizeof *books->values, NULL);
    snprintf(books->keys[books->count], sizeof *books->keys, "%.95s", key);
    books->values[books->count++] = value;
}

static book read_books(const char *path)
{
    book books = {0};
    char line[256], key[192];
    long long value;
    FILE *file = fopen(path, "r");

    ck_assert_msg(file != NULL, "no books at %s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "%191s %lld", key, &value) != 2)
            continue;
        const char *plain = key;
        if (strncmp(key, "process.", 8) == 0) {
            plain = strchr(key + 8, '.') + 1;
            books.has_processes = true;
        }
        book_add(&books, plain, value);
    }
    fclose(file);
    ck_assert_uint_gt(books.count, 50);
    return books;
}

/* `moment.NAME.pool.DEVICE.COLUMN`: the last word is the view's column. Compared where there is one process, since a mark
 * is a moment of its process. */
static void check_moment(sqlite3 *db, const char *key, long long expected, const char *options)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "SELECT %s FROM fragmentation WHERE moment = ?1 AND level = 'pool' AND device = ?2 AND is_estimate = 0",
             strrchr(key, '.') + 1);
    long long got = ask_about(db, sql, "moment.*.pool.*.x", key);
    ck_assert_msg(got == expected, "npu_train %s: %s is %lld, the view says %lld", options, key, expected, got);
}

static void check_books(sqlite3 *db, const book *books, const char *options)
{
    bool is_block = strstr(options, "--basis block") != NULL;

    for (size_t i = 0; i < books->count; i++) {
        const char *key = books->keys[i];
        const rule *found = is_block ? find_rule(block_rules, 3, key) : find_rule(requested_rules, 3, key);
        if (found == NULL)
            found = find_rule(leak_rules, sizeof leak_rules / sizeof *leak_rules, key);
        if (found == NULL)
            found = find_rule(rules, sizeof rules / sizeof *rules, key);
        if (found == NULL && strncmp(key, "moment.", 7) == 0) {
            if (!books->has_processes)
                check_moment(db, key, books->values[i], options);
            continue;
        }
        ck_assert_msg(found != NULL, "no rule for %s", key);
        if (found->sql == NULL)
            continue;
        long long got = ask_about(db, found->sql, found->key, key);
        ck_assert_msg(got == books->values[i], "npu_train %s: %s is %lld, the views say %lld", options, key,
                      books->values[i], got);
    }
}

static sqlite3 *record_and_ingest(const char *options, const char *record_options, int expected_exit)
{
    char command[2048];

    snprintf(command, sizeof command, "%s/npu_train %s --report %s/plain.txt", programs, options, folder);
    nm_run run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == expected_exit, "npu_train %s: ends with %d, unrecorded: %s", options, run.exit_code,
                  run_err(&run));
    run_free(&run);
    snprintf(
        command, sizeof command,
        "%s --force -o %s/t.zst %s -- %s/npu_train %s --report %s/books.txt; echo $?; cmp %s/plain.txt %s/books.txt",
        recorder, folder, record_options, programs, options, folder, folder, folder);
    run = run_shell(command, 120);
    ck_assert_msg(atoi(run_out(&run)) == expected_exit, "npu_train %s: ended with %s%s", options, run_out(&run),
                  run_err(&run));
    if (strstr(options, "--concurrent") == NULL)
        ck_assert_msg(run.exit_code == 0, "npu_train %s: other books when recorded: %s%s", options, run_out(&run),
                      run_err(&run));
    run_free(&run);

    snprintf(command, sizeof command, "%s --quiet --force -o %s/t.db %s/t.zst", ingest, folder, folder);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "npu_train %s: ingest ends with %d: %s", options, run.exit_code, run_err(&run));
    ck_assert_str_eq(run_out(&run), "");
    run_free(&run);

    sqlite3 *db;
    db = ask_open(folder, "t.db");
    ck_assert_int_eq(ask_about(db, "SELECT is_complete FROM input", "", ""), 1);
    ck_assert_int_eq(ask_about(db, "SELECT events_seen - events_ingested FROM input", "", ""), 0);
    ck_assert_int_eq(ask_about(db, "SELECT events_late FROM input", "", ""), 0);
    return db;
}

/* The peak of each device over all processes, by walking every birth and end of driver memory in order. */
static void check_device_peaks(sqlite3 *db, const char *options)
{
    static const char steps[] =
        "SELECT p.device, seq, change FROM ("
        " SELECT heap_id, alloc_seq AS seq, size_bytes AS change FROM allocation"
        " UNION ALL SELECT heap_id, free_seq, -size_bytes FROM allocation WHERE free_seq IS NOT NULL)"
        " JOIN z_heap_place AS p USING (heap_id) WHERE p.level = 'driver' ORDER BY p.device, seq";
    long long live[16] = {0}, most[16] = {0};
    sqlite3_stmt *rows;
    int device_count = 0;

    ck_assert_int_eq(sqlite3_prepare_v2(db, steps, -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        int device = sqlite3_column_int(rows, 0);
        ck_assert_int_lt(device, 16);
        live[device] += sqlite3_column_int64(rows, 2);
        most[device] = live[device] > most[device] ? live[device] : most[device];
    }
    sqlite3_finalize(rows);
    ck_assert_int_eq(sqlite3_prepare_v2(db, "SELECT device, peak_bytes FROM device_peak", -1, &rows, NULL), SQLITE_OK);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        int device = sqlite3_column_int(rows, 0);
        ck_assert_msg(sqlite3_column_int64(rows, 1) == most[device], "npu_train %s: peak of device %d", options,
                      device);
        most[device] = 0; /* a second row of it would not match */
        device_count++;
    }
    sqlite3_finalize(rows);
    ck_assert_int_eq(device_count,
                     ask_about(db, "SELECT count(DISTINCT device) FROM z_heap_place WHERE level = 'driver'", "", ""));
}

/* Whoever was asked to fragment the pool is named first for it. Of several threads each does so at a time of its own. */
static void check_blockers(sqlite3 *db, const char *options)
{
    static const char first[] =
        "(SELECT b.site FROM fragmentation_blocker AS b WHERE b.moment_id = w.moment_id AND b.device = p.device AND"
        " b.level = p.level AND b.pid = p.pid ORDER BY b.hostage_bytes DESC LIMIT 1)";
    char sql[700];

    if (strstr(options, "--fragment") == NULL || strstr(options, "--threads") != NULL)
        return;
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM fragmentation_sample AS w JOIN z_heap_place AS p ON p.heap_id = w.heap_id AND"
             " p.level = 'pool' JOIN moment AS m ON m.moment_id = w.moment_id WHERE m.name = 'fragmented' AND"
             " coalesce(%s, '') NOT LIKE '%% fragment_pool'",
             first);
    ck_assert_msg(ask_about(db, sql, "", "") == 0, "npu_train %s: somebody else is in the way", options);
    ck_assert_int_gt(ask_about(db, "SELECT count(*) FROM moment WHERE name = 'fragmented'", "", ""), 0);
}

static void check_case(const char *options, const char *record_options, int expected_exit)
{
    char path[128];
    sqlite3 *db = record_and_ingest(options, record_options, expected_exit);
    long long mistake_count = 0;

    snprintf(path, sizeof path, "%s/books.txt", folder);
    book books = read_books(path);
    check_books(db, &books, options);
    check_device_peaks(db, options);
    check_blockers(db, options);
    for (size_t i = 0; i < books.count; i++)
        if (strncmp(books.keys[i], "misuse.", 7) == 0 && strstr(books.keys[i], ".refused_count") == NULL)
            mistake_count += books.values[i];
    if (strstr(options, "--misuse") != NULL)
        ck_assert_int_eq(ask_about(db, "SELECT count(*) FROM anomaly", "", ""), mistake_count);
    else
        ck_assert_int_eq(ask_about(db, "SELECT count(*) FROM anomaly", "", ""), 0);
    free(books.keys);
    free(books.values);
    sqlite3_close(db);
}

START_TEST(books_equal_views_for_many_seeds)
{
    for (int seed = 1; seed <= 12; seed++) {
        char options[128];
        snprintf(options, sizeof options, "--steps %d --seed %d%s%s", 2 + seed % 7, seed, seed % 2 ? " --fragment" : "",
                 seed % 3 == 0 ? " --basis block" : "");
        check_case(options, "", 0);
    }
}
END_TEST

START_TEST(books_equal_views_with_threads_and_devices)
{
    check_case("--steps 4 --threads 2", "", 0);
    check_case("--steps 4 --threads 4 --device-count 2 --seed 5", "", 0);
    check_case("--steps 3 --threads 8 --device-count 2 --seed 6 --fragment --leak", "", 0);
}
END_TEST

START_TEST(books_equal_views_with_processes)
{
    check_case("--steps 3 --processes 2", "", 0);
    check_case("--steps 3 --processes 4 --threads 2 --device-count 2 --seed 9", "", 0);
}
END_TEST

/* Filled several times over. A sanitized drain is so slow that waiting for it would take more than a thread may. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SMALL_RING "1M"
#else
#define SMALL_RING "64K"
#endif

START_TEST(books_equal_views_whatever_the_recorder_is_told)
{
    check_case("--steps 5 --seed 3", "--stacks none", 0);
    check_case("--steps 5 --seed 3", "--stacks caller", 0);
    check_case("--steps 5 --seed 3", "--stack-depth 2", 0);
    check_case("--steps 40 --seed 3 --threads 2", "--buffer " SMALL_RING, 0);
}
END_TEST

START_TEST(books_equal_views_when_it_ends_badly)
{
    check_case("--steps 3 --oom", "", 3);
    check_case("--steps 4 --no-cleanup", "", 0);
    check_case("--steps 3 --misuse", "", 0);
    check_case("--steps 3 --misuse --threads 4 --device-count 2 --processes 2", "", 0);
}
END_TEST

static void check_leak(const char *options, const char *function, const char *level, const char *verdict)
{
    char sql[512], path[128];
    sqlite3 *db = record_and_ingest(options, "", 0);

    snprintf(path, sizeof path, "%s/books.txt", folder);
    book books = read_books(path);
    const char *prefix = strcmp(level, "pool") == 0 ? "leak." : "leak_driver.";
    for (size_t i = 0; i < books.count; i++) {
        if (strncmp(books.keys[i], prefix, strlen(prefix)) != 0)
            continue;
        snprintf(sql, sizeof sql,
                 "SELECT leak_%s FROM leak_by_site WHERE site LIKE '%%%s%%' AND level = '%s' AND verdict = '%s'",
                 strchr(books.keys[i], '.') + 1, function, level, verdict);
        ck_assert_int_gt(books.values[i], 0);
        ck_assert_int_eq(ask_about(db, sql, "", ""), books.values[i]);
    }
    /* Weights and optimiser state are outstanding, no leak. (With several threads each keeps a workspace that it replaced
     * by a larger one in a step of its own: that is growing by definition.) */
    snprintf(sql, sizeof sql, "SELECT count(*) FROM leak_by_site WHERE verdict = 'growing' AND site NOT LIKE '%%%s%%'",
             function);
    if (strstr(options, "--threads") == NULL)
        ck_assert_int_eq(ask_about(db, sql, "", ""), 0);
    free(books.keys);
    free(books.values);
    sqlite3_close(db);
}

START_TEST(the_leak_is_found_and_nothing_else)
{
    check_leak("--steps 8 --leak --no-cleanup", "leak_one_buffer", "pool", "growing");
    check_leak("--steps 8 --leak-driver --no-cleanup", "leak_driver_buffer", "driver", "growing");
    check_leak("--steps 8 --leak --threads 3 --no-cleanup", "leak_one_buffer", "pool", "growing");
    check_leak("--steps 8 --leak --reset", "leak_one_buffer", "pool", "growing"); /* as frameworks end */

    /* Weights, the newest workspace and pinned memory, left to the process's end. */
    sqlite3 *db = record_and_ingest("--steps 8 --no-cleanup", "", 0);
    ck_assert_int_eq(ask_about(db, "SELECT count(*) FROM leak_by_site", "", ""), 0);
    sqlite3_close(db);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    programs = argv[3];

    Suite *suite = suite_create("ground truth");
    TCase *tests = tcase_create("npu_train");
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, books_equal_views_for_many_seeds);
    tcase_add_test(tests, books_equal_views_with_threads_and_devices);
    tcase_add_test(tests, books_equal_views_with_processes);
    tcase_add_test(tests, books_equal_views_whatever_the_recorder_is_told);
    tcase_add_test(tests, books_equal_views_when_it_ends_badly);
    tcase_add_test(tests, the_leak_is_found_and_nothing_else);
    suite_add_tcase(suite, tests);

    run_make_folder(folder);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed == 0 ? 0 : 1;
}
