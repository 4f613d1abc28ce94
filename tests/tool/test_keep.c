/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-record --keep, end to end: a long npu_train is recorded in parts, of which only the newest stay. What is on the
 * disk is watched while it runs; sums of the whole run must be the program's own books; and the parts are read as a user
 * may give them: by name, folder, list, one alone, one missing, with something else between them.
 *
 *     test_keep NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER
 */
#include <check.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/ask.h"
#include "support/run.h"

#define STEPS        "2000"
#define BUDGET_BYTES (1u << 20)
#define PART_BYTES   (BUDGET_BYTES / 2) /* an eighth, and room for a keyframe that is long by then */
#define PATH_BYTES   256
#define SCALE        "--steps " STEPS " --leak --leak-driver --no-reset"

static const char *recorder, *ingest, *programs, *whatif;
static char folder[64];

/* ---- Help ---------------------------------------------------------------------------------------------------------- */

static nm_run shell(const char *format, ...)
{
    char command[4096];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    return run_shell(command, 240);
}

/* Runs it and wants the status; what it said on standard output. */
static char *expect(int status, const char *format, ...)
{
    char command[4096];
    va_list arguments;
    nm_run run;
    char *out;

    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    run = run_shell(command, 240);
    ck_assert_msg(run.exit_code == status, "%s\nended with %d: %s", command, run.exit_code, run_err(&run));
    out = strdup(run_out(&run));
    run_free(&run);
    return out;
}

static int64_t number(const char *database, const char *sql)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *row = NULL;
    int64_t value;

    db = ask_open(folder, database);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &row, NULL) == SQLITE_OK, "%s: %s", sql, sqlite3_errmsg(db));
    ck_assert_msg(sqlite3_step(row) == SQLITE_ROW, "%s: no row", sql);
    value = sqlite3_column_int64(row, 0);
    sqlite3_finalize(row);
    sqlite3_close(db);
    return value;
}

/* A line `key value` of the books. */
static int64_t book(const char *books, const char *key)
{
    size_t len = strlen(key);

    for (const char *line = books; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, key, len) == 0 && line[len] == ' ')
            return strtoll(line + len, NULL, 10);
    }
    ck_abort_msg("the books have no line %s", key);
    return 0;
}

/* Bytes of all parts that are there now, and how many they are. */
static uint64_t part_bytes(size_t *count)
{
    DIR *stream = opendir(folder);
    const struct dirent *entry;
    uint64_t bytes = 0;

    *count = 0;
    while ((entry = readdir(stream)) != NULL) {
        char path[PATH_BYTES + 64];
        struct stat info;

        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (strncmp(entry->d_name, "run.zst.", 8) != 0 || stat(path, &info) != 0)
            continue;
        bytes += (uint64_t)info.st_size;
        (*count)++;
    }
    closedir(stream);
    return bytes;
}

