/* SPDX-License-Identifier: Apache-2.0
 *
 * The socket of a recording, against clients that know how to ask and against those that do not: whatever they do, a pass
 * returns at once and the next client is answered.
 */
#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "drain/clock.h"
#include "support/suites.h"
#include "tool/common/running.h"
#include "tool/record/control.h"

#define PASS_NS_MAX 200000000

static char folder[] = "/tmp/npumem-control-XXXXXX";
static record_control *control;
static char last_command[64], last_argument[2048];
static size_t asked_count, reply_bytes;

static nm_status answer(void *context, const char *command, const char *argument, nm_buffer *reply, nm_error *err)
{
    (void)context;
    asked_count++;
    snprintf(last_command, sizeof last_command, "%s", command);
    snprintf(last_argument, sizeof last_argument, "%s", argument);
    if (strcmp(command, "refuse") == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "not now");
    if (nm_buffer_reserve(reply, reply_bytes, err) != NM_OK)
        return NM_ERR_MEMORY;
    memset(reply->data + reply->len, 'x', reply_bytes);
    reply->len += reply_bytes;
    reply->data[reply->len - 1] = '\n';
    return NM_OK;
}

static void open_control(void)
{
    nm_error err = {0};

    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_ne(mkdtemp(folder), NULL);
    asked_count = 0;
    reply_bytes = 64;
    ck_assert_msg(record_control_open(folder, answer, NULL, &control, &err) == NM_OK, "%s", err.text);
}

static void close_control(void)
{
    record_control_close(control);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing is left in it */
}

/* How often this thread gave its processor away by itself. */
static long wait_count(void)
{
    struct rusage usage;

    ck_assert_int_eq(getrusage(RUSAGE_THREAD, &usage), 0);
    return usage.ru_nvcsw;
}

/* It waits for nobody. One that takes long without giving its processor away was robbed of it: the machine is busy. */
static void pass(void)
{
    int64_t begin_ns = nm_clock_monotonic_ns();
    long waits_before = wait_count();

    record_control_pass(control);
    ck_assert(nm_clock_monotonic_ns() - begin_ns < PASS_NS_MAX || wait_count() == waits_before);
}

static int connect_client(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s/ctl", folder);
    if (connect(fd, (struct sockaddr *)&address, sizeof address) == 0)
        return fd;
    close(fd);
    return -1;
}

static void say(int fd, const char *text, size_t len)
{
    ck_assert_int_eq(send(fd, text, len, MSG_NOSIGNAL), (ssize_t)len);
}

/* What the client gets until it is hung up on, with passes in between. */
static size_t read_all(int fd, char *out, size_t room)
{
    size_t len = 0;

    for (int i = 0; i < 2000; i++) {
        ssize_t got = recv(fd, out + len, room - 1 - len, 0);

        if (got == 0)
            break;
        if (got > 0)
            len += (size_t)got;
        else
            pass();
    }
    out[len] = 0;
    return len;
}

static void expect_answered(void)
{
    char reply[256];
    size_t before = asked_count;
    int fd = connect_client();

    ck_assert_int_ge(fd, 0);
    say(fd, "status\n", 7);
    read_all(fd, reply, sizeof reply);
    close(fd);
    ck_assert_uint_eq(asked_count, before + 1);
    ck_assert_ptr_ne(strstr(reply, "ok\n"), NULL);
}

START_TEST(a_request_is_a_line_with_a_command_and_the_rest)
{
    char reply[256];
    int fd;

    open_control();
    fd = connect_client();
    say(fd, "mark two  words \n", 17);
    read_all(fd, reply, sizeof reply);
    ck_assert_str_eq(last_command, "mark");
    ck_assert_str_eq(last_argument, "two  words ");
    ck_assert_ptr_ne(strstr(reply, "\nok\n"), NULL);
    close(fd);
    fd = connect_client();
    say(fd, "refuse\n", 7);
    read_all(fd, reply, sizeof reply);
    ck_assert_str_eq(reply, "error: not now\n");
    close(fd);
    close_control();
}
END_TEST

START_TEST(a_request_may_come_in_pieces)
{
    char reply[256];
    int fd;

    open_control();
    fd = connect_client();
    for (const char *at = "mark slow\n"; *at != 0; at++) {
        pass();
        ck_assert_uint_eq(asked_count, 0);
        say(fd, at, 1);
    }
    read_all(fd, reply, sizeof reply);
    ck_assert_str_eq(last_argument, "slow");
    close(fd);
    close_control();
}
END_TEST

