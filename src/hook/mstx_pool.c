/* SPDX-License-Identifier: Apache-2.0
 *
 * Memory that programs' own allocators tell through mstx: a heap for each domain and device, whose regions are its blocks.
 *
 * The known pools bend the interface. What they register as a heap is a sample: all bytes that the pool holds by now. They
 * register it anew at each event and never unregister it, and torch_npu leaves fields unset. In any other domain a heap is
 * an extent, of which nothing needs to be known. The sizes are those of blocks; what was asked for and the stream are not
 * told.
 */
#include <stdatomic.h>

#include "hook/handles.h"
#include "hook/mstx.h"
#include "record/record.h"

#define HERE                  __builtin_frame_address(0)
#define REGION_COUNT_MAX      ((size_t)1 << 20) /* of one call: a count beyond it is none */
#define SAMPLE_DEVICE_MAX     0xffff            /* device + 1 in nm_mstx_domain.last_sample */

/* Inside the range that can be used as an address: see handles.h. */
#define REGION_HANDLE(handle) ((uint64_t)(uintptr_t)(handle))

/* ---- Heaps and devices --------------------------------------------------------------------------------------------- */

static uint32_t define_heap(const nm_mstx_domain *domain, uint32_t device)
{
    return nm_record_heap_of(&(nm_record_heap_wish){
        .name = domain->name, .level = domain->level, .device = (int32_t)device, .size_basis = NM_BASIS_BLOCK});
}

static uint32_t heap_of(nm_mstx_domain *domain, uint32_t device)
{
    _Atomic uint32_t *kept;
    uint32_t heap;

    if (device >= NM_MSTX_DEVICE_COUNT)
        return define_heap(domain, device);
    kept = &domain->places[device].heap;
    heap = atomic_load_explicit(kept, memory_order_relaxed); /* relaxed: a handle is a number */
    if (heap != 0 && nm_record_knows_heap(heap))
        return heap;
    heap = define_heap(domain, device);
    atomic_store_explicit(kept, heap, memory_order_relaxed);
    return heap;
}

/* Notes that the domain has memory on the device. */
static void note_device(nm_mstx_domain *domain, uint32_t device)
{
    uint64_t wanted = (uint64_t)device + 1;
    /* relaxed: a number that changes twice at most. */
    uint64_t known = atomic_load_explicit(&domain->only_device, memory_order_relaxed);

    if (known == wanted || known == NM_MSTX_SEVERAL_DEVICES)
        return;
    if (known != 0 || !atomic_compare_exchange_strong_explicit(&domain->only_device, &known, wanted,
                                                               memory_order_relaxed, memory_order_relaxed)) {
        if (known != wanted)
            atomic_store_explicit(&domain->only_device, NM_MSTX_SEVERAL_DEVICES, memory_order_relaxed);
    }
}

/* The heap of a region of which nothing but the address is told; 0: the replay finds it by the address. A domain that has
 * memory on several devices has just registered its heap with the same address. */
static uint32_t heap_at(nm_mstx_domain *domain, uint64_t address)
{
    /* relaxed: see note_device; the sample is this thread's own, or does not match. */
    uint64_t known = atomic_load_explicit(&domain->only_device, memory_order_relaxed);
    uint64_t sample;

    if (known == 0)
        return 0;
    if (known != NM_MSTX_SEVERAL_DEVICES)
        return heap_of(domain, (uint32_t)(known - 1));
    sample = atomic_load_explicit(&domain->last_sample, memory_order_relaxed);
    return sample != 0 && sample >> 16 == address ? heap_of(domain, (uint32_t)(sample & 0xffff) - 1) : 0;
}

/* ---- Heaps: samples of what a pool holds --------------------------------------------------------------------------- */

/* Tells the value unless it is the one that was told last for the heap. */
static void tell_reserved(nm_mstx_domain *domain, uint32_t device, uint64_t reserved_bytes)
{
    uint32_t heap = heap_of(domain, device);
    nm_mstx_place *place = device < NM_MSTX_DEVICE_COUNT ? &domain->places[device] : NULL;

    /* relaxed: whoever comes second tells it once more or not at all. */
    if (place != NULL && atomic_load_explicit(&place->sample_heap, memory_order_relaxed) == heap &&
        atomic_load_explicit(&place->reserved_bytes, memory_order_relaxed) == reserved_bytes)
        return;
    nm_record_reserved(heap, reserved_bytes);
    if (place == NULL)
        return;
    atomic_store_explicit(&place->reserved_bytes, reserved_bytes, memory_order_relaxed);
    atomic_store_explicit(&place->sample_heap, heap, memory_order_relaxed);
}

static void tell_sample(nm_mstx_domain *domain, const nm_mstx_range *range)
{
    uint64_t address = (uint64_t)(uintptr_t)range->address, device = (uint64_t)range->device + 1;

    note_device(domain, range->device);
    if (device <= SAMPLE_DEVICE_MAX && address >> 48 == 0) /* relaxed: see heap_at */
        atomic_store_explicit(&domain->last_sample, address << 16 | device, memory_order_relaxed);
    tell_reserved(domain, range->device, range->size_bytes);
}

