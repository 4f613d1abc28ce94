/* SPDX-License-Identifier: Apache-2.0
 *
 * What the pickle of a memory snapshot means: one pass over the file that hands out the entries of its device traces
 * one by one and forgets them, and collects what stands beside them (segments, blocks, annotations). A pickle may hold
 * these parts in any order: a caller that needs one before the other keeps the entries (snapshot_kept.h), or makes two passes
 * with the same tables.
 */
#ifndef NM_SOURCE_SNAPSHOT_READER_H
#define NM_SOURCE_SNAPSHOT_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/map.h"
#include "base/strings.h"

#define NM_SNAPSHOT_DEVICES_MAX 4096                    /* device numbers are less */
#define NM_SNAPSHOT_HOST        NM_SNAPSHOT_DEVICES_MAX /* in place of a device: torch's pool of pinned memory */
#define NM_SNAPSHOT_FRAMES_MAX  65536                   /* of one stack */

typedef enum nm_snapshot_action {
    NM_SNAPSHOT_OTHER = 0, /* one this version does not know: its word is kept */
    NM_SNAPSHOT_ALLOC,
    NM_SNAPSHOT_FREE_REQUESTED,
    NM_SNAPSHOT_FREE_COMPLETED,
    NM_SNAPSHOT_FREE, /* of the first versions: both at once */
    NM_SNAPSHOT_SEGMENT_ALLOC,
    NM_SNAPSHOT_SEGMENT_FREE,
    NM_SNAPSHOT_SEGMENT_MAP,
    NM_SNAPSHOT_SEGMENT_UNMAP,
    NM_SNAPSHOT_SNAPSHOT,
    NM_SNAPSHOT_OOM,
    NM_SNAPSHOT_ANNOTATE,
    NM_SNAPSHOT_WORKSPACE,
} nm_snapshot_action;

typedef struct nm_snapshot_entry {
    nm_snapshot_action action;
    uint32_t action_text; /* string */
    uint32_t device;      /* index of its trace, or NM_SNAPSHOT_HOST */
    uint32_t stack;       /* 0: none */
    uint32_t category;    /* string: what torch's profiler says that it is; 0: it says nothing */
    uint64_t address;
    uint64_t size_bytes;        /* 0: unknown, or none */
    uint64_t device_free_bytes; /* where has_device_free */
    uint64_t stream;
    uint64_t pool; /* of the two numbers of a private pool, first * 2^32 + second; 0: the default pool, or not told */
    int64_t time_us;
    bool has_stream, has_time;
    bool has_device_free;
    bool is_workspace; /* one of the three entries that describe a workspace block as it was at the end */
} nm_snapshot_entry;

typedef enum nm_snapshot_state { NM_SNAPSHOT_ACTIVE = 1, NM_SNAPSHOT_PENDING, NM_SNAPSHOT_INACTIVE } nm_snapshot_state;

typedef struct nm_snapshot_block {
    uint64_t address;
    uint64_t size_bytes;      /* rounded */
    uint64_t requested_bytes; /* 0: unknown */
    uint32_t stack;
    nm_snapshot_state state;
} nm_snapshot_block;

typedef struct nm_snapshot_segment {
    uint64_t address, total_bytes, stream, pool;
    uint32_t device, stack;
    bool has_stream, is_expandable;
    bool is_workspace;
    size_t first_block, block_count; /* in the reader's blocks */
} nm_snapshot_segment;

typedef struct nm_snapshot_annotation {
    int64_t time_us;
    uint32_t name; /* string */
    uint32_t device;
    bool is_end;
    bool has_time;
    bool is_left_out; /* by the source: it ended before what is known begins */
    uint32_t number;  /* of the range; given by the source */
} nm_snapshot_annotation;

typedef struct nm_snapshot_frame {
    uint32_t function, file; /* strings */
    uint32_t line;
} nm_snapshot_frame;

typedef struct nm_snapshot_stack {
    uint32_t parent, frame;
} nm_snapshot_stack;

/* Everything distinct, numbered from 1: item n - 1 has number n. Shared by both passes. */
typedef struct nm_snapshot_tables {
    nm_strings strings;
    struct {
        nm_snapshot_frame *items;
        size_t count, capacity;
    } frames;
    nm_map frame_of; /* (function and file, line) -> number */
    struct {
        nm_snapshot_stack *items;
        size_t count, capacity;
    } stacks;
    nm_map stack_of; /* (parent, frame) -> number */
} nm_snapshot_tables;

nm_status nm_snapshot_tables_init(nm_snapshot_tables *tables, nm_error *err);
void nm_snapshot_tables_free(nm_snapshot_tables *tables);

/* What a pass collects. Owned by the caller; zeroed, it is empty. */
typedef struct nm_snapshot_state_list {
    struct {
        nm_snapshot_segment *items;
        size_t count, capacity;
    } segments;
    struct {
        nm_snapshot_block *items;
        size_t count, capacity;
    } blocks;
    struct {
        nm_snapshot_annotation *items;
        size_t count, capacity;
    } annotations;
    bool has_settings;      /* allocator_settings, or external_annotations: not in torch_npu's dialect */
    bool has_cuda_settings; /* one of them is named after CUDA */
    bool has_npu_settings;  /* one of them is named after NPUs */
    bool has_history;       /* blocks say what was in them before, as torch did up to 2.0 */
    bool has_cut_settings;  /* one of them changes how blocks are cut */
    uint32_t unknown_part;  /* string: the first of the document's parts of which nothing is known; 0: there is none */
    uint32_t unknown_count; /* of these */
    nm_checksum_run sum;    /* of the file, as far as it was read: up to its end, or some way behind the STOP */
} nm_snapshot_state_list;

void nm_snapshot_state_list_free(nm_snapshot_state_list *list);

typedef struct nm_snapshot_reader nm_snapshot_reader;

/* `fd` (borrowed, a file of `size_bytes`) is read from its start. `list` NULL: entries alone are wanted. */
nm_status nm_snapshot_reader_new(int fd, uint64_t size_bytes, nm_snapshot_tables *tables, nm_snapshot_state_list *list,
                                 nm_snapshot_reader **out, nm_error *err);
void nm_snapshot_reader_free(nm_snapshot_reader *reader); /* NULL is fine */

/* The next entry, in the order of the file. NM_END after the last; then the whole file has been read. */
nm_status nm_snapshot_reader_next(nm_snapshot_reader *reader, nm_snapshot_entry *entry, nm_error *err);

uint64_t nm_snapshot_reader_offset(const nm_snapshot_reader *reader); /* bytes read so far */

#endif
