/* SPDX-License-Identifier: Apache-2.0
 *
 * What the map of a page is drawn from: of each heap the lanes of its addresses and its cells (cells.h), and blocks one by one, so that
 * each can be pointed at: all, or where they do not fit those round the moments that are looked at most (windows.h).
 *
 *     nm_page_map_read(page, wants_live, &map, err);   the blocks
 *     nm_page_map_write(map, err);                     lanes, segments, anchors and cells
 *     ... all else of the page
 *     nm_page_map_write_blocks(map, err);              table "block" in what is left of the page, and "kept", which says how many those are
 *     nm_page_map_free(map);
 */
#ifndef NM_PAGE_MAP_H
#define NM_PAGE_MAP_H

#include "page/page.h"
#include "store/live_rule.h"

#define NM_PAGE_HEAPS_MAX 64 /* with a map: those with most allocations */

typedef struct nm_page_map nm_page_map;

/* *out keeps `page`; it is to be freed on failure too. */
nm_status nm_page_map_read(nm_page *page, bool wants_live, nm_page_map **out, nm_error *err);

/* The rows of allocations that stay with less detail, where they were wanted (store/live_rule.h). Borrowed. */
const nm_live_ids *nm_page_map_live(const nm_page_map *map);

nm_status nm_page_map_write(nm_page_map *map, nm_error *err);
nm_status nm_page_map_write_blocks(nm_page_map *map, nm_error *err);
void nm_page_map_free(nm_page_map *map); /* NULL is fine */

#endif
