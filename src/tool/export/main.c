/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-export: a database of npumem-ingest in the format of another tool; a trace or a snapshot is loaded first
 * (export/load.c). The database may come from anybody: it is opened as such. A file is written beside its place and moved there when it is whole; what goes to standard output goes as it
 * comes.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/answer.h"
#include "say/spoken.h"
#include "store/cleanup.h"
#include "store/database.h"
#include "store/publish.h"
#include "tool/common/answer.h"
#include "tool/common/busy.h"
#include "tool/export/fleet.h"
#include "tool/export/load.h"
#include "tool/export/options.h"

typedef struct export_run {
    const export_options *options;
    const char *subject; /* what an error is about */
    char *output;        /* owned; NULL: standard output */
    nm_draft draft;
    FILE *file;
    export_input input;
    bool is_said; /* the error, by another program */
    nm_busy busy;
} export_run;

/* May the output stand where it is to stand? */
static nm_status check_output(export_run *run, nm_error *err)
{
    const export_options *options = run->options;
    int input = -1;
    nm_status status;

    if (options->output != NULL && strcmp(options->output, "-") == 0)
        return NM_OK;
    run->output = options->output == NULL ? answer_beside(options->databases[0], options->format->suffix)
                                          : strdup(options->output);
    if (run->output == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (strcmp(options->databases[0], "-") != 0) {
        status = nm_io_open(options->databases[0], O_RDONLY | O_NONBLOCK, 0, &input, err);
        if (status != NM_OK)
            return status;
    }
    run->subject = run->output;
    status = nm_output_check(run->output, options->is_forced, input, err);
    nm_io_close(input);
    return status;
}

static nm_status open_output(export_run *run, nm_error *err)
{
    nm_status status;

    run->subject = run->output == NULL ? "standard output" : run->output;
    run->file = stdout;
    if (run->output == NULL)
        return NM_OK;
    run->file = NULL;
    status = nm_draft_begin(run->output, &run->draft, err);
    if (status == NM_OK && (run->file = nm_draft_stream(&run->draft)) == NULL)
        status = nm_fail_write(err, errno);
    return status;
}

static nm_status close_output(export_run *run, nm_error *err)
{
    bool is_bad = fflush(run->file) != 0 || ferror(run->file);

    if (is_bad)
        return nm_fail_write(err, errno);
    if (run->output == NULL)
        return NM_OK;
    is_bad = fclose(run->file) != 0;
    run->file = NULL;
    if (is_bad)
        return nm_fail_write(err, errno);
    nm_status status = nm_draft_publish(&run->draft, run->options->is_forced, err);
    return status == NM_OK ? nm_output_settle(run->output, err) : status;
}

static nm_status write_all(export_run *run, nm_error *err)
{
    const export_options *options = run->options;
    nm_export export = {.is_raw = options->is_raw};
    nm_status status = export_input_load(options->databases[0], false, &run->input, &run->is_said, err);

    if (status == NM_OK)
        status = export_input_open(&run->input, options->format->reads_events, err);
    if (status == NM_OK) {
        export.db = nm_foreign_db(run->input.database);
        status = nm_moment_find(export.db, options->at, &export.moment, err);
    }
    if (status == NM_OK)
        status = check_output(run, err);
    if (status == NM_OK)
        status = open_output(run, err);
    if (status != NM_OK)
        return status;
    export.out = run->busy.out = run->file;
    run->subject = options->databases[0];
    status = options->format->write(&export, err);
    if (status != NM_OK)
        return status;
    run->subject = run->output == NULL ? "standard output" : run->output;
    return close_output(run, err);
}

static int run_export(const export_options *options)
{
    nm_error err = {.offset = NM_NO_OFFSET};
    export_run run = {.options = options, .subject = options->databases[0]};
    char name[PATH_MAX];
    bool is_fleet = options->format->write == NULL, is_partial = false;
    nm_status status;

    nm_busy_begin(&run.busy, options->format->name, NULL);
    status = is_fleet ? export_fleet(options, &run.subject, &run.is_said, &is_partial, &err) : write_all(&run, &err);
    nm_busy_end(&run.busy);
    if (status != NM_OK && !run.is_said)
        fprintf(stderr, "npumem-export: %s: %s\n",
                nm_shown_text(name, sizeof name, nm_error_subject(&err, run.subject)), err.text);
    if (run.file != NULL && run.file != stdout)
        fclose(run.file);
    nm_draft_end(&run.draft);
    export_input_close(&run.input);
    free(run.output);
    if (status != NM_OK)
        return status == NM_ERR_USAGE ? EXIT_USAGE : EXIT_NO;
    if (!run.input.is_partial && !is_partial)
        return EXIT_DONE;
    if (!options->is_quiet)
        fprintf(stderr, nm_spoken("npumem-export: %s: not complete: npumem ingest says what is missing\n"),
                nm_shown_text(name, sizeof name, options->databases[0]));
    return EXIT_PARTIAL;
}

/* ---- The formats ---- */

static nm_status make_list(const export_options *options, nm_buffer *out, nm_error *err)
{
    nm_json json = {.out = out, .err = err};
    size_t count;
    const export_format *formats = export_formats(&count);

    if (options->is_json)
        nm_answer_json_begin(&json, "export", NULL, nm_spoken_language());
    if (options->is_json)
        nm_json_begin(&json, "exports", '[');
    for (size_t i = 0; i < count; i++) {
        if (!options->is_json) {
            printf("%-10s %-10s %s\n", formats[i].name, formats[i].suffix, nm_spoken(formats[i].reader));
            continue;
        }
        nm_json_begin(&json, NULL, '{');
        nm_json_text(&json, "format", formats[i].name);
        nm_json_text(&json, "suffix", formats[i].suffix);
        nm_json_text(&json, "read_by", nm_spoken(formats[i].reader));
        nm_json_end(&json, '}');
    }
    if (!options->is_json)
        return NM_OK;
    nm_json_end(&json, ']');
    return nm_answer_json_end(&json);
}

static int run_list(const export_options *options)
{
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_buffer text = {0};
    nm_status status;

    if (options->is_quiet)
        return EXIT_DONE;
    status = make_list(options, &text, &err);
    if (status == NM_OK &&
        ((text.len > 0 && fwrite(text.data, 1, text.len, stdout) != text.len) || fflush(stdout) != 0))
        status = nm_fail_write(&err, errno);
    nm_buffer_free(&text);
    if (status != NM_OK)
        fprintf(stderr, "npumem-export: standard output: %s\n", err.text);
    return status == NM_OK ? EXIT_DONE : EXIT_NO;
}

int main(int argc, char **argv)
{
    export_options options = {0};
    options_outcome outcome = export_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    nm_db_use_one_thread();
    nm_cleanup_install();
    if (outcome == OPTIONS_READ && options.is_list)
        return run_list(&options);
    return outcome == OPTIONS_READ ? run_export(&options) : options_end(outcome, EXIT_NO);
}
