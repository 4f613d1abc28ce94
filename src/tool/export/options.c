/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of npumem-export: its options and its formats.
 */
#include "tool/export/options.h"

#include <string.h>

static const export_format formats[] = {
    {"folded", ".folded", nm_export_folded},
    {"pprof", ".pb", nm_export_pprof},
};

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "write there; -: standard output (default: DB with the format's suffix)",
     .field = OPTION_FIELD(export_options, output)},
    {.name = "at",
     .kind = OPTION_TEXT,
     .argument = "MOMENT",
     .help = "what was live then: peak (of each heap its own), end, begin, seq:N, a time as 10s (a number without a "
             "unit is "
             "nanoseconds), or the text of a mark",
     .fallback = "peak",
     .field = OPTION_FIELD(export_options, at)},
    {.name = "raw-stacks",
     .kind = OPTION_FLAG,
     .help = "whole stacks, with the frames of allocators, frameworks and the interpreter",
     .field = OPTION_FIELD(export_options, is_raw)},
    {.name = "force",
     .kind = OPTION_FLAG,
     .help = "replace a file that is there",
     .field = OPTION_FIELD(export_options, is_forced)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-export",
    .usage = "npumem-export [options] folded | pprof DB",
    .about =
        "Writes a database of npumem-ingest in the format of another tool. folded: a line for each heap and stack with "
        "the bytes that were live, for flame graphs. pprof: a profile for go tool pprof and what else reads those, "
        "with "
        "what was allocated, live, live at the peak, and leaked.",
    .ends = {"done", "failed", "wrong usage"},
    OPTIONS_ROWS(rows),
};

options_outcome export_options_read(int argc, char **argv, export_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if (operands[0] == NULL)
        return options_refuse(&program, "no format: folded or pprof");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (strcmp(operands[0], formats[i].name) == 0)
            options->format = &formats[i];
    if (options->format == NULL)
        return options_refuse(&program, "%.60s: no such format: folded or pprof", operands[0]);
    if (operands[1] == NULL || operands[1][0] == 0)
        return options_refuse(&program, "no database");
    if (operands[2] != NULL)
        return options_refuse(&program, "one database at a time");
    options->database = operands[1];
    return OPTIONS_READ;
}
