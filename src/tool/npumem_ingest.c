/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest: input files -> database, CSV files and a summary. Connects a source, the replay and the store; what
 * it knows itself is the command line, the exit status and the one line of an error. One input goes into the database
 * directly, each of several into one of its own first, a part, which is then merged.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "drain/recover.h"
#include "replay/replay.h"
#include "source/source.h"
#include "store/cleanup.h"
#include "store/csv.h"
#include "store/database.h"
#include "store/human.h"
#include "store/site.h"
#include "store/store.h"
#include "store/summary.h"
#include "tool/ingest_inputs.h"
#include "tool/ingest_size.h"
#include "tool/ingest_steps.h"
#include "tool/ingest_symbols.h"
#include "tool/progress.h"
#include "tool/trace_map.h"
#include "trace/files.h"

#define EXIT_USAGE              2
#define EXIT_LOSS               3
#define EVENTS_BETWEEN_PROGRESS 4096

typedef struct ingest_options {
    const char *const *operands;
    size_t operand_count;
    char *output_path;           /* owned; NULL: the input's name says it */
    const char *csv_folder;      /* NULL: no CSV */
    const char *rules_path;      /* NULL: none */
    const char *step_at;         /* where steps begin; NULL: find out */
    const char **symbol_folders; /* owned */
    size_t symbol_folder_count;
    nm_detail detail;
    bool has_csv_bom;
    bool is_forced;
    bool is_quiet;
} ingest_options;

typedef struct ingest {
    const ingest_options *options;
    const char *subject; /* the file that an error is about */
    ingest_inputs inputs;
    char *output_path; /* owned */
    nm_buffer site_rules;
    ingest_symbols *symbols; /* NULL: none asked for */
    nm_store *store;
    nm_csv *csv;
    nm_progress progress;
    nm_frame_name_counts name_counts; /* of all inputs */
    bool is_whole;
    char *summary; /* owned: what goes to standard output once all is in place, */
    size_t summary_bytes;
    char *losses; /* and to standard error */
    size_t losses_bytes;
    FILE *losses_file;

    /* Of the input at hand. */
    const ingest_input *input;
    int input_fd;         /* -1: the input is `files` */
    nm_trace_files files; /* empty: the input is `input_fd` */
    nm_source *source;
    nm_store *part; /* where its rows go: `store`, or one of its own */
    nm_replay *replay;
    nm_anchor *anchor; /* NULL: steps are not looked for */
    uint64_t record_count;
    int64_t first_seq, last_seq;
    bool is_running; /* the recording has not ended */
} ingest;

static const char help_text[] =
    "usage: npumem-ingest [-o FILE.db] [--csv DIR] [options] INPUT...\n"
    "\n"
    "Loads a trace of npumem-record, or a memory snapshot of torch or torch_npu, into an SQLite database and prints "
    "the\n"
    "answers: leaks, peak, fragmentation, pool hit rate. The input is recognised by its content; '-' is standard "
    "input.\n"
    "A recording in parts (npumem-record --keep) is one input: name its folder, its parts, or what they have in "
    "common.\n"
    "Several inputs, also databases of this program, go into one database, which -o names: the ranks of a job.\n"
    "\n"
    "  -o FILE.db          output (default: the name of a single input with its suffix replaced by .db)\n"
    "  --csv DIR           also write one CSV file per view into DIR\n"
    "  --csv-bom           begin each CSV file with a byte order mark\n"
    "  --detail LEVEL      rows to keep of single allocations: all (default); live: those that were live at a peak, a "
    "mark, a\n"
    "                      failed allocation or the end; none. Answers are the same, the database is smaller\n"
    "  --force             replace outputs that exist\n"
    "  --site-rules FILE   more frames that are never a site: lines of 'function GLOB', 'file GLOB' or 'module GLOB'\n"
    "  --step-at WHERE     where a step begins that the program does not mark: FILE:LINE or the name of a function on "
    "the\n"
    "                      stack of an allocation, or the name of a range; 'none': do not look for steps\n"
    "  --symbols DIR       name places in stripped code by the debug files and unstripped libraries in DIR and below,\n"
    "                      found by build id; may be given several times\n"
    "  --quiet             print nothing but errors\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 whole; 1 failed, no output; 2 wrong usage; 3 done, but part of the input was damaged, cut or "
    "lost.\n";

