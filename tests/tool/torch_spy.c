/* SPDX-License-Identifier: Apache-2.0
 *
 * A preloaded library that counts what the torch_npu-like client does, independently of it: device pages by module at the
 * driver's border, and pool events as mstx delivers them. Its file name ends in libascend_kernel_hook.so, which opens the
 * client's gate. Writes `key value` lines to the file that TORCH_SPY names, when the process ends.
 *
 * Fields that torch_npu leaves uninitialised must hold garbage here: what a reader of them would see.
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver/ascend_hal.h"
#include "mstx/ms_tools_ext.h"

#define EXPORT     __attribute__((visibility("default")))
#define LIVE_MAX   4096
#define MODULE_MAX 256
#define HUGE_BYTES ((uint64_t)2 << 20)

typedef struct live {
    const void *address;
    uint64_t bytes;
    unsigned module;
    unsigned domain;
} live;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static live memory[LIVE_MAX]; /* device memory and physical handles, by address */
static live regions[LIVE_MAX];
static uint64_t current_bytes[MODULE_MAX];
static uint64_t peak_bytes[MODULE_MAX];
static uint64_t map_count;
static uint64_t unmap_count;

typedef struct domain_sums {
    uint64_t create_count;
    uint64_t heap_count;
    uint64_t alloc_count;
    uint64_t alloc_bytes;
    uint64_t free_count;
    uint64_t unknown_free_count;
    uint64_t last_reserved_bytes;
    uint64_t peak_reserved_bytes;
    uint64_t garbage_count; /* fields that a reader could have taken for something */
} domain_sums;

enum { DOMAIN_OTHER, DOMAIN_POOL, DOMAIN_WORKSPACE, DOMAIN_COUNT };

static const char *const domain_names[DOMAIN_COUNT] = {"other", "ptaCaching", "ptaWorkspace"};
static domain_sums domains[DOMAIN_COUNT];
static uint64_t step_count;
static uint64_t step_end_count;
static uint64_t mark_count;

static live *find(live *table, const void *address)
{
    for (int i = 0; i < LIVE_MAX; i++)
        if (table[i].address == address)
            return &table[i];
    return NULL;
}

static void *real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found) /* libascend_hal.so may have been opened out of sight */
        found = dlsym(dlopen("libascend_hal.so", RTLD_NOW | RTLD_NOLOAD), name);
    if (!found)
        abort();
    return found;
}

#define REAL(function) ((__typeof__(&(function)))real(#function))

static void note_memory(const void *address, uint64_t bytes, unsigned module)
{
    live *slot;

    pthread_mutex_lock(&lock);
    slot = find(memory, NULL);
    *slot = (live){.address = address, .bytes = bytes, .module = module};
    current_bytes[module] += bytes;
    if (peak_bytes[module] < current_bytes[module])
        peak_bytes[module] = current_bytes[module];
    pthread_mutex_unlock(&lock);
}

static void forget_memory(const void *address)
{
    live *slot;

    pthread_mutex_lock(&lock);
    slot = find(memory, address);
    if (slot) {
        current_bytes[slot->module] -= slot->bytes;
        *slot = (live){0};
    }
    pthread_mutex_unlock(&lock);
}

EXPORT drvError_t halMemAlloc(void **pp, unsigned long long size, unsigned long long flag)
{
    uint64_t page_bytes = flag >> 17 & 1 ? HUGE_BYTES : 4096;
    drvError_t error = REAL(halMemAlloc)(pp, size, flag);

    if (error == DRV_ERROR_NONE && (flag >> 10 & 0xf) == 1)
        note_memory(*pp, (size + page_bytes - 1) / page_bytes * page_bytes, (unsigned)(flag >> 56));
    return error;
}

EXPORT drvError_t halMemFree(void *pp)
{
    forget_memory(pp);
    return REAL(halMemFree)(pp);
}

EXPORT drvError_t halMemCreate(drv_mem_handle_t **handle, size_t size, const struct drv_mem_prop *prop, uint64_t flag)
{
    drvError_t error = REAL(halMemCreate)(handle, size, prop, flag);

    if (error == DRV_ERROR_NONE)
        note_memory(*handle, size, prop->module_id);
    return error;
}

EXPORT drvError_t halMemRelease(drv_mem_handle_t *handle)
{
    forget_memory(handle);
    return REAL(halMemRelease)(handle);
}

EXPORT drvError_t halMemMap(void *ptr, size_t size, size_t offset, drv_mem_handle_t *handle, uint64_t flag)
{
    __atomic_fetch_add(&map_count, 1, __ATOMIC_RELAXED);
    return REAL(halMemMap)(ptr, size, offset, handle, flag);
}

EXPORT drvError_t halMemUnmap(void *ptr)
{
    __atomic_fetch_add(&unmap_count, 1, __ATOMIC_RELAXED);
    return REAL(halMemUnmap)(ptr);
}

/* ---- Pool events ---- */

static domain_sums *sums_of(mstxDomainHandle_t domain)
{
    return &domains[(uintptr_t)domain - 1];
}

static mstxDomainHandle_t create_domain(const char *name)
{
    uintptr_t found = DOMAIN_OTHER;

    for (uintptr_t i = 0; i < DOMAIN_COUNT; i++)
        if (strcmp(name, domain_names[i]) == 0)
            found = i;
    pthread_mutex_lock(&lock);
    domains[found].create_count++;
    pthread_mutex_unlock(&lock);
    return (mstxDomainHandle_t)(found + 1);
}

