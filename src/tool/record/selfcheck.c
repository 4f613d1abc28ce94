/* SPDX-License-Identifier: Apache-2.0
 *
 * What is checked is the recorder as a user meets it: programs are started as a shell would, recorded by this very
 * npumem-record, and loaded by the npumem-ingest beside it. All of it happens in a temporary folder; the report alone stays.
 */
#include "tool/record/selfcheck.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/door.h"
#include "base/io.h"
#include "base/own_path.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "say/spoken.h"
#include "tool/record/answers.h"
#include "tool/record/output.h"
#include "tool/record/output_name.h"
#include "tool/selfcheck/exports.h"
#include "tool/selfcheck/text.h"
#include "tool/selfcheck/torch.h"

#define PYTHON           "python3"
#define SCRIPT_NAME      "npumem_selfcheck.py"
#define TRACE_NAME       "run.zst"
#define DATABASE_NAME    "run.db"
#define STANDIN_FOLDER   "../fixtures/cann" /* from the folder of the program, where it was built */
#define STANDIN_LIBRARY  "libascendcl.so"
#define STATUS_WITH_LOSS 3  /* of npumem-ingest */
#define FIXED_WORDS      12 /* of a recording's command line */

typedef struct selfcheck {
    const record_options *options;
    selfcheck_place place;
    selfcheck_result result;
    char self[PATH_MAX];      /* npumem-record */
    char script[PATH_MAX];    /* of python3 */
    char standin[PATH_MAX];   /* folder of the stand-in; empty: it is not used */
    const char *arguments[3]; /* of the program, NULL at the end */
    selfcheck_said plain;     /* by the program that nobody recorded */
} selfcheck;

/* The first thing that is wrong is the reason; the others follow from it, or stand in the figures. */
/* False: something was wrong before. */
__attribute__((format(printf, 2, 3))) static bool wrong(selfcheck *check, const char *format, ...)
{
    selfcheck_result *result = &check->result;
    va_list values;

    if (result->reason[0] != 0)
        return false;
    va_start(values, format);
    vsnprintf(result->reason, sizeof result->reason, format, values);
    va_end(values);
    va_start(values, format);
    vsnprintf(result->spoken, sizeof result->spoken, nm_spoken(format), values);
    va_end(values);
    return true;
}

static const char *text_of(const nm_buffer *buffer)
{
    return buffer->data == NULL ? "" : (const char *)buffer->data;
}

/* The last line of what a program said on standard error, which tells why it ended. */
static const char *last_line(const nm_buffer *buffer, char line[SELFCHECK_TEXT_BYTES])
{
    const char *text = text_of(buffer), *begin, *end = text + strlen(text);

    while (end > text && (end[-1] == '\n' || end[-1] == ' '))
        end--;
    for (begin = end; begin > text && begin[-1] != '\n';)
        begin--;
    snprintf(line, SELFCHECK_TEXT_BYTES, "%.*s", (int)(end - begin), begin);
    return line;
}

static bool run(selfcheck *check, const char *const *arguments)
{
    selfcheck_run *last = &check->result.last;
    nm_error err = {0};

    if (selfcheck_run_program(&check->place, arguments, check->standin[0] == 0 ? NULL : check->standin, last, &err) !=
        NM_OK)
        wrong(check, "%s", err.text);
    else if (last->is_too_long)
        wrong(check, "%s did not end within ten minutes", arguments[0]);
    return check->result.reason[0] == 0 && check->place.ended_by == 0;
}

/* A line with one text, in each language. */
static void say_both(nm_buffer out[2], const char *format, const char *text)
{
    nm_language language = nm_spoken_language();
    char spoken[SELFCHECK_LINE_BYTES];

    selfcheck_say(&out[NM_CHINESE], format, nm_spoken_said(text, spoken, sizeof spoken));
    nm_spoken_in(NM_ENGLISH);
    selfcheck_say(&out[NM_ENGLISH], format, text);
    nm_spoken_in(language);
}

/* ---- Which program ------------------------------------------------------------------------------------------------- */

