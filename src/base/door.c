/* SPDX-License-Identifier: Apache-2.0
 *
 * Thin: what each call of the kernel's is here is its form with a descriptor, with the flags that nobody may forget. Folders
 * are held by O_PATH, which asks for no right to list them. What a signal's handler calls takes no memory: entries are read
 * by the system call itself.
 */
#include "base/door.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/io.h"

#define ENTRIES_BYTES 4096
#define PROC_MAGIC    0x9fa0 /* PROC_SUPER_MAGIC */

/* ---- Paths of the user ---------------------------------------------------------------------------------------------- */

bool nm_door_look(const char *path, struct stat *info)
{
    return stat(path, info) == 0;
}

bool nm_door_is_same(const char *a, const char *b)
{
    struct stat first, second;

    return nm_door_look(a, &first) && nm_door_look(b, &second) && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

bool nm_door_leads_to(const char *path, mode_t type)
{
    struct stat info;

    return stat(path, &info) == 0 && (info.st_mode & S_IFMT) == type;
}

bool nm_door_allows(const char *path, int rights)
{
    return access(path, rights) == 0;
}

bool nm_door_resolve(const char *path, char resolved[PATH_MAX])
{
    return realpath(path, resolved) != NULL;
}

nm_status nm_door_open_file(const char *path, int *fd, struct stat *info, nm_error *err)
{
    nm_status status = nm_io_open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, fd, err);

    if (status != NM_OK)
        return status;
    if (fstat(*fd, info) == 0 && S_ISREG(info->st_mode))
        return NM_OK;
    nm_io_close(*fd);
    *fd = -1;
    return nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a file");
}

FILE *nm_door_stream(const char *path)
{
    int fd = -1;
    FILE *file = nm_io_open(path, O_RDONLY, 0, &fd, NULL) == NM_OK ? fdopen(fd, "r") : NULL;

    if (file == NULL)
        nm_io_close(fd);
    return file;
}

static int open_folder(int folder, const char *path, int flags)
{
    int fd;

    do
        fd = nm_io.openat(folder, path, flags | O_DIRECTORY | O_CLOEXEC, 0);
    while (fd < 0 && errno == EINTR);
    return fd;
}

int nm_door_folder(const char *path)
{
    return open_folder(AT_FDCWD, path == NULL ? "" : path, O_PATH);
}

int nm_door_folder_of(const char *path, const char **name)
{
    const char *slash = strrchr(path, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - path);
    char parent[PATH_MAX];

    *name = slash == NULL ? path : slash + 1;
    if (slash != NULL && slash[1] == 0)
        *name = ".";
    if (slash == NULL)
        return nm_door_folder(path[0] == 0 ? "" : ".");
    if (len >= sizeof parent) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(parent, path, len);
    parent[len] = 0;
    return nm_door_folder(len == 0 ? "/" : parent);
}

DIR *nm_door_list(const char *path)
{
    int folder = open_folder(AT_FDCWD, path, O_RDONLY | O_NONBLOCK);
    DIR *list = folder < 0 ? NULL : fdopendir(folder);

    if (list == NULL)
        nm_io_close(folder);
    return list;
}

int nm_door_remove(const char *path)
{
    const char *name;
    int folder = nm_door_folder_of(path, &name);
    int result = folder < 0 ? -1 : nm_door_remove_at(folder, name), failure = errno;

    nm_io_close(folder);
    errno = failure;
    return result;
}

void nm_door_take_back(const char *path, int fd)
{
    const char *name;
    int folder = nm_door_folder_of(path, &name);

    if (folder >= 0 && nm_door_is_at(folder, name, fd))
        nm_door_remove_at(folder, name);
    nm_io_close(folder);
}

/* A link's text, or "" where the kernel alone follows it: those of /proc lead to what has no path, and nobody exchanges them. */
static nm_status read_link(int link, const struct stat *info, char target[PATH_MAX], nm_error *err)
{
    struct statfs system;

    target[0] = 0;
    if (fstatfs(link, &system) == 0 && system.f_type == PROC_MAGIC)
        return NM_OK;
    if (info->st_uid != geteuid() && info->st_uid != 0)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "is a link of another user, which is not followed");
    ssize_t len = readlinkat(link, "", target, PATH_MAX - 1);
    if (len < 0)
        return nm_fail_errno(err, errno, "cannot open");
    target[len] = 0;
    return NM_OK;
}

