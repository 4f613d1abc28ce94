/* SPDX-License-Identifier: Apache-2.0
 *
 * npumem-check: holds a database of npumem-ingest to rules, for the last step of a test run. It measures (check/rules.c),
 * prints (check/report.c) and ends with 0 or 1. What it knows itself is the command line.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/number.h"
#include "base/shown.h"
#include "store/foreign.h"
#include "tool/check/report.h"
#include "tool/check/rules.h"
#include "tool/common/size_text.h"
#include "tool/common/threshold_text.h"

#define EXIT_BROKEN_RULE 1
#define EXIT_USAGE       2
#define EXIT_UNREADABLE  4

typedef struct check_options {
    const char *database;
    struct {
        check_rule *items; /* owned */
        size_t count, capacity;
    } rules;
    check_filter filter;
    bool is_json;
} check_options;

static const char help_text[] =
    "usage: npumem-check DB [rules] [options]\n"
    "\n"
    "Holds a database of npumem-ingest to rules: one line a rule, with what was measured, and an exit status for CI.\n"
    "\n"
    "  --max-peak SIZE            most device memory at once, of each device (60GiB, 512 MiB, ...)\n"
    "  --max-reserved SIZE        most that each pool ever held of the driver's memory\n"
    "  --max-fragmentation RATIO  share of it that was unused where that hurt: view fragmentation_verdict (0.15 or "
    "15%)\n"
    "  --min-hit-rate RATIO       share of requests that each pool served by itself, after the warm-up\n"
    "  --max-misses-per-step N    requests in one step after the warm-up for which a pool had to grow\n"
    "  --no-growth                no site whose memory grows from step to step\n"
    "  --no-rising                no site of a server (a process without steps) whose floor rises, by the hour\n"
    "  --no-leak                  no leak at all: growing, or not released at the end\n"
    "  --no-anomaly               no wrong free, no copy past the end, no use after free\n"
    "                             (a stream that was never destroyed passes: frameworks leave theirs)\n"
    "  --no-oom                   no request for memory that failed for good\n"
    "  --baseline OLD.db[:+5%]    the peak of each heap of a device, by rank, against an older run; :+512MiB as well\n"
    "\n"
    "  --rank N                   only heaps of this rank\n"
    "  --heap NAME                only heaps of this name or level (pool, driver, pinned, ...), each by itself\n"
    "  --allow-partial            a recording of which something is missing may pass\n"
    "  --threshold MEASURE=VALUE  how little of a measure passes: fragmentation (a size) or pool-hit-rate (requests);\n"
    "                             allocation-cost and zero-copy, of which there is no rule, are read too\n"
    "  --thresholds FILE          the same from a file, one a line\n"
    "  --json                     one JSON object in place of lines\n"
    "  --help, --version\n"
    "\n"
    "Exit status: 0 every rule holds; 1 one does not; 2 wrong usage; 4 failed, or a database cannot be read.\n";

static int usage_error(const char *what, const char *text)
{
    fprintf(stderr, "npumem-check: %s%s%s (--help says more)\n", what, text == NULL ? "" : ": ",
            text == NULL ? "" : text);
    return EXIT_USAGE;
}

static int no_memory(void)
{
    fprintf(stderr, "npumem-check: out of memory\n");
    return EXIT_UNREADABLE;
}

/* ---- Command line ---- */

enum {
    OPTION_RULE = 256, /* plus check_kind */
    OPTION_RANK = OPTION_RULE + CHECK_KIND_COUNT,
    OPTION_HEAP,
    OPTION_ALLOW_PARTIAL,
    OPTION_JSON,
    OPTION_THRESHOLD,
    OPTION_THRESHOLDS,
    OPTION_HELP,
    OPTION_VERSION
};