/* Does it run here at all? It is run without the recorder, once, and that is no measurement: what is loaded and compiled the
 * first time is warm afterwards. */
static bool try_program(selfcheck *check, const char *program, const char *argument)
{
    const selfcheck_run *last = &check->result.last;
    char line[SELFCHECK_TEXT_BYTES];

    check->arguments[0] = program;
    check->arguments[1] = argument;
    if (!run(check, check->arguments))
        return false;
    selfcheck_listen(text_of(&last->out), &check->plain);
    if (last->exit_status == 0)
        return true;
    if (check->plain.why[0] == 0)
        snprintf(check->plain.why, sizeof check->plain.why, "%s ended with status %d: %s",
                 program == check->self ? "npumem's own program" : program, last->exit_status,
                 last_line(&last->err, line));
    say_both(check->result.notes, "not used: %s\n", check->plain.why);
    return false;
}

static bool write_script(selfcheck *check)
{
    const char *text = selfcheck_torch[0].text;
    nm_error err = {0};
    int fd = -1;

    selfcheck_path(&check->place, SCRIPT_NAME, check->script);
    nm_status status =
        nm_door_open_at(check->place.folder_fd, SCRIPT_NAME, O_WRONLY | O_CREAT | O_EXCL, 0600, &fd, &err);
    if (status == NM_OK)
        status = nm_io_write(fd, text, strlen(text), &err);
    nm_io_close(fd);
    if (status != NM_OK)
        wrong(check, "%s: %s", check->place.folder, err.text);
    return status == NM_OK;
}

/* Of a build folder alone: it is installed nowhere. */
static bool find_standin(selfcheck *check)
{
    char path[PATH_MAX], *slash;

    snprintf(path, sizeof path, "%s", check->self);
    slash = strrchr(path, '/');
    if (slash == NULL || slash + sizeof STANDIN_FOLDER + sizeof STANDIN_LIBRARY >= path + sizeof path)
        return false;
    strcpy(slash + 1, STANDIN_FOLDER "/" STANDIN_LIBRARY);
    if (!nm_door_resolve(path, check->standin)) {
        check->standin[0] = 0;
        return false;
    }
    *strrchr(check->standin, '/') = 0;
    return true;
}

static bool choose_program(selfcheck *check)
{
    selfcheck_result *result = &check->result;

    if (!write_script(check))
        return false;
    if (try_program(check, PYTHON, check->script)) {
        result->is_torch = true;
        result->program = "tensors of torch_npu, by python3";
        return true;
    }
    if (result->reason[0] == 0 && check->place.ended_by == 0 &&
        try_program(check, check->self, "--selfcheck-program")) {
        result->program = "a pool of npumem's own on aclrtMalloc; what torch_npu says cannot be compared";
        return true;
    }
    if (result->reason[0] == 0 && check->place.ended_by == 0 && find_standin(check) &&
        try_program(check, check->self, "--selfcheck-program")) {
        result->is_standin = true;
        result->program = "a pool of npumem's own on the stand-in for CANN of this build folder";
        return true;
    }
    static const char format[] = "there is nothing to record here: %s";
    char why[SELFCHECK_LINE_BYTES];
    if (wrong(check, format, check->plain.why))
        snprintf(result->spoken, sizeof result->spoken, nm_spoken(format),
                 nm_spoken_said(check->plain.why, why, sizeof why));
    return false;
}

/* ---- Running it ---------------------------------------------------------------------------------------------------- */

/* npumem-record with the options of the check, around the program. *words: what the options lie in. */
static const char **recording_arguments(const selfcheck *check, char **words)
{
    const nm_buffer *options = &check->options->words;
    const char **arguments = calloc(options->len / 2 + FIXED_WORDS, sizeof *arguments);
    size_t count = 0;

    *words = strdup(text_of(options));
    if (arguments == NULL || *words == NULL) {
        free(arguments);
        return NULL;
    }
    arguments[count++] = check->self;
    count += (size_t)record_cut_words(*words, (char **)(uintptr_t)(arguments + count));
    for (const char *const *fixed =
             (const char *const[]){"--quiet", "--required", "--force", "-o", TRACE_NAME, "--", NULL};
         *fixed != NULL; fixed++)
        arguments[count++] = *fixed;
    arguments[count++] = check->arguments[0];
    arguments[count++] = check->arguments[1];
    return arguments;
}

