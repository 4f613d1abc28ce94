/* SPDX-License-Identifier: Apache-2.0
 *
 * make_snapshot ENTRIES [PROTOCOL] > FILE: a large memory snapshot in the shape of real ones, to measure with. A third
 * of the entries are allocations with a stack of 24 frames, whose list is new and whose frames are shared; the rest are
 * the two halves of their frees. Protocol 2 to 5, or 1 for PyTorch's C++ writer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/io.h"
#include "support/pickle_builder.h"

enum { LIVE = 4000, FRAMES = 2000, DEPTH = 24, FLUSH_BYTES = 1 << 20 };

static uint64_t frame_index[FRAMES];
static uint64_t stack_index[LIVE]; /* of the allocation in each slot; 0: free */
static uint64_t random_state = 88172645463325252u;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void flush(pickle_builder *builder, size_t at_least)
{
    nm_error err;

    if (builder->bytes.len < at_least)
        return;
    if (nm_io_write(STDOUT_FILENO, builder->bytes.data, builder->bytes.len, &err) != NM_OK) {
        fprintf(stderr, "make_snapshot: %s\n", err.text);
        exit(EXIT_FAILURE);
    }
    builder->bytes.len = 0;
}

static void put_frame(pickle_builder *builder, uint64_t frame)
{
    char name[32], file[64];

    if (frame_index[frame] != 0) {
        pickle_get(builder, frame_index[frame] - 1);
        return;
    }
    snprintf(name, sizeof name, "function_%u", (unsigned)frame);
    snprintf(file, sizeof file, "/usr/lib/python3/site-packages/module_%u.py", (unsigned)(frame / 20));
    frame_index[frame] = pickle_dict(builder, 3) + 1;
    pickle_text(builder, "name");
    pickle_fresh_text(builder, name);
    pickle_text(builder, "filename");
    pickle_fresh_text(builder, file);
    pickle_text(builder, "line");
    pickle_int(builder, (int64_t)frame);
    if (builder->is_jit)
        frame_index[frame] = pickle_end_shared(builder) + 1;
    else
        pickle_end(builder);
}

static uint64_t put_stack(pickle_builder *builder)
{
    uint64_t site = next_random(FRAMES);
    uint64_t index = pickle_list(builder, DEPTH);

    for (int depth = DEPTH; depth > 0; depth--) /* a tree: outer frames are few */
        put_frame(builder, depth > 4 ? site >> (DEPTH - depth) / 2 : (uint64_t)depth);
    if (builder->is_jit)
        return pickle_end_shared(builder) + 1;
    pickle_end(builder);
    return index + 1;
}

static void put_entry(pickle_builder *builder, const char *action, uint64_t slot, uint64_t at)
{
    pickle_dict(builder, 6);
    pickle_text(builder, "action");
    pickle_text(builder, action);
    pickle_text(builder, "addr");
    pickle_int(builder, (int64_t)(0x12c000000000 + slot * 65536));
    pickle_text(builder, "size");
    pickle_int(builder, (int64_t)(512 + slot % 100 * 256));
    pickle_text(builder, "stream");
    pickle_int(builder, 1815786048);
    pickle_text(builder, "time_us");
    pickle_int(builder, (int64_t)(1700000000000000 + at * 3));
    pickle_text(builder, "frames");
    if (stack_index[slot] == 0)
        stack_index[slot] = put_stack(builder);
    else
        pickle_get(builder, stack_index[slot] - 1);
    pickle_end(builder);
}

int main(int argc, char **argv)
{
    uint64_t entry_count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    pickle_builder builder;

    if (entry_count == 0) {
        fprintf(stderr, "usage: make_snapshot ENTRIES [PROTOCOL] > FILE\n");
        return 2;
    }
    builder = pickle_new(argc > 2 ? atoi(argv[2]) : 4);
    pickle_dict(&builder, 1);
    pickle_text(&builder, "device_traces");
    pickle_list(&builder, 1);
    pickle_list(&builder, entry_count);
    for (uint64_t at = 0; at < entry_count;) {
        uint64_t slot = next_random(LIVE);
        if (stack_index[slot] == 0) {
            put_entry(&builder, "alloc", slot, at++);
        } else {
            put_entry(&builder, "free_requested", slot, at++);
            if (at < entry_count)
                put_entry(&builder, "free_completed", slot, at++);
            stack_index[slot] = 0;
        }
        flush(&builder, FLUSH_BYTES);
    }
    pickle_end(&builder);
    pickle_end(&builder);
    pickle_end(&builder);
    pickle_stop(&builder);
    flush(&builder, 0);
    pickle_free(&builder);
    return EXIT_SUCCESS;
}