static mstxMemHeapHandle_t register_heap(mstxDomainHandle_t domain, const mstxMemHeapDesc_t *desc)
{
    const mstxMemVirtualRangeDesc_t *extent = desc->typeSpecificDesc;
    domain_sums *sums = sums_of(domain);

    pthread_mutex_lock(&lock);
    sums->heap_count++;
    sums->last_reserved_bytes = extent->size;
    if (sums->peak_reserved_bytes < extent->size)
        sums->peak_reserved_bytes = extent->size;
    sums->garbage_count += (int)desc->usage != 0 && (int)desc->type != 0;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void register_regions(mstxDomainHandle_t domain, const mstxMemRegionsRegisterBatch_t *batch)
{
    const mstxMemVirtualRangeDesc_t *region = batch->regionDescArray;
    domain_sums *sums = sums_of(domain);

    pthread_mutex_lock(&lock);
    sums->alloc_count += batch->regionCount;
    sums->alloc_bytes += region->size;
    sums->garbage_count += batch->heap && batch->regionHandleArrayOut && (int)batch->regionType != 0;
    *find(regions, NULL) = (live){.address = region->ptr, .bytes = region->size, .domain = (unsigned)(uintptr_t)domain};
    pthread_mutex_unlock(&lock);
}

static void unregister_regions(mstxDomainHandle_t domain, const mstxMemRegionsUnregisterBatch_t *batch)
{
    domain_sums *sums = sums_of(domain);
    live *slot;

    pthread_mutex_lock(&lock);
    slot = find(regions, batch->refArray->pointer);
    sums->free_count += batch->refCount;
    sums->unknown_free_count += batch->refArray->refType != MSTX_MEM_REGION_REF_TYPE_POINTER || !slot ||
                                slot->domain != (unsigned)(uintptr_t)domain;
    if (slot)
        *slot = (live){0};
    pthread_mutex_unlock(&lock);
}

static mstxRangeId start_range(const char *message, aclrtStream stream)
{
    (void)stream;
    step_count += strcmp(message, "step start") == 0;
    return step_count;
}

static void end_range(mstxRangeId id)
{
    step_end_count += id == step_count;
}

static void mark(const char *message, aclrtStream stream)
{
    (void)message;
    (void)stream;
    mark_count++;
}

EXPORT int InitInjectionMstx(mstxGetModuleFuncTableFunc get_table);

EXPORT int InitInjectionMstx(mstxGetModuleFuncTableFunc get_table)
{
    mstxFuncTable table;
    unsigned size;

    get_table(MSTX_API_MODULE_CORE, &table, &size);
    *table[1] = (mstxFuncPointer)mark;
    *table[2] = (mstxFuncPointer)start_range;
    *table[3] = (mstxFuncPointer)end_range;
    get_table(MSTX_API_MODULE_CORE_DOMAIN, &table, &size);
    *table[1] = (mstxFuncPointer)create_domain;
    get_table(MSTX_API_MODULE_CORE_MEM, &table, &size);
    *table[1] = (mstxFuncPointer)register_heap;
    *table[3] = (mstxFuncPointer)register_regions;
    *table[4] = (mstxFuncPointer)unregister_regions;
    return 0;
}

/* ---- The report ---- */

static void write_domain(FILE *out, int i)
{
    const domain_sums *sums = &domains[i];

    fprintf(out, "%s.create_count %" PRIu64 "\n", domain_names[i], sums->create_count);
    fprintf(out, "%s.heap_count %" PRIu64 "\n", domain_names[i], sums->heap_count);
    fprintf(out, "%s.alloc_count %" PRIu64 "\n", domain_names[i], sums->alloc_count);
    fprintf(out, "%s.alloc_bytes %" PRIu64 "\n", domain_names[i], sums->alloc_bytes);
    fprintf(out, "%s.free_count %" PRIu64 "\n", domain_names[i], sums->free_count);
    fprintf(out, "%s.unknown_free_count %" PRIu64 "\n", domain_names[i], sums->unknown_free_count);
    fprintf(out, "%s.last_reserved_bytes %" PRIu64 "\n", domain_names[i], sums->last_reserved_bytes);
    fprintf(out, "%s.peak_reserved_bytes %" PRIu64 "\n", domain_names[i], sums->peak_reserved_bytes);
    fprintf(out, "%s.garbage_count %" PRIu64 "\n", domain_names[i], sums->garbage_count);
}

__attribute__((destructor)) static void write_report(void)
{
    const char *path = getenv("TORCH_SPY");
    FILE *out = path ? fopen(path, "w") : NULL;

    if (!out)
        return;
    for (int i = 0; i < MODULE_MAX; i++)
        if (peak_bytes[i] > 0)
            fprintf(out, "module.%d.current_bytes %" PRIu64 "\nmodule.%d.peak_bytes %" PRIu64 "\n", i, current_bytes[i],
                    i, peak_bytes[i]);
    fprintf(out, "map_count %" PRIu64 "\nunmap_count %" PRIu64 "\n", map_count, unmap_count);
    for (int i = 0; i < DOMAIN_COUNT; i++)
        write_domain(out, i);
    fprintf(out, "step_count %" PRIu64 "\nstep_end_count %" PRIu64 "\nmark_count %" PRIu64 "\n", step_count,
            step_end_count, mark_count);
    fclose(out);
}