START_TEST(garbage_is_not_answered_and_harms_nobody)
{
    char garbage[8192], reply[64];
    unsigned seed = 7;

    open_control();
    for (int round = 0; round < 50; round++) {
        int fd = connect_client();

        for (size_t i = 0; i < sizeof garbage; i++) { /* no newline: it never becomes a request */
            garbage[i] = (char)(rand_r(&seed) >> 8);
            if (garbage[i] == '\n')
                garbage[i] = 0;
        }
        send(fd, garbage, (size_t)rand_r(&seed) % sizeof garbage + 1, MSG_NOSIGNAL);
        pass();
        if (round % 2 == 0)
            close(fd); /* dies in the middle */
        pass();
        if (round % 2 != 0) {
            recv(fd, reply, sizeof reply, 0);
            close(fd);
        }
    }
    ck_assert_uint_eq(asked_count, 0);
    expect_answered();
    close_control();
}
END_TEST

START_TEST(who_never_reads_holds_nobody_up)
{
    int fds[8];

    open_control();
    reply_bytes = 4 << 20; /* more than the socket takes */
    for (int i = 0; i < 8; i++) {
        fds[i] = connect_client();
        say(fds[i], "stats\n", 6);
    }
    for (int i = 0; i < 20; i++)
        pass();
    ck_assert_uint_eq(asked_count, 8);
    reply_bytes = 64;
    expect_answered();
    for (int i = 0; i < 8; i++)
        close(fds[i]); /* with the reply half sent */
    pass();
    expect_answered();
    close_control();
}
END_TEST

START_TEST(a_long_answer_arrives_whole)
{
    static char reply[(4 << 20) + 16];
    int fd;

    open_control();
    reply_bytes = 4 << 20;
    fd = connect_client();
    say(fd, "stats\n", 6);
    ck_assert_uint_eq(read_all(fd, reply, sizeof reply), (4u << 20) + 3);
    ck_assert_str_eq(reply + (4 << 20), "ok\n");
    close(fd);
    close_control();
}
END_TEST

/* Those that say nothing give way to those that wait, a second later. */
START_TEST(a_thousand_silent_connections_give_way)
{
    static int fds[1000];
    size_t open_count = 0;
    int64_t until_ns;

    open_control();
    for (size_t i = 0; i < 1000; i++) {
        fds[i] = connect_client();
        open_count += fds[i] >= 0;
        if (i % 10 == 0)
            pass();
    }
    ck_assert_uint_gt(open_count, 64);
    for (size_t i = 0; i < 1000; i++)
        if (fds[i] >= 0 && i % 2 == 0)
            close(fds[i]);
    until_ns = nm_clock_monotonic_ns() + INT64_C(4000000000);
    while (nm_clock_monotonic_ns() < until_ns && asked_count == 0) {
        int fd = connect_client();

        if (fd >= 0)
            send(fd, "status\n", 7, MSG_NOSIGNAL);
        for (int i = 0; i < 10 && asked_count == 0; i++) {
            pass();
            nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
        }
        if (fd >= 0)
            close(fd);
    }
    ck_assert_uint_gt(asked_count, 0);
    for (size_t i = 1; i < 1000; i += 2)
        if (fds[i] >= 0)
            close(fds[i]);
    close_control();
}
END_TEST

START_TEST(a_path_that_is_too_long_for_a_socket_is_said)
{
    char path[256];
    record_control *none = NULL;
    nm_error err = {0};

    memset(path, 'p', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = 0;
    ck_assert_int_ne(record_control_open(path, answer, NULL, &none, &err), NM_OK);
    ck_assert_ptr_eq(none, NULL);
}
END_TEST

/* ---- Which recording ----------------------------------------------------------------------------------------------- */

static const char *failure_of(const char *target)
{
    static nm_error err;
    nm_buffer reply = {0};

    err = (nm_error){0};
    ck_assert_int_ne(record_control_ask(target, "status", &reply, &err), NM_OK);
    nm_buffer_free(&reply);
    return err.text;
}

/* As a recorder that is killed leaves it. */
static void leave_dead_socket(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address.sun_path, sizeof address.sun_path, "%s/ctl", folder);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}