static const struct option long_options[] = {
    {"max-peak", required_argument, NULL, OPTION_RULE + CHECK_MAX_PEAK},
    {"max-reserved", required_argument, NULL, OPTION_RULE + CHECK_MAX_RESERVED},
    {"max-fragmentation", required_argument, NULL, OPTION_RULE + CHECK_MAX_FRAGMENTATION},
    {"min-hit-rate", required_argument, NULL, OPTION_RULE + CHECK_MIN_HIT_RATE},
    {"max-misses-per-step", required_argument, NULL, OPTION_RULE + CHECK_MAX_MISSES_PER_STEP},
    {"no-growth", no_argument, NULL, OPTION_RULE + CHECK_NO_GROWTH},
    {"no-rising", no_argument, NULL, OPTION_RULE + CHECK_NO_RISING},
    {"no-leak", no_argument, NULL, OPTION_RULE + CHECK_NO_LEAK},
    {"no-anomaly", no_argument, NULL, OPTION_RULE + CHECK_NO_ANOMALY},
    {"no-oom", no_argument, NULL, OPTION_RULE + CHECK_NO_OOM},
    {"baseline", required_argument, NULL, OPTION_RULE + CHECK_BASELINE},
    {"rank", required_argument, NULL, OPTION_RANK},
    {"heap", required_argument, NULL, OPTION_HEAP},
    {"allow-partial", no_argument, NULL, OPTION_ALLOW_PARTIAL},
    {"json", no_argument, NULL, OPTION_JSON},
    {"threshold", required_argument, NULL, OPTION_THRESHOLD},
    {"thresholds", required_argument, NULL, OPTION_THRESHOLDS},
    {"help", no_argument, NULL, OPTION_HELP},
    {"version", no_argument, NULL, OPTION_VERSION},
    {NULL, 0, NULL, 0},
};

/* "0.15" or "15%". */
static bool read_ratio(const char *text, double *ratio)
{
    char *end;
    double number = strtod(text, &end);
    bool is_percent = strcmp(end, "%") == 0;

    *ratio = is_percent ? number / 100 : number;
    return text[0] >= '0' && text[0] <= '9' && (*end == 0 || is_percent) && *ratio >= 0 && *ratio <= 1;
}

static bool read_count(const char *text, double *count)
{
    char *end;

    *count = strtod(text, &end);
    return text[0] >= '0' && text[0] <= '9' && *end == 0 && *count >= 0 && *count < 1e15;
}

/* "OLD.db:+5%" ends the path at its last ":+"; a path may hold one itself as long as a tolerance follows. */
static bool read_baseline(char *text, check_rule *rule)
{
    char *colon = NULL;
    uint64_t bytes;

    for (char *at = strstr(text, ":+"); at != NULL; at = strstr(at + 1, ":+"))
        colon = at;
    rule->baseline = text;
    if (colon == NULL)
        return text[0] != 0;
    *colon = 0;
    if (text[0] == 0)
        return false;
    if (colon[2] >= '0' && colon[2] <= '9' && colon[strlen(colon + 2) + 1] == '%') {
        char *end;

        rule->more_ratio = strtod(colon + 2, &end) / 100;
        return strcmp(end, "%") == 0 && rule->more_ratio <= 1e6;
    }
    if (!size_text_read(colon + 2, &bytes))
        return false;
    rule->more_bytes = (double)bytes;
    return true;
}

static bool read_limit(char *text, check_rule *rule)
{
    uint64_t bytes;

    switch (rule->kind) {
    case CHECK_MAX_FRAGMENTATION:
    case CHECK_MIN_HIT_RATE:
        return read_ratio(text, &rule->limit);
    case CHECK_MAX_MISSES_PER_STEP:
        return read_count(text, &rule->limit);
    case CHECK_BASELINE:
        return read_baseline(text, rule);
    default:
        break;
    }
    if (!check_takes_size(rule->kind))
        return true;
    if (!size_text_read(text, &bytes))
        return false;
    rule->limit = (double)bytes;
    return true;
}

static int add_rule(check_options *options, check_kind kind, char *argument)
{
    check_rule rule = {.kind = kind};
    nm_error err;

    if (!read_limit(argument, &rule))
        return usage_error(check_name(kind), kind == CHECK_MAX_FRAGMENTATION || kind == CHECK_MIN_HIT_RATE
                                                 ? "needs a share: 0.15 or 15%"
                                             : kind == CHECK_MAX_MISSES_PER_STEP ? "needs a number"
                                             : kind == CHECK_BASELINE            ? "needs a database, as in old.db:+5%"
                                                                      : "needs a size: 60GiB, 512MiB or bytes");
    if (nm_array_grow(&options->rules.items, &options->rules.capacity, options->rules.count + 1, sizeof rule, &err) !=
        NM_OK)
        return no_memory();
    options->rules.items[options->rules.count++] = rule;
    return 0;
}