/* ---- Command line ---- */

static int usage_error(const char *text)
{
    fprintf(stderr, "npumem-ingest: %s (--help says more)\n", text);
    return EXIT_USAGE;
}

/* "runs/a.zst" -> "runs/a.db" */
static char *default_output(const char *input_name)
{
    struct stat info;
    const char *slash = strrchr(input_name, '/');
    const char *name = slash == NULL ? input_name : slash + 1;
    const char *dot = stat(input_name, &info) == 0 && S_ISDIR(info.st_mode) ? NULL : strrchr(name, '.');
    size_t kept = dot == NULL || dot == name ? strlen(input_name) : (size_t)(dot - input_name);
    char *path = NULL;

    return asprintf(&path, "%.*s.db", (int)kept, input_name) < 0 ? NULL : path;
}

/* 0, or the exit status; -1 when the program has done what was asked (--help). */
static int take_operands(int argc, char **argv, ingest_options *options)
{
    if (optind == argc)
        return usage_error("no input");
    options->operands = (const char *const *)argv + optind;
    options->operand_count = (size_t)(argc - optind);
    for (size_t i = 0; i < options->operand_count; i++)
        if (options->operands[i][0] == 0)
            return usage_error("the input has no name");
    if (strcmp(options->operands[0], "-") == 0 && options->output_path == NULL)
        return usage_error("standard input needs -o");
    if (options->has_csv_bom && options->csv_folder == NULL)
        return usage_error("--csv-bom needs --csv");
    for (size_t i = 0; i < options->operand_count && options->operand_count > 1; i++)
        if (strcmp(options->operands[i], "-") == 0)
            return usage_error("standard input is an input of its own");
    return 0;
}

