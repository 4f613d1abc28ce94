/* SPDX-License-Identifier: Apache-2.0
 *
 * Foreign text, safe to look at: a name or a path in a trace may hold what moves a terminal's cursor, turns the direction
 * of writing or cannot be seen at all. All that goes to a terminal, to a CSV file or into an error's one line goes through
 * here; databases keep what there was. page/web/state/shown.mjs says the same of the page: tests/support/foreign.txt holds both to it.
 */
#ifndef NM_BASE_SHOWN_H
#define NM_BASE_SHOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buffer.h"

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

/* The same as a shell takes it for one word: quoted where it has to be, and no option. */
const char *nm_shown_word(char *out, size_t size, const char *text);

/*
 * The same as the content of a cell of CSV, into *out, which is emptied first: tabs and ends of lines stay, and what a spreadsheet
 * would take for a formula has an apostrophe in front: a text, or what it may cut off as a cell of its own (behind a tab, an end
 * of a line, a semicolon), that begins with = + - @, wide or not, blanks passed over; and a text that begins with a tab or an end of a line.
 */
nm_status nm_shown_cell(nm_buffer *out, const char *text, size_t len, nm_error *err);

#define NM_SHOWN_ESCAPE_BYTES 16

/* The character, of `bytes` bytes, inside a string of JSON, whose text may end on a terminal, too: how many bytes it has in
 * `out`. What is not safe is its number, which loses nothing; what is none is U+FFFD. */
size_t nm_shown_escape(char out[NM_SHOWN_ESCAPE_BYTES], uint32_t character, const char *text, size_t bytes);

/* As fprintf: a line to people, whatever is in its texts; of newlines the last one alone is one. Cut at 16 KiB. */
void nm_shown_print(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
