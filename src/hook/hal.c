/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of the driver (libascend_hal.so), which every layer of CANN takes memory from: what HCCL, GE and the runtime
 * take for themselves is seen nowhere else.
 *
 * What the program asks ACL for is seen twice, and counted once. A call of ACL that allocates owns what the driver gives
 * for it; which of several allocations that is shows only when the call returns an address. Until then the likeliest (the
 * last one of the module that was asked for) is held back, every other is told as its module's. A call of ACL that frees
 * owns the free of the same address. Inside any other call, and outside of all, everything is told: what setting a
 * device takes is the runtime's own.
 *
 * Nothing of ACL is called from here: its callers may hold the runtime's locks. A free carries NM_FLAG_DRIVER.
 */
#include "hook/hal.h"

#include <assert.h>
#include <stdatomic.h>

#include "hook/handles.h"

#define KEPT_DEVICES      64
#define NORMAL_BYTES      UINT64_C(4096)
#define HUGE_BYTES        (UINT64_C(2) << 20)
#define GIANT_BYTES       (UINT64_C(1) << 30)

/* The flag of halMemAlloc. */
#define FLAG_DEVICE(flag) ((uint32_t)((flag)&0x3ff))
#define FLAG_SPACE(flag)  ((uint32_t)((flag) >> 10 & 0xf))
#define FLAG_HUGE         (UINT64_C(1) << 17)
#define FLAG_P2P          (UINT64_C(1) << 25)
#define FLAG_GIANT        (UINT64_C(1) << 31)
#define FLAG_MODULE(flag) ((uint32_t)((flag) >> 56))

/* What the driver gave, or would not give. */
typedef struct given {
    nm_space space;
    int32_t device; /* as the program counts */
    uint32_t module;
    uint32_t policy; /* in ACL's numbers: aclrtMemMallocPolicy, of physical memory aclrtMemAttr */
    uint64_t address;
    uint64_t size_bytes;
    uint64_t page_bytes;
    uint64_t begin_ticks;
} given;

/* ---- Heaps --------------------------------------------------------------------------------------------------------- */

/* ASCEND_RT_VISIBLE_DEVICES is read at a device's first use. */
static int32_t ordinal_of(uint32_t number)
{
    static _Atomic int32_t known[KEPT_DEVICES]; /* the ordinal + 1; 0: not known yet */
    int32_t ordinal;

    if (number >= KEPT_DEVICES)
        return nm_record_ordinal((int32_t)number);
    /* relaxed: a number; looked up twice it is the same. */
    ordinal = atomic_load_explicit(&known[number], memory_order_relaxed) - 1;
    if (ordinal < 0) {
        ordinal = nm_record_ordinal((int32_t)number);
        atomic_store_explicit(&known[number], ordinal + 1, memory_order_relaxed);
    }
    return ordinal;
}

/* The program's own memory shares the heaps of ACL's hooks, so that an allocation seen there and a free seen here meet. */
static uint32_t define_heap(nm_space space, int32_t device, unsigned module)
{
    static const uint64_t levels[] = {NM_LEVEL_DRIVER, NM_LEVEL_DRIVER, NM_LEVEL_PINNED, NM_LEVEL_PHYSICAL};
    char text[NM_MODULE_TEXT_BYTES];
    nm_record_heap_wish wish = {.level = levels[space], .device = device, .module_id = module};

    if (space == NM_SPACE_DVPP)
        wish.module_id = NM_MODULE_DVPP;
    else if (module == NM_MODULE_APP && space == NM_SPACE_DRIVER)
        return nm_record_driver_heap(device);
    else if (module == NM_MODULE_APP && space == NM_SPACE_PINNED)
        return nm_record_pinned_heap();
    else if (module == NM_MODULE_APP)
        return nm_record_heap(NM_PHYSICAL_HEAP_NAME, NM_LEVEL_PHYSICAL, device);
    wish.name = nm_cann_module_name((unsigned)wish.module_id, text);
    return nm_record_heap_of(&wish);
}

