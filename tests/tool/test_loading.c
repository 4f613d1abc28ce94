/* SPDX-License-Identifier: Apache-2.0
 *
 * However a program loads CANN: linked, by handle, by default, locally, with RTLD_DEEPBIND, with names bound late or at
 * load, from Python, before our constructor and after our destructor, beside another tool. Each time the program prints what
 * it prints without us, and its own books equal the views.
 *
 *     test_loading NPUMEM_RECORD NPUMEM_INGEST FOLDER_OF_TORCH_LIKE FOLDER_OF_CANN FOLDER_OF_LOADING TORCH_SPY
 */
#include <check.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/ask.h"
#include "support/run.h"

#define COMMAND_BYTES 4096

static const char *recorder, *ingest, *torch, *cann, *loading, *spy;
static char folder[64];

/* ---- Running ------------------------------------------------------------------------------------------------------- */

static nm_run run_checked(const char *command)
{
    nm_run run = run_shell(command, 120);

    ck_assert_msg(run.exit_code == 0, "%s: %d: %s%s", command, run.exit_code, run_out(&run), run_err(&run));
    return run;
}

/* The recorder's own lines begin with its name. */
static void drop_own_lines(nm_run *run)
{
    char *text = (char *)run->err.data, *kept = text;

    for (char *line = text; *line != 0;) {
        char *end = strchr(line, '\n');
        size_t len = end == NULL ? strlen(line) : (size_t)(end - line) + 1;

        if (strncmp(line, "npumem-record: ", 15) != 0) {
            memmove(kept, line, len);
            kept += len;
        }
        line += len;
    }
    *kept = 0;
}

/* Runs a command without us and with us; both must print the same. `environment` goes before it, both times. The recorded
 * run's output is returned, the trace is in the test's folder. */
static nm_run run_both(const char *environment, const char *command)
{
    char line[COMMAND_BYTES];
    nm_run plain, with;

    snprintf(line, sizeof line, "%s %s", environment, command);
    plain = run_checked(line);
    snprintf(line, sizeof line, "%s %s --no-pool-events --force -o %s/t.zst -- %s", environment, recorder, folder,
             command);
    with = run_checked(line);
    drop_own_lines(&with);
    ck_assert_msg(strcmp(run_out(&plain), run_out(&with)) == 0, "%s prints\n%s\n--- with us:\n%s", command,
                  run_out(&plain), run_out(&with));
    ck_assert_msg(strcmp(run_err(&plain), run_err(&with)) == 0, "%s complains\n%s\n--- with us:\n%s", command,
                  run_err(&plain), run_err(&with));
    run_free(&plain);
    return with;
}

static sqlite3 *open_trace(void)
{
    char line[COMMAND_BYTES];
    nm_run run;

    snprintf(line, sizeof line, "%s --quiet --force -o %s/t.db %s/t.zst", ingest, folder, folder);
    run = run_checked(line);
    run_free(&run);
    return ask_open(folder, "t.db");
}

/* ---- Books --------------------------------------------------------------------------------------------------------- */

/* The number after a key of `key value` lines; 0 without it. */
static long long value_of(const char *text, const char *key)
{
    size_t len = strlen(key);

    for (const char *line = text; line != NULL && *line != 0;
         line = strchr(line, '\n') != NULL ? strchr(line, '\n') + 1 : NULL) {
        if (strncmp(line, key, len) == 0 && line[len] == ' ')
            return strtoll(line + len + 1, NULL, 10);
    }
    return 0;
}

static void check_value(sqlite3 *db, const char *what, const char *key, long long said, const char *sql)
{
    long long got = ask(db, sql);

    ck_assert_msg(got == said, "%s: %s is %lld, the views say %lld", what, key, said, got);
}

