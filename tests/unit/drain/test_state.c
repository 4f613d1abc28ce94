/* SPDX-License-Identifier: Apache-2.0
 *
 * What has become of a recording: by the lock on its file, by its rings, by the recorder's number and its heartbeat, and by where
 * it was recorded. The drain is in this process, which is called otherwise than a recorder.
 */
#include "drain/state.h"

#include <check.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "drain/output.h"
#include "support/drain_bench.h"
#include "support/suites.h"

static drain_bench bench;
static nm_session session;
static int reader; /* of the trace, as whoever looks at it has it */

static void set_up(void)
{
    drain_bench_open(&bench);
    drain_bench_run_ms(&bench, 100); /* a block at least */
    reader = open(bench.trace_path, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(reader, 0);
    ck_assert(nm_state_find_session(reader, &session));
    ck_assert_str_eq(session.ring_folder, bench.folder_path);
}

static void tear_down(void)
{
    close(reader);
    drain_bench_close(&bench);
}

static const char *look(void)
{
    return nm_state_word(nm_state_look(&session, reader));
}

START_TEST(a_claimed_file_is_being_recorded_whatever_else_is_known)
{
    nm_error err;

    ck_assert_str_eq(look(), "killed");
    ck_assert_int_eq(nm_output_claim(bench.fd, &err), NM_OK);
    ck_assert_str_eq(look(), "running");
    ck_assert_int_eq(nm_state_look(NULL, reader), NM_STATE_RUNNING);
    memset(session.boot_id, 'x', 8);
    ck_assert_str_eq(look(), "running");
}
END_TEST

static void *beat(void *is_over)
{
    while (!atomic_load((_Atomic bool *)is_over)) {
        atomic_fetch_add(&bench.folder.session->heartbeat, 1);
        sleep_ms(50);
    }
    return NULL;
}

START_TEST(a_heartbeat_is_a_recorder_whose_number_means_nothing_here)
{
    _Atomic bool is_over = false;
    pthread_t heart;

    ck_assert_int_eq(pthread_create(&heart, NULL, beat, (void *)&is_over), 0);
    ck_assert_str_eq(look(), "running");
    atomic_store(&is_over, true);
    pthread_join(heart, NULL);
    ck_assert_str_eq(look(), "killed");
}
END_TEST

START_TEST(a_recorder_that_is_stopped_lives_and_one_that_nobody_waits_for_does_not)
{
    pid_t pid = fork();

    if (pid == 0) {
        prctl(PR_SET_NAME, "npumem-record");
        raise(SIGSTOP);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, NULL, WUNTRACED), pid);
    bench.folder.session->drain_pid = pid;
    ck_assert_str_eq(look(), "running");
    kill(pid, SIGKILL);
    siginfo_t info;
    ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
    ck_assert_str_eq(look(), "killed");
    waitpid(pid, NULL, 0);
    ck_assert_str_eq(look(), "killed");
    bench.folder.session->drain_pid = 1; /* of somebody else */
    ck_assert_str_eq(look(), "killed");
}
END_TEST

START_TEST(without_rings_it_was_cut_off_here_and_elsewhere_nobody_knows)
{
    nm_session as_it_was = session;

    session.trace_id[3] ^= 1; /* another recording's folder by now */
    ck_assert_str_eq(look(), "cut");
    session = as_it_was;
    memset(session.boot_id, 'x', 8);
    ck_assert_str_eq(look(), "cut");
    strcpy(session.host, "elsewhere");
    ck_assert_str_eq(look(), "unseen");
    session = as_it_was;
    strcat(session.ring_folder, "-gone");
    ck_assert_str_eq(look(), "cut");
    strcpy(session.host, "a-container");
    ck_assert_str_eq(look(), "unseen");
    session.ring_folder[0] = 0; /* it went through a pipe */
    ck_assert_str_eq(look(), "unseen");
    ck_assert_int_eq(nm_state_look(NULL, reader), NM_STATE_UNSEEN);
}
END_TEST

START_TEST(rings_of_another_user_tell_nothing)
{
    int status;

    if (geteuid() != 0)
        return; /* root alone can be somebody else */
    chmod(bench.trace_path, 0644);
    pid_t pid = fork();
    if (pid == 0)
        _exit(setgid(65534) != 0 || setuid(65534) != 0 ? 99 : (int)nm_state_look(&session, reader));
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), NM_STATE_UNREADABLE);
}
END_TEST

START_TEST(each_word_is_found_again)
{
    for (nm_state state = NM_STATE_ENDED; state <= NM_STATE_UNREADABLE; state++)
        ck_assert_ptr_eq(nm_state_reason_of(nm_state_word(state)), nm_state_reason(state));
    ck_assert_ptr_null(nm_state_reason(NM_STATE_ENDED));
    ck_assert_ptr_null(nm_state_reason(NM_STATE_RECOVERED));
    ck_assert_ptr_null(nm_state_reason_of("none"));
    ck_assert_ptr_null(nm_state_reason_of(""));
}
END_TEST

TEST_SUITE(test_state)
{
    Suite *suite = suite_create("state");
    TCase *tests = tcase_create("state");

    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, a_claimed_file_is_being_recorded_whatever_else_is_known);
    tcase_add_test(tests, a_heartbeat_is_a_recorder_whose_number_means_nothing_here);
    tcase_add_test(tests, a_recorder_that_is_stopped_lives_and_one_that_nobody_waits_for_does_not);
    tcase_add_test(tests, without_rings_it_was_cut_off_here_and_elsewhere_nobody_knows);
    tcase_add_test(tests, rings_of_another_user_tell_nothing);
    tcase_add_test(tests, each_word_is_found_again);
    suite_add_tcase(suite, tests);
    return suite;
}
