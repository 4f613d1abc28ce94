/* SPDX-License-Identifier: Apache-2.0
 *
 * Segments are rows of blocks that lie end to end. A block is in use, pending, free (in its bin's set) or, in an
 * expandable segment, without memory. No two free neighbours: they are one.
 */
#include "whatif/caching_state.h"

#include <stdlib.h>

static const nm_model_type caching_type;

static nm_caching *caching_of(nm_model *model)
{
    return (nm_caching *)(void *)model;
}

static nm_block *block_of(nm_order_node *node)
{
    return (nm_block *)(void *)node; /* its first member */
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

static void list_add(nm_block_list *list, nm_block *block)
{
    block->previous_listed = NULL;
    block->next_listed = list->first;
    if (list->first != NULL)
        list->first->previous_listed = block;
    list->first = block;
}

static void list_remove(nm_block_list *list, nm_block *block)
{
    if (block->previous_listed == NULL)
        list->first = block->next_listed;
    else
        block->previous_listed->next_listed = block->next_listed;
    if (block->next_listed != NULL)
        block->next_listed->previous_listed = block->previous_listed;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

nm_block *nm_block_new(nm_caching *caching, nm_bin *bin, uint64_t address, uint64_t bytes, nm_error *err)
{
    nm_block *block = nm_slab_take(&caching->blocks, err);

    if (block == NULL)
        return NULL;
    block->bin = bin;
    block->address = address;
    block->bytes = bytes;
    block->is_mapped = true;
    block->next_made = caching->last_made;
    if (caching->last_made != NULL)
        caching->last_made->previous_made = block;
    caching->last_made = block;
    return block;
}

void nm_block_give(nm_caching *caching, nm_block *block)
{
    if (block->previous_made == NULL)
        caching->last_made = block->next_made;
    else
        block->previous_made->next_made = block->next_made;
    if (block->next_made != NULL)
        block->next_made->previous_made = block->previous_made;
    nm_slab_give(&caching->blocks, block);
}

static bool is_split(const nm_block *block)
{
    return block->before != NULL || block->behind != NULL;
}

void nm_block_put_free(nm_caching *caching, nm_block *block)
{
    nm_model_state *state = &caching->model.state;

    block->node.major = block->bytes;
    block->node.minor = block->address;
    nm_order_insert(&block->bin->free, &block->node);
    block->age_begin = caching->age_clock;
    if (block->bin->is_kept)
        block->releasable_bytes = 0;
    else if (block->is_expandable)
        block->releasable_bytes = nm_expandable_releasable(caching, block);
    else
        block->releasable_bytes = is_split(block) ? 0 : block->bytes;
    if (block->releasable_bytes > 0)
        list_add(&caching->releasable, block);
    state->free_bytes += block->bytes;
    state->stuck_bytes += block->bytes - block->releasable_bytes;
}

void nm_block_take_free(nm_caching *caching, nm_block *block)
{
    nm_model_state *state = &caching->model.state;

    nm_order_remove(&block->bin->free, &block->node);
    if (block->releasable_bytes > 0)
        list_remove(&caching->releasable, block);
    state->free_bytes -= block->bytes;
    state->stuck_bytes -= block->bytes - block->releasable_bytes;
}

static bool can_merge(const nm_block *block, const nm_block *with)
{
    return with != NULL && !with->is_used && !with->is_pending && with->is_mapped == block->is_mapped;
}

static void take_from_set(nm_caching *caching, nm_block *block)
{
    if (block->is_mapped)
        nm_block_take_free(caching, block);
    else
        nm_order_remove(&block->bin->unmapped, &block->node);
}

void nm_block_merge(nm_caching *caching, nm_block *block)
{
    nm_block *before = block->before;
    nm_block *behind = block->behind;

    if (can_merge(block, before)) {
        take_from_set(caching, before);
        block->address = before->address;
        block->bytes += before->bytes;
        block->before = before->before;
        if (block->before != NULL)
            block->before->behind = block;
        nm_block_give(caching, before);
    }
    if (can_merge(block, behind)) {
        take_from_set(caching, behind);
        block->bytes += behind->bytes;
        block->behind = behind->behind;
        if (block->behind != NULL)
            block->behind->before = block;
        nm_block_give(caching, behind);
    }
}

nm_block *nm_block_cut(nm_caching *caching, nm_block *block, uint64_t bytes, nm_error *err)
{
    nm_block *front = nm_block_new(caching, block->bin, block->address, bytes, err);

    if (front == NULL)
        return NULL;
    front->is_mapped = block->is_mapped;
    front->is_expandable = block->is_expandable;
    front->before = block->before;
    front->behind = block;
    if (front->before != NULL)
        front->before->behind = front;
    block->before = front;
    block->address += bytes;
    block->bytes -= bytes;
    return front;
}

/* ---- Giving back ------------------------------------------------------------------------------------------------- */

/* A whole segment goes back to the device. */
static void release_segment(nm_caching *caching, nm_block *block)
{
    nm_block_take_free(caching, block);
    nm_sim_device_give(caching->model.device, block->bytes, 1);
    nm_block_give(caching, block);
}

static void free_block(nm_caching *caching, nm_block *block)
{
    caching->model.state.active_bytes -= block->bytes;
    block->is_used = false;
    nm_block_merge(caching, block);
    nm_block_put_free(caching, block);
}

/* What other streams still use is waited for. */
static void free_pending(nm_caching *caching)
{
    while (caching->pending.first != NULL) {
        nm_block *block = caching->pending.first;

        list_remove(&caching->pending, block);
        block->is_pending = false;
        *block->slot = NULL;
        free_block(caching, block);
    }
}

static nm_status flush(nm_model *model, nm_error *err)
{
    nm_caching *caching = caching_of(model);
    nm_status status = NM_OK;

    free_pending(caching);
    while (status == NM_OK && caching->releasable.first != NULL) {
        nm_block *block = caching->releasable.first;

        if (block->is_expandable)
            status = nm_expandable_release(caching, block, err);
        else
            release_segment(caching, block);
    }
    return status;
}

/* Gives back cached blocks that are not to be split: one that is large enough, or the largest until they are. */
static bool release_oversize(nm_caching *caching, nm_bin *bin, uint64_t bytes)
{
    uint64_t wanted = bytes < caching->settings.max_split_bytes ? caching->settings.max_split_bytes : bytes;
    uint64_t released = 0;

    if (caching->settings.max_split_bytes == NM_NO_SPLIT_LIMIT)
        return false;
    while (released < wanted) {
        nm_order_node *node = nm_order_ceiling(&bin->free, wanted, 0);

        if (node == NULL)
            node = nm_order_last(&bin->free);
        if (node == NULL || node->major < caching->settings.max_split_bytes || is_split(block_of(node)))
            return false;
        released += node->major;
        release_segment(caching, block_of(node));
    }
    return true;
}

/* ---- Garbage collection ------------------------------------------------------------------------------------------ */

static uint64_t allowed_bytes(const nm_caching *caching)
{
    const nm_caching_settings *settings = &caching->settings;

    return settings->memory_fraction > 0
               ? (uint64_t)(settings->memory_fraction * (double)caching->model.device->capacity_bytes)
               : UINT64_MAX;
}

static uint64_t age_of(const nm_caching *caching, const nm_block *block)
{
    return caching->age_clock - block->age_begin;
}

/* Is it a large segment that holds nothing, of the default pool? */
static bool is_collectable(const nm_block *block)
{
    return !block->bin->is_small && !block->is_expandable && block->bin->private_pool == 0;
}

/* Gives back what is as old as the average at least. Returns how many bytes that was. */
static uint64_t collect_older(nm_caching *caching, double age_sum, double *age_left, uint64_t *count)
{
    double threshold = age_sum / (double)*count;
    uint64_t bytes = 0;

    for (nm_block *block = caching->releasable.first, *next; block != NULL; block = next) {
        next = block->next_listed;
        if (!is_collectable(block) || (double)age_of(caching, block) < threshold)
            continue;
        bytes += block->bytes;
        *age_left -= (double)age_of(caching, block);
        --*count;
        release_segment(caching, block);
    }
    return bytes;
}

/* Above the threshold, and only where the pool's share of the device is set, large segments that have not been used for
 * long go back before the pool grows. */
static void collect(nm_caching *caching)
{
    double threshold = caching->settings.collect_threshold * (double)allowed_bytes(caching);
    uint64_t reserved = caching->model.device->reserved_bytes;
    uint64_t target, collected = 0, count = 0, bytes = 1;
    double age_sum = 0;

    if (caching->settings.collect_threshold <= 0 || caching->settings.memory_fraction <= 0 ||
        (double)reserved <= threshold)
        return;
    target = reserved - (uint64_t)threshold;
    for (const nm_block *block = caching->releasable.first; block != NULL; block = block->next_listed)
        if (is_collectable(block)) {
            age_sum += (double)age_of(caching, block);
            count++;
        }
    while (collected < target && bytes > 0 && count > 0) {
        bytes = collect_older(caching, age_sum, &age_sum, &count);
        collected += bytes;
    }
    caching->model.state.collect_count += collected > 0;
}

/* ---- Serving ----------------------------------------------------------------------------------------------------- */

static nm_block *take_best(nm_caching *caching, nm_bin *bin, uint64_t bytes)
{
    uint64_t max_split = caching->settings.max_split_bytes;
    nm_order_node *node = nm_order_ceiling(&bin->free, bytes, 0);
    nm_block *block = node == NULL ? NULL : block_of(node);

    if (!bin->is_small && bin->private_pool == 0)
        caching->age_clock++;
    if (block == NULL)
        return NULL;
    if (block->is_expandable)
        block = nm_expandable_choose(block);
    if (bytes < max_split && block->bytes >= max_split)
        return NULL;
    if (bytes >= max_split && block->bytes >= bytes + caching->settings.spare_bytes)
        return NULL;
    nm_block_take_free(caching, block);
    return block;
}

static nm_status new_segment(nm_caching *caching, nm_bin *bin, uint64_t bytes, nm_block **out, nm_error *err)
{
    if (caching->next_address > UINT64_MAX - bytes)
        return nm_fail(err, NM_ERR_LIMIT, NM_NO_OFFSET, "the simulated address space is used up");
    if (!nm_sim_device_take(caching->model.device, bytes, 1))
        return NM_END;
    *out = nm_block_new(caching, bin, caching->next_address, bytes, err);
    caching->next_address += bytes;
    return *out == NULL ? NM_ERR_MEMORY : NM_OK;
}

static nm_status grow(nm_caching *caching, nm_bin *bin, uint64_t bytes, nm_block **out, nm_error *err)
{
    uint64_t segment_bytes = nm_caching_segment_bytes(&caching->settings, bytes);
    uint64_t allowed = allowed_bytes(caching);

    caching->model.state.is_limit =
        segment_bytes > allowed || caching->model.device->reserved_bytes > allowed - segment_bytes;
    if (caching->model.state.is_limit)
        return NM_END;
    if (caching->settings.is_expandable)
        return nm_expandable_grow(caching, bin, bytes, out, err);
    return new_segment(caching, bin, segment_bytes, out, err);
}

/* Grows, as hard as the allocator tries. */
static nm_status grow_or_release(nm_caching *caching, nm_bin *bin, uint64_t bytes, nm_block **out, nm_error *err)
{
    nm_status status;

    collect(caching);
    status = grow(caching, bin, bytes, out, err);
    if (status == NM_END && release_oversize(caching, bin, bytes))
        status = grow(caching, bin, bytes, out, err);
    if (status != NM_END)
        return status;
    caching->model.state.flush_count++;
    status = flush(&caching->model, err);
    return status == NM_OK ? grow(caching, bin, bytes, out, err) : status;
}

/* Large blocks of expandable segments begin at aligned addresses where there is room for that; what lies before stays free. */
static nm_status align(nm_caching *caching, nm_block *block, uint64_t bytes, nm_error *err)
{
    uint64_t alignment = caching->settings.alignment_bytes;
    uint64_t offset;
    nm_block *front;

    if (!block->is_expandable || alignment == 0 || bytes < NM_OWN_SEGMENT_UNIT || block->address % alignment == 0)
        return NM_OK;
    offset = alignment - block->address % alignment;
    if (offset + bytes > block->bytes)
        return NM_OK;
    front = nm_block_cut(caching, block, offset, err);
    if (front == NULL)
        return NM_ERR_MEMORY;
    nm_block_put_free(caching, front);
    return NM_OK;
}

static bool is_to_be_split(const nm_caching *caching, const nm_block *block, uint64_t bytes)
{
    uint64_t rest = block->bytes - bytes;

    if (block->bin->is_small || caching->settings.is_expandable)
        return rest >= NM_BLOCK_UNIT_BYTES;
    return bytes < caching->settings.max_split_bytes && rest > NM_SMALL_BYTES_MAX;
}

/* Puts the found block, which is in no set, to use. */
static nm_status use_block(nm_caching *caching, nm_block *block, uint64_t bytes, void **slot, nm_error *err)
{
    nm_status status = align(caching, block, bytes, err);

    if (status == NM_OK && is_to_be_split(caching, block, bytes)) {
        nm_block *front = nm_block_cut(caching, block, bytes, err);

        if (front == NULL)
            return NM_ERR_MEMORY;
        nm_block_put_free(caching, block);
        block = front;
    }
    if (status != NM_OK)
        return status;
    block->is_used = true;
    block->slot = slot;
    *slot = block;
    caching->model.state.active_bytes += block->bytes;
    return NM_OK;
}

static nm_status caching_alloc(nm_model *model, const nm_ask *ask, void **slot, nm_error *err)
{
    nm_caching *caching = caching_of(model);
    uint64_t bytes = nm_caching_block_bytes(&caching->settings, ask->bytes, ask->is_block_bytes);
    nm_bin *bin = &caching->bins[2 * (size_t)ask->lane + (bytes <= NM_SMALL_BYTES_MAX)];
    nm_block *block = take_best(caching, bin, bytes);
    nm_status status = NM_OK;

    if (block == NULL) {
        model->state.miss_count++;
        status = grow_or_release(caching, bin, bytes, &block, err);
    }
    return status == NM_OK ? use_block(caching, block, bytes, slot, err) : status;
}

static void caching_free_requested(nm_model *model, void *handle)
{
    nm_block *block = handle;

    if (block == NULL || block->is_pending)
        return;
    block->is_used = false;
    block->is_pending = true;
    list_add(&caching_of(model)->pending, block);
}

static nm_status caching_free(nm_model *model, void *handle, nm_error *err)
{
    nm_caching *caching = caching_of(model);
    nm_block *block = handle;

    (void)err;
    if (block == NULL)
        return NM_OK;
    if (block->is_pending)
        list_remove(&caching->pending, block);
    block->is_pending = false;
    free_block(caching, block);
    return NM_OK;
}

/* What the private pool of the lane has free can be given back from now on. */
static void caching_let_go(nm_model *model, uint32_t lane)
{
    nm_caching *caching = caching_of(model);
    uint64_t private_pool = caching->bins[2 * (size_t)lane].private_pool;

    for (size_t i = 0; i < caching->bin_count; i++)
        caching->bins[i].is_kept = caching->bins[i].is_kept && caching->bins[i].private_pool != private_pool;
    for (nm_block *block = caching->last_made; block != NULL; block = block->next_made)
        if (block->bin->private_pool == private_pool && !block->is_used && !block->is_pending && block->is_mapped) {
            nm_block_take_free(caching, block);
            nm_block_put_free(caching, block);
        }
}

static uint64_t caching_largest_free(const nm_model *model, const nm_ask *ask)
{
    const nm_caching *caching = (const nm_caching *)(const void *)model;
    uint64_t bytes = nm_caching_block_bytes(&caching->settings, ask->bytes, ask->is_block_bytes);
    const nm_order_node *last =
        nm_order_last(&caching->bins[2 * (size_t)ask->lane + (bytes <= NM_SMALL_BYTES_MAX)].free);

    return last == NULL ? 0 : last->major;
}

/* ---- The beginning, and life ------------------------------------------------------------------------------------- */

/* One part of what was there: a block behind `before`. */
static nm_status seed_block(nm_caching *caching, nm_bin *bin, const nm_seed *seed, uint64_t address, nm_block *before,
                            nm_block **out, nm_error *err)
{
    nm_block *block = nm_block_new(caching, bin, address, seed->bytes, err);

    if (block == NULL)
        return NM_ERR_MEMORY;
    block->before = before;
    if (before != NULL)
        before->behind = block;
    block->is_expandable = caching->settings.is_expandable;
    block->is_used = seed->kind == NM_SEED_USED;
    block->is_mapped = seed->kind != NM_SEED_UNMAPPED;
    *out = block;
    return NM_OK;
}

/* Puts the parts, which have all neighbours now, into their sets. */
static nm_status settle_seeds(nm_caching *caching, nm_block *first, const nm_seed *seeds, void **slots)
{
    nm_model *model = &caching->model;
    uint64_t page_bytes = nm_expandable_page_bytes(caching, first->bin);
    uint64_t mapped_bytes = 0;

    for (nm_block *block = first; block != NULL; block = block->behind, seeds++) {
        mapped_bytes += block->is_mapped ? block->bytes : 0;
        if (block->is_used) {
            block->slot = &slots[seeds->slot];
            *block->slot = block;
            model->state.active_bytes += block->bytes;
        } else if (block->is_mapped) {
            nm_block_put_free(caching, block);
        } else {
            block->node.major = block->address;
            block->node.minor = 0;
            nm_order_insert(&block->bin->unmapped, &block->node);
        }
    }
    return nm_sim_device_take(model->device, mapped_bytes, first->is_expandable ? mapped_bytes / page_bytes : 1)
               ? NM_OK
               : NM_END;
}

nm_status nm_caching_seed(nm_model *model, const nm_seed_space *space, void **slots, nm_error *err)
{
    nm_caching *caching = caching_of(model);
    nm_bin *bin = &caching->bins[2 * (size_t)space->lane + space->is_small];
    uint64_t begin = space->is_expandable ? nm_expandable_begin(caching, bin) : caching->next_address;
    uint64_t address = begin;
    nm_block *first = NULL, *last = NULL;
    nm_status status = NM_OK;

    for (size_t i = 0; i < space->seed_count && status == NM_OK; i++) {
        status = seed_block(caching, bin, &space->seeds[i], address, last, &last, err);
        address += space->seeds[i].bytes;
        first = first == NULL ? last : first;
    }
    if (status != NM_OK || first == NULL)
        return status;
    status = settle_seeds(caching, first, space->seeds, slots);
    if (space->is_expandable && status == NM_OK)
        return nm_expandable_add_space(caching, bin, address, last, err);
    caching->next_address = address;
    return status;
}

static void caching_close(nm_model *model)
{
    nm_caching *caching = caching_of(model);

    while (caching->last_made != NULL)
        nm_block_give(caching, caching->last_made);
    nm_slab_free(&caching->blocks);
    free(caching->bins);
    free(caching);
}

nm_status nm_caching_new(const nm_caching_settings *settings, nm_sim_device *device, const nm_lane *lanes,
                         size_t lane_count, nm_model **out, nm_error *err)
{
    nm_caching *caching = calloc(1, sizeof *caching);

    *out = NULL;
    if (caching != NULL)
        caching->bins = calloc(lane_count > 0 ? 2 * lane_count : 1, sizeof *caching->bins);
    if (caching == NULL || caching->bins == NULL) {
        free(caching);
        return nm_fail(err, NM_ERR_MEMORY, NM_NO_OFFSET, "out of memory");
    }
    caching->model = (nm_model){.type = &caching_type, .device = device};
    caching->settings = *settings;
    caching->blocks.item_bytes = sizeof(nm_block);
    caching->bin_count = 2 * lane_count;
    for (size_t i = 0; i < caching->bin_count; i++) {
        caching->bins[i].is_small = i % 2 == 1;
        caching->bins[i].private_pool = lanes[i / 2].private_pool;
        caching->bins[i].is_kept = lanes[i / 2].private_pool != 0;
    }
    *out = &caching->model;
    return NM_OK;
}

nm_caching_place nm_caching_place_of(const void *handle)
{
    const nm_block *block = handle;

    return (nm_caching_place){block->address, block->bytes};
}

static const nm_model_type caching_type = {
    .alloc = caching_alloc,
    .free_requested = caching_free_requested,
    .free = caching_free,
    .flush = flush,
    .let_go = caching_let_go,
    .largest_free = caching_largest_free,
    .close = caching_close,
};