static void set_up(void)
{
    run_make_folder(folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

static void record(const char *keep, const char *scale)
{
    free(expect(0, "cd %s && %s -q --buffer 32M --keep %s -o run.zst -- %s/npu_train %s >books", folder, recorder, keep,
                programs, scale));
}

static char *books(void)
{
    return expect(0, "cat %s/books", folder);
}

/* ---- The disk ------------------------------------------------------------------------------------------------------ */

START_TEST(the_disk_holds_the_budget_and_one_part_at_most)
{
    char command[1024];
    uint64_t most = 0;
    size_t count = 0;
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        snprintf(command, sizeof command,
                 "cd %s && exec %s -q --buffer 32M --keep last:1MiB -o run.zst -- %s/npu_train %s >books", folder,
                 recorder, programs, SCALE " --layers 24");
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        uint64_t bytes = part_bytes(&count);

        most = bytes > most ? bytes : most;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    ck_assert_int_eq(status, 0);
    ck_assert_msg(most <= BUDGET_BYTES + PART_BYTES, "there were %llu bytes on the disk", (unsigned long long)most);
    ck_assert_uint_ge(part_bytes(&count), BUDGET_BYTES);
    free(expect(1, "test -e %s/run.zst.000", folder));
}
END_TEST

/* ---- The books ----------------------------------------------------------------------------------------------------- */

static void compare_with_books(const char *database, const char *text)
{
    static const struct {
        const char *key, *sql;
    } rules[] = {
        {"pool.0.allocation_count", "SELECT sum(allocation_count) FROM heap_total WHERE level = 'pool'"},
        {"pool.0.allocated_bytes", "SELECT sum(allocated_bytes) FROM heap_total WHERE level = 'pool'"},
        {"pool.0.free_count", "SELECT sum(free_count) FROM heap_total WHERE level = 'pool'"},
        {"pool.0.live_bytes", "SELECT sum(live_bytes) FROM heap_total WHERE level = 'pool'"},
        {"pool.0.live_count", "SELECT count(*) FROM allocation JOIN z_heap_place USING (heap_id) WHERE level = 'pool'"
                              " AND end_kind = 0"},
        {"pool.0.peak_bytes", "SELECT peak_bytes FROM peak WHERE level = 'pool'"},
        {"pool.0.peak_reserved_bytes", "SELECT peak_reserved_bytes FROM peak WHERE level = 'pool'"},
        {"driver.0.allocation_count", "SELECT sum(allocation_count) FROM heap_total WHERE level = 'driver'"},
        {"driver.0.allocated_bytes", "SELECT sum(allocated_bytes) FROM heap_total WHERE level = 'driver'"},
        {"driver.0.peak_bytes", "SELECT sum(peak_bytes) FROM peak WHERE level = 'driver'"},
        {"pool.0.allocation_count", "SELECT sum(allocation_count) FROM step_total WHERE level = 'pool'"},
        {"pool.0.allocated_bytes", "SELECT sum(allocated_bytes) FROM step_total WHERE level = 'pool'"},
        {"pool.0.peak_bytes", "SELECT max(peak_bytes) FROM step_total WHERE level = 'pool'"},
        {"pool.0.allocation_count",
         "SELECT sum(allocation_count) FROM z_stack_sum JOIN z_heap_place USING (heap_id) WHERE level = 'pool'"},
        {"pool.0.live_bytes", "SELECT sum(allocated_bytes - freed_bytes) FROM z_stack_sum JOIN z_heap_place USING "
                              "(heap_id) WHERE level = 'pool'"},
        {"steps", "SELECT max(generation) FROM step"},
    };

    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        ck_assert_msg(book(text, rules[i].key) == number(database, rules[i].sql), "%s: the books say %lld, and %s %lld",
                      rules[i].key, (long long)book(text, rules[i].key), rules[i].sql,
                      (long long)number(database, rules[i].sql));
}

START_TEST(sums_of_the_whole_run_are_the_books)
{
    char *text, *said;

    record("last:256K", SCALE);
    text = books();
    said = expect(0, "cd %s && %s run.zst", folder, ingest);
    ck_assert_ptr_nonnull(strstr(said, "nothing lost of what was kept"));
    ck_assert_ptr_nonnull(strstr(said, "rows of each event from"));
    compare_with_books("run.db", text);
    ck_assert_int_gt(number("run.db", "SELECT events_unkept FROM input"), 0);
    ck_assert_int_eq(number("run.db", "SELECT events_seen = events_ingested + events_dropped + events_damaged"
                                      " + events_unrecovered + events_unkept FROM input"),
                     1);
    ck_assert_int_eq(number("run.db", "SELECT min(is_whole_run) FROM heap_total"), 1);
    /* All leaked blocks are found to grow, also those whose birth is long past; nothing else is. */
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM leak WHERE verdict = 'growing'"), 4000);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM leak WHERE alloc_seq IS NULL AND alloc_ns IS NULL"), 0);
    ck_assert_int_gt(number("run.db", "SELECT count(*) FROM leak WHERE alloc_seq IS NULL"), 0);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM misuse"), 0);
    free(said);
    free(text);
}
END_TEST

