/* SPDX-License-Identifier: Apache-2.0
 *
 * The message of a failure is the line that is printed of the rule. XML knows no control characters, not even by their numbers.
 */
#include "tool/check/junit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "store/publish.h"
#include "tool/check/results.h"

static void write_text(const char *text, FILE *out)
{
    static const struct {
        char character;
        const char *entity;
    } entities[] = {{'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}};
    size_t len = strlen(text), bytes;

    for (size_t at = 0; at < len; at += bytes) {
        uint32_t character;
        const char *entity = NULL;

        bytes = nm_shown_next(text + at, len - at, &character);
        for (size_t i = 0; i < sizeof entities / sizeof entities[0]; i++)
            if (text[at] == entities[i].character)
                entity = entities[i].entity;
        if (entity != NULL || !nm_shown_is_safe(character))
            fputs(entity != NULL ? entity : "?", out);
        else
            fwrite(text + at, 1, bytes, out);
    }
}

/* The line of the rule, in the element of what became of it. */
static nm_status write_outcome(const check_result *result, FILE *out, nm_error *err)
{
    char *line = NULL;
    size_t len = 0;
    FILE *stream = open_memstream(&line, &len);

    if (stream != NULL)
        check_write_line(result, stream);
    if (stream == NULL || fclose(stream) != 0) {
        free(line);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    line[strcspn(line, "\n")] = 0;
    fprintf(out, "      <%s message=\"", result->is_unjudged ? "skipped" : "failure");
    write_text(line, out);
    fputs("\"/>\n", out);
    free(line);
    return NM_OK;
}

static void write_counts(const check_result *results, size_t count, FILE *out)
{
    size_t failure_count = 0, skipped_count = 0;

    for (size_t i = 0; i < count; i++) {
        skipped_count += results[i].is_unjudged;
        failure_count += !results[i].is_unjudged && !results[i].is_ok;
    }
    fprintf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\">\n", count, failure_count,
            skipped_count);
}

static nm_status write_suite(const char *database, const check_result *results, size_t count, FILE *out, nm_error *err)
{
    nm_status status = NM_OK;

    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"npumem-check\"", out);
    write_counts(results, count, out);
    fputs("  <testsuite name=\"", out);
    write_text(database, out);
    fputs("\"", out);
    write_counts(results, count, out);
    for (size_t i = 0; i < count && status == NM_OK; i++) {
        bool is_plain = results[i].is_ok && !results[i].is_unjudged;

        fprintf(out, "    <testcase classname=\"npumem-check\" name=\"%s\"%s>\n", results[i].name, is_plain ? "/" : "");
        if (is_plain)
            continue;
        status = write_outcome(&results[i], out, err);
        fputs("    </testcase>\n", out);
    }
    fputs("  </testsuite>\n</testsuites>\n", out);
    return status;
}

nm_status check_write_junit(const char *path, bool is_forced, const char *database, const check_result *results,
                            size_t count, nm_error *err)
{
    nm_draft draft = {0};
    FILE *out = NULL;
    nm_status status = nm_draft_begin(path, &draft, err);

    if (status == NM_OK && (out = nm_draft_stream(&draft)) == NULL)
        status = nm_fail_write(err, errno);
    if (status == NM_OK)
        status = write_suite(database, results, count, out, err);
    if (out != NULL && fclose(out) != 0 && status == NM_OK)
        status = nm_fail_write(err, errno);
    if (status == NM_OK)
        status = nm_draft_publish(&draft, is_forced, err);
    nm_draft_end(&draft);
    return status == NM_OK ? nm_output_settle(path, err) : status;
}