enum {
    OPTION_CSV = 256,
    OPTION_CSV_BOM,
    OPTION_DETAIL,
    OPTION_FORCE,
    OPTION_QUIET,
    OPTION_SITE_RULES,
    OPTION_STEP_AT,
    OPTION_SYMBOLS,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"csv", required_argument, NULL, OPTION_CSV},
    {"csv-bom", no_argument, NULL, OPTION_CSV_BOM},
    {"detail", required_argument, NULL, OPTION_DETAIL},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"site-rules", required_argument, NULL, OPTION_SITE_RULES},
    {"step-at", required_argument, NULL, OPTION_STEP_AT},
    {"symbols", required_argument, NULL, OPTION_SYMBOLS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

static int take_symbols(const char *folder, ingest_options *options)
{
    size_t count = options->symbol_folder_count;
    const char **grown = realloc(options->symbol_folders, (count + 1) * sizeof *grown);
    struct stat info;

    if (grown == NULL)
        return usage_error("out of memory");
    options->symbol_folders = grown;
    options->symbol_folders[options->symbol_folder_count++] = folder;
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return usage_error("--symbols needs a folder that is there");
    return 0;
}

static int take_detail(const char *text, ingest_options *options)
{
    for (nm_detail detail = NM_DETAIL_ALL; detail <= NM_DETAIL_NONE; detail++)
        if (strcmp(text, nm_detail_name(detail)) == 0) {
            options->detail = detail;
            return 0;
        }
    return usage_error("--detail needs all, live or none");
}

static int take_option(int option, ingest_options *options)
{
    switch (option) {
    case 'o':
        free(options->output_path);
        options->output_path = strdup(optarg);
        return options->output_path == NULL ? usage_error("out of memory") : 0;
    case OPTION_CSV:
        options->csv_folder = optarg;
        return 0;
    case OPTION_CSV_BOM:
        options->has_csv_bom = true;
        return 0;
    case OPTION_DETAIL:
        return take_detail(optarg, options);
    case OPTION_FORCE:
        options->is_forced = true;
        return 0;
    case OPTION_QUIET:
        options->is_quiet = true;
        return 0;
    case OPTION_SITE_RULES:
        options->rules_path = optarg;
        return 0;
    case OPTION_STEP_AT:
        options->step_at = optarg;
        return optarg[0] == 0 ? usage_error("--step-at needs a place") : 0;
    case OPTION_SYMBOLS:
        return take_symbols(optarg, options);
    case OPTION_HELP:
        fputs(help_text, stdout);
        return -1;
    case OPTION_VERSION:
        puts("npumem-ingest " NPUMEM_PROJECT_VERSION);
        return -1;
    default: /* getopt has said what is wrong */
        return EXIT_USAGE;
    }
}

static int take_arguments(int argc, char **argv, ingest_options *options)
{
    int option;

    while ((option = getopt_long(argc, argv, "o:", long_options, NULL)) != -1) {
        int result = take_option(option, options);

        if (result != 0)
            return result;
    }
    return take_operands(argc, argv, options);
}

/* ---- Opening ---- */

static nm_status read_site_rules(ingest *run, nm_error *err)
{
    int fd = -1;
    nm_status status;

    if (run->options->rules_path == NULL)
        return NM_OK;
    run->subject = run->options->rules_path;
    status = nm_io_open(run->options->rules_path, O_RDONLY, 0, &fd, err);
    if (status == NM_OK)
        status = nm_io_read_all(fd, NM_SITE_RULES_BYTES_MAX, &run->site_rules, err);
    nm_io_close(fd);
    return status;
}

static bool is_many(const ingest *run)
{
    return run->inputs.count > 1 || run->inputs.items[0].is_database;
}

/* What the operands name, and what the output is called then. */
static nm_status find_inputs(ingest *run, nm_error *err)
{
    const ingest_options *options = run->options;
    nm_status status = ingest_inputs_find(options->operands, options->operand_count, &run->inputs, &run->subject, err);

    if (status != NM_OK)
        return status;
    run->subject = NULL;
    if (options->output_path == NULL && run->inputs.count > 1)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%zu inputs (%s, %s, ...) need -o FILE.db", run->inputs.count,
                       run->inputs.items[0].name, run->inputs.items[1].name);
    if (options->output_path == NULL && is_many(run))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "a database as input needs -o FILE.db");
    run->output_path =
        options->output_path == NULL ? default_output(run->inputs.items[0].name) : strdup(options->output_path);
    return run->output_path == NULL ? nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory") : NM_OK;
}

/* Before the long work. */
static void say_size(const ingest *run)
{
    ingest_size size = {0};

    if (run->options->is_quiet)
        return;
    size = ingest_size_of(&run->inputs);
    ingest_size_say(&size, run->options->detail, run->output_path, stderr);
}

static nm_status open_input(ingest *run, nm_error *err)
{
    run->subject = run->input->path_count == 1 ? run->input->paths[0] : run->input->name;
    return ingest_input_open(run->input, &run->input_fd, &run->files, err);
}

static uint64_t input_bytes(const ingest *run)
{
    struct stat info;
    uint64_t bytes = 0;

    for (size_t i = 0; i < run->files.count; i++)
        bytes += run->files.items[i].bytes;
    if (run->files.count > 0)
        return bytes;
    return fstat(run->input_fd, &info) == 0 && S_ISREG(info.st_mode) ? (uint64_t)info.st_size : 0;
}

/* An error of a file in the folders is said and no failure. */
static nm_status open_symbols(ingest *run, nm_error *err)
{
    if (run->options->symbol_folder_count == 0)
        return NM_OK;
    run->subject = run->options->symbol_folders[0];
    return ingest_symbols_new(run->options->symbol_folders, run->options->symbol_folder_count, &run->symbols, err);
}

