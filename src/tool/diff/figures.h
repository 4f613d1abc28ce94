/* SPDX-License-Identifier: Apache-2.0
 *
 * The figures of two runs beside each other.
 */
#ifndef NM_TOOL_DIFF_FIGURES_H
#define NM_TOOL_DIFF_FIGURES_H

#include "tool/diff/ask.h"

/* The rows of DIFF_FIGURES, as text. A figure that differs is no difference of its own: what makes it is in the sites. */
void diff_write_figures(diff_run *run, sqlite3_stmt *rows);

/* Its amounts in words, by its unit. */
const char *diff_value_text(char out[NM_HUMAN_BYTES], sqlite3_stmt *row, const char *column);
const char *diff_change_text(char out[NM_HUMAN_BYTES + 1], sqlite3_stmt *row);

#endif
