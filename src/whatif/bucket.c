/* SPDX-License-Identifier: Apache-2.0
 *
 * Blocks of a class are all alike, so a slab need not remember which of its blocks are used, only how many. Slabs with a
 * free block stand in the list of their lane and class; the one that was freed into last serves next.
 */
#include "whatif/bucket.h"

#include <stdlib.h>

#include "replay/slab.h"

typedef struct bucket_slab {
    struct bucket_slab *previous, *next;           /* with a free block, of the same lane and class */
    struct bucket_slab *previous_made, *next_made; /* of all */
    size_t list;                                   /* index of that list, or OWN_LIST */
    uint64_t bytes, block_bytes;
    uint64_t block_count, used_count;
    bool is_initial; /* cut from what was taken at the start */
} bucket_slab;

#define OWN_LIST SIZE_MAX /* a request larger than every class */

typedef struct bucket {
    nm_model model;
    nm_bucket_settings settings;
    nm_slab slabs;
    bucket_slab *last_made;
    bucket_slab **lists; /* owned; of lane n and class c: n * class_count + c */
    uint64_t initial_left_bytes;
} bucket;

static bucket *bucket_of(nm_model *model)
{
    return (bucket *)(void *)model;
}

static void list_add(bucket *pool, bucket_slab *slab)
{
    slab->previous = NULL;
    slab->next = pool->lists[slab->list];
    if (slab->next != NULL)
        slab->next->previous = slab;
    pool->lists[slab->list] = slab;
}

static void list_remove(bucket *pool, bucket_slab *slab)
{
    if (slab->previous == NULL)
        pool->lists[slab->list] = slab->next;
    else
        slab->previous->next = slab->next;
    if (slab->next != NULL)
        slab->next->previous = slab->previous;
}

/* What is free in a slab that holds something is stuck. */
static uint64_t stuck_in(const bucket_slab *slab)
{
    return slab->used_count == 0 ? 0 : slab->bytes - slab->used_count * slab->block_bytes;
}

static void change_used(bucket *pool, bucket_slab *slab, uint64_t used_count)
{
    nm_model_state *state = &pool->model.state;

    state->stuck_bytes -= stuck_in(slab);
    state->active_bytes += (used_count - slab->used_count) * slab->block_bytes; /* wraps around where it falls */
    state->free_bytes -= (used_count - slab->used_count) * slab->block_bytes;
    slab->used_count = used_count;
    state->stuck_bytes += stuck_in(slab);
}

static void release(bucket *pool, bucket_slab *slab)
{
    if (slab->list != OWN_LIST)
        list_remove(pool, slab);
    if (slab->is_initial) {
        pool->initial_left_bytes += slab->bytes;
    } else {
        nm_sim_device_give(pool->model.device, slab->bytes, 1);
        pool->model.state.free_bytes -= slab->bytes;
    }
    if (slab->previous_made == NULL)
        pool->last_made = slab->next_made;
    else
        slab->previous_made->next_made = slab->next_made;
    if (slab->next_made != NULL)
        slab->next_made->previous_made = slab->previous_made;
    nm_slab_give(&pool->slabs, slab);
}

static nm_status bucket_flush(nm_model *model, nm_error *err)
{
    bucket *pool = bucket_of(model);

    (void)err;
    for (bucket_slab *slab = pool->last_made, *next; slab != NULL; slab = next) {
        next = slab->next_made;
        if (slab->used_count == 0)
            release(pool, slab);
    }
    return NM_OK;
}

/* Takes memory for a slab: from the initial piece, else from the device. */
static bool take(bucket *pool, bucket_slab *slab)
{
    nm_sim_device *device = pool->model.device;

    pool->model.state.is_limit = false;
    slab->is_initial = slab->list != OWN_LIST && slab->bytes <= pool->initial_left_bytes;
    if (slab->is_initial) {
        pool->initial_left_bytes -= slab->bytes;
        return true;
    }
    if (slab->bytes > pool->settings.maximum_bytes ||
        device->reserved_bytes > pool->settings.maximum_bytes - slab->bytes) {
        pool->model.state.is_limit = true;
        return false;
    }
    if (!nm_sim_device_take(device, slab->bytes, 1))
        return false;
    pool->model.state.free_bytes += slab->bytes;
    return true;
}

