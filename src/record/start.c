/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem_start and npumem_stop: a recording without npumem-record around the program. The drain is a process of its own
 * (helper.h). These two functions are called by the program, not by a hook, and may use libc.
 */
#include "npumem.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/attach.h"
#include "record/helper.h"
#include "record/python.h"
#include "record/session.h"
#include "record/text.h"
#include "trace/event.h"

#define RECORD_PROGRAM "npumem-record"
#define DEFAULT_OUTPUT "npumem-%h-%p.zst"
#define DEFAULT_STACKS "both"
#define POLL_US        1000
#define START_WAIT_NS  INT64_C(5000000000)
#define STOP_WAIT_NS   INT64_C(10000000000)

/* A name for the session's folder that nobody has, of NM_FOLDER_BYTES_MAX; the drain makes it. */
static bool name_folder(char *path)
{
    const char *temporary = secure_getenv("TMPDIR");
    const char *const places[] = {"/dev/shm", temporary != NULL ? temporary : "/tmp", "/tmp"};
    uint64_t mark = (uint64_t)nm_system_now_ns() ^ (uint64_t)nm_system_pid() << 40;

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (access(places[i], W_OK | X_OK) == 0 && nm_system_check_folder(places[i]) == 0 &&
            nm_text_path(path, NM_FOLDER_BYTES_MAX, places[i], "npumem-sdk-", mark >> 1))
            return true;
    }
    return false;
}

static void leave(void)
{
    nm_state_leave();
    nm_session_note_end(NM_PROCESS_RUNNING, 0);
}

/* A drain that was killed never removes its folder. */
static bool is_drain_there(void)
{
    return kill((pid_t)nm_process_state.session->drain_pid, 0) == 0 || errno != ESRCH;
}

/* ---- Starting the drain -------------------------------------------------------------------------------------------- */

/* Not before the trace says where the rings are: what is recorded earlier would be lost with the drain. */
static bool is_drained(void)
{
    /* acquire: pairs with the release of the drain that has written its first block */
    return atomic_load_explicit(&nm_process_state.session->heartbeat, memory_order_acquire) != 0;
}

static bool join_when_ready(const char *folder)
{
    int64_t end_ns = nm_system_now_ns() + START_WAIT_NS;
    bool is_joined = false;

    nm_process_state.is_late = 1; /* nobody has seen what it has allocated before */
    do {
        is_joined = is_joined || nm_session_join(folder);
        if (is_joined && is_drained())
            return true;
        nm_system_sleep_us(POLL_US);
    } while (nm_system_now_ns() < end_ns);
    if (is_joined)
        leave();
    return false;
}

static int fail(const npumem_start_options *options, const char *why)
{
    if (options->why != NULL && options->why_bytes > 0) {
        size_t len = strnlen(why, options->why_bytes - 1);

        memcpy(options->why, why, len);
        options->why[len] = 0;
    }
    return -1;
}

static int start(const npumem_start_options *options)
{
    char folder[NM_FOLDER_BYTES_MAX];
    const char *const arguments[NM_HELPER_ARGUMENTS_MAX] = {
        RECORD_PROGRAM,
        "--attach",
        folder,
        "-o",
        options->output_path != NULL ? options->output_path : DEFAULT_OUTPUT,
        "--stacks",
        options->stacks != NULL ? options->stacks : DEFAULT_STACKS,
        options->is_paused    ? "--start-paused"
        : options->is_watched ? "--watch"
                              : NULL,
        NULL,
    };

    if (nm_system_is_privileged())
        return fail(options, "the program has rights that its caller has not: npumem does nothing in it");
    if (!nm_session_is_allowed())
        return fail(options, "NPUMEM=off is set");
    if (!name_folder(folder))
        return fail(options, "neither /dev/shm nor a temporary folder of this user or of root can be written");
    if (!nm_helper_start(arguments, -1))
        return fail(options, "there is no npumem-record beside libnpumem.so.0 or in " NM_RECORD_FOLDER
                             ", or it cannot be started");
    if (!join_when_ready(folder))
        return fail(options, "npumem-record does not record: can it write the output?");
    nm_process_state.started_number = nm_process_state.process_number;
    setenv(NM_RING_ENVIRONMENT, folder, 1); /* the processes it starts are recorded too */
    return 0;
}

int npumem_start(const npumem_start_options *options)
{
    npumem_start_options taken = {0};
    int saved_errno = errno, result;

    if (nm_session_is_allowed() && nm_attach_is_wanted()) /* what the environment asks for comes first */
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
    if (state->started_number != state->process_number || nm_state_generation() == 0)
        return 0; /* npumem-record is around, or a parent began it */
    state->started_number = 0;
    leave();
    unsetenv(NM_RING_ENVIRONMENT);
    while (access(state->folder, F_OK) == 0 && is_drain_there() && nm_system_now_ns() < end_ns)
        nm_system_sleep_us(POLL_US);
    end_ns = access(state->folder, F_OK);
    errno = saved_errno;
    return end_ns == 0 ? -1 : 0;
}
