/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-report: its options, and what its help says of it.
 */
#include "tool/report/options.h"

#include "report/html.h"

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "write there; -: standard output (default: DB with the suffix .html)",
     .field = OPTION_FIELD(report_options, output)},
    {.name = "max-size",
     .kind = OPTION_SIZE,
     .argument = "SIZE",
     .help = "about how large the page may get: where there are more blocks, only the largest can be pointed at",
     .fallback = "16MiB",
     .min = NM_HTML_BYTES_LEAST,
     .max = (uint64_t)1 << 30,
     .field = OPTION_FIELD(report_options, bytes_max)},
    {.name = "no-sql",
     .kind = OPTION_FLAG,
     .help = "leave out what answers SQL: half a megabyte of SQLite, and a copy of the database with less detail",
     .field = OPTION_FIELD(report_options, has_no_sql)},
    {.name = "force",
     .kind = OPTION_FLAG,
     .help = "replace a file that is there",
     .field = OPTION_FIELD(report_options, is_forced)},
    {.name = "quiet", .letter = 'q', .kind = OPTION_FLAG, .help = "print nothing but errors, as it does by itself"},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-report",
    .usage = "npumem-report [options] DB",
    .about = "Writes a database of npumem-ingest as one HTML file that needs nothing beside it and asks nobody for "
             "anything: "
             "verdicts with their evidence, memory over time, a map of every block, what was live at any moment and by "
             "whom, "
             "leaks, fragmentation, and why memory ran out; and it can be asked in SQL. Without script it holds the "
             "summary as text.",
    .ends = {"done", "failed", "wrong usage"},
    OPTIONS_ROWS(rows),
};

options_outcome report_options_read(int argc, char **argv, report_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if (operands[0] == NULL || operands[0][0] == 0)
        return options_refuse(&program, "no database");
    if (operands[1] != NULL)
        return options_refuse(&program, "one database at a time: npumem-ingest loads several ranks into one");
    options->database = operands[0];
    return OPTIONS_READ;
}
