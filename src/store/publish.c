/* SPDX-License-Identifier: Apache-2.0
 *
 * A file gets its name by a rename after it has been synced, and the folder is synced then: a reader finds the old one
 * or the new one. Whether a draft still has an owner is told by its lock, or by its number where there are no locks. A folder
 * of files has a mark in it that carries the lock, and that says that what lies beside it is ours to remove: whoever may
 * write to the folder around can give any folder the name of a draft.
 */
#include "store/publish.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/text.h"
#include "base/trust.h"
#include "store/cleanup.h"

#define SCRATCH_SUFFIX ".rows"
#define MARK_NAME      ".npumem"

/* ---- May it stand there? -------------------------------------------------------------------------------------------- */

static nm_status check_no_journal(int folder, const char *name, nm_error *err)
{
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    char beside[PATH_MAX];
    struct stat info;

    for (size_t index = 0; index < sizeof suffixes / sizeof suffixes[0]; index++) {
        if (snprintf(beside, sizeof beside, "%s%s", name, suffixes[index]) >= (int)sizeof beside)
            return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
        if (nm_door_look_at(folder, beside, &info))
            return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET,
                           "%s of another database lies beside it: somebody uses it, or it needs recovery",
                           suffixes[index]);
    }
    return NM_OK;
}

static nm_status check_name(int folder, const char *name, bool is_forced, int input_fd, nm_error *err)
{
    struct stat info;

    if (!nm_door_look_at(folder, name, &info))
        return check_no_journal(folder, name, err);
    if (input_fd >= 0 && nm_door_is_at(folder, name, input_fd))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is the input itself");
    if (!S_ISREG(info.st_mode))
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is %s, not a file",
                       S_ISDIR(info.st_mode)   ? "a folder"
                       : S_ISLNK(info.st_mode) ? "a symbolic link"
                                               : "a device or pipe");
    if (!is_forced)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is already there (--force replaces it)");
    return check_no_journal(folder, name, err);
}

/* Where there is no folder, who makes the file says so. */
nm_status nm_output_check(const char *path, bool is_forced, int input_fd, nm_error *err)
{
    const char *name;

    if (path[0] == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "the output has no name");
    int folder = nm_door_folder_of(path, &name);
    nm_status status = folder < 0 ? NM_OK : check_name(folder, name, is_forced, input_fd, err);
    nm_io_close(folder);
    return status;
}

/* ---- What others left ----------------------------------------------------------------------------------------------- */

