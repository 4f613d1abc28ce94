/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-check's options. A rule is an option: what it takes depends on what it measures, and what a limit means
 * is left to rules.c.
 */
#include "tool/check/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/quantity.h"
#include "base/shown.h"
#include "base/spoken.h"
#include "tool/check/team_rules.h"
#include "tool/common/threshold_text.h"

#define MORE_RATIO_MAX 1e6 /* of a baseline */

static bool read_count(const char *text, double *count)
{
    char *end;

    *count = strtod(text, &end);
    return text[0] >= '0' && text[0] <= '9' && *end == 0 && *count >= 0 && *count < 1e15;
}

static nm_status read_size(const char *text, double *size, nm_error *err)
{
    uint64_t bytes = 0;
    nm_status status = nm_quantity_size(text, &bytes, err);

    *size = (double)bytes;
    return status;
}

/* "200MiB/h" */
static nm_status read_rate(const char *text, double *rate, nm_error *err)
{
    char size[64];
    size_t len = strlen(text);
    bool is_rate = len > 2 && len - 2 < sizeof size && strcmp(text + len - 2, "/h") == 0;

    snprintf(size, sizeof size, "%.*s", is_rate ? (int)len - 2 : 0, text);
    return is_rate && read_size(size, rate, NULL) == NM_OK
               ? NM_OK
               : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a size an hour: 200MiB/h");
}

/* "5%" or "512MiB": how much more than the baseline passes. */
static bool read_more(const char *text, check_rule *rule)
{
    return strchr(text, '%') != NULL ? nm_quantity_ratio(text, MORE_RATIO_MAX, &rule->more_ratio, NULL) == NM_OK
                                     : read_size(text, &rule->more_bytes, NULL) == NM_OK;
}

/* "OLD.db:+5%" ends the path at its last ":+"; a path may hold one itself as long as a tolerance follows. */
static bool read_baseline(const char *text, check_rule *rule)
{
    char *colon = NULL;

    for (char *at = strstr(text, ":+"); at != NULL; at = strstr(at + 1, ":+"))
        colon = at;
    rule->baseline = text;
    if (text[0] == 0 || colon == text || (colon != NULL && !read_more(colon + 2, rule)))
        return false;
    if (colon != NULL)
        *colon = 0; /* argv may be written to */
    return true;
}

static nm_status read_limit(const char *text, check_rule *rule, nm_error *err)
{
    switch (rule->kind) {
    case CHECK_MAX_PEAK:
    case CHECK_MAX_RESERVED:
        return read_size(text, &rule->limit, err);
    case CHECK_MAX_FRAGMENTATION:
    case CHECK_MIN_HIT_RATE:
        return nm_quantity_ratio(text, 1, &rule->limit, err);
    case CHECK_MAX_MISSES_PER_STEP:
        return read_count(text, &rule->limit) ? NM_OK : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "needs a number");
    case CHECK_MAX_HOST_GROWTH:
        return read_rate(text, &rule->limit, err);
    case CHECK_BASELINE:
        return read_baseline(text, rule) ? NM_OK
                                         : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET,
                                                   "needs a database, as in old.db, old.db:+5%% or old.db:+512MiB");
    default:
        return NM_OK;
    }
}

static nm_status add_rule(const option_row *row, const char *argument, void *into, nm_error *err)
{
    check_options *options = into;
    check_rule rule = {.kind = (check_kind)row->code};
    nm_status status = read_limit(argument, &rule, err);

    options->has_rule |= row->name != NULL;
    if (status == NM_OK)
        status =
            nm_array_grow(&options->rules.items, &options->rules.capacity, options->rules.count + 1, sizeof rule, err);
    if (status == NM_OK)
        options->rules.items[options->rules.count++] = rule;
    return status;
}

/* The rule is there already. */
static nm_status take_complete(const option_row *row, const char *argument, void *into, nm_error *err)
{
    check_options *options = into;

    (void)row, (void)argument, (void)err;
    options->has_rule = true;
    return NM_OK;
}

static nm_status read_not_judged(const char *text, check_not_judged *said, nm_error *err)
{
    *said = strcmp(text, "fail") == 0 ? CHECK_FAILS : strcmp(text, "pass") == 0 ? CHECK_PASSES : CHECK_NOT_SAID;
    return *said != CHECK_NOT_SAID ? NM_OK : nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "must be fail or pass");
}

