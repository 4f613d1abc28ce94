/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-stack's options. What is asked for is one word: a number is a stack's, three words have their own
 * meaning, and all else is a part of a site's name.
 */
#include "tool/stack/options.h"

#include <string.h>

#include "base/number.h"
#include "tool/common/color.h"

static const option_row rows[] = {
    {.name = "top",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "stacks to print, those with most first; 0: all",
     .fallback = "5",
     .max = INT32_MAX,
     .field = OPTION_FIELD(stack_options, top)},
    {.name = "rank",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "only what processes of this rank allocated",
     .max = INT32_MAX,
     .field = OPTION_FIELD(stack_options, rank),
     .given = OPTION_FIELD(stack_options, has_rank)},
    {.name = "color",
     .kind = OPTION_CHOICE,
     .argument = "WHEN",
     .words = tool_color_words,
     .help =
         "dim the frames of allocators and frameworks: auto (on a terminal, unless NO_COLOR is set), always or never",
     .fallback = "auto",
     .field = OPTION_FIELD(stack_options, color)},
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "print JSON for programs, npumem.findings/1",
     .field = OPTION_FIELD(stack_options, is_json)},
    OPTIONS_OUTPUT(stack_options, output_path, is_forced),
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors: the exit status says it",
     .field = OPTION_FIELD(stack_options, is_quiet)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-stack",
    .usage = "npumem-stack [options] DB [leak | peak | reserve | oom | STACK_ID | SITE]",
    .about =
        "Prints whole call stacks of a database of npumem-ingest, with what was allocated by them: of what leaked, of "
        "what was live at the peak of a heap, or when a pool held most, of a request that failed and of what was held "
        "then, of one stack by its "
        "number (as in columns stack_id and top_stack_id), or of sites with SITE in their name. Without a word: of "
        "what leaked, or if nothing did, of the peak.",
    .ends = {"something was printed", "there is no such stack",
             "wrong usage", [EXIT_UNUSABLE] = "failed: the database cannot be read, or an output not written"},
    OPTIONS_ROWS(rows),
};

static void read_choice(const char *word, stack_options *options)
{
    static const struct {
        const char *word;
        stack_choice choice;
    } words[] = {{"leak", STACK_LEAK}, {"peak", STACK_PEAK}, {"reserve", STACK_RESERVE}, {"oom", STACK_OOM}};

    options->choice = STACK_BY_SITE;
    options->site = word;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0)
            options->choice = words[i].choice;
    if (nm_number_read(word, INT64_MAX, &options->stack_id))
        options->choice = STACK_BY_ID;
}

options_outcome stack_options_read(int argc, char **argv, stack_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if (operands[0] == NULL || operands[0][0] == 0)
        return options_refuse(&program, "no database");
    if (operands[1] != NULL && operands[2] != NULL)
        return options_refuse(&program, "one word behind the database: leak, peak, reserve, oom, STACK_ID or SITE");
    if (operands[1] != NULL && operands[1][0] == 0)
        return options_refuse(&program, "the site has no name");
    options->database = operands[0];
    if (operands[1] != NULL)
        read_choice(operands[1], options);
    if (options->top == 0)
        options->top = INT64_MAX;
    return OPTIONS_READ;
}
