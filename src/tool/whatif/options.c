/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of npumem-whatif's options. Texts of settings are kept as they are given: what they mean depends on the device,
 * which is known when the input has been read.
 */
#include "tool/whatif/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"

#define PAD_BYTES_MAX    4096
#define DEVICE_BYTES_MAX (UINT64_C(1) << 59)

static nm_status take_setting(const option_row *row, const char *argument, void *into, nm_error *err)
{
    whatif_options *options = into;
    nm_status status = nm_array_grow(&options->settings.items, &options->settings.capacity, options->settings.count + 1,
                                     sizeof *options->settings.items, err);

    if (status == NM_OK)
        options->settings.items[options->settings.count++] = (whatif_setting_text){argument, row->code};
    return status;
}

static const option_row rows[] = {
    {.name = "conf",
     .kind = OPTION_TEXT,
     .argument = "TEXT",
     .help = "settings to simulate, as PYTORCH_NPU_ALLOC_CONF has them ('': the defaults); without any, those of the "
             "recorded run",
     .take = take_setting,
     .is_repeatable = true},
    {.name = "bucket",
     .kind = OPTION_TEXT,
     .argument = "TEXT",
     .help = "a pool of block sizes, e.g. "
             "'initial:1GiB,maximum:30GiB,alignment:512,slab:2MiB,classes:[4KiB,1MiB]'",
     .take = take_setting,
     .code = true,
     .is_repeatable = true},
    {.name = "compare",
     .kind = OPTION_FLAG,
     .help = "a table over the recorded settings and those that are worth a try",
     .field = OPTION_FIELD(whatif_options, is_compare)},
    {.name = "suggest",
     .kind = OPTION_FLAG,
     .help = "the legal setting that needs the smallest device, its gain and its price",
     .field = OPTION_FIELD(whatif_options, is_suggest)},
    {.name = "advise",
     .kind = OPTION_FLAG,
     .help = "for who writes a pool: sizes freed and asked for again, and the best block sizes",
     .field = OPTION_FIELD(whatif_options, is_advise)},
    {.name = "capacity",
     .kind = OPTION_SIZE,
     .argument = "SIZE",
     .help = "memory of the device (default: as recorded, else without bounds)",
     .min = 1,
     .max = DEVICE_BYTES_MAX,
     .field = OPTION_FIELD(whatif_options, capacity_bytes)},
    {.name = "other",
     .kind = OPTION_SIZE,
     .argument = "SIZE",
     .help = "of it, what other processes hold all the time",
     .max = DEVICE_BYTES_MAX,
     .field = OPTION_FIELD(whatif_options, other_bytes)},
    {.name = "heap",
     .kind = OPTION_COUNT,
     .argument = "N",
     .help = "the pool to look at, by its number (default: the one that held most)",
     .field = OPTION_FIELD(whatif_options, heap_id)},
    {.name = "list",
     .kind = OPTION_FLAG,
     .help = "print the pools of the input, and nothing else",
     .field = OPTION_FIELD(whatif_options, is_list)},
    {.name = "one-stream",
     .kind = OPTION_FLAG,
     .help = "take all streams for one, also those that are known",
     .field = OPTION_FIELD(whatif_options, workload.is_one_stream)},
    {.name = "ignore-flushes",
     .kind = OPTION_FLAG,
     .help = "leave out that the program emptied the cache",
     .field = OPTION_FIELD(whatif_options, workload.is_flush_ignored)},
    {.name = "pad",
     .kind = OPTION_COUNT,
     .argument = "BYTES",
     .help = "added to each request before it is rounded (default: 32 on an NPU, 0 elsewhere)",
     .max = PAD_BYTES_MAX,
     .field = OPTION_FIELD(whatif_options, pad_bytes),
     .given = OPTION_FIELD(whatif_options, has_pad)},
    {.name = "csv",
     .kind = OPTION_FILE,
     .argument = "FILE",
     .help = "also write the table, with all figures, one line a setting, into FILE",
     .field = OPTION_FIELD(whatif_options, csv_path)},
    {.name = "json",
     .kind = OPTION_FLAG,
     .help = "print JSON for programs, npumem.findings/1: rows are simulated, and say so",
     .field = OPTION_FIELD(whatif_options, is_json)},
    OPTIONS_OUTPUT(whatif_options, output_path, is_forced),
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     .help = "print nothing but errors: the exit status says it",
     .field = OPTION_FIELD(whatif_options, is_quiet)},
    OPTIONS_PROGRESS(whatif_options, progress),
    OPTIONS_HELP_AND_VERSION,
};

static const options_program program = {
    .name = "npumem-whatif",
    .usage = "npumem-whatif [options] INPUT",
    .about =
        "Replays the requests of a trace, a memory snapshot or a database of npumem-ingest against simulated "
        "allocators: the caching allocator of torch_npu with other settings, and a pool of block sizes. Prints what "
        "each would have taken from the device, and the smallest device that would be enough. Nothing is executed, "
        "no NPU is needed.",
    .ends = {"the first setting fits on the device; with --suggest the suggested one", "it does not",
             "wrong usage, or an illegal setting", "it fits, but part of the input was missing",
             "failed: an input cannot be read, an output not written, or there is no answer"},
    OPTIONS_ROWS(rows),
};

options_outcome whatif_options_read(int argc, char **argv, whatif_options *options)
{
    char **operands;
    options_outcome outcome = options_read(&program, argc, argv, options, &operands);

    if (outcome != OPTIONS_READ)
        return outcome;
    options->paths = (const char *const *)operands;
    while (operands[options->path_count] != NULL)
        options->path_count++;
    if (options->progress == NM_PROGRESS_NONE && !options->is_quiet)
        options->progress = NM_PROGRESS_LINE;
    if (options->csv_path != NULL && options->output_path != NULL &&
        strcmp(options->csv_path, options->output_path) == 0)
        return options_refuse(&program, "--csv and -o cannot be the same file");
    return options->path_count == 0 ? options_refuse(&program, "no input") : OPTIONS_READ;
}

void whatif_options_free(whatif_options *options)
{
    free(options->settings.items);
}
