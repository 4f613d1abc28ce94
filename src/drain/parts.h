/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of a recording that is kept in parts: NAME.000, NAME.001, ... Which is when begun and which can go is decided
 * here; what stands in them is not known here. The newest bytes (or steps) that were asked for always stay, and what is on
 * the disk never passes that by more than one part.
 */
#ifndef NM_DRAIN_PARTS_H
#define NM_DRAIN_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

typedef struct nm_trace_part {
    uint64_t number;
    uint64_t bytes;
    uint64_t step_count; /* steps that had begun before it */
    dev_t device;        /* with `inode`: which file it is, whatever has its name by now */
    ino_t inode;
} nm_trace_part;

typedef struct nm_parts { /* a zeroed one: the recording is one file */
    char *name;           /* owned; without the number */
    int folder;           /* owned, where there is a name: all parts stand in it, wherever the name leads later */
    uint64_t bytes_max;   /* the newest bytes to keep; 0: by steps */
    uint64_t steps_max;   /* the newest steps to keep */
    nm_trace_part *items; /* owned; the last one is being written */
    size_t count, capacity;
    uint64_t keyframe_bytes; /* that the last part began with */
} nm_parts;

/* Makes the list with its first part, NAME.000, which the caller has opened as `first_fd`. */
nm_status nm_parts_init(nm_parts *parts, const char *name, int first_fd, uint64_t bytes_max, uint64_t steps_max,
                        nm_error *err);
void nm_parts_fini(nm_parts *parts);

/* "NAME.007"; to be freed; NULL: no memory. */
char *nm_part_path(const char *name, uint64_t number);

uint64_t nm_parts_size(const nm_parts *parts); /* that a part should have, keyframe aside */

/* Is it time for the next part? While the rings are pressed a part may become twice as long: beginning one takes time. */
bool nm_parts_is_due(const nm_parts *parts, uint64_t step_count, bool is_pressed);
bool nm_parts_is_step_due(const nm_parts *parts, uint64_t step_count);

/* Creates the next part. *fd is the caller's. */
nm_status nm_parts_begin(nm_parts *parts, uint64_t step_count, int *fd, nm_error *err);

/* Takes back the part that was begun last. */
void nm_parts_give_up(nm_parts *parts);

/* So much has been written to the last part. */
void nm_parts_written(nm_parts *parts, uint64_t bytes);

/* Removes old parts that are not to be kept once `more_bytes` are written. */
void nm_parts_trim(nm_parts *parts, uint64_t more_bytes, uint64_t step_count);

/* Removes the oldest part for want of room; false: what is left is needed to read the rest. */
bool nm_parts_drop_oldest(nm_parts *parts);

uint64_t nm_parts_bytes(const nm_parts *parts); /* on the disk */

#endif
