/* SPDX-License-Identifier: Apache-2.0
 *
 * Python stacks, end to end: python_lines.py writes down, for each allocation, the frames that the interpreter itself shows
 * (sys._getframe); it is recorded and the trace ingested; each frame of each recorded stack must be that one. Once for
 * every CPython from 3.8 to 3.13 that is here: on PATH, below ~/.pyenv, or named in NPUMEM_PYTHONS (paths with colons). MINOR: those
 * of 3.MINOR alone.
 *
 *     test_python_stacks NPUMEM_RECORD NPUMEM_INGEST FOLDER_OF_PROGRAMS ASCENDCL [MINOR]
 */
#include <check.h>
#include <glob.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "support/ask.h"
#include "support/run.h"

#define PYTHONS_MAX     16
#define DEPTH_DEFAULT   64
#define NO_PYTHON_FRAME (-1)
#define FIRST_SIZE      4096

static const char *recorder, *ingest, *programs, *acl;
static int minor_min = 8, minor_max = 13; /* 3.8 to 3.13 */
static char folder[64];

/* ---- Interpreters -------------------------------------------------------------------------------------------------- */

static struct {
    char path[512];
    int minor;
} pythons[PYTHONS_MAX];
static int python_count;

/* The minor version of a CPython 3 that can be recorded here; -1: it is none. */
static int minor_of(const char *path)
{
    char command[768], answer[32] = "";
    FILE *pipe;

    snprintf(command, sizeof command,
             "'%s' -c 'import sys, ctypes; print(sys.version_info[1] if sys.version_info[0] == 3 and "
             "sys.implementation.name == \"cpython\" else -1)' 2>/dev/null </dev/null",
             path);
    pipe = popen(command, "r");
    if (pipe == NULL)
        return -1;
    if (fgets(answer, sizeof answer, pipe) == NULL)
        answer[0] = 0;
    return pclose(pipe) == 0 ? atoi(answer) : -1;
}

static void add_python(const char *path)
{
    int minor = minor_of(path);

    if (minor < minor_min || minor > minor_max || python_count == PYTHONS_MAX)
        return;
    snprintf(pythons[python_count].path, sizeof pythons[0].path, "%s", path);
    pythons[python_count++].minor = minor;
}

static bool has_minor(int minor)
{
    for (int i = 0; i < python_count; i++) {
        if (pythons[i].minor == minor)
            return true;
    }
    return false;
}

static void find_below_home(void)
{
    const char *home = getenv("HOME");
    char pattern[512];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/.pyenv/versions/3.*/bin/python3", home != NULL ? home : "");
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++)
            add_python(found.gl_pathv[i]);
        globfree(&found);
    }
}

static void find_pythons(void)
{
    const char *given = getenv("NPUMEM_PYTHONS");
    char text[4096];

    if (given != NULL) {
        snprintf(text, sizeof text, "%s", given);
        for (char *path = strtok(text, ":"); path != NULL; path = strtok(NULL, ":"))
            add_python(path);
        return;
    }
    find_below_home();
    add_python("/usr/bin/python3"); /* a distribution's has the interpreter in the program itself */
    for (int minor = minor_min; minor <= minor_max; minor++) {
        snprintf(text, sizeof text, "python3.%d", minor);
        if (!has_minor(minor))
            add_python(text);
        if (!has_minor(minor))
            printf("skipped: CPython 3.%d is not here\n", minor);
    }
}

/* ---- The truth ----------------------------------------------------------------------------------------------------- */

typedef struct true_frame {
    long size, number; /* of the allocation; of the frame */
    long line;
    char *file, *function; /* owned */
} true_frame;

static true_frame *truth;
static size_t truth_count, truth_capacity;

