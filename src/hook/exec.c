/* SPDX-License-Identifier: Apache-2.0
 *
 * A program that starts another one with an environment of its own making. Where that sets LD_PRELOAD to something else than
 * it was, our library is put back behind what stands there, with the variables by which it joins; where LD_PRELOAD is not
 * set, or NPUMEM=off, nobody is to be recorded, and nothing is done. The real call gets another array of the environment,
 * which lies on this function's stack: a child of vfork shares all other memory with its parent. No lock is taken, nothing
 * allocated, and errno is the real call's alone.
 *
 * What the process got is kept from its start, since a program may change it. A library that this process could not open
 * would make the loader complain: it is not put back, and the drain says what it does not see (drain/descendants.h).
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "hook/linker.h"
#include "record/machine.h"
#include "record/record.h"
#include "trace/ring.h"

#define EXPORTED        __attribute__((visibility("default")))
#define SEPARATORS      ": " /* of LD_PRELOAD: ld.so(8) */
#define PRELOAD         "LD_PRELOAD="
#define VARIABLE_BYTES  4096
#define VARIABLES_MAX   4096                /* of an environment that is changed: 32 KiB of stack */
#define PRELOAD_BYTES   ((size_t)16 << 10)  /* of a list that is changed */
#define ARGUMENTS_BYTES ((size_t)256 << 10) /* the array of execl's arguments, which libc puts onto the stack as well */

extern char **environ;

/* ---- What this process was started with ---------------------------------------------------------------------------- */

static const char *const variable_names[] = {NM_RING_ENVIRONMENT "=", NM_HOST_ENVIRONMENT "=", NM_HOST_OPTIONS "="};

#define VARIABLE_COUNT (sizeof variable_names / sizeof *variable_names)

static char library[PATH_MAX];                         /* as LD_PRELOAD named it; empty: nothing is put back */
static char variables[VARIABLE_COUNT][VARIABLE_BYTES]; /* NAME=VALUE; empty: it was not set */

static bool is_own_library(const char *path, size_t len)
{
    static const char *const names[] = {"libnpumem_hook.so", "libnpumem_libascend_kernel_hook.so"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t name_len = strlen(names[i]);

        if (len >= name_len && memcmp(path + len - name_len, names[i], name_len) == 0 &&
            (len == name_len || path[len - name_len - 1] == '/'))
            return true;
    }
    return false;
}

/* The entry of the list that is ours; NULL: none. */
static const char *find_own(const char *list, size_t *len)
{
    for (const char *at = list + strspn(list, SEPARATORS); *at != 0; at += strspn(at, SEPARATORS)) {
        *len = strcspn(at, SEPARATORS);
        if (is_own_library(at, *len))
            return at;
        at += *len;
    }
    return NULL;
}

static bool is_off(const char *value)
{
    return strcmp(value, "off") == 0;
}

/* False: it is longer than there is room for. */
static bool keep_variable(char room[VARIABLE_BYTES], const char *name)
{
    char bare[64];
    size_t name_len = strlen(name), len;
    const char *value;

    memcpy(bare, name, name_len);
    bare[name_len - 1] = 0;
    value = secure_getenv(bare);
    if (value == NULL || *value == 0)
        return true;
    len = strlen(value);
    if (name_len + len >= VARIABLE_BYTES)
        return false;
    memcpy(room, name, name_len);
    memcpy(room + name_len, value, len + 1);
    return true;
}

static void keep_start(void)
{
    const char *list = secure_getenv("LD_PRELOAD"), *off = secure_getenv("NPUMEM");
    size_t len = 0;
    const char *own = list == NULL ? NULL : find_own(list, &len);
    bool is_kept = own != NULL && *own == '/' && len < sizeof library && (off == NULL || !is_off(off));

    for (size_t i = 0; i < VARIABLE_COUNT && is_kept; i++)
        is_kept = keep_variable(variables[i], variable_names[i]);
    if (is_kept && (variables[0][0] != 0 || variables[1][0] != 0))
        memcpy(library, own, len);
}

/* ---- The real calls ------------------------------------------------------------------------------------------------ */

typedef int execve_call(const char *path, char *const *arguments, char *const *environment);
typedef int execv_call(const char *path, char *const *arguments);
typedef int fexecve_call(int fd, char *const *arguments, char *const *environment);
typedef int execveat_call(int fd, const char *path, char *const *arguments, char *const *environment, int flags);
typedef int spawn_call(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                       const posix_spawnattr_t *attributes, char *const *arguments, char *const *environment);

static struct {
    execve_call *execve, *execvpe;
    execv_call *execv, *execvp;
    fexecve_call *fexecve;
    execveat_call *execveat;
    spawn_call *posix_spawn, *posix_spawnp;
} real;

/* At load; and before that where a constructor calls. A thing of the loader's, so never in a child of vfork's: its parent has
 * been loaded. */
