/* SPDX-License-Identifier: Apache-2.0
 *
 * Each program leads a process group, so that it can be ended with all that it has started; a terminal's signals therefore
 * do not reach it by themselves, and are waited for here, with the end of the child.
 */
#include "tool/selfcheck/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "drain/clock.h"

#define TEXT_BYTES_MAX   ((size_t)1 << 20)
#define RUN_NS_MAX       (INT64_C(600) * 1000000000)
#define GRACE_NS         (INT64_C(10) * 1000000000)
#define DEPTH_MAX        32 /* of what programs leave in it */
#define OUTPUT_NAME      "output.txt"
#define ERRORS_NAME      "errors.txt"
#define EXIT_NOT_FOUND   127
#define SIGNALED         128
#define LIBRARY_VARIABLE "LD_LIBRARY_PATH"

/* ---- The folder ---------------------------------------------------------------------------------------------------- */

static void waited_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

nm_status selfcheck_place_open(selfcheck_place *place, nm_error *err)
{
    sigset_t waited;

    *place = (selfcheck_place){0};
    nm_status status = nm_door_make_temporary("npumem-selfcheck", place->folder, &place->folder_fd, err);
    if (status != NM_OK)
        return status;
    waited_signals(&waited);
    sigprocmask(SIG_BLOCK, &waited, &place->mask_before);
    return NM_OK;
}

void selfcheck_place_close(selfcheck_place *place)
{
    if (place->folder[0] == 0)
        return;
    nm_door_remove_folder_at(AT_FDCWD, place->folder, place->folder_fd, DEPTH_MAX);
    nm_io_close(place->folder_fd);
    place->folder[0] = 0;
    sigprocmask(SIG_SETMASK, &place->mask_before, NULL);
}

void selfcheck_path(const selfcheck_place *place, const char *name, char path[PATH_MAX])
{
    size_t len = strlen(place->folder), name_len = strlen(name);

    if (name_len > PATH_MAX - 2 - len)
        name_len = PATH_MAX - 2 - len;
    memcpy(path, place->folder, len);
    path[len] = '/';
    memcpy(path + len + 1, name, name_len);
    path[len + 1 + name_len] = 0;
}

void selfcheck_read(const selfcheck_place *place, const char *name, nm_buffer *out)
{
    int fd = -1;

    out->len = 0;
    if (nm_door_open_at(place->folder_fd, name, O_RDONLY | O_NONBLOCK, 0, &fd, NULL) == NM_OK &&
        nm_buffer_reserve(out, TEXT_BYTES_MAX, NULL) == NM_OK &&
        nm_io_read(fd, out->data, TEXT_BYTES_MAX - 1, &out->len, NULL) != NM_OK)
        out->len = 0;
    nm_io_close(fd);
    nm_buffer_append(out, "", 1, NULL);
}

/* ---- In the child -------------------------------------------------------------------------------------------------- */

static void set_library_folder(const char *folder)
{
    const char *others = getenv(LIBRARY_VARIABLE);
    char *value = malloc(strlen(folder) + (others == NULL ? 0 : strlen(others)) + 2);

    if (value == NULL)
        return;
    stpcpy(stpcpy(value, folder), others == NULL || others[0] == 0 ? "" : ":");
    setenv(LIBRARY_VARIABLE, others == NULL ? value : strcat(value, others), 1);
    free(value);
}

/* Above the three that it is to become one of, which may be closed here. */
static int open_for_child(const selfcheck_place *place, const char *name)
{
    int fd = -1;

    nm_door_open_at(place->folder_fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600, &fd, NULL);
    return fd >= 0 && fd <= STDERR_FILENO ? fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1) : fd;
}

static void run_child(const selfcheck_place *place, const char *const *arguments, const char *library_folder)
{
    int in = open("/dev/null", O_RDONLY | O_CLOEXEC), out = open_for_child(place, OUTPUT_NAME),
        err = open_for_child(place, ERRORS_NAME);

    setpgid(0, 0);
    sigprocmask(SIG_SETMASK, &place->mask_before, NULL);
    if (in < 0)
        close(STDIN_FILENO); /* a bare container has no /dev */
    else
        dup2(in, STDIN_FILENO);
    if (out < 0 || err < 0 || dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ||
        fchdir(place->folder_fd) != 0)
        _exit(EXIT_NOT_FOUND);
    if (library_folder != NULL)
        set_library_folder(library_folder);
    execvp(arguments[0], (char **)(uintptr_t)arguments);
    dprintf(STDERR_FILENO, "%s: %s\n", arguments[0], strerror(errno));
    _exit(EXIT_NOT_FOUND);
}

/* ---- Waiting ------------------------------------------------------------------------------------------------------- */

/* True: the child has ended. */
static bool wait_until(selfcheck_place *place, pid_t pid, int64_t until_ns, int *status)
{
    sigset_t waited;

    waited_signals(&waited);
    for (;;) {
        int64_t left_ns = until_ns - nm_clock_monotonic_ns();
        struct timespec left = {.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
        pid_t ended = waitpid(pid, status, WNOHANG);
        int number;

        if (ended == pid || (ended < 0 && errno != EINTR))
            return true;
        if (left_ns <= 0)
            return false;
        number = sigtimedwait(&waited, NULL, &left);
        if (number > 0 && number != SIGCHLD) {
            place->ended_by = number;
            return false;
        }
    }
}

/* A recorder in the group passes the signal on, and ends with its program: its rings go. */
static void end_group(selfcheck_place *place, pid_t pid, int *status)
{
    int ended_by = place->ended_by;

    kill(-pid, SIGTERM);
    if (!wait_until(place, pid, nm_clock_monotonic_ns() + GRACE_NS, status)) {
        kill(-pid, SIGKILL);
        waitpid(pid, status, 0);
    }
    place->ended_by = ended_by != 0 ? ended_by : place->ended_by;
}

nm_status selfcheck_run_program(selfcheck_place *place, const char *const *arguments, const char *library_folder,
                                selfcheck_run *out, nm_error *err)
{
    int64_t begin_ns = nm_clock_monotonic_ns();
    int status = 0;
    pid_t pid;

    out->is_too_long = false;
    fflush(NULL);
    pid = fork();
    if (pid < 0)
        return nm_fail_errno(err, errno, "cannot start a process");
    if (pid == 0)
        run_child(place, arguments, library_folder);
    setpgid(pid, pid);
    if (!wait_until(place, pid, begin_ns + RUN_NS_MAX, &status)) {
        out->is_too_long = place->ended_by == 0;
        end_group(place, pid, &status);
    }
    out->wall_ns = nm_clock_monotonic_ns() - begin_ns;
    kill(-pid, SIGKILL); /* what it has left behind */
    out->exit_status = WIFSIGNALED(status) ? SIGNALED + WTERMSIG(status) : WEXITSTATUS(status);
    selfcheck_read(place, OUTPUT_NAME, &out->out);
    selfcheck_read(place, ERRORS_NAME, &out->err);
    return out->out.data == NULL || out->err.data == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                                          : NM_OK;
}

void selfcheck_run_free(selfcheck_run *run)
{
    nm_buffer_free(&run->out);
    nm_buffer_free(&run->err);
}