/* Driver memory of the views is what was allocated and what was mapped. */
static void check_heaps(sqlite3 *db, const char *what, const char *books)
{
    static const char *const levels[] = {"driver", "physical", "pinned", "registered"};
    static const char *const figures[] = {"allocation_count", "allocated_bytes", "free_count", "freed_bytes"};
    static const char *const of_reset[] = {"0", "0", "1", "a.size_bytes"}; /* what a reset ended was not freed */

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
        for (size_t k = 0; k < sizeof figures / sizeof *figures; k++) {
            char key[64], mapped[64], sql[1024];
            long long said;

            snprintf(key, sizeof key, "%s.%s", levels[i], figures[k]);
            snprintf(mapped, sizeof mapped, "mapped.%s", figures[k]);
            said = value_of(books, key) + (i == 0 ? value_of(books, mapped) : 0);
            /* The heaps of the program's own memory, not of modules of CANN. */
            snprintf(sql, sizeof sql,
                     "SELECT coalesce(sum(t.%s), 0) - (SELECT coalesce(sum(%s), 0) FROM allocation AS a JOIN "
                     "z_heap_place AS p"
                     " USING (heap_id) JOIN end_kind AS e USING (end_kind) WHERE e.name = 'reset' AND p.level = '%s'"
                     " AND p.heap NOT IN (SELECT name FROM z_cann_module)) FROM heap_total AS t WHERE t.level = '%s'"
                     " AND t.heap NOT IN (SELECT name FROM z_cann_module)",
                     figures[k], of_reset[k], levels[i], levels[i]);
            check_value(db, what, key, said, sql);
        }
}

static void check_transfers(sqlite3 *db, const char *what, const char *books)
{
    static const char *const keys[][2] = {
        {"copy.host_to_device.", "host to device"}, {"copy.device_to_host.", "device to host"}, {"memset.", "memset"}};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char key[64], sql[256];

        snprintf(key, sizeof key, "%scount", keys[i][0]);
        snprintf(sql, sizeof sql,
                 "SELECT sum(copy_count) FROM z_copy_sum JOIN copy_kind AS k USING (kind) WHERE k.name = '%s'",
                 keys[i][1]);
        check_value(db, what, key, value_of(books, key), sql);
        snprintf(key, sizeof key, "%sbytes", keys[i][0]);
        snprintf(sql, sizeof sql,
                 "SELECT sum(size_bytes) FROM z_copy_sum JOIN copy_kind AS k USING (kind) WHERE k.name = '%s'",
                 keys[i][1]);
        check_value(db, what, key, value_of(books, key), sql);
    }
}

static void check_operators(sqlite3 *db, const char *what, const char *books)
{
    static const char *const names[] = {"aclnnAdd", "aclnnMatmul", "aclnnSoftmax", "aclnnFlashAttentionScore"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char key[64], sql[256];

        snprintf(key, sizeof key, "op.%s.count", names[i]);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM operation WHERE name = '%s' AND end_seq IS NOT NULL", names[i]);
        check_value(db, what, key, value_of(books, key), sql);
    }
}

static void check_books(const char *what, const char *books)
{
    sqlite3 *db = open_trace();

    check_heaps(db, what, books);
    check_transfers(db, what, books);
    check_operators(db, what, books);
    check_value(db, what, "complete", 1, "SELECT is_complete FROM input");
    /* The programs leave their streams to the end of the process. */
    check_value(db, what, "misuse", 0, "SELECT count(*) FROM misuse WHERE kind <> 'stream never destroyed'");
    sqlite3_close(db);
}

static void check_program(const char *command)
{
    nm_run run = run_both("", command);

    check_books(command, run_out(&run));
    run_free(&run);
}

/* ---- Ways of loading ----------------------------------------------------------------------------------------------- */

START_TEST(every_loader_of_the_client_is_seen_whole)
{
    static const char *const loaders[] = {"handle", "default", "linked", "local", "deepbind"};
    static const char *const options[] = {"", "--expandable --steps 3", "--task-queue 2 --close --hccl"};
    char command[COMMAND_BYTES];

    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++)
        for (size_t k = 0; k < sizeof options / sizeof *options; k++) {
            snprintf(command, sizeof command, "%s/torch_like --loader %s %s", torch, loaders[i], options[k]);
            check_program(command);
        }
}
END_TEST

START_TEST(names_that_were_bound_at_load_are_seen)
{
    static const char *const loaders[] = {"handle", "linked", "local", "deepbind"};
    char command[COMMAND_BYTES];

    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
        snprintf(command, sizeof command, "%s/now/torch_like_now --loader %s --expandable", loading, loaders[i]);
        check_program(command);
    }
    snprintf(command, sizeof command, "%s/torch_like_linked --loader linked", torch);
    check_program(command);
}
END_TEST

