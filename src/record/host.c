/* SPDX-License-Identifier: Apache-2.0
 *
 * Joining the recording of this host, and starting its drain where there is none; see host.h. It runs inside a hook: no
 * heap, no lock that another thread may hold, bounded time, and it is tried once.
 */
#include "record/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "record/helper.h"
#include "record/session.h"
#include "record/text.h"
#include "trace/ring.h"

#define JOIN_WAIT_NS INT64_C(3000000000) /* longest for the first event of a process; a drain is there in some 50 ms */
#define POLL_US      1000
#define DOOR_PREFIX  "npumem-door-"
#define HASH_BASIS   UINT64_C(0xcbf29ce484222325) /* FNV-1a */
#define HASH_PRIME   UINT64_C(0x100000001b3)

typedef struct door {
    char path[NM_FILE_BYTES_MAX];
    int fd;
    bool has_started; /* a drain, by this process */
} door;

/* ---- The door ------------------------------------------------------------------------------------------------------ */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; *text != 0; text++)
        hash = (hash ^ (unsigned char)*text) * HASH_PRIME;
    return hash;
}

static bool is_still_there(int fd)
{
    struct stat info;

    return nm_call(SYS_fstat, fd, (long)&info, 0, 0, 0, 0) == 0 && info.st_nlink > 0;
}

static bool open_door(door *out)
{
    const char *temporary = secure_getenv("TMPDIR");
    const char *const places[] = {"/dev/shm", "/tmp", temporary};
    uint64_t user = (uint64_t)nm_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
    uint64_t hash = hash_text((HASH_BASIS ^ user) * HASH_PRIME, nm_session_host_output());

    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (places[i] == NULL || !nm_text_path(out->path, sizeof out->path, places[i], DOOR_PREFIX, hash) ||
            nm_system_check_folder(places[i]) != 0)
            continue;
        out->fd = nm_system_open(out->path, O_RDWR | O_CREAT | O_NONBLOCK);
        if (out->fd >= 0 && nm_system_check_own(out->fd, S_IFREG) == 0)
            return true;
        if (out->fd >= 0)
            nm_system_close(out->fd);
    }
    return false;
}

static bool lock_byte(int fd, long byte)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return nm_call(SYS_fcntl, fd, F_OFD_SETLK, (long)&range, 0, 0, 0) == 0;
}

static bool is_locked(int fd, long byte)
{
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};

    return nm_call(SYS_fcntl, fd, F_OFD_GETLK, (long)&range, 0, 0, 0) == 0 && range.l_type != F_UNLCK;
}

/* ---- Joining ------------------------------------------------------------------------------------------------------- */

/* The path ends with a newline, or is not whole. */
static bool join_by_content(int fd)
{
    char folder[NM_FOLDER_BYTES_MAX];
    long got = nm_call(SYS_pread64, fd, (long)folder, sizeof folder, 0, 0, 0);

    if (got <= 0 || folder[got - 1] != '\n')
        return false;
    folder[got - 1] = 0;
    return nm_session_join(folder);
}

static bool start_drain(const door *at)
{
    const char *const arguments[NM_HELPER_ARGUMENTS_MAX] = {"npumem-record", "--serve", at->path, NULL};

    return nm_helper_start(arguments, at->fd);
}

/* *is_hopeless: nothing is to be waited for. */
static bool try_door(door *at, bool *is_hopeless)
{
    if (is_locked(at->fd, NM_HOST_READY_BYTE))
        return join_by_content(at->fd);
    /* Free, or given back by one that ended: then the door is another one now, or ours has failed. */
    if (!lock_byte(at->fd, NM_HOST_START_BYTE) || !is_still_there(at->fd))
        return false;
    *is_hopeless = at->has_started || !start_drain(at);
    at->has_started = true;
    if (*is_hopeless)
        nm_system_unlink(at->path);
    return false;
}

static bool join_host(void)
{
    int64_t end_ns = nm_system_now_ns() + JOIN_WAIT_NS;
    door at = {.fd = -1};
    bool is_hopeless = false, has_joined = false;

    do {
        if (!open_door(&at))
            return false;
        has_joined = try_door(&at, &is_hopeless);
        nm_system_close(at.fd);
        if (!has_joined && !is_hopeless)
            nm_system_sleep_us(POLL_US);
    } while (!has_joined && !is_hopeless && nm_system_now_ns() < end_ns);
    return has_joined;
}

bool nm_host_join(void)
{
    nm_state *state = &nm_process_state;
    uint64_t mask = nm_system_block_signals();
    int64_t end_ns = nm_system_now_ns() + JOIN_WAIT_NS;
    uint32_t nobody = 0;

    /* acquire, release: what the thread that joins writes is seen by those that wait for it. Not a lock: they wait for a
     * bounded time and then go on without recording. */
    if (atomic_compare_exchange_strong_explicit(&state->is_joining, &nobody, 1, memory_order_acquire,
                                                memory_order_relaxed)) {
        if (!nm_state_is_recording() && atomic_load_explicit(&state->is_awaited, memory_order_relaxed) != 0)
            join_host();
        atomic_store_explicit(&state->is_awaited, 0, memory_order_relaxed); /* relaxed: a flag */
        atomic_store_explicit(&state->is_joining, 0, memory_order_release);
    } else {
        while (atomic_load_explicit(&state->is_joining, memory_order_acquire) != 0 && nm_system_now_ns() < end_ns)
            nm_system_sleep_us(POLL_US);
    }
    nm_system_restore_signals(mask);
    return nm_state_is_recording();
}