/* It replays what was kept, and the hit rate that it compares with is that of the whole run: from the books, in tenths. */
START_TEST(whatif_answers_for_what_was_kept)
{
    static const char *const inputs[] = {"run.zst", "run.db"};
    char *text, rate[64];
    long long requests, hits, tenths;

    record("steps:20", "--steps 300");
    text = books();
    requests = book(text, "pool.0.all.allocation_count");
    hits = book(text, "pool.0.all.hit_count");
    tenths = (1000 * hits + requests / 2) / requests;
    ck_assert_int_ge(tenths, 950); /* from there on a tenth is shown */
    ck_assert_int_lt(tenths, 1000);
    snprintf(rate, sizeof rate, "hit rate %lld.%lld %%\n", tenths / 10, tenths % 10);
    free(expect(0, "cd %s && %s --quiet run.zst", folder, ingest));
    for (int i = 0; i < 2; i++) {
        char *said = expect(0, "cd %s && %s --one-stream %s", folder, whatif, inputs[i]);

        ck_assert_ptr_nonnull(strstr(said, ", as far as it was kept\n"));
        ck_assert_msg(strstr(said, rate) != NULL, "%s: no '%s' in\n%s", inputs[i], rate, said);
        free(said);
    }
    free(text);
}
END_TEST

START_TEST(the_newest_steps_stay)
{
    char *text;

    record("steps:20", "--steps 300");
    text = books();
    free(expect(0, "cd %s && %s -q run.zst 2>/dev/null || %s --quiet run.zst", folder, ingest, ingest));
    ck_assert_int_ge(number("run.db", "SELECT count(*) FROM step"), 20);
    ck_assert_int_le(number("run.db", "SELECT count(*) FROM step"), 20 + 20 / 4 * 2 + 2);
    ck_assert_int_eq(number("run.db", "SELECT max(generation) FROM step"), 300);
    ck_assert_int_eq(number("run.db", "SELECT sum(has_detail) >= 20 FROM step_total WHERE level = 'pool'"), 1);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM step_total WHERE level = 'pool' AND step IS NOT NULL"),
                     300);
    /* A worse moment may have been let go, and what the driver took in what was kept is not of all allocations. */
    ck_assert_int_gt(number("run.db", "SELECT count(*) FROM health WHERE measure = 'fragmentation'"), 0);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM health WHERE measure = 'fragmentation'"
                                      " AND verdict IN ('good', 'minor')"),
                     0);
    ck_assert_int_gt(number("run.db", "SELECT count(*) FROM pool_summary"), 0);
    ck_assert_int_eq(number("run.db", "SELECT count(driver_ns_per_allocation) FROM pool_summary"), 0);
    compare_with_books("run.db", text);
    free(text);
}
END_TEST

