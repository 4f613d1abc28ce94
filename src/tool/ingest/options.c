/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-ingest's options, and what options and inputs ask of each other.
 */
#include "tool/ingest/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/door.h"
#include "base/quantity.h"
#include "tool/common/color.h"
#include "tool/common/threshold_text.h"

#define MINUTE_NS   UINT64_C(60000000000)
#define MINUTES_MAX 1000000

static nm_status take_output(const option_row *row, const char *argument, void *into, nm_error *err)
{
    ingest_options *options = into;

    (void)row;
    options->output_path = argument;
    return strcmp(argument, "-") == 0
               ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "a database cannot go to standard output")
               : NM_OK;
}

static nm_status take_symbols(const option_row *row, const char *argument, void *into, nm_error *err)
{
    ingest_options *options = into;
    nm_status status = nm_array_grow(&options->symbol_folders.items, &options->symbol_folders.capacity,
                                     options->symbol_folders.count + 1, sizeof *options->symbol_folders.items, err);

    (void)row;
    if (status != NM_OK)
        return status;
    options->symbol_folders.items[options->symbol_folders.count++] = argument;
    if (!nm_door_leads_to(argument, S_IFDIR))
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a folder that is there");
    return NM_OK;
}

/* A line of site rules more. */
static nm_status take_own(const option_row *row, const char *argument, void *into, nm_error *err)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    ingest_options *options = into;
    nm_status status = nm_buffer_append(&options->own_rules, "own ", 4, err);

    (void)row;
    if (argument[0] == 0 || argument[strspn(argument, letters)] != 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs the name of a package, as in 'import NAME'");
    if (status == NM_OK)
        status = nm_buffer_append(&options->own_rules, argument, strlen(argument), err);
    return status == NM_OK ? nm_buffer_append(&options->own_rules, "\n", 1, err) : status;
}

static nm_status take_step_at(const option_row *row, const char *argument, void *into, nm_error *err)
{
    ingest_options *options = into;

    (void)row;
    options->step_at = argument;
    return argument[0] == 0 ? nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a place") : NM_OK;
}

static nm_status take_server_after(const option_row *row, const char *argument, void *into, nm_error *err)
{
    ingest_options *options = into;
    uint64_t ns = 0;
    nm_status status = nm_quantity_time(argument, MINUTE_NS, &ns, err);

    (void)row;
    if (status != NM_OK)
        return status;
    if (ns == 0 || ns % MINUTE_NS != 0 || ns / MINUTE_NS > MINUTES_MAX)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be whole minutes, 1m to %dm", MINUTES_MAX);
    options->server_minutes = (int64_t)(ns / MINUTE_NS);
    return NM_OK;
}

/* Of a detail that was asked for, check_operands tells: which of both options comes first is not known here. */
static nm_status take_window(const option_row *row, const char *argument, void *into, nm_error *err)
{
    ingest_options *options = into;

    (void)row;
    options->has_window = true;
    return nm_window_read(argument, &options->window, err);
}

