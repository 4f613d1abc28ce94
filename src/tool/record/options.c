/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-record's options, and what several of them mean together. Most fill a field; an action (--finish,
 * --ctl, ...) says what is to be done in place of recording a program.
 */
#include "tool/record/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/quantity.h"
#include "base/shown.h"
#include "base/spoken.h"

#define DEFAULT_OUTPUT   "npumem-%h-%p.zst"
#define HOST_OUTPUT      "npumem-%h-%t.zst" /* of --print-env: no process is the program */
#define SELFCHECK_OUTPUT "npumem-selfcheck-%h-%t.txt"
#define SECONDS_MAX      1000000
#define KEEP_BYTES_MIN   (UINT64_C(64) << 10)
#define KEEP_BYTES_MAX   (UINT64_C(1) << 60)
#define KEEP_STEPS_MAX   1000000000

/* ---- Arguments of a kind of their own ------------------------------------------------------------------------------ */

static nm_status take_output(const option_row *row, const char *argument, void *into, nm_error *err)
{
    record_options *options = into;

    (void)row;
    options->output = argument;
    return argument[0] == 0 ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be a file name") : NM_OK;
}

static nm_status take_alert(const option_row *row, const char *argument, void *into, nm_error *err)
{
    record_options *options = into;

    (void)row;
    return record_alert_read(argument, &options->alerts, err);
}

static nm_status take_report(const option_row *row, const char *argument, void *into, nm_error *err)
{
    record_options *options = into;

    (void)row;
    options->report = argument;
    return argument[0] != 0 && strcmp(argument, "-") != 0
               ? NM_OK
               : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be a file: standard output is PROGRAM's");
}

/* "last:2GiB", "steps:20" */
static nm_status take_keep(const option_row *row, const char *argument, void *into, nm_error *err)
{
    record_options *options = into;
    nm_status status = NM_OK;

    (void)row;
    options->keep_bytes = options->keep_steps = 0;
    if (strncmp(argument, "last:", 5) == 0) {
        status = nm_quantity_size(argument + 5, &options->keep_bytes, err);
        if (status == NM_OK && (options->keep_bytes < KEEP_BYTES_MIN || options->keep_bytes > KEEP_BYTES_MAX))
            status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be last:64KiB or more");
    } else if (strncmp(argument, "steps:", 6) != 0 ||
               !nm_number_read(argument + 6, KEEP_STEPS_MAX, &options->keep_steps) || options->keep_steps == 0) {
        status = nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be last:SIZE (64KiB or more), or steps:NUMBER");
    }
    options->is_watched = true;
    return status;
}

static nm_status take_no_pool_events(const option_row *row, const char *argument, void *into, nm_error *err)
{
    record_options *options = into;

    (void)row, (void)argument, (void)err;
    options->has_pool_events = false;
    return NM_OK;
}

static nm_status take_action(const option_row *row, const char *argument, void *into, nm_error *err)
{
    record_options *options = into;

    (void)err;
    options->action = (record_action)row->code;
    options->target = argument;
    return NM_OK;
}

/* ---- The table ----------------------------------------------------------------------------------------------------- */

static const char *const stack_words[] = {
    [NM_STACKS_NONE] = "none",     [NM_STACKS_CALLER] = "caller", [NM_STACKS_NATIVE] = "native",
    [NM_STACKS_PYTHON] = "python", [NM_STACKS_BOTH] = "both",     NULL};
static const char *const full_words[] = {[NM_ON_FULL_WAIT] = "wait", [NM_ON_FULL_DROP] = "drop", NULL};