START_TEST(python_loads_it_in_every_way)
{
    static const char *const loaders[] = {"handle", "default", "linked"};
    char command[COMMAND_BYTES];

    for (size_t i = 0; i < sizeof loaders / sizeof *loaders; i++) {
        snprintf(command, sizeof command, "python3 %s/torch_like.py --loader %s%s", torch, loaders[i],
                 i == 1 ? " --expandable" : "");
        check_program(command);
    }
}
END_TEST

/* What Python's ctypes looks up in a library that it loaded RTLD_LOCAL. */
START_TEST(a_call_by_ctypes_is_caught)
{
    char command[COMMAND_BYTES];

    snprintf(command, sizeof command,
             "python3 -c \"\n"
             "import ctypes\n"
             "acl = ctypes.CDLL('%s/libascendcl.so')\n"
             "block = ctypes.c_void_p()\n"
             "results = [acl.aclInit(None), acl.aclrtSetDevice(0)]\n"
             "for i in range(5):\n"
             "    results.append(acl.aclrtMalloc(ctypes.byref(block), ctypes.c_size_t(1000), 0))\n"
             "    results.append(acl.aclrtFree(block) if i else 0)\n"
             "assert results == [0] * 12, results\n"
             "print('driver.allocation_count 5')\n"
             "print('driver.allocated_bytes 5000')\n"
             "print('driver.free_count 4')\n"
             "print('driver.freed_bytes 4000')\n"
             "\"",
             cann);
    check_program(command);
}
END_TEST

START_TEST(libraries_that_are_linked_to_operators_are_seen)
{
    static const char *const libraries[] = {"lazy", "now", "direct"};
    static const char *const ways[] = {"global", "local", "deepbind", "lazy", "lazy-deepbind"};
    char command[COMMAND_BYTES];

    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
            /* By its path, and by its name alone. */
            snprintf(command, sizeof command, "%s/open_calls %s/libcalls_%s.so %s", loading, loading, libraries[i],
                     ways[k]);
            check_program(command);
            snprintf(command, sizeof command, "%s/open_calls libcalls_%s.so %s", loading, libraries[i], ways[k]);
            check_program(command);
        }
    snprintf(command, sizeof command, "%s/linked_calls_lazy", loading);
    check_program(command);
    snprintf(command, sizeof command, "%s/linked_calls_now", loading);
    check_program(command);
}
END_TEST

START_TEST(calls_before_our_constructor_and_after_our_destructor_are_seen)
{
    char command[COMMAND_BYTES];

    snprintf(command, sizeof command, "%s/early_late", loading);
    check_program(command);
}
END_TEST

/* ---- The loader as without us -------------------------------------------------------------------------------------- */

START_TEST(the_loader_answers_as_without_us)
{
    char command[COMMAND_BYTES];
    nm_run run;

    snprintf(command, sizeof command,
             "%s/probe %s %s/libascendcl.so %s/libascend_hal.so %s/libopapi.so %s/old/libascendcl.so", loading, loading,
             cann, cann, cann, loading);
    run = run_both("", command);
    /* The questions are such that the caller matters. */
    ck_assert_ptr_nonnull(strstr(run_out(&run), "first looks for loading_who: second, found, no error"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "program looks for loading_who: first, found, no error"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "first opens libpart_fourth.so: not"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "second opens libpart_fourth.so: done"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "first opens $ORIGIN/apart/libpart_fifth.so: done"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "needy from the third: 1"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "undefined symbol: aclrtMapMem"));
    run_free(&run);
}
END_TEST

START_TEST(threads_that_load_and_unload_at_once_come_to_an_end)
{
    char command[COMMAND_BYTES];
    nm_run run;

    snprintf(command, sizeof command, "%s/churn %s 1500 2>/dev/null", loading, loading);
    run = run_both("", command);
    run_free(&run);
}
END_TEST

static void check_note(const char *what, const char *kind, const char *pattern)
{
    sqlite3 *db = open_trace();
    char sql[512];

    snprintf(sql, sizeof sql, "SELECT count(*) FROM z_unseen WHERE kind = '%s' AND text LIKE '%s'", kind, pattern);
    check_value(db, what, kind, 1, sql);
    sqlite3_close(db);
}

