/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/record/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"

#define DEFAULT_OUTPUT      "npumem-%h-%p.zst"
#define HOST_OUTPUT         "npumem-%h-%t.zst" /* of --print-env: no process is the program */
#define SELFCHECK_OUTPUT    "npumem-selfcheck-%h-%t.txt"
#define DEFAULT_STACK_DEPTH 64
#define DEFAULT_LINGER_NS   5000000000
#define DEFAULT_SAMPLE_NS   1000000000
#define DEFAULT_SYNC_NS     5000000000
#define KEEP_BYTES_MIN      (UINT64_C(64) << 10)
#define KEEP_BYTES_MAX      (UINT64_C(1) << 60)
#define KEEP_STEPS_MAX      1000000000

enum {
    OPTION_FIRST = 256,
    STACKS,
    STACK_DEPTH,
    BUFFER,
    RING_DIR,
    ON_FULL,
    LINGER,
    SAMPLE_INTERVAL,
    KEEP,
    SYNC,
    BEST_EFFORT,
    REQUIRED,
    FORCE,
    FINISH,
    ATTACH,
    SERVE,
    PRINT_ENVIRONMENT,
    CONTROL,
    WATCH,
    NO_POOL_EVENTS,
    START_PAUSED,
    FROM_STEP,
    TO_STEP,
    DURATION,
    ALERT,
    REPORT,
    SELFCHECK,
    SELFCHECK_PROGRAM,
    COST_PROGRAM,
};

static const struct option long_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"stacks", required_argument, NULL, STACKS},
    {"stack-depth", required_argument, NULL, STACK_DEPTH},
    {"buffer", required_argument, NULL, BUFFER},
    {"ring-dir", required_argument, NULL, RING_DIR},
    {"on-full", required_argument, NULL, ON_FULL},
    {"linger", required_argument, NULL, LINGER},
    {"sample-interval", required_argument, NULL, SAMPLE_INTERVAL},
    {"keep", required_argument, NULL, KEEP},
    {"sync", required_argument, NULL, SYNC},
    {"no-pool-events", no_argument, NULL, NO_POOL_EVENTS},
    {"best-effort", no_argument, NULL, BEST_EFFORT},
    {"required", no_argument, NULL, REQUIRED},
    {"force", no_argument, NULL, FORCE},
    {"ctl", required_argument, NULL, CONTROL},
    {"watch", no_argument, NULL, WATCH},
    {"start-paused", no_argument, NULL, START_PAUSED},
    {"from-step", required_argument, NULL, FROM_STEP},
    {"to-step", required_argument, NULL, TO_STEP},
    {"duration", required_argument, NULL, DURATION},
    {"alert", required_argument, NULL, ALERT},
    {"report", required_argument, NULL, REPORT},
    {"finish", required_argument, NULL, FINISH},
    {"attach", required_argument, NULL, ATTACH},
    {"serve", required_argument, NULL, SERVE},
    {"print-env", no_argument, NULL, PRINT_ENVIRONMENT},
    {"selfcheck", no_argument, NULL, SELFCHECK},
    {"selfcheck-program", no_argument, NULL, SELFCHECK_PROGRAM},
    {"cost-program", no_argument, NULL, COST_PROGRAM},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, 'V'},
    {NULL, 0, NULL, 0},
};

