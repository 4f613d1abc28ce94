/* SPDX-License-Identifier: Apache-2.0
 *
 * How small a piece of memory could hold the workload if each block's whole life were known in advance? No less than what
 * is live at once. To find the best packing is hard; these are packings that were found, so they bound the best from
 * above: whatever an allocator of this kind could ever save lies between the two. Streams are ignored, and blocks are
 * rounded as the caching allocator rounds them.
 */
#ifndef NM_WHATIF_PACKING_H
#define NM_WHATIF_PACKING_H

#include "whatif/workload.h"

typedef struct nm_packing {
    uint64_t peak_live_bytes; /* of rounded blocks: no allocator that rounds like this needs less */
    uint64_t packed_bytes;    /* the smallest packing found */
    uint64_t request_count;   /* all are in it */
    uint64_t attempt_count;
} nm_packing;

/* Time: that of some tens of replays, fewer where there are many requests. */
nm_status nm_packing_find(const nm_workload *workload, nm_packing *packing, nm_error *err);

#endif