static nm_status open_store(ingest *run, nm_store_role role, const char *path, nm_store **out, nm_error *err)
{
    nm_store_options store_options = {
        .role = role,
        .detail = run->options->detail,
        .is_forced = run->options->is_forced,
        .input_fd = run->input_fd,
        .site_rules = {run->site_rules.data, run->site_rules.len},
        .namer = ingest_symbols_namer(run->symbols),
    };
    nm_status status;

    run->subject = run->output_path;
    status = nm_store_open(path, &store_options, out, err);
    if (status == NM_ERR_FORMAT)
        run->subject = run->options->rules_path;
    return status;
}

/* Refuses outputs before the long work, then builds the tables. */
static nm_status open_outputs(ingest *run, nm_store_role role, nm_error *err)
{
    const ingest_options *options = run->options;
    nm_csv_options csv_options = {.is_forced = options->is_forced, .has_bom = options->has_csv_bom};
    nm_status status = NM_OK;

    if (options->csv_folder != NULL) {
        run->subject = options->csv_folder;
        status = nm_csv_open(options->csv_folder, &csv_options, &run->csv, err);
    }
    return status == NM_OK ? open_store(run, role, run->output_path, &run->store, err) : status;
}

/* ---- Reading ---- */

/* Gives the source what the rings of an unfinished recording still hold. Rings that cannot be read lose only their own
 * events: the trace is loaded without them, and counted as cut off. */
static nm_status recover_rings(ingest *run, nm_error *err)
{
    nm_trace_file single = {.fd = run->input_fd, .bytes = input_bytes(run)};
    nm_trace_files files =
        run->files.count > 0 ? run->files : (nm_trace_files){.items = &single, .count = 1, .capacity = 1};
    nm_recovery recovery = {0};
    nm_source_summary_data summary;
    trace_map map;
    nm_status status = NM_OK;

    nm_source_summary(run->source, &summary);
    if (input_bytes(run) == 0 || strcmp(summary.kind, "trace") != 0 || trace_map_open(&files, &map, NULL) != NM_OK)
        return NM_OK;
    if (nm_recover_rings(map.bytes, &recovery, NULL) == NM_OK && recovery.is_needed) {
        run->is_running = recovery.is_running;
        if (recovery.blocks.len > 0)
            status =
                nm_trace_source_add_tail(run->source, (nm_bytes){recovery.blocks.data, recovery.blocks.len}, 0, err);
    }
    nm_recovery_free(&recovery);
    trace_map_close(&map);
    return status;
}

