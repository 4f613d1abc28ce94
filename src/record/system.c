/* SPDX-License-Identifier: Apache-2.0
 *
 * Thin names for system calls; see system.h for why libc's own are not used.
 */
#include "record/system.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/trust.h"
#include "record/machine.h"

#define ZERO_BYTES 4096

int nm_system_open(const char *path, int flags)
{
    return (int)nm_call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC | O_NOFOLLOW, 0600, 0, 0);
}

long nm_system_read(int fd, void *data, size_t len)
{
    long got;

    do
        got = nm_call(SYS_read, fd, (long)data, (long)len, 0, 0, 0);
    while (got == -EINTR);
    return got;
}

long nm_system_size(int fd)
{
    return nm_call(SYS_lseek, fd, 0, SEEK_END, 0, 0, 0);
}

void nm_system_close(int fd)
{
    nm_call(SYS_close, fd, 0, 0, 0, 0, 0);
}

void nm_system_unlink(const char *path)
{
    nm_call(SYS_unlinkat, AT_FDCWD, (long)path, 0, 0, 0, 0);
}

void nm_system_link(const char *target, const char *path)
{
    nm_call(SYS_symlinkat, (long)target, AT_FDCWD, (long)path, 0, 0, 0);
}

/* ---- Whom to believe ----------------------------------------------------------------------------------------------- */

bool nm_system_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0; /* every kernel gives it, so errno stays */
}

static uid_t user(void)
{
    return (uid_t)nm_call(SYS_geteuid, 0, 0, 0, 0, 0, 0);
}

long nm_system_check_own(int fd, unsigned type)
{
    struct stat info; /* the kernel's on both processors */
    long result = nm_call(SYS_fstat, fd, (long)&info, 0, 0, 0, 0);

    if (result != 0)
        return result;
    return nm_trust_is_own(&info, type, user()) ? 0 : -EPERM;
}

long nm_system_check_folder(const char *path)
{
    struct stat info; /* the kernel's on both processors */
    long result = nm_call(SYS_newfstatat, AT_FDCWD, (long)path, (long)&info, 0, 0, 0);

    if (result != 0)
        return result;
    return nm_trust_is_safe_folder(path, &info, user()) ? 0 : -EPERM;
}

long nm_system_check_parent(const char *path)
{
    char folder[NM_FOLDER_BYTES_MAX];

    if (path[0] != '/' || !nm_trust_parent(path, folder, sizeof folder))
        return -EPERM;
    return nm_system_check_folder(folder);
}

/* ---- Files and memory ---------------------------------------------------------------------------------------------- */

uint64_t nm_system_free_bytes(const char *folder)
{
    struct statfs info; /* the kernel's on both processors */

    if (nm_call(SYS_statfs, (long)folder, (long)&info, 0, 0, 0, 0) != 0)
        return UINT64_MAX;
    return (uint64_t)info.f_bavail * (uint64_t)info.f_bsize;
}

static void *mapped(long address)
{
    return address < 0 && address > -4096 ? NULL : (void *)address;
}