static int compare_frames(const void *a, const void *b)
{
    const true_frame *x = a, *y = b;

    if (x->size != y->size)
        return x->size < y->size ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static void read_truth(const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t capacity = 0;

    ck_assert_ptr_nonnull(file);
    while (getline(&line, &capacity, file) > 0) {
        char *rest = line, *fields[5];

        for (int i = 0; i < 5; i++) {
            fields[i] = strsep(&rest, "\t\n");
            ck_assert_msg(fields[i] != NULL, "a line of the truth is cut");
        }
        if (truth_count == truth_capacity) {
            truth_capacity = truth_capacity * 2 + 1024;
            truth = realloc(truth, truth_capacity * sizeof *truth);
            ck_assert_ptr_nonnull(truth);
        }
        truth[truth_count++] =
            (true_frame){atol(fields[0]), atol(fields[1]), atol(fields[3]), strdup(fields[2]), strdup(fields[4])};
    }
    free(line);
    fclose(file);
    qsort(truth, truth_count, sizeof *truth, compare_frames);
}

static void forget_truth(void)
{
    for (size_t i = 0; i < truth_count; i++) {
        free(truth[i].file);
        free(truth[i].function);
    }
    truth_count = 0;
}

/* ---- What was recorded --------------------------------------------------------------------------------------------- */

/* One allocation: its true frames and how many of the recorded ones have been seen. */
typedef struct held_stack {
    const true_frame *frames;
    size_t true_count;
    size_t native_count, python_count;
    size_t inlined_count; /* native ones that have no frame of their own: they take no room */
} held_stack;

static void find_truth(size_t *at, long size, held_stack *out)
{
    *out = (held_stack){0};
    ck_assert_msg(*at < truth_count && truth[*at].size == size, "%ld bytes: not in order, or not true", size);
    out->frames = &truth[*at];
    for (; *at < truth_count && truth[*at].size == size; (*at)++)
        out->true_count += truth[*at].number != NO_PYTHON_FRAME;
}

static void hold_frame(held_stack *held, sqlite3_stmt *row)
{
    long size = (long)sqlite3_column_int64(row, 0);
    const true_frame *frame = &held->frames[held->python_count];

    if (sqlite3_column_int(row, 1) == 0) {
        ck_assert_msg(held->python_count == 0, "%ld bytes: a native frame outside of a Python frame", size);
        held->native_count++;
        held->inlined_count += sqlite3_column_int(row, 5);
        return;
    }
    const char *file = (const char *)sqlite3_column_text(row, 2), *function = (const char *)sqlite3_column_text(row, 4);
    ck_assert_msg(held->python_count < held->true_count, "%ld bytes: more Python frames than there are", size);
    ck_assert_msg(strcmp(file, frame->file) == 0 && sqlite3_column_int64(row, 3) == frame->line &&
                      strcmp(function, frame->function) == 0,
                  "%ld bytes, frame %zu: %s:%lld %s, but it is %s:%ld %s", size, held->python_count, file,
                  sqlite3_column_int64(row, 3), function, frame->file, frame->line, frame->function);
    held->python_count++;
}

static void hold_stack(const held_stack *held, size_t depth, bool wants_native)
{
    size_t room = depth - (held->native_count - held->inlined_count);

    if (held->frames == NULL)
        return;
    ck_assert_msg(held->python_count == (held->true_count < room ? held->true_count : room),
                  "%ld bytes: %zu Python frames of %zu, %zu native", held->frames->size, held->python_count,
                  held->true_count, held->native_count);
    ck_assert_msg(!wants_native || held->native_count >= 1, "%ld bytes: no native frame", held->frames->size);
    ck_assert_msg(wants_native || held->true_count == 0 || held->native_count == 0, "%ld bytes: a native frame",
                  held->frames->size);
}

static void compare_all(sqlite3 *db, size_t depth, bool wants_native)
{
    static const char sql[] =
        "WITH RECURSIVE chain (size, stack_id, number) AS ("
        "  SELECT requested_bytes, stack_id, 0 FROM allocation WHERE requested_bytes >= ?"
        "  UNION ALL SELECT c.size, s.parent_id, c.number + 1 FROM chain AS c JOIN stack AS s USING (stack_id)"
        "    WHERE s.parent_id IS NOT NULL)"
        " SELECT c.size, coalesce(f.module GLOB 'python3.*', 0), f.file, coalesce(f.line, 0), f.function,"
        " f.inlined_in IS NOT NULL"
        " FROM chain AS c JOIN stack AS s USING (stack_id) JOIN frame AS f USING (frame_id) ORDER BY c.size, c.number";
    sqlite3_stmt *rows;
    held_stack held = {0};
    size_t at = 0;

    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &rows, NULL) == SQLITE_OK, "%s", sqlite3_errmsg(db));
    sqlite3_bind_int(rows, 1, FIRST_SIZE);
    while (sqlite3_step(rows) == SQLITE_ROW) {
        long size = (long)sqlite3_column_int64(rows, 0);

        if (held.frames == NULL || held.frames->size != size) {
            hold_stack(&held, depth, wants_native);
            find_truth(&at, size, &held);
        }
        hold_frame(&held, rows);
    }
    hold_stack(&held, depth, wants_native);
    ck_assert_msg(at == truth_count, "%zu true frames were not recorded", truth_count - at);
    sqlite3_finalize(rows);
}