static void find_real(void)
{
    real.execve = (execve_call *)nm_linker_find(RTLD_NEXT, "execve");
    real.execvpe = (execve_call *)nm_linker_find(RTLD_NEXT, "execvpe");
    real.execv = (execv_call *)nm_linker_find(RTLD_NEXT, "execv");
    real.execvp = (execv_call *)nm_linker_find(RTLD_NEXT, "execvp");
    real.fexecve = (fexecve_call *)nm_linker_find(RTLD_NEXT, "fexecve");
    real.execveat = (execveat_call *)nm_linker_find(RTLD_NEXT, "execveat");
    real.posix_spawn = (spawn_call *)nm_linker_find(RTLD_NEXT, "posix_spawn");
    real.posix_spawnp = (spawn_call *)nm_linker_find(RTLD_NEXT, "posix_spawnp");
    nm_linker_forget_error();
}

__attribute__((constructor)) static void begin(void)
{
    int saved_errno = errno;

    find_real();
    if (!nm_record_is_privileged())
        keep_start();
    errno = saved_errno;
}

static bool is_ready(void)
{
    int saved_errno = errno;

    if (real.execve == NULL)
        find_real();
    errno = saved_errno;
    return real.execve != NULL;
}

/* ---- The environment ----------------------------------------------------------------------------------------------- */

typedef struct change {
    char *const *from;
    size_t count;
    size_t preload;        /* index of LD_PRELOAD */
    bool is_library_added; /* else only variables are */
    size_t text_bytes;     /* of LD_PRELOAD's new value, its name and its end; 0: it stays */
    bool is_missing[VARIABLE_COUNT];
    size_t missing_count;
} change;

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* By the process itself, as the loader will: the library may lie where it, or a new root, does not let us. */
static bool can_open(const char *path)
{
    long fd = nm_call(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC, 0, 0, 0);

    if (fd >= 0)
        nm_call(SYS_close, fd, 0, 0, 0, 0, 0);
    return fd >= 0;
}

/* Reads the environment once. False: it sets no LD_PRELOAD, or says that nothing is to be recorded. */
static bool read_environment(char *const *from, change *out)
{
    bool is_set = false;

    *out = (change){.from = from};
    for (size_t i = 0; i < VARIABLE_COUNT; i++)
        out->is_missing[i] = variables[i][0] != 0;
    for (; from[out->count] != NULL; out->count++) {
        const char *text = from[out->count];

        if (begins(text, "NPUMEM=") && is_off(text + strlen("NPUMEM=")))
            return false;
        for (size_t i = 0; i < VARIABLE_COUNT; i++)
            out->is_missing[i] &= !begins(text, variable_names[i]);
        if (begins(text, PRELOAD)) {
            out->preload = out->count;
            is_set = true;
        }
    }
    return is_set && out->count <= VARIABLES_MAX;
}

/* What is to be changed in it; false: nothing. */
static bool plan(char *const *from, change *out)
{
    const char *list;
    size_t len;

    if (library[0] == 0 || from == NULL || !read_environment(from, out))
        return false;
    list = from[out->preload] + strlen(PRELOAD);
    if (list[strspn(list, SEPARATORS)] == 0)
        return false; /* taken away */
    out->is_library_added = find_own(list, &len) == NULL;
    if (out->is_library_added) {
        out->text_bytes = strlen(PRELOAD) + strlen(list) + 1 + strlen(library) + 1;
        if (out->text_bytes > PRELOAD_BYTES || !can_open(library))
            return false;
    }
    for (size_t i = 0; i < VARIABLE_COUNT; i++)
        out->missing_count += out->is_missing[i];
    return out->is_library_added || out->missing_count > 0;
}

static size_t room_bytes(const change *planned)
{
    return (planned->count + planned->missing_count + 1) * sizeof(char *) + planned->text_bytes;
}

static char *const *fill(const change *planned, void *room)
{
    char **to = room;
    size_t count = planned->count;
    char *text = (char *)(to + count + planned->missing_count + 1);

    memcpy(to, planned->from, count * sizeof *to);
    if (planned->is_library_added) {
        size_t len = strlen(planned->from[planned->preload]);

        to[planned->preload] = text;
        memcpy(text, planned->from[planned->preload], len);
        text[len] = ':';
        memcpy(text + len + 1, library, strlen(library) + 1);
    }
    for (size_t i = 0; i < VARIABLE_COUNT; i++)
        if (planned->is_missing[i])
            to[count++] = variables[i];
    to[count] = NULL;
    return to;
}

/* CALL is made with `environment`, which is `from` or another one on this function's stack. */
#define WITH_ENVIRONMENT(from, call)                                                                                   \
    do {                                                                                                               \
        char *const *environment = from;                                                                               \
        change planned;                                                                                                \
                                                                                                                       \
        if (plan(environment, &planned))                                                                               \
            environment = fill(&planned, __builtin_alloca(room_bytes(&planned)));                                      \
        return call;                                                                                                   \
    } while (0)

