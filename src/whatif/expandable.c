/* SPDX-License-Identifier: Apache-2.0
 *
 * Expandable segments of the simulated caching allocator: a wide range of addresses per stream and pool, of which pages
 * are given memory as they are needed. A segment is a row of blocks like any other; blocks without memory are kept in
 * their bin's second set, by address. Physical memory is counted and not remembered page by page: a page has memory if the
 * block around it has.
 */
#include "whatif/caching_state.h"

#define SPACE_BYTES    (UINT64_C(1) << 50) /* address space of a segment, about: never used up in practice */
#define GIGABYTE_BYTES (UINT64_C(1) << 30)

static nm_block *block_of(nm_order_node *node)
{
    return (nm_block *)(void *)node;
}

uint64_t nm_expandable_page_bytes(const nm_caching *caching, const nm_bin *bin)
{
    if (bin->is_small)
        return NM_SMALL_SEGMENT_BYTES;
    return caching->settings.has_gigabyte_pages ? GIGABYTE_BYTES : caching->settings.page_bytes;
}

uint64_t nm_expandable_space_bytes(const nm_caching *caching, const nm_bin *bin)
{
    uint64_t page_bytes = nm_expandable_page_bytes(caching, bin);

    return SPACE_BYTES / page_bytes * page_bytes;
}

uint64_t nm_expandable_begin(const nm_caching *caching, nm_bin *bin)
{
    return 2 * nm_expandable_space_bytes(caching, bin) * bin->space_count++; /* twice: what is seeded comes before */
}

/* The whole pages inside the block: [*begin, *end), empty where there are none. */
static void pages_in(const nm_caching *caching, const nm_block *block, uint64_t *begin, uint64_t *end)
{
    uint64_t page_bytes = nm_expandable_page_bytes(caching, block->bin);

    *begin = (block->address + page_bytes - 1) / page_bytes * page_bytes;
    *end = (block->address + block->bytes) / page_bytes * page_bytes;
}

uint64_t nm_expandable_releasable(const nm_caching *caching, const nm_block *block)
{
    uint64_t begin, end;

    pages_in(caching, block, &begin, &end);
    return begin < end ? end - begin : 0;
}

/* ---- Choosing ---------------------------------------------------------------------------------------------------- */

static uint64_t grown_bytes(const nm_block *block)
{
    return block->bytes + (block->behind != NULL && !block->behind->is_mapped ? block->behind->bytes : 0);
}

nm_block *nm_expandable_choose(nm_block *best)
{
    for (;;) {
        nm_order_node *next = nm_order_next(&best->node);

        if (next == NULL || grown_bytes(block_of(next)) >= grown_bytes(best))
            return best;
        best = block_of(next);
    }
}

/* ---- Growing ----------------------------------------------------------------------------------------------------- */

static void put_unmapped(nm_block *block)
{
    block->node.major = block->address;
    block->node.minor = 0;
    nm_order_insert(&block->bin->unmapped, &block->node);
}

nm_status nm_expandable_add_space(nm_caching *caching, nm_bin *bin, uint64_t address, nm_block *before, nm_error *err)
{
    nm_block *block = nm_block_new(caching, bin, address, nm_expandable_space_bytes(caching, bin), err);

    if (block == NULL)
        return NM_ERR_MEMORY;
    block->is_expandable = true;
    block->is_mapped = false;
    block->before = before;
    if (before != NULL)
        before->behind = block;
    nm_block_merge(caching, block);
    put_unmapped(block);
    return NM_OK;
}

static bool is_idle(const nm_block *block)
{
    return block != NULL && !block->is_used && !block->is_pending;
}

static bool has_room(const nm_block *block, uint64_t bytes)
{
    uint64_t room = 0;

    for (; room < bytes && is_idle(block); block = block->behind)
        room += block->bytes;
    return room >= bytes;
}

