/* SPDX-License-Identifier: Apache-2.0
 *
 * Stacks as others see them: libunwind, where it is installed, and libgcc's unwinder, which throws exceptions.
 * Both read the same tables as the recorder, by code of their own, and keep nothing.
 */
#ifndef NM_TESTS_UNWIND_ORACLE_H
#define NM_TESTS_UNWIND_ORACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORACLE_FRAMES_MAX 250

/* Of all threads so far. */
typedef struct oracle_facts {
    size_t stack_count, frame_count; /* compared */
    size_t known_count;              /* of these, stacks whose number the thread had before */
    size_t deepest;
    size_t different_count; /* walks that differ from an oracle's */
    size_t stub_count;      /* walks that go on where an oracle has no rule, in a stub of the linker's */
    size_t cut_count;       /* that say of themselves that they are cut; as far as they go they are true */
    size_t number_count;    /* of stacks whose number stands for another stack, too, or is not the same twice */
    char first[256];        /* what was first to differ */
} oracle_facts;

extern oracle_facts oracle_seen;

/* Joins a recording, so that stacks have numbers; before the first look. */
void oracle_begin(void);
void oracle_end(void);

/* Compares the stack of the caller, which must not be a handler that interrupted another look of the same thread (that one is passed
 * over). Safe in a handler. */
void oracle_look(void);

/* The walk alone, for stacks that no oracle knows: `addresses` has room for ORACLE_FRAMES_MAX. The number of frames. */
unsigned oracle_walk(uintptr_t *addresses, bool *is_cut);

/* All looks so far were equal, and there were as many at least. */
void oracle_check(size_t stack_count_min);

#endif