/* Is `name` BASE.PID.tmp of a process that is no more, or what nm_output_scratch could not unlink? */
static bool is_stale_name(const char *name, const char *base)
{
    size_t length = strlen(base);
    char *end = NULL;

    if (strncmp(name, base, length) != 0 || name[length] != '.' || !isdigit((unsigned char)name[length + 1]))
        return false;
    errno = 0;
    long pid = strtol(name + length + 1, &end, 10);
    bool is_ours = strcmp(end, ".tmp") == 0 || strcmp(end, ".tmp" SCRATCH_SUFFIX) == 0;
    return errno == 0 && is_ours && pid > 0 && pid <= INT_MAX && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static bool is_ours(int fd, mode_t type)
{
    struct stat info;

    return fstat(fd, &info) == 0 && (info.st_mode & S_IFMT) == type && nm_trust_is_ours(&info, geteuid());
}

/* Opens a file that is ours and that nobody holds. A process of another container has a number that means nothing here: the
 * lock on its file says that it lives. */
static int open_forsaken(int folder, const char *name)
{
    int fd = -1;

    if (nm_door_open_at(folder, name, O_RDONLY | O_NONBLOCK, 0, &fd, NULL) != NM_OK)
        return -1;
    if (is_ours(fd, S_IFREG) && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    nm_io_close(fd);
    return -1;
}

static void remove_stale_file(int folder, const char *name)
{
    int fd = open_forsaken(folder, name);

    if (fd >= 0 && nm_door_is_at(folder, name, fd))
        nm_door_remove_at(folder, name);
    nm_io_close(fd);
}

static void remove_stale_folder(int folder, const char *name)
{
    int fd = nm_door_folder_at(folder, name);
    int mark = fd >= 0 && is_ours(fd, S_IFDIR) ? open_forsaken(fd, MARK_NAME) : -1;

    if (mark >= 0)
        nm_door_remove_folder_at(folder, name, fd, 1);
    nm_io_close(mark);
    nm_io_close(fd);
}

static void sweep(int folder, const char *base)
{
    DIR *entries = folder < 0 ? NULL : nm_door_list_at(folder);
    const struct dirent *entry;
    struct stat info;

    if (entries == NULL)
        return;
    while ((entry = readdir(entries)) != NULL) {
        if (!is_stale_name(entry->d_name, base) || !nm_door_look_at(folder, entry->d_name, &info))
            continue;
        if (S_ISREG(info.st_mode)) /* which of the two, that is all: each judges what it opens */
            remove_stale_file(folder, entry->d_name);
        else if (S_ISDIR(info.st_mode))
            remove_stale_folder(folder, entry->d_name);
    }
    closedir(entries);
}

void nm_output_sweep(const char *path)
{
    const char *name;
    int folder = nm_door_folder_of(path, &name);

    sweep(folder, name);
    nm_io_close(folder);
}

/* ---- A draft -------------------------------------------------------------------------------------------------------- */

static nm_status name_draft(const char *path, nm_draft *out, nm_error *err)
{
    const char *name;

    *out = (nm_draft){.path = strdup(path), .folder = -1, .fd = -1, .mark_fd = -1};
    if (out->path == NULL || asprintf(&out->temporary_path, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        out->temporary_path = NULL;
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    out->folder = nm_door_folder_of(out->path, &name);
    if (out->folder < 0)
        return nm_fail_errno(err, errno, "cannot open");
    sweep(out->folder, name);
    return NM_OK;
}

/* What could not be made is not to be removed. */
static nm_status forget_draft(nm_draft *draft, nm_status status)
{
    if (status != NM_OK && draft->fd < 0) {
        free(draft->temporary_path);
        draft->temporary_path = NULL;
    }
    return status;
}

nm_status nm_draft_begin(const char *path, nm_draft *out, nm_error *err)
{
    nm_status status = name_draft(path, out, err);
    const char *name = out->temporary_path == NULL ? NULL : nm_path_name(out->temporary_path);

    if (status == NM_OK)
        status = nm_cleanup_add(out->folder, name, -1, err);
    if (status == NM_OK) {
        status = nm_door_open_at(out->folder, name, O_RDWR | O_CREAT | O_EXCL, 0666, &out->fd, err);
        if (status != NM_OK)
            nm_cleanup_forget(out->folder, name);
    }
    out->mark_fd = out->fd;
    if (status == NM_OK)
        flock(out->fd, LOCK_EX | LOCK_NB); /* where the file system has no locks, a living number must do */
    return forget_draft(out, status);
}

/* Twice on the list: from before it is there, and as what is to be emptied. */
nm_status nm_draft_begin_folder(const char *path, nm_draft *out, nm_error *err)
{
    nm_status status = name_draft(path, out, err);
    const char *name = out->temporary_path == NULL ? NULL : nm_path_name(out->temporary_path);

    out->is_folder = true;
    if (status == NM_OK)
        status = nm_cleanup_add(out->folder, name, -1, err);
    if (status == NM_OK && (nm_door_make_folder_at(out->folder, name, 0777) != 0 ||
                            (out->fd = nm_door_folder_at(out->folder, name)) < 0)) {
        status = nm_fail_write(err, errno);
        nm_cleanup_forget(out->folder, name);
    }
    if (status == NM_OK)
        status = nm_cleanup_add(out->folder, name, out->fd, err);
    if (status == NM_OK)
        status = nm_door_open_at(out->fd, MARK_NAME, O_RDWR | O_CREAT | O_EXCL, 0600, &out->mark_fd, err);
    if (status == NM_OK)
        flock(out->mark_fd, LOCK_EX | LOCK_NB);
    return forget_draft(out, status);
}

static FILE *stream_of(int fd)
{
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");

    if (file == NULL)
        nm_io_close(fd);
    return file;
}

FILE *nm_draft_stream(const nm_draft *draft)
{
    return stream_of(fcntl(draft->fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
}

FILE *nm_draft_file(const nm_draft *draft, const char *name)
{
    int fd = -1;

    nm_door_open_at(draft->fd, name, O_WRONLY | O_CREAT | O_EXCL, 0666, &fd, NULL);
    return stream_of(fd);
}

/* Where the file system has no files without a name, it has one until it is open. */
nm_status nm_output_scratch(const char *temporary, int *fd, nm_error *err)
{
    char scratch[PATH_MAX];
    const char *name;
    int folder = nm_door_folder_of(temporary, &name);
    nm_status status = NM_OK;

    *fd = -1;
    if (snprintf(scratch, sizeof scratch, "%s" SCRATCH_SUFFIX, name) >= (int)sizeof scratch)
        status = nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
    if (status == NM_OK && nm_door_open_at(folder, ".", O_TMPFILE | O_RDWR, 0600, fd, NULL) != NM_OK) {
        status = nm_door_open_at(folder, scratch, O_CREAT | O_EXCL | O_RDWR, 0600, fd, err);
        if (status == NM_OK)
            nm_door_remove_at(folder, scratch);
    }
    nm_io_close(folder);
    return status;
}

/* ---- Its place ------------------------------------------------------------------------------------------------------ */

static nm_status check_same(const nm_draft *draft, const char *name, nm_error *err)
{
    return nm_door_is_at(draft->folder, name, draft->fd)
               ? NM_OK
               : nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "somebody has put another file in the place of the new one");
}

/* Ours had the place, and another process of this user has put a file of its own there since, as --force allows: which looks
 * as if it had come later. */
static bool is_replaced_by_own(const nm_draft *draft, const char *name)
{
    struct stat ours, there;

    return fstat(draft->fd, &ours) == 0 && ours.st_nlink == 0 && nm_door_look_at(draft->folder, name, &there) &&
           S_ISREG(there.st_mode) && there.st_uid == geteuid() && there.st_nlink == 1;
}

/* Looked at before and after: what is between them cannot be prevented, but it is not taken for ours. */
nm_status nm_draft_publish(nm_draft *draft, bool is_forced, nm_error *err)
{
    const char *temporary = nm_path_name(draft->temporary_path), *name = nm_path_name(draft->path);
    nm_status status = nm_io_sync(draft->fd, err);

    if (status == NM_OK)
        status = check_same(draft, temporary, err);
    if (status == NM_OK)
        status = nm_door_move(draft->folder, temporary, draft->folder, name, is_forced, err);
    if (status != NM_OK)
        return status;
    nm_cleanup_forget(draft->folder, temporary);
    free(draft->temporary_path);
    draft->temporary_path = NULL;
    return is_forced && is_replaced_by_own(draft, name) ? NM_OK : check_same(draft, name, err);
}

nm_status nm_draft_publish_files(nm_draft *draft, char *const *names, size_t count, bool is_forced, nm_error *err)
{
    const char *name = nm_path_name(draft->path);
    bool is_link;
    int to = -1;

    if (nm_door_make_folder_at(draft->folder, name, 0777) != 0 && errno != EEXIST)
        return nm_name_written(nm_fail_write(err, errno), draft->path, err);
    nm_status status = nm_door_open_named(draft->folder, name, O_PATH | O_DIRECTORY, 0, &is_link, &to, err);
    for (size_t i = 0; i < count && status == NM_OK; i++)
        status = nm_door_move(draft->fd, names[i], to, names[i], is_forced, err);
    nm_io_close(to);
    return nm_name_written(status, draft->path, err);
}

void nm_draft_end(nm_draft *draft)
{
    if (draft->temporary_path != NULL)
        nm_cleanup_remove(draft->folder, nm_path_name(draft->temporary_path));
    if (draft->path != NULL) {
        if (draft->mark_fd != draft->fd)
            nm_io_close(draft->mark_fd);
        nm_io_close(draft->fd);
        nm_io_close(draft->folder);
    }
    free(draft->temporary_path);
    free(draft->path);
    *draft = (nm_draft){0};
}

nm_status nm_output_settle(const char *path, nm_error *err)
{
    nm_error cause;

    if (nm_io_sync_folder(path, &cause) == NM_OK)
        return NM_OK;
    return nm_fail(err, cause.status, NM_NO_OFFSET,
                   "is in its place, but a crash of the machine may undo that: its folder: %.60s", cause.text);
}
