/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: something happens in place of one call of the process that changes a file or the name of one. Calls are counted
 * from 1. What it starts itself has no such library.
 *
 *     AT_CALL=N[+]          that call, or that one and all after it
 *     AT_CALL_DOES=WHAT     kill: SIGKILL (the default); short: half of what is written or read; a number: that error
 *     AT_CALL_READS=1       calls that read a file count, and not those that change one
 *     AT_CALL_COUNT=FILE    how many there were is written there at the end
 *     AT_CALL_LOG=FILE      what each call has done is written there, for who plays what a power cut leaves (one line each, by
 *                           device and inode: `write FILE OFFSET BYTES` and the bytes themselves, `cut FILE BYTES`,
 *                           `sync FILE`, `open FILE PATH`, `move FROM TAB TO`, `remove PATH`)
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define NEXT(name, ...)                                                                                                \
    ((int (*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)) /* of those that give a number of another size, cast by hand */

static atomic_long call_count;
static const char *what;
static long first_call;
static int is_sticky, is_reading;
static FILE *log_file;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

__attribute__((constructor)) static void read_environment(void)
{
    const char *at = getenv("AT_CALL"), *log = getenv("AT_CALL_LOG");
    char *end = NULL;

    what = getenv("AT_CALL_DOES");
    first_call = at == NULL ? 0 : strtol(at, &end, 10);
    is_sticky = end != NULL && *end == '+';
    is_reading = getenv("AT_CALL_READS") != NULL;
    log_file = log == NULL ? NULL : fopen(log, "we");
    unsetenv("LD_PRELOAD");
}

__attribute__((destructor)) static void write_count(void)
{
    const char *path = getenv("AT_CALL_COUNT");
    FILE *file = path == NULL ? NULL : fopen(path, "we");

    if (log_file != NULL)
        fflush(log_file);
    if (file == NULL)
        return;
    fprintf(file, "%ld\n", atomic_load(&call_count));
    fclose(file);
}

typedef enum happening { NOTHING, SHORT, FAILURE } happening;

static happening note_call(int reads)
{
    if (reads != is_reading)
        return NOTHING;
    long number = atomic_fetch_add(&call_count, 1) + 1;
    if (first_call == 0 || (number != first_call && !(is_sticky && number > first_call)))
        return NOTHING;
    if (what == NULL || strcmp(what, "kill") == 0)
        kill(getpid(), SIGKILL);
    if (what != NULL && strcmp(what, "short") == 0)
        return SHORT;
    errno = what == NULL ? EIO : atoi(what);
    return FAILURE;
}

/* ---- The log ------------------------------------------------------------------------------------------------------- */

#define LOG(...)                                                                                                       \
    do {                                                                                                               \
        int error = errno;                                                                                             \
        if (log_file != NULL) {                                                                                        \
            pthread_mutex_lock(&log_lock);                                                                             \
            __VA_ARGS__;                                                                                               \
            pthread_mutex_unlock(&log_lock);                                                                           \
        }                                                                                                              \
        errno = error;                                                                                                 \
    } while (0)

static const char *file_of(int fd, char name[static 48])
{
    struct stat info = {0};

    fstat(fd, &info);
    snprintf(name, 48, "%lx.%lx", (unsigned long)info.st_dev, (unsigned long)info.st_ino);
    return name;
}

/* Of a name in a folder that is open. */
static const char *path_of(int folder, const char *name, char path[static PATH_MAX])
{
    char link[48];
    ssize_t len = 0;

    if (name[0] != '/' && folder == AT_FDCWD)
        len = getcwd(path, PATH_MAX) == NULL ? 0 : (ssize_t)strlen(path);
    else if (name[0] != '/') {
        snprintf(link, sizeof link, "/proc/self/fd/%d", folder);
        len = readlink(link, path, PATH_MAX - 1);
    }
    len = len < 0 ? 0 : len;
    snprintf(path + len, (size_t)(PATH_MAX - len), "%s%s", len > 0 ? "/" : "", name);
    return path;
}

static void log_write(int fd, const void *data, ssize_t count, off_t offset)
{
    char name[48];

    if (count <= 0 || offset < 0)
        return;
    LOG({
        fprintf(log_file, "write %s %ld %ld\n", file_of(fd, name), (long)offset, (long)count);
        fwrite(data, 1, (size_t)count, log_file);
    });
}

static void log_open(int fd, int folder, const char *name)
{
    char file[48], path[PATH_MAX];

    if (fd >= 0)
        LOG(fprintf(log_file, "open %s %s\n", file_of(fd, file), path_of(folder, name, path)));
}

/* ---- Calls that change --------------------------------------------------------------------------------------------- */

typedef ssize_t (*write_call)(int, const void *, size_t);
typedef ssize_t (*pwrite_call)(int, const void *, size_t, off_t);
typedef ssize_t (*read_call)(int, void *, size_t);
typedef ssize_t (*pread_call)(int, void *, size_t, off_t);

static size_t half(happening happens, size_t len)
{
    return happens == SHORT && len > 1 ? len / 2 : len;
}

EXPORT ssize_t write(int fd, const void *data, size_t len)
{
    happening happens = note_call(0);
    ssize_t count = happens == FAILURE ? -1 : ((write_call)dlsym(RTLD_NEXT, "write"))(fd, data, half(happens, len));

    if (log_file != NULL)
        log_write(fd, data, count, lseek(fd, 0, SEEK_CUR) - count);
    return count;
}

static ssize_t put(const char *name, int fd, const void *data, size_t len, off_t at)
{
    happening happens = note_call(0);
    ssize_t count = happens == FAILURE ? -1 : ((pwrite_call)dlsym(RTLD_NEXT, name))(fd, data, half(happens, len), at);

    log_write(fd, data, count, at);
    return count;
}

EXPORT ssize_t pwrite(int fd, const void *data, size_t len, off_t at)
{
    return put("pwrite", fd, data, len, at);
}

EXPORT ssize_t pwrite64(int fd, const void *data, size_t len, off_t at)
{
    return put("pwrite64", fd, data, len, at);
}

static int cut(int fd, off_t len)
{
    int result = note_call(0) == FAILURE ? -1 : NEXT(ftruncate, int, off_t)(fd, len);
    char file[48];

    if (result == 0)
        LOG(fprintf(log_file, "cut %s %ld\n", file_of(fd, file), (long)len));
    return result;
}

EXPORT int ftruncate(int fd, off_t len)
{
    return cut(fd, len);
}

EXPORT int ftruncate64(int fd, off_t len)
{
    return cut(fd, len);
}

static int sync_by(const char *name, int fd)
{
    int result = note_call(0) == FAILURE ? -1 : ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
    char file[48];

    if (result == 0)
        LOG(fprintf(log_file, "sync %s\n", file_of(fd, file)));
    return result;
}

EXPORT int fsync(int fd)
{
    return sync_by("fsync", fd);
}

EXPORT int fdatasync(int fd)
{
    return sync_by("fdatasync", fd);
}

EXPORT int renameat2(int from_fd, const char *from, int to_fd, const char *to, unsigned flags)
{
    int result = note_call(0) == FAILURE
                     ? -1
                     : NEXT(renameat2, int, const char *, int, const char *, unsigned)(from_fd, from, to_fd, to, flags);
    char old[PATH_MAX], new[PATH_MAX];

    if (result == 0)
        LOG(fprintf(log_file, "move %s\t%s\n", path_of(from_fd, from, old), path_of(to_fd, to, new)));
    return result;
}

EXPORT int unlinkat(int folder, const char *name, int flags)
{
    int result = note_call(0) == FAILURE ? -1 : NEXT(unlinkat, int, const char *, int)(folder, name, flags);
    char path[PATH_MAX];

    if (result == 0)
        LOG(fprintf(log_file, "remove %s\n", path_of(folder, name, path)));
    return result;
}

EXPORT int mkdirat(int folder, const char *name, mode_t mode)
{
    return note_call(0) == FAILURE ? -1 : NEXT(mkdirat, int, const char *, mode_t)(folder, name, mode);
}

/* Closed it is all the same. */
EXPORT int close(int fd)
{
    happening happens = note_call(0);
    int error = errno, result = NEXT(close, int)(fd);

    if (happens == FAILURE)
        errno = error;
    return happens == FAILURE ? -1 : result;
}

/* The mode is there only where a file may be made. */
static int open_by(const char *call, int folder, const char *name, int flags, mode_t mode)
{
    int fd = -1;

    if (note_call(0) != FAILURE)
        fd = ((int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, call))(folder, name, flags, mode);
    log_open(fd, folder, name);
    return fd;
}

#define MODE_BEHIND(last)                                                                                              \
    mode_t mode = 0;                                                                                                   \
    if ((flags & (O_CREAT | O_TMPFILE)) != 0) {                                                                        \
        va_list more;                                                                                                  \
        va_start(more, last);                                                                                          \
        mode = va_arg(more, mode_t);                                                                                   \
        va_end(more);                                                                                                  \
    }

EXPORT int open(const char *path, int flags, ...)
{
    MODE_BEHIND(flags)
    return open_by("openat", AT_FDCWD, path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    MODE_BEHIND(flags)
    return open_by("openat64", AT_FDCWD, path, flags, mode);
}

EXPORT int openat(int folder, const char *name, int flags, ...)
{
    MODE_BEHIND(flags)
    return open_by("openat", folder, name, flags, mode);
}

EXPORT int openat64(int folder, const char *name, int flags, ...)
{
    MODE_BEHIND(flags)
    return open_by("openat64", folder, name, flags, mode);
}

/* ---- Calls that read ----------------------------------------------------------------------------------------------- */

EXPORT ssize_t read(int fd, void *data, size_t len)
{
    happening happens = note_call(1);

    return happens == FAILURE ? -1 : ((read_call)dlsym(RTLD_NEXT, "read"))(fd, data, half(happens, len));
}

static ssize_t get(const char *name, int fd, void *data, size_t len, off_t at)
{
    happening happens = note_call(1);

    return happens == FAILURE ? -1 : ((pread_call)dlsym(RTLD_NEXT, name))(fd, data, half(happens, len), at);
}

EXPORT ssize_t pread(int fd, void *data, size_t len, off_t at)
{
    return get("pread", fd, data, len, at);
}

EXPORT ssize_t pread64(int fd, void *data, size_t len, off_t at)
{
    return get("pread64", fd, data, len, at);
}
