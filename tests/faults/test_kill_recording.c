/* SPDX-License-Identifier: Apache-2.0
 *
 * SIGKILL of the recorded program, and of npumem-record, at random moments: what a call had recorded when it returned is
 * found again, once, in its order. spin_events counts in a file which calls have returned; a dropped event must be said.
 *
 *     test_kill_recording NPUMEM_RECORD SPIN_EVENTS     (NPUMEM_SEED, NPUMEM_KILLS, NPUMEM_NIGHTLY in the environment)
 */
#include <check.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "drain/recover.h"
#include "source/source.h"
#include "support/run.h"
#include "support/trace_content.h"
#include "trace/files.h"

#define THREADS_MAX      4
#define KILLS_DEFAULT    20
#define KILLS_NIGHTLY    200
#define PART_KILLS_SHARE 2 /* one of so many is made with parts too: it takes ten times as long to come so far */
#define FIRST_PART       6 /* so many make the budget, and from then on each one that is begun removes one */
#define PARTS            3
#define NUMBER_MASK      0xffffffu /* of an event's number what its address has (spin_events.c) */
#define OTHER_EVENTS_MAX 64        /* that a recording of spin_events has beside its allocations */

typedef struct ack { /* as in spin_events.c */
    _Atomic uint64_t allocation_count, free_count, tid;
    uint64_t reserved[5];
} ack;

typedef struct moment { /* one kill */
    int thread_count;
    char pace_ns[16];
    uint64_t delay_us;
    const char *keep;   /* of --keep, or NULL */
    const char *buffer; /* of --buffer: short rings are spilled all the time */
    pid_t recorder;
    pid_t program;
    ack *acks;
} moment;

static const char *recorder_path, *program_path;
static char folder[64], trace_path[128], ack_path[128];
static uint64_t random_state;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void sleep_us(uint64_t us)
{
    nanosleep(&(struct timespec){.tv_sec = (time_t)(us / 1000000), .tv_nsec = (long)(us % 1000000) * 1000}, NULL);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text == NULL || text[0] == 0 ? otherwise : strtoull(text, NULL, 10);
}

static uint64_t kill_count(void)
{
    return number_from("NPUMEM_KILLS", number_from("NPUMEM_NIGHTLY", 0) == 0 ? KILLS_DEFAULT : KILLS_NIGHTLY);
}

/* ---- One recording ------------------------------------------------------------------------------------------------- */

static void start(moment *at)
{
    char threads[16];
    int null_fd = open("/dev/null", O_RDWR);

    unlink(trace_path);
    unlink(ack_path);
    snprintf(threads, sizeof threads, "%d", at->thread_count);
    at->recorder = fork();
    ck_assert_int_ge(at->recorder, 0);
    if (at->recorder == 0) {
        dup2(null_fd, STDOUT_FILENO);
        if (at->keep != NULL)
            execl(recorder_path, recorder_path, "-q", "--force", "--keep", at->keep, "--buffer", at->buffer,
                  "--ring-dir", folder, "-o", trace_path, "--", program_path, "--threads", threads, "--events", "0",
                  "--pace-ns", at->pace_ns, "--ack", ack_path, (char *)NULL);
        execl(recorder_path, recorder_path, "-q", "--buffer", at->buffer, "--ring-dir", folder, "-o", trace_path, "--",
              program_path, "--threads", threads, "--events", "0", "--pace-ns", at->pace_ns, "--ack", ack_path,
              (char *)NULL);
        _exit(127);
    }
    close(null_fd);
}