static void judge_end(selfcheck *check, bool is_recorded)
{
    const selfcheck_run *last = &check->result.last;
    char line[SELFCHECK_TEXT_BYTES];

    last_line(&last->err, line);
    if (last->exit_status == 0)
        return;
    if (is_recorded && strncmp(line, "npumem-record: ", 15) == 0)
        wrong(check, "%s", line + 15);
    else
        wrong(check,
              is_recorded ? "recorded, the program ended with status %d: %s"
                          : "unrecorded, the program ended with status %d: %s",
              last->exit_status, line);
}

/* What the program counts of its pool must not change because it is recorded. */
static void compare_words(selfcheck *check, const selfcheck_said *said)
{
    for (size_t i = 0; i <= SELFCHECK_COUNT; i++)
        if (said->values[i] != check->plain.values[i])
            wrong(check, "recorded, the program itself counts otherwise: %" PRIu64 " instead of %" PRIu64,
                  said->values[i], check->plain.values[i]);
}

static void note_times(selfcheck_times *times, size_t round, const selfcheck_said *said, const selfcheck_run *last)
{
    times->wall_ns[round] = last->wall_ns;
    times->loop_ns[round] = said->values[SELFCHECK_LOOP_NS] <= INT64_MAX ? (int64_t)said->values[SELFCHECK_LOOP_NS] : 0;
}

/* One round: without the recorder, then with it. */
static bool run_round(selfcheck *check, size_t round, const char *const *recorded, selfcheck_said *said)
{
    selfcheck_result *result = &check->result;

    if (!run(check, check->arguments))
        return false;
    judge_end(check, false);
    selfcheck_listen(text_of(&result->last.out), &check->plain);
    note_times(&result->plain, round, &check->plain, &result->last);
    if (result->reason[0] != 0 || !run(check, recorded))
        return false;
    judge_end(check, true);
    selfcheck_listen(text_of(&result->last.out), said);
    note_times(&result->recorded, round, said, &result->last);
    if (result->reason[0] == 0)
        compare_words(check, said);
    return result->reason[0] == 0;
}

static void keep_versions(selfcheck *check)
{
    const char *at = text_of(&check->result.last.out);
    char text[SELFCHECK_TEXT_BYTES];

    while (selfcheck_next(&at, "version", text))
        say_both(check->result.versions, "  %s  (the program)\n", text);
}

static void compare_exports(selfcheck *check)
{
    selfcheck_result *result = &check->result;

    nm_language language = nm_spoken_language();

    if (result->last.exit_status != 0)
        return;
    selfcheck_say_exports(text_of(&result->last.out), &result->functions[NM_CHINESE]);
    nm_spoken_in(NM_ENGLISH);
    result->new_function_count = selfcheck_say_exports(text_of(&result->last.out), &result->functions[NM_ENGLISH]);
    nm_spoken_in(language);
}

/* *said: by the program of the last recording, which is the one that is compared. */
static bool run_all(selfcheck *check, selfcheck_said *said)
{
    char *words = NULL;
    const char **recorded = recording_arguments(check, &words);
    bool goes_on = recorded != NULL;

    if (!goes_on)
        wrong(check, "out of memory");
    if (goes_on && !check->options->is_quiet)
        nm_shown_print(stderr,
                       nm_spoken("npumem-record: --selfcheck: %s: %d times without the recorder, %d times with it\n"),
                       nm_spoken(check->result.program), SELFCHECK_ROUNDS, SELFCHECK_ROUNDS);
    for (size_t round = 0; round < SELFCHECK_ROUNDS && goes_on; round++)
        goes_on = run_round(check, round, recorded, said);
    keep_versions(check);
    compare_exports(check);
    free(words);
    free(recorded);
    return goes_on;
}