/* From the first record of the input. */
static nm_status open_source(ingest *run, nm_error *err)
{
    int *fds;
    nm_status status;

    if (run->files.count == 0)
        return nm_source_open(run->input_fd, &run->source, err);
    fds = calloc(run->files.count, sizeof *fds);
    if (fds == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    for (size_t i = 0; i < run->files.count; i++)
        fds[i] = run->files.items[i].fd;
    status = nm_source_open_parts(fds, run->files.count, &run->source, err);
    free(fds);
    return status;
}

static void note_record(ingest *run, const nm_record *record)
{
    if (record->kind == NM_RECORD_EVENT && (record->event.flags & NM_FLAG_BASELINE) == 0 &&
        !nm_event_is_repeat(&record->event)) {
        int64_t seq = (int64_t)record->event.seq;

        if (run->first_seq == NM_NO_SEQ || seq < run->first_seq)
            run->first_seq = seq;
        if (run->last_seq == NM_NO_SEQ || seq > run->last_seq)
            run->last_seq = seq;
    }
    if (++run->record_count % EVENTS_BETWEEN_PROGRESS == 0)
        nm_progress_update(&run->progress, nm_source_position(run->source), run->record_count);
}

static nm_status begin_step(ingest *run, const nm_record *record, nm_error *err)
{
    bool begins = false;
    nm_status status = run->anchor == NULL ? NM_OK : nm_anchor_begins(run->anchor, record, &begins, err);

    if (begins)
        nm_replay_begin_step(run->replay);
    return status;
}

static nm_status read_records(ingest *run, nm_error *err)
{
    nm_record record;
    nm_status status = NM_OK;

    run->subject = run->input->name;
    while (status == NM_OK) {
        status = nm_source_next(run->source, &record, err);
        if (status != NM_OK)
            break;
        note_record(run, &record);
        status = begin_step(run, &record, err);
        if (status == NM_OK)
            status = nm_replay_record(run->replay, &record, err);
    }
    if (status == NM_END)
        status = nm_replay_finish(run->replay, err);
    if (status == NM_OK && run->anchor != NULL)
        status = nm_anchor_write(run->anchor, nm_store_sink(run->part), err);
    if (status == NM_ERR_DATABASE)
        run->subject = run->output_path;
    return status;
}

static nm_status begin_source(ingest *run, nm_error *err)
{
    nm_status status = open_source(run, err);

    return status == NM_OK ? recover_rings(run, err) : status;
}

/* The next input, up to its first record, unless it has to be copied first. */
static nm_status begin_input(ingest *run, const ingest_input *input, nm_error *err)
{
    nm_status status;

    run->input = input;
    run->first_seq = run->last_seq = NM_NO_SEQ;
    run->is_running = false;
    status = open_input(run, err);
    return status == NM_OK && !ingest_steps_needs_copy(run->options->step_at, run->input_fd) ? begin_source(run, err)
                                                                                             : status;
}

/* What came through a pipe: only now, when it is known that there is a place for the output. */
static nm_status copy_input(ingest *run, nm_error *err)
{
    nm_status status;

    run->subject = run->input->name;
    nm_progress_say(&run->progress, "copying the input, to read it twice");
    status = ingest_steps_copy(&run->input_fd, err);
    return status == NM_OK ? begin_source(run, err) : status;
}

/* Reads the input once to find out where steps begin, and goes back to its first record. */
static nm_status find_steps(ingest *run, nm_error *err)
{
    bool is_done = false;
    nm_status status;

    nm_progress_say(&run->progress, "looking for steps");
    run->subject = run->input->name;
    status = ingest_steps_find(run->options->step_at, run->source, &run->anchor, err);
    if (status != NM_OK || run->anchor == NULL)
        return status;
    status = nm_source_rewind(run->source, &is_done, err);
    if (status != NM_OK || is_done)
        return status;
    nm_source_close(run->source);
    run->source = NULL;
    for (size_t i = 0; i < run->files.count; i++)
        lseek(run->files.items[i].fd, 0, SEEK_SET);
    if (run->files.count == 0)
        lseek(run->input_fd, 0, SEEK_SET);
    return begin_source(run, err);
}

static void end_input(ingest *run)
{
    nm_replay_free(run->replay);
    nm_anchor_free(run->anchor);
    nm_source_close(run->source);
    nm_io_close(run->input_fd);
    nm_trace_files_close(&run->files);
    if (run->part != run->store)
        nm_store_close(run->part);
    run->replay = NULL;
    run->anchor = NULL;
    run->source = NULL;
    run->input_fd = -1;
    run->part = NULL;
}

/* ---- Finishing ---- */

static void say_count(FILE *out, const char **separator, uint64_t count, const char *what)
{
    char number[NM_HUMAN_BYTES];

    if (count == 0)
        return;
    fprintf(out, "%s%s %s", *separator, nm_human_count(number, (int64_t)count), what);
    *separator = ", ";
}

static void report_loss(const ingest *run, const nm_source_summary_data *summary)
{
    const char *separator = " ";
    FILE *out = run->losses_file;

    fprintf(out, "npumem-ingest: %s: not complete:", run->input->name);
    say_count(out, &separator, summary->events_dropped, "events dropped while recording");
    say_count(out, &separator, summary->events_damaged, "events in damaged blocks");
    say_count(out, &separator, summary->bytes_damaged, "bytes damaged");
    say_count(out, &separator, summary->events_unrecovered, "events not recovered from rings");
    say_count(out, &separator, summary->events_without_stack, "events lost their stack");
    say_count(out, &separator, summary->bytes_cut, "bytes cut at the end");
    say_count(out, &separator, nm_store_unknown_references(run->part), "references to what was never defined");
    if (run->is_running)
        fprintf(out, "%sthe recording still runs", separator);
    else if (!summary->is_finished)
        fprintf(out, "%sthe recording was cut off before its end", separator);
    fprintf(out, "\n");
}

static nm_status finish_input(ingest *run, const nm_source_summary_data *summary, nm_error *err)
{
    nm_store_input input = {
        .path = run->input->name,
        .kind = summary->kind,
        .order_kind = summary->order_kind == NM_ORDER_FILE ? "file" : "clock",
        .start_realtime_ns = summary->start_realtime_ns,
        .is_complete = summary->is_complete,
        .is_finished = summary->is_finished,
        .events_seen = summary->events_seen,
        .events_ingested = summary->events_ingested,
        .events_dropped = summary->events_dropped,
        .events_damaged = summary->events_damaged,
        .events_unrecovered = summary->events_unrecovered,
        .events_late = summary->events_late,
        .events_without_stack = summary->events_without_stack,
        .bytes_cut = summary->bytes_cut,
        .first_seq = run->first_seq,
        .last_seq = run->last_seq,
        .events_unkept = summary->events_unkept,
        .is_late_begin = summary->is_late_begin,
        .detail_begin_seq = run->first_seq,
        .detail_begin_ns = summary->detail_begin_ns,
    };

    input.has_rank = ingest_input_rank(run->input->name, &input.rank);
    run->subject = run->output_path;
    nm_progress_say(&run->progress, run->part == run->store ? "making indexes and views" : "finishing the input");
    nm_status status = nm_store_finish(run->part, &input, err);
    const nm_frame_name_counts *counts = nm_store_name_counts(run->part);
    run->name_counts.named_frames += counts->named_frames;
    run->name_counts.unnamed_modules += counts->unnamed_modules;
    if (!summary->is_complete || nm_store_unknown_references(run->part) > 0)
        report_loss(run, summary);
    return status;
}

/* Reads the input that has begun, into run->part. */
static nm_status load_input(ingest *run, nm_error *err)
{
    nm_source_summary_data summary = {0};
    nm_status status = NM_OK;

    nm_progress_begin(&run->progress, !run->options->is_quiet, input_bytes(run));
    if (run->source == NULL)
        status = copy_input(run, err);
    if (status == NM_OK)
        status = find_steps(run, err);
    if (status == NM_OK)
        status = nm_replay_new(nm_store_sink(run->part), &run->replay, err);
    if (status == NM_OK)
        status = read_records(run, err);
    if (status == NM_OK) {
        nm_source_summary(run->source, &summary);
        status = finish_input(run, &summary, err);
    }
    return status;
}

static nm_status load_one(ingest *run, nm_error *err)
{
    nm_status status = begin_input(run, &run->inputs.items[0], err);

    if (status == NM_OK)
        status = open_outputs(run, NM_STORE_WHOLE, err);
    run->part = run->store;
    return status == NM_OK ? load_input(run, err) : status;
}

/* One of several: through a database of its own. */
static nm_status load_part(ingest *run, size_t index, nm_error *err)
{
    char *path = NULL;
    nm_status status = begin_input(run, &run->inputs.items[index], err);

    if (status == NM_OK && asprintf(&path, "%s.%zu", run->output_path, index + 1) < 0)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    if (status == NM_OK)
        status = open_store(run, NM_STORE_PART, path, &run->part, err);
    if (status == NM_OK)
        status = load_input(run, err);
    if (status == NM_OK)
        status = nm_store_merge(run->store, run->part, err);
    free(path);
    return status;
}

static nm_status merge_database(ingest *run, const ingest_input *input, nm_error *err)
{
    nm_progress_begin(&run->progress, !run->options->is_quiet, 0);
    nm_progress_say(&run->progress, "checking and copying a database");
    run->subject = input->paths[0];
    return nm_store_merge_file(run->store, input->paths[0], err);
}

/* No input may be the output. */
static nm_status check_inputs(ingest *run, nm_error *err)
{
    nm_status status = NM_OK;

    for (size_t i = 0; i < run->inputs.count && status == NM_OK; i++) {
        nm_store_options options = {.is_forced = run->options->is_forced};

        run->input = &run->inputs.items[i];
        status = open_input(run, err);
        options.input_fd = run->input_fd;
        if (status == NM_OK) {
            run->subject = run->output_path;
            status = nm_store_check_output(run->output_path, &options, err);
        }
        end_input(run);
    }
    return status;
}

static nm_status load_many(ingest *run, nm_error *err)
{
    nm_status status = check_inputs(run, err);

    if (status == NM_OK)
        status = open_outputs(run, NM_STORE_MERGED, err);
    for (size_t i = 0; i < run->inputs.count && status == NM_OK; i++) {
        const ingest_input *input = &run->inputs.items[i];

        status = input->is_database ? merge_database(run, input, err) : load_part(run, i, err);
        end_input(run);
        nm_progress_end(&run->progress);
    }
    if (status == NM_OK) {
        run->subject = run->output_path;
        nm_progress_say(&run->progress, "making indexes and views");
        status = nm_store_finish_merged(run->store, err);
    }
    return status;
}

/* Snapshots name neither host nor process. */
static nm_status check_apart(ingest *run, nm_error *err)
{
    int64_t count = 0;
    nm_status status =
        nm_db_get_int(nm_store_db(run->store),
                      "SELECT coalesce(sum(n), 0) FROM (SELECT count(DISTINCT input_id) AS n FROM process"
                      " GROUP BY host, rank, pid HAVING count(DISTINCT input_id) > 1)",
                      &count, err);

    if (status == NM_OK && count > 0 && !run->options->is_quiet)
        fprintf(stderr,
                "npumem-ingest: %s: %" PRId64 " inputs have processes of the same host, rank and number: only"
                " heap_place.input_id tells them apart (name files so: x_rank3.pickle)\n",
                run->output_path, count);
    return status;
}

/* Databases say of their inputs themselves what is missing. */
static nm_status check_whole(ingest *run, nm_error *err)
{
    int64_t count = 0;
    nm_status status =
        nm_db_get_int(nm_store_db(run->store),
                      "SELECT count(*) FROM input WHERE is_complete = 0 OR unknown_reference_count > 0", &count, err);

    run->is_whole = count == 0;
    if (status == NM_OK && count > 0 && ftell(run->losses_file) == 0)
        fprintf(run->losses_file, "npumem-ingest: %s: %" PRId64 " of its inputs not complete: see view completeness\n",
                run->output_path, count);
    return status;
}

static void write_name_counts(const nm_frame_name_counts *counts, FILE *out)
{
    char number[NM_HUMAN_BYTES];
    bool is_one = counts->unnamed_modules == 1;

    fprintf(out, "\nsymbols           %s frame%s named", nm_human_count(number, (int64_t)counts->named_frames),
            counts->named_frames == 1 ? "" : "s");
    if (counts->unnamed_modules > 0)
        fprintf(out, ", %s %s symbols (queries/missing_symbols.sql)",
                nm_human_count(number, (int64_t)counts->unnamed_modules),
                is_one ? "module still lacks" : "modules still lack");
    fputc('\n', out);
}

static nm_status write_summary(ingest *run, nm_error *err)
{
    nm_summary_names names = {run->output_path, run->options->csv_folder};
    FILE *file = NULL;
    nm_status status;

    if (run->options->is_quiet)
        return NM_OK;
    file = open_memstream(&run->summary, &run->summary_bytes);
    if (file == NULL)
        return nm_fail_errno(err, errno, "cannot write the summary");
    status = nm_summary_write(nm_store_db(run->store), &names, file, err);
    if (status == NM_OK && run->symbols != NULL)
        write_name_counts(&run->name_counts, file);
    if (fclose(file) != 0 && status == NM_OK)
        status = nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return status;
}

/* The CSV files go first: after them only a rename can fail. */
static nm_status publish(ingest *run, nm_error *err)
{
    nm_status status = NM_OK;

    if (run->csv != NULL) {
        run->subject = run->options->csv_folder;
        status = nm_csv_write_views(run->csv, nm_store_db(run->store), err);
        if (status == NM_OK)
            status = nm_csv_publish(run->csv, err);
    }
    if (status == NM_OK) {
        run->subject = run->output_path;
        status = nm_store_publish(run->store, err);
    }
    return status;
}

/* ---- What is said ---- */

static int report_error(const ingest *run, const nm_error *err)
{
    fprintf(stderr, "npumem-ingest: ");
    if (run->subject != NULL)
        fprintf(stderr, "%s: ", run->subject);
    if (err->offset != NM_NO_OFFSET)
        fprintf(stderr, "byte %" PRIu64 ": ", err->offset);
    fprintf(stderr, "%s\n", err->text);
    return err->status == NM_ERR_USAGE ? EXIT_USAGE : EXIT_FAILURE;
}

static int report_success(const ingest *run)
{
    if (run->summary != NULL)
        fwrite(run->summary, 1, run->summary_bytes, stdout);
    if (fflush(stdout) != 0) {
        fprintf(stderr, "npumem-ingest: standard output: cannot write: %s\n", strerror(errno));
        return EXIT_FAILURE;
    }
    if (run->is_whole)
        return EXIT_SUCCESS;
    if (!run->options->is_quiet)
        fputs(run->losses, stderr);
    return EXIT_LOSS;
}

static void free_run(ingest *run)
{
    end_input(run);
    nm_csv_close(run->csv);
    nm_store_close(run->store);
    ingest_symbols_free(run->symbols);
    ingest_inputs_free(&run->inputs);
    nm_buffer_free(&run->site_rules);
    free(run->output_path);
    free(run->summary);
    free(run->losses);
}

static nm_status open_losses(ingest *run, nm_error *err)
{
    run->losses_file = open_memstream(&run->losses, &run->losses_bytes);
    return run->losses_file == NULL ? nm_fail_errno(err, errno, "cannot keep what is to be said") : NM_OK;
}

static int run_ingest(const ingest_options *options)
{
    ingest run = {.options = options, .input_fd = -1};
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_status status = open_losses(&run, &err);

    if (status == NM_OK)
        status = read_site_rules(&run, &err);
    if (status == NM_OK)
        status = find_inputs(&run, &err);
    if (status == NM_OK)
        status = open_symbols(&run, &err);
    if (status == NM_OK)
        say_size(&run);
    if (status == NM_OK)
        status = is_many(&run) ? load_many(&run, &err) : load_one(&run, &err);
    if (status == NM_OK)
        status = check_apart(&run, &err);
    if (status == NM_OK)
        status = check_whole(&run, &err);
    if (status == NM_OK)
        status = write_summary(&run, &err);
    if (status == NM_OK)
        status = publish(&run, &err);
    nm_progress_end(&run.progress);
    if (run.losses_file != NULL)
        fclose(run.losses_file);

    int exit_status = status == NM_OK ? report_success(&run) : report_error(&run, &err);
    free_run(&run);
    return exit_status;
}

int main(int argc, char **argv)
{
    ingest_options options = {0};
    int result = take_arguments(argc, argv, &options);

    nm_cleanup_install();
    if (result == 0)
        result = run_ingest(&options);
    free(options.output_path);
    free(options.symbol_folders);
    return result < 0 ? EXIT_SUCCESS : result;
}