/* ---- Runs ---------------------------------------------------------------------------------------------------------- */

/* Runs python_lines.py behind `before`, the recorder or nothing, with its truth in a file of that name. */
static nm_run run_lines(const char *python, const char *before, const char *truth_name)
{
    char command[2048];
    nm_run run;

    snprintf(command, sizeof command,
             "rm -f %s/%s; %s env PYTHONWARNINGS=ignore '%s' %s/python_lines.py --library %s/libpython_lines.so"
             " --exit-status 7 --truth %s/%s",
             folder, truth_name, before, python, programs, programs, folder, truth_name);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 7, "%s: %s", python, run_err(&run));
    return run;
}

/* What can be seen of a program that is recorded must be what is seen of it else, `plain`. */
static void record(const char *python, const nm_run *plain, const char *options)
{
    char before[512];
    nm_run recorded;

    snprintf(before, sizeof before, "%s --quiet --force %s -o %s/t.zst --", recorder, options, folder);
    recorded = run_lines(python, before, "truth");
    ck_assert_str_eq(run_out(&recorded), run_out(plain));
    ck_assert_str_eq(run_err(&recorded), run_err(plain));
    run_free(&recorded);
}

static sqlite3 *open_database(const char *step_at)
{
    char command[1024];
    nm_run run;

    snprintf(command, sizeof command, "%s --quiet --force --step-at %s -o %s/t.db %s/t.zst", ingest, step_at, folder,
             folder);
    run = run_shell(command, 60);
    ck_assert_msg(run.exit_code == 0, "%s%s", run_out(&run), run_err(&run));
    run_free(&run);
    return ask_open(folder, "t.db");
}

static void hold_run(int index, const nm_run *plain, const char *options, size_t depth, bool wants_native)
{
    char path[128];
    sqlite3 *db;

    record(pythons[index].path, plain, options);
    db = open_database("none");
    snprintf(path, sizeof path, "%s/truth", folder);
    read_truth(path);
    compare_all(db, depth, wants_native);
    forget_truth();
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM process WHERE process_id IN (SELECT process_id FROM heap)"), 3);
    ck_assert_msg(ask(db, "SELECT count(*) FROM z_unseen WHERE kind LIKE 'Python%'") == 0, "the walk was not compared");
    sqlite3_close(db);
}

START_TEST(every_frame_is_what_the_interpreter_says)
{
    printf("CPython 3.%d: %s\n", pythons[_i].minor, pythons[_i].path);
    fflush(stdout);
    nm_run plain = run_lines(pythons[_i].path, "", "plain");
    hold_run(_i, &plain, "", DEPTH_DEFAULT, true);
    run_free(&plain);
}
END_TEST

START_TEST(without_native_frames_and_of_any_depth)
{
    nm_run plain = run_lines(pythons[_i].path, "", "plain");

    hold_run(_i, &plain, "--stacks python", DEPTH_DEFAULT, false);
    hold_run(_i, &plain, "--stacks both --stack-depth 7", 7, true);
    hold_run(_i, &plain, "--stacks python --stack-depth 1", 1, false);
    run_free(&plain);
}
END_TEST