START_TEST(what_an_older_cann_lacks_is_missing_with_us_too)
{
    char command[COMMAND_BYTES];
    nm_run run;
    sqlite3 *db;

    snprintf(command, sizeof command, "%s/older", loading);
    run = run_both("", command);
    ck_assert_ptr_nonnull(strstr(run_out(&run), "aclrtMallocAlign32: missing"));
    ck_assert_ptr_nonnull(strstr(run_out(&run), "missing, missing, there"));
    run_free(&run);
    db = open_trace();
    check_value(db, command, "allocations", 1, "SELECT sum(allocation_count) FROM heap_total WHERE level = 'driver'");
    check_value(db, command, "notes", 0, "SELECT count(*) FROM z_note");
    sqlite3_close(db);
}
END_TEST

START_TEST(a_missing_function_that_is_called_is_noted)
{
    char command[COMMAND_BYTES];
    nm_run run;

    snprintf(command, sizeof command, "LD_LIBRARY_PATH=%s/old %s --force -o %s/t.zst -- %s/newer", loading, recorder,
             folder, loading);
    run = run_checked(command);
    run_free(&run);
    check_note(command, "missing function", "aclrtMallocWithCfg");
}
END_TEST

/* ---- Beside another tool ------------------------------------------------------------------------------------------- */

static char *tool_report(void)
{
    char path[128];
    char *text = calloc(1, 4096);
    FILE *in;

    snprintf(path, sizeof path, "%s/tool.txt", folder);
    in = fopen(path, "r");
    ck_assert_ptr_nonnull(text);
    if (in == NULL)
        return text;
    ck_assert_uint_gt(fread(text, 1, 4095, in), 0);
    fclose(in);
    remove(path);
    return text;
}

/* Runs the command with `list` for LD_PRELOAD, in which $LD_PRELOAD stands for our library. */
static nm_run run_beside(const char *list, const char *command)
{
    char line[COMMAND_BYTES];

    snprintf(line, sizeof line,
             "OTHER_TOOL=%s/tool.txt %s --no-pool-events --force -o %s/t.zst -- sh -c 'LD_PRELOAD=%s exec %s'", folder,
             recorder, folder, list, command);
    return run_checked(line);
}