void record_options_help(void)
{
    fputs(
        "Usage: npumem-record [-o FILE] [options] -- PROGRAM [ARG...]\n"
        "       npumem-record --print-env [-o FILE] [options]\n"
        "       npumem-record --finish FILE\n"
        "       npumem-record --selfcheck [-o FILE] [options]\n"
        "\n"
        "Records the NPU memory of PROGRAM and of all that it starts into FILE, for npumem-ingest.\n"
        "Ends as PROGRAM does: same status, same signal.\n"
        "\n"
        "  -o, --output FILE      the trace; %h host, %p process id, %t start time, %{NAME} environment;\n"
        "                         - is standard output (PROGRAM's goes to standard error);\n"
        "                         default npumem-%h-%p.zst\n"
        "      --force            replace FILE if it exists (else it gets a suffix: -1, -2, ...)\n"
        "      --stacks MODE      both (default: Python and native), python, native, caller or none\n"
        "      --stack-depth N    frames kept of a stack, 1 to 255 (default 64)\n"
        "      --buffer BYTES     ring of each thread, with suffix K or M (default 1M)\n"
        "      --on-full MODE     wait (default; a bounded time) or drop, when a ring is full\n"
        "      --ring-dir DIR     local folder for the rings (default: /dev/shm, $TMPDIR or /tmp)\n"
        "      --linger SECONDS   wait so long for processes that outlive PROGRAM (default 5)\n"
        "      --keep last:BYTES  write the trace in parts, FILE.000, FILE.001, ..., and keep the newest BYTES "
        "(suffix K,\n"
        "                         M, G, T) of them: from then on each event, of the whole run the sums\n"
        "      --keep steps:N     the same, the newest N steps\n"
        "      --sync SECONDS     have FILE on the disk so often and at the end, for a machine that dies; 0: never\n"
        "                         (default 5)\n"
        "      --sample-interval SECONDS\n"
        "                         look so often at the host memory of each process; 0: never (default 1)\n"
        "      --no-pool-events   preload under a name at which torch_npu does not tell its pool's events;\n"
        "                         with the other name it leaves out the markers of mspti\n"
        "      --best-effort      run PROGRAM unrecorded, with a warning, where recording is impossible from the "
        "start\n"
        "                         (else it does not run, exit status 2)\n"
        "      --required         try more before PROGRAM runs: can it make a ring? Exit status 1 if not\n"
        "      --watch            keep figures that --ctl FILE stats and npumem.stats() can ask for\n"
        "      --start-paused     record nothing but what is live until --ctl FILE start or npumem_resume()\n"
        "      --from-step N, --to-step M\n"
        "                         record in full from step N to step M of each process, both included\n"
        "      --duration SECONDS end the recording so long after it began in full; PROGRAM runs on\n"
        "      --alert 'WHAT > N' say once when device_used (N %, or GiB), live_bytes, live_count or growth_bytes\n"
        "                         passes N: on standard error and as a mark; may be given several times\n"
        "      --report FILE      write the answers of npumem-ingest to FILE at the end,\n"
        "                         and the database beside it (answers.txt, answers.db)\n"
        "      --ctl FILE COMMAND tell the recording that writes FILE (or of a PID): start, stop, mark TEXT,\n"
        "                         snapshot [TEXT], stats, status\n"
        "      --print-env        print the environment, for a shell, that makes any process record itself into one\n"
        "                         trace for each host: workers that PROGRAM does not start (ssh, Ray, MPI)\n"
        "      --finish FILE      append what a killed recording left in its rings, and remove those\n"
        "      --selfcheck        record a short program of npumem's own, with torch_npu if python3 has it, and say\n"
        "                         whether the figures are those of torch_npu and of the device, what recording costs\n"
        "                         and what was not seen: into FILE, to attach to a report (default\n"
        "                         npumem-selfcheck-%h-%t.txt); exit status 0: they agree, 1: not, or nothing recorded\n"
        "  -q, --quiet            no lines at the end\n"
        "  -h, --help             this text\n"
        "      --version          the version\n"
        "\n"
        "Environment: NPUMEM=off runs PROGRAM unrecorded, NPUMEM=paused is --start-paused.\n",
        stdout);
}

/* ---- Reading the command line -------------------------------------------------------------------------------------- */

static bool complain(const char *option, const char *value, const char *wanted)
{
    fprintf(stderr, "npumem-record: %s %s: %s\n", option, value, wanted);
    return false;
}

static bool read_stacks(const char *text, record_options *options)
{
    static const char *const names[] = {"none", "caller", "native", "python", "both"};

    for (unsigned mode = NM_STACKS_NONE; mode <= NM_STACKS_BOTH; mode++)
        if (strcmp(text, names[mode]) == 0) {
            options->folder.stack_mode = mode;
            return true;
        }
    return complain("--stacks", text, "must be none, caller, native, python or both");
}

static bool read_depth(const char *text, record_options *options)
{
    uint64_t depth;

    if (!nm_number_read(text, NM_RING_STACK_DEPTH_MAX, &depth) || depth == 0)
        return complain("--stack-depth", text, "must be 1 to 255");
    options->folder.stack_depth = (uint32_t)depth;
    return true;
}

static bool read_buffer(const char *text, record_options *options)
{
    char *end;
    unsigned long long bytes = strtoull(text, &end, 10);
    unsigned shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : *end == 'G' ? 30 : 0;

    if (text[0] < '0' || text[0] > '9' || end[shift != 0] != 0 || bytes > NM_RING_BYTES_MAX >> shift ||
        bytes << shift < NM_RING_BYTES_MIN)
        return complain("--buffer", text, "must be 64K to 1024M");
    options->folder.ring_bytes = bytes << shift;
    return true;
}

