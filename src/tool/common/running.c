/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernel knows which session file a process has mapped, and /proc says so; a process that has it in its environment
 * only is going to. A trace is of this machine if its session names this host's boot.
 */
#include "tool/common/running.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/io.h"
#include "drain/state.h"
#include "trace/ring.h"

#define PROC_BYTES_MAX (64u << 20) /* of a process's maps */

bool running_is_pid(const char *text)
{
    return text[0] != 0 && text[strspn(text, "0123456789")] == 0 && !nm_door_allows(text, F_OK);
}

static nm_status read_proc(const char *pid, const char *name, nm_buffer *out, nm_error *err)
{
    char path[64];
    int fd = -1;
    nm_status status;

    snprintf(path, sizeof path, "/proc/%.20s/%s", pid, name);
    if (!nm_door_allows(path, F_OK))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "there is no such process, nor a file of that name");
    status = nm_io_open(path, O_RDONLY, 0, &fd, err);
    if (status != NM_OK)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is another user's process");
    status = nm_io_read_all(fd, PROC_BYTES_MAX, out, err);
    nm_io_close(fd);
    return status == NM_OK ? nm_buffer_append(out, "", 1, err) : status;
}

static bool take_folder(const char *from, size_t len, char folder[RUNNING_FOLDER_BYTES])
{
    if (len == 0 || len >= RUNNING_FOLDER_BYTES)
        return false;
    memcpy(folder, from, len);
    folder[len] = 0;
    return true;
}

/* Lines of /proc/PID/maps end in the path of a mapped file; the session's is FOLDER/session. */
static bool find_mapped(const char *maps, char folder[RUNNING_FOLDER_BYTES])
{
    static const char ending[] = "/" NM_RING_SESSION_FILE "\n";
    const char *end = maps;

    while ((end = strstr(end, ending)) != NULL) {
        const char *begin = end;

        while (begin > maps && begin[-1] != '\n')
            begin--;
        begin = memchr(begin, '/', (size_t)(end - begin) + 1);
        if (begin != NULL && begin < end && memmem(begin, (size_t)(end - begin), "/npumem-", 8) != NULL)
            return take_folder(begin, (size_t)(end - begin), folder);
        end++;
    }
    return false;
}

static bool find_variable(const nm_buffer *environment, char folder[RUNNING_FOLDER_BYTES])
{
    static const char name[] = NM_RING_ENVIRONMENT "=";
    const char *at = (const char *)environment->data, *end = at + environment->len;

    for (; at < end; at += strlen(at) + 1)
        if (strncmp(at, name, sizeof name - 1) == 0)
            return take_folder(at + sizeof name - 1, strlen(at + sizeof name - 1), folder);
    return false;
}

nm_status running_find_pid(const char *pid, char folder[RUNNING_FOLDER_BYTES], nm_error *err)
{
    nm_buffer text = {0};
    nm_status status = read_proc(pid, "maps", &text, err);
    bool is_found = status == NM_OK && find_mapped((const char *)text.data, folder);

    text.len = 0;
    if (status == NM_OK && !is_found)
        status = read_proc(pid, "environ", &text, err);
    if (status == NM_OK && !is_found && !find_variable(&text, folder))
        status = nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is a process that is not recorded");
    nm_buffer_free(&text);
    return status;
}

nm_status running_check_host(const nm_session *session, nm_error *err)
{
    if (nm_state_is_of_this_boot(session))
        return NM_OK;
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET,
                   "was recorded on %.60s, which is another machine or was started anew since", session->host);
}