/* ---- Comparing ----------------------------------------------------------------------------------------------------- */

static bool has_trace(const selfcheck *check)
{
    struct stat info;

    return check->place.ended_by == 0 && nm_door_look_at(check->place.folder_fd, TRACE_NAME, &info);
}

static bool ingest(selfcheck *check)
{
    selfcheck_run loading = {0};
    char program[PATH_MAX], line[SELFCHECK_TEXT_BYTES];
    nm_error err = {0};

    record_ingest_program(program);
    const char *const arguments[] = {program,     "--force",        "-o",       DATABASE_NAME, "--csv", "csv",
                                     "--csv-all", "--csv-internal", TRACE_NAME, "--lang",      "en",    NULL};
    if (selfcheck_run_program(&check->place, arguments, NULL, &loading, &err) != NM_OK)
        wrong(check, "npumem-ingest: %s", err.text);
    else if (loading.exit_status != 0 && loading.exit_status != STATUS_WITH_LOSS)
        wrong(check, "the trace cannot be loaded: %s", last_line(&loading.err, line));
    else if (check->place.ended_by == 0)
        check->result.is_recorded = true;
    if (loading.exit_status == STATUS_WITH_LOSS)
        wrong(check, "part of the recording was lost: %s", last_line(&loading.err, line));
    check->result.answers = loading.out;
    nm_buffer_free(&loading.err);
    return check->result.is_recorded;
}

static void compare(selfcheck *check, const selfcheck_said *said)
{
    static const char format[] = "%s: %s says %s, npumem %s";
    selfcheck_comparison *comparison = &check->result.comparison;

    check->result.is_compared = true;
    selfcheck_compare(&check->place, said, check->result.is_torch, comparison);
    if (comparison->pool[0] == 0)
        wrong(check, "the recorder saw no pool, and the program has one");
    for (size_t i = 0; i < SELFCHECK_LINES; i++) {
        const selfcheck_line *line = &comparison->lines[i];
        char said_text[32], seen_text[32];

        selfcheck_digits(line->said, said_text);
        selfcheck_digits(line->seen, seen_text);
        if (!selfcheck_agrees(line) && wrong(check, format, line->what, line->said_by, said_text, seen_text))
            snprintf(check->result.spoken, sizeof check->result.spoken, nm_spoken(format), nm_spoken(line->what),
                     nm_spoken(line->said_by), said_text, seen_text);
    }
}

static void check_all(selfcheck *check)
{
    const char *mode = getenv("NPUMEM");
    selfcheck_said said;
    bool has_run;

    if (!nm_own_path(check->self))
        wrong(check, "/proc is not mounted: where npumem-record lies cannot be known");
    if (mode != NULL && strcmp(mode, "off") == 0)
        wrong(check, "NPUMEM=off is set");
    /* What this shell is prepared for is not what is checked. */
    unsetenv("NPUMEM");
    unsetenv(NM_RING_ENVIRONMENT);
    unsetenv(NM_HOST_ENVIRONMENT);
    unsetenv(NM_HOST_OPTIONS);
    if (check->result.reason[0] != 0 || !choose_program(check))
        return;
    has_run = run_all(check, &said);
    if (has_trace(check) && ingest(check) && has_run) /* what went wrong while it was recorded is worth a look, too */
        compare(check, &said);
}

/* ---- The report ---------------------------------------------------------------------------------------------------- */

static nm_status write_file(int fd, const nm_buffer *brief, const nm_buffer *rest, nm_error *err)
{
    nm_status status = nm_io_write(fd, brief->data, brief->len, err);

    return status == NM_OK ? nm_io_write(fd, rest->data, rest->len, err) : status;
}