/* A million events, of which the last tenth fits. Allocation k is of k bytes, and sixteen are live at a time. */
START_TEST(a_long_run_stays_within_its_bound_and_keeps_its_sums)
{
    const int64_t count = 500000, held = 16;
    char command[1024];
    uint64_t most = 0;
    size_t parts = 0;
    int status;
    pid_t pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        snprintf(
            command, sizeof command,
            "cd %s && exec %s -q --buffer 64M --stacks caller --keep last:64K -o run.zst -- %s/spin_events --events"
            " %lld --hold %lld >books",
            folder, recorder, programs, (long long)count, (long long)held);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    while (waitpid(pid, &status, WNOHANG) == 0) {
        uint64_t bytes = part_bytes(&parts);

        most = bytes > most ? bytes : most;
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
    }
    ck_assert_int_eq(status, 0);
    ck_assert_msg(most <= (64u << 10) + (32u << 10), "there were %llu bytes on the disk", (unsigned long long)most);
    free(expect(0, "cd %s && ls run.zst.* | tail -1 | { IFS=. read -r a b number; [ ${number#0} -ge 50 ]; }", folder));
    free(expect(0, "cd %s && %s --quiet run.zst", folder, ingest));
    ck_assert_int_eq(number("run.db", "SELECT events_dropped FROM input"), 0);
    ck_assert_int_gt(number("run.db", "SELECT events_unkept * 10 > events_seen * 9 FROM input"), 0);
    ck_assert_int_eq(number("run.db", "SELECT allocation_count FROM heap_total"), count);
    ck_assert_int_eq(number("run.db", "SELECT free_count FROM heap_total"), count);
    ck_assert_int_eq(number("run.db", "SELECT allocated_bytes FROM heap_total"), count * (count + 1) / 2);
    ck_assert_int_eq(number("run.db", "SELECT sum(allocation_count) FROM z_stack_sum"), count);
    ck_assert_int_eq(number("run.db", "SELECT sum(allocated_bytes) FROM z_stack_sum"), count * (count + 1) / 2);
    ck_assert_int_eq(number("run.db", "SELECT peak_bytes FROM peak"), held * count - held * (held - 1) / 2);
}
END_TEST

START_TEST(a_run_that_fits_is_kept_whole)
{
    record("last:1GiB", "--steps 30");
    free(expect(0, "cd %s && test -e run.zst.000 && %s --quiet run.zst", folder, ingest));
    ck_assert_int_eq(number("run.db", "SELECT events_unkept + (detail_begin_seq IS NOT NULL) FROM input"), 0);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM completeness WHERE verdict = 'complete'"), 1);
}
END_TEST

/* ---- Pauses -------------------------------------------------------------------------------------------------------- */

/* Recorded with `environment` before npumem-record and `control` beside it; the books are the program's, which knows of no
 * pause. */
static void record_paused(const char *environment, const char *options, const char *scale, const char *control)
{
    char *text;

    free(expect(
        0,
        "cd %s && %s %s -q --force --buffer 32M %s -o run.zst -- %s/npu_train %s --leak >books & r=$!; export R=%s;"
        " cd %s; %s wait $r",
        folder, environment, recorder, options, programs, scale, recorder, folder, control));
    text = books();
    free(expect(0, "cd %s && %s --quiet --force run.zst", folder, ingest));
    compare_with_books("run.db", text);
    free(text);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM completeness WHERE verdict IN ('kept', 'complete')"), 1);
    ck_assert_int_eq(number("run.db", "SELECT baseline = 'none' AND unseen_origin_count = 0 FROM input"), 1);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM misuse"), 0);
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM z_pause WHERE NOT is_memory_told"), 0);
}

/* Memory is told on while paused, without stacks: what parts that are gone have said of it is in the sums. */
START_TEST(from_step_to_step_the_sums_are_whole)
{
    static const char *const keeps[] = {"last:1GiB", "last:64K", "steps:20"};
    char options[128];

    for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++) {
        snprintf(options, sizeof options, "--keep %s --from-step 300 --to-step 600", keeps[i]);
        record_paused("", options, "--steps 1000", "");
        ck_assert_int_eq(number("run.db", "SELECT count(*) FROM outstanding WHERE site LIKE '%leak_one_buffer'"), 301);
        /* Where the begin of the pause is gone, it is not known up to which step lines were told: nothing is called growing. */
        ck_assert_int_eq(number("run.db", "SELECT count(*) FROM leak WHERE site LIKE '%leak_one_buffer'"),
                         i == 0 ? 301 : 0);
        ck_assert_int_eq(number("run.db", "SELECT count(*) FROM leak"), i == 0 ? 301 : 0);
        ck_assert_int_eq(number("run.db", "SELECT count(*) FROM outstanding WHERE stack_id IS NULL AND level = 'pool'"),
                         1000 - 301);
        /* The pause that is under way where the parts begin began in one that is gone. */
        ck_assert_int_eq(number("run.db", "SELECT count(*) FROM z_pause WHERE begin_seq IS NULL"), i > 0);
        ck_assert_int_eq(number("run.db", "SELECT count(*) FROM z_pause"), i > 0 ? 1 : 2);
    }
}
END_TEST

