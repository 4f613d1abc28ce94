/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of npumem-export: its options and its formats.
 */
#include "tool/export/options.h"

#include <string.h>

#include "base/spoken.h"

#define FORMATS "pprof, folded, perfetto, snapshot, svg or parquet"

static const export_format formats[] = {
    {"pprof", ".pb", "go tool pprof, and what else reads its profiles", nm_export_pprof, false},
    {"folded", ".folded", "flame graphs", nm_export_folded, false},
    {"perfetto", ".pftrace", "ui.perfetto.dev", nm_export_perfetto, true},
    {"snapshot", ".pickle", "PyTorch's memory_viz, and what else reads memory snapshots", nm_export_snapshot, true},
    {"svg", ".svg", "a browser: memory over time as a picture", nm_export_svg, false},
    {"parquet", ".parquet", "ClickHouse, DuckDB, and what else reads Parquet: tables of many runs", NULL, true},
};

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "write there; -: standard output (default: the input's name with the format's suffix); parquet: a folder",
     .field = OPTION_FIELD(export_options, output)},
    {.name = "at",
     .kind = OPTION_TEXT,
     .argument = "MOMENT",
     .help = "folded, pprof: what was live then: peak (of each heap its own), reserve, end, begin, seq:N, a time as "
             "10s (a number "
             "without a unit is nanoseconds), or the text of a mark",
     .fallback = "peak",
     .field = OPTION_FIELD(export_options, at)},
    {.name = "raw-stacks",
     .kind = OPTION_FLAG,
     .help = "whole stacks, with the frames of allocators, frameworks and the interpreter",
     .field = OPTION_FIELD(export_options, is_raw)},
    {.name = "job-name",
     .kind = OPTION_TEXT,
     .argument = "NAME",
     .help = "parquet: the job that the run is one of (default: SLURM_JOB_NAME, VC_JOB_NAME or TORCHELASTIC_RUN_ID, as "
             "recorded)",
     .field = OPTION_FIELD(export_options, job_name)},
    {.name = "run-name",
     .kind = OPTION_TEXT,
     .argument = "NAME",
     .help = "parquet: this run of it (default: when it began, as 20260131T235959Z)",
     .field = OPTION_FIELD(export_options, run_name)},
    {.name = "allocations",
     .kind = OPTION_FLAG,
     .help = "parquet: also every single allocation, and stacks",
     .field = OPTION_FIELD(export_options, has_allocations)},
    {.name = "all-steps",
     .kind = OPTION_FLAG,
     .help = "parquet: all steps and all points of curves, and not fewer",
     .field = OPTION_FIELD(export_options, has_all_steps)},
    {.name = "redact",
     .kind = OPTION_FLAG,
     .help = "parquet: replace hosts, users, paths and arguments, as npumem-ingest --redact does",
     .field = OPTION_FIELD(export_options, is_redacted)},
    {.name = "list",
     .kind = OPTION_FLAG,
     .help = "print the formats, and end",
     .field = OPTION_FIELD(export_options, is_list)},
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "of --list: print JSON for programs, npumem.findings/1",
     .field = OPTION_FIELD(export_options, is_json)},
    {.name = "force",
     .kind = OPTION_FLAG,
     .help = "replace a file that is there",
     .field = OPTION_FIELD(export_options, is_forced)},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors: the exit status says it",
     .field = OPTION_FIELD(export_options, is_quiet)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-export",
    .usage = "npumem-export [options] pprof | folded | perfetto | snapshot | svg DB\n"
             "       npumem-export [options] -o DIR parquet DB...\n"
             "       npumem-export --list [--json]",
    .about =
        "Writes a database of npumem-ingest in the format of another tool; a trace or a snapshot is loaded first. "
        "pprof: a "
        "profile for go tool pprof and what else reads those, with what was allocated, live, live at the peak, and "
        "leaked. "
        "folded: a line for each heap and stack with the bytes that were live, for flame graphs. perfetto: a trace for "
        "ui.perfetto.dev, with memory over time, steps, operations, and what was live at the peak, at marks and at the "
        "end. snapshot: a pickle for PyTorch's memory_viz and what else reads memory snapshots. svg: memory over time "
        "as a "
        "picture. parquet: answers as tables of Parquet, of one run, for a store of many: "
        "DIR/TABLE/job=J/run=R/HOST-rA-B.parquet.",
    .ends = {"done", "failed", "wrong usage", "done, of an input of which something was lost or missing"},
    OPTIONS_ROWS(rows),
};

const export_format *export_formats(size_t *count)
{
    *count = sizeof formats / sizeof *formats;
    return formats;
}

/* Of what is for parquet alone. */
static const char *fleet_option(const export_options *options)
{
    return options->job_name != NULL   ? "--job-name"
           : options->run_name != NULL ? "--run-name"
           : options->has_allocations  ? "--allocations"
           : options->has_all_steps    ? "--all-steps"
           : options->is_redacted      ? "--redact"
                                       : NULL;
}

static options_outcome check_one(const export_options *options)
{
    const char *const *databases = (const char *const *)options->databases;

    if (databases[0] == NULL || databases[0][0] == 0)
        return options_refuse(&program, "no database");
    if (strcmp(databases[0], "-") == 0 && options->output == NULL)
        return options_refuse(&program, "what comes from standard input has no name: give -o");
    if (databases[1] != NULL)
        return options_refuse(&program, "one database at a time");
    if (fleet_option(options) != NULL)
        return options_refuse(&program, "%s: goes with parquet alone", fleet_option(options));
    return OPTIONS_READ;
}

static options_outcome check_fleet(const export_options *options)
{
    if (options->databases[0] == NULL)
        return options_refuse(&program, "no database");
    for (char **database = options->databases; *database != NULL; database++)
        if ((*database)[0] == 0)
            return options_refuse(&program, "no database");
    if (options->output == NULL || options->output[0] == 0 || strcmp(options->output, "-") == 0)
        return options_refuse(&program, "parquet is a folder of files: give -o DIR");
    if ((options->job_name != NULL && options->job_name[0] == 0) ||
        (options->run_name != NULL && options->run_name[0] == 0))
        return options_refuse(&program, "the name of a job or run is empty");
    return OPTIONS_READ;
}

options_outcome export_options_read(int argc, char **argv, export_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if (options->is_json && !options->is_list)
        return options_refuse(&program, "--json: goes with --list alone");
    if (options->is_list)
        return operands[0] == NULL ? OPTIONS_READ : options_refuse(&program, "--list: takes no database");
    if (operands[0] == NULL)
        return options_refuse(&program, "no format: %s", nm_spoken(FORMATS));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(operands[0], formats[i].name) == 0)
            options->format = &formats[i];
    if (options->format == NULL)
        return options_refuse(&program, "%.60s: no such format: %s", operands[0], nm_spoken(FORMATS));
    options->databases = operands + 1;
    return options->format->write == NULL ? check_fleet(options) : check_one(options);
}
