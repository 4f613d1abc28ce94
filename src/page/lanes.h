/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the blocks of each heap lie: how many they are, the ranges of addresses that they were in, and the segments that carried them.
 * Known when each block was seen once, and needed before any of them can be drawn.
 *
 *     nm_page_lanes_note(&lanes, row, err);          each block
 *     nm_page_lanes_settle(&lanes, db, err);         asks for the segments
 *     nm_page_lanes_find(&lanes, heap_id)->axis      ...
 *     nm_page_lanes_free(&lanes);
 */
#ifndef NM_PAGE_LANES_H
#define NM_PAGE_LANES_H

#include "page/axis.h"
#include "page/page.h"
#include "page/rows.h"

typedef struct nm_page_place {
    int64_t heap_id, block_count;
    nm_page_axis axis;
} nm_page_place;

/* Of a segment by a heap. */
typedef struct nm_page_use {
    int64_t heap_id, segment_id;
    bool is_there; /* there is a row of the segment, which has: */
    int64_t address, size_bytes, alloc_seq, free_seq;
} nm_page_use;

typedef struct nm_page_lanes {
    nm_page_place *places; /* owned */
    size_t place_count, place_capacity, last_place;
    nm_map place_of; /* heap -> its number */
    nm_page_use *uses;
    size_t use_count, use_capacity, last_use;
    nm_map use_of; /* heap and segment -> number */
} nm_page_lanes;

/* In a zeroed one; to be freed on failure too. */
nm_status nm_page_lanes_note(nm_page_lanes *lanes, const nm_page_row *row, nm_error *err);
nm_status nm_page_lanes_settle(nm_page_lanes *lanes, sqlite3 *db, nm_error *err);

nm_page_place *nm_page_lanes_find(nm_page_lanes *lanes, int64_t heap_id); /* NULL: it has no block */

/* Table "segment": a row for each heap that has a block in one. */
nm_status nm_page_lanes_segments(nm_page_lanes *lanes, nm_page *page, nm_error *err);

void nm_page_lanes_free(nm_page_lanes *lanes);

#endif
