/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest is run as a program, from beside this one, with standard output in the file: the answers are the same to
 * the byte as those of a later ingest. Whatever goes wrong, the recorded program's end is the recorder's.
 */
#include "tool/record/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/shown.h"

#define INGEST_PROGRAM   "npumem-ingest"
#define STATUS_WITH_LOSS 3 /* of npumem-ingest: the answers are there, and say what is missing */
#define STATUS_NOT_FOUND 127

void record_ingest_program(char program[PATH_MAX])
{
    if (nm_own_beside(INGEST_PROGRAM, program, NULL) != NM_OK || !nm_door_allows(program, X_OK))
        strcpy(program, INGEST_PROGRAM);
}

static void run_ingest(const char *trace, const char *database, int report_fd)
{
    char program[PATH_MAX];
    sigset_t none;

    record_ingest_program(program);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (dup2(report_fd, STDOUT_FILENO) >= 0)
        execlp(program, INGEST_PROGRAM, "--force", "-o", database, trace, (char *)NULL);
    _exit(STATUS_NOT_FOUND);
}

/* True when the answers are in the file. */
static bool write_report(const char *trace, const char *database, int report_fd)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        run_ingest(trace, database, report_fd);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return pid > 0 && WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == STATUS_WITH_LOSS);
}

/* answers.txt -> answers.db; false: too long. */
static bool name_database(const char *file, char database[PATH_MAX])
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    bool has_suffix = dot != NULL && dot != file && (slash == NULL || dot > slash + 1) && strcmp(dot, ".db") != 0;
    int base_bytes = has_suffix ? (int)(dot - file) : (int)strlen(file);

    return snprintf(database, PATH_MAX, "%.*s.db", base_bytes, file) < PATH_MAX;
}

void record_report(const char *trace, const char *file)
{
    char database[PATH_MAX];
    nm_error err = {0};
    int fd = -1;

    /* A FIFO needs its reader now. */
    if (nm_io_open(file, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0666, &fd, &err) != NM_OK) {
        nm_shown_print(stderr, "npumem-record: --report %s: %s\n", file, err.text);
        return;
    }
    fcntl(fd, F_SETFL, 0);
    if (!name_database(file, database) || !write_report(trace, database, fd))
        nm_shown_print(stderr, "npumem-record: --report %s: npumem-ingest is not there, or failed\n", file);
    close(fd);
}
