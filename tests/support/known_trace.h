/* SPDX-License-Identifier: Apache-2.0
 *
 * A trace of hand-made blocks whose every record is known, and a plain model of what a reader must give when only some
 * of the blocks can be read.
 */
#ifndef TEST_SUPPORT_KNOWN_TRACE_H
#define TEST_SUPPORT_KNOWN_TRACE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "source/source.h"

#define KNOWN_BLOCKS_MAX 64
#define KNOWN_GROUP      8 /* blocks */

/*
 * Block b holds `events` allocations, numbered on from those of block b - 1. It defines process, thread and heap, and
 * stack 100 + b (called from stack 1, which the first block of a group defines). Its events use in turn stack 1, its
 * own, and that of the block before unless a group begins with it.
 */
typedef struct known_trace {
    nm_buffer file;
    unsigned blocks, events;           /* events: of a block */
    unsigned padding_bytes;            /* of a string that each block defines, to be larger */
    size_t ends[KNOWN_BLOCKS_MAX + 1]; /* ends[b]: where block b begins; ends[blocks]: the file's end */
    size_t headers[KNOWN_BLOCKS_MAX];  /* where the data frame of block b begins */
} known_trace;

void known_make(known_trace *trace, unsigned blocks, unsigned events, unsigned padding_bytes);
void known_free(known_trace *trace);

/* Appends block b alone, as it stands in the trace; of another recording when trace_id is not 1. */
void known_append_block(const known_trace *trace, unsigned b, uint8_t trace_id, uint32_t flags, nm_buffer *out);

/* Reads `input` (through a pipe, if so) and checks that it gives exactly the events of the blocks that are readable, in
 * order, with the stacks that can be known. `where` is said when it does not. */
void known_check(const known_trace *trace, nm_bytes input, bool is_pipe, const bool *is_readable,
                 nm_source_summary_data *summary, const char *where);

/* Opens `input` as a source. *fd is the caller's to close. */
nm_status known_open(nm_bytes input, bool is_pipe, int *fd, nm_source **out, nm_error *err);

/* Checks the rest of a source: what known_check does after opening. */
void known_check_source(const known_trace *trace, nm_source *source, const bool *is_readable,
                        nm_source_summary_data *summary, const char *where);

#endif