/* Fields of the folder, in which the program finds them. */
#define FOLDER(member) OPTION_FIELD(record_options, folder.member)
#define FIELD(member)  OPTION_FIELD(record_options, member)

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "the trace; %h host, %p process id, %t start time, %{NAME} environment; - is standard output, and what "
             "PROGRAM prints there goes to standard error",
     .fallback = DEFAULT_OUTPUT,
     .take = take_output},
    {.name = "force",
     .kind = OPTION_FLAG,
     .help = "replace FILE if it exists (else it gets a suffix: -1, -2, ...)",
     .field = FIELD(is_forced)},
    {.name = "stacks",
     .kind = OPTION_CHOICE,
     .argument = "MODE",
     .words = stack_words,
     .help = "what is kept of call stacks: both (Python and native), python, native, caller or none",
     .fallback = "both",
     .field = FOLDER(stack_mode)},
    {.name = "stack-depth",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "innermost frames kept of a stack, 1 to 255",
     .fallback = "64",
     .min = 1,
     .max = NM_RING_STACK_DEPTH_MAX,
     .field = FOLDER(stack_depth)},
    {.name = "buffer",
     .kind = OPTION_SIZE,
     .argument = "SIZE",
     .help = "ring of each thread, 64KiB to 1GiB",
     .fallback = "1MiB",
     .min = NM_RING_BYTES_MIN,
     .max = NM_RING_BYTES_MAX,
     .field = FOLDER(ring_bytes)},
    {.name = "on-full",
     .kind = OPTION_CHOICE,
     .argument = "MODE",
     .words = full_words,
     .help = "when a ring is full: wait (a bounded time), or drop",
     .fallback = "wait",
     .field = FOLDER(on_full)},
    {.name = "ring-dir",
     .kind = OPTION_FOLDER,
     .argument = "DIR",
     .help = "local folder for the rings (default: the first of /dev/shm, $TMPDIR and /tmp that has room)",
     .field = FIELD(ring_dir)},
    {.name = "linger",
     .kind = OPTION_TIME,
     .argument = "TIME",
     .help = "wait so long for processes that outlive PROGRAM",
     .fallback = "5s",
     .max = SECONDS_MAX,
     .field = FIELD(linger_ns)},
    {.name = "keep",
     .kind = OPTION_TEXT,
     .argument = "last:SIZE|steps:N",
     .help = "write the trace in parts, FILE.000, FILE.001, ..., and keep the newest SIZE or N "
             "steps of them: from then on each event, of the whole run the sums",
     .take = take_keep},
    {.name = "sync",
     .kind = OPTION_TIME,
     .argument = "TIME",
     .help = "have FILE on the disk so often and at the end, for a machine that dies; 0: never",
     .fallback = "5s",
     .max = SECONDS_MAX,
     .field = FIELD(sync_ns)},
    {.name = "sample-interval",
     .kind = OPTION_TIME,
     .argument = "TIME",
     .help = "look so often at the host memory of each process; 0: never",
     .fallback = "1s",
     .max = SECONDS_MAX,
     .field = FIELD(sample_ns)},
    {.name = "no-pool-events",
     .kind = OPTION_FLAG,
     .help = "preload under a name at which torch_npu does not tell its pool's events; with the other name it leaves "
             "out the markers of mspti",
     .take = take_no_pool_events},
    {.name = "best-effort",
     .kind = OPTION_FLAG,
     .help = "run PROGRAM unrecorded, with a warning, where recording is impossible from the start (else it does not "
             "run, exit status 2)",
     .field = FIELD(is_best_effort)},
    {.name = "required",
     .kind = OPTION_FLAG,
     .help = "try more before PROGRAM runs: can it make a ring? Exit status 1 if not",
     .field = FIELD(is_required)},
    {.name = "watch",
     .kind = OPTION_FLAG,
     .help = "keep figures that --ctl FILE stats and npumem.stats() can ask for",
     .field = FIELD(is_watched)},
    {.name = "start-paused",
     .kind = OPTION_FLAG,
     .help = "record nothing but what is live until --ctl FILE start or npumem_resume()",
     .field = FOLDER(starts_paused)},
    {.name = "from-step",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "record in full from step N of each process on",
     .field = FOLDER(from_step),
     .given = FOLDER(has_from_step)},
    {.name = "to-step",
     .kind = OPTION_COUNT,
     .argument = "M",
     .help = "record in full up to step M of each process, which is included",
     .field = FOLDER(to_step),
     .given = FOLDER(has_to_step)},
    {.name = "duration",
     .kind = OPTION_TIME,
     .argument = "TIME",
     .help = "end the recording so long after it began in full; PROGRAM runs on",
     .max = SECONDS_MAX,
     .field = FIELD(duration_ns),
     .given = FIELD(has_duration)},
    {.name = "alert",
     .kind = OPTION_TEXT,
     .argument = "'WHAT > N'",
     .help = "say once when device_used (90%, 60GiB), live_bytes, live_count or growth_bytes passes N: on standard "
             "error and as a mark",
     .take = take_alert,
     .is_repeatable = true},
    {.name = "report",
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "write the answers of npumem-ingest to FILE, and the database beside it (answers.txt, answers.db): at the "
             "end, and those so far when an allocation fails, at an alert and at --ctl FILE snapshot",
     .take = take_report},
    {.name = "ctl",
     .kind = OPTION_FILE,
     .argument = "FILE COMMAND",
     .help =
         "tell the recording that writes FILE (or of a PID): start, stop, mark TEXT, snapshot [TEXT], stats, status",
     .take = take_action,
     .code = RECORD_CONTROL},
    {.name = "print-env",
     .kind = OPTION_FLAG,
     .help = "print the environment, for a shell, that makes any process record itself into one trace for each host: "
             "workers that PROGRAM does not start (ssh, Ray, MPI)",
     .take = take_action,
     .code = RECORD_PRINT_ENVIRONMENT},
    {.name = "finish",
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "append what a killed recording left in its rings, and remove those",
     .take = take_action,
     .code = RECORD_FINISH},
    {.name = "selfcheck",
     .kind = OPTION_FLAG,
     .help =
         "record a short program of npumem's own, with torch_npu if python3 has it, and say whether the figures are "
         "those of torch_npu and of the device, what recording costs and what was not seen: into FILE, to attach to a "
         "report (default npumem-selfcheck-%h-%t.txt); exit status 0: they agree, 1: not, or nothing recorded",
     .take = take_action,
     .code = RECORD_SELFCHECK},
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "of --selfcheck: print its figures as JSON for programs, npumem.findings/1",
     .field = FIELD(is_json)},
    {.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .help = "no lines at the end", .field = FIELD(is_quiet)},
    {.name = "attach",
     .kind = OPTION_TEXT,
     .argument = "NAME",
     .take = take_action,
     .code = RECORD_ATTACH,
     .is_hidden = true},
    {.name = "serve",
     .kind = OPTION_TEXT,
     .argument = "NAME",
     .take = take_action,
     .code = RECORD_SERVE,
     .is_hidden = true},
    {.name = "selfcheck-program",
     .kind = OPTION_FLAG,
     .take = take_action,
     .code = RECORD_SELFCHECK_PROGRAM,
     .is_hidden = true},
    {.name = "cost-program", .kind = OPTION_FLAG, .take = take_action, .code = RECORD_COST, .is_hidden = true},
    OPTIONS_HELP_AND_VERSION,
};