START_TEST(who_cannot_be_asked_is_told_why)
{
    char path[64], text[64];
    FILE *file;

    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    ck_assert_ptr_ne(mkdtemp(folder), NULL);
    ck_assert_str_eq(failure_of(folder), "its recording has ended");
    leave_dead_socket();
    ck_assert_ptr_ne(strstr(failure_of(folder), "was killed"), NULL);
    snprintf(path, sizeof path, "%s/file", folder);
    file = fopen(path, "w");
    fputs("no trace\n", file);
    fclose(file);
    ck_assert_ptr_ne(strstr(failure_of(path), "is not a trace"), NULL);
    unlink(path);
    snprintf(path, sizeof path, "%s/ctl", folder);
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_ptr_ne(strstr(failure_of("999999999"), "no such process"), NULL);
    snprintf(text, sizeof text, "%d", (int)getpid());
    ck_assert_ptr_ne(strstr(failure_of(text), "not recorded"), NULL);
}
END_TEST

START_TEST(a_process_is_found_by_what_its_environment_names)
{
    char text[32], found[RUNNING_FOLDER_BYTES];
    nm_error err = {0};
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        setenv("NPUMEM_SESSION", "/somewhere/npumem-12", 1);
        execl("/bin/sleep", "sleep", "10", (char *)NULL);
        _exit(1);
    }
    snprintf(text, sizeof text, "%d", (int)pid);
    ck_assert(running_is_pid(text));
    for (int i = 0; i < 500 && running_find_pid(text, found, &err) != NM_OK; i++)
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    ck_assert_str_eq(found, "/somewhere/npumem-12");
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
}
END_TEST

/* A socket of somebody else's, where the user's could be: it is not even connected to. Nor is one that a link leads to. */
START_TEST(another_users_socket_is_not_asked)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    nm_buffer reply = {0};
    nm_error err = {0};
    char path[64];

    open_control();
    snprintf(address.sun_path, sizeof address.sun_path, "%s/ctl", folder);
    snprintf(path, sizeof path, "%s/real", folder);
    ck_assert_int_eq(rename(address.sun_path, path) + symlink("real", address.sun_path), 0);
    ck_assert_int_eq(record_control_ask(folder, "status", &reply, &err), NM_ERR_IO);
    pass();
    ck_assert_uint_eq(asked_count, 0);
    ck_assert_int_eq(unlink(address.sun_path) + rename(path, address.sun_path), 0);
    if (geteuid() == 0) {
        pid_t child;
        int status = 0;

        ck_assert_int_eq(chown(folder, 65534, 65534) + chmod(folder, 0755) + chown(address.sun_path, 65534, 65534) +
                             chmod(address.sun_path, 0777),
                         0);
        child = fork();
        if (child == 0) {
            bool is_refused = setuid(65533) == 0 && record_control_ask(folder, "status", &reply, &err) == NM_ERR_IO &&
                              strstr(err.text, "another user") != NULL;
            _exit(is_refused ? 0 : 1);
        }
        waitpid(child, &status, 0);
        ck_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        pass();
        ck_assert_uint_eq(asked_count, 0);
    }
    close_control();
}
END_TEST

START_TEST(a_trace_of_another_boot_is_of_another_machine)
{
    nm_session session = {.host = "elsewhere", .boot_id = "00000000-0000-0000-0000-000000000000"};
    nm_error err = {0};

    ck_assert_int_ne(running_check_host(&session, &err), NM_OK);
    ck_assert_ptr_ne(strstr(err.text, "elsewhere"), NULL);
    session.boot_id[0] = 0;
    ck_assert_int_eq(running_check_host(&session, &err), NM_OK);
}
END_TEST

TEST_SUITE(test_record_control)
{
    Suite *suite = suite_create("record_control");
    TCase *tests = tcase_create("record_control");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_request_is_a_line_with_a_command_and_the_rest);
    tcase_add_test(tests, a_request_may_come_in_pieces);
    tcase_add_test(tests, garbage_is_not_answered_and_harms_nobody);
    tcase_add_test(tests, who_never_reads_holds_nobody_up);
    tcase_add_test(tests, a_long_answer_arrives_whole);
    tcase_add_test(tests, a_thousand_silent_connections_give_way);
    tcase_add_test(tests, a_path_that_is_too_long_for_a_socket_is_said);
    tcase_add_test(tests, who_cannot_be_asked_is_told_why);
    tcase_add_test(tests, a_process_is_found_by_what_its_environment_names);
    tcase_add_test(tests, another_users_socket_is_not_asked);
    tcase_add_test(tests, a_trace_of_another_boot_is_of_another_machine);
    suite_add_tcase(suite, tests);
    return suite;
}
