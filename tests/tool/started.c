/* SPDX-License-Identifier: Apache-2.0
 *
 * Starts itself again, with another LD_PRELOAD, in each way that libc has; and what is started uses a device and says how it was
 * started. Of its environment it shows all but what a recorder may add. Without libc's own ways (`raw`) it makes the system
 * call itself, as programs do that are no C. Before that the folder that STARTED_GONE names is moved away.
 *
 *     started WAY PRELOAD [bare] [off] [lost]    PRELOAD: a list, "keep" or "none"; bare: no other variable but PATH; off:
 *                                                NPUMEM=off; lost: there is no such program
 *     started child [MS] [FILE]           allocates 1,000 bytes five times and frees four; waits; holds FILE open
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef STARTED_STATIC
#include "acl/acl.h"
#endif

extern char **environ;

static char self[4096];
static const char *name = "started"; /* to be looked for in PATH */
static bool is_lost;

/* ---- What is started ----------------------------------------------------------------------------------------------- */

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show_environment(void)
{
    size_t count = 0;

    while (environ[count] != NULL)
        count++;
    qsort(environ, count, sizeof *environ, compare_texts);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "NPUMEM_", 7) != 0 && strncmp(environ[i], "LD_PRELOAD=", 11) != 0 &&
            strncmp(environ[i], "_=", 2) != 0) /* the shell's */
            printf("%s\n", environ[i]);
    /* What stands before the recorder's own. */
    const char *list = getenv("LD_PRELOAD");
    const char *own = list == NULL ? NULL : strstr(list, "/libnpumem_");
    while (own != NULL && own > list && own[-1] != ':')
        own--;
    int len = own != NULL ? (int)(own - list) : list != NULL ? (int)strlen(list) : 0;
    while (len > 0 && list[len - 1] == ':')
        len--;
    printf("preloaded %.*s\n", len, list == NULL ? "" : list);
}

static int be_child(int count, char **words)
{
    int ms = count > 2 ? atoi(words[2]) : 0, fd = count > 3 ? open(words[3], O_RDONLY) : -1;

    printf("%d words, errno %d, device file %s\n", count, errno, fd < 0 ? "none" : "open");
    show_environment();
#ifndef STARTED_STATIC
    void *block = NULL;
    int error = aclInit(NULL);

    error += aclrtSetDevice(0);
    for (int i = 0; i < 5; i++) {
        error += aclrtMalloc(&block, 1000, ACL_MEM_MALLOC_HUGE_FIRST);
        if (i > 0)
            error += aclrtFree(block);
    }
    printf("error %d\n", error);
#endif
    fflush(stdout);
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
    return 7;
}

/* ---- How it is started --------------------------------------------------------------------------------------------- */

typedef struct start {
    const char *way;
    char *words[3];
    char **environment;
} start;

static int say_failed(const char *way)
{
    printf("%s: errno %d\n", way, errno);
    fflush(stdout);
    return 99;
}

/* In a child, which it becomes. 99: it could not. */
static int become(const start *how)
{
    const char *way = how->way;
    char *const *words = how->words;
    int fd = -1;

    if (strcmp(way, "execve") == 0 || strcmp(way, "vfork") == 0)
        execve(self, words, how->environment);
    else if (strcmp(way, "execv") == 0)
        execv(self, words);
    else if (strcmp(way, "execvp") == 0)
        execvp(name, words);
    else if (strcmp(way, "execvpe") == 0)
        execvpe(name, words, how->environment);
    else if (strcmp(way, "execl") == 0)
        execl(self, words[0], words[1], (char *)NULL);
    else if (strcmp(way, "execlp") == 0)
        execlp(name, words[0], words[1], (char *)NULL);
    else if (strcmp(way, "execle") == 0)
        execle(self, words[0], words[1], (char *)NULL, how->environment);
    else if (strcmp(way, "fexecve") == 0 && (fd = open(is_lost ? "/dev/null" : self, O_RDONLY | O_CLOEXEC)) >= 0)
        fexecve(fd, words, how->environment);
    else if (strcmp(way, "execveat") == 0)
        execveat(AT_FDCWD, self, words, how->environment, 0);
    else if (strcmp(way, "raw") == 0)
        syscall(SYS_execve, self, words, how->environment);
    else if (strcmp(way, "nowhere") == 0)
        execve("/no/such/program", words, how->environment);
    return say_failed(way);
}

static pid_t begin(const start *how)
{
    pid_t pid = -1;
    int error;

    fflush(stdout);
    if (strncmp(how->way, "posix_spawn", 11) == 0) {
        error = how->way[11] == 0 ? posix_spawn(&pid, self, NULL, NULL, how->words, how->environment)
                                  : posix_spawnp(&pid, name, NULL, NULL, how->words, how->environment);
        if (error != 0)
            printf("%s: error %d\n", how->way, error);
        return pid;
    }
    if (strcmp(how->way, "vfork") == 0) {
        pid = vfork();
        if (pid == 0)
            _exit(become(how));
        return pid;
    }
    pid = fork();
    if (pid == 0)
        exit(become(how));
    return pid;
}

static char *join(const char *variable, const char *value)
{
    char *text = malloc(strlen(variable) + strlen(value) + 1);

    if (text == NULL)
        exit(1);
    strcpy(text, variable);
    return strcat(text, value);
}

static bool has_word(int count, char **words, const char *word)
{
    for (int i = 3; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return true;
    return false;
}

int main(int count, char **words)
{
    char *bare[8] = {NULL};
    size_t at = 0;
    int status = 0;
    start how = {.words = {"started", "child", NULL}};
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);

    if (count < 3 || len <= 0 || strcmp(words[1], "child") == 0)
        return count > 1 ? be_child(count, words) : 2;
    how.way = words[1];
    errno = 0;
    if (strcmp(words[2], "none") == 0)
        unsetenv("LD_PRELOAD");
    else if (strcmp(words[2], "keep") != 0)
        setenv("LD_PRELOAD", words[2], 1);
    if (has_word(count, words, "off"))
        setenv("NPUMEM", "off", 1);
    how.environment = environ;
    if (has_word(count, words, "bare")) {
        bare[at++] = join("PATH=", getenv("PATH"));
        if (getenv("LD_PRELOAD") != NULL)
            bare[at++] = join("LD_PRELOAD=", getenv("LD_PRELOAD"));
        how.environment = bare;
    }
    is_lost = has_word(count, words, "lost");
    if (is_lost) {
        strcpy(self, "/no/such/program");
        name = "no_such_program";
    }
    if (getenv("STARTED_GONE") != NULL)
        rename(getenv("STARTED_GONE"), "own.gone");
    pid_t pid = begin(&how);
    if (pid > 0 && waitpid(pid, &status, 0) == pid)
        printf("%s: status %d\n", how.way, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