static option_take keep_words;

static const options_program program = {
    .name = "npumem-record",
    .usage = "npumem-record [-o FILE] [options] -- PROGRAM [ARG...]\n"
             "       npumem-record --print-env [-o FILE] [options]\n"
             "       npumem-record --finish FILE\n"
             "       npumem-record --selfcheck [-o FILE] [options]",
    .about = "Records the NPU memory of PROGRAM and of all that it starts into FILE, for npumem-ingest.\n"
             "Ends as PROGRAM does: same status, same signal.",
    .ends = {"of a recording PROGRAM's own status, whatever it is (127: not found, 126: cannot be executed); else done",
             "failed: memory or processes are not to be had, or --required, --finish, --ctl or --selfcheck failed",
             "wrong usage; an output, a ring folder or a library that cannot be had",
             "of --finish: something is missing"},
    .ending = "Environment: NPUMEM=off runs PROGRAM unrecorded, NPUMEM=paused is --start-paused.",
    OPTIONS_ROWS(rows),
    .takes_command = true,
    .seen = keep_words,
};

/* ---- Options that are passed on ------------------------------------------------------------------------------------ */

static nm_status append_word(nm_buffer *words, const char *word, nm_error *err)
{
    nm_status status = NM_OK;

    for (; *word != 0 && status == NM_OK; word++) {
        if (*word == ' ' || *word == '\\')
            status = nm_buffer_append(words, "\\", 1, err);
        if (status == NM_OK)
            status = nm_buffer_append(words, word, 1, err);
    }
    return status;
}

/* An action and a name of its own have those who are told, and what is to become of a program they do not start. */
static bool is_passed_on(const option_row *row)
{
    return row->take != take_output && row->code != RECORD_PRINT_ENVIRONMENT && row->code != RECORD_SELFCHECK &&
           strcmp(row->name, "best-effort") != 0 && strcmp(row->name, "json") != 0;
}

/* What a drain of --print-env or a recorder of --selfcheck gets told again. */
static nm_status keep_words(const option_row *row, const char *argument, void *into, nm_error *err)
{
    record_options *options = into;
    nm_buffer *words = &options->words;
    nm_status status = NM_OK;

    if (!is_passed_on(row))
        return NM_OK;
    if (words->len > 0)
        status = nm_buffer_append(words, " ", 1, err);
    if (status == NM_OK)
        status = nm_buffer_append(words, "--", 2, err);
    if (status == NM_OK)
        status = append_word(words, row->name, err);
    if (status == NM_OK && argument != NULL)
        status = nm_buffer_append(words, "=", 1, err);
    if (status == NM_OK && argument != NULL)
        status = append_word(words, argument, err);
    return status;
}

static options_outcome end_words(record_options *options)
{
    if (options->words.len == 0 || nm_buffer_append(&options->words, "", 1, NULL) == NM_OK)
        return OPTIONS_READ;
    fprintf(stderr, nm_spoken("npumem-record: out of memory\n"));
    return OPTIONS_NO_MEMORY;
}

/* Words between spaces; a backslash makes the next byte plain. */
int record_cut_words(char *text, char **words)
{
    int count = 0;

    while (*text != 0) {
        char *to = text;

        if (*text == ' ') {
            text++;
            continue;
        }
        words[count++] = text;
        for (; *text != 0 && *text != ' '; text++) {
            if (*text == '\\' && text[1] != 0)
                text++;
            *to++ = *text;
        }
        text += *text == ' ';
        *to = 0;
    }
    return count;
}

