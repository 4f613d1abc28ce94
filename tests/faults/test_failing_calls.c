/* SPDX-License-Identifier: Apache-2.0
 *
 * Each system call of npumem-record's start, and of the recorded process's, fails: the first, the second, ..., each once and
 * from then on. What the program was told is recorded is in the trace or is counted there, or the trace is not complete,
 * and a line says why; the program prints and ends as ever. Under --required it has not begun, or all is recorded.
 *
 *     test_failing_calls NPUMEM_RECORD SPIN_EVENTS FAIL_CALLS
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drain/recover.h"
#include "source/source.h"
#include "support/run.h"
#include "support/trace_content.h"

#define EVENTS     "300"
#define CALLS_MAX  200
#define LEFT_OUT   77
#define NOT_LOADED 127 /* the loader's: npumem-record itself has not begun */

typedef struct ack { /* as in spin_events.c */
    uint64_t allocation_count, free_count, reserved[6];
} ack;

typedef struct fault {
    const char *call, *program; /* NULL: npumem-record */
    unsigned number;
    bool is_sticky, is_required;
    int error;
} fault;

static const char *recorder_path, *program_path, *fail_path;
static char folder[64];

static const char *in_folder(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

static uint64_t read_number(const char *name)
{
    char path[128];
    unsigned long long number = 0;
    FILE *file = fopen(in_folder(path, name), "r");

    if (file != NULL) {
        ck_assert_int_eq(fscanf(file, "%llu", &number), 1);
        fclose(file);
    }
    return number;
}

/* Calls that had returned. */
static uint64_t acknowledged(void)
{
    char path[128];
    ack acks = {0};
    FILE *file = fopen(in_folder(path, "ack"), "r");

    if (file == NULL)
        return 0;
    size_t count = fread(&acks, sizeof acks, 1, file);
    fclose(file);
    return count == 0 ? 0 : acks.allocation_count + acks.free_count;
}

static nm_run run(const fault *at)
{
    char number[16], error[16], ring_dir[128], trace[128], acks[128], count[128];
    const char *words[32];
    int word_count = 0;

    snprintf(number, sizeof number, "%u%s", at->number, at->is_sticky ? "+" : "");
    snprintf(error, sizeof error, "%d", at->error);
    run_remove_folder(folder);
    ck_assert_int_eq(mkdir(folder, 0700), 0);
    ck_assert_int_eq(mkdir(in_folder(ring_dir, "rings"), 0700), 0);
    const char *const begin[] = {fail_path, at->call, number, error, in_folder(count, "count")};
    for (size_t i = 0; i < sizeof begin / sizeof *begin; i++)
        words[word_count++] = begin[i];
    if (at->program != NULL) {
        words[word_count++] = "-p";
        words[word_count++] = at->program;
    }
    words[word_count++] = recorder_path;
    words[word_count++] = at->is_required ? "--required" : "--best-effort";
    const char *const rest[] = {"--sample-interval",
                                "0",
                                "--ring-dir",
                                ring_dir,
                                "-o",
                                in_folder(trace, "t.zst"),
                                "--",
                                program_path,
                                "--events",
                                EVENTS,
                                "--ack",
                                in_folder(acks, "ack"),
                                NULL};
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        words[word_count++] = rest[i];
    return run_program((char *const *)(uintptr_t)words, NULL, NULL, 30);
}

/* ---- What the trace says ------------------------------------------------------------------------------------------- */

typedef struct reading {
    bool is_there;
    uint64_t found; /* of what can be acknowledged */
    nm_source_summary_data summary;
} reading;

static void read_source(int fd, const nm_recovery *recovery, reading *out)
{
    nm_source *source = NULL;
    nm_record record;
    nm_error err = {0};

    ck_assert_msg(nm_source_open(fd, &source, &err) == NM_OK, "%s", err.text);
    if (recovery->blocks.len > 0)
        ck_assert_int_eq(
            nm_trace_source_add_tail(source, (nm_bytes){recovery->blocks.data, recovery->blocks.len}, 0, &err), NM_OK);
    while (nm_source_next(source, &record, &err) == NM_OK)
        out->found += record.kind == NM_RECORD_EVENT &&
                      (record.event.kind == NM_EVENT_ALLOC || record.event.kind == NM_EVENT_FREE);
    nm_source_summary(source, &out->summary);
    nm_source_close(source);
}

/* As npumem-ingest does: with what rings that are still there hold. */
static reading read_trace(void)
{
    char path[128];
    reading out = {0};
    nm_recovery recovery;
    nm_error err = {0};
    int fd = open(in_folder(path, "t.zst"), O_RDONLY);

    if (fd < 0 || lseek(fd, 0, SEEK_END) == 0) {
        close(fd);
        return out;
    }
    lseek(fd, 0, SEEK_SET);
    nm_bytes trace = trace_load(path);
    ck_assert_msg(nm_recover_rings(trace, &recovery, &err) == NM_OK, "%s", err.text);
    out.is_there = true;
    read_source(fd, &recovery, &out);
    nm_recovery_free(&recovery);
    free((void *)(uintptr_t)trace.data);
    close(fd);
    return out;
}

/* ---- The oracle ---------------------------------------------------------------------------------------------------- */

static void check(const fault *at, const nm_run *ran)
{
    bool is_said = strstr(run_err(ran), "npumem-record: ") != NULL;
    uint64_t acked = acknowledged();
    char what[160];

    snprintf(what, sizeof what, "%s of %s, call %u%s%s", at->call, at->program == NULL ? "npumem-record" : at->program,
             at->number, at->is_sticky ? "+" : "", at->is_required ? ", --required" : "");
    if (ran->exit_code == NOT_LOADED || (ran->exit_code > 128 && !is_said)) {
        ck_assert_msg(acked == 0, "%s: npumem-record did not begin, the program did", what);
        return;
    }
    ck_assert_msg(is_said, "%s: npumem-record said nothing:\n%s", what, run_err(ran));
    if (at->program == NULL && (!at->is_required || ran->exit_code == 0))
        ck_assert_msg(ran->exit_code == 0 && strstr(run_out(ran), "allocations " EVENTS) != NULL,
                      "%s: ended with %d:\n%s%s", what, ran->exit_code, run_out(ran), run_err(ran));
    reading got = read_trace();
    if (at->is_required && ran->exit_code == 1)
        ck_assert_msg(acked == 0, "%s: refused, and ran", what);
    else if (got.is_there)
        ck_assert_msg(!got.summary.is_complete || got.found == acked,
                      "%s: acknowledged %" PRIu64 ", found %" PRIu64 ", and complete:\n%s", what, acked, got.found,
                      run_err(ran));
    else
        ck_assert_msg(strstr(run_err(ran), "unrecorded") != NULL || at->program != NULL, "%s: no trace:\n%s", what,
                      run_err(ran));
    if (at->is_required && ran->exit_code == 0)
        ck_assert_msg(got.is_there && got.found == acked, "%s: it ran, acknowledged %" PRIu64 ", found %" PRIu64, what,
                      acked, got.found);
}

/* False: it has no such call, or this machine lets nobody trace. */
static bool fail_one(const fault *at)
{
    nm_run ran = run(at);
    bool has_failed = ran.exit_code != LEFT_OUT && read_number("count") > 0;

    if (has_failed)
        check(at, &ran);
    run_free(&ran);
    return has_failed;
}

static unsigned fail_each(fault at)
{
    at.number = 1;
    while (at.number < CALLS_MAX && fail_one(&at))
        at.number++;
    return at.number - 1;
}

static bool can_trace(void)
{
    nm_run ran = run(&(fault){.call = "openat", .number = CALLS_MAX * CALLS_MAX, .error = EIO});
    bool is_able = ran.exit_code != LEFT_OUT;

    run_free(&ran);
    if (!is_able)
        printf("skipped: nobody may be traced here\n");
    return is_able;
}

static const char *const start_calls[] = {"unlinkat",  "getdents64", "fallocate", "mkdirat", "openat",
                                          "getrandom", "fstatfs",    "renameat2", "fcntl"};

START_TEST(a_recorder_one_of_whose_calls_fails_loses_nothing_in_silence)
{
    unsigned count = 0;

    if (!can_trace())
        return;
    for (size_t i = 0; i < sizeof start_calls / sizeof *start_calls; i++) {
        count += fail_each((fault){.call = start_calls[i], .error = EIO});
        count += fail_each((fault){.call = start_calls[i], .error = EIO, .is_sticky = true});
    }
    ck_assert_uint_ge(count, sizeof start_calls / sizeof *start_calls);
}
END_TEST

/* The program is not begun, or recorded from its first event on. */
START_TEST(required_means_that_it_is_recorded)
{
    for (size_t i = 0; i < 4; i++) {
        fail_each((fault){.call = start_calls[i], .error = EIO, .is_required = true});
        fail_each((fault){.call = start_calls[i], .error = EIO, .is_required = true, .is_sticky = true});
    }
}
END_TEST

START_TEST(a_process_one_of_whose_calls_fails_loses_nothing_in_silence)
{
    static const char *const calls[] = {"openat", "fallocate"};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        fail_each((fault){.call = calls[i], .error = EMFILE, .program = "spin_events"});
        fail_each((fault){.call = calls[i], .error = EMFILE, .program = "spin_events", .is_sticky = true});
    }
}
END_TEST