static bool read_on_full(const char *text, record_options *options)
{
    if (strcmp(text, "wait") != 0 && strcmp(text, "drop") != 0)
        return complain("--on-full", text, "must be wait or drop");
    options->folder.on_full = text[0] == 'w' ? NM_ON_FULL_WAIT : NM_ON_FULL_DROP;
    return true;
}

static bool read_seconds(const char *option, const char *text, int64_t *ns)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end != 0 || !(seconds >= 0 && seconds <= 1e6))
        return complain(option, text, "must be seconds, 0 to 1000000");
    *ns = (int64_t)(seconds * 1e9);
    return true;
}

static bool read_step(const char *option, const char *text, bool *has_step, int64_t *step)
{
    uint64_t number;

    if (!nm_number_read(text, INT64_MAX, &number))
        return complain(option, text, "must be the number of a step");
    *has_step = true;
    *step = (int64_t)number;
    return true;
}

static bool read_duration(const char *text, record_options *options)
{
    return read_seconds("--duration", text, &options->duration_ns) &&
           (options->duration_ns > 0 || complain("--duration", text, "must be more than 0 seconds"));
}

static bool read_alert(const char *text, record_options *options)
{
    nm_error err = {0};

    if (record_alert_read(text, &options->alerts, &err) == NM_OK)
        return true;
    return complain("--alert", text, err.text);
}

static bool read_report(const char *text, record_options *options)
{
    options->report = text;
    return (text[0] != 0 && strcmp(text, "-") != 0) ||
           complain("--report", text, "must be a file: standard output is PROGRAM's");
}