static const char *const detail_words[] = {
    [NM_RETENTION_ALL] = "all", [NM_RETENTION_LIVE] = "live", [NM_RETENTION_NONE] = "none", NULL};

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .argument = "FILE.db",
     .help = "the database to write (default: the name of a single input with its suffix replaced by .db)",
     .take = take_output},
    {.name = "color",
     .kind = OPTION_CHOICE,
     .argument = "WHEN",
     .words = tool_color_words,
     .help = "color what is printed: auto (on a terminal, unless NO_COLOR is set), always or never",
     .fallback = "auto",
     .field = OPTION_FIELD(ingest_options, color)},
    {.name = "csv",
     .kind = OPTION_FOLDER,
     .argument = "DIR",
     .help = "also write CSV files into DIR, a view each: what is outstanding, leaks and suspects, the peak, "
             "fragmentation, "
             "hit rates, the timeline, health, and the catalog of all views",
     .field = OPTION_FIELD(ingest_options, csv_folder)},
    {.name = "csv-all",
     .kind = OPTION_FLAG,
     .help = "write every public view as CSV, but for allocation_detail and stack_text",
     .field = OPTION_FIELD(ingest_options, has_csv_all)},
    {.name = "csv-internal",
     .kind = OPTION_FLAG,
     .help = "with --csv-all, also internal views: for npumem-record --selfcheck",
     .is_hidden = true,
     .field = OPTION_FIELD(ingest_options, has_csv_internal)},
    {.name = "csv-bom",
     .kind = OPTION_FLAG,
     .help = "begin each CSV file with a byte order mark, which some spreadsheets need to read UTF-8",
     .field = OPTION_FIELD(ingest_options, has_csv_bom)},
    {.name = "report",
     .kind = OPTION_FILE,
     .argument = "FILE.html",
     .help = "also write a page to look at and to send, as npumem-report does",
     .field = OPTION_FIELD(ingest_options, report_path)},
    {.name = "detail",
     .kind = OPTION_CHOICE,
     .argument = "LEVEL",
     .words = detail_words,
     .help = "rows to keep of single allocations: all; live: those that were live at a peak, a mark, a failed "
             "allocation or the end; none. Answers are the same, the database is smaller",
     .fallback = "all",
     .field = OPTION_FIELD(ingest_options, detail)},
    {.name = "force",
     .kind = OPTION_FLAG,
     .help = "replace outputs that exist",
     .field = OPTION_FIELD(ingest_options, is_forced)},
    {.name = "jobs",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "read so many of several inputs at a time, each by a process of its own; 0: as many as there are "
             "processors, up to 8",
     .fallback = "0",
     .max = 256,
     .field = OPTION_FIELD(ingest_options, job_count)},
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "print JSON for programs, npumem.findings/1, instead of the screen",
     .field = OPTION_FIELD(ingest_options, is_json)},
    {.name = "lang",
     .kind = OPTION_CHOICE,
     .argument = "LANGUAGE",
     .words = tool_language_words,
     .help = "the language of what is printed: en, zh (Chinese) or auto, by LC_ALL, LC_MESSAGES and LANG",
     .fallback = "auto",
     .field = OPTION_FIELD(ingest_options, language)},
    {.name = "own",
     .kind = OPTION_TEXT,
     .argument = "PACKAGE",
     .help =
         "a package of Python that is the program's own, though it lies in site-packages: its lines are sites, and do "
         "not give way to those that call it",
     .take = take_own,
     .is_repeatable = true},
    {.name = "redact",
     .kind = OPTION_FLAG,
     .help = "replace hosts, users, paths and arguments (host-1, /path-1/file-1.py): a database to send",
     .field = OPTION_FIELD(ingest_options, is_redacted)},
    {.name = "safe-load",
     .kind = OPTION_FLAG,
     .help = "let SQLite insert every row, which takes longer, and have it check every page: the database is the same",
     .field = OPTION_FIELD(ingest_options, is_safe_load)},
    {.name = "server-after",
     .kind = OPTION_TIME,
     .argument = "TIME",
     .help = "judge a process without steps by what it holds at least, if it ran for so long (30m, 2h; a number "
             "without a unit is minutes; default: 30m)",
     .take = take_server_after},
    {.name = "site-rules",
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "more frames that are never a site: lines of 'function GLOB', 'python', 'file', 'name' (of a file "
             "without folders) or 'module GLOB'; and of 'library GLOB' (a file) or 'own GLOB' (a package)",
     .field = OPTION_FIELD(ingest_options, rules_path)},
    {.name = "step-at",
     .kind = OPTION_TEXT,
     .argument = "WHERE",
     .help = "where a step begins that the program does not mark: FILE:LINE or the name of a function on the stack of "
             "an allocation, or the name of a range; 'none': do not look for steps",
     .take = take_step_at},
    {.name = "symbols",
     .kind = OPTION_FOLDER,
     .argument = "DIR",
     .help = "name places in stripped code by the debug files and unstripped libraries in DIR and below, found by "
             "build id",
     .take = take_symbols,
     .is_repeatable = true},
    {.name = "window",
     .kind = OPTION_TEXT,
     .argument = "A..B",
     .help = "keep those of --detail live, and all rows of what was live or happened from A to B: step:N (B: with that "
             "step), seq:N, a time as 10s, mark:TEXT, begin, end",
     .take = take_window},
    OPTIONS_THRESHOLDS(
        ingest_options, thresholds,
        "how much of a measure there has to be for a warning: allocation-cost (a time), fragmentation, zero-copy "
        "(sizes) or pool-hit-rate (requests); 0: however little"),
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors",
     .field = OPTION_FIELD(ingest_options, is_quiet)},
    OPTIONS_PROGRESS(ingest_options, progress),
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-ingest",
    .usage = "npumem-ingest [-o FILE.db] [--csv DIR] [options] INPUT...",
    .about = "Loads a trace of npumem-record, a memory snapshot of torch or torch_npu, a file of a profiler, "
             "or a log in which memory ran out, into an SQLite database and prints the answers: leaks, peak, "
             "fragmentation, pool hit rate, failures. The input is recognised by its content; '-' is standard "
             "input. A recording in parts (npumem-record --keep) is one input: name its folder, its parts, or "
             "what they have in common. Any other folder is all that can be read in it. Several inputs, also "
             "databases of this program, go into one database, which -o names: the ranks of a job. One "
             "database alone is not loaded: its answers are printed again, and --csv and --report write their "
             "files again.",
    .ends = {"the inputs were whole", "failed, no output", "wrong usage",
             "done, but part of the input was damaged, cut or lost, or is still being recorded, or the answers could "
             "not be "
             "printed, or the folder of an output not synced"},
    OPTIONS_ROWS(rows),
};

static options_outcome check_operands(const ingest_options *options)
{
    if (options->operand_count == 0)
        return options_refuse(&program, "no input");
    for (size_t i = 0; i < options->operand_count; i++)
        if (options->operands[i][0] == 0)
            return options_refuse(&program, "the input has no name");
    if (strcmp(options->operands[0], "-") == 0 && options->output_path == NULL)
        return options_refuse(&program, "standard input needs -o");
    if (options->has_csv_bom && options->csv_folder == NULL)
        return options_refuse(&program, "--csv-bom needs --csv");
    if (options->has_csv_all && options->csv_folder == NULL)
        return options_refuse(&program, "--csv-all needs --csv");
    if (options->has_window && options->detail != NM_RETENTION_ALL)
        return options_refuse(&program, "--window says itself which rows are kept: without --detail");
    for (size_t i = 0; i < options->operand_count && options->operand_count > 1; i++)
        if (strcmp(options->operands[i], "-") == 0)
            return options_refuse(&program, "standard input is an input of its own");
    return OPTIONS_READ;
}

options_outcome ingest_options_read(int argc, char **argv, ingest_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    options->operands = (const char *const *)operands;
    while (outcome == OPTIONS_READ && operands[options->operand_count] != NULL)
        options->operand_count++;
    if (options->progress == NM_PROGRESS_NONE && !options->is_quiet)
        options->progress = NM_PROGRESS_LINE;
    if (outcome == OPTIONS_READ)
        outcome = check_operands(options);
    if (options->has_window)
        options->detail = NM_RETENTION_WINDOW;
    return outcome;
}

void ingest_options_free(ingest_options *options)
{
    free(options->symbol_folders.items);
    nm_buffer_free(&options->own_rules);
}
