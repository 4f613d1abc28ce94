/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-top's options. Whether there is such a recording is seen when it is looked for, not here.
 */
#include "tool/top/options.h"

#include <string.h>

static const option_row rows[] = {
    {.name = "pid",
     .kind = OPTION_TEXT,
     .argument = "PID",
     .help = "the recording of this process, in place of FILE",
     .field = OPTION_FIELD(top_options, pid)},
    {.name = "interval",
     .kind = OPTION_TIME,
     .argument = "TIME",
     .help = "look so often",
     .fallback = "1s",
     .max = 86400,
     .field = OPTION_FIELD(top_options, interval_ns)},
    {.name = "once",
     .kind = OPTION_FLAG,
     .help = "print what the recording is at now, and end",
     .field = OPTION_FIELD(top_options, is_once)},
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "print a line of JSON each time, npumem.findings/1",
     .field = OPTION_FIELD(top_options, is_json)},
    {.name = "prometheus",
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help =
         "also write FILE each time, for node_exporter's collector of text files (a name that ends in .prom); what is "
         "there is replaced",
     .field = OPTION_FIELD(top_options, prometheus_path)},
    {.name = "sites",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "sites to print of each list; a terminal may have room for fewer",
     .fallback = "10",
     .max = 1000000,
     .field = OPTION_FIELD(top_options, site_count)},
    OPTIONS_OUTPUT(top_options, output_path, is_forced),
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors: the exit status says it",
     .field = OPTION_FIELD(top_options, is_quiet)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-top",
    .usage = "npumem-top [options] FILE\n       npumem-top [options] --pid PID",
    .about =
        "Shows what a recording that goes on is at, each second: what each heap holds, how that grows, which sites "
        "hold most and which grow most, and what was lost. FILE is the trace that npumem-record writes, the folder "
        "of its rings or the socket in that. It is only read. Ends with the recording, with its last state.",
    .ends = {"the recording has ended, or --once was given, or somebody has typed q",
             "there is no such recording, nothing of the file can be read, or an output not written", "wrong usage",
             "the recorder was killed, the recording was cut off, or part of the trace cannot be read"},
    OPTIONS_ROWS(rows),
};

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), end_len = strlen(end);

    return len >= end_len && strcmp(text + len - end_len, end) == 0;
}

options_outcome top_options_read(int argc, char **argv, top_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if ((operands[0] == NULL) == (options->pid == NULL) || (operands[0] != NULL && operands[1] != NULL))
        return options_refuse(&program, "needs one FILE, or --pid PID");
    if (options->pid != NULL && (options->pid[0] == 0 || options->pid[strspn(options->pid, "0123456789")] != 0))
        return options_refuse(&program, "--pid %.40s: must be the number of a process", options->pid);
    if (options->interval_ns == 0)
        return options_refuse(&program, "--interval 0: must be more than nothing");
    if (options->output_path != NULL && strcmp(options->output_path, "-") != 0 && !options->is_once)
        return options_refuse(&program, "-o needs --once: what goes on has no end");
    if (options->prometheus_path != NULL && !ends_with(options->prometheus_path, ".prom"))
        return options_refuse(&program, "--prometheus %.200s: must end in .prom, else node_exporter passes over it",
                              options->prometheus_path);
    options->path = operands[0];
    return OPTIONS_READ;
}