/* The program truncates the file and then maps it, so what we map is only valid once it has written its thread's id. */
static void wait_until_it_runs(moment *at)
{
    struct stat info;
    int fd = -1;

    for (int i = 0; i < 20000; i++) {
        if (fd < 0)
            fd = open(ack_path, O_RDONLY);
        if (fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof(ack) * at->thread_count)
            break;
        sleep_us(500);
    }
    ck_assert_int_ge(fd, 0);
    at->acks = mmap(NULL, sizeof(ack) * (size_t)at->thread_count, PROT_READ, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(at->acks, MAP_FAILED);
    close(fd);
    for (int i = 0; i < 20000 && atomic_load(&at->acks[0].tid) == 0; i++)
        sleep_us(500);
    ck_assert_uint_ne(atomic_load(&at->acks[0].tid), 0);
}

/* The process of a thread. */
static pid_t process_of(uint64_t tid)
{
    char path[64], line[256];
    int process = 0;

    snprintf(path, sizeof path, "/proc/%" PRIu64 "/status", tid);
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "Tgid: %d", &process);
    fclose(file);
    ck_assert_int_gt(process, 1);
    return process;
}

static bool is_part_there(unsigned part_number)
{
    char path[160];

    snprintf(path, sizeof path, "%s.%03u", trace_path, part_number);
    return access(path, F_OK) == 0;
}

/* The file of the part is made when it is begun; who looks late may find later ones alone. A slow machine may not come so
 * far: then there is less to see. */
static void wait_for_part(unsigned part_number)
{
    for (int i = 0; i < 20000; i++) {
        for (unsigned later = 0; later < FIRST_PART; later++)
            if (is_part_there(part_number + later))
                return;
        sleep_us(100);
    }
}

static void begin(moment *at)
{
    at->thread_count = 1 + (int)(next_random() % THREADS_MAX);
    snprintf(at->pace_ns, sizeof at->pace_ns, "%d", (int)(next_random() % 3) * 2000);
    at->buffer = next_random() % 2 == 0 ? "64KiB" : "1MiB";
    at->delay_us = next_random() % (at->keep == NULL ? 30000 : 3000);
    start(at);
    wait_until_it_runs(at);
    at->program = process_of(atomic_load(&at->acks[0].tid));
    if (at->keep != NULL)
        wait_for_part(FIRST_PART + (unsigned)(next_random() % PARTS));
    sleep_us(at->delay_us);
}

static void end(moment *at)
{
    munmap(at->acks, sizeof(ack) * (size_t)at->thread_count);
}

/* ---- What must be found -------------------------------------------------------------------------------------------- */

typedef struct found {
    uint64_t allocations, frees;         /* how many */
    uint64_t last_allocation, last_free; /* their numbers rise */
} found;

static uint64_t count_found(const trace_content *content, found founds[THREADS_MAX])
{
    uint64_t lost = 0;

    memset(founds, 0, THREADS_MAX * sizeof *founds);
    for (size_t i = 0; i < content->event_count; i++) {
        const nm_event *event = &content->events[i];
        uint64_t thread = (event->address >> 40) - 1, number = event->address >> 12 & NUMBER_MASK;

        if (event->kind == NM_EVENT_LOSS && event->detail != NM_LOSS_UNREADABLE)
            lost += (uint64_t)event->number;
        if (event->kind == NM_EVENT_ALLOC) {
            ck_assert_uint_lt(thread, THREADS_MAX);
            ck_assert_uint_eq(event->requested_bytes & NUMBER_MASK, number);
            ck_assert_uint_gt(number, founds[thread].last_allocation);
            founds[thread].last_allocation = number;
            founds[thread].allocations++;
        } else if (event->kind == NM_EVENT_FREE) {
            ck_assert_uint_lt(thread, THREADS_MAX);
            ck_assert_uint_gt(number, founds[thread].last_free);
            founds[thread].last_free = number;
            founds[thread].frees++;
        }
    }
    return lost;
}

