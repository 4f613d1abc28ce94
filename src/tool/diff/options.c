/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-diff's options. Whether a database has what they choose is seen when it is open, not here.
 */
#include "tool/diff/options.h"

#include <string.h>
#include <unistd.h>

#include "base/door.h"

static const option_row rows[] = {
    {.name = "at",
     .kind = OPTION_TEXT,
     .argument = "NAME",
     .help = "also what was live at the mark NAME, the first of each process",
     .field = OPTION_FIELD(diff_options, choice.at)},
    {.name = "threshold",
     .kind = OPTION_SIZE,
     .argument = "SIZE",
     .help = "leave out changes up to SIZE, as 100MiB, and say how many; a new leak is told however small it is",
     .fallback = "0",
     .field = OPTION_FIELD(diff_options, choice.threshold_bytes)},
    {.name = "rank",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "only processes of this rank (else all, summed up)",
     .max = INT32_MAX,
     .field = OPTION_FIELD(diff_options, choice.rank),
     .given = OPTION_FIELD(diff_options, choice.has_rank)},
    {.name = "by-rank",
     .kind = OPTION_FLAG,
     .help = "a row for each rank, compared with the same rank",
     .field = OPTION_FIELD(diff_options, choice.is_by_rank)},
    {.name = "level",
     .kind = OPTION_TEXT,
     .argument = "NAME",
     .help = "only heaps of this level: pool, driver, pinned, ...",
     .field = OPTION_FIELD(diff_options, choice.level)},
    {.name = "top",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "sums over all sites, and sites, to print of each table; 0: all",
     .fallback = "20",
     .max = INT32_MAX,
     .field = OPTION_FIELD(diff_options, top)},
    {.name = "csv",
     .kind = OPTION_FOLDER,
     .argument = "DIR",
     .help = "also write diff.csv, diff_environment.csv, diff_figures.csv and diff_leaks.csv, or between_moments.csv, "
             "whole, into DIR",
     .field = OPTION_FIELD(diff_options, csv_folder)},
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "print JSON for programs, npumem.findings/1, with all rows",
     .field = OPTION_FIELD(diff_options, is_json)},
    OPTIONS_OUTPUT(diff_options, output_path, is_forced),
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors: the exit status says it",
     .field = OPTION_FIELD(diff_options, is_quiet)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-diff",
    .usage = "npumem-diff [options] A.db B.db\n       npumem-diff [options] RUN.db@FROM RUN.db@TO",
    .about =
        "Says what changed from A to B, two databases of npumem-ingest: peaks, reserved memory and times first, then "
        "versions and settings, then per site what was live at the peaks and at the end and what was allocated per "
        "step, then leaks. A site is a file "
        "below site-packages (elsewhere its name) and a function; the line is only shown. Of two "
        "moments of one run: what came, went and stayed, by site. A moment is a mark's text, peak, reserve, end, "
        "step:N, seq:N "
        "or a "
        "time as 10s.",
    .ends = {"no site and no leak changed by more than SIZE, and no leak is new; versions and settings may differ",
             "some did", "wrong usage, also where a database has not what is chosen, or the two cannot be compared",
             [EXIT_UNUSABLE] = "failed: a database cannot be read, or an output not written"},
    OPTIONS_ROWS(rows),
};

/* Cuts "RUN.db@MOMENT" in two where a file of the longest such name is. NULL: it names a file, or nothing that is there. */
static char *cut_moment(char *operand)
{
    if (nm_door_allows(operand, F_OK))
        return NULL;
    for (char *at = operand + strlen(operand); at > operand; at--) {
        if (*at != '@')
            continue;
        *at = 0;
        if (nm_door_allows(operand, F_OK))
            return at + 1;
        *at = '@';
    }
    return NULL;
}

options_outcome diff_options_read(int argc, char **argv, diff_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if (operands[0] == NULL || operands[1] == NULL || operands[2] != NULL)
        return options_refuse(&program, "needs two databases");
    options->choice.from = cut_moment(operands[0]);
    options->choice.to = cut_moment(operands[1]);
    if ((options->choice.from == NULL) != (options->choice.to == NULL) ||
        (options->choice.from != NULL && !nm_door_is_same(operands[0], operands[1])))
        return options_refuse(&program, "two moments are of one database: RUN.db@FROM RUN.db@TO");
    if (options->choice.from != NULL && options->choice.at != NULL)
        return options_refuse(&program, "--at is a moment of two databases");
    options->choice.base_path = operands[0];
    options->run_path = operands[1];
    if (options->top == 0)
        options->top = INT64_MAX;
    return OPTIONS_READ;
}
