/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: the files of this process's memory cgroup are those below OTHER_CGROUP.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int open_call(const char *path, int flags, ...);

static int open_other(const char *name, const char *path, int flags, mode_t mode)
{
    const char *folder = getenv("OTHER_CGROUP");
    bool is_cgroup = strcmp(path, "/proc/self/cgroup") == 0 || strncmp(path, "/sys/fs/cgroup", 14) == 0;
    char other[512];
    open_call *real;

    *(void **)&real = dlsym(RTLD_NEXT, name);
    snprintf(other, sizeof other, "%s%s", folder, path);
    return real(folder != NULL && is_cgroup ? other : path, flags, mode);
}

__attribute__((visibility("default"))) int open(const char *path, int flags, ...)
{
    va_list rest;

    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_other("open", path, flags, mode);
}

__attribute__((visibility("default"))) int open64(const char *path, int flags, ...)
{
    va_list rest;

    va_start(rest, flags);
    mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
    va_end(rest);
    return open_other("open64", path, flags, mode);
}
