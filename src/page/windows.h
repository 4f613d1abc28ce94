/* SPDX-License-Identifier: Apache-2.0
 *
 * Which blocks a page keeps one by one where it cannot keep all: those that lived within so many events of what is looked at most,
 * the peak of a heap, its end, failed requests and leaks. Of such a window every block is there, so that what was live at an
 * event within it is exact, and so is the map. How many events that is goes by how many blocks there may be.
 *
 *     nm_page_windows_read(&windows, db, err);                     the anchors
 *     nm_page_windows_count(&windows, heap, born, freed, reach);   of every block, best heap after heap
 *     nm_page_windows_choose(&windows, 1000000);
 *     nm_page_windows_has(&windows, heap, born, freed)             of every block
 */
#ifndef NM_PAGE_WINDOWS_H
#define NM_PAGE_WINDOWS_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

#define NM_PAGE_REACHES 912 /* steps of the counts, which grow */

/* The first ones are the last that are given up. */
typedef enum nm_page_anchor_kind {
    NM_PAGE_AT_PEAK,
    NM_PAGE_AT_END,
    NM_PAGE_AT_FAILURE,
    NM_PAGE_AT_LEAK, /* the first and the last block of a site that leaks */
    NM_PAGE_ANCHOR_KINDS
} nm_page_anchor_kind;

typedef struct nm_page_anchor {
    int64_t heap_id, seq;
    nm_page_anchor_kind kind;
} nm_page_anchor;

typedef struct nm_page_windows {
    nm_page_anchor *anchors; /* owned; by heap */
    size_t count, capacity;
    size_t begin, end; /* those of heap_id, which was asked for last */
    int64_t heap_id;
    int64_t blocks[NM_PAGE_ANCHOR_KINDS]
                  [NM_PAGE_REACHES]; /* with the kinds up to that one: how many come in at that reach */
    nm_page_anchor_kind kind_last;   /* the kinds up to that one have windows */
    int64_t reach;                   /* events on each side of an anchor; below 0: there is no window, and no block */
} nm_page_windows;

/* Into a zeroed one; to be freed on failure too. */
nm_status nm_page_windows_read(nm_page_windows *windows, sqlite3 *db, nm_error *err);

/* A block that was live from event `born` (below 0: before the first) until `freed` (NM_NULL: to the end). `reach_of` is its reach with the
 * kinds up to each; INT64_MAX: there is no such anchor. */
void nm_page_windows_count(nm_page_windows *windows, int64_t heap_id, int64_t born, int64_t freed,
                           int64_t reach_of[NM_PAGE_ANCHOR_KINDS]);

/* The widest windows that have at most so many of the blocks that were counted; gives how many they have. Asked again for fewer it narrows
 * them. */
int64_t nm_page_windows_choose(nm_page_windows *windows, int64_t blocks_max);

bool nm_page_windows_has(nm_page_windows *windows, int64_t heap_id, int64_t born, int64_t freed);

void nm_page_windows_free(nm_page_windows *windows);

#endif
