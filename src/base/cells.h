/* SPDX-License-Identifier: Apache-2.0
 *
 * How wide text is on a terminal: most characters take one cell, those of Chinese, Japanese and Korean two, marks that stand
 * on another character none. Independent of the locale, so that a line is cut alike everywhere.
 */
#ifndef NM_BASE_CELLS_H
#define NM_BASE_CELLS_H

#include <stddef.h>
#include <stdint.h>

unsigned nm_cells_of(uint32_t character); /* 0, 1 or 2 */

/* How many bytes of the text's beginning fit into so many cells: it ends behind a whole character. What is no UTF-8 is shown
 * as one cell. */
size_t nm_cells_fit(const char *text, size_t len, size_t cells);

/* The text in at most `cells` cells, of three and more the last ones dots if there is more of it; what is not safe to show
 * becomes a question mark. Into `out`, which has room for `size` bytes and is given back. */
const char *nm_cells_text(char *out, size_t size, const char *text, size_t len, size_t cells);

#endif
