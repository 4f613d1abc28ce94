/* SPDX-License-Identifier: Apache-2.0
 *
 * A load says how far it is in lines (tool/common/progress.h) into a file without a name, which is read when somebody asks: no pipe
 * can fill, and nothing has to be read in between.
 */
#include "tool/mcp/runs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/shown.h"
#include "store/cleanup.h"
#include "store/read_limit.h"
#include "tool/common/exit_status.h"

#define RUNS_MAX       1000
#define LOADING_MAX    2 /* at a time */
#define CANNOT_RUN     127
#define LOG_BYTES      4096 /* of its end */
#define POLL_MS        20
#define PROGRESS_WORD  "progress "
#define INGEST_PROGRAM "npumem-ingest"

/* ---- Other programs ---------------------------------------------------------------------------------------------------- */

/* In the child: nothing of it goes to the client. */
static void become(const char *path, const char *const *words, int log_fd, pid_t parent)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (nowhere < 0 || getppid() != parent || dup2(nowhere, STDIN_FILENO) < 0 || dup2(nowhere, STDOUT_FILENO) < 0 ||
        dup2(log_fd, STDERR_FILENO) < 0)
        _exit(CANNOT_RUN);
    for (size_t i = 0; words[i] != NULL; i++)
        nm_door_keep_handed(words[i]);
    signal(SIGPIPE, SIG_DFL);
    execv(path, (char *const *)words);
    _exit(CANNOT_RUN);
}

static nm_status start(const char *const *words, int log_fd, pid_t *child, nm_error *err)
{
    char path[PATH_MAX];
    pid_t parent = getpid();
    nm_status status = nm_own_beside(words[0], path, err);

    if (status != NM_OK)
        return status;
    *child = fork();
    if (*child == 0)
        become(path, words, log_fd, parent);
    return *child < 0 ? nm_fail_errno(err, errno, "cannot start %s", words[0]) : NM_OK;
}

nm_status mcp_run_program(const char *const *words, int log_fd, int *exit_status, nm_error *err)
{
    pid_t child = 0;
    int ended = 0;
    nm_status status = start(words, log_fd, &child, err);

    if (status != NM_OK)
        return status;
    while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
        ;
    *exit_status = WIFEXITED(ended) ? WEXITSTATUS(ended) : CANNOT_RUN;
    if (*exit_status == CANNOT_RUN)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET,
                       WIFEXITED(ended) ? "%s is not beside this program" : "%s was ended by a signal", words[0]);
    return NM_OK;
}

void mcp_read_log(int fd, char said[MCP_SAID_BYTES], int *percent, char stage[MCP_SAID_BYTES])
{
    char text[LOG_BYTES + 1];
    struct stat info;
    size_t len = 0;

    said[0] = 0;
    if (fstat(fd, &info) == 0 && info.st_size > 0)
        len = info.st_size < LOG_BYTES ? (size_t)info.st_size : LOG_BYTES;
    if (len == 0 || nm_io_read_at(fd, text, len, (uint64_t)info.st_size - len, NULL) != NM_OK)
        return;
    text[len] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
        const char *word = line + sizeof PROGRESS_WORD - 1;

        if (strncmp(line, PROGRESS_WORD, sizeof PROGRESS_WORD - 1) != 0) {
            if (line[0] != 0)
                nm_shown_text(said, MCP_SAID_BYTES, line);
        } else if (word[0] >= '0' && word[0] <= '9') {
            *percent = atoi(word);
            stage[0] = 0;
        } else
            nm_shown_text(stage, MCP_SAID_BYTES, word);
    }
}

/* ---- One run ------------------------------------------------------------------------------------------------------------- */

static void end_load(mcp_run *run, int status)
{
    char stage[MCP_SAID_BYTES] = "";
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : CANNOT_RUN;

    run->child = 0;
    run->state = code == EXIT_DONE || code == EXIT_PARTIAL ? MCP_RUN_READY : MCP_RUN_FAILED;
    mcp_read_log(run->log_fd, run->said, &run->percent, stage);
    if (run->state == MCP_RUN_FAILED && run->said[0] == 0)
        snprintf(run->said, sizeof run->said, "%s", "npumem-ingest was ended, or is not beside this program");
    nm_io_close(run->log_fd);
    run->log_fd = -1;
}

