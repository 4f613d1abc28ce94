/* SPDX-License-Identifier: Apache-2.0 */
#include "tool/ingest/options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tool/common/threshold_text.h"

#define MINUTES_MAX 1000000

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
    "  --redact            replace hosts, users, paths and arguments (host-1, /path-1/file-1.py): a database to send\n"
    "  --server-after N    judge a process without steps by what it holds at least, if it ran for N minutes (default: "
    "30)\n"
    "  --site-rules FILE   more frames that are never a site: lines of 'function GLOB', 'python', 'file', 'name' (of "
    "a\n"
    "                      file without folders) or 'module GLOB'\n"
    "  --step-at WHERE     where a step begins that the program does not mark: FILE:LINE or the name of a function on "
    "the\n"
    "                      stack of an allocation, or the name of a range; 'none': do not look for steps\n"
    "  --symbols DIR       name places in stripped code by the debug files and unstripped libraries in DIR and below,\n"
    "                      found by build id; may be given several times\n"
    "  --threshold MEASURE=VALUE\n"
    "                      how much of a measure there has to be for a warning: allocation-cost (a time), "
    "fragmentation,\n"
    "                      zero-copy (sizes) or pool-hit-rate (requests); 0: however little\n"
    "  --thresholds FILE   the same from a file, one a line\n"
    "  --quiet             print nothing but errors\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 whole; 1 failed, no output; 2 wrong usage; 3 done, but part of the input was damaged, cut or "
    "lost,\n"
    "or the answers could not be printed, or the folder of an output not synced.\n";

static int usage_error(const char *text)
{
    fprintf(stderr, "npumem-ingest: %s (--help says more)\n", text);
    return EXIT_USAGE;
}

static int no_memory(void)
{
    fprintf(stderr, "npumem-ingest: out of memory\n");
    return EXIT_FAILURE;
}

static int take_minutes(const char *text, int64_t *out)
{
    char *end = NULL;
    long minutes = strtol(text, &end, 10);

    if (end == text || *end != 0 || minutes < 1 || minutes > MINUTES_MAX)
        return usage_error("--server-after takes minutes");
    *out = minutes;
    return 0;
}

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
    OPTION_REDACT,
    OPTION_SERVER_AFTER,
    OPTION_SITE_RULES,
    OPTION_STEP_AT,
    OPTION_SYMBOLS,
    OPTION_THRESHOLD,
    OPTION_THRESHOLDS,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"csv", required_argument, NULL, OPTION_CSV},
    {"csv-bom", no_argument, NULL, OPTION_CSV_BOM},
    {"detail", required_argument, NULL, OPTION_DETAIL},
    {"force", no_argument, NULL, OPTION_FORCE},
    {"quiet", no_argument, NULL, OPTION_QUIET},
    {"redact", no_argument, NULL, OPTION_REDACT},
    {"server-after", required_argument, NULL, OPTION_SERVER_AFTER},
    {"site-rules", required_argument, NULL, OPTION_SITE_RULES},
    {"step-at", required_argument, NULL, OPTION_STEP_AT},
    {"symbols", required_argument, NULL, OPTION_SYMBOLS},
    {"threshold", required_argument, NULL, OPTION_THRESHOLD},
    {"thresholds", required_argument, NULL, OPTION_THRESHOLDS},
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
        return no_memory();
    options->symbol_folders = grown;
    options->symbol_folders[options->symbol_folder_count++] = folder;
    if (stat(folder, &info) != 0 || !S_ISDIR(info.st_mode))
        return usage_error("--symbols needs a folder that is there");
    return 0;
}

static int take_detail(const char *text, ingest_options *options)
{
    for (nm_retention detail = NM_RETENTION_ALL; detail <= NM_RETENTION_NONE; detail++)
        if (strcmp(text, nm_retention_name(detail)) == 0) {
            options->detail = detail;
            return 0;
        }
    return usage_error("--detail needs all, live or none");
}

/* One, or a file of them. */
static int take_threshold(int option, ingest_options *options)
{
    nm_error err = {0};
    nm_status status = option == OPTION_THRESHOLD ? threshold_read(optarg, &options->thresholds, &err)
                                                  : threshold_read_file(optarg, &options->thresholds, &err);

    return status == NM_OK ? 0 : usage_error(err.text);
}

static int take_option(int option, ingest_options *options)
{
    switch (option) {
    case 'o':
        if (strcmp(optarg, "-") == 0)
            return usage_error("-o: a database cannot go to standard output");
        free(options->output_path);
        options->output_path = strdup(optarg);
        return options->output_path == NULL ? no_memory() : 0;
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
    case OPTION_REDACT:
        options->is_redacted = true;
        return 0;
    case OPTION_SERVER_AFTER:
        return take_minutes(optarg, &options->server_minutes);
    case OPTION_SITE_RULES:
        options->rules_path = optarg;
        return 0;
    case OPTION_STEP_AT:
        options->step_at = optarg;
        return optarg[0] == 0 ? usage_error("--step-at needs a place") : 0;
    case OPTION_SYMBOLS:
        return take_symbols(optarg, options);
    case OPTION_THRESHOLD:
    case OPTION_THRESHOLDS:
        return take_threshold(option, options);
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

int ingest_options_take(int argc, char **argv, ingest_options *options)
{
    int option;

    while ((option = getopt_long(argc, argv, "o:", long_options, NULL)) != -1) {
        int result = take_option(option, options);

        if (result != 0)
            return result;
    }
    return take_operands(argc, argv, options);
}

void ingest_options_free(ingest_options *options)
{
    free(options->output_path);
    free(options->symbol_folders);
}
