/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: the allocation of number NO_MEMORY_AT (from 1) of each process finds no memory. One alone, so that what the
 * program does then has all it needs. With NO_FOLDER_SYNC no folder can be synced.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static long call_count;

__attribute__((visibility("default"))) void *malloc(size_t bytes);
__attribute__((visibility("default"))) void *calloc(size_t count, size_t bytes);
__attribute__((visibility("default"))) void *realloc(void *old, size_t bytes);
__attribute__((visibility("default"))) int fsync(int fd);

static int is_refused(void)
{
    const char *at = getenv("NO_MEMORY_AT");

    if (at == NULL || ++call_count != atol(at))
        return 0;
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t bytes)
{
    return is_refused() ? NULL : __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    return is_refused() ? NULL : __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    return is_refused() ? NULL : __libc_realloc(old, bytes);
}

int fsync(int fd)
{
    struct stat info;

    if (getenv("NO_FOLDER_SYNC") != NULL && fstat(fd, &info) == 0 && S_ISDIR(info.st_mode)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fsync, fd);
}
