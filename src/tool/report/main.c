/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-report: databases of npumem-ingest as one HTML file: a run, a run beside another, or the ranks of a job. They may come
 * from anybody, and are opened as such. The file is there whole or not at all (tool/common/answer.h).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/door.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "base/text.h"
#include "page/write.h"
#include "report/compare.h"
#include "screen/screen.h"
#include "store/database.h"
#include "store/foreign.h"
#include "tool/common/answer.h"
#include "tool/common/busy.h"
#include "tool/report/join.h"
#include "tool/report/options.h"
#include "tool/report/settings.h"

static int say(const char *subject, const nm_error *err)
{
    char shown[PATH_MAX], name[PATH_MAX];

    subject = nm_door_name(nm_error_subject(err, subject), name);
    fprintf(stderr, "npumem-report: %s: %s\n", nm_shown_text(shown, sizeof shown, subject), err->text);
    return err->status == NM_ERR_USAGE ? EXIT_USAGE : EXIT_NO;
}

/* What a page is made of. */
typedef struct sources {
    const char *subject; /* what an error is about */
    nm_foreign *one;     /* owned; NULL where there are several */
    nm_store *several;   /* owned */
    nm_foreign *other;   /* owned: the run beside it, with the first attached as its base; NULL: none */
    nm_page_against against;
} sources;

static nm_status open_other(sources *from, const report_options *options, nm_error *err)
{
    from->subject = options->against;
    nm_status status = nm_foreign_open(options->against, !options->has_no_sql, &from->other, err);

    if (status == NM_OK) {
        from->subject = options->databases[0];
        status = nm_foreign_attach(from->other, options->databases[0], "base", false, err);
    }
    if (status != NM_OK)
        return status;
    from->against = (nm_page_against){nm_foreign_db(from->other), nm_path_name(options->against)};
    from->subject = options->against;
    return nm_compare_check(from->against.db, &(nm_compare_choice){0}, NULL, err);
}

static nm_status open_sources(sources *from, const report_options *options, nm_error *err)
{
    nm_status status;

    from->subject = options->databases[0];
    if (options->database_count > 1)
        return report_join(options, &from->subject, &from->several, err);
    status = nm_foreign_open(options->databases[0], true, &from->one, err);
    return status == NM_OK && options->against != NULL ? open_other(from, options, err) : status;
}

typedef struct report_work {
    const report_options *options;
    const char *path;         /* of the page; borrowed */
    const char *scratch_path; /* borrowed; NULL: no SQL */
} report_work;

static nm_status write_page(sources *from, const report_work *work, nm_error *err)
{
    const report_options *options = work->options;
    sqlite3 *db = from->several == NULL ? nm_foreign_db(from->one) : nm_store_db(from->several);
    report_settings settings = {0};
    nm_buffer summaries[2] = {{0}, {0}};
    char named[PATH_MAX];
    const char *name = nm_door_name(options->databases[0], named);
    nm_status status;

    from->subject = options->databases[0];
    status = nm_screen_texts(db, name, summaries, err);
    if (status == NM_OK && options->is_whatif)
        status = report_settings_ask(db, options->databases[0], &settings, err);
    const nm_page_options page = {
        .database_path = name,
        .database_count = options->database_count,
        .summaries = {(const char *)summaries[NM_ENGLISH].data, (const char *)summaries[NM_CHINESE].data},
        .language = nm_language_of_environment(),
        .bytes_max = options->bytes_max,
        .against = from->other == NULL ? NULL : &from->against,
        .whatif = settings.whatif.setting_count == 0 ? NULL : &settings.whatif,
        .scratch_path = work->scratch_path};
    if (status == NM_OK)
        status = nm_page_write(db, &page, stdout, err);
    report_settings_free(&settings);
    nm_buffer_free(&summaries[NM_ENGLISH]);
    nm_buffer_free(&summaries[NM_CHINESE]);
    return nm_name_written(status, answer_written(work->path), err);
}

/* Prints the page. */
static int print_page(const void *context)
{
    const report_work *work = context;
    const report_options *options = work->options;
    nm_error err = {.offset = NM_NO_OFFSET};
    sources from = {0};
    nm_busy busy;
    nm_status status;

    nm_busy_begin(&busy, nm_spoken("the page"), stdout);
    status = open_sources(&from, options, &err);
    if (status == NM_OK)
        status = write_page(&from, work, &err);
    nm_busy_end(&busy);
    nm_foreign_close(from.other);
    nm_foreign_close(from.one);
    nm_store_close(from.several);
    if (status != NM_OK)
        return say(from.subject, &err);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        nm_fail_write(&err, errno);
        return say(answer_name(), &err);
    }
    return EXIT_DONE;
}

/* The page may stand for none of what it is made of. */
static const char **list_inputs(const report_options *options, size_t *count)
{
    const char **inputs = calloc(options->database_count + 1, sizeof *inputs);

    *count = 0;
    for (; inputs != NULL && *count < options->database_count; ++*count)
        inputs[*count] = options->databases[*count];
    if (inputs != NULL && options->against != NULL)
        inputs[(*count)++] = options->against;
    return inputs;
}

/* Another name than that of several databases put together, which lie there meanwhile. */
static char *name_scratch(const char *path)
{
    char *name = NULL;

    if (path == NULL || strcmp(path, "-") == 0)
        return answer_scratch(path, REPORT_SQL_SCRATCH);
    return asprintf(&name, "%s.sql.db", path) < 0 ? NULL : name;
}

static int write_answer(const report_options *options, const char *path)
{
    size_t input_count = 0;
    const char **inputs = list_inputs(options, &input_count);
    const answer_request request = {.program = "npumem-report",
                                    .path = path,
                                    .is_forced = options->is_forced,
                                    .inputs = inputs,
                                    .input_count = input_count,
                                    .failed = EXIT_NO};
    bool wants_sql = !options->has_no_sql;
    char *scratch = wants_sql ? name_scratch(path) : NULL;
    const report_work work = {.options = options, .path = path, .scratch_path = scratch};
    int result = EXIT_NO;

    if (inputs == NULL || (wants_sql && scratch == NULL))
        fputs(nm_spoken("npumem-report: out of memory\n"), stderr);
    else
        result = answer_run(&request, print_page, &work);
    free(scratch);
    free(inputs);
    return result;
}

static int run_report(const report_options *options)
{
    char *beside = options->output == NULL ? answer_beside(options->databases[0], ".html") : NULL;
    int result = EXIT_NO;

    if (options->output == NULL && beside == NULL)
        fputs(nm_spoken("npumem-report: out of memory\n"), stderr);
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
