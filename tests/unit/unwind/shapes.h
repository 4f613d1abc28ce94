/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions of every shape that compilers make, in a file that is built as wheels are: -O2 without frame pointers.
 */
#ifndef NM_TESTS_UNWIND_SHAPES_H
#define NM_TESTS_UNWIND_SHAPES_H

#include <stdbool.h>

/* Calls at random through functions of all shapes, `depth` of them, and looks at the end. Sets its own handlers of SIGUSR1 and
 * SIGUSR2. */
void shapes_go(unsigned depth);

/* Of the calling thread: whether stacks for signals and of coroutines are among the shapes. */
void shapes_begin(unsigned seed, bool has_other_stacks);

/* Looks at stacks of which one has its frame where another had it, and in the place of its return addresses what that one left there. */
void shapes_go_stale(void);

/* Ends the thread by an unwinding that runs cleanups, as that of an exception does; each looks. */
void shapes_unwind(unsigned depth) __attribute__((noreturn));

/* What a profiler's signal interrupts: libc, sorting, formatting, the loader's stubs. */
long shapes_work(int depth);

#endif
