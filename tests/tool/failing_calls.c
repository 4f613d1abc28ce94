/* SPDX-License-Identifier: Apache-2.0
 *
 * Preloaded: the allocation of number NO_MEMORY_AT (from 1) of each process finds no memory: one alone, so that what the
 * program does then has all it needs, or with a + behind the number that one and all after it. NO_MEMORY_SITES=FILE: at its end
 * a process writes there the number of the first allocation of each chain of callers. With NO_FOLDER_SYNC no folder can be synced.
 */
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- Chains of callers ---------------------------------------------------------------------------------------------- */

#define SITES_MAX (1u << 16) /* a power of two */
#define FRAMES_MAX                                                                                                     \
    10 /* of a chain, from malloc on eight of them: more would tell each place in the statements of SQL apart */

static struct {
    unsigned long hash;
    long number;
} sites[SITES_MAX];
static int is_noting; /* what unwinding allocates itself is none */

static void note_site(void)
{
    void *frames[FRAMES_MAX];
    unsigned long hash = 1469598103934665603u;

    is_noting = 1;
    int count = backtrace(frames, FRAMES_MAX);
    is_noting = 0;
    for (int i = 2; i < count; i++)
        hash = (hash ^ (unsigned long)frames[i]) * 1099511628211u;
    for (unsigned long at = hash, looks = 0; looks < SITES_MAX; at++, looks++) {
        unsigned long slot = (at ^ at >> 32) % SITES_MAX;

        if (sites[slot].hash == hash)
            return;
        if (sites[slot].number == 0) {
            sites[slot].hash = hash;
            sites[slot].number = call_count;
            return;
        }
    }
}

/* Without an allocation of its own. */
__attribute__((destructor)) static void write_sites(void)
{
    const char *path = getenv("NO_MEMORY_SITES");
    int fd = path == NULL ? -1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    char text[32];

    for (unsigned i = 0; fd >= 0 && i < SITES_MAX; i++)
        if (sites[i].number != 0 && write(fd, text, (size_t)snprintf(text, sizeof text, "%ld\n", sites[i].number)) <= 0)
            abort();
    if (fd >= 0)
        close(fd);
}

/* ---- Allocations ---------------------------------------------------------------------------------------------------- */

static int is_refused(void)
{
    const char *at = getenv("NO_MEMORY_AT");
    long first = at == NULL ? 0 : atol(at);

    if (is_noting)
        return 0;
    call_count++;
    if (getenv("NO_MEMORY_SITES") != NULL)
        note_site();
    if (first == 0 || (call_count != first && (call_count < first || strchr(at, '+') == NULL)))
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
