/* SPDX-License-Identifier: Apache-2.0
 *
 * /proc/self/maps, read with system calls alone into memory of its own: the loader is never asked, since it would take its
 * lock.
 */
#ifndef NM_RECORD_MAPS_H
#define NM_RECORD_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nm_mapping {
    uintptr_t begin, end;
    bool is_readable, is_writable, is_executable;
    uint64_t offset, device, inode;
    const char *path; /* not terminated; points into the text */
    size_t path_bytes;
} nm_mapping;

/* The whole text in memory of its own; NULL when it cannot be had. *mapped_bytes is what to unmap. */
char *nm_maps_read(size_t *text_bytes, size_t *mapped_bytes);

/* Reads one line "begin-end perms offset major:minor inode path" and returns the start of the next; the text ends with a
 * zero byte. NULL: no line. */
const char *nm_maps_next(const char *line, nm_mapping *out);

/* The readable, writable range around `frame` that a stack walk may read: the mapping that holds it, up to the thread's
 * own control block where that lies in the same mapping. 0, 0 when it is not found. True: it is the stack that the thread was
 * made with. */
bool nm_maps_stack_bounds(uintptr_t frame, uintptr_t *begin, uintptr_t *end);

/* The mapping of code that holds `address`; 0, 0 when it is not found. */
void nm_maps_code_around(uintptr_t address, uintptr_t *begin, uintptr_t *end);

/* Path of the file that holds `address`, into `path`; false when there is none or it does not fit. */
bool nm_maps_path_of(uintptr_t address, char *path, size_t path_bytes);

#endif