/* The native frames above them are fewer then, and the lines the same. */
START_TEST(behind_frame_pointers_they_are_the_same)
{
    nm_run plain = run_lines(pythons[_i].path, "", "plain");

    setenv("NPUMEM_UNWIND", "fp", 1);
    hold_run(_i, &plain, "--stacks both", DEPTH_DEFAULT, true);
    unsetenv("NPUMEM_UNWIND");
    run_free(&plain);
}
END_TEST

/* The drain is killed at some moment after the program has begun; what is in the rings then, or comes later, is read by
 * npumem-ingest. The rings have room for all of it. */
START_TEST(frames_in_the_rings_of_a_dead_recording_are_read)
{
    char command[2048], path[128];
    sqlite3 *db;
    nm_run run;

    snprintf(
        command, sizeof command,
        "rm -f %s/truth %s/t.zst && { PYTHONWARNINGS=ignore %s --quiet --buffer 4M --ring-dir %s -o %s/t.zst -- '%s' "
        "%s/python_lines.py"
        " --library %s/libpython_lines.so --truth %s/truth & } && until [ -e %s/truth ]; do sleep 0.01; done;"
        " sleep 0.0%d; kill -9 $!",
        folder, folder, recorder, folder, folder, pythons[_i].path, programs, programs, folder, folder, _i % 10);
    run = run_shell(command, 120); /* waits for the program, which holds the output */
    ck_assert_msg(run.exit_code == 0, "there was no drain to kill: %s", run_err(&run));
    run_free(&run);
    db = open_database("none");
    snprintf(path, sizeof path, "%s/truth", folder);
    read_truth(path);
    compare_all(db, DEPTH_DEFAULT, true);
    forget_truth();
    sqlite3_close(db);
}
END_TEST

START_TEST(native_stacks_have_no_python)
{
    nm_run plain = run_lines(pythons[_i].path, "", "plain");
    sqlite3 *db;

    record(pythons[_i].path, &plain, "--stacks native");
    run_free(&plain);
    db = open_database("none");
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM frame WHERE module GLOB 'python3.*'"), 0);
    ck_assert_int_gt(ask(db, "SELECT count(*) FROM frame"), 0);
    sqlite3_close(db);
}
END_TEST

/* ---- Books --------------------------------------------------------------------------------------------------------- */

/* "python.block.allocation_count 12", of the process itself, its forked and its spawned child. */
static long long book(const char *books, const char *process, const char *function)
{
    char key[96];
    const char *at;

    snprintf(key, sizeof key, "\n%spython.%s.allocation_count ", process, function);
    at = strstr(books, key);
    ck_assert_msg(at != NULL, "no line '%s' in\n%s", key + 1, books);
    return atoll(at + strlen(key));
}

/* The pool's blocks of each function, by site: all of them go through one method of the program, which is none. */
START_TEST(sites_are_the_lines_that_the_program_counts)
{
    static const char *const functions[] = {"attention", "block", "feed_forward", "train_step"};
    char command[2048], sql[512];
    sqlite3 *db;
    nm_run run;

    snprintf(command, sizeof command,
             "echo && %s --quiet --force -o %s/t.zst -- '%s' %s/torch_like.py --steps 4 --fork --spawn", recorder,
             folder, pythons[_i].path, programs);
    run = run_shell(command, 120);
    ck_assert_msg(run.exit_code == 0, "%s", run_err(&run));
    db = open_database("none");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        snprintf(sql, sizeof sql,
                 "SELECT count(*) FROM allocation JOIN heap USING (heap_id) JOIN stack USING (stack_id)"
                 " JOIN frame AS f ON f.frame_id = site_frame_id"
                 " WHERE level = 2 AND heap.name = 'ptaCaching' AND f.function = '%s'"
                 " AND f.file LIKE '%%/torch_like.py'",
                 functions[i]);
        ck_assert_int_eq(ask(db, sql), book(run_out(&run), "", functions[i]) +
                                           book(run_out(&run), "fork.", functions[i]) +
                                           book(run_out(&run), "spawn.", functions[i]));
    }
    ck_assert_msg(ask(db, "SELECT count(*) FROM z_unseen WHERE kind LIKE 'Python%'") == 0, "the walk was not compared");
    sqlite3_close(db);
    run_free(&run);
}
END_TEST

