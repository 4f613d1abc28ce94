/* SPDX-License-Identifier: Apache-2.0
 *
 * Addresses of one heap laid out without the holes between: each range of addresses that was ever in use is a lane, and the
 * lanes lie one behind the other, so that a picture has no empty desert.
 */
#ifndef NM_PAGE_AXIS_H
#define NM_PAGE_AXIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct nm_page_lane {
    uint64_t begin, end; /* addresses; end is behind the last */
    uint64_t offset;     /* of `begin` on the axis: the sum of the lanes before */
} nm_page_lane;

typedef struct nm_page_axis {
    nm_page_lane *lanes; /* owned; after nm_page_axis_settle in order and apart from each other */
    size_t count, capacity;
    uint64_t bytes; /* length of the axis */
} nm_page_axis;

/* A range that was in use; one that is empty, or that ends beyond all addresses, is left out. */
nm_status nm_page_axis_add(nm_page_axis *axis, int64_t address, int64_t size_bytes, nm_error *err);

/* After the last range: merges what touches or overlaps. */
void nm_page_axis_settle(nm_page_axis *axis);

/* Where an address lies on the axis; false: in no lane. */
bool nm_page_axis_find(const nm_page_axis *axis, uint64_t address, uint64_t *offset);

void nm_page_axis_free(nm_page_axis *axis);

#endif