/* The lowest place where free and unmapped memory together are enough; NULL: none is. */
static nm_block *find_room(const nm_bin *bin, uint64_t bytes)
{
    for (nm_order_node *node = nm_order_first(&bin->unmapped); node != NULL; node = nm_order_next(node)) {
        nm_block *block = block_of(node);

        if (is_idle(block->before))
            block = block->before;
        if (has_room(block, bytes))
            return block;
    }
    return NULL;
}

/* Gives memory to the first `bytes` of *block, which has none; it becomes one with its free neighbours, as *block. */
static nm_status map(nm_caching *caching, nm_block **block, uint64_t bytes, nm_error *err)
{
    uint64_t page_bytes = nm_expandable_page_bytes(caching, (*block)->bin);
    uint64_t mapped_bytes = (bytes + page_bytes - 1) / page_bytes * page_bytes;
    nm_block *rest = *block;

    if (!nm_sim_device_take(caching->model.device, mapped_bytes, mapped_bytes / page_bytes))
        return NM_END;
    nm_order_remove(&rest->bin->unmapped, &rest->node);
    if (mapped_bytes < rest->bytes) {
        *block = nm_block_cut(caching, rest, mapped_bytes, err);
        put_unmapped(rest);
        if (*block == NULL)
            return NM_ERR_MEMORY;
    }
    (*block)->is_mapped = true;
    nm_block_merge(caching, *block);
    nm_block_put_free(caching, *block);
    return NM_OK;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

nm_status nm_expandable_grow(nm_caching *caching, nm_bin *bin, uint64_t bytes, nm_block **out, nm_error *err)
{
    nm_block *block = find_room(bin, bytes);
    nm_status status = NM_OK;

    if (block == NULL)
        status = nm_expandable_add_space(caching, bin, nm_expandable_begin(caching, bin), NULL, err);
    if (block == NULL && status == NM_OK)
        block = find_room(bin, bytes);
    if (status == NM_OK && !block->is_mapped)
        status = map(caching, &block, lesser(block->bytes, bytes), err);
    while (status == NM_OK && block->bytes < bytes) {
        uint64_t lacking = bytes - block->bytes;

        block = block->behind; /* without memory: two free blocks that have it would be one */
        status = map(caching, &block, lesser(block->bytes, lacking), err);
    }
    if (status != NM_OK)
        return status;
    nm_block_take_free(caching, block);
    *out = block;
    return NM_OK;
}

/* ---- Giving back ------------------------------------------------------------------------------------------------- */

/* Cuts the first `bytes` of the block, which is in no set, off as a free block. */
static nm_status leave_free(nm_caching *caching, nm_block *block, uint64_t bytes, nm_error *err)
{
    nm_block *front = bytes == 0 ? NULL : nm_block_cut(caching, block, bytes, err);

    if (front != NULL)
        nm_block_put_free(caching, front);
    return bytes == 0 || front != NULL ? NM_OK : NM_ERR_MEMORY;
}

nm_status nm_expandable_release(nm_caching *caching, nm_block *block, nm_error *err)
{
    uint64_t begin, end;
    nm_block *pages = block;
    nm_status status;

    pages_in(caching, block, &begin, &end);
    nm_block_take_free(caching, block);
    status = leave_free(caching, block, begin - block->address, err);
    if (status == NM_OK && end < block->address + block->bytes) {
        pages = nm_block_cut(caching, block, end - begin, err);
        if (pages == NULL)
            return NM_ERR_MEMORY;
        nm_block_put_free(caching, block);
    }
    if (status != NM_OK)
        return status;
    pages->is_mapped = false;
    nm_sim_device_give(caching->model.device, end - begin,
                       (end - begin) / nm_expandable_page_bytes(caching, block->bin));
    nm_block_merge(caching, pages);
    if (pages->before == NULL && pages->behind == NULL)
        nm_block_give(caching, pages); /* the whole segment is gone */
    else
        put_unmapped(pages);
    return NM_OK;
}
