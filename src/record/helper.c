/* SPDX-License-Identifier: Apache-2.0
 *
 * Starting the drain; see helper.h. All that is needed lies in one mapping, since the stack of whoever calls a hook may be
 * small, and system calls are made by hand, since libc's would change errno.
 */
#include "record/helper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/machine.h"
#include "record/maps.h"
#include "record/system.h"
#include "record/text.h"

#define RECORD_PROGRAM     "npumem-record"
#define ENVIRONMENT_SKIP   "LD_PRELOAD=" /* the drain itself is not recorded */
#define HELPER_STACK_BYTES (64u << 10)
#define SIGNAL_MAX         64

typedef struct helper {
    size_t bytes; /* of the mapping */
    const char *const *arguments;
    int kept_fd;
    char program[NM_PATH_BYTES_MAX];
    char folder[NM_PATH_BYTES_MAX];
    _Alignas(16) char stack[2][HELPER_STACK_BYTES];
    char *environment[]; /* of the drain */
} helper;

/* ---- Where npumem-record is ---------------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    return nm_call(SYS_faccessat, AT_FDCWD, (long)path, X_OK, 0, 0, 0) == 0;
}

/* Beside the library, or in bin/ beside its folder. */
static bool find_beside_library(helper *work)
{
    static const char *const places[] = {RECORD_PROGRAM, "../bin/" RECORD_PROGRAM, "../../bin/" RECORD_PROGRAM};
    char *slash;

    if (!nm_maps_path_of((uintptr_t)&find_beside_library, work->folder, sizeof work->folder))
        return false;
    slash = strrchr(work->folder, '/');
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (nm_text_join(work->program, sizeof work->program, work->folder, places[i]) && is_program(work->program))
            return true;
    }
    return false;
}

/* Never on PATH: who can set that could have any program run in the name of this one's user. */
static bool find_where_built(helper *work)
{
    return nm_text_join(work->program, sizeof work->program, NM_RECORD_FOLDER, RECORD_PROGRAM) &&
           is_program(work->program);
}

/* ---- In the new processes ------------------------------------------------------------------------------------------ */

/* The program's handlers must not run in memory shared with it; the drain starts as a shell would start it. */
static void reset_signals(void)
{
    static const uint64_t defaults[4]; /* the kernel's struct sigaction: handler, flags, restorer, mask */

    for (int number = 1; number <= SIGNAL_MAX; number++)
        nm_call(SYS_rt_sigaction, number, (long)defaults, 0, sizeof defaults[3], 0, 0);
    nm_system_restore_signals(0);
}

/* The table of descriptors is this process's own by now. Without O_CLOEXEC even where the number does not change. */
static void keep_descriptor(int fd)
{
    if (fd == NM_HELPER_KEPT_FD)
        nm_call(SYS_fcntl, fd, F_SETFD, 0, 0, 0, 0);
    else if (fd >= 0)
        nm_call(SYS_dup3, fd, NM_HELPER_KEPT_FD, 0, 0, 0, 0);
}

static int run_drain(void *context)
{
    helper *work = context;

    reset_signals();
    keep_descriptor(work->kept_fd);
    nm_call(SYS_execve, (long)work->program, (long)work->arguments, (long)work->environment, 0, 0, 0);
    nm_call(SYS_exit_group, 127, 0, 0, 0, 0, 0);
    return 127;
}

/* Ends as soon as the drain runs, which is thereby nobody's child; no exit handler runs in the memory shared with the
 * program. */
static int run_helper(void *context)
{
    helper *work = context;
    int pid;

    nm_call(SYS_setsid, 0, 0, 0, 0, 0, 0);
    pid = clone(run_drain, work->stack[0] + HELPER_STACK_BYTES, CLONE_VM | CLONE_VFORK, work);
    nm_call(SYS_exit_group, pid > 0 ? 0 : 1, 0, 0, 0, 0, 0);
    return 1;
}

/* ---- Starting them ------------------------------------------------------------------------------------------------- */

/* With room for the environment as it is now; NULL: no memory. */
static helper *make_helper(const char *const *arguments, int kept_fd)
{
    size_t count = 0, kept = 0, bytes;
    helper *work;

    while (environ != NULL && environ[count] != NULL)
        count++;
    bytes = sizeof *work + (count + 1) * sizeof *work->environment;
    work = nm_system_memory(bytes);
    if (work == NULL)
        return NULL;
    work->bytes = bytes;
    work->arguments = arguments;
    work->kept_fd = kept_fd;
    for (size_t i = 0; i < count && environ[i] != NULL; i++) {
        if (strncmp(environ[i], ENVIRONMENT_SKIP, strlen(ENVIRONMENT_SKIP)) != 0)
            work->environment[kept++] = environ[i];
    }
    return work;
}

static bool start(helper *work)
{
    /* Like posix_spawn: a signal handler must not run in the helper, which shares our memory. The exit signal 0 hides the
     * helper from wait(). */
    uint64_t mask = nm_system_block_signals();
    int pid = clone(run_helper, work->stack[1] + HELPER_STACK_BYTES, CLONE_VM | CLONE_VFORK, work), status = -1;
    long waited;

    do
        waited = pid > 0 ? nm_call(SYS_wait4, pid, (long)&status, __WALL, 0, 0, 0) : pid;
    while (waited == -EINTR);
    nm_system_restore_signals(mask);
    return waited == pid && pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool nm_helper_start(const char *const *arguments, int kept_fd)
{
    int saved_errno = errno;
    helper *work = nm_system_is_privileged() ? NULL : make_helper(arguments, kept_fd);
    bool has_started = work != NULL && (find_beside_library(work) || find_where_built(work)) && start(work);

    if (work != NULL)
        nm_system_unmap(work, work->bytes);
    errno = saved_errno; /* libc's clone sets it */
    return has_started;
}
