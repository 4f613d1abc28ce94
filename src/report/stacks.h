/* SPDX-License-Identifier: Apache-2.0
 *
 * All call stacks of a database, in memory, for exports that write each of them many times. What is held grows with stacks
 * and frames, never with allocations. The database may be anybody's: a stack that has no end is cut, and a frame that is not
 * there is a frame without a name.
 */
#ifndef NM_REPORT_STACKS_H
#define NM_REPORT_STACKS_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/strings.h"

#define NM_STACKS_FRAMES_MAX 4096 /* of one stack */

typedef struct nm_stacks_frame {
    int64_t frame_id;
    uint32_t label, function, file, module; /* numbers of texts that are safe to show; 0: not known */
    int64_t line;                           /* 0: not known */
    int64_t offset;                         /* bytes in the module; 0 where it is not known */
    int64_t module_id;                      /* of table z_module; NM_NULL: not known */
    bool is_plumbing;
} nm_stacks_frame;

typedef struct nm_stacks nm_stacks;

nm_status nm_stacks_open(sqlite3 *db, nm_stacks **out, nm_error *err);
void nm_stacks_close(nm_stacks *stacks); /* NULL is fine */

/*
 * The frames of a stack, the innermost first, as indexes into nm_stacks_frames. Without `is_raw` the site is the first of them,
 * also where it is no frame of the stack, and those inside it and all plumbing are left out. Gives how many there are: 0 for
 * a stack that is not there. *is_cut: its outermost callers are missing.
 */
size_t nm_stacks_walk(const nm_stacks *stacks, int64_t stack_id, bool is_raw, uint32_t frames[NM_STACKS_FRAMES_MAX],
                      bool *is_cut);

const nm_stacks_frame *nm_stacks_frames(const nm_stacks *stacks, size_t *count); /* borrowed */
nm_strings *nm_stacks_strings(nm_stacks *stacks);                                /* borrowed; who asks may add more */

#endif
