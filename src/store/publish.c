/* SPDX-License-Identifier: Apache-2.0
 *
 * A file gets its name by a rename after it has been synced, and the folder is synced then: a reader finds the old one
 * or the new one. Whether a temporary file still has an owner is told by its lock, or by its number where there are no
 * locks.
 */
#include "store/publish.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

static nm_status check_no_journal(const char *path, nm_error *err)
{
    static const char *const suffixes[] = {"-journal", "-wal", "-shm"};
    char beside[PATH_MAX];
    struct stat info;

    for (size_t index = 0; index < sizeof suffixes / sizeof suffixes[0]; index++) {
        if (snprintf(beside, sizeof beside, "%s%s", path, suffixes[index]) >= (int)sizeof beside)
            return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
        if (lstat(beside, &info) == 0)
            return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET,
                           "%s of another database lies beside it: somebody uses it, or it needs recovery",
                           suffixes[index]);
    }
    return NM_OK;
}

nm_status nm_output_check(const char *path, bool is_forced, int input_fd, nm_error *err)
{
    struct stat info;
    struct stat input;

    if (path[0] == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "the output has no name");
    if (lstat(path, &info) != 0)
        return check_no_journal(path, err);
    if (input_fd >= 0 && fstat(input_fd, &input) == 0 && input.st_dev == info.st_dev && input.st_ino == info.st_ino)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "is the input itself");
    if (!S_ISREG(info.st_mode))
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is %s, not a file",
                       S_ISDIR(info.st_mode)   ? "a folder"
                       : S_ISLNK(info.st_mode) ? "a symbolic link"
                                               : "a device or pipe");
    if (!is_forced)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is already there (--force replaces it)");
    return check_no_journal(path, err);
}

nm_status nm_output_temporary(const char *path, char **out, nm_error *err)
{
    if (asprintf(out, "%s.%ld.tmp", path, (long)getpid()) < 0) {
        *out = NULL;
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    return NM_OK;
}

#define SCRATCH_SUFFIX ".rows"

/* Where the file system has no files without a name, it has one until it is open. */
nm_status nm_output_scratch(const char *temporary, int *fd, nm_error *err)
{
    char path[PATH_MAX];

    if (snprintf(path, sizeof path, "%s" SCRATCH_SUFFIX, temporary) >= (int)sizeof path)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
    if (nm_io_open(dirname(path), O_TMPFILE | O_RDWR, 0600, fd, NULL) == NM_OK)
        return NM_OK;
    snprintf(path, sizeof path, "%s" SCRATCH_SUFFIX, temporary);
    nm_status status = nm_io_open(path, O_CREAT | O_EXCL | O_RDWR, 0600, fd, err);
    if (status == NM_OK)
        unlink(path);
    return status;
}

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

/* A process of another container has a number that means nothing here: the lock on its file says that it lives. */
static bool is_locked(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    bool is_held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0;

    if (fd >= 0)
        close(fd);
    return is_held;
}

static void remove_stale(const char *path)
{
    struct stat info;

    if (lstat(path, &info) != 0 || is_locked(path))
        return;
    if (S_ISREG(info.st_mode))
        unlink(path);
    else if (S_ISDIR(info.st_mode))
        nm_output_remove_folder(path);
}

void nm_output_sweep(const char *path)
{
    char for_folder[PATH_MAX];
    char for_base[PATH_MAX];
    char found[PATH_MAX];

    if (snprintf(for_folder, sizeof for_folder, "%s", path) >= (int)sizeof for_folder)
        return;
    memcpy(for_base, for_folder, sizeof for_base);
    const char *folder = dirname(for_folder);
    const char *base = basename(for_base);
    DIR *entries = opendir(folder);
    if (entries == NULL)
        return;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (is_stale_name(entry->d_name, base) &&
            snprintf(found, sizeof found, "%s/%s", folder, entry->d_name) < (int)sizeof found)
            remove_stale(found);
    }
    closedir(entries);
}

void nm_output_remove_folder(const char *path)
{
    DIR *entries = opendir(path);

    if (entries == NULL)
        return;
    for (const struct dirent *entry = readdir(entries); entry != NULL; entry = readdir(entries)) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            unlinkat(dirfd(entries), entry->d_name, 0);
    }
    closedir(entries);
    rmdir(path);
}

static nm_status rename_to_free_name(const char *from, const char *to, nm_error *err)
{
    if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
        return NM_OK;
    if (errno == EEXIST)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "has appeared meanwhile (--force replaces it)");
    if (errno != EINVAL && errno != ENOSYS)
        return nm_fail_errno(err, errno, "cannot rename");
    return nm_io_replace(from, to, err); /* a file system without that flag: nm_output_check has looked */
}

nm_status nm_output_publish(const char *temporary, const char *path, bool is_forced, nm_error *err)
{
    nm_status status = nm_io_sync_path(temporary, err);

    if (status == NM_OK)
        status = is_forced ? nm_io_replace(temporary, path, err) : rename_to_free_name(temporary, path, err);
    return status;
}

nm_status nm_output_settle(const char *path, nm_error *err)
{
    nm_error cause;

    if (nm_io_sync_folder(path, &cause) == NM_OK)
        return NM_OK;
    return nm_fail(err, cause.status, NM_NO_OFFSET,
                   "is in its place, but a crash of the machine may undo that: its folder: %.60s", cause.text);
}
