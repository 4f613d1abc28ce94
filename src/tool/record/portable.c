/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiled into the npumem-record of the tarball alone, which is to run on a libc older than the one it was built with. What
 * the linker would bind to a newer version of libc is bound here (--wrap, in cmake/NpumemPortable.cmake) to the version that
 * all have, or done without libc. A function that turns up newly needs a line here; the test of the tarball says which.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define FIRST_VERSION "GLIBC_2.2.5"
#else
#define FIRST_VERSION "GLIBC_2.17"
#endif

/* On x86-64 this function came after the first version. */
#if defined(__x86_64__)
#define SETCLOCK_VERSION "GLIBC_2.3.3"
#else
#define SETCLOCK_VERSION FIRST_VERSION
#endif

#define BIND(result, name, parameters, arguments) BIND_AT(FIRST_VERSION, result, name, parameters, arguments)

/* old_NAME: the first version of NAME. __wrap_NAME is what all calls of NAME in the program become. */
#define BIND_AT(version, result, name, parameters, arguments)                                                          \
    result old_##name parameters;                                                                                      \
    __asm__(".symver old_" #name ", " #name "@" version);                                                              \
    result __wrap_##name parameters;                                                                                   \
    result __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        return old_##name arguments;                                                                                   \
    }

/* clang-format off */
BIND(void *, dlopen, (const char *file, int mode), (file, mode))
BIND(void *, dlsym, (void *handle, const char *name), (handle, name))
BIND(int, dlclose, (void *handle), (handle))
BIND(int, pthread_create, (pthread_t *thread, const pthread_attr_t *how, void *(*start)(void *), void *context), (thread, how, start, context))
BIND(int, pthread_join, (pthread_t thread, void **result), (thread, result))
BIND(int, pthread_once, (pthread_once_t *once, void (*start)(void)), (once, start))
BIND(int, pthread_rwlock_init, (pthread_rwlock_t *lock, const pthread_rwlockattr_t *how), (lock, how))
BIND(int, pthread_rwlock_destroy, (pthread_rwlock_t *lock), (lock))
BIND(int, pthread_rwlock_rdlock, (pthread_rwlock_t *lock), (lock))
BIND(int, pthread_rwlock_tryrdlock, (pthread_rwlock_t *lock), (lock))
BIND(int, pthread_rwlock_wrlock, (pthread_rwlock_t *lock), (lock))
BIND(int, pthread_rwlock_unlock, (pthread_rwlock_t *lock), (lock))
BIND_AT(SETCLOCK_VERSION, int, pthread_condattr_setclock, (pthread_condattr_t *how, clockid_t clock), (how, clock))
/* clang-format on */

/* ---- What no older version has ------------------------------------------------------------------------------------- */

int __wrap_stat(const char *path, struct stat *out);
int __wrap_lstat(const char *path, struct stat *out);
int __wrap_fstat(int fd, struct stat *out);
int __wrap_fstatat(int folder, const char *path, struct stat *out, int flags);
int __wrap_pthread_sigmask(int how, const sigset_t *mask, sigset_t *before);
int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);
void __wrap_closefrom(int first);

int __wrap_fstatat(int folder, const char *path, struct stat *out, int flags)
{
    return (int)syscall(SYS_newfstatat, folder, path, out, flags);
}

int __wrap_stat(const char *path, struct stat *out)
{
    return __wrap_fstatat(AT_FDCWD, path, out, 0);
}

int __wrap_lstat(const char *path, struct stat *out)
{
    return __wrap_fstatat(AT_FDCWD, path, out, AT_SYMLINK_NOFOLLOW);
}

int __wrap_fstat(int fd, struct stat *out)
{
    return (int)syscall(SYS_fstat, fd, out);
}

int __wrap_renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags)
{
    return (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
}

/* On Linux both are one system call, of the thread. */
int __wrap_pthread_sigmask(int how, const sigset_t *mask, sigset_t *before)
{
    return sigprocmask(how, mask, before) == 0 ? 0 : errno;
}

/* One by one, where the kernel is older than its call for it (5.9). */
void __wrap_closefrom(int first)
{
    DIR *folder;
    struct dirent *entry;

#ifdef SYS_close_range
    if (syscall(SYS_close_range, first, UINT_MAX, 0) == 0)
        return;
#endif
    folder = opendir("/proc/self/fd");
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        char *end;
        long fd = strtol(entry->d_name, &end, 10);

        if (end != entry->d_name && *end == 0 && fd >= first && fd != dirfd(folder))
            close((int)fd);
    }
    if (folder != NULL)
        closedir(folder);
}

/* ---- The start ----------------------------------------------------------------------------------------------------- */

typedef int program_main(int argc, char **argv, char **environment);
typedef void program_step(void);
typedef void constructor(int argc, char **argv, char **environment);

extern constructor *__init_array_start[] __attribute__((visibility("hidden")));
extern constructor *__init_array_end[] __attribute__((visibility("hidden")));

int old_start(program_main *main, int argc, char **argv, program_main *begin, program_step *end,
              program_step *loader_end, void *stack_end);
__asm__(".symver old_start, __libc_start_main@" FIRST_VERSION);
int __wrap___libc_start_main(program_main *main, int argc, char **argv, program_main *begin, program_step *end,
                             program_step *loader_end, void *stack_end);

/* A libc before 2.34 leaves the program's constructors to the program; a newer one does them unless it is given this. */
static int run_constructors(int argc, char **argv, char **environment)
{
    for (constructor **at = __init_array_start; at < __init_array_end; at++)
        (*at)(argc, argv, environment);
    return 0;
}

int __wrap___libc_start_main(program_main *main, int argc, char **argv, program_main *begin, program_step *end,
                             program_step *loader_end, void *stack_end)
{
    (void)begin;
    return old_start(main, argc, argv, run_constructors, end, loader_end, stack_end);
}
