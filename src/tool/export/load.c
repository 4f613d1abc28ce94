/* SPDX-License-Identifier: Apache-2.0
 *
 * What is no database is loaded by npumem-ingest itself, the program beside this one, into a folder of its own in the temporary
 * folder: one way to load a trace, with all that it says about losses.
 */
#include "tool/export/load.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/spoken.h"
#include "store/cleanup.h"
#include "tool/common/exit_status.h"
#include "tool/common/progress.h"

#define INGEST_PROGRAM "npumem-ingest"
#define CANNOT_RUN     127

/* A file that cannot be read is left to who opens it next. */
static bool is_database(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char head[sizeof magic] = "";
    size_t got = 0;
    int fd = -1;
    bool is_one = nm_io_open(path, O_RDONLY | O_NONBLOCK, 0, &fd, NULL) != NM_OK ||
                  nm_io_read(fd, head, sizeof head, &got, NULL) != NM_OK || memcmp(head, magic, sizeof magic) == 0;

    nm_io_close(fd);
    return strcmp(path, "-") != 0 && is_one;
}

static nm_status make_folder(export_input *input, nm_error *err)
{
    nm_status status = nm_door_make_temporary("npumem-export", input->folder, &input->folder_fd, err);

    return status == NM_OK ? nm_cleanup_add(AT_FDCWD, input->folder, input->folder_fd, err) : status;
}

static nm_status load(const char *path, bool is_redacted, export_input *input, bool *is_said, nm_error *err)
{
    char program[PATH_MAX];
    int status = 0, lines[2];
    nm_status shown = NM_OK;

    if (nm_own_beside(INGEST_PROGRAM, program, err) != NM_OK)
        return err->status;
    if (pipe2(lines, O_CLOEXEC) != 0)
        return nm_fail_errno(err, errno, "cannot start npumem-ingest");
    pid_t child = fork();
    if (child == 0) {
        if (dup2(lines[1], STDERR_FILENO) >= 0)
            execl(program, INGEST_PROGRAM, is_redacted ? "--redact" : "--quiet", "--quiet", "--progress", "-o",
                  input->file, "--", path, (char *)NULL);
        _exit(CANNOT_RUN);
    }
    nm_io_close(lines[1]);
    if (child < 0)
        nm_io_close(lines[0]);
    else
        shown = nm_progress_follow(lines[0], nm_spoken("reading it"), true, err);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return nm_fail_errno(err, errno, "cannot start npumem-ingest");
    if (shown != NM_OK)
        return shown;
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is no database, and npumem-ingest is not beside this program");
    input->is_partial = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_PARTIAL;
    if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_DONE || input->is_partial))
        return NM_OK;
    *is_said = WIFEXITED(status);
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "npumem-ingest was ended by a signal");
}

nm_status export_input_load(const char *path, bool is_redacted, export_input *out, bool *is_said, nm_error *err)
{
    nm_status status = NM_OK;

    *out = (export_input){.file = path};
    if (!is_redacted && is_database(path))
        return NM_OK;
    status = make_folder(out, err);
    if (status == NM_OK && asprintf(&out->own_file, "%s/input.db", out->folder) < 0) {
        out->own_file = NULL;
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    out->file = out->own_file;
    return status == NM_OK ? load(path, is_redacted, out, is_said, err) : status;
}

nm_status export_input_open(export_input *input, bool reads_events, nm_error *err)
{
    return nm_foreign_open(input->file, reads_events, &input->database, err);
}

void export_input_shut(export_input *input)
{
    nm_foreign_close(input->database);
    input->database = NULL;
}

void export_input_close(export_input *input)
{
    export_input_shut(input);
    free(input->own_file);
    if (input->folder[0] == 0)
        return;
    nm_cleanup_remove(AT_FDCWD, input->folder);
    nm_io_close(input->folder_fd);
}
