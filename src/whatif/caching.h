/* SPDX-License-Identifier: Apache-2.0
 *
 * The caching allocator of torch_npu, simulated: what it would do with a row of requests, block by block, without a
 * device. PyTorch's for CUDA is the same but for the settings' defaults. Its rules, in short:
 *
 * - A request is padded and rounded (settings.h). Up to 1 MiB it is served from the small pool, else from the large one;
 *   each stream and each private pool has both of its own.
 * - The smallest free block that is large enough serves it, of equal ones the lowest. Its rest is split off: in the small
 *   pool and in expandable segments from 512 bytes on, else when it is more than 1 MiB and the request is less than
 *   max_split. Blocks of max_split and more serve only requests of that size, with less than 20 MiB (max_non_split_rounding)
 *   to spare.
 * - Else it grows: a segment from the driver, or pages at the lowest place of the stream's expandable segment where free
 *   and unmapped memory together are enough. Where that fails it gives back cached blocks of max_split and more, then all
 *   segments and pages that hold nothing, and tries again. Then it is out of memory.
 * - A freed block merges with its free neighbours. What other streams still use counts as free when they are done, or
 *   when the cache is emptied.
 * - While its graph lives, a private pool keeps its memory when the cache is emptied; when it has been let go, no more.
 *
 * What is not simulated: virtual addresses are without bounds and never used twice (the real ones are 9/8 of the device,
 * or pieces of 2 and 10 GiB), so that equally good blocks of different segments may be taken in another order.
 */
#ifndef NM_WHATIF_CACHING_H
#define NM_WHATIF_CACHING_H

#include "whatif/model.h"
#include "whatif/settings.h"

typedef enum nm_seed_kind { NM_SEED_FREE = 1, NM_SEED_USED, NM_SEED_UNMAPPED } nm_seed_kind;

/* A part of what was there at the beginning. */
typedef struct nm_seed {
    nm_seed_kind kind;
    uint64_t bytes;
    uint32_t slot; /* USED: where its handle goes */
} nm_seed;

/* A segment, or (is_expandable) a row of mapped and unmapped ranges from the begin of an expandable segment on. */
typedef struct nm_seed_space {
    const nm_seed *seeds; /* borrowed; end to end */
    size_t seed_count;
    uint32_t lane;
    bool is_small, is_expandable;
} nm_seed_space;

typedef struct nm_lane {
    uint64_t private_pool; /* 0: the default pool */
    uint64_t stream;       /* a number of its own, not the stream's handle */
} nm_lane;

/* `device` and `lanes` are borrowed. */
nm_status nm_caching_new(const nm_caching_settings *settings, nm_sim_device *device, const nm_lane *lanes,
                         size_t lane_count, nm_model **out, nm_error *err);

/* Puts what was there at the beginning; slots[seed.slot] becomes the handle. Before the first request. NM_END: it does
 * not fit on the device. */
nm_status nm_caching_seed(nm_model *model, const nm_seed_space *space, void **slots, nm_error *err);

/* Where a block lies: made for tests. */
typedef struct nm_caching_place {
    uint64_t address; /* simulated */
    uint64_t bytes;
} nm_caching_place;
nm_caching_place nm_caching_place_of(const void *block);

#endif