static nm_status take_not_judged(const option_row *row, const char *argument, void *into, nm_error *err)
{
    (void)row;
    return read_not_judged(argument, &((check_options *)into)->filter.not_judged, err);
}

#define RULE(NAME, ARGUMENT, HELP, KIND)                                                                               \
    {                                                                                                                  \
        .name = (NAME), .kind = (ARGUMENT) == NULL ? OPTION_FLAG : OPTION_TEXT, .argument = (ARGUMENT),                \
        .help = (HELP), .take = add_rule, .code = (KIND), .section = "RULES"                                           \
    }

static const option_row rows[] = {
    RULE("max-peak", "SIZE", "most device memory at once, of each device (60GiB)", CHECK_MAX_PEAK),
    RULE("max-reserved", "SIZE", "most that each pool ever held of the driver's memory", CHECK_MAX_RESERVED),
    RULE("max-fragmentation", "RATIO",
         "share of it that was unused where that hurt: queries/fragmentation_verdict.sql (0.15 or 15%)",
         CHECK_MAX_FRAGMENTATION),
    RULE("min-hit-rate", "RATIO", "share of requests that each pool served by itself, after the warm-up",
         CHECK_MIN_HIT_RATE),
    RULE("max-misses-per-step", "N", "requests in one step after the warm-up for which a pool had to grow",
         CHECK_MAX_MISSES_PER_STEP),
    RULE("max-host-growth", "SIZE/h",
         "how fast anonymous host memory of a process may grow over the last two fifths of its time (200MiB/h)",
         CHECK_MAX_HOST_GROWTH),
    RULE("no-growth", NULL, "no site whose memory grows from step to step", CHECK_NO_GROWTH),
    RULE("no-rising", NULL, "no site of a server (a process without steps) whose floor rises, by the hour",
         CHECK_NO_RISING),
    RULE("no-leak", NULL, "no leak at all: growing, or not released at the end", CHECK_NO_LEAK),
    RULE("no-anomaly", NULL,
         "no wrong free, no copy past the end, no use after free (a stream that was never destroyed passes: "
         "frameworks leave theirs)",
         CHECK_NO_ANOMALY),
    RULE("no-oom", NULL, "no request for memory that failed for good", CHECK_NO_OOM),
    RULE("baseline", "OLD.db[:+5%]",
         "the peak of each heap of a device, by rank, against an older run; :+512MiB as well", CHECK_BASELINE),
    {.name = "complete",
     .kind = OPTION_FLAG,
     .help = "nothing of the recording is missing; it is the first rule whatever else is given",
     .take = take_complete,
     .section = "RULES"},
    {.name = "rules",
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "rules from a file, one a line: max-peak=60GiB, no-leak; without any rule here, .npumem-check of the "
             "working folder is it",
     .field = OPTION_FIELD(check_options, rules_path),
     .section = "RULES"},
    {.name = "rank",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "only heaps of processes of this rank",
     .field = OPTION_FIELD(check_options, filter.rank),
     .given = OPTION_FIELD(check_options, filter.has_rank)},
    {.name = "heap",
     .kind = OPTION_TEXT,
     .argument = "NAME",
     .help = "only heaps of this name or level (pool, driver, pinned, ...), each by itself",
     .field = OPTION_FIELD(check_options, filter.heap)},
    {.name = "allow-partial",
     .kind = OPTION_FLAG,
     .help = "a recording of which something is missing may pass",
     .field = OPTION_FIELD(check_options, filter.allows_partial)},
    {.name = "not-judged",
     .kind = OPTION_TEXT,
     .argument = "WHAT",
     .help = "what becomes of a rule that what was recorded does not tell of: fail (exit status 5) or pass",
     .take = take_not_judged},
    OPTIONS_THRESHOLDS(
        check_options, filter.thresholds,
        "how little of a measure passes: fragmentation (a size) or pool-hit-rate (requests); allocation-cost and "
        "zero-copy, of which there is no rule, are read too"),
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "print JSON for programs, npumem.findings/1, instead of lines: the rules, and what the database says",
     .field = OPTION_FIELD(check_options, is_json)},
    {.name = "junit",
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "also write FILE, JUnit XML: a test case a rule; what is not judged is skipped",
     .field = OPTION_FIELD(check_options, junit_path)},
    OPTIONS_OUTPUT(check_options, output_path, is_forced),
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors: the exit status says it",
     .field = OPTION_FIELD(check_options, is_quiet)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-check",
    .usage = "npumem-check DB [rules] [options]",
    .about =
        "Holds a database of npumem-ingest to rules: one line a rule, with what was measured, and an exit status for "
        "CI.",
    .ends = {"every rule holds", "one does not", "wrong usage, also where no rule is given or a file of rules is wrong",
             [EXIT_UNUSABLE] = "failed: a database cannot be read, or an output not written",
             [EXIT_UNJUDGED] = "every rule that is judged holds, but one is not judged"},
    OPTIONS_ROWS(rows),
};

