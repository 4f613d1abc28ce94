/* SPDX-License-Identifier: Apache-2.0
 *
 * Plain text, a section for each question, in the views' own words where there are some.
 */
#include "tool/selfcheck/text.h"

#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "base/spoken.h"
#include "say/spoken.h"

#define NS_PER_MS  1e6
#define TAIL_BYTES 4000 /* of what the program printed, where it failed */

void selfcheck_say(nm_buffer *out, const char *format, ...)
{
    va_list values;
    char *text = NULL;
    int len;

    va_start(values, format);
    len = vasprintf(&text, nm_spoken(format), values);
    va_end(values);
    if (len < 0)
        return;
    nm_buffer_append(out, text, (size_t)len, NULL);
    free(text);
}

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

int64_t selfcheck_median(const int64_t times[SELFCHECK_ROUNDS])
{
    int64_t sorted[SELFCHECK_ROUNDS];

    memcpy(sorted, times, sizeof sorted);
    qsort(sorted, SELFCHECK_ROUNDS, sizeof *sorted, compare_times);
    return sorted[SELFCHECK_ROUNDS / 2];
}

/* ---- Sections ------------------------------------------------------------------------------------------------------ */

const char *selfcheck_verdict(const selfcheck_result *result)
{
    return !result->is_compared ? "FAILED" : result->reason[0] == 0 ? "AGREES" : "DISAGREES";
}

const char *selfcheck_reason(const selfcheck_result *result)
{
    return nm_spoken_language() == NM_ENGLISH ? result->reason : result->spoken;
}

const char *selfcheck_state(const selfcheck_line *line)
{
    return line->said == SELFCHECK_UNKNOWN ? "not said"
           : !selfcheck_agrees(line)       ? "DIFFERS"
           : line->said == line->seen      ? "same"
                                           : "about the same";
}

static void say_lines(const nm_buffer *lines, nm_buffer *out)
{
    if (lines->len > 0)
        nm_buffer_append(out, lines->data, lines->len, NULL);
}

static void say_head(const selfcheck_result *result, nm_buffer *out)
{
    struct utsname host = {0};
    char date[32] = "";
    time_t now = time(NULL);
    struct tm parts;

    uname(&host);
    if (localtime_r(&now, &parts) != NULL)
        strftime(date, sizeof date, "%Y-%m-%d %H:%M %z", &parts);
    selfcheck_say(out, result->reason[0] == 0 ? "npumem self-check: %s\n" : "npumem self-check: %s: %s\n",
                  nm_spoken(selfcheck_verdict(result)), selfcheck_reason(result));
    if (result->is_standin)
        selfcheck_say(
            out, "This is no NPU: it was recorded on npumem's stand-in for CANN, which tells nothing of a device.\n");
    selfcheck_say(out, "%s, %s\n", host.nodename, date);
    if (result->program != NULL)
        selfcheck_say(out, "recorded: %s\n", nm_spoken(result->program));
    say_lines(&result->notes[nm_spoken_language()], out);
}

static void say_figures(const selfcheck_result *result, nm_buffer *out)
{
    const selfcheck_comparison *comparison = &result->comparison;

    selfcheck_say(out,
                  comparison->pool[0] == 0 ? "\nFigures, in bytes and blocks%s: the recorder saw no pool\n"
                                           : "\nFigures, in bytes and blocks: pool \"%s\"\n",
                  comparison->pool);
    for (size_t i = 0; i < SELFCHECK_LINES; i++) {
        const selfcheck_line *line = &comparison->lines[i];
        const char *what = nm_spoken(line->what), *said_by = nm_spoken(line->said_by);
        char said[32], seen[32], allowed[32];

        selfcheck_digits(line->said, said);
        selfcheck_digits(line->seen, seen);
        selfcheck_digits(line->allowed_bytes, allowed);
        selfcheck_say(out, "  %*s %*s %16s   npumem %16s   %s", nm_spoken_width(-26, what), what,
                      nm_spoken_width(22, said_by), said_by, said, seen, nm_spoken(selfcheck_state(line)));
        selfcheck_say(out, line->allowed_bytes > 0 ? " (up to %s)\n" : "\n", allowed);
    }
}

static double ms(int64_t ns)
{
    return (double)ns / NS_PER_MS;
}

static void say_runs(const char *what, int64_t times[SELFCHECK_ROUNDS], nm_buffer *out)
{
    qsort(times, SELFCHECK_ROUNDS, sizeof *times, compare_times);
    selfcheck_say(out, "%s %.2f ms (%.2f to %.2f)", nm_spoken(what), ms(times[SELFCHECK_ROUNDS / 2]), ms(times[0]),
                  ms(times[SELFCHECK_ROUNDS - 1]));
}

static void say_slowdown(const char *name, const int64_t *plain, const int64_t *recorded, nm_buffer *out)
{
    int64_t without[SELFCHECK_ROUNDS], with[SELFCHECK_ROUNDS];
    int64_t plain_ns = selfcheck_median(plain), recorded_ns = selfcheck_median(recorded);

    if (plain_ns <= 0 || recorded_ns <= 0)
        return;
    memcpy(without, plain, sizeof without);
    memcpy(with, recorded, sizeof with);
    selfcheck_say(out, "  %*s %.2f times as long", nm_spoken_width(-13, nm_spoken(name)), nm_spoken(name),
                  (double)recorded_ns / (double)plain_ns);
    say_runs(":", without, out);
    say_runs(" without the recorder,", with, out);
    selfcheck_say(out, " with it\n");
}