/* ---- Leaks --------------------------------------------------------------------------------------------------------- */

/* Checks one line of python_leak.py, "leak NAME LINE FUNCTION COUNT BYTES", against what was found to leak. */
static void check_leak(sqlite3 *db, const char *said)
{
    char name[32], function[128], sql[512];
    int line, count;
    long long bytes;

    ck_assert_int_eq(sscanf(said, "leak %31s %d %127s %d %lld", name, &line, function, &count, &bytes), 5);
    snprintf(sql, sizeof sql,
             "SELECT count(*) FROM leak_by_site WHERE site = 'python_leak.py:%d %s' AND verdict = 'growing'"
             " AND leak_count = %d AND leak_bytes = %lld",
             line, function, count, bytes);
    ck_assert_msg(ask(db, sql) == 1, "%s is not found: %s", name, sql);
}

/* Of what the program does at its other lines nothing leaks; and it prints the same as unrecorded. */
START_TEST(leaks_are_found_at_their_lines)
{
    char command[2048];
    sqlite3 *db;
    nm_run plain, recorded;
    int count = 0;

    snprintf(command, sizeof command, "'%s' %s/python_leak.py %s", pythons[_i].path, programs, acl);
    plain = run_shell(command, 60);
    snprintf(command, sizeof command, "%s --quiet --force -o %s/t.zst -- '%s' %s/python_leak.py %s", recorder, folder,
             pythons[_i].path, programs, acl);
    recorded = run_shell(command, 60);
    ck_assert_msg(recorded.exit_code == 0, "%s", run_err(&recorded));
    ck_assert_str_eq(run_out(&recorded), run_out(&plain));
    ck_assert_str_eq(run_err(&recorded), run_err(&plain));
    db = open_database("work"); /* each iteration begins there; without steps nothing is called growing */
    for (const char *line = run_out(&recorded); *line != 0; line = strchr(line, '\n') + 1, count++)
        check_leak(db, line);
    ck_assert_int_eq(count, 4);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM leak_by_site"), 4);
    ck_assert_int_eq(ask(db, "SELECT count(*) FROM misuse"), 0);
    ck_assert_int_eq(ask(db, "SELECT count(DISTINCT pid) FROM leak_by_site"), 3);
    sqlite3_close(db);
    run_free(&plain);
    run_free(&recorded);
}
END_TEST

static Suite *make_suite(void)
{
    Suite *suite = suite_create("python_stacks");
    TCase *tcase = tcase_create("all");

    tcase_set_timeout(tcase, 600);
    tcase_add_loop_test(tcase, every_frame_is_what_the_interpreter_says, 0, python_count);
    tcase_add_loop_test(tcase, without_native_frames_and_of_any_depth, 0, python_count);
    tcase_add_loop_test(tcase, behind_frame_pointers_they_are_the_same, 0, python_count);
    tcase_add_loop_test(tcase, frames_in_the_rings_of_a_dead_recording_are_read, 0, python_count);
    tcase_add_loop_test(tcase, native_stacks_have_no_python, 0, python_count < 1 ? python_count : 1);
    tcase_add_loop_test(tcase, leaks_are_found_at_their_lines, 0, python_count);
    tcase_add_loop_test(tcase, sites_are_the_lines_that_the_program_counts, 0, python_count);
    suite_add_tcase(suite, tcase);
    return suite;
}

int main(int argc, char **argv)
{
    if (argc != 5 && argc != 6)
        return 2;
    recorder = argv[1];
    ingest = argv[2];
    programs = argv[3];
    acl = argv[4];
    if (argc == 6)
        minor_min = minor_max = atoi(argv[5]);
    find_pythons();
    if (python_count == 0)
        return 77;
    run_make_folder(folder);
    SRunner *runner = srunner_create(make_suite());
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    free(truth);
    return failed == 0 ? 0 : 1;
}