/* `acked` and `found` of all threads; each thread may have recorded one event that it has not acknowledged. */
static void check(const moment *at, const trace_content *content, const char *what)
{
    found founds[THREADS_MAX];
    uint64_t lost = count_found(content, founds), acked = 0, all = 0;

    for (int i = 0; i < at->thread_count; i++) {
        uint64_t allocations = atomic_load(&at->acks[i].allocation_count), frees = atomic_load(&at->acks[i].free_count);

        acked += allocations + frees;
        all += founds[i].allocations + founds[i].frees;
        if (lost == 0)
            ck_assert_msg(founds[i].allocations >= allocations && founds[i].frees >= frees &&
                              founds[i].allocations <= allocations + 1 && founds[i].frees <= frees + 1,
                          "%s, thread %d of %d: acknowledged %" PRIu64 " and %" PRIu64 ", found %" PRIu64
                          " and %" PRIu64,
                          what, i, at->thread_count, allocations, frees, founds[i].allocations, founds[i].frees);
    }
    ck_assert_msg(acked <= all + lost, "%s: acknowledged %" PRIu64 ", found %" PRIu64 ", said to be lost %" PRIu64,
                  what, acked, all, lost);
    ck_assert_msg(all + lost <= acked + 2 * (uint64_t)at->thread_count,
                  "%s: acknowledged %" PRIu64 ", found %" PRIu64 ", said to be lost %" PRIu64, what, acked, all, lost);
}

/* The trace with what the rings hold behind it. */
static void read_with_rings(trace_content *content, bool *has_rings)
{
    nm_bytes trace = trace_load(trace_path);
    nm_buffer whole = {0};
    nm_recovery recovery;
    nm_error err = {0};

    ck_assert_msg(nm_recover_rings(trace, &recovery, &err) == NM_OK, "%s", err.text);
    *has_rings = recovery.has_rings;
    nm_buffer_append(&whole, trace.data, recovery.trace_bytes, NULL);
    nm_buffer_append(&whole, recovery.blocks.data, recovery.blocks.len, NULL);
    trace_content_read(content, (nm_bytes){whole.data, whole.len});
    ck_assert_uint_eq(content->whole_bytes, whole.len);
    nm_buffer_free(&whole);
    nm_recovery_free(&recovery);
    free((void *)trace.data);
}

/* ---- The kills ----------------------------------------------------------------------------------------------------- */

START_TEST(a_killed_program_loses_nothing_that_it_was_told_is_recorded)
{
    uint64_t kills = kill_count();

    for (uint64_t i = 0; i < kills; i++) {
        moment at = {0};
        trace_content content;
        int status;

        begin(&at);
        kill(at.program, SIGKILL);
        ck_assert_int_eq(waitpid(at.recorder, &status, 0), at.recorder);
        ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "npumem-record ends with %#x",
                      (unsigned)status);
        trace_content_read_file(&content, trace_path);
        check(&at, &content, "program killed");
        ck_assert_uint_eq(content.last_flags, NM_BLOCK_FINAL);
        ck_assert_uint_eq(content.events[content.event_count - 1].kind, NM_EVENT_PROCESS_END);
        ck_assert_int_eq(content.events[content.event_count - 1].error_code, SIGKILL);
        trace_content_free(&content);
        end(&at);
    }
}
END_TEST

/* The orphan is another process's child now: it is gone when its pid is, or a zombie that nobody reaps. */
static void wait_for_orphan(pid_t pid)
{
    char path[64], text[512];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 20000; i++) {
        FILE *file = fopen(path, "r");
        if (file == NULL)
            return;
        size_t got = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[got] = 0;
        const char *at = strrchr(text, ')');
        int thread_count = 0;
        if (at == NULL || at[2] == 'X')
            return;
        sscanf(at + 1, " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %d", &thread_count);
        if (at[2] == 'Z' && thread_count <= 1)
            return; /* its other threads may die after the first one */
        sleep_us(500);
    }
    ck_abort_msg("the program does not end");
}

static void remove_rings(const trace_content *content)
{
    ck_assert_int_eq(strncmp(content->session.ring_folder, folder, strlen(folder)), 0);
    run_remove_folder(content->session.ring_folder);
}

/* Files that hold what was copied out of rings, now. */
static size_t count_spills(void)
{
    char pattern[96];
    glob_t listed = {0};

    snprintf(pattern, sizeof pattern, "%s/*/s.*", folder);
    glob(pattern, 0, NULL, &listed);
    size_t count = listed.gl_pathc;
    globfree(&listed);
    return count;
}

