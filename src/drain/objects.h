/* SPDX-License-Identifier: Apache-2.0
 *
 * Objects of the runtime that processes make, as they count them themselves in the headers of their rings: told when so many
 * more or less live that somebody would see it, and at the end of each process.
 */
#ifndef NM_DRAIN_OBJECTS_H
#define NM_DRAIN_OBJECTS_H

#include "drain/ring_merge.h"

#define NM_OBJECTS_STEP      64 /* so many more or less live before it is told again; */
#define NM_OBJECTS_STEP_PART 16 /* and this part of what was told */

typedef struct nm_objects_sum { /* of a process and kind */
    uint64_t process, kind;
    uint64_t made_count, gone_count;
    uint64_t told_count; /* that live, as it was told last */
} nm_objects_sum;

typedef struct nm_objects {
    nm_objects_sum *sums; /* owned */
    size_t count, capacity;
    nm_map index;
    int64_t due_ns; /* CLOCK_MONOTONIC */
} nm_objects;

void nm_objects_fini(nm_objects *objects);

/* OBJECTS events of processes whose figures have moved, given to `post`; looks twenty times a second at most. */
nm_status nm_objects_look(nm_objects *objects, const nm_ring_merge *merge,
                          nm_status (*post)(void *context, const nm_event *event, nm_error *err), void *context,
                          nm_error *err);

/* The last of a process, behind which its end comes: into the trace, for each kind that it has made or destroyed. */
nm_status nm_objects_say_last(nm_ring_merge *merge, uint64_t process, int64_t time_ns, nm_error *err);

#endif
