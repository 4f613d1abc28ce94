/* SPDX-License-Identifier: Apache-2.0
 *
 * What every simulated allocator is to the simulation: something that is asked for blocks and given them back, that takes
 * its memory from a simulated device and says how it is doing. To add one: a struct that begins with nm_model and a
 * nm_model_type.
 */
#ifndef NM_WHATIF_MODEL_H
#define NM_WHATIF_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define NM_WHATIF_SIZE_MAX (UINT64_C(1) << 44) /* bytes of one request; a larger one is refused */
#define NM_WHATIF_UNLIMITED                                                                                            \
    (UINT64_C(1) << 60) /* capacity of a device without bounds: no sum of it and a request overflows */

/* The memory of one device. All in bytes; what is taken is the pool's, the rest of the device is `other`. */
typedef struct nm_sim_device {
    uint64_t capacity_bytes;
    uint64_t other_bytes;    /* taken by others: another process, driver memory outside the pool */
    uint64_t reserved_bytes; /* taken by the pool */
    uint64_t peak_reserved_bytes;
    uint64_t growth_count; /* times the pool took memory: a row of pages is one */
    uint64_t take_count;   /* pieces of driver memory the pool took: allocations, mapped pages */
    uint64_t give_count;   /* and gave back */
    uint64_t failed_count;
    uint64_t granted_bytes; /* the most that was taken, by the pool and others together, when more was; */
    uint64_t refused_bytes; /* the least that would have been and was not; 0: there was always room */
} nm_sim_device;

/* Takes `bytes` in `pieces` calls of the driver, or nothing. */
bool nm_sim_device_take(nm_sim_device *device, uint64_t bytes, uint64_t pieces);
void nm_sim_device_give(nm_sim_device *device, uint64_t bytes, uint64_t pieces);

/* Driver memory outside the pool comes. False: it does not fit, and is not counted. */
bool nm_sim_device_take_other(nm_sim_device *device, uint64_t bytes);
void nm_sim_device_give_other(nm_sim_device *device, uint64_t bytes);

typedef struct nm_ask {
    uint64_t bytes;
    uint32_t lane;       /* private pool and stream: blocks of one lane never serve another */
    bool is_block_bytes; /* `bytes` is the size of the block that was handed out, not what was asked for */
} nm_ask;

/* How a pool is doing; kept by the model. Bytes. */
typedef struct nm_model_state {
    uint64_t active_bytes;  /* of blocks in use, rounded as this pool does, pending ones included */
    uint64_t free_bytes;    /* of its driver memory, in no block */
    uint64_t stuck_bytes;   /* of these, what emptying the cache cannot give back */
    uint64_t miss_count;    /* requests for which it needed the driver */
    uint64_t flush_count;   /* times it emptied its own cache to go on */
    uint64_t collect_count; /* times its garbage collection gave something back */
    bool is_limit;          /* the last failure was by the pool's own limit, not the device's */
} nm_model_state;

typedef struct nm_model nm_model;

typedef struct nm_model_type {
    /* NM_OK: *block is the handle. `block` stays where it is until the block is freed: a flush that frees a pending one
     * sets it to NULL. NM_END: there is not enough memory. */
    nm_status (*alloc)(nm_model *model, const nm_ask *ask, void **block, nm_error *err);
    /* The program has given the block up; another stream still uses it. */
    void (*free_requested)(nm_model *model, void *block);
    nm_status (*free)(nm_model *model, void *block, nm_error *err); /* NULL: nothing */
    nm_status (*flush)(nm_model *model, nm_error *err);             /* the program empties the cache */
    /* Nobody uses the private pool of the lane any more but for its live blocks. NULL: the model keeps no memory for it. */
    void (*let_go)(nm_model *model, uint32_t lane);
    uint64_t (*largest_free)(const nm_model *model, const nm_ask *ask); /* where the request might have been served */
    void (*close)(nm_model *model);
} nm_model_type;

struct nm_model {
    const nm_model_type *type;
    nm_sim_device *device; /* borrowed */
    nm_model_state state;
};

#endif