START_TEST(what_is_recorded_in_full_is_as_without_parts)
{
    static const char sum[] =
        "SELECT count(*) * 1000003 + sum(a.size_bytes) + sum(a.address) + sum(t.site_frame_id IS NOT NULL)"
        " FROM allocation AS a JOIN step AS s ON s.number = 10 JOIN step AS e ON e.number = 15"
        " JOIN stack AS t USING (stack_id) WHERE alloc_seq > s.begin_seq AND alloc_seq < e.begin_seq";
    int64_t expected;

    record("last:1GiB", "--steps 30 --leak");
    free(expect(0, "cd %s && %s --quiet run.zst", folder, ingest));
    expected = number("run.db", sum);
    record_paused("", "--keep last:1GiB --from-step 10 --to-step 14", "--steps 30", "");
    ck_assert_int_eq(number("run.db", sum), expected);
    ck_assert_int_eq(number("run.db",
                            "SELECT count(*) FROM copy, step AS s, step AS e WHERE s.number = 10 AND e.number = 15"
                            " AND seq NOT BETWEEN s.begin_seq AND e.begin_seq"),
                     0);
}
END_TEST

START_TEST(begun_paused_and_stopped_the_sums_are_whole)
{
    record_paused("", "--keep last:64K --start-paused", "--steps 1000", "");
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM allocation WHERE stack_id IS NOT NULL"), 0);
    record_paused("NPUMEM=paused", "--keep steps:20", "--steps 200", "");
    ck_assert_int_eq(number("run.db", "SELECT count(*) FROM copy"), 0);
    for (int i = 0; i < 2; i++) {
        record_paused("", i == 0 ? "--keep last:1GiB" : "--keep last:64K",
                      "--steps 2000 --wait-at 100:first --wait-at 400:middle --wait-at 700:last",
                      "at() { until [ -e $1 ]; do sleep 0.01; done; rm $1; }; at first; $R --ctl run.zst stop &&"
                      " at middle && $R --ctl run.zst start && at last || exit;");
        /* Of parts that are gone there is no pause; where the drain is slow the last part may reach back to it. */
        ck_assert_int_eq(number("run.db",
                                "SELECT count(*) FROM z_pause WHERE end_seq < (SELECT coalesce(detail_begin_seq, 0)"
                                " FROM input) OR (end_seq IS NOT NULL AND NOT is_end_known)"),
                         0);
        ck_assert_int_ge(number("run.db", "SELECT count(*) FROM z_pause WHERE end_seq IS NOT NULL AND is_end_known"),
                         i == 0);
    }
}
END_TEST

/* ---- What a user may give ------------------------------------------------------------------------------------------ */

/* The answers that do not depend on how much detail there is. */
static const char sums_sql[] =
    "SELECT * FROM heap_total; SELECT * FROM peak; SELECT p.heap, p.level, f.label, sum(t.allocation_count), "
    "sum(t.free_count), sum(t.allocated_bytes),"
    " sum(t.freed_bytes) FROM z_stack_sum AS t JOIN z_heap_place AS p USING (heap_id) LEFT JOIN stack AS s USING "
    "(stack_id)"
    " LEFT JOIN frame AS f ON f.frame_id = s.site_frame_id GROUP BY 1, 2, 3; SELECT * FROM peak_by_site;";

static void ingest_as(const char *name, const char *inputs, int status)
{
    free(expect(status, "cd %s && %s --quiet -o %s.db %s", folder, ingest, name, inputs));
}

