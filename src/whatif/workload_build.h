/* SPDX-License-Identifier: Apache-2.0
 *
 * A workload under construction, shared by workload.c (requests and their order) and workload_layout.c (how what was there
 * at the beginning lay).
 */
#ifndef NM_WHATIF_WORKLOAD_BUILD_H
#define NM_WHATIF_WORKLOAD_BUILD_H

#include "whatif/workload.h"

typedef enum nm_range_owner { NM_RANGE_FOREIGN = 0, NM_RANGE_OTHER, NM_RANGE_UNCLAIMED, NM_RANGE_OURS } nm_range_owner;

typedef struct nm_range_info { /* of gather->ranges, same index */
    nm_range_owner owner;
    bool is_large, is_small; /* it carried such blocks of ours */
    bool is_alive;           /* while the order is walked */
    uint32_t lane;
    uint32_t live_count;
    uint32_t claimed_by; /* the last of the blocks that did */
} nm_range_info;

typedef enum nm_like_state { NM_LIKE_UNSEEN = 0, NM_LIKE_FOREIGN, NM_LIKE_UNSIZED, NM_LIKE_SIZED } nm_like_state;

typedef struct nm_like_info { /* of what blocks have in common, by its number in gather->likes */
    nm_like_state state;      /* of another heap; of ours, of a size that is not known or known */
    uint32_t lane;            /* of ours */
    uint32_t request;         /* SIZED: from 1; 0: none was asked for yet */
    bool is_small;            /* SIZED: of a small pool */
    bool is_block_sized, is_streamless, is_exported;
    uint64_t bytes;
} nm_like_info;

typedef struct nm_build {
    nm_gather *gather;
    const nm_gather_heap *heap;
    uint32_t heap_index;
    nm_workload_options options;
    nm_workload *workload;
    nm_caching_settings settings; /* of the recorded run, as far as they are known */
    nm_map lane_of;               /* (private pool, stream) -> lane */
    nm_map range_of;              /* allocation_id -> index of its range */
    nm_range_info *ranges;        /* owned */
    nm_like_info *likes;          /* owned */
    uint32_t *slot_of;            /* owned; of what is live and ours, by row: its slot, plus 1 */
} nm_build;

/* ---- workload_parts.c ---- */

/* The number of the request, which is added if it is new. */
nm_status nm_workload_number(nm_workload *workload, nm_request request, uint32_t *number, nm_error *err);
nm_status nm_workload_take_slot(nm_workload *workload, uint32_t *slot, nm_error *err);

/* An operation that asks for the request with that number, without or with the operation. */
nm_status nm_workload_note_ask(nm_workload *workload, uint32_t request, int64_t seq, nm_error *err);
nm_status nm_workload_add_ask(nm_workload *workload, nm_op_kind kind, uint32_t request, int64_t seq, uint32_t *slot,
                              nm_error *err);

/* Room for so many of both, of which only what is used takes memory; and what is not used is given back. */
nm_status nm_workload_reserve(nm_workload *workload, size_t op_count, size_t ask_count, nm_error *err);
void nm_workload_settle(nm_workload *workload);

/* ---- workload.c ---- */

uint64_t nm_build_range_bytes(const nm_gather_row *range, bool is_other);
nm_status nm_build_lane(nm_build *build, const nm_gather_row *row, uint32_t *lane, nm_error *err);

/* Fills spaces and seeds; leaves them empty where the ranges and blocks do not make up segments. */
nm_status nm_workload_lay_out(nm_build *build, nm_error *err);

#endif
