/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-report: a database of npumem-ingest as one HTML file. The database may come from anybody: it is opened as such. The
 * file is there whole or not at all (tool/common/answer.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/shown.h"
#include "report/html.h"
#include "store/database.h"
#include "store/foreign.h"
#include "tool/common/answer.h"
#include "tool/report/options.h"

/* "runs/a.db" -> "runs/a.html" */
static char *name_beside(const char *database)
{
    const char *slash = strrchr(database, '/'), *base = slash == NULL ? database : slash + 1;
    const char *dot = strrchr(base, '.');
    int kept = (int)(dot == NULL || dot == base ? strlen(database) : (size_t)(dot - database));
    char *name = NULL;

    return asprintf(&name, "%.*s.html", kept, database) < 0 ? NULL : name;
}

static int say(const char *subject, const nm_error *err)
{
    char name[PATH_MAX];

    fprintf(stderr, "npumem-report: %s: %s\n", nm_shown_text(name, sizeof name, subject), err->text);
    return EXIT_NO;
}

#define STDOUT_SCRATCH "npumem-report.db" /* in the temporary folder */

typedef struct report_work {
    const report_options *options;
    const char *scratch_path; /* borrowed; NULL: no SQL */
} report_work;

/* Prints the page. */
static int write_page(const void *context)
{
    const report_work *work = context;
    const report_options *options = work->options;
    const nm_html_options page = {.database_path = options->database,
                                  .language = nm_language_of_environment(),
                                  .bytes_max = options->bytes_max,
                                  .scratch_path = work->scratch_path};
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_foreign *database = NULL;
    nm_status status = nm_foreign_open(options->database, true, &database, &err);

    if (status == NM_OK)
        status = nm_html_write(nm_foreign_db(database), &page, stdout, &err);
    nm_foreign_close(database);
    if (status != NM_OK)
        return say(options->database, &err);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        nm_fail_errno(&err, errno, "cannot write");
        return say(answer_name(), &err);
    }
    return EXIT_DONE;
}

static int write_answer(const report_options *options, const char *path)
{
    const answer_request request = {.program = "npumem-report",
                                    .path = path,
                                    .is_forced = options->is_forced,
                                    .inputs = &options->database,
                                    .input_count = 1,
                                    .failed = EXIT_NO};
    char *scratch = options->has_no_sql ? NULL : answer_scratch(path, STDOUT_SCRATCH);
    const report_work work = {.options = options, .scratch_path = scratch};
    int result = EXIT_NO;

    if (scratch == NULL && !options->has_no_sql)
        fputs("npumem-report: out of memory\n", stderr);
    else
        result = answer_run(&request, write_page, &work);
    free(scratch);
    return result;
}

static int run_report(const report_options *options)
{
    char *beside = options->output == NULL ? name_beside(options->database) : NULL;
    int result = EXIT_NO;

    if (options->output == NULL && beside == NULL)
        fputs("npumem-report: out of memory\n", stderr);
    else
        result = write_answer(options, beside == NULL ? options->output : beside);
    free(beside);
    return result;
}

int main(int argc, char **argv)
{
    report_options options = {0};
    options_outcome outcome = report_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    nm_db_use_one_thread();
    return outcome == OPTIONS_READ ? run_report(&options) : options_end(outcome, EXIT_NO);
}