static char *sums_of(const char *name)
{
    return expect(0, "sqlite3 %s/%s.db '%s'", folder, name, sums_sql);
}

static void compare_sums(const char *name, const char *other)
{
    char *a = sums_of(name), *b = sums_of(other);

    ck_assert_str_eq(a, b);
    free(a);
    free(b);
}

START_TEST(name_folder_list_and_any_order_are_one_input)
{
    record("last:256K", "--steps 1000");
    free(expect(0, "mkdir %s/parts && cp %s/run.zst.* %s/parts && echo text >%s/parts/README && : >%s/parts/empty",
                folder, folder, folder, folder, folder));
    ingest_as("name", "run.zst", 0);
    ingest_as("folder", "parts", 0);
    ingest_as("slash", "parts/", 0);
    ingest_as("list", "run.zst.0*", 0);
    ingest_as("shuffled", "$(ls -r run.zst.0*)", 0);
    ingest_as("twice", "run.zst.0* parts/run.zst.0*", 0);
    compare_sums("name", "folder");
    compare_sums("name", "slash");
    compare_sums("name", "list");
    compare_sums("name", "shuffled");
    ck_assert_int_eq(number("name.db", "SELECT events_ingested FROM input"),
                     number("shuffled.db", "SELECT events_ingested FROM input"));
    /* What it is called when nobody says. */
    free(expect(0, "cd %s && %s --quiet parts && test -e parts.db && %s --quiet run.zst.0* && test -e run.db", folder,
                ingest, ingest));
}
END_TEST

START_TEST(a_part_alone_tells_all_up_to_its_end)
{
    char *text;

    record("last:256K", "--steps 1000 --leak");
    text = books();
    ingest_as("all", "run.zst", 0);
    ingest_as("last", "$(ls run.zst.0* | tail -1)", 0);
    compare_with_books("last.db", text);
    ck_assert_int_lt(number("last.db", "SELECT events_ingested FROM input"),
                     number("all.db", "SELECT events_ingested FROM input"));
    ck_assert_int_eq(number("last.db", "SELECT events_seen FROM input"),
                     number("all.db", "SELECT events_seen FROM input"));
    compare_sums("all", "last");
    /* The first one that is there has no end: it is cut, and says so. */
    ingest_as("first", "$(ls run.zst.0* | head -1)", 3);
    free(text);
}
END_TEST

START_TEST(a_part_that_is_missing_in_the_middle_is_damage)
{
    record("last:256K", "--steps 1000");
    free(expect(0, "cd %s && rm $(ls run.zst.0* | sed -n 3p)", folder));
    ingest_as("run", "run.zst", 3);
    ck_assert_int_gt(number("run.db", "SELECT events_damaged FROM input"), 0);
    ck_assert_int_eq(number("run.db", "SELECT events_seen = events_ingested + events_dropped + events_damaged"
                                      " + events_unrecovered + events_unkept FROM input"),
                     1);
}
END_TEST

START_TEST(several_recordings_in_a_folder_are_several_inputs)
{
    nm_run run;

    record("last:256K", "--steps 400");
    free(expect(0, "cd %s && %s -q --buffer 32M --keep last:256K -o other.zst -- %s/npu_train --steps 400 >/dev/null",
                folder, recorder, programs));
    run = shell("cd %s && %s .", folder, ingest);
    ck_assert_int_eq(run.exit_code, 2);
    ck_assert_ptr_nonnull(strstr(run_err(&run), "run.zst"));
    ck_assert_ptr_nonnull(strstr(run_err(&run), "other.zst"));
    run_free(&run);
    ingest_as("both", ".", 0);
    ck_assert_int_eq(number("both.db", "SELECT count(*) FROM input WHERE path IN ('./run.zst', './other.zst')"), 2);
    ingest_as("run", "run.zst", 0);
    ingest_as("other", "other.zst", 0);
    free(expect(1, "cd %s && %s -o x.db nothing.zst", folder, ingest));
    free(expect(1, "cd %s && mkdir none && %s -o x.db none", folder, ingest));
}
END_TEST