START_TEST(a_killed_recorder_leaves_everything_in_file_and_rings)
{
    uint64_t kills = kill_count();
    size_t spill_count = 0;

    for (uint64_t i = 0; i < kills; i++) {
        moment at = {0};
        trace_content content;
        bool has_rings;

        begin(&at);
        kill(at.recorder, SIGKILL);
        ck_assert_int_eq(waitpid(at.recorder, NULL, 0), at.recorder);
        sleep_us(next_random() % 5000); /* the program records on, without a drain */
        kill(at.program, SIGKILL);
        wait_for_orphan(at.program);
        spill_count += count_spills();
        read_with_rings(&content, &has_rings);
        ck_assert(has_rings);
        check(&at, &content, "recorder killed");
        ck_assert_uint_eq(content.last_flags, NM_BLOCK_FINAL | NM_BLOCK_RECOVERED);
        remove_rings(&content);
        trace_content_free(&content);
        end(&at);
    }
    ck_assert_msg(kills < KILLS_DEFAULT || spill_count > 0, "no ring was ever spilled");
}
END_TEST

/* ---- Parts --------------------------------------------------------------------------------------------------------- */

typedef struct part_reading {
    found founds[THREADS_MAX];
    nm_source_summary_data summary;
    uint64_t hole_count; /* events that are missing between others of their thread */
} part_reading;

/* What is there of a thread rises; where nothing was dropped it has no hole, wherever parts begin. `low`: the last bits of a number; of
 * one that was doubled, or came too late, the hole before it is larger than what was dropped. */
static void take_in_order(part_reading *out, uint64_t *last, uint64_t low)
{
    uint64_t ahead = (low - *last) & NUMBER_MASK;

    ck_assert_msg(*last == 0 || ahead != 0, "%" PRIu64 " is followed by itself", *last);
    out->hole_count += *last == 0 ? 0 : ahead - 1;
    *last += ahead;
}

static void read_parts(part_reading *out)
{
    const char *path = trace_path;
    nm_trace_files files;
    nm_source *source = NULL;
    nm_record record;
    nm_error err = {0};
    int fds[64];

    memset(out, 0, sizeof *out);
    ck_assert_msg(nm_trace_files_open(&path, 1, O_RDONLY, &files, &err) == NM_OK, "%s", err.text);
    ck_assert_uint_le(files.count, 64);
    for (size_t i = 0; i < files.count; i++)
        fds[i] = files.items[i].fd;
    ck_assert_int_eq(nm_source_open_parts(fds, files.count, &source, &err), NM_OK);
    while (nm_source_next(source, &record, &err) == NM_OK) {
        const nm_event *event = &record.event;
        uint64_t thread = (event->address >> 40) - 1, number = event->address >> 12 & NUMBER_MASK;

        if (record.kind != NM_RECORD_EVENT || nm_event_is_repeat(event))
            continue;
        if (event->kind == NM_EVENT_ALLOC)
            take_in_order(out, &out->founds[thread].last_allocation, number);
        else if (event->kind == NM_EVENT_FREE)
            take_in_order(out, &out->founds[thread].last_free, number);
    }
    nm_source_summary(source, &out->summary);
    nm_source_close(source);
    nm_trace_files_close(&files);
}

