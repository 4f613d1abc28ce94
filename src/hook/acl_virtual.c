/* SPDX-License-Identifier: Apache-2.0
 *
 * The hooks of AscendCL's virtual memory and of memory that another process owns. Physical memory is a heap beside the
 * driver's, by handle: whoever keeps handles that are mapped nowhere still holds memory. A mapping is driver memory of the
 * thread's device, or, when its handle was imported, memory of the other process, which counts it. Reserved addresses hold
 * no memory and are not hooked. Of a mapping is kept which kind of memory its handle is.
 *
 * A mapping's end is told after the call, unlike a free: the program keeps the addresses, so nobody else is given them
 * meanwhile, and a refused one needs no undoing.
 */
#include "hook/allocation.h"
#include "hook/current_device.h"
#include "hook/device_memory.h"
#include "hook/free.h"
#include "hook/hal.h"
#include "hook/handles.h"
#include "hook/hook.h"

/* ---- Physical memory ----------------------------------------------------------------------------------------------- */

static void tell_physical(nm_allocation_call *asked, const nm_acl_physical *properties, void *const *handle,
                          nm_acl_error error)
{
    int32_t device = -1;

    if (properties != NULL) {
        asked->policy = (uint32_t)properties->memAttr;
        device = properties->location.type == ACL_LOCATION_DEVICE ? (int32_t)properties->location.id : -1;
    }
    asked->heap =
        nm_record_heap(NM_PHYSICAL_HEAP_NAME, NM_LEVEL_PHYSICAL, error == ACL_SUCCESS ? device : nm_current_device());
    nm_allocation_end(asked, error == ACL_SUCCESS ? *handle : NULL, error);
    if (error == ACL_SUCCESS && properties != NULL)
        nm_handles_set(NM_HANDLE_PHYSICAL, (uint64_t)(uintptr_t)*handle, (uint64_t)asked->policy + 1);
    if (error == ACL_SUCCESS && device == nm_current_device())
        nm_device_memory_capacity(device);
}

nm_acl_error aclrtMallocPhysical(void **handle, size_t size, const nm_acl_physical *properties, uint64_t flags)
{
    nm_allocation_call asked = {.size = size, .frame = HERE};

    NEED_NEWER(aclrtMallocPhysical);
    HOOK_MEMORY(nm_allocation_begin(&asked), nm_real.aclrtMallocPhysical(handle, size, properties, flags),
                tell_physical(&asked, properties, handle, error));
}

/* A handle that was retained takes one free more for each time; those are no end of the memory. What is remembered goes
 * before the call: another thread may be given the handle anew while it returns. */
typedef struct physical_free {
    uint64_t address;
    uint64_t kind, imported; /* what was remembered of it */
    bool is_end;
} physical_free;

static void begin_free(physical_free *freed, const void *frame)
{
    nm_hal_give(freed->address);
    freed->is_end = !nm_handles_take(NM_HANDLE_RETAINED, freed->address);
    if (!freed->is_end)
        return;
    nm_free_note(NM_FREE_PHYSICAL, freed->address, frame);
    freed->kind = nm_handles_set(NM_HANDLE_PHYSICAL, freed->address, 0);
    freed->imported = nm_handles_set(NM_HANDLE_IMPORTED, freed->address, 0);
}

static void end_free(const physical_free *freed, nm_acl_error error, const void *frame)
{
    if (error == ACL_SUCCESS)
        return;
    if (!freed->is_end) {
        nm_handles_add(NM_HANDLE_RETAINED, freed->address);
        return;
    }
    nm_free_note_failed(NM_FREE_PHYSICAL, freed->address, error, frame);
    nm_handles_set(NM_HANDLE_PHYSICAL, freed->address, freed->kind);
    nm_handles_set(NM_HANDLE_IMPORTED, freed->address, freed->imported);
}

nm_acl_error aclrtFreePhysical(void *handle)
{
    physical_free freed = {.address = (uint64_t)(uintptr_t)handle};

    NEED_NEWER(aclrtFreePhysical);
    HOOK_MEMORY(begin_free(&freed, HERE), nm_real.aclrtFreePhysical(handle), end_free(&freed, error, HERE));
}

nm_acl_error aclrtMemRetainAllocationHandle(void *address, void **handle)
{
    NEED_NEWER(aclrtMemRetainAllocationHandle);
    HOOK_MEMORY(NOTHING, nm_real.aclrtMemRetainAllocationHandle(address, handle),
                if (error == ACL_SUCCESS) nm_handles_add(NM_HANDLE_RETAINED, (uint64_t)(uintptr_t)*handle));
}