uint32_t nm_hal_heap(nm_space space, int32_t device, unsigned module)
{
    static _Atomic uint32_t kept[NM_SPACE_COUNT][KEPT_DEVICES + 1][NM_MODULE_COUNT]; /* a device's at its ordinal + 1 */
    _Atomic uint32_t *place;
    uint32_t heap;

    assert(space < NM_SPACE_COUNT); /* of addresses without memory there is no heap */
    if (space == NM_SPACE_PINNED || device < 0)
        device = -1;
    if (device >= KEPT_DEVICES || module >= NM_MODULE_COUNT)
        return define_heap(space, device, module);
    place = &kept[space][device + 1][module];
    /* relaxed: a handle is a number, and says itself whether it holds. */
    heap = atomic_load_explicit(place, memory_order_relaxed);
    if (nm_record_knows_heap(heap))
        return heap;
    heap = define_heap(space, device, module);
    atomic_store_explicit(place, heap, memory_order_relaxed);
    return heap;
}

uint32_t nm_hal_registered_heap(void)
{
    static _Atomic uint32_t kept;
    /* relaxed: a handle is a number, and says itself whether it holds. */
    uint32_t heap = atomic_load_explicit(&kept, memory_order_relaxed);

    if (nm_record_knows_heap(heap))
        return heap;
    heap = nm_record_heap("registered host memory", NM_LEVEL_REGISTERED, -1);
    atomic_store_explicit(&kept, heap, memory_order_relaxed);
    return heap;
}

/* ---- What a request says ------------------------------------------------------------------------------------------- */

/* Spaces of the host beside HOST (2): of an agent's process (4), under the device's addresses (6). 5 reserves addresses. */
static nm_space space_of(uint32_t space)
{
    static const nm_space spaces[] = {NM_SPACE_DRIVER, NM_SPACE_DRIVER, NM_SPACE_PINNED, NM_SPACE_DVPP,
                                      NM_SPACE_PINNED, NM_SPACE_NONE,   NM_SPACE_PINNED};

    return space < sizeof spaces / sizeof *spaces ? spaces[space] : NM_SPACE_DRIVER;
}

static given given_by_flag(uint64_t size, uint64_t flag)
{
    /* normal, huge, giant; each for itself and for other devices to reach */
    static const uint32_t policies[2][3] = {{2, 1, 6}, {5, 4, 7}};
    static const uint64_t page_bytes[] = {NORMAL_BYTES, HUGE_BYTES, GIANT_BYTES};
    int page = (flag & FLAG_GIANT) != 0 ? 2 : (flag & FLAG_HUGE) != 0;
    nm_space space = space_of(FLAG_SPACE(flag));

    return (given){
        .space = space,
        .device = space == NM_SPACE_PINNED ? -1 : ordinal_of(FLAG_DEVICE(flag)),
        .module = FLAG_MODULE(flag),
        .policy = space == NM_SPACE_PINNED ? NM_POLICY_UNKNOWN : policies[(flag & FLAG_P2P) != 0][page],
        .size_bytes = size,
        .page_bytes = page_bytes[page],
    };
}

/* Kinds of memory by type (HBM, DDR, both reachable by other devices) and page, as aclrtMemAttr. DDR has no giant pages. */
static given given_by_properties(uint64_t size, const nm_hal_properties *properties)
{
    static const uint32_t attributes[4][3] = {{5, 4, 10}, {3, 2, 2}, {9, 8, 11}, {7, 6, 6}};
    static const uint64_t page_bytes[] = {NORMAL_BYTES, HUGE_BYTES, GIANT_BYTES};
    uint32_t page = properties->page_type < 3 ? properties->page_type : 0;
    bool is_known = properties->page_type < 3 && properties->memory_type < 4;

    return (given){
        .space = NM_SPACE_PHYSICAL,
        .device = properties->side == HAL_SIDE_DEVICE ? ordinal_of(properties->device) : -1,
        .module = properties->module,
        .policy = is_known ? attributes[properties->memory_type][page] : NM_POLICY_UNKNOWN,
        .size_bytes = size,
        .page_bytes = page_bytes[page],
    };
}

static uint64_t whole_pages(const given *what)
{
    return (what->size_bytes + what->page_bytes - 1) / what->page_bytes * what->page_bytes;
}