/* ---- Rules from a file ---- */

static const option_row *find_rule(const char *name)
{
    for (const option_row *row = rows; row < rows + sizeof rows / sizeof rows[0]; row++)
        if (row->take != NULL && row->name != NULL && strcmp(row->name, name) == 0 && row->take != threshold_take_file)
            return row;
    return NULL;
}

/* No text of the file is repeated. */
static nm_status take_team_rule(const char *name, char *argument, const char *not_judged, void *context, nm_error *err)
{
    const option_row *row = find_rule(name);
    check_options *options = context;
    size_t rule_count = options->rules.count;
    check_not_judged said = CHECK_NOT_SAID;

    if (row == NULL)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "no such rule: one a line, as max-peak=60GiB or no-leak");
    if (row->argument == NULL && argument[0] != 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s takes no value", row->name);
    if (row->argument != NULL && argument[0] == 0)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s needs a value, as %s=%s", row->name, row->name,
                       row->argument);
    if (not_judged != NULL && read_not_judged(not_judged, &said, NULL) != NM_OK)
        return nm_fail(err, NM_ERR_USAGE, NM_NO_OFFSET, "%s: not-judged=fail or not-judged=pass", row->name);
    nm_status status = row->take(row, argument, context, NULL);
    if (status == NM_OK && options->rules.count > rule_count)
        options->rules.items[rule_count].not_judged = said;
    if (status == NM_OK)
        return NM_OK;
    return status == NM_ERR_MEMORY
               ? nm_fail(err, status, NM_NO_OFFSET, "out of memory")
               : nm_fail(err, status, NM_NO_OFFSET, "%s: what stands behind it is not %s", row->name, row->argument);
}

/* Those of --rules or, where the command line has no rule, those of the team. */
static options_outcome read_team_rules(check_options *options)
{
    bool is_asked = options->rules_path != NULL;
    nm_error err = {.offset = NM_NO_OFFSET};
    char name[512];

    if (options->has_rule && !is_asked)
        return OPTIONS_READ;
    nm_status status = check_team_rules_read(options->rules_path, take_team_rule, options, &options->rules_text, &err);
    nm_shown_text(name, sizeof name, is_asked ? options->rules_path : CHECK_TEAM_FILE);
    if (status == NM_END && is_asked)
        return options_refuse(&program, "%s: no such file", name);
    if (status != NM_OK && status != NM_END)
        return options_refuse(&program, "%s: %s", name, err.text);
    if (status == NM_OK && !is_asked && options->has_rule) /* with -q, too: it was not named here */
        fprintf(stderr, nm_spoken("npumem-check: rules of %s\n"), name);
    return OPTIONS_READ;
}

options_outcome check_options_read(int argc, char **argv, check_options *options)
{
    static const option_row complete = {.code = CHECK_COMPLETE};
    char **operands;

    if (add_rule(&complete, NULL, options, NULL) != NM_OK) {
        fprintf(stderr, "npumem-check: %s\n", nm_spoken("out of memory"));
        return OPTIONS_NO_MEMORY;
    }
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);
    if (outcome != OPTIONS_READ)
        return outcome;
    if (operands[0] == NULL || operands[0][0] == 0)
        return options_refuse(&program, "no database");
    if (operands[1] != NULL)
        return options_refuse(&program, "one database at a time");
    outcome = read_team_rules(options);
    if (outcome != OPTIONS_READ)
        return outcome;
    if (!options->has_rule)
        return options_refuse(&program, "no rule: give one or more, as --max-peak 60GiB, --no-leak or --baseline "
                                        "old.db:+5%%; --complete alone asks whether anything is missing");
    options->database = operands[0];
    return OPTIONS_READ;
}

void check_options_free(check_options *options)
{
    free(options->rules.items);
    free(options->rules_text);
}
