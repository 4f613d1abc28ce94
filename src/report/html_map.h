/* SPDX-License-Identifier: Apache-2.0
 *
 * What the map of a page is drawn from: of each heap the lanes of its addresses and its cells (html_cells.h), and of the largest
 * blocks each by itself, so that one can be pointed at.
 */
#ifndef NM_REPORT_HTML_MAP_H
#define NM_REPORT_HTML_MAP_H

#include <sqlite3.h>
#include <stdio.h>

#include "base/strings.h"

#define NM_HTML_HEAPS_MAX 64 /* with a map: those with most allocations */

/* Of more than `blocks_max` blocks those with the most bytes times events are there by themselves; table "kept" says how many. */
nm_status nm_html_map_write(sqlite3 *db, nm_strings *strings, int64_t blocks_max, FILE *out, nm_error *err);

#endif