void *nm_system_memory(size_t len)
{
    return mapped(
        nm_call(SYS_mmap, 0, (long)len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
}

void nm_system_forget(void *memory, size_t len)
{
    nm_call(SYS_madvise, (long)memory, (long)len, MADV_DONTNEED, 0, 0, 0);
}

void nm_system_unmap(void *memory, size_t len)
{
#ifdef __SANITIZE_THREAD__ /* it must hear of it, or takes who gets the address next for a racer */
    munmap(memory, len);
#else
    nm_call(SYS_munmap, (long)memory, (long)len, 0, 0, 0, 0);
#endif
}

void *nm_system_map(int fd, size_t len)
{
    return mapped(nm_call(SYS_mmap, 0, (long)len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0));
}

/* fallocate past RLIMIT_FSIZE would raise SIGXFSZ, whose default is to kill the program. */
static bool is_over_file_limit(size_t len)
{
    struct rlimit limit;

    if (nm_call(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit, 0, 0) < 0)
        return false;
    return limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < len;
}

/* Where the file system has no fallocate: written zeros allocate as well. */
static long allocate_by_writing(int fd, size_t len)
{
    static const char zeros[ZERO_BYTES];
    size_t done = 0;

    while (done < len) {
        size_t chunk = len - done < ZERO_BYTES ? len - done : ZERO_BYTES;
        long wrote = nm_call(SYS_pwrite64, fd, (long)zeros, (long)chunk, (long)done, 0, 0);

        if (wrote == -EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? wrote : -ENOSPC;
        done += (size_t)wrote;
    }
    return 0;
}

static long allocate(int fd, size_t len)
{
    long result;

    /* Bounded: a program with a timer of high rate could interrupt it for ever, were signals not blocked. */
    do
        result = nm_call(SYS_fallocate, fd, 0, 0, (long)len, 0, 0);
    while (result == -EINTR);
    if (result == -EOPNOTSUPP || result == -ENOSYS)
        result = allocate_by_writing(fd, len);
    return result;
}

/* All of the file, and what of it has memory is present. */
static void *map_first(int fd, size_t first_len, size_t len)
{
    void *memory = mapped(nm_call(SYS_mmap, 0, (long)len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));

    /* Over itself: this cannot fail for want of addresses, and what it does is not needed to go on. */
    if (memory != NULL)
        nm_call(SYS_mmap, (long)memory, (long)first_len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_POPULATE,
                fd, 0);
    return memory;
}

long nm_system_make(const char *path, size_t first_len, size_t len, void **memory)
{
    long result;
    int fd;

    if (is_over_file_limit(len))
        return -EFBIG;
    fd = nm_system_open(path, O_CREAT | O_EXCL | O_RDWR);
    if (fd < 0)
        return fd;
    result = allocate(fd, first_len);
    if (result == 0 && len > first_len)
        result = nm_call(SYS_ftruncate, fd, (long)len, 0, 0, 0, 0);
    *memory = result == 0 ? map_first(fd, first_len, len) : NULL;
    if (result == 0 && *memory == NULL)
        result = -ENOMEM;
    nm_system_close(fd);
    if (result < 0)
        nm_system_unlink(path);
    return result;
}

int64_t nm_system_now_ns(void)
{
    struct timespec now;

    /* libc's, for the vDSO; it neither fails nor sets errno for this clock. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

void nm_system_sleep_us(unsigned us)
{
    struct timespec pause = {.tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000};

    nm_call(SYS_nanosleep, (long)&pause, 0, 0, 0, 0, 0);
}

int nm_system_pid(void)
{
    return (int)nm_call(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

int nm_system_parent_pid(void)
{
    return (int)nm_call(SYS_getppid, 0, 0, 0, 0, 0, 0);
}

size_t nm_system_read_link(const char *path, char *text, size_t limit)
{
    long got = nm_call(SYS_readlinkat, AT_FDCWD, (long)path, (long)text, (long)limit, 0, 0);

    return got > 0 ? (size_t)got : 0;
}

size_t nm_system_stack_limit(void)
{
    struct rlimit limit;

    if (nm_call(SYS_prlimit64, 0, RLIMIT_STACK, 0, (long)&limit, 0, 0) < 0 || limit.rlim_cur == RLIM_INFINITY)
        return SIZE_MAX;
    return limit.rlim_cur;
}

int nm_system_tid(void)
{
    return (int)nm_call(SYS_gettid, 0, 0, 0, 0, 0, 0);
}

void nm_system_thread_name(char name[NM_THREAD_NAME_BYTES])
{
    name[0] = 0;
    nm_call(SYS_prctl, PR_GET_NAME, (long)name, 0, 0, 0, 0);
    name[NM_THREAD_NAME_BYTES - 1] = 0;
}

uint64_t nm_system_block_signals(void)
{
    uint64_t all = UINT64_MAX, before = 0;

    nm_call(SYS_rt_sigprocmask, SIG_BLOCK, (long)&all, (long)&before, sizeof before, 0, 0);
    return before;
}

void nm_system_restore_signals(uint64_t mask)
{
    nm_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask, 0, 0);
}

bool nm_system_touch(void *address)
{
    return nm_call(SYS_rt_sigprocmask, SIG_BLOCK, 0, (long)address, sizeof(uint64_t), 0, 0) == 0;
}

bool nm_system_is_readable(const void *address)
{
    /* The kernel reads the mask before it looks at what to do with it, and that is nonsense. Unlike process_vm_readv, no
     * container forbids this call; where a program's own filter does, nothing is known to be readable. */
    return nm_call(SYS_rt_sigprocmask, -1, (long)address, 0, sizeof(uint64_t), 0, 0) == -EINVAL;
}

size_t nm_system_slurp(const char *path, char *data, size_t limit)
{
    size_t done = 0;
    long got = 1;
    int fd = (int)nm_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);

    if (fd < 0)
        return 0;
    while (done < limit && got > 0) {
        got = nm_system_read(fd, data + done, limit - done);
        if (got > 0)
            done += (size_t)got;
    }
    nm_system_close(fd);
    return done;
}
