/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-ingest: one input file -> database, CSV files and a summary. Connects a source, the replay and the store; what
 * it knows itself is the command line, the exit status and the one line of an error.
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
#include "store/human.h"
#include "store/site.h"
#include "store/store.h"
#include "store/summary.h"
#include "tool/ingest_symbols.h"
#include "tool/progress.h"
#include "tool/trace_map.h"
#include "trace/files.h"

#define EXIT_USAGE              2
#define EXIT_LOSS               3
#define EVENTS_BETWEEN_PROGRESS 4096

typedef struct ingest_options {
    const char *input_path; /* the first one, */
    const char *const *input_paths;
    size_t input_count;
    char *input_name;            /* and what they are called together; owned */
    char *output_path;           /* owned */
    const char *csv_folder;      /* NULL: no CSV */
    const char *rules_path;      /* NULL: none */
    const char **symbol_folders; /* owned */
    size_t symbol_folder_count;
    bool has_csv_bom;
    bool is_forced;
    bool is_quiet;
} ingest_options;

typedef struct ingest {
    const ingest_options *options;
    const char *subject;  /* the file that an error is about */
    int input_fd;         /* -1: the input is `files` */
    nm_trace_files files; /* empty: the input is `input_fd` */
    nm_buffer site_rules;
    ingest_symbols *symbols; /* NULL: none asked for */
    nm_source *source;
    nm_store *store;
    nm_csv *csv;
    nm_replay *replay;
    nm_progress progress;
    uint64_t record_count;
    int64_t first_seq, last_seq;
    bool is_running; /* the recording has not ended */
    bool is_whole;
    char *summary; /* owned: what goes to standard output once all is in place */
    size_t summary_bytes;
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
    "\n"
    "  -o FILE.db          output (default: the input's name with its suffix replaced by .db)\n"
    "  --csv DIR           also write one CSV file per view into DIR\n"
    "  --csv-bom           begin each CSV file with a byte order mark\n"
    "  --force             replace outputs that exist\n"
    "  --site-rules FILE   more frames that are never a site: lines of 'function GLOB', 'file GLOB' or 'module GLOB'\n"
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

/* "runs/", "run.zst.003" -> "runs", "run.zst"; several are called as the first of them. */
static char *input_name(const ingest_options *options)
{
    const char *path = options->input_path;
    size_t len = nm_trace_files_stem(path);

    while (len > 1 && path[len - 1] == '/')
        len--;
    return strndup(path, len);
}

/* 0, or the exit status; -1 when the program has done what was asked (--help). */
static int take_operands(int argc, char **argv, ingest_options *options)
{
    if (optind == argc)
        return usage_error("no input");
    options->input_path = argv[optind];
    options->input_paths = (const char *const *)argv + optind;
    options->input_count = (size_t)(argc - optind);
    if (options->input_path[0] == 0)
        return usage_error("the input has no name");
    if (strcmp(options->input_path, "-") == 0 && options->output_path == NULL)
        return usage_error("standard input needs -o");
    if (options->has_csv_bom && options->csv_folder == NULL)
        return usage_error("--csv-bom needs --csv");
    for (size_t i = 0; i < options->input_count && options->input_count > 1; i++)
        if (strcmp(options->input_paths[i], "-") == 0)
            return usage_error("standard input is an input of its own");
    options->input_name = input_name(options);
    if (options->output_path == NULL && options->input_name != NULL)
        options->output_path = default_output(options->input_name);
    return options->output_path == NULL || options->input_name == NULL ? usage_error("out of memory") : 0;
}

enum {
    OPTION_CSV = 256,
    OPTION_CSV_BOM,
    OPTION_FORCE,
    OPTION_QUIET,
    OPTION_SITE_RULES,
    OPTION_SYMBOLS,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"csv", required_argument, NULL, OPTION_CSV},
    {"csv-bom", no_argument, NULL, OPTION_CSV_BOM},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"site-rules", required_argument, NULL, OPTION_SITE_RULES},
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
    case OPTION_FORCE:
        options->is_forced = true;
        return 0;
    case OPTION_QUIET:
        options->is_quiet = true;
        return 0;
    case OPTION_SITE_RULES:
        options->rules_path = optarg;
        return 0;
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