static void check_report(const char *what, const char *alone, char *report, int gained_count)
{
    static const char *const keys[] = {"malloc_count", "align_count", "free_count", "driver_count"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        ck_assert_msg(value_of(report, keys[i]) == value_of(alone, keys[i]) + (i == 1 ? gained_count : 0),
                      "%s: %s is\n%s, alone\n%s", what, keys[i], report, alone);
    free(report);
}

/* Where npumem-record puts us, in front of the tool and behind it: the tool sees what it sees without us, and where we stand in
 * front also what is looked up by handle (`gained_count` calls). */
static void check_tool(const char *tool, const char *command, int gained_count)
{
    char environment[COMMAND_BYTES], line[2 * COMMAND_BYTES + 64];
    bool wraps_dlsym = strcmp(tool, "tool_dlsym") == 0;
    char *alone;
    nm_run run;

    snprintf(environment, sizeof environment, "OTHER_TOOL=%s/tool.txt LD_PRELOAD=%s/lib%s.so", folder, loading, tool);
    snprintf(line, sizeof line, "%s %s", environment, command);
    run = run_checked(line);
    run_free(&run);
    alone = tool_report();
    run = run_both(environment, command);
    check_report(line, alone, tool_report(), 0);
    check_books(line, run_out(&run));
    run_free(&run);

    snprintf(environment, sizeof environment, "$LD_PRELOAD:%s/lib%s.so", loading, tool);
    run = run_beside(environment, command);
    check_report("behind us", alone, tool_report(), gained_count);
    check_books(line, run_out(&run));
    run_free(&run);

    snprintf(environment, sizeof environment, "%s/lib%s.so:$LD_PRELOAD", loading, tool);
    run = run_beside(environment, command);
    check_report("in front of us", alone, tool_report(), 0);
    ck_assert_int_gt(value_of(run_out(&run), "driver.allocation_count"), 0);
    if (wraps_dlsym)
        check_note(line, "other tool", "%libtool_dlsym.so"); /* what is looked up goes past us */
    else
        check_books(line, run_out(&run));
    run_free(&run);
    free(alone);
}

START_TEST(another_tool_and_we_see_the_same_calls)
{
    static const char *const tools[] = {"tool_next", "tool_handle", "tool_dlsym"};
    char command[COMMAND_BYTES];

    size_t tool_count = sizeof tools / sizeof *tools;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    tool_count--; /* npumem-record itself does not start behind a tool that wraps dlsym: the sanitizer's runtime asks it */
#endif
    for (size_t i = 0; i < tool_count; i++) {
        snprintf(command, sizeof command, "%s/open_calls libcalls_now.so local", loading);
        check_tool(tools[i], command, 0);
        snprintf(command, sizeof command, "%s/linked_calls_lazy", loading);
        check_tool(tools[i], command, 0);
        snprintf(command, sizeof command, "%s/torch_like --loader linked", torch);
        check_tool(tools[i], command, 0);
        snprintf(command, sizeof command, "%s/torch_like --loader handle", torch);
        check_tool(tools[i], command, strcmp(tools[i], "tool_dlsym") == 0 ? 0 : 6);
    }
}
END_TEST

START_TEST(another_tool_is_noted)
{
    char command[COMMAND_BYTES], environment[COMMAND_BYTES];
    nm_run run;

    snprintf(environment, sizeof environment, "LD_PRELOAD=%s", spy);
    snprintf(command, sizeof command, "%s/torch_like", torch);
    run = run_both(environment, command);
    check_books("torch_like with torch_spy behind", run_out(&run));
    run_free(&run);
    check_note(command, "other tool", "%spy_libascend_kernel_hook.so");
    /* A library that binds past a tool behind us is left alone, and that is said. */
    snprintf(command, sizeof command, "%s/open_calls %s/libcalls_now.so deepbind", loading, loading);
    snprintf(environment, sizeof environment, "LD_PRELOAD=%s/libtool_next.so", loading);
    run = run_both(environment, command);
    check_books("a library that binds past a tool in front of us", run_out(&run));
    run_free(&run);
    snprintf(environment, sizeof environment, "$LD_PRELOAD:%s/libtool_next.so", loading);
    run = run_beside(environment, command);
    run_free(&run);
    check_note(command, "unseen library", "%libcalls_now.so");
}
END_TEST

/* ---- Beside what makes one call into others ------------------------------------------------------------------------ */

#define MIB 1048576LL

/* npumem-record itself does not run on another allocator then: the sanitizer's runtime is one. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const bool is_sanitized = true;
#else
static const bool is_sanitized = false;
#endif

/* The ten blocks once, or with a saver also mapped again, in driver memory alone. */
static void check_saved(const char *what, bool is_saved)
{
    sqlite3 *db = open_trace();

    check_value(db, what, "peak", 318 * MIB, "SELECT peak_bytes FROM device_peak");
    check_value(db, what, "allocations", is_saved ? 20 : 10,
                "SELECT sum(allocation_count) FROM heap_total WHERE level = 'driver'");
    check_value(db, what, "ends", is_saved ? 20 : 10, "SELECT sum(free_count) FROM heap_total WHERE level = 'driver'");
    check_value(db, what, "physical", is_saved ? 20 : 0,
                "SELECT coalesce(sum(free_count), 0) FROM heap_total WHERE level = 'physical'");
    check_value(db, what, "misuse", 0, "SELECT count(*) FROM misuse");
    check_value(db, what, "anomalies", 0, "SELECT count(*) FROM anomaly");
    check_value(db, what, "complete", 1, "SELECT is_complete FROM input");
    sqlite3_close(db);
}

/* In LD_PRELOAD of npumem-record, which puts us behind most; in front of all; and behind all. */
static void check_beside(const char *libraries, const char *way, bool is_saved)
{
    static const char *const lists[] = {"$LD_PRELOAD:%s", "%s:$LD_PRELOAD"};
    char environment[COMMAND_BYTES], command[COMMAND_BYTES];
    nm_run run, beside;

    snprintf(environment, sizeof environment, "LD_PRELOAD=%s", libraries);
    snprintf(command, sizeof command, "%s/saved %s", loading, way);
    run = run_both(environment, command);
    check_saved(environment, is_saved);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        snprintf(environment, sizeof environment, lists[i], libraries);
        beside = run_beside(environment, command);
        ck_assert_str_eq(run_out(&run), run_out(&beside));
        check_saved(environment, is_saved);
        run_free(&beside);
    }
    run_free(&run);
}

