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
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/shown.h"
#include "base/text.h"
#include "store/cleanup.h"
#include "store/publish.h"
#include "tool/common/quiet.h"

static const char *name = "standard output";

const char *answer_name(void)
{
    return name;
}

char *answer_beside(const char *database, const char *suffix)
{
    const char *base = nm_path_name(database), *dot = strrchr(base, '.');
    int kept = (int)(dot == NULL || dot == base ? strlen(database) : (size_t)(dot - database));
    char *beside = NULL;

    return asprintf(&beside, "%.*s%s", kept, database, suffix) < 0 ? NULL : beside;
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

nm_status answer_check_output(const answer_request *request, const char *path, nm_error *err)
{
    nm_status status = nm_output_check(path, request->is_forced, -1, err);

    for (size_t i = 0; i < request->input_count && status == NM_OK; i++) {
        int input = -1;

        nm_io_open(request->inputs[i], O_RDONLY | O_NONBLOCK, 0, &input, NULL);
        status = nm_output_check(path, request->is_forced, input, err);
        nm_io_close(input);
    }
    return status;
}

/* The draft's lock goes on to standard output. */
static nm_status lead_output(const char *path, nm_draft *draft, nm_error *err)
{
    nm_status status = nm_draft_begin(path, draft, err);

    if (status == NM_OK && dup2(draft->fd, STDOUT_FILENO) < 0)
        status = nm_fail_write(err, errno);
    return status;
}

static nm_status publish(const answer_request *request, nm_draft *draft, nm_error *err)
{
    nm_status status = fflush(stdout) == 0 && ferror(stdout) == 0 ? NM_OK : nm_fail_write(err, errno);

    if (status == NM_OK)
        status = nm_draft_publish(draft, request->is_forced, err);
    return status == NM_OK ? nm_output_settle(request->path, err) : status;
}

static int report(const answer_request *request, const nm_error *err)
{
    fprintf(stderr, "%s: %s: %s\n", request->program, name, err->text);
    return err->status == NM_ERR_USAGE ? EXIT_USAGE : (int)request->failed;
}

static int run_into(const answer_request *request, nm_draft *draft, int (*run)(const void *context),
                    const void *context)
{
    nm_error err = {.offset = NM_NO_OFFSET};
    int result = run(context);

    if (result != (int)request->failed && result != EXIT_USAGE && publish(request, draft, &err) != NM_OK)
        result = report(request, &err);
    return result;
}

int answer_run(const answer_request *request, int (*run)(const void *context), const void *context)
{
    static char shown[PATH_MAX];
    nm_draft draft = {0};
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_status status;

    nm_cleanup_install();
    if (request->path == NULL || strcmp(request->path, "-") == 0) {
        if (request->is_quiet)
            quiet_begin();
        return run(context);
    }
    name = nm_shown_text(shown, sizeof shown, request->path);
    status = answer_check_output(request, request->path, &err);
    if (status == NM_OK)
        status = lead_output(request->path, &draft, &err);
    int result = status == NM_OK ? run_into(request, &draft, run, context) : report(request, &err);
    nm_draft_end(&draft);
    return result;
}
