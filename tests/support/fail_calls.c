/* SPDX-License-Identifier: Apache-2.0
 *
 * fail_calls: makes the Nth call of a system call fail, in a program and not in what it starts. Calls of libc and those that
 * go past it alike, so that what is preloaded can be tested too: a filter of system calls stops the program at each call
 * of that number, and its tracer lets it through or puts an error number in its place.
 *
 *     fail_calls CALL|any|names N[+] ERRNO|kill|THIS=OTHER COUNT_FILE [-p NAME] PROGRAM [ARG...]
 *
 * N+: that call and all after it. -p NAME: of the first process that runs a program of that file name, instead of PROGRAM.
 * any: every call after which something is another than before: a file, its name or its length, memory, a process.
 * names: every call that takes the name of a file.
 * kill: in place of the call the process is ended by SIGKILL, all others go on.
 * THIS=OTHER: before the call somebody exchanges the two, or where there is one of them gives it the name of the other;
 * %d is the number of the process. The call itself goes on.
 * Ends as PROGRAM does, once all that it started have; COUNT_FILE then holds how many calls have failed. 77: this machine
 * does not allow it.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_LEFT_OUT 77
#define NAME_BYTES    4096
#define EVENT_OF(s)   ((s) >> 16)

static const struct call {
    const char *name; /* NULL: one of `any` alone */
    long number;
} calls[] = {
    {"openat", SYS_openat},
    {"unlinkat", SYS_unlinkat},
    {"getdents64", SYS_getdents64},
    {"fallocate", SYS_fallocate},
    {"mmap", SYS_mmap},
    {"mkdirat", SYS_mkdirat},
    {"read", SYS_read},
    {"write", SYS_write},
    {"ftruncate", SYS_ftruncate},
    {"fcntl", SYS_fcntl},
    {"newfstatat", SYS_newfstatat},
    {"symlinkat", SYS_symlinkat},
    {"getrandom", SYS_getrandom},
    {"statfs", SYS_statfs},
    {"fstatfs", SYS_fstatfs},
    {"renameat2", SYS_renameat2},
    {"lseek", SYS_lseek},
#ifdef SYS_mkdir
    {"mkdir", SYS_mkdir},
    {"unlink", SYS_unlink},
    {"rmdir", SYS_rmdir},
    {"rename", SYS_rename},
    {NULL, SYS_fork},
    {NULL, SYS_vfork},
#endif
    {"pwrite64", SYS_pwrite64},
    {NULL, SYS_writev},
    {"fsync", SYS_fsync},
    {"fdatasync", SYS_fdatasync},
    {NULL, SYS_close},
    {"munmap", SYS_munmap},
    {NULL, SYS_flock},
    {NULL, SYS_clone},
#ifdef SYS_clone3
    {NULL, SYS_clone3},
#endif
    {NULL, SYS_execve},
    {"kill", SYS_kill},
    {NULL, SYS_exit_group},
};

/* Calls that only look are none of `any`. */
static const long looking[] = {SYS_getdents64, SYS_read,    SYS_newfstatat, SYS_getrandom,
                               SYS_statfs,     SYS_fstatfs, SYS_lseek};

/* Of `names`. */
static const long naming[] = {
    SYS_openat,     SYS_newfstatat, SYS_unlinkat, SYS_renameat2, SYS_mkdirat,  SYS_linkat, SYS_symlinkat,
    SYS_readlinkat, SYS_faccessat,  SYS_statx,    SYS_statfs,    SYS_truncate, SYS_execve, SYS_bind,
#ifdef SYS_open
    SYS_open,       SYS_stat,       SYS_lstat,    SYS_unlink,    SYS_rename,   SYS_mkdir,  SYS_rmdir,
    SYS_access,     SYS_readlink,   SYS_chmod,
#endif
};

#define CALLS_MAX (sizeof calls / sizeof *calls)
_Static_assert(sizeof naming / sizeof *naming <= CALLS_MAX, "chosen has room for either");

static long chosen[CALLS_MAX];
static unsigned chosen_count;
static unsigned long first_failure, seen_count, failed_count;
static int is_sticky, is_killing, error_number;
static const char *wanted_name; /* NULL: PROGRAM itself */
static char *exchanged, *other; /* NULL: calls fail */
static pid_t root, target;

static int is_looking(long number)
{
    for (size_t i = 0; i < sizeof looking / sizeof *looking; i++)
        if (looking[i] == number)
            return 1;
    return 0;
}

static int choose_calls(const char *name)
{
    if (strcmp(name, "names") == 0) {
        memcpy(chosen, naming, sizeof naming);
        chosen_count = sizeof naming / sizeof *naming;
    }
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, "any") == 0 ? !is_looking(calls[i].number)
                                     : calls[i].name != NULL && strcmp(calls[i].name, name) == 0)
            chosen[chosen_count++] = calls[i].number;
    return chosen_count > 0;
}

/* ---- In the program ------------------------------------------------------------------------------------------------ */