static void look(mcp_run *run)
{
    char said[MCP_SAID_BYTES];
    int status;

    if (run->state != MCP_RUN_LOADING)
        return;
    if (waitpid(run->child, &status, WNOHANG) == run->child)
        end_load(run, status);
    else
        mcp_read_log(run->log_fd, said, &run->percent, run->said);
}

void mcp_run_wait(mcp_run *run, unsigned milliseconds)
{
    const struct timespec pause = {0, POLL_MS * 1000000};

    for (unsigned waited = 0; run->state == MCP_RUN_LOADING && waited < milliseconds; waited += POLL_MS) {
        nanosleep(&pause, NULL);
        look(run);
    }
}

static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    size_t got = 0;
    struct stat info;
    int fd = -1;
    bool is_one = nm_door_open_file(path, &fd, &info, NULL) == NM_OK &&
                  nm_io_read(fd, head, sizeof head, &got, NULL) == NM_OK && memcmp(head, magic, sizeof magic) == 0;

    nm_io_close(fd);
    return is_one;
}

static nm_status set_text(char **to, const char *text, nm_error *err)
{
    char *copy = strdup(text);

    if (copy == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    free(*to);
    *to = copy;
    return NM_OK;
}

/* ---- All of them ----------------------------------------------------------------------------------------------------------- */

static nm_status make_folder(mcp_runs *runs, nm_error *err)
{
    if (runs->folder[0] != 0)
        return NM_OK;
    nm_status status = nm_door_make_temporary("npumem-mcp", runs->folder, &runs->folder_fd, err);
    return status == NM_OK ? nm_cleanup_add(AT_FDCWD, runs->folder, runs->folder_fd, err) : status;
}

static nm_status begin_load(mcp_runs *runs, mcp_run *run, const char *handed, nm_error *err)
{
    char database[PATH_MAX + 32];
    size_t loading_count = 0;
    nm_status status = make_folder(runs, err);

    for (size_t i = 0; i < runs->count; i++) {
        look(runs->items[i]);
        loading_count += runs->items[i]->state == MCP_RUN_LOADING;
    }
    if (loading_count >= LOADING_MAX)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%d files are being loaded: ask again when one is ready",
                       LOADING_MAX);
    snprintf(database, sizeof database, "%s/%s.db", runs->folder, run->handle);
    const char *const words[] = {INGEST_PROGRAM, "--quiet", "--progress", "--force", "-o",
                                 database,       "--",      handed,       NULL};
    if (status == NM_OK)
        status = set_text(&run->database, database, err);
    if (status == NM_OK)
        status = nm_io_open_temporary(&run->log_fd, err);
    run->percent = 0;
    run->said[0] = 0;
    run->is_loaded = true;
    if (status == NM_OK && (status = start(words, run->log_fd, &run->child, err)) != NM_OK) {
        nm_io_close(run->log_fd);
        run->log_fd = -1;
    }
    run->state = status == NM_OK ? MCP_RUN_LOADING : MCP_RUN_FAILED;
    return status;
}

static void free_run(mcp_run *run)
{
    nm_io_close(run->log_fd);
    free(run->path);
    free(run->database);
    free(run);
}

static nm_status add(mcp_runs *runs, const char *path, mcp_run **out, nm_error *err)
{
    mcp_run *run = calloc(1, sizeof *run);
    nm_status status = run == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;

    if (status == NM_OK) {
        run->log_fd = -1;
        run->state = MCP_RUN_FAILED;
        snprintf(run->handle, sizeof run->handle, "h%zu", runs->count + 1);
        status = set_text(&run->path, path, err);
    }
    if (status == NM_OK)
        status = set_text(&run->database, path, err);
    if (status == NM_OK && runs->count == RUNS_MAX)
        status = nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "more than %d files were opened", RUNS_MAX);
    if (status == NM_OK)
        status = nm_array_grow(&runs->items, &runs->capacity, runs->count + 1, sizeof *runs->items, err);
    if (status == NM_OK)
        *out = runs->items[runs->count++] = run;
    else if (run != NULL)
        free_run(run);
    return status;
}

