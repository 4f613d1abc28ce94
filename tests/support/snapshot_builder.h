/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory snapshots written by hand: the dictionaries that PyTorch and torch_npu put into a pickle, one function each.
 * The caller begins and ends the document and its lists with pickle_builder.h.
 */
#ifndef TESTS_SUPPORT_SNAPSHOT_BUILDER_H
#define TESTS_SUPPORT_SNAPSHOT_BUILDER_H

#include "support/pickle_builder.h"

#define SNAPSHOT_NO_TIME INT64_MIN

typedef struct snapshot_frame {
    const char *name, *file;
    int64_t line;
} snapshot_frame;

typedef struct snapshot_entry {
    const char *action;
    uint64_t address;
    int64_t size, stream;
    int64_t time_us;              /* 0: SNAPSHOT_NO_TIME too */
    const snapshot_frame *frames; /* innermost first, ended by one without a name; NULL: an empty list */
    uint64_t shared_frames;       /* 1 + memo entry of a list written before; 0: `frames` */
    int64_t pool[2];
    bool has_pool;
    const char *metadata; /* user_metadata, or NULL */
    const char *category; /* of torch's profiler, or NULL */
} snapshot_entry;

typedef struct snapshot_block {
    uint64_t address; /* 0: not written, as in old files */
    int64_t size, requested;
    const char *state;
    const snapshot_frame *frames;
} snapshot_block;

typedef struct snapshot_segment {
    int64_t device;
    uint64_t address;
    int64_t size, stream;
    bool is_expandable;
    int64_t pool[2];
} snapshot_segment;

/* The list of frames; returns 1 + its memo entry. */
uint64_t snapshot_put_frames(pickle_builder *builder, const snapshot_frame *frames);

/* A trace entry. An `oom` has its address written as device_free. Returns what snapshot_put_frames did, or 0. */
uint64_t snapshot_put_entry(pickle_builder *builder, const snapshot_entry *entry);

void snapshot_put_segment(pickle_builder *builder, const snapshot_segment *segment, const snapshot_block *blocks,
                          size_t block_count);

void snapshot_put_annotation(pickle_builder *builder, const char *stage, const char *name, int64_t device,
                             int64_t time_us);

#endif
