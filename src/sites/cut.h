/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks that are cut. A recorder that walks by rules knows where it ended, and says so in the trace (nm_stack_end). One that follows
 * frame pointers does not: code that keeps none ends the walk before the beginning of the thread, often at the first frame, and
 * looks like a beginning (a register that is not used is mostly 0 there); the names of the outermost frame tell them apart. A
 * stack is whole then when that is a line of Python, main, or in what calls a thread's function (libc, the dynamic loader, the
 * C++ library); one as deep as was asked for is neither.
 */
#ifndef NM_SITES_CUT_H
#define NM_SITES_CUT_H

#include "sites/definitions.h"

typedef enum nm_walk {
    NM_WALK_UNKNOWN = 0, /* of a source that does not walk so, or as deep as was asked for */
    NM_WALK_WHOLE,
    NM_WALK_CUT,
} nm_walk;

/* Fills `walk` of every stack. `native_depth`: as in nm_input_row. The definitions are sorted; before nm_inlined_expand. */
nm_status nm_cuts_mark(nm_definitions *definitions, uint64_t native_depth, nm_error *err);

/* Is it one of the frames in which a stack that is whole begins? */
bool nm_cut_is_entry(const nm_definitions *definitions, const nm_frame *frame);

#endif
