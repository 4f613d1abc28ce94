/* SPDX-License-Identifier: Apache-2.0
 *
 * There is one standard output, so what stands for it is kept here and not handed around.
 */
#include "tool/common/answer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/shown.h"
#include "store/cleanup.h"
#include "store/publish.h"
#include "tool/common/quiet.h"

static const char *name = "standard output";

const char *answer_name(void)
{
    return name;
}

const char *answer_written(const char *path)
{
    return path != NULL && strcmp(path, "-") != 0 ? path : nm_io_temporary_folder();
}

char *answer_scratch(const char *path, const char *scratch_name)
{
    char *scratch = NULL;
    int len;

    if (path != NULL && strcmp(path, "-") != 0)
        return asprintf(&scratch, "%s.db", path) < 0 ? NULL : scratch;
    umask(S_IRWXG | S_IRWXO);
    len = asprintf(&scratch, "%s/%s", nm_io_temporary_folder(), scratch_name);
    return len < 0 ? NULL : scratch;
}

/* May it be written there? Not over what is asked. */
static nm_status check_output(const answer_request *request, nm_error *err)
{
    nm_status status = nm_output_check(request->path, request->is_forced, -1, err);

    for (size_t i = 0; i < request->input_count && status == NM_OK; i++) {
        int input = open(request->inputs[i], O_RDONLY | O_CLOEXEC | O_NONBLOCK);

        status = nm_output_check(request->path, request->is_forced, input, err);
        nm_io_close(input);
    }
    return status;
}

/* The lock says that the file has a living owner, as nm_output_sweep asks: it stays open as standard output. */
static nm_status lead_output(const char *path, nm_error *err)
{
    int fd = -1;
    nm_status status = nm_cleanup_add(path, err);

    if (status == NM_OK)
        status = nm_io_open(path, O_WRONLY | O_CREAT | O_EXCL, 0666, &fd, err);
    if (status != NM_OK) {
        nm_cleanup_forget(path);
        return status;
    }
    flock(fd, LOCK_EX | LOCK_NB);
    if (dup2(fd, STDOUT_FILENO) < 0)
        status = nm_fail_write(err, errno);
    nm_io_close(fd);
    if (status != NM_OK)
        nm_cleanup_remove(path);
    return status;
}

static nm_status publish(const answer_request *request, const char *temporary, nm_error *err)
{
    nm_status status = fflush(stdout) == 0 && ferror(stdout) == 0 ? NM_OK : nm_fail_write(err, errno);

    if (status == NM_OK)
        status = nm_output_publish(temporary, request->path, request->is_forced, err);
    if (status != NM_OK)
        return status;
    nm_cleanup_forget(temporary);
    return nm_output_settle(request->path, err);
}

static int report(const answer_request *request, const nm_error *err)
{
    fprintf(stderr, "%s: %s: %s\n", request->program, name, err->text);
    return err->status == NM_ERR_USAGE ? EXIT_USAGE : (int)request->failed;
}

static int run_into(const answer_request *request, const char *temporary, int (*run)(const void *context),
                    const void *context)
{
    nm_error err = {.offset = NM_NO_OFFSET};
    int result = run(context);

    if (result != (int)request->failed && result != EXIT_USAGE && publish(request, temporary, &err) != NM_OK)
        result = report(request, &err);
    nm_cleanup_remove(temporary); /* nothing, where it has its name */
    return result;
}

int answer_run(const answer_request *request, int (*run)(const void *context), const void *context)
{
    static char shown[PATH_MAX];
    char *temporary = NULL;
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_status status;

    nm_cleanup_install();
    if (request->path == NULL || strcmp(request->path, "-") == 0) {
        if (request->is_quiet)
            quiet_begin();
        return run(context);
    }
    name = nm_shown_text(shown, sizeof shown, request->path);
    status = check_output(request, &err);
    if (status == NM_OK) {
        nm_output_sweep(request->path);
        status = nm_output_temporary(request->path, &temporary, &err);
    }
    if (status == NM_OK)
        status = lead_output(temporary, &err);
    int result = status == NM_OK ? run_into(request, temporary, run, context) : report(request, &err);
    free(temporary);
    return result;
}