/* The link that was judged is the one that is read, whatever has its name by then. */
nm_status nm_door_open_named(int folder, const char *name, int flags, mode_t mode, bool *is_link, int *fd,
                             nm_error *err)
{
    char target[PATH_MAX];
    struct stat info;
    nm_status status = NM_OK;
    int held = nm_io.openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);

    *fd = -1;
    *is_link = held >= 0 && fstat(held, &info) == 0 && S_ISLNK(info.st_mode);
    if (*is_link)
        status = read_link(held, &info, target, err);
    nm_io_close(held);
    if (status != NM_OK)
        return status;
    return *is_link ? nm_io_open_at(folder, target[0] == 0 ? name : target, flags, mode, fd, err)
                    : nm_door_open_at(folder, name, flags, mode, fd, err);
}

nm_status nm_door_make_temporary(const char *stem, char path[PATH_MAX], int *folder, nm_error *err)
{
    const char *place = nm_io_temporary_folder();
    char made[PATH_MAX];

    *folder = -1;
    path[0] = 0;
    if (snprintf(made, sizeof made, "%s/%s-XXXXXX", place, stem) >= (int)sizeof made)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the path of the temporary folder is too long");
    if (mkdtemp(made) == NULL)
        return nm_name_written(nm_fail_write(err, errno), place, err);
    *folder = open_folder(AT_FDCWD, made, O_RDONLY | O_NOFOLLOW);
    if (*folder < 0)
        return nm_name_written(nm_fail_write(err, errno), place, err);
    strcpy(path, made);
    return NM_OK;
}

/* ---- What is handed over -------------------------------------------------------------------------------------------- */

static const char handed[] = "/proc/self/fd/";

/* One name after the other: O_NOFOLLOW is of the last one alone. O_PATH opens a link itself. */
int nm_door_hold_below(int folder, const char *path)
{
    int fd = open_folder(folder, ".", O_PATH), next;
    char name[NAME_MAX + 1];
    struct stat info;

    while (fd >= 0 && *(path += strspn(path, "/")) != 0) {
        size_t len = strcspn(path, "/");
        bool is_name = len < sizeof name && (len != 2 || strncmp(path, "..", len) != 0);

        snprintf(name, sizeof name, "%.*s", (int)(is_name ? len : 0), path);
        path += len;
        next = nm_io.openat(fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC, 0);
        if (next >= 0 && fstat(next, &info) == 0 && S_ISLNK(info.st_mode)) {
            nm_io_close(next);
            next = -1;
            errno = ELOOP;
        }
        int failure = errno;
        nm_io_close(fd);
        errno = failure;
        fd = next;
    }
    return fd;
}

void nm_door_hand(int fd, char path[NM_DOOR_HANDED_BYTES])
{
    snprintf(path, NM_DOOR_HANDED_BYTES, "%s%d", handed, fd);
}

bool nm_door_is_handed(const char *path)
{
    return strncmp(path, handed, sizeof handed - 1) == 0;
}

int nm_door_read_flags(const char *path)
{
    return nm_door_is_handed(path) && strchr(path + sizeof handed - 1, '/') != NULL ? O_NOFOLLOW : 0;
}

void nm_door_keep_handed(const char *path)
{
    if (nm_door_is_handed(path))
        fcntl(atoi(path + sizeof handed - 1), F_SETFD, 0);
}

const char *nm_door_name(const char *path, char name[PATH_MAX])
{
    char own[NM_DOOR_HANDED_BYTES];

    if (!nm_door_is_handed(path))
        return path;
    nm_door_hand(atoi(path + sizeof handed - 1), own);
    ssize_t len = readlink(own, name, PATH_MAX);
    int added = len <= 0 ? -1 : snprintf(name + len, PATH_MAX - (size_t)len, "%s", path + strlen(own));
    return added < 0 || (size_t)(len + added) >= PATH_MAX ? path : name;
}