/* ---- Mappings ------------------------------------------------------------------------------------------------------ */

typedef nm_acl_error map_function(void *address, size_t size, size_t offset, void *handle, uint64_t flags);

/* Memory of the module that made the handle where that was not ACL, or the other process's, or the program's own. */
static uint32_t heap_of_mapping(const void *handle, int32_t device)
{
    uint32_t heap = nm_hal_mapped_heap(handle);

    if (heap != 0)
        return heap;
    return nm_handles_get(NM_HANDLE_IMPORTED, (uint64_t)(uintptr_t)handle) != 0
               ? nm_record_heap(NM_IMPORTED_HEAP_NAME, NM_LEVEL_IMPORTED, device)
               : nm_record_driver_heap(device);
}

static void tell_mapped(const void *address, size_t size, const void *handle, nm_acl_error error, const void *frame)
{
    int32_t device = nm_current_device();
    uint64_t kind = nm_handles_get(NM_HANDLE_PHYSICAL, (uint64_t)(uintptr_t)handle);
    nm_allocation_call asked = {.size = size,
                                .policy = kind != 0 ? (uint32_t)(kind - 1) : NM_POLICY_UNKNOWN,
                                .heap = heap_of_mapping(handle, device),
                                .frame = frame};

    if (error != ACL_SUCCESS) {
        nm_allocation_end(&asked, NULL, error);
        return;
    }
    nm_record_map(&(nm_ring_alloc){.address = (uint64_t)(uintptr_t)address,
                                   .block_bytes = size,
                                   .policy = asked.policy,
                                   .where = nm_record_where(asked.heap, 0)},
                  frame);
    nm_device_memory_capacity(device);
}

static nm_acl_error hooked_map(map_function *real, void *address, size_t size, size_t offset, void *handle,
                               uint64_t flags, const void *frame)
{
    HOOK(nm_record_enter(&guard, frame), NOTHING, real(address, size, offset, handle, flags),
         tell_mapped(address, size, handle, error, frame));
}

nm_acl_error aclrtMapMem(void *address, size_t size, size_t offset, void *handle, uint64_t flags)
{
    NEED_NEWER(aclrtMapMem);
    return hooked_map(nm_real.aclrtMapMem, address, size, offset, handle, flags, HERE);
}

nm_acl_error aclrtMemMapNoAccess(void *address, size_t size, size_t offset, void *handle, uint64_t flags)
{
    NEED_NEWER(aclrtMemMapNoAccess);
    return hooked_map(nm_real.aclrtMemMapNoAccess, address, size, offset, handle, flags, HERE);
}

nm_acl_error aclrtUnmapMem(void *address)
{
    nm_ring_free event = {.address = (uint64_t)(uintptr_t)address};

    NEED_NEWER(aclrtUnmapMem);
    HOOK_MEMORY(NOTHING, nm_real.aclrtUnmapMem(address),
                if (error == ACL_SUCCESS) nm_record_free(NM_EVENT_UNMAP, &event, HERE));
}

/* ---- For other processes ------------------------------------------------------------------------------------------- */

/* Other processes may open it from now on, as long as they like. */
static void tell_exported(nm_free_call what, const void *address, nm_acl_error error, const void *frame)
{
    nm_ring_free event = {.address = (uint64_t)(uintptr_t)address, .detail = what};

    if (error == ACL_SUCCESS)
        nm_record_free(NM_EVENT_EXPORT, &event, frame);
}

nm_acl_error aclrtMemExportToShareableHandle(void *handle, int type, uint64_t flags, uint64_t *shared)
{
    NEED_NEWER(aclrtMemExportToShareableHandle);
    HOOK_CALL(NOTHING, nm_real.aclrtMemExportToShareableHandle(handle, type, flags, shared),
              tell_exported(NM_FREE_PHYSICAL, handle, error, HERE));
}

nm_acl_error aclrtMemExportToShareableHandleV2(void *handle, uint64_t flags, int type, void *shared)
{
    NEED_NEWER(aclrtMemExportToShareableHandleV2);
    HOOK_CALL(NOTHING, nm_real.aclrtMemExportToShareableHandleV2(handle, flags, type, shared),
              tell_exported(NM_FREE_PHYSICAL, handle, error, HERE));
}

