/* SPDX-License-Identifier: Apache-2.0
 *
 * A workload under construction, shared by workload.c (requests and their order) and workload_layout.c (how what was there
 * at the beginning lay).
 */
#ifndef NM_WHATIF_WORKLOAD_BUILD_H
#define NM_WHATIF_WORKLOAD_BUILD_H

#include "whatif/workload.h"

#define NM_NO_REQUEST UINT32_MAX

typedef enum nm_range_owner { NM_RANGE_FOREIGN = 0, NM_RANGE_OTHER, NM_RANGE_UNCLAIMED, NM_RANGE_OURS } nm_range_owner;

typedef struct nm_range_info { /* of gather->ranges, same index */
    nm_range_owner owner;
    bool is_large, is_small; /* it carried such blocks of ours */
    bool is_alive;           /* while the order is walked */
    uint32_t lane;
    uint32_t live_count;
    uint32_t request; /* OTHER: the request that stands for it */
} nm_range_info;

typedef struct nm_build {
    const nm_gather *gather;
    const nm_gather_heap *heap;
    uint32_t heap_index;
    nm_workload_options options;
    nm_workload *workload;
    nm_caching_settings settings; /* of the recorded run, as far as they are known */
    nm_map lane_of;               /* (private pool, stream) -> lane */
    nm_map range_of;              /* allocation_id -> index of its range */
    nm_range_info *ranges;        /* owned */
    uint32_t *request_of;         /* owned; of gather->blocks */
} nm_build;

uint64_t nm_build_range_bytes(const nm_gather_row *range, bool is_other);
nm_status nm_build_lane(nm_build *build, const nm_gather_row *row, uint32_t *lane, nm_error *err);

/* Fills spaces and seeds; leaves them empty where the ranges and blocks do not make up segments. */
nm_status nm_workload_lay_out(nm_build *build, nm_error *err);

#endif
