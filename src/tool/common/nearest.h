/* SPDX-License-Identifier: Apache-2.0
 *
 * What was meant by a word that is nearly another.
 */
#ifndef NM_TOOL_COMMON_NEAREST_H
#define NM_TOOL_COMMON_NEAREST_H

#include <stddef.h>

typedef struct nearest {
    const char *word; /* that is looked for; need not end at its length */
    size_t length;
    const char *found; /* of what was offered; NULL: nothing is near enough */
    size_t distance;   /* below it something is nearer */
} nearest;

nearest nearest_begin(const char *word, size_t length);

/* Remembers the candidate where it is nearer than what was offered before. Borrowed. */
void nearest_offer(nearest *search, const char *candidate);

#endif
