/* SPDX-License-Identifier: Apache-2.0
 *
 * The lines of tests/support/foreign.txt, which says itself what they are.
 */
#ifndef NM_TESTS_FOREIGN_H
#define NM_TESTS_FOREIGN_H

#include <stddef.h>

typedef struct foreign_line {
    char texts[2][1024]; /* without quotes and escapes; a zero byte behind each. Of a line without quotes: its words */
    size_t lens[2];
} foreign_line;

/* Calls `visit` with each line of a kind: how many there were. Fails the test where the file is not to be read. */
size_t foreign_each(const char *path, const char *kind, void (*visit)(const foreign_line *line));

#endif
