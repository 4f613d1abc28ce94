/* SPDX-License-Identifier: Apache-2.0
 *
 * The picture of a heap as cells of address x time: how much of each was in use, and of which site most of it. However many
 * allocations there were, it has the same size.
 */
#ifndef NM_PAGE_CELLS_H
#define NM_PAGE_CELLS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

#define NM_PAGE_CELLS_WIDTH  1024 /* in time */
#define NM_PAGE_CELLS_HEIGHT 384  /* in addresses */
#define NM_PAGE_CELLS_COUNT  (NM_PAGE_CELLS_WIDTH * NM_PAGE_CELLS_HEIGHT)

typedef struct nm_page_cells {
    double first_seq, last_seq; /* of the picture; last_seq is above first_seq */
    double axis_bytes;          /* above 0 */
    float *used;                /* owned: share of the cell that was in use, 0 to 1 */
    float *lead;                /* owned: by how much the leading site is ahead */
    uint32_t *site;             /* owned: the leading site; 0: none is known */
    int width, height;          /* as they are written: less than that of the picture once it was shrunk */
} nm_page_cells;

/* The caller sets first_seq, last_seq and axis_bytes behind it. To be freed on failure too. */
nm_status nm_page_cells_init(nm_page_cells *cells, nm_error *err);
void nm_page_cells_free(nm_page_cells *cells);

/* A block from its birth to its end, `offset` on the axis. No two blocks are at one place at one time: then the cost of all is that of the
 * cells and of the blocks' edges. */
void nm_page_cells_draw(nm_page_cells *cells, double born_seq, double ended_seq, double offset, double size_bytes,
                        uint32_t site);

/* Makes one cell of four, each time; nothing is drawn then until they are cleared. False: they are few enough. */
bool nm_page_cells_shrink(nm_page_cells *cells);

/* A plane of used shares, 0 to 255 (what is in use at all is at least 1), then three of the site, lowest byte first; row by row
 * from the axis' beginning. */
nm_status nm_page_cells_write(const nm_page_cells *cells, FILE *out, nm_error *err);

#endif