/* ---- What follows from several together ---------------------------------------------------------------------------- */

static options_outcome check_environment(record_options *options)
{
    char shown[120];

    if (options->program[0] != NULL)
        return options_refuse(&program, "--print-env %s: takes no program: every process records itself",
                              nm_shown_text(shown, sizeof shown, options->program[0]));
    if (strcmp(options->output, "-") == 0)
        return options_refuse(&program, "-o -: --print-env needs the name of a file");
    if (strcmp(options->output, DEFAULT_OUTPUT) == 0)
        options->output = HOST_OUTPUT;
    return end_words(options);
}

/* Another kind of recording than the plain one would be checked, or another program than its own. */
static options_outcome check_selfcheck(record_options *options)
{
    bool is_plain = !options->is_watched && options->report == NULL && options->duration_ns == 0;
    char shown[120];

    if (options->program[0] != NULL)
        return options_refuse(&program, "--selfcheck %s: takes no program: it has its own",
                              nm_shown_text(shown, sizeof shown, options->program[0]));
    if (!is_plain)
        return options_refuse(
            &program, "--selfcheck: checks a plain recording: it takes options of stacks, rings and samples alone");
    if (strcmp(options->output, "-") == 0)
        return options_refuse(&program, "-o -: --selfcheck needs the name of a file");
    if (strcmp(options->output, DEFAULT_OUTPUT) == 0)
        options->output = SELFCHECK_OUTPUT;
    return end_words(options);
}

static bool is_command(const char *word)
{
    static const char *const words[] = {"start", "stop", "mark", "snapshot", "stats", "status"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static options_outcome check_run(const record_options *options)
{
    bool is_stream = strcmp(options->output, "-") == 0;

    if (options->action == RECORD_RUN && options->program[0] == NULL)
        return options_refuse(&program, "PROGRAM is missing");
    if ((options->keep_bytes > 0 || options->keep_steps > 0) && is_stream)
        return options_refuse(&program, "-o -: --keep needs files");
    if (options->action == RECORD_RUN && is_stream && isatty(STDOUT_FILENO))
        return options_refuse(&program, "-o -: a terminal cannot take a trace");
    return OPTIONS_READ;
}

static options_outcome check_action(record_options *options)
{
    char shown[120];

    if (options->is_json && options->action != RECORD_SELFCHECK)
        return options_refuse(&program, "--json: goes with --selfcheck alone");
    switch (options->action) {
    case RECORD_CONTROL:
        if (options->program[0] == NULL || !is_command(options->program[0]))
            return options_refuse(&program, "--ctl %s: needs a command: start, stop, mark, snapshot, stats or status",
                                  nm_shown_text(shown, sizeof shown, options->target));
        break;
    case RECORD_PRINT_ENVIRONMENT:
        return check_environment(options);
    case RECORD_SELFCHECK:
        return check_selfcheck(options);
    default:
        break;
    }
    return check_run(options);
}

static options_outcome settle(record_options *options)
{
    nm_folder_options *folder = &options->folder;
    const char *mode = options->action == RECORD_RUN ? getenv("NPUMEM") : NULL;

    options->is_off = mode != NULL && strcmp(mode, "off") == 0;
    folder->starts_paused |= mode != NULL && strcmp(mode, "paused") == 0;
    if (options->has_duration && options->duration_ns == 0)
        return options_refuse(&program, "--duration 0: must be more than 0 seconds");
    if (folder->has_from_step && folder->has_to_step && folder->from_step > folder->to_step)
        return options_refuse(&program, "--to-step is below --from-step: there is no such step");
    if (options->is_best_effort && options->is_required)
        return options_refuse(&program,
                              "--best-effort with --required: either the program runs unrecorded or it does not");
    if (options->report != NULL && strcmp(options->output, "-") == 0)
        return options_refuse(&program, "--report %s: needs a trace in a file", options->report);
    options->is_watched |=
        folder->starts_paused || folder->has_from_step || folder->has_to_step || options->alerts.count > 0;
    folder->is_live_set_known = options->is_watched && options->keep_bytes == 0 && options->keep_steps == 0;
    folder->is_sampled = options->sample_ns > 0;
    return OPTIONS_READ;
}

options_outcome record_options_read(int argc, char **argv, record_options *options)
{
    *options = (record_options){.has_pool_events = true};
    options_outcome outcome = options_read(&program, argc, argv, options, &options->program);

    if (outcome == OPTIONS_READ)
        outcome = settle(options);
    return outcome == OPTIONS_READ ? check_action(options) : outcome;
}
