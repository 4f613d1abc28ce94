/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-bundle: a database in one file that others can look at. The database is copied as ingest merges one that may come from
 * anybody, so that rows alone come along: no view, trigger, table or free page of the file. The copy lies beside the output
 * without a name to be found by, and goes into the tar as it is read.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/door.h"
#include "base/human.h"
#include "base/io.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "report/findings_json.h"
#include "say/spoken.h"
#include "screen/screen.h"
#include "store/database.h"
#include "store/store.h"
#include "tool/bundle/archive.h"
#include "tool/bundle/options.h"
#include "tool/bundle/report.h"
#include "tool/bundle/texts.h"
#include "tool/common/answer.h"
#include "tool/common/color.h"

#define SUFFIX         ".bundle.tar.zst"
#define NS_PER_S       INT64_C(1000000000)
#define STDOUT_SCRATCH "npumem-bundle.db" /* in the temporary folder */

typedef struct bundle {
    const bundle_options *options;
    const char *output;  /* borrowed; NULL: standard output */
    const char *subject; /* what an error is about */
    nm_store *store;     /* owned */
    bool is_compressed, is_redacted;
    int64_t time_seconds;
    nm_buffer report;
    nm_buffer readme, screen, findings, versions, settings, selfcheck;
    int database_fd;
} bundle;

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

/* ---- The copy ------------------------------------------------------------------------------------------------------ */

/* SQLite would wait for a pipe. */
static nm_status check_database(const char *path, nm_error *err)
{
    struct stat info;

    if (!nm_door_look(path, &info))
        return nm_fail_errno(err, errno, "cannot open");
    return S_ISREG(info.st_mode) ? NM_OK : nm_fail(err, NM_ERR_FORMAT, NM_NO_OFFSET, "not a file");
}

static nm_status copy_database(bundle *work, nm_error *err)
{
    const nm_store_options options = {.role = NM_STORE_MERGED,
                                      .retention = NM_RETENTION_LIVE,
                                      .adopts_thresholds = true,
                                      .is_scratch = true,
                                      .is_redacted = work->options->is_redacted,
                                      .input_fd = -1};
    char *path = answer_scratch(work->output, STDOUT_SCRATCH);
    nm_status status = path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                    : check_database(work->options->database, err);

    if (status == NM_OK) {
        work->subject = answer_name();
        status = nm_store_open(path, &options, &work->store, err);
    }
    if (status == NM_OK) {
        work->subject = work->options->database;
        status = nm_store_merge_file(work->store, work->options->database, NULL, err);
    }
    if (status == NM_OK)
        status = nm_store_finish_merged(work->store, err);
    free(path);
    return nm_name_written(status, answer_written(work->output), err);
}

/* ---- The texts ----------------------------------------------------------------------------------------------------- */

static nm_language language_of(const bundle_options *options)
{
    if (options->language == TOOL_LANGUAGE_AUTO)
        return nm_language_of_environment();
    return options->language == TOOL_LANGUAGE_CHINESE ? NM_CHINESE : NM_ENGLISH;
}

static nm_status write_screen(const bundle *work, nm_buffer *out, nm_error *err)
{
    return nm_screen_append(nm_store_db(work->store), BUNDLE_DATABASE, language_of(work->options), out, err);
}

static nm_status write_findings(const bundle *work, nm_buffer *out, nm_error *err)
{
    const nm_findings_json_options options = {.language = language_of(work->options), .database = BUNDLE_DATABASE};

    return nm_findings_json_append(nm_store_db(work->store), "bundle", &options, out, err);
}

/* Members have the time of the run: the same database gives the same bundle. */
static nm_status ask_facts(bundle *work, nm_error *err)
{
    sqlite3 *db = nm_store_db(work->store);
    int64_t redacted_count = 0, time_ns = 0;
    nm_status status = nm_db_get_int(db, "SELECT count(*) FROM meta WHERE key = 'redacted'", &redacted_count, err);

    if (status == NM_OK)
        status = nm_db_get_int(db, "SELECT max(max(start_realtime_ns), 0) FROM input", &time_ns, err);
    work->is_redacted = redacted_count > 0;
    work->time_seconds = time_ns == NM_NULL ? 0 : time_ns / NS_PER_S;
    return status;
}

static nm_status write_texts(bundle *work, nm_error *err)
{
    sqlite3 *db = nm_store_db(work->store);
    nm_bytes report = {work->report.data, work->report.len};
    nm_status status = bundle_write_readme(work->is_redacted, work->is_compressed, &work->readme, err);

    if (status == NM_OK)
        status = write_screen(work, &work->screen, err);
    if (status == NM_OK)
        status = write_findings(work, &work->findings, err);
    if (status == NM_OK)
        status = bundle_write_versions(db, &work->versions, err);
    if (status == NM_OK)
        status = bundle_write_settings(db, &work->settings, err);
    return status == NM_OK ? bundle_write_selfcheck(db, report, &work->selfcheck, err) : status;
}

/* ---- The archive --------------------------------------------------------------------------------------------------- */

