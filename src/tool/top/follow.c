/* SPDX-License-Identifier: Apache-2.0
 *
 * A recording ends with a block that says so. One whose recorder is gone may have ended while nobody looked: so the file is
 * read once more after that was seen, before anything is said of its end.
 */
#include "tool/top/follow.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "drain/clock.h"
#include "drain/parts.h"
#include "tool/common/running.h"
#include "trace/files.h"
#include "trace/ring.h"

#define BEGIN_NS 2000000000 /* a recording writes its first block sooner */

struct top_follow {
    int *fds; /* owned: of the parts, the first of which came with the name */
    size_t fd_count, fd_capacity;
    char *path; /* owned; of the last part */
    nm_source *source;
    nm_source_summary_data summary; /* as it was when the source was looked at last */
    nm_state state;
    bool is_settled, is_outrun;
    int64_t opened_ns;
};

/* ---- The session --------------------------------------------------------------------------------------------------- */

/* False: it is not there, or of another layout. */
static bool read_session(const char *path, nm_ring_session *out)
{
    size_t got = 0;
    int folder = nm_door_folder(path), fd = -1;
    nm_status status = nm_door_open_at(folder, NM_RING_SESSION_FILE, O_RDONLY | O_NONBLOCK, 0, &fd, NULL);

    nm_io_close(folder);
    if (status != NM_OK)
        return false;
    bool is_read = nm_io_read(fd, out, sizeof *out, &got, NULL) == NM_OK && got == sizeof *out;
    nm_io_close(fd);
    return is_read && out->magic == NM_RING_SESSION_MAGIC && out->session_bytes == sizeof *out;
}

/* ---- Which file ---------------------------------------------------------------------------------------------------- */

/* Is the file that the descriptor of another process stands for the trace? */
static bool is_trace_of(const char *path, const uint8_t trace_id[16])
{
    nm_block_header header;
    uint8_t begin[NM_SOURCE_HEAD_BYTES];
    struct stat info;
    ssize_t got = -1;

    int fd = -1;
    if (nm_door_leads_to(path, S_IFREG) && nm_door_open_file(path, &fd, &info, NULL) == NM_OK)
        got = pread(fd, begin, sizeof begin, 0);
    nm_io_close(fd);
    return got > 0 && nm_block_read_header((nm_bytes){begin, (size_t)got}, &header, NULL) == NM_OK &&
           memcmp(header.trace_id, trace_id, sizeof header.trace_id) == 0;
}

/* The recorder has its trace open. */
static nm_status find_in_recorder(const nm_ring_session *session, char **path, nm_error *err)
{
    char folder[64], name[PATH_MAX], target[PATH_MAX];
    struct dirent *entry;

    *path = NULL;
    snprintf(folder, sizeof folder, "/proc/%lld/fd", (long long)session->drain_pid);
    DIR *list = nm_door_list(folder);
    while (list != NULL && *path == NULL && (entry = readdir(list)) != NULL) {
        snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
        ssize_t len = entry->d_name[0] == '.' ? -1 : readlinkat(dirfd(list), entry->d_name, target, sizeof target - 1);
        if (len <= 0 || !is_trace_of(name, session->trace_id))
            continue;
        target[len] = 0;
        *path = strdup(target);
    }
    if (list != NULL)
        closedir(list);
    return *path != NULL
               ? NM_OK
               : nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "its recorder has no trace open that can be read here");
}

static nm_status find_by_folder(const char *folder, char **path, nm_error *err)
{
    nm_ring_session session;

    if (!read_session(folder, &session))
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is not the folder of a recording that runs");
    return find_in_recorder(&session, path, err);
}

/* Of a recording in parts the last one: what came before it is stated there. NM_END: none holds anything yet, or one was
 * dropped under the eyes of this. */
