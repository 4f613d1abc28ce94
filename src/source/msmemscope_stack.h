/* SPDX-License-Identifier: Apache-2.0
 *
 * The texts of stacks in a dump of msMemScope: lines from the innermost frame outwards, of Python as "file(line): function", of C as
 * backtrace_symbols(3) writes them.
 */
#ifndef NM_SOURCE_MSMEMSCOPE_STACK_H
#define NM_SOURCE_MSMEMSCOPE_STACK_H

#include "base/bytes.h"
#include "source/gathered.h"

#define NM_MSMEMSCOPE_FRAMES_MAX 512 /* of each text; what is further out is left out */

/* One stack of both, that of C inside of Python's, without the frames of the interpreter; 0: there is none. */
nm_status nm_msmemscope_stack(nm_gathered *gathered, nm_bytes python, nm_bytes native, uint64_t *stack, nm_error *err);

#endif