/* What is recorded outside of the loop is counted in: little. */
static void say_times(const selfcheck_place *place, const selfcheck_result *result, nm_buffer *out)
{
    selfcheck_table whole;
    uint64_t event_count;
    int64_t more_ns = selfcheck_median(result->recorded.loop_ns) - selfcheck_median(result->plain.loop_ns);

    selfcheck_table_read(place, "completeness", &whole);
    event_count = selfcheck_number(&whole, 1, "events_seen");
    selfcheck_say(out, "\nSlowdown, medians of %d runs\n", SELFCHECK_ROUNDS);
    say_slowdown("its loop", result->plain.loop_ns, result->recorded.loop_ns, out);
    if (event_count != SELFCHECK_UNKNOWN && event_count > 0 && more_ns > 0)
        selfcheck_say(out, "                %.0f ns for each of %" PRIu64 " events\n",
                      (double)more_ns / (double)event_count, event_count);
    say_slowdown("the whole run", result->plain.wall_ns, result->recorded.wall_ns, out);
    selfcheck_table_free(&whole);
}

static void say_loss(const selfcheck_table *whole, nm_buffer *out)
{
    static const char *const counts[] = {"events_dropped",
                                         "events_damaged",
                                         "events_unrecovered",
                                         "events_late",
                                         "events_without_stack",
                                         "unseen_origin_count",
                                         "outstanding_without_stack_count"};

    if (whole->row_count < 2)
        return;
    selfcheck_say(out, "  %s, %s of %s events loaded\n", nm_spoken(selfcheck_cell(whole, 1, "verdict")),
                  selfcheck_cell(whole, 1, "events_ingested"), selfcheck_cell(whole, 1, "events_seen"));
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (selfcheck_number(whole, 1, counts[i]) != 0)
            selfcheck_say(out, "  %s: %s\n", counts[i], selfcheck_cell(whole, 1, counts[i]));
    if (strcmp(selfcheck_cell(whole, 1, "baseline"), "none") != 0)
        selfcheck_say(out, "  baseline: %s\n", selfcheck_cell(whole, 1, "baseline"));
}

static void say_unseen(const selfcheck_place *place, nm_buffer *out)
{
    selfcheck_table whole, unseen;

    selfcheck_table_read(place, "completeness", &whole);
    selfcheck_table_read(place, "z_unseen", &unseen);
    selfcheck_say(out, "\nNot seen\n");
    say_loss(&whole, out);
    for (size_t row = 1; row < unseen.row_count; row++)
        selfcheck_say(out, "  %s: %s (%s)\n", selfcheck_cell(&unseen, row, "kind"),
                      selfcheck_cell(&unseen, row, "text"), selfcheck_cell(&unseen, row, "unseen_count"));
    if (unseen.row_count < 2)
        selfcheck_say(out, "  nothing was noted\n");
    selfcheck_table_free(&whole);
    selfcheck_table_free(&unseen);
}

static void say_versions(const selfcheck_place *place, const selfcheck_result *result, nm_buffer *out)
{
    struct utsname host = {0};
    selfcheck_table environment;

    uname(&host);
    selfcheck_say(out, "\nVersions and settings\n  npumem %s\n  %s %s %s\n  glibc %s\n", NPUMEM_PROJECT_VERSION,
                  host.sysname, host.release, host.machine, gnu_get_libc_version());
    say_lines(&result->versions[nm_spoken_language()], out);
    if (!result->is_recorded)
        return;
    selfcheck_table_read(place, "z_environment", &environment);
    for (size_t row = 1; row < environment.row_count; row++)
        selfcheck_say(out, "  %s%s%s  (%s)\n", selfcheck_cell(&environment, row, "name"),
                      strcmp(selfcheck_cell(&environment, row, "source"), "version") == 0 ? " " : "=",
                      selfcheck_cell(&environment, row, "value"),
                      nm_spoken(selfcheck_cell(&environment, row, "source")));
    selfcheck_table_free(&environment);
}

static void say_tail(const char *what, const nm_buffer *text, nm_buffer *out)
{
    const char *from = (const char *)text->data;
    size_t len = text->len > 0 ? text->len - 1 : 0;

    if (len == 0)
        return;
    if (len > TAIL_BYTES)
        from += len - TAIL_BYTES;
    selfcheck_say(out, "\n%s, last run\n%s%s", nm_spoken(what), from, from[strlen(from) - 1] == '\n' ? "" : "\n");
}

void selfcheck_write(const selfcheck_place *place, const selfcheck_result *result, nm_buffer *brief, nm_buffer *rest)
{
    say_head(result, brief);
    if (result->is_compared) {
        say_figures(result, brief);
        say_times(place, result, brief);
    }
    if (result->is_recorded)
        say_unseen(place, brief);
    say_lines(&result->functions[nm_spoken_language()], brief);
    say_versions(place, result, brief);
    if (result->answers.len > 1)
        selfcheck_say(rest, "\nAnswers of npumem-ingest\n%s", (const char *)result->answers.data);
    say_tail("Standard output", &result->last.out, rest);
    say_tail("Standard error", &result->last.err, rest);
}
