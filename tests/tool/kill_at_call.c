/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: the process is ended by SIGKILL in place of its call of number KILL_AT (from 1) that changes a file or the name of
 * one. With KILL_COUNT, the name of a file, it writes there at its end how many these were.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

static long call_count;

static void note_call(void)
{
    const char *at = getenv("KILL_AT");

    call_count++;
    if (at != NULL && call_count == atol(at))
        kill(getpid(), SIGKILL);
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("KILL_COUNT");
    FILE *file = path == NULL ? NULL : fopen(path, "w");

    if (file == NULL)
        return;
    fprintf(file, "%ld\n", call_count);
    fclose(file);
}

/* CALL(what it gives, its name, (parameters), (arguments)) */
#define CALL(type, name, parameters, arguments)                                                                        \
    __attribute__((visibility("default"))) type name parameters;                                                       \
    type name parameters                                                                                               \
    {                                                                                                                  \
        type(*next) parameters = (type(*) parameters)dlsym(RTLD_NEXT, #name);                                          \
                                                                                                                       \
        note_call();                                                                                                   \
        return next arguments;                                                                                         \
    }

CALL(ssize_t, write, (int fd, const void *data, size_t len), (fd, data, len))
CALL(ssize_t, pwrite, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
CALL(ssize_t, pwrite64, (int fd, const void *data, size_t len, off_t at), (fd, data, len, at))
CALL(int, ftruncate, (int fd, off_t len), (fd, len))
CALL(int, ftruncate64, (int fd, off_t len), (fd, len))
CALL(int, fsync, (int fd), (fd))
CALL(int, fdatasync, (int fd), (fd))
CALL(int, renameat2, (int from_fd, const char *from, int to_fd, const char *to, unsigned flags),
     (from_fd, from, to_fd, to, flags))
CALL(int, unlinkat, (int folder, const char *name, int flags), (folder, name, flags))
CALL(int, mkdirat, (int folder, const char *name, mode_t mode), (folder, name, mode))
CALL(int, close, (int fd), (fd))

/* The mode is there only where a file may be made. */
#define CALL_OPEN(name, parameters, arguments)                                                                         \
    __attribute__((visibility("default"))) int name parameters;                                                        \
    int name parameters                                                                                                \
    {                                                                                                                  \
        int(*next) parameters = (int(*) parameters)dlsym(RTLD_NEXT, #name);                                            \
        va_list more;                                                                                                  \
        unsigned mode = 0;                                                                                             \
                                                                                                                       \
        note_call();                                                                                                   \
        if ((flags & (O_CREAT | O_TMPFILE)) != 0) {                                                                    \
            va_start(more, flags);                                                                                     \
            mode = va_arg(more, unsigned);                                                                             \
            va_end(more);                                                                                              \
        }                                                                                                              \
        return next arguments;                                                                                         \
    }

CALL_OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
CALL_OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
CALL_OPEN(openat, (int folder, const char *name, int flags, ...), (folder, name, flags, mode))
CALL_OPEN(openat64, (int folder, const char *name, int flags, ...), (folder, name, flags, mode))