static bool is_command(const char *word)
{
    static const char *const words[] = {"start", "stop", "mark", "snapshot", "stats", "status"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

static bool set_action(record_options *options, record_action action)
{
    options->action = action;
    options->target = optarg;
    return true;
}

/* "last:2GiB", "steps:20" */
static bool read_keep(const char *text, record_options *options)
{
    static const struct {
        const char *name;
        unsigned shift;
    } units[] = {{"", 0},   {"K", 10},   {"KiB", 10}, {"M", 20},  {"MiB", 20},
                 {"G", 30}, {"GiB", 30}, {"T", 40},   {"TiB", 40}};
    const char *number = strchr(text, ':');
    char *end = NULL;
    unsigned long long value = number == NULL ? 0 : strtoull(number + 1, &end, 10);
    bool is_number = number != NULL && number[1] >= '0' && number[1] <= '9';

    options->keep_bytes = options->keep_steps = 0;
    if (is_number && strncmp(text, "steps:", 6) == 0 && *end == 0 && value > 0 && value <= KEEP_STEPS_MAX)
        options->keep_steps = value;
    for (size_t i = 0; is_number && strncmp(text, "last:", 5) == 0 && i < sizeof units / sizeof *units; i++)
        if (strcmp(end, units[i].name) == 0 && value <= KEEP_BYTES_MAX >> units[i].shift)
            options->keep_bytes = value << units[i].shift;
    if (options->keep_steps > 0 || options->keep_bytes >= KEEP_BYTES_MIN)
        return options->is_watched = true;
    return complain("--keep", text, "must be last:BYTES (64K or more; with suffix K, M, G or T) or steps:NUMBER");
}

static bool read_option(int option, record_options *options)
{
    switch (option) {
    case 'o':
        options->output = optarg;
        return optarg[0] != 0 || complain("-o", "''", "must be a file name");
    case STACKS:
        return read_stacks(optarg, options);
    case STACK_DEPTH:
        return read_depth(optarg, options);
    case BUFFER:
        return read_buffer(optarg, options);
    case RING_DIR:
        options->ring_dir = optarg;
        return true;
    case ON_FULL:
        return read_on_full(optarg, options);
    case LINGER:
        return read_seconds("--linger", optarg, &options->linger_ns);
    case KEEP:
        return read_keep(optarg, options);
    case SYNC:
        return read_seconds("--sync", optarg, &options->sync_ns);
    case SAMPLE_INTERVAL:
        return read_seconds("--sample-interval", optarg, &options->sample_ns);
    case NO_POOL_EVENTS:
        options->has_pool_events = false;
        return true;
    case BEST_EFFORT:
        return options->is_best_effort = true;
    case REQUIRED:
        return options->is_required = true;
    case FORCE:
        return options->is_forced = true;
    case 'q':
        return options->is_quiet = true;
    case FINISH:
        return set_action(options, RECORD_FINISH);
    case CONTROL:
        return set_action(options, RECORD_CONTROL);
    case WATCH:
        return options->is_watched = true;
    case START_PAUSED:
        return options->folder.starts_paused = true;
    case FROM_STEP:
        return read_step("--from-step", optarg, &options->folder.has_from_step, &options->folder.from_step);
    case TO_STEP:
        return read_step("--to-step", optarg, &options->folder.has_to_step, &options->folder.to_step);
    case DURATION:
        return read_duration(optarg, options);
    case ALERT:
        return read_alert(optarg, options);
    case REPORT:
        return read_report(optarg, options);
    case ATTACH:
        return set_action(options, RECORD_ATTACH);
    case SERVE:
        return set_action(options, RECORD_SERVE);
    case PRINT_ENVIRONMENT:
        return set_action(options, RECORD_PRINT_ENVIRONMENT);
    case SELFCHECK:
        return set_action(options, RECORD_SELFCHECK);
    case SELFCHECK_PROGRAM:
        return set_action(options, RECORD_SELFCHECK_PROGRAM);
    case COST_PROGRAM:
        return set_action(options, RECORD_COST);
    case 'h':
        return set_action(options, RECORD_HELP);
    case 'V':
        return set_action(options, RECORD_VERSION);
    default:
        fputs("Try 'npumem-record --help'.\n", stderr);
        return false;
    }
}

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

static bool no_memory(record_options *options)
{
    fprintf(stderr, "npumem-record: out of memory\n");
    options->is_out_of_memory = true;
    return false;
}

/* What a drain of --print-env or a recorder of --selfcheck gets told again: every option but the output, which stands apart,
 * and what is to become of a program that they do not start. */
static bool keep_words(int option, record_options *options)
{
    const struct option *known = long_options;
    nm_buffer *words = &options->words;
    nm_status status = NM_OK;

    while (known->name != NULL && known->val != option)
        known++;
    if (known->name == NULL || option == 'o' || option == PRINT_ENVIRONMENT || option == SELFCHECK ||
        option == BEST_EFFORT)
        return true;
    if (words->len > 0)
        status = nm_buffer_append(words, " ", 1, NULL);
    if (status == NM_OK)
        status = nm_buffer_append(words, "--", 2, NULL);
    if (status == NM_OK)
        status = append_word(words, known->name, NULL);
    if (status == NM_OK && known->has_arg == required_argument)
        status = nm_buffer_append(words, "=", 1, NULL);
    if (status == NM_OK && known->has_arg == required_argument)
        status = append_word(words, optarg, NULL);
    return status == NM_OK || no_memory(options);
}

static bool end_words(record_options *options)
{
    return options->words.len == 0 || nm_buffer_append(&options->words, "", 1, NULL) == NM_OK || no_memory(options);
}

static bool check_environment(record_options *options)
{
    if (options->program[0] != NULL)
        return complain("--print-env", options->program[0], "takes no program: every process records itself");
    if (strcmp(options->output, "-") == 0)
        return complain("-o", "-", "--print-env needs the name of a file");
    if (strcmp(options->output, DEFAULT_OUTPUT) == 0)
        options->output = HOST_OUTPUT;
    return end_words(options);
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

/* Another kind of recording than the plain one would be checked, or another program than its own. */
static bool check_selfcheck(record_options *options)
{
    bool is_plain = !options->is_watched && options->report == NULL && options->duration_ns == 0;

    if (options->program[0] != NULL)
        return complain("--selfcheck", options->program[0], "takes no program: it has its own");
    if (!is_plain)
        return complain("--selfcheck", "",
                        "checks a plain recording: it takes options of stacks, rings and samples alone");
    if (strcmp(options->output, "-") == 0)
        return complain("-o", "-", "--selfcheck needs the name of a file");
    if (strcmp(options->output, DEFAULT_OUTPUT) == 0)
        options->output = SELFCHECK_OUTPUT;
    return end_words(options);
}

/* What follows from several options together. */
static bool settle(record_options *options)
{
    nm_folder_options *folder = &options->folder;
    const char *mode = options->action == RECORD_RUN ? getenv("NPUMEM") : NULL;

    options->is_off = mode != NULL && strcmp(mode, "off") == 0;
    folder->starts_paused |= mode != NULL && strcmp(mode, "paused") == 0;
    if (folder->has_from_step && folder->has_to_step && folder->from_step > folder->to_step)
        return complain("--to-step", "is below --from-step", "there is no such step");
    if (options->is_best_effort && options->is_required)
        return complain("--best-effort", "with --required", "either the program runs unrecorded or it does not");
    if (options->report != NULL && strcmp(options->output, "-") == 0)
        return complain("--report", options->report, "needs a trace in a file");
    options->is_watched |=
        folder->starts_paused || folder->has_from_step || folder->has_to_step || options->alerts.count > 0;
    folder->is_live_set_known = options->is_watched && options->keep_bytes == 0 && options->keep_steps == 0;
    folder->is_sampled = options->sample_ns > 0;
    return true;
}

bool record_options_read(int argc, char **argv, record_options *options)
{
    int option;

    optind = 0; /* a drain reads a second line of options, out of its environment */
    *options = (record_options){
        .output = DEFAULT_OUTPUT,
        .linger_ns = DEFAULT_LINGER_NS,
        .sample_ns = DEFAULT_SAMPLE_NS,
        .sync_ns = DEFAULT_SYNC_NS,
        .has_pool_events = true,
        .folder = {.stack_mode = NM_STACKS_BOTH,
                   .stack_depth = DEFAULT_STACK_DEPTH,
                   .ring_bytes = NM_RING_BYTES_DEFAULT},
    };
    while ((option = getopt_long(argc, argv, "+o:qhV", long_options, NULL)) != -1)
        if (!read_option(option, options) || !keep_words(option, options))
            return false;
    options->program = argv + optind;
    if (!settle(options))
        return false;
    if (options->action == RECORD_CONTROL && (options->program[0] == NULL || !is_command(options->program[0])))
        return complain("--ctl", options->target, "needs a command: start, stop, mark, snapshot, stats or status");
    if (options->action == RECORD_PRINT_ENVIRONMENT)
        return check_environment(options);
    if (options->action == RECORD_SELFCHECK)
        return check_selfcheck(options);
    if (options->action == RECORD_RUN && options->program[0] == NULL)
        return complain("PROGRAM", "is missing", "try 'npumem-record --help'");
    if ((options->keep_bytes > 0 || options->keep_steps > 0) && strcmp(options->output, "-") == 0)
        return complain("-o", "-", "--keep needs files");
    if (options->action == RECORD_RUN && strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO))
        return complain("-o", "-", "a terminal cannot take a trace");
    return true;
}

/* ---- The output's name --------------------------------------------------------------------------------------------- */

static nm_status append_text(nm_buffer *out, const char *text, nm_error *err)
{
    return nm_buffer_append(out, text, strlen(text), err);
}

static nm_status append_start_time(nm_buffer *out, nm_error *err)
{
    char text[32];
    time_t now = time(NULL);
    struct tm parts;

    localtime_r(&now, &parts);
    strftime(text, sizeof text, "%Y%m%d-%H%M%S", &parts);
    return append_text(out, text, err);
}

/* %{NAME}: *at is behind the brace and moves behind the closing one. A variable that is not set is empty. */
static nm_status append_variable(const char **at, nm_buffer *out, nm_error *err)
{
    const char *end = strchr(*at, '}');
    char name[256];

    if (end == NULL || (size_t)(end - *at) >= sizeof name)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%%{ without } in the output's name");
    memcpy(name, *at, (size_t)(end - *at));
    name[end - *at] = 0;
    *at = end + 1;
    const char *value = getenv(name);
    return value == NULL ? NM_OK : append_text(out, value, err);
}

static nm_status append_code(const char **at, pid_t pid, nm_buffer *out, nm_error *err)
{
    char code = *(*at)++, text[256] = "";

    switch (code) {
    case 'h':
        gethostname(text, sizeof text - 1);
        return append_text(out, text, err);
    case 'p':
        snprintf(text, sizeof text, "%lld", (long long)pid);
        return append_text(out, text, err);
    case 't':
        return append_start_time(out, err);
    case '{':
        return append_variable(at, out, err);
    case '%':
        return append_text(out, "%", err);
    default:
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "the output's name knows %%h, %%p, %%t, %%{NAME} and %%%%");
    }
}

nm_status record_expand_name(const char *pattern, pid_t pid, nm_buffer *out, nm_error *err)
{
    nm_status status = NM_OK;

    while (status == NM_OK && *pattern != 0) {
        size_t plain = strcspn(pattern, "%");

        status = nm_buffer_append(out, pattern, plain, err);
        pattern += plain;
        if (status == NM_OK && *pattern == '%') {
            pattern++;
            status = append_code(&pattern, pid, out, err);
        }
    }
    if (status == NM_OK)
        status = nm_buffer_append(out, "", 1, err);
    if (status != NM_OK)
        out->len = 0; /* half a name is none */
    return status;
}
