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

#include "base/io.h"
#include "base/own_path.h"
#include "store/cleanup.h"
#include "tool/common/exit_status.h"

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
    const char *place = nm_io_temporary_folder();
    nm_status status;

    if (snprintf(input->folder, sizeof input->folder - 16, "%s/npumem-export-XXXXXX", place) >=
        (int)sizeof input->folder - 16) {
        input->folder[0] = 0;
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "the path of the temporary folder is too long");
    }
    if (mkdtemp(input->folder) == NULL) {
        input->folder[0] = 0;
        return nm_name_written(nm_fail_write(err, errno), place, err);
    }
    status = nm_cleanup_add(input->folder, err);
    snprintf(input->file, sizeof input->file, "%.*s/input.db", (int)sizeof input->folder - 16, input->folder);
    return status == NM_OK ? nm_cleanup_add(input->file, err) : status;
}

static nm_status load(const char *path, export_input *input, bool *is_said, nm_error *err)
{
    char program[PATH_MAX];
    int status = 0;

    if (nm_own_beside(INGEST_PROGRAM, program, err) != NM_OK)
        return err->status;
    pid_t child = fork();
    if (child == 0) {
        execl(program, INGEST_PROGRAM, "--quiet", "-o", input->file, "--", path, (char *)NULL);
        _exit(CANNOT_RUN);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (child < 0)
        return nm_fail_errno(err, errno, "cannot start npumem-ingest");
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_RUN)
        return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "is no database, and npumem-ingest is not beside this program");
    input->is_partial = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_PARTIAL;
    if (WIFEXITED(status) && (WEXITSTATUS(status) == EXIT_DONE || input->is_partial))
        return NM_OK;
    *is_said = WIFEXITED(status);
    return nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "npumem-ingest was ended by a signal");
}

nm_status export_input_open(const char *path, export_input *out, bool *is_said, nm_error *err)
{
    nm_status status = NM_OK;

    *out = (export_input){0};
    if (is_database(path))
        return nm_foreign_open(path, true, &out->database, err);
    status = make_folder(out, err);
    if (status == NM_OK)
        status = load(path, out, is_said, err);
    return status == NM_OK ? nm_foreign_open(out->file, true, &out->database, err) : status;
}

void export_input_close(export_input *input)
{
    nm_foreign_close(input->database);
    if (input->file[0] != 0)
        nm_cleanup_remove(input->file);
    if (input->folder[0] != 0)
        nm_cleanup_remove(input->folder);
}
