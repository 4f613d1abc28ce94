/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem_start and npumem_stop: a recording without npumem-record around the program. The drain is a process of its own,
 * detached: started by a helper process that ends at once, so that it is no child of the program, gives it no SIGCHLD and
 * no surprise in wait(). These two functions are called by the program, not by a hook, and may use libc.
 */
#include "npumem.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/modules.h"
#include "record/python.h"
#include "record/session.h"
#include "record/text.h"
#include "trace/event.h"

#define RECORD_PROGRAM     "npumem-record"
#define DEFAULT_OUTPUT     "npumem-%h-%p.zst"
#define DEFAULT_STACKS     "both"
#define HELPER_STACK_BYTES (64u << 10)
#define POLL_US            1000
#define START_WAIT_NS      INT64_C(5000000000)
#define STOP_WAIT_NS       INT64_C(10000000000)
#define ENVIRONMENT_SKIP   "LD_PRELOAD=" /* the drain itself is not recorded */
#define ARGUMENT_COUNT     8
#define SIGNAL_MAX         64

typedef struct nm_helper {
    const char *program;
    char *arguments[ARGUMENT_COUNT];
    char **environment;
    char stack[2][HELPER_STACK_BYTES];
} nm_helper;

/* ---- Where things are ---------------------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    return access(path, X_OK) == 0;
}

/* Beside the library, in bin/ beside its folder, or on PATH. */
static bool find_beside_library(char *path)
{
    static const char *const places[] = {RECORD_PROGRAM, "../bin/" RECORD_PROGRAM, "../../bin/" RECORD_PROGRAM};
    char library[NM_PATH_BYTES_MAX];
    char *slash;

    if (!nm_modules_path_of((uintptr_t)&find_beside_library, library, sizeof library))
        return false;
    slash = strrchr(library, '/');
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (nm_text_join(path, NM_PATH_BYTES_MAX, library, places[i]) && is_program(path))
            return true;
    }
    return false;
}

static bool find_on_path(char *path)
{
    const char *at = getenv("PATH");
    char folder[NM_PATH_BYTES_MAX];

    while (at != NULL && *at != 0) {
        size_t len = strcspn(at, ":");

        if (len > 0 && len < sizeof folder) {
            memcpy(folder, at, len);
            folder[len] = 0;
            if (nm_text_join(path, NM_PATH_BYTES_MAX, folder, RECORD_PROGRAM) && is_program(path))
                return true;
        }
        at += len + (at[len] == ':');
    }
    return false;
}

/* A name for the session's folder that nobody has, of NM_FOLDER_BYTES_MAX; the drain makes it. */
static bool name_folder(char *path)
{
    const char *temporary = getenv("TMPDIR");
    const char *const places[] = {"/dev/shm", temporary != NULL ? temporary : "/tmp", "/tmp"};
    uint64_t mark = (uint64_t)nm_system_now_ns() ^ (uint64_t)nm_system_pid() << 40;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], W_OK | X_OK) == 0 &&
            nm_text_path(path, NM_FOLDER_BYTES_MAX, places[i], "npumem-sdk-", mark >> 1))
            return true;
    }
    return false;
}

/* ---- Starting the drain -------------------------------------------------------------------------------------------- */

/* The program's handlers must not run in memory shared with it; the drain starts as a shell would start it. */
static void reset_signals(void)
{
    static const uint64_t defaults[4]; /* the kernel's struct sigaction: handler, flags, restorer, mask */

    for (int number = 1; number <= SIGNAL_MAX; number++)
        nm_call(SYS_rt_sigaction, number, (long)defaults, 0, sizeof defaults[3], 0, 0);
    nm_system_restore_signals(0);
}

static int run_drain(void *context)
{
    nm_helper *helper = context;

    reset_signals();
    execve(helper->program, helper->arguments, helper->environment);
    nm_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    return 127;
}

/* Ends as soon as the drain runs, which is thereby nobody's child; no exit handler runs in the memory shared with the
 * program. */