START_TEST(names_that_exist_get_a_suffix_and_force_replaces)
{
    record("last:256K", "--steps 20");
    record("last:256K", "--steps 20");
    free(expect(0, "cd %s && test -e run.zst.000 && test -e run-1.zst.000", folder));
    free(expect(
        0,
        "cd %s && echo no part >run.zst.001x && %s -q --buffer 32M --force --keep last:256K -o run.zst -- %s/npu_train "
        "--steps 20 >/dev/null && test ! -e run-2.zst.000 && test -e run.zst.001x",
        folder, recorder, programs));
    ingest_as("run", "run.zst", 0);
    free(expect(2, "%s --keep last:1 -- true 2>/dev/null", recorder));
    free(expect(2, "%s --keep nonsense -- true 2>/dev/null", recorder));
    free(expect(2, "%s --keep last:1G -o - -- true 2>/dev/null | cat >/dev/null; exit ${PIPESTATUS:-2}", recorder));
}
END_TEST

/* ---- A full disk --------------------------------------------------------------------------------------------------- */

/* The files may be 300 KiB long: the budget is never reached on this disk, and old parts make room for new blocks. */
START_TEST(on_a_full_disk_old_parts_make_room)
{
    nm_run run = shell("cd %s && mkdir disk && mount -t tmpfs -o size=400k none disk", folder);
    bool can_mount = run.exit_code == 0;

    run_free(&run);
    if (!can_mount)
        return; /* not allowed here */
    run =
        shell("cd %s && %s -q --ring-dir %s --keep last:1MiB -o disk/run.zst -- %s/npu_train --steps 2000 >books; s=$?;"
              " cp disk/* . ; umount disk; exit $s",
              folder, recorder, folder, programs);
    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    run_free(&run);
    run = shell("cd %s && %s --quiet run.zst", folder, ingest);
    ck_assert_msg(run.exit_code == 0 || run.exit_code == 3, "%s", run_err(&run));
    run_free(&run);
    ck_assert_int_eq(number("run.db", "SELECT state = 'ended' FROM input"), 1);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 5) {
        fprintf(stderr, "usage: test_keep NPUMEM_RECORD NPUMEM_INGEST PROGRAM_FOLDER NPUMEM_WHATIF\n");
        return 2;
    }
    recorder = argv[1];
    ingest = argv[2];
    programs = argv[3];
    whatif = argv[4];

    Suite *suite = suite_create("keep");
    TCase *tests = tcase_create("keep");
    tcase_set_timeout(tests, 240);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, the_disk_holds_the_budget_and_one_part_at_most);
    tcase_add_test(tests, sums_of_the_whole_run_are_the_books);
    tcase_add_test(tests, whatif_answers_for_what_was_kept);
    tcase_add_test(tests, the_newest_steps_stay);
    tcase_add_test(tests, a_long_run_stays_within_its_bound_and_keeps_its_sums);
    tcase_add_test(tests, a_run_that_fits_is_kept_whole);
    tcase_add_test(tests, from_step_to_step_the_sums_are_whole);
    tcase_add_test(tests, what_is_recorded_in_full_is_as_without_parts);
    tcase_add_test(tests, begun_paused_and_stopped_the_sums_are_whole);
    tcase_add_test(tests, name_folder_list_and_any_order_are_one_input);
    tcase_add_test(tests, a_part_alone_tells_all_up_to_its_end);
    tcase_add_test(tests, a_part_that_is_missing_in_the_middle_is_damage);
    tcase_add_test(tests, several_recordings_in_a_folder_are_several_inputs);
    tcase_add_test(tests, names_that_exist_get_a_suffix_and_force_replaces);
    tcase_add_test(tests, on_a_full_disk_old_parts_make_room);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
