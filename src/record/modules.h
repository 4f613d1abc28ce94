/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files' code is mapped where: a table, made anew (maps.h) when a return address turns up that no known module holds.
 * The dynamic loader is never asked, since it would take its lock. A module whose code stands in a stack
 * is described once in each ring that holds such stacks.
 */
#ifndef NM_RECORD_MODULES_H
#define NM_RECORD_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/thread_state.h"

/*
 * How many of these return addresses, innermost first, are real: they lie in mapped code and follow a call. Describes the
 * modules of those in the thread's ring. *is_certain false: mappings could not be read just now, ask again.
 * Not from a handler that interrupted it in the same thread.
 */
unsigned nm_modules_check(nm_recorded_thread *thread, const uint64_t *addresses, unsigned count, bool *is_certain);

/* Changes when a mapping of code changed: what was concluded from addresses before does not hold any more. */
uint64_t nm_modules_generation(void);

/* A library was unloaded: another one may lie in its place. Without this call it is noticed with the next new stack, at
 * most a second late. */
void nm_modules_note_change(void);

/* A library is being loaded, or was: its code need not wait to be looked for. */
void nm_modules_note_load(void);

void nm_modules_forget_all(void);

#endif