static nm_status new_slab(bucket *pool, const bucket_slab *like, bucket_slab **out, nm_error *err)
{
    bucket_slab *slab = nm_slab_take(&pool->slabs, err);

    if (slab == NULL)
        return NM_ERR_MEMORY;
    *slab = *like;
    if (!take(pool, slab)) {
        pool->model.state.flush_count++;
        bucket_flush(&pool->model, err);
        if (!take(pool, slab)) {
            nm_slab_give(&pool->slabs, slab);
            return NM_END;
        }
    }
    slab->next_made = pool->last_made;
    if (slab->next_made != NULL)
        slab->next_made->previous_made = slab;
    pool->last_made = slab;
    if (slab->list != OWN_LIST)
        list_add(pool, slab);
    *out = slab;
    return NM_OK;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Index of the smallest class that is large enough; class_count: none is. */
static size_t class_of(const nm_bucket_settings *settings, uint64_t bytes)
{
    size_t low = 0, high = settings->class_count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (settings->class_bytes[middle] < bytes)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bucket_slab slab_for(const bucket *pool, const nm_ask *ask)
{
    const nm_bucket_settings *settings = &pool->settings;
    uint64_t bytes = round_up(ask->bytes > 0 ? ask->bytes : 1, settings->alignment_bytes);
    size_t class_index = class_of(settings, bytes);
    bucket_slab slab = {.list = OWN_LIST, .bytes = bytes, .block_bytes = bytes, .block_count = 1};

    if (class_index == settings->class_count)
        return slab;
    slab.list = (size_t)ask->lane * settings->class_count + class_index;
    slab.block_bytes = settings->class_bytes[class_index];
    slab.block_count = slab.block_bytes < settings->slab_bytes ? settings->slab_bytes / slab.block_bytes : 1;
    slab.bytes = slab.block_count > 1 ? settings->slab_bytes : slab.block_bytes;
    return slab;
}

static nm_status bucket_alloc(nm_model *model, const nm_ask *ask, void **block, nm_error *err)
{
    bucket *pool = bucket_of(model);
    bucket_slab like = slab_for(pool, ask);
    bucket_slab *slab = like.list == OWN_LIST ? NULL : pool->lists[like.list];
    nm_status status = NM_OK;

    if (slab == NULL) {
        uint64_t take_count = model->device->take_count;

        status = new_slab(pool, &like, &slab, err);
        model->state.miss_count += status != NM_OK || model->device->take_count != take_count;
    }
    if (status != NM_OK)
        return status;
    change_used(pool, slab, slab->used_count + 1);
    if (slab->used_count == slab->block_count && slab->list != OWN_LIST)
        list_remove(pool, slab);
    *block = slab;
    return NM_OK;
}

static void bucket_free_requested(nm_model *model, void *block)
{
    (void)model; /* its blocks come back when other streams are done, no sooner */
    (void)block;
}

static nm_status bucket_free(nm_model *model, void *block, nm_error *err)
{
    bucket *pool = bucket_of(model);
    bucket_slab *slab = block;

    (void)err;
    if (slab == NULL)
        return NM_OK;
    if (slab->used_count == slab->block_count && slab->list != OWN_LIST)
        list_add(pool, slab);
    change_used(pool, slab, slab->used_count - 1);
    if (slab->list == OWN_LIST)
        release(pool, slab);
    return NM_OK;
}

static uint64_t bucket_largest_free(const nm_model *model, const nm_ask *ask)
{
    const bucket *pool = (const bucket *)(const void *)model;
    size_t class_count = pool->settings.class_count;

    for (size_t i = class_count; i > 0; i--)
        if (pool->lists[(size_t)ask->lane * class_count + i - 1] != NULL)
            return pool->settings.class_bytes[i - 1];
    return 0;
}

static void bucket_close(nm_model *model)
{
    bucket *pool = bucket_of(model);

    while (pool->last_made != NULL) {
        bucket_slab *slab = pool->last_made;

        pool->last_made = slab->next_made;
        nm_slab_give(&pool->slabs, slab);
    }
    nm_slab_free(&pool->slabs);
    free(pool->lists);
    free(pool);
}

static const nm_model_type bucket_type = {
    .alloc = bucket_alloc,
    .free_requested = bucket_free_requested,
    .free = bucket_free,
    .flush = bucket_flush,
    .largest_free = bucket_largest_free,
    .close = bucket_close,
};

nm_status nm_bucket_new(const nm_bucket_settings *settings, nm_sim_device *device, size_t lane_count, nm_model **out,
                        nm_error *err)
{
    bucket *pool = calloc(1, sizeof *pool);

    *out = NULL;
    if (pool != NULL)
        pool->lists = calloc(lane_count > 0 ? lane_count * settings->class_count : 1, sizeof(bucket_slab *));
    if (pool == NULL || pool->lists == NULL) {
        free(pool);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    pool->model = (nm_model){.type = &bucket_type, .device = device};
    pool->settings = *settings;
    pool->slabs.item_bytes = sizeof(bucket_slab);
    if (settings->initial_bytes > 0 && !nm_sim_device_take(device, settings->initial_bytes, 1)) {
        bucket_close(&pool->model);
        return NM_END;
    }
    pool->initial_left_bytes = settings->initial_bytes;
    pool->model.state.free_bytes = settings->initial_bytes;
    *out = &pool->model;
    return NM_OK;
}