START_TEST(what_comes_to_cann_beside_a_memory_saver_is_recorded_once)
{
    static const char *const ways[] = {"linked", "default", "next"};
    char libraries[COMMAND_BYTES];

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        snprintf(libraries, sizeof libraries, "%s/libmemory_saver.so", loading);
        check_beside(libraries, ways[i], true);
    }
    snprintf(libraries, sizeof libraries, "%s/libmemory_saver.so:%s", loading, spy);
    check_beside(libraries, "linked", true);
    snprintf(libraries, sizeof libraries, "%s/libmemory_saver.so:%s/libjemalloc.so", loading, loading);
    if (!is_sanitized)
        check_beside(libraries, "default", true);
}
END_TEST

/* By a handle the saver is passed by where we are behind it, and without us. */
START_TEST(every_lookup_reaches_us_behind_others)
{
    static const char *const ways[] = {"linked", "default", "next", "handle"};
    static const char *const others[] = {"tool_next", "jemalloc", "tcmalloc"};
    size_t other_count = is_sanitized ? 1 : sizeof others / sizeof *others;
    char libraries[COMMAND_BYTES], environment[COMMAND_BYTES], command[COMMAND_BYTES];
    nm_run run;

    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        for (size_t k = 0; k < other_count; k++) {
            snprintf(libraries, sizeof libraries, "%s/lib%s.so", loading, others[k]);
            check_beside(libraries, ways[i], false);
        }
    snprintf(environment, sizeof environment, "LD_PRELOAD=%s/libmemory_saver.so", loading);
    snprintf(command, sizeof command, "%s/saved handle", loading);
    run = run_both(environment, command);
    check_saved("a saver that is passed by", false);
    run_free(&run);
}
END_TEST

/* It wants to be the first library of all, and is where we stand behind it. */
START_TEST(the_address_sanitizer_stays_in_front)
{
    char command[COMMAND_BYTES];
    nm_run run;

    snprintf(command, sizeof command, "env LD_PRELOAD=%s ASAN_OPTIONS=detect_leaks=0 %s/saved default",
             NPUMEM_ASAN_RUNTIME, loading);
    run = run_both("", command);
    check_saved("the address sanitizer", false);
    run_free(&run);
    snprintf(command, sizeof command, "env LD_PRELOAD=%s ASAN_OPTIONS=detect_leaks=0 %s/saved_asan default",
             NPUMEM_ASAN_RUNTIME, loading);
    run = run_both("", command);
    check_saved("a program with the address sanitizer", false);
    run_free(&run);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("loading");
    TCase *tests = tcase_create("loading");
    SRunner *runner;
    int failed_count;

    if (argc != 7)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    torch = argv[3];
    cann = argv[4];
    loading = argv[5];
    spy = argv[6];
    tcase_set_timeout(tests, 300);
    tcase_add_test(tests, every_loader_of_the_client_is_seen_whole);
    tcase_add_test(tests, names_that_were_bound_at_load_are_seen);
    if (system("command -v python3 >/dev/null || ! echo 'skipped: no python3 here'") == 0) {
        tcase_add_test(tests, python_loads_it_in_every_way);
        tcase_add_test(tests, a_call_by_ctypes_is_caught);
    }
    tcase_add_test(tests, libraries_that_are_linked_to_operators_are_seen);
    tcase_add_test(tests, calls_before_our_constructor_and_after_our_destructor_are_seen);
    tcase_add_test(tests, the_loader_answers_as_without_us);
    tcase_add_test(tests, threads_that_load_and_unload_at_once_come_to_an_end);
    tcase_add_test(tests, what_an_older_cann_lacks_is_missing_with_us_too);
    tcase_add_test(tests, a_missing_function_that_is_called_is_noted);
    tcase_add_test(tests, another_tool_and_we_see_the_same_calls);
    tcase_add_test(tests, another_tool_is_noted);
    tcase_add_test(tests, what_comes_to_cann_beside_a_memory_saver_is_recorded_once);
    tcase_add_test(tests, every_lookup_reaches_us_behind_others);
    if (NPUMEM_ASAN_RUNTIME[0] != 0)
        tcase_add_test(tests, the_address_sanitizer_stays_in_front);
    else
        puts("skipped: no address sanitizer here");
    suite_add_tcase(suite, tests);
    run_make_folder(folder);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed_count != 0;
}
