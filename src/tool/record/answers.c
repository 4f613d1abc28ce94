/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest is run as a program, from beside this one, with standard output in the file: the answers are the same to
 * the byte as those of a later ingest. Whatever goes wrong, the recorded program's end is the recorder's. While the program
 * runs, a process of its own does all of it, also what waits for the disk, so that the drain goes on. That process holds
 * nothing of the recording's open, and it is the one to be killed where the host's memory runs out.
 */
#include "tool/record/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/shown.h"
#include "base/spoken.h"

#define INGEST_PROGRAM   "npumem-ingest"
#define STATUS_WITH_LOSS 3 /* of npumem-ingest: the answers are there, and say what is missing */
#define STATUS_NOT_FOUND 127
#define REST_NS_MIN      INT64_C(5000000000)
#define REST_TIMES       10
#define LEAST_PRIORITY   19
#define FIRST_FREE_FD    3

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

static bool is_done(int wait_status)
{
    return WIFEXITED(wait_status) && (WEXITSTATUS(wait_status) == 0 || WEXITSTATUS(wait_status) == STATUS_WITH_LOSS);
}

static nm_status write_answers(const char *trace, const char *database, int report_fd, nm_error *err)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        run_ingest(trace, database, report_fd);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            pid = -1;
    return pid > 0 && is_done(status) ? NM_OK
                                      : nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "npumem-ingest is not there, or failed");
}

/* answers.txt -> answers.db */
static nm_status name_database(const char *file, char database[PATH_MAX], nm_error *err)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    bool has_suffix = dot != NULL && dot != file && (slash == NULL || dot > slash + 1) && strcmp(dot, ".db") != 0;
    int base_bytes = has_suffix ? (int)(dot - file) : (int)strlen(file);

    return snprintf(database, PATH_MAX, "%.*s.db", base_bytes, file) < PATH_MAX
               ? NM_OK
               : nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "path is too long");
}

/* ---- The file ------------------------------------------------------------------------------------------------------ */

typedef struct draft {
    const char *name; /* borrowed: of the file, in the folder */
    int folder, fd;
    char temporary[NAME_MAX + 1]; /* its name until it is whole; empty: it is written to as it stands there */
} draft;

/* To what stands there, at once: a FIFO needs its reader now. What has become a file meanwhile is somebody else's; behind a link
 * of the user's it is theirs. */
static nm_status open_standing(int folder, const char *name, int *fd, nm_error *err)
{
    struct stat info;
    bool is_link;
    nm_status status =
        nm_door_open_named(folder, name, O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY, 0666, &is_link, fd, err);

    if (status != NM_OK)
        return status;
    bool is_file = fstat(*fd, &info) != 0 || S_ISREG(info.st_mode);
    if (is_file && !is_link)
        status = nm_fail(err, NM_ERR_EXISTS, NM_NO_OFFSET, "has become another file");
    else if (is_file && ftruncate(*fd, 0) != 0)
        status = nm_fail_write(err, errno);
    fcntl(*fd, F_SETFL, 0);
    return status;
}

/* Is it a file, or nothing yet? A pipe, a device and a link stay where they are. */
static bool is_replaced(int folder, const char *name)
{
    struct stat info;

    return !nm_door_look_at(folder, name, &info) || S_ISREG(info.st_mode);
}

static nm_status begin_draft(const char *file, draft *out, nm_error *err)
{
    *out = (draft){.fd = -1};
    out->folder = nm_door_folder_of(file, &out->name);
    if (out->folder < 0)
        return nm_fail_errno(err, errno, "cannot open");
    if (!is_replaced(out->folder, out->name))
        return open_standing(out->folder, out->name, &out->fd, err);
    if (snprintf(out->temporary, sizeof out->temporary, "%s.%ld.tmp", out->name, (long)getpid()) >=
        (int)sizeof out->temporary)
        return nm_fail_errno(err, ENAMETOOLONG, "cannot open");
    nm_door_remove_at(out->folder, out->temporary); /* of one who had this number, and was killed */
    return nm_door_open_at(out->folder, out->temporary, O_WRONLY | O_CREAT | O_EXCL, 0666, &out->fd, err);
}

