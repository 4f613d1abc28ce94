/* SPDX-License-Identifier: Apache-2.0
 *
 * A terminal that is redrawn in place: its other screen, on which nothing scrolls, by the escape sequences that every
 * terminal of the last decades knows. Left as it was at the end, at signals, and while the program is stopped.
 */
#ifndef NM_TOOL_TOP_SCREEN_H
#define NM_TOOL_TOP_SCREEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"

/* Is standard output a terminal that can be redrawn? */
bool screen_is_terminal(void);

/* From here on signals that end a program are noted. `is_drawn`: also takes the terminal. */
void screen_begin(bool is_drawn);

/* The terminal is as it was. May be called twice. */
void screen_end(void);

void screen_size(size_t *columns, size_t *rows);

/* Puts the lines onto the terminal's screen, in place of what is there. */
nm_status screen_draw(const nm_buffer *lines, nm_error *err);

/* Waits so long, less when somebody types q or a signal ends the program, or the terminal's size changes. */
void screen_wait(int64_t ns);

/* Is the program to end? *signal_number: by that signal, or 0. */
bool screen_is_over(int *signal_number);

#endif