/* ---- Once ---------------------------------------------------------------------------------------------------------- */

void nm_hal_ask(unsigned module)
{
    nm_inner *inner = nm_record_inner();

    inner->is_asking = 1;
    inner->asked_module = module;
}

void nm_hal_give(uint64_t address)
{
    nm_record_inner()->freed = address;
}

static void tell_held(const nm_inner *held, const void *frame)
{
    nm_record_alloc(&(nm_ring_alloc){.address = held->address,
                                     .requested_bytes = held->requested_bytes,
                                     .block_bytes = held->block_bytes,
                                     .where = nm_record_where(held->heap, 0),
                                     .policy = held->policy},
                    frame);
}

uint64_t nm_hal_settle(const void *address, const void *frame)
{
    nm_inner *inner = nm_record_inner();
    uint32_t count = inner->count;

    inner->is_asking = 0;
    inner->count = 0;
    if (count == 0)
        return 0;
    if (inner->address == (uint64_t)(uintptr_t)address)
        return inner->block_bytes;
    tell_held(inner, frame);
    return 0;
}

/* May the call that asks own this, and rather than what is held back already? */
static bool is_likelier(const nm_inner *inner, const given *what)
{
    return inner->count == 0 || what->module == inner->asked_module || inner->module_id != inner->asked_module;
}

static void hold_back(nm_inner *inner, const given *what, uint32_t heap, const void *frame)
{
    nm_inner before = *inner;

    assert(inner->is_asking != 0);
    inner->count = 1;
    inner->module_id = what->module;
    inner->address = what->address;
    inner->requested_bytes = what->size_bytes;
    inner->block_bytes = whole_pages(what);
    inner->heap = heap;
    inner->policy = what->policy;
    if (before.count != 0)
        tell_held(&before, frame);
}

static void tell_given(nm_layer around, const given *what, const void *frame)
{
    uint32_t heap = nm_hal_heap(what->space, what->device, what->module);
    nm_inner *inner = nm_record_inner();

    if (around == NM_LAYER_MEMORY && inner->is_asking != 0 && is_likelier(inner, what)) {
        hold_back(inner, what, heap, frame);
        return;
    }
    nm_record_alloc(&(nm_ring_alloc){.address = what->address,
                                     .requested_bytes = what->size_bytes,
                                     .block_bytes = whole_pages(what),
                                     .where = nm_record_where(heap, 0),
                                     .policy = what->policy,
                                     .cost_ticks = nm_record_cost(what->begin_ticks)},
                    frame);
}

/* A call of ACL around it tells its own failure. Without: how much was free is not known. */
static void tell_refused(nm_layer around, const given *what, nm_acl_error error, const void *frame)
{
    if (around != NM_LAYER_NONE || error == DRV_ERROR_NOT_SUPPORT)
        return;
    nm_record_alloc_failed(
        &(nm_ring_alloc_failed){
            .requested_bytes = what->size_bytes,
            .where = nm_record_where(nm_hal_heap(what->space, what->device, what->module), 0),
            .policy = what->policy,
            .error_code = error,
        },
        frame);
}

static void tell_result(nm_layer around, given *what, void *const *address, nm_acl_error error, const void *frame)
{
    what->address = error == DRV_ERROR_NONE ? (uint64_t)(uintptr_t)*address : 0;
    if (what->space == NM_SPACE_NONE)
        return;
    if (error == DRV_ERROR_NONE)
        tell_given(around, what, frame);
    else
        tell_refused(around, what, error, frame);
}

/* It succeeded, and no call of ACL around it tells of it. */
static bool is_own_success(nm_layer around, nm_acl_error error)
{
    return error == DRV_ERROR_NONE && around != NM_LAYER_MEMORY;
}

/* ---- Frees --------------------------------------------------------------------------------------------------------- */

bool nm_hal_is_owned_free(nm_layer around, uint64_t address)
{
    return around == NM_LAYER_MEMORY && nm_record_inner()->freed == address;
}

