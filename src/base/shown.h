/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text, safe to look at: a name or a path in a trace may hold what moves a terminal's cursor, turns the direction
 * of writing or cannot be seen at all. All that goes to a terminal, to a CSV file or into an error's one line goes through
 * here; databases keep what there was.
 */
#ifndef NM_BASE_SHOWN_H
#define NM_BASE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NM_SHOWN_BAD UINT32_MAX /* no character: bytes that are no UTF-8 */

/* The character that the text, which is not empty, begins with, and how many bytes it has: 1 for NM_SHOWN_BAD. */
size_t nm_shown_next(const char *text, size_t len, uint32_t *character);

/* False: a control character (a tab and a newline too), one that changes the direction of writing, one without width, a
 * separator of lines, or no character at all. */
bool nm_shown_is_safe(uint32_t character);

/* Puts a question mark for each character that is not safe, but for those in `kept` (ASCII; "" is none). In place: the
 * new length, which is never more. */
size_t nm_shown_make(char *text, size_t len, const char *kept);

/* The same into `out`, which has room for `size` bytes and is given back: one line, cut where it does not fit. NULL is an
 * empty text. */
const char *nm_shown_text(char *out, size_t size, const char *text);

#endif