static nm_status open_input(ingest *run, nm_error *err)
{
    run->subject = run->options->input_path;
    if (strcmp(run->options->input_path, "-") == 0) {
        run->input_fd = STDIN_FILENO;
        return NM_OK;
    }
    if (run->options->input_count > 1 || !nm_trace_files_is_single(run->options->input_path))
        return nm_trace_files_open(run->options->input_paths, run->options->input_count, O_RDONLY, &run->files, err);
    return nm_io_open(run->options->input_path, O_RDONLY, 0, &run->input_fd, err);
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

/* Refuses outputs before the long work, then builds the tables. */
static nm_status open_outputs(ingest *run, nm_error *err)
{
    const ingest_options *options = run->options;
    nm_csv_options csv_options = {.is_forced = options->is_forced, .has_bom = options->has_csv_bom};
    nm_store_options store_options = {
        .is_forced = options->is_forced,
        .input_fd = run->input_fd,
        .site_rules = {run->site_rules.data, run->site_rules.len},
        .namer = ingest_symbols_namer(run->symbols),
    };
    nm_status status = NM_OK;

    if (options->csv_folder != NULL) {
        run->subject = options->csv_folder;
        status = nm_csv_open(options->csv_folder, &csv_options, &run->csv, err);
    }
    if (status == NM_OK) {
        run->subject = options->output_path;
        status = nm_store_open(options->output_path, &store_options, &run->store, err);
        if (status == NM_ERR_FORMAT)
            run->subject = options->rules_path;
    }
    return status;
}

/* ---- Reading ---- */

/* Gives the source what the rings of an unfinished recording still hold. Rings that cannot be read lose only their own
 * events: the trace is loaded without them, and counted as cut off. */
static nm_status recover_rings(ingest *run, nm_error *err)
{
    nm_trace_file single = {.fd = run->input_fd, .bytes = input_bytes(run)};
    nm_trace_files files = run->files.count > 0 ? run->files : (nm_trace_files){&single, 1, 1};
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

static nm_status read_records(ingest *run, nm_error *err)
{
    nm_record record;
    nm_status status = NM_OK;

    while (status == NM_OK) {
        run->subject = run->options->input_path;
        status = nm_source_next(run->source, &record, err);
        if (status != NM_OK)
            break;
        note_record(run, &record);
        status = nm_replay_record(run->replay, &record, err);
    }
    if (status == NM_END)
        status = nm_replay_finish(run->replay, err);
    if (status == NM_ERR_DATABASE)
        run->subject = run->options->output_path;
    return status;
}

static nm_status load(ingest *run, nm_error *err)
{
    nm_status status;

    run->subject = run->options->input_path;
    status = open_source(run, err);
    if (status == NM_OK)
        status = recover_rings(run, err);
    if (status == NM_OK)
        status = open_outputs(run, err);
    if (status == NM_OK)
        status = nm_replay_new(nm_store_sink(run->store), &run->replay, err);
    nm_progress_begin(&run->progress, !run->options->is_quiet, input_bytes(run));
    return status == NM_OK ? read_records(run, err) : status;
}

/* ---- Finishing ---- */

static nm_status finish(ingest *run, const nm_source_summary_data *summary, nm_error *err)
{
    nm_store_input input = {
        .path = run->options->input_name,
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

    run->subject = run->options->output_path;
    nm_progress_say(&run->progress, "making indexes and views");
    nm_status status = nm_store_finish(run->store, &input, err);
    run->is_whole = summary->is_complete && nm_store_unknown_references(run->store) == 0;
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
    nm_summary_names names = {run->options->output_path, run->options->csv_folder};
    FILE *file = NULL;
    nm_status status;

    if (run->options->is_quiet)
        return NM_OK;
    file = open_memstream(&run->summary, &run->summary_bytes);
    if (file == NULL)
        return nm_fail_errno(err, errno, "cannot write the summary");
    status = nm_summary_write(nm_store_db(run->store), &names, file, err);
    if (status == NM_OK && run->symbols != NULL)
        write_name_counts(nm_store_name_counts(run->store), file);
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
        run->subject = run->options->output_path;
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

static void say_count(const char **separator, uint64_t count, const char *what)
{
    char number[NM_HUMAN_BYTES];

    if (count == 0)
        return;
    fprintf(stderr, "%s%s %s", *separator, nm_human_count(number, (int64_t)count), what);
    *separator = ", ";
}

static void report_loss(const ingest *run, const nm_source_summary_data *summary)
{
    const char *separator = " ";

    fprintf(stderr, "npumem-ingest: %s: not complete:", run->options->input_name);
    say_count(&separator, summary->events_dropped, "events dropped while recording");
    say_count(&separator, summary->events_damaged, "events in damaged blocks");
    say_count(&separator, summary->bytes_damaged, "bytes damaged");
    say_count(&separator, summary->events_unrecovered, "events not recovered from rings");
    say_count(&separator, summary->events_without_stack, "events lost their stack");
    say_count(&separator, summary->bytes_cut, "bytes cut at the end");
    say_count(&separator, nm_store_unknown_references(run->store), "references to what was never defined");
    if (run->is_running)
        fprintf(stderr, "%sthe recording still runs", separator);
    else if (!summary->is_finished)
        fprintf(stderr, "%sthe recording was cut off before its end", separator);
    fprintf(stderr, "\n");
}

static int report_success(const ingest *run, const nm_source_summary_data *summary)
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
        report_loss(run, summary);
    return EXIT_LOSS;
}

static int run_ingest(const ingest_options *options)
{
    ingest run = {.options = options, .input_fd = -1, .first_seq = NM_NO_SEQ, .last_seq = NM_NO_SEQ};
    nm_source_summary_data summary = {0};
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_status status = read_site_rules(&run, &err);

    if (status == NM_OK)
        status = open_input(&run, &err);
    if (status == NM_OK)
        status = open_symbols(&run, &err);
    if (status == NM_OK)
        status = load(&run, &err);
    if (status == NM_OK) {
        nm_source_summary(run.source, &summary);
        status = finish(&run, &summary, &err);
    }
    if (status == NM_OK)
        status = write_summary(&run, &err);
    if (status == NM_OK)
        status = publish(&run, &err);
    nm_progress_end(&run.progress);

    int exit_status = status == NM_OK ? report_success(&run, &summary) : report_error(&run, &err);
    nm_replay_free(run.replay);
    nm_source_close(run.source);
    nm_csv_close(run.csv);
    nm_store_close(run.store);
    ingest_symbols_free(run.symbols);
    nm_buffer_free(&run.site_rules);
    nm_io_close(run.input_fd);
    nm_trace_files_close(&run.files);
    free(run.summary);
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
    free(options.input_name);
    free(options.symbol_folders);
    return result < 0 ? EXIT_SUCCESS : result;
}
