/* SPDX-License-Identifier: Apache-2.0
 *
 * The lock comes first: it needs no rights on the rings, holds for a recorder that is stopped, and is gone with the last of
 * it. Where it says nothing (a copy, a file system without locks) the rings are asked: for the recorder's number, which
 * means something among the processes that this one sees, and for its heartbeat, which beats for all. What cannot be looked
 * at is never taken for dead.
 */
#include "drain/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "drain/clock.h"
#include "drain/output.h"

#define BOOT_ID_PATH   "/proc/sys/kernel/random/boot_id"
#define SEARCH_BYTES   (8u << 20) /* of a file, for a block that tells of the session */
#define STILL_NS       300000000  /* without a heartbeat, of which there are ten a second */
#define STILL_PAUSE_US 20000

/* ---- Where it was recorded ----------------------------------------------------------------------------------------- */

bool nm_state_find_session(int fd, nm_session *out)
{
    nm_block_reader *reader = NULL;
    nm_block_header header;
    nm_buffer begin = {0};
    uint64_t vain = 0;
    size_t at = 0;
    ssize_t got = -1;

    if (nm_buffer_reserve(&begin, SEARCH_BYTES, NULL) == NM_OK)
        got = pread(fd, begin.data, SEARCH_BYTES, 0);
    nm_bytes bytes = {begin.data, got > 0 ? (size_t)got : 0};
    bool is_found = bytes.len > 0 && nm_block_find(bytes, &at, &vain, &header) == NM_OK &&
                    header.block_bytes <= bytes.len - at && nm_block_reader_new(&reader, NULL) == NM_OK &&
                    nm_block_reader_open(reader, (nm_bytes){bytes.data + at, bytes.len - at}, &header, NULL) == NM_OK;
    if (is_found)
        *out = *nm_block_reader_session(reader);
    nm_block_reader_free(reader);
    nm_buffer_free(&begin);
    return is_found;
}

void nm_state_read_boot_id(char boot_id[NM_BOOT_ID_BYTES])
{
    size_t got = 0;
    int fd;

    boot_id[0] = 0;
    if (nm_io_open(BOOT_ID_PATH, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return;
    nm_io_read(fd, boot_id, NM_BOOT_ID_BYTES - 1, &got, NULL);
    nm_io_close(fd);
    boot_id[got] = 0;
    boot_id[strcspn(boot_id, "\n")] = 0;
}

bool nm_state_is_of_this_boot(const nm_session *session)
{
    char boot_id[NM_BOOT_ID_BYTES];

    nm_state_read_boot_id(boot_id);
    return boot_id[0] == 0 || session->boot_id[0] == 0 || strcmp(boot_id, session->boot_id) == 0;
}

/* Without rings: a container of this machine has a name of its own, too. */
static nm_state state_without_rings(const nm_session *session)
{
    char host[sizeof session->host] = "";

    gethostname(host, sizeof host - 1);
    return strcmp(host, session->host) == 0 ? NM_STATE_CUT : NM_STATE_UNSEEN;
}

/* ---- The rings ----------------------------------------------------------------------------------------------------- */

/* Who may not even open it is another user. */
static bool is_of_another_user(const char *path)
{
    struct stat info;
    int fd = nm_door_folder_at(AT_FDCWD, path);
    bool is_hidden = fd < 0 && errno == EACCES;
    bool is_theirs = fd >= 0 && fstat(fd, &info) == 0 && info.st_uid != geteuid();

    nm_io_close(fd);
    return is_hidden || is_theirs;
}

nm_state nm_state_open_rings(const nm_session *session, nm_folder *out)
{
    if (session->ring_folder[0] == 0)
        return NM_STATE_UNSEEN;
    if (!nm_state_is_of_this_boot(session))
        return state_without_rings(session);
    if (nm_folder_open_copy(session->ring_folder, out, NULL) != NM_OK)
        return is_of_another_user(session->ring_folder) ? NM_STATE_UNREADABLE : state_without_rings(session);
    if (memcmp(out->session->trace_id, session->trace_id, sizeof session->trace_id) == 0)
        return NM_STATE_KILLED;
    nm_folder_close(out);
    return state_without_rings(session);
}

/* The number may be another program's by now, which has another name; and who is dead and not waited for has it still. */
static bool is_recorder(int64_t pid)
{
    char path[64], text[256] = "";
    size_t got = 0;
    int fd;

    snprintf(path, sizeof path, "/proc/%lld/stat", (long long)pid);
    if (pid <= 0 || nm_io_open(path, O_RDONLY, 0, &fd, NULL) != NM_OK)
        return false;
    nm_io_read(fd, text, sizeof text - 1, &got, NULL);
    nm_io_close(fd);
    const char *name = strchr(text, '('), *state = strrchr(text, ')');
    return name != NULL && strncmp(name, "(npumem-record", 14) == 0 && state != NULL && strcspn(state, "ZX") > 2;
}

static uint64_t heartbeat_of(const nm_folder *folder)
{
    return atomic_load_explicit(&folder->session->heartbeat, memory_order_relaxed); /* of a copy */
}

/* Also of a recorder whose number means nothing here: it may be of another container. */
static bool has_heartbeat(const nm_session *session, uint64_t before)
{
    int64_t until_ns = nm_clock_monotonic_ns() + STILL_NS;
    nm_folder folder;

    while (nm_clock_monotonic_ns() < until_ns) {
        usleep(STILL_PAUSE_US);
        if (nm_state_open_rings(session, &folder) != NM_STATE_KILLED)
            return false;
        uint64_t now = heartbeat_of(&folder);
        nm_folder_close(&folder);
        if (now != before)
            return true;
    }
    return false;
}

nm_state nm_state_look(const nm_session *session, int fd)
{
    nm_folder folder;

    if (nm_output_is_claimed(fd))
        return NM_STATE_RUNNING;
    if (session == NULL)
        return NM_STATE_UNSEEN;
    nm_state state = nm_state_open_rings(session, &folder);
    if (state != NM_STATE_KILLED)
        return state;
    bool is_alive = is_recorder(folder.session->drain_pid);
    uint64_t heartbeat = heartbeat_of(&folder);
    nm_folder_close(&folder);
    return is_alive || has_heartbeat(session, heartbeat) ? NM_STATE_RUNNING : NM_STATE_KILLED;
}