static nm_status find_last_part(const char *name, char **path, nm_error *err)
{
    nm_trace_files files;
    nm_status status = nm_trace_files_open(&name, 1, O_RDONLY, &files, err);

    *path = NULL;
    if (status != NM_OK)
        return nm_trace_files_visit(name, NULL, NULL) > 0 ? NM_END : status;
    *path = strdup(files.items[files.count - 1].path);
    nm_trace_files_close(&files);
    return *path != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

static nm_status find_path(const char *given, const char *pid, char **path, nm_error *err)
{
    char folder[PATH_MAX];
    struct stat info;

    *path = NULL;
    if (pid != NULL) {
        nm_status status = running_find_pid(pid, folder, err);

        return status == NM_OK ? find_by_folder(folder, path, err) : status;
    }
    if (!nm_trace_files_is_single(given) && !nm_door_leads_to(given, S_IFDIR))
        return find_last_part(given, path, err);
    if (!nm_door_look(given, &info))
        return nm_fail_errno(err, errno, "cannot open");
    if (snprintf(folder, sizeof folder, "%s", given) >= (int)sizeof folder)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
    if (S_ISSOCK(info.st_mode)) {
        char *slash = strrchr(folder, '/');

        strcpy(slash == NULL ? folder : slash, slash == NULL ? "." : "");
        return find_by_folder(folder, path, err);
    }
    if (S_ISDIR(info.st_mode)) {
        nm_ring_session session;

        return read_session(folder, &session) ? find_in_recorder(&session, path, err)
                                              : find_last_part(given, path, err);
    }
    if (!S_ISREG(info.st_mode))
        return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "is no file: what goes through a pipe cannot be looked at");
    *path = strdup(given);
    return *path != NULL ? NM_OK : nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
}

/* ---- Opening ------------------------------------------------------------------------------------------------------- */

static nm_status add_file(top_follow *follow, const char *path, nm_error *err)
{
    int fd = -1;
    nm_status status =
        nm_array_grow(&follow->fds, &follow->fd_capacity, follow->fd_count + 1, sizeof *follow->fds, err);

    if (status == NM_OK)
        status = nm_io_open(path, O_RDONLY | O_NONBLOCK, 0, &fd, err);
    if (status == NM_OK)
        follow->fds[follow->fd_count++] = fd;
    return status;
}

static nm_status open_source(top_follow *follow, nm_error *err)
{
    uint8_t begin[NM_SOURCE_HEAD_BYTES];
    nm_bytes head = {begin, 0};
    nm_status status = nm_io_read(follow->fds[0], begin, sizeof begin, &head.len, err);

    if (status == NM_OK && head.len == 0)
        return NM_END;
    if (status == NM_OK)
        status = nm_source_recognise(head, err);
    if (status == NM_OK && !nm_trace_source_type.matches(head))
        status = nm_fail(err, NM_ERR_FORMAT, 0, "is not a recording that goes on");
    if (status == NM_OK)
        status = nm_trace_source_open_growing(follow->fds[0], head, &follow->source, err);
    return status;
}

