/* SPDX-License-Identifier: Apache-2.0
 *
 * The trace file while it is written: it always ends with a whole block. When the disk is full, the block that did not
 * fit is kept and tried again now and then; nothing is appended behind it before it is there.
 */
#ifndef NM_DRAIN_OUTPUT_H
#define NM_DRAIN_OUTPUT_H

#include <stdbool.h>

#include "base/buffer.h"
#include "base/bytes.h"

typedef struct nm_output {
    int fd;              /* borrowed */
    bool can_cut;        /* a regular file: a part of a block can be taken back */
    uint64_t good_bytes; /* whole blocks written */
    bool is_stuck;
    nm_buffer stuck;     /* the block that could not be written */
    size_t stuck_at;     /* bytes of it that a pipe has taken already */
    int64_t retry_at_ns; /* CLOCK_MONOTONIC */
} nm_output;

/* The file's offset is where the next block belongs. */
void nm_output_init(nm_output *output, int fd);
void nm_output_fini(nm_output *output);

/* Appends a block. A failure is given back once; then the output is stuck, with a copy of the block. */
nm_status nm_output_append(nm_output *output, nm_bytes block, nm_error *err);

/* Tries again when it is time to, or at once when `is_last_try`. True: it is not stuck any more. */
bool nm_output_retry(nm_output *output, bool is_last_try);

#endif