static nm_status publish_draft(const draft *written, const char *file, nm_error *err)
{
    nm_status status = written->temporary[0] == 0 ? NM_END : nm_io_sync(written->fd, err);

    if (status == NM_OK)
        status = nm_door_move(written->folder, written->temporary, written->folder, written->name, true, err);
    if (status == NM_OK)
        status = nm_io_sync_folder(file, err);
    return status == NM_END ? NM_OK : status;
}

static void end_draft(draft *written)
{
    if (written->fd >= 0 && written->temporary[0] != 0)
        nm_door_remove_at(written->folder, written->temporary); /* unless it has its place */
    nm_io_close(written->fd);
    nm_io_close(written->folder);
}

bool record_report(const char *trace, const char *file)
{
    char database[PATH_MAX];
    nm_error err = {0};
    draft written;
    nm_status status = begin_draft(file, &written, &err);

    if (status == NM_OK)
        status = name_database(file, database, &err);
    if (status == NM_OK)
        status = write_answers(trace, database, written.fd, &err);
    if (status == NM_OK)
        status = publish_draft(&written, file, &err);
    end_draft(&written);
    if (status != NM_OK)
        nm_shown_print(stderr, nm_spoken("npumem-record: --report %s: %s\n"), file, err.text);
    return status == NM_OK;
}

/* ---- While the program runs ---------------------------------------------------------------------------------------- */

void record_answers_want(record_answers *answers, int64_t at_ns)
{
    if (answers->wanted_ns == 0 || at_ns < answers->wanted_ns)
        answers->wanted_ns = at_ns;
}

void record_answers_ask(record_answers *answers)
{
    answers->is_asked_for = true;
}

bool record_answers_are_due(const record_answers *answers, int64_t now_ns)
{
    bool is_wanted = answers->wanted_ns != 0 && now_ns >= answers->wanted_ns && now_ns >= answers->rested_ns;

    return answers->file != NULL && answers->pid == 0 && (is_wanted || answers->is_asked_for);
}

/* Rather than the program, where the kernel has to choose. */
static void be_killed_first(void)
{
    int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

    if (fd >= 0)
        nm_io_write(fd, "1000", 4, NULL);
    nm_io_close(fd);
}

/* In a group of its own: record_answers_stop ends npumem-ingest by it, but not this process, which blocks the signal and
 * removes the draft then. */
static void write_meanwhile(const char *trace, const char *file)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    setpgid(0, 0);
    if (null_fd >= 0) {
        dup2(null_fd, STDIN_FILENO);
        dup2(null_fd, STDERR_FILENO);
    }
    closefrom(FIRST_FREE_FD);
    setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
    be_killed_first();
    _exit(record_report(trace, file) ? 0 : 1);
}

static bool is_file_of_answers(const char *file)
{
    const char *name;
    int folder = nm_door_folder_of(file, &name);
    bool is_file = folder >= 0 && is_replaced(folder, name);

    nm_io_close(folder);
    return is_file;
}

void record_answers_begin(record_answers *answers, const char *trace, int64_t now_ns)
{
    answers->wanted_ns = 0;
    answers->is_asked_for = false;
    answers->began_ns = now_ns;
    if (!is_file_of_answers(answers->file))
        return;
    fflush(NULL);
    answers->pid = fork();
    if (answers->pid == 0)
        write_meanwhile(trace, answers->file);
    if (answers->pid < 0)
        answers->pid = 0;
    else
        setpgid(answers->pid, answers->pid); /* whoever comes first */
}

bool record_answers_take_end(record_answers *answers, pid_t pid, int wait_status, int64_t now_ns)
{
    int64_t rest_ns = (now_ns - answers->began_ns) * REST_TIMES;

    if (answers->pid == 0 || pid != answers->pid)
        return false;
    answers->pid = 0;
    answers->rested_ns = now_ns + (rest_ns < REST_NS_MIN ? REST_NS_MIN : rest_ns);
    answers->has_failed |= !is_done(wait_status);
    return true;
}

void record_answers_stop(record_answers *answers)
{
    if (answers->pid != 0) {
        kill(-answers->pid, SIGTERM);
        while (waitpid(answers->pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    answers->pid = 0;
}
