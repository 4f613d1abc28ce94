/* SPDX-License-Identifier: Apache-2.0
 *
 * Both outputs are read by poll, so that a program that fills one of them does not stall on the other.
 */
#include "support/run.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* In the child: never returns. */
static void become(char *const argv[], char *const environment[], const char *folder, const int out[2],
                   const int err[2])
{
    int null = open("/dev/null", O_RDONLY);

    dup2(null, STDIN_FILENO);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (int fd = 3; fd < 64; fd++)
        close(fd);
    for (; environment != NULL && *environment != NULL; environment++)
        putenv(*environment);
    if (folder == NULL || chdir(folder) == 0)
        execvp(argv[0], argv);
    _exit(127);
}

static void make_room(run_output *output, size_t bytes)
{
    if (output->capacity - output->len >= bytes)
        return;
    output->capacity = output->len + bytes + output->capacity;
    output->data = realloc(output->data, output->capacity);
    ck_assert_ptr_nonnull(output->data);
}

/* Appends what is there; false at the end of the stream. */
static bool take(int fd, run_output *into)
{
    make_room(into, 65536);
    ssize_t got = read(fd, into->data + into->len, 65535);
    if (got < 0 && errno == EINTR)
        return true;
    if (got <= 0)
        return false;
    into->len += (size_t)got;
    return true;
}

/* Reads both streams until they end or time is up; true when time is up. */
static bool collect(nm_run *run, int out, int err, int seconds)
{
    struct pollfd fds[2] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
    int64_t end_ms = now_ms() + seconds * INT64_C(1000);

    while (fds[0].fd >= 0 || fds[1].fd >= 0) {
        int64_t left_ms = end_ms - now_ms();
        if (left_ms <= 0)
            return true;
        if (poll(fds, 2, (int)left_ms) <= 0)
            continue;
        if (fds[0].revents != 0 && !take(out, &run->out))
            fds[0].fd = -1;
        if (fds[1].revents != 0 && !take(err, &run->err))
            fds[1].fd = -1;
    }
    return false;
}

static void terminate_text(run_output *text)
{
    make_room(text, 1);
    text->data[text->len] = 0;
}

nm_run run_program(char *const argv[], char *const environment[], const char *folder, int seconds)
{
    nm_run run = {0};
    int out[2], err[2];

    ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
    ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
    pid_t pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        become(argv, environment, folder, out, err);
    close(out[1]);
    close(err[1]);

    run.is_timed_out = collect(&run, out[0], err[0], seconds);
    if (run.is_timed_out)
        kill(pid, SIGKILL);
    while (waitpid(pid, &run.status, 0) < 0 && errno == EINTR)
        ;
    close(out[0]);
    close(err[0]);
    terminate_text(&run.out);
    terminate_text(&run.err);
    run.exit_code = WIFSIGNALED(run.status) ? 128 + WTERMSIG(run.status) : WEXITSTATUS(run.status);
    return run;
}

nm_run run_shell(const char *command, int seconds)
{
    char *const argv[] = {"/bin/sh", "-c", (char *)command, NULL};

    return run_program(argv, NULL, NULL, seconds);
}

void run_free(nm_run *run)
{
    free(run->out.data);
    free(run->err.data);
}

const char *run_out(const nm_run *run)
{
    return (const char *)run->out.data;
}

const char *run_err(const nm_run *run)
{
    return (const char *)run->err.data;
}

void run_make_folder(char path[static 64])
{
    const char *base = getenv("TMPDIR");

    if (base == NULL || strlen(base) > 40)
        base = "/tmp";
    snprintf(path, 64, "%s/npumem-test-XXXXXX", base);
    if (mkdtemp(path) == NULL) {
        perror(path);
        exit(1); /* also called outside of a test, where Check has no report to write to */
    }
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *place)
{
    (void)info, (void)type, (void)place;
    return remove(path);
}

void run_remove_folder(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