static nm_status write_archive(const bundle *work, nm_error *err)
{
    const struct {
        const char *name;
        const nm_buffer *text; /* NULL: the database */
    } members[] = {
        {BUNDLE_FOLDER "README.txt", &work->readme},
        {BUNDLE_FOLDER "screen.txt", &work->screen},
        {BUNDLE_FOLDER "findings.json", &work->findings},
        {BUNDLE_FOLDER "versions.txt", &work->versions},
        {BUNDLE_FOLDER "settings.txt", &work->settings},
        {BUNDLE_FOLDER "selfcheck.txt", &work->selfcheck},
        {BUNDLE_FOLDER BUNDLE_DATABASE, NULL},
    };
    archive *made = NULL;
    nm_status status = archive_open(stdout, work->is_compressed, work->time_seconds, &made, err);

    for (size_t i = 0; i < sizeof members / sizeof *members && status == NM_OK; i++) {
        const nm_buffer *text = members[i].text;

        status = text == NULL ? archive_add_file(made, members[i].name, work->database_fd, err)
                              : archive_add(made, members[i].name, (nm_bytes){text->data, text->len}, err);
    }
    if (status == NM_OK)
        status = archive_end(made, err);
    archive_free(made);
    return status;
}

static nm_status make(bundle *work, nm_error *err)
{
    nm_status status = NM_OK;

    if (work->options->selfcheck_path != NULL) {
        work->subject = work->options->selfcheck_path;
        status = bundle_read_report(work->options->selfcheck_path, &work->report, err);
    }
    if (status != NM_OK)
        return status;
    work->subject = work->options->database;
    status = copy_database(work, err);
    if (status == NM_OK && work->options->is_redacted)
        status = bundle_redact_report(work->store, &work->report, err);
    if (status == NM_OK)
        status = ask_facts(work, err);
    if (status == NM_OK)
        status = write_texts(work, err);
    if (status == NM_OK)
        status = nm_store_take(work->store, &work->database_fd, err);
    if (status != NM_OK)
        return status;
    work->subject = answer_name();
    return write_archive(work, err);
}

static void free_work(bundle *work)
{
    nm_store_close(work->store);
    nm_io_close(work->database_fd);
    nm_buffer_free(&work->report);
    nm_buffer_free(&work->readme);
    nm_buffer_free(&work->screen);
    nm_buffer_free(&work->findings);
    nm_buffer_free(&work->versions);
    nm_buffer_free(&work->settings);
    nm_buffer_free(&work->selfcheck);
}

static int run_bundle(const void *context)
{
    bundle work = *(const bundle *)context;
    nm_error err = {.offset = NM_NO_OFFSET};
    char name[PATH_MAX];
    nm_status status = make(&work, &err);

    free_work(&work);
    if (status == NM_OK)
        return EXIT_DONE;
    fprintf(stderr, "npumem-bundle: %s: %s\n", nm_shown_text(name, sizeof name, nm_error_subject(&err, work.subject)),
            err.text);
    return status == NM_ERR_USAGE ? EXIT_USAGE : EXIT_NO;
}

/* ---- What is said -------------------------------------------------------------------------------------------------- */

static void say(const char *output, bool is_redacted)
{
    char name[PATH_MAX], size[NM_HUMAN_BYTES];
    struct stat info;

    if (!nm_door_look(output, &info))
        return;
    fprintf(stderr, "npumem-bundle: %s: %s%s\n", nm_shown_text(name, sizeof name, output),
            nm_human_bytes(size, (int64_t)info.st_size),
            is_redacted ? "" : nm_spoken("; it names hosts, users, paths and arguments (--redact replaces them)"));
}

static int answer_bundle(const bundle_options *options)
{
    bool is_stream = options->output_path != NULL && strcmp(options->output_path, "-") == 0;
    char *beside = options->output_path == NULL ? answer_beside(options->database, SUFFIX) : NULL;
    const char *output = options->output_path == NULL ? beside : options->output_path;
    const char *inputs[] = {options->database, options->selfcheck_path};
    int result;

    if (output == NULL) {
        fputs(nm_spoken("npumem-bundle: out of memory\n"), stderr);
        return EXIT_NO;
    }
    const answer_request request = {.program = "npumem-bundle",
                                    .path = output,
                                    .is_forced = options->is_forced,
                                    .inputs = inputs,
                                    .input_count = options->selfcheck_path == NULL ? 1 : 2,
                                    .failed = EXIT_NO};
    const bundle work = {.options = options,
                         .output = is_stream ? NULL : output,
                         .is_compressed = !ends_in(output, ".tar"),
                         .database_fd = -1};
    result = answer_run(&request, run_bundle, &work);
    if (result == EXIT_DONE && !is_stream && !options->is_quiet)
        say(output, options->is_redacted);
    free(beside);
    return result;
}

int main(int argc, char **argv)
{
    bundle_options options = {0};
    options_outcome outcome = bundle_options_read(argc, argv, &options);

    nm_io_hold_standard_streams();
    nm_spoken_in(language_of(&options));
    return outcome == OPTIONS_READ ? answer_bundle(&options) : options_end(outcome, EXIT_NO);
}
