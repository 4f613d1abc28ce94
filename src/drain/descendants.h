/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that use a device and tell nothing: started by a recorded program with another environment, static, or kept from
 * joining. They are found among what descends from us and from the recorded processes, in /proc.
 */
#ifndef NM_DRAIN_DESCENDANTS_H
#define NM_DRAIN_DESCENDANTS_H

#include "drain/process.h"

typedef struct nm_descendants {
    nm_processes *processes;       /* borrowed */
    struct nm_listed_process *old; /* owned: all processes of the last look, by pid */
    size_t old_count, old_capacity;
    struct nm_listed_process *listed; /* owned: those of this look */
    size_t count, capacity;
    int64_t look_at_ns;
    char **found; /* owned, each too: who uses a device unrecorded, and why */
    size_t found_count, found_capacity;
    size_t written_count; /* of these, in the trace */
} nm_descendants;

void nm_descendants_init(nm_descendants *descendants, nm_processes *processes);
void nm_descendants_fini(nm_descendants *descendants);

/* Looks if it is due. It takes a hundredth of a processor at most, and looks ten times a second at most. */
nm_status nm_descendants_look(nm_descendants *descendants, bool is_forced, nm_error *err);

/* Writes a note of each that was found. */
nm_status nm_descendants_write(nm_descendants *descendants, nm_error *err);

#endif
