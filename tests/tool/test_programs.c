/* SPDX-License-Identifier: Apache-2.0
 *
 * The small sample programs do what their first lines say; tests of kills and of process trees rest on that.
 */
#include <check.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define OUT_BYTES_MAX (1 << 20)

static char out[OUT_BYTES_MAX];

/* Runs a line of the shell; its standard output is in `out`. Returns its exit status as a shell has it. */
static int run(const char *command)
{
    FILE *from = popen(command, "r");
    size_t used;
    int status;

    ck_assert_ptr_nonnull(from);
    used = fread(out, 1, sizeof out - 1, from);
    out[used] = '\0';
    status = pclose(from);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

START_TEST(hello_host_ends_as_told)
{
    ck_assert_int_eq(run("exec " HELLO_HOST " 2>/dev/null"), 0);
    ck_assert_str_eq(out, "hello from the host\n");
    ck_assert_int_eq(run("exec " HELLO_HOST " --status 7 2>&1 >/dev/null"), 7);
    ck_assert_str_eq(out, "and to standard error\n");
    ck_assert_int_eq(run("exec " HELLO_HOST " --signal 15 2>/dev/null"), 128 + SIGTERM);
    ck_assert_int_eq(run("echo abc | " HELLO_HOST " --cat 2>/dev/null"), 0);
    ck_assert_str_eq(out, "hello from the host\nabc\n");
}
END_TEST

/* How often `text` occurs in the output. */
static int occurrences(const char *text)
{
    int count = 0;

    for (const char *at = out; (at = strstr(at, text)); at += strlen(text))
        count++;
    return count;
}

START_TEST(fork_tree_has_every_node_started_its_way)
{
    static const char *const ways[] = {"fork", "fork_exec", "vfork_exec", "spawn", "thread_fork"};
    static const char *const modes[] = {"", " --parallel"};

    for (int i = 0; i < 2; i++) {
        char command[512];

        snprintf(command, sizeof command, "exec %s --depth 2 --width 5 --allocations 4 --threads 3%s", FORK_TREE,
                 modes[i]);
        ck_assert_int_eq(run(command), 0);
        ck_assert_int_eq(occurrences("node "), 1 + 5 + 25);
        ck_assert_int_eq(occurrences(" pool_allocations 4 pool_frees 2 pool_live_bytes 2004 driver_allocations 12 "
                                     "driver_frees 9 driver_live_bytes 6009\n"),
                         31);
        for (int way = 0; way < 5; way++) {
            char line[64];

            snprintf(line, sizeof line, "node 0.%d start %s ", way, ways[way]);
            ck_assert_int_eq(occurrences(line), 1);
            snprintf(line, sizeof line, "node 0.3.%d start %s ", way, ways[way]);
            ck_assert_int_eq(occurrences(line), 1);
        }
    }
}
END_TEST

typedef struct ack {
    uint64_t allocation_count, free_count, tid, reserved[5];
} ack;

/* 0 when the file holds `count` records. */
static int read_acks(const char *path, ack *acks, size_t count)
{
    FILE *in = fopen(path, "r");
    size_t read_count = in ? fread(acks, sizeof *acks, count, in) : 0;

    if (in)
        fclose(in);
    return read_count == count ? 0 : -1;
}

START_TEST(spin_events_acknowledges_all_that_it_did)
{
    ack acks[3];

    ck_assert_int_eq(run("exec " SPIN_EVENTS " --mode driver --threads 3 --events 500 --hold 7 --ack ack.bin"), 0);
    ck_assert_str_eq(out, "threads 3\nallocations 1500\nfrees 1500\n");
    ck_assert_int_eq(read_acks("ack.bin", acks, 3), 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(acks[i].allocation_count, 500);
        ck_assert_uint_eq(acks[i].free_count, 500);
        ck_assert_uint_ne(acks[i].tid, 0);
    }
}
END_TEST

static void wait_microseconds(long microseconds)
{
    nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
}

/* Until both threads have recorded something; at most ten seconds. */
static void wait_for_start(ack *acks)
{
    for (int i = 0; i < 10000; i++) {
        if (read_acks("ack.bin", acks, 2) == 0 && acks[0].allocation_count && acks[1].allocation_count)
            return;
        wait_microseconds(1000);
    }
    ck_abort_msg("spin_events does not start");
}

/* Started, and killed some time after both threads run; the file then says how far each got. */
static void kill_after(long microseconds, ack *acks)
{
    pid_t child;
    int status = 0;

    unlink("ack.bin");
    child = fork();
    if (child == 0) {
        execl(SPIN_EVENTS, "spin_events", "--threads", "2", "--events", "0", "--ack", "ack.bin", NULL);
        _exit(127);
    }
    wait_for_start(acks);
    wait_microseconds(microseconds);
    kill(child, SIGKILL);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert(WIFSIGNALED(status));
    ck_assert_int_eq(read_acks("ack.bin", acks, 2), 0);
}

START_TEST(acknowledgements_outlive_a_kill)
{
    for (long i = 0; i < 10; i++) {
        ack acks[2];

        kill_after(i * 1700, acks);
        for (int t = 0; t < 2; t++) {
            ck_assert_uint_le(acks[t].free_count, acks[t].allocation_count);
            ck_assert_uint_le(acks[t].allocation_count - acks[t].free_count, 16);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("programs");
    TCase *tests = tcase_create("programs");
    SRunner *runner;
    int failed_count;
    char folder[] = "/tmp/npumem_programs_XXXXXX";

    if (!mkdtemp(folder) || chdir(folder) != 0)
        return EXIT_FAILURE;
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, hello_host_ends_as_told);
    tcase_add_test(tests, fork_tree_has_every_node_started_its_way);
    tcase_add_test(tests, spin_events_acknowledges_all_that_it_did);
    tcase_add_test(tests, acknowledgements_outlive_a_kill);
    suite_add_tcase(suite, tests);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed_count = srunner_ntests_failed(runner);
    srunner_free(runner);
    unlink("ack.bin");
    if (chdir("/") == 0)
        rmdir(folder);
    return failed_count == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