/* Before the call. What was held back and goes again came and went. */
void nm_hal_tell_freed(nm_layer around, nm_free_call call, uint64_t address, const void *frame)
{
    nm_inner *inner = nm_record_inner();

    if (around == NM_LAYER_MEMORY && inner->count != 0 && inner->address == address) {
        inner->count = 0;
        tell_held(inner, frame);
    }
    nm_record_free(NM_EVENT_FREE,
                   &(nm_ring_free){.address = address, .where = nm_record_where(0, NM_FLAG_DRIVER), .detail = call},
                   frame);
}

/* ---- Memory -------------------------------------------------------------------------------------------------------- */

nm_acl_error halMemAlloc(void **address, unsigned long long size, unsigned long long flag)
{
    NEED_DRIVER(halMemAlloc);
    TIMED(HOOK_DRIVER, nm_real.halMemAlloc(address, size, flag), given what = given_by_flag(size, flag);
          what.begin_ticks = begin_ticks; tell_result(around, &what, address, error, HERE));
}

nm_acl_error halMemFree(void *address)
{
    NEED_DRIVER(halMemFree);
    NM_HAL_FREE(nm_real.halMemFree(address), NM_FREE_ANY, (uint64_t)(uintptr_t)address, true);
}

/* ---- Physical memory and mappings ---------------------------------------------------------------------------------- */

/* Remembered of physical memory that did not come through ACL: device + 2 and module. */
static uint64_t handle_value(const given *what)
{
    return (uint64_t)(what->device + 2) << 32 | what->module;
}

uint32_t nm_hal_mapped_heap(const void *handle)
{
    uint64_t value = nm_handles_get(NM_HANDLE_DRIVER, (uint64_t)(uintptr_t)handle);

    return value == 0 ? 0 : nm_hal_heap(NM_SPACE_DRIVER, (int32_t)(value >> 32) - 2, (uint32_t)value);
}

static void tell_created(nm_layer around, uint64_t size, const nm_hal_properties *properties, uint64_t begin_ticks,
                         void *const *handle, nm_acl_error error, const void *frame)
{
    given what = given_by_properties(size, properties);

    what.begin_ticks = begin_ticks;
    if (is_own_success(around, error)) {
        uint64_t address = (uint64_t)(uintptr_t)*handle;

        nm_handles_set(NM_HANDLE_DRIVER, address, handle_value(&what));
        nm_handles_set(NM_HANDLE_PHYSICAL, address, (uint64_t)what.policy + 1);
    }
    tell_result(around, &what, handle, error, frame);
}

nm_acl_error halMemCreate(void **handle, size_t size, const nm_hal_properties *properties, uint64_t flag)
{
    NEED_DRIVER(halMemCreate);
    if (properties == NULL)
        return nm_real.halMemCreate(handle, size, properties, flag);
    TIMED(HOOK_DRIVER, nm_real.halMemCreate(handle, size, properties, flag),
          tell_created(around, size, properties, begin_ticks, handle, error, HERE));
}

/* A handle that was retained takes one release more for each time, as in acl_virtual.c. */
static bool is_last_release(uint64_t handle)
{
    if (nm_handles_take(NM_HANDLE_RETAINED, handle))
        return false;
    nm_handles_set(NM_HANDLE_DRIVER, handle, 0);
    nm_handles_set(NM_HANDLE_PHYSICAL, handle, 0);
    nm_handles_set(NM_HANDLE_IMPORTED, handle, 0);
    return true;
}

nm_acl_error halMemRelease(void *handle)
{
    NEED_DRIVER(halMemRelease);
    NM_HAL_FREE(nm_real.halMemRelease(handle), NM_FREE_PHYSICAL, (uint64_t)(uintptr_t)handle, is_last_release(freed));
}

nm_acl_error halMemRetainAllocationHandle(void **handle, void *address)
{
    NEED_DRIVER(halMemRetainAllocationHandle);
    HOOK_DRIVER(NOTHING, nm_real.halMemRetainAllocationHandle(handle, address),
                if (is_own_success(around, error)) nm_handles_add(NM_HANDLE_RETAINED, (uint64_t)(uintptr_t)*handle));
}

/* Where a mapping counts: memory of the module that made the handle, or the other process's; of a handle that ACL made the
 * program's, on a device that is not known here. */