static bool is_same_time(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* What is to be read for it, as it is now: that may be another file than before. */
static nm_status renew(mcp_runs *runs, mcp_run *run, int held, const char *made, nm_error *err)
{
    char handed[NM_DOOR_HANDED_BYTES];
    struct stat info = {0};

    nm_door_hand(held, handed);
    fstat(held, &info);
    if (run->state == MCP_RUN_LOADING || (run->state == MCP_RUN_READY && is_same_time(&info, &run->input)))
        return NM_OK;
    run->input = info;
    if (made == NULL && is_database(handed))
        made = run->path;
    if (made == NULL)
        return begin_load(runs, run, handed, err);
    run->is_loaded = false;
    run->state = MCP_RUN_READY;
    return set_text(&run->database, made, err);
}

nm_status mcp_runs_open(mcp_runs *runs, const char *path, int held, const char *made, mcp_run **out, nm_error *err)
{
    nm_status status = NM_OK;

    *out = NULL;
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(runs->items[i]->path, path) == 0)
            *out = runs->items[i];
    if (*out == NULL)
        status = add(runs, path, out, err);
    if (status != NM_OK)
        return status;
    look(*out);
    return renew(runs, *out, held, made, err);
}

nm_status mcp_run_hold(const mcp_runs *runs, const mcp_run *run, int *held, char handed[NM_DOOR_HANDED_BYTES],
                       nm_error *err)
{
    char resolved[PATH_MAX];
    const char *name = strrchr(run->database, '/') + 1;
    nm_status status = NM_OK;

    *held = -1;
    if (!run->is_loaded)
        status = mcp_places_hold(runs->places, run->database, resolved, held, err);
    else if ((*held = nm_door_hold_below(runs->folder_fd, name)) < 0)
        status = nm_fail_errno(err, errno, "cannot open");
    nm_door_hand(*held, handed);
    return status;
}

nm_status mcp_run_open(const mcp_runs *runs, const mcp_run *run, nm_foreign **database, nm_error *err)
{
    char handed[NM_DOOR_HANDED_BYTES];
    int held;
    nm_status status = mcp_run_hold(runs, run, &held, handed, err);

    if (status == NM_OK)
        status = nm_foreign_open(handed, false, database, err);
    nm_io_close(held);
    return status;
}

nm_status mcp_runs_find(mcp_runs *runs, const char *handle, mcp_run **out, nm_error *err)
{
    for (size_t i = 0; i < runs->count; i++)
        if (strcmp(runs->items[i]->handle, handle) == 0) {
            *out = runs->items[i];
            look(*out);
            return NM_OK;
        }
    return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "there is no such handle: open gives one");
}

nm_status mcp_runs_ask(mcp_runs *runs, const char *handle, mcp_run **out, nm_foreign **database, nm_error *err)
{
    nm_status status = mcp_runs_find(runs, handle, out, err);

    if (status != NM_OK)
        return status;
    if ((*out)->state == MCP_RUN_LOADING)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s is loading, %d %%: ask again", (*out)->handle,
                       (*out)->percent);
    if ((*out)->state == MCP_RUN_FAILED)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s could not be loaded: %.100s", (*out)->handle, (*out)->said);
    return mcp_run_open(runs, *out, database, err);
}

void mcp_run_close(nm_foreign *database)
{
    nm_foreign_close(database);
    nm_read_limit_heap_end();
}

void mcp_runs_close(mcp_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++) {
        if (runs->items[i]->child > 0) {
            kill(runs->items[i]->child, SIGTERM);
            while (waitpid(runs->items[i]->child, NULL, 0) < 0 && errno == EINTR)
                ;
        }
        free_run(runs->items[i]);
    }
    free(runs->items);
    if (runs->folder[0] != 0) {
        nm_cleanup_remove(AT_FDCWD, runs->folder);
        nm_io_close(runs->folder_fd);
    }
}