/* Opens what `path` names, which this owns from here on. */
static nm_status open_path(char *path, top_follow **out, nm_error *err)
{
    top_follow *follow = calloc(1, sizeof *follow);
    nm_status status;

    *out = NULL;
    if (follow == NULL) {
        free(path);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    follow->path = path;
    follow->opened_ns = nm_clock_monotonic_ns();
    status = add_file(follow, follow->path, err);
    if (status == NM_OK)
        status = open_source(follow, err);
    if (status == NM_OK)
        *out = follow;
    else
        top_follow_close(follow);
    return status;
}

/* As the user named it; where that is a folder or a socket the trace's path, without the number of a part. */
static char *shown_name(const char *given, const char *path)
{
    struct stat info;
    bool is_place = given != NULL && nm_door_look(given, &info) && !S_ISREG(info.st_mode);

    return given != NULL && !is_place ? strdup(given) : strndup(path, nm_trace_files_stem(path));
}

nm_status top_follow_open(const char *path, const char *pid, char **name, top_follow **out, nm_error *err)
{
    char *found = NULL;
    nm_status status = find_path(path, pid, &found, err);

    *out = NULL;
    if (status != NM_OK)
        return status;
    if (*name == NULL)
        *name = shown_name(path, found);
    return open_path(found, out, err);
}

nm_status top_follow_restart(const top_follow *old, top_follow **out, nm_error *err)
{
    char *name = strndup(old->path, nm_trace_files_stem(old->path)), *found = NULL;
    nm_status status =
        name == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : find_last_part(name, &found, err);

    *out = NULL;
    free(name);
    return status == NM_OK ? open_path(found, out, err) : status;
}

void top_follow_close(top_follow *follow)
{
    if (follow == NULL)
        return;
    nm_source_close(follow->source);
    for (size_t i = 0; i < follow->fd_count; i++)
        nm_io_close(follow->fds[i]);
    free(follow->fds);
    free(follow->path);
    free(follow);
}

/* ---- Looking ------------------------------------------------------------------------------------------------------- */

nm_status top_follow_next(top_follow *follow, nm_record *out, nm_error *err)
{
    return nm_source_next(follow->source, out, err);
}

static uint64_t part_number(const char *path)
{
    return strtoull(path + nm_trace_files_stem(path) + 1, NULL, 10);
}

static void note_newest(void *context, int folder, const char *part)
{
    uint64_t *newest = context, number = part_number(part);

    (void)folder;
    *newest = number > *newest ? number : *newest;
}

/* Takes the part: from now on it is the last one. */
static nm_status take_part(top_follow *follow, const char *path, nm_error *err)
{
    char *copy = strdup(path);
    nm_status status =
        copy == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : add_file(follow, path, err);

    if (status == NM_OK)
        status = nm_trace_source_grow(follow->source, follow->fds[follow->fd_count - 1], err);
    if (status != NM_OK) {
        free(copy);
        return status;
    }
    free(follow->path);
    follow->path = copy;
    return NM_OK;
}

/* To the part behind the last one, if it has begun. It may have been dropped already, with newer ones behind it. */
static nm_status go_on(top_follow *follow, bool *has_more, nm_error *err)
{
    size_t stem = nm_trace_files_stem(follow->path);
    uint64_t newest = 0;
    nm_status status = NM_OK;

    if (follow->path[stem] == 0)
        return NM_OK;
    char *name = strndup(follow->path, stem);
    char *next = name == NULL ? NULL : nm_part_path(name, part_number(follow->path) + 1);
    if (next == NULL) {
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    } else if (nm_door_allows(next, R_OK)) {
        status = take_part(follow, next, err);
        *has_more = status == NM_OK;
    } else {
        nm_trace_files_visit(name, note_newest, &newest);
        follow->is_outrun = newest > part_number(follow->path) + 1;
    }
    free(name);
    free(next);
    return status;
}

/* Before a part that is there to be read has been, the recording cannot have come to an end. */
static nm_state look(const top_follow *follow)
{
    const nm_session *session = nm_trace_source_session(follow->source);

    if (session == NULL && nm_clock_monotonic_ns() - follow->opened_ns < BEGIN_NS)
        return NM_STATE_RUNNING;
    return nm_state_look(session, follow->fds[follow->fd_count - 1]);
}

static bool is_known_dead(const top_follow *follow, nm_state state)
{
    return state == NM_STATE_KILLED || state == NM_STATE_CUT || nm_trace_source_session(follow->source) == NULL;
}

nm_status top_follow_look(top_follow *follow, bool *has_more, nm_error *err)
{
    nm_status status = NM_OK;

    *has_more = false;
    nm_source_summary(follow->source, &follow->summary);
    if (!follow->is_settled && !follow->summary.is_finished) {
        nm_state state = look(follow); /* before the next part is looked for: a recorder that is gone begins none */

        status = go_on(follow, has_more, err);
        bool is_dead = state != NM_STATE_RUNNING && is_known_dead(follow, state);
        follow->state = is_dead && *has_more ? NM_STATE_RUNNING : state;
        if (status != NM_OK || follow->is_outrun || *has_more || !is_dead)
            return status;
    }
    if (follow->summary.is_finished)
        follow->state = follow->summary.is_recovered ? NM_STATE_RECOVERED : NM_STATE_ENDED;
    *has_more = !follow->is_settled;
    if (!follow->is_settled)
        nm_trace_source_settle(follow->source);
    follow->is_settled = true;
    return status;
}

nm_state top_follow_state(const top_follow *follow)
{
    return follow->state;
}

bool top_follow_is_outrun(const top_follow *follow)
{
    return follow->is_outrun;
}

bool top_follow_is_over(const top_follow *follow)
{
    return follow->is_settled;
}

void top_follow_summary(const top_follow *follow, nm_source_summary_data *out)
{
    nm_source_summary(follow->source, out);
}

double top_follow_progress(const top_follow *follow)
{
    uint64_t bytes = 0;
    struct stat info;

    for (size_t i = 0; i < follow->fd_count; i++)
        if (fstat(follow->fds[i], &info) == 0)
            bytes += (uint64_t)info.st_size;
    return bytes == 0 ? 1 : (double)nm_source_position(follow->source) / (double)bytes;
}