static uint32_t heap_of_mapping(const void *handle)
{
    uint32_t heap = nm_hal_mapped_heap(handle);

    if (heap != 0)
        return heap;
    if (nm_handles_get(NM_HANDLE_IMPORTED, (uint64_t)(uintptr_t)handle) != 0)
        return nm_record_heap(NM_IMPORTED_HEAP_NAME, NM_LEVEL_IMPORTED, -1);
    return nm_record_driver_heap(-1);
}

static uint32_t policy_of_mapping(const void *handle)
{
    uint64_t kind = nm_handles_get(NM_HANDLE_PHYSICAL, (uint64_t)(uintptr_t)handle);

    return kind != 0 ? (uint32_t)(kind - 1) : NM_POLICY_UNKNOWN;
}

static void tell_mapped(const void *address, size_t size, const void *handle, const void *frame)
{
    nm_record_map(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)address,
                                   .block_bytes = size,
                                   .policy = policy_of_mapping(handle),
                                   .where = nm_record_where(heap_of_mapping(handle), 0)},
                  frame);
}

nm_acl_error halMemMap(void *address, size_t size, size_t offset, void *handle, uint64_t flag)
{
    NEED_DRIVER(halMemMap);
    HOOK_DRIVER(NOTHING, nm_real.halMemMap(address, size, offset, handle, flag),
                if (is_own_success(around, error)) tell_mapped(address, size, handle, HERE));
}

/* Told after the call, as ACL's is. */
nm_acl_error halMemUnmap(void *address)
{
    nm_ring_free event = {.address = (uint64_t)(uintptr_t)address, .where = nm_record_where(0, NM_FLAG_DRIVER)};

    NEED_DRIVER(halMemUnmap);
    HOOK_DRIVER(NOTHING, nm_real.halMemUnmap(address),
                if (is_own_success(around, error)) nm_record_free(NM_EVENT_UNMAP, &event, HERE));
}

/* ---- Registered host memory ---------------------------------------------------------------------------------------- */

/* Types 2 and 4 show memory of the device to the host: nothing of the host is registered by them. */
static bool is_host_memory(uint32_t flag)
{
    uint32_t type = flag & 0xff;

    return type != HAL_REGISTER_DEVICE_SVM && type != HAL_REGISTER_DEVICE;
}

static void tell_registered(const void *address, uint64_t size, uint32_t flag, uint64_t begin_ticks, const void *frame)
{
    nm_record_alloc(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)address,
                                     .requested_bytes = size,
                                     .where = nm_record_where(nm_hal_registered_heap(), 0),
                                     .policy = flag,
                                     .cost_ticks = nm_record_cost(begin_ticks)},
                    frame);
}

nm_acl_error halHostRegister(void *address, uint64_t size, uint32_t flag, uint32_t device, void **device_address)
{
    NEED_DRIVER(halHostRegister);
    TIMED(HOOK_DRIVER, nm_real.halHostRegister(address, size, flag, device, device_address),
          if (is_own_success(around, error) && is_host_memory(flag))
              tell_registered(address, size, flag, begin_ticks, HERE));
}

nm_acl_error halHostUnregister(void *address, uint32_t device)
{
    NEED_DRIVER(halHostUnregister);
    NM_HAL_FREE(nm_real.halHostUnregister(address, device), NM_FREE_REGISTERED, (uint64_t)(uintptr_t)address, true);
}

nm_acl_error halHostUnregisterEx(void *address, uint32_t device, uint32_t flag)
{
    NEED_DRIVER(halHostUnregisterEx);
    NM_HAL_FREE(nm_real.halHostUnregisterEx(address, device, flag), NM_FREE_REGISTERED, (uint64_t)(uintptr_t)address,
                is_host_memory(flag));
}

/* ---- Memory that processes share ----------------------------------------------------------------------------------- */