nm_acl_error aclrtIpcMemGetExportKey(void *address, size_t size, char *key, size_t room, uint64_t flags)
{
    NEED_NEWER(aclrtIpcMemGetExportKey);
    HOOK_CALL(NOTHING, nm_real.aclrtIpcMemGetExportKey(address, size, key, room, flags),
              tell_exported(NM_FREE_ANY, address, error, HERE));
}

/* ---- Memory of another process ------------------------------------------------------------------------------------- */

/* The size is the exporter's knowledge: unknown here. */
static void tell_imported(uint64_t begin_ticks, int32_t device, uint64_t address, const void *frame)
{
    uint32_t heap = nm_record_heap(NM_IMPORTED_HEAP_NAME, NM_LEVEL_IMPORTED, device);

    nm_record_alloc(&(nm_ring_alloc){.address = address,
                                     .where = nm_record_where(heap, 0),
                                     .cost_ticks = nm_record_cost(begin_ticks)},
                    frame);
}

/* A handle that the process has already is only held once more, as by aclrtMemRetainAllocationHandle. */
static void tell_imported_handle(uint64_t begin_ticks, int32_t device, void *handle, const void *frame)
{
    uint64_t address = (uint64_t)(uintptr_t)handle;

    if (nm_handles_get(NM_HANDLE_PHYSICAL, address) != 0 || nm_handles_set(NM_HANDLE_IMPORTED, address, 1) != 0)
        nm_handles_add(NM_HANDLE_RETAINED, address);
    else
        tell_imported(begin_ticks, device, address, frame);
}

nm_acl_error aclrtMemImportFromShareableHandle(uint64_t shared, int32_t device, void **handle)
{
    NEED_NEWER(aclrtMemImportFromShareableHandle);
    TIMED(HOOK_MEMORY, nm_real.aclrtMemImportFromShareableHandle(shared, device, handle),
          if (error == ACL_SUCCESS) tell_imported_handle(begin_ticks, device, *handle, HERE));
}

nm_acl_error aclrtMemImportFromShareableHandleV2(void *shared, int type, uint64_t flags, void **handle)
{
    NEED_NEWER(aclrtMemImportFromShareableHandleV2);
    TIMED(HOOK_MEMORY, nm_real.aclrtMemImportFromShareableHandleV2(shared, type, flags, handle),
          if (error == ACL_SUCCESS) tell_imported_handle(begin_ticks, nm_current_device(), *handle, HERE));
}

/* FNV-1a over the key's text. */
static uint64_t hash_key(const char *key)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < ACL_IPC_KEY_BYTES && key[i] != 0; i++)
        hash = (hash ^ (unsigned char)key[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static void tell_imported_key(uint64_t begin_ticks, const char *key, uint64_t address, const void *frame)
{
    nm_handles_set(NM_HANDLE_IPC_KEY, hash_key(key), address);
    tell_imported(begin_ticks, nm_current_device(), address, frame);
}

nm_acl_error aclrtIpcMemImportByKey(void **address, const char *key, uint64_t flags)
{
    NEED_NEWER(aclrtIpcMemImportByKey);
    TIMED(HOOK_MEMORY, nm_real.aclrtIpcMemImportByKey(address, key, flags),
          if (error == ACL_SUCCESS) tell_imported_key(begin_ticks, key, (uint64_t)(uintptr_t)*address, HERE));
}

/* The exporter closes its key by the same call: then nothing here ends. */
static uint64_t begin_close(const char *key, const void *frame)
{
    uint64_t address = nm_handles_set(NM_HANDLE_IPC_KEY, hash_key(key), 0);

    if (address != 0)
        nm_free_note(NM_FREE_IMPORTED, address, frame);
    return address;
}

static void end_close(const char *key, uint64_t address, nm_acl_error error, const void *frame)
{
    if (address == 0 || error == ACL_SUCCESS)
        return;
    nm_free_note_failed(NM_FREE_IMPORTED, address, error, frame);
    nm_handles_set(NM_HANDLE_IPC_KEY, hash_key(key), address);
}

nm_acl_error aclrtIpcMemClose(const char *key)
{
    uint64_t address;

    NEED_NEWER(aclrtIpcMemClose);
    HOOK(key != NULL && nm_record_enter(&guard, HERE), address = begin_close(key, HERE), nm_real.aclrtIpcMemClose(key),
         end_close(key, address, error, HERE));
}
