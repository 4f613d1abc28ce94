/* SPDX-License-Identifier: Apache-2.0
 *
 * Values are printed for a shell to evaluate, so they are quoted against every byte; the output's folder is made absolute,
 * because the processes that read it have working folders of their own.
 */
#include "tool/record/environment.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/spoken.h"
#include "tool/record/child.h"
#include "tool/record/preload.h"
#include "tool/record/recording.h"

/* In quotes that take every byte but themselves. */
static void print_variable(const char *name, const char *value)
{
    printf("export %s='", name);
    for (; *value != 0; value++) {
        if (*value == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*value);
    }
    puts("'");
}

/* The processes have folders of their own. */
static nm_status make_absolute(const char *output, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    if (output[0] != '/') {
        char *folder = getcwd(NULL, 0);

        if (folder == NULL)
            return nm_fail_errno(err, errno, "cannot name this folder");
        for (const char *at = folder; *at != 0 && status == NM_OK; at++) /* no code of record_expand_name's */
            status = nm_buffer_append(out, *at == '%' ? "%%" : at, *at == '%' ? 2 : 1, err);
        free(folder);
        if (status == NM_OK)
            status = nm_buffer_append(out, "/", 1, err);
    }
    return status == NM_OK ? nm_buffer_append(out, output, strlen(output) + 1, err) : status;
}

static nm_status print_environment(const record_options *options, nm_error *err)
{
    nm_buffer output = {0};
    char library[PATH_MAX], *preload = NULL;
    nm_status status = recording_find_library(options, library, err);

    if (status == NM_OK && !record_child_try("", library))
        status = nm_fail(err, NM_ERR_IO, NM_NO_OFFSET, "no program runs under %s", strrchr(library, '/') + 1);
    if (status == NM_OK)
        status = make_absolute(options->output, &output, err);
    if (status == NM_OK && (preload = record_preload_value(library)) == NULL)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK) {
        print_variable("LD_PRELOAD", preload);
        print_variable(NM_HOST_ENVIRONMENT, (const char *)output.data);
        print_variable(NM_HOST_OPTIONS, options->words.data == NULL ? "" : (const char *)options->words.data);
    }
    free(preload);
    nm_buffer_free(&output);
    return status;
}

int record_print_environment(const record_options *options)
{
    nm_error err = {0};

    if (print_environment(options, &err) == NM_OK && fflush(stdout) == 0)
        return EXIT_DONE;
    fprintf(stderr, "npumem-record: %s\n", err.text[0] != 0 ? err.text : nm_spoken("cannot write to standard output"));
    return EXIT_NO;
}
