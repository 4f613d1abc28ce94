/* SPDX-License-Identifier: Apache-2.0
 *
 * The leading site is found as a majority vote goes (Boyer and Moore): what a site adds to a cell that another leads is
 * taken from its lead. A site that has more than half of what is in use is always found.
 */
#include "page/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "page/block.h"

#define CELLS_WIDTH_LEAST 64

nm_status nm_page_cells_init(nm_page_cells *cells, nm_error *err)
{
    *cells = (nm_page_cells){
        .used = calloc(NM_PAGE_CELLS_COUNT, sizeof *cells->used),
        .lead = calloc(NM_PAGE_CELLS_COUNT, sizeof *cells->lead),
        .site = calloc(NM_PAGE_CELLS_COUNT, sizeof *cells->site),
        .width = NM_PAGE_CELLS_WIDTH,
        .height = NM_PAGE_CELLS_HEIGHT,
    };
    if (cells->used == NULL || cells->lead == NULL || cells->site == NULL)
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    return NM_OK;
}

void nm_page_cells_free(nm_page_cells *cells)
{
    free(cells->used);
    free(cells->lead);
    free(cells->site);
    *cells = (nm_page_cells){0};
}

static void add(nm_page_cells *cells, size_t at, float share, uint32_t site)
{
    cells->used[at] += share;
    if (cells->site[at] == site)
        cells->lead[at] += share;
    else if (share > cells->lead[at]) {
        cells->lead[at] = share - cells->lead[at];
        cells->site[at] = site;
    } else
        cells->lead[at] -= share;
}

/* How much of cell `at` the range from `begin` to `end` covers, all in units of cells. */
static double overlap(double begin, double end, int at)
{
    return fmin(end, at + 1.0) - fmax(begin, at);
}

static int clamp(double value, int count)
{
    return value <= 0 ? 0 : value >= count - 1 ? count - 1 : (int)value;
}

void nm_page_cells_draw(nm_page_cells *cells, double born_seq, double ended_seq, double offset, double size_bytes,
                        uint32_t site)
{
    double per_seq = NM_PAGE_CELLS_WIDTH / (cells->last_seq - cells->first_seq);
    double per_byte = NM_PAGE_CELLS_HEIGHT / cells->axis_bytes;
    double left = fmax(0, (born_seq - cells->first_seq) * per_seq);
    double right = fmin(NM_PAGE_CELLS_WIDTH, (ended_seq - cells->first_seq) * per_seq);
    double top = fmax(0, offset * per_byte);
    double bottom = fmin(NM_PAGE_CELLS_HEIGHT, (offset + size_bytes) * per_byte);
    int last_row = clamp(bottom, NM_PAGE_CELLS_HEIGHT), last_column = clamp(right, NM_PAGE_CELLS_WIDTH);

    if (!(right > left) || !(bottom > top))
        return;
    for (int row = clamp(top, NM_PAGE_CELLS_HEIGHT); row <= last_row; row++) {
        double height = overlap(top, bottom, row);

        for (int column = clamp(left, NM_PAGE_CELLS_WIDTH); height > 0 && column <= last_column; column++) {
            double width = overlap(left, right, column);

            if (width > 0)
                add(cells, (size_t)row * NM_PAGE_CELLS_WIDTH + (size_t)column, (float)(height * width), site);
        }
    }
}

/* Four cells as one, at a place that is read no more: it lies before all that are still to come. */
static void join_four(nm_page_cells *cells, size_t into, size_t first)
{
    const size_t four[] = {first, first + 1, first + (size_t)cells->width, first + (size_t)cells->width + 1};
    size_t leading = first;
    float used = 0;

    for (size_t i = 0; i < 4; i++) {
        used += cells->used[four[i]] / 4;
        leading = cells->lead[four[i]] > cells->lead[leading] ? four[i] : leading;
    }
    cells->site[into] = cells->site[leading];
    cells->lead[into] = cells->lead[leading];
    cells->used[into] = used;
}

bool nm_page_cells_shrink(nm_page_cells *cells)
{
    int width = cells->width / 2, height = cells->height / 2;

    if (width < CELLS_WIDTH_LEAST)
        return false;
    for (int row = 0; row < height; row++)
        for (int column = 0; column < width; column++)
            join_four(cells, (size_t)row * (size_t)width + (size_t)column,
                      2 * ((size_t)row * (size_t)cells->width + (size_t)column));
    cells->width = width;
    cells->height = height;
    return true;
}

static uint8_t shade(float used)
{
    float scaled = used * 255;

    return used <= 0 ? 0 : scaled <= 1 ? 1 : scaled >= 255 ? 255 : (uint8_t)scaled;
}

static nm_status write_plane(const nm_page_cells *cells, nm_page_block *block, int plane, nm_error *err)
{
    uint8_t row[NM_PAGE_CELLS_WIDTH];
    size_t width = (size_t)cells->width, count = width * (size_t)cells->height;
    nm_status status = NM_OK;

    for (size_t begin = 0; begin < count && status == NM_OK; begin += width) {
        for (size_t i = 0; i < width; i++)
            row[i] =
                plane == 0 ? shade(cells->used[begin + i]) : (uint8_t)(cells->site[begin + i] >> (8 * (plane - 1)));
        status = nm_page_block_put(block, row, width, err);
    }
    return status;
}

nm_status nm_page_cells_write(const nm_page_cells *cells, FILE *out, nm_error *err)
{
    nm_page_block block;
    nm_error later = {.offset = NM_NO_OFFSET};
    nm_status status = nm_page_block_begin(&block, out, err), ended;

    if (status != NM_OK)
        return status;
    for (int plane = 0; plane < 4 && status == NM_OK; plane++)
        status = write_plane(cells, &block, plane, err);
    ended = nm_page_block_end(&block, status == NM_OK ? err : &later);
    return status == NM_OK ? ended : status;
}