static int run_helper(void *context)
{
    nm_helper *helper = context;
    int pid;

    nm_call(SYS_setsid, 0, 0, 0, 0, 0, 0);
    pid = clone(run_drain, helper->stack[1] + HELPER_STACK_BYTES, CLONE_VM | CLONE_VFORK, helper);
    nm_call(SYS_exit_group, pid > 0 ? 0 : 1, 0, 0, 0, 0, 0);
    return 1;
}

/* The program's environment without what would record the drain; NULL: no memory. */
static char **copy_environment(void)
{
    size_t count = 0, kept = 0;
    char **copy;

    while (environ[count] != NULL)
        count++;
    copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < count; i++) {
        if (strncmp(environ[i], ENVIRONMENT_SKIP, strlen(ENVIRONMENT_SKIP)) != 0)
            copy[kept++] = environ[i];
    }
    return copy;
}

static bool spawn_drain(const char *program, char *folder, const char *output, const char *stacks)
{
    nm_helper *helper = calloc(1, sizeof *helper);
    char **environment = copy_environment();
    uint64_t mask;
    int pid = -1, status = -1;

    if (helper != NULL && environment != NULL) {
        char *const arguments[ARGUMENT_COUNT] = {RECORD_PROGRAM, "--attach", folder,         "-o",
                                                 (char *)output, "--stacks", (char *)stacks, NULL};

        memcpy(helper->arguments, arguments, sizeof arguments);
        helper->program = program;
        helper->environment = environment;
        /* Like posix_spawn: a signal handler must not run in the helper, which shares our memory. The exit signal 0 hides
         * the helper from wait(). */
        mask = nm_system_block_signals();
        pid = clone(run_helper, helper->stack[0] + HELPER_STACK_BYTES, CLONE_VM | CLONE_VFORK, helper);
        while (pid > 0 && waitpid(pid, &status, __WALL) < 0 && errno == EINTR)
            ;
        nm_system_restore_signals(mask);
    }
    free(environment);
    free(helper);
    return pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool join_when_ready(const char *folder)
{
    int64_t end_ns = nm_system_now_ns() + START_WAIT_NS;

    do {
        if (nm_session_join(folder))
            return true;
        nm_system_sleep_us(POLL_US);
    } while (nm_system_now_ns() < end_ns);
    return false;
}

static int start(const npumem_start_options *options)
{
    char folder[NM_FOLDER_BYTES_MAX], program[NM_PATH_BYTES_MAX];
    const char *output = options->output_path != NULL ? options->output_path : DEFAULT_OUTPUT;
    const char *stacks = options->stacks != NULL ? options->stacks : DEFAULT_STACKS;

    if (!name_folder(folder) || (!find_beside_library(program) && !find_on_path(program)))
        return -1;
    if (!spawn_drain(program, folder, output, stacks) || !join_when_ready(folder))
        return -1;
    nm_process_state.started_number = nm_process_state.process_number;
    setenv(NM_RING_ENVIRONMENT, folder, 1); /* the processes it starts are recorded too */
    return 0;
}

int npumem_start(const npumem_start_options *options)
{
    npumem_start_options taken = {0};
    int saved_errno = errno, result;

    if (!nm_session_is_allowed())
        return -1;
    if (nm_state_is_recording())
        return 0;
    nm_python_find();
    if (options != NULL)
        memcpy(&taken, options, options->struct_bytes < sizeof taken ? options->struct_bytes : sizeof taken);
    result = start(&taken);
    if (result == 0)
        nm_python_check();
    errno = saved_errno;
    return result;
}

int npumem_stop(void)
{
    nm_state *state = &nm_process_state;
    int64_t end_ns = nm_system_now_ns() + STOP_WAIT_NS;
    int saved_errno = errno;

    if (!nm_state_is_recording())
        return -1;
    if (state->started_number == 0 || nm_state_generation() == 0)
        return 0;
    state->started_number = 0;
    nm_session_leave();
    nm_session_note_end(NM_PROCESS_RUNNING, 0);
    unsetenv(NM_RING_ENVIRONMENT);
    while (access(state->folder, F_OK) == 0 && nm_system_now_ns() < end_ns)
        nm_system_sleep_us(POLL_US);
    end_ns = access(state->folder, F_OK);
    errno = saved_errno;
    return end_ns == 0 ? -1 : 0;
}
