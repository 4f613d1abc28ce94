/* SPDX-License-Identifier: Apache-2.0
 *
 * A table of distinct byte strings, numbered from 1 in the order of their first appearance. Number 0 is "no string".
 * Calls malloc: not for use inside the recorded program.
 */
#ifndef NM_BASE_STRINGS_H
#define NM_BASE_STRINGS_H

#include "base/buffer.h"
#include "base/slots.h"

typedef struct nm_strings {
    nm_slots by_hash;
    nm_buffer text;  /* all strings, each followed by a zero byte */
    size_t *offsets; /* offsets[number - 1] into text */
    size_t count;
    size_t capacity;
} nm_strings;

/* The number of the string, which is added if it is new. */
nm_status nm_strings_intern(nm_strings *strings, nm_bytes bytes, uint32_t *number, nm_error *err);

/* The number of the string, 0 when it is not there. */
uint32_t nm_strings_find(const nm_strings *strings, nm_bytes bytes);

/* The string with that number, zero-terminated behind its length; {NULL, 0} for 0 and for a number never given.
 * Valid until the next intern. */
nm_bytes nm_strings_get(const nm_strings *strings, uint32_t number);

void nm_strings_free(nm_strings *strings);

#endif
