/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-report: its options, and what its help says of it.
 */
#include "tool/report/options.h"

#include "base/door.h"
#include "page/write.h"

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "write there; -: standard output (default: DB with the suffix .html; of several it has to be given)",
     .field = OPTION_FIELD(report_options, output)},
    {.name = "against",
     .kind = OPTION_FILE,
     .argument = "B.db",
     .help =
         "another run beside this one: the figures and sites of npumem diff DB B.db, and both curves in one picture",
     .field = OPTION_FIELD(report_options, against)},
    {.name = "max-size",
     .kind = OPTION_SIZE,
     .argument = "SIZE",
     .help = "how large the page may get: where there are more blocks, those round the peak, failures, leaks and the "
             "end are kept one by one",
     .fallback = "16MiB",
     .min = NM_PAGE_BYTES_LEAST,
     .max = (uint64_t)1 << 30,
     .field = OPTION_FIELD(report_options, bytes_max)},
    {.name = "whatif",
     .kind = OPTION_FLAG,
     .help =
         "the table of npumem whatif --compare: what other settings of the allocator would have made of the recorded "
         "requests; up to 20,000 allocations it is there anyway, a million take about 20 s",
     .field = OPTION_FIELD(report_options, is_whatif)},
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
    .usage = "npumem-report [options] DB\n       npumem-report [options] -o FILE.html DB DB ...",
    .about =
        "Writes a database of npumem-ingest as one HTML file that needs nothing beside it and asks nobody for "
        "anything: "
        "verdicts with their evidence, memory over time, a map of every block, what was live at any moment and by "
        "whom, "
        "leaks, fragmentation, and why memory ran out; and it can be asked in SQL. Without script it holds the summary "
        "as text. Several databases "
        "are the ranks of one job: all beside each other, with maps of the first that failed, of the one with the "
        "highest peak and of the median.",
    .ends = {"done", "failed", "wrong usage"},
    OPTIONS_ROWS(rows),
};

/* The first of the databases before that one which is the same file; NULL: there is none. */
static const char *same_before(char *const *operands, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (nm_door_is_same(operands[i], operands[index]))
            return operands[i];
    return NULL;
}

static options_outcome check_operands(char *const *operands, const report_options *options)
{
    for (size_t i = 0; i < options->database_count; i++) {
        if (operands[i][0] == 0)
            return options_refuse(&program, "no database");
        if (same_before(operands, i) != NULL)
            return options_refuse(&program, "%.60s is given twice", operands[i]);
        if (options->against != NULL && nm_door_is_same(operands[i], options->against))
            return options_refuse(&program, "%.60s cannot be compared with itself", operands[i]);
    }
    if (options->database_count == 0)
        return options_refuse(&program, "no database");
    if (options->database_count > 1 && options->against != NULL)
        return options_refuse(&program, "--against takes one run beside another: load the ranks of one into a database "
                                        "first (npumem-ingest -o)");
    if (options->database_count > 1 && options->is_whatif)
        return options_refuse(&program, "--whatif is about one database");
    if (options->database_count > 1 && options->output == NULL)
        return options_refuse(&program, "%zu databases need -o FILE.html", options->database_count);
    return OPTIONS_READ;
}

options_outcome report_options_read(int argc, char **argv, report_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    while (operands[options->database_count] != NULL)
        options->database_count++;
    options->databases = (const char *const *)operands;
    return check_operands(operands, options);
}