/* The size is the exporter's knowledge. */
static void tell_imported(nm_layer around, int32_t device, uint64_t address, uint64_t begin_ticks, const void *frame)
{
    if (around == NM_LAYER_MEMORY)
        return;
    nm_record_alloc(
        &(nm_ring_alloc){.address = address,
                         .policy = NM_POLICY_UNKNOWN,
                         .where = nm_record_where(nm_record_heap(NM_IMPORTED_HEAP_NAME, NM_LEVEL_IMPORTED, device), 0),
                         .cost_ticks = nm_record_cost(begin_ticks)},
        frame);
}

/* The real call between enter and leave; then `imported`, when it succeeded. */
#define IMPORT(call, imported) TIMED(HOOK_DRIVER, call, if (error == DRV_ERROR_NONE) imported)

static void tell_imported_handle(nm_layer around, uint32_t device, const void *handle, uint64_t begin_ticks,
                                 const void *frame)
{
    uint64_t address = (uint64_t)(uintptr_t)handle;

    if (around != NM_LAYER_MEMORY)
        nm_handles_set(NM_HANDLE_IMPORTED, address, 1);
    tell_imported(around, ordinal_of(device), address, begin_ticks, frame);
}

nm_acl_error halMemImportFromShareableHandle(uint64_t shared, uint32_t device, void **handle)
{
    NEED_DRIVER(halMemImportFromShareableHandle);
    IMPORT(nm_real.halMemImportFromShareableHandle(shared, device, handle),
           tell_imported_handle(around, device, *handle, begin_ticks, HERE));
}

nm_acl_error halMemImportFromShareableHandleV2(int type, void *shared, uint32_t device, void **handle)
{
    NEED_DRIVER(halMemImportFromShareableHandleV2);
    IMPORT(nm_real.halMemImportFromShareableHandleV2(type, shared, device, handle),
           tell_imported_handle(around, device, *handle, begin_ticks, HERE));
}

nm_acl_error halShmemOpenHandleByDevId(uint32_t device, const char *name, uint64_t *address)
{
    NEED_DRIVER(halShmemOpenHandleByDevId);
    IMPORT(nm_real.halShmemOpenHandleByDevId(device, name, address),
           tell_imported(around, ordinal_of(device), *address, begin_ticks, HERE));
}

nm_acl_error halShmemOpenHandleV2(uint32_t device, const char *name, uint64_t *address, uint64_t flag)
{
    NEED_DRIVER(halShmemOpenHandleV2);
    IMPORT(nm_real.halShmemOpenHandleV2(device, name, address, flag),
           tell_imported(around, ordinal_of(device), *address, begin_ticks, HERE));
}

nm_acl_error halShmemOpenHandle(const char *name, uint64_t *address)
{
    NEED_DRIVER(halShmemOpenHandle);
    IMPORT(nm_real.halShmemOpenHandle(name, address), tell_imported(around, -1, *address, begin_ticks, HERE));
}

/* Inside a call of ACL, whichever it is, that call tells. */
nm_acl_error halShmemCloseHandle(uint64_t address)
{
    NEED_DRIVER(halShmemCloseHandle);
    NM_HAL_FREE(nm_real.halShmemCloseHandle(address), NM_FREE_IMPORTED, address, around != NM_LAYER_MEMORY);
}

static void tell_exported(nm_layer around, nm_free_call how, uint64_t address, const void *frame)
{
    if (around == NM_LAYER_NONE)
        nm_record_free(NM_EVENT_EXPORT, &(nm_ring_free){.address = address, .detail = how}, frame);
}

nm_acl_error halMemExportToShareableHandle(void *handle, int type, uint64_t flags, uint64_t *shared)
{
    NEED_DRIVER(halMemExportToShareableHandle);
    IMPORT(nm_real.halMemExportToShareableHandle(handle, type, flags, shared),
           ((void)begin_ticks, tell_exported(around, NM_FREE_PHYSICAL, (uint64_t)(uintptr_t)handle, HERE)));
}

nm_acl_error halShmemCreateHandle(uint64_t address, size_t size, char *name, unsigned name_bytes)
{
    NEED_DRIVER(halShmemCreateHandle);
    IMPORT(nm_real.halShmemCreateHandle(address, size, name, name_bytes),
           ((void)begin_ticks, tell_exported(around, NM_FREE_ANY, address, HERE)));
}
