/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-check: holds a database of npumem-ingest to rules, for the last step of a test run. It measures (check/rules.c),
 * prints (check/results.c) and ends with 0, 1 or 5; its command line is in check/options.c.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "base/spoken.h"
#include "report/findings_json.h"
#include "say/spoken.h"
#include "store/foreign.h"
#include "tool/check/junit.h"
#include "tool/check/options.h"
#include "tool/check/results.h"
#include "tool/common/answer.h"
#include "tool/common/busy.h"

/* ---- The work ---- */

static int report_error(const char *subject, const nm_error *err)
{
    char name[PATH_MAX];

    fprintf(stderr, "npumem-check: %s: %s\n", nm_shown_text(name, sizeof name, nm_error_subject(err, subject)),
            err->text);
    return EXIT_UNUSABLE;
}

/* What a filter hides. */
static nm_status say_chosen(sqlite3 *db, const check_options *options, nm_json *json, nm_error *err)
{
    int64_t chosen_count, all_count;
    nm_status status = check_count_heaps(db, &options->filter, &chosen_count, &all_count, err);

    if (status != NM_OK)
        return status;
    if (json != NULL) {
        nm_json_int(json, "chosen_count", chosen_count);
        nm_json_int(json, "all_count", all_count);
    } else if (chosen_count < all_count) {
        check_write_chosen(chosen_count, all_count, stdout);
    }
    return NM_OK;
}

/* What is said beside the lines of rules; as JSON, all there is to say of the database. */
static nm_status say_rest(const check_options *options, const check_result *results, sqlite3 *db, nm_buffer *out,
                          nm_error *err)
{
    const nm_findings_json_options findings = {.language = nm_spoken_language(), .database = options->database};
    nm_json json = {.out = out, .err = err};
    nm_status status;

    if (!options->is_json)
        return say_chosen(db, options, NULL, err);
    nm_answer_json_begin(&json, "check", options->database, findings.language);
    check_write_rules(results, options->rules.count, &json);
    status = say_chosen(db, options, &json, err);
    if (status == NM_OK)
        status = nm_findings_json(db, &findings, &json, err);
    return status == NM_OK ? nm_answer_json_end(&json) : status;
}

static int report_results(const check_options *options, const check_result *results, const nm_buffer *json)
{
    exit_code code = EXIT_DONE;

    for (size_t i = 0; i < options->rules.count; i++) {
        if (!results[i].is_ok && code != EXIT_NO)
            code = results[i].is_unjudged ? EXIT_UNJUDGED : EXIT_NO;
        if (!options->is_json)
            check_write_line(&results[i], stdout);
    }
    if (json->len > 0)
        fwrite(json->data, 1, json->len, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        nm_shown_print(stderr, "npumem-check: %s: %s: %s\n", answer_name(), nm_spoken("cannot write"),
                       nm_spoken(strerror(errno)));
        return EXIT_UNUSABLE;
    }
    return (int)code;
}

static int run_check(const void *context)
{
    const check_options *options = context;
    check_result *results = calloc(options->rules.count, sizeof *results);
    const char *subject = options->database;
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_foreign *database = NULL;
    nm_buffer json = {0};
    nm_busy busy;

    nm_busy_begin_answer(&busy, nm_spoken("checking"));
    nm_status status = results == NULL ? nm_fail(&err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                       : nm_foreign_open(options->database, false, &database, &err);

    for (size_t i = 0; i < options->rules.count && status == NM_OK; i++)
        status = check_measure(nm_foreign_db(database), &options->rules.items[i], &options->filter, &results[i],
                               &subject, &err);
    if (status == NM_OK)
        status = say_rest(options, results, nm_foreign_db(database), &json, &err);
    if (status == NM_OK && options->junit_path != NULL) {
        subject = options->junit_path;
        status = check_write_junit(subject, options->is_forced, options->database, results, options->rules.count, &err);
    }
    nm_busy_end(&busy);
    int result = status == NM_OK ? report_results(options, results, &json) : report_error(subject, &err);
    nm_buffer_free(&json);
    nm_foreign_close(database);
    free(results);
    return result;
}

/* Baselines are inputs, too. */
static int answer_check(const check_options *options)
{
    size_t count = options->rules.count;
    const char **inputs = calloc(count + 1, sizeof *inputs);
    answer_request request = {.program = "npumem-check",
                              .path = options->output_path,
                              .is_forced = options->is_forced,
                              .is_quiet = options->is_quiet,
                              .inputs = inputs,
                              .failed = EXIT_UNUSABLE};

    if (inputs == NULL) {
        fprintf(stderr, "npumem-check: %s\n", nm_spoken("out of memory"));
        return EXIT_UNUSABLE;
    }
    inputs[request.input_count++] = options->database;
    for (size_t i = 0; i < count; i++)
        if (options->rules.items[i].kind == CHECK_BASELINE)
            inputs[request.input_count++] = options->rules.items[i].baseline;
    nm_error err = {.offset = NM_NO_OFFSET};
    int result = EXIT_UNUSABLE;

    if (options->junit_path != NULL && answer_check_output(&request, options->junit_path, &err) != NM_OK)
        report_error(options->junit_path, &err);
    else
        result = answer_run(&request, run_check, options);
    free(inputs);
    return result;
}

int main(int argc, char **argv)
{
    check_options options = {0};
    options_outcome outcome = check_options_read(argc, argv, &options);
    int result = outcome == OPTIONS_READ ? answer_check(&options) : options_end(outcome, EXIT_UNUSABLE);

    check_options_free(&options);
    return result;
}
