/* SPDX-License-Identifier: Apache-2.0
 *
 * SQLite lets its own call of open be replaced. What it would have opened is opened, and compared with what is expected before
 * it is handed out: so nothing is read of another file, and nothing written to it. One thread opens databases.
 */
#include "store/own_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/trust.h"
#include "store/database.h"

typedef int open_call(const char *path, int flags, int mode);

static open_call *plain_open;
static struct stat expected;
static bool is_expecting;

static int open_expected(const char *path, int flags, int mode)
{
    struct stat info;
    bool is_own = is_expecting && (flags & O_EXCL) == 0;
    int fd = plain_open(path, is_own ? flags & ~O_CREAT : flags, mode); /* it is there, or the path leads elsewhere */

    if (fd < 0 || !is_own)
        return fd;
    if (fstat(fd, &info) == 0 && info.st_dev == expected.st_dev && info.st_ino == expected.st_ino)
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

/* Where SQLite has no such call to replace, it opens as it does. */
static void expect(const struct stat *info)
{
    sqlite3_vfs *vfs = plain_open != NULL ? NULL : sqlite3_vfs_find(NULL);

    if (vfs != NULL && vfs->iVersion >= 3 && (plain_open = (open_call *)vfs->xGetSystemCall(vfs, "open")) != NULL)
        vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_expected);
    expected = *info;
    is_expecting = true;
}

nm_status nm_db_open_own(const char *path, int fd, sqlite3 **out, nm_error *err)
{
    struct stat info;

    *out = NULL;
    if (fstat(fd, &info) != 0)
        return nm_fail_errno(err, errno, "cannot open");
    expect(&info);
    nm_status status = nm_db_open(path, out, err);
    nm_own_file_end();
    return status;
}

nm_status nm_own_file_begin(const char *path, nm_error *err)
{
    struct stat info;
    const char *name;
    int folder = nm_door_folder_of(path, &name);
    bool is_own = folder >= 0 && nm_door_look_at(folder, name, &info) && S_ISREG(info.st_mode) &&
                  info.st_uid == geteuid() && info.st_nlink == 1;

    nm_io_close(folder);
    if (!is_own)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "somebody has put another file in the place of the new one");
    expect(&info);
    return NM_OK;
}

void nm_own_file_end(void)
{
    is_expecting = false;
}