/* ---- Names in an open folder ---------------------------------------------------------------------------------------- */

nm_status nm_door_open_at(int folder, const char *name, int flags, mode_t mode, int *fd, nm_error *err)
{
    return nm_io_open_at(folder, name, flags | O_NOFOLLOW, mode, fd, err);
}

int nm_door_folder_at(int folder, const char *name)
{
    return open_folder(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
}

bool nm_door_look_at(int folder, const char *name, struct stat *info)
{
    return fstatat(folder, name, info, AT_SYMLINK_NOFOLLOW) == 0;
}

bool nm_door_leads_to_at(int folder, const char *name, mode_t type)
{
    struct stat info;

    return fstatat(folder, name, &info, 0) == 0 && (info.st_mode & S_IFMT) == type;
}

bool nm_door_is_at(int folder, const char *name, int fd)
{
    struct stat open, there;

    return fstat(fd, &open) == 0 && nm_door_look_at(folder, name, &there) && open.st_dev == there.st_dev &&
           open.st_ino == there.st_ino;
}

DIR *nm_door_list_at(int folder)
{
    int again = open_folder(folder, ".", O_RDONLY);
    DIR *list = again < 0 ? NULL : fdopendir(again);

    if (list == NULL)
        nm_io_close(again);
    return list;
}

int nm_door_make_folder_at(int folder, const char *name, mode_t mode)
{
    return nm_io.mkdirat(folder, name, mode);
}

/* Some file systems do not know the flag: who calls has looked. */
nm_status nm_door_move(int from_folder, const char *from, int to_folder, const char *to, bool is_forced, nm_error *err)
{
    int result = nm_io.renameat2(from_folder, from, to_folder, to, is_forced ? 0 : RENAME_NOREPLACE);

    if (result != 0 && !is_forced && errno == EEXIST)
        return nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "has appeared meanwhile (--force replaces it)");
    if (result != 0 && !is_forced && (errno == EINVAL || errno == ENOSYS))
        result = nm_io.renameat2(from_folder, from, to_folder, to, 0);
    return result == 0 ? NM_OK : nm_fail_errno(err, errno, "cannot rename");
}

int nm_door_remove_at(int folder, const char *name)
{
    return nm_io.unlinkat(folder, name, 0);
}

/* ---- Removing folders ----------------------------------------------------------------------------------------------- */

/* As getdents64(2) gives it. */
typedef struct kernel_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t entry_bytes;
    uint8_t type;
    char name[];
} kernel_entry;

static bool is_dots(const char *name)
{
    return name[0] == '.' && (name[1] == 0 || (name[1] == '.' && name[2] == 0));
}

static void remove_entry(int folder, const char *name, unsigned levels)
{
    if (is_dots(name) || nm_io.unlinkat(folder, name, 0) == 0 || levels < 2)
        return;
    int below = nm_door_folder_at(folder, name);
    if (below >= 0)
        nm_door_remove_folder_at(folder, name, below, levels - 1);
    nm_io_close(below);
}

void nm_door_empty(int folder, unsigned levels)
{
    _Alignas(kernel_entry) char entries[ENTRIES_BYTES];
    int list = levels == 0 ? -1 : open_folder(folder, ".", O_RDONLY);
    long got;

    while (list >= 0 && (got = syscall(SYS_getdents64, list, entries, sizeof entries)) > 0)
        for (long at = 0; at < got;) {
            const kernel_entry *entry = (const kernel_entry *)(const void *)(entries + at);

            remove_entry(folder, entry->name, levels);
            at += entry->entry_bytes;
        }
    nm_io_close(list);
}

void nm_door_remove_folder_at(int folder, const char *name, int fd, unsigned levels)
{
    nm_door_empty(fd, levels);
    if (nm_door_is_at(folder, name, fd))
        nm_io.unlinkat(folder, name, AT_REMOVEDIR);
}