/* Of a thread that stood still for a while all may lie in parts that are gone: then the sum alone tells. */
static void check_parts(const moment *at, const part_reading *read, const char *what)
{
    const nm_source_summary_data *summary = &read->summary;
    uint64_t acked = 0, all = summary->events_ingested + summary->events_unkept + summary->events_dropped;

    ck_assert_uint_eq(summary->events_damaged, 0);
    ck_assert_uint_eq(summary->bytes_damaged, 0);
    ck_assert(summary->is_finished);
    ck_assert_msg(read->hole_count <= summary->events_dropped,
                  "%s: %" PRIu64 " are missing, %" PRIu64 " are said to be", what, read->hole_count,
                  summary->events_dropped);
    for (int i = 0; i < at->thread_count; i++) {
        uint64_t allocations = atomic_load(&at->acks[i].allocation_count), frees = atomic_load(&at->acks[i].free_count);
        const found *last = &read->founds[i];

        acked += allocations + frees;
        if (summary->events_dropped > 0)
            continue;
        ck_assert_msg((last->last_allocation == 0 || last->last_allocation >= allocations) &&
                          last->last_allocation <= allocations + 1 &&
                          (last->last_free == 0 || last->last_free >= frees) && last->last_free <= frees + 1,
                      "%s, thread %d of %d: acknowledged %" PRIu64 " and %" PRIu64 ", the last are %" PRIu64
                      " and %" PRIu64,
                      what, i, at->thread_count, allocations, frees, last->last_allocation, last->last_free);
    }
    ck_assert_msg(all >= acked && all <= acked + 2 * (uint64_t)at->thread_count + OTHER_EVENTS_MAX,
                  "%s: acknowledged %" PRIu64 ", there are %" PRIu64, what, acked, all);
}

/* Parts are so small that one is begun every few milliseconds: many of the kills fall into that. */
START_TEST(a_recorder_killed_while_parts_come_and_go_leaves_everything)
{
    uint64_t kills = kill_count() / PART_KILLS_SHARE, kept = 0;

    for (uint64_t i = 0; i < kills; i++) {
        moment at = {.keep = "last:64K"};
        part_reading read;
        nm_run run;
        char command[512];

        begin(&at);
        kill(at.recorder, SIGKILL);
        ck_assert_int_eq(waitpid(at.recorder, NULL, 0), at.recorder);
        sleep_us(next_random() % 5000);
        kill(at.program, SIGKILL);
        wait_for_orphan(at.program);
        snprintf(command, sizeof command, "%s --finish %s", recorder_path, trace_path);
        run = run_shell(command, 60);
        /* 3: a killed thread had claimed a slot that it never filled. */
        ck_assert_msg(run.exit_code == 0 || run.exit_code == 3, "%s: %s", command, run_err(&run));
        run_free(&run);
        read_parts(&read);
        check_parts(&at, &read, "recorder of parts killed");
        kept += read.summary.is_late_begin;
        end(&at);
    }
    ck_assert_uint_gt(kept, kills / 4); /* else the parts were too large to say anything */
}
END_TEST

START_TEST(a_program_killed_while_parts_come_and_go_loses_nothing)
{
    uint64_t kills = kill_count() / PART_KILLS_SHARE;

    for (uint64_t i = 0; i < kills; i++) {
        moment at = {.keep = "last:64K"};
        part_reading read;

        begin(&at);
        kill(at.program, SIGKILL);
        ck_assert_int_eq(waitpid(at.recorder, NULL, 0), at.recorder);
        read_parts(&read);
        check_parts(&at, &read, "program of parts killed");
        end(&at);
    }
}
END_TEST

static void set_up(void)
{
    run_make_folder(folder);
    snprintf(trace_path, sizeof trace_path, "%s/t.zst", folder);
    snprintf(ack_path, sizeof ack_path, "%s/ack", folder);
}

static void tear_down(void)
{
    run_remove_folder(folder);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: test_kill_recording NPUMEM_RECORD SPIN_EVENTS\n");
        return 2;
    }
    recorder_path = argv[1];
    program_path = argv[2];
    random_state = number_from("NPUMEM_SEED", (uint64_t)time(NULL) * 1000003 + (uint64_t)getpid()) | 1;
    printf("seed=%" PRIu64 "\n", random_state);
    fflush(stdout);

    Suite *suite = suite_create("kill");
    TCase *tests = tcase_create("kill");
    tcase_set_timeout(tests, 500);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_killed_program_loses_nothing_that_it_was_told_is_recorded);
    tcase_add_test(tests, a_killed_recorder_leaves_everything_in_file_and_rings);
    tcase_add_test(tests, a_recorder_killed_while_parts_come_and_go_leaves_everything);
    tcase_add_test(tests, a_program_killed_while_parts_come_and_go_loses_nothing);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