static bool has_next(void)
{
    return NM_MSTX_NEXT(heap_register) != NULL || NM_MSTX_NEXT(regions_register) != NULL;
}

/* Where nobody is behind us the program gets some handle that is not NULL, since NULL means that it failed. */
void *nm_mstx_on_heap_register(void *handle, const nm_mstx_heap *heap)
{
    nm_mstx_heap_register *next = NM_MSTX_NEXT(heap_register);
    nm_mstx_domain *domain = nm_mstx_domain_of(handle);

    if (domain != NULL && domain->is_pool && heap != NULL && heap->range != NULL && nm_record_is_on())
        tell_sample(domain, heap->range);
    if (next != NULL)
        return next(nm_mstx_next_handle(handle), heap);
    return has_next() ? NULL : handle;
}

void nm_mstx_on_heap_unregister(void *handle, void *heap)
{
    nm_mstx_heap_unregister *next = NM_MSTX_NEXT(heap_unregister);

    if (next != NULL)
        next(nm_mstx_next_handle(handle), heap);
}

/* ---- Regions: blocks ----------------------------------------------------------------------------------------------- */

static void tell_region(nm_mstx_domain *domain, const nm_mstx_range *region, const void *frame)
{
    note_device(domain, region->device);
    nm_record_alloc(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)region->address,
                                     .block_bytes = region->size_bytes,
                                     .where = nm_record_where(heap_of(domain, region->device), domain->flags)},
                    frame);
}

static void tell_regions(nm_mstx_domain *domain, const nm_mstx_regions *regions, const void *frame)
{
    for (size_t i = 0; i < regions->count; i++) {
        if (regions->ranges[i].address != NULL)
            tell_region(domain, &regions->ranges[i], frame);
    }
}

static bool are_sound_regions(const nm_mstx_regions *regions)
{
    return regions != NULL && regions->ranges != NULL && regions->count <= REGION_COUNT_MAX;
}

/* The program may name regions by handles: by those that the next tool gave, if it gives any, else by their addresses. */
static void give_handles(const nm_mstx_regions *regions, bool has_given)
{
    for (size_t i = 0; regions->unset_handles != NULL && i < regions->count; i++) {
        if (has_given)
            nm_handles_set(NM_HANDLE_REGION, REGION_HANDLE(regions->unset_handles[i]),
                           (uint64_t)(uintptr_t)regions->ranges[i].address);
        else
            regions->unset_handles[i] = (void *)(uintptr_t)regions->ranges[i].address;
    }
}

void nm_mstx_on_regions_register(void *handle, const nm_mstx_regions *regions)
{
    nm_mstx_regions_register *next = NM_MSTX_NEXT(regions_register);
    nm_mstx_domain *domain = nm_mstx_domain_of(handle);
    bool is_ours = domain != NULL && are_sound_regions(regions);

    if (next != NULL)
        next(nm_mstx_next_handle(handle), regions);
    if (is_ours && !domain->is_pool)
        give_handles(regions, next != NULL);
    if (is_ours && nm_record_is_on())
        tell_regions(domain, regions, HERE);
}

/* 0: it is named in a way that is not known, or by a handle that nobody gave. */
static uint64_t address_of(const nm_mstx_reference *reference)
{
    if (reference->kind == NM_MSTX_BY_POINTER)
        return (uint64_t)(uintptr_t)reference->region;
    if (reference->kind != NM_MSTX_BY_HANDLE)
        return 0;
    if (NM_MSTX_NEXT(regions_register) == NULL)
        return REGION_HANDLE(reference->region);
    return nm_handles_set(NM_HANDLE_REGION, REGION_HANDLE(reference->region), 0);
}

static void tell_end(nm_mstx_domain *domain, uint64_t address, const void *frame)
{
    nm_record_free(NM_EVENT_FREE,
                   &(nm_ring_free){.address = address,
                                   .where = nm_record_where(heap_at(domain, address), 0),
                                   .detail = NM_FREE_POOL},
                   frame);
}

void nm_mstx_on_regions_unregister(void *handle, const nm_mstx_references *references)
{
    nm_mstx_regions_unregister *next = NM_MSTX_NEXT(regions_unregister);
    nm_mstx_domain *domain = nm_mstx_domain_of(handle);
    bool is_ours = domain != NULL && references != NULL && references->references != NULL && nm_record_is_on();

    for (size_t i = 0; is_ours && i < references->count && references->count <= REGION_COUNT_MAX; i++) {
        uint64_t address = address_of(&references->references[i]);

        if (address != 0)
            tell_end(domain, address, HERE);
    }
    if (next != NULL)
        next(nm_mstx_next_handle(handle), references);
}
