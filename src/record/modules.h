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
#include "record/unwind_rule.h"

/*
 * How many of these return addresses, innermost first, are real: they lie in mapped code and follow a call, of which those that
 * a rule has led to (unwind.h) need no proof. Describes the modules of those in the thread's ring. *is_certain false: mappings
 * could not be read just now, ask again. Not from a handler that interrupted it in the same thread.
 */
unsigned nm_modules_check(nm_recorded_thread *thread, const uint64_t *addresses, unsigned count, bool is_by_rules,
                          bool *is_certain);

/* For walks by rules. The table, which stays until it is released; NULL: none yet. Not from such a handler either. */
nm_module_table *nm_modules_hold(nm_recorded_thread *thread);
void nm_modules_release(nm_recorded_thread *thread);

/* Reads the mappings again, if that was not done just now; false: it was. No table may be held. */
bool nm_modules_look_again(void);

typedef struct nm_module nm_module;

/* The module whose code holds `pc`; NULL: none that is known. Points into the table. */
nm_module *nm_modules_find(nm_module_table *table, uintptr_t pc);

/* Fills in what can be read of the module, if it is still there, by what the kernel can read: a read of our own would be fatal
 * where it was unmapped unseen. What follows it may be read as long as a frame of this thread returns into the module. `head`: room for how its file
 * begins, not on a stack that may be small. */
bool nm_modules_open(nm_module *module, uint8_t head[NM_THREAD_HEAD_BYTES], nm_unwind_image *image);

/* Does a call stand before this address; does a handler return to it? Both ask the kernel, as nm_modules_check does. */
bool nm_modules_follows_call(const nm_module *module, uintptr_t address);
bool nm_modules_is_sigreturn(const nm_module *module, uintptr_t address);

/* Changes when a mapping of code changed: what was concluded from addresses before does not hold any more. */
uint64_t nm_modules_generation(void);

/* A library was unloaded: another one may lie in its place. Without this call it is noticed with the next new stack, at
 * most a second late. */
void nm_modules_note_change(void);

/* A library is being loaded, or was: its code need not wait to be looked for. */
void nm_modules_note_load(void);

void nm_modules_forget_all(void);

#endif