/* From its first write on, or a later one, npumem-record can write nothing: not to the trace, not to what it wakes or tells
 * somebody by, not to standard error. */
START_TEST(a_recorder_that_can_write_nothing_ends_as_the_program_did)
{
    fault at = {.call = "write", .error = EIO, .is_sticky = true, .number = 1};
    bool has_failed = can_trace();

    for (; has_failed && at.number < CALLS_MAX; at.number++) {
        nm_run ran = run(&at);

        has_failed = read_number("count") > 0;
        ck_assert_msg(ran.exit_code == 0 && strstr(run_out(&ran), "allocations " EVENTS) != NULL,
                      "write %u+: ended with %d:\n%s%s", at.number, ran.exit_code, run_out(&ran), run_err(&ran));
        run_free(&ran);
    }
    ck_assert(at.number == 1 || at.number > 3);
}
END_TEST

int main(int argc, char **argv)
{
    if (argc != 4)
        return EXIT_FAILURE;
    recorder_path = argv[1];
    program_path = argv[2];
    fail_path = argv[3];
    run_make_folder(folder);
    Suite *suite = suite_create("failing_calls");
    TCase *tests = tcase_create("failing_calls");

    tcase_set_timeout(tests, 600);
    tcase_add_test(tests, a_recorder_one_of_whose_calls_fails_loses_nothing_in_silence);
    tcase_add_test(tests, required_means_that_it_is_recorded);
    tcase_add_test(tests, a_process_one_of_whose_calls_fails_loses_nothing_in_silence);
    tcase_add_test(tests, a_recorder_that_can_write_nothing_ends_as_the_program_did);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    run_remove_folder(folder);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
