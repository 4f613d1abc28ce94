/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-mcp's options. Folders and files are looked at when the server begins, so that what is not there is said
 * to whoever set it up.
 */
#include "tool/mcp/options.h"

#include <stdlib.h>

#include "base/buffer.h"

static nm_status take_folder(const option_row *row, const char *argument, void *into, nm_error *err)
{
    mcp_options *options = into;
    nm_status status = nm_array_grow(&options->folders.items, &options->folders.capacity, options->folders.count + 1,
                                     sizeof *options->folders.items, err);

    (void)row;
    if (status == NM_OK)
        options->folders.items[options->folders.count++] = argument;
    return status;
}

static const option_row rows[] = {
    {.name = "folder",
     .kind = OPTION_FOLDER,
     .argument = "DIR",
     .help = "what lies in DIR and below may be opened",
     .take = take_folder,
     .is_repeatable = true},
    {.name = "write",
     .kind = OPTION_FOLDER,
     .argument = "DIR",
     .help = "pages may be written into DIR, new ones; without it none",
     .field = OPTION_FIELD(mcp_options, write_folder)},
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-mcp",
    .usage = "npumem-mcp [--folder DIR]... [--write DIR] [DB...]",
    .about =
        "Lets an assistant ask about recordings: a server of the Model Context Protocol on standard input and output, "
        "started by the assistant's program. It has six tools: open, findings, explain, compare, query and report. "
        "What may be opened is named here: databases, traces and snapshots by DB, or all in a folder.",
    .ends = {"standard input has ended", "failed: a folder or file is not there, or the client cannot be written to",
             "wrong usage"},
    OPTIONS_ROWS(rows),
};

options_outcome mcp_options_read(int argc, char **argv, mcp_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    if (options->folders.count == 0 && operands[0] == NULL)
        return options_refuse(&program, "nothing may be opened: name a folder (--folder DIR) or files");
    options->files = (const char *const *)operands;
    return OPTIONS_READ;
}

void mcp_options_free(mcp_options *options)
{
    free(options->folders.items);
}
