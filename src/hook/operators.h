/* SPDX-License-Identifier: Apache-2.0
 *
 * Operators in two stages. The first stage of each has a signature of its own and is left alone; the second,
 * aclnnXxx(workspace, workspace bytes, executor, stream), is the same for all, so that one function can stand in front of
 * every operator without knowing any: it is reached through a thunk, which says whose call it is.
 */
#ifndef NM_HOOK_OPERATORS_H
#define NM_HOOK_OPERATORS_H

#include <stdint.h>

#ifndef NM_OPERATOR_COUNT_MAX
#define NM_OPERATOR_COUNT_MAX 4096 /* thunks; libopapi.so has some seven hundred operators. A test has fewer */
#endif

/*
 * A function to call instead of `function`, the second stage that `name` (borrowed) was found to be: records a range of
 * the operator around it. The same pair gives the same thunk, each time and in every thread; a thunk is given back as it
 * is. NULL: there are no more thunks; call the operator itself. The operators that get none are counted and noted.
 *
 * Takes no lock and no heap, leaves errno alone. A thunk stays valid: it costs nothing when a library is unloaded, and one
 * that is loaded again elsewhere gets others.
 */
void *nm_operator_wrap(const char *name, void *function);

#endif
