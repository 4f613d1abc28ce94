/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of other tools, a target a format. Runs of the Ascend profiler are several files: those behind a line PART_MARK are
 * further ones. Databases of other tools are told apart by what is in them: one target for all.
 */
#include <string.h>

#include "fuzz/load.h"
#include "fuzz/target.h"

#define PART_MARK "\n%%%%\n"
#define PARTS_MAX 4

static void load_snapshot(nm_bytes input)
{
    fuzz_load_bytes(input, &nm_snapshot_source_type);
}

static void load_kineto(nm_bytes input)
{
    fuzz_load_bytes(input, &nm_kineto_source_type);
}

static void load_msmemscope(nm_bytes input)
{
    fuzz_load_bytes(input, &nm_msmemscope_source_type);
}

static void load_mindspore(nm_bytes input)
{
    fuzz_load_bytes(input, &nm_mindspore_source_type);
}

static void load_log(nm_bytes input)
{
    fuzz_load_bytes(input, &nm_log_source_type);
}

static void load_ascend(nm_bytes input)
{
    int fds[PARTS_MAX];
    size_t count = 0;
    nm_bytes rest = input;

    while (count < PARTS_MAX) {
        const uint8_t *mark = memmem(rest.data, rest.len, PART_MARK, sizeof PART_MARK - 1);
        size_t len = mark == NULL ? rest.len : (size_t)(mark - rest.data);

        fds[count] = fuzz_file_of((nm_bytes){rest.data, len}, (unsigned)count);
        count++;
        if (mark == NULL)
            break;
        len += sizeof PART_MARK - 1;
        rest = (nm_bytes){rest.data + len, rest.len - len};
    }
    fuzz_load(fds, count, fuzz_is_one_of(input, FUZZ_STORED_OF), (nm_bytes){0});
}

/* gzip, and whatever is in it. */
static void load_packed(nm_bytes input)
{
    if (input.len > 2 && input.data[0] == 0x1f && input.data[1] == 0x8b)
        fuzz_load_bytes(input, NULL);
}

FUZZ_TARGET(snapshot, .run = load_snapshot)
FUZZ_TARGET(kineto, .run = load_kineto)
FUZZ_TARGET(msmemscope, .run = load_msmemscope)
FUZZ_TARGET(mindspore, .run = load_mindspore)
FUZZ_TARGET(log, .run = load_log)
FUZZ_TARGET(ascend, .run = load_ascend)
FUZZ_TARGET(packed, .run = load_packed)
