/* SPDX-License-Identifier: Apache-2.0
 *
 * An interning arena: memory of the hooks' own that stays, for texts that the program may take away again (names of
 * operators and models) and for what refers to them. Made of pages from the kernel, without locks and without the
 * program's heap; any thread, also in a signal handler.
 */
#ifndef NM_HOOK_ARENA_H
#define NM_HOOK_ARENA_H

#include <stddef.h>

/* Zeroed, aligned to 8 bytes, never given back. NULL: more than fits a chunk, or the limit for all of it is reached. */
void *nm_arena_allocate(size_t bytes);

/* A copy that lives as long as the process, cut at NPUMEM_TEXT_BYTES_MAX: equal texts give the same address. NULL: no room. */
const char *nm_arena_intern(const char *text);

#endif
