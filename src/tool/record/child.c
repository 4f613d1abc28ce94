/* SPDX-License-Identifier: Apache-2.0
 *
 * The order is what matters. The child is forked before any thread is started and before a signal's meaning is changed,
 * then waits at a pipe; the parent sets the recording up, says in memory that both share whether it will be recorded, and
 * closes the pipe. A second one, which exec closes, says whether the program could be begun. Nothing is written to either: that
 * could fail, and the program must begin all the same. What is tried beforehand (the trial) runs npumem-record itself
 * below the preload, because a container may hold no other program.
 */
#include "tool/record/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/own_path.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "tool/record/preload.h"
#include "trace/ring.h"

#define EXIT_NOT_STARTED    125 /* as env(1): npumem-record itself failed */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127
#define TRIAL_MS            5000
#define TRIAL_POLL_NS       1000000

static const int passed_signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT};

/* What the child is told before it becomes the program; and what it tells. */
struct record_start_order {
    bool is_given; /* else there is nothing to run */
    bool is_recorded;
    bool is_output_taken;
    char folder[PATH_MAX];
    char library[PATH_MAX];
    int exec_errno; /* the child's; 0: it has become the program */
};

static int exit_status_of(int exec_errno)
{
    return exec_errno == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

/* ---- In the child -------------------------------------------------------------------------------------------------- */

static void set_environment(const char *folder, const char *library)
{
    char *preload = record_preload_value(library);

    if (preload == NULL)
        return;
    setenv("LD_PRELOAD", preload, 1);
    setenv(NM_RING_ENVIRONMENT, folder, 1);
    free(preload);
}

/* The pipe in between, which the parent closes, orders what both do in the memory that they share. */
static void run_child(char **program, int go_fd, record_start_order *order, const sigset_t *mask)
{
    size_t got = 0;
    char none;

    if (nm_io_read(go_fd, &none, sizeof none, &got, NULL) != NM_OK || !order->is_given)
        _exit(EXIT_NOT_STARTED);
    if (order->is_recorded)
        set_environment(order->folder, order->library);
    if (order->is_output_taken)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(program[0], program);
    order->exec_errno = errno;
    _exit(exit_status_of(order->exec_errno));
}

/* ---- Starting ------------------------------------------------------------------------------------------------------ */

static void block_signals(sigset_t *blocked, sigset_t *before)
{
    sigemptyset(blocked);
    sigaddset(blocked, SIGCHLD);
    for (size_t i = 0; i < sizeof passed_signals / sizeof *passed_signals; i++)
        sigaddset(blocked, passed_signals[i]);
    sigprocmask(SIG_BLOCK, blocked, before);
}

static nm_status open_pipes(int go[2], int exec[2], nm_error *err)
{
    if (pipe2(go, O_CLOEXEC) != 0)
        return nm_fail_errno(err, errno, "cannot make a pipe");
    if (pipe2(exec, O_CLOEXEC) == 0)
        return NM_OK;
    int failure = errno;
    close(go[0]);
    close(go[1]);
    return nm_fail_errno(err, failure, "cannot make a pipe");
}

static record_start_order *share_order(void)
{
    void *memory = mmap(NULL, sizeof(record_start_order), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    return memory == MAP_FAILED ? NULL : memory;
}

static void leave_order(record_child *child)
{
    if (child->order != NULL)
        munmap(child->order, sizeof *child->order);
    child->order = NULL;
}

/* As if nothing had been begun: the caller may become the program itself. A child that was forked ends by itself when its
 * pipe is closed. */
static nm_status give_up(record_child *child, const sigset_t *mask, int failure, nm_error *err)
{
    nm_io_close(child->go_fd);
    nm_io_close(child->exec_fd);
    nm_io_close(child->signal_fd);
    if (child->pid > 0)
        waitpid(child->pid, NULL, 0);
    leave_order(child);
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    sigprocmask(SIG_SETMASK, mask, NULL);
    *child = (record_child){.pid = -1};
    return nm_fail_errno(err, failure, "cannot start a process");
}

nm_status record_child_fork(char **program, record_child *out, nm_error *err)
{
    sigset_t blocked, before;
    int go[2], exec[2];
    nm_status status = open_pipes(go, exec, err);

    *out = (record_child){.pid = -1, .order = share_order()};
    if (status != NM_OK) {
        leave_order(out);
        return status;
    }
    block_signals(&blocked, &before);
    out->signal_fd = signalfd(-1, &blocked, SFD_CLOEXEC | SFD_NONBLOCK);
    int failure = errno;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    fflush(NULL);
    errno = ENOMEM;
    out->pid = out->order == NULL ? -1 : fork();
    if (out->pid < 0)
        failure = errno;
    if (out->pid == 0) {
        close(go[1]);
        run_child(program, go[0], out->order, &before);
    }
    close(go[0]);
    close(exec[1]);
    out->go_fd = go[1];
    out->exec_fd = exec[0];
    if (out->pid < 0 || out->signal_fd < 0)
        return give_up(out, &before, failure, err);
    /* Writes to a full file or a closed pipe fail instead of killing; after the fork, so that the program keeps its own. */
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); /* a parent may have had it ignored: then no end of a child would ever be told */
    return NM_OK;
}

void record_child_start(record_child *child, const char *folder, const char *library, bool is_output_taken)
{
    record_start_order *order = child->order;
    size_t got = 0;
    char none;

    order->is_output_taken = is_output_taken;
    order->is_recorded = folder != NULL && library != NULL &&
                         snprintf(order->folder, sizeof order->folder, "%s", folder) < (int)sizeof order->folder &&
                         snprintf(order->library, sizeof order->library, "%s", library) < (int)sizeof order->library;
    order->is_given = true;
    nm_io_close(child->go_fd);
    nm_io_read(child->exec_fd, &none, sizeof none, &got, NULL); /* until it is closed, by exec or by the child's end */
    child->exec_errno = order->exec_errno;
    nm_io_close(child->exec_fd);
    leave_order(child);
}

/* ---- While it runs ------------------------------------------------------------------------------------------------- */

/* What a terminal sends reaches the program by itself: the kernel sent it to the whole group. */
static void pass_on(record_child *child, const struct signalfd_siginfo *info)
{
    bool is_from_terminal = info->ssi_code > 0;

    if (!child->has_ended && !is_from_terminal && (pid_t)info->ssi_pid != child->pid)
        kill(child->pid, (int)info->ssi_signo);
}

static void reap(record_child *child, record_child_end *on_end, void *context)
{
    struct rusage used;
    int status;
    pid_t pid;

    while ((pid = wait4(-1, &status, WNOHANG, &used)) > 0) {
        if (pid == child->pid) {
            child->has_ended = true;
            child->wait_status = status;
        }
        on_end(context, pid, status, (uint64_t)used.ru_maxrss << 10);
    }
}

void record_child_wait(record_child *child, int64_t timeout_ns, record_child_end *on_end, void *context)
{
    struct pollfd waited = {.fd = child->signal_fd, .events = POLLIN};
    struct timespec timeout = {.tv_sec = timeout_ns / 1000000000, .tv_nsec = timeout_ns % 1000000000};
    struct signalfd_siginfo info;

    int ready_count = ppoll(&waited, 1, &timeout, NULL);

    if (ready_count == 0)
        return;
    if (ready_count < 0) /* whatever it is: the child's end must not be missed */
        nanosleep(&(struct timespec){.tv_nsec = TRIAL_POLL_NS}, NULL);
    while (read(child->signal_fd, &info, sizeof info) == sizeof info) {
        child->end_requests += info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT || info.ssi_signo == SIGTERM ||
                               info.ssi_signo == SIGHUP;
        if (info.ssi_signo != SIGCHLD)
            pass_on(child, &info);
    }
    reap(child, on_end, context);
}

void record_child_release_signals(record_child *child)
{
    struct signalfd_siginfo info;
    sigset_t released;

    while (read(child->signal_fd, &info, sizeof info) == sizeof info)
        ;
    sigemptyset(&released);
    for (size_t i = 0; i < sizeof passed_signals / sizeof *passed_signals; i++)
        sigaddset(&released, passed_signals[i]);
    sigprocmask(SIG_UNBLOCK, &released, NULL);
}

bool record_child_has_others(void)
{
    siginfo_t info = {0};

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* ---- Ending -------------------------------------------------------------------------------------------------------- */

void record_child_end_alike(const record_child *child)
{
    struct rlimit no_core = {0, 0};
    sigset_t only;

    fflush(NULL);
    if (child->exec_errno != 0)
        _exit(exit_status_of(child->exec_errno));
    if (!WIFSIGNALED(child->wait_status))
        _exit(WEXITSTATUS(child->wait_status));

    int number = WTERMSIG(child->wait_status);
    setrlimit(RLIMIT_CORE, &no_core); /* the program's own core is the one of interest */
    prctl(PR_SET_DUMPABLE, 0);
    signal(number, SIG_DFL);
    sigemptyset(&only);
    sigaddset(&only, number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(number);
    _exit(128 + number);
}

void record_child_replace(char **program)
{
    execvp(program[0], program);
    int failure = errno;
    nm_shown_print(stderr, "npumem-record: %s: %s\n", program[0], nm_spoken(strerror(failure)));
    _exit(exit_status_of(failure));
}

/* ---- The trial ----------------------------------------------------------------------------------------------------- */

/* Nothing of it is seen, but for what it prints where `out_fd` is 0 or more; no signal is blocked. */
static void begin_trial(const char *folder, const char *library, int out_fd)
{
    int null_fd = open("/dev/null", O_RDWR);
    sigset_t none;

    if (null_fd >= 0) {
        dup2(null_fd, STDIN_FILENO);
        dup2(null_fd, STDOUT_FILENO);
        dup2(null_fd, STDERR_FILENO);
    }
    if (null_fd < 0) { /* a bare container: what cannot be written is not seen either */
        close(STDOUT_FILENO);
        close(STDERR_FILENO);
    }
    if (out_fd >= 0)
        dup2(out_fd, STDOUT_FILENO);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    set_environment(folder, library);
}

static bool end_trial(pid_t pid)
{
    int status = 0;

    for (int waited_ms = 0; pid > 0; waited_ms++) {
        pid_t ended = waitpid(pid, &status, WNOHANG);

        if (ended == pid)
            return WIFEXITED(status) && WEXITSTATUS(status) == 0;
        if (ended < 0)
            return false;
        if (waited_ms >= TRIAL_MS) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = TRIAL_POLL_NS}, NULL);
    }
    return false;
}

bool record_child_try(const char *folder, const char *library)
{
    char own[PATH_MAX];
    pid_t pid = fork();

    if (pid == 0) {
        begin_trial(folder, library, -1);
        execl("/bin/true", "/bin/true", (char *)NULL);
        execl("/usr/bin/true", "/usr/bin/true", (char *)NULL);
        if (nm_own_path(own))
            execl(own, "npumem-record", "--version", (char *)NULL); /* a container may hold nothing else */
        _exit(EXIT_NOT_FOUND);
    }
    return end_trial(pid);
}

bool record_child_ask(const char *folder, const char *library, const char *option, char *answer, size_t answer_bytes)
{
    char own[PATH_MAX];
    size_t got = 0;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0)
        return false;
    pid_t pid = fork();
    if (pid == 0) {
        begin_trial(folder, library, ends[1]);
        if (nm_own_path(own))
            execl(own, "npumem-record", option, (char *)NULL);
        _exit(EXIT_NOT_FOUND);
    }
    close(ends[1]);
    bool is_answered = end_trial(pid) && nm_io_read(ends[0], answer, answer_bytes - 1, &got, NULL) == NM_OK;
    close(ends[0]);
    answer[got] = 0;
    return is_answered;
}