static void run_program(char **argv, int go_fd)
{
    struct sock_filter filter[sizeof chosen / sizeof *chosen + 3] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
    };
    struct sock_fprog program = {(unsigned short)(chosen_count + 3), filter};
    char byte;

    for (unsigned i = 0; i < chosen_count; i++)
        filter[i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)chosen[i],
                                                     (uint8_t)(chosen_count - i), 0);
    filter[chosen_count + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    filter[chosen_count + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE);

    if (read(go_fd, &byte, 1) != 1)
        _exit(EXIT_LEFT_OUT);
    close(go_fd);
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        _exit(EXIT_LEFT_OUT);
    execvp(argv[0], argv);
    _exit(127);
}

/* ---- The tracer ---------------------------------------------------------------------------------------------------- */

/* The call is not made, and gives this result. */
static void refuse(pid_t pid)
{
    struct user_regs_struct registers;
    struct iovec all = {&registers, sizeof registers};

    if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &all) != 0)
        return;
#if defined(__x86_64__)
    registers.orig_rax = (unsigned long long)-1;
    registers.rax = (unsigned long long)-error_number;
#elif defined(__aarch64__)
    int none = -1;
    struct iovec number = {&none, sizeof none};

    ptrace(PTRACE_SETREGSET, pid, NT_ARM_SYSTEM_CALL, &number);
    registers.regs[0] = (unsigned long long)-error_number;
#endif
    ptrace(PTRACE_SETREGSET, pid, NT_PRSTATUS, &all);
    failed_count++;
}

/* A name with the number of the process in the place of its %d. */
static const char *name_for(pid_t pid, const char *pattern, char name[NAME_BYTES])
{
    const char *number = strstr(pattern, "%d");

    if (number == NULL)
        return pattern;
    snprintf(name, NAME_BYTES, "%.*s%d%s", (int)(number - pattern), pattern, (int)pid, number + 2);
    return name;
}

static void exchange(pid_t pid)
{
    char names[2][NAME_BYTES];
    const char *this = name_for(pid, exchanged, names[0]), *that = name_for(pid, other, names[1]);

    if (renameat2(AT_FDCWD, this, AT_FDCWD, that, RENAME_EXCHANGE) == 0 || rename(that, this) == 0 ||
        rename(this, that) == 0)
        failed_count++;
}

static void take_call(pid_t pid)
{
    if (pid != target)
        return;
    seen_count++;
    if (seen_count != first_failure && !(is_sticky && seen_count > first_failure))
        return;
    if (exchanged != NULL)
        exchange(pid);
    else if (is_killing)
        failed_count += kill(pid, SIGKILL) == 0;
    else
        refuse(pid);
}

static void take_exec(pid_t pid)
{
    char link[64], path[4096] = "";

    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    if (target != 0 || readlink(link, path, sizeof path - 1) <= 0)
        return;
    const char *name = strrchr(path, '/');
    if (wanted_name == NULL ? pid == root : name != NULL && strcmp(name + 1, wanted_name) == 0)
        target = pid;
}

static void take_stop(pid_t pid, int status)
{
    int number = WSTOPSIG(status);

    switch (EVENT_OF(status)) {
    case PTRACE_EVENT_SECCOMP:
        take_call(pid);
        break;
    case PTRACE_EVENT_EXEC:
        take_exec(pid);
        break;
    case PTRACE_EVENT_STOP:
        if (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU) {
            ptrace(PTRACE_LISTEN, pid, 0, 0);
            return;
        }
        break;
    case 0:
        ptrace(PTRACE_CONT, pid, 0, number);
        return;
    }
    ptrace(PTRACE_CONT, pid, 0, 0);
}

/* Until all have ended; how the first one did. */
static int trace(void)
{
    int status, end = 0;
    pid_t pid;

    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR)
        if (pid > 0 && WIFSTOPPED(status))
            take_stop(pid, status);
        else if (pid == root)
            end = status;
    return end;
}

static void write_count(const char *path)
{
    FILE *file = fopen(path, "w");

    if (file == NULL)
        return;
    fprintf(file, "%lu\n", failed_count);
    fclose(file);
}

int main(int argc, char **argv)
{
    const long options = PTRACE_O_TRACESECCOMP | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                         PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL;
    char *end = NULL;
    int go[2], program_at = 5;

    if (argc > 7 && strcmp(argv[5], "-p") == 0) {
        wanted_name = argv[6];
        program_at = 7;
    }
    if (argc <= program_at || !choose_calls(argv[1]) || pipe(go) != 0)
        return 2;
    first_failure = strtoul(argv[2], &end, 10);
    is_sticky = *end == '+';
    is_killing = strcmp(argv[3], "kill") == 0;
    error_number = atoi(argv[3]);
    if ((other = strchr(argv[3], '=')) != NULL) {
        *other++ = 0;
        exchanged = argv[3];
    }

    root = fork();
    if (root == 0) {
        close(go[1]);
        run_program(argv + program_at, go[0]);
    }
    close(go[0]);
    if (root < 0 || ptrace(PTRACE_SEIZE, root, 0, options) != 0 || write(go[1], "", 1) != 1) {
        close(go[1]);
        return EXIT_LEFT_OUT;
    }
    close(go[1]);
    int status = trace();
    write_count(argv[4]);
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