/* ---- The calls ----------------------------------------------------------------------------------------------------- */

static int not_there(void)
{
    errno = ENOSYS;
    return -1;
}

static int run_with(const char *path, char *const *arguments, char *const *from)
{
    if (!is_ready())
        return not_there();
    WITH_ENVIRONMENT(from, real.execve(path, arguments, environment));
}

EXPORTED int execve(const char *path, char *const arguments[], char *const from[])
{
    return run_with(path, arguments, from);
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const from[])
{
    if (!is_ready() || real.execvpe == NULL)
        return not_there();
    WITH_ENVIRONMENT(from, real.execvpe(file, arguments, environment));
}

/* These take the process's own: where that stays as it is the call is made as it is. */
static int run_path(const char *path, char *const *arguments)
{
    if (!is_ready() || real.execv == NULL)
        return not_there();
    WITH_ENVIRONMENT(environ,
                     environment == environ ? real.execv(path, arguments) : real.execve(path, arguments, environment));
}

static int run_file(const char *file, char *const *arguments)
{
    if (!is_ready() || real.execvp == NULL || real.execvpe == NULL)
        return not_there();
    WITH_ENVIRONMENT(environ, environment == environ ? real.execvp(file, arguments)
                                                     : real.execvpe(file, arguments, environment));
}

EXPORTED int execv(const char *path, char *const arguments[])
{
    return run_path(path, arguments);
}

EXPORTED int execvp(const char *file, char *const arguments[])
{
    return run_file(file, arguments);
}

EXPORTED int fexecve(int fd, char *const arguments[], char *const from[])
{
    if (!is_ready() || real.fexecve == NULL)
        return not_there();
    WITH_ENVIRONMENT(from, real.fexecve(fd, arguments, environment));
}

/* Older libcs have none. */
EXPORTED int execveat(int fd, const char *path, char *const arguments[], char *const from[], int flags)
{
    if (!is_ready() || real.execveat == NULL)
        return not_there();
    WITH_ENVIRONMENT(from, real.execveat(fd, path, arguments, environment, flags));
}

EXPORTED int posix_spawn(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *attributes, char *const arguments[], char *const from[])
{
    if (!is_ready() || real.posix_spawn == NULL)
        return ENOSYS;
    WITH_ENVIRONMENT(from, real.posix_spawn(pid, path, actions, attributes, arguments, environment));
}

EXPORTED int posix_spawnp(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *attributes, char *const arguments[], char *const from[])
{
    if (!is_ready() || real.posix_spawnp == NULL)
        return ENOSYS;
    WITH_ENVIRONMENT(from, real.posix_spawnp(pid, file, actions, attributes, arguments, environment));
}

/* ---- Arguments one by one ------------------------------------------------------------------------------------------ */

/* How many there are from `first` on, the NULL at the end included. */
static size_t count_arguments(const char *first, va_list rest)
{
    size_t count = 1;

    for (const char *at = first; at != NULL; at = va_arg(rest, const char *))
        count++;
    return count;
}

static void take_arguments(char **to, const char *first, va_list *rest)
{
    size_t count = 0;

    for (const char *at = first; at != NULL; at = va_arg(*rest, const char *))
        to[count++] = (char *)(uintptr_t)at;
    to[count] = NULL;
}

/* Declares `arguments`, an array on this function's stack, and leaves `rest` behind the last; -1 and E2BIG as libc has it. */
#define TAKE_ARGUMENTS(first)                                                                                          \
    va_list rest, counted;                                                                                             \
    size_t count;                                                                                                      \
    char **arguments;                                                                                                  \
                                                                                                                       \
    va_start(rest, first);                                                                                             \
    va_copy(counted, rest);                                                                                            \
    count = count_arguments(first, counted);                                                                           \
    va_end(counted);                                                                                                   \
    if (count * sizeof *arguments > ARGUMENTS_BYTES) {                                                                 \
        va_end(rest);                                                                                                  \
        errno = E2BIG;                                                                                                 \
        return -1;                                                                                                     \
    }                                                                                                                  \
    arguments = __builtin_alloca(count * sizeof *arguments);                                                           \
    take_arguments(arguments, first, &rest)

EXPORTED int execl(const char *path, const char *first, ...)
{
    TAKE_ARGUMENTS(first);
    va_end(rest);
    return run_path(path, arguments);
}

EXPORTED int execlp(const char *file, const char *first, ...)
{
    TAKE_ARGUMENTS(first);
    va_end(rest);
    return run_file(file, arguments);
}

EXPORTED int execle(const char *path, const char *first, ...)
{
    char *const *given;

    TAKE_ARGUMENTS(first);
    given = va_arg(rest, char *const *);
    va_end(rest);
    return run_with(path, arguments, given);
}