static int take_rank(check_options *options, const char *text)
{
    uint64_t rank;

    if (!nm_number_read(text, INT64_MAX, &rank))
        return usage_error("rank", "needs a number");
    options->filter.has_rank = true;
    options->filter.rank = (int64_t)rank;
    return 0;
}

/* One, or a file of them. */
static int take_threshold(check_options *options, int option, const char *text)
{
    nm_error err = {0};
    nm_status status = option == OPTION_THRESHOLD ? threshold_read(text, &options->filter.thresholds, &err)
                                                  : threshold_read_file(text, &options->filter.thresholds, &err);

    return status == NM_OK ? 0 : usage_error(err.text, NULL);
}

/* 0, or the exit status; -1 when the program has done what was asked (--help). */
static int take_option(int option, check_options *options)
{
    if (option >= OPTION_RULE && option < OPTION_RULE + CHECK_KIND_COUNT)
        return add_rule(options, (check_kind)(option - OPTION_RULE), optarg);
    switch (option) {
    case OPTION_RANK:
        return take_rank(options, optarg);
    case OPTION_HEAP:
        options->filter.heap = optarg;
        return 0;
    case OPTION_ALLOW_PARTIAL:
        options->filter.allows_partial = true;
        return 0;
    case OPTION_JSON:
        options->is_json = true;
        return 0;
    case OPTION_THRESHOLD:
    case OPTION_THRESHOLDS:
        return take_threshold(options, option, optarg);
    case OPTION_HELP:
        fputs(help_text, stdout);
        return -1;
    case OPTION_VERSION:
        puts("npumem-check " NPUMEM_PROJECT_VERSION);
        return -1;
    default: /* getopt has said what is wrong */
        return EXIT_USAGE;
    }
}

static int take_arguments(int argc, char **argv, check_options *options)
{
    int option;
    int result = add_rule(options, CHECK_COMPLETE, NULL);

    while (result == 0 && (option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
        result = take_option(option, options);
    if (result != 0)
        return result;
    if (argc - optind != 1 || argv[optind][0] == 0)
        return usage_error(optind == argc ? "no database" : "one database at a time", NULL);
    options->database = argv[optind];
    return 0;
}

/* ---- The work ---- */

static int report_error(const char *subject, const nm_error *err)
{
    char name[PATH_MAX];

    fprintf(stderr, "npumem-check: %s: %s\n", nm_shown_text(name, sizeof name, subject), err->text);
    return EXIT_UNREADABLE;
}

static int report_results(const check_options *options, const check_result *results)
{
    bool is_ok = true;

    for (size_t i = 0; i < options->rules.count; i++) {
        is_ok = is_ok && results[i].is_ok;
        if (!options->is_json)
            check_write_line(&results[i], stdout);
    }
    if (options->is_json)
        check_write_json(options->database, results, options->rules.count, stdout);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "npumem-check: standard output: cannot write: %s\n", strerror(errno));
        return EXIT_UNREADABLE;
    }
    return is_ok ? EXIT_SUCCESS : EXIT_BROKEN_RULE;
}

static int run_check(const check_options *options)
{
    check_result *results = calloc(options->rules.count, sizeof *results);
    const char *subject = options->database;
    nm_error err = {.offset = NM_NO_OFFSET};
    nm_foreign *database = NULL;
    nm_status status = results == NULL ? nm_fail(&err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory")
                                       : nm_foreign_open(options->database, false, &database, &err);

    for (size_t i = 0; i < options->rules.count && status == NM_OK; i++)
        status = check_measure(nm_foreign_db(database), &options->rules.items[i], &options->filter, &results[i],
                               &subject, &err);
    int result = status == NM_OK ? report_results(options, results) : report_error(subject, &err);
    nm_foreign_close(database);
    free(results);
    return result;
}

int main(int argc, char **argv)
{
    check_options options = {0};
    int result = take_arguments(argc, argv, &options);

    if (result == 0)
        result = run_check(&options);
    free(options.rules.items);
    return result < 0 ? EXIT_SUCCESS : result;
}