static nm_status report(selfcheck *check, const char *name, int fd, nm_error *err)
{
    nm_buffer screen = {0}, brief = {0}, rest = {0}, json = {0};
    nm_language language = nm_spoken_language();
    nm_status status = NM_OK;

    selfcheck_write(&check->place, &check->result, &screen, &rest);
    nm_spoken_in(NM_ENGLISH); /* the file is for whoever it is sent to */
    rest.len = 0;
    selfcheck_write(&check->place, &check->result, &brief, &rest);
    nm_spoken_in(language);
    if (check->options->is_json)
        status = selfcheck_write_json(&check->result, name, &json, err);
    const nm_buffer *shown = check->options->is_json ? &json : &screen;
    if (!check->options->is_quiet)
        fwrite(shown->data, 1, shown->len, stdout);
    fflush(stdout);
    if (status == NM_OK)
        status = write_file(fd, &brief, &rest, err);
    nm_buffer_free(&json);
    nm_buffer_free(&screen);
    nm_buffer_free(&brief);
    nm_buffer_free(&rest);
    return status;
}

static void free_result(selfcheck_result *result)
{
    for (int language = NM_ENGLISH; language <= NM_CHINESE; language++) {
        nm_buffer_free(&result->notes[language]);
        nm_buffer_free(&result->versions[language]);
        nm_buffer_free(&result->functions[language]);
    }
    nm_buffer_free(&result->answers);
    selfcheck_run_free(&result->last);
}

/* Asked to end: nothing is left behind, and it ends as it was asked to. */
static void end_by(int number, const char *file, int fd)
{
    struct stat info;

    if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode))
        nm_door_take_back(file, fd);
    signal(number, SIG_DFL);
    raise(number);
}

static void say_verdict(const selfcheck *check, const char *name)
{
    const char *reason = check->result.spoken;
    size_t new_count = check->result.new_function_count;
    char more[96] = "";

    if (new_count > 0)
        snprintf(more, sizeof more, nm_spoken("; %zu function%s of memory %s new in this CANN"), new_count,
                 nm_spoken(new_count == 1 ? "" : "s"), nm_spoken(new_count == 1 ? "is" : "are"));
    if (reason[0] != 0)
        nm_shown_print(stderr, nm_spoken("npumem-record: --selfcheck: %s; attach to a report: %s\n"), reason, name);
    else if (!check->options->is_quiet)
        nm_shown_print(stderr, nm_spoken("npumem-record: --selfcheck: the figures agree%s, %s\n"), more, name);
}

static int check_into(const record_options *options, const char *name, int fd)
{
    selfcheck *check = calloc(1, sizeof *check);
    nm_error err = {0};
    int status, ended_by;

    if (check == NULL)
        return 1;
    check->options = options;
    nm_status written = selfcheck_place_open(&check->place, &err);
    if (written == NM_OK) {
        check_all(check);
        written = report(check, name, fd, &err);
    }
    ended_by = check->place.ended_by;
    if (written != NM_OK)
        nm_shown_print(stderr, "npumem-record: --selfcheck: %s: %s\n", name, err.text);
    else if (ended_by == 0)
        say_verdict(check, name);
    status = written == NM_OK && check->result.reason[0] == 0 ? 0 : 1;
    selfcheck_place_close(&check->place);
    free_result(&check->result);
    free(check);
    if (ended_by != 0)
        end_by(ended_by, name, fd);
    return status;
}

int record_selfcheck(const record_options *options)
{
    nm_buffer name = {0};
    nm_error err = {0};
    int fd = -1, status = 1;
    nm_status opened = record_expand_name(options->output, getpid(), &name, &err);

    if (opened == NM_OK)
        opened = record_open_output(&name, options->is_forced, &fd, &err);
    if (opened == NM_OK && fd <= STDERR_FILENO) { /* a stream that was closed must not write into it */
        int above = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);

        nm_io_close(fd);
        fd = above;
    }
    if (opened == NM_OK)
        fcntl(fd, F_SETFL, 0); /* a reader may take its time: nothing is recorded meanwhile */
    if (opened == NM_OK)
        status = check_into(options, (const char *)name.data, fd);
    else
        nm_shown_print(stderr, "npumem-record: --selfcheck: %s: %s\n", options->output, err.text);
    nm_io_close(fd);
    nm_buffer_free(&name);
    return status;
}
