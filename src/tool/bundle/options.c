/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of npumem-bundle, as one table: parsing, help and the completion of shells come of it.
 */
#include "tool/bundle/options.h"

#include "tool/common/color.h"

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "write there, whole or not at all; a name that ends in .tar: not compressed; -: standard output (default: "
             "DB with .bundle.tar.zst in place of its suffix)",
     .field = OPTION_FIELD(bundle_options, output_path)},
    {.name = "redact",
     .kind = OPTION_FLAG,
     .help = "replace hosts, users, paths and arguments (host-1, /path-1/file-1.py) in all that is in it",
     .field = OPTION_FIELD(bundle_options, is_redacted)},
    {.name = "selfcheck",
     .kind = OPTION_FILE,
     .argument = "REPORT",
     .help = "put in what npumem-record --selfcheck wrote where the program ran",
     .field = OPTION_FIELD(bundle_options, selfcheck_path)},
    {.name = "lang",
     .kind = OPTION_CHOICE,
     .argument = "LANGUAGE",
     .words = tool_language_words,
     .help = "the language of the screen: en, zh (Chinese) or auto, by LC_ALL, LC_MESSAGES and LANG",
     .fallback = "auto",
     .field = OPTION_FIELD(bundle_options, language)},
    {.name = "force",
     .kind = OPTION_FLAG,
     .help = "replace an output that exists",
     .field = OPTION_FIELD(bundle_options, is_forced)},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors",
     .field = OPTION_FIELD(bundle_options, is_quiet)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-bundle",
    .usage = "npumem-bundle [-o FILE] [--redact] [--selfcheck REPORT] [options] DB",
    .about =
        "Puts what somebody else needs to look at a run into one file, for a ticket: the verdicts as npumem-ingest "
        "prints "
        "them, the database with --detail live, versions, settings, and what is known of whether the recording can be "
        "trusted. The file is a tar, compressed by zstd. DB is read as a database of somebody else is, and stays as it "
        "is.",
    .ends = {"the bundle is written", "failed, no bundle", "wrong usage"},
    OPTIONS_ROWS(rows),
};

options_outcome bundle_options_read(int argc, char **argv, bundle_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if (operands[0] == NULL || operands[0][0] == 0)
        return options_refuse(&program, "no database");
    if (operands[1] != NULL)
        return options_refuse(&program, "one database at a time: npumem ingest -o ALL.db puts several into one");
    options->database = operands[0];
    return OPTIONS_READ;
}
